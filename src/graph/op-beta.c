/* y = log I_x(a, b), the regularised incomplete beta function at x = 1 / (1 + e^-t), or one of its
 * derivatives; attr.number is their orders in a, b and t as i + 4 j + 16 k (num/tail.h).
 *
 *   [..][3] -> [..]     the last dimension holds a, b and t
 *
 * An operation has two inputs, and this function three arguments. */
#include <stdio.h>

#include "graph/op.h"

enum { ARGUMENTS = 3 };

/* a along a new last dimension, times 1 at `place` and 0 elsewhere. */
static dpi_id put_at(dpi_graph *g, dpi_id a, size_t place)
{
    double unit[ARGUMENTS] = {0};
    unit[place] = 1;
    const dpi_attr attr = {.number = ARGUMENTS};
    dpi_id where = dpi_constant_array(g, dpi_vector(ARGUMENTS, false), unit);
    return dpi_times(g, dpi_apply(g, &dpi_op_spread, a, DPI_NONE, &attr), where);
}

/* The value of a number; false where it is none. */
static bool number_of(const dpi_graph *g, dpi_id id, double *value)
{
    if (id == DPI_NONE || !dpi_is_number(dpi_get(g, id)))
        return false;
    *value = dpi_get(g, id)->attr.value;
    return true;
}

/* Numbers are folded here: packed, they are an array, which is not. */
dpi_id dpi_beta_tail_node(dpi_graph *g, dpi_id a, dpi_id b, dpi_id t)
{
    double v[ARGUMENTS];
    if (number_of(g, a, &v[0]) && number_of(g, b, &v[1]) && number_of(g, t, &v[2]))
        return dpi_constant(g, dpi_log_beta_tail((dpi_beta_of){0, 0, 0}, v[0], v[1], v[2]));
    dpi_id shapes = dpi_add(g, put_at(g, a, 0), put_at(g, b, 1));
    dpi_id all = dpi_add(g, shapes, put_at(g, t, 2));
    return dpi_apply(g, &dpi_op_log_beta_tail, all, DPI_NONE, &(dpi_attr){.number = 0});
}

static const char *beta_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                              dpi_shape *shape)
{
    (void)b, (void)attr;
    if (a->n_dims == 0 || a->dim[a->n_dims - 1] != ARGUMENTS)
        return "the last dimension must hold three numbers";
    *shape = *a;
    shape->n_dims--;
    shape->dim[shape->n_dims] = 0;
    shape->plate[shape->n_dims] = 0;
    return NULL;
}

/* dy/da, dy/db and dy/dt = the next derivatives, NaN for those of order 3 in all. */
static void beta_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node node = *dpi_get(g, y);
    size_t unit = 1;
    for (size_t k = 0; k < ARGUMENTS; k++, unit *= 4) {
        size_t order = node.attr.number / unit % 4;
        const dpi_attr attr = {.number = node.attr.number + (order < 3 ? unit : 0)};
        dpi_id slope = dpi_apply(g, node.op, node.in[0], DPI_NONE, &attr);
        dpi_id part = put_at(g, dpi_times(g, adjoint, slope), k);
        result[0] = k == 0 ? part : dpi_add(g, result[0], part);
    }
}

static void beta_detail(const dpi_node *node, char *text, size_t size)
{
    size_t number = node->attr.number;
    (void)snprintf(text, size, " %zu %zu %zu", number % 4, number / 4 % 4, number / 16 % 4);
}

/* A fraction of about twenty steps, or an integral of sixty nodes. */
static double beta_flops(const dpi_node *node)
{
    return 100 * dpi_flops_transcendental(node);
}

const dpi_op dpi_op_log_beta_tail = {.id = DPI_OP_log_beta_tail,
                                     .name = "log_beta_tail",
                                     .formula =
                                         "log I_x(a, b), x = 1 / (1 + e^-t), or a derivative",
                                     .class = DPI_REDUCTION,
                                     .given = DPI_ATTR_NUMBER,
                                     .n_inputs = 1,
                                     .shape = beta_shape,
                                     .backward = beta_backward,
                                     .flops = beta_flops,
                                     .detail = beta_detail};
