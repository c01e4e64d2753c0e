/* A polynomial in the Chebyshev basis over cards, by a tree (Hydra's algorithm 1).
 *
 * With d = ceil(log2(degree + 1)) and 2^t cards, t <= d - 2, each card has 2^(d - t) coefficients,
 * puts p = q T_g + r together from pairs up, and then cards do so with each other's.
 * T_(2^k) is made by the cards that 2^(k - 1) divides, and sent to those up to the next: a card has
 * 2^(d - t - 1) - 1 + d - 1 products at the most. */
#ifndef DPI_CLUSTER_POLYNOMIAL_H
#define DPI_CLUSTER_POLYNOMIAL_H

#include "cluster/plan.h"

enum { DPI_TREE_DEGREE = 127 };

/* Cards that it takes of so many. */
size_t dpi_polynomial_cards(size_t degree, size_t cards);

/* p(x) on card 0; degree 3 .. DPI_TREE_DEGREE, else misuse.  As many levels as d. */
uint32_t dpi_plan_polynomial(dpi_plan *p, size_t degree, const double *a, uint32_t x);

#endif
