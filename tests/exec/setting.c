#include "tests/exec/setting.h"

#include <math.h>
#include <string.h>

#include "exec/value.h"
#include "graph/gradient.h"
#include "tests/lib/check.h"

const size_t setting_sizes[CROSSINGS] = {D, GROUPS, HIDDEN *D, 1, 1};

static double spread(size_t i)
{
    double at = (double)(i + 3) * 0.6180339887498949;
    return 3.385 * (at - floor(at)) - 1.713;
}

dpi_id source(setting *s, const dpi_op *op, const char *name, dpi_shape shape, size_t number)
{
    return dpi_source(&s->g, op, name, (dpi_attr){.shape = shape, .number = number});
}

static dpi_id matrix(setting *s, const char *name, size_t rows, size_t columns)
{
    dpi_shape shape = dpi_vector(columns, false);
    (void)dpi_shape_prepend(&shape, rows, 0);
    return source(s, &dpi_op_input, name, shape, 0);
}

static void build_graph(setting *s)
{
    dpi_graph *g = &s->g;
    dpi_id x = source(s, &dpi_op_data, "x", dpi_vector(D, true), 0);
    dpi_id y = source(s, &dpi_op_data, "y", dpi_scalar(true), 0);
    dpi_id group = source(s, &dpi_op_index, "district", dpi_scalar(true), GROUPS);
    dpi_id w = source(s, &dpi_op_input, "w", dpi_vector(D, false), 0);
    dpi_id a = source(s, &dpi_op_input, "a", dpi_vector(GROUPS, false), 0);
    dpi_id m = matrix(s, "W", HIDDEN, D),
           log_scale = source(s, &dpi_op_input, "s", dpi_scalar(false), 0);
    s->scale = dpi_unary(g, &dpi_op_exp, log_scale);
    dpi_id intercept = source(s, &dpi_op_input, "intercept", dpi_scalar(false), 0);
    dpi_id hidden = dpi_unary(g, &dpi_op_tanh, dpi_apply(g, &dpi_op_matmul, m, x, NULL));
    dpi_id eta = dpi_times(g, s->scale, dpi_apply(g, &dpi_op_pick, a, group, NULL));
    eta = dpi_add(g, dpi_add(g, eta, dpi_apply(g, &dpi_op_matmul, x, w, NULL)),
                  dpi_add(g, dpi_sum(g, hidden), intercept));
    s->root = dpi_sub(g, dpi_times(g, y, eta), dpi_unary(g, &dpi_op_softplus, eta));
    s->total = dpi_apply(g, &dpi_op_sum_records, s->root, DPI_NONE, NULL);
    s->late = source(s, &dpi_op_input, "noise", dpi_scalar(false), DPI_LATE);
    s->result = dpi_add(g, dpi_times(g, s->scale, s->late), s->total);
    s->unused = source(s, &dpi_op_data, "not there", dpi_vector(9, true), 0);
    s->weights = w;
    const dpi_id crossing[CROSSINGS] = {w, a, m, s->scale, intercept};
    memcpy(s->crossing, crossing, sizeof crossing);
    (void)dpi_gradient(g, s->root, CROSSINGS, crossing, s->part);
    (void)dpi_gradient(g, s->total, CROSSINGS, crossing, s->sum);
}

static void set_data(setting *s)
{
    for (size_t i = 0; i < N * D; i++)
        s->x[i] = spread(i);
    for (size_t i = 0; i < N; i++) {
        s->y[i] = (double)(i % 2);
        s->group[i] = (int32_t)((i * 3) % GROUPS);
    }
    s->data = dp_dataset_new(N);
    if (s->data == NULL)
        return;
    dp_dataset_real(s->data, "x", D, s->x);
    dp_dataset_real(s->data, "y", 1, s->y);
    dp_dataset_index(s->data, "district", s->group);
}

void set_up(setting *s)
{
    memset(s, 0, sizeof *s);
    dpi_graph_init(&s->g, &s->arena, &s->err);
    build_graph(s);
    assert_ok(s->err.status, s->err.text);
    set_data(s);
}

void tear_down(setting *s)
{
    dp_dataset_free(s->data);
    dpi_arena_free(&s->arena);
}

static void set_inputs(const setting *s, dpi_run *run)
{
    size_t k = 40;
    for (size_t i = 0; i < s->g.n_nodes; i++) {
        const dpi_node *node = &s->g.nodes[i];
        double *value = dpi_run_value(run, (dpi_id)i);
        if (node->op != &dpi_op_input || node->attr.number == DPI_LATE)
            continue;
        for (size_t e = 0; e < dpi_shape_size(&node->shape); e++, k++)
            if (value != NULL)
                value[e] = spread(k);
    }
}

dpi_run *start(const setting *s, size_t n_wanted, const dpi_id *wanted, size_t n_parts,
               size_t chunk)
{
    dpi_run *run;
    dp_error err = {0};
    dpi_run_spec spec = {.graph = &s->g,
                         .wanted = wanted,
                         .n_wanted = n_wanted,
                         .parts = s->part,
                         .n_parts = n_parts,
                         .data = s->data,
                         .chunk = chunk,
                         .strip = SIZE_MAX}; /* every value is there */
    assert_ok(dpi_run_new(&spec, &run, &err), err.text);
    set_inputs(s, run);
    dpi_run_globals(run);
    dpi_run_start_records(run);
    return run;
}
