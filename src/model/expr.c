/* Arithmetic on expressions: each call adds one node of the operation table. */
#include "graph/kernel.h"
#include "model/model.h"

/* The model of an operation's operands; NULL when all are plain numbers. */
static dp_model *model_of(dp_expr a, dp_expr b)
{
    return a.model != NULL ? a.model : b.model;
}

/* File of the last declaration, for messages. */
static const char *location(const dp_model *m)
{
    return m->graph.where.file != NULL ? m->graph.where.file : "model";
}

/* An operation on numbers only is done at once. */
static dp_expr on_numbers(const dpi_op *op, double a, double b, const dpi_attr *attr)
{
    dp_expr result = {0};
    dpi_call call = {.n = 1,
                     .in = {&a, &b},
                     .out = &result.value,
                     .in_size = {1, 1},
                     .out_size = 1,
                     .attr = attr};
    dpi_kernels[op->id].run(&call);
    return result;
}

static dp_expr binary_with(const dpi_op *op, dp_expr a, dp_expr b, const dpi_attr *attr)
{
    dp_model *m = model_of(a, b);
    if (m == NULL)
        return on_numbers(op, a.value, b.value, attr);
    dpi_id left = dpi_expr_id(m, a), right = dpi_expr_id(m, b);
    return (dp_expr){.model = m, .id = dpi_apply(&m->graph, op, left, right, attr)};
}

static dp_expr binary(const dpi_op *op, dp_expr a, dp_expr b)
{
    return binary_with(op, a, b, &(dpi_attr){0});
}

dp_expr dpi_expr_unary(const dpi_op *op, dp_expr a, const dpi_attr *attr)
{
    if (a.model == NULL)
        return on_numbers(op, a.value, 0, attr);
    return (dp_expr){.model = a.model, .id = dpi_apply(&a.model->graph, op, a.id, DPI_NONE, attr)};
}

static dp_expr unary(const dpi_op *op, dp_expr a)
{
    return dpi_expr_unary(op, a, &(dpi_attr){0});
}

dp_model *dpi_expr_model(dp_expr a, dp_expr b, const char *call)
{
    dp_model *m = model_of(a, b);
    if (m == NULL)
        dpi_misuse(call, "plain numbers where an expression of a model is needed");
    return m;
}

dp_expr dp_add(dp_expr a, dp_expr b)
{
    return binary(&dpi_op_add, a, b);
}

dp_expr dp_sub(dp_expr a, dp_expr b)
{
    return binary(&dpi_op_sub, a, b);
}

dp_expr dp_mul(dp_expr a, dp_expr b)
{
    return binary(&dpi_op_mul, a, b);
}

dp_expr dp_div(dp_expr a, dp_expr b)
{
    return binary(&dpi_op_div, a, b);
}

dp_expr dp_scale(double factor, dp_expr a)
{
    return binary(&dpi_op_mul, dp_num(factor), a);
}

dp_expr dp_neg(dp_expr a)
{
    return unary(&dpi_op_neg, a);
}

dp_expr dp_exp(dp_expr a)
{
    return unary(&dpi_op_exp, a);
}

dp_expr dp_log(dp_expr a)
{
    return unary(&dpi_op_log, a);
}

dp_expr dp_log1p(dp_expr a)
{
    return unary(&dpi_op_log1p, a);
}

dp_expr dp_lgamma(dp_expr a)
{
    return unary(&dpi_op_lgamma, a);
}

dp_expr dp_digamma(dp_expr a)
{
    return dpi_expr_unary(&dpi_op_polygamma, a, &(dpi_attr){.number = 0});
}

dp_expr dp_sqrt(dp_expr a)
{
    return unary(&dpi_op_sqrt, a);
}

dp_expr dp_square(dp_expr a)
{
    return unary(&dpi_op_square, a);
}

dp_expr dp_logistic(dp_expr a)
{
    return unary(&dpi_op_logistic, a);
}

dp_expr dp_softplus(dp_expr a)
{
    return unary(&dpi_op_softplus, a);
}

dp_expr dp_tanh(dp_expr a)
{
    return unary(&dpi_op_tanh, a);
}

dp_expr dp_sin(dp_expr a)
{
    return unary(&dpi_op_sin, a);
}

dp_expr dp_cos(dp_expr a)
{
    return unary(&dpi_op_cos, a);
}

dp_expr dp_atan(dp_expr a)
{
    return unary(&dpi_op_atan, a);
}

dp_expr dp_abs(dp_expr a)
{
    return unary(&dpi_op_abs, a);
}

dp_expr dp_max(dp_expr a, dp_expr b)
{
    return binary(&dpi_op_max, a, b);
}

dp_expr dp_greater(dp_expr a, dp_expr b)
{
    return binary(&dpi_op_step, a, b);
}

dp_expr dp_where(dp_expr condition, dp_expr a, dp_expr b)
{
    return dp_add(binary_with(&dpi_op_keep, a, condition, &(dpi_attr){.number = 0}),
                  binary_with(&dpi_op_keep, b, condition, &(dpi_attr){.number = 1}));
}

dp_expr dp_relu(dp_expr a)
{
    return unary(&dpi_op_relu, a);
}

dp_expr dp_normal_cdf(dp_expr a)
{
    return unary(&dpi_op_normal_cdf, a);
}

dp_expr dp_sum(dp_expr a)
{
    if (a.model == NULL)
        return a;
    return (dp_expr){.model = a.model, .id = dpi_sum(&a.model->graph, a.id)};
}

dp_expr dp_sum_last(dp_expr a)
{
    bool number =
        a.model == NULL || (a.id != DPI_NONE && dpi_get(&a.model->graph, a.id)->shape.n_dims == 0);
    return number ? a : unary(&dpi_op_sum_last, a);
}

dp_expr dp_spread(dp_expr a, size_t n)
{
    (void)dpi_expr_model(a, a, __func__);
    return dpi_expr_unary(&dpi_op_spread, a, &(dpi_attr){.number = n});
}

dp_expr dp_dot(dp_expr a, dp_expr b)
{
    dp_model *m = dpi_expr_model(a, b, __func__);
    dpi_id left = dpi_expr_id(m, a), right = dpi_expr_id(m, b);
    if (left == DPI_NONE || right == DPI_NONE)
        return (dp_expr){.model = m, .id = DPI_NONE};
    /* Two numbers, vectors of length one: their product. */
    bool numbers =
        dpi_get(&m->graph, left)->shape.n_dims == 0 && dpi_get(&m->graph, right)->shape.n_dims == 0;
    const dpi_op *op = numbers ? &dpi_op_mul : &dpi_op_matmul;
    const dpi_shape *first = &dpi_get(&m->graph, left)->shape,
                    *second = &dpi_get(&m->graph, right)->shape;
    char text[2][DPI_SHAPE_TEXT];
    bool vectors = first->n_dims < 2 && second->n_dims < 2;
    if (!vectors || dpi_shape_size(first) != dpi_shape_size(second))
        (void)dpi_fail(&m->err, DP_ESHAPE,
                       "after %s:%d: dp_dot takes two vectors of one length, and not %s and %s%s",
                       location(m), m->graph.where.line, dpi_shape_text(first, text[0]),
                       dpi_shape_text(second, text[1]), vectors ? "" : "; use dp_matmul");
    return (dp_expr){.model = m, .id = dpi_apply(&m->graph, op, left, right, NULL)};
}

dp_expr dp_matmul(dp_expr a, dp_expr b)
{
    dp_model *m = dpi_expr_model(a, b, __func__);
    return (dp_expr){
        .model = m,
        .id = dpi_apply(&m->graph, &dpi_op_matmul, dpi_expr_id(m, a), dpi_expr_id(m, b), NULL)};
}

dp_expr dp_log_sum_exp(dp_expr a)
{
    (void)dpi_expr_model(a, a, __func__);
    return unary(&dpi_op_log_sum_exp, a);
}

dp_expr dp_cumulative_sum(dp_expr a)
{
    return a.model == NULL ? a : unary(&dpi_op_cumulative_sum, a);
}

/* A value [K] or [K][n] and a column of numbers below K, not of different plates. */
static bool picks(const dpi_node *value, const dpi_node *index)
{
    return value->shape.n_dims >= 1 && value->shape.dim[0] == index->attr.number &&
           (value->shape.plate[0] == 0 || index->attr.rows == 0 ||
            (size_t)value->shape.plate[0] == index->attr.rows);
}

static const char *plate_name(const dp_model *m, size_t plate)
{
    return plate >= 1 && plate <= m->n_plates ? m->plates[plate - 1].name : "(none)";
}

dp_expr dp_pick(dp_expr value, dp_expr index)
{
    dp_model *m = dpi_expr_model(value, index, __func__);
    dpi_id groups = dpi_expr_id(m, value), number = dpi_expr_id(m, index);
    if (groups == DPI_NONE || number == DPI_NONE)
        return (dp_expr){.model = m, .id = DPI_NONE};
    const dpi_node *node = dpi_get(&m->graph, number), *rows = dpi_get(&m->graph, groups);
    char text[DPI_SHAPE_TEXT], name[64];
    if (!dpi_is_groups(node))
        (void)dpi_fail(&m->err, DP_ESHAPE,
                       "after %s:%d: dp_pick(value, index): '%s' is no column of group numbers; "
                       "declare it with dp_index or dp_indices over the plate of the value",
                       location(m), m->graph.where.line,
                       dpi_node_text(&m->graph, number, name, sizeof name));
    else if (!picks(rows, node))
        (void)dpi_fail(
            &m->err, DP_ESHAPE,
            "after %s:%d: dp_pick takes a value of each group and a column of dp_index over "
            "the same plate; the value is %s in plate %s, the index '%s' of %zu groups in plate %s",
            location(m), m->graph.where.line, dpi_shape_text(&rows->shape, text),
            plate_name(m, rows->shape.n_dims > 0 ? (size_t)rows->shape.plate[0] : 0), node->name,
            node->attr.number, plate_name(m, node->attr.rows));
    return (dp_expr){.model = m, .id = dpi_apply(&m->graph, &dpi_op_pick, groups, number, NULL)};
}

dp_expr dp_slice(dp_expr a, size_t from, size_t n)
{
    dp_model *m = dpi_expr_model(a, a, __func__);
    dpi_attr attr = {.number = from, .rows = n};
    const dpi_shape *shape = a.id != DPI_NONE ? &dpi_get(&m->graph, a.id)->shape : NULL;
    char text[DPI_SHAPE_TEXT], name[64];
    size_t most = shape != NULL && shape->n_dims > 0 ? shape->dim[0] : 0;
    if (shape != NULL && (n == 0 || from > most || n > most - from))
        (void)dpi_fail(&m->err, DP_ESHAPE,
                       "after %s:%d: dp_slice: %zu element%s from %zu on were asked of '%s', which "
                       "is %s; they must lie within its first dimension, from 0 on",
                       location(m), m->graph.where.line, n, n == 1 ? "" : "s", from,
                       dpi_node_text(&m->graph, a.id, name, sizeof name),
                       dpi_shape_text(shape, text));
    return (dp_expr){.model = m, .id = dpi_apply(&m->graph, &dpi_op_slice, a.id, DPI_NONE, &attr)};
}

/* a in the first rows and b in the last of a longer vector of zeros, added up. */
dp_expr dp_concat(dp_expr a, dp_expr b)
{
    dp_model *m = dpi_expr_model(a, b, __func__);
    dpi_id left = dpi_expr_id(m, a), right = dpi_expr_id(m, b);
    if (left == DPI_NONE || right == DPI_NONE)
        return (dp_expr){.model = m, .id = DPI_NONE};
    const dpi_shape first = dpi_get(&m->graph, left)->shape,
                    second = dpi_get(&m->graph, right)->shape;
    char text[2][DPI_SHAPE_TEXT];
    if (first.n_dims > 1 || second.n_dims > 1)
        (void)dpi_fail(&m->err, DP_ESHAPE,
                       "after %s:%d: dp_concat takes two vectors, and not %s and %s; use "
                       "dp_flatten, and dp_reshape on what comes out",
                       location(m), m->graph.where.line, dpi_shape_text(&first, text[0]),
                       dpi_shape_text(&second, text[1]));
    size_t k = dpi_shape_size(&first), l = dpi_shape_size(&second);
    dpi_attr head = {.shape = dpi_vector(k + l, false), .number = 0, .inner = k};
    dpi_attr tail = {.shape = dpi_vector(k + l, false), .number = k, .inner = l};
    /* A row of one number is padded as a number, also where it is the [1] of a plate. */
    left = k == 1 ? dpi_sum(&m->graph, left) : left;
    right = l == 1 ? dpi_sum(&m->graph, right) : right;
    dpi_id sum = dpi_add(&m->graph, dpi_apply(&m->graph, &dpi_op_pad, left, DPI_NONE, &head),
                         dpi_apply(&m->graph, &dpi_op_pad, right, DPI_NONE, &tail));
    return (dp_expr){.model = m, .id = sum};
}

dp_expr dp_constant(dp_model *m, size_t n, const double *values)
{
    if (n == 0 && m->err.status == DP_OK)
        (void)dpi_fail(&m->err, DP_ESHAPE, "dp_constant: n is 0; give at least one number");
    dpi_id id = dpi_constant_array(&m->graph, dpi_vector(n, false), values);
    return (dp_expr){.model = m, .id = id};
}

dp_expr dp_constant_matrix(dp_model *m, size_t rows, size_t columns, const double *values)
{
    dpi_shape shape = {.n_dims = 2, .dim = {rows, columns}};
    if ((rows == 0 || columns == 0) && m->err.status == DP_OK)
        (void)dpi_fail(&m->err, DP_ESHAPE, "dp_constant_matrix: rows and columns are at least 1");
    return (dp_expr){.model = m, .id = dpi_constant_array(&m->graph, shape, values)};
}
