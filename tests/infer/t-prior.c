/* Draws of a prior against its distribution functions.  Of the free numbers of each latent a
 * function is uniform on (0, 1) if all is right; chi-square of 20 bins, seeds fixed, a bound that
 * is passed by chance in 1e-9.  Latents with arguments of latents are put in units of these. */
#include "infer/prior.h"
#include "infer/view.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_bessel.h>
#include <math.h>
#include <stdlib.h>

#include <tacit/algebra.h>
#include <tacit/dist.h>
#include <tacit/model.h>
#include <tacit/multivariate.h>

#include "tests/lib/check.h"

enum { DRAWS = 10000, BINS = 20, MEMBERS = 3, D = 4 + MEMBERS + 2 + 2 + 1 + 2 + 1 + 1 + 2 };

/* theta: mu, tau, share, between, b[3], weights[2], far[2], size, cut[2], l, turn, way[2] */
static dp_model *make(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", MEMBERS);
    dp_expr mu = dp_sample(m, "mu", 1, dp_normal(3, 2));
    dp_expr tau = dp_sample(m, "tau", 1, dp_half_normal(0.7));
    dp_expr share = dp_sample(m, "share", 1, dp_beta(2, 3));
    dp_expr between = dp_sample(m, "between", 1, dp_uniform(-2, 5));
    dp_expr b = dp_sample_in(groups, "b", 1, dp_normal_v(mu, tau));
    dp_expr weights = dp_sample(m, "weights", 3, dp_dirichlet(1.5));
    dp_expr far = dp_sample(m, "far", 2, dp_cauchy_v(between, share));
    dp_expr size = dp_sample(m, "size", 1, dp_pareto(0.3, 1.7));
    dp_expr cut = dp_sample(m, "cut", 2, dp_ordered(dp_normal(1, 2)));
    dp_expr l = dp_sample(m, "l", 2, dp_lkj_cholesky(1));
    dp_expr turn = dp_sample(m, "turn", 1, dp_von_mises(1, 1.5));
    dp_expr way = dp_sample(m, "way", 3, dp_unit_vector());
    dp_expr sum =
        dp_add(dp_pick(b, dp_index(rows, "g", groups)), dp_add(dp_sum(weights), dp_sum(way)));
    dp_observe(
        rows, "y",
        dp_normal_v(dp_add(sum, dp_add(dp_sum(far),
                                       dp_add(dp_sum(cut), dp_add(turn, dp_cholesky_log_det(l))))),
                    size));
    return m;
}

static double logistic(double z)
{
    return 1 / (1 + exp(-z));
}

/* First number of the simplex that z stands for, its logits by the columns of the contrast. */
static void simplex(const double *z, double *x)
{
    double logits[3] = {z[0] / sqrt(2) + z[1] / sqrt(6), -z[0] / sqrt(2) + z[1] / sqrt(6),
                        -2 * z[1] / sqrt(6)};
    double sum = exp(logits[0]) + exp(logits[1]) + exp(logits[2]);
    for (int k = 0; k < 3; k++)
        x[k] = exp(logits[k]) / sum;
}

/* The Fourier series of dp_von_mises(1, 1.5)'s distribution function. */
static double von_mises(double x)
{
    enum { TERMS = 20 };
    double bessel[TERMS + 1], sum = 0.5 * (x + M_PI);
    (void)gsl_sf_bessel_In_scaled_array(0, TERMS, 1.5, bessel);
    for (int j = 1; j <= TERMS; j++)
        sum += bessel[j] / bessel[0] * (sin(j * (x - 1)) + sin(j * (M_PI + 1))) / j;
    return sum / M_PI;
}

/* u[D + 1]: of the simplex all three numbers; of two in order the larger one's share of chances and
 * the smaller one's among those below the larger. */
static void transform(const double *z, double *u)
{
    double mu = z[0], tau = exp(z[1]), share = logistic(z[2]), between = 7 * logistic(z[3]) - 2,
           x[3];
    u[0] = gsl_cdf_ugaussian_P((mu - 3) / 2);
    u[1] = 2 * gsl_cdf_ugaussian_P(tau / 0.7) - 1;
    u[2] = gsl_cdf_beta_P(share, 2, 3);
    u[3] = (between + 2) / 7;
    for (int k = 0; k < MEMBERS; k++)
        u[4 + k] = gsl_cdf_ugaussian_P((z[4 + k] - mu) / tau);
    simplex(z + 7, x);
    for (int k = 0; k < 3; k++)
        u[7 + k] = gsl_cdf_beta_P(x[k], 1.5, 3);
    for (int k = 0; k < 2; k++)
        u[10 + k] = gsl_cdf_cauchy_P(z[9 + k] - between, share);
    double low = gsl_cdf_ugaussian_P((z[12] - 1) / 2),
           high = gsl_cdf_ugaussian_P((z[12] + exp(z[13]) - 1) / 2);
    u[13] = high * high;
    u[14] = low / high;
    u[15] = 0.5 * (1 + tanh(z[14])); /* the correlation is uniform */
    u[16] = von_mises(M_PI * tanh(0.5 * z[15]));
    double s = z[16] * z[16] + z[17] * z[17]; /* a number of three is uniform, from -1 to 1 */
    u[17] = 1 / (1 + s);
    u[18] = 0.5 + z[16] / (1 + s);
    u[12] = gsl_cdf_pareto_P(0.3 + exp(z[11]), 1.7, 0.3);
}

static double chi_square(size_t n, const double *count)
{
    double chi = 0, expected = (double)n / BINS;
    for (int k = 0; k < BINS; k++)
        chi += (count[k] - expected) * (count[k] - expected) / expected;
    return chi;
}

static void draws_are_those_of_the_prior(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_rng *rng;
    dpi_model_view view;
    dp_model *m = make();
    double *theta = calloc(DRAWS, D * sizeof *theta), count[D + 1][BINS] = {{0}}, u[D + 1];
    assert_non_null(theta);
    assert_ok(dpi_model_view_init(&view, m, &err), err.text);
    assert_int_equal(view.objective.n_theta, D);
    assert_ok(dp_rng_new(5, &rng, &err), err.text);
    assert_ok(dpi_prior_draw(m, view.objective.n_theta, DRAWS, rng, theta, &err), err.text);
    for (size_t t = 0; t < DRAWS; t++) {
        transform(theta + t * D, u);
        for (int k = 0; k <= D; k++) {
            assert_true(u[k] >= 0 && u[k] <= 1);
            count[k][(int)fmin(BINS - 1, u[k] * BINS)]++;
        }
    }
    for (int k = 0; k <= D; k++)
        assert_true(gsl_cdf_chisq_Q(chi_square(DRAWS, count[k]), BINS - 1) >= 1e-9);
    free(theta);
    dp_rng_free(rng);
    dpi_model_view_free(&view);
    dp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_are_those_of_the_prior),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
