/* The simplex and the distribution on it.
 *
 * Statistical tests are by Massart's bound (joint.h): 1e-11 for each of the 9 comparisons here;
 * seeds are fixed. */
#include "dist/family.h"

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tests/dist/bijector.h"
#include "tests/dist/joint.h"
#include "tests/lib/numbers.h"

/* ---- the bijector ---- */

static void the_jacobian_of_the_simplex_matches_differences(void **state)
{
    (void)state;
    static const double points[][3] = {{0.713, -1.391, 0.217}, {-2.1, 3.7, 0.9}, {0, 0, 0}};
    static const size_t at[] = {0, 1, 2};
    for (size_t k = 2; k <= 4; k++)
        for (size_t p = 0; p < 3; p++)
            bijector_check(DPI_SIMPLEX, k, at, points[p], 1e-13);
}

static void the_simplex_is_even_at_zero_and_treats_all_alike(void **state)
{
    (void)state;
    bijector b;
    bijector_open(&b, DPI_SIMPLEX, 1, 5);
    const double *x = bijector_at(&b, (double[4]){0});
    for (size_t k = 0; k < 5; k++)
        assert_close(x[k], 0.2, 2e-15, 0);
    /* An isometry: the logarithms of x, less their mean, are as long as z. */
    const double z[4] = {0.713, -1.391, 0.217, 2.1};
    double mean = 0, square = 0, length = 0;
    x = bijector_at(&b, z);
    for (size_t k = 0; k < 5; k++)
        mean += log(x[k]) / 5;
    for (size_t k = 0; k < 5; k++)
        square += (log(x[k]) - mean) * (log(x[k]) - mean);
    for (size_t k = 0; k < 4; k++)
        length += z[k] * z[k];
    assert_close(square, length, 1e-13, 0);
    bijector_close(&b);
}

static void the_simplex_is_not_left_however_far_z_is(void **state)
{
    (void)state;
    bijector b;
    bijector_open(&b, DPI_SIMPLEX, 3, 4);
    for (double scale = 1; scale < 1e6; scale *= 3)
        for (int sign = -1; sign <= 1; sign += 2) {
            const double z[9] = {sign * scale, 0.7 * scale, 0, 0, 0, scale * sign, -scale, 1, 0.3};
            const double *x = bijector_at(&b, z);
            for (size_t r = 0; r < 3; r++) {
                double sum = 0;
                for (size_t k = 0; k < 4; k++) {
                    assert_true(dpi_supports[DPI_SIMPLEX].contains(x[4 * r + k], 0, 0));
                    sum += x[4 * r + k];
                }
                assert_close(sum, 1, 0, 1e-15 * fmax(1, scale));
                assert_true(isfinite(dpi_run_value(b.run, b.log_jacobian)[r]));
            }
        }
    bijector_close(&b);
}

/* ---- Dirichlet ---- */

/* With the Jacobian, over the plane of z; and two categories are a Beta number. */
static void dirichlet_normalises_on_its_free_numbers(void **state)
{
    (void)state;
    joint j;
    double step = 0.1, sum = 0, number[] = {0, 0, 1.7, 2.3, 0.9};
    joint_open(&j, &dpi_dirichlet, 3, (const char *[]){"3"}, true);
    for (number[0] = -40; number[0] < 40; number[0] += step)
        for (number[1] = -40; number[1] < 40; number[1] += step)
            sum += exp(joint_at(&j, number, NULL)) * step * step;
    assert_close(sum, 1, 1e-9, 0);
    joint_close(&j);
    density d;
    double share[] = {0.317, 0.683, 2.71, 1.93};
    density_open(&d, case_of(&dpi_beta), false);
    joint_open(&j, &dpi_dirichlet, 2, (const char *[]){"2"}, false);
    assert_close(joint_at(&j, share, NULL), density_at(&d, share[0], share + 2, NULL), 1e-14, 0);
    joint_close(&j);
    density_close(&d);
}

static void dirichlet_draws_have_beta_margins(void **state)
{
    (void)state;
    static const double tried[][3] = {{0.713, 2.39, 11.7}, {0.05, 0.02, 0.11}, {1, 1, 1}};
    double *x = dpi_alloc((size_t)3 * N_DRAWS, sizeof *x), *margin = dpi_alloc(N_DRAWS, sizeof *x);
    for (size_t t = 0; t < 3; t++) {
        const double *const arg[] = {tried[t]};
        dp_rng *rng;
        gsl_rng source = source_of(71 + t, &rng);
        double all = tried[t][0] + tried[t][1] + tried[t][2];
        dpi_draw_site(&dpi_dirichlet, &source, arg, (const size_t[]){3}, (size_t)3 * N_DRAWS, 3, x);
        for (size_t k = 0; k < 3; k++) {
            double distance = 0, a = tried[t][k];
            for (size_t i = 0; i < N_DRAWS; i++) {
                margin[i] = x[3 * i + k];
                assert_close(x[3 * i] + x[3 * i + 1] + x[3 * i + 2], 1, 0, 1e-15);
                assert_true(margin[i] > 0 && margin[i] < 1);
            }
            qsort(margin, N_DRAWS, sizeof *margin, ascending);
            for (size_t i = 0; i < N_DRAWS; i++) {
                /* Numbers next to 0 and 1 are where rounding puts all that lies closer. */
                if (margin[i] <= 1e-300 || margin[i] >= 1 - 1e-15)
                    continue;
                double f = gsl_cdf_beta_P(margin[i], a, all - a);
                distance =
                    fmax(distance, fmax(f - (double)i / N_DRAWS, (double)(i + 1) / N_DRAWS - f));
            }
            if (!(distance <= distance_allowed()))
                fail_msg("margin %zu of case %zu: distance %g", k, t, distance);
        }
        dp_rng_free(rng);
    }
    dpi_free(x);
    dpi_free(margin);
}

static void rows_of_dirichlet_arguments_keep_to_their_rows(void **state)
{
    (void)state;
    const double a[] = {1e4, 1, 1e4, 1e4},
                 one[] = {1e-300}, *const rows[] = {a}, *const same[] = {one};
    double x[6];
    dp_rng *rng;
    gsl_rng source = source_of(9, &rng);
    dpi_draw_site(&dpi_dirichlet, &source, rows, (const size_t[]){4}, 4, 2, x);
    assert_true(x[0] > 0.99 && x[1] < 0.01 && fabs(x[2] - 0.5) < 0.1 && fabs(x[3] - 0.5) < 0.1);
    dpi_draw_site(&dpi_dirichlet, &source, same, (const size_t[]){1}, 6, 3, x);
    for (size_t i = 0; i < 6; i++)
        assert_true(x[i] == DBL_MIN || x[i] == 1 - DBL_EPSILON / 2);
    dp_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_jacobian_of_the_simplex_matches_differences),
        cmocka_unit_test(the_simplex_is_even_at_zero_and_treats_all_alike),
        cmocka_unit_test(the_simplex_is_not_left_however_far_z_is),
        cmocka_unit_test(dirichlet_normalises_on_its_free_numbers),
        cmocka_unit_test(dirichlet_draws_have_beta_margins),
        cmocka_unit_test(rows_of_dirichlet_arguments_keep_to_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
