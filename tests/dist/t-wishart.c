/* Cholesky factors of covariances, and Wishart's distribution of them and its inverse; values and
 * gradients against the reference are in t-joint.
 *
 * Statistical tests are by Massart's bound (joint.h): 1e-11 for each of the 12 comparisons here;
 * seeds are fixed. */
#include <gsl/gsl_cdf.h>
#include <math.h>

#include "base/alloc.h"
#include "dist/family.h"
#include "tests/dist/bijector.h"
#include "tests/dist/joint.h"

static const dpi_family *const both[2] = {&dpi_wishart_cholesky, &dpi_inverse_wishart_cholesky};

/* ---- the bijector ---- */

static void its_jacobian_matches_differences_and_it_is_undone(void **state)
{
    (void)state;
    static const double points[][6] = {{0.713, -1.391, 0.217, 1.1, -0.3, 0.9},
                                       {-2.1, 170, -0.9, 0.2, 0.1, -1.3},
                                       {0, 0, 0, 0, 0, 0}};
    for (size_t k = 1; k <= 3; k++) {
        size_t at[6], n = 0;
        for (size_t e = 0; e < k * k; e++)
            if (e % k <= e / k)
                at[n++] = e;
        for (size_t p = 0; p < 3; p++)
            bijector_check(DPI_COVARIANCE_FACTOR, k, at, points[p], 1e-12);
    }
}

static void factors_are_factors_however_far_z_is(void **state)
{
    (void)state;
    const dpi_row_support *rows = dpi_supports[DPI_COVARIANCE_FACTOR].rows;
    bijector b;
    bijector_open(&b, DPI_COVARIANCE_FACTOR, 1, 3);
    for (double far = 0.1; far < 1e6; far *= 3) {
        const double z[6] = {-far, far, fmin(far, 700), 0.3 * far, -far, 0.4};
        const double *x = bijector_at(&b, z);
        assert_null(rows->wrong(3, x, 0));
        assert_close(x[0], fmax(exp(-far), 0x1p-1022), 1e-15, 0);
        assert_true(x[3] == far && x[6] == 0.3 * far && x[7] == -far);
        assert_close(*dpi_run_value(b.run, b.log_jacobian), z[0] + z[2] + z[5], 1e-15, 1e-15);
    }
    bijector_close(&b);
    assert_null(rows->wrong(2, (const double[]){2, 0, -3, 1}, 0));
    assert_non_null(rows->wrong(2, (const double[]){2, 0.1, -3, 1}, 0));
    assert_non_null(rows->wrong(2, (const double[]){2, 0, -3, 0}, 0));
    assert_non_null(rows->wrong(2, (const double[]){NAN, 0, -3, 1}, 0));
}

/* ---- the families ---- */

/* W of one number is gamma, or inverse gamma: of L = sqrt(W) that times 2 L. */
static void one_number_is_gamma_or_its_inverse(void **state)
{
    (void)state;
    static const dpi_family *const of_one[2] = {&dpi_gamma, &dpi_inverse_gamma};
    const double s = 1.7, df = 3.3;
    for (size_t f = 0; f < 2; f++) {
        joint j;
        density d;
        joint_open(&j, both[f], 1, (const char *[]){"", "1x1"}, false);
        density_open(&d, case_of(of_one[f]), false);
        for (double l = 0.01; l < 30; l *= 1.7) {
            const double arg[] = {0.5 * df, f == 0 ? 0.5 / (s * s) : 0.5 * s * s};
            assert_close(joint_at(&j, (const double[]){l, df, s}, NULL),
                         density_at(&d, l * l, arg, NULL) + log(2 * l), 1e-12, 1e-12);
        }
        density_close(&d);
        joint_close(&j);
    }
}

/* Of two by two, over z with the Jacobian, by the trapezoidal rule; the number below the diagonal
 * is normal, given those on it, and measured from its mean in its standard deviation. */
static void densities_normalise_on_their_free_numbers(void **state)
{
    (void)state;
    static const double df[] = {2.6, 5.3};
    for (size_t f = 0; f < 2; f++)
        for (size_t i = 0; i < 2; i++) {
            joint j;
            double step = 0.2, sum = 0, at[8] = {0, 0, 0, df[i], 0.9, 0, -0.4, 0.7};
            joint_open(&j, both[f], 4, (const char *[]){"", "2x2"}, true);
            for (at[0] = -12; at[0] < 14; at[0] += step)
                for (at[2] = -12; at[2] < 14; at[2] += step) {
                    double wide = f == 0 ? 0.7 : exp(at[0] + at[2]) / 0.9;
                    for (double t = -3; t < 3; t += step) {
                        at[1] = -0.4 / 0.9 * exp(at[0]) + wide * sinh(t);
                        sum += exp(joint_at(&j, at, NULL)) * wide * cosh(t);
                    }
                }
            sum *= step * step * step;
            assert_close(sum, 1, 1e-6, 0);
            joint_close(&j);
        }
}

static void too_few_degrees_have_no_density(void **state)
{
    (void)state;
    dp_rng *rng;
    gsl_rng source = source_of(3, &rng);
    for (size_t f = 0; f < 2; f++) {
        joint j;
        joint_open(&j, both[f], 4, (const char *[]){"", "2x2"}, false);
        for (double df = 0.1; df < 1; df += 0.2) {
            const double at[] = {1, 0, 0.3, 2, df, 1, 0, 0, 1}, *const arg[] = {at + 4, at + 5};
            double x[4] = {0};
            assert_true(isnan(joint_at(&j, at, NULL)));
            dpi_draw_site(both[f], &source, arg, (const size_t[]){1, 4}, 4, 4, x);
            for (size_t k = 0; k < 4; k++)
                assert_true(isnan(x[k]));
        }
        const double bad[] = {1, 0, 0.3, 2, 3, 1, 0, 0, -1}, *const arg[] = {bad + 4, bad + 5};
        double x[4] = {0};
        assert_true(isnan(joint_at(&j, bad, NULL)));
        dpi_draw_site(both[f], &source, arg, (const size_t[]){1, 4}, 4, 4, x);
        assert_true(isnan(x[0]));
        joint_close(&j);
    }
    dp_rng_free(rng);
}

static double chi_squared(double x, const double *df)
{
    return gsl_cdf_chisq_P(x, *df);
}

/* u'W u / u'V u is chi-squared with df for W of Wishart; u'V u / u'W u for the inverse with
 * df - K + 1. */
static double form(size_t k, const double *l, const double *u)
{
    double sum = 0;
    for (size_t j = 0; j < k; j++) {
        double of_column = 0;
        for (size_t i = j; i < k; i++)
            of_column += u[i] * l[i * k + j];
        sum += of_column * of_column;
    }
    return sum;
}

static void drawn_forms_are_chi_squared(void **state)
{
    (void)state;
    enum { K = 3 };
    static const double scale[K * K] = {0.9, 7, -7.1, -0.4, 1.7, 7.2, 0.3, 0.6, 1.1};
    static const double along[][K] = {{1, 0, 0}, {0, 0, 1}, {0.3, -1.1, 0.7}};
    static const double df[] = {2.3, 7.9};
    double *x = dpi_alloc((size_t)K * K * N_DRAWS, sizeof *x),
           *made = dpi_alloc(N_DRAWS, sizeof *made);
    for (size_t f = 0; f < 2; f++)
        for (size_t t = 0; t < 2; t++) {
            const double *const arg[] = {&df[t], scale}, nu = f == 0 ? df[t] : df[t] - K + 1;
            dp_rng *rng;
            gsl_rng source = source_of(81 + t, &rng);
            dpi_draw_site(both[f], &source, arg, (const size_t[]){1, K * K},
                          (size_t)K * K * N_DRAWS, (size_t)K * K, x);
            for (size_t u = 0; u < 3; u++) {
                double of_scale = form(K, scale, along[u]);
                for (size_t d = 0; d < N_DRAWS; d++) {
                    double own = form(K, x + d * K * K, along[u]);
                    made[d] = f == 0 ? own / of_scale : of_scale / own;
                }
                assert_drawn_from(made, chi_squared, &nu);
            }
            assert_null(dpi_supports[DPI_COVARIANCE_FACTOR].rows->wrong(K, x, 0));
            dp_rng_free(rng);
        }
    dpi_free(x);
    dpi_free(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_jacobian_matches_differences_and_it_is_undone),
        cmocka_unit_test(factors_are_factors_however_far_z_is),
        cmocka_unit_test(one_number_is_gamma_or_its_inverse),
        cmocka_unit_test(densities_normalise_on_their_free_numbers),
        cmocka_unit_test(too_few_degrees_have_no_density),
        cmocka_unit_test(drawn_forms_are_chi_squared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
