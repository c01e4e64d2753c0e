/* The executor's tables of operations: each has a row or a refusal for every operation, and the
 * factored forms of a value are those of the value. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exec/factored.h"
#include "exec/single.h"
#include "exec/strips.h"
#include "tests/graph/points.h"
#include "tests/lib/check.h"

static void check_row(const char *table, size_t i, bool has, const char *refused)
{
    if (has == (refused != NULL))
        fail_msg("%s: %s %s", dpi_ops[i]->name, table,
                 has ? "has a row and a refusal" : "has neither a row nor a refusal");
    assert_true(refused == NULL || strlen(refused) > 0);
}

static void every_operation_has_a_row_or_a_refusal(void **state)
{
    (void)state;
    for (size_t i = 0; i < DPI_N_OPS; i++) {
        const dpi_factored *f = &dpi_factored_forms[i];
        check_row("kernels-single.c", i, dpi_kernels_single[i].run != NULL,
                  dpi_kernels_single[i].refused);
        check_row("factored.c", i, f->norm2 != NULL || f->leaf != NULL || f->sign[0] != 0,
                  f->refused);
        check_row("strip-rules.c", i, dpi_strip_rules[i].may, dpi_strip_rules[i].refused);
    }
}

/* Without a kernel for floats an operation on records' values could not run. */
static void floats_have_the_kernels_of_doubles_but_for_sums_over_records(void **state)
{
    (void)state;
    for (size_t i = 0; i < DPI_N_OPS; i++)
        assert_true((dpi_kernels_single[i].run != NULL) ==
                    (dpi_kernels[i].run != NULL && !dpi_ops[i]->over_records));
}

static void factored_rows_are_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < DPI_N_OPS; i++) {
        const dpi_factored *f = &dpi_factored_forms[i];
        assert_true((f->norm2 == NULL) == (f->weighted_sum == NULL));
        assert_true(!f->outer || (f->norm2 != NULL && f->leaf != NULL));
        assert_true(f->sign[0] == 0 || (f->norm2 == NULL && f->leaf == NULL));
        assert_true((f->sign[1] != 0) == (f->sign[0] != 0 && dpi_ops[i]->n_inputs == 2));
    }
}

/* A call of the operation over all records, on the library's own inputs. */
static dpi_call call_of(const world *w, double *const in[2])
{
    const dpi_node *node = dpi_get(&w->g, w->y);
    dpi_call call = {
        .n = POINT_RECORDS, .out_size = dpi_shape_size(&node->shape), .attr = &node->attr};
    for (int k = 0; k < node->op->n_inputs; k++) {
        const dpi_shape *shape = &dpi_get(&w->g, node->in[k])->shape;
        call.in[k] = in[k];
        call.in_size[k] = dpi_shape_size(shape);
        call.in_step[k] = shape->per_record ? call.in_size[k] : 0;
    }
    return call;
}

static void check_factored(const point *p)
{
    enum { MOST = 64 };
    world w;
    world_of_point(&w, p);
    double *value[3], norm2[POINT_RECORDS] = {0.25, 0.5, 0.75}, sum[MOST], expected[MOST];
    const double weight[POINT_RECORDS] = {0.713, 0, -1.385};
    world_run(&w, p->op->n_inputs + 1, (dpi_id[]){w.y, w.in[0], w.in[1]}, POINT_RECORDS, value);
    dpi_call call = call_of(&w, &value[1]);
    assert_true(call.out_size <= MOST);
    dpi_factored_forms[p->op->id].norm2(&call, norm2);
    for (size_t r = 0; r < POINT_RECORDS; r++) {
        double direct = 0.25 * (double)(r + 1);
        for (size_t e = 0; e < call.out_size; e++)
            direct += value[0][r * call.out_size + e] * value[0][r * call.out_size + e];
        assert_close(norm2[r], direct, 1e-14, 0);
    }
    /* The skipped record may hold anything. */
    for (int k = 0; k < p->op->n_inputs; k++)
        for (size_t e = 0; call.in_step[k] != 0 && e < call.in_size[k]; e++)
            value[1 + k][call.in_size[k] + e] = p->groups > 0 && k == 1 ? 0
                                                : e % 2                 ? INFINITY
                                                                        : NAN;
    for (size_t e = 0; e < call.out_size; e++) {
        sum[e] = expected[e] = 0.125 * (double)e;
        for (size_t r = 0; r < POINT_RECORDS; r += 2)
            expected[e] += weight[r] * value[0][r * call.out_size + e];
    }
    dpi_factored_forms[p->op->id].weighted_sum(&call, weight, sum);
    for (size_t e = 0; e < call.out_size; e++)
        assert_close(sum[e], expected[e], 1e-14, 1e-14);
    for (int k = 0; k <= p->op->n_inputs; k++)
        free(value[k]);
    world_free(&w);
}

static void factored_forms_equal_the_value(void **state)
{
    (void)state;
    point *list;
    size_t n = points_all(&list), checked = 0;
    for (size_t i = 0; i < n; i++) {
        world w;
        if (dpi_factored_forms[list[i].op->id].norm2 == NULL)
            continue;
        world_of_point(&w, &list[i]);
        bool records = dpi_get(&w.g, w.y)->shape.per_record;
        world_free(&w);
        if (records)
            check_factored(&list[i]);
        checked += records;
    }
    assert_true(checked > 20);
    free(list);
}

/* Clipping rests on norms: no factor may vanish by being squared alone. */
static void factored_norms_hold_at_the_ends_of_the_range(void **state)
{
    (void)state;
    static const double scales[][2] = {{1, 1},          {3e-163, 7e153}, {2e-170, 5e160},
                                       {4e160, 3e-170}, {1e-300, 1e300}, {7e153, 3e-163}};
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        double a[2] = {2.385, -1.25}, b[2] = {-0.713, 1.917}, expected = 0, norm2 = 0, scaled = 0;
        const dpi_attr attr = {.rows = 2, .columns = 2, .inner = 1};
        for (size_t k = 0; k < 2; k++) {
            a[k] *= scales[i][0];
            b[k] *= scales[i][1];
        }
        dpi_call call = {.n = 1,
                         .in = {a, b},
                         .in_size = {2, 2},
                         .in_step = {2, 2},
                         .out_size = 4,
                         .attr = &attr};
        for (size_t k = 0; k < 4; k++)
            expected += a[k / 2] * b[k % 2] * (a[k / 2] * b[k % 2]);
        dpi_factored_forms[DPI_OP_outer].norm2(&call, &norm2);
        assert_close(norm2, expected, 1e-14, 0);
        call.in_size[0] = call.in_step[0] = 1;
        call.out_size = 2;
        expected = a[0] * b[0] * (a[0] * b[0]) + a[0] * b[1] * (a[0] * b[1]);
        dpi_factored_forms[DPI_OP_mul].norm2(&call, &scaled);
        assert_close(scaled, expected, 1e-14, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_has_a_row_or_a_refusal),
        cmocka_unit_test(floats_have_the_kernels_of_doubles_but_for_sums_over_records),
        cmocka_unit_test(factored_rows_are_whole),
        cmocka_unit_test(factored_forms_equal_the_value),
        cmocka_unit_test(factored_norms_hold_at_the_ends_of_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
