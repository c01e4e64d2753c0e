/* Records that a schema allows, invented. */
#ifndef TOOLS_INVENT_H
#define TOOLS_INVENT_H

#include <stddef.h>

#include <tacit/random.h>
#include <tacit/table.h>

/* A table of n records with these columns, in which every value that the schema allows is as likely
 * as any other; freed with dp_table_free.  *seconds [out, nullable] is what reading them took.
 * DP_ENOMEM. */
dp_status invent_table(const dp_column *columns, size_t n_columns, size_t n, dp_rng *rng,
                       dp_table **table, double *seconds, dp_error *err);

/* Seconds of a clock that goes on evenly. */
double invent_now(void);

#endif
