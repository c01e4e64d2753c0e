/* Posteriors of posteriordb that are no plain regressions: groups, series, processes. */
#include <math.h>
#include <stdlib.h>

#include "posteriordb.h"

static dp_dataset *eight_schools(const posterior_text *t, dp_model *m)
{
    enum { SCHOOLS = 8 };
    static const int32_t school[SCHOOLS] = {0, 1, 2, 3, 4, 5, 6, 7};
    dp_plate rows = dp_unit_plate(m, "rows"), schools = dp_plate_new(m, "schools", SCHOOLS);
    dp_expr mu = dp_sample(m, "mu", 1, dp_normal(0, 5));
    dp_expr tau = dp_sample(m, "tau", 1, dp_half_cauchy(5));
    dp_expr theta = dp_sample_in(schools, "theta", 1, dp_normal_v(mu, tau));
    dp_expr mine = dp_pick(theta, dp_index(rows, "school", schools));
    dp_observe(rows, "y", dp_normal_v(mine, dp_data(rows, "sigma", 1)));
    dp_dataset *data = dp_dataset_new(SCHOOLS);
    dp_dataset_index(data, "school", school);
    dp_dataset_real(data, "sigma", 1, posterior_numbers(t, "sigma", NULL));
    dp_dataset_real(data, "y", 1, posterior_numbers(t, "y", NULL));
    return data;
}

static dp_dataset *radon(const posterior_text *t, dp_model *m)
{
    size_t n;
    double *y = posterior_numbers(t, "log_radon", &n);
    dp_plate rows = dp_unit_plate(m, "rows"), counties = dp_plate_new(m, "counties", 85);
    dp_expr mu = dp_sample(m, "mu_alpha", 1, dp_normal(0, 10));
    dp_expr tau = dp_sample(m, "sigma_alpha", 1, dp_half_normal(1));
    dp_expr alpha = dp_sample_in(counties, "alpha", 1, dp_normal_v(mu, tau));
    dp_expr b = dp_sample(m, "beta", 2, dp_normal(0, 10));
    dp_expr sigma = dp_sample(m, "sigma_y", 1, dp_half_normal(1));
    dp_expr uranium = dp_mul(dp_slice(b, 0, 1), dp_data(rows, "log_uppm", 1));
    dp_expr floor = dp_mul(dp_slice(b, 1, 1), dp_data(rows, "floor", 1));
    dp_expr mine = dp_pick(alpha, dp_index(rows, "county", counties));
    dp_observe(rows, "y", dp_normal_v(dp_add(mine, dp_add(uranium, floor)), sigma));
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_index(data, "county", posterior_groups(t, "county_idx", NULL));
    dp_dataset_real(data, "log_uppm", 1, posterior_numbers(t, "log_uppm", NULL));
    dp_dataset_real(data, "floor", 1, posterior_numbers(t, "floor_measure", NULL));
    dp_dataset_real(data, "y", 1, y);
    return data;
}

/* A record is the series; a loop in C is the loop over time. */
static dp_dataset *arma(const posterior_text *t, dp_model *m)
{
    size_t n;
    double *series = posterior_numbers(t, "y", &n);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr mu = dp_sample(m, "mu", 1, dp_normal(0, 10)),
            phi = dp_sample(m, "phi", 1, dp_normal(0, 2));
    dp_expr theta = dp_sample(m, "theta", 1, dp_normal(0, 2));
    dp_expr sigma = dp_sample(m, "sigma", 1, dp_half_cauchy(2.5));
    dp_expr y = dp_data(rows, "y", n), mean = dp_add(mu, dp_mul(phi, mu)), sum = dp_num(0);
    for (size_t k = 0; k < n; k++) {
        dp_expr now = dp_slice(y, k, 1), error = dp_sub(now, mean);
        sum = dp_add(sum, dp_log_density(dp_normal_v(dp_num(0), sigma), error));
        mean = dp_add(dp_add(mu, dp_mul(phi, now)), dp_mul(theta, error));
    }
    dp_factor(rows, "series", sum);
    dp_dataset *data = dp_dataset_new(1);
    dp_dataset_real(data, "y", n, series);
    return data;
}

/* Flat on 0 < alpha1 < 1, 0 < beta1 < 1 - alpha1. */
static dp_dataset *garch(const posterior_text *t, dp_model *m)
{
    size_t n;
    double *series = posterior_numbers(t, "y", &n), sigma1 = posterior_number(t, "sigma1");
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr mu = dp_sample(m, "mu", 1, dp_uniform(-1e3, 1e3));
    dp_expr alpha0 = dp_sample(m, "alpha0", 1, dp_uniform(0, 1e3));
    dp_expr alpha1 = dp_sample(m, "alpha1", 1, dp_beta(1, 2));
    dp_expr beta1 = dp_mul(dp_sub(dp_num(1), alpha1), dp_sample(m, "share", 1, dp_beta(1, 1)));
    dp_expr y = dp_data(rows, "y", n), sum = dp_num(0), variance = dp_num(sigma1 * sigma1);
    dp_deterministic(m, "beta1", beta1);
    for (size_t k = 0; k < n; k++) {
        dp_expr now = dp_slice(y, k, 1), square = dp_square(dp_sub(now, mu));
        sum = dp_add(sum, dp_log_density(dp_normal_v(mu, dp_sqrt(variance)), now));
        variance = dp_add(alpha0, dp_add(dp_mul(alpha1, square), dp_mul(beta1, variance)));
    }
    dp_factor(rows, "series", sum);
    dp_dataset *data = dp_dataset_new(1);
    dp_dataset_real(data, "y", n, series);
    return data;
}

/* alpha^2 e^(-(x_i - x_j)^2 / (2 rho^2)) with `more` on the diagonal. */
static dp_expr covariance(dp_model *m, size_t n, const double *x, dp_expr more)
{
    double *square = calloc(n * n, sizeof *square);
    for (size_t i = 0; square != NULL && i < n; i++)
        for (size_t j = 0; j < n; j++)
            square[i * n + j] = -(x[i] - x[j]) * (x[i] - x[j]) / 2;
    dp_expr rho = dp_sample(m, "rho", 1, dp_gamma(25, 4));
    dp_expr alpha = dp_sample(m, "alpha", 1, dp_half_normal(2));
    dp_expr kernel = dp_exp(dp_div(dp_constant_matrix(m, n, n, square), dp_square(rho)));
    free(square);
    return dp_add(dp_mul(dp_square(alpha), kernel), dp_mul(more, dp_identity_matrix(m, n)));
}

static dp_dataset *gp_counts(const posterior_text *t, dp_model *m)
{
    enum { POINTS = 11 };
    static const int32_t point[POINTS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    size_t n;
    double *x = posterior_numbers(t, "x", &n);
    dp_plate rows = dp_unit_plate(m, "rows"), points = dp_plate_new(m, "points", POINTS);
    dp_expr l = dp_cholesky(covariance(m, POINTS, x, dp_num(1e-10)));
    dp_expr f = dp_matmul(l, dp_sample(m, "z", POINTS, dp_normal(0, 1)));
    dp_deterministic(m, "f", f);
    dp_observe(rows, "k", dp_poisson_log(dp_pick(f, dp_index(rows, "point", points))));
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_index(data, "point", point);
    dp_dataset_real(data, "k", 1, posterior_numbers(t, "k", NULL));
    return data;
}

static dp_dataset *gp_numbers(const posterior_text *t, dp_model *m)
{
    size_t n;
    double *x = posterior_numbers(t, "x", &n);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr sigma = dp_sample(m, "sigma", 1, dp_half_normal(1)), zero = dp_num(0);
    dp_observe(rows, "y", dp_multivariate_normal_covariance(zero, covariance(m, n, x, sigma)));
    dp_dataset *data = dp_dataset_new(1);
    dp_dataset_real(data, "y", n, posterior_numbers(t, "y", NULL));
    return data;
}

/* mu[0] < mu[1] is 30 standard deviations of the posterior from being false. */
static dp_dataset *hidden_markov(const posterior_text *t, dp_model *m)
{
    static const double even[2] = {0, 0};
    size_t n;
    double *series = posterior_numbers(t, "y", &n);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr theta1 = dp_sample(m, "theta1", 2, dp_dirichlet(1));
    dp_expr theta2 = dp_sample(m, "theta2", 2, dp_dirichlet(1));
    dp_expr mu = dp_concat(dp_sample(m, "mu1", 1, dp_normal(3, 1)),
                           dp_sample(m, "mu2", 1, dp_normal(10, 1)));
    dp_expr y = dp_spread(dp_data(rows, "y", n), 2);
    dp_expr change = dp_reshape(dp_log(dp_concat(theta1, theta2)), 2, 2);
    dp_deterministic(m, "mu", mu);
    dp_factor(
        rows, "chain",
        dp_forward(dp_constant(m, 2, even), change, dp_log_density(dp_normal_v(mu, dp_num(1)), y)));
    dp_dataset *data = dp_dataset_new(1);
    dp_dataset_real(data, "y", n, series);
    return data;
}

/* d log(u, v) / dt = b + A (u, v). */
static dp_expr slope(dp_expr state, dp_expr a, dp_expr b)
{
    return dp_add(b, dp_matmul(a, dp_exp(state)));
}

/* The classical method of Runge and Kutta in logarithms, four steps a year: 1e-4 of the values. */
static dp_expr one_year(dp_expr state, dp_expr a, dp_expr b)
{
    enum { STEPS = 4 };
    double h = 1.0 / STEPS;
    for (int k = 0; k < STEPS; k++) {
        dp_expr k1 = slope(state, a, b), k2 = slope(dp_add(state, dp_scale(h / 2, k1)), a, b);
        dp_expr k3 = slope(dp_add(state, dp_scale(h / 2, k2)), a, b);
        dp_expr k4 = slope(dp_add(state, dp_scale(h, k3)), a, b);
        dp_expr middle = dp_scale(2, dp_add(k2, k3));
        state = dp_add(state, dp_scale(h / 6, dp_add(dp_add(k1, k4), middle)));
    }
    return state;
}

static dp_dataset *lynx_and_hare(const posterior_text *t, dp_model *m)
{
    enum { YEARS = 21 };
    static const double signs[4] = {0, -1, 1, 0}, of_b[4] = {1, 0, 0, -1},
                        mean[4] = {1, .05, 1, .05}, sd[4] = {.5, .05, .5, .05};
    static int32_t year[YEARS];
    static double y[2 * YEARS];
    const double *first = posterior_numbers(t, "y_init", NULL),
                 *rest = posterior_numbers(t, "y", NULL);
    dp_plate rows = dp_unit_plate(m, "rows"), years = dp_plate_new(m, "years", YEARS);
    dp_expr theta =
        dp_sample(m, "theta", 4, dp_normal_v(dp_constant(m, 4, mean), dp_constant(m, 4, sd)));
    dp_expr start = dp_sample(m, "z_init", 2, dp_log_normal(log(10), 1));
    dp_expr sigma = dp_sample(m, "sigma", 2, dp_log_normal(-1, 1));
    dp_expr predator = dp_slice(theta, 3, 1), eaten = dp_slice(theta, 1, 1);
    dp_expr both = dp_concat(dp_concat(dp_num(0), eaten), dp_concat(predator, dp_num(0)));
    dp_expr a = dp_mul(dp_constant_matrix(m, 2, 2, signs), dp_reshape(both, 2, 2));
    dp_expr growth = dp_concat(dp_slice(theta, 0, 1), dp_slice(theta, 2, 1));
    dp_expr b = dp_matmul(dp_constant_matrix(m, 2, 2, of_b), growth);
    dp_expr state = dp_log(start), all = state;
    for (int k = 1; k < YEARS; k++) {
        state = one_year(state, a, b);
        all = dp_concat(all, state);
    }
    dp_expr mine = dp_pick(dp_reshape(all, YEARS, 2), dp_index(rows, "year", years));
    dp_observe(rows, "y", dp_log_normal_v(mine, sigma));
    for (int k = 0; k < YEARS; k++) {
        year[k] = k;
        for (int j = 0; j < 2; j++)
            y[2 * k + j] = k == 0 ? first[j] : rest[2 * (k - 1) + j];
    }
    dp_dataset *data = dp_dataset_new(YEARS);
    dp_dataset_index(data, "year", year);
    dp_dataset_real(data, "y", 2, y);
    return data;
}

static dp_dataset *two_components(const posterior_text *t, dp_model *m)
{
    size_t n;
    double *y = posterior_numbers(t, "y", &n);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr mu = dp_sample(m, "mu", 2, dp_ordered(dp_normal(0, 2)));
    dp_expr sigma = dp_sample(m, "sigma", 2, dp_half_normal(2));
    dp_expr theta = dp_sample(m, "theta", 1, dp_beta(5, 5));
    dp_expr weights = dp_concat(theta, dp_sub(dp_num(1), theta));
    dp_observe(rows, "y", dp_mixture(weights, dp_normal_v(mu, sigma)));
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_real(data, "y", 1, y);
    return data;
}

const posterior_problem posterior_structures[] = {
    {"arma-arma11", arma},
    {"garch-garch11", garch},
    {"gp_pois_regr-gp_pois_regr", gp_counts},
    {"gp_pois_regr-gp_regr", gp_numbers},
    {"hmm_example-hmm_example", hidden_markov},
    {"hudson_lynx_hare-lotka_volterra", lynx_and_hare},
    {"low_dim_gauss_mix-low_dim_gauss_mix", two_components},
    {"eight_schools-eight_schools_noncentered", eight_schools},
    {"radon_mn-radon_hierarchical_intercept_noncentered", radon},
};
const size_t n_posterior_structures = sizeof posterior_structures / sizeof posterior_structures[0];
