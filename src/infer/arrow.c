/* Shrinking and unfolding patterns. */
#include "infer/arrow.h"

#include <math.h>
#include <string.h>

#include "infer/inquiries.h"
#include "infer/members.h"
#include "num/linalg.h"
#include "num/matrix.h"

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

double dpi_arrow_kept(double square, double n, double sd)
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

/* Not more than what was known before allows, unless n independent numbers are surely farther
 * apart, beyond three standard deviations of what noise makes of their squares; n may be 0. */
static double kept_at_most(double square, double n, double sd, double most)
{
    double sure = n > 0 ? dpi_arrow_kept(square, n + 3 * sqrt(2 * n), sd) : 0;
    return fmax(fmin(dpi_arrow_kept(square, n, sd), most), sure);
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
    double keep_own = kept_at_most(own, (double)p - 1, sd, most);
    double half = (double)p * (double)(p - 1) / 2; /* each number stands there twice */
    double keep_joint = kept_at_most(joint / 2, half, sd * M_SQRT1_2, most);
    for (size_t e = 0; e < p; e++)
        for (size_t f = 0; f < p; f++)
            dense[e * p + f] = e == f ? shrunk(dense[e * p + f], mean, keep_own, sd)
                                      : shrunk(dense[e * p + f], 0, keep_joint, sd * M_SQRT1_2);
    return dpi_matrix_power(p, dense, 1, fmax(as->least * mean, 0), dense, err);
}

/* ---- the whole ---- */

void dpi_arrow_hear(const dpi_metric *m, const double *pattern, double level, double sd,
                    dpi_told *told)
{
    const dpi_model_view *r = m->view;
    pattern += r->p * (r->p + 1) / 2;
    for (const dpi_read *a = r->reads; a < r->reads + r->n_reads; a++) {
        size_t each = r->p * a->size + a->size * (a->size + 1) / 2;
        double unit = a->members > 0 ? *dpi_metric_of(m, a) : 1;
        double factor = 1 / (unit * unit * level), noise = factor * sd / dpi_own_weight;
        for (size_t k = 0; k < a->members && a->size == 1; k++) {
            size_t i = a->block->offset + k;
            double before = told->precision[i], more = 1 / (noise * noise);
            told->precision[i] += more;
            told->own[i] = (before * told->own[i] + more * factor * pattern[k * each + r->p]) /
                           told->precision[i];
        }
        pattern += a->members * each;
    }
}

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
static void lay_members(const dpi_plate_information *b, double *whole)
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
                             const double *pattern, const dpi_expected *as, double *whole,
                             dp_error *err)
{
    size_t p = m->view->p, n = plate->size, K = plate->members;
    size_t room = p * p + 2 * n * n + K * n * (n + p) + 4 * p * n + 5 * n * n;
    double *all = dpi_alloc(room, sizeof *all);
    if (all == NULL)
        return dpi_fail_nomem(err);
    dpi_plate_information b = {
        .m = m, .plate = plate, .p = p, .size = n, .dense = dense, .pattern = pattern, .as = as};
    b.back = all;
    b.back_own = b.back + p * p;
    b.own = b.back_own + n * n;
    b.joint = b.own + K * n * n;
    double *scratch = b.joint + K * n * p;
    dp_status status = dpi_matrix_inverse(p, m->dense, b.back, err);
    if (status == DP_OK)
        status = dpi_matrix_inverse(n, dpi_metric_of(m, plate), b.back_own, err);
    if (status == DP_OK)
        status = dpi_members_find(&b, scratch, err);
    if (status == DP_OK)
        lay_members(&b, whole);
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
                          double *whole, dp_error *err)
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
    pattern += p * (p + 1) / 2;
    if (status == DP_OK)
        lay_dense(r, there, whole);
    for (const dpi_read *a = r->reads; a < r->reads + r->n_reads && status == DP_OK; a++) {
        if (a->members == 0)
            continue;
        status = add_members(m, a, there, pattern, as, whole, err);
        pattern += a->members * (p * a->size + a->size * (a->size + 1) / 2);
    }
    if (status == DP_OK && r->n_plates > 0)
        status = make_positive(d, whole, err);
    if (status == DP_OK && r->n_plates > 0)
        status = free_null(m, whole, err);
    dpi_free(dense);
    return status;
}
