/* A fit without privacy, by Markov chains in the posterior itself. */
#ifndef DPI_INFER_EXACT_H
#define DPI_INFER_EXACT_H

#include <tacit/infer.h>

#include "infer/progress.h"

typedef struct dpi_exact_spec {
    const dp_model *model;
    const dp_dataset *data;
    const dp_fit_opts *opts; /* checked */
    dpi_progress *progress;
} dpi_exact_spec;

/* DP_EUNSUPPORTED a model that has not only latents that records share, columns that are drawn, or,
 * unless opts->method asks for it, too much work; DP_EDOMAIN where the posterior is nowhere a
 * number; errors of dpi_posterior_init, dpi_hmc and dpi_answer_fit. */
dp_status dpi_fit_exact(const dpi_exact_spec *spec, dp_fit **fit, dp_error *err) DP_MUST_CHECK;

#endif
