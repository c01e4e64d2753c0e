/* Families whose value has one density for several numbers: Dirichlet, mixtures, what is ordered.
 * What holds for all of them. */
#include "dist/family.h"

#include <math.h>
#include <string.h>

#include "tests/dist/joint.h"
#include "tests/graph/faulty.h"

/* x, then the arguments one after the other; value and derivatives in the same order. */
struct joint_point {
    const char *family;
    size_t n_x;
    const char *shape[DPI_MAX_ARGS]; /* "", "3" or "3x2" */
    double number[MOST_TOTAL], value, slope[MOST_TOTAL];
};

#include "tests/dist/reference-joint.h"

/* Points of single numbers are of mixtures of them. */
static const dpi_family *family_of(dpi_arena *rows, const struct joint_point *p)
{
    const dpi_family *family = row_named(rows, p->family);
    if (family != NULL && !dpi_is_joint(family))
        family = row_of(rows, DPI_MIXTURE, family);
    assert_non_null(family);
    return family;
}

static void near(size_t point, size_t k, double found, double wanted, double relative,
                 double absolute)
{
    if (!(fabs(found - wanted) <= absolute + relative * fabs(wanted)))
        print_error("%s, point %zu, number %zu\n", joint_points[point].family, point, k);
    assert_close(found, wanted, relative, absolute);
}

static void values_and_gradients_match_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof joint_points / sizeof joint_points[0]; i++) {
        const struct joint_point *p = &joint_points[i];
        dpi_arena rows = {0};
        const dpi_family *f = family_of(&rows, p);
        double slope[MOST_TOTAL];
        joint j;
        joint_open(&j, f, p->n_x, p->shape, false);
        near(i, 0, joint_at(&j, p->number, slope), p->value, 1e-13, 1e-14);
        size_t from = dpi_supports[f->support].discrete ? p->n_x : 0, to = 0;
        for (size_t k = 0; k < j.n_in; k++)
            to += j.size[k];
        /* A share of a component is e^ a difference of log densities, and has their rounding. */
        for (size_t k = from; k < to; k++)
            near(i, k, slope[k], p->slope[k], 1e-12 + 1e-15 * fabs(p->value), 1e-14);
        joint_close(&j);
        dpi_arena_free(&rows);
    }
}

static void impossible_arguments_draw_nan(void **state)
{
    (void)state;
    const double loc[] = {0, 1}, one[] = {1};
    static const double bad[][2] = {{NAN, 1}, {-1, 2}, {0, 0}, {INFINITY, 1}};
    dp_rng *rng;
    gsl_rng source = source_of(1, &rng);
    dpi_arena rows = {0};
    const dpi_family *mixture = row_named(&rows, "mixture of normal");
    for (size_t i = 0; i < 4; i++) {
        double x[2] = {0};
        dpi_draw_site(mixture, &source, (const double *[]){bad[i], loc, one},
                      (const size_t[]){2, 2, 1}, 1, 1, x);
        assert_true(isnan(x[0]));
        dpi_draw_site(&dpi_dirichlet, &source, (const double *[]){bad[i]}, (const size_t[]){2}, 2,
                      2, x);
        assert_true(isnan(x[0]) && isnan(x[1]));
    }
    dp_rng_free(rng);
    dpi_arena_free(&rows);
}

/* ---- memory ---- */

/* The row, its density and bijector with allocation k failing; the status. */
static dp_status build(dpi_form_code form, const dpi_family *base, size_t k)
{
    dpi_arena arena = {0};
    dp_error err = {0};
    dpi_graph g;
    faulty_fail(k);
    const dpi_family *f = row_of(&arena, form, base);
    if (f == NULL) {
        faulty_fail(0);
        dpi_arena_free(&arena);
        return DP_ENOMEM;
    }
    dpi_graph_init(&g, &arena, &err);
    const dpi_row_support *rows = dpi_supports[f->support].rows;
    dpi_attr vector = {.shape = {.n_dims = 1, .dim = {rows != NULL ? rows->n_free(4) : 3}}};
    dpi_id z = dpi_source(&g, &dpi_op_input, "z", vector), arg[DPI_MAX_ARGS];
    for (int a = 0; a < DPI_MAX_ARGS; a++) {
        size_t n = form == DPI_MIXTURE ? 2 : rows != NULL ? 4 : 3;
        dpi_shape shape = dpi_vector(f->arg_kind[a] == DPI_ONE ? 1 : n, false);
        if (f->arg_kind[a] == DPI_SQUARE || f->arg_kind[a] == DPI_TALL)
            shape = (dpi_shape){.n_dims = 2, .dim = {n, n}};
        arg[a] = dpi_source(&g, &dpi_op_input, "arg", (dpi_attr){.shape = shape});
    }
    dpi_id x = rows != NULL ? dpi_supports[f->support].constrain(&g, z, arg) : z;
    dpi_id jacobian = rows != NULL ? dpi_supports[f->support].log_jacobian(&g, z, arg) : z;
    dpi_id value = dpi_family_log_density(f, &g, x, arg);
    faulty_fail(0);
    assert_true((err.status == DP_OK) == (x >= 0 && jacobian >= 0 && value >= 0));
    dpi_arena_free(&arena);
    return err.status;
}

static void fail_each_allocation(dpi_form_code form, const dpi_family *base)
{
    size_t k = 1;
    while (build(form, base, k) == DP_ENOMEM)
        assert_true(++k < 1000);
    assert_true(k > 1);
    assert_int_equal(build(form, base, 0), DP_OK);
    assert_int_equal(faulty_live(), 0);
}

static void running_out_of_memory_gives_no_node(void **state)
{
    (void)state;
    static const dpi_family *const families[] = {&dpi_dirichlet,
                                                 &dpi_multivariate_normal,
                                                 &dpi_multivariate_normal_precision,
                                                 &dpi_multivariate_normal_low_rank,
                                                 &dpi_multivariate_student_t,
                                                 &dpi_lkj_cholesky,
                                                 &dpi_unit_vector,
                                                 &dpi_wishart_cholesky,
                                                 &dpi_inverse_wishart_cholesky,
                                                 &dpi_gaussian_random_walk,
                                                 &dpi_autoregressive};
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        fail_each_allocation(DPI_NO_FORM, families[i]);
    for (size_t i = 0; i < dpi_n_families; i++) {
        if (dpi_mixture.refuses(dpi_families[i]) == NULL)
            fail_each_allocation(DPI_MIXTURE, dpi_families[i]);
        if (dpi_ordered.refuses(dpi_families[i]) == NULL)
            fail_each_allocation(DPI_IN_ORDER, dpi_families[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_gradients_match_the_reference),
        cmocka_unit_test(impossible_arguments_draw_nan),
        cmocka_unit_test(running_out_of_memory_gives_no_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
