#include "graph/describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/gradient.h"
#include "graph/op.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

/* y[i] ~ a[district] + x.w, squared error, in a model with a few awkward names. */
typedef struct setting {
    dpi_arena arena;
    dp_error err;
    dpi_graph g;
    dpi_id w, effect, product, loss, total, unused;
} setting;

static dpi_id source(setting *s, const dpi_op *op, const char *name, dpi_shape shape, size_t number)
{
    return dpi_source(&s->g, op, name, (dpi_attr){.shape = shape, .number = number});
}

static void set_up(setting *s)
{
    *s = (setting){.w = DPI_NONE};
    dpi_graph *g = &s->g;
    dpi_graph_init(g, &s->arena, &s->err);
    g->where = (dpi_where){"model.c", 12};
    s->w = source(s, &dpi_op_input, "w", dpi_vector(3, false), 0);
    dpi_id a = source(s, &dpi_op_input, "a \"b\" \\n\n", dpi_vector(60, false), 0);
    g->where = (dpi_where){"dir\\data \"x\".c", 14};
    dpi_id x = source(s, &dpi_op_data, "x", dpi_vector(3, true), 0);
    dpi_id d = source(s, &dpi_op_index, "district", dpi_scalar(true), 60);
    g->where = (dpi_where){NULL, 0};
    s->effect = dpi_apply(g, &dpi_op_pick, a, d, NULL);
    s->product = dpi_apply(g, &dpi_op_matmul, x, s->w, NULL);
    s->loss = dpi_scale(g, -2.5, dpi_unary(g, &dpi_op_square, dpi_add(g, s->effect, s->product)));
    s->total = dpi_apply(g, &dpi_op_sum_records, s->loss, DPI_NONE, NULL);
    s->unused = dpi_polygamma_node(g, 2, s->w);
    assert_ok(s->err.status, s->err.text);
}

static void tear_down(setting *s)
{
    dpi_arena_free(&s->arena);
}

static char *text_of(const setting *s, const bool *chosen, bool dot)
{
    dp_error err = {0};
    char *text;
    assert_ok(dot ? dpi_graph_dot(&s->g, chosen, &text, &err)
                  : dpi_graph_text(&s->g, chosen, &text, &err),
              err.text);
    return text;
}

/* The last lines of the text. */
typedef struct totals {
    size_t nodes, crossings;
    double flops_once, flops_each;
} totals;

static totals totals_of(const setting *s, const bool *chosen)
{
    totals t;
    char *text = text_of(s, chosen, false), *last = strstr(text, "nodes, ");
    assert_non_null(last);
    while (last > text && last[-1] != '\n')
        last--;
    assert_int_equal(sscanf(last,
                            "%zu nodes, %zu crossings (*) once: %lf flops, %*f bytes for each "
                            "record: %lf flops",
                            &t.nodes, &t.crossings, &t.flops_once, &t.flops_each),
                     4);
    dpi_free(text);
    return t;
}

static void writes_one_line_a_node(void **state)
{
    (void)state;
    /* clang-format off */
    static const char expected[] =
        "    #  name             operation                   shape                           "
        " flops  where               formula\n"
        "    0  w                input                       [3]                                "
        "  0  model.c:12          set by the caller\n"
        "    1  a \"b\" \\n?        input                       [60]                            "
        "     0  model.c:12          set by the caller\n"
        "    2  x                data                        [3], one per record                "
        "  0  dir\\data \"x\".c:14   x_i of record i\n"
        "    3  district         index                       a number, one per record           "
        "  0  dir\\data \"x\".c:14   g_i of record i, a group number\n"
        "    4* -                pick(a \"b\" \\n?, district)   a number, one per record        "
        "     0  -                   a[g]\n"
        "    5* -                matmul(x, w)                a number, one per record           "
        "  6  -                   sum_k a_ik b_kj\n"
        "    6  -                add(#4, #5)                 a number, one per record           "
        "  1  -                   a + b\n"
        "    7  -                square(#6)                  a number, one per record           "
        "  1  -                   a^2\n"
        "    8  -                const -2.5                  a number                           "
        "  0  -                   a constant\n"
        "    9  -                mul(-2.5, #7)               a number, one per record           "
        "  1  -                   a * b\n"
        "   10  -                sum_records(#9)             a number                           "
        "  1  -                   sum_i a_i over records\n"
        "   11  -                polygamma 2(w)              [3]                                "
        " 60  -                   psi_n(a)\n"
        "12 nodes, 2 crossings (*)\n"
        "once:            60 flops, 544 bytes\n"
        "for each record: 10 flops, 72 bytes\n";
    /* clang-format on */
    setting s;
    set_up(&s);
    char *text = text_of(&s, NULL, false);
    assert_string_equal(text, expected);
    dpi_free(text);
    tear_down(&s);
}

static void chosen_nodes_alone_are_written_and_counted(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    bool chosen[32] = {false};
    dpi_mark(&s.g, s.product, chosen);
    char *text = text_of(&s, chosen, false), *dot = text_of(&s, chosen, true);
    assert_contains(
        text, "3 nodes, 1 crossings (*)\nonce:            0 flops, 24 bytes\nfor each record: 6 "
              "flops, 32 bytes\n");
    assert_null(strstr(text, "pick"));
    assert_null(strstr(dot, "pick"));
    assert_contains(dot, "matmul");
    dpi_free(text);
    dpi_free(dot);
    tear_down(&s);
}

/* What varies on the global side makes a crossing; constants do not. */
static void crossings_are_where_inputs_meet_records(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    dpi_graph *g = &s.g;
    dpi_id number = source(&s, &dpi_op_input, "n", dpi_scalar(false), 0);
    struct {
        dpi_id left, right;
        size_t crossings;
    } cases[] = {
        {number, s.loss, 1},
        {s.loss, number, 1},
        {s.loss, dpi_unary(g, &dpi_op_exp, number), 1},
        {s.loss, dpi_unary(g, &dpi_op_exp, dpi_constant(g, 2)), 0},
        {s.loss, s.loss, 0},
        {number, s.total, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const totals before = totals_of(&s, NULL);
        (void)dpi_div(g, cases[i].left, cases[i].right);
        const totals after = totals_of(&s, NULL);
        assert_int_equal(after.nodes, before.nodes + 1);
        assert_int_equal(after.crossings - before.crossings, cases[i].crossings);
    }
    tear_down(&s);
}

static void costs_count_terms_not_results(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    dpi_graph *g = &s.g;
    dpi_id v = source(&s, &dpi_op_data, "v", dpi_vector(100, true), 0);
    struct {
        dpi_id node;
        double flops;
    } cases[] = {
        {dpi_sum(g, v), 100},
        {dpi_unary(g, &dpi_op_log_sum_exp, v), 2100},
        {dpi_unary(g, &dpi_op_exp, v), 2000},
        {dpi_apply(g, &dpi_op_outer, v, s.w, NULL), 300},
        {dpi_apply(g, &dpi_op_sum_records, v, DPI_NONE, NULL), 100},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool chosen[64] = {false};
        chosen[cases[i].node] = true;
        const totals cost = totals_of(&s, chosen);
        assert_close(cost.flops_each, cases[i].flops, 0, 0);
        assert_close(cost.flops_once, 0, 0, 0);
    }
    tear_down(&s);
}

static void names_are_escaped_for_graphviz(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    char *dot = text_of(&s, NULL, true);
    assert_contains(
        dot,
        "n1 [label=\"a \\\"b\\\" \\\\n?\\ninput\\n[60]\", tooltip=\"model.c:12, set by the caller, "
        "0 flops\", fillcolor=\"#cfe2f3\"];\n");
    assert_contains(
        dot,
        "tooltip=\"dir\\\\data \\\"x\\\".c:14, x_i of record i, 0 flops\", fillcolor=\"#fff2b3\"]");
    assert_contains(
        dot,
        "n5 [label=\"matmul(x, w)\\na number, one per record\", tooltip=\"-, sum_k a_ik b_kj, 6 "
        "flops\", fillcolor=\"#fff2b3\", color=\"#cc0000\", penwidth=3];\n"
        "  n2 -> n5;\n  n0 -> n5 [color=\"#cc0000\", penwidth=2];\n");
    /* Every quote that is not escaped opens or closes a string. */
    size_t quotes = 0;
    for (const char *c = dot; *c != 0; c++) {
        if (*c == '\\')
            c++;
        else
            quotes += *c == '"';
    }
    assert_int_equal(quotes % 2, 0);
    dpi_free(dot);
    tear_down(&s);
}

static void graphviz_accepts_it(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    dpi_id adjoint;
    assert_ok(dpi_gradient(&s.g, s.loss, 1, &s.w, &adjoint), s.err.text);
    if (system("dot -V >/dev/null 2>&1") != 0) {
        tear_down(&s);
        print_message("dot is not installed\n");
        skip();
    }
    char *dot = text_of(&s, NULL, true);
    FILE *pipe = popen("dot -Tsvg >/dev/null", "w");
    assert_non_null(pipe);
    assert_true(fputs(dot, pipe) >= 0);
    assert_int_equal(pclose(pipe), 0);
    dpi_free(dot);
    tear_down(&s);
}

static void empty_and_large_graphs_are_written(void **state)
{
    (void)state;
    setting s = {.w = DPI_NONE};
    dpi_graph_init(&s.g, &s.arena, &s.err);
    char *text = text_of(&s, NULL, false);
    assert_contains(text, "0 nodes, 0 crossings");
    dpi_free(text);
    dpi_id x = source(&s, &dpi_op_input, "x", dpi_scalar(false), 0);
    for (size_t i = 0; i < 3000; i++)
        x = dpi_unary(&s.g, &dpi_op_tanh, x);
    text = text_of(&s, NULL, false);
    size_t lines = 0;
    for (const char *c = text; *c != 0; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 3001 + 4);
    dpi_free(text);
    tear_down(&s);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    size_t before = faulty_live();
    for (int dot = 0; dot < 2; dot++)
        for (size_t k = 1;; k++) {
            dp_error err = {0};
            char *text = (char *)1;
            faulty_fail(k);
            dp_status status = dot ? dpi_graph_dot(&s.g, NULL, &text, &err)
                                   : dpi_graph_text(&s.g, NULL, &text, &err);
            int failed = faulty_failed();
            faulty_fail(0);
            assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
            assert_true((text == NULL) == (failed != 0));
            dpi_free(text);
            assert_int_equal(faulty_live(), before);
            if (!failed)
                break;
        }
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_one_line_a_node),
        cmocka_unit_test(chosen_nodes_alone_are_written_and_counted),
        cmocka_unit_test(crossings_are_where_inputs_meet_records),
        cmocka_unit_test(costs_count_terms_not_results),
        cmocka_unit_test(names_are_escaped_for_graphviz),
        cmocka_unit_test(graphviz_accepts_it),
        cmocka_unit_test(empty_and_large_graphs_are_written),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
