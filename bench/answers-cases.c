/* Hard cases: units, collinearity, wrong laws, priors that are far off, groups without records, too
 * few records, options by hand that are wrong.
 *
 * An answer is right if every mean is within 3 of the answer's own standard deviations of the exact
 * posterior's mean, none of these is below .7 of the exact one, and none above 1.25 of the prior's.
 * Where it is not, a diagnostic has to be bad, or the fit refused; else the case is silent.  The
 * exact posterior is that of the model which is fitted, also where the law of the records is
 * another one.
 *
 * A line a case, epsilon and seed:
 *   off      largest |mean - exact mean| in the answer's standard deviations; over all quantities
 *   error    mean of |mean - exact mean| in exact ones
 *   least, most   standard deviation against the exact one: least and mean
 *   prior    largest standard deviation against the prior's
 *   verdict  "right", "told" (not right, and a diagnostic is bad), "silent" or "failed" */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "bench.h"
#include "options.h"

enum { DRAWS = 8000 };

typedef enum law {
    LAW_MODEL = 0,
    LAW_T2,
    LAW_T4,
    LAW_SKEWED,
    LAW_UNEQUAL,   /* standard deviation exp(x_1 / 2) */
    LAW_OUTLIERS,  /* 1 in 20 with 10 times the standard deviation */
    LAW_DISPERSED, /* of counts: mean times a gamma number of variance 1/2 */
    LAW_PROBIT,
    LAW_SEPARATED /* 1 where x_1 is positive */
} law;

typedef struct hard_case {
    const char *name;
    answers_family family;
    size_t n, predictors, groups;
    law law;
    void (*before)(regression *r, dp_rng *rng); /* changes design, priors, truth */
    void (*after)(regression *r);               /* changes units */
    uint64_t rounds;                            /* as in dp_fit_opts */
    double clip;
} hard_case;

static double uniform(dp_rng *rng)
{
    double u;
    dp_rng_uniform(rng, 1, &u);
    return u;
}

static double normal(dp_rng *rng)
{
    double e;
    dp_rng_normal(rng, 1, &e);
    return e;
}

/* ---- what is changed before outcomes are drawn ---- */

static void far_intercept(regression *r, dp_rng *rng)
{
    (void)rng;
    r->truth[0] = r->scale[0] = 1e4;
}

static void nearly_collinear(regression *r, dp_rng *rng)
{
    for (size_t i = 0; i < r->n; i++)
        r->x[i * r->p + 2] = 0.999 * r->x[i * r->p + 1] + sqrt(1 - 0.998001) * normal(rng);
}

static void duplicate(regression *r, dp_rng *rng)
{
    (void)rng;
    for (size_t i = 0; i < r->n; i++)
        r->x[i * r->p + 2] = r->x[i * r->p + 1];
}

/* Of predictors that are far from 0, as ages are. */
static void interaction(regression *r, dp_rng *rng)
{
    (void)rng;
    for (size_t i = 0; i < r->n; i++) {
        double *x = r->x + i * r->p;
        x[1] += 5, x[2] += 5;
        x[3] = x[1] * x[2];
    }
    r->truth[3] = -0.1;
}

static void rare(regression *r, dp_rng *rng)
{
    (void)rng;
    r->truth[0] = -5;
}

static void wrong_prior(regression *r, dp_rng *rng)
{
    (void)rng;
    r->scale[1] = fabs(r->truth[1]) / 20;
}

/* Group 0 has no record and group 1 one; the others share the rest. */
static void bare_groups(regression *r, dp_rng *rng)
{
    (void)rng;
    for (size_t i = 0; i < r->n; i++)
        r->group[i] = i == 0 ? 1 : (int32_t)(2 + i % (r->groups - 2));
}

/* Half of all records in group 0, a quarter in group 1, and so on. */
static void unequal_groups(regression *r, dp_rng *rng)
{
    (void)rng;
    for (size_t i = 0; i < r->n; i++) {
        size_t k = 0;
        for (size_t left = i; (left & 1) != 0 && k + 1 < r->groups; left >>= 1)
            k++;
        r->group[i] = (int32_t)k;
    }
}

static void constant_predictor(regression *r, dp_rng *rng)
{
    (void)rng;
    for (size_t i = 0; i < r->n; i++)
        r->x[i * r->p + 2] = 3;
}

static void zero_predictor(regression *r, dp_rng *rng)
{
    (void)rng;
    for (size_t i = 0; i < r->n; i++)
        r->x[i * r->p + 2] = 0;
}

/* ---- and after ---- */

static void in_millions(regression *r)
{
    for (size_t i = 0; i < r->n; i++)
        r->y[i] *= 1e6;
    for (size_t j = 0; j < r->p; j++)
        r->scale[j] *= 1e6;
    r->noise_scale *= 1e6;
}

static void in_thousandths(regression *r)
{
    for (size_t i = 0; i < r->n; i++)
        r->x[i * r->p + 1] *= 1000;
    r->scale[1] /= 1000;
}

/* The intercept's prior is as wide as the shift asks for. */
static void shifted(regression *r)
{
    for (size_t i = 0; i < r->n; i++)
        r->x[i * r->p + 1] += 1e4;
    r->scale[0] = hypot(r->scale[0], 1e4 * r->scale[1]);
}

/* ---- the cases ---- */

static const hard_case cases[] = {
    {.name = "intercept-10000", .n = 2000, .predictors = 5, .before = far_intercept},
    {.name = "outcome-millions", .n = 2000, .predictors = 5, .after = in_millions},
    {.name = "predictor-x1000",
     .family = ANSWERS_LOGISTIC,
     .n = 2000,
     .predictors = 5,
     .after = in_thousandths},
    {.name = "predictor-shifted", .n = 2000, .predictors = 5, .after = shifted},
    {.name = "predictor-shifted-logistic",
     .family = ANSWERS_LOGISTIC,
     .n = 2000,
     .predictors = 5,
     .after = shifted},
    {.name = "collinear-.999", .n = 2000, .predictors = 5, .before = nearly_collinear},
    {.name = "duplicate-column", .n = 2000, .predictors = 5, .before = duplicate},
    {.name = "duplicate-column-logistic",
     .family = ANSWERS_LOGISTIC,
     .n = 2000,
     .predictors = 5,
     .before = duplicate},
    {.name = "interaction", .n = 2000, .predictors = 3, .before = interaction},
    {.name = "separation",
     .family = ANSWERS_LOGISTIC,
     .n = 1000,
     .predictors = 3,
     .law = LAW_SEPARATED},
    {.name = "n46-p8", .n = 46, .predictors = 6},
    {.name = "t2", .n = 2000, .predictors = 5, .law = LAW_T2},
    {.name = "t4", .n = 2000, .predictors = 5, .law = LAW_T4},
    {.name = "skewed", .n = 2000, .predictors = 5, .law = LAW_SKEWED},
    {.name = "heteroscedastic", .n = 2000, .predictors = 5, .law = LAW_UNEQUAL},
    {.name = "outliers-5%", .n = 2000, .predictors = 5, .law = LAW_OUTLIERS},
    {.name = "overdispersed",
     .family = ANSWERS_POISSON,
     .n = 2000,
     .predictors = 5,
     .law = LAW_DISPERSED},
    {.name = "probit", .family = ANSWERS_LOGISTIC, .n = 2000, .predictors = 5, .law = LAW_PROBIT},
    {.name = "rare-1%", .family = ANSWERS_LOGISTIC, .n = 2000, .predictors = 3, .before = rare},
    {.name = "prior-off-20", .n = 2000, .predictors = 5, .before = wrong_prior},
    {.name = "prior-off-20-logistic",
     .family = ANSWERS_LOGISTIC,
     .n = 2000,
     .predictors = 5,
     .before = wrong_prior},
    {.name = "bare-groups", .n = 900, .predictors = 2, .groups = 30, .before = bare_groups},
    {.name = "unequal-groups",
     .family = ANSWERS_LOGISTIC,
     .n = 2048,
     .predictors = 2,
     .groups = 12,
     .before = unequal_groups},
    {.name = "intercept-and-plate",
     .family = ANSWERS_LOGISTIC,
     .n = 2000,
     .predictors = 3,
     .groups = 40},
    {.name = "constant-predictor", .n = 2000, .predictors = 3, .before = constant_predictor},
    {.name = "zero-predictor", .n = 2000, .predictors = 3, .before = zero_predictor},
    {.name = "zero-predictor-logistic",
     .family = ANSWERS_LOGISTIC,
     .n = 2000,
     .predictors = 3,
     .before = zero_predictor},
    {.name = "one-round", .n = 2000, .predictors = 5, .rounds = 1},
    {.name = "clip-.1", .n = 2000, .predictors = 5, .clip = 0.1},
    {.name = "clip-.1-logistic",
     .family = ANSWERS_LOGISTIC,
     .n = 2000,
     .predictors = 5,
     .clip = 0.1},
    {.name = "n10", .family = ANSWERS_LOGISTIC, .n = 10, .predictors = 3},
};

/* Predictors with correlation 1/2 between neighbours, groups in turn; true values as large as they
 * mostly are, under wide priors. */
static void draw_base(regression *r, dp_rng *rng)
{
    static const double pattern[] = {1, -0.7, 0.5, 0, -0.4};
    double size = r->family == ANSWERS_NORMAL ? 1 : r->family == ANSWERS_LOGISTIC ? 0.6 : 0.35;
    for (size_t i = 0; i < r->n; i++) {
        double *x = r->x + i * r->p;
        x[0] = 1;
        for (size_t j = 1; j < r->p; j++)
            x[j] = j == 1 ? normal(rng) : 0.5 * x[j - 1] + sqrt(0.75) * normal(rng);
        r->group[i] = r->groups > 0 ? (int32_t)(i % r->groups) : 0;
    }
    for (size_t j = 0; j < r->p; j++) {
        r->scale[j] = r->family == ANSWERS_NORMAL ? 5 : 2.5;
        r->truth[j] = j == 0 ? 0.5 : size * pattern[(j - 1) % 5];
    }
    r->noise_scale = 5, r->group_scale = 1;
}

static double t_error(int degrees, dp_rng *rng)
{
    double square = 0, e = normal(rng);
    for (int k = 0; k < degrees; k++) {
        double z = normal(rng);
        square += z * z;
    }
    return e / sqrt(square / degrees);
}

static double poisson(double rate, dp_rng *rng)
{
    double u = uniform(rng), k = 0, mass = exp(-rate);
    while (u > mass && k < 1e4) {
        u -= mass;
        mass *= rate / ++k;
    }
    return k;
}

static double outcome(const hard_case *c, double eta, const double *x, dp_rng *rng)
{
    switch (c->law) {
    case LAW_T2:
        return eta + t_error(2, rng);
    case LAW_T4:
        return eta + t_error(4, rng);
    case LAW_SKEWED:
        return eta - log(uniform(rng)) - 1;
    case LAW_UNEQUAL:
        return eta + exp(x[1] / 2) * normal(rng);
    case LAW_OUTLIERS:
        return eta + (uniform(rng) < 0.05 ? 10 : 1) * normal(rng);
    case LAW_DISPERSED:
        return poisson(-0.5 * exp(eta) * log(uniform(rng) * uniform(rng)), rng);
    case LAW_PROBIT:
        return normal(rng) < eta;
    case LAW_SEPARATED:
        return x[1] > 0;
    case LAW_MODEL:
        break;
    }
    return c->family == ANSWERS_LOGISTIC  ? uniform(rng) < 1 / (1 + exp(-eta))
           : c->family == ANSWERS_POISSON ? poisson(exp(eta), rng)
                                          : eta + normal(rng);
}

static void make(const hard_case *c, uint64_t seed, regression *r)
{
    dp_rng *rng;
    uint64_t code = 14695981039346656037u; /* FNV-1a: cases differ by their names */
    for (const char *at = c->name; *at != 0; at++)
        code = (code ^ (unsigned char)*at) * 1099511628211u;
    if (dp_rng_new(code + seed, &rng, NULL) != DP_OK)
        bench_stop("cases", "no source of randomness");
    *r = (regression){.n = c->n, .p = c->predictors + 1, .groups = c->groups, .family = c->family};
    regression_allocate(r);
    draw_base(r, rng);
    if (c->before != NULL)
        c->before(r, rng);
    double *effect = answers_alloc(r->groups + 1, sizeof *effect);
    for (size_t k = 0; k < r->groups; k++)
        effect[k] = 0.5 * normal(rng);
    for (size_t i = 0; i < r->n; i++) {
        double eta = effect[r->group[i]];
        for (size_t j = 0; j < r->p; j++)
            eta += r->x[i * r->p + j] * r->truth[j];
        r->y[i] = outcome(c, eta, r->x + i * r->p, rng);
    }
    if (c->after != NULL)
        c->after(r);
    free(effect);
    dp_rng_free(rng);
}

/* ---- scores ---- */

typedef struct scores {
    double off, error, least, most, prior;
} scores;

/* Standard deviation of quantity k in the prior. */
static double prior_sd(const regression *r, size_t k)
{
    double half = sqrt(1 - 2 / 3.14159265358979);
    if (k < r->p)
        return r->scale[k];
    if (k == r->p && regression_has_noise(r))
        return half * r->noise_scale;
    return k + r->groups < regression_size(r) ? half * r->group_scale
                                              : hypot(r->scale[0], r->group_scale);
}

static scores score(const regression *r, const reference *ref, const dp_fit *fit, uint64_t seed)
{
    dp_rng *rng;
    dp_draws *draws;
    dp_error err = {0};
    scores s = {.least = INFINITY};
    size_t size = regression_size(r);
    double *value = answers_alloc(DRAWS, sizeof *value);
    if (dp_rng_new(seed, &rng, &err) || dp_fit_draw(fit, DRAWS, rng, &draws, &err))
        bench_stop("cases", err.text);
    for (size_t k = 0; k < size; k++) {
        double mean = 0, square = 0;
        answers_values(r, draws, k, DRAWS, value);
        for (size_t i = 0; i < DRAWS; i++)
            mean += value[i] / DRAWS;
        for (size_t i = 0; i < DRAWS; i++)
            square += (value[i] - mean) * (value[i] - mean) / DRAWS;
        double away = fabs(mean - ref->mean[k]), sd = sqrt(square), width = sd / ref->sd[k];
        if (getenv("DBG"))
            fprintf(stderr, "q%zu mean %.4g sd %.3g ref %.4g sd %.3g\n", k, mean, sd, ref->mean[k],
                    ref->sd[k]);
        s.off = fmax(s.off, away / sd);
        s.error += away / ref->sd[k] / (double)size;
        s.least = fmin(s.least, width);
        s.most += width / (double)size;
        s.prior = fmax(s.prior, sd / prior_sd(r, k));
    }
    free(value);
    dp_draws_free(draws);
    dp_rng_free(rng);
    return s;
}

static void print_run(const regression *r, const reference *ref, const fit_ask *ask,
                      const fit_answer *answer)
{
    scores s = score(r, ref, answer->fit, ask->seed);
    bool right = s.off <= 3 && s.least >= 0.7 && s.prior <= 1.25;
    bench_number("off", s.off);
    bench_number("error", s.error);
    bench_number("least", s.least);
    bench_number("most", s.most);
    bench_number("prior", s.prior);
    (void)printf("\"verdict\": \"%s\", ", right                 ? "right"
                                          : answer->flagged > 0 ? "told"
                                                                : "silent");
    (void)printf("\"flagged\": %zu, ", answer->flagged);
    answers_text("bad", answer->names);
    bench_number("seconds", answer->wall);
}

static void run_case(const hard_case *c, const regression *r, const reference *ref, fit_ask *ask)
{
    dp_error err = {0};
    fit_answer answer;
    dp_model *m = dp_model_new();
    if (m == NULL)
        bench_stop("cases", "out of memory");
    regression_model(r, m);
    dp_dataset *records = regression_records(r);
    ask->rounds = c->rounds, ask->clip = c->clip;
    dp_status status = fit_run(m, records, ask, &answer, &err);
    (void)printf("{\"kernel\": \"answers-cases\", \"case\": \"%s\", \"n\": %zu, \"seed\": %llu, ",
                 c->name, r->n, (unsigned long long)ask->seed);
    bench_number("epsilon", ask->epsilon);
    bench_number("delta", ask->delta);
    if (status == DP_OK) {
        print_run(r, ref, ask, &answer);
        dp_fit_free(answer.fit);
    } else {
        (void)printf("\"verdict\": \"failed\", ");
        answers_text("failed", err.text);
    }
    bench_number("reference_error", ref->error);
    bench_end_line();
    dp_dataset_free(records);
    dp_model_free(m);
}

void cases_main(int argc, char **argv)
{
    const char *budgets = "1,4", *names = "";
    double epsilon[ANSWERS_LIST];
    uint64_t seeds = 10, first = 0;
    fit_ask ask = {.method = "private", .threads = 1};
    const bench_option list[] = {{.name = "--cases", .text = &names},
                                 {.name = "--epsilon", .text = &budgets},
                                 {.name = "--seeds", .count = &seeds},
                                 {.name = "--first", .count = &first},
                                 {.name = "--threads", .count = &ask.threads}};
    bench_options(argc, argv, sizeof list / sizeof *list, list);
    size_t n = answers_list(budgets, epsilon);
    for (const hard_case *c = cases; c < cases + sizeof cases / sizeof *cases; c++)
        for (uint64_t seed = first;
             seed < first + seeds && (*names == 0 || answers_listed(names, c->name)); seed++) {
            regression r;
            reference ref;
            make(c, seed, &r);
            reference_of(&r, seed, &ref);
            for (size_t k = 0; k < n; k++) {
                ask.seed = seed + 1, ask.epsilon = epsilon[k];
                ask.delta = pow((double)r.n, -1.1);
                run_case(c, &r, &ref, &ask);
            }
            reference_free(&ref), regression_free(&r);
        }
}
