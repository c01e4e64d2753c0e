/* A schema from records that are public.
 *
 *   numbers, all whole   integer least .. most; the values as levels where there are at most two;
 *                        real where the span is beyond MOST_SPAN
 *   numbers              real least .. most
 *   texts                level, the values in order, where there are at most MOST_LEVELS
 *   refused              texts with more values; whole numbers in sequence, which number records;
 *                        columns without a value
 *
 * What is seen is seldom all that there can be: each line asks for what the code book allows. */
#include "data/draft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "data/cell.h"

enum { MOST_LEVELS = 20, FEW_NUMBERS = 2, MOST_SPAN = 10000, LEAST_SEQUENCE = 10 };

/* What was seen of a column. */
typedef struct seen {
    size_t present, missing;
    bool numbers, whole, steady; /* so far; steady: each is the one before plus 1 */
    double least, most, last;
    size_t n;                           /* of values, at most one more than are kept */
    const char *value[MOST_LEVELS + 1]; /* the different ones, in the arena */
} seen;

static dp_status see_value(dpi_draft *d, seen *s, const char *field, dp_error *err)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->value[i], field) == 0)
            return DP_OK;
    if (s->n > MOST_LEVELS)
        return DP_OK;
    s->value[s->n] = dpi_arena_strdup(&d->arena, field);
    return s->value[s->n++] != NULL ? DP_OK : dpi_fail_nomem(err);
}

static dp_status see(dpi_draft *d, seen *s, const char *field, dp_error *err)
{
    double x;
    if (dpi_cell_missing(field)) {
        s->missing++;
        return DP_OK;
    }
    if (s->numbers && dpi_cell_number(field, &x)) {
        const bool first = s->present == 0;
        s->least = first || x < s->least ? x : s->least;
        s->most = first || x > s->most ? x : s->most;
        s->whole = s->whole && x == floor(x) && fabs(x) <= 0x1p52;
        s->steady = s->steady && (first || x == s->last + 1);
        s->last = x;
    } else
        s->numbers = false;
    s->present++;
    return see_value(d, s, field, err);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_number(const void *a, const void *b)
{
    const double x = strtod(*(const char *const *)a, NULL),
                 y = strtod(*(const char *const *)b, NULL);
    return x != y ? (x > y) - (x < y) : by_text(a, b);
}

static dp_status declare_levels(dpi_draft *d, const char *name, seen *s, dp_error *err)
{
    qsort(s->value, s->n, sizeof s->value[0], s->numbers ? by_number : by_text);
    const dp_column c = {
        .name = name, .kind = DP_COLUMN_LEVEL, .levels = s->value, .n_levels = s->n};
    return dpi_draft_column(d, &c,
                            "levels seen in the public file; add those that the code book has "
                            "besides",
                            err);
}

static dp_status declare_range(dpi_draft *d, const char *name, const seen *s, dp_error *err)
{
    const bool integer = s->whole && s->most - s->least <= MOST_SPAN;
    const dp_column c = {.name = name,
                         .kind = integer ? DP_COLUMN_INTEGER : DP_COLUMN_REAL,
                         .low = s->least,
                         .high = s->most};
    return dpi_draft_column(
        d, &c, "range seen in the public file; widen it to what the code book allows", err);
}

static dp_status declare(dpi_draft *d, const char *name, seen *s, dp_error *err)
{
    if (s->present == 0)
        return dpi_draft_remark(d, name, "no record has a value; declare it from the code book",
                                err);
    if (s->numbers && s->whole && s->steady && s->present >= LEAST_SEQUENCE)
        return dpi_draft_remark(d, name,
                                "numbers in sequence, which tell records apart and say nothing; "
                                "leave it out, or declare it unit if it tells whom a record "
                                "belongs to",
                                err);
    if (s->numbers && (!s->whole || s->n > FEW_NUMBERS) && s->least < s->most)
        return declare_range(d, name, s, err);
    if (s->n <= MOST_LEVELS)
        return declare_levels(d, name, s, err);
    return dpi_draft_remark(d, name,
                            "more than 20 different texts, as names, dates and free text have; "
                            "leave it out, declare its levels from the code book, or declare it "
                            "unit if it tells whom a record belongs to",
                            err);
}

static dp_status end(dpi_draft *d, char **names, seen *columns, size_t n, size_t records,
                     dp_error *err)
{
    bool missing = false;
    dpi_draft_say(d,
                  "Drafted from the public file %.150s.  A schema that is drafted from private "
                  "records tells of them.",
                  d->csv.name);
    dp_status status = DP_OK;
    for (size_t j = 0; j < n && status == DP_OK; j++) {
        status = declare(d, names[j], &columns[j], err);
        missing = missing || columns[j].missing > 0;
    }
    if (d->csv.separator != ',') {
        const char *setting = d->csv.separator == ';' ? "separator = ;\n" : "separator = tab\n";
        dpi_bytes_add(&d->text, setting, strlen(setting));
    }
    if (missing)
        dpi_draft_say(d, "missing = drop   leaves out records that lack a value, as some here do; "
                         "or declare NA as a level");
    dpi_draft_say(d,
                  "records = %zu   are in this file; say how many the private table has, if "
                  "that is public",
                  records);
    return status;
}

dp_status dpi_draft_records(dpi_draft *d, dp_error *err)
{
    const size_t n = d->csv.n_header;
    char **names = dpi_arena_alloc(&d->arena, n, sizeof *names);
    seen *columns = dpi_arena_alloc(&d->arena, n, sizeof *columns);
    if (names == NULL || columns == NULL)
        return dpi_fail_nomem(err);
    for (size_t j = 0; j < n; j++) {
        columns[j] = (seen){.numbers = true, .whole = true, .steady = true};
        names[j] = dpi_arena_strdup(&d->arena, d->csv.fields[j]);
        if (names[j] == NULL)
            return dpi_fail_nomem(err);
    }
    size_t records = 0;
    bool found = true;
    dp_status status = dpi_csv_next(&d->csv, &found, err);
    for (; status == DP_OK && found; status = dpi_csv_next(&d->csv, &found, err), records++)
        for (size_t j = 0; j < n; j++) {
            status = see(d, &columns[j], d->csv.fields[j], err);
            if (status != DP_OK)
                return status;
        }
    return status == DP_OK ? end(d, names, columns, n, records, err) : status;
}
