/* A ledger's contents in the public structs. */
#include "base/error.h"
#include "ledger/contents.h"

typedef struct statement {
    dp_ledger_statement seen; /* first: what the caller has is a pointer to it */
    dpi_contents contents;
} statement;

static bool show_entry(dpi_arena *arena, const dpi_entry *from, dp_ledger_entry *to)
{
    dp_mechanism *list = dpi_arena_alloc(arena, from->n, sizeof *list);
    uint64_t *planned = dpi_arena_alloc(arena, from->n, sizeof *planned);
    uint64_t *begun = dpi_arena_alloc(arena, from->n, sizeof *begun);
    if (list == NULL || planned == NULL || begun == NULL)
        return false;
    for (size_t i = 0; i < from->n; i++) {
        list[i] = from->parts[i].mechanism;
        planned[i] = from->parts[i].planned;
        begun[i] = from->parts[i].begun;
    }
    *to = (dp_ledger_entry){.id = from->id,
                            .made = from->made,
                            .settled = from->settled,
                            .label = from->label,
                            .columns = from->columns,
                            .model = from->model,
                            .list = list,
                            .planned = planned,
                            .begun = begun,
                            .n = from->n};
    return true;
}

static bool show(statement *s)
{
    dpi_arena *arena = &s->contents.arena;
    size_t n = s->contents.n;
    dp_ledger_data *data = dpi_arena_alloc(arena, n, sizeof *data);
    if (data == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        const dpi_data *from = &s->contents.data[i];
        dp_ledger_entry *entries = dpi_arena_alloc(arena, from->n, sizeof *entries);
        bool good = entries != NULL;
        for (size_t k = 0; good && k < from->n; k++)
            good = show_entry(arena, &from->entries[k], &entries[k]);
        if (!good)
            return false;
        data[i] = (dp_ledger_data){.name = from->name,
                                   .path = from->path,
                                   .budget = from->budget,
                                   .added = from->added,
                                   .updated = from->updated,
                                   .overlap_allowed = from->overlap_allowed,
                                   .entries = entries,
                                   .n = from->n};
    }
    s->seen = (dp_ledger_statement){.data = data, .n = n};
    return true;
}

dp_status dp_ledger_read(dp_ledger *ledger, const dp_ledger_statement **out, dp_error *err)
{
    *out = NULL;
    statement *s = dpi_alloc(1, sizeof *s);
    if (s == NULL)
        return dpi_fail_nomem(err);
    dp_status status = dpi_store_begin(ledger, err);
    if (status == DP_OK) {
        status = dpi_contents_read(ledger, NULL, &s->contents, err);
        status = dpi_store_end(ledger, status, err);
    }
    if (status == DP_OK && !show(s))
        status = dpi_fail_nomem(err);
    *out = &s->seen;
    if (status != DP_OK) {
        dp_ledger_statement_free(*out);
        *out = NULL;
    }
    return status;
}

void dp_ledger_statement_free(const dp_ledger_statement *seen)
{
    if (seen == NULL)
        return;
    statement *s = (statement *)(uintptr_t)seen; /* made by dp_ledger_read */
    dpi_contents_free(&s->contents);
    dpi_free(s);
}
