/* From draws of the unconstrained latents to a fit. */
#ifndef DPI_INFER_ANSWER_H
#define DPI_INFER_ANSWER_H

#include "fit/fit.h"

/* Draws that a fit keeps, where its options do not say. */
enum { DPI_KEPT_DRAWS = 4000 };

typedef struct dpi_answer {
    const dp_model *model;
    const dpi_objective *objective; /* of points */
    const dp_dataset *data;
    const double *theta; /* [n_draws][d] */
    size_t n_draws;
    const double *guide; /* [2 d] of dpi_answer_guide */
    dpi_arena *arena;
} dpi_answer;

/* guide[2 d]: mean and logarithm of the standard deviation of each latent's numbers, unconstrained,
 * in the order of the mean-field guide's parameters. */
void dpi_answer_guide(const dpi_answer *a, double *guide);

/* Makes the fit; *parts has what else is to be said of it (privacy, phases, diagnostics, own).
 * Errors of dpi_fit_new; DP_ENOMEM. */
dp_status dpi_answer_fit(const dpi_answer *a, dpi_fit_parts *parts, dp_fit **fit,
                         dp_error *err) DP_MUST_CHECK;

#endif
