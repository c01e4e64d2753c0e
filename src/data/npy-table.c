/* Tables from NPY files of records: arrays of one dimension whose elements have named fields, as
 * numpy.save writes them of a structured array and of what pandas' to_records gives.
 *
 *   descr  = "[" *(field ",") [field] "]"       field = "(" name "," type ")"
 *   name   = "'" *(byte but "'" and "\") "'"    or with '"' instead
 *   type   = "'<f8'" and the others of `kinds`, little-endian or of one byte
 *
 * Fields without a name are padding.  An array of numbers alone has no names, and is refused: which
 * of its columns is which would be a guess.  Objects are Python's own, and are never looked at.
 *
 * Records are read a block at a time.  Texts end where zeros begin; a zero before the last other
 * byte is an error.  Texts of UCS-4 become UTF-8.  What is empty, and NaN, is missing. */
#include "data/npy-table.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "data/npy-text.h"
#include "data/schema.h"

enum { MOST_HEADER = 1 << 20, MOST_FIELDS = 65536, BLOCK = 1 << 18, INTEGER_TEXT = 24 };

/* A field of a record; its type is a letter, and how many bytes it has. */
typedef struct field {
    const char *name; /* "" of padding */
    char kind;        /* f, i, u, b, S, U; V of padding */
    size_t size, offset;
} field;

typedef struct npy {
    dpi_source *source;
    dpi_arena arena;
    field *field; /* [n] */
    size_t n, room, record, records;
    const dp_column *schema;
    const field **where; /* [n_columns] */
    char **text;         /* [n_columns] room for a cell's text */
    dp_cell *cells;      /* [n_columns] */
    size_t n_columns;
} npy;

/* ---- reading ---- */

/* Just n bytes, or DP_EDATA. */
static dp_status read_bytes(npy *f, size_t n, unsigned char *to, dp_error *err)
{
    for (size_t got, have = 0; have < n; have += got) {
        dp_status status = f->source->read(f->source, n - have, (char *)to + have, &got, err);
        if (status != DP_OK)
            return status;
        if (got == 0)
            return dpi_fail(err, DP_EDATA,
                            "%s ends before its header or its last record does; it is cut, write "
                            "it again",
                            f->source->name);
    }
    return DP_OK;
}

static dp_status refuse(const npy *f, const char *what, dp_error *err)
{
    return dpi_fail(err, DP_EDATA, "%s: %s", f->source->name, what);
}

/* ---- the header ---- */

static dp_status read_header(npy *f, dpi_npy_text *t, dp_error *err)
{
    unsigned char first[DPI_NPY_LEAST];
    dp_status status = read_bytes(f, sizeof first, first, err);
    if (status != DP_OK)
        return status;
    const size_t start = dpi_npy_start(first, sizeof first);
    if (start < sizeof first || start > MOST_HEADER)
        return refuse(f, "this is no NPY file (version 1.0 to 3.0); write one with numpy.save",
                      err);
    unsigned char *all = dpi_arena_alloc(&f->arena, start, 1);
    if (all == NULL)
        return dpi_fail_nomem(err);
    memcpy(all, first, sizeof first);
    status = read_bytes(f, start - sizeof first, all + sizeof first, err);
    if (status == DP_OK && !dpi_npy_dictionary(all, start, t))
        status = refuse(f, "its header is damaged; write it again", err);
    return status;
}

/* A name or a type in quotes, in the arena; NULL where there is none, or memory is out. */
static const char *take_text(npy *f, dpi_npy_text *t)
{
    const bool single = dpi_npy_take(t, "'");
    if (!single && !dpi_npy_take(t, "\""))
        return NULL;
    const char *begin = t->at;
    while (t->at < t->end && *t->at != (single ? '\'' : '"') && *t->at != '\\' && *t->at != 0)
        t->at++;
    if (t->at == t->end || *t->at == '\\' || *t->at == 0)
        return NULL;
    char *text = dpi_arena_alloc(&f->arena, (size_t)(t->at - begin) + 1, 1);
    if (text != NULL)
        memcpy(text, begin, (size_t)(t->at - begin));
    t->at++;
    return text;
}

/* "<f8", "|S12": order, letter and number. */
static bool read_type(const char *type, field *to)
{
    static const struct {
        char kind;
        size_t least, most;
    } kinds[] = {{'f', 4, 8},    {'i', 1, 8},    {'u', 1, 8},   {'b', 1, 1},
                 {'S', 1, 4096}, {'U', 1, 1024}, {'V', 1, 4096}};
    if (type[0] == 0 || type[1] == 0)
        return false;
    dpi_npy_text t = {type + 2, type + strlen(type)};
    size_t n;
    if (!dpi_npy_number(&t, &n) || t.at != t.end)
        return false;
    to->kind = type[1];
    to->size = to->kind == 'U' ? 4 * n : n;
    const bool bytes = n == 1 || to->kind == 'S' || to->kind == 'V';
    if (type[0] != '<' && !(type[0] == '|' && bytes && to->kind != 'U'))
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (to->kind == kinds[i].kind && n >= kinds[i].least && n <= kinds[i].most)
            return strchr("SUV", to->kind) != NULL || (n & (n - 1)) == 0;
    return false;
}

/* ("name", "type") */
static dp_status take_field(npy *f, dpi_npy_text *t, dp_error *err)
{
    static const char *const form =
        "its records are no list of named numbers and texts: taken are f4, f8, i1 to i8, u1 to u8, "
        "b1, S and U, little-endian; objects are not (pandas: to_records with column_dtypes)";
    field one = {.offset = f->record};
    if (!dpi_npy_take(t, "(") || (one.name = take_text(f, t)) == NULL || !dpi_npy_take(t, ","))
        return refuse(f, form, err);
    const char *type = take_text(f, t);
    if (type == NULL || !read_type(type, &one) || !dpi_npy_take(t, ")") ||
        (one.name[0] == 0) != (one.kind == 'V'))
        return refuse(f, form, err);
    void *fields = f->field;
    if (f->n == MOST_FIELDS)
        return refuse(f, "its records have more than 65536 fields", err);
    if (!dpi_arena_grow(&f->arena, &fields, &f->room, f->n + 1, sizeof one))
        return dpi_fail_nomem(err);
    f->field = fields;
    f->field[f->n++] = one;
    f->record += one.size;
    return DP_OK;
}

static dp_status take_descr(npy *f, dpi_npy_text *t, dp_error *err)
{
    if (f->n > 0 || !dpi_npy_take(t, "["))
        return refuse(f,
                      "an array of numbers does not tell which column is which; save one with "
                      "named fields (pandas: numpy.save(path, frame.to_records(index=False)))",
                      err);
    while (!dpi_npy_take(t, "]")) {
        dp_status status = take_field(f, t, err);
        if (status != DP_OK)
            return status;
        if (!dpi_npy_take(t, ",") && !(t->at < t->end && *t->at == ']'))
            return refuse(f, "its header is damaged; write it again", err);
    }
    return DP_OK;
}

/* One entry of the dictionary; of one dimension the order says nothing. */
static dp_status take_entry(npy *f, dpi_npy_text *t, unsigned *seen, dp_error *err)
{
    enum { DESCR = 1, ORDER = 2, SHAPE = 4 };
    if (dpi_npy_take(t, "'descr'") && dpi_npy_take(t, ":")) {
        *seen |= DESCR;
        return take_descr(f, t, err);
    }
    if (dpi_npy_take(t, "'fortran_order'") && dpi_npy_take(t, ":") &&
        (dpi_npy_take(t, "False") || dpi_npy_take(t, "True"))) {
        *seen |= ORDER;
        return DP_OK;
    }
    if (dpi_npy_take(t, "'shape'") && dpi_npy_take(t, ":") && dpi_npy_take(t, "(") &&
        dpi_npy_number(t, &f->records) && dpi_npy_take(t, ",") && dpi_npy_take(t, ")")) {
        *seen |= SHAPE;
        return DP_OK;
    }
    return refuse(f, "its header is damaged, or its array has not one dimension; write it again",
                  err);
}

static dp_status take_header(npy *f, dp_error *err)
{
    dpi_npy_text t;
    unsigned seen = 0;
    dp_status status = read_header(f, &t, err);
    bool more = status == DP_OK && dpi_npy_take(&t, "{");
    while (status == DP_OK && more && !dpi_npy_take(&t, "}")) {
        status = take_entry(f, &t, &seen, err);
        more = dpi_npy_take(&t, ",") || (t.at < t.end && *t.at == '}');
    }
    if (status == DP_OK && (seen != 7 || !more || f->n == 0 || f->record > BLOCK))
        status =
            refuse(f, "its header is damaged, or its records are too large; write it again", err);
    return status;
}

/* ---- records ---- */

static dp_status find_columns(npy *f, dp_error *err)
{
    f->where = dpi_arena_alloc(&f->arena, f->n_columns, sizeof *f->where);
    f->text = dpi_arena_alloc(&f->arena, f->n_columns, sizeof *f->text);
    f->cells = dpi_arena_alloc(&f->arena, f->n_columns, sizeof *f->cells);
    if (f->where == NULL || f->text == NULL || f->cells == NULL)
        return dpi_fail_nomem(err);
    for (size_t j = 0; j < f->n_columns; j++) {
        const char *name = f->schema[j].name;
        size_t found = 0;
        for (size_t i = 0; i < f->n; i++)
            if (strcmp(f->field[i].name, name) == 0) {
                f->where[j] = &f->field[i];
                found++;
            }
        if (found != 1)
            return dpi_fail(err, DP_ENAME, "%s: %s field '%s' among the %zu of a record",
                            f->source->name, found == 0 ? "no" : "more than one", name, f->n);
        f->text[j] = dpi_arena_alloc(&f->arena, f->where[j]->size + INTEGER_TEXT, 1);
        if (f->text[j] == NULL)
            return dpi_fail_nomem(err);
    }
    return DP_OK;
}

static uint64_t little_end(const unsigned char *from, size_t size)
{
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++)
        number |= (uint64_t)from[i] << (8 * i);
    return number;
}

static double real_of(const unsigned char *from, size_t size)
{
    const uint64_t bits = little_end(from, size);
    const uint32_t half = (uint32_t)bits;
    double wide;
    float narrow;
    memcpy(&wide, &bits, sizeof wide);
    memcpy(&narrow, &half, sizeof narrow);
    return size == sizeof wide ? wide : (double)narrow;
}

/* A whole number: as a text where a double may not hold it. */
static dp_cell whole_of(const unsigned char *from, const field *d, char *text)
{
    const unsigned free = 64 - 8 * (unsigned)d->size;
    const uint64_t bits = little_end(from, d->size), sign = (uint64_t)1 << 63 >> free;
    const bool minus = d->kind == 'i' && (bits & sign) != 0;
    const uint64_t size = minus ? (~bits + 1) & (~(uint64_t)0 >> free) : bits;
    if (size <= (uint64_t)1 << 53)
        return (dp_cell){.number = minus ? -(double)size : (double)size};
    (void)snprintf(text, INTEGER_TEXT, "%s%llu", minus ? "-" : "", (unsigned long long)size);
    return (dp_cell){.text = text};
}

/* The bytes of a character in UTF-8; 0 where it is none. */
static size_t encode(uint64_t c, char *to)
{
    if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    const size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n; i-- > 1; c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(first[n] | c);
    return n;
}

/* False where a zero stands inside, or a character is none. */
static bool text_of(const unsigned char *from, const field *d, char *text)
{
    const size_t wide = d->kind == 'U' ? 4 : 1;
    size_t n = d->size / wide, length = 0;
    while (n > 0 && little_end(from + (n - 1) * wide, wide) == 0)
        n--;
    for (size_t i = 0; i < n; i++) {
        const uint64_t c = little_end(from + i * wide, wide);
        const size_t bytes = wide == 4 ? encode(c, text + length) : c != 0;
        if (bytes == 0)
            return false;
        if (wide == 1)
            text[length] = (char)c;
        length += bytes;
    }
    text[length] = 0;
    return true;
}

static dp_status add_record(npy *f, const unsigned char *record, size_t number, dp_table_builder *b,
                            dp_error *err)
{
    for (size_t j = 0; j < f->n_columns; j++) {
        const field *d = f->where[j];
        const unsigned char *from = record + d->offset;
        if (d->kind == 'f')
            f->cells[j] = (dp_cell){.number = real_of(from, d->size)};
        else if (strchr("iub", d->kind) != NULL)
            f->cells[j] = whole_of(from, d, f->text[j]);
        else if (text_of(from, d, f->text[j]))
            f->cells[j] = (dp_cell){.text = f->text[j]};
        else
            return dpi_fail(err, DP_EDATA, "%s, record %zu, column '%s': the text is damaged",
                            f->source->name, number, f->schema[j].name);
    }
    return dp_table_builder_add(b, f->cells, err);
}

static dp_status add_records(npy *f, dp_table_builder *b, dp_error *err)
{
    const size_t at_once = BLOCK / f->record;
    unsigned char *block = dpi_arena_alloc(&f->arena, at_once, f->record);
    if (block == NULL)
        return dpi_fail_nomem(err);
    size_t got = 0;
    for (size_t done = 0, n; done < f->records; done += n) {
        n = f->records - done < at_once ? f->records - done : at_once;
        dp_status status = read_bytes(f, n * f->record, block, err);
        for (size_t i = 0; status == DP_OK && i < n; i++)
            status = add_record(f, block + i * f->record, done + i + 1, b, err);
        if (status != DP_OK)
            return status;
    }
    dp_status status = f->source->read(f->source, 1, (char *)block, &got, err);
    return status == DP_OK && got > 0
               ? refuse(f, "there are bytes behind its last record; it is damaged", err)
               : status;
}

dp_status dpi_npy_table(dpi_source *source, const dp_csv_options *options, size_t n_columns,
                        const dp_column *columns, dp_table **table, dp_error *err)
{
    npy f = {.source = source, .schema = columns, .n_columns = n_columns};
    dp_table_builder *b;
    *table = NULL;
    dp_status status = dp_table_builder_new(source->name, options, n_columns, columns, &b, err);
    if (status == DP_OK)
        status = take_header(&f, err);
    if (status == DP_OK)
        status = find_columns(&f, err);
    if (status == DP_OK)
        status = add_records(&f, b, err);
    if (status == DP_OK)
        status = dp_table_builder_finish(b, table, err);
    dp_table_builder_free(b);
    dpi_arena_free(&f.arena);
    return status;
}

dp_status dp_table_read_npy(const char *path, const dp_csv_options *options, size_t n_columns,
                            const dp_column *columns, dp_table **table, dp_error *err)
{
    dpi_source source;
    if (path == NULL || table == NULL)
        dpi_misuse(__func__, "NULL path or table");
    *table = NULL;
    dp_status status = dpi_source_open(&source, path, err);
    if (status != DP_OK)
        return status;
    status = dpi_npy_table(&source, options, n_columns, columns, table, err);
    dpi_source_close(&source);
    return status;
}
