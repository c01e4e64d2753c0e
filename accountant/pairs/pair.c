/* Which pair belongs to which mechanism; doc/design/mechanisms.md has the table and the proofs. */
#include "accountant/pairs/pair.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "accountant/pairs/allocation.h"
#include "accountant/pairs/make.h"
#include "base/alloc.h"
#include "base/error.h"

/* One row, no jumps. */
static dpi_pair plain_gaussian(const dp_mechanism *m, dpi_direction direction)
{
    bool replaced = m->adjacency == DP_REPLACE_ONE;
    if (m->rate == 1)
        return dpi_make_full(replaced ? m->sigma / 2 : m->sigma);
    return replaced ? dpi_make_replace(m->sigma, m->rate)
                    : dpi_pair_gaussian(m->sigma, m->rate, direction);
}

static dp_status gaussian(const dp_mechanism *m, dpi_direction direction, dpi_side side,
                          dpi_pair *pair, dp_error *err)
{
    if (m->jumps != NULL)
        return dpi_make_jumps(m, direction, side, pair, err);
    if (m->rows > 1 && m->rate < 1)
        return dpi_make_rows(m, direction, side, pair, err);
    *pair = m->rows > 1 ? dpi_make_full(m->sigma / m->rows) : plain_gaussian(m, direction);
    return DP_OK;
}

/* Sensitivity 2C: sigma / 2 in its units. */
static dp_status fixed(const dp_mechanism *m, dpi_direction direction, dpi_side side,
                       dpi_pair *pair, dp_error *err)
{
    if (m->rate == 1)
        *pair = dpi_make_full(m->sigma / 2);
    else if (side == DPI_LOWER)
        *pair = dpi_pair_gaussian(m->sigma / 2, m->rate, direction);
    else
        return dpi_make_fixed(m->sigma / 2, m->rate, pair, err);
    return DP_OK;
}

static dp_status by_noise(const dp_mechanism *m, dpi_direction direction, dpi_side side,
                          dpi_pair *pair, dp_error *err)
{
    bool replaced = m->adjacency == DP_REPLACE_ONE;
    switch (m->noise) {
    case DP_NOISE_GAUSSIAN:
        return gaussian(m, direction, side, pair, err);
    case DP_NOISE_LAPLACE:
        return dpi_make_laplace(replaced ? m->sigma / 2 : m->sigma, m->rate, direction, pair, err);
    case DP_NOISE_DISCRETE_GAUSSIAN:
    case DP_NOISE_ROUNDED_GAUSSIAN:
        return dpi_make_lattice(m, direction, side, pair, err);
    case DP_NOISE_RANDOMISED_RESPONSE:
        return dpi_make_response(m->sigma, m->categories, pair, err);
    case DP_NOISE_ALL_OR_NOTHING: /* taken out before (rare.h) */
        break;
    }
    return dpi_fail(err, DP_EDOMAIN, "noise is %d; name one of DP_NOISE_*", (int)m->noise);
}

dp_status dpi_pair_of(const dp_mechanism *m, dpi_direction direction, dpi_side side, dpi_pair *pair,
                      double *times, dp_error *err)
{
    *pair = (dpi_pair){0};
    *times = (double)m->steps;
    switch (m->sampling) {
    case DP_SAMPLING_POISSON:
    case DP_SAMPLING_FULL:
        return by_noise(m, direction, side, pair, err);
    case DP_SAMPLING_FIXED:
        return fixed(m, direction, side, pair, err);
    case DP_SAMPLING_TRUNCATED:
        *pair = dpi_make_truncated(m, direction, side);
        return DP_OK;
    case DP_SAMPLING_ALLOCATION:
        *times = (double)(m->steps / m->epoch);
        return dpi_allocation_pair(m->sigma, m->epoch, direction, side, 0, pair, err);
    default:
        return dpi_fail(err, DP_EMISMATCH, "sampling %d has no pair", (int)m->sampling);
    }
}

void dpi_pair_free(dpi_pair *pair)
{
    dpi_free(pair->atom);
    dpi_free(pair->owned);
    *pair = (dpi_pair){0};
}

double dpi_pair_top(const dpi_pair *pair)
{
    double top = 0;
    for (size_t i = 0; i < pair->n_pieces; i++) {
        const dpi_piece *piece = &pair->piece[i];
        if (piece->sign > 0 && !(piece->to < INFINITY))
            return INFINITY;
        if (piece->sign > 0)
            top = fmax(top, piece->ops->excess(piece, piece->to) +
                                piece->ops->excess_error(piece, piece->from, piece->to));
    }
    if (pair->n_atoms > 0)
        top = fmax(top, pair->atom[pair->n_atoms - 1].offset + pair->offset_error);
    return pair->base + top + 4 * DBL_EPSILON * (fabs(pair->base) + top);
}
