/* A fit by noisy gradient steps, for models whose posterior is not sampled. */
#ifndef DPI_INFER_LOOP_H
#define DPI_INFER_LOOP_H

#include <tacit/infer.h>

/* dp_fit_private of a model that the rounds do not take; `why` are the words for it
 * (dpi_model_view.refused).  Options are checked but for the budget and those that rounds alone
 * have: DP_EINVAL for these.  DP_EUNSUPPORTED where no guide is known (loop-guide.h); errors of
 * dp_svi_new, dp_svi_step and dp_ledger_reserve. */
dp_status dpi_fit_loop(const dp_model *model, const dp_dataset *data, const dp_fit_opts *opts,
                       const char *why, dp_fit **fit, dp_error *err) DP_MUST_CHECK;

#endif
