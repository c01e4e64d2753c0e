/* Terms of a list of mechanisms in one direction. */
#ifndef DPI_ACCOUNTANT_ANSWERS_COMPOSITION_H
#define DPI_ACCOUNTANT_ANSWERS_COMPOSITION_H

#include <stdbool.h>

#include "accountant/pairs/pair.h"

typedef struct dpi_composition {
    size_t n;
    dpi_pair_times *term; /* [n], owned */
    dpi_pair *pair;       /* [n], owned */
    double normal_mu;     /* > 0: all of it is one Gaussian release with this mu */
} dpi_composition;

/* DP_OK when list[0 ... n-1] are mechanisms with an account and the same adjacency, n >= 1. */
dp_status dpi_check_list(const dp_mechanism *list, size_t n, dp_error *err);

/* list[0 ... n-1], n >= 1, have been checked.  All zero on errors. */
dp_status dpi_composition_new(const dp_mechanism *list, size_t n, dpi_direction direction,
                              dpi_side side, dpi_composition *c, dp_error *err);
void dpi_composition_free(dpi_composition *c);

/* 2 under add/remove, 1 where one record is replaced: the pairs of both directions are then one. */
int dpi_composition_directions(const dp_mechanism *list);

/* Some mechanism's worst case is known only as an interval. */
bool dpi_composition_has_gap(const dp_mechanism *list, size_t n);

/* The adjacency that a mechanism's figure speaks of. */
dp_adjacency dpi_adjacency_of(const dp_mechanism *m);

#endif
