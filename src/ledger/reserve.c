/* What may be done with a reservation: leasing, settling.
 *
 * Whoever holds the entry's `owner`, a random number that is in the ledger and in one object's
 * memory, may move `begun` and settle.  Taking over replaces it. */
#include "ledger/reserve.h"

#include <string.h>
#include <time.h>

#include "base/error.h"

static const unsigned char nobody[DPI_TAG];

uint64_t dpi_reservation_id(const dp_reservation *r)
{
    return r->id;
}

dp_status dpi_reservation_here(const dp_reservation *r, dp_error *err)
{
    return dpi_store_here(r->ledger, err);
}

void dp_reservation_free(dp_reservation *r)
{
    if (r == NULL)
        return;
    sodium_memzero(r, sizeof *r);
    dpi_free(r);
}

/* ---- changing an entry ---- */

static dp_status check_owner(const dp_reservation *r, const dpi_entry *entry, dp_error *err)
{
    if (sodium_memcmp(r->owner, entry->owner, sizeof r->owner) == 0)
        return DP_OK;
    return dpi_fail(err, DP_EPRIVACY,
                    "this run was resumed elsewhere (entry %llu of the ledger), which has its "
                    "remaining steps; go on there, or start a new run",
                    (unsigned long long)r->id);
}

typedef dp_status (*change)(dpi_entry *entry, const void *how, dp_error *err);

/* Applies a change to the reservation's entry, in a transaction. */
static dp_status alter(dp_reservation *r, change apply, const void *how, dp_error *err)
{
    dpi_contents present = {.n = 0};
    dpi_data *data = NULL;
    dpi_entry *entry = NULL;
    dp_status status = dpi_store_begin(r->ledger, err);
    if (status != DP_OK)
        return status;
    status = dpi_contents_find(r->ledger, r->id, &present, &data, &entry, err);
    if (status == DP_OK)
        status = check_owner(r, entry, err);
    if (status == DP_OK)
        status = apply(entry, how, err);
    if (status == DP_OK)
        status = dpi_entry_update(r->ledger, entry, err);
    dpi_contents_free(&present);
    return dpi_store_end(r->ledger, status, err);
}

static dp_status set_begun(dpi_entry *entry, const void *how, dp_error *err)
{
    const uint64_t *begun = how;
    for (size_t k = 0; k < entry->n; k++) {
        uint64_t reserved = entry->parts[k].mechanism.steps;
        if (begun[k] > reserved)
            return dpi_fail(err, DP_EPRIVACY,
                            "%llu steps are reserved, and %llu would be begun; resume the run, "
                            "which reserves more",
                            (unsigned long long)reserved, (unsigned long long)begun[k]);
        entry->parts[k].begun = begun[k];
    }
    return DP_OK;
}

dp_status dpi_reservation_mark(dp_reservation *r, const uint64_t *begun, dp_error *err)
{
    return alter(r, set_begun, begun, err);
}

/* Lowers every mechanism to steps[k], or, for NULL, keeps them. */
static dp_status set_settled(dpi_entry *entry, const void *how, dp_error *err)
{
    const uint64_t *steps = how;
    for (size_t k = 0; k < entry->n; k++) {
        dp_mechanism *m = &entry->parts[k].mechanism;
        uint64_t begun = steps != NULL ? steps[k] : m->steps;
        if (begun > m->steps)
            return dpi_fail(err, DP_EINVAL,
                            "mechanism %zu has %llu steps reserved, and %llu are said to have been "
                            "begun; give at most those reserved, settling lowers only",
                            k, (unsigned long long)m->steps, (unsigned long long)begun);
        if (m->sampling == DP_SAMPLING_ALLOCATION && m->epoch > 0 && begun % m->epoch > 0)
            begun = begun - begun % m->epoch + m->epoch;
        m->steps = begun < m->steps ? begun : m->steps;
        entry->parts[k].begun = m->steps;
    }
    entry->settled = (int64_t)time(NULL);
    memcpy(entry->owner, nobody, sizeof entry->owner);
    return DP_OK;
}

dp_status dp_reservation_settle(dp_reservation *r, const uint64_t *steps, dp_error *err)
{
    if (r->settled)
        return dpi_fail(err, DP_ESTATE,
                        "the reservation is settled already; reserve anew for more steps");
    dp_status status = alter(r, set_settled, steps, err);
    r->settled = status == DP_OK;
    return status;
}

dp_status dpi_reservation_finish(dp_reservation *r, dp_error *err)
{
    dp_status status = r->settled ? DP_OK : alter(r, set_settled, NULL, err);
    r->settled = r->settled || status == DP_OK;
    return status;
}
