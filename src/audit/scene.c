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
 *   replaced  the same for batches of B of n records, where one record is changed: all others have
 *          -y.  Whenever the canary is left out another one takes its place, so the sum is at -B C
 *          or, with the canary, (2 - B) C, against -B C always: the worst that data are known to
 *          do (doc/accounting.md).
 *   crowd  theta has a number for each canary, y = 10^6 there.
 *
 * Scores.  A step releases S + N(0, (sigma C)^2) and divides by the rate; x, its part along the
 * canary over C less `centre`, is normal around 0 or, when the canary is in the batch, `jump`: in
 * units of the jump, normal of deviation s = sigma / jump around 0 or 1.  Who sees every release
 * takes the likelihood ratio, the best test there is: with y = (2 x - 1) / (2 s^2),
 *     the product over the steps of 1 - q + q e^y, where batches are drawn afresh in each,
 *     the product over the epochs of the mean of e^y over their steps, under random allocation.
 * Who sees the parameters has the sum of all x.
 *
 * Trials.  A run of K T steps is K runs of T steps, one after the other: the gradients are the same
 * in every step and the noise is fresh, or ought to be.  It spares making a run, which costs more
 * than its steps. */
#include "audit/scene.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "svi/svi.h"

enum { BLOCK = 2, PAIR_WIDTH = 2 * BLOCK };
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
    scene->epoch = dpi_arena_alloc(&scene->arena, m, sizeof *scene->epoch);
    scene->jump = 1;
    scene->values = dpi_arena_alloc(&scene->arena, values, sizeof *scene->values);
    scene->model = dp_model_new();
    return scene->release != NULL && scene->total != NULL && scene->epoch != NULL &&
           scene->values != NULL && scene->model != NULL;
}

static void write_pair(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr left = dp_param(m, "left", BLOCK, 0), right = dp_param(m, "right", BLOCK, 0);
    dp_observe(rows, "a", dp_normal_v(left, dp_num(1)));
    dp_observe(rows, "b", dp_normal_v(right, dp_num(1)));
}

/* Fills the columns of n records, of which the last has `last` times the canary's gradient and
 * the others `others` times. */
static void fill_pair(double *values, size_t n, double others, double last)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < PAIR_WIDTH; j++) {
            double *block = values + j / BLOCK * (n * BLOCK); /* columns a, b: [n][BLOCK] */
            block[i * BLOCK + j % BLOCK] =
                (i + 1 < n ? others : last) * far_out * pair_direction[j];
        }
}

static dp_status add_data(dpi_scene *scene, int world, size_t n, const double *values,
                          dp_error *err)
{
    dp_dataset *data = scene->data[world] = dp_dataset_new(n);
    if (data == NULL)
        return dpi_fail_nomem(err);
    dp_dataset_real(data, "a", BLOCK, values);
    dp_dataset_real(data, "b", BLOCK, values + n * BLOCK);
    return DP_OK;
}

dp_status dpi_scene_pair(dpi_scene *scene, dp_error *err)
{
    *scene = (dpi_scene){0};
    if (!allocate(scene, 1, PAIR_WIDTH, 3 * PAIR_WIDTH))
        return checked(scene, dpi_fail_nomem(err), err);
    double *alone = scene->values, *both = scene->values + PAIR_WIDTH;
    write_pair(scene->model);
    fill_pair(alone, 1, 0, 0);
    fill_pair(both, 2, 0, 1);
    dp_status status = add_data(scene, 0, 1, alone, err);
    if (status == DP_OK)
        status = add_data(scene, 1, 2, both, err);
    return checked(scene, status, err);
}

dp_status dpi_scene_replaced(dpi_scene *scene, size_t n, size_t batch, dp_error *err)
{
    *scene = (dpi_scene){0};
    if (!allocate(scene, 1, PAIR_WIDTH, 2 * n * PAIR_WIDTH))
        return checked(scene, dpi_fail_nomem(err), err);
    scene->centre = -(double)batch;
    scene->jump = 2;
    write_pair(scene->model);
    dp_status status = DP_OK;
    for (int world = 0; world < 2 && status == DP_OK; world++) {
        double *values = scene->values + (size_t)world * n * PAIR_WIDTH;
        fill_pair(values, n, -1, world == 0 ? -1 : 1);
        status = add_data(scene, world, n, values, err);
    }
    return checked(scene, status, err);
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

/* x of every canary, in units of the jump, from `times` sums that were divided by the rate. */
static void project(const dpi_scene *scene, const double *release, double unit, double times,
                    double *x)
{
    if (scene->m > 1) {
        for (size_t j = 0; j < scene->m; j++)
            x[j] = release[j] / unit;
        return;
    }
    double sum = 0;
    for (size_t j = 0; j < PAIR_WIDTH; j++)
        sum += release[j] / unit * pair_direction[j];
    x[0] = (sum - times * scene->centre) / scene->jump;
}

/* log(1 - rate + rate e^y) */
static double log_mixture(double y, double rate)
{
    if (rate == 1)
        return y;
    return y > 30 ? y + log(rate + (1 - rate) * exp(-y)) : log1p(rate * expm1(y));
}

static double log_sum(double a, double b)
{
    double most = fmax(a, b), least = fmin(a, b);
    return least == -INFINITY ? most : most + log1p(exp(least - most));
}

/* Adds what step t of a trial tells of each canary. */
static void add_step(const dpi_scene *scene, const dpi_trials *what, double sigma, uint64_t t,
                     double *scores)
{
    double s = sigma / scene->jump;
    uint64_t epoch = what->opts.sampling == DP_SAMPLING_ALLOCATION ? what->opts.epoch : 0;
    for (size_t j = 0; j < scene->m; j++) {
        double y = (2 * scene->total[j] - 1) / (2 * s * s);
        if (epoch == 0) {
            scores[j] += log_mixture(y, what->rate);
            continue;
        }
        scene->epoch[j] = t % epoch == 0 ? y : log_sum(scene->epoch[j], y);
        if (t % epoch == epoch - 1)
            scores[j] += scene->epoch[j] - log((double)epoch);
    }
}

/* One trial of who sees every release. */
static dp_status watch_releases(const dpi_scene *scene, dp_svi *svi, const dpi_trials *what,
                                double *scores, dp_error *err)
{
    if (svi->objective.n_release != scene->width)
        dpi_misuse(__func__, "the model of an audit releases other numbers than it should");
    memset(scores, 0, scene->m * sizeof *scores);
    for (uint64_t t = 0; t < what->opts.steps; t++) {
        dp_status status = dp_svi_step(svi, err);
        if (status != DP_OK)
            return status;
        project(scene, svi->release.out, what->opts.clip / what->rate, 1, scene->total);
        add_step(scene, what, svi->opts.sigma, t, scores);
    }
    return DP_OK;
}

/* Adds `sign` times the parameters, in units of what a canary moves them, after `steps` steps. */
static dp_status add_parameters(const dpi_scene *scene, const dp_svi *svi, const dpi_trials *what,
                                uint64_t steps, double sign, double *scores, dp_error *err)
{
    dp_status status;
    if (scene->m > 1)
        status = dp_svi_get(svi, "theta", scene->m, scene->release, err);
    else {
        status = dp_svi_get(svi, "left", BLOCK, scene->release, err);
        if (status == DP_OK)
            status = dp_svi_get(svi, "right", BLOCK, scene->release + BLOCK, err);
    }
    project(scene, scene->release, step_size * what->opts.clip / what->rate, (double)steps,
            scene->total);
    for (size_t j = 0; j < scene->m; j++)
        scores[j] += sign * scene->total[j];
    return status;
}

/* One trial of who sees the parameters, in which only their change counts. */
static dp_status watch_parameters(const dpi_scene *scene, dp_svi *svi, const dpi_trials *what,
                                  double *scores, dp_error *err)
{
    memset(scores, 0, scene->m * sizeof *scores);
    dp_status status = add_parameters(scene, svi, what, 0, -1, scores, err);
    for (uint64_t t = 0; t < what->opts.steps && status == DP_OK; t++)
        status = dp_svi_step(svi, err);
    if (status == DP_OK)
        status = add_parameters(scene, svi, what, what->opts.steps, 1, scores, err);
    return status;
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
        status = what->target == DP_AUDIT_GRADIENTS ? watch_releases(scene, svi, what, mine, err)
                                                    : watch_parameters(scene, svi, what, mine, err);
        for (size_t j = 0; j < scene->m; j++) /* no number is a sign of the canary */
            mine[j] = isnan(mine[j]) ? INFINITY : mine[j];
    }
    if (status == DP_OK && privacy != NULL)
        status = dp_svi_privacy(svi, privacy, err);
    dp_svi_free(svi);
    return status;
}
