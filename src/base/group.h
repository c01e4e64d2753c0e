/* What ranks of a group say to each other; a NULL group is one process by itself, which agrees. */
#ifndef DPI_BASE_GROUP_H
#define DPI_BASE_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include <tacit/group.h>
#include <tacit/status.h>

/* A group that can be: DP_EINVAL. */
dp_status dpi_group_check(const dp_group *group, dp_error *err) DP_MUST_CHECK;

/* Collective: `mine` when it is a failure, DP_ESTATE when another rank has failed, DP_OK when none
 * has. */
dp_status dpi_group_agree(const dp_group *group, dp_status mine, dp_error *err) DP_MUST_CHECK;

/* Collective: replaces words[n] by those of rank 0. */
dp_status dpi_group_share(const dp_group *group, size_t n, uint64_t *words,
                          dp_error *err) DP_MUST_CHECK;

/* Collective: adds up n whole numbers, |value| <= 2^62 / size, and whether all ranks have got here
 * without failing (`mine`), for which values[n] is room.  As dpi_group_agree; values are zeroed
 * then. */
dp_status dpi_group_add(const dp_group *group, dp_status mine, size_t n, int64_t *values,
                        dp_error *err) DP_MUST_CHECK;

/* Collective: adds up n doubles in the order of the ranks, with the same result in all; for runs
 * without noise.  room[n * size] is scratch.  As dpi_group_agree; values are NaN then. */
dp_status dpi_group_add_real(const dp_group *group, dp_status mine, size_t n, double *values,
                             int64_t *room, dp_error *err) DP_MUST_CHECK;

#endif
