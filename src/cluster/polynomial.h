/* A polynomial in the Chebyshev basis over cards: p = q T_g + r, down to pieces of 2^leaf
 * coefficients, which cards hold blocks of.
 *
 * With leaf = 1 and shared powers this is Hydra's algorithm 1: with d = ceil(log2(degree + 1)) and
 * 2^t cards, t <= d - 2, each card has 2^(d - t) coefficients, puts p together from pairs up, and
 * then cards do so with each other's.  T_(2^k) is made by the cards that 2^(k - 1) divides, and
 * sent to those up to the next: a card has 2^(d - t - 1) - 1 + d - 1 products at the most.
 * With longer pieces it is Paterson and Stockmeyer's way over cards: each makes T_2, T_3 ... of the
 * pieces itself, which are 2^leaf - 2 products more for a (2^leaf)th of the pieces.  Powers that
 * are not shared are made by each card that needs them. */
#ifndef DPI_CLUSTER_POLYNOMIAL_H
#define DPI_CLUSTER_POLYNOMIAL_H

#include "cluster/simulate.h"

enum { DPI_TREE_DEGREE = 127, DPI_TREE_LEAF = 4 };

typedef struct dpi_polynomial_way {
    uint32_t cards; /* a power of two, at most as many as there are pieces */
    uint32_t leaf;  /* 1 .. DPI_TREE_LEAF */
    bool shared;    /* powers are sent */
} dpi_polynomial_way;

/* Algorithm 1 on so many cards, of which it takes all or less. */
dpi_polynomial_way dpi_polynomial_tree(size_t degree, size_t cards);

/* p(x) on card `first`, by that card and those behind it, to which it broadcasts x.  degree 3 ..
 * DPI_TREE_DEGREE, and a way for it, else misuse.  As many levels as d, and one more where the leaf
 * is above 1. */
uint32_t dpi_plan_polynomial(dpi_plan *p, uint32_t first, const dpi_polynomial_way *way,
                             size_t degree, const double *a, uint32_t x);

/* The fastest of all ways on up to so many cards, for so many one of another, each simulated from
 * when the first card has x; *seconds they take.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_polynomial_search(size_t degree, size_t times, size_t cards,
                                              const dpi_costs *costs, dpi_polynomial_way *way,
                                              double *seconds, dp_error *err);

#endif
