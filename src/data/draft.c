/* Drafting a schema: what is common to code books and to public tables.
 *
 * A draft is a schema, and is read as one before it is given out.  What cannot be declared stands
 * in it as a comment, so that whoever goes on from it sees every column.  Comments may quote what
 * they are made from, which is public. */
#include "data/draft.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/name.h"
#include "data/file.h"
#include "data/schema-text.h"

enum { MOST_BYTES = 1 << 30, MOST_LINE = 1 << 20, SHOWN = 60 };

/* ---- writing ---- */

/* Adds text to a comment: a control character, which could end it, becomes a blank. */
static void add_comment(dpi_draft *d, const char *text, size_t most)
{
    const size_t length = strlen(text);
    for (size_t i = 0; i < length && i < most; i++)
        dpi_bytes_add(&d->text, dpi_is_control(text + i, length - i) ? " " : text + i, 1);
}

static void add(dpi_draft *d, const char *text)
{
    dpi_bytes_add(&d->text, text, strlen(text));
}

void dpi_draft_say(dpi_draft *d, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    add(d, "# ");
    add_comment(d, text, sizeof text);
    add(d, "\n");
}

/* Keeps a name; *known where it was there. */
static dp_status keep_name(dpi_draft *d, const char *name, bool *known, dp_error *err)
{
    void *names = d->names;
    *known = false;
    for (size_t i = 0; i < d->n; i++)
        *known = *known || strcmp(d->names[i], name) == 0;
    if (*known)
        return DP_OK;
    if (!dpi_arena_grow(&d->arena, &names, &d->room, d->n + 1, sizeof *d->names))
        return dpi_fail_nomem(err);
    d->names = names;
    d->names[d->n] = dpi_arena_strdup(&d->arena, name);
    return d->names[d->n++] != NULL ? DP_OK : dpi_fail_nomem(err);
}

static void remark(dpi_draft *d, const char *name, const char *why)
{
    add(d, "# ");
    add_comment(d, name, SHOWN);
    add(d, ": ");
    add_comment(d, why, 400);
    add(d, "\n");
}

dp_status dpi_draft_remark(dpi_draft *d, const char *name, const char *why, dp_error *err)
{
    bool known;
    dp_status status = keep_name(d, name, &known, err);
    if (status == DP_OK)
        remark(d, name, known ? "stands there already; keep one of the two" : why);
    return status;
}

/* Why a column cannot be declared so; NULL when it can. */
static const char *fault_of(const dpi_draft *d, const dp_column *c)
{
    const char *fault = dpi_name_fault(c->name);
    for (size_t i = 0; fault == NULL && i < c->n_levels; i++)
        fault = dpi_name_fault(c->levels[i]);
    return fault == NULL && d->declared == DPI_MOST_COLUMNS ? "is one of more than 4096 columns"
                                                            : fault;
}

dp_status dpi_draft_column(dpi_draft *d, const dp_column *column, const char *comment,
                           dp_error *err)
{
    char why[200];
    bool known;
    const char *fault = fault_of(d, column);
    if (fault != NULL) {
        (void)snprintf(why, sizeof why, "a name or level of a column %s; change it in the table",
                       fault);
        remark(d, column->name, why);
        return DP_OK;
    }
    dp_status status = keep_name(d, column->name, &known, err);
    if (status == DP_OK && known)
        remark(d, column->name, "stands there already; keep one of the two");
    if (status != DP_OK || known)
        return status;
    dpi_schema_write_column(&d->text, column);
    if (comment != NULL && comment[0] != 0) {
        add(d, "   # ");
        add_comment(d, comment, 400);
    }
    add(d, "\n");
    d->declared++;
    return DP_OK;
}

/* ---- reading ---- */

/* The separator that is most frequent in the first line, outside quotes. */
static char separator_of(const char *text, size_t size)
{
    static const char signs[] = {',', ';', '\t'};
    size_t count[3] = {0}, best = 0;
    bool quoted = false;
    for (size_t i = 0; i < size && (quoted || text[i] != '\n'); i++) {
        quoted = quoted != (text[i] == '"');
        for (size_t k = 0; k < 3 && !quoted; k++)
            count[k] += text[i] == signs[k];
    }
    for (size_t k = 1; k < 3; k++)
        best = count[k] > count[best] ? k : best;
    return signs[best];
}

/* Without line ends behind and NUL bytes inside, which the reader of records leaves to who cuts the
 * text. */
static dp_status open_text(dpi_draft *d, const char *text, size_t size, const char *name,
                           dp_error *err)
{
    if (size > 0 && memchr(text, 0, size) != NULL)
        return dpi_fail(err, DP_EDATA, "%s has a NUL byte; save it as CSV, in UTF-8", name);
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r'))
        size--;
    if (size == 0)
        return dpi_fail(err, DP_EDATA, "%s is empty; a line with names and lines below are needed",
                        name);
    d->csv = (dpi_csv){.name = name,
                       .text = text,
                       .size = size,
                       .separator = separator_of(text, size),
                       .max_line = MOST_LINE};
    return dpi_csv_open(&d->csv, &d->arena, err);
}

/* The draft as a text; it must be a schema. */
static dp_status end_text(dpi_draft *d, const char *name, char **draft, dp_error *err)
{
    dp_schema *schema;
    if (d->declared == 0)
        return dpi_fail(err, DP_EDATA,
                        "%s gives no column that can be declared%s%.120s; see doc/schema.md", name,
                        d->n > 0 ? ", as of " : "", d->n > 0 ? d->names[0] : "");
    dpi_bytes_add(&d->text, "", 1);
    if (d->text.failed)
        return dpi_fail_nomem(err);
    const size_t size = d->text.n - 1;
    dp_status status = dp_schema_parse((const char *)d->text.at, size, "the draft", &schema, err);
    if (status != DP_OK)
        return status;
    dp_schema_free(schema);
    *draft = dpi_alloc(size + 1, 1);
    if (*draft == NULL)
        return dpi_fail_nomem(err);
    memcpy(*draft, d->text.at, size + 1);
    return DP_OK;
}

dp_status dpi_draft_text(const char *text, size_t size, const char *name, dp_draft_from from,
                         char **draft, dp_error *err)
{
    dpi_draft d = {.n = 0};
    *draft = NULL;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* numbers have a point */
    if (c_locale == (locale_t)0)
        return dpi_fail_nomem(err);
    locale_t before = uselocale(c_locale);
    dp_status status = open_text(&d, text, size, name, err);
    if (status == DP_OK)
        status =
            from == DP_DRAFT_CODEBOOK ? dpi_draft_codebook(&d, err) : dpi_draft_records(&d, err);
    if (status == DP_OK)
        status = end_text(&d, name, draft, err);
    (void)uselocale(before);
    freelocale(c_locale);
    dpi_bytes_free(&d.text);
    dpi_arena_free(&d.arena);
    return status;
}

dp_status dp_schema_draft(const char *path, dp_draft_from from, FILE *out, dp_error *err)
{
    char *text, *draft;
    size_t size;
    if (path == NULL || out == NULL || (from != DP_DRAFT_CODEBOOK && from != DP_DRAFT_PUBLIC))
        dpi_misuse(__func__, "NULL path or file, or no such kind of draft");
    dp_status status = dpi_file_read(path, MOST_BYTES, &text, &size, err);
    if (status != DP_OK)
        return status;
    status = dpi_draft_text(text, size, dpi_path_end(path), from, &draft, err);
    if (status == DP_OK && fputs(draft, out) < 0)
        status = dpi_fail(err, DP_EIO, "the draft cannot be written; is the disk full?");
    dpi_free(draft);
    dpi_free(text);
    return status;
}
