/* What a fit will release, told before it. */
#include <tacit/infer.h>

#include "base/compiler.h"
#include "base/error.h"
#include "infer/budget.h"
#include "infer/inquiries.h"
#include "infer/loop.h"
#include "infer/view.h"

static const dpi_inquiry_kind kind_of[DPI_N_STAGES] = {
    [DPI_STAGE_SCALES] = DPI_INQUIRY_SCALES,
    [DPI_STAGE_NORMS] = DPI_INQUIRY_NORMS,
    [DPI_STAGE_WHITENING] = DPI_INQUIRY_WHITENING,
    [DPI_STAGE_APPROACH] = DPI_INQUIRY_SCORE,
    [DPI_STAGE_WHITENING_AGAIN] = DPI_INQUIRY_WHITENING,
    [DPI_STAGE_APPROACH_AGAIN] = DPI_INQUIRY_SCORE,
    [DPI_STAGE_COUNT] = DPI_INQUIRY_COUNT,
    [DPI_STAGE_MAIN] = DPI_INQUIRY_SCORE,
    [DPI_STAGE_CURVATURE] = DPI_INQUIRY_CURVATURE};

dp_status dp_fit_openings(const dp_model *model, const dp_fit_opts *opts, size_t *n,
                          dp_opening list[DP_OPENINGS], dp_error *err)
{
    dpi_model_view view = {.refused = ""};
    dpi_budget budget;
    dp_error found = {0};
    if (model == NULL || opts == NULL || n == NULL || list == NULL)
        dpi_misuse(__func__, "NULL model, options or result");
    *n = 0;
    dp_status status = dpi_model_view_init(&view, model, &found);
    if (dpi_loop_why(opts, status, view.refused) != NULL) {
        dpi_model_view_free(&view);
        return dpi_loop_openings(model, opts, n, list, err);
    }
    if (status != DP_OK)
        status = dpi_fail(err, status, "%s", found.text);
    if (status == DP_OK)
        status = dpi_budget_init(&budget, opts, err);
    for (int k = 0; status == DP_OK && k < DPI_N_STAGES; k++)
        list[(*n)++] = (dp_opening){.phase = dpi_stage_names[k],
                                    .times = budget.releases[k],
                                    .numbers = dpi_inquiry_size(&view, kind_of[k]),
                                    .sigma = budget.noisy ? budget.list[k].sigma : 0};
    dpi_model_view_free(&view);
    return status;
}
