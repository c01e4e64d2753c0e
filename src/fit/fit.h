/* What a fit is inside.
 *
 * Invariants: model, guide and what they are made of are the fit's own; the first n_sites sites are
 * those that were fitted (expressions of users may add nodes, never values for new sites); theta is
 * finite, and so are kept draws, which lie in their latents' supports.  Nothing here is a function
 * of records but theta, draws, privacy, phases and diagnostics, which follow from what was
 * released. */
#ifndef DPI_FIT_FIT_H
#define DPI_FIT_FIT_H

#include <tacit/fit.h>

#include "base/bytes.h"
#include "data/dataset.h"
#include "model/objective.h"

/* What a fit is made from.  All is copied but model and guide, which become the fit's own also when
 * it cannot be made. */
typedef struct dpi_fit_parts {
    dp_model *model, *guide;       /* guide nullable: mean-field normal */
    const unsigned char *image[2]; /* of model and guide as they were fitted, for files */
    size_t image_size[2];
    dp_form form;
    dp_precision precision;
    const double *theta; /* [n_theta] parameters in the order of the objective's blocks */
    size_t n_theta;
    const dp_privacy *privacy;
    double asked_delta;
    const dp_fit_column *columns;
    size_t n_columns;
    /* Draws of the posterior, of every latent that belongs to no records: their constrained values
     * side by side in the order of dp_fit_draw.  None, or at least two; theta then still is the
     * guide. */
    const double *draws; /* [n_draws][draw_size] */
    size_t n_draws, draw_size;
    const dp_fit_phase *phases;
    size_t n_phases;
    const dp_diagnostic *diagnostics;
    size_t n_diagnostics;
    const dp_fit_source *source; /* nullable */
    dpi_identity *own; /* nullable: of records that are refused; held by the fit besides */
} dpi_fit_parts;

enum { DPI_FIT_WORDS = 400 }; /* most bytes of a diagnostic's words */

struct dp_fit {
    dpi_arena arena;
    dp_model *model, *guide;
    size_t n_sites[2]; /* of model and guide as fitted */
    dpi_objective objective;
    dpi_fit_parts parts; /* copies; model, guide and own as above */
    dp_privacy privacy;
    dp_fit_source source; /* where parts.source is there */
    dp_draws *kept;       /* parts.draws, or NULL */
    dp_fit_quantity *quantities;
    size_t n_quantities;
    dpi_id *mean[2];    /* [n_sites] of model and guide: of observed columns, of the guide's latents
                         * of records; DPI_NONE where there is none */
    dpi_id log_density; /* of all that is observed of a record, in the model's graph */
};

/* DP_EINVAL the parameters are not those of model and guide, a draw has not the numbers of the
 * model's latents, there is one draw, or a phase, a diagnostic or the source is none; DP_EDOMAIN a
 * parameter is not finite, or a draw is outside its latent's support; DP_EUNSUPPORTED that support
 * is not known (computed bounds); errors of dpi_objective_init; DP_ENOMEM. */
dp_status dpi_fit_new(const dpi_fit_parts *parts, dp_fit **fit, dp_error *err) DP_MUST_CHECK;

/* Parts of a fit to be: the columns of `data` that the objective reads, in the arena; model and
 * guide from their images.  DP_ENOMEM; errors of dpi_model_restore. */
dp_status dpi_fit_list_columns(const dpi_objective *o, const dp_dataset *data, dpi_arena *arena,
                               dpi_fit_parts *parts, dp_error *err) DP_MUST_CHECK;
dp_status dpi_fit_restore_models(const dpi_bytes image[2], dpi_fit_parts *parts,
                                 dp_error *err) DP_MUST_CHECK;

/* dp_svi_finish, also before the first step: for tests. */
dp_status dpi_fit_of_run(const dp_svi *svi, dp_fit **fit, dp_error *err) DP_MUST_CHECK;

/* The fit of a run of which the caller says privacy, phases and diagnostics, in *said; the rest is
 * the run's. */
dp_status dpi_fit_said(const dp_svi *svi, const dpi_fit_parts *said, dp_fit **fit,
                       dp_error *err) DP_MUST_CHECK;

/* Records at a time, as a run takes them that has many (svi.c); never of their number. */
size_t dpi_fit_chunk(const dp_fit *fit);

/* The parameter block of that name, or NULL. */
const dpi_block *dpi_fit_block(const dp_fit *fit, const char *name);

/* The latent, parameter, deterministic value or column of that name in the model's graph, or
 * DPI_NONE. */
dpi_id dpi_fit_find(const dp_fit *fit, const char *name);

/* DP_EPRIVACY when these are the records that the fit was made from; the data set's own error. */
dp_status dpi_fit_may_read(const dp_fit *fit, const dp_dataset *data, dp_error *err) DP_MUST_CHECK;

#endif
