/* Shares of the budget.
 *
 * More than two thirds are for the main rounds, a twelfth for how much the records tell, the rest
 * for coming near (doc/design/infer.md).  A share of .685 instead of 1 costs 1 / sqrt(.685) - 1 =
 * 21 % more noise. */
#include "infer/budget.h"

#include <math.h>

#include "random/failure.h"
#include "svi/options.h"
#include "svi/together.h"

const char *const dpi_stage_names[DPI_N_STAGES] = {[DPI_STAGE_SCALES] = "scales",
                                                   [DPI_STAGE_NORMS] = "norms",
                                                   [DPI_STAGE_WHITENING] = "whitening",
                                                   [DPI_STAGE_APPROACH] = "approach",
                                                   [DPI_STAGE_WHITENING_AGAIN] = "whitening again",
                                                   [DPI_STAGE_APPROACH_AGAIN] = "approach again",
                                                   [DPI_STAGE_COUNT] = "count",
                                                   [DPI_STAGE_MAIN] = "main",
                                                   [DPI_STAGE_CURVATURE] = "curvature"};

static const double shares[DPI_N_STAGES] = {0.015, 0.01, 0.04,  0.04, 0.04,
                                            0.045, 0.04, 0.685, 0.085};
static const uint64_t releases[DPI_N_STAGES] = {1, 2, 3, 6, 2, 6, 1, 16, 4};

/* `excess` is what all noise is more than that which counts. */
static dp_status calibrate(dpi_budget *b, double epsilon, double excess, dp_error *err)
{
    dp_interval spent;
    dp_status status =
        dp_approximate_sigma(epsilon, b->accounted, 1, 1, DP_SAMPLING_FULL, &b->sigma, err);
    if (status != DP_OK)
        return status;
    b->sigma *= 1 + 0x1p-40; /* for the rounding of the shares */
    for (int k = 0; k < DPI_N_STAGES; k++) {
        b->list[k] = (dp_mechanism){.sampling = DP_SAMPLING_FULL,
                                    .sigma = b->sigma * sqrt((double)b->releases[k] / shares[k]),
                                    .rate = 1,
                                    .steps = b->releases[k]};
        b->made[k] = b->list[k];
        b->made[k].sigma = b->sigmas[k] = b->list[k].sigma * excess;
    }
    status = dp_account_epsilon(b->list, DPI_N_STAGES, b->accounted, 0, &spent, err);
    b->epsilon = spent.upper;
    if (status == DP_OK && !(spent.upper <= epsilon))
        return dpi_fail(err, DP_EACCURACY, "the phases would cost %.9g, and %.9g may be spent",
                        spent.upper, epsilon);
    return status;
}

dp_status dpi_budget_init(dpi_budget *b, const dp_fit_opts *o, dp_error *err)
{
    *b = (dpi_budget){.noisy = o->mode == DP_PRIVATE, .epsilon = INFINITY, .delta = 1};
    for (int k = 0; k < DPI_N_STAGES; k++)
        b->releases[k] = k == DPI_STAGE_MAIN && o->rounds != 0 ? o->rounds : releases[k];
    if (b->releases[DPI_STAGE_MAIN] < b->releases[DPI_STAGE_CURVATURE])
        b->releases[DPI_STAGE_CURVATURE] = 1; /* no round is there to look behind */
    dp_status status = dpi_together_check(o->owners, err);
    if (status == DP_OK)
        status = dpi_together_check_alone(o->owners, err);
    if (status != DP_OK || !b->noisy)
        return status;
    status = dpi_options_budget(o->epsilon, o->delta, 0, err);
    if (status != DP_OK)
        return status;
    b->accounted = dpi_release_delta(o->delta);
    b->delta = o->delta;
    return calibrate(b, o->epsilon, dpi_together_excess(o->owners), err);
}
