/* Everything is a sum of 64-bit integers over the ranks: what one of them says is a sum in which
 * the others give zero, and agreement is a sum of failures.  Two's complement sums wrap around, so
 * that words of any bits are passed on by the rank that gives them. */
#include "base/group.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

static const size_t most_ranks = (size_t)1 << 20;

dp_status dpi_group_check(const dp_group *group, dp_error *err)
{
    if (group == NULL)
        return DP_OK;
    if (group->sum == NULL || group->size < 1 || group->size > most_ranks ||
        group->rank >= group->size)
        return dpi_fail(err, DP_EINVAL,
                        "rank %zu of %zu is no place in a group, or the group has no sum; fill "
                        "dp_group, or make one by dp_mpi_group_new",
                        group->rank, group->size);
    return DP_OK;
}

static dp_status sum(const dp_group *group, size_t n, int64_t *values, dp_error *err)
{
    if (group->sum(group->context, n, values) == 0)
        return DP_OK;
    memset(values, 0, n * sizeof *values);
    return dpi_fail(err, DP_EIO,
                    "the ranks can no longer reach each other; start all of them again");
}

/* `mine`, or what is to be said of the number of failures. */
static dp_status verdict(dp_status mine, int64_t failures, dp_error *err)
{
    if (mine != DP_OK || failures == 0)
        return mine;
    return dpi_fail(err, DP_ESTATE, "another rank of the group has failed; its message tells why");
}

dp_status dpi_group_agree(const dp_group *group, dp_status mine, dp_error *err)
{
    return dpi_group_add(group, mine, 0, &(int64_t){0}, err);
}

dp_status dpi_group_share(const dp_group *group, size_t n, uint64_t *words, dp_error *err)
{
    if (group == NULL)
        return DP_OK;
    if (group->rank != 0)
        memset(words, 0, n * sizeof *words);
    return sum(group, n, (int64_t *)words, err);
}

dp_status dpi_group_add(const dp_group *group, dp_status mine, size_t n, int64_t *values,
                        dp_error *err)
{
    if (group == NULL)
        return mine;
    values[n] = mine != DP_OK;
    if (mine != DP_OK)
        memset(values, 0, n * sizeof *values);
    dp_status status = sum(group, n + 1, values, err);
    if (mine == DP_OK && status == DP_OK)
        status = verdict(mine, values[n], err);
    if (status != DP_OK || mine != DP_OK)
        memset(values, 0, n * sizeof *values);
    return mine != DP_OK ? mine : status;
}

dp_status dpi_group_add_real(const dp_group *group, dp_status mine, size_t n, double *values,
                             int64_t *room, dp_error *err)
{
    if (group == NULL)
        return mine;
    memset(room, 0, n * group->size * sizeof *room);
    memcpy(room + n * group->rank, values, n * sizeof *values);
    dp_status status = dpi_group_agree(group, mine, err);
    if (status == DP_OK)
        status = sum(group, n * group->size, room, err);
    for (size_t j = 0; j < n; j++)
        values[j] = status == DP_OK ? 0 : NAN;
    for (size_t r = 0; r < group->size && status == DP_OK; r++)
        for (size_t j = 0; j < n; j++) {
            double part;
            memcpy(&part, &room[n * r + j], sizeof part);
            values[j] += part;
        }
    return status;
}
