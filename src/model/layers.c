/* Layers of networks, written in operations of the graph. */
#include "model/model.h"

#include "graph/op.h"

dpi_window dpi_window_of(const dp_window *window)
{
    dpi_window w = {{0}, {0}, {0}, {0}};
    if (window == NULL)
        dpi_misuse("a layer with a window", "NULL window");
    for (int k = 0; k < 2; k++) {
        w.image[k] = window->image[k];
        w.size[k] = window->size[k];
        w.stride[k] = window->stride[k] == 0 ? 1 : window->stride[k];
        w.padding[k] = window->padding[k];
    }
    return w;
}

static dp_expr one_input(dp_expr a, const dpi_op *op, const dpi_attr *attr, const char *call)
{
    if (a.model == NULL)
        dpi_misuse(call, "a plain number where an expression of a model is needed");
    return (dp_expr){.model = a.model, .id = dpi_apply(&a.model->graph, op, a.id, DPI_NONE, attr)};
}

dp_expr dp_dense(dp_expr x, dp_expr weights, dp_expr bias)
{
    return dp_add(dp_matmul(x, weights), bias);
}

dp_expr dp_conv2d(dp_expr image, dp_expr weights, const dp_window *window)
{
    const dpi_attr attr = {.window = dpi_window_of(window)};
    return dp_matmul(one_input(image, &dpi_op_patches, &attr, __func__), weights);
}

dp_expr dp_avg_pool2d(dp_expr image, const dp_window *window)
{
    const dpi_attr attr = {.window = dpi_window_of(window)};
    dp_expr sum = one_input(image, &dpi_op_pool_sum, &attr, __func__);
    return dp_div(sum, dp_num((double)attr.window.size[0] * (double)attr.window.size[1]));
}

dp_expr dp_max_pool2d(dp_expr image, const dp_window *window)
{
    const dpi_attr attr = {.window = dpi_window_of(window)};
    dp_model *m = dpi_expr_model(image, image, __func__);
    return (dp_expr){.model = m,
                     .id = dpi_apply(&m->graph, &dpi_op_pool_max, image.id, image.id, &attr)};
}

dp_expr dp_reshape(dp_expr a, size_t rows, size_t columns)
{
    dp_model *m = a.id != DPI_NONE ? a.model : NULL;
    const size_t size = m != NULL ? dpi_shape_size(&dpi_get(&m->graph, a.id)->shape) : 0;
    if (m != NULL && (rows == 0 || columns == 0 || size / rows != columns || size % rows != 0))
        (void)dpi_fail(&m->err, DP_ESHAPE,
                       "after %s:%d: dp_reshape: a matrix [%zu][%zu] is asked for, and there are "
                       "%zu numbers; it must hold just as many",
                       m->graph.where.file != NULL ? m->graph.where.file : "the start",
                       m->graph.where.line, rows, columns, size);
    const dpi_attr attr = {.shape = {.n_dims = 2, .dim = {rows, columns}}};
    return one_input(a, &dpi_op_reshape, &attr, __func__);
}

dp_expr dp_flatten(dp_expr a)
{
    dpi_attr attr = {.value = 0};
    if (a.model != NULL && a.id != DPI_NONE)
        attr.shape = dpi_vector(dpi_shape_size(&dpi_get(&a.model->graph, a.id)->shape), false);
    return one_input(a, &dpi_op_reshape, &attr, __func__);
}
