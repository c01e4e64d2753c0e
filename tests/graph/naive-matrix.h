/* Values of the operations on matrices, straight from their formulas, in long double. */
#ifndef TESTS_GRAPH_NAIVE_MATRIX_H
#define TESTS_GRAPH_NAIVE_MATRIX_H

#include "graph/op.h"

/* Whether this file has the operation. */
bool naive_is_matrix(const dpi_op *op);

/* The element with subscripts `index` of one record's result; s[2] are the inputs' shapes. */
long double naive_matrix(const dpi_node *node, const dpi_shape *s[2], const long double *in[2],
                         const size_t *index);

#endif
