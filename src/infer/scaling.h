/* Scales of a plate's members, found in a prior: what goes together when a group scale moves. */
#ifndef DPI_INFER_SCALING_H
#define DPI_INFER_SCALING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"

/* theta[scale] is the logarithm of the scale of `count` numbers, from theta[first] on in steps of
 * `stride`, around theta[centre], or around 0 where there is none. */
typedef struct dpi_scaling {
    size_t scale, first, stride, count, centre;
    bool has_centre;
} dpi_scaling;

/* The prior's gradient at z[d]. */
typedef void dpi_prior_gradient(void *of, const double *z, double *gradient);

/* Numbers [members][size] from theta[offset] on, whose columns may have scales. */
typedef struct dpi_scaled {
    size_t offset, members, size;
} dpi_scaled;

/* Scales of numbers, and which of them are drawn in units of their scale. */
typedef struct dpi_loosening {
    dpi_scaling *scalings; /* [n] of the prior */
    bool *loose;           /* [n] whose members are drawn in units of their scale */
    dpi_scaling *held;     /* [n] the others, after dpi_loosening_held */
    size_t n, d;
} dpi_loosening;

/* All scales of the members of blocks[n_blocks], none of which is loose, in the arena.  False when
 * memory is out. */
bool dpi_loosening_init(dpi_loosening *l, const dpi_scaled *blocks, size_t n_blocks, size_t d,
                        dpi_prior_gradient *prior, void *of, dpi_arena *arena);

/* Loosens those of which the likelihood, whose precisions are told[d] at the tied z[d], tells less
 * than the prior. */
void dpi_loosening_choose(dpi_loosening *l, const double *told, size_t step, const double *z);

/* z[d] as it is drawn, and back. */
void dpi_loosening_drawn(const dpi_loosening *l, double *z);
void dpi_loosening_tied(const dpi_loosening *l, double *z);

/* Makes of the gradient at the tied z[d] that by what is drawn; returns the logarithm of the
 * volume, whose own gradient is added. */
double dpi_loosening_pull(const dpi_loosening *l, const double *z, double *gradient);

/* Sets l->held, and returns how many. */
size_t dpi_loosening_held(dpi_loosening *l);

/* Moves z[d] by delta of the scale's logarithm, and with it what it scales.  The volume grows by
 * e^(count delta). */
void dpi_scaling_move(const dpi_scaling *s, double delta, double *z);

/* Members in units of their scale, from their centre, instead of themselves, and back: where little
 * is known of them they are independent of the scale then (not centred: Papaspiliopoulos, Roberts
 * and Skoeld 2007). */
void dpi_scaling_loosen(const dpi_scaling *s, double *z);
void dpi_scaling_tie(const dpi_scaling *s, double *z);

/* Makes of a gradient at the tied z[d] that by the loosened numbers, but for the volume, whose
 * logarithm is count times the scale's. */
void dpi_scaling_pull(const dpi_scaling *s, const double *z, double *gradient);

#endif
