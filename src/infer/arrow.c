/* Shrinking and unfolding patterns. */
#include "infer/arrow.h"

#include <math.h>
#include <string.h>

#include "infer/matrix.h"
#include "num/linalg.h"

/* Standard deviations of noise that a number is moved by at most. */
static const double limit = 2;

/* Information, as a share of what a direction would have were all apart, that is none. */
static const double null_share = 1e-2;

/* How far the public model of clipping may be off, as a share. */
static const double level_doubt = 0.1;

size_t dpi_arrow_unpack(size_t n, const double *packed, double *a)
{
    size_t at = 0;
    for (size_t e = 0; e < n; e++)
        for (size_t f = e; f < n; f++, at++)
            a[e * n + f] = a[f * n + e] = packed[at] * (e == f ? 1 : M_SQRT1_2);
    return at;
}

size_t dpi_arrow_pack(size_t n, const double *a, double *packed)
{
    size_t at = 0;
    for (size_t e = 0; e < n; e++)
        for (size_t f = e; f < n; f++)
            packed[at++] = a[e * n + f] * (e == f ? 1 : M_SQRT2);
    return at;
}

/* How much of x, n numbers with noise sd, is kept: 1 - noise / what is there, or 0. */
static double kept(double square, double n, double sd)
{
    double noise = n * sd * sd;
    return square > noise ? 1 - noise / square : 0;
}

/* x moved towards `to`, but by no more than the noise could have moved it away: one number that is
 * really far from the others stays there (Efron and Morris 1972, limited translation). */
static double shrunk(double x, double to, double keep, double sd)
{
    double moved = to + keep * (x - to);
    return fmin(fmax(moved, x - limit * sd), x + limit * sd);
}

/* The mean of the diagonal, by its own noise and by what is expected. */
static double level_of(size_t p, const double *dense, const dpi_expected *as)
{
    double mean = 0, noise = as->sd * as->sd / (double)p;
    for (size_t e = 0; e < p; e++)
        mean += dense[e * p + e] / (double)p;
    double doubt = level_doubt * as->level, weight = noise / (noise + doubt * doubt);
    return as->level > 0 && noise > 0 ? mean + weight * (as->level - mean) : mean;
}

dp_status dpi_arrow_dense(const dpi_model_view *r, const double *pattern, const dpi_expected *as,
                          double *dense, dp_error *err)
{
    size_t p = r->p;
    double own = 0, joint = 0, sd = as->sd, most = 1;
    (void)dpi_arrow_unpack(p, pattern, dense);
    double mean = level_of(p, dense, as);
    for (size_t e = 0; e < p; e++)
        for (size_t f = 0; f < p; f++)
            *(e == f ? &own : &joint) += e == f
                                             ? (dense[e * p + f] - mean) * (dense[e * p + f] - mean)
                                             : dense[e * p + f] * dense[e * p + f];
    if (as->level > 0 && sd > 0)
        most = as->spread * as->spread / (as->spread * as->spread + sd * sd);
    double keep_own = fmin(kept(own, (double)p - 1, sd), most);
    double keep_joint = fmin(kept(joint, (double)p * (double)(p - 1), sd * M_SQRT1_2), most);
    for (size_t e = 0; e < p; e++)
        for (size_t f = 0; f < p; f++)
            dense[e * p + f] = e == f ? shrunk(dense[e * p + f], mean, keep_own, sd)
                                      : shrunk(dense[e * p + f], 0, keep_joint, sd * M_SQRT1_2);
    return dpi_matrix_power(p, dense, 1, fmax(as->least * mean, 0), dense, err);
}

/* ---- members ---- */

/* One plate's members in the making. */
typedef struct members {
    const dpi_metric *m;
    const dpi_read *plate;
    size_t p, size;
    const double *dense;   /* [p][p] in theta's coordinates, means included */
    const double *pattern; /* [members][p size + own packed] */
    double sd, left;       /* noise of a number, and variance of it in own blocks after shrinking */
    double *back;          /* [p][p] A^-1 */
    double *back_own;      /* [size][size] of the plate's */
    double *own;           /* [members][size][size] */
    double *joint;         /* [members][p][size] */
} members;

/* to[rows][columns] = left[rows][rows]' x[rows][columns] right[columns][columns] */
static void turn(size_t rows, size_t columns, const double *left, const double *x,
                 const double *right, double *to)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            double sum = 0;
            for (size_t e = 0; e < rows; e++)
                for (size_t f = 0; f < columns; f++)
                    sum += left[e * rows + i] * x[e * columns + f] * right[f * columns + j];
            to[i * columns + j] = sum;
        }
}

/* average[size][size] = what a member has of the plate's total, in release coordinates. */
static void average_own(const members *b, double *average)
{
    const double *a = dpi_metric_of(b->m, b->plate);
    double *mean = average + b->size * b->size;
    for (size_t i = 0; i < b->size; i++)
        for (size_t j = 0; j < b->size; j++)
            mean[i * b->size + j] =
                b->dense[(b->plate->at + i) * b->p + b->plate->at + j] / (double)b->plate->members;
    turn(b->size, b->size, a, mean, a, average);
}

/* Members' own blocks, shrunk to the average; room[2][size][size]. */
static dp_status shrink_own(members *b, double *room, dp_error *err)
{
    size_t n = b->size, packed = n * (n + 1) / 2, each = b->p * n + packed, K = b->plate->members;
    double square = 0, least = INFINITY;
    average_own(b, room);
    for (size_t k = 0; k < K; k++) {
        double *own = b->own + k * n * n;
        (void)dpi_arrow_unpack(n, b->pattern + k * each + b->p * n, own);
        for (size_t e = 0; e < n * n; e++)
            square += (own[e] - room[e]) * (own[e] - room[e]);
    }
    double keep = kept(square, (double)(K * packed), b->sd);
    b->left = keep * b->sd * b->sd;
    for (size_t i = 0; i < n; i++)
        least = fmin(least, room[i * n + i]);
    dp_status status = DP_OK;
    for (size_t k = 0; k < K && status == DP_OK; k++) {
        double *own = b->own + k * n * n;
        for (size_t e = 0; e < n * n; e++)
            own[e] = keep * own[e] + (1 - keep) * room[e];
        status = dpi_matrix_power(n, own, 1, fmax(0.15 * (1 - keep) * least, 0), own, err);
        memcpy(room + n * n, own, n * n * sizeof *own);
        turn(n, n, b->back_own, room + n * n, b->back_own, own);
    }
    return status;
}

/* The members' own blocks add up to the plate's, as those of the records do: own <- T own T' with
 * T = total^1/2 (sum of own)^-1/2.  Where an intercept and the members' mean are one direction,
 * what is left over would be taken for information of it.  room[4][size][size]. */
static dp_status tie_own(members *b, double *room, dp_error *err)
{
    size_t n = b->size, K = b->plate->members;
    double *sum = room, *total = sum + n * n, *tie = total + n * n, *free = tie + n * n;
    memset(sum, 0, n * n * sizeof *sum);
    for (size_t k = 0; k < K; k++)
        for (size_t e = 0; e < n * n; e++)
            sum[e] += b->own[k * n * n + e];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            total[i * n + j] = b->dense[(b->plate->at + i) * b->p + b->plate->at + j];
    dp_status status = dpi_matrix_root(n, sum, 1e-300, sum, err);
    if (status == DP_OK)
        status = dpi_matrix_power(n, total, 0.5, 0, total, err);
    if (status == DP_OK)
        dpi_matrix_product(n, sum, total, tie); /* T' */
    for (size_t k = 0; k < K && status == DP_OK; k++)
        dpi_matrix_congruence(n, tie, b->own + k * n * n, free, b->own + k * n * n);
    return status;
}

/* What joins members to the dense numbers adds up likewise: what is missing goes by own parts. */
static void tie_joint(members *b, const double *inverse, double *room)
{
    size_t n = b->size, p = b->p, K = b->plate->members;
    double *missing = room, *part = missing + p * n;
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < n; j++) {
            missing[i * n + j] = b->dense[i * p + b->plate->at + j];
            for (size_t k = 0; k < K; k++)
                missing[i * n + j] -= b->joint[k * p * n + i * n + j];
        }
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < n; j++) {
            part[i * n + j] = 0;
            for (size_t e = 0; e < n; e++)
                part[i * n + j] += missing[i * n + e] * inverse[e * n + j];
        }
    for (size_t k = 0; k < K; k++)
        for (size_t i = 0; i < p; i++)
            for (size_t j = 0; j < n; j++)
                for (size_t e = 0; e < n; e++)
                    b->joint[k * p * n + i * n + j] +=
                        part[i * n + e] * b->own[(k * n + e) * n + j];
}

/* What a plate's members leave of the dense latents' information, and what of it the joints that
 * differ from the average member's take away; [q][q] each, in units in which the dense diagonal is
 * 1. */
typedef struct left_over {
    size_t q;
    size_t *row;                 /* [q] coordinates of dense latents */
    double *unit, *left, *taken; /* [q], [q][q] */
    double *average;             /* [q][size]: joint = average own + more */
    double *more;                /* [members][q][size] */
} left_over;

/* more = joint - average own, and what it takes: the sum of more own^-1 more'. */
static dp_status find_taken(const members *b, left_over *m, double *room, dp_error *err)
{
    size_t n = b->size, q = m->q;
    double *inverse = room, *through = inverse + n * n;
    double floor = 1e-300;
    dp_status status = DP_OK;
    for (size_t e = 0; e < n; e++)
        floor += 1e-9 * b->dense[(b->plate->at + e) * (b->p + 1)] / (double)b->plate->members;
    for (size_t k = 0; k < b->plate->members && status == DP_OK; k++) {
        const double *own = b->own + k * n * n;
        double *more = m->more + k * q * n;
        status = dpi_matrix_power(n, own, -1, floor, inverse, err);
        for (size_t i = 0; i < q; i++)
            for (size_t j = 0; j < n; j++) {
                double base = 0;
                for (size_t e = 0; e < n; e++)
                    base += m->average[i * n + e] * own[e * n + j];
                more[i * n + j] = b->joint[(k * b->p + m->row[i]) * n + j] - base;
            }
        for (size_t i = 0; i < q; i++)
            for (size_t j = 0; j < n; j++) {
                through[i * n + j] = 0;
                for (size_t e = 0; e < n; e++)
                    through[i * n + j] += more[i * n + e] * inverse[e * n + j];
            }
        for (size_t i = 0; i < q; i++)
            for (size_t j = 0; j < q; j++)
                m->taken[i * q + j] +=
                    m->unit[i] * m->unit[j] * dpi_dot(n, through + i * n, more + j * n);
    }
    return status;
}

/* left = F_dd - F_dm F_mm^-1 F_md, given the inverse. */
static void find_left(const members *b, const double *inverse, left_over *m)
{
    size_t n = b->size, q = m->q, at = b->plate->at;
    for (size_t i = 0; i < q; i++) {
        const double *row = b->dense + m->row[i] * b->p;
        m->unit[i] = row[m->row[i]] > 0 ? 1 / sqrt(row[m->row[i]]) : 1;
        for (size_t j = 0; j < n; j++) {
            m->average[i * n + j] = 0;
            for (size_t e = 0; e < n; e++)
                m->average[i * n + j] += row[at + e] * inverse[e * n + j];
        }
    }
    for (size_t i = 0; i < q; i++)
        for (size_t j = 0; j < q; j++)
            m->left[i * q + j] = m->unit[i] * m->unit[j] *
                                 (b->dense[m->row[i] * b->p + m->row[j]] -
                                  dpi_dot(n, m->average + i * n, b->dense + m->row[j] * b->p + at));
}

/* draw[q][q], by which `more` is multiplied, so that it takes at most half of what is left in any
 * direction: the whole is then positive, and nothing is where nothing is left, as between an
 * intercept and its members' mean.  room[4][q][q]. */
static dp_status find_draw(const left_over *m, double *draw, double *room, dp_error *err)
{
    size_t q = m->q;
    double *root = room, *back = root + q * q, *ratio = back + q * q, *free = ratio + q * q;
    dp_status status = dpi_matrix_power(q, m->left, 0.5, 1e-12, root, err);
    if (status == DP_OK)
        status = dpi_matrix_power(q, m->left, -0.5, 1e-12, back, err);
    if (status == DP_OK) {
        dpi_matrix_congruence(q, back, m->taken, free, ratio);
        status = dpi_matrix_power(q, ratio, -0.5, 0.5, ratio, err);
    }
    if (status == DP_OK) {
        dpi_matrix_product(q, root, ratio, free);
        dpi_matrix_product(q, free, back, draw);
        for (size_t e = 0; e < q * q; e++)
            draw[e] *= M_SQRT1_2; /* (2 max(ratio, 1/2))^-1/2 */
    }
    return status;
}

static void draw_joint(members *b, const left_over *m, const double *draw)
{
    size_t n = b->size, q = m->q;
    for (size_t k = 0; k < b->plate->members; k++)
        for (size_t i = 0; i < q; i++)
            for (size_t j = 0; j < n; j++) {
                double sum = 0, *to = &b->joint[(k * b->p + m->row[i]) * n + j];
                for (size_t e = 0; e < q; e++)
                    sum += draw[i * q + e] / m->unit[i] * m->unit[e] * m->more[(k * q + e) * n + j];
                *to += sum - m->more[(k * q + i) * n + j];
            }
}

static dp_status limit_joint(members *b, const double *inverse, dp_error *err)
{
    const dpi_model_view *r = b->m->view;
    size_t p = b->p, n = b->size, K = b->plate->members;
    double *all = dpi_alloc(p + 7 * p * p + (K + 2) * p * n + n * n, sizeof *all);
    size_t *row = dpi_alloc(p + 1, sizeof *row);
    left_over m = {.row = row, .unit = all};
    dp_status status = all != NULL && row != NULL ? DP_OK : dpi_fail_nomem(err);
    for (const dpi_read *a = r->reads; a < r->reads + r->n_reads && status == DP_OK; a++)
        for (size_t i = 0; i < a->size && a->members == 0; i++)
            row[m.q++] = a->at + i;
    if (status == DP_OK && m.q > 0) {
        m.left = all + p;
        m.taken = m.left + p * p;
        double *draw = m.taken + p * p, *room = draw + p * p;
        m.average = room + 4 * p * p;
        m.more = m.average + p * n;
        find_left(b, inverse, &m);
        status = find_taken(b, &m, m.more + K * p * n, err);
        if (status == DP_OK)
            status = find_draw(&m, draw, room, err);
        if (status == DP_OK)
            draw_joint(b, &m, draw);
    }
    dpi_free(all);
    dpi_free(row);
    return status;
}

/* What joins members to the dense numbers, shrunk to joint = total joint (total own)^-1 own. */
static dp_status shrink_joint(members *b, double *room, dp_error *err)
{
    size_t n = b->size, p = b->p, each = p * n + n * (n + 1) / 2, K = b->plate->members;
    const dpi_read *plate = b->plate;
    double *ratio = room, *inverse = ratio + p * n, *rest = inverse + n * n, square = 0;
    const double *a = dpi_metric_of(b->m, plate);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            inverse[i * n + j] = b->dense[(plate->at + i) * p + plate->at + j];
    /* A total that noise has left with nothing says nothing of how members are joined. */
    dp_status status = dpi_matrix_invert(n, inverse, inverse, NULL);
    bool told = status == DP_OK;
    status = status == DP_ENOMEM ? dpi_fail_nomem(err) : DP_OK;
    for (size_t i = 0; i < p && status == DP_OK; i++)
        for (size_t j = 0; j < n; j++) {
            ratio[i * n + j] = 0;
            for (size_t e = 0; told && e < n; e++)
                ratio[i * n + j] += b->dense[i * p + plate->at + e] * inverse[e * n + j];
        }
    for (int pass = 0; pass < 2 && status == DP_OK; pass++) {
        double keep = kept(square, (double)(K * p * n), b->sd * M_SQRT1_2);
        for (size_t k = 0; k < K; k++) {
            double *joint = b->joint + k * p * n;
            for (size_t i = 0; i < p; i++)
                for (size_t j = 0; j < n; j++) {
                    double sum = 0;
                    for (size_t e = 0; e < n; e++)
                        sum += ratio[i * n + e] * b->own[(k * n + e) * n + j];
                    joint[i * n + j] = sum;
                }
            /* In release coordinates, where noise is equal. */
            turn(p, n, b->m->dense, joint, a, rest);
            for (size_t e = 0; e < p * n; e++) {
                double found = b->pattern[k * each + e] * M_SQRT1_2;
                if (pass == 0)
                    square += (found - rest[e]) * (found - rest[e]);
                rest[e] += keep * (found - rest[e]);
            }
            if (pass == 1)
                turn(p, n, b->back, rest, b->back_own, joint);
        }
    }
    if (status != DP_OK || !told) {
        memset(b->joint, 0, K * p * n * sizeof *b->joint);
        return status;
    }
    tie_joint(b, inverse, rest);
    return limit_joint(b, inverse, err);
}

/* ---- the whole ---- */

/* Lays the dense block, without the plates' means, into whole[d][d]. */
static void lay_dense(const dpi_model_view *r, const double *dense, double *whole)
{
    size_t d = r->objective.n_theta;
    for (const dpi_read *a = r->reads; a < r->reads + r->n_reads; a++)
        for (const dpi_read *b = r->reads; b < r->reads + r->n_reads; b++)
            for (size_t i = 0; i < a->size && a->members == 0 && b->members == 0; i++)
                for (size_t j = 0; j < b->size; j++)
                    whole[(a->block->offset + i) * d + b->block->offset + j] =
                        dense[(a->at + i) * r->p + b->at + j];
}

/* Lays a plate's members; what joins them to another plate's is spread evenly over its members. */
static void lay_members(const members *b, double *whole)
{
    const dpi_model_view *r = b->m->view;
    size_t d = r->objective.n_theta, n = b->size;
    for (size_t k = 0; k < b->plate->members; k++) {
        size_t first = b->plate->block->offset + k * n;
        const double *own = b->own + k * n * n, *joint = b->joint + k * b->p * n;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                whole[(first + i) * d + first + j] = own[i * n + j];
        for (const dpi_read *a = r->reads; a < r->reads + r->n_reads; a++) {
            if (a == b->plate || (a->members > 0 && a > b->plate))
                continue;
            double part = a->members > 0 ? 1 / (double)a->members : 1;
            for (size_t i = 0; i < a->block->size; i++)
                for (size_t j = 0; j < n; j++) {
                    size_t row = a->block->offset + i, column = first + j;
                    whole[row * d + column] = whole[column * d + row] =
                        part * joint[(a->at + i % a->size) * n + j];
                }
        }
    }
}

static dp_status add_members(const dpi_metric *m, const dpi_read *plate, const double *dense,
                             const double *pattern, double sd, double *whole, double *doubt,
                             dp_error *err)
{
    size_t p = m->view->p, n = plate->size, K = plate->members;
    size_t room = p * p + 2 * n * n + K * n * (n + p) + 4 * p * n + 5 * n * n;
    double *all = dpi_alloc(room, sizeof *all);
    if (all == NULL)
        return dpi_fail_nomem(err);
    members b = {
        .m = m, .plate = plate, .p = p, .size = n, .dense = dense, .pattern = pattern, .sd = sd};
    b.back = all;
    b.back_own = b.back + p * p;
    b.own = b.back_own + n * n;
    b.joint = b.own + K * n * n;
    double *scratch = b.joint + K * n * p;
    dp_status status = dpi_matrix_inverse(p, m->dense, b.back, err);
    if (status == DP_OK)
        status = dpi_matrix_inverse(n, dpi_metric_of(m, plate), b.back_own, err);
    if (status == DP_OK)
        status = shrink_own(&b, scratch, err);
    if (status == DP_OK)
        status = tie_own(&b, scratch, err);
    if (status == DP_OK)
        status = shrink_joint(&b, scratch, err);
    if (status == DP_OK)
        lay_members(&b, whole);
    for (size_t i = 0; i < n && doubt != NULL && status == DP_OK; i++) {
        double square = 0;
        for (size_t e = 0; e < n; e++)
            square += b.back_own[e * n + i] * b.back_own[e * n + i];
        for (size_t k = 0; k < K; k++)
            doubt[plate->block->offset + k * n + i] = b.left * square * square;
    }
    dpi_free(all);
    return status;
}

/* Makes whole[d][d] positive semidefinite, in units in which its diagonal is 1. */
static dp_status make_positive(size_t d, double *whole, dp_error *err)
{
    double *unit = dpi_alloc(d, sizeof *unit);
    if (unit == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < d; i++)
        unit[i] = whole[i * d + i] > 0 ? sqrt(whole[i * d + i]) : 0;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            whole[i * d + j] = unit[i] * unit[j] > 0 ? whole[i * d + j] / (unit[i] * unit[j]) : 0;
    dp_status status = dpi_matrix_power(d, whole, 1, 0, whole, err);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            whole[i * d + j] *= unit[i] * unit[j];
    dpi_free(unit);
    return status;
}

/* Takes direction v[d] out of a positive semidefinite matrix; room[d]. */
static void deflate(size_t d, const double *v, double *room, double *whole)
{
    dpi_matrix_times(d, whole, v, room);
    double there = dpi_dot(d, v, room);
    for (size_t i = 0; i < d && there > 0; i++)
        for (size_t j = 0; j < d; j++)
            whole[i * d + j] -= room[i] * room[j] / there;
}

/* Where an intercept, or the like, and the members of a plate can move against each other without
 * any record noticing, whitening has found no information at all.  Sums of members are noisier than
 * sums over all records, and what noise leaves there would hold the intercept. */
static dp_status free_null(const dpi_metric *m, double *whole, dp_error *err)
{
    const dpi_model_view *r = m->view;
    size_t p = r->p, d = r->objective.n_theta;
    double *square = dpi_alloc(2 * p * p + 2 * p + 2 * d, sizeof *square);
    if (square == NULL)
        return dpi_fail_nomem(err);
    double *vectors = square + p * p, *values = vectors + p * p, *unit = values + p;
    double *v = unit + p, *room = v + d;
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++)
            square[i * p + j] = dpi_dot(p, m->dense + i * p, m->dense + j * p);
    dp_status status = dpi_matrix_invert(p, square, square, err);
    for (size_t i = 0; i < p && status == DP_OK; i++)
        unit[i] = 1 / sqrt(square[i * p + i]);
    for (size_t e = 0; e < p * p; e++)
        square[e] *= unit[e / p] * unit[e % p];
    if (status == DP_OK)
        status = dpi_matrix_eigen(p, square, values, vectors, err);
    for (size_t c = 0; c < p && status == DP_OK; c++) {
        double of_plates = 0;
        memset(v, 0, d * sizeof *v);
        for (const dpi_read *a = r->reads; a < r->reads + r->n_reads; a++)
            for (size_t i = 0; i < a->block->size; i++) {
                size_t row = a->at + i % a->size;
                v[a->block->offset + i] = unit[row] * vectors[row * p + c];
                if (a->members > 0 && i < a->size)
                    of_plates += vectors[row * p + c] * vectors[row * p + c];
            }
        if (values[c] < null_share && of_plates > 0.05)
            deflate(d, v, room, whole);
    }
    dpi_free(square);
    return status;
}

double dpi_arrow_signal(const dpi_model_view *r, const double *pattern, double sd)
{
    double sum = 0;
    for (size_t e = 0, at = 0; e < r->p; at += r->p - e, e++)
        sum += pattern[at];
    return sd > 0 ? sum / (sd * sqrt((double)r->p)) : INFINITY;
}

dp_status dpi_arrow_whole(const dpi_metric *m, const double *pattern, const dpi_expected *as,
                          double *whole, double *doubt, dp_error *err)
{
    const dpi_model_view *r = m->view;
    size_t d = r->objective.n_theta, p = r->p;
    double *dense = dpi_alloc(4 * p * p, sizeof *dense);
    if (dense == NULL)
        return dpi_fail_nomem(err);
    double *back = dense + p * p, *there = back + p * p;
    dp_status status = dpi_arrow_dense(r, pattern, as, dense, err);
    if (status == DP_OK)
        status = dpi_matrix_inverse(p, m->dense, back, err);
    if (status == DP_OK)
        dpi_matrix_congruence(p, back, dense, there + p * p, there);
    memset(whole, 0, d * d * sizeof *whole);
    if (doubt != NULL)
        memset(doubt, 0, d * sizeof *doubt);
    pattern += p * (p + 1) / 2;
    if (status == DP_OK)
        lay_dense(r, there, whole);
    for (const dpi_read *a = r->reads; a < r->reads + r->n_reads && status == DP_OK; a++) {
        if (a->members == 0)
            continue;
        status = add_members(m, a, there, pattern, as->sd, whole, doubt, err);
        pattern += a->members * (p * a->size + a->size * (a->size + 1) / 2);
    }
    if (status == DP_OK && r->n_plates > 0)
        status = make_positive(d, whole, err);
    if (status == DP_OK && r->n_plates > 0)
        status = free_null(m, whole, err);
    dpi_free(dense);
    return status;
}
