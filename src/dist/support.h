/* Supports of distributions and the bijectors from the real line onto them.
 *
 *   real       x = z
 *   positive   x = e^z                      log |dx/dz| = z
 *   unit       x = 1 / (1 + e^-z)           log |dx/dz| = -softplus(z) - softplus(-z)
 *   interval   x = low + (high - low) unit  log |dx/dz| = that of unit + log(high - low)
 *   circle     x = that of the interval from -pi to pi
 *   from       x = low + e^z                log |dx/dz| = z
 *   up_to      x = high - e^-z              log |dx/dz| = -z
 *   simplex    x = softmax(V z)             log |dx/dz| = log(K) / 2 - K log sum_k e^((V z)_k)
 *   ordered    x_1 = z_1, x_k = x_(k - 1) + e^z_k            log |dx/dz| = sum_(k > 1) z_k
 *   unit_vector  x = (1 - s, 2 z) / (1 + s), s = |z|^2, K - 1 numbers z
 *              log |dx/dz| = (K - 1) log(2 / (1 + s)), onto the sphere
 *   correlation_factor  lower triangular L [K][K] with rows of length 1: of partial correlations
 *              w = tanh z, L_ij = w_ij prod_(k < j) sqrt(1 - w_ik^2), w_ii = 1; z is w's lower
 *              triangle, row after row (Lewandowski, Kurowicka and Joe 2009, J. Multivar. Anal.
 *              100, 1989); log |dL/dz| = sum_(k < i) (i - k + 1) log(1 - w_ik^2) / 2, of L below
 *              the diagonal
 *   covariance_factor  lower triangular L [K][K], of its lower triangle z row after row, with
 *              L_ii = e^z_ii; log |dL/dz| = sum_i z_ii
 *   binary, count, category and so on       discrete: for data only, no bijector
 *   not_below_zero                          for data only too: a chance of 0, a density above it
 *   chance     for data only too: the mean of a binary log density, drawn as 0 or 1
 *
 * In double, positive and unit stay strictly inside their support (for z <= 709): densities are
 * infinite or undefined on its edge.  So do the numbers of a simplex, all of them up to 1e-15.
 *
 * A value of the simplex is K numbers that sum to 1, and z has K - 1; V is the isometry of
 * dpi_op_contrast (Egozcue et al. 2003, Math. Geol. 35, 279).  No number is apart from the others:
 * a z of independent equal normals gives the same distribution in every order.  From the derivative
 * for softmax with reference, u_k = log(x_k / x_K) = (A z)_k, |dx/du| = prod_k x_k and |det A| =
 * sqrt K. */
#ifndef DPI_DIST_SUPPORT_H
#define DPI_DIST_SUPPORT_H

#include "graph/op.h"

typedef enum dpi_support_kind {
    DPI_REAL,
    DPI_ABOVE_ZERO,
    DPI_UNIT,
    DPI_CIRCLE,      /* from -pi to pi, the ends being one angle */
    DPI_INTERVAL,    /* between the family's first two arguments */
    DPI_FROM,        /* the family's first argument or above */
    DPI_SIMPLEX,     /* K numbers above 0 that sum to 1 */
    DPI_ORDERED,     /* K numbers, none below the one before it */
    DPI_UNIT_VECTOR, /* K numbers whose squares sum to 1 */
    DPI_CORRELATION_FACTOR,
    DPI_COVARIANCE_FACTOR, /* lower triangular with a diagonal above 0 */
    DPI_BINARY,            /* 0 or 1 */
    DPI_CHANCE,            /* from 0 to 1, both included */
    DPI_COUNT,             /* 0, 1, 2, ... */
    DPI_COUNT_TO,          /* 0 ... the family's first argument */
    DPI_UP_TO,             /* the family's first argument or below */
    DPI_COUNT_ABOVE,       /* a whole number above the first argument */
    DPI_COUNT_BETWEEN,     /* above the first argument and up to the second */
    DPI_NOT_BELOW_ZERO,    /* 0 or above */
    DPI_CATEGORY,          /* 0 ... size of the vector argument - 1 */
    DPI_LEVEL,             /* 0 ... size of the vector argument, of cutpoints between levels */
    DPI_N_SUPPORTS
} dpi_support_kind;

/* What is asked of supports whose value is a row: all n numbers of the last dimension together; or
 * a matrix [n][n], the last two, of which z is a row. */
typedef struct dpi_row_support {
    size_t (*n_free)(size_t n); /* numbers of z along the last dimension */
    /* What is wrong with a row each number of which is in the support, NULL when nothing is; `off`
     * is how far a sum may be from what it should be. */
    const char *(*wrong)(size_t n, const double *x, double off);
    void (*free)(size_t n, const double *x, double *z); /* z of x: the bijector back */
    const char *remedy;                                 /* for data that are wrong */
    bool is_matrix;
} dpi_row_support;

typedef struct dpi_support {
    const char *name, *says;     /* "binary", "0 or 1" */
    bool discrete;               /* draws are whole numbers: for data only */
    const dpi_row_support *rows; /* NULL where a value is a number */
    /* x as a node of z, and log |dx/dz| of each value; NULL for discrete supports.  arg are the
     * family's arguments. */
    dpi_id (*constrain)(dpi_graph *g, dpi_id z, const dpi_id arg[]);
    dpi_id (*log_jacobian)(dpi_graph *g, dpi_id z, const dpi_id arg[]); /* NULL: zero */
    /* Whether x (one number of a row) lies in it; low and high are the first two arguments
     * (count_to, level and category use low: the greatest value, or the number of categories). */
    bool (*contains)(double x, double low, double high);
} dpi_support;

extern const dpi_support dpi_supports[DPI_N_SUPPORTS];

/* How many of the family's first arguments bound a support that has a bijector. */
int dpi_support_bounds(dpi_support_kind kind);

/* What a draw becomes that rounding has put on the edge of its support: the nearest number inside,
 * in the normal range.  Samplers reach 0, 1 and infinity where the numbers are too small or too
 * large for double; the density there is not finite.  NaN stays NaN. */
double dpi_into_real(double x);
double dpi_into_positive(double x);
double dpi_into_unit(double x);

#endif
