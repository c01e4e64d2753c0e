/* What is known of a gradient of each record by the operation that it ends in: how its norm and its
 * sum over records come from the operation's inputs, without the gradient being made.
 *
 *   alone      squared norms and weighted sum from the inputs (clip.c)
 *   leaf       a product L^T R that is one term of a sum of them (decomposition.c, terms.c)
 *   sum        one or two gradients added up, number by number: what stands below is looked at */
#ifndef DPI_EXEC_FACTORED_H
#define DPI_EXEC_FACTORED_H

#include "exec/decomposition.h"
#include "graph/kernel.h"

/* A row has `refused` or something else. */
typedef struct dpi_factored {
    /* Squared norms, added to norm2[n], and the weighted sum over records, added to sum[out_size];
     * records with weight zero are skipped whatever they hold.  Both or none. */
    void (*norm2)(const dpi_call *call, double *norm2);
    void (*weighted_sum)(const dpi_call *call, const double *weight, double *sum);
    /* y_ij = a_i b_j with attr.rows and attr.columns, as two factors in a chain of sums. */
    bool outer;
    /* y has rows of in[0] where in[1] names them, and zeros elsewhere. */
    bool picked;
    /* The term that a node is: fills rank, picked and turned, and the term's rows and columns.
     * False when it is none. */
    bool (*leaf)(const dpi_graph *g, const dpi_node *node, dpi_gradient_term *term, size_t *rows,
                 size_t *columns);
    double sign[2];      /* of the inputs, where the node is their sum; 0: it is none */
    const char *refused; /* why there is nothing of this */
} dpi_factored;

extern const dpi_factored dpi_factored_forms[DPI_N_OPS];

#endif
