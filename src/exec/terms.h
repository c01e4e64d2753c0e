/* Norms and sums over records of gradients that are sums of products of factors; see
 * exec/decomposition.h. */
#ifndef DPI_EXEC_TERMS_H
#define DPI_EXEC_TERMS_H

#include "base/alloc.h"
#include "exec/chains.h"
#include "exec/decomposition.h"

/* One term's factors, for the records of a chunk. */
typedef struct dpi_term_factors {
    double sign;
    size_t rank;
    const double *left, *right;   /* [rank][rows] or, picked, [rank] row numbers; [rank][columns] */
    size_t left_step, right_step; /* from record to record */
    bool left_turned, right_turned; /* stored as [rows][rank], [columns][rank] */
    bool picked;
} dpi_term_factors;

typedef struct dpi_terms {
    size_t n, rows, columns;
    bool products, all_picked;
    dpi_term_factors *factors; /* [n] */
    double *gram[2];   /* [most rank][most rank] inner products of left and of right factors */
    double *turned[2]; /* [most rank][rows], [most rank][columns] factors as they are wanted */
    double *made;      /* [rows][columns] a gradient, or some added up; 0 between calls */
    bool *cancels; /* [chunk] whether terms cancel, of the records whose norms were taken last */
    size_t block;
} dpi_terms;

/* Takes the terms of d, with room for `chunk` records from the arena; value[] are the nodes'
 * buffers.  False when memory is out. */
bool dpi_terms_init(dpi_terms *terms, dpi_arena *arena, const dpi_graph *g,
                    const dpi_decomposition *d, double *const *value, size_t chunk);

/* norm2[m] += squared norms of the first m records' gradients. */
void dpi_terms_norm2(dpi_terms *terms, size_t m, double *norm2);

/* sum[rows][columns] += the gradients of records first ... first + m - 1 among those whose norms
 * were taken last, times weight[m]; nothing where the weight is 0, whatever the record holds. */
void dpi_terms_add_clipped(dpi_terms *terms, size_t first, size_t m, const double *weight,
                           double *sum);

/* The same of the first m records in chains of floats: of terms none of which is picked. */
void dpi_terms_add_in_chains(dpi_terms *terms, size_t m, const double *weight, dpi_chains *chains,
                             double *sum);

/* sum[rows][columns] += the gradients of records first ... first + m - 1 as they are, one after the
 * other. */
void dpi_terms_add(dpi_terms *terms, size_t first, size_t m, double *sum);

#endif
