/* A fit by gradient steps, noisy ones but without privacy, for models whose posterior is not
 * sampled, and for any whose owners take steps by themselves. */
#ifndef DPI_INFER_LOOP_H
#define DPI_INFER_LOOP_H

#include <tacit/infer.h>

#include "infer/progress.h"
#include "svi/svi.h"

/* Sees each release as soon as it is made, and the run that has it or is about to begin; for
 * audits. */
typedef struct dpi_loop_witness {
    void (*see)(void *of, const dpi_release *release, const dp_svi *run);
    void *of;
} dpi_loop_witness;

typedef struct dpi_loop_spec {
    const dp_model *model;
    const dp_dataset *data;
    const dp_fit_opts *opts;
    const char *why;                 /* the rounds do not make the fit: dpi_loop_why */
    const dpi_loop_witness *witness; /* nullable */
    dpi_progress *progress;          /* nullable */
} dpi_loop_spec;

/* dp_fit_private of a model that the rounds do not take, or of any with local steps.  Options are
 * checked but for the budget and those that rounds alone have: DP_EINVAL for these.
 * DP_EUNSUPPORTED where no guide is known (loop-guide.h); errors of dp_svi_new, dp_svi_step and
 * dp_ledger_reserve. */
dp_status dpi_fit_loop(const dpi_loop_spec *spec, dp_fit **fit, dp_error *err) DP_MUST_CHECK;

/* Why a fit is made by the loop, of how dpi_model_view_init has ended and what it has refused;
 * NULL: it is not. */
const char *dpi_loop_why(const dp_fit_opts *opts, dp_status viewed, const char *refused);

/* dp_fit_openings of such a model. */
dp_status dpi_loop_openings(const dp_model *model, const dp_fit_opts *opts, size_t *n,
                            dp_opening list[DP_OPENINGS], dp_error *err) DP_MUST_CHECK;

#endif
