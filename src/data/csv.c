/* CSV records by the grammar of RFC 4180, from text that may be hostile.
 *
 *   record = field *(separator field) (LF / CRLF / end)
 *   field  = quoted / plain;  quoted = '"' *(byte but '"' / '""') '"';  plain = *(byte but '"',
 *            separator, LF, CR)
 *
 * Whatever the grammar does not have (a quote inside a plain field, text after a closing quote, a
 * lone CR) is an error and not guessed at: two readers that guess differently read different data.
 * There is no NUL byte in the text (blocks.c), so that a decoded field is a C string.
 *
 * Invariants: record start <= at <= limit <= size, where limit = record start + max_line cut to
 * size (a line end may stand at limit).  A record of b bytes decodes into at most b + 1 bytes of
 * scratch: a field's NUL takes the place of its separator, and unquoting only shortens.  Messages
 * quote nothing from the text, which is private.  Cost: one pass over the text, plus one over the
 * header. */
#include "data/csv.h"

#include <string.h>

#include "base/error.h"

static dp_status broken(const dpi_csv *csv, size_t line, const char *what, dp_error *err)
{
    return dpi_fail(err, DP_EDATA, "%s, line %zu: %s", csv->name, line, what);
}

static dp_status too_long(const dpi_csv *csv, dp_error *err)
{
    return dpi_fail(err, DP_EDATA,
                    "%s, line %zu: the record is longer than %zu bytes; look for a quote that is "
                    "never closed, or raise max_line",
                    csv->name, csv->record_line, csv->max_line);
}

/* Whether a line end, LF or CRLF, stands at `at`; its length, else 0. */
static size_t line_end(const dpi_csv *csv)
{
    const char *p = csv->text + csv->at;
    size_t left = csv->size - csv->at;
    if (left >= 1 && p[0] == '\n')
        return 1;
    return left >= 2 && p[0] == '\r' && p[1] == '\n' ? 2 : 0;
}

static dp_status quoted_field(dpi_csv *csv, char **out, dp_error *err)
{
    size_t opened = csv->line;
    csv->at++;
    while (csv->at < csv->limit) {
        char c = csv->text[csv->at++];
        if (c == '"') {
            if (csv->at == csv->limit || csv->text[csv->at] != '"')
                return DP_OK;
            csv->at++;
        }
        if (c == '\n')
            csv->line++;
        *(*out)++ = c;
    }
    if (csv->limit < csv->size)
        return too_long(csv, err);
    return broken(csv, opened, "a quote opens here and is never closed; close it", err);
}

static dp_status plain_field(dpi_csv *csv, char **out, dp_error *err)
{
    for (; csv->at < csv->limit; csv->at++) {
        char c = csv->text[csv->at];
        if (c == csv->separator || line_end(csv) > 0)
            return DP_OK;
        if (c == '"')
            return broken(csv, csv->line,
                          "a quote inside a field that does not begin with one; quote the whole "
                          "field and double the quotes in it",
                          err);
        if (c == '\r')
            return broken(csv, csv->line,
                          "a carriage return without a line feed; save the file with LF or CRLF "
                          "line ends",
                          err);
        *(*out)++ = c;
    }
    return DP_OK;
}

/* Steps over what ends a field; *more tells whether another follows in this record. */
static dp_status end_field(dpi_csv *csv, bool *more, dp_error *err)
{
    size_t end = line_end(csv);
    *more = false;
    if (end > 0) {
        csv->at += end;
        csv->line++;
        return DP_OK;
    }
    if (csv->at == csv->size)
        return DP_OK;
    if (csv->at == csv->limit)
        return too_long(csv, err);
    if (csv->text[csv->at] != csv->separator)
        return broken(csv, csv->line,
                      "text after the closing quote of a field; double the quotes that stand "
                      "inside a field",
                      err);
    csv->at++;
    *more = true;
    return DP_OK;
}

/* Reads one record, any number of fields. */
static dp_status read_record(dpi_csv *csv, dp_error *err)
{
    size_t left = csv->size - csv->at;
    char *out = csv->scratch;
    bool more = true;
    csv->limit = csv->at + (left < csv->max_line ? left : csv->max_line);
    csv->record_line = csv->line;
    csv->n_fields = 0;
    while (more) {
        if (csv->n_fields < csv->n_header)
            csv->fields[csv->n_fields] = out;
        csv->n_fields++;
        bool quoted = csv->at < csv->limit && csv->text[csv->at] == '"';
        dp_status status = quoted ? quoted_field(csv, &out, err) : plain_field(csv, &out, err);
        if (status == DP_OK)
            status = end_field(csv, &more, err);
        if (status != DP_OK)
            return status;
        *out++ = 0;
    }
    return DP_OK;
}

dp_status dpi_csv_next(dpi_csv *csv, bool *found, dp_error *err)
{
    *found = false;
    if (csv->at == csv->size)
        return DP_OK;
    dp_status status = read_record(csv, err);
    if (status != DP_OK)
        return status;
    if (csv->n_fields != csv->n_header)
        return dpi_fail(err, DP_EDATA,
                        "%s, line %zu: %zu fields, but the header has %zu; quote fields that "
                        "contain the separator '%c', and fill in or remove short lines",
                        csv->name, csv->record_line, csv->n_fields, csv->n_header, csv->separator);
    *found = true;
    return DP_OK;
}

dp_status dpi_csv_nul(const dpi_csv *csv, size_t line, dp_error *err)
{
    return broken(csv, line, "a NUL byte; save the file as text in UTF-8", err);
}

/* Reads the header line from the start of the text. */
static dp_status read_header(dpi_csv *csv, dp_error *err)
{
    csv->at = 0;
    csv->line = 1;
    return read_record(csv, err);
}

/* The header is read twice: to count its fields, and then to keep them. */
dp_status dpi_csv_open(dpi_csv *csv, dpi_arena *arena, dp_error *err)
{
    dp_status status;
    if (csv->size >= 3 && memcmp(csv->text, "\xef\xbb\xbf", 3) == 0) {
        csv->text += 3;
        csv->size -= 3;
    }
    if (csv->size == 0)
        return dpi_fail(err, DP_EDATA, "%s is empty; a header line and records are needed",
                        csv->name);
    size_t longest = csv->size < csv->max_line ? csv->size : csv->max_line;
    csv->scratch = dpi_arena_alloc(arena, longest + 1, 1);
    if (csv->scratch == NULL)
        return dpi_fail_nomem(err);
    csv->n_header = 0;
    status = read_header(csv, err);
    if (status != DP_OK)
        return status;
    csv->fields = dpi_arena_alloc(arena, csv->n_fields, sizeof *csv->fields);
    if (csv->fields == NULL)
        return dpi_fail_nomem(err);
    csv->n_header = csv->n_fields;
    return read_header(csv, err);
}
