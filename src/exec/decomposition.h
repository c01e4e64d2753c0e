/* The gradient of each record with respect to a weight as a sum of terms, and how it is kept: made,
 * or as factors.
 *
 * A part of rows x columns numbers is often a sum of terms, one for each use of the weight,
 *
 *   sum_t sign_t L_t^T R_t,     L_t [rank][rows], R_t [rank][columns],
 *
 * with L_t of unit vectors where rows were picked.  Its norm and its sum over records can be had
 * from the factors (exec/terms.c); what that costs beside making it is known from the shapes, and
 * the cheaper way is taken.  Nothing here has seen data. */
#ifndef DPI_EXEC_DECOMPOSITION_H
#define DPI_EXEC_DECOMPOSITION_H

#include "graph/graph.h"

enum { DPI_MOST_TERMS = 32 };

typedef enum dpi_way {
    DPI_MADE,       /* for all records of a chunk */
    DPI_FACTORED,   /* never: by the factored form of its operation (exec/factored.h) */
    DPI_PRODUCTS,   /* never: norms from inner products of factors */
    DPI_ONE_BY_ONE, /* for one record at a time, for its norm; sums from factors */
} dpi_way;

/* How ways are chosen; all but the first are for tests and measurements. */
typedef enum dpi_choice {
    DPI_CHEAPEST,
    DPI_ALWAYS_MADE,
    DPI_ALWAYS_PRODUCTS, /* where there are terms */
    DPI_ALWAYS_ONE_BY_ONE,
} dpi_choice;

typedef struct dpi_gradient_term {
    dpi_id node;
    double sign;
    size_t rank;
    bool picked;    /* L is given by the numbers of its unit vectors */
    bool turned[2]; /* L is stored as [rows][rank], R as [columns][rank] */
} dpi_gradient_term;

typedef struct dpi_decomposition {
    dpi_way way;
    size_t n_terms; /* 0 when it is no sum of such terms */
    size_t rows, columns, rank;
    dpi_gradient_term term[DPI_MOST_TERMS];
    double made_flops, flops; /* of norm and sum for one record: made, and in the chosen way */
} dpi_decomposition;

/* Finds the terms of a part and chooses its way. */
void dpi_decompose(const dpi_graph *g, dpi_id part, dpi_choice choice, dpi_decomposition *d);

/* Marks the nodes whose values must be there. */
void dpi_decomposition_mark(const dpi_graph *g, dpi_id part, const dpi_decomposition *d,
                            bool *needed);

/* The way in words: "made", "from 2 terms of rank 1 and 16". */
const char *dpi_decomposition_text(const dpi_decomposition *d, char *buffer, size_t size);

/* c: a norm |g| is taken from inner products where (sum of the terms' lengths)^2 <= c |g|^2, else
 * digits would be lost (exec/terms.c). */
double dpi_decomposition_cancels(size_t rank);

/* Records whose gradients are added up before they are added to the others: 1 where each is made
 * for it. */
size_t dpi_decomposition_block(const dpi_decomposition *d);

#endif
