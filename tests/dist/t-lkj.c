/* Cholesky factors of correlations and the distribution of them; values and gradients against the
 * reference are in t-joint.
 *
 * Statistical tests are by Massart's bound (joint.h): 1e-11 for each of the 12 comparisons here;
 * seeds are fixed. */
#include <gsl/gsl_cdf.h>
#include <math.h>

#include "base/alloc.h"
#include "dist/family.h"
#include "tests/dist/bijector.h"
#include "tests/dist/joint.h"

/* ---- the bijector ---- */

static void its_jacobian_matches_differences_and_it_is_undone(void **state)
{
    (void)state;
    static const double points[][6] = {{0.713, -1.391, 0.217, 1.1, -0.3, 0.9},
                                       {-2.1, 1.7, -0.9, 0.2, 0.1, -1.3},
                                       {0, 0, 0, 0, 0, 0}};
    for (size_t k = 2; k <= 4; k++) {
        size_t at[6], n = 0;
        for (size_t e = 0; e < k * k; e++)
            if (e % k < e / k)
                at[n++] = e;
        for (size_t p = 0; p < 3; p++)
            bijector_check(DPI_CORRELATION_FACTOR, k, at, points[p], 1e-12);
    }
}

static void factors_are_factors_however_far_z_is(void **state)
{
    (void)state;
    const dpi_row_support *rows = dpi_supports[DPI_CORRELATION_FACTOR].rows;
    bijector b;
    bijector_open(&b, DPI_CORRELATION_FACTOR, 1, 4);
    for (double far = 0.1; far < 1e6; far *= 3) {
        const double z[6] = {far, -far, 0.3, 0.7 * far, far, -0.1};
        const double *x = bijector_at(&b, z);
        assert_null(rows->wrong(4, x, 1e-13));
        assert_close(x[4], tanh(far), 1e-15, 0);
        assert_true(isfinite(*dpi_run_value(b.run, b.log_jacobian)));
    }
    bijector_close(&b);
    assert_null(rows->wrong(2, (const double[]){1, 0, 0.6, 0.8}, 1e-15));
    assert_non_null(rows->wrong(2, (const double[]){1, 0.1, 0.6, 0.8}, 1e-15));
    assert_non_null(rows->wrong(2, (const double[]){1, 0, 0.6, 0.7}, 1e-9));
    assert_non_null(rows->wrong(2, (const double[]){1, 0, 1, 0}, 1e-9));
    assert_non_null(rows->wrong(2, (const double[]){1, 0, NAN, 0.8}, 1e-9));
}

/* ---- the family ---- */

/* Of two, over one z; of three, over the cube; the trapezoidal rule on analytic functions. */
static void densities_normalise_on_their_free_numbers(void **state)
{
    (void)state;
    static const double eta[] = {0.7, 1, 3.1};
    for (size_t i = 0; i < 3; i++) {
        joint j;
        double step = 0.25, sum = 0, number[] = {0, 0, 0, eta[i]}, of_two[] = {0, eta[i]};
        joint_open(&j, &dpi_lkj_cholesky, 4, (const char *[]){""}, true);
        for (of_two[0] = -30; of_two[0] < 30; of_two[0] += 0.1)
            sum += exp(joint_at(&j, of_two, NULL)) * 0.1;
        assert_close(sum, 1, 1e-10, 0);
        joint_close(&j);
        joint_open(&j, &dpi_lkj_cholesky, 9, (const char *[]){""}, true);
        sum = 0;
        for (number[0] = -12; number[0] < 12; number[0] += step)
            for (number[1] = -12; number[1] < 12; number[1] += step)
                for (number[2] = -12; number[2] < 12; number[2] += step)
                    sum += exp(joint_at(&j, number, NULL)) * step * step * step;
        assert_close(sum, 1, 1e-6, 0);
        joint_close(&j);
    }
}

/* A correlation of K is 2 Beta(a, a) - 1 with a = eta + (K - 2) / 2. */
static double correlation(double r, const double *a)
{
    return gsl_cdf_beta_P(0.5 * (1 + r), *a, *a);
}

static void drawn_correlations_have_beta_margins(void **state)
{
    (void)state;
    enum { K = 4 };
    static const double eta[] = {0.4, 2.3};
    double *x = dpi_alloc((size_t)K * K * N_DRAWS, sizeof *x),
           *made = dpi_alloc(N_DRAWS, sizeof *made);
    for (size_t t = 0; t < 2; t++) {
        const double *const arg[] = {&eta[t]}, a = eta[t] + 0.5 * (K - 2);
        dp_rng *rng;
        gsl_rng source = source_of(51 + t, &rng);
        dpi_draw_site(&dpi_lkj_cholesky, &source, arg, (const size_t[]){1}, (size_t)K * K * N_DRAWS,
                      (size_t)K * K, x);
        for (size_t p = 0; p < (size_t)K * K; p++) {
            size_t i = p / K, j = p % K;
            if (j >= i)
                continue;
            for (size_t d = 0; d < N_DRAWS; d++) {
                const double *l = x + d * K * K;
                assert_true(p > 4 ||
                            dpi_supports[DPI_CORRELATION_FACTOR].rows->wrong(K, l, 1e-14) == NULL);
                made[d] = 0;
                for (size_t k = 0; k <= j; k++)
                    made[d] += l[i * K + k] * l[j * K + k];
            }
            assert_drawn_from(made, correlation, &a);
        }
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
        cmocka_unit_test(densities_normalise_on_their_free_numbers),
        cmocka_unit_test(drawn_correlations_have_beta_margins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
