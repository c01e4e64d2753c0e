/* Names of units, numbered.
 *
 * All names are kept until the last row and sorted then: n log n comparisons whatever the names
 * are, where a table that hashes them could be made slow by who writes the file.  Names are wiped
 * nowhere else than the file's text is, and leave with the reader. */
#include "data/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

typedef struct entry {
    const char *name;
    size_t row;
} entry;

dp_status dpi_names_keep(dpi_names *names, size_t row, const char *field,
                         const dpi_field_position *at, dp_error *err)
{
    const char *begin = field + strspn(field, " \t");
    size_t length = strlen(begin);
    while (length > 0 && (begin[length - 1] == ' ' || begin[length - 1] == '\t'))
        length--;
    if (length == 0 || (length == 2 && memcmp(begin, "NA", 2) == 0))
        return dpi_fail(err, DP_EDATA,
                        "%s, %s %zu, column '%s': the record belongs to nobody (an empty field "
                        "or NA); give it a name of its own or remove it",
                        at->source, dpi_position_word(at), at->line, at->column);
    names->from[row] = names->used;
    memcpy(names->text + names->used, begin, length);
    names->text[names->used + length] = 0;
    names->used += length + 1;
    return DP_OK;
}

void dpi_names_append(dpi_names *names, size_t first, size_t n, const dpi_names *more)
{
    const size_t bytes = n > 0 ? more->from[n - 1] + strlen(more->text + more->from[n - 1]) + 1 : 0;
    for (size_t i = 0; i < n; i++)
        names->from[first + i] = names->used + more->from[i];
    if (bytes > 0)
        memcpy(names->text + names->used, more->text, bytes);
    names->used += bytes;
}

static int by_name_and_row(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
}

dp_status dpi_names_number(const dpi_names *names, size_t rows, const char *source, int32_t *number,
                           dp_error *err)
{
    if (rows > INT32_MAX)
        return dpi_fail(err, DP_EDATA, "%s has more records than units can be numbered; split it",
                        source);
    entry *entries = dpi_alloc(rows, sizeof *entries);
    if (entries == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < rows; i++)
        entries[i] = (entry){names->text + names->from[i], i};
    qsort(entries, rows, sizeof *entries, by_name_and_row);
    for (size_t i = 0, first = 0; i < rows; i++) {
        if (strcmp(entries[i].name, entries[first].name) != 0)
            first = i;
        number[entries[i].row] = (int32_t)entries[first].row; /* the first row of that name */
    }
    dpi_free(entries);
    int32_t found = 0;
    for (size_t i = 0; i < rows; i++)
        number[i] = number[i] == (int32_t)i ? found++ : number[number[i]];
    return DP_OK;
}

const char *const *dpi_names_list(const dpi_names *names, size_t rows, dpi_arena *arena)
{
    const char **list = dpi_arena_alloc(arena, rows, sizeof *list);
    for (size_t i = 0; i < rows && list != NULL; i++) {
        list[i] = dpi_arena_strdup(arena, names->text + names->from[i]);
        if (list[i] == NULL)
            return NULL;
    }
    return list;
}
