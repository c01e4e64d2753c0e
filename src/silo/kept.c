/* What a state's folder knows of a run, for who asks. */
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "silo/columns-state.h"
#include "silo/rules.h"
#include "silo/run.h"
#include "silo/trio-state.h"

static int64_t changed_at(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 ? (int64_t)s.st_mtime : 0;
}

/* Whose state it is; DP_ESTATE it is of none of the plan's owners. */
static dp_status find_owner(const dp_silo_plan *plan, const char *path, dp_silo_kept *kept,
                            dp_error *err)
{
    dp_status status = DP_ESTATE;
    dp_error found = {DP_OK, ""};
    for (size_t k = 0; k < plan->opts.n_owners && status == DP_ESTATE; k++) {
        unsigned char whose[DPI_SILO_HASH];
        dpi_silo_state s;
        found = (dp_error){DP_OK, ""};
        dpi_silo_state_whose(plan->hash, plan->keys[k], whose);
        status = dpi_silo_state_peek(path, whose, &s, &kept->begun, &found);
        kept->owner = k;
        kept->sums =
            plan->opts.columns != NULL ? dpi_columns_state_steps(s.round, plan->columns.steps)
            : plan->opts.trio != NULL  ? dpi_trio_state_reached(&s, kept->planned, &kept->over)
                                       : s.round;
        dpi_silo_state_free(&s);
    }
    return status == DP_OK ? status : dpi_fail(err, status, "%s", found.text);
}

dp_status dp_silo_look(const dp_silo_plan *plan, const char *state, dp_silo_kept *kept,
                       dp_error *err)
{
    char path[PATH_MAX];
    size_t most;
    *kept = (dp_silo_kept){.keeps = dpi_silo_run_keeps(plan)};
    if (!dpi_silo_run_path(path, state, plan->opts.trio != NULL ? DPI_SILO_THREE : "run"))
        return dpi_fail(err, DP_EINVAL, "the path of the state is too long");
    if (!kept->keeps)
        return DP_OK;
    dpi_silo_plan_sums(plan, &kept->planned, &most);
    kept->changed = changed_at(path);
    kept->begun = kept->changed != 0;
    dp_status status = find_owner(plan, path, kept, err);
    if (status != DP_OK || !kept->begun)
        *kept = (dp_silo_kept){.keeps = true, .planned = kept->planned};
    return status;
}
