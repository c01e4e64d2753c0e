/* How the loop spends its budget: three phases, and what a run of each is asked for. */
#ifndef DPI_INFER_LOOP_BUDGET_H
#define DPI_INFER_LOOP_BUDGET_H

#include <tacit/infer.h>

#include "model/objective.h"

typedef enum dpi_loop_phase {
    DPI_LOOP_NUMBER,
    DPI_LOOP_NORMS,
    DPI_LOOP_STEPS,
    DPI_LOOP_PHASES
} dpi_loop_phase;

extern const char *const dpi_loop_phase_names[DPI_LOOP_PHASES];

typedef struct dpi_loop_budget {
    const dp_fit_opts *opts;
    bool noisy;                        /* the rest is of such alone, but for seed and owners */
    uint64_t seed;                     /* of the start and of draws that are no noise */
    dp_owners owners[DPI_LOOP_PHASES]; /* where there are, each with a seed of its own */
    double accounted, epsilon;         /* delta of the account; what all costs */
    double sigma;                      /* of one release that costs as much */
    double doubt;                      /* twice the noise of the number of units, of all shares */
    double gradient[DPI_LOOP_PHASES], count[DPI_LOOP_PHASES]; /* noise of what steps release */
    dp_mechanism list[DPI_LOOP_PHASES];
} dpi_loop_budget;

/* Divides the budget of o (borrowed).  DP_EDOMAIN, DP_EACCURACY, DP_EUNSUPPORTED, and the
 * accountant's errors. */
dp_status dpi_loop_budget_init(dpi_loop_budget *b, const dp_fit_opts *o,
                               dp_error *err) DP_MUST_CHECK;

/* Sets the seed of what is no noise, not 0, and those of owners. */
void dpi_loop_budget_seed(dpi_loop_budget *b, uint64_t seed);

/* The seed of a phase's draws: far from those of other phases; never 0. */
uint64_t dpi_loop_seed(uint64_t of, dpi_loop_phase phase);

/* What a run of norms or steps is asked for; the clip norm of steps is the caller's. */
dp_svi_opts dpi_loop_options(const dpi_loop_budget *b, dpi_loop_phase phase);

/* What a run of steps computes, with a guide or NULL; freed with dpi_objective_free.  Errors of
 * dpi_objective_init. */
dp_status dpi_loop_objective(dpi_objective *o, const dp_model *model, const dp_model *guide,
                             bool noisy, dp_error *err) DP_MUST_CHECK;

/* The share of gradients to be clipped in steps that release so many numbers, of so many units. */
double dpi_loop_share_clipped(const dpi_loop_budget *b, double numbers, double units);

#endif
