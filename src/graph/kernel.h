/* What computes the operations: one function of plain arrays for each, in double and in single
 * precision.
 *
 * An operation's kernel for doubles is its value where a graph is run and where constants are
 * folded; that for floats is the executor's (exec/single.c).  Kernels stand in files of their own,
 * kernel-*.c, and the rows of meaning (op.h) know nothing of them.
 *
 * What is computed for a record is a function of that record alone, to the bit. */
#ifndef DPI_GRAPH_KERNEL_H
#define DPI_GRAPH_KERNEL_H

#include "graph/op.h"

/* One evaluation of one node: n records, or n = 1 for a global node.  Buffers are row-major,
 * in[k][n or 1][in_size[k]] and out[n][out_size].  They do not overlap. */
typedef struct dpi_call {
    void (*forward)(const struct dpi_call *call);
    size_t n;
    const double *in[3]; /* two, but for kernels that take a product in */
    double *out;
    size_t in_size[3], out_size;
    size_t in_step[3]; /* in_size[k] when the input is per-record, 0 when it is global */
    const dpi_attr *attr;
} dpi_call;

/* The same in single precision. */
typedef struct dpi_call_single {
    size_t n;
    const float *in[2];
    float *out;
    size_t in_size[2], out_size, in_step[2];
    const dpi_attr *attr;
} dpi_call_single;

/* A row has one of both. */
typedef struct dpi_kernel {
    void (*run)(const dpi_call *call);
    const char *refused; /* why there is none */
} dpi_kernel;

/* The kernels for doubles. */
extern const dpi_kernel dpi_kernels[DPI_N_OPS];

/* Kernels of an operation whose operand k is a product that has no value of its own.  They read the
 * product's operands as in[0] and in[1] and the other operand as in[2]: run[k][i][j], where i says
 * that in[0] is one number for all of a row, and j that in[2] is; what is not has the result's
 * size.  NULL where there are none. */
typedef struct dpi_taking_kernel {
    void (*run[2][2][2])(const dpi_call *call);
} dpi_taking_kernel;

extern const dpi_taking_kernel dpi_taking_kernels[DPI_N_OPS];

/* The kernel of every operation that has one: dpi_double_add, dpi_single_add, ... */
#define DPI_DECLARE_KERNELS(name)                                                                  \
    void dpi_double_##name(const dpi_call *c);                                                     \
    void dpi_single_##name(const dpi_call_single *c);
DPI_OPS(DPI_DECLARE_KERNELS)
#undef DPI_DECLARE_KERNELS

#endif
