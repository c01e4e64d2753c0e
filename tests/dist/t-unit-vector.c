/* Unit vectors and the even distribution of them; its value at a point is in t-joint.
 *
 * Statistical tests are by Massart's bound (joint.h): 1e-11 for each of the 9 comparisons here;
 * seeds are fixed. */
#include <gsl/gsl_cdf.h>
#include <math.h>

#include "base/alloc.h"
#include "dist/family.h"
#include "tests/dist/bijector.h"
#include "tests/dist/joint.h"

/* ---- the bijector ---- */

static const dpi_row_support *its_rows(void)
{
    return dpi_supports[DPI_UNIT_VECTOR].rows;
}

/* The Jacobian onto the sphere is that onto all numbers of x but one, over that one's size. */
static void its_jacobian_matches_differences_and_it_is_undone(void **state)
{
    (void)state;
    static const double points[][3] = {{0.713, -1.391, 0.217}, {0.1, 0.2, -0.1}, {-1.4, 2.3, 1.7}};
    static const size_t at[] = {0, 1, 2};
    for (size_t n = 2; n <= 4; n++)
        for (size_t p = 0; p < 3; p++) {
            bijector b;
            bijector_open(&b, DPI_UNIT_VECTOR, 1, n);
            double left = fabs(bijector_at(&b, points[p])[n - 1]);
            bijector_close(&b);
            bijector_check_part(DPI_UNIT_VECTOR, n, at, points[p], 1e-12, log(left));
        }
}

static void vectors_come_back_from_their_free_numbers(void **state)
{
    (void)state;
    static const double points[][4] = {{0.6, 0.8},
                                       {-0.48, 0.6, -0.64},
                                       {0.5, -0.5, 0.1, 0.7},
                                       {1, 0, 0, 0},
                                       {-1, 3e-9, -4e-9, 1e-9},
                                       {-1, 3e-90, -4e-90, 1e-90},
                                       {0, 0, -1, 0},
                                       {-1, 0, 0, 0}};
    static const size_t n[] = {2, 3, 4, 4, 4, 4, 4, 4};
    for (size_t p = 0; p < 8; p++) {
        double z[4];
        bijector b;
        bijector_open(&b, DPI_UNIT_VECTOR, 1, n[p]);
        assert_int_equal(b.n_free, n[p] - 1);
        assert_null(its_rows()->wrong(n[p], points[p], 1e-15));
        its_rows()->free(n[p], points[p], z);
        const double *x = bijector_at(&b, z);
        for (size_t k = 0; k < n[p]; k++)
            assert_close(x[k], points[p][k], 1e-15, 1e-140);
        bijector_close(&b);
    }
}

static void values_are_unit_vectors_however_far_z_is(void **state)
{
    (void)state;
    bijector b;
    bijector_open(&b, DPI_UNIT_VECTOR, 2, 3);
    for (double far = 1e-20; far < 1e300; far *= 1e5) {
        const double z[4] = {far, -0.3 * far, -0.1 * far, far};
        const double *x = bijector_at(&b, z);
        for (size_t r = 0; r < 2; r++) {
            double s = z[2 * r] * z[2 * r] + z[2 * r + 1] * z[2 * r + 1];
            assert_null(its_rows()->wrong(3, x + 3 * r, 1e-15));
            assert_close(x[3 * r], s > 1 ? 2 / (1 + s) - 1 : (1 - s) / (1 + s), 0, 1e-15);
            assert_close(x[3 * r + 1], 2 * z[2 * r] / (1 + s), 1e-15, 1e-300);
            if (far < 1e150)
                assert_close(dpi_run_value(b.run, b.log_jacobian)[r], 2 * log(2 / (1 + s)), 1e-14,
                             1e-30);
        }
    }
    bijector_close(&b);
    assert_non_null(its_rows()->wrong(2, (const double[]){0.6, 0.7}, 1e-9));
    assert_non_null(its_rows()->wrong(2, (const double[]){NAN, 0}, 1e-9));
}

/* ---- the family ---- */

/* Over z, with the Jacobian: by the trapezoidal rule over t of z = sinh(sinh t), in which tails are
 * short. */
static void densities_normalise_on_their_free_numbers(void **state)
{
    (void)state;
    double step = 0.05, of_two = 0, of_three = 0, z[2];
    joint j[2];
    for (size_t n = 2; n <= 3; n++)
        joint_open(&j[n - 2], &dpi_unit_vector, n, (const char *[]){NULL}, true);
    for (double t = -4; t < 4; t += step) {
        double stretch = cosh(sinh(t)) * cosh(t) * step;
        z[0] = sinh(sinh(t));
        of_two += exp(joint_at(&j[0], z, NULL)) * stretch;
        for (double v = -4; v < 4; v += step) {
            z[1] = sinh(sinh(v));
            of_three += exp(joint_at(&j[1], z, NULL)) * stretch * cosh(sinh(v)) * cosh(v) * step;
        }
    }
    assert_close(of_two, 1, 1e-10, 0);
    assert_close(of_three, 1, 1e-9, 0);
    joint_close(&j[0]);
    joint_close(&j[1]);
}

/* A projection p of K numbers is 2 Beta(a, a) - 1 with a = (K - 1) / 2. */
static double projection(double p, const double *a)
{
    return gsl_cdf_beta_P(0.5 * (1 + p), *a, *a);
}

static void drawn_vectors_are_even_in_all_directions(void **state)
{
    (void)state;
    static const double along[3][5] = {{1, 0, 0, 0, 0}, {0.36, -0.8, 0.48, 0, 0}, {0, 1, 0, 0, 0}};
    static const size_t sizes[] = {2, 3, 5};
    double *x = dpi_alloc((size_t)5 * N_DRAWS, sizeof *x), *p = dpi_alloc(N_DRAWS, sizeof *p);
    for (size_t t = 0; t < 3; t++) {
        const size_t n = sizes[t];
        const double a = 0.5 * (double)(n - 1);
        dp_rng *rng;
        gsl_rng source = source_of(61 + t, &rng);
        dpi_draw_site(&dpi_unit_vector, &source, NULL, NULL, n * N_DRAWS, n, x);
        for (size_t d = 0; d < 3; d++) {
            double length = 0;
            for (size_t k = 0; k < n; k++)
                length = hypot(length, along[d][k]);
            for (size_t i = 0; i < N_DRAWS; i++) {
                p[i] = 0;
                for (size_t k = 0; k < n; k++)
                    p[i] += along[d][k] / length * x[n * i + k];
                assert_null(its_rows()->wrong(n, x + n * i, 1e-15));
                p[i] = fmin(fmax(p[i], -1), 1);
            }
            assert_drawn_from(p, projection, &a);
        }
        dp_rng_free(rng);
    }
    dpi_free(x);
    dpi_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_jacobian_matches_differences_and_it_is_undone),
        cmocka_unit_test(vectors_come_back_from_their_free_numbers),
        cmocka_unit_test(values_are_unit_vectors_however_far_z_is),
        cmocka_unit_test(densities_normalise_on_their_free_numbers),
        cmocka_unit_test(drawn_vectors_are_even_in_all_directions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
