/* Regressions of posteriordb. */
#include <math.h>
#include <stdlib.h>

#include "posteriordb.h"

/* Flat priors of the reference are normal ones here that are wider than the posterior by so much
 * that nothing of them is left. */
static dp_dist flat(double scale)
{
    return dp_normal(0, scale);
}

static dp_dist flat_positive(double scale)
{
    return dp_half_normal(scale);
}

/* y ~ N(x . beta, sigma), `beta` and `sigma` sampled by the caller, x [n][d] borrowed. */
static dp_dataset *linear(dp_model *m, size_t n, size_t d, const double *x, const double *y)
{
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_real(data, "x", d, x);
    dp_dataset_real(data, "y", 1, y);
    (void)m;
    return data;
}

static void observe_linear(dp_plate rows, size_t d, dp_expr beta, dp_expr sigma)
{
    dp_observe(rows, "y", dp_normal_v(dp_dot(dp_data(rows, "x", d), beta), sigma));
}

/* x[n][2] = 1 and a column. */
static double *with_intercept(size_t n, const double *column)
{
    double *x = calloc(2 * n, sizeof *x);
    for (size_t i = 0; i < n; i++) {
        x[2 * i] = 1;
        x[2 * i + 1] = column[i];
    }
    return x;
}

static dp_dataset *line(const posterior_text *t, dp_model *m, const char *outcome,
                        const char *predictor, double beta_scale, dp_dist noise)
{
    size_t n;
    double *x = posterior_numbers(t, predictor, &n), *y = posterior_numbers(t, outcome, NULL);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr beta = dp_sample(m, "beta", 2, flat(beta_scale));
    observe_linear(rows, 2, beta, dp_sample(m, "sigma", 1, noise));
    return linear(m, n, 2, with_intercept(n, x), y);
}

static dp_dataset *earnings(const posterior_text *t, dp_model *m)
{
    return line(t, m, "earn", "height", 1e7, flat_positive(1e6));
}

static dp_dataset *kid_score(const posterior_text *t, dp_model *m)
{
    return line(t, m, "kid_score", "mom_iq", 1e4, dp_half_cauchy(2.5));
}

static dp_dataset *log_earnings(const posterior_text *t, dp_model *m)
{
    size_t n;
    double *x = posterior_numbers(t, "height", &n), *y = posterior_numbers(t, "earn", NULL);
    dp_plate rows = dp_unit_plate(m, "rows");
    for (size_t i = 0; i < n; i++)
        y[i] = log(y[i]);
    dp_expr beta = dp_sample(m, "beta", 2, flat(1000));
    observe_linear(rows, 2, beta, dp_sample(m, "sigma", 1, flat_positive(100)));
    return linear(m, n, 2, with_intercept(n, x), y);
}

static dp_dataset *mesquite(const posterior_text *t, dp_model *m)
{
    size_t n;
    double *weight = posterior_numbers(t, "weight", &n), *a = posterior_numbers(t, "diam1", NULL);
    double *b = posterior_numbers(t, "diam2", NULL),
           *c = posterior_numbers(t, "canopy_height", NULL);
    dp_plate rows = dp_unit_plate(m, "rows");
    for (size_t i = 0; i < n; i++) {
        weight[i] = log(weight[i]);
        a[i] = log(a[i] * b[i] * c[i]);
    }
    dp_expr beta = dp_sample(m, "beta", 2, flat(1000));
    observe_linear(rows, 2, beta, dp_sample(m, "sigma", 1, flat_positive(100)));
    return linear(m, n, 2, with_intercept(n, a), weight);
}

static dp_dataset *interaction(const posterior_text *t, dp_model *m)
{
    size_t n;
    double *hs = posterior_numbers(t, "mom_hs", &n), *iq = posterior_numbers(t, "mom_iq", NULL);
    double *x = calloc(4 * n, sizeof *x);
    dp_plate rows = dp_unit_plate(m, "rows");
    for (size_t i = 0; i < n; i++) {
        x[4 * i] = 1, x[4 * i + 1] = hs[i], x[4 * i + 2] = iq[i];
        x[4 * i + 3] = hs[i] * iq[i];
    }
    dp_expr beta = dp_sample(m, "beta", 4, flat(1e4));
    observe_linear(rows, 4, beta, dp_sample(m, "sigma", 1, dp_half_cauchy(2.5)));
    return linear(m, n, 4, x, posterior_numbers(t, "kid_score", NULL));
}

static dp_dataset *nes(const posterior_text *t, dp_model *m)
{
    size_t n;
    double *age = posterior_numbers(t, "age_discrete", &n), *x = calloc(9 * n, sizeof *x);
    static const char *const before[] = {"real_ideo", "race_adj"}, *const after[] = {
                                                                       "educ1", "gender", "income"};
    dp_plate rows = dp_unit_plate(m, "rows");
    for (size_t i = 0; i < n; i++) {
        x[9 * i] = 1;
        for (int k = 2; k <= 4; k++)
            x[9 * i + 1 + (size_t)k] = age[i] == k;
    }
    for (int k = 0; k < 5; k++) {
        double *column = posterior_numbers(t, k < 2 ? before[k] : after[k - 2], NULL);
        for (size_t i = 0; i < n; i++)
            x[9 * i + (size_t)(k < 2 ? 1 + k : 4 + k)] = column[i];
    }
    dp_expr beta = dp_sample(m, "beta", 9, flat(1000));
    observe_linear(rows, 9, beta, dp_sample(m, "sigma", 1, flat_positive(100)));
    return linear(m, n, 9, x, posterior_numbers(t, "partyid7", NULL));
}

static dp_dataset *blr(const posterior_text *t, dp_model *m)
{
    size_t n;
    double *y = posterior_numbers(t, "y", &n);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr beta = dp_sample(m, "beta", 5, dp_normal(0, 10));
    observe_linear(rows, 5, beta, dp_sample(m, "sigma", 1, dp_half_normal(10)));
    return linear(m, n, 5, posterior_numbers(t, "X", NULL), y);
}

static dp_dataset *kilpisjarvi(const posterior_text *t, dp_model *m)
{
    size_t n;
    double *x = posterior_numbers(t, "x", &n);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr alpha = dp_sample(
        m, "alpha", 1, dp_normal(posterior_number(t, "pmualpha"), posterior_number(t, "psalpha")));
    dp_expr beta = dp_sample(
        m, "beta", 1, dp_normal(posterior_number(t, "pmubeta"), posterior_number(t, "psbeta")));
    dp_expr sigma = dp_sample(m, "sigma", 1, flat_positive(1000));
    dp_expr eta = dp_add(alpha, dp_mul(beta, dp_data(rows, "x", 1)));
    dp_observe(rows, "y", dp_normal_v(eta, sigma));
    return linear(m, n, 1, x, posterior_numbers(t, "y", NULL));
}

/* y ~ Bernoulli(logistic(alpha + beta x)) */
static dp_dataset *logit(dp_model *m, size_t n, const double *x, const double *y)
{
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr alpha = dp_sample(m, "alpha", 1, flat(1000));
    dp_expr beta = dp_sample(m, "beta", 1, flat(1000));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_add(alpha, dp_mul(beta, dp_data(rows, "x", 1)))));
    return linear(m, n, 1, x, y);
}

static dp_dataset *wells(const posterior_text *t, dp_model *m)
{
    size_t n;
    double *x = posterior_numbers(t, "dist", &n);
    for (size_t i = 0; i < n; i++)
        x[i] /= 100;
    return logit(m, n, x, posterior_numbers(t, "switched", NULL));
}

static dp_dataset *vote(const posterior_text *t, dp_model *m)
{
    size_t n;
    double *x = posterior_numbers(t, "income", &n);
    return logit(m, n, x, posterior_numbers(t, "vote", NULL));
}

static dp_dataset *binomial(const posterior_text *t, dp_model *m)
{
    size_t n;
    double *year = posterior_numbers(t, "year", &n);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr a = dp_sample(m, "alpha", 1, dp_normal(0, 100));
    dp_expr b1 = dp_sample(m, "beta1", 1, dp_normal(0, 100));
    dp_expr b2 = dp_sample(m, "beta2", 1, dp_normal(0, 100)), x = dp_data(rows, "year", 1);
    dp_expr eta = dp_add(a, dp_add(dp_mul(b1, x), dp_mul(b2, dp_square(x))));
    dp_observe(rows, "C", dp_binomial_logit(dp_data(rows, "N", 1), eta));
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_real(data, "year", 1, year);
    dp_dataset_real(data, "N", 1, posterior_numbers(t, "N", NULL));
    dp_dataset_real(data, "C", 1, posterior_numbers(t, "C", NULL));
    return data;
}

/* Records are the years from the sixth on, predictors the five before. */
static dp_dataset *autoregression(const posterior_text *t, dp_model *m)
{
    enum { K = 5 };
    size_t n;
    double *y = posterior_numbers(t, "y", &n), *x = calloc(K * n, sizeof *x);
    for (size_t i = K; i < n; i++)
        for (size_t k = 0; k < K; k++)
            x[K * (i - K) + k] = y[i - 1 - k];
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr alpha = dp_sample(m, "alpha", 1, dp_normal(0, 10));
    dp_expr beta = dp_sample(m, "beta", K, dp_normal(0, 10));
    dp_expr sigma = dp_sample(m, "sigma", 1, dp_half_cauchy(2.5));
    dp_expr mean = dp_add(alpha, dp_dot(dp_data(rows, "x", K), beta));
    dp_observe(rows, "y", dp_normal_v(mean, sigma));
    return linear(m, n - K, K, x, y + K);
}

const posterior_problem posterior_regressions[] = {
    {"earnings-earn_height", earnings},
    {"earnings-logearn_height", log_earnings},
    {"kidiq-kidscore_momiq", kid_score},
    {"kidiq-kidscore_interaction", interaction},
    {"kilpisjarvi_mod-kilpisjarvi", kilpisjarvi},
    {"mesquite-logmesquite_logvolume", mesquite},
    {"nes1980-nes", nes},
    {"sblrc-blr", blr},
    {"wells_data-wells_dist100_model", wells},
    {"nes_logit_data-nes_logit_model", vote},
    {"GLM_Binomial_data-GLM_Binomial_model", binomial},
    {"arK-arK", autoregression},
};
const size_t n_posterior_regressions =
    sizeof posterior_regressions / sizeof posterior_regressions[0];
