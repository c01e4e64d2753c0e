/* Runs of the program for an audit.
 *
 * A record says y ~ N(theta, 1) with theta a plain parameter that starts at 0, so its gradient is y
 * - theta: zero for the ordinary record, in which all noise shows, and for a canary with |y| = 10^6
 * a vector that is clipped to norm C in the direction of y.  Steps are those of plain gradient
 * ascent, so small that theta stays where it is to 10^-9 of y.
 *
 *   pair   theta is two blocks of two numbers and y = (1, -1, 1, -1) 10^6 / 2.  Two blocks, because
 *          clipping each by itself would let through sqrt(2) C; signs, because noise that
 *          coordinates share cancels in the projection on y.
 *   crowd  theta has a number for each canary, y = 10^6 there.
 *
 * Scores.  A step releases S + N(0, (sigma C)^2) and divides by the rate; x, its part along the
 * canary over C, is normal around 0 or, when the canary is in the batch, 1.  Who sees every release
 * adds the log likelihood ratios log(1 - q + q exp((2 x - 1) / (2 sigma^2))), the best test there
 * is; who sees the parameters has the sum of all x.
 *
 * Trials.  A run of K T steps is K runs of T steps, one after the other: the gradients are the same
 * in every step and the noise is fresh, or ought to be.  It spares making a run, which costs more
 * than its steps. */
#include "audit/scene.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "svi/svi.h"

enum { PAIR_WIDTH = 4 };
static const double far_out = 1e6, step_size = 1e-6;
static const double pair_direction[PAIR_WIDTH] = {0.5, -0.5, 0.5, -0.5};

static dp_status checked(dpi_scene *scene, dp_status status, dp_error *err)
{
    const char *why = scene->model != NULL ? dp_model_error(scene->model) : NULL;
    if (status == DP_OK && why != NULL)
        status = dpi_fail(err, dp_model_status(scene->model), "%s", why);
    if (status != DP_OK)
        dpi_scene_free(scene);
    return status;
}

static bool allocate(dpi_scene *scene, size_t m, size_t width, size_t values)
{
    scene->m = m;
    scene->width = width;
    scene->release = dpi_arena_alloc(&scene->arena, width, sizeof *scene->release);
    scene->total = dpi_arena_alloc(&scene->arena, m, sizeof *scene->total);
    scene->values = dpi_arena_alloc(&scene->arena, values, sizeof *scene->values);
    scene->model = dp_model_new();
    return scene->release != NULL && scene->total != NULL && scene->values != NULL &&
           scene->model != NULL;
}

static void write_pair(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr left = dp_param(m, "left", 2, 0), right = dp_param(m, "right", 2, 0);
    dp_observe(rows, "a", dp_normal_v(left, dp_num(1)));
    dp_observe(rows, "b", dp_normal_v(right, dp_num(1)));
}

dp_status dpi_scene_pair(dpi_scene *scene, dp_error *err)
{
    *scene = (dpi_scene){0};
    if (!allocate(scene, 1, PAIR_WIDTH, 2 * PAIR_WIDTH))
        return checked(scene, dpi_fail_nomem(err), err);
    double *a = scene->values, *b = scene->values + PAIR_WIDTH; /* [2][2] each; the canary last */
    for (int j = 0; j < 2; j++) {
        a[2 + j] = far_out * pair_direction[j];
        b[2 + j] = far_out * pair_direction[2 + j];
    }
    write_pair(scene->model);
    for (size_t world = 0; world < 2; world++) {
        dp_dataset *data = scene->data[world] = dp_dataset_new(1 + world);
        if (data == NULL)
            return checked(scene, dpi_fail_nomem(err), err);
        dp_dataset_real(data, "a", 2, a);
        dp_dataset_real(data, "b", 2, b);
    }
    return checked(scene, DP_OK, err);
}

static void write_crowd(dp_model *model, size_t m)
{
    dp_plate rows = dp_unit_plate(model, "rows"), groups = dp_plate_new(model, "canaries", m);
    dp_expr theta = dp_param_in(groups, "theta", 1, 0);
    dp_expr mine = dp_pick(theta, dp_index(rows, "number", groups));
    dp_observe(rows, "y", dp_normal_v(mine, dp_num(1)));
}

/* Tosses a coin for each canary; returns the number of records. */
static size_t toss(dpi_scene *scene, dp_rng *coins)
{
    size_t n = 1;
    for (size_t j = 0; j < scene->m; j++) {
        double u;
        dp_rng_uniform(coins, 1, &u); /* a multiple of 2^-53: below 1/2 for half of them */
        scene->present[j] = u < 0.5;
        if (u < 0.5) {
            scene->groups[n] = (int32_t)j;
            scene->values[n++] = far_out;
        }
    }
    return n;
}

dp_status dpi_scene_crowd(dpi_scene *scene, size_t m, dp_rng *coins, dp_error *err)
{
    *scene = (dpi_scene){0};
    bool enough = allocate(scene, m, m, m + 1);
    scene->groups = dpi_arena_alloc(&scene->arena, m + 1, sizeof *scene->groups);
    scene->present = dpi_arena_alloc(&scene->arena, m, sizeof *scene->present);
    if (!enough || scene->groups == NULL || scene->present == NULL)
        return checked(scene, dpi_fail_nomem(err), err);
    dp_dataset *data = scene->data[1] = dp_dataset_new(toss(scene, coins));
    if (data == NULL)
        return checked(scene, dpi_fail_nomem(err), err);
    dp_dataset_index(data, "number", scene->groups);
    dp_dataset_real(data, "y", 1, scene->values);
    write_crowd(scene->model, m);
    return checked(scene, DP_OK, err);
}

void dpi_scene_free(dpi_scene *scene)
{
    dp_dataset_free(scene->data[0]);
    dp_dataset_free(scene->data[1]);
    dp_model_free(scene->model);
    dpi_arena_free(&scene->arena);
    *scene = (dpi_scene){0};
}

/* ---- runs ---- */

/* x of every canary from the numbers released, which are multiples of `unit`. */
static void project(const dpi_scene *scene, const double *release, double unit, double *x)
{
    if (scene->m > 1) {
        for (size_t j = 0; j < scene->m; j++)
            x[j] = release[j] / unit;
        return;
    }
    x[0] = 0;
    for (size_t j = 0; j < PAIR_WIDTH; j++)
        x[0] += release[j] / unit * pair_direction[j];
}

static double log_likelihood_ratio(double x, double rate, double sigma)
{
    double y = (2 * x - 1) / (2 * sigma * sigma);
    if (rate == 1)
        return y;
    return y > 30 ? y + log(rate + (1 - rate) * exp(-y)) : log1p(rate * expm1(y));
}

static double rate_of(const dp_svi_opts *opts)
{
    return opts->sampling == DP_SAMPLING_FULL ? 1 : opts->rate;
}

/* One trial of who sees every release. */
static dp_status watch_releases(const dpi_scene *scene, dp_svi *svi, const dp_svi_opts *opts,
                                uint64_t steps, double *scores, dp_error *err)
{
    if (svi->objective.n_release != scene->width)
        dpi_misuse(__func__, "the model of an audit releases other numbers than it should");
    double rate = rate_of(opts);
    memset(scores, 0, scene->m * sizeof *scores);
    for (uint64_t t = 0; t < steps; t++) {
        dp_status status = dp_svi_step(svi, err);
        if (status != DP_OK)
            return status;
        project(scene, svi->release, opts->clip / rate, scene->total);
        for (size_t j = 0; j < scene->m; j++)
            scores[j] += log_likelihood_ratio(scene->total[j], rate, svi->opts.sigma);
    }
    return DP_OK;
}

/* Adds the parameters, in units of what a canary moves them, `times` over. */
static dp_status add_parameters(const dpi_scene *scene, const dp_svi *svi, const dp_svi_opts *opts,
                                double times, double *scores, dp_error *err)
{
    dp_status status;
    if (scene->m > 1)
        status = dp_svi_get(svi, "theta", scene->m, scene->release, err);
    else {
        status = dp_svi_get(svi, "left", 2, scene->release, err);
        if (status == DP_OK)
            status = dp_svi_get(svi, "right", 2, scene->release + 2, err);
    }
    project(scene, scene->release, step_size * opts->clip / rate_of(opts), scene->total);
    for (size_t j = 0; j < scene->m; j++)
        scores[j] += times * scene->total[j];
    return status;
}

/* One trial of who sees the parameters, in which only their change counts. */
static dp_status watch_parameters(const dpi_scene *scene, dp_svi *svi, const dp_svi_opts *opts,
                                  uint64_t steps, double *scores, dp_error *err)
{
    memset(scores, 0, scene->m * sizeof *scores);
    dp_status status = add_parameters(scene, svi, opts, -1, scores, err);
    for (uint64_t t = 0; t < steps && status == DP_OK; t++)
        status = dp_svi_step(svi, err);
    return status == DP_OK ? add_parameters(scene, svi, opts, 1, scores, err) : status;
}

dp_status dpi_scene_run(const dpi_scene *scene, const dpi_trials *what, dp_privacy *privacy,
                        double *scores, dp_error *err)
{
    dp_svi *svi;
    dp_svi_opts o = what->opts;
    o.steps *= what->trials;
    o.optimizer = DP_SGD;
    o.schedule = DP_CONSTANT;
    o.step_size = step_size;
    dp_status status = dp_svi_new(scene->model, NULL, scene->data[what->world], &o, &svi, err);
    if (status != DP_OK)
        return status;
    for (size_t k = 0; k < what->trials && status == DP_OK; k++) {
        double *mine = scores + k * scene->m;
        uint64_t steps = what->opts.steps;
        status = what->target == DP_AUDIT_GRADIENTS
                     ? watch_releases(scene, svi, &o, steps, mine, err)
                     : watch_parameters(scene, svi, &o, steps, mine, err);
        for (size_t j = 0; j < scene->m; j++) /* no number is a sign of the canary */
            mine[j] = isnan(mine[j]) ? INFINITY : mine[j];
    }
    if (status == DP_OK && privacy != NULL)
        status = dp_svi_privacy(svi, privacy, err);
    dp_svi_free(svi);
    return status;
}
