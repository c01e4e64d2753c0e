/* Log densities broadcast: x and the arguments may be numbers or plates, global or of each record,
 * and every element has the value it has alone. */
#include "dist/family.h"

#include <math.h>
#include <string.h>

#include "exec/value.h"
#include "tests/dist/cases.h"

enum { N_RECORDS = 3, N_PLATE = 2 };

/* Shapes of x, of the first argument and of the others. */
typedef struct shapes {
    dpi_shape x, first, other;
} shapes;

/* Element e of record r: near base, and different for each record and element that the shape
 * has. */
static double element(const dpi_shape *shape, double base, size_t record, size_t e)
{
    double step = (shape->per_record ? 0.011 * (double)record : 0) +
                  (shape->n_dims > 0 ? 0.0017 * (double)e : 0);
    return base * (1 + step);
}

/* The same for x, which of discrete families is 0 or 1. */
static double element_of_x(const dist_case *c, const dpi_shape *shape, double base, size_t record,
                           size_t e)
{
    bool whole = dpi_supports[c->family->support].discrete;
    double shift = (shape->per_record ? (double)record : 0) + (shape->n_dims > 0 ? (double)e : 0);
    return whole ? fmod(base + shift, 2) : element(shape, base, record, e);
}

/* The same for argument k. */
static double argument(const dist_case *c, int k, const dpi_shape *shape, size_t record, size_t e)
{
    bool whole = c->family->arg_domain[k] == DPI_NOT_NEGATIVE;
    double base = c->tried[0][k];
    return whole ? base + (shape->per_record ? (double)record : 0)
                 : element(shape, base, record, e);
}

/* Sets input x (k = -1) or argument k. */
static void put(dpi_run *run, dpi_id id, const dist_case *c, int k, const dpi_shape *shape,
                double x)
{
    size_t size = dpi_shape_size(shape), records = shape->per_record ? N_RECORDS : 1;
    for (size_t r = 0; r < records; r++)
        for (size_t e = 0; e < size; e++)
            dpi_run_value(run, id)[r * size + e] =
                k < 0 ? element_of_x(c, shape, x, r, e) : argument(c, k, shape, r, e);
}

/* Compares every element of the result with the density at that element alone. */
static void compare(const dist_case *c, const shapes *s, const double *value,
                    const dpi_shape *result, double x)
{
    density d;
    density_open(&d, c, false);
    size_t size = dpi_shape_size(result), records = result->per_record ? N_RECORDS : 1;
    for (size_t r = 0; r < records; r++)
        for (size_t e = 0; e < size; e++) {
            double arg[MAX_NUMBERS];
            for (int k = 0; k < c->family->n_args; k++)
                arg[k] = argument(c, k, k == 0 ? &s->first : &s->other, r, e);
            double alone = density_at(&d, element_of_x(c, &s->x, x, r, e), arg, NULL);
            /* What is of records is divided by inverses, another rounding. */
            assert_close(value[r * size + e], alone, 1e-14, 0);
        }
    density_close(&d);
}

static void check_shapes_of(const dist_case *c, const shapes *s)
{
    const dpi_family *f = c->family;
    double x = f->support == DPI_INTERVAL ? 0.6 * c->tried[0][0] + 0.4 * c->tried[0][1] : 0.41739;
    x = dpi_supports[f->support].discrete ? 1 : x;
    dpi_arena arena = {0};
    dp_error err = {0};
    dpi_graph g;
    dpi_graph_init(&g, &arena, &err);
    dpi_id in[1 + DPI_MAX_ARGS], wanted[2 + DPI_MAX_ARGS];
    for (int k = 0; k <= f->n_args; k++)
        wanted[k] = in[k] = dpi_source(&g, &dpi_op_input, k == 0 ? "x" : f->arg_name[k - 1],
                                       (dpi_attr){.shape = k == 0   ? s->x
                                                           : k == 1 ? s->first
                                                                    : s->other});
    dpi_id value = wanted[f->n_args + 1] = f->log_density(&g, in[0], in + 1);
    assert_ok(err.status, err.text);
    dpi_shape joined;
    assert_true(dpi_shape_join(&s->x, &s->first, &joined));
    assert_true(f->n_args == 1 || dpi_shape_join(&joined, &s->other, &joined));
    const dpi_shape result = dpi_get(&g, value)->shape;
    assert_true(dpi_shape_same(&result, &joined) && result.per_record == joined.per_record);
    dpi_run *run;
    dpi_run_spec spec = {
        .graph = &g, .wanted = wanted, .n_wanted = (size_t)f->n_args + 2, .chunk = N_RECORDS};
    assert_ok(dpi_run_new(&spec, &run, &err), err.text);
    for (int k = 0; k <= f->n_args; k++)
        put(run, in[k], c, k - 1, k == 0 ? &s->x : k == 1 ? &s->first : &s->other, x);
    dpi_run_globals(run);
    dpi_run_records(run, N_RECORDS, NULL, 0);
    compare(c, s, dpi_run_value(run, value), &result, x);
    dpi_run_free(run);
    dpi_arena_free(&arena);
}

static void check_broadcasting(const dist_case *c)
{
    const dpi_shape number = dpi_scalar(false), record = dpi_scalar(true);
    const dpi_shape plate = dpi_vector(N_PLATE, false), both = dpi_vector(N_PLATE, true);
    const shapes tried[] = {
        {record, number, number}, {number, number, record}, {plate, number, number},
        {both, number, number},   {both, plate, record},    {record, plate, number},
        {record, record, record}, {plate, plate, plate},    {number, both, number},
    };
    for (size_t i = 0; i < sizeof tried / sizeof tried[0] && !c->family->vector_arg; i++)
        check_shapes_of(c, &tried[i]);
}

static void arguments_and_values_broadcast(void **state)
{
    (void)state;
    for (size_t i = 0; i < dpi_n_families; i++)
        check_broadcasting(case_of(dpi_families[i]));
}

/* Categories of records under logits that are global, and under logits of each record. */
static void categories_read_the_logits_of_their_record(void **state)
{
    (void)state;
    const dist_case *c = case_of(&dpi_categorical_logit);
    for (int per_record = 0; per_record < 2; per_record++) {
        dpi_arena arena = {0};
        dp_error err = {0};
        dpi_graph g;
        dpi_graph_init(&g, &arena, &err);
        dpi_attr attr = {.shape = dpi_vector(MAX_NUMBERS, per_record)};
        dpi_id y = dpi_source(&g, &dpi_op_input, "y", (dpi_attr){.shape = dpi_scalar(true)});
        dpi_id logits = dpi_source(&g, &dpi_op_input, "logits", attr);
        dpi_id wanted[] = {y, logits, c->family->log_density(&g, y, &logits)};
        dpi_run_spec spec = {.graph = &g, .wanted = wanted, .n_wanted = 3, .chunk = N_TRIED};
        dpi_run *run;
        assert_ok(dpi_run_new(&spec, &run, &err), err.text);
        density d;
        density_open(&d, c, false);
        memcpy(dpi_run_value(run, logits), c->tried,
               (per_record ? N_TRIED : 1) * MAX_NUMBERS * sizeof(double));
        for (int r = 0; r < N_TRIED; r++)
            dpi_run_value(run, y)[r] = (r + 2) % MAX_NUMBERS;
        dpi_run_globals(run);
        dpi_run_records(run, N_TRIED, NULL, 0);
        for (int r = 0; r < N_TRIED; r++)
            assert_close(dpi_run_value(run, wanted[2])[r],
                         density_at(&d, (r + 2) % MAX_NUMBERS, c->tried[per_record ? r : 0], NULL),
                         1e-15, 0);
        density_close(&d);
        dpi_run_free(run);
        dpi_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_and_values_broadcast),
        cmocka_unit_test(categories_read_the_logits_of_their_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
