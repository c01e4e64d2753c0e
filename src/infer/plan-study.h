/* The simulations of a plan: truths, outcomes, and fits of them with one budget or without one. */
#ifndef DPI_INFER_PLAN_STUDY_H
#define DPI_INFER_PLAN_STUDY_H

#include <tacit/simulate.h>

#include "infer/invent.h"
#include "infer/plan.h"

/* Posterior of each number in each simulation, [simulations][d]; NaN where there is none. */
typedef struct dpi_plan_answers {
    double *mean, *sd, *low, *high;
    double *seconds; /* [simulations] of the fits; NaN where there is none */
    bool *hopeless;  /* [simulations] */
} dpi_plan_answers;

typedef struct dpi_plan_study {
    const dp_model *model;
    const dp_plan_opts *opts;
    dpi_arena arena;
    dpi_model_view view;
    dpi_budget budget;
    dpi_invented invented;
    dp_rng *rng;
    dp_simulator *sim;
    size_t d, simulations;
    double *truth;       /* [simulations][d] */
    double *outcomes;    /* [simulations][records] */
    uint64_t *seed;      /* [simulations] */
    dp_summary *summary; /* [d] scratch */
    double *room;        /* [simulations] scratch */
    dpi_plan_answers open, closed;
    uint64_t made, planned; /* fits, as far as is known */
    double fraction;        /* as told last */
    dp_error last;          /* why a simulation could not be fitted */
    dp_plan *plan;          /* owned until it is handed out */
} dpi_plan_study;

/* Checks what is asked for, invents records, and draws truths and outcomes; s->model and s->opts
 * are set.  Freed with dpi_plan_study_free, also after an error. */
dp_status dpi_plan_study_init(dpi_plan_study *s, const dp_dataset *columns,
                              dp_error *err) DP_MUST_CHECK;

/* Frees all but s->plan. */
void dpi_plan_study_free(dpi_plan_study *s);

/* Fits the first n simulations.  What cannot be fitted is left out: NaN. */
dp_status dpi_plan_study_fit(dpi_plan_study *s, const dp_fit_opts *opts, dpi_plan_answers *a,
                             size_t n, dp_error *err) DP_MUST_CHECK;

/* The latents' numbers as the simulator has drawn them, to[d]. */
dp_status dpi_plan_study_latents(const dpi_plan_study *s, double *to, dp_error *err) DP_MUST_CHECK;

/* Whether the status of a fit ends the plan, and not that fit alone. */
bool dpi_plan_study_ends(dp_status status);

/* Whether simulation k was fitted without privacy and, as last asked, with it. */
bool dpi_plan_study_has(const dpi_plan_study *s, size_t k);

#endif
