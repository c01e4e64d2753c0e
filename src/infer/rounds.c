/* The phases.  What is released in one is used in the next; nothing else of the records is.
 *
 *   scales       a histogram of each dense coordinate's information: the first metric
 *   whitening    the information of all records: a metric in which it is the unit matrix
 *   approach     rounds of clipped scores; each is made at the posterior's mean given those before
 *   (both again, nearer to the answer)
 *   count        records that are further out than the model expects: how far they are heard
 *   main         rounds as before, whose releases are the answer's likelihood
 *   curvature    slope and variance of the scores, behind each quarter of the main rounds: for the
 *                way, and for how wide the answer is
 *
 * doc/design/infer.md derives them. */
#include "infer/rounds.h"

#include <math.h>
#include <string.h>

#include "infer/average.h"
#include "infer/bending.h"
#include "infer/curvature.h"
#include "infer/drift.h"
#include "infer/follow.h"
#include "infer/secant.h"
#include "infer/walks.h"
#include "infer/whitening.h"
#include "model/model.h"
#include "num/linalg.h"
#include "num/matrix.h"

/* Least clip norm of the approach in units of sqrt(dims); longest step of a round in units of a
 * record's information. */
static const double least_clip = 1, longest = 0.8;

/* And of the logarithm of a positive number: beyond, what is known of the information is worth
 * little, and where a shape is large next to nothing tells of it. */
static const double farthest = 1;

/* Norms beyond which records are counted, and the main phase's largest clip norm, in units of
 * sqrt(dims). */
static const double distant = 2.75, widest = 12;

/* Least share of the information that a round may find to be there (secant.h), up to one that has
 * gone too far: from there rounds only take shorter steps. */
static const double least_shown = 0.5;

/* Main rounds count where their halves are no farther apart, in standard deviations (drift.h). */
static const double agreed = 2;

/* How much of what an approach has found stands beside the rounds after it. */
static const double kept_weight = 0.5;

static size_t most_rounds(const dpi_rounds *r)
{
    uint64_t most = 1;
    for (int k = 0; k < DPI_N_STAGES; k++)
        most = r->budget->releases[k] > most ? r->budget->releases[k] : most;
    return (size_t)most;
}

dp_status dpi_rounds_init(dpi_rounds *r, dp_error *err)
{
    const dpi_model_view *view = r->view;
    size_t d = view->objective.n_theta, rounds = most_rounds(r);
    dpi_arena *a = &r->arena;
    double **square[] = {&r->slope,  &r->variance, &r->information,
                         &r->square, &r->back,     &r->lengths};
    double **vector[] = {&r->told.own, &r->told.precision, &r->z,     &r->spread,  &r->centre,
                         &r->place,    &r->score,          &r->noise, &r->informed};
    bool ok = true;
    for (size_t k = 0; k < sizeof square / sizeof *square; k++)
        ok = ok && (*square[k] = dpi_arena_alloc(a, d * d, sizeof(double))) != NULL;
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        ok = ok && (*vector[k] = dpi_arena_alloc(a, d, sizeof(double))) != NULL;
    ok =
        ok && (r->pattern = dpi_arena_alloc(a, 2 * dpi_pattern_size(view), sizeof(double))) != NULL;
    ok =
        ok && dpi_looks_init(&r->looks, 2 * dpi_pattern_size(view), view->p * (view->p + 1) / 2, a);
    ok = ok && (r->sum = dpi_arena_alloc(a, view->n_release, sizeof(double))) != NULL;
    ok = ok && (r->scores = dpi_arena_alloc(a, rounds * d, sizeof(double))) != NULL;
    ok = ok && (r->units = dpi_arena_alloc(a, rounds * view->p, sizeof(double))) != NULL;
    ok = ok && (r->centres = dpi_arena_alloc(a, rounds * d, sizeof(double))) != NULL;
    ok = ok && (r->aside = dpi_arena_alloc(a, 3 * d, sizeof(double))) != NULL;
    ok = ok && (r->walk = dpi_arena_alloc(a, DPI_WALK * d, sizeof(double))) != NULL;
    if (!ok)
        return dpi_fail_nomem(err);
    ok = (r->unit = dpi_arena_alloc(a, view->p, sizeof(double))) != NULL;
    for (size_t c = 0; ok && c < view->p; c++)
        r->unit[c] = 1;
    dp_status status = ok ? dpi_shared_init(&r->known, view->p, a, err) : dpi_fail_nomem(err);
    if (status == DP_OK)
        status = dpi_follow_init(r, err);
    if (status == DP_OK)
        status = dpi_metric_init(&r->metric, view, a, err);
    return status == DP_OK ? dpi_surrogate_init(&r->posterior, view, err) : status;
}

void dpi_rounds_free(dpi_rounds *r)
{
    dpi_surrogate_free(&r->posterior);
    dpi_arena_free(&r->arena);
}

static size_t dimension(const dpi_rounds *r)
{
    return r->view->objective.n_theta;
}

/* The posterior given rounds first ... end - 1, whose releases have noise sd. */
static dp_status learn(dpi_rounds *r, size_t first, size_t end, double sd, dp_error *err)
{
    dpi_average(r, first, end);
    for (size_t i = 0; i < dimension(r); i++)
        r->noise[i] *= sd * sd;
    const dpi_released what = {.square = r->square,
                               .back = r->back,
                               .centre = r->centre,
                               .score = r->score,
                               .noise = r->noise,
                               .slope = r->slope,
                               .variance = r->variance,
                               .doubt = r->doubt,
                               .lengths = r->lengths,
                               .scale = dpi_outcome_scale(r),
                               .records = r->n,
                               .bend = r->known.bend,
                               .power = r->known.power,
                               .kept = r->kept,
                               .ratio = r->ratio,
                               .spread = dpi_spread_of_places(r, first, end)};
    return dpi_surrogate_set(&r->posterior, &what, err);
}

/* A move of the logarithm of a scale, for one of which Newton's step makes `move`.  That is -1/2
 * and no more where the scale is far too large, as the score is -1 at the least; were the score a
 * power of the scale, this would be the whole way. */
static double scale_move(double unit, double move)
{
    double whole = log(fmax(1 + unit * unit * move, 0.1)) / (unit * unit);
    return fmin(fmax(whole, -longest), longest);
}

/* The largest move of the logarithm of a positive number that all records read, such as a shape. */
static double largest_power(const dpi_rounds *r, const double *away)
{
    double largest = 0;
    for (const dpi_read *a = r->view->reads; a < r->view->reads + r->view->n_reads; a++) {
        const dpi_site *site = dpi_find_site(r->model, a->block->name);
        for (size_t i = a->block->offset; i < a->block->offset + a->size && a->members == 0; i++)
            if (site != NULL && site->family->support == DPI_ABOVE_ZERO)
                largest = fmax(largest, fabs(away[i]));
    }
    return largest;
}

/* Moves z to `to`: scales by themselves, the others by at most `longest` in units of a record's
 * information, on average over records. */
static dp_status step(dpi_rounds *r, const double *to, dp_error *err)
{
    size_t d = dimension(r);
    double *away = dpi_alloc(2 * d, sizeof *away), *back = away + d;
    if (away == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < d; i++)
        away[i] = to[i] - r->z[i];
    for (const dpi_read *a = r->view->reads; a < r->view->reads + r->view->n_reads; a++)
        for (size_t i = 0; i < a->size; i++)
            if (r->known.scale[a->at + i] && a->members == 0) {
                size_t e = a->block->offset + i;
                r->z[e] += scale_move(r->known.unit[a->at + i], away[e]);
                away[e] = 0;
            }
    dpi_matrix_times(d, r->information, away, back);
    double length = sqrt(fmax(dpi_dot(d, away, back), 0) / r->n) / longest;
    length = fmax(length, largest_power(r, away) / farthest);
    for (size_t i = 0; i < d; i++)
        away[i] /= fmax(length, 1);
    dp_status status = dpi_follow_shorten(r, away, err);
    for (size_t i = 0; i < d; i++)
        r->z[i] += away[i];
    dpi_free(away);
    return status;
}

/* Slope and variance of the sum of scores under the public model of clipping. */
static void guess_moments(dpi_rounds *r, double clip)
{
    size_t d = dimension(r);
    dpi_clipped at = dpi_clipped_at(&r->norms, r->metric.dims, clip);
    for (size_t e = 0; e < d * d; e++) {
        r->slope[e] = at.slope * r->information[e];
        r->variance[e] = at.variance * r->information[e];
    }
}

static dp_status approach(dpi_rounds *r, dpi_stage stage, double clip, dp_error *err)
{
    size_t d = dimension(r), rounds = (size_t)r->budget->releases[stage];
    double sigma = r->budget->sigmas[stage], sd = 0, *to = dpi_alloc(d, sizeof *to);
    dp_status status = to != NULL ? DP_OK : dpi_fail_nomem(err);
    dpi_inquiry q = dpi_rounds_query(r, clip);
    /* No averages over rounds between which the metric or what is known changed much; what was
     * found is not kept where scores bend. */
    size_t since = 0;
    double share = 1, least = least_shown;
    bool bent = false;
    r->clip[stage] = clip;
    r->kept = dpi_clipped_at(&r->norms, r->metric.dims, clip).slope;
    r->main = stage == DPI_STAGE_MAIN;
    r->ratio = 1;
    for (size_t t = 0; t < rounds && status == DP_OK; t++) {
        status = dpi_follow(r, stage != DPI_STAGE_MAIN || t == 0, err);
        if (status == DP_OK && stage == DPI_STAGE_MAIN && dpi_looks_before(r, t))
            status = dpi_look_around(r, clip, err);
        guess_moments(r, clip);
        since = r->changed && stage != DPI_STAGE_MAIN ? t : since;
        double *at = r->centres + t * d;
        memcpy(at, r->z, d * sizeof *r->z);
        if (stage == DPI_STAGE_MAIN && t > 0)
            dpi_bend_round(r, t, to, r->place, at);
        if (status == DP_OK)
            status = dpi_inquiry_run(&q, DPI_INQUIRY_SCORE, r->scan, at, sigma, r->sum, &sd, err);
        if (status == DP_OK)
            status = dpi_take_round(r, t, err);
        if (status == DP_OK && t > 0 && stage != DPI_STAGE_MAIN)
            status = dpi_secant(r, t, sd, least, &share, err);
        if (share != 1)
            guess_moments(r, clip);
        since = share != 1 ? t : since;
        bent = bent || share != 1;
        least = share > 1 ? 1 : least;
        size_t first = (t + 1) / 2 > since ? (t + 1) / 2 : since;
        if (stage == DPI_STAGE_MAIN && 4 * t >= rounds) /* what is off would stay off */
            dpi_surrogate_keep(&r->posterior, 0);
        if (status == DP_OK)
            status = learn(r, first, t + 1, sd, err);
        if (status == DP_OK)
            status = dpi_walk(r, to, err);
        if (status == DP_OK)
            status = step(r, to, err);
    }
    dpi_surrogate_keep(&r->posterior, bent || stage == DPI_STAGE_MAIN ? 0 : kept_weight);
    dpi_free(to);
    return status;
}

static void hear_lengths(dpi_rounds *r, const double *release, double sd)
{
    double told[3], noise[3], unit = 1;
    for (size_t k = 0; k < 3; k++, unit *= DPI_LONGEST) {
        told[k] = unit * release[DPI_TOLD_IN_ALL + k];
        noise[k] = unit * sd;
    }
    r->norms = dpi_hear_norms(r->metric.dims, told, noise);
}

/* The main phase's clip norm: the best under the public model, more where the model expects fewer
 * distant records than there are.  Where outcomes are levels, the best for norms as they are. */
static dp_status choose_clip(dpi_rounds *r, double *clip, dp_error *err)
{
    const dpi_budget *b = r->budget;
    double dims = r->metric.dims;
    double noise = b->sigmas[DPI_STAGE_MAIN] / sqrt((double)b->releases[DPI_STAGE_MAIN]);
    *clip = DPI_NO_CLIP;
    if (!b->noisy)
        return DP_OK;
    double best = dpi_best_clip(&r->norms, dims, r->n, noise), wide = 0, out[DPI_TOLD_LENGTHS];
    dpi_distant far = {.d = dims,
                       .n = r->n,
                       .bound = fmax(distant * sqrt(dims), best),
                       .varied = r->view->seen->family->tied};
    dpi_inquiry q = dpi_rounds_query(r, INFINITY);
    q.beyond = far.bound;
    r->clip[DPI_STAGE_COUNT] = 1;
    dp_status status = dpi_inquiry_run(&q, DPI_INQUIRY_COUNT, r->scan, r->z,
                                       b->sigmas[DPI_STAGE_COUNT], out, &far.noise, err);
    if (status != DP_OK)
        return status;
    far.more = out[0];
    r->excess = dpi_distant_signal(&far);
    if (dpi_view_has_levels(r->view)) {
        hear_lengths(r, out, far.noise);
        best = dpi_best_clip(&r->norms, dims, r->n, noise);
    } else {
        wide = fmin(dpi_wide_clip(&far, noise), widest * sqrt(dims));
    }
    *clip = r->opts->clip > 0 ? r->opts->clip * sqrt(dims) : fmax(wide, best);
    return DP_OK;
}

/* Of rounds first ... end - 1, whose releases have noise sd. */
static dp_status find_drift(dpi_rounds *r, size_t first, size_t end, double sd, dp_error *err)
{
    size_t d = dimension(r), rounds = end - first;
    double *scores = dpi_alloc(2 * rounds * d, sizeof *scores), *centres = scores + rounds * d;
    if (scores == NULL)
        return dpi_fail_nomem(err);
    double factor = dpi_bring_together(r, first, end, scores, centres);
    const dpi_trace trace = {.metric = &r->metric,
                             .slope = r->slope,
                             .scores = scores,
                             .centres = centres,
                             .rounds = rounds,
                             .noise = sd * sd * factor,
                             .records = r->n};
    dp_status status = dpi_drift_of(&trace, &r->drift, err);
    dpi_free(scores);
    return status;
}

/* The first of the main rounds that count: earlier ones were on the way if the halves of all do not
 * agree, and so on.  Where none do, those that agree best. */
static dp_status find_first(dpi_rounds *r, size_t rounds, double sd, dp_error *err)
{
    static const double left_out[] = {1.0 / DPI_LEFT_OUT, 0.25, 0.5, 0.75};
    size_t tries = rounds < 8 ? 1 : sizeof left_out / sizeof *left_out;
    double least = INFINITY;
    dp_status status = DP_OK;
    for (size_t k = 0; k < tries && !(least <= agreed) && status == DP_OK; k++) {
        size_t first = (size_t)(left_out[k] * (double)rounds);
        dpi_average(r, first, rounds);
        status = find_drift(r, first, rounds, sd, err);
        if (k == 0 || r->drift < least) {
            r->first = first;
            least = r->drift;
        }
    }
    return status;
}

/* The clip norm that is best if what an approach finds were the answer. */
static double approach_norm(const dpi_rounds *r, dpi_stage stage)
{
    double rounds = (double)r->budget->releases[stage];
    return r->budget->noisy ? fmax(dpi_best_clip(&r->norms, r->metric.dims, r->n,
                                                 r->budget->sigmas[stage] / sqrt(rounds)),
                                   least_clip * sqrt(r->metric.dims))
                            : DPI_NO_CLIP;
}

dp_status dpi_rounds_run(dpi_rounds *r, dp_error *err)
{
    double clip = DPI_NO_CLIP;
    dp_status status = dpi_walks_start(r, err);
    if (status == DP_OK)
        status = dpi_find_scales(r, err);
    for (int again = 0; again < 2 && status == DP_OK; again++) {
        dpi_stage stage = again ? DPI_STAGE_WHITENING_AGAIN : DPI_STAGE_WHITENING;
        status = dpi_whiten_all(r, stage, err);
        stage = again ? DPI_STAGE_APPROACH_AGAIN : DPI_STAGE_APPROACH;
        clip = approach_norm(r, stage);
        if (status == DP_OK)
            status = approach(r, stage, clip, err);
    }
    if (status == DP_OK)
        status = choose_clip(r, &clip, err);
    if (status == DP_OK)
        status = approach(r, DPI_STAGE_MAIN, clip, err);
    size_t rounds = (size_t)r->budget->releases[DPI_STAGE_MAIN];
    double sd = r->budget->sigmas[DPI_STAGE_MAIN] * clip;
    if (status == DP_OK)
        status = find_first(r, rounds, sd, err);
    if (status == DP_OK)
        status = dpi_settle(r, r->first, rounds, err);
    if (status == DP_OK)
        status = dpi_measure(r, clip, err);
    if (status == DP_OK)
        status = learn(r, r->first, rounds, sd, err);
    if (status == DP_OK)
        status = find_drift(r, r->first, rounds, sd, err);
    return status;
}
