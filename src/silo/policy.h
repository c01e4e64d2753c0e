/* What a site allows, whatever a plan says: a text file of the people who answer for its records.
 *
 *   schemes = secagg+dp ...     no others
 *   epsilon = E, delta = D      at most; a scheme without noise has none and needs `no-noise = yes`
 *   owners = N                  at least
 *   colluders = N               at least so many are reckoned with; 1 where it is not said
 *   model = HASH                one of these models, a line each; where there is none, any
 *   owner = tacit-owner:...     one of these owners, a line each; where there is none, any
 *   no-noise = yes              sums without noise may leave
 *   local-steps = K             at most so many by an owner itself; needed where it takes any
 *                               without noise
 *   link-ids = yes              of columns: which people both owners have may be told to both
 *   tell-coefficients = yes     of columns: this owner's coefficients may be told to the other
 *
 * # begins a comment.  schemes, epsilon, delta and owners must be there: what is not said is not
 * allowed.  A line that stands twice holds twice: once `no` is no. */
#ifndef DPI_SILO_POLICY_H
#define DPI_SILO_POLICY_H

#include "silo/plan.h"

/* Whether the policy in the file allows the plan; of no file (NULL), whether it runs without one.
 * DP_EPRIVACY with what it forbids; DP_EDATA with the line; DP_EIO, DP_EPRIVACY others may write the
 * file; DP_ENOMEM. */
dp_status dpi_site_policy_check(const char *path, const dp_silo_plan *plan,
                                dp_error *err) DP_MUST_CHECK;

/* The same of n bytes of text, named `file` in messages. */
dp_status dpi_site_policy_apply(const char *text, size_t n, const char *file,
                                const dp_silo_plan *plan, dp_error *err) DP_MUST_CHECK;

#endif
