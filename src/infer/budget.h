/* How a budget is spent: phases, each some releases of one question to all records.
 *
 * All of them are the Gaussian mechanism on the whole data set, for adding or removing one record.
 * Their number and noise multipliers are fixed before the first; what a later one asks is a
 * function of what earlier ones have released, which adaptive composition allows.  In terms of mu =
 * 1 / sigma the squares add up, so each phase has a share of the square of the whole. */
#ifndef DPI_INFER_BUDGET_H
#define DPI_INFER_BUDGET_H

#include <tacit/infer.h>

#include "infer/inquiries.h"

typedef enum dpi_stage {
    DPI_STAGE_SCALES,
    DPI_STAGE_NORMS,     /* before each whitening */
    DPI_STAGE_WHITENING, /* at the start */
    DPI_STAGE_APPROACH,
    DPI_STAGE_WHITENING_AGAIN,
    DPI_STAGE_APPROACH_AGAIN,
    DPI_STAGE_COUNT,
    DPI_STAGE_MAIN,
    DPI_STAGE_CURVATURE,
    DPI_N_STAGES
} dpi_stage;

/* Of the main rounds one in so many at the least, the first ones, is not part of the answer. */
enum { DPI_LEFT_OUT = 12 };

typedef struct dpi_budget {
    bool noisy;
    double epsilon, delta;       /* spent by all phases; certified */
    double accounted;            /* delta that the accountant was given */
    double sigma;                /* of one release that costs as much as all */
    double sigmas[DPI_N_STAGES]; /* noise multiplier of each release; 0 without noise.  Of several
                                  * owners that of all their shares */
    uint64_t releases[DPI_N_STAGES];
    dp_mechanism list[DPI_N_STAGES]; /* what is accounted for: of several owners the noise that an
                                      * attacker does not know */
    dp_mechanism made[DPI_N_STAGES]; /* the same with sigmas */
} dpi_budget;

extern const char *const dpi_stage_names[DPI_N_STAGES];

/* Divides the budget.  DP_EINVAL owners that cannot be; DP_EDOMAIN, DP_EACCURACY, and the
 * accountant's errors. */
dp_status dpi_budget_init(dpi_budget *b, const dp_fit_opts *o, dp_error *err) DP_MUST_CHECK;

#endif
