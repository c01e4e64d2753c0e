/* Admitting: a new entry, or more steps for one that goes on.
 *
 * Composing takes seconds for a long list, and hashing a large file, too; neither is done under the
 * ledger's write lock, which others wait for.  An attempt
 *   reads the data set in one transaction,
 *   composes, and compares the data with what the ledger knows,
 *   reads the data set again in a second transaction, and writes if it is the same in all that the
 *   answer rests on (dpi_data_version); if not, the next attempt begins.
 * So what is written was admitted for the contents that it is written to. */
#include "ledger/reserve.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "ledger/compose.h"
#include "ledger/data.h"
#include "ledger/rows.h"
#include "random/entropy.h"

enum { MOST_ATTEMPTS = 16 };

/* What is asked for, and the entry that it becomes. */
typedef struct request {
    dp_ledger *ledger;
    const dpi_purpose *what;
    const dpi_resumption *again; /* NULL: a new entry */
    uint64_t *begun;             /* [out] of `again` */
    dpi_entry_part *parts;       /* of a new entry */
    dp_reservation *r;
    dpi_entry entry; /* to be written */
} request;

/* ---- what is asked ---- */

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

/* ---- going on ---- */

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
    bool repeats = how->repeats;
    dpi_entry_part *more = dpi_alloc(entry->n, sizeof *more);
    if (more == NULL)
        return dpi_fail_nomem(err);
    dp_status status = DP_OK;
    for (size_t k = 0; k < entry->n && status == DP_OK; k++) {
        dpi_entry_part *part = &entry->parts[k];
        begun[k] = part->begun - (repeats && part->begun > how->done[k]);
        repeats = repeats && begun[k] == part->begun;
        uint64_t needed = begun[k] + how->remaining[k], reserved = part->mechanism.steps;
        if (how->remaining[k] > INT64_MAX / 4 || needed > INT64_MAX / 2)
            status = dpi_fail(
                err, DP_EDATA,
                "%llu steps are to be resumed; the checkpoint is damaged, take an intact one",
                (unsigned long long)how->remaining[k]);
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

/* ---- attempts ---- */

/* A new entry: that it fits into the budget, and is about these data. */
static dp_status consider_new(request *q, const dpi_data *data, dp_error *err)
{
    const dp_spending *s = &q->what->spending;
    q->entry = (dpi_entry){.data = data->id,
                           .label = s->label,
                           .columns = s->columns,
                           .model = q->what->model,
                           .parts = q->parts,
                           .n = s->n};
    dp_status status = check_unit(data, s->unit, err);
    if (status == DP_OK)
        status = check_size(data, q->what, err);
    if (status == DP_OK)
        status = dpi_compose_admit(data, q->parts, s->n, err);
    if (status == DP_OK)
        status = dpi_data_verify(q->ledger, data, s->records, q->what->used, q->what->n_used, err);
    if (status == DP_OK)
        print_of(q->ledger, q->what, q->entry.print);
    return status;
}

/* The same for an entry that goes on, which is changed in memory. */
static dp_status consider_again(request *q, const dpi_data *data, dpi_entry *entry, dp_error *err)
{
    const dpi_purpose *what = q->what;
    unsigned char print[DPI_HASH];
    dp_status status = check_entry(entry, q->again, what, err);
    if (status == DP_OK)
        status = check_unit(data, what->spending.unit, err);
    if (status == DP_OK)
        status = extend(data, entry, q->again, q->begun, err);
    if (status == DP_OK)
        status =
            dpi_data_verify(q->ledger, data, what->spending.records, what->used, what->n_used, err);
    if (status != DP_OK)
        return status;
    print_of(q->ledger, what, print);
    if (memcmp(print, entry->print, sizeof print) != 0)
        return dpi_fail(err, DP_EDATA,
                        "the columns are not those that the run was started on; take these");
    q->entry = *entry;
    return DP_OK;
}

/* Finds the data set, and the entry that goes on, in contents read by the caller's transaction. */
static dp_status find(const request *q, dpi_contents *present, dpi_data **data, dpi_entry **entry,
                      dp_error *err)
{
    *entry = NULL;
    if (q->again != NULL)
        return dpi_contents_find(q->ledger, q->again->id, present, data, entry, err);
    dp_status status = dpi_contents_read(q->ledger, q->what->spending.data, present, err);
    *data = present->data;
    return status;
}

/* Writes under the lock what was considered for `version`; *same is false where the contents have
 * changed since. */
static dp_status write_if_same(request *q, const unsigned char version[DPI_HASH], bool *same,
                               dp_error *err)
{
    dpi_contents present = {.n = 0};
    dpi_data *data;
    dpi_entry *entry;
    unsigned char now[DPI_HASH];
    dp_status status = dpi_store_begin(q->ledger, err);
    if (status != DP_OK)
        return status;
    status = find(q, &present, &data, &entry, err);
    if (status == DP_OK) {
        dpi_data_version(q->ledger, data, entry, now);
        *same = memcmp(now, version, sizeof now) == 0;
    }
    if (status == DP_OK && *same) {
        q->entry.made = (int64_t)time(NULL);
        q->entry.settled = 0;
        memcpy(q->entry.owner, q->r->owner, sizeof q->entry.owner);
        status = entry != NULL ? dpi_entry_update(q->ledger, &q->entry, err)
                               : dpi_entry_insert(q->ledger, &q->entry, err);
    }
    dpi_contents_free(&present);
    return dpi_store_end(q->ledger, status, err);
}

static dp_status attempt(request *q, bool *same, dp_error *err)
{
    dpi_contents present = {.n = 0};
    dpi_data *data = NULL;
    dpi_entry *entry = NULL;
    unsigned char version[DPI_HASH];
    dp_status status = dpi_store_begin(q->ledger, err);
    if (status != DP_OK)
        return status;
    status = find(q, &present, &data, &entry, err);
    status = dpi_store_end(q->ledger, status, err);
    if (status == DP_OK) {
        dpi_data_version(q->ledger, data, entry, version);
        status = entry != NULL ? consider_again(q, data, entry, err) : consider_new(q, data, err);
    }
    if (status == DP_OK)
        status = write_if_same(q, version, same, err);
    dpi_contents_free(&present); /* q->entry has lists in it */
    return status;
}

/* Attempts until the contents hold still; on failure there is no reservation. */
static dp_status admit(request *q, dp_reservation **out, dp_error *err)
{
    bool same = false;
    *out = NULL;
    q->r = dpi_alloc(1, sizeof *q->r);
    if (q->r == NULL)
        return dpi_fail_nomem(err);
    q->r->ledger = q->ledger;
    dp_status status = dpi_entropy(q->r->owner, sizeof q->r->owner, err);
    for (int i = 0; i < MOST_ATTEMPTS && status == DP_OK && !same; i++)
        status = attempt(q, &same, err);
    if (status == DP_OK && !same)
        status = dpi_fail(err, DP_ESTATE,
                          "while this run was composed, others on the same data set were reserved, "
                          "settled or went on, %d times in a row; try again when they have",
                          MOST_ATTEMPTS);
    q->r->id = q->entry.id;
    if (status == DP_OK)
        *out = q->r;
    else
        dp_reservation_free(q->r);
    return status;
}

dp_status dpi_reserve(dp_ledger *ledger, const dpi_purpose *what, dp_reservation **out,
                      dp_error *err)
{
    const dp_spending *s = &what->spending;
    request q = {.ledger = ledger, .what = what};
    *out = NULL;
    dp_status status = check_what(s, err);
    if (status != DP_OK)
        return status;
    q.parts = dpi_alloc(s->n, sizeof *q.parts);
    if (q.parts == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < s->n; i++)
        q.parts[i] = (dpi_entry_part){
            .mechanism = s->list[i], .planned = s->list[i].steps, .begun = s->list[i].steps};
    status = admit(&q, out, err);
    dpi_free(q.parts);
    return status;
}

dp_status dp_ledger_reserve(dp_ledger *ledger, const dp_spending *what,
                            dp_reservation **reservation, dp_error *err)
{
    const dpi_purpose purpose = {.spending = *what};
    return dpi_reserve(ledger, &purpose, reservation, err);
}

dp_status dpi_reserve_again(dp_ledger *ledger, const dpi_resumption *entry, const dpi_purpose *what,
                            uint64_t *begun, dp_reservation **out, dp_error *err)
{
    request q = {.ledger = ledger, .what = what, .again = entry, .begun = begun};
    return admit(&q, out, err);
}

dp_status dp_ledger_take_over(dp_ledger *ledger, uint64_t id, const dp_spending *what,
                              dp_reservation **reservation, dp_error *err)
{
    const dpi_purpose purpose = {.spending = *what};
    *reservation = NULL;
    dp_status status = check_what(what, err);
    if (status != DP_OK)
        return status;
    uint64_t *numbers = dpi_alloc(2 * what->n, sizeof *numbers); /* zeros, and what was begun */
    if (numbers == NULL)
        return dpi_fail_nomem(err);
    memset(numbers, 0, 2 * what->n * sizeof *numbers);
    const dpi_resumption entry = {.id = id, .n = what->n, .done = numbers, .remaining = numbers};
    status = dpi_reserve_again(ledger, &entry, &purpose, numbers + what->n, reservation, err);
    dpi_free(numbers);
    return status;
}
