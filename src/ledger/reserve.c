/* Reserving, leasing, settling.
 *
 * Whoever holds the entry's `owner`, a random number that is in the ledger and in one object's
 * memory, may move `begun` and settle.  Taking over replaces it. */
#include "ledger/reserve.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "ledger/compose.h"
#include "ledger/data.h"
#include "random/entropy.h"

struct dp_reservation {
    dp_ledger *ledger;
    uint64_t id;
    unsigned char owner[DPI_TAG];
    bool settled;
};

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

static dp_status new_reservation(dp_ledger *ledger, dp_reservation **out, dp_error *err)
{
    *out = dpi_alloc(1, sizeof **out);
    if (*out == NULL)
        return dpi_fail_nomem(err);
    (*out)->ledger = ledger;
    return dpi_entropy((*out)->owner, sizeof(*out)->owner, err);
}

/* Ends the transaction; on failure there is no reservation. */
static dp_status finish(dp_ledger *ledger, dp_status status, dp_reservation **r, dp_error *err)
{
    status = dpi_store_end(ledger, status, err);
    if (status != DP_OK) {
        dp_reservation_free(*r);
        *r = NULL;
    }
    return status;
}

/* ---- reserving ---- */

static dp_status check_what(const dp_spending *what, dp_error *err)
{
    if (what->data == NULL || what->list == NULL || what->n == 0 || what->n > DPI_MOST_LIST)
        return dpi_fail(err, DP_EINVAL,
                        "a reservation names a data set and has a list of 1 to %d mechanisms",
                        DPI_MOST_LIST);
    dp_status status = DP_OK;
    if (what->label != NULL)
        status = dpi_check_text("the label", what->label, DPI_MOST_NAME, err);
    if (status == DP_OK && what->columns != NULL)
        status = dpi_check_text("the list of columns", what->columns, DPI_MOST_COLUMNS, err);
    for (size_t i = 0; status == DP_OK && i < what->n; i++)
        if (what->list[i].steps == 0 || what->list[i].steps > INT64_MAX / 2 ||
            what->list[i].epoch > INT64_MAX || what->list[i].records > INT64_MAX ||
            what->list[i].cap > INT64_MAX || what->list[i].n_jumps > DPI_MOST_JUMPS)
            status = dpi_fail(err, DP_EINVAL,
                              "mechanism %zu of the reservation has %llu steps; give at least 1, "
                              "and no count beyond 2^62",
                              i, (unsigned long long)what->list[i].steps);
    return status;
}

static dp_status check_unit(const dpi_data *data, const char *unit, dp_error *err)
{
    const char *budget = data->budget.unit;
    if (unit == NULL ? budget == NULL : budget != NULL && strcmp(unit, budget) == 0)
        return DP_OK;
    return dpi_fail(err, DP_EMISMATCH,
                    "the budget of '%.100s' protects %s%.100s, and this run %s%.100s; set the same "
                    "unit column",
                    data->name, budget != NULL ? "all records with one value of " : "one record",
                    budget != NULL ? budget : "",
                    unit != NULL ? "all records with one value of " : "one record",
                    unit != NULL ? unit : "");
}

static dp_status check_size(const dpi_data *data, const dpi_purpose *what, dp_error *err)
{
    if (!what->tells_size || data->budget.adjacency == DP_REPLACE_ONE)
        return DP_OK;
    return dpi_fail(
        err, DP_EMISMATCH,
        "the budget of '%.100s' is for neighbours with one record more or less, and this "
        "run's guarantee (of DP_FORM_PARAMETERS) takes the number of records for public; "
        "use DP_FORM_LATENTS, or a budget for DP_REPLACE_ONE",
        data->name);
}

/* A hash of the columns that are read, for the comparison at a resumption. */
static void print_of(const dp_ledger *ledger, const dpi_purpose *what,
                     unsigned char print[DPI_HASH])
{
    const dp_dataset *records = what->spending.records;
    crypto_generichash_state h;
    memset(print, 0, DPI_HASH);
    if (records == NULL)
        return;
    dpi_hash_begin(&h, ledger, "print");
    for (size_t i = 0; i < what->n_used; i++) {
        unsigned char hash[DPI_HASH] = {0};
        const dpi_column *column = dpi_dataset_find(records, what->used[i]);
        if (column != NULL)
            dpi_hash_column(ledger, column, records->n, hash);
        dpi_hash_bytes(&h, hash, sizeof hash);
    }
    dpi_hash_end(&h, print);
}

/* Admits and writes, in a transaction. */
static dp_status reserve(dp_ledger *ledger, const dpi_purpose *what, dpi_entry_part *parts,
                         dp_reservation *r, dp_error *err)
{
    const dp_spending *s = &what->spending;
    dpi_contents present = {.n = 0};
    dpi_entry entry = {.made = (int64_t)time(NULL),
                       .label = s->label,
                       .columns = s->columns,
                       .model = what->model,
                       .parts = parts,
                       .n = s->n};
    memcpy(entry.owner, r->owner, sizeof entry.owner);
    dp_status status = dpi_contents_read(ledger, s->data, &present, err);
    if (status == DP_OK)
        status = check_unit(&present.data[0], s->unit, err);
    if (status == DP_OK)
        status = check_size(&present.data[0], what, err);
    if (status == DP_OK)
        status = dpi_compose_admit(&present.data[0], parts, s->n, err);
    if (status == DP_OK)
        status =
            dpi_data_verify(ledger, &present.data[0], s->records, what->used, what->n_used, err);
    if (status == DP_OK) {
        print_of(ledger, what, entry.print);
        entry.data = present.data[0].id;
        status = dpi_entry_insert(ledger, &entry, err);
        r->id = entry.id;
    }
    dpi_contents_free(&present);
    return status;
}

dp_status dpi_reserve(dp_ledger *ledger, const dpi_purpose *what, dp_reservation **out,
                      dp_error *err)
{
    const dp_spending *s = &what->spending;
    *out = NULL;
    dp_status status = check_what(s, err);
    if (status != DP_OK)
        return status;
    dpi_entry_part *parts = dpi_alloc(s->n, sizeof *parts);
    if (parts == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < s->n; i++)
        parts[i] = (dpi_entry_part){
            .mechanism = s->list[i], .planned = s->list[i].steps, .begun = s->list[i].steps};
    status = new_reservation(ledger, out, err);
    if (status == DP_OK)
        status = dpi_store_begin(ledger, err);
    if (status == DP_OK)
        status = reserve(ledger, what, parts, *out, err);
    dpi_free(parts);
    return finish(ledger, status, out, err);
}

dp_status dp_ledger_reserve(dp_ledger *ledger, const dp_spending *what,
                            dp_reservation **reservation, dp_error *err)
{
    const dpi_purpose purpose = {.spending = *what};
    return dpi_reserve(ledger, &purpose, reservation, err);
}

/* ---- changing an entry ---- */

/* The entry with this number, and its data set. */
static dp_status find_entry(dp_ledger *ledger, uint64_t id, dpi_contents *present, dpi_data **data,
                            dpi_entry **entry, dp_error *err)
{
    dp_status status = dpi_contents_read(ledger, NULL, present, err);
    for (size_t i = 0; status == DP_OK && i < present->n; i++)
        for (size_t k = 0; k < present->data[i].n; k++)
            if (present->data[i].entries[k].id == id) {
                *data = &present->data[i];
                *entry = &present->data[i].entries[k];
                return DP_OK;
            }
    return status != DP_OK ? status
                           : dpi_fail(err, DP_EDATA,
                                      "the ledger has no entry %llu; was an older copy put back?",
                                      (unsigned long long)id);
}

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
    status = find_entry(r->ledger, r->id, &present, &data, &entry, err);
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
            return dpi_fail(err, DP_EPRIVACY, "%llu steps are reserved, and %llu would be begun",
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
                            "begun; settling lowers only",
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
        return dpi_fail(err, DP_ESTATE, "the reservation is settled already");
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

/* ---- resuming ---- */

/* Whether the entry is that of this run, and has all its steps.  It need not: a copy of the ledger
 * from before may have been put back, and the number given to another run since. */
static dp_status check_entry(const dpi_entry *entry, const dpi_resumption *how,
                             const dpi_purpose *what, dp_error *err)
{
    bool same = entry->n == how->n && what->spending.n == how->n;
    if (same && what->model != NULL)
        same = entry->model != NULL && strcmp(entry->model, what->model) == 0;
    for (size_t k = 0; same && k < how->n; k++)
        same = dpi_compose_same(&entry->parts[k].mechanism, &what->spending.list[k]);
    if (!same)
        return dpi_fail(err, DP_EMISMATCH,
                        "entry %llu of the ledger is that of another run; was an older copy of the "
                        "ledger put back?  Start the run anew",
                        (unsigned long long)entry->id);
    for (size_t k = 0; k < how->n; k++)
        if (entry->parts[k].begun < how->done[k])
            return dpi_fail(
                err, DP_EDATA,
                "entry %llu of the ledger has %llu steps begun, and the checkpoint %llu "
                "done: an older copy of the ledger was put back, and lacks what was "
                "spent since; take the newest",
                (unsigned long long)entry->id, (unsigned long long)entry->parts[k].begun,
                (unsigned long long)how->done[k]);
    return DP_OK;
}

/* Raises what is reserved to what has been begun and remains; the budget must allow it. */
static dp_status extend(const dpi_data *data, dpi_entry *entry, const dpi_resumption *how,
                        uint64_t *begun, dp_error *err)
{
    size_t n = 0;
    dpi_entry_part *more = dpi_alloc(entry->n, sizeof *more);
    if (more == NULL)
        return dpi_fail_nomem(err);
    dp_status status = DP_OK;
    for (size_t k = 0; k < entry->n && status == DP_OK; k++) {
        dpi_entry_part *part = &entry->parts[k];
        uint64_t needed = part->begun + how->remaining[k], reserved = part->mechanism.steps;
        if (how->remaining[k] > INT64_MAX / 4 || needed > INT64_MAX / 2)
            status =
                dpi_fail(err, DP_EDATA, "%llu steps are to be resumed; the checkpoint is damaged",
                         (unsigned long long)how->remaining[k]);
        begun[k] = part->begun;
        if (needed <= reserved)
            continue;
        more[n] = *part;
        more[n++].mechanism.steps = needed - reserved;
    }
    if (status == DP_OK && n > 0)
        status = dpi_compose_admit(data, more, n, err);
    for (size_t k = 0; k < entry->n && status == DP_OK; k++)
        if (begun[k] + how->remaining[k] > entry->parts[k].mechanism.steps)
            entry->parts[k].mechanism.steps = begun[k] + how->remaining[k];
    dpi_free(more);
    return status;
}

static dp_status take_over(dp_reservation *r, const dpi_resumption *how, const dpi_purpose *what,
                           uint64_t *begun, dp_error *err)
{
    dp_ledger *ledger = r->ledger;
    dpi_contents present = {.n = 0};
    dpi_data *data = NULL;
    dpi_entry *entry = NULL;
    unsigned char print[DPI_HASH];
    dp_status status = find_entry(ledger, r->id, &present, &data, &entry, err);
    if (status == DP_OK)
        status = check_entry(entry, how, what, err);
    if (status == DP_OK)
        status = check_unit(data, what->spending.unit, err);
    if (status == DP_OK)
        status = extend(data, entry, how, begun, err);
    if (status == DP_OK)
        status =
            dpi_data_verify(ledger, data, what->spending.records, what->used, what->n_used, err);
    if (status == DP_OK) {
        print_of(ledger, what, print);
        if (memcmp(print, entry->print, sizeof print) != 0)
            status = dpi_fail(err, DP_EDATA,
                              "the columns are not those that the run was started on; take these");
    }
    if (status == DP_OK) {
        memcpy(entry->owner, r->owner, sizeof entry->owner);
        entry->settled = 0;
        entry->made = (int64_t)time(NULL);
        status = dpi_entry_update(ledger, entry, err);
    }
    dpi_contents_free(&present);
    return status;
}

dp_status dpi_reserve_again(dp_ledger *ledger, const dpi_resumption *entry, const dpi_purpose *what,
                            uint64_t *begun, dp_reservation **out, dp_error *err)
{
    *out = NULL;
    dp_status status = new_reservation(ledger, out, err);
    if (status == DP_OK)
        (*out)->id = entry->id;
    if (status == DP_OK)
        status = dpi_store_begin(ledger, err);
    if (status == DP_OK)
        status = take_over(*out, entry, what, begun, err);
    return finish(ledger, status, out, err);
}
