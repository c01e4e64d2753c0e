/* Kernels in single precision of operations that have one of their own for it; dpi_op.single. */
#ifndef DPI_GRAPH_OP_SINGLE_H
#define DPI_GRAPH_OP_SINGLE_H

#include "graph/op.h"

void dpi_single_add(const dpi_call_single *c);
void dpi_single_sub(const dpi_call_single *c);
void dpi_single_mul(const dpi_call_single *c);
void dpi_single_div(const dpi_call_single *c);
void dpi_single_neg(const dpi_call_single *c);
void dpi_single_square(const dpi_call_single *c);
void dpi_single_sqrt(const dpi_call_single *c);
void dpi_single_max(const dpi_call_single *c);
void dpi_single_step(const dpi_call_single *c);
void dpi_single_relu(const dpi_call_single *c);
void dpi_single_group_mean(const dpi_call_single *c);
void dpi_single_abs(const dpi_call_single *c);
void dpi_single_sign(const dpi_call_single *c);
void dpi_single_exp(const dpi_call_single *c);
void dpi_single_expm1(const dpi_call_single *c);
void dpi_single_log(const dpi_call_single *c);
void dpi_single_log1p(const dpi_call_single *c);
void dpi_single_lgamma(const dpi_call_single *c);
void dpi_single_polygamma(const dpi_call_single *c);
void dpi_single_logistic(const dpi_call_single *c);
void dpi_single_softplus(const dpi_call_single *c);
void dpi_single_tanh(const dpi_call_single *c);
void dpi_single_normal_cdf(const dpi_call_single *c);
void dpi_single_expand(const dpi_call_single *c);
void dpi_single_matmul(const dpi_call_single *c);

#endif
