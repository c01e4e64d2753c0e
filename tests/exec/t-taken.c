/* Products that are made on the way to the sum that reads them: which are, and that results are, to
 * the bit, those of two calls. */
#include "exec/taken.h"

#include <math.h>
#include <string.h>

#include "exec/value.h"
#include "tests/lib/check.h"

enum { CHUNK = 9, M = 7, OPERANDS = 4, FORMS = 4 };

typedef struct scene {
    dpi_arena arena;
    dp_error err;
    dpi_graph g;
    dpi_id in[OPERANDS]; /* rows and numbers, of each record and of all */
} scene;

static void set_up(scene *s, size_t length)
{
    static const char *const names[OPERANDS] = {"rows", "row", "numbers", "number"};
    memset(s, 0, sizeof *s);
    dpi_graph_init(&s->g, &s->arena, &s->err);
    for (int k = 0; k < OPERANDS; k++) {
        dpi_shape shape = {.n_dims = k < 2, .dim = {length}, .per_record = k % 2 == 0};
        s->in[k] = dpi_source(&s->g, &dpi_op_input, names[k], (dpi_attr){.shape = shape});
    }
}

static void tear_down(scene *s)
{
    dpi_arena_free(&s->arena);
}

static size_t size_of(const scene *s, dpi_id id)
{
    return dpi_shape_size(&dpi_get(&s->g, id)->shape);
}

static bool of_record(const scene *s, dpi_id id)
{
    return dpi_get(&s->g, id)->shape.per_record;
}

/* Number e of operand k for record r; no two roundings treat these alike. */
static double value_of(const scene *s, int k, size_t r, size_t e)
{
    e = size_of(s, s->in[k]) == 1 ? 0 : e;
    r = of_record(s, s->in[k]) ? r : 0;
    return sin(1 + 3.7 * k + 0.913 * (double)e + 0.377 * (double)r) * 1.713;
}

static void fill(const scene *s, dpi_run *run)
{
    for (int k = 0; k < OPERANDS; k++) {
        double *to = dpi_run_value(run, s->in[k]);
        size_t size = size_of(s, s->in[k]), rows = of_record(s, s->in[k]) ? CHUNK : 1;
        for (size_t i = 0; to != NULL && i < rows * size; i++)
            to[i] = value_of(s, k, i / size, i % size);
    }
}

static dpi_run *start(scene *s, size_t n_wanted, const dpi_id *wanted, size_t strip)
{
    dpi_run *run;
    assert_ok(s->err.status, s->err.text);
    dpi_run_spec spec = {
        .graph = &s->g, .wanted = wanted, .n_wanted = n_wanted, .chunk = CHUNK, .strip = strip};
    assert_ok(dpi_run_new(&spec, &run, &s->err), s->err.text);
    fill(s, run);
    dpi_run_globals(run);
    return run;
}

/* ab + c, c + ab, ab - c and c - ab. */
static dpi_id apply(dpi_graph *g, int form, dpi_id product, dpi_id c)
{
    dpi_id in[2] = {form % 2 == 0 ? product : c, form % 2 == 0 ? c : product};
    return form < 2 ? dpi_add(g, in[0], in[1]) : dpi_sub(g, in[0], in[1]);
}

static double applied(int form, double product, double c)
{
    return form < 2 ? product + c : form == 2 ? product - c : c - product;
}

static void check_values(const scene *s, dpi_run *run, dpi_id sum, const int of[3], int form)
{
    const double *y = dpi_run_value(run, sum);
    const size_t size = size_of(s, sum);
    for (size_t i = 0; i < size * (of_record(s, sum) ? M : 1); i++) {
        size_t r = i / size, e = i % size;
        /* Rounded before it is added, whatever the compiler would make of it. */
        volatile double product = value_of(s, of[0], r, e) * value_of(s, of[1], r, e);
        assert_true(y[i] == applied(form, product, value_of(s, of[2], r, e)));
    }
}

static void check_case(size_t length, const int of[3], int form)
{
    scene s;
    set_up(&s, length);
    dpi_id product = dpi_times(&s.g, s.in[of[0]], s.in[of[1]]);
    dpi_id sum = apply(&s.g, form, product, s.in[of[2]]);
    const dpi_id wanted[] = {sum, s.in[0], s.in[1], s.in[2], s.in[3]};
    dpi_run *run = start(&s, 5, wanted, 0), *clone;
    bool like =
        size_of(&s, product) == size_of(&s, sum) && of_record(&s, product) == of_record(&s, sum);
    assert_int_equal(dpi_run_value(run, product) == NULL, like);
    if (of_record(&s, sum))
        dpi_run_records(run, M, NULL, 0);
    check_values(&s, run, sum, of, form);
    assert_ok(dpi_run_clone(run, &clone, &s.err), s.err.text);
    fill(&s, clone);
    dpi_run_records(clone, M, NULL, 0);
    check_values(&s, clone, sum, of, form);
    dpi_run_free(clone);
    dpi_run_free(run);
    tear_down(&s);
}

static void sums_that_take_products_are_those_of_two_calls(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 21};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (int i = 0; i < OPERANDS * OPERANDS * OPERANDS; i++)
            for (int form = 0; form < FORMS; form++)
                check_case(lengths[l], (int[]){i / 16, i / 4 % 4, i % 4}, form);
}

/* [2][n] of a product and n numbers, which both rows meet: no kernel is for that. */
static void a_sum_with_numbers_that_repeat_is_two_calls(void **state)
{
    (void)state;
    enum { N = 8 };
    for (int form = 0; form < FORMS; form++) {
        scene s;
        set_up(&s, N);
        const dpi_shape table = {.n_dims = 2, .dim = {2, N}};
        dpi_id t = dpi_source(&s.g, &dpi_op_input, "table", (dpi_attr){.shape = table});
        dpi_id product = dpi_times(&s.g, t, s.in[3]), sum = apply(&s.g, form, product, s.in[1]);
        const dpi_id wanted[] = {sum, t, s.in[1], s.in[3]};
        dpi_run *run = start(&s, 4, wanted, 0);
        for (size_t i = 0; i < 2 * N; i++)
            dpi_run_value(run, t)[i] = cos((double)i);
        dpi_run_globals(run);
        for (size_t i = 0; i < 2 * N; i++) {
            volatile double expected = cos((double)i) * value_of(&s, 3, 0, 0);
            assert_true(dpi_run_value(run, sum)[i] ==
                        applied(form, expected, value_of(&s, 1, 0, i % N)));
        }
        dpi_run_free(run);
        tear_down(&s);
    }
}

static void what_others_read_keeps_its_value(void **state)
{
    (void)state;
    scene s;
    set_up(&s, 5);
    dpi_graph *g = &s.g;
    dpi_id product = dpi_times(g, s.in[0], s.in[1]), twice = dpi_add(g, product, product);
    dpi_id first = dpi_add(g, product, s.in[1]), second = dpi_sub(g, s.in[1], product);
    const dpi_id readers[][2] = {{first, product}, {first, second}, {twice, twice}};
    for (int k = 0; k < 3; k++) {
        const dpi_id wanted[] = {readers[k][0], readers[k][1], s.in[0], s.in[1]};
        dpi_run *run = start(&s, 4, wanted, 0);
        dpi_run_records(run, M, NULL, 0);
        const double *p = dpi_run_value(run, product), *y = dpi_run_value(run, readers[k][0]);
        assert_non_null(p);
        for (size_t i = 0; i < M * 5; i++) {
            volatile double expected = value_of(&s, 0, i / 5, i % 5) * value_of(&s, 1, 0, i % 5);
            assert_true(p[i] == expected);
            assert_true(y[i] == (k < 2 ? p[i] + value_of(&s, 1, 0, i % 5) : p[i] + p[i]));
        }
        dpi_run_free(run);
    }
    tear_down(&s);
}

/* tanh(rows) rows is added to what a product of all records gives, after which the strip's tanh is
 * another record's. */
static void nothing_is_taken_out_of_strips(void **state)
{
    (void)state;
    enum { LENGTH = 3 };
    static const double matrix[LENGTH * LENGTH] = {0.3, -1.2, 0.7, 1.1, 0.2, -0.4, 0.9, 0.6, -0.8};
    static const size_t strips[] = {1, SIZE_MAX};
    double sum[2][M * LENGTH];
    scene s;
    set_up(&s, LENGTH);
    dpi_graph *g = &s.g;
    const dpi_shape square = {.n_dims = 2, .dim = {LENGTH, LENGTH}};
    dpi_id inner = dpi_unary(g, &dpi_op_tanh, s.in[0]), product = dpi_times(g, inner, s.in[0]);
    dpi_id turned =
        dpi_apply(g, &dpi_op_matmul, dpi_constant_array(g, square, matrix), s.in[0], NULL);
    dpi_id last = dpi_add(g, product, turned);
    const dpi_id wanted[] = {last, s.in[0]};
    for (int k = 0; k < 2; k++) {
        dpi_run *run = start(&s, 2, wanted, strips[k]);
        assert_int_equal(dpi_run_value(run, product) == NULL, k == 1);
        dpi_run_records(run, M, NULL, 0);
        memcpy(sum[k], dpi_run_value(run, last), sizeof sum[k]);
        dpi_run_free(run);
    }
    assert_memory_equal(sum[0], sum[1], sizeof sum[0]);
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_that_take_products_are_those_of_two_calls),
        cmocka_unit_test(a_sum_with_numbers_that_repeat_is_two_calls),
        cmocka_unit_test(what_others_read_keeps_its_value),
        cmocka_unit_test(nothing_is_taken_out_of_strips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
