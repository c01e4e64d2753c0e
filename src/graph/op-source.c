/* Values that come from outside the graph.  The executor puts them into place; a constant number or
 * array is in the attributes. */
#include "graph/op.h"

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
