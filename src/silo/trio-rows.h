/* The rows of a regression by three parties: what a party has of them, and which ones are gone
 * over where two owners link their ids. */
#ifndef DPI_SILO_TRIO_ROWS_H
#define DPI_SILO_TRIO_ROWS_H

#include "silo/trio-links.h"

typedef struct dpi_silo_trio_rows {
    size_t n;            /* that are gone over */
    const double *x, *y; /* [n][columns], [n]: of the caller, or chosen of it */
    double *chosen;      /* owned; NULL: none */
    size_t n_chosen;     /* numbers */
} dpi_silo_trio_rows;

/* By what ids are linked. */
typedef struct dpi_silo_trio_way {
    dpi_silo_trio_links *links;
    dpi_trio_state *state;
    size_t threads;
} dpi_silo_trio_way;

/* Whether parties have rows of one table, and not columns of the same rows. */
bool dpi_silo_trio_in_rows(const dp_silo_trio *terms);

/* Whether party k has columns or outcomes; how many have. */
bool dpi_silo_trio_has(const dp_silo_trio *terms, size_t k);
size_t dpi_silo_trio_owners(const dp_silo_trio *terms);

/* What of its data this party alone can see is wrong.  DP_EINVAL, DP_EDATA. */
DP_MUST_CHECK dp_status dpi_silo_trio_rows_check(const dp_silo_trio *terms, size_t self,
                                                 const dp_silo_trio_data *data, dp_error *err);

/* Without ids all rows of the data.  Of two owners, those whose ids both have, and the third party
 * is told how many; of three all, where ids are the same in the same order.  DP_EDATA none are
 * common, or they are not the same; DP_EPEER the owners tell different numbers; errors of
 * dpi_silo_trio_link and dpi_trio_state_rows. */
DP_MUST_CHECK dp_status dpi_silo_trio_rows_find(const dp_silo_trio *terms,
                                                const dp_silo_trio_data *data,
                                                const dpi_silo_trio_way *way,
                                                dpi_silo_trio_rows *rows, dp_error *err);

/* Wipes what was chosen. */
void dpi_silo_trio_rows_free(dpi_silo_trio_rows *rows);

#endif
