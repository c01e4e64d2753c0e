/* Looks at the curvature: one behind each part of the main rounds.
 *
 * Scores bend: where outcomes are nearly settled records tell ever less the steeper slopes are, and
 * rounds that weigh scores by what was known where they began go ever too short.  So the release of
 * the curvature is made in parts, at no cost in noise where it stays: the way follows the looks so
 * far (looks.h), and the answer's curvature is what all of them tell. */
#include "infer/curvature.h"

#include <math.h>
#include <string.h>

#include "infer/arrow.h"
#include "infer/bending.h"
#include "infer/follow.h"
#include "infer/walks.h"
#include "infer/whitening.h"

/* Norm that looks are clipped to, in units of that above which whitening saw next to no record, and
 * the least of the mean norm.  Whitening itself leaves more room: it would bring out again what was
 * clipped, and had nothing to stop at. */
static const double room_to_grow = 2, least_norm = 2;

/* Least eigenvalue of what looks tell, as a share of their mean, where noise hides nothing and where
 * it hides all. */
static const double surely_told = 0.05, hardly_told = 0.5;

/* A look at the curvature at `at`: slope and variance of what is released there. */
static dp_status look(dpi_rounds *r, double clip, const double *at, dp_error *err)
{
    size_t half = dpi_pattern_size(r->view);
    double sd[2] = {0, 0};
    dpi_clipped model = dpi_clipped_at(&r->norms, r->metric.dims, clip);
    dpi_inquiry q = dpi_rounds_query(r, r->budget->noisy ? clip : INFINITY);
    if (r->budget->noisy && r->view->n_plates == 0)
        q.most = fmin(q.most, fmax(least_norm, room_to_grow * r->seen) * r->metric.bulk);
    r->clip[DPI_STAGE_CURVATURE] = q.most;
    dp_status status = dpi_inquiry_run(&q, DPI_INQUIRY_CURVATURE, r->scan, at,
                                       r->budget->sigmas[DPI_STAGE_CURVATURE], r->pattern, sd, err);
    if (status != DP_OK)
        return status;
    if (sd[0] > 0) { /* both are of the information, but for a factor */
        dpi_arrow_hear(&r->metric, r->pattern, model.slope, sd[0], &r->told);
        dpi_arrow_hear(&r->metric, r->pattern + half, model.variance, sd[1], &r->told);
    }
    dpi_looks_join(&r->looks, r->pattern, sd[0]);
    r->noise_of_look[0] = sd[0];
    r->noise_of_look[1] = sd[1];
    memcpy(r->pattern, r->looks.known, 2 * half * sizeof *r->pattern);
    r->signal = dpi_arrow_signal(r->view, r->pattern, sd[0] * sqrt(r->looks.variance));
    return DP_OK;
}

/* Least eigenvalue of what looks have told, as a share of their mean: as far as noise spreads those
 * that are alike (Wigner), within limits. */
static double least_of(const dpi_rounds *r, double sd, double mean)
{
    double noise = sd * sqrt(2 * (double)r->view->p) / mean;
    return sd > 0 ? fmin(fmax(noise, surely_told), hardly_told) : 1e-10;
}

/* Half `which` of the looks, 0 slope and 1 variance, as the whole matrix; `factor` is that of the
 * public model. */
static dp_status hear_look(const dpi_rounds *r, int which, double factor, double *whole,
                           dp_error *err)
{
    double sd = r->noise_of_look[which] * sqrt(r->looks.variance);
    dpi_expected as = {.sd = sd,
                       .members = sd,
                       .least = least_of(r, sd, factor * r->n),
                       .level = factor * r->n,
                       .spread = factor * r->n * r->left,
                       .told = sd > 0 ? &r->told : NULL,
                       .factor = factor};
    const double *pattern = r->pattern + (size_t)which * dpi_pattern_size(r->view);
    return dpi_arrow_whole(&r->metric, pattern, &as, whole, err);
}

dp_status dpi_look_around(dpi_rounds *r, double clip, dp_error *err)
{
    size_t d = r->view->objective.n_theta;
    double factor = dpi_clipped_at(&r->norms, r->metric.dims, clip).slope;
    dp_status status = look(r, clip, r->z, err);
    if (status != DP_OK || r->signal < 3)
        return status;
    status = hear_look(r, 0, factor, r->information, err);
    for (size_t e = 0; e < d * d; e++)
        r->information[e] /= factor;
    dpi_follow_from_here(r);
    return status;
}

bool dpi_looks_before(const dpi_rounds *r, size_t t)
{
    size_t rounds = (size_t)r->budget->releases[DPI_STAGE_MAIN];
    size_t parts = (size_t)r->budget->releases[DPI_STAGE_CURVATURE];
    return r->view->n_plates == 0 && t > 0 && t * parts / rounds > (t - 1) * parts / rounds;
}

/* What is not known of a number around which others are spread, once it is shrunk towards them, as
 * a share of its noise's variance.  How far the last whitening left directions of which records
 * tell little is not known, either: half at the least. */
static double doubted(double spread, double sd)
{
    return fmax(spread * spread / (spread * spread + sd * sd), 0.5);
}

dp_status dpi_measure(dpi_rounds *r, double clip, dp_error *err)
{
    size_t d = r->view->objective.n_theta;
    double *mean = dpi_alloc(2 * d, sizeof *mean), *at = mean + d;
    dp_status status = mean != NULL ? DP_OK : dpi_fail_nomem(err);
    while (r->looks.made < r->budget->releases[DPI_STAGE_CURVATURE] && status == DP_OK) {
        dpi_walk_mean(r, mean);
        memcpy(at, r->centre, d * sizeof *at);
        dpi_bend_once(r, mean, r->place, at);
        status = look(r, clip, at, err);
    }
    dpi_free(mean);
    if (status != DP_OK)
        return status;
    if (r->signal < 3) { /* nothing is known: the posterior is the prior */
        memset(r->slope, 0, d * d * sizeof *r->slope);
        return DP_OK;
    }
    dpi_clipped model = dpi_clipped_at(&r->norms, r->metric.dims, clip);
    double sd = r->noise_of_look[0] * sqrt(r->looks.variance);
    if (sd > 0) {
        r->doubt = sd * sqrt(doubted(model.slope * r->n * r->left, sd));
        status = dpi_metric_lengths(&r->metric, r->lengths, err);
    }
    if (status == DP_OK)
        status = hear_look(r, 0, model.slope, r->slope, err);
    if (status == DP_OK)
        status = hear_look(r, 1, model.variance, r->variance, err);
    return status;
}
