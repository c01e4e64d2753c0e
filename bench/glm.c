/* What the density costs in a private step of a regression, and so what a likelihood fused with its
 * linear predictor could win: one JSON line a likelihood and width.
 *
 *   make bench/glm && bench/glm
 *
 * The same full-batch private step of y given x . w, with each likelihood, and with one that costs
 * next to nothing: `bare` is normal of scale 1, a subtraction in the gradient.  A fused kernel
 * would make no density cheaper than that: `ratio` - 1, the median over alternating rounds of the
 * time by that of `bare`, is the most that fusing can win.  Processor time of one thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <tacit/tacit.h>

#include "bench.h"

enum { RECORDS = 20000, ROUNDS = 31, STEPS = 4, MOST = 128 };

typedef enum likelihood { BARE, LOGISTIC, POISSON, NORMAL, STUDENT, N_LIKELIHOODS } likelihood;

static const char *const names[N_LIKELIHOODS] = {"bare", "logistic", "poisson", "normal",
                                                 "student_t"};

static void stop(const char *what)
{
    (void)fprintf(stderr, "glm: %s\n", what);
    exit(1);
}

static dp_model *write_model(likelihood kind, size_t d)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr x = dp_data(rows, "x", d), w = dp_sample(m, "w", d, dp_normal(0, 1));
    dp_expr eta = dp_dot(x, w);
    dp_expr s =
        kind == NORMAL || kind == STUDENT ? dp_sample(m, "s", 1, dp_half_normal(1)) : dp_num(1);
    dp_observe(rows, "y",
               kind == LOGISTIC  ? dp_bernoulli_logit(eta)
               : kind == POISSON ? dp_poisson_log(eta)
               : kind == STUDENT ? dp_student_t_v(dp_num(4), eta, s)
                                 : dp_normal_v(eta, s));
    return m;
}

static dp_svi *new_run(likelihood kind, size_t d, const double *x, const double *y)
{
    dp_error err;
    dp_svi *svi;
    dp_model *m = write_model(kind, d);
    dp_dataset *data = dp_dataset_new(RECORDS);
    dp_dataset_real(data, "x", d, x);
    dp_dataset_real(data, "y", 1, y);
    const dp_svi_opts opts = {.mode = DP_PRIVATE,
                              .sigma = 10,
                              .delta = 1e-6,
                              .clip = 1,
                              .sampling = DP_SAMPLING_FULL,
                              .steps = 100000,
                              .schedule = DP_CONSTANT,
                              .step_size = 1e-6};
    if (dp_svi_new(m, NULL, data, &opts, &svi, &err) != DP_OK)
        stop(err.text);
    return svi; /* model and data live as long as the program */
}

static double time_of(dp_svi *svi)
{
    dp_error err;
    double started = bench_processor();
    for (int k = 0; k < STEPS; k++)
        if (dp_svi_step(svi, &err) != DP_OK)
            stop(err.text);
    return (bench_processor() - started) / STEPS;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v)
{
    qsort(v, ROUNDS, sizeof *v, ascending);
    return v[ROUNDS / 2];
}

static void measure(size_t d, const double *x, const double *y)
{
    static double time[N_LIKELIHOODS][ROUNDS], ratio[N_LIKELIHOODS][ROUNDS];
    dp_svi *run[N_LIKELIHOODS];
    for (int k = 0; k < N_LIKELIHOODS; k++)
        run[k] = new_run((likelihood)k, d, x, y);
    for (int r = 0; r < ROUNDS; r++)
        for (int k = 0; k < N_LIKELIHOODS; k++) {
            time[k][r] = time_of(run[k]);
            ratio[k][r] = time[k][r] / time[BARE][r];
        }
    for (int k = 0; k < N_LIKELIHOODS; k++) {
        printf("{\"kernel\": \"glm\", \"likelihood\": \"%s\", \"d\": %zu, \"records\": %d, ",
               names[k], d, RECORDS);
        bench_number("ns_a_record", 1e9 * median(time[k]) / RECORDS);
        bench_number("ratio", median(ratio[k]));
        bench_end_line();
        dp_svi_free(run[k]);
    }
}

int main(void)
{
    static const size_t widths[] = {3, 10, 26, 100};
    static double x[RECORDS * MOST], y[RECORDS];
    dp_error err;
    dp_rng *rng;
    if (dp_rng_new(1, &rng, &err) != DP_OK)
        stop(err.text);
    dp_rng_normal(rng, sizeof x / sizeof *x, x);
    for (size_t i = 0; i < RECORDS; i++)
        y[i] = x[i] > 0;
    for (size_t k = 0; k < sizeof widths / sizeof widths[0]; k++)
        measure(widths[k], x, y);
    dp_rng_free(rng);
    return 0;
}
