/* Private tables: how many units are in each cell of one column, or of two, such as histograms and
 * cross tables, all released together with noise of one size.
 *
 * All tables of a call are one Gaussian mechanism of the accountant (full batches, a step a table),
 * calibrated to epsilon, and reserved in the ledger before the data are looked at.  A unit adds one
 * to a cell of every table, so that all counts side by side move by the square root of the number
 * of tables; replacing a unit is covered as the accountant does for full batches.
 *
 * What to expect: the noise of each cell has the standard deviation that is told, in units, whether
 * the cell is empty or full.  Counts may be negative, and tables need not agree with one another:
 * what is made of them afterwards is free.
 *
 * A unit is one record, or all records with one value in the data set's unit column.  A unit of
 * several records counts as one: each of its records as the same part of it, in parts of a 2^14th.
 *
 * Threads: different calls may run at the same time, but for a ledger's own rule.
 * Maths: doc/design/synth.md. */
#ifndef TACIT_COUNTS_H
#define TACIT_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/dataset.h>
#include <tacit/ledger.h>
#include <tacit/svi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Into which cells a column is cut.  All of it is public. */
typedef struct dp_count_axis {
    const char *column; /* of real or of whole numbers, one a record; borrowed for the call */
    double low, high; /* finite, low < high; both whole for a column of whole numbers, whose values
                         * they are: 0 and 60 of 61 groups */
    size_t cells;     /* 1 ... 2^20; of real numbers as many parts of equal width, of whole ones
                         * blocks of neighbouring values, equal but for one value, and no more than
                         * there are values.  What lies outside is in the nearer end's cell */
} dp_count_axis;

/* In place of the second axis: a table of one column. */
#define DP_ONE_WAY SIZE_MAX

/* A table by two axes, or by one. */
typedef struct dp_count_table {
    size_t first, second; /* of the axes; counts[cells of first][cells of second] */
} dp_count_table;

/* Zero means the default, except for epsilon, delta and sigma, which have none: give delta, and
 * epsilon or sigma. */
typedef struct dp_count_opts {
    const dp_count_axis *axes; /* [n_axes] borrowed for the call, as the tables */
    size_t n_axes;
    const dp_count_table *tables; /* [n_tables] */
    size_t n_tables;              /* 1 ... 10000 */
    double epsilon;               /* of all tables together; sigma is calibrated to it */
    double delta;                 /* in (0, 1), well below one over the number of units */
    double sigma;                 /* noise of a cell, 0.1 ... 4096, instead of epsilon */
    uint64_t seed;                /* not 0: a repeatable answer for tests, marked as not private */
    dp_ledger *ledger;            /* nullable; as in dp_svi_opts, used during the call only */
    const char *ledger_data;  /* the data set's name there; needed with a ledger, refused without */
    const char *ledger_label; /* nullable; refused without a ledger */
} dp_count_opts;

/* The cell of an axis, 0 ... cells - 1, in which a value is: `whole` of a column of whole numbers.
 * 0 for a NaN. */
DP_API size_t dp_count_cell(const dp_count_axis *axis, bool whole, double value) DP_NONNULL(1);

/* Private counts.
 *   counts   [n] [out] of the tables one after the other, in units; NaN on any error.  n must be
 *            the sum of their cells, at most 2^24
 *   noise    nullable [out] standard deviation of the noise of each count, in units; depends on
 *            options alone; NaN on any error
 *   privacy  nullable [out] what was guaranteed, as of dp_private_quantiles
 * DP_EINVAL or DP_EDOMAIN for an option; DP_ENAME, DP_ESHAPE a column that is not there or has
 * several numbers a record, or n; DP_EDATA a value in a column that is counted is missing or not
 * finite: which one is not told, and nothing is spent; DP_ENOMEM, DP_EENTROPY; DP_EPRIVACY a ledger
 * with a seed; those of dp_approximate_sigma, and of dp_ledger_reserve before the values are looked
 * at. */
DP_API DP_MUST_CHECK dp_status dp_private_counts(const dp_dataset *data, const dp_count_opts *opts,
                                                 size_t n, double *counts, double *noise,
                                                 dp_privacy *privacy, dp_error *err)
    DP_NONNULL(1, 2, 4);

#ifdef __cplusplus
}
#endif
#endif
