/* Columns whose chances are known from noisy tables, as a tree: each column is drawn given one
 * other, or by itself. */
#ifndef TOOLS_TREE_H
#define TOOLS_TREE_H

#include <tacit/random.h>

#include "tools/grid.h"

typedef struct tree_node {
    grid_axis axis;
    double *share;  /* [fine cells] */
    size_t parent;  /* SIZE_MAX: none */
    double *given;  /* [coarse cells of the parent][coarse cells]; NULL without a parent */
    double kept[2]; /* of the pair with the parent: mutual information in nats, and how many
                     * standard deviations of chance and noise the pair is from independence */
} tree_node;

typedef struct tree {
    size_t n;
    double records;  /* that the tables tell of, with their noise */
    tree_node *node; /* [n] */
    size_t *order;   /* [n] parents before children */
} tree;

/* Where a table begins among the counts of n columns, which lie one after the other: each column's
 * fine cells, then the pairs (0, 1), (0, 2), ... (1, 2), ... in coarse ones, where `pairs`.  A
 * column of one level has no table. */
size_t tree_table(size_t n, const grid_axis *axes, size_t j, size_t k);

/* Makes the tree.  `counts` are as dp_private_counts gives them, with noise of that standard
 * deviation; they may be negative.  DP_ENOMEM. */
dp_status tree_make(tree *t, size_t n, const grid_axis *axes, bool pairs, const double *counts,
                    double noise);
void tree_free(tree *t);

/* Draws a record: value[n], as a sheet holds them. */
void tree_draw(const tree *t, dp_rng *rng, double *value);

#endif
