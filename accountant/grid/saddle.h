/* Saddle-point estimates: where to look.  Nothing here is certified and nothing needs to be: the
 * tilt, the window and the spacing of the grid are chosen from it, the grid then proves its bound
 * for any choice. */
#ifndef DPI_ACCOUNTANT_GRID_SADDLE_H
#define DPI_ACCOUNTANT_GRID_SADDLE_H

#include <stdbool.h>
#include <stddef.h>

#include "accountant/pairs/pair.h"

/* Nodes in x of one step: offset = loss - base, weight = P's mass. */
typedef struct dpi_nodes {
    size_t n;
    double *weight; /* [n], owned */
    double *offset; /* [n], in the same block */
} dpi_nodes;

/* Nodes over the range of x that leaves a P-mass of about e^log_cut at either end, as the grid
 * does: tails that are cut off there must not draw the tilt towards them.  False when memory is
 * out; dpi_nodes_free in any case. */
bool dpi_nodes_new(const dpi_pair *pair, double log_cut, dpi_nodes *nodes);
void dpi_nodes_free(dpi_nodes *nodes);

/* K(c) = log E_P e^(c (L - base)); with its first two derivatives when not NULL.  +INFINITY when a
 * term overflows. */
double dpi_cumulant(const dpi_nodes *nodes, double c, double *mean, double *variance);

/* A composition, with nodes of each of its terms.  Unsampled Gaussian releases that stand beside
 * other terms are kept apart, as one (blend.c); steps and base are of the others alone. */
typedef struct dpi_loss_law {
    size_t n;
    dpi_pair_times *term; /* [n], owned; their pairs are borrowed */
    dpi_nodes *nodes;     /* [n], owned */
    double steps, base;   /* sum of times, of times * base: within 2u of base_size */
    double base_size;     /* sum of times * |base| */
    double normal_mu;     /* of the Gaussian kept apart; 0 for none */
} dpi_loss_law;

/* n >= 1 terms.  False when memory is out; dpi_loss_law_free in any case. */
bool dpi_loss_law_new(const dpi_pair_times *term, size_t n, dpi_loss_law *law);

/* Makes the nodes anew for another cut. */
bool dpi_loss_law_look(dpi_loss_law *law, double log_cut);
void dpi_loss_law_free(dpi_loss_law *law);

/* Cumulant of the whole composition, of L - base. */
double dpi_loss_law_cumulant(const dpi_loss_law *law, double c, double *mean, double *variance);

/* Saddle point of the inversion integral at (epsilon, delta). */
typedef struct dpi_saddle {
    double tilt; /* c > 0; -c is the slope of log delta in epsilon */
    double epsilon;
    double log_delta;
} dpi_saddle;

dpi_saddle dpi_saddle_for_delta(const dpi_loss_law *law, double log_delta);
dpi_saddle dpi_saddle_for_epsilon(const dpi_loss_law *law, double epsilon);

#endif
