/* Questions of dp_fit_private under attack.
 *
 * A record says y ~ Poisson(exp(x.w + a_g)), w two numbers, a of two groups.  The place where
 * the question is asked has w = 0 and rates of 0.1, so that most counts are 0 and clipped scores
 * lie far from what is expected of them: whoever clipped first and subtracted then would let
 * through nearly 2 C.  The ordinary record has x = 0 and y = 0.  The canary has x = (1000, -1000),
 * by which all that is clipped is clipped, the parts of a release that have norms of their own
 * too; it is of another group, so that coordinates of all kinds take part; and it counts 10^6,
 * which the model does not expect.  So it moves each question's sum by the whole of its
 * sensitivity: norm 1.
 *
 * The attacker knows both sums, mu_0 and mu_1, which are asked for without noise.  Releases are
 * those of the program, dpi_inquiry_run with its scan and its noise.  In units of its standard
 * deviation a release z is normal around mu_0 or mu_1 with the unit matrix for its covariance, and
 * the log likelihood ratio is (z - mu_0).m - |m|^2 / 2 with m = mu_1 - mu_0. */
#include "audit/asking.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

enum { X = 2, GROUPS = 2, RECORDS = 2 };
static const double rate = 0.1, clip = 2, most = 0.25, beyond = 1e6;

static const double predictors[RECORDS * X] = {0, 0, 1e3, -1e3}, counts[RECORDS] = {0, 1e6};
static const int32_t groups[RECORDS] = {0, 1};

bool dpi_audit_asks(dp_audit_target target)
{
    return target >= DP_AUDIT_SCALES && target <= DP_AUDIT_CURVATURE;
}

/* ---- the stage ---- */

static void write_model(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows"), members = dp_plate_new(m, "groups", GROUPS);
    dp_expr w = dp_sample(m, "w", X, dp_normal(0, 1));
    dp_expr a = dp_sample_in(members, "a", 1, dp_normal(0, 1));
    dp_expr mine = dp_pick(a, dp_index(rows, "g", members));
    dp_observe(rows, "y", dp_poisson_log(dp_add(dp_dot(dp_data(rows, "x", X), w), mine)));
}

static dp_status make_model(dpi_asking *q, dp_error *err)
{
    q->model = dp_model_new();
    if (q->model == NULL)
        return dpi_fail_nomem(err);
    write_model(q->model);
    dp_status status = dpi_model_view_init(&q->view, q->model, err);
    if (status == DP_OK)
        status = dpi_metric_init(&q->metric, &q->view, &q->arena, err);
    return status;
}

static dp_status make_room(dpi_asking *q, dp_error *err)
{
    const dpi_model_view *r = &q->view;
    q->n = dpi_inquiry_size(r, q->kind);
    q->theta = dpi_arena_alloc(&q->arena, r->objective.n_theta, sizeof *q->theta);
    q->out = dpi_arena_alloc(&q->arena, q->n, sizeof *q->out);
    q->mean = dpi_arena_alloc(&q->arena, q->n, sizeof *q->mean);
    q->shift = dpi_arena_alloc(&q->arena, q->n, sizeof *q->shift);
    if (q->theta == NULL || q->out == NULL || q->mean == NULL || q->shift == NULL)
        return dpi_fail_nomem(err);
    for (const dpi_read *d = r->reads; d < r->reads + r->n_reads; d++)
        for (size_t e = 0; e < d->block->size && d->members > 0; e++)
            q->theta[d->block->offset + e] = log(rate);
    q->query = (dpi_inquiry){
        .view = r, .metric = &q->metric, .clip = clip, .most = most, .beyond = beyond};
    return DP_OK;
}

static dp_status open_scan(dpi_asking *q, int world, dp_noise *noise, dpi_scan *scan, dp_error *err)
{
    dpi_scan_spec spec = {.view = &q->view,
                          .data = q->data[world],
                          .threads = 1,
                          .most = q->n,
                          .most_room = dpi_inquiry_room(&q->view),
                          .noise = noise};
    return dpi_scan_init(scan, &spec, err);
}

static dp_status add_data(dpi_asking *q, int world, dp_error *err)
{
    dp_dataset *data = q->data[world] = dp_dataset_new((size_t)world + 1);
    if (data == NULL)
        return dpi_fail_nomem(err);
    dp_dataset_real(data, "x", X, predictors);
    dp_dataset_real(data, "y", 1, counts);
    dp_dataset_index(data, "g", groups);
    return DP_OK;
}

/* The sum of a world without noise, in sum[n]. */
static dp_status ask_quietly(dpi_asking *q, int world, double *sum, dp_error *err)
{
    dpi_scan scan;
    dp_status status = open_scan(q, world, NULL, &scan, err);
    if (status != DP_OK)
        return status;
    status = dpi_inquiry_run(&q->query, q->kind, &scan, q->theta, 0, sum, NULL, err);
    dpi_scan_free(&scan);
    return status;
}

/* Divides numbers of a release by the standard deviations of their noise. */
static void into_deviations(const dpi_asking *q, const double *sd, double *x)
{
    size_t first = q->kind == DPI_INQUIRY_SCALES      ? DPI_SCALES
                   : q->kind == DPI_INQUIRY_CURVATURE ? q->n / 2
                                                      : q->n;
    for (size_t e = 0; e < q->n; e++)
        x[e] /= sd[e < first ? 0 : 1];
}

/* Both sums, in the unit of a first release. */
static dp_status find_sums(dpi_asking *q, double sigma, dp_error *err)
{
    double sd[2];
    dp_status status = ask_quietly(q, 0, q->mean, err);
    if (status == DP_OK)
        status = ask_quietly(q, 1, q->shift, err);
    if (status == DP_OK)
        status = dpi_inquiry_run(&q->query, q->kind, &q->scan[0], q->theta, sigma, q->out, sd, err);
    if (status != DP_OK)
        return status;
    into_deviations(q, sd, q->mean);
    into_deviations(q, sd, q->shift);
    for (size_t e = 0; e < q->n; e++)
        q->shift[e] -= q->mean[e];
    return DP_OK;
}

static dp_status make(dpi_asking *q, double sigma, uint64_t seed, dp_error *err)
{
    dp_status status = make_model(q, err);
    if (status == DP_OK)
        status = make_room(q, err);
    for (int world = 0; world < 2 && status == DP_OK; world++) {
        status = add_data(q, world, err);
        if (status == DP_OK)
            status = seed != 0 ? dp_noise_new_seeded(seed + (uint64_t)world, &q->noise[world], err)
                               : dp_noise_new(&q->noise[world], err);
        if (status == DP_OK)
            status = open_scan(q, world, q->noise[world], &q->scan[world], err);
    }
    return status == DP_OK ? find_sums(q, sigma, err) : status;
}

dp_status dpi_asking_init(dpi_asking *q, dp_audit_target target, double sigma, uint64_t seed,
                          dp_error *err)
{
    *q = (dpi_asking){.kind = (dpi_inquiry_kind)(target - DP_AUDIT_SCALES)};
    dp_status status = make(q, sigma, seed, err);
    if (status != DP_OK)
        dpi_asking_free(q);
    return status;
}

void dpi_asking_free(dpi_asking *q)
{
    for (int world = 0; world < 2; world++) {
        dpi_scan_free(&q->scan[world]);
        dp_noise_free(q->noise[world]);
        dp_dataset_free(q->data[world]);
    }
    dpi_model_view_free(&q->view);
    dp_model_free(q->model);
    dpi_arena_free(&q->arena);
    *q = (dpi_asking){.n = 0};
}

/* ---- runs ---- */

dp_status dpi_asking_run(dpi_asking *q, int world, double sigma, uint64_t steps, size_t trials,
                         double *scores, dp_error *err)
{
    for (size_t k = 0; k < trials; k++) {
        scores[k] = 0;
        for (uint64_t t = 0; t < steps; t++) {
            double sd[2];
            dp_status status = dpi_inquiry_run(&q->query, q->kind, &q->scan[world], q->theta, sigma,
                                               q->out, sd, err);
            if (status != DP_OK)
                return status;
            into_deviations(q, sd, q->out);
            for (size_t e = 0; e < q->n; e++)
                scores[k] += (q->out[e] - q->mean[e] - q->shift[e] / 2) * q->shift[e];
        }
        if (isnan(scores[k])) /* no number is a sign of the canary */
            scores[k] = INFINITY;
    }
    return DP_OK;
}
