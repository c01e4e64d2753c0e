/* Series: rows of plates and of records, draws, and numbers in units of the prior; values and
 * gradients against the reference are in t-joint.
 *
 * Statistical tests are by Massart's bound (joint.h): 1e-11 for each of the 8 comparisons here;
 * seeds are fixed. */
#include "dist/family.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "exec/value.h"
#include "tests/dist/joint.h"

enum { T = 4 };

static const double loc[T] = {0.31, -0.7, 1.9, 0.2}, first = 1.7, scale = 0.4,
                    factors[] = {0.9, -0.4};
static const double *const given[] = {loc, &first, &scale, factors};
static const size_t sizes[] = {T, 1, 1, 2};

static double normal(double x, const double *unused)
{
    (void)unused;
    return gsl_cdf_ugaussian_P(x);
}

/* The number of which each is made is standard normal. */
static void check_draws(const dpi_family *f, size_t p, const double *coefficients)
{
    double *x = dpi_alloc((size_t)T * N_DRAWS, sizeof *x), *made = dpi_alloc(N_DRAWS, sizeof *made);
    dp_rng *rng;
    gsl_rng source = source_of(61 + p, &rng);
    dpi_draw_site(f, &source, given, sizes, (size_t)T * N_DRAWS, T, x);
    for (size_t t = 0; t < T; t++) {
        for (size_t i = 0; i < N_DRAWS; i++) {
            const double *one = x + T * i;
            made[i] = one[t] - loc[t];
            for (size_t k = 0; k < p && t >= p; k++)
                made[i] -= coefficients[k] * (one[t - k - 1] - loc[t - k - 1]);
            made[i] /= t < p ? first : scale;
        }
        assert_drawn_from(made, normal, NULL);
    }
    dp_rng_free(rng);
    dpi_free(x);
    dpi_free(made);
}

static void draws_are_made_of_normal_numbers(void **state)
{
    (void)state;
    check_draws(&dpi_gaussian_random_walk, 1, (const double[]){1});
    check_draws(&dpi_autoregressive, 2, factors);
}

/* ---- rows ---- */

static const double series[2 * T] = {0.713, -1.391, 0.217, 2.3, 0.9, -0.4, 3.1, 0.2};

static double alone(const dpi_family *f, const double *x)
{
    joint j;
    double number[MOST_TOTAL];
    size_t n = T;
    memcpy(number, x, T * sizeof *x);
    for (int k = 0; k < f->n_args; n += sizes[k++])
        memcpy(number + n, given[k], sizes[k] * sizeof *x);
    joint_open(&j, f, T, (const char *[]){"4", "", "", "2"}, false);
    double value = joint_at(&j, number, NULL);
    joint_close(&j);
    return value;
}

static void check_rows(const dpi_family *f, bool of_records)
{
    enum { ROWS = 2 };
    dpi_arena arena = {0};
    dp_error err = {0};
    dpi_graph g;
    dpi_run *run;
    dpi_id arg[DPI_MAX_ARGS];
    dpi_graph_init(&g, &arena, &err);
    dpi_shape rows = {.per_record = of_records, .n_dims = 1, .dim = {T}};
    if (!of_records)
        assert_true(dpi_shape_prepend(&rows, ROWS, 1));
    dpi_id in = dpi_source(&g, &dpi_op_input, "x", (dpi_attr){.shape = rows});
    for (int k = 0; k < f->n_args; k++)
        arg[k] = dpi_constant_array(&g, dpi_vector(sizes[k], false), given[k]);
    dpi_id value = f->log_density(&g, in, arg);
    assert_ok(err.status, err.text);
    assert_int_equal(dpi_shape_size(&dpi_get(&g, value)->shape), of_records ? 1 : ROWS);
    dpi_run_spec spec = {.graph = &g,
                         .wanted = (dpi_id[]){in, value},
                         .n_wanted = 2,
                         .chunk = of_records ? ROWS : 1};
    assert_ok(dpi_run_new(&spec, &run, &err), err.text);
    memcpy(dpi_run_value(run, in), series, sizeof series);
    dpi_run_globals(run);
    if (of_records)
        dpi_run_records(run, ROWS, NULL, 0);
    for (size_t r = 0; r < ROWS; r++)
        assert_close(dpi_run_value(run, value)[r], alone(f, series + r * T), 1e-13, 0);
    dpi_run_free(run);
    dpi_arena_free(&arena);
}

static void rows_of_plates_and_records_have_the_densities_they_have_alone(void **state)
{
    (void)state;
    for (int of_records = 0; of_records < 2; of_records++) {
        check_rows(&dpi_gaussian_random_walk, of_records);
        check_rows(&dpi_autoregressive, of_records);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_are_made_of_normal_numbers),
        cmocka_unit_test(rows_of_plates_and_records_have_the_densities_they_have_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
