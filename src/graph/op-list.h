/* The one list of operations: their ids, declarations and tables are made from it.
 *
 * An operation is X(name) here, the row dpi_op_name of its meaning in its own file (op.h), kernels
 * for doubles and floats (none of a source, none for floats of a sum over records), and a row or a
 * refusal in each table that an interpreter indexes by id.  Nothing that outlives a
 * program holds an id: files and prints name operations by the name in the row. */
#ifndef DPI_GRAPH_OP_LIST_H
#define DPI_GRAPH_OP_LIST_H

/* clang-format off */
#define DPI_SOURCES(X)                                                                             \
    X(const)       /* attr.value, or attr.array */                                                 \
    X(input)       /* set by the executor's caller: parameters, draws, sites */                    \
    X(data)        /* a real column block of the records */                                        \
    X(index)       /* a 0-based group number of each record, below attr.number */                  \
    X(ones)        /* 1 for each record */

#define DPI_RECORDWISE(X) /* a function of each record, or of global values alone */               \
    /* elementwise */                                                                              \
    X(add) X(sub) X(mul) X(div) X(neg)                                                             \
    X(exp) X(expm1) X(log) X(log1p) X(sqrt) X(square) X(logistic) X(softplus) X(tanh) X(abs)       \
    X(sign) X(lgamma) X(polygamma) X(sin) X(cos) X(rising)                                         \
    /* logarithms of probabilities */                                                              \
    X(log1mexp) X(cloglog) X(erf) X(atan) X(log_normal_cdf) X(log_cauchy_cdf)             \
    X(log_gamma_tail) X(log_student_tail) X(log_skew_tail) X(log_beta_tail) X(log_bessel)          \
    /* reductions, products, selection */                                                          \
    X(sum_to) X(expand) X(log_sum_exp)                                                             \
    X(matmul) X(outer)                                                                             \
    X(cholesky) X(triangular_solve) X(lower) X(transpose) X(diagonal) X(diagonal_matrix)           \
    X(pick) X(scatter) X(slice) X(pad)                                                             \
    X(sum_last) X(spread) X(contrast) X(cumulative_sum)                                            \
    /* between layers */                                                                           \
    X(relu) X(step) X(max) X(keep) X(normal_cdf) X(group_mean)                                     \
    /* numbers in other places */                                                                  \
    X(reshape) X(patches) X(fold)                                                                  \
    X(pool_sum) X(unpool_sum) X(pool_max) X(unpool_max)

#define DPI_OVER_RECORDS(X) X(sum_records)

#define DPI_OPS(X) DPI_SOURCES(X) DPI_RECORDWISE(X) DPI_OVER_RECORDS(X)
/* clang-format on */

#define DPI_OP_ID(name) DPI_OP_##name,
typedef enum dpi_op_id { DPI_OPS(DPI_OP_ID) DPI_N_OPS } dpi_op_id;
#undef DPI_OP_ID

#endif
