/* How good private fits are where outcomes are weighted, censored or missing
 * (doc/design/scores.md).
 *
 * 2000 records of 4 predictors.  One JSON line a problem, epsilon and seed: the mean distance of
 * coefficients and of the outcomes' scale from the posterior means without privacy, in their
 * standard deviations; the mean of standard deviations over those without privacy; the share of
 * truths that 90 % intervals hold, and that those without privacy do; and processor seconds.
 * Problems:
 *   weighted  a linear model, weights from .4 to 1.6 that say nothing of outcomes
 *   censored  a Weibull model of times, of which a third are seen to pass a time that is the
 *             record's own
 *   missing   a linear model, outcomes missing with chances that depend on the first predictor
 * Seeded runs are repeatable and so are not private.
 * With --references R only the first R seeds have a fit without privacy, which takes most of the
 * time; the others tell what intervals hold.
 *   make bench/parts && bench/parts [--seeds S] [--references R] [--problem NAME] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/tacit.h>

#include "bench.h"
#include "options.h"

enum { N = 2000, P = 4, NUMBERS = P + 1 };
static const double truth[NUMBERS] = {0.7, -0.5, 0.3, 0, 0.8};

static dp_error err;

static void stop(const char *what)
{
    bench_stop(what, err.text);
}

/* Columns of a problem: `part` is the weight, the side or whether there is an outcome. */
typedef struct records {
    double x[N * P], y[N], part[N];
} records;

typedef struct problem {
    const char *name;
    void (*make)(records *r, const double *noise, const double *uniform);
    dp_dist (*outcome)(dp_expr eta, dp_expr scale, dp_expr part);
} problem;

static double mean_at(const records *r, size_t i)
{
    double eta = 0;
    for (size_t j = 0; j < P; j++)
        eta += r->x[i * P + j] * truth[j];
    return eta;
}

static void make_weighted(records *r, const double *noise, const double *uniform)
{
    for (size_t i = 0; i < N; i++) {
        r->y[i] = mean_at(r, i) + truth[P] * noise[i];
        r->part[i] = 0.4 + 1.2 * uniform[i];
    }
}

static dp_dist weighted(dp_expr eta, dp_expr scale, dp_expr part)
{
    return dp_weighted(dp_normal_v(eta, scale), part, 2);
}

/* Weibull times with shape 1 / truth[P]; the time that ends a record's watch is exponential. */
static void make_censored(records *r, const double *noise, const double *uniform)
{
    for (size_t i = 0; i < N; i++) {
        const double time = exp(mean_at(r, i)) * pow(-log(uniform[i]), truth[P]);
        const double end = -3 * log(0.5 * erfc(noise[i] / M_SQRT2));
        r->part[i] = end < time;
        r->y[i] = fmax(fmin(end, time), 1e-6);
    }
}

static dp_dist censored(dp_expr eta, dp_expr scale, dp_expr part)
{
    return dp_censored(dp_weibull_v(dp_div(dp_num(1), scale), dp_exp(eta)), part);
}

static void make_missing(records *r, const double *noise, const double *uniform)
{
    for (size_t i = 0; i < N; i++) {
        r->y[i] = mean_at(r, i) + truth[P] * noise[i];
        r->part[i] = uniform[i] < 1 / (1 + exp(-1 - r->x[i * P + 1]));
        r->y[i] *= r->part[i];
    }
}

static dp_dist missing(dp_expr eta, dp_expr scale, dp_expr part)
{
    return dp_present(dp_normal_v(eta, scale), part);
}

static const problem problems[] = {{"weighted", make_weighted, weighted},
                                   {"censored", make_censored, censored},
                                   {"missing", make_missing, missing}};

static void make_records(const problem *p, uint64_t seed, records *r)
{
    static double noise[N], uniform[N];
    dp_rng *rng;
    if (dp_rng_new(4000 + seed, &rng, &err))
        stop("records");
    dp_rng_normal(rng, (size_t)N * P, r->x);
    dp_rng_normal(rng, N, noise);
    dp_rng_uniform(rng, N, uniform);
    for (size_t i = 0; i < N; i++)
        r->x[i * P] = 1;
    p->make(r, noise, uniform);
    dp_rng_free(rng);
}

static dp_model *make_model(const problem *p)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr x = dp_data(rows, "x", P), part = dp_data(rows, "part", 1);
    dp_expr w = dp_sample(m, "w", P, dp_normal(0, 2.5)), s = dp_sample(m, "s", 1, dp_gamma(2, 2));
    dp_observe(rows, "y", p->outcome(dp_dot(x, w), s, part));
    return m;
}

/* The posterior in one fit; returns processor seconds. */
static double fit(const dp_model *m, const dp_dataset *data, double epsilon, uint64_t seed,
                  dp_summary *found)
{
    dp_fit_opts o = {.seed = seed, .mode = isfinite(epsilon) ? DP_PRIVATE : DP_NO_PRIVACY};
    dp_fit *made;
    if (isfinite(epsilon))
        o.epsilon = epsilon, o.delta = pow(N, -1.1);
    const double from = bench_processor();
    if (dp_fit_private(m, data, &o, &made, &err) || dp_fit_summary(made, "w", P, found, &err) ||
        dp_fit_summary(made, "s", 1, found + P, &err))
        stop("fit");
    const double seconds = bench_processor() - from;
    dp_fit_free(made);
    return seconds;
}

static void run(const problem *p, double epsilon, uint64_t seed, bool compare)
{
    static records r;
    dp_summary exact[NUMBERS], found[NUMBERS];
    dp_dataset *data = dp_dataset_new(N);
    dp_model *m = make_model(p);
    double error = 0, width = 0, held = 0, certain = 0;
    make_records(p, seed, &r);
    dp_dataset_real(data, "x", P, r.x);
    dp_dataset_real(data, "y", 1, r.y);
    dp_dataset_real(data, "part", 1, r.part);
    if (compare)
        (void)fit(m, data, INFINITY, 1, exact);
    const double seconds = fit(m, data, epsilon, seed, found);
    for (size_t k = 0; k < NUMBERS; k++) {
        error += compare ? fabs(found[k].mean - exact[k].mean) / exact[k].sd / NUMBERS : NAN;
        width += compare ? found[k].sd / exact[k].sd / NUMBERS : NAN;
        certain += compare
                       ? (exact[k].q05 <= truth[k] && truth[k] <= exact[k].q95) / (double)NUMBERS
                       : NAN;
        held += (found[k].q05 <= truth[k] && truth[k] <= found[k].q95) / (double)NUMBERS;
    }
    printf("{\"problem\": \"%s\", \"seed\": %llu, ", p->name, (unsigned long long)seed);
    bench_number("epsilon", epsilon), bench_number("error", error), bench_number("width", width);
    bench_number("held", held), bench_number("held_without", certain),
        bench_number("processor", seconds);
    bench_end_line();
    dp_dataset_free(data), dp_model_free(m);
}

int main(int argc, char **argv)
{
    static const double epsilon[] = {1, 4};
    uint64_t seeds = 16, references = UINT64_MAX;
    const char *only = NULL;
    const bench_option options[] = {{.name = "--seeds", .count = &seeds},
                                    {.name = "--references", .count = &references},
                                    {.name = "--problem", .text = &only}};
    bench_options(argc, argv, sizeof options / sizeof options[0], options);
    for (size_t p = 0; p < sizeof problems / sizeof problems[0]; p++)
        for (size_t e = 0; e < sizeof epsilon / sizeof epsilon[0]; e++)
            for (uint64_t seed = 1; seed <= seeds; seed++)
                if (only == NULL || strcmp(only, problems[p].name) == 0)
                    run(&problems[p], epsilon[e], seed, seed <= references);
    return 0;
}
