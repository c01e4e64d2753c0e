/* One owner's part of a regression over columns of the same people at two owners
 * (doc/design/silo-columns.md): what both have agreed on, the integers that it is computed with,
 * and the run of it. */
#ifndef DPI_SILO_COLUMNS_H
#define DPI_SILO_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "silo/columns-state.h"
#include "silo/part.h"
#include "silo/post.h"

enum { DPI_COLUMNS_OWNERS = 2, DPI_COLUMNS_ROWS = 1 << 20 };

/* Answers of a step without noise, and bits of addends that each is of. */
enum { DPI_COLUMNS_LIMBS = 3, DPI_COLUMNS_LIMB = 9 };

/* Public, and the same at both.  Step t is w -= step (G / n + ridge w), with G the gradient over
 * all n rows: of half the squared residuals; or of the logistic loss, of which the second order
 * around 0 is taken. */
typedef struct dpi_columns_terms {
    bool logistic;
    size_t outcome;                         /* the party that has it */
    size_t columns[DPI_COLUMNS_OWNERS];     /* 1 ... DPI_COLUMNS_SUM_MOST each */
    double row_most[DPI_COLUMNS_OWNERS];    /* norms of rows; longer ones are shortened */
    double addend_most[DPI_COLUMNS_OWNERS]; /* magnitudes of addends; larger ones are cut */
    uint64_t steps;
    double step, ridge;
    double z; /* noise of one owner, by what a record adds to both blocks; 0: none */
} dpi_columns_terms;

/* Bits of circuit privacy of each answer: all together are within 2^-64. */
double dpi_columns_bits(uint64_t steps);

/* What numbers are as integers. */
typedef struct dpi_columns_grid {
    double x_scale, s_scale;                                        /* of rows and addends */
    int64_t x_most[DPI_COLUMNS_OWNERS], s_most[DPI_COLUMNS_OWNERS]; /* norms, magnitudes */
    int dropped; /* bits of a share of noise that are rounded away */
} dpi_columns_grid;

/* The grid on which z and sums of so many rows fit.  DP_EUNSUPPORTED there is none. */
DP_MUST_CHECK dp_status dpi_columns_grid_make(const dpi_columns_terms *terms, size_t rows,
                                              dpi_columns_grid *grid, dp_error *err);

/* to[d] = a row as integers of norm at most `most`: to the nearest ones, or where these are longer,
 * towards zero.  x is finite. */
void dpi_columns_bound(size_t d, const double *x, double scale, double most_norm, int64_t most,
                       int64_t *to);

/* An addend as an integer of magnitude at most `most`. */
int32_t dpi_columns_addend(double s, double scale, int64_t most);

typedef struct dpi_columns_run_opts {
    const dpi_columns_terms *terms;
    const dpi_silo_part *part; /* checked */
    dpi_post *post;
    const dpi_columns_state *state; /* met; of all that is random */
    size_t rows;                    /* common to both, in the same order */
    const double *x;                /* [rows][columns of the party], finite */
    const double *y; /* [rows] of the party that has outcomes; -1 or 1 where logistic */
    /* Told of each opened gradient of one's own, as integers; NULL: nobody. */
    void (*opened)(void *of, uint64_t step, const dpi_columns_grid *grid, size_t d,
                   const int64_t *h);
    void *of;
} dpi_columns_run_opts;

/* w[columns of the party] = the coefficients of one's own after all steps, from 0.
 * DP_EACCURACY coefficients left all numbers: the step is too long, which follows from what was
 * opened; DP_EUNSUPPORTED numbers of rows, columns or noise that do not fit; DP_EPRIVACY no
 * encryption has such answers; DP_EPEER, DP_ETIMEOUT; DP_ENOMEM, DP_EENTROPY.  After an error w is
 * zeros. */
DP_MUST_CHECK dp_status dpi_columns_run(const dpi_columns_run_opts *opts, double *w, dp_error *err);

#endif
