/* Where per-record gradients are cut, for objective.c: `blocks`, `latents`, `prior` and `record`
 * are there.  Sets `part`, `crossing`, `n_parts` and `n_release`, and what else belongs to the kind
 * of cut; errors in o->err. */
#ifndef DPI_MODEL_CUT_H
#define DPI_MODEL_CUT_H

#include "model/objective.h"

/* Also `feed` and the blocks' `gradient`. */
void dpi_cut_at_latents(dpi_objective *o);

/* The blocks' `gradient` of the prior alone, and no parts. */
void dpi_cut_at_points(dpi_objective *o);

/* Also `share`, where units may have several records. */
void dpi_cut_at_parameters(dpi_objective *o, const dpi_objective_spec *spec);

#endif
