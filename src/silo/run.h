/* What runs of rows and of columns share. */
#ifndef DPI_SILO_RUN_H
#define DPI_SILO_RUN_H

#include "silo/carrier.h"
#include "silo/plan.h"

/* Whose key it is, and that all have signed.  DP_ENAME, DP_EPRIVACY. */
dp_status dpi_silo_run_owner(const dp_silo_plan *plan, const dp_silo_key *key, size_t *self,
                             dp_error *err) DP_MUST_CHECK;

/* The carrier of opts->mailbox. */
dp_status dpi_silo_run_carrier(const dp_silo_run_opts *opts, dpi_carrier **carrier,
                               dp_error *err) DP_MUST_CHECK;

/* Makes the folder of a state where there is none.  DP_EIO; DP_EPRIVACY others may look into it. */
dp_status dpi_silo_run_folder(const char *path, dp_error *err) DP_MUST_CHECK;

#endif
