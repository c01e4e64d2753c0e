/* Hierarchical logistic regression, the experiment of section 5.3 of Prediger, Loppi, Kaski and
 * Honkela, d3p: a Python package for differentially-private probabilistic programming (2022).
 *
 *   M_k ~ N(0, 4),  w_l ~ N(M_l, 1),  P(y) = logit^-1(x . w_l),  D = 5, K = L = 3, delta = 1 / N
 *
 * Form "d3p": the guide learns M and draws w from the model; every record's gradient holds the
 * prior; batches of 10 without replacement, Adam 1e-3, and the noise multipliers printed there, for
 * which nothing is certified here.  Form "tacit": the same model with this library's defaults,
 * Poisson sampling at the same rate, noise calibrated to the certified epsilon.
 *
 * One JSON line a run; auc is of the test half.  Seeded runs are repeatable and so are not private:
 * epsilon_certified is what an unseeded run of the same steps has.
 *   make bench/hierarchical_logistic && bench/hierarchical_logistic [--n N] [--seeds S] [--steps T]
 *                                                                   [--form d3p|tacit] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "hierarchical.h"
#include "options.h"

typedef struct budget {
    double epsilon, sigma; /* INFINITY without privacy; sigma as published */
} budget;

typedef struct settings {
    uint64_t n, seeds, steps;
    const char *form; /* NULL: both */
} settings;

typedef struct outcome {
    double certified, auc, seconds;
} outcome;

/* P(score of a positive > score of a negative) in the test half, ties counting half. */
static double test_auc(const simulated *data, double weights[L][D])
{
    double won = 0, pairs = 0;
    double *s = calloc(2 * data->n, sizeof *s);
    if (s == NULL)
        bench_stop("auc", "out of memory");
    for (size_t i = data->n; i < 2 * data->n; i++)
        s[i] = hierarchical_score(data->x + i * D, weights[data->group[i]]);
    for (size_t i = data->n; i < 2 * data->n; i++)
        for (size_t j = data->n; j < 2 * data->n; j++)
            if (data->y[i] > data->y[j]) {
                won += s[i] > s[j] ? 1 : s[i] == s[j] ? 0.5 : 0;
                pairs++;
            }
    free(s);
    return won / pairs;
}

/* The published data set or none. */
static void check_fingerprints(simulated *data)
{
    bool same = fabs(data->x[0] - 1.764052345967664) < 1e-12;
    if (data->n == 500)
        same = same && fabs(data->factors[0][0] - -1.8201253472342291) < 1e-12 &&
               fabs(data->weights[0][0] - -2.2049067994085654) < 1e-12 &&
               fabs(test_auc(data, data->weights) - 0.8850) < 1e-4 &&
               fabs(test_auc(data, data->factors) - 0.8440) < 1e-4;
    if (!same)
        bench_stop("data", "not the published data set");
}

static dp_svi_opts options(const settings *ask, budget b, bool as_d3p, uint64_t seed)
{
    bool private = isfinite(b.epsilon);
    dp_svi_opts o = {.mode = private ? DP_PRIVATE : DP_NO_PRIVACY,
                     .sampling = DP_SAMPLING_POISSON,
                     .rate = (double)BATCH / (double)ask->n,
                     .steps = ask->steps,
                     .seed = seed + 1}; /* 0 asks for an unrepeatable run */
    if (private)
        o.clip = 1;
    if (private && !as_d3p) {
        o.epsilon = b.epsilon;
        o.delta = 1 / (double)ask->n;
    }
    if (as_d3p) {
        o.mode = private ? DP_WITHOUT_GUARANTEE : DP_NO_PRIVACY;
        o.sigma = private ? b.sigma : 0;
        o.sampling = DP_SAMPLING_FIXED;
        o.rate = 0;
        o.batch = BATCH;
        o.form = DP_FORM_PARAMETERS;
        o.schedule = DP_CONSTANT;
        o.step_size = 1e-3;
    }
    return o;
}

static outcome fit(const simulated *data, const settings *ask, budget b, bool as_d3p, uint64_t seed)
{
    dp_error err = {0};
    dp_svi *svi;
    dp_privacy privacy;
    double weights[L][D], started = bench_now();
    dp_svi_opts o = options(ask, b, as_d3p, seed);
    dp_model *m = dp_model_new(), *guide = as_d3p ? dp_guide_new(m) : NULL;
    dp_dataset *records = hierarchical_records(data);
    if (m == NULL || records == NULL || (as_d3p && guide == NULL))
        bench_stop("fit", "out of memory");
    hierarchical_model(m);
    if (as_d3p)
        hierarchical_guide(guide);
    if (dp_svi_new(m, guide, records, &o, &svi, &err) ||
        (as_d3p && hierarchical_start(svi, seed, &err)) || dp_svi_run(svi, NULL, &err) ||
        dp_svi_privacy(svi, &privacy, &err) ||
        dp_svi_get(svi, as_d3p ? "loc" : "w.loc", L * D, weights[0], &err))
        bench_stop("fit", err.text);
    outcome result = {.certified = privacy.epsilon, .seconds = bench_now() - started};
    result.auc = test_auc(data, weights);
    dp_svi_free(svi);
    dp_dataset_free(records);
    dp_model_free(guide);
    dp_model_free(m);
    return result;
}

static void run_form(const simulated *data, const settings *ask, bool as_d3p)
{
    static const budget budgets[] = {{2, 17.088},
                                     {4, 9.852},
                                     {8, 5.811},
                                     {INFINITY, 0}}; /* sigma for N = 500 and 100000 steps */
    for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++)
        for (uint64_t seed = 0; seed < ask->seeds; seed++) {
            outcome r = fit(data, ask, budgets[b], as_d3p, seed);
            (void)printf("{\"kernel\": \"hierarchical_logistic\", \"n\": %llu, ",
                         (unsigned long long)ask->n);
            bench_number("epsilon_asked", budgets[b].epsilon);
            bench_number("epsilon_certified", r.certified);
            (void)printf("\"form\": \"%s\", \"seed\": %llu, \"private\": false, \"steps\": %llu, "
                         "\"auc\": %.4f, \"seconds\": %.3f, \"steps_per_second\": %.0f, ",
                         as_d3p ? "d3p" : "tacit", (unsigned long long)seed,
                         (unsigned long long)ask->steps, r.auc, r.seconds,
                         (double)ask->steps / r.seconds);
            bench_end_line();
        }
}

static settings parse(int argc, char **argv)
{
    settings s = {.n = 500, .seeds = 10, .steps = 100000};
    const bench_option list[] = {{.name = "--n", .count = &s.n},
                                 {.name = "--seeds", .count = &s.seeds},
                                 {.name = "--steps", .count = &s.steps},
                                 {.name = "--form", .text = &s.form}};
    bench_options(argc, argv, sizeof list / sizeof *list, list);
    if (s.n < BATCH || s.n > 1000000 || s.steps == 0)
        bench_stop("options", "n is 10 to 1000000 and steps at least 1");
    return s;
}

int main(int argc, char **argv)
{
    settings ask = parse(argc, argv);
    simulated data;
    if (!hierarchical_simulate((size_t)ask.n, &data))
        bench_stop("data", "out of memory");
    check_fingerprints(&data);
    if (bench_asks_for(ask.form, "d3p"))
        run_form(&data, &ask, true);
    if (bench_asks_for(ask.form, "tacit"))
        run_form(&data, &ask, false);
    hierarchical_free(&data);
    return 0;
}
