/* Scales of a plate's members, found in a prior: what goes together when a group scale moves. */
#ifndef DPI_INFER_SCALING_H
#define DPI_INFER_SCALING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "infer/view.h"

/* theta[scale] is the logarithm of the scale of `count` numbers, from theta[first] on in steps of
 * `stride`, around theta[centre], or around 0 where there is none. */
typedef struct dpi_scaling {
    size_t scale, first, stride, count, centre;
    bool has_centre;
} dpi_scaling;

/* The prior's gradient at z[d]. */
typedef void dpi_prior_gradient(void *of, const double *z, double *gradient);

/* All scales of the members of plates, *list in the arena.  False when memory is out. */
bool dpi_scalings_find(const dpi_model_view *r, dpi_prior_gradient *prior, void *of,
                       dpi_arena *arena, dpi_scaling **list, size_t *n);

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
