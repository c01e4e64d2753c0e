/* Metrics: small dense matrices. */
#include "infer/metric.h"

#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "infer/inquiries.h"
#include "num/linalg.h"
#include "num/matrix.h"

/* How much a member's own coordinates add to E |h|^2, as a share of what the dense ones do, for all
 * plates together.  More lowers the noise of the groups' sums and raises that of all others. */
static const double own_share = 0.5;

static void set_unit(size_t n, double *a)
{
    memset(a, 0, n * n * sizeof *a);
    for (size_t i = 0; i < n; i++)
        a[i * n + i] = 1;
}

double *dpi_metric_of(const dpi_metric *m, const dpi_read *plate)
{
    size_t at = 0;
    for (const dpi_read *d = m->view->reads; d < plate; d++)
        at += d->members > 0 ? d->size * d->size : 0;
    return m->own + at;
}

dp_status dpi_metric_init(dpi_metric *m, const dpi_model_view *r, dpi_arena *arena, dp_error *err)
{
    *m = (dpi_metric){.view = r, .dims = (double)r->p, .bulk = (double)r->p};
    for (const dpi_read *d = r->reads; d < r->reads + r->n_reads; d++)
        m->n_own += d->members > 0 ? d->size * d->size : 0;
    m->dense = dpi_arena_alloc(arena, r->p * r->p, sizeof *m->dense);
    m->own = dpi_arena_alloc(arena, m->n_own + 1, sizeof *m->own);
    if (m->dense == NULL || m->own == NULL)
        return dpi_fail_nomem(err);
    set_unit(r->p, m->dense);
    for (const dpi_read *d = r->reads; d < r->reads + r->n_reads; d++)
        if (d->members > 0)
            set_unit(d->size, dpi_metric_of(m, d));
    return DP_OK;
}

/* out[n] = row[n] a[n][n] */
static void times(size_t n, const double *row, const double *a, double *out)
{
    memset(out, 0, n * sizeof *out);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n && row[i] != 0; j++)
            out[j] += row[i] * a[i * n + j];
}

/* The members' own numbers of a record's argument. */
static void apply_own(const dpi_metric *m, const double *own, double *white)
{
    const dpi_model_view *r = m->view;
    const double *a = m->own;
    for (const dpi_read *d = r->reads; d < r->reads + r->n_reads; d++) {
        if (d->members == 0)
            continue;
        times(d->size, own + d->local - r->p, a, white + d->local);
        a += d->size * d->size;
    }
}

enum { LANES = 8 };

/* Sum of x y: LANES sums side by side. */
DPI_INLINE double product_of(size_t n, const double *x, const double *y)
{
    double lane[LANES] = {0}, rest = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++)
            lane[l] += x[i + l] * y[i + l];
    for (; i < n; i++)
        rest += x[i] * y[i];
    return rest + ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* gamma[k][k] of white[k][local].  One record a call, so that it cannot depend on others. */
DPI_LOOPS static void square(size_t k, size_t local, const double *white, double *restrict gamma)
{
    for (size_t j = 0; j < k; j++)
        for (size_t l = 0; l <= j; l++)
            gamma[j * k + l] = gamma[l * k + j] =
                product_of(local, white + j * local, white + l * local);
}

void dpi_metric_apply(const dpi_metric *m, size_t n, const double *dense, const double *own,
                      double *white, double *gamma)
{
    const dpi_model_view *r = m->view;
    size_t p = r->p, apart = r->local - p;
    dpi_gemm(false, false, n * r->k, p, p, dense, m->dense, white);
    /* The rows move apart, the last one first. */
    for (size_t i = n * r->k; i-- > 0 && apart > 0;) {
        memmove(white + i * r->local, white + i * p, p * sizeof *white);
        apply_own(m, own + i * apart, white + i * r->local);
    }
    for (size_t i = 0; i < n; i++)
        square(r->k, r->local, white + i * r->k * r->local, gamma + i * r->k * r->k);
}

/* The matrices of plates from those of their means; room[2][p][p]. */
static dp_status follow(dpi_metric *m, double *room, dp_error *err)
{
    const dpi_model_view *r = m->view;
    size_t p = r->p, all = 0;
    double *turned = room;
    double *information = turned + p * p; /* (A A')^-1: a record's in theta's coordinates */
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) {
            double sum = 0;
            for (size_t e = 0; e < p; e++)
                sum += m->dense[i * p + e] * m->dense[j * p + e];
            turned[i * p + j] = sum;
        }
    dp_status status = dpi_matrix_invert(p, turned, information, err);
    for (const dpi_read *d = r->reads; d < r->reads + r->n_reads; d++)
        all += d->members > 0 ? d->size : 0;
    double weight = all > 0 ? own_share * (double)p / (double)all : 0;
    for (const dpi_read *d = r->reads; d < r->reads + r->n_reads && status == DP_OK; d++) {
        double *own = dpi_metric_of(m, d);
        if (d->members == 0)
            continue;
        for (size_t i = 0; i < d->size; i++)
            for (size_t j = 0; j < d->size; j++)
                own[i * d->size + j] = information[(d->at + i) * p + d->at + j];
        status = dpi_matrix_power(d->size, own, -0.5, 0, own, err);
        for (size_t e = 0; e < d->size * d->size; e++)
            own[e] *= sqrt(weight);
    }
    m->dims = (double)p + weight * (double)all;
    double dense = (double)p, own = dpi_own_weight * weight * (double)all;
    double joint = dpi_joint_weight * sqrt(2 * dense * weight * (double)all);
    m->bulk = sqrt(dense * dense + joint * joint + own * own);
    return status;
}

dp_status dpi_metric_turn(dpi_metric *m, const double *turn, dp_error *err)
{
    size_t p = m->view->p;
    double *room = dpi_alloc(2 * p * p, sizeof *room);
    if (room == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < p; i++)
        times(p, m->dense + i * p, turn, room + i * p);
    memcpy(m->dense, room, p * p * sizeof *room);
    dp_status status = follow(m, room, err);
    dpi_free(room);
    return status;
}

dp_status dpi_metric_carry(dpi_metric *m, const double *turn, dp_error *err)
{
    size_t p = m->view->p;
    double *room = dpi_alloc(2 * p * p, sizeof *room);
    if (room == NULL)
        return dpi_fail_nomem(err);
    dpi_matrix_product(p, turn, m->dense, room);
    memcpy(m->dense, room, p * p * sizeof *room);
    dp_status status = follow(m, room, err);
    dpi_free(room);
    return status;
}

dp_status dpi_metric_scale(dpi_metric *m, const double *factor, dp_error *err)
{
    size_t p = m->view->p;
    double *room = dpi_alloc(2 * p * p, sizeof *room);
    if (room == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < p; i++)
        for (size_t e = 0; e < p; e++)
            m->dense[i * p + e] *= factor[i];
    dp_status status = follow(m, room, err);
    dpi_free(room);
    return status;
}

void dpi_metric_square(const dpi_metric *m, double *square)
{
    const dpi_model_view *r = m->view;
    size_t d = r->objective.n_theta;
    memset(square, 0, d * d * sizeof *square);
    /* theta's number e moves dense coordinate c: itself, or the mean of its plate. */
    for (const dpi_read *a = r->reads; a < r->reads + r->n_reads; a++)
        for (const dpi_read *b = r->reads; b < r->reads + r->n_reads; b++)
            for (size_t i = 0; i < a->block->size; i++)
                for (size_t j = 0; j < b->block->size; j++) {
                    const double *row = m->dense + (a->at + i % a->size) * r->p;
                    const double *other = m->dense + (b->at + j % b->size) * r->p;
                    double sum = 0;
                    for (size_t e = 0; e < r->p; e++)
                        sum += row[e] * other[e];
                    square[(a->block->offset + i) * d + b->block->offset + j] = sum;
                }
    for (const dpi_read *a = r->reads; a < r->reads + r->n_reads; a++) {
        const double *own = dpi_metric_of(m, a);
        for (size_t k = 0; k < a->members; k++)
            for (size_t i = 0; i < a->size; i++)
                for (size_t j = 0; j < a->size; j++) {
                    double sum = 0;
                    for (size_t e = 0; e < a->size; e++)
                        sum += own[i * a->size + e] * own[j * a->size + e];
                    size_t first = a->block->offset + k * a->size;
                    square[(first + i) * d + first + j] += sum;
                }
    }
}

dp_status dpi_metric_back(const dpi_metric *m, double *square, double *back, dp_error *err)
{
    size_t d = m->view->objective.n_theta;
    dpi_metric_square(m, square);
    for (size_t i = 0; i < d; i++)
        if (square[i * d + i] == 0)
            square[i * d + i] = 1;
    return dpi_matrix_invert(d, square, back, err);
}

/* By how much number i of a read moves its coordinate. */
static double share_of(const dpi_read *a)
{
    return a->members > 0 ? 1 / (double)a->members : 1;
}

dp_status dpi_metric_lengths(const dpi_metric *m, double *lengths, dp_error *err)
{
    const dpi_model_view *r = m->view;
    size_t p = r->p, d = r->objective.n_theta;
    double *apart = dpi_alloc(p * p, sizeof *apart);
    if (apart == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++)
            apart[i * p + j] = dpi_dot(p, m->dense + i * p, m->dense + j * p);
    dp_status status = dpi_matrix_invert(p, apart, apart, err);
    memset(lengths, 0, d * d * sizeof *lengths);
    for (const dpi_read *a = r->reads; a < r->reads + r->n_reads && status == DP_OK; a++)
        for (const dpi_read *b = r->reads; b < r->reads + r->n_reads; b++)
            for (size_t i = 0; i < a->block->size; i++)
                for (size_t j = 0; j < b->block->size; j++)
                    lengths[(a->block->offset + i) * d + b->block->offset + j] =
                        share_of(a) * share_of(b) *
                        apart[(a->at + i % a->size) * p + b->at + j % b->size];
    dpi_free(apart);
    return status;
}

void dpi_metric_lift(const dpi_metric *m, const double *y, double *lifted)
{
    const dpi_model_view *r = m->view;
    memset(lifted, 0, r->objective.n_theta * sizeof *lifted);
    for (const dpi_read *a = r->reads; a < r->reads + r->n_reads; a++)
        for (size_t i = 0; i < a->block->size; i++) {
            const double *row = m->dense + (a->at + i % a->size) * r->p;
            double *to = &lifted[a->block->offset + i];
            *to = dpi_dot(r->p, row, y);
            if (a->members > 0)
                *to += dpi_dot(a->size, dpi_metric_of(m, a) + i % a->size * a->size,
                               y + a->first + i / a->size * a->size);
        }
}

void dpi_metric_lower(const dpi_metric *m, const double *gradient, double *y)
{
    const dpi_model_view *r = m->view;
    memset(y, 0, r->n_release * sizeof *y);
    for (const dpi_read *a = r->reads; a < r->reads + r->n_reads; a++)
        for (size_t i = 0; i < a->block->size; i++) {
            const double *row = m->dense + (a->at + i % a->size) * r->p;
            const double *own = dpi_metric_of(m, a) + i % a->size * a->size;
            double g = gradient[a->block->offset + i];
            for (size_t e = 0; e < r->p; e++)
                y[e] += g * row[e];
            for (size_t e = 0; a->members > 0 && e < a->size; e++)
                y[a->first + i / a->size * a->size + e] += g * own[e];
        }
}
