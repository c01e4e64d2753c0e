/* Values that come from outside the graph.  The executor puts them into place; a constant number or
 * array is in the attributes. */
#include <string.h>

#include "graph/op.h"

bool dpi_is_source(const dpi_node *node)
{
    return node->op->class == DPI_SOURCE;
}

bool dpi_is_const(const dpi_node *node)
{
    return node->op == &dpi_op_const;
}

bool dpi_is_number(const dpi_node *node)
{
    return dpi_is_const(node) && node->attr.array == NULL;
}

bool dpi_is_ones(const dpi_node *node)
{
    return node->op == &dpi_op_ones;
}

bool dpi_is_input(const dpi_node *node)
{
    return node->op == &dpi_op_input;
}

bool dpi_is_late(const dpi_node *node)
{
    return dpi_is_input(node) && node->attr.number == DPI_LATE;
}

bool dpi_is_groups(const dpi_node *node)
{
    return node->op == &dpi_op_index;
}

bool dpi_is_column(const dpi_node *node)
{
    return node->op == &dpi_op_data || dpi_is_groups(node);
}

void dpi_put_fixed(const dpi_node *node, size_t n, double *out)
{
    if (dpi_is_const(node) && !dpi_is_number(node))
        memcpy(out, node->attr.array, n * sizeof *out);
    for (size_t i = 0; i < n && dpi_is_number(node); i++)
        out[i] = node->attr.value;
    for (size_t i = 0; i < n && dpi_is_ones(node); i++)
        out[i] = 1;
}

static const char *source_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                dpi_shape *shape)
{
    (void)a;
    (void)b;
    *shape = attr->shape;
    return NULL;
}

static const char *ones_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                              dpi_shape *shape)
{
    (void)a;
    (void)b;
    (void)attr;
    *shape = dpi_scalar(true);
    return NULL;
}

#define SOURCE(op_name, op_formula, shape_rule, fields)                                            \
    {                                                                                              \
        .id = DPI_OP_##op_name, .name = #op_name, .formula = op_formula, .class = DPI_SOURCE,      \
        .given = (fields), .shape = shape_rule, .flops = dpi_flops_none                            \
    }

const dpi_op dpi_op_const =
    SOURCE(const, "a constant", source_shape, DPI_ATTR_SHAPE | DPI_ATTR_VALUE | DPI_ATTR_ARRAY);
const dpi_op dpi_op_input =
    SOURCE(input, "set by the caller", source_shape, DPI_ATTR_SHAPE | DPI_ATTR_NUMBER);
const dpi_op dpi_op_data = SOURCE(data, "x_i of record i", source_shape, DPI_ATTR_SHAPE);
/* attr.rows: the plate that the groups belong to. */
const dpi_op dpi_op_index = SOURCE(index, "g_i of record i, a group number", source_shape,
                                   DPI_ATTR_SHAPE | DPI_ATTR_NUMBER | DPI_ATTR_ROWS);
const dpi_op dpi_op_ones = SOURCE(ones, "1 for record i", ones_shape, DPI_ATTR_NONE);
