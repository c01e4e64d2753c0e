/* A schema from a code book: a CSV file whose first line names what is told of a column, and whose
 * other lines describe a column each.
 *
 * Names in the first line are compared without case, blanks, '_', '-' and '.'.  Kinds are words
 * (kind_words).  Values are a list, parted by the first of '|', ';', a line feed and ',' that
 * stands in it, of levels or of `code = meaning`; or a range, as 0 .. 120, 0 - 120 or 0 to 120.
 * Without a kind, a list makes levels, and a range whole numbers where both ends are whole, else
 * real ones.
 * What is not plain is not guessed at but remarked. */
#include "data/draft.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "data/cell.h"

#define LENGTH(a) (sizeof(a) / sizeof(a)[0])

enum { MOST_WORD = 40, MOST_LEVELS = 1000 };

typedef enum book_part { NAME, KIND, LOW, HIGH, RANGE, VALUES, MEASURE, LABEL, N_PARTS } book_part;

static const struct {
    const char *word;
    book_part part;
} part_words[] = {
    {"name", NAME},
    {"variable", NAME},
    {"variablename", NAME},
    {"varname", NAME},
    {"var", NAME},
    {"column", NAME},
    {"columnname", NAME},
    {"field", NAME},
    {"fieldname", NAME},
    {"type", KIND},
    {"kind", KIND},
    {"datatype", KIND},
    {"class", KIND},
    {"variabletype", KIND},
    {"fieldtype", KIND},
    {"min", LOW},
    {"minimum", LOW},
    {"low", LOW},
    {"lower", LOW},
    {"from", LOW},
    {"max", HIGH},
    {"maximum", HIGH},
    {"high", HIGH},
    {"upper", HIGH},
    {"to", HIGH},
    {"range", RANGE},
    {"values", VALUES},
    {"levels", VALUES},
    {"codes", VALUES},
    {"categories", VALUES},
    {"valuelabels", VALUES},
    {"choices", VALUES},
    {"allowedvalues", VALUES},
    {"permittedvalues", VALUES},
    {"unit", MEASURE},
    {"units", MEASURE},
    {"label", LABEL},
    {"description", LABEL},
    {"question", LABEL},
    {"meaning", LABEL},
    {"variablelabel", LABEL},
};

typedef enum book_kind { NO_KIND, REAL, INTEGER, COUNT, LEVEL, UNIT, UNKNOWN } book_kind;

static const struct {
    const char *word;
    book_kind kind;
} kind_words[] = {
    {"real", REAL},      {"numeric", REAL},    {"number", REAL},      {"float", REAL},
    {"double", REAL},    {"decimal", REAL},    {"continuous", REAL},  {"integer", INTEGER},
    {"int", INTEGER},    {"whole", INTEGER},   {"discrete", INTEGER}, {"count", COUNT},
    {"level", LEVEL},    {"levels", LEVEL},    {"factor", LEVEL},     {"categorical", LEVEL},
    {"category", LEVEL}, {"nominal", LEVEL},   {"ordinal", LEVEL},    {"binary", LEVEL},
    {"boolean", LEVEL},  {"bool", LEVEL},      {"logical", LEVEL},    {"enum", LEVEL},
    {"string", LEVEL},   {"character", LEVEL}, {"char", LEVEL},       {"text", LEVEL},
    {"unit", UNIT},      {"id", UNIT},         {"identifier", UNIT},  {"key", UNIT},
};

/* One line of the code book; what is not told is "". */
typedef struct book_line {
    const char *told[N_PARTS];
    book_kind kind;
    double low, high;
    bool has_low, has_high;
    const char **levels; /* [n_levels] */
    size_t n_levels;
} book_line;

/* ---- words ---- */

/* Letters and digits of a text in lower case; "" when they are too many. */
static void plain_word(const char *text, char word[MOST_WORD])
{
    size_t n = 0;
    for (; *text != 0; text++) {
        if (*text == ' ' || *text == '_' || *text == '-' || *text == '.' || *text == '\t')
            continue;
        if (n == MOST_WORD - 1) {
            n = 0;
            break;
        }
        word[n++] = (char)tolower((unsigned char)*text);
    }
    word[n] = 0;
}

static book_part part_of(const char *field)
{
    char word[MOST_WORD];
    plain_word(field, word);
    for (size_t i = 0; i < LENGTH(part_words); i++)
        if (strcmp(word, part_words[i].word) == 0)
            return part_words[i].part;
    return N_PARTS;
}

static book_kind kind_of(const char *field)
{
    char word[MOST_WORD];
    plain_word(field, word);
    if (word[0] == 0)
        return field[strspn(field, " \t")] == 0 ? NO_KIND : UNKNOWN;
    for (size_t i = 0; i < LENGTH(kind_words); i++)
        if (strcmp(word, kind_words[i].word) == 0)
            return kind_words[i].kind;
    return UNKNOWN;
}

/* A copy of n bytes without blanks around; NULL when memory is out. */
static char *trimmed(dpi_draft *d, const char *text, size_t n)
{
    while (n > 0 && strchr(" \t\r\n", *text) != NULL)
        text++, n--;
    while (n > 0 && strchr(" \t\r\n", text[n - 1]) != NULL)
        n--;
    char *copy = dpi_arena_alloc(&d->arena, n + 1, 1);
    if (copy != NULL)
        memcpy(copy, text, n);
    return copy;
}

/* ---- values ---- */

/* Whether a text is two numbers with `sign` between. */
static bool parted_range(dpi_draft *d, const char *text, const char *sign, book_line *l)
{
    for (const char *at = text; (at = strstr(at, sign)) != NULL; at++) {
        const char *low = trimmed(d, text, (size_t)(at - text));
        const char *high = at + strlen(sign);
        if (low != NULL && dpi_cell_number(low, &l->low) && dpi_cell_number(high, &l->high)) {
            l->has_low = l->has_high = true;
            return true;
        }
    }
    return false;
}

static bool is_range(dpi_draft *d, const char *text, book_line *l)
{
    static const char *const signs[] = {"..", " to ", "\xe2\x80\x93", "-"};
    book_line found = {.n_levels = 0};
    if (strlen(text) > MOST_WORD)
        return false;
    for (size_t i = 0; i < LENGTH(signs); i++)
        if (parted_range(d, text, signs[i], &found)) {
            l->low = found.low;
            l->high = found.high;
            l->has_low = l->has_high = true;
            return true;
        }
    return false;
}

static char list_sign(const char *text)
{
    static const char signs[] = {'|', ';', '\n', ','};
    for (size_t i = 0; i < LENGTH(signs); i++)
        if (strchr(text, signs[i]) != NULL)
            return signs[i];
    return 0;
}

static dp_status keep_level(dpi_draft *d, book_line *l, size_t room, const char *text, size_t n,
                            dp_error *err)
{
    const char *equals = memchr(text, '=', n);
    const char *level = trimmed(d, text, equals != NULL ? (size_t)(equals - text) : n);
    if (level == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < l->n_levels; i++)
        if (strcmp(l->levels[i], level) == 0)
            return DP_OK;
    if (level[0] != 0 && l->n_levels < room)
        l->levels[l->n_levels++] = level;
    return DP_OK;
}

/* The levels of a list; n_levels stays 0 where there are more than MOST_LEVELS. */
static dp_status read_list(dpi_draft *d, const char *text, book_line *l, dp_error *err)
{
    const char sign = list_sign(text);
    size_t room = 1;
    for (const char *c = text; *c != 0; c++)
        room += *c == sign;
    if (room > MOST_LEVELS)
        return DP_OK;
    l->levels = dpi_arena_alloc(&d->arena, room, sizeof *l->levels);
    if (l->levels == NULL)
        return dpi_fail_nomem(err);
    for (const char *end; *text != 0; text = end + (*end != 0)) {
        end = sign != 0 ? strchr(text, sign) : NULL;
        end = end != NULL ? end : text + strlen(text);
        dp_status status = keep_level(d, l, room, text, (size_t)(end - text), err);
        if (status != DP_OK)
            return status;
    }
    return DP_OK;
}

static dp_status read_values(dpi_draft *d, book_line *l, dp_error *err)
{
    const char *range = l->told[RANGE], *values = l->told[VALUES];
    l->has_low = dpi_cell_number(l->told[LOW], &l->low);
    l->has_high = dpi_cell_number(l->told[HIGH], &l->high);
    if (!l->has_low || !l->has_high) {
        if (is_range(d, range, l))
            return DP_OK;
        if (l->kind != LEVEL && is_range(d, values, l))
            return DP_OK;
    }
    return dpi_cell_missing(values) ? DP_OK : read_list(d, values, l, err);
}

/* ---- a column ---- */

/* Why there is no range; NULL when there is one. */
static const char *range_fault(const book_line *l, book_kind k)
{
    if (!l->has_low || !l->has_high)
        return dpi_cell_missing(l->told[LOW]) && dpi_cell_missing(l->told[HIGH])
                   ? "no range; write one, LOW .. HIGH, of what can be and not of what was seen"
                   : "one of the ends of its range is no number; write LOW .. HIGH";
    if (!(l->low < l->high))
        return "the first end of its range is not below the second";
    if (k == REAL)
        return NULL;
    if (l->low != floor(l->low) || l->high != floor(l->high))
        return "whole numbers with a range of others; declare it real, or mend the range";
    if (fabs(l->low) > 0x1p52 || fabs(l->high) > 0x1p52 || l->high - l->low >= INT32_MAX)
        return "more whole numbers than can be told apart; declare it real";
    return k == COUNT && l->low < 0 ? "a count with a range below 0" : NULL;
}

static dp_status declare(dpi_draft *d, const book_line *l, const char *comment, dp_error *err)
{
    dp_column c = {.name = l->told[NAME], .kind = DP_COLUMN_UNIT};
    book_kind k = l->kind;
    if (k == NO_KIND && l->n_levels > 0)
        k = LEVEL;
    if (k == NO_KIND && l->has_low && l->has_high)
        k = l->low == floor(l->low) && l->high == floor(l->high) ? INTEGER : REAL;
    if (k == NO_KIND)
        return dpi_draft_remark(d, c.name, "neither kind nor range nor values; declare it", err);
    if (k == UNKNOWN)
        return dpi_draft_remark(d, c.name,
                                "a kind that is not known; there are real, integer, count, level "
                                "and unit",
                                err);
    if ((k == INTEGER || k == COUNT) && l->n_levels > 1 && !l->has_low && !l->has_high)
        k = LEVEL; /* codes */
    if (k == UNIT)
        return dpi_draft_column(d, &c, comment, err);
    if (k == LEVEL && l->n_levels == 0)
        return dpi_draft_remark(d, c.name,
                                "its values are not listed, or are more than 1000; write level and "
                                "all there can be, or leave it out",
                                err);
    const char *fault = k != LEVEL ? range_fault(l, k) : NULL;
    if (fault != NULL)
        return dpi_draft_remark(d, c.name, fault, err);
    c.kind = k == LEVEL ? DP_COLUMN_LEVEL : k == REAL ? DP_COLUMN_REAL : DP_COLUMN_INTEGER;
    if (k == LEVEL) {
        c.levels = l->levels;
        c.n_levels = l->n_levels;
    } else {
        c.low = l->low;
        c.high = l->high;
    }
    return dpi_draft_column(d, &c, comment, err);
}

/* A second unit is remarked: a record belongs to one. */
static dp_status read_line(dpi_draft *d, book_line *l, bool *has_unit, dp_error *err)
{
    char comment[256];
    const char *label = l->told[LABEL], *measure = l->told[MEASURE];
    l->kind = kind_of(l->told[KIND]);
    (void)snprintf(comment, sizeof comment, "%.160s%s%.60s", label,
                   label[0] != 0 && measure[0] != 0 ? ", in " : "", measure);
    if (l->kind == UNIT && *has_unit)
        return dpi_draft_remark(d, l->told[NAME],
                                "a second identifier; a record belongs to one unit, choose which",
                                err);
    *has_unit = *has_unit || l->kind == UNIT;
    dp_status status = read_values(d, l, err);
    return status == DP_OK ? declare(d, l, comment, err) : status;
}

/* Which field tells what; N_PARTS of fields that tell nothing. */
static dp_status find_parts(const dpi_draft *d, book_part *parts, dp_error *err)
{
    bool found[N_PARTS + 1] = {false};
    for (size_t f = 0; f < d->csv.n_header; f++) {
        parts[f] = part_of(d->csv.fields[f]);
        if (found[parts[f]])
            parts[f] = N_PARTS; /* the first one counts */
        found[parts[f]] = true;
    }
    if (!found[NAME])
        return dpi_fail(err, DP_EDATA,
                        "%s: no field of the first line tells columns' names; call one 'name' or "
                        "'variable', as in: name,type,min,max,values,unit,label",
                        d->csv.name);
    if (!found[KIND] && !found[LOW] && !found[RANGE] && !found[VALUES])
        return dpi_fail(err, DP_EDATA,
                        "%s: the first line has neither type nor min and max nor values; they "
                        "may be called so, as in: name,type,min,max,values,unit,label",
                        d->csv.name);
    return DP_OK;
}

dp_status dpi_draft_codebook(dpi_draft *d, dp_error *err)
{
    const size_t n = d->csv.n_header;
    book_part *parts = dpi_arena_alloc(&d->arena, n, sizeof *parts);
    if (parts == NULL)
        return dpi_fail_nomem(err);
    dp_status status = find_parts(d, parts, err);
    if (status != DP_OK)
        return status;
    dpi_draft_say(d, "Drafted from the code book %.150s.", d->csv.name);
    bool found = true, has_unit = false;
    for (;;) {
        status = dpi_csv_next(&d->csv, &found, err);
        if (status != DP_OK || !found)
            return status;
        book_line l = {.n_levels = 0};
        for (size_t i = 0; i < N_PARTS; i++)
            l.told[i] = "";
        for (size_t f = 0; f < n; f++)
            if (parts[f] < N_PARTS)
                l.told[parts[f]] = d->csv.fields[f];
        l.told[NAME] = trimmed(d, l.told[NAME], strlen(l.told[NAME]));
        if (l.told[NAME] == NULL)
            return dpi_fail_nomem(err);
        if (l.told[NAME][0] != 0 || d->csv.n_fields > 1)
            status = read_line(d, &l, &has_unit, err);
        if (status != DP_OK)
            return status;
    }
}
