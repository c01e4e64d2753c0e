/* Rows in units of their distribution: that all loose they are standard, that none loose they are
 * themselves, and the volume against that of differences. */
#include "dist/family.h"

#include <math.h>
#include <string.h>

#include "exec/value.h"
#include "tests/dist/joint.h"

enum { K = 3, ROWS = 2 };

static const double z[ROWS * K] = {0.713, -1.391, 0.217, 2.3, 0.9, -0.4};

typedef struct stretched {
    dpi_arena arena;
    dp_error err;
    dpi_graph g;
    dpi_id z, x, volume, density;
    dpi_run *run;
} stretched;

static void open(stretched *s, const dpi_family *f, const double *mask)
{
    static const double loc[K] = {0.31, -0.7, 1.9};
    static const double factor[K * K] = {1.3, 7, 7, 0.3, 2.5, 7, -0.2, 0.1, 0.7};
    const dpi_shape rows = {.n_dims = 2, .dim = {ROWS, K}}, square = {.n_dims = 2, .dim = {K, K}};
    dpi_id arg[DPI_MAX_ARGS];
    *s = (stretched){0};
    dpi_graph_init(&s->g, &s->arena, &s->err);
    for (int k = 0; k < f->n_args; k++)
        arg[k] = f->arg_kind[k] == DPI_EACH ? dpi_constant_array(&s->g, dpi_vector(K, false), loc)
                 : f->arg_kind[k] == DPI_SQUARE ? dpi_constant_array(&s->g, square, factor)
                                                : dpi_constant(&s->g, 0.7 + k);
    s->z = dpi_source(&s->g, &dpi_op_input, "z", (dpi_attr){.shape = rows});
    s->x = f->stretch(&s->g, s->z, dpi_constant_array(&s->g, rows, mask), arg, &s->volume);
    s->density = f->log_density(&s->g, s->x, arg);
    assert_ok(s->err.status, s->err.text);
    dpi_run_spec spec = {.graph = &s->g,
                         .wanted = (dpi_id[]){s->z, s->x, s->volume, s->density},
                         .n_wanted = 4,
                         .chunk = 1};
    assert_ok(dpi_run_new(&spec, &s->run, &s->err), s->err.text);
}

static const double *at(stretched *s, const double *point)
{
    memcpy(dpi_run_value(s->run, s->z), point, sizeof z);
    dpi_run_globals(s->run);
    return dpi_run_value(s->run, s->x);
}

static void close(stretched *s)
{
    dpi_run_free(s->run);
    dpi_arena_free(&s->arena);
}

static const dpi_family *const families[] = {&dpi_multivariate_normal, &dpi_multivariate_student_t,
                                             &dpi_gaussian_random_walk};
enum { FAMILIES = sizeof families / sizeof families[0] };

static double determinant(double a[K][K])
{
    return fabs(a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
                a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
                a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]));
}

/* The maps are linear: one difference is exact. */
static void volumes_are_those_of_differences(void **state)
{
    (void)state;
    static const double mask[ROWS * K] = {1, 0, 1, 1, 1, 0};
    for (size_t i = 0; i < FAMILIES; i++) {
        stretched s;
        double a[ROWS][K][K], here[ROWS * K], moved[ROWS * K];
        open(&s, families[i], mask);
        memcpy(here, at(&s, z), sizeof here);
        for (size_t c = 0; c < K; c++) {
            memcpy(moved, z, sizeof moved);
            moved[c] += 1;
            moved[K + c] += 1;
            const double *x = at(&s, moved);
            for (size_t e = 0; e < ROWS * K; e++)
                a[e / K][e % K][c] = x[e] - here[e];
        }
        for (size_t e = 0; e < ROWS * K; e++)
            assert_true(mask[e] == 1 || here[e] == z[e]);
        for (size_t r = 0; r < ROWS; r++)
            assert_close(log(determinant(a[r])), dpi_run_value(s.run, s.volume)[r], 0, 1e-13);
        close(&s);
    }
}

/* So that a density and its volume are the standard one's. */
static void loose_rows_are_standard(void **state)
{
    (void)state;
    static const double all[ROWS * K] = {1, 1, 1, 1, 1, 1};
    for (size_t i = 0; i < FAMILIES; i++) {
        stretched s;
        open(&s, families[i], all);
        (void)at(&s, z);
        for (size_t r = 0; r < ROWS; r++) {
            double df = 0.7, square = 0, norm = -0.5 * K * log(2 * acos(-1));
            for (size_t k = 0; k < K; k++)
                square += z[r * K + k] * z[r * K + k];
            double wanted = norm - 0.5 * square;
            if (families[i] == &dpi_multivariate_student_t)
                wanted = lgamma(0.5 * (df + K)) - lgamma(0.5 * df) - 0.5 * K * log(df * acos(-1)) -
                         0.5 * (df + K) * log1p(square / df);
            assert_close(dpi_run_value(s.run, s.density)[r] + dpi_run_value(s.run, s.volume)[r],
                         wanted, 1e-13, 1e-13);
        }
        close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumes_are_those_of_differences),
        cmocka_unit_test(loose_rows_are_standard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
