/* Numbers in increasing order and the distributions of them.
 *
 * Statistical tests are by Massart's bound (joint.h): 1e-11 for each of the 4 comparisons here;
 * seeds are fixed. */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "dist/form.h"
#include "tests/dist/bijector.h"
#include "tests/dist/joint.h"

/* ---- the bijector ---- */

static void its_jacobian_matches_differences_and_it_is_undone(void **state)
{
    (void)state;
    static const double points[][4] = {
        {0.713, -1.391, 0.217, 1.1}, {-200.1, 1.7, -0.9, 0.2}, {0, 0, 0, 0}};
    static const size_t at[] = {0, 1, 2, 3};
    for (size_t k = 2; k <= 4; k++)
        for (size_t p = 0; p < 3; p++)
            bijector_check(DPI_ORDERED, k, at, points[p], 1e-12);
}

static void numbers_are_in_order_however_far_z_is(void **state)
{
    (void)state;
    const dpi_row_support *rows = dpi_supports[DPI_ORDERED].rows;
    bijector b;
    bijector_open(&b, DPI_ORDERED, 2, 3);
    for (double far = 1; far < 700; far *= 1.5) {
        const double z[6] = {-far * 1e6, far, -far * 1e6, 1e6 * far, -far, 0.5 * far};
        const double *x = bijector_at(&b, z);
        for (size_t r = 0; r < 2; r++) {
            assert_null(rows->wrong(3, x + 3 * r, 0));
            assert_true(x[3 * r] == z[3 * r]);
            assert_close(dpi_run_value(b.run, b.log_jacobian)[r], z[3 * r + 1] + z[3 * r + 2],
                         1e-15, 0);
        }
        assert_close(x[1], z[0] + exp(far), 1e-15, 0);
    }
    bijector_close(&b);
    assert_non_null(rows->wrong(3, (const double[]){0, 2, 1.9}, 0));
    assert_non_null(rows->wrong(2, (const double[]){0, NAN}, 0));
    assert_null(rows->wrong(2, (const double[]){1, 1}, 0));
}

/* ---- families ---- */

static void rows_repeat_those_of_their_numbers(void **state)
{
    (void)state;
    size_t n = 0;
    for (size_t i = 0; i < dpi_n_families; i++) {
        const dpi_family *each = dpi_families[i];
        dpi_arena rows = {0};
        const dpi_family *f = row_of(&rows, DPI_IN_ORDER, each);
        assert_true((f != NULL) == (each->support == DPI_REAL && each->draw != NULL));
        if (f == NULL)
            continue;
        n++;
        assert_true(strncmp(f->name, "ordered ", 8) == 0 && strcmp(f->name + 8, each->name) == 0);
        assert_string_equal(row_named(&rows, f->name)->name, f->name);
        assert_true(f->support == DPI_ORDERED && dpi_is_joint(f));
        assert_int_equal(f->n_args, each->n_args);
        for (int k = 0; k < each->n_args; k++) {
            assert_string_equal(f->arg_name[k], each->arg_name[k]);
            assert_true(f->arg_domain[k] == each->arg_domain[k] && f->arg_kind[k] == DPI_ONE);
        }
        dpi_arena_free(&rows);
    }
    assert_true(n >= 8);
    dpi_arena rows = {0};
    assert_non_null(dpi_ordered.refuses(&dpi_gamma));
    assert_non_null(dpi_ordered.refuses(&dpi_dirichlet));
    assert_non_null(dpi_ordered.refuses(&dpi_flat));
    assert_non_null(dpi_ordered.refuses(row_named(&rows, "ordered normal")));
    assert_non_null(dpi_ordered.refuses(row_named(&rows, "truncated(normal)")));
    assert_null(row_named(&rows, "ordered ordered normal"));
    dpi_arena_free(&rows);
}

/* Over z, with the Jacobian: the trapezoidal rule, whose error falls faster than any power. */
static void densities_normalise_on_their_free_numbers(void **state)
{
    (void)state;
    dpi_arena rows = {0};
    joint j;
    double step = 0.05, sum = 0, number[] = {0, 0, 0.31, 1.3};
    joint_open(&j, row_of(&rows, DPI_IN_ORDER, &dpi_normal), 2, (const char *[]){"", ""}, true);
    for (number[0] = -12; number[0] < 12; number[0] += step)
        for (number[1] = -30; number[1] < 4; number[1] += step)
            sum += exp(joint_at(&j, number, NULL)) * step * step;
    assert_close(sum, 1, 1e-9, 0);
    joint_close(&j);
    dpi_arena_free(&rows);
}

/* The k-th of n has the distribution function I_F(x)(k, n - k + 1). */
static double normal_in_order(double x, const double *arg)
{
    return gsl_cdf_beta_P(gsl_cdf_ugaussian_P((x - 0.3) / 1.7), arg[0], 5 - arg[0]);
}

static void draws_are_order_statistics(void **state)
{
    (void)state;
    dpi_arena rows = {0};
    enum { N = 4 };
    double *x = dpi_alloc((size_t)N * N_DRAWS, sizeof *x), *one = dpi_alloc(N_DRAWS, sizeof *one);
    const double loc = 0.3, scale = 1.7, *const arg[] = {&loc, &scale};
    dp_rng *rng;
    gsl_rng source = source_of(31, &rng);
    dpi_draw_site(row_of(&rows, DPI_IN_ORDER, &dpi_normal), &source, arg, (const size_t[]){1, 1},
                  (size_t)N * N_DRAWS, N, x);
    for (size_t k = 0; k < N; k++) {
        for (size_t i = 0; i < N_DRAWS; i++) {
            one[i] = x[N * i + k];
            assert_true(k == 0 || one[i] >= x[N * i + k - 1]);
        }
        assert_drawn_from(one, normal_in_order, (const double[]){(double)k + 1});
    }
    dp_rng_free(rng);
    dpi_free(x);
    dpi_free(one);
    dpi_arena_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_jacobian_matches_differences_and_it_is_undone),
        cmocka_unit_test(numbers_are_in_order_however_far_z_is),
        cmocka_unit_test(rows_repeat_those_of_their_numbers),
        cmocka_unit_test(densities_normalise_on_their_free_numbers),
        cmocka_unit_test(draws_are_order_statistics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
