/* From a plan to what each owner runs. */
#ifndef DPI_SILO_DESCRIBE_H
#define DPI_SILO_DESCRIBE_H

#include "silo/plan.h"
#include "silo/rules.h"

/* Works out the programs of a plan, whose scheme there is, checks them, and appends what people
 * read of it to `text`.  DP_EPRIVACY what could be seen is neither a release nor named by a
 * clause. */
dp_status dpi_silo_describe(const dp_silo_plan *plan, dpi_bytes *text, dp_error *err) DP_MUST_CHECK;

/* Owner k's part: *part [out] borrows from the arena. */
dp_status dpi_silo_part_of(const dp_silo_plan *plan, size_t k, dpi_arena *arena,
                           dpi_silo_part *part, dp_error *err) DP_MUST_CHECK;

#endif
