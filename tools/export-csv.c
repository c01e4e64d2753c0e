/* Draws as CmdStan writes them: lines of comment, a header, a line a draw.  Numbers of an array are
 * columns "a.2.1", counted from 1, the first index running fastest.  Since a name may itself end in
 * ".1", lines of comment say which names are arrays, of which extents, and how groups are called.
 *
 * Numbers have 17 digits, from which the same double is read again. */
#include <stdlib.h>
#include <string.h>

#include "tools/export.h"

/* A field: in quotes where it has a sign of CSV, or one that begins a comment for who reads it. */
static void put_field(FILE *out, const char *text, const char *behind)
{
    const bool quoted = strpbrk(text, ",\"#'\n\r") != NULL;
    (void)fputs(quoted ? "\"" : "", out);
    for (; *text != '\0'; text++)
        (void)fprintf(out, "%s%c", *text == '"' ? "\"" : "", *text);
    (void)fprintf(out, "%s%s", behind, quoted ? "\"" : "");
}

static void put_text(FILE *out, const char *name, const char *text)
{
    while (*text != '\0') {
        const size_t n = strcspn(text, "\n");
        (void)fprintf(out, "# %s = %.*s\n", name, (int)n, text);
        text += n + (text[n] == '\n');
    }
}

static void put_levels(FILE *out, const draw_variable *v)
{
    char text[DP_GROUP_ROOM];
    dp_groups_title(&v->by, DP_GROUP_ROOM, text);
    (void)fprintf(out, "# groups = %s\n# levels = ", text);
    for (size_t k = 0; k < v->size; k++) {
        dp_groups_level(&v->by, k, DP_GROUP_ROOM, text);
        (void)fputs(k > 0 ? "," : "", out);
        put_field(out, text, "");
    }
    (void)fputc('\n', out);
}

static void put_notes(FILE *out, const export_all *e)
{
    for (size_t i = 0; i < e->n_notes; i++) {
        const export_note *n = &e->note[i];
        if (n->text != NULL)
            put_text(out, n->name, n->text);
        else
            (void)fprintf(out, "# %s = %.17g\n", n->name, n->number);
    }
    for (size_t i = 0; i < e->posterior.n; i++) {
        const draw_variable *v = &e->posterior.variable[i];
        if (v->n_dims == 0)
            continue;
        (void)fputs("# array = ", out);
        for (size_t k = 0; k < v->n_dims; k++)
            (void)fprintf(out, "%s%zu", k > 0 ? "," : "", v->dim[k]);
        (void)fprintf(out, " %s\n", v->name);
        if (v->by.n_by > 0)
            put_levels(out, v);
    }
}

/* Where column c of a variable lies among its numbers, and its index from 1 as ".2.1", where there
 * is room for it: columns run by the first index, numbers by the last. */
static size_t place(const draw_variable *v, size_t c, size_t room, char *index)
{
    size_t at[MOST_DIMS] = {0}, number = 0, used = 0;
    if (room == 0 && v->n_dims < 2)
        return c;
    for (size_t k = 0; k < v->n_dims; k++) {
        at[k] = c % v->dim[k];
        c /= v->dim[k];
    }
    if (room > 0)
        index[0] = '\0';
    for (size_t k = 0; k < v->n_dims; k++) {
        number = number * v->dim[k] + at[k];
        if (room > 0)
            used += (size_t)snprintf(index + used, room - used, ".%zu", at[k] + 1);
    }
    return number;
}

static void put_header(FILE *out, const draw_set *s)
{
    char index[MOST_DIMS * 24];
    for (size_t i = 0; i < s->n; i++)
        for (size_t c = 0; c < s->variable[i].size; c++) {
            (void)place(&s->variable[i], c, sizeof index, index);
            (void)fputs(i + c > 0 ? "," : "", out);
            put_field(out, s->variable[i].name, index);
        }
    (void)fputc('\n', out);
}

bool export_csv(const export_all *e, FILE *out)
{
    const draw_set *s = &e->posterior;
    put_notes(out, e);
    put_header(out, s);
    for (size_t d = 0; d < s->n_draws && !ferror(out); d++) {
        for (size_t i = 0; i < s->n; i++) {
            const draw_variable *v = &s->variable[i];
            for (size_t c = 0; c < v->size; c++)
                (void)fprintf(out, "%s%.17g", i + c > 0 ? "," : "",
                              v->values[d * v->size + place(v, c, 0, NULL)]);
        }
        (void)fputc('\n', out);
    }
    return fflush(out) == 0 && !ferror(out);
}
