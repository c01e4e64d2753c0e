/* What runs of rows and of columns share. */
#ifndef DPI_SILO_RUN_H
#define DPI_SILO_RUN_H

#include <limits.h>

#include "silo/carrier.h"
#include "silo/plan.h"

/* Whose key it is, and that all have signed.  DP_ENAME, DP_EPRIVACY. */
dp_status dpi_silo_run_owner(const dp_silo_plan *plan, const dp_silo_key *key, size_t *self,
                             dp_error *err) DP_MUST_CHECK;

/* The carrier of opts->mailbox. */
dp_status dpi_silo_run_carrier(const dp_silo_run_opts *opts, dpi_carrier **carrier,
                               dp_error *err) DP_MUST_CHECK;

/* The path of a file of a state's folder: "run" is the state of the rounds, or of columns.  False:
 * it is too long. */
#define DPI_SILO_THREE "three" /* of three parties; dp_silo_forget leaves it */
bool dpi_silo_run_path(char to[PATH_MAX], const char *folder, const char *file) DP_MUST_CHECK;

/* Whether runs of it are kept in a state's folder, so that they go on. */
bool dpi_silo_run_keeps(const dp_silo_plan *plan);

/* How many sums a run opens, and the most numbers of one. */
void dpi_silo_plan_sums(const dp_silo_plan *plan, uint64_t *sums, size_t *most);

/* Makes the folder of a state where there is none.  DP_EIO; DP_EPRIVACY others may look into it. */
dp_status dpi_silo_run_folder(const char *path, dp_error *err) DP_MUST_CHECK;

#endif
