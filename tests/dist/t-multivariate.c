/* Rows of jointly normal and Student t numbers: rows of plates and of records, normalisation,
 * draws; values and gradients against the reference are in t-joint.
 *
 * Statistical tests are by Massart's bound (joint.h): 1e-11 for each of the 20 comparisons here;
 * seeds are fixed. */
#include "dist/family.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "exec/value.h"
#include "tests/dist/joint.h"

enum { K = 3 };

static const double loc[K] = {0.31, -0.7, 1.9};
static const double factor[K * K] = {1.3, 0, 0, 0.3, 2.5, 0, -0.2, 0.1, 0.7};
static const double tall[K * 2] = {0.9, -0.3, 0.4, 1.7, 0.2, -1.1}, variance[K] = {0.3, 0.71, 1.9};

/* A family at the arguments above, and the covariance that they give it. */
typedef struct multivariate {
    const dpi_family *family;
    const double *arg[3];
    size_t arg_size[3];
    double covariance[K][K], df; /* df 0: normal */
} multivariate;

/* a a' of a [K][m], and variances beside it where there are any. */
static void square_of(size_t m, const double *a, const double *more, double out[K][K])
{
    for (size_t i = 0; i < K; i++)
        for (size_t j = 0; j < K; j++) {
            out[i][j] = i == j && more != NULL ? more[i] : 0;
            for (size_t k = 0; k < m; k++)
                out[i][j] += a[i * m + k] * a[j * m + k];
        }
}

/* The inverse of factor factor', from that of the factor. */
static void inverse(double out[K][K])
{
    double l[K * K] = {0}, turned[K * K];
    for (size_t c = 0; c < K; c++)
        for (size_t r = c; r < K; r++) {
            double rest = r == c;
            for (size_t k = c; k < r; k++)
                rest -= factor[r * K + k] * l[k * K + c];
            l[r * K + c] = rest / factor[r * K + r];
        }
    for (size_t e = 0; e < K * K; e++)
        turned[e] = l[e % K * K + e / K];
    square_of(K, turned, NULL, out);
}

static multivariate make(int which)
{
    static const double df = 3.7;
    multivariate m = {.family = &dpi_multivariate_normal, {loc, factor}, {K, K * K}, {{0}}, 0};
    square_of(K, factor, NULL, m.covariance);
    if (which == 1) {
        m.family = &dpi_multivariate_normal_precision;
        inverse(m.covariance);
    } else if (which == 2) {
        m = (multivariate){.family = &dpi_multivariate_normal_low_rank,
                           .arg = {loc, tall, variance},
                           .arg_size = {K, K * 2, K}};
        square_of(2, tall, variance, m.covariance);
    } else if (which == 3) {
        m.family = &dpi_multivariate_student_t;
        m.df = df;
        memcpy(m.arg, (const double *[]){&df, loc, factor}, sizeof m.arg);
        memcpy(m.arg_size, (const size_t[]){1, K, K * K}, sizeof m.arg_size);
    }
    return m;
}

enum { FAMILIES = 4 };

/* ---- draws ---- */

/* a'(x - loc) / sqrt(a' covariance a) is standard normal or t. */
static double cdf(double x, const double *df)
{
    return *df > 0 ? gsl_cdf_tdist_P(x, *df) : gsl_cdf_ugaussian_P(x);
}

static void check_projection(const multivariate *m, const double *x, const double a[K],
                             double *made)
{
    double square = 0;
    for (size_t e = 0; e < K * K; e++)
        square += a[e / K] * m->covariance[e / K][e % K] * a[e % K];
    for (size_t i = 0; i < N_DRAWS; i++) {
        made[i] = 0;
        for (size_t k = 0; k < K; k++)
            made[i] += a[k] * (x[K * i + k] - loc[k]) / sqrt(square);
    }
    assert_drawn_from(made, cdf, &m->df);
}

static void draws_have_the_covariance_that_was_given(void **state)
{
    (void)state;
    static const double direction[5][K] = {
        {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.7, -0.4, 0.9}, {-0.2, 0.5, 1.7}};
    double *x = dpi_alloc((size_t)K * N_DRAWS, sizeof *x), *made = dpi_alloc(N_DRAWS, sizeof *made);
    for (int which = 0; which < FAMILIES; which++) {
        multivariate m = make(which);
        dp_rng *rng;
        gsl_rng source = source_of(41 + (uint64_t)which, &rng);
        dpi_draw_site(m.family, &source, m.arg, m.arg_size, (size_t)K * N_DRAWS, K, x);
        for (size_t d = 0; d < 5; d++)
            check_projection(&m, x, direction[d], made);
        dp_rng_free(rng);
    }
    dpi_free(x);
    dpi_free(made);
}

/* Two numbers whose correlation is 1 but for 1e-12, by their factor, and pivots of 1e-150, whose
 * squares are 1e-300: -log(2 pi) - sum log l_kk - |L^-1 (x - loc)|^2 / 2. */
static void nearly_singular_factors_keep_their_digits(void **state)
{
    const double rho = 1 - 1e-12, rest = sqrt((1 - rho) * (1 + rho)), tiny = 1e-150;
    const struct {
        double l[4], z[2];
    } near[] = {{{1, 0, rho, rest}, {0.7, -1.3}},
                {{tiny, 0, 0.5, tiny}, {0.25, 0}},
                {{tiny, 0, 0.5 * tiny, tiny}, {1.5, -0.5}},
                {{1e150, 0, 1, tiny}, {0.5, 0}}};
    static const char *const shapes[] = {"2", "2x2"};
    (void)state;
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        const double *l = near[i].l, *z = near[i].z, x[] = {l[0] * z[0], l[2] * z[0] + l[3] * z[1]};
        const double back = (x[1] - l[2] * (x[0] / l[0])) / l[3], first = x[0] / l[0];
        double number[8] = {x[0], x[1], 0, 0, l[0], l[1], l[2], l[3]}, slope[8];
        joint j;
        joint_open(&j, &dpi_multivariate_normal, 2, shapes, false);
        assert_close(joint_at(&j, number, slope),
                     -log(2 * acos(-1)) - log(l[0]) - log(l[3]) -
                         0.5 * (first * first + back * back),
                     1e-12, 1e-12);
        assert_close(slope[1], -back / l[3], 1e-12, 0);
        joint_close(&j);
    }
}

static void rows_have_their_own_loc_and_no_factor_gives_nan(void **state)
{
    (void)state;
    const double many[2 * K] = {1e6, 2e6, 3e6, 4e6, 5e6, 6e6}, one[] = {-1e6}, none[K * K] = {0};
    double x[2 * K];
    dp_rng *rng;
    for (int which = 0; which < FAMILIES; which++) {
        multivariate m = make(which);
        gsl_rng source = source_of(7, &rng);
        int at = which == 3;
        m.arg[at] = many, m.arg_size[at] = 2 * K;
        dpi_draw_site(m.family, &source, m.arg, m.arg_size, 2 * K, K, x);
        for (size_t e = 0; e < 2 * K; e++)
            assert_close(x[e], many[e], 0, 1e4);
        m.arg[at] = one, m.arg_size[at] = 1;
        dpi_draw_site(m.family, &source, m.arg, m.arg_size, 2 * K, K, x);
        for (size_t e = 0; e < 2 * K; e++)
            assert_close(x[e], -1e6, 0, 1e4);
        int last = m.family->n_args - 1;
        m.arg[last] = none;
        dpi_draw_site(m.family, &source, m.arg, m.arg_size, K, K, x);
        assert_true(isnan(x[0]) && isnan(x[1]) && isnan(x[2]));
        dp_rng_free(rng);
    }
}

/* ---- densities ---- */

/* Over the plane; the trapezoidal rule's error falls faster than any power. */
static void densities_normalise(void **state)
{
    (void)state;
    static const struct {
        const dpi_family *family;
        const char *shape[3];
        double number[9];
    } tried[] = {
        {&dpi_multivariate_normal, {"", "2x2"}, {0, 0, 0.31, 0.9, 7, 0.6, 0.5}},
        {&dpi_multivariate_normal_precision, {"", "2x2"}, {0, 0, 0.31, 0.9, 7, 0.6, 1.5}},
        {&dpi_multivariate_normal_low_rank, {"", "2x1", ""}, {0, 0, 0.31, 0.9, -0.6, 0.2}},
        {&dpi_multivariate_student_t, {"", "", "2x2"}, {0, 0, 29.3, 0.31, 0.9, 7, 0.6, 0.5}}};
    for (size_t i = 0; i < FAMILIES; i++) {
        joint j;
        double number[9], step = 0.1, sum = 0;
        memcpy(number, tried[i].number, sizeof number);
        joint_open(&j, tried[i].family, 2, tried[i].shape, false);
        for (number[0] = -15; number[0] < 15; number[0] += step)
            for (number[1] = -15; number[1] < 15; number[1] += step)
                sum += exp(joint_at(&j, number, NULL)) * step * step;
        assert_close(sum, 1, 1e-9, 0);
        joint_close(&j);
    }
}

/* One row after the other by itself, and as rows of a plate and of records. */
static void check_rows(const multivariate *m, bool of_records, const dpi_shape *of_loc)
{
    static const double x[2 * K] = {0.713, -1.391, 0.217, 2.3, 0.9, -0.4};
    enum { ROWS = 2 };
    const char *shape[3] = {m->df > 0 ? "" : "3", m->df > 0 ? "3" : "3x3", "3x3"};
    if (m->arg_size[1] == K * 2)
        shape[1] = "3x2", shape[2] = "3";
    double alone[ROWS];
    joint j;
    joint_open(&j, m->family, K, shape, false);
    for (size_t r = 0; r < ROWS; r++) {
        double number[MOST_TOTAL];
        size_t n = K;
        memcpy(number, x + r * K, K * sizeof *x);
        for (int k = 0; k < m->family->n_args; n += m->arg_size[k++])
            memcpy(number + n, m->arg[k], m->arg_size[k] * sizeof *x);
        alone[r] = joint_at(&j, number, NULL);
    }
    joint_close(&j);
    dpi_arena arena = {0};
    dp_error err = {0};
    dpi_graph g;
    dpi_graph_init(&g, &arena, &err);
    dpi_shape rows = {.per_record = of_records, .n_dims = of_records ? 1 : 2, .dim = {K, K}};
    rows.dim[0] = of_records ? K : ROWS;
    rows.plate[0] = of_records ? 0 : 1;
    dpi_id in = dpi_source(&g, &dpi_op_input, "x", (dpi_attr){.shape = rows}), arg[DPI_MAX_ARGS];
    for (int k = 0; k < m->family->n_args; k++) {
        dpi_shape s = {.n_dims = 1, .dim = {K, K}};
        if (m->arg[k] == factor || m->arg[k] == tall)
            s = (dpi_shape){.n_dims = 2, .dim = {K, m->arg[k] == tall ? 2 : K}};
        arg[k] = m->arg_size[k] == 1 ? dpi_constant(&g, *m->arg[k])
                                     : dpi_constant_array(&g, s, m->arg[k]);
        if (m->arg[k] == loc && of_loc != NULL)
            arg[k] = dpi_expand(&g, arg[k], *of_loc);
    }
    dpi_id value = m->family->log_density(&g, in, arg);
    assert_ok(err.status, err.text);
    assert_int_equal(dpi_shape_size(&dpi_get(&g, value)->shape), of_records ? 1 : ROWS);
    dpi_run *run;
    dpi_run_spec spec = {.graph = &g,
                         .wanted = (dpi_id[]){in, value},
                         .n_wanted = 2,
                         .chunk = of_records ? ROWS : 1};
    assert_ok(dpi_run_new(&spec, &run, &err), err.text);
    memcpy(dpi_run_value(run, in), x, sizeof x);
    dpi_run_globals(run);
    if (of_records)
        dpi_run_records(run, ROWS, NULL, 0);
    for (size_t r = 0; r < ROWS; r++)
        assert_close(dpi_run_value(run, value)[r], alone[r], 1e-13, 0);
    dpi_run_free(run);
    dpi_arena_free(&arena);
}

static void rows_of_plates_and_records_have_the_densities_they_have_alone(void **state)
{
    (void)state;
    const dpi_shape each = {.n_dims = 2, .dim = {2, K}, .plate = {1}};
    for (int which = 0; which < FAMILIES; which++) {
        multivariate m = make(which);
        check_rows(&m, false, NULL);
        check_rows(&m, false, &each);
        check_rows(&m, true, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_have_the_covariance_that_was_given),
        cmocka_unit_test(nearly_singular_factors_keep_their_digits),
        cmocka_unit_test(rows_have_their_own_loc_and_no_factor_gives_nan),
        cmocka_unit_test(densities_normalise),
        cmocka_unit_test(rows_of_plates_and_records_have_the_densities_they_have_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
