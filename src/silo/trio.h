/* A regression by three parties on shares (doc/design/silo-trio.md): what all three have agreed on,
 * the integers that it is computed with, and one party's run of it. */
#ifndef DPI_SILO_TRIO_H
#define DPI_SILO_TRIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/random.h>
#include <tacit/status.h>

#include "share/trio.h"
#include "silo/trio-state.h"

enum {
    DPI_SILO_TRIO_COLUMNS = 1024, /* of one party, at most */
    DPI_SILO_TRIO_ROWS = 1 << 20,
    DPI_SILO_TRIO_STEPS = 100000
};

/* Public, and the same at all.  Step t is w -= step (G / rows + ridge w), from 0, with G the
 * gradient over all rows: of half the squared residuals, or of the logistic loss. */
typedef struct dpi_silo_trio_terms {
    bool logistic;
    size_t rows, outcome;            /* the party that has outcomes */
    size_t columns[DPI_TRIO_ROLES];  /* 0: the party has none */
    double row_most[DPI_TRIO_ROLES]; /* norms of rows; 0 where there are no columns */
    /* All 0: each party has columns of all rows.  Else each has so many rows of one table, `rows`
     * in all, with outcomes; all that have any have the same number of columns; outcome is 0. */
    size_t rows_of[DPI_TRIO_ROLES];
    double outcome_most;  /* magnitudes of outcomes; of no use where logistic */
    double residual_most; /* of residuals, with noise; of no use where logistic */
    uint64_t steps;
    double step, ridge;
    double z;  /* noise of two parties, by what a record adds; 0: none */
    bool told; /* without noise, whether all coefficients are opened to all, or each to its owner */
} dpi_silo_trio_terms;

/* What numbers are as integers. */
typedef struct dpi_silo_trio_grid {
    size_t d, first[DPI_TRIO_ROLES];  /* columns of all, and where those of a party begin */
    double x_scale, w_scale, r_scale; /* of rows, coefficients and residuals */
    double y_scale;                   /* of outcomes: of scores, or where logistic of residuals */
    int64_t x_most[DPI_TRIO_ROLES];   /* norms */
    int64_t y_most, r_most;           /* magnitudes; r_most 0: residuals are not cut */
    int score_shift;                  /* from scores to residuals, or to the table */
    int lift, sum_shift;              /* without noise, of sums up, and then down to coefficients */
    uint64_t ridge;                   /* without noise, of coefficients to sums */
    double off; /* without noise: what rounding moves coefficients by, at most */
} dpi_silo_trio_grid;

/* Bits of scores and of sums, with which they are below 2^bits in magnitude. */
enum { DPI_SILO_TRIO_BITS = 60 };

/* Whether parties have rows; whether party k has outcomes; and how many rows it has. */
bool dpi_silo_trio_by_rows(const dpi_silo_trio_terms *terms);
bool dpi_silo_trio_outcomes(const dpi_silo_trio_terms *terms, size_t k);
size_t dpi_silo_trio_rows_at(const dpi_silo_trio_terms *terms, size_t k);

/* DP_EDOMAIN numbers that are none, or too long a step; DP_EUNSUPPORTED no integers hold what is
 * computed. */
DP_MUST_CHECK dp_status dpi_silo_trio_grid_make(const dpi_silo_trio_terms *terms,
                                                dpi_silo_trio_grid *grid, dp_error *err);

/* With noise, whether coefficients (public integers) leave scores below their bound. */
bool dpi_silo_trio_holds(const dpi_silo_trio_terms *terms, const dpi_silo_trio_grid *grid,
                         const int64_t *w);

typedef struct dpi_silo_trio_opts {
    const dpi_silo_trio_terms *terms;
    const dpi_silo_trio_grid *grid; /* of them */
    dpi_party *party;               /* of dpi_trio, started */
    const double *x;                /* [rows][columns of the party], finite; NULL where there are
                                     * none */
    const double *y;                /* [rows] of the party that has outcomes: finite, or 0 and 1 */
    dp_noise *noise;                /* NULL where there is none */
    dpi_trio_state *state;          /* met; NULL: all begin with the first step */
    /* Told of each step's end, and with noise of the opened sum, [d] integers, else NULL.  NULL:
     * nobody. */
    void (*told)(void *of, uint64_t step, size_t d, const int64_t *h);
    /* Asked once before anything is opened; NULL: nobody. */
    dp_status (*begin)(void *of, dp_error *err);
    /* Asked before each step, with how many openings there were: whether it ends.  NULL: nobody. */
    bool (*stop)(void *of, uint64_t opened);
    void *of;
    bool *begun; /* set before the others are told that they may open; nullable */
} dpi_silo_trio_opts;

/* w[d] = coefficients of all where they are told to this party, which owners of rows always are,
 * else of its own columns, and zeros for others.  With noise rows and outcomes beyond their bounds
 * are shortened and cut, and without it DP_EDATA before anything leaves.
 * DP_EACCURACY with noise: coefficients left the integers, which follows from what was opened; the
 * mesh's errors; DP_ENOMEM, DP_EENTROPY.  After an error w is zeros. */
DP_MUST_CHECK dp_status dpi_silo_trio_steps(const dpi_silo_trio_opts *opts, double *w,
                                            dp_error *err);

#endif
