/* The problems that answers are scored on: simulated regressions, and public data sets where their
 * files are there.
 *
 * Simulated: predictors are standardised and x_j depends on x_(j-1) with the given correlation.
 * True values are the same in every data set under priors that are flat beside them, normal(0, 5),
 * or drawn from priors of the outcome's own size, for which coverage is a matter of fact.  "raw"
 * is the same problem with one predictor multiplied by 1000 and one shifted by 10 000 (--shift),
 * and normal outcomes in millions; priors are scaled along, and the intercept's is as wide as the
 * shift asks for. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "answers.h"
#include "options.h"

typedef enum errors { ERRORS_NORMAL = 0, ERRORS_T4, ERRORS_SKEWED, ERRORS_UNEQUAL } errors;

struct problem {
    const char *name;
    answers_family family;
    size_t n, predictors, groups;
    errors errors;
    bool raw;
    bool (*load)(const problem_opts *o, regression *r); /* NULL: simulated */
};

static const double raw_factor = 1e3, raw_outcome = 1e6;

size_t regression_size(const regression *r)
{
    return r->p + regression_has_noise(r) + (r->groups > 0) + r->groups;
}

bool regression_has_noise(const regression *r)
{
    return r->family == ANSWERS_NORMAL;
}

void regression_free(regression *r)
{
    free(r->x), free(r->y), free(r->group), free(r->mean), free(r->scale), free(r->truth);
}

void regression_allocate(regression *r)
{
    r->x = answers_alloc(r->n * r->p, sizeof *r->x);
    r->y = answers_alloc(r->n, sizeof *r->y);
    r->group = answers_alloc(r->n, sizeof *r->group);
    r->mean = answers_alloc(r->p, sizeof *r->mean);
    r->scale = answers_alloc(r->p, sizeof *r->scale);
    r->truth = answers_alloc(regression_size(r), sizeof *r->truth);
    for (size_t k = 0; k < regression_size(r); k++)
        r->truth[k] = NAN;
}

static dp_dist outcome(const regression *r, dp_model *m, dp_expr eta)
{
    switch (r->family) {
    case ANSWERS_LOGISTIC:
        return dp_bernoulli_logit(eta);
    case ANSWERS_POISSON:
        return dp_poisson_log(eta);
    case ANSWERS_GAMMA:
        return dp_gamma_v(dp_num(2), dp_scale(2, dp_exp(dp_neg(eta))));
    case ANSWERS_NORMAL:
        break;
    }
    return dp_normal_v(eta, dp_sample(m, "sigma", 1, dp_half_normal(r->noise_scale)));
}

void regression_model(const regression *r, dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "records");
    dp_expr mean = dp_constant(m, r->p, r->mean), scale = dp_constant(m, r->p, r->scale);
    dp_expr w = dp_sample(m, "w", r->p, dp_normal_v(mean, scale));
    dp_expr eta = dp_dot(dp_data(rows, "x", r->p), w);
    if (r->groups > 0) {
        dp_plate groups = dp_plate_new(m, "groups", r->groups);
        dp_expr tau = dp_sample(m, "tau", 1, dp_half_normal(r->group_scale));
        dp_expr b = dp_sample_in(groups, "b", 1, dp_normal_v(dp_num(0), tau));
        eta = dp_add(eta, dp_pick(b, dp_index(rows, "group", groups)));
    }
    dp_observe(rows, "y", outcome(r, m, eta));
}

dp_dataset *regression_records(const regression *r)
{
    dp_dataset *records = dp_dataset_new(r->n);
    if (records == NULL)
        bench_stop("records", "out of memory");
    dp_dataset_real(records, "x", r->p, r->x);
    dp_dataset_real(records, "y", 1, r->y);
    if (r->groups > 0)
        dp_dataset_index(records, "group", r->group);
    return records;
}

/* ---- simulating ---- */

static double normal(dp_rng *rng)
{
    double e;
    dp_rng_normal(rng, 1, &e);
    return e;
}

static double uniform(dp_rng *rng)
{
    double u;
    dp_rng_uniform(rng, 1, &u);
    return u;
}

/* Predictors, and groups of unequal sizes, each with a record at least. */
static void draw_design(const regression *r, double correlation, dp_rng *rng)
{
    for (size_t i = 0; i < r->n; i++) {
        double *x = r->x + i * r->p;
        x[0] = 1;
        for (size_t j = 1; j < r->p; j++)
            x[j] = j == 1
                       ? normal(rng)
                       : correlation * x[j - 1] + sqrt(1 - correlation * correlation) * normal(rng);
    }
    if (r->groups == 0)
        return;
    double *share = answers_alloc(r->groups, sizeof *share), total = 0;
    for (size_t k = 0; k < r->groups; k++)
        share[k] = total += exp(0.7 * normal(rng));
    for (size_t i = 0; i < r->n; i++) {
        double u = total * uniform(rng);
        size_t k = 0;
        while (k + 1 < r->groups && share[k] < u)
            k++;
        r->group[i] = (int32_t)(i < r->groups ? i : k);
    }
    free(share);
}

/* How large coefficients of standardised predictors are in the family. */
static double effect_size(const regression *r)
{
    double many = sqrt(5 / fmax(5, (double)(r->p - 1)));
    return many * (r->family == ANSWERS_NORMAL ? 1 : r->family == ANSWERS_LOGISTIC ? 0.5 : 0.3);
}

static void choose_truth(regression *r, bool of_prior, dp_rng *rng)
{
    static const double pattern[] = {0.9, -0.6, 0.4, 0, -0.3};
    double *w = r->truth, size = effect_size(r), tau = 0.5;
    for (size_t j = 0; j < r->p; j++) {
        r->scale[j] = of_prior ? size : 5;
        w[j] = of_prior ? size * normal(rng) : j == 0 ? 0.5 : 1.2 * size * pattern[(j - 1) % 5];
    }
    r->noise_scale = of_prior ? 1 : 5;
    r->group_scale = of_prior ? 0.5 : 1;
    if (regression_has_noise(r))
        r->truth[r->p] = of_prior ? fabs(normal(rng)) : 1;
    if (r->groups == 0)
        return;
    double *effects = r->truth + r->p + regression_has_noise(r);
    if (of_prior)
        tau = r->group_scale * fabs(normal(rng));
    *effects++ = tau;
    for (size_t k = 0; k < r->groups; k++)
        effects[k] = w[0] + tau * normal(rng);
}

static double poisson(double rate, dp_rng *rng)
{
    double u = uniform(rng), k = 0, mass = exp(-rate);
    while (u > mass && k < 1e4) {
        u -= mass;
        k++;
        mass *= rate / k;
    }
    return k;
}

/* An error of variance 1. */
static double draw_error(errors kind, double x1, dp_rng *rng)
{
    double e = normal(rng), chi2 = 0;
    switch (kind) {
    case ERRORS_T4:
        for (int k = 0; k < 4; k++) {
            double z = normal(rng);
            chi2 += z * z;
        }
        return e / sqrt(chi2 / 4) / sqrt(2);
    case ERRORS_SKEWED:
        return -log(uniform(rng)) - 1;
    case ERRORS_UNEQUAL:
        return e * exp(0.5 * x1 - 0.25);
    case ERRORS_NORMAL:
        break;
    }
    return e;
}

static double draw_outcome(const regression *r, errors kind, size_t i, dp_rng *rng)
{
    const double *x = r->x + i * r->p;
    size_t first_group = regression_size(r) - r->groups;
    double eta = r->groups > 0 ? r->truth[first_group + (size_t)r->group[i]] - r->truth[0] : 0;
    for (size_t j = 0; j < r->p; j++)
        eta += x[j] * r->truth[j];
    switch (r->family) {
    case ANSWERS_LOGISTIC:
        return uniform(rng) < 1 / (1 + exp(-eta));
    case ANSWERS_POISSON:
        return poisson(exp(eta), rng);
    case ANSWERS_GAMMA:
        return -0.5 * exp(eta) * log(uniform(rng) * uniform(rng));
    case ANSWERS_NORMAL:
        break;
    }
    return eta + r->truth[r->p] * draw_error(kind, x[1], rng);
}

/* The same records in other units: x_1 times the factor, x_2 shifted; outcomes in millions. */
static void make_raw(regression *r, double shift)
{
    bool outcome_too = r->family == ANSWERS_NORMAL;
    double unit = outcome_too ? raw_outcome : 1, moved = shift * r->truth[2];
    size_t first_group = regression_size(r) - r->groups;
    for (size_t i = 0; i < r->n; i++) {
        r->x[i * r->p + 1] *= raw_factor;
        r->x[i * r->p + 2] += shift;
        r->y[i] *= unit;
    }
    r->scale[0] = hypot(r->scale[0], shift * r->scale[2]);
    r->scale[1] /= raw_factor;
    r->truth[0] -= moved;
    r->truth[1] /= raw_factor;
    for (size_t k = first_group; k < first_group + r->groups; k++)
        r->truth[k] -= moved;
    for (size_t j = 0; j < r->p; j++)
        r->scale[j] *= unit;
    for (size_t k = 0; k < regression_size(r); k++)
        r->truth[k] *= unit;
    r->noise_scale *= unit, r->group_scale *= unit;
}

static void simulate(const problem *p, const problem_opts *o, uint64_t seed, regression *r)
{
    dp_rng *rng;
    uint64_t code = 14695981039346656037u; /* FNV-1a: problems differ by their names */
    for (const char *c = p->name; *c != 0; c++)
        code = (code ^ (unsigned char)*c) * 1099511628211u;
    if (dp_rng_new(code + seed, &rng, NULL) != DP_OK)
        bench_stop("simulate", "no source of randomness");
    *r = (regression){.n = o->n > 0 ? o->n : p->n, .p = p->predictors + 1, .groups = p->groups};
    r->family = p->family;
    regression_allocate(r);
    choose_truth(r, o->truth_of_prior, rng);
    draw_design(r, o->correlation, rng);
    for (size_t i = 0; i < r->n; i++)
        r->y[i] = draw_outcome(r, p->errors, i, rng);
    if (p->errors != ERRORS_NORMAL)
        r->truth[r->p] = NAN; /* the scale of the model is not that of the errors */
    if (p->raw)
        make_raw(r, o->shift);
    dp_rng_free(rng);
}

/* ---- the table ---- */

static const problem problems[] = {
    {.name = "linear-500", .n = 500, .predictors = 5},
    {.name = "linear-2000", .n = 2000, .predictors = 5},
    {.name = "linear-10000", .n = 10000, .predictors = 5},
    {.name = "linear-d26", .n = 5000, .predictors = 25},
    {.name = "linear-t4", .n = 2000, .predictors = 5, .errors = ERRORS_T4},
    {.name = "linear-skewed", .n = 2000, .predictors = 5, .errors = ERRORS_SKEWED},
    {.name = "linear-unequal", .n = 2000, .predictors = 5, .errors = ERRORS_UNEQUAL},
    {.name = "linear-raw", .n = 2000, .predictors = 5, .raw = true},
    {.name = "logistic-500", .family = ANSWERS_LOGISTIC, .n = 500, .predictors = 5},
    {.name = "logistic-2000", .family = ANSWERS_LOGISTIC, .n = 2000, .predictors = 5},
    {.name = "logistic-10000", .family = ANSWERS_LOGISTIC, .n = 10000, .predictors = 5},
    {.name = "logistic-d26", .family = ANSWERS_LOGISTIC, .n = 5000, .predictors = 25},
    {.name = "logistic-raw", .family = ANSWERS_LOGISTIC, .n = 2000, .predictors = 5, .raw = true},
    {.name = "poisson-500", .family = ANSWERS_POISSON, .n = 500, .predictors = 5},
    {.name = "poisson-2000", .family = ANSWERS_POISSON, .n = 2000, .predictors = 5},
    {.name = "poisson-10000", .family = ANSWERS_POISSON, .n = 10000, .predictors = 5},
    {.name = "poisson-raw", .family = ANSWERS_POISSON, .n = 2000, .predictors = 5, .raw = true},
    {.name = "gamma-2000", .family = ANSWERS_GAMMA, .n = 2000, .predictors = 5},
    {.name = "hierarchical-logistic",
     .family = ANSWERS_LOGISTIC,
     .n = 1934,
     .predictors = 6,
     .groups = 60},
    {.name = "hierarchical-linear", .n = 919, .predictors = 2, .groups = 85},
    {.name = "hierarchical-linear-raw", .n = 919, .predictors = 2, .groups = 85, .raw = true},
    {.name = "contraception", .load = load_contraception},
    {.name = "radon", .load = load_radon},
    {.name = "wells", .load = load_wells},
    {.name = "nes-logit", .load = load_nes_logit},
    {.name = "nes1980", .load = load_nes1980},
    {.name = "kidiq", .load = load_kidiq},
    {.name = "kidiq-interaction", .load = load_kidiq_interaction},
    {.name = "earnings", .load = load_earnings},
    {.name = "log-earnings", .load = load_log_earnings},
    {.name = "mesquite", .load = load_mesquite},
    {.name = "mesquite-all", .load = load_mesquite_all},
};

const problem *problem_at(size_t k)
{
    return k < sizeof problems / sizeof *problems ? &problems[k] : NULL;
}

const char *problem_name(const problem *p)
{
    return p->name;
}

bool problem_is_simulated(const problem *p)
{
    return p->load == NULL;
}

bool problem_make(const problem *p, const problem_opts *o, uint64_t seed, regression *r)
{
    if (p->load != NULL)
        return p->load(o, r);
    simulate(p, o, seed, r);
    return true;
}
