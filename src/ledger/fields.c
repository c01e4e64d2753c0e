/* Values of records.
 *
 * Whatever the kind, a number is hashed as the double that it is: an int32 3, a byte 3 out of 1,
 * the field "3.0" are one value, and so are -0 and 0.  Other fields are hashed as texts, without
 * blanks around and quotes.
 *
 * A file is read leniently, since nothing is computed from it: fields are parted by the separator
 * that is most frequent in the first block and not quoted; of a field the first FIELD_ROOM bytes
 * count, of a line the first DPI_MOST_FIELDS fields.  What gzip has packed is unpacked, so that a
 * packed copy is known again; zlib reads others as they are.  A file with a NUL byte in its first
 * block is no text and has no records. */
#define _POSIX_C_SOURCE 200809L
#include "ledger/fields.h"

#include <locale.h>
#include <math.h>
#include <sodium.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "data/cell.h"

enum { FIRST_BLOCK = 64 * 1024, FIELD_ROOM = 1024 };

/* ---- values ---- */

static uint64_t keyed(const dpi_fields *f, const unsigned char *bytes, size_t n)
{
    unsigned char out[crypto_shorthash_BYTES];
    uint64_t hash = 0;
    (void)crypto_shorthash(out, bytes, n, f->key);
    for (int i = 0; i < 8; i++)
        hash |= (uint64_t)out[i] << (8 * i);
    return hash;
}

static dpi_record_value of_number(const dpi_fields *f, double number)
{
    dpi_record_value field = {.number = number == 0 ? 0 : number};
    unsigned char bytes[8];
    uint64_t bits;
    if (isnan(number))
        field.number = NAN;
    memcpy(&bits, &field.number, sizeof bits);
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(bits >> (8 * i));
    field.hash = keyed(f, bytes, sizeof bytes);
    return field;
}

/* `text` has room for a byte after its n. */
static dpi_record_value of_text(const dpi_fields *f, char *text, size_t n)
{
    dpi_record_value field = {.number = NAN};
    double number;
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        n--;
    while (n > 0 && (*text == ' ' || *text == '\t'))
        text++, n--;
    text[n] = 0;
    if (dpi_cell_number(text, &number))
        return of_number(f, number);
    /* A text of eight bytes is no number. */
    field.hash = keyed(f, (const unsigned char *)text, n) ^ 0x5458455454584554;
    return field;
}

/* ---- columns in memory ---- */

static double number_at(const dpi_column *c, size_t at)
{
    if (c->bytes != NULL)
        return (double)c->bytes[at] / c->most;
    return c->index != NULL ? (double)c->index[at] : c->real[at];
}

static dp_status walk_records(const dpi_fields *f, dpi_take_fields take, void *user, dp_error *err)
{
    const dp_dataset *r = f->records;
    dpi_record_value *fields = dpi_alloc(f->width, sizeof *fields);
    if (fields == NULL)
        return dpi_fail_nomem(err);
    bool more = true;
    for (size_t i = 0; i < r->n && more; i++) {
        size_t n = 0;
        for (size_t c = 0; c < r->n_columns; c++)
            for (size_t e = 0; e < r->columns[c].size && n < f->width; e++)
                fields[n++] = of_number(f, number_at(&r->columns[c], i * r->columns[c].size + e));
        more = take(user, fields, n);
    }
    dpi_free(fields);
    return DP_OK;
}

/* ---- files ---- */

typedef struct field_reader {
    const dpi_fields *f;
    gzFile file;
    char text[FIELD_ROOM + 1];
    size_t length;
    bool quoted;
    dpi_record_value *fields; /* NULL: only count */
    size_t n;
} field_reader;

static void end_field(field_reader *r)
{
    if (r->n < DPI_MOST_FIELDS && r->fields != NULL && r->n < r->f->width)
        r->fields[r->n] = of_text(r->f, r->text, r->length);
    r->n += r->n < DPI_MOST_FIELDS;
    r->length = 0;
}

/* Reads one record; false at the end of the file.  Empty lines are none. */
static bool next_record(field_reader *r)
{
    int c;
    bool any = false;
    r->n = r->length = 0;
    r->quoted = false;
    while ((c = gzgetc(r->file)) >= 0) {
        if (c == '"')
            r->quoted = !r->quoted;
        else if (!r->quoted && c == '\n' && any)
            break;
        else if (!r->quoted && c == r->f->separator)
            end_field(r);
        else if (r->length < FIELD_ROOM && c != '\r' && c != '\n')
            r->text[r->length++] = (char)c;
        any = any || (c != '\n' && c != '\r');
    }
    if (any)
        end_field(r);
    return any;
}

static dp_status open_text(field_reader *r, dp_error *err)
{
    r->file = gzopen(r->f->path, "rb");
    if (r->file != NULL)
        (void)gzbuffer(r->file, 2 * FIRST_BLOCK);
    return r->file != NULL
               ? DP_OK
               : dpi_fail(err, DP_EIO,
                          "cannot open the data file %.160s; check the path and your rights to it",
                          r->f->path);
}

static dp_status close_text(field_reader *r, dp_error *err)
{
    int code;
    (void)gzerror(r->file, &code);
    bool failed = code != Z_OK;
    failed = gzclose(r->file) != Z_OK || failed;
    sodium_memzero(r->text, sizeof r->text);
    return !failed
               ? DP_OK
               : dpi_fail(
                     err, DP_EIO,
                     "cannot read the data file %.160s to its end; check that it is a file, and "
                     "whole",
                     r->f->path);
}

/* The separator; 0 where the file is no text. */
static char look_at_block(gzFile file)
{
    static const char choices[] = ",;\t";
    size_t counts[3] = {0}, best = 0;
    bool quoted = false;
    for (int i = 0, c; i < FIRST_BLOCK && (c = gzgetc(file)) >= 0; i++) {
        const char *found = c != 0 ? strchr(choices, c) : NULL;
        if (c == 0)
            return 0;
        quoted = quoted != (c == '"');
        if (found != NULL && !quoted)
            counts[found - choices]++;
    }
    for (size_t k = 1; k < 3; k++)
        if (counts[k] > counts[best])
            best = k;
    (void)gzrewind(file);
    return choices[best];
}

/* Reads with the calling thread in the C locale, so that numbers have a point. */
static dp_status in_c_locale(const dpi_fields *f, field_reader *r, dpi_take_fields take, void *user,
                             dp_error *err)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0)
        return dpi_fail_nomem(err);
    locale_t before = uselocale(c_locale);
    bool more = true;
    for (size_t i = 0; more && next_record(r); i++)
        if (i > 0 || !f->headed)
            more = take(user, r->fields, r->n < f->width ? r->n : f->width);
    (void)uselocale(before);
    freelocale(c_locale);
    return DP_OK;
}

static dp_status walk_file(const dpi_fields *f, dpi_take_fields take, void *user, dp_error *err)
{
    field_reader r = {.f = f, .fields = dpi_alloc(f->width, sizeof *r.fields)};
    if (r.fields == NULL)
        return dpi_fail_nomem(err);
    dp_status status = open_text(&r, err);
    if (status == DP_OK) {
        dp_status read = in_c_locale(f, &r, take, user, err);
        status = close_text(&r, err);
        status = read != DP_OK ? read : status;
    }
    dpi_free(r.fields);
    return status;
}

/* Whether the first line has a number. */
static bool look_for_numbers(void *user, const dpi_record_value *fields, size_t n)
{
    bool *found = user;
    for (size_t i = 0; i < n; i++)
        *found = *found || !isnan(fields[i].number);
    return false;
}

static dp_status open_file(dpi_fields *f, dp_error *err)
{
    field_reader r = {.f = f};
    dp_status status = open_text(&r, err);
    if (status != DP_OK)
        return status;
    f->width = 0;
    f->separator = look_at_block(r.file);
    while (f->separator != 0 && next_record(&r))
        f->width = r.n > f->width ? r.n : f->width;
    status = close_text(&r, err);
    bool found = false;
    if (status == DP_OK && f->width > 0)
        status = walk_file(f, look_for_numbers, &found, err);
    f->headed = !found;
    return status;
}

/* ---- either ---- */

dp_status dpi_fields_open(dpi_fields *f, dp_error *err)
{
    f->headed = false;
    if (f->path != NULL)
        return open_file(f, err);
    f->width = 0;
    for (size_t c = 0; c < f->records->n_columns; c++)
        if (f->records->columns[c].size > DPI_MOST_FIELDS - f->width)
            f->width = DPI_MOST_FIELDS;
        else
            f->width += f->records->columns[c].size;
    return DP_OK;
}

dp_status dpi_fields_walk(const dpi_fields *f, dpi_take_fields take, void *user, dp_error *err)
{
    if (f->width == 0)
        return DP_OK;
    return f->path != NULL ? walk_file(f, take, user, err) : walk_records(f, take, user, err);
}
