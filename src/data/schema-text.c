/* A schema's text: lines cut into words, and words written.
 *
 * A word ends at a blank.  One that has blanks or quotes in it, or begins with '#', stands in
 * quotes, in which "" is a quote, as in CSV.  A '#' at the beginning of a word begins a comment. */
#include "data/schema-text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/name.h"

/* ---- reading ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* A table may be given in a schema's place, and what is in it is not told. */
static bool is_record(const char *text)
{
    size_t separators = 0;
    for (; *text != '\0'; text++)
        separators += *text == ',' || *text == ';';
    return separators >= 2;
}

dp_status dpi_schema_fail(const dpi_schema_lines *l, const char *what, const char *found)
{
    if (found != NULL && is_record(found))
        return dpi_fail(l->err, DP_EDATA,
                        "%.150s:%zu: is this a table in the place of a schema? what stands here %s",
                        l->file, l->number, what);
    return dpi_fail(l->err, DP_EDATA, "%.150s:%zu: %s%.60s%s%s", l->file, l->number,
                    found != NULL ? "'" : "", found != NULL ? found : "", found != NULL ? "' " : "",
                    what);
}

bool dpi_schema_is(const dpi_schema_word *word, const char *text)
{
    return !word->quoted && strcmp(word->text, text) == 0;
}

/* The length of the word that begins a text without leading blanks, its quotes counted; 0 where a
 * quote is not closed or stands where none can. */
static size_t word_length(const char *text, size_t left)
{
    size_t n = 0;
    if (text[0] != '"') {
        while (n < left && !is_blank(text[n]))
            if (text[n++] == '"')
                return 0;
        return n;
    }
    for (n = 1; n < left; n++) {
        if (text[n] != '"')
            continue;
        if (n + 1 < left && text[n + 1] == '"')
            n++;
        else
            return n + 1 == left || is_blank(text[n + 1]) ? n + 1 : 0;
    }
    return 0;
}

/* Adds the word in the first n bytes of a text. */
static dp_status add_word(dpi_schema_lines *l, const char *text, size_t n)
{
    void *words = l->word;
    char *copy = dpi_arena_alloc(l->arena, n + 1, 1);
    bool quoted = text[0] == '"';
    if (copy == NULL || !dpi_arena_grow(l->arena, &words, &l->room, l->n + 1, sizeof *l->word))
        return dpi_fail_nomem(l->err);
    l->word = words;
    size_t length = 0;
    for (size_t i = quoted; i < n - quoted; i++) {
        copy[length++] = text[i];
        i += quoted && text[i] == '"';
    }
    l->word[l->n++] = (dpi_schema_word){copy, quoted};
    return DP_OK;
}

static dp_status cut(dpi_schema_lines *l, const char *line, size_t left)
{
    l->n = 0;
    if (left > 0 && line[left - 1] == '\r')
        left--;
    for (size_t i = 0; i < left; i++)
        if (dpi_is_control(line + i, left - i) && line[i] != '\t')
            return dpi_schema_fail(l, "a control character; write plain text, a line a column",
                                   NULL);
    for (;;) {
        while (left > 0 && is_blank(*line)) {
            line++;
            left--;
        }
        if (left == 0 || *line == '#')
            return DP_OK;
        size_t n = word_length(line, left);
        if (n == 0)
            return dpi_schema_fail(l,
                                   "a quote that is not closed, or in the middle of a word; write "
                                   "\"two words\", and \"\" for a quote inside",
                                   NULL);
        dp_status status = add_word(l, line, n);
        if (status != DP_OK)
            return status;
        line += n;
        left -= n;
    }
}

dp_status dpi_schema_next(dpi_schema_lines *l, bool *there)
{
    *there = false;
    while (l->left > 0) {
        const char *end = memchr(l->at, '\n', l->left), *line = l->at;
        size_t n = end != NULL ? (size_t)(end - line) : l->left;
        l->at += end != NULL ? n + 1 : n;
        l->left -= end != NULL ? n + 1 : n;
        l->number++;
        dp_status status = cut(l, line, n);
        if (status != DP_OK)
            return status;
        *there = l->n > 0;
        if (*there)
            return DP_OK;
    }
    return DP_OK;
}

/* ---- writing ---- */

static void add(dpi_bytes *to, const char *text)
{
    dpi_bytes_add(to, text, strlen(text));
}

static void add_text(dpi_bytes *to, const char *word)
{
    const bool marked = (unsigned char)word[0] == 0xef; /* may pass for the mark of UTF-8 */
    if (word[0] != '#' && !marked && strpbrk(word, " \t\"") == NULL) {
        add(to, word);
        return;
    }
    add(to, "\"");
    for (; *word != 0; word++)
        dpi_bytes_add(to, *word == '"' ? "\"\"" : word, *word == '"' ? 2 : 1);
    add(to, "\"");
}

/* The shortest of 15 and 17 digits that is the same number; the locale is C. */
static void add_number(dpi_bytes *to, double x)
{
    char text[40];
    (void)snprintf(text, sizeof text, "%.15g", x);
    if (strtod(text, NULL) != x)
        (void)snprintf(text, sizeof text, "%.17g", x);
    add(to, text);
}

void dpi_schema_write_column(dpi_bytes *to, const dp_column *c)
{
    static const char *const kinds[] = {[DP_COLUMN_REAL] = " real ",
                                        [DP_COLUMN_INTEGER] = " integer ",
                                        [DP_COLUMN_LEVEL] = " level",
                                        [DP_COLUMN_UNIT] = " unit"};
    add_text(to, c->name);
    add(to, kinds[c->kind]);
    for (size_t i = 0; i < c->n_levels; i++) {
        add(to, " ");
        add_text(to, c->levels[i]);
    }
    if (c->kind == DP_COLUMN_REAL || c->kind == DP_COLUMN_INTEGER) {
        add_number(to, c->low);
        add(to, " .. ");
        add_number(to, c->high);
    }
    if (c->clamp)
        add(to, " clamp");
}

dp_status dpi_schema_write(dp_schema *schema, dp_error *err)
{
    dpi_bytes to = {0};
    char line[64];
    for (size_t i = 0; i < schema->n; i++) {
        dpi_schema_write_column(&to, &schema->column[i]);
        add(&to, "\n");
    }
    if (schema->csv.separator != 0)
        add(&to, schema->csv.separator == ';' ? "separator = ;\n" : "separator = tab\n");
    if (schema->csv.drop_missing)
        add(&to, "missing = drop\n");
    if (schema->records > 0) {
        (void)snprintf(line, sizeof line, "records = %zu\n", schema->records);
        add(&to, line);
    }
    dpi_bytes_add(&to, "", 1);
    schema->text = to.failed ? NULL : dpi_arena_strdup(&schema->arena, (const char *)to.at);
    dpi_bytes_free(&to);
    return schema->text != NULL ? DP_OK : dpi_fail_nomem(err);
}
