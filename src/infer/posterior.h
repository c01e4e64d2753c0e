/* The posterior itself, without privacy: the log density of latents given all records, and its
 * gradient. */
#ifndef DPI_INFER_POSTERIOR_H
#define DPI_INFER_POSTERIOR_H

#include "exec/run.h"
#include "infer/nuts.h"
#include "model/objective.h"

/* What all evaluators share; const once it is made. */
typedef struct dpi_posterior {
    dpi_arena arena;
    dpi_objective objective; /* of points; its graph has the nodes below beside it */
    const dp_dataset *data;  /* with computed columns behind the others, once it is settled */
    size_t chunk;            /* records at a time */
    size_t n_parts, n_sum;   /* and numbers of all parts */
    dpi_id *part, *crossing, *feed; /* [n_parts] as of an objective that is cut at the latents */
    dpi_id *gradient;               /* [n_blocks] after the feed; DPI_NONE where it is flat */
    bool *loose; /* [n_blocks]: numbers of it are not themselves: see dpi_objective_spec */
} dpi_posterior;

/* Borrows the data.  loose[sites of the model], told[sites] as in dpi_objective_spec.
 * DP_EUNSUPPORTED for latents of records and parameters without a prior; DP_EINVAL for a flat one
 * that nothing reads; errors of dpi_objective_init and dpi_check_observations; DP_ENOMEM. */
dp_status dpi_posterior_init(dpi_posterior *p, const dp_model *model, const dp_dataset *data,
                             const double *const *loose, const dpi_recorded *told,
                             dp_error *err) DP_MUST_CHECK;
void dpi_posterior_free(dpi_posterior *p);

/* Computes once what records' values depend on columns and constants alone (settled.c), as far as
 * all of it fits into `most` bytes, and has evaluators, which are made afterwards, read it.  How
 * many values that were is in *settled (nullable).  DP_ENOMEM; errors of dpi_run_new; after an
 * error the posterior can only be freed. */
dp_status dpi_posterior_settle(dpi_posterior *p, size_t most, size_t *settled,
                               dp_error *err) DP_MUST_CHECK;

/* One thread's. */
typedef struct dpi_evaluator {
    dpi_posterior *of;
    dpi_arena arena;
    dpi_run *run;
    double *sum, *weight, *record; /* [n_sum], [chunk] ones, [chunk] */
} dpi_evaluator;

/* DP_ENOMEM; errors of dpi_run_new. */
dp_status dpi_evaluator_init(dpi_evaluator *e, dpi_posterior *of, dp_error *err) DP_MUST_CHECK;
void dpi_evaluator_free(dpi_evaluator *e);

/* Where z[d] is, tied[d], with no number loose: (x - location) / scale becomes x. */
void dpi_evaluator_tie(dpi_evaluator *e, const double *z, double *tied);

/* The scale (dpi_scale_of) at z[d] of a block that has one: scale[its size]. */
void dpi_evaluator_scale(dpi_evaluator *e, const double *z, size_t block, double *scale);

/* The log posterior at z[d], but for a constant, and its gradient[d].  -INFINITY
 * where it, or the log density of a record, is no number. */
double dpi_evaluate(dpi_evaluator *e, const double *z, double *gradient);

/* The evaluator as a target for dpi_hmc; borrows it. */
dpi_target dpi_evaluator_target(dpi_evaluator *e);

#endif
