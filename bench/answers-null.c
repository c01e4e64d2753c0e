/* Coin tosses: nothing to be found, and with few of them or little privacy nothing to be learnt.
 *
 *   y_i ~ Bernoulli(1/2),   fitted: P(y_i = 1) = logit^-1(effect),   effect ~ N(0, prior)
 *
 * A line for each number of tosses and epsilon: the share of runs in which the 90 % interval of the
 * effect excludes 0, which is one in ten at most where intervals hold, and how wide intervals are
 * against the prior's: mean and largest. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "answers.h"
#include "bench.h"
#include "options.h"

enum { DRAWS = 10000 };

typedef struct null_ask {
    uint64_t runs;
    double prior;
    fit_ask fit;
} null_ask;

typedef struct null_found {
    double excluded, width, widest, wall, flagged;
    uint64_t done, failed;
} null_found;

static void toss(size_t n, uint64_t seed, double *y)
{
    dp_rng *rng;
    if (dp_rng_new(seed, &rng, NULL) != DP_OK)
        bench_stop("toss", "no source of randomness");
    dp_rng_uniform(rng, n, y);
    for (size_t i = 0; i < n; i++)
        y[i] = y[i] < 0.5;
    dp_rng_free(rng);
}

static void score(const dp_fit *fit, double prior, uint64_t seed, null_found *found)
{
    dp_rng *rng;
    dp_draws *draws;
    dp_error err = {0};
    double values[DRAWS];
    if (dp_rng_new(seed, &rng, &err) || dp_fit_draw(fit, DRAWS, rng, &draws, &err))
        bench_stop("null", err.text);
    for (size_t k = 0; k < DRAWS; k++)
        values[k] = dp_draws_values(draws)[k];
    answers_sort(DRAWS, values);
    double low = answers_quantile(DRAWS, values, 0.05);
    double high = answers_quantile(DRAWS, values, 0.95);
    double width = (high - low) / (2 * 1.6448536 * prior);
    found->excluded += low > 0 || high < 0;
    found->width += width;
    found->widest = fmax(found->widest, width);
    dp_draws_free(draws);
    dp_rng_free(rng);
}

static void run_once(const null_ask *ask, size_t n, uint64_t seed, null_found *found)
{
    dp_error err = {0};
    fit_answer answer;
    fit_ask f = ask->fit;
    double *y = answers_alloc(n, sizeof *y);
    dp_model *m = dp_model_new();
    dp_dataset *records = dp_dataset_new(n);
    if (m == NULL || records == NULL)
        bench_stop("null", "out of memory");
    toss(n, seed, y);
    f.seed = seed + 1;
    dp_plate tosses = dp_unit_plate(m, "tosses");
    dp_expr effect = dp_sample(m, "effect", 1, dp_normal(0, ask->prior));
    dp_observe(tosses, "y", dp_bernoulli_logit(effect));
    dp_dataset_real(records, "y", 1, y);
    if (fit_run(m, records, &f, &answer, &err) != DP_OK) {
        if (found->failed++ == 0)
            (void)fprintf(stderr, "null, n %zu, epsilon %g: %s\n", n, f.epsilon, err.text);
    } else {
        score(answer.fit, ask->prior, seed, found);
        found->done++, found->wall += answer.wall, found->flagged += answer.flagged > 0;
        dp_fit_free(answer.fit);
    }
    dp_dataset_free(records), dp_model_free(m), free(y);
}

static void print_cell(const null_ask *ask, size_t n, const null_found *found)
{
    double done = (double)found->done;
    (void)printf("{\"kernel\": \"answers-null\", \"method\": \"%s\", \"n\": %zu, ", ask->fit.method,
                 n);
    bench_number("epsilon", ask->fit.epsilon);
    bench_number("delta", ask->fit.delta);
    (void)printf("\"runs\": %llu, \"failed\": %llu, ", (unsigned long long)found->done,
                 (unsigned long long)found->failed);
    bench_number("excluded", found->excluded / done);
    bench_number("width", found->width / done);
    bench_number("widest", found->done > 0 ? found->widest : NAN);
    bench_number("flagged", found->flagged / done);
    bench_number("seconds", found->wall / done);
    bench_end_line();
}

void null_main(int argc, char **argv)
{
    const char *sizes = "1,10,100,1000,100000", *budgets = "0.1,0.5,1,2,4,8";
    double n[ANSWERS_LIST], epsilon[ANSWERS_LIST], delta = 0;
    null_ask ask = {.runs = 500, .prior = 2.5, .fit = {.method = fit_default(), .threads = 1}};
    const bench_option list[] = {
        {.name = "--runs", .count = &ask.runs},          {.name = "--n", .text = &sizes},
        {.name = "--epsilon", .text = &budgets},         {.name = "--prior", .number = &ask.prior},
        {.name = "--method", .text = &ask.fit.method},   {.name = "--delta", .number = &delta},
        {.name = "--threads", .count = &ask.fit.threads}};
    bench_options(argc, argv, sizeof list / sizeof *list, list);
    if (!fit_knows(ask.fit.method))
        bench_stop(ask.fit.method, "no such method in this build");
    size_t n_sizes = answers_list(sizes, n), n_budgets = answers_list(budgets, epsilon);
    for (size_t s = 0; s < n_sizes; s++)
        for (size_t b = 0; b < n_budgets; b++) {
            null_found found = {0};
            ask.fit.epsilon = epsilon[b];
            ask.fit.delta = delta > 0 ? delta : fmin(1e-3, pow(n[s], -1.1));
            for (uint64_t seed = 0; seed < ask.runs; seed++)
                run_once(&ask, (size_t)n[s], seed, &found);
            print_cell(&ask, (size_t)n[s], &found);
        }
}
