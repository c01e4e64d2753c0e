/* Split learning as a plan has it: its half of a model, of records that were found. */
#ifndef DPI_SILO_RUN_SPLIT_H
#define DPI_SILO_RUN_SPLIT_H

#include <tacit/silo.h>

#include "silo/split-run.h"

typedef struct dpi_plan_side dpi_plan_side;

/* Owner self's half of a plan of scheme split, of its data: of the plan's model, or of the
 * regression that the plan says.  Nothing has left.  DP_EMISMATCH the model is another than the
 * plan's, or comes to other sizes; DP_EINVAL data that do not fit the plan; errors of
 * dp_split_new. */
dp_status dpi_plan_side_open(const dp_silo_plan *plan, size_t self,
                             const dp_silo_columns_data *data, dpi_plan_side **half,
                             dp_error *err) DP_MUST_CHECK;
/* Adds its columns to the hash of what this owner has. */
void dpi_plan_side_hash(const dpi_plan_side *half, unsigned char records[32]);

void dpi_plan_side_close(dpi_plan_side *half);

/* w[parameters of one's own] after all steps, of the common rows index[rows].  Errors of
 * dpi_split_run. */
dp_status dpi_plan_side_run(dpi_plan_side *half, const dpi_silo_part *part, dpi_post *post,
                            size_t rows, const size_t *index, double *w,
                            dp_error *err) DP_MUST_CHECK;

/* The fit of both halves' parameters, without privacy.  DP_ENOMEM; errors of dpi_fit_new. */
dp_status dpi_plan_side_fit(const dpi_plan_side *half, const double *w, const double *others,
                            dp_fit **fit, dp_error *err) DP_MUST_CHECK;

#endif
