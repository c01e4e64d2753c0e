/* Lines are read into rows, and rows are put in order when all are there. */
#include "tools/estimates.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 26, MOST_FIELDS = 256 };

typedef enum estimate_part { NAME, ESTIMATE, ERROR, VARIANCE, TWIN, PARTS } estimate_part;

static const char *const part_names[PARTS][3] = {[NAME] = {"name", "term"},
                                                 [ESTIMATE] = {"estimate"},
                                                 [ERROR] = {"se", "std.error", "std_error"},
                                                 [VARIANCE] = {"variance"},
                                                 [TWIN] = {"twin"}};

typedef struct row {
    char *name, *twin; /* of the file's text; "" without such a column */
    size_t file;
    double estimate, variance;
} row;

typedef struct estimate_reading {
    row *row;
    size_t n, room, files;
} estimate_reading;

/* ---- CSV ---- */

static char *read_file(const char *path)
{
    FILE *from = fopen(path, "rb");
    char *text = from != NULL ? malloc(MOST_BYTES + 1) : NULL;
    size_t n = text != NULL ? fread(text, 1, MOST_BYTES, from) : 0;
    const bool good = text != NULL && !ferror(from) && feof(from);
    if (from != NULL)
        (void)fclose(from);
    if (good) {
        text[n] = '\0';
        if (strlen(text) == n)
            return text;
    }
    free(text);
    return NULL;
}

/* The field at *at, unquoted in place, which then stands behind it: at the separator, the line end
 * or the end, whose byte is given.  '"' of a field that is broken. */
static char next_field(char **at, char **field)
{
    char *from = *at, *to = *at;
    *field = to;
    if (*from == '"') {
        for (from++; *from != '\0' && (*from != '"' || from[1] == '"'); from++) {
            from += *from == '"';
            *to++ = *from;
        }
        if (*from++ != '"' || (*from != ',' && *from != '\r' && *from != '\n' && *from != '\0'))
            return '"';
    } else {
        from += strcspn(from, ",\r\n");
        to = from;
    }
    char end = *from;
    *at = from + (end != '\0');
    if (end == '\r' && from[1] == '\n')
        ++*at;
    *to = '\0';
    return end == '\r' ? '\n' : end;
}

/* The fields of a line; 0 of one that is broken. */
static size_t next_line(char **at, char *field[MOST_FIELDS])
{
    size_t n = 0;
    char end = ',';
    while (end == ',') {
        if (n == MOST_FIELDS)
            return 0;
        end = next_field(at, &field[n++]);
    }
    return end == '"' ? 0 : n;
}

/* ---- rows ---- */

static bool find_parts(size_t n, char *const *field, size_t place[PARTS])
{
    for (size_t p = 0; p < PARTS; p++) {
        place[p] = SIZE_MAX;
        for (size_t k = 0; k < n; k++)
            for (size_t a = 0; a < 3 && part_names[p][a] != NULL; a++)
                if (strcmp(field[k], part_names[p][a]) == 0)
                    place[p] = k;
    }
    return place[NAME] != SIZE_MAX && place[ESTIMATE] != SIZE_MAX &&
           (place[ERROR] != SIZE_MAX) != (place[VARIANCE] != SIZE_MAX);
}

static bool number_of(const char *text, double *x)
{
    char *end;
    *x = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*x);
}

static bool add_row(estimate_reading *r, char *const *field, const size_t place[PARTS])
{
    row added = {.name = field[place[NAME]],
                 .twin = place[TWIN] != SIZE_MAX ? field[place[TWIN]] : NULL,
                 .file = r->files};
    const bool error = place[ERROR] != SIZE_MAX;
    double spread;
    if (!number_of(field[place[ESTIMATE]], &added.estimate) ||
        !number_of(field[place[error ? ERROR : VARIANCE]], &spread) || spread < 0)
        return false;
    added.variance = error ? spread * spread : spread;
    if (r->n == r->room) {
        const size_t room = 2 * r->room + 64;
        row *grown = realloc(r->row, room * sizeof *grown);
        if (grown == NULL)
            return false;
        r->row = grown;
        r->room = room;
    }
    r->row[r->n++] = added;
    return true;
}

static bool read_rows(estimate_reading *r, const char *path, char *at, message *why)
{
    char *field[MOST_FIELDS];
    size_t place[PARTS], line = 1;
    const size_t n = next_line(&at, field);
    if (!find_parts(n, field, place))
        return complain(why,
                        "%.300s:1: the columns name, estimate and either se or variance are "
                        "needed; name them so in the first line",
                        path);
    while (*at != '\0') {
        line++;
        const size_t found = next_line(&at, field);
        if (found == 1 && field[0][0] == '\0' && *at == '\0')
            break;
        if (found != n || !add_row(r, field, place))
            return complain(why,
                            "%.300s:%zu: a line of %zu fields with a finite estimate and an error "
                            "not below 0 is needed; mend or remove it",
                            path, line, n);
    }
    r->files++;
    return true;
}

/* ---- in order ---- */

static bool same_twin(const row *a, const row *b)
{
    return a->file == b->file && (a->twin == NULL || strcmp(a->twin, b->twin) == 0);
}

/* Which twin each row is of; the number of twins. */
static size_t number_twins(const estimate_reading *r, size_t *twin)
{
    size_t twins = 0, last = 0;
    for (size_t i = 0; i < r->n; i++) {
        size_t k = i;
        if (i > 0 && same_twin(&r->row[last], &r->row[i]))
            k = last;
        for (size_t j = 0; j < i && k == i; j++)
            k = same_twin(&r->row[j], &r->row[i]) ? j : k;
        twin[i] = k < i ? twin[k] : twins++;
        last = i;
    }
    return twins;
}

/* Names of the first twin. */
static bool list_names(estimates *e, const estimate_reading *r, const size_t *twin)
{
    e->name = calloc(r->n + 1, sizeof *e->name);
    for (size_t i = 0; i < r->n && e->name != NULL; i++)
        if (twin[i] == 0 && (e->name[e->n++] = strdup(r->row[i].name)) == NULL)
            return false;
    return e->name != NULL;
}

/* The place of a name, looked for first behind the last one. */
static size_t place_of(const estimates *e, const char *name, size_t last)
{
    for (size_t k = 0; k < e->n; k++)
        if (strcmp(e->name[(last + 1 + k) % e->n], name) == 0)
            return (last + 1 + k) % e->n;
    return SIZE_MAX;
}

static bool put_in_order(estimates *e, const estimate_reading *r, const size_t *twin,
                         char *const *paths, message *why)
{
    size_t last = e->n - 1;
    for (size_t k = 0; k < e->n * e->m; k++)
        e->estimate[k] = NAN;
    for (size_t i = 0; i < r->n; i++) {
        const size_t at = place_of(e, r->row[i].name, last), k = at * e->m + twin[i];
        if (at == SIZE_MAX || !isnan(e->estimate[k]))
            return complain(why, "%.300s: '%.100s' is %s; each twin has the same names, each once",
                            paths[r->row[i].file], r->row[i].name,
                            at == SIZE_MAX ? "not in the first twin" : "there twice");
        e->estimate[k] = r->row[i].estimate;
        e->variance[k] = r->row[i].variance;
        last = at;
    }
    for (size_t k = 0; k < e->n * e->m; k++)
        if (isnan(e->estimate[k]))
            return complain(why, "'%.100s' is missing in twin %zu; each twin has the same names",
                            e->name[k / e->m], k % e->m + 1);
    return true;
}

static bool arrange(estimates *e, const estimate_reading *r, char *const *paths, message *why)
{
    size_t *twin = calloc(r->n + 1, sizeof *twin);
    bool good = twin != NULL;
    if (good) {
        e->m = number_twins(r, twin);
        good = list_names(e, r, twin);
    }
    if (good && e->m < 2)
        good = complain(why,
                        "the estimates are of %zu twin, which does not tell what is not known; "
                        "give those of several: a file each, or a column twin",
                        e->m);
    else if (good) {
        e->estimate = calloc(e->n * e->m, sizeof *e->estimate);
        e->variance = calloc(e->n * e->m, sizeof *e->variance);
        good = e->estimate != NULL && e->variance != NULL && put_in_order(e, r, twin, paths, why);
    }
    free(twin);
    if (!good && why->text[0] == '\0')
        return complain(why, "out of memory");
    return good;
}

bool estimates_parse(estimates *e, size_t n, char *const *names, char *const *texts, message *why)
{
    estimate_reading r = {.n = 0};
    bool good = true;
    *e = (estimates){.n = 0};
    for (size_t k = 0; k < n && good; k++)
        good = read_rows(&r, names[k], texts[k], why);
    good = good && arrange(e, &r, names, why);
    free(r.row);
    return good;
}

bool estimates_read(estimates *e, size_t n_paths, char *const *paths, message *why)
{
    char **text = calloc(n_paths + 1, sizeof *text);
    bool good = text != NULL || complain(why, "out of memory");
    *e = (estimates){.n = 0};
    for (size_t k = 0; k < n_paths && good; k++)
        if ((text[k] = read_file(paths[k])) == NULL)
            good =
                complain(why, "%.300s cannot be read as a text of at most %d bytes; check the path",
                         paths[k], MOST_BYTES);
    good = good && estimates_parse(e, n_paths, paths, text, why);
    for (size_t k = 0; k < n_paths && text != NULL; k++)
        free(text[k]);
    free(text);
    return good;
}

void estimates_free(estimates *e)
{
    for (size_t k = 0; k < e->n && e->name != NULL; k++)
        free(e->name[k]);
    free(e->name);
    free(e->estimate);
    free(e->variance);
}
