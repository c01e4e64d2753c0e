/* Rounds that were made at different scales, as one.
 *
 * A score at c is X'r / s^2 where s is the outcomes' scale at c: what is known of the members of
 * groups grows from round to round, and s falls.  With the unit u of a coordinate, 1 / s here, a
 * score in theta's coordinates is of u^2 times something that does not depend on the round, and its
 * noise, the metric following the units, of u times. */
#include "infer/average.h"

#include <math.h>
#include <string.h>

#include "infer/follow.h"
#include "num/linalg.h"
#include "num/matrix.h"

size_t dpi_outcome_scale(const dpi_rounds *r)
{
    size_t d = r->view->objective.n_theta, one = d;
    for (const dpi_read *a = r->view->reads; a < r->view->reads + r->view->n_reads; a++)
        if (a->members == 0 && r->known.outcome - a->at < a->size)
            one = a->block->offset + (r->known.outcome - a->at);
    return r->main && r->known.bend > 0 ? one : d;
}

/* What a score of round t is multiplied by, to be what it would have been for the units of the
 * metric as it is now: a record's information is the square of a unit (shared.h). */
static double factor_of(const dpi_rounds *r, size_t t, size_t c)
{
    double ratio = r->unit[c] / r->units[t * r->view->p + c];
    return ratio * ratio;
}

/* Round t counts by how little noise its factors make, on average over the dense coordinates. */
static double weight_of(const dpi_rounds *r, size_t t)
{
    double square = 0;
    for (size_t c = 0; c < r->view->p; c++)
        square += factor_of(r, t, c) / (double)r->view->p;
    return 1 / square;
}

void dpi_average(dpi_rounds *r, size_t first, size_t end)
{
    const dpi_model_view *view = r->view;
    size_t d = view->objective.n_theta, scale = dpi_outcome_scale(r);
    double total = 0, square = 0;
    memset(r->score, 0, d * sizeof *r->score);
    memset(r->centre, 0, d * sizeof *r->centre);
    for (size_t t = first; t < end; t++)
        total += weight_of(r, t);
    for (size_t i = 0; i < d; i++)
        r->noise[i] = 1 / (double)(end - first);
    for (const dpi_read *a = view->reads; a < view->reads + view->n_reads; a++)
        memset(r->noise + a->block->offset, 0, a->block->size * sizeof *r->noise);
    for (size_t t = first; t < end; t++) {
        double share = weight_of(r, t) / total;
        for (const dpi_read *a = view->reads; a < view->reads + view->n_reads; a++)
            for (size_t i = 0; i < a->block->size; i++) {
                size_t e = a->block->offset + i;
                double factor = factor_of(r, t, a->at + i % a->size);
                r->score[e] += share * factor * r->scores[t * d + e];
                r->noise[e] += share * share * factor;
            }
        for (size_t e = 0; e < d; e++)
            r->centre[e] += share * r->centres[t * d + e];
        square += scale < d ? share * exp(2 * r->known.power * r->centres[t * d + scale]) : 0;
    }
    if (scale < d)
        r->centre[scale] = log(square) / (2 * r->known.power);
}

double dpi_spread_of_places(const dpi_rounds *r, size_t first, size_t end)
{
    size_t d = r->view->objective.n_theta, scale = dpi_outcome_scale(r);
    double sum = 0, total = 0, *away = r->aside + d, *times = r->aside + 2 * d;
    for (size_t t = first; t < end && scale < d; t++) {
        for (size_t i = 0; i < d; i++)
            away[i] = i == scale ? 0 : r->centres[t * d + i] - r->centre[i];
        dpi_matrix_times(d, r->slope, away, times);
        sum += weight_of(r, t) * dpi_dot(d, away, times) / r->kept;
        total += weight_of(r, t);
    }
    return scale < d ? sum / total : 0;
}

dp_status dpi_take_round(dpi_rounds *r, size_t t, dp_error *err)
{
    size_t d = r->view->objective.n_theta, p = r->view->p;
    memcpy(r->units + t * p, r->unit, p * sizeof *r->unit);
    dp_status status = dpi_metric_back(&r->metric, r->square, r->back, err);
    dpi_metric_lift(&r->metric, r->sum, r->score);
    dpi_matrix_times(d, r->back, r->score, r->scores + t * d);
    return status;
}

dp_status dpi_settle(dpi_rounds *r, size_t first, size_t end, dp_error *err)
{
    dpi_average(r, first, end);
    memcpy(r->z, r->centre, r->view->objective.n_theta * sizeof *r->z);
    dp_status status = dpi_follow(r, false, err);
    return status == DP_OK ? dpi_metric_back(&r->metric, r->square, r->back, err) : status;
}

double dpi_bring_together(const dpi_rounds *r, size_t first, size_t end, double *scores,
                          double *centres)
{
    size_t d = r->view->objective.n_theta, scale = dpi_outcome_scale(r);
    double square = 0;
    memcpy(scores, r->scores + first * d, (end - first) * d * sizeof *scores);
    memcpy(centres, r->centres + first * d, (end - first) * d * sizeof *centres);
    for (size_t t = first; t < end; t++, scores += d, centres += d) {
        square += 1 / weight_of(r, t) / (double)(end - first);
        for (const dpi_read *a = r->view->reads; a < r->view->reads + r->view->n_reads; a++)
            for (size_t i = 0; i < a->block->size; i++)
                scores[a->block->offset + i] *= factor_of(r, t, a->at + i % a->size);
        if (scale < d)
            centres[scale] = r->centre[scale];
    }
    return square;
}
