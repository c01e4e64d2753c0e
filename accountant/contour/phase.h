/* The characteristic function of a tilted loss along a line of equidistant frequencies. */
#ifndef DPI_ACCOUNTANT_CONTOUR_PHASE_H
#define DPI_ACCOUNTANT_CONTOUR_PHASE_H

#include <stdbool.h>
#include <stddef.h>

#include "accountant/contour/nodes.h"

/* Masses p of the tilted law, sum 1, and losses less its mean.  n is a multiple of 4; atoms come
 * first, padded to a multiple of 4 themselves; padding has mass 0.  Complex where nodes were
 * moved. */
typedef struct dpi_tilted {
    size_t n, n_atoms;
    double *mass, *mass_im;   /* [n], owned */
    double *angle, *angle_im; /* [n]; angle_im >= 0 */
} dpi_tilted;

/* The law of `nodes` tilted by c, K(c) = log_total and its derivative mean; nodes that hold a mass
 * below `least` are left out.  False when memory is out. */
bool dpi_tilted_new(const dpi_contour_nodes *nodes, double c, double log_total, double mean,
                    double least, dpi_tilted *tilted);
void dpi_tilted_free(dpi_tilted *tilted);

enum { DPI_PHASES = 128 };

/* phi(u) - 1 for u = (first + k) h, k = 0 ... DPI_PHASES - 1. */
void dpi_phases(const dpi_tilted *tilted, double h, size_t first, double re[DPI_PHASES],
                double im[DPI_PHASES]);

/* Bound on |phi| from u on, if its continuous part falls from there: total mass of the atoms and
 * |continuous part at u|. */
double dpi_phase_envelope(const dpi_tilted *tilted, double u);

#endif
