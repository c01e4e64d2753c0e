/* Shrinking and tying the members of a plate. */
#include "infer/members.h"

#include <math.h>
#include <string.h>

#include "infer/arrow.h"
#include "infer/inquiries.h"
#include "num/linalg.h"
#include "num/matrix.h"

/* Of the variance of noise: what members differ by at the least; and their least mean in its
 * standard deviations. */
static const double least_kept = 0.01, least_mean = 0.01;

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
static void average_own(const dpi_plate_information *b, double *average)
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
static dp_status shrink_own(dpi_plate_information *b, double *room, dp_error *err)
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
    double sd = b->as->members / dpi_own_weight;
    double keep = dpi_arrow_kept(square, (double)(K * packed), sd);
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

/* ---- members of one number ---- */

/* Numbers of members are positive and may be as different as sizes of groups are: a gamma law. */
typedef struct spread {
    double mean, shape;
} spread;

enum { STEPS = 512 };

/* The mean of a number of that law, found to be `found` with noise sd, by steps of its root. */
static double mean_of(const spread *s, double found, double sd)
{
    bool wide = s->mean > sd * sqrt(s->shape);
    double low = wide ? found : fmin(found, s->mean), high = wide ? found : fmax(found, s->mean);
    double from = sqrt(fmax(low - 8 * sd, 0)), to = sqrt(fmax(high, 0) + 8 * sd);
    double x[STEPS], weight[STEPS], most = -INFINITY, sum = 0, all = 0;
    for (int k = 0; k < STEPS; k++) {
        double root = from + (k + 0.5) / STEPS * (to - from);
        x[k] = root * root;
        double ratio = x[k] / s->mean, z = (x[k] - found) / sd;
        weight[k] = log(root) + (s->shape - 1) * log(ratio) - s->shape * (ratio - 1) - z * z / 2;
        most = fmax(most, weight[k]);
    }
    for (int k = 0; k < STEPS; k++) {
        double share = exp(weight[k] - most);
        sum += share * x[k];
        all += share;
    }
    return sum / all;
}

/* Own numbers from what was told: their mean is the plate's total, their variance what the noise
 * does not explain. */
static void settle_own(dpi_plate_information *b)
{
    size_t K = b->plate->members, first = b->plate->block->offset;
    const double *own = b->as->told->own + first, *precision = b->as->told->precision + first;
    double total = b->dense[b->plate->at * b->p + b->plate->at], square = 0, noise = 0;
    spread s = {.mean = fmax(total / (b->as->factor * (double)K), least_mean / sqrt(*precision))};
    for (size_t k = 0; k < K; k++) {
        square += (own[k] - s.mean) * (own[k] - s.mean);
        noise += 1 / precision[k];
    }
    double variance = fmax(square - noise, least_kept * noise) / (double)K;
    s.shape = s.mean * s.mean / variance;
    for (size_t k = 0; k < K; k++)
        b->own[k] = b->as->factor * mean_of(&s, own[k], 1 / sqrt(precision[k]));
}

/* The members' own blocks add up to the plate's, as those of the records do: own <- T own T' with
 * T = total^1/2 (sum of own)^-1/2.  Where an intercept and the members' mean are one direction,
 * what is left over would be taken for information of it.  room[4][size][size]. */
static dp_status tie_own(dpi_plate_information *b, double *room, dp_error *err)
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
static void tie_joint(dpi_plate_information *b, const double *inverse, double *room)
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
static dp_status find_taken(const dpi_plate_information *b, left_over *m, double *room,
                            dp_error *err)
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
static void find_left(const dpi_plate_information *b, const double *inverse, left_over *m)
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

static void draw_joint(dpi_plate_information *b, const left_over *m, const double *draw)
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

static dp_status limit_joint(dpi_plate_information *b, const double *inverse, dp_error *err)
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
static dp_status shrink_joint(dpi_plate_information *b, double *room, dp_error *err)
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
        double keep = dpi_arrow_kept(square, (double)(K * p * n),
                                     b->as->members * M_SQRT1_2 / dpi_joint_weight);
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

dp_status dpi_members_find(dpi_plate_information *b, double *room, dp_error *err)
{
    bool told = b->as->told != NULL && b->size == 1;
    dp_status status = told ? DP_OK : shrink_own(b, room, err);
    if (told)
        settle_own(b);
    if (status == DP_OK)
        status = tie_own(b, room, err);
    return status == DP_OK ? shrink_joint(b, room, err) : status;
}
