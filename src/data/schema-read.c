/* Reading a schema: a column or a setting a line; see doc/schema.md.
 *
 * All that dp_table_read_csv would refuse of a schema is refused here, with its line and in words
 * that fit the file.  The text is hostile input: sizes are limited, and time is n log n in the
 * levels of a column and quadratic in the number of columns alone, of which there are few. */
#include <locale.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/name.h"
#include "data/cell.h"
#include "data/file.h"
#include "data/schema-text.h"
#include "data/schema.h"

static const double most_whole = 0x1p52;

typedef struct schema_reading {
    dpi_schema_lines lines;
    dp_schema *schema;
    size_t *line; /* [schema->n] where a column stands */
    size_t room;
    unsigned set;     /* a bit for each setting that was read */
    dp_error *faults; /* [most] of dp_schema_check; else NULL, and the first fault ends it */
    size_t n_faults, most;
} schema_reading;

static dp_status wrong(const schema_reading *r, const char *what, const char *found)
{
    return dpi_schema_fail(&r->lines, what, found);
}

/* What dpi_name_fault finds. */
static dp_status faulty(const schema_reading *r, const char *what, const char *fault)
{
    return dpi_fail(r->lines.err, DP_EDATA, "%.150s:%zu: %s %s", r->lines.file, r->lines.number,
                    what, fault);
}

/* ---- numbers ---- */

static dp_status read_number(const schema_reading *r, const dpi_schema_word *word, double *value)
{
    if (!word->quoted && dpi_cell_number(word->text, value))
        return DP_OK;
    return wrong(r, "is no number; write one as 0.5 or -20", word->text);
}

/* "low .. high" or "low..high", from the third word on; *next is the word behind. */
static dp_status read_ends(schema_reading *r, dp_column *c, size_t *next)
{
    static const char *const form = "the range is missing; write it as 0 .. 120";
    dpi_schema_lines *l = &r->lines;
    dpi_schema_word low, high;
    const char *dots = l->n > 2 && !l->word[2].quoted ? strstr(l->word[2].text, "..") : NULL;
    if (dots != NULL && dots != l->word[2].text && dots[2] != 0) {
        char *copy = dpi_arena_strdup(l->arena, l->word[2].text);
        if (copy == NULL)
            return dpi_fail_nomem(r->lines.err);
        size_t length = (size_t)(dots - l->word[2].text);
        copy[length] = 0;
        low = (dpi_schema_word){copy, false};
        high = (dpi_schema_word){copy + length + 2, false};
        *next = 3;
    } else if (l->n > 4 && dpi_schema_is(&l->word[3], "..")) {
        low = l->word[2];
        high = l->word[4];
        *next = 5;
    } else
        return wrong(r, form, NULL);
    dp_status status = read_number(r, &low, &c->low);
    return status == DP_OK ? read_number(r, &high, &c->high) : status;
}

static dp_status read_rule(schema_reading *r, dp_column *c, size_t next)
{
    const dpi_schema_lines *l = &r->lines;
    if (next < l->n && dpi_schema_is(&l->word[next], "clamp"))
        c->clamp = true;
    else if (next < l->n && !dpi_schema_is(&l->word[next], "refuse"))
        return wrong(r,
                     "stands behind the range; there may be clamp (what is outside becomes the "
                     "nearer end) or refuse (it is an error, as without the word)",
                     l->word[next].text);
    if (next + 1 < l->n)
        return wrong(r, "is too much; the line ends before it", l->word[next + 1].text);
    return DP_OK;
}

/* ---- kinds ---- */

static dp_status read_range(schema_reading *r, dp_column *c)
{
    size_t next = 0;
    dp_status status = read_ends(r, c, &next);
    if (status == DP_OK)
        status = read_rule(r, c, next);
    if (status == DP_OK && !(c->low < c->high))
        status = wrong(r, "the first end of a range is below the second", NULL);
    return status;
}

static dp_status read_real(schema_reading *r, dp_column *c)
{
    c->kind = DP_COLUMN_REAL;
    return read_range(r, c);
}

static dp_status read_integer(schema_reading *r, dp_column *c)
{
    c->kind = DP_COLUMN_INTEGER;
    dp_status status = read_range(r, c);
    if (status != DP_OK)
        return status;
    if (c->clamp)
        return wrong(r,
                     "would make groups of others out of what is outside; it is for real columns: "
                     "leave it out, or declare the column real",
                     "clamp");
    if (c->low != floor(c->low) || c->high != floor(c->high))
        return wrong(r, "the ends of this range are whole numbers; or declare the column real",
                     NULL);
    if (fabs(c->low) > most_whole || fabs(c->high) > most_whole || c->high - c->low >= INT32_MAX)
        return wrong(r, "more whole numbers than can be told apart; declare the column real", NULL);
    return DP_OK;
}

static dp_status read_count(schema_reading *r, dp_column *c)
{
    dp_status status = read_integer(r, c);
    if (status == DP_OK && c->low < 0)
        status = wrong(r, "a count is not below 0; declare the column integer", NULL);
    return status;
}

static dp_status read_levels(schema_reading *r, dp_column *c)
{
    const dpi_schema_lines *l = &r->lines;
    c->kind = DP_COLUMN_LEVEL;
    c->n_levels = l->n - 2;
    if (c->n_levels == 0)
        return wrong(r, "the levels are missing; write all that there can be, as in: level N Y",
                     NULL);
    const char **levels = dpi_arena_alloc(&r->schema->arena, c->n_levels, sizeof *levels);
    if (levels == NULL)
        return dpi_fail_nomem(r->lines.err);
    c->levels = levels;
    for (size_t i = 0; i < c->n_levels; i++) {
        levels[i] = dpi_arena_strdup(&r->schema->arena, l->word[2 + i].text);
        if (levels[i] == NULL)
            return dpi_fail_nomem(r->lines.err);
        const char *fault = dpi_name_fault(levels[i]);
        if (fault != NULL)
            return faulty(r, "a level", fault);
    }
    dp_error own = {DP_OK, ""};
    dpi_level *sorted;
    dp_status status = dpi_levels_sort(c, l->arena, &sorted, &own);
    return status == DP_EINVAL ? wrong(r, own.text, NULL)
           : status != DP_OK   ? dpi_fail_nomem(r->lines.err)
                               : DP_OK;
}

static dp_status read_unit(schema_reading *r, dp_column *c)
{
    c->kind = DP_COLUMN_UNIT;
    if (r->lines.n > 2)
        return wrong(r, "is too much; a unit has a name and nothing else", r->lines.word[2].text);
    for (size_t i = 0; i < r->schema->n; i++)
        if (r->schema->column[i].kind == DP_COLUMN_UNIT)
            return wrong(r, "is a unit, too; a record belongs to one: remove one of the lines",
                         r->schema->column[i].name);
    return DP_OK;
}

static const struct {
    const char *name;
    dp_status (*read)(schema_reading *r, dp_column *c);
} kinds[] = {{"real", read_real},
             {"integer", read_integer},
             {"count", read_count},
             {"level", read_levels},
             {"unit", read_unit}};

/* ---- settings ---- */

static dp_status read_records(schema_reading *r, const char *value)
{
    double n;
    if (!dpi_cell_number(value, &n) || !(n >= 1 && n <= most_whole && n == floor(n)))
        return wrong(r, "is no number of records; write a whole number from 1 up", value);
    r->schema->records = (size_t)n;
    return DP_OK;
}

static dp_status read_separator(schema_reading *r, const char *value)
{
    static const char *const names[] = {",", ";", "tab"};
    static const char signs[] = {0, ';', '\t'};
    for (size_t i = 0; i < sizeof signs; i++)
        if (strcmp(value, names[i]) == 0) {
            r->schema->csv.separator = signs[i];
            return DP_OK;
        }
    return wrong(r, "separates no fields; write one of , ; and tab", value);
}

static dp_status read_missing(schema_reading *r, const char *value)
{
    const bool drop = strcmp(value, "drop") == 0;
    if (!drop && strcmp(value, "refuse") != 0)
        return wrong(
            r,
            "is no rule for missing values, which are empty fields and NA; write drop (the "
            "record is left out) or refuse (it is an error, as without the line)",
            value);
    r->schema->csv.drop_missing = drop;
    return DP_OK;
}

static const struct {
    const char *name;
    dp_status (*read)(schema_reading *r, const char *value);
} settings[] = {
    {"records", read_records}, {"separator", read_separator}, {"missing", read_missing}};

static dp_status read_setting(schema_reading *r)
{
    const dpi_schema_lines *l = &r->lines;
    if (l->n < 3)
        return wrong(r, "there is no value behind '='", NULL);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (dpi_schema_is(&l->word[0], settings[i].name)) {
            if (l->n > 3)
                return wrong(r, "is too much; a setting has one value", l->word[3].text);
            if ((r->set & 1U << i) != 0)
                return wrong(r, "is set above, too; remove one of the lines", settings[i].name);
            r->set |= 1U << i;
            return settings[i].read(r, l->word[2].text);
        }
    return wrong(r, "is no setting; there are records, separator and missing", l->word[0].text);
}

/* ---- lines ---- */

static dp_status check_name(const schema_reading *r, const char *name)
{
    const dpi_schema_lines *l = &r->lines;
    const dp_schema *s = r->schema;
    const char *fault = dpi_name_fault(name);
    if (fault != NULL)
        return faulty(r, "a name", fault);
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->column[i].name, name) == 0)
            return dpi_fail(l->err, DP_EDATA,
                            "%.150s:%zu: '%.60s' is declared in line %zu, too; remove one of them",
                            l->file, l->number, name, r->line[i]);
    if (s->n == DPI_MOST_COLUMNS)
        return wrong(r, "more than 4096 columns; declare those that the formula reads", NULL);
    if (l->n > 1)
        return DP_OK;
    return wrong(r,
                 strchr(name, '=') != NULL
                     ? "has no blanks around its '='; write records = 1934"
                     : "has no kind; write it behind the name, as in: age real 0 .. 120",
                 name);
}

static dp_status keep_column(schema_reading *r, const dp_column *c)
{
    dp_schema *s = r->schema;
    void *columns = s->column, *lines = r->line;
    if (!dpi_arena_grow(&s->arena, &columns, &s->room, s->n + 1, sizeof *c) ||
        !dpi_arena_grow(r->lines.arena, &lines, &r->room, s->n + 1, sizeof *r->line))
        return dpi_fail_nomem(r->lines.err);
    s->column = columns;
    r->line = lines;
    r->line[s->n] = r->lines.number;
    s->column[s->n++] = *c;
    return DP_OK;
}

static dp_status read_column(schema_reading *r)
{
    dpi_schema_word *word = r->lines.word;
    dp_column c = {.name = dpi_arena_strdup(&r->schema->arena, word[0].text)};
    if (c.name == NULL)
        return dpi_fail_nomem(r->lines.err);
    dp_status status = check_name(r, c.name);
    if (status != DP_OK)
        return status;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (dpi_schema_is(&word[1], kinds[k].name)) {
            status = kinds[k].read(r, &c);
            return status == DP_OK ? keep_column(r, &c) : status;
        }
    return wrong(r, "is no kind of column; there are real, integer, count, level and unit",
                 word[1].text);
}

static dp_status read_line(schema_reading *r, bool *there)
{
    dp_status status = dpi_schema_next(&r->lines, there);
    if (status != DP_OK || !*there)
        return status;
    return r->lines.n > 1 && dpi_schema_is(&r->lines.word[1], "=") ? read_setting(r)
                                                                   : read_column(r);
}

/* Keeps what is wrong with a line, and the next one is read. */
static dp_status keep_fault(schema_reading *r)
{
    r->faults[r->n_faults++] = *r->lines.err;
    *r->lines.err = (dp_error){DP_OK, ""};
    return r->n_faults < r->most ? DP_OK : DP_EDATA;
}

static dp_status read_lines(schema_reading *r)
{
    for (bool there = true; there;) {
        dp_status status = read_line(r, &there);
        if (status == DP_EDATA && r->faults != NULL) {
            status = keep_fault(r);
            there = true; /* after a line that could not be cut into words, too */
        }
        if (status != DP_OK)
            return status;
    }
    if (r->n_faults > 0)
        return DP_EDATA;
    if (r->schema->n == 0)
        return dpi_fail(r->lines.err, DP_EDATA,
                        "%.150s declares no column; write one a line, as in: age real 0 .. 120",
                        r->lines.file);
    return dpi_schema_write(r->schema, r->lines.err);
}

/* With the calling thread in the C locale, so that numbers have a point. */
static dp_status read_in_c_locale(schema_reading *r)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0)
        return dpi_fail_nomem(r->lines.err);
    locale_t before = uselocale(c_locale);
    dp_status status = read_lines(r);
    (void)uselocale(before);
    freelocale(c_locale);
    return status;
}

/* ---- the object ---- */

/* Reads the text into s; `r` has the faults to be kept, if any. */
static dp_status read_schema(schema_reading *r, const char *text, size_t size, const char *name,
                             dp_schema *s, dp_error *err)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, which some editors write in front */
    if (size > DPI_MOST_SCHEMA)
        return dpi_fail(err, DP_EDATA, "%.150s is longer than 1 MiB; a schema is a short text",
                        name);
    bool marked = size >= 3 && memcmp(text, mark, 3) == 0;
    dpi_arena words = {0};
    r->schema = s;
    r->lines = (dpi_schema_lines){.at = marked ? text + 3 : text,
                                  .left = marked ? size - 3 : size,
                                  .file = name,
                                  .arena = &words,
                                  .err = err};
    dp_status status = read_in_c_locale(r);
    dpi_arena_free(&words);
    return status == DP_OK ? dpi_schema_check(s->n, s->column, err) : status;
}

dp_status dp_schema_parse(const char *text, size_t size, const char *name, dp_schema **schema,
                          dp_error *err)
{
    if (schema == NULL || name == NULL || (text == NULL && size > 0))
        dpi_misuse(__func__, "NULL text, name or result");
    *schema = NULL;
    schema_reading r = {.faults = NULL};
    dp_schema *s = dpi_alloc(1, sizeof *s);
    if (s == NULL)
        return dpi_fail_nomem(err);
    dp_status status = read_schema(&r, text, size, name, s, err);
    if (status == DP_OK)
        *schema = s;
    else
        dp_schema_free(s);
    return status;
}

dp_status dp_schema_check(const char *text, size_t size, const char *name, size_t most,
                          dp_error *faults, size_t *n)
{
    if (name == NULL || n == NULL || faults == NULL || most == 0 || (text == NULL && size > 0))
        dpi_misuse(__func__, "NULL text, name or faults, or room for none");
    schema_reading r = {.faults = faults, .most = most};
    dp_error own = {DP_OK, ""};
    *n = 0;
    dp_schema *s = dpi_alloc(1, sizeof *s);
    dp_status status = s != NULL ? read_schema(&r, text, size, name, s, &own) : DP_ENOMEM;
    dp_schema_free(s);
    if (status != DP_OK && status != DP_ENOMEM && r.n_faults == 0) /* of the whole, not of a line */
        faults[r.n_faults++] = own;
    *n = status == DP_ENOMEM ? 0 : r.n_faults;
    return status;
}

dp_status dp_schema_load(const char *path, dp_schema **schema, dp_error *err)
{
    char *text;
    size_t size;
    if (path == NULL || schema == NULL)
        dpi_misuse(__func__, "NULL path or result");
    *schema = NULL;
    dp_error own = {DP_OK, ""};
    dp_status status = dpi_file_read(path, DPI_MOST_SCHEMA, &text, &size, &own);
    if (status == DP_EDATA)
        return dpi_fail(err, status, "%s is longer than 1 MiB; a schema is a short text",
                        dpi_path_end(path));
    if (status != DP_OK)
        return dpi_fail(err, status, "%s", own.text);
    status = dp_schema_parse(text, size, dpi_path_end(path), schema, err);
    dpi_free(text);
    return status;
}

void dp_schema_free(dp_schema *schema)
{
    if (schema == NULL)
        return;
    dpi_arena_free(&schema->arena);
    dpi_free(schema);
}

const dp_column *dp_schema_columns(const dp_schema *schema, size_t *n)
{
    *n = schema->n;
    return schema->column;
}

const dp_csv_options *dp_schema_csv(const dp_schema *schema)
{
    return &schema->csv;
}

const char *dp_schema_text(const dp_schema *schema)
{
    return schema->text;
}

size_t dp_schema_records(const dp_schema *schema)
{
    return schema->records;
}
