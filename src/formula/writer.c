/* Calls of tacit/model.h, made and written.
 *
 * The C of a value is the expression that makes it; statements are written where a call adds to the
 * model by itself (latents, columns, plates) and where a value is used more than once. */
#include "formula/writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formula/tree.h"

const char *dpi_write_text(dpi_writer *w, const char *format, ...)
{
    va_list args, again;
    if (w->lines == NULL)
        return "";
    va_start(args, format);
    va_copy(again, args);
    const int size = vsnprintf(NULL, 0, format, args);
    char *text = size >= 0 ? dpi_arena_alloc(&w->arena, (size_t)size + 1, 1) : NULL;
    if (text != NULL)
        (void)vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    va_end(args);
    w->failed = w->failed || text == NULL;
    return text != NULL ? text : "";
}

const char *dpi_write_string(dpi_writer *w, const char *text)
{
    dpi_bytes to = {0};
    dpi_text_add(&to, "\"");
    for (const char *c = text; *c != 0; c++) {
        if (*c == '"' || *c == '\\')
            dpi_text_add(&to, "\\");
        dpi_bytes_add(&to, c, 1);
    }
    dpi_text_add(&to, "\"");
    const char *string = dpi_text_take(&to, &w->arena);
    w->failed = w->failed || string == NULL;
    return string != NULL ? string : "\"\"";
}

/* A number of C. */
static const char *digits(dpi_writer *w, double value)
{
    dpi_bytes to = {0};
    dpi_text_number(&to, value);
    const char *text = dpi_text_take(&to, &w->arena);
    w->failed = w->failed || text == NULL;
    return text != NULL ? text : "0";
}

dpi_value dpi_write_number(dpi_writer *w, double value)
{
    return (dpi_value){dp_num(value), dpi_write_text(w, "dp_num(%s)", digits(w, value))};
}

dpi_value dpi_write_call(dpi_writer *w, const char *name, dp_expr (*call)(dp_expr), dpi_value a)
{
    return (dpi_value){call(a.e), dpi_write_text(w, "%s(%s)", name, a.c)};
}

dpi_value dpi_write_call2(dpi_writer *w, const char *name, dp_expr (*call)(dp_expr, dp_expr),
                          dpi_value a, dpi_value b)
{
    return (dpi_value){call(a.e, b.e), dpi_write_text(w, "%s(%s, %s)", name, a.c, b.c)};
}

dpi_value dpi_write_scaled(dpi_writer *w, double factor, dpi_value a)
{
    if (factor == 1)
        return a;
    return (dpi_value){dp_scale(factor, a.e),
                       dpi_write_text(w, "dp_scale(%s, %s)", digits(w, factor), a.c)};
}

dpi_value dpi_write_slice(dpi_writer *w, dpi_value a, size_t from, size_t n)
{
    return (dpi_value){dp_slice(a.e, from, n),
                       dpi_write_text(w, "dp_slice(%s, %zu, %zu)", a.c, from, n)};
}

dpi_value dpi_write_dot(dpi_writer *w, size_t n, dpi_value a, dpi_value b)
{
    return n == 1 ? DPI_WRITE2(w, dp_mul, a, b) : DPI_WRITE2(w, dp_dot, a, b);
}

/* ---- statements ---- */

/* The name of a new variable: the hint with '_' for all but letters and digits, and a number. */
static const char *new_name(dpi_writer *w, const char *hint)
{
    char letters[40];
    size_t n = 0;
    for (const char *c = hint; *c != 0 && n < sizeof letters - 1; c++) {
        const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z'),
                   digit = *c >= '0' && *c <= '9' && n > 0;
        if (letter || digit)
            letters[n++] = *c;
        else if (n > 0 && letters[n - 1] != '_')
            letters[n++] = '_';
    }
    while (n > 0 && letters[n - 1] == '_')
        n--;
    letters[n] = 0;
    return dpi_write_text(w, "%s_%zu", n > 0 ? letters : "v", ++w->names);
}

/* A statement, broken before column 100 where it has a comma outside of strings. */
static void statement(dpi_writer *w, const char *text)
{
    enum { WIDTH = 100, FIRST = 4, NEXT = 8 };
    if (w->lines == NULL)
        return;
    dpi_text_add(w->lines, "    ");
    for (size_t room = WIDTH - FIRST; strlen(text) > room; room = WIDTH - NEXT) {
        size_t cut = 0;
        bool string = false;
        for (size_t i = 0; text[i] != 0 && (i < room || cut == 0); i++) {
            if (text[i] == '"' && (i == 0 || text[i - 1] != '\\'))
                string = !string;
            if (!string && text[i] == ',')
                cut = i + 1;
        }
        if (cut == 0)
            break;
        dpi_bytes_add(w->lines, text, cut);
        dpi_text_add(w->lines, "\n        ");
        text += cut + (text[cut] == ' ' ? 1 : 0);
    }
    dpi_text_add(w->lines, text);
    dpi_text_add(w->lines, "\n");
}

static void assign(dpi_writer *w, const char *type, const char *name, const char *c)
{
    statement(w, dpi_write_text(w, "%s %s = %s;", type, name, c));
}

static dpi_value let(dpi_writer *w, const char *hint, dp_expr e, const char *c)
{
    const char *name = new_name(w, hint);
    assign(w, "dp_expr", name, c);
    return (dpi_value){e, name};
}

dpi_value dpi_write_let(dpi_writer *w, const char *hint, dpi_value a)
{
    if (strchr(a.c, '(') == NULL)
        return a; /* it is a variable */
    return let(w, hint, a.e, a.c);
}

dpi_value dpi_write_constant(dpi_writer *w, size_t n, const double *values)
{
    const dp_expr e = n == 1 ? dp_num(values[0]) : dp_constant(w->model, n, values);
    if (w->lines == NULL)
        return (dpi_value){e, ""};
    if (n == 1)
        return dpi_write_number(w, values[0]);
    const char *name = new_name(w, "numbers");
    dpi_bytes list = {0};
    for (size_t i = 0; i < n; i++) {
        dpi_text_add(&list, i > 0 ? ", " : "");
        dpi_text_number(&list, values[i]);
    }
    const char *numbers = dpi_text_take(&list, &w->arena);
    w->failed = w->failed || numbers == NULL;
    statement(w, dpi_write_text(w, "static const double %s[%zu] = {%s};", name, n,
                                numbers != NULL ? numbers : ""));
    return (dpi_value){e, dpi_write_text(w, "dp_constant(m, %zu, %s)", n, name)};
}

struct dpi_read_column {
    const char *name;
    dpi_value value;
    struct dpi_read_column *next;
};

dpi_value dpi_write_data(dpi_writer *w, const char *name, size_t d)
{
    for (const struct dpi_read_column *c = w->columns; c != NULL; c = c->next)
        if (strcmp(c->name, name) == 0)
            return c->value;
    struct dpi_read_column *c = dpi_arena_alloc(&w->arena, 1, sizeof *c);
    const dpi_value value =
        let(w, "x", dp_data(w->rows, name, d),
            dpi_write_text(w, "dp_data(rows, %s, %zu)", dpi_write_string(w, name), d));
    if (c == NULL) {
        w->failed = true;
        return value;
    }
    *c = (struct dpi_read_column){name, value, w->columns};
    w->columns = c;
    return value;
}

dpi_groups dpi_write_plate(dpi_writer *w, const char *name, size_t size)
{
    const char *variable = new_name(w, "groups");
    assign(w, "dp_plate", variable,
           dpi_write_text(w, "dp_plate_new(m, %s, %zu)", dpi_write_string(w, name), size));
    return (dpi_groups){dp_plate_new(w->model, name, size), variable};
}

dpi_value dpi_write_indices(dpi_writer *w, const char *name, size_t d, dpi_groups groups)
{
    return let(
        w, "g", dp_indices(w->rows, name, d, groups.plate),
        dpi_write_text(w, "dp_indices(rows, %s, %zu, %s)", dpi_write_string(w, name), d, groups.c));
}

/* ---- distributions ---- */

dpi_written_law dpi_write_law(dpi_writer *w, const char *name, dp_dist (*call)(dp_expr),
                              dpi_value a)
{
    return (dpi_written_law){call(a.e), dpi_write_text(w, "%s(%s)", name, a.c)};
}

dpi_written_law dpi_write_law2(dpi_writer *w, const char *name, dp_dist (*call)(dp_expr, dp_expr),
                               dpi_value a, dpi_value b)
{
    return (dpi_written_law){call(a.e, b.e), dpi_write_text(w, "%s(%s, %s)", name, a.c, b.c)};
}

dpi_written_law dpi_write_law3(dpi_writer *w, const char *name,
                               dp_dist (*call)(dp_expr, dp_expr, dp_expr), dpi_value a, dpi_value b,
                               dpi_value c)
{
    return (dpi_written_law){call(a.e, b.e, c.e),
                             dpi_write_text(w, "%s(%s, %s, %s)", name, a.c, b.c, c.c)};
}

dpi_written_law dpi_write_zeros(dpi_writer *w, const char *name, dp_dist (*call)(dp_dist, dp_expr),
                                dpi_written_law law, dpi_value logit)
{
    return (dpi_written_law){call(law.d, logit.e),
                             dpi_write_text(w, "%s(%s, %s)", name, law.c, logit.c)};
}

dpi_written_law dpi_write_censored(dpi_writer *w, dpi_written_law law, dpi_value side)
{
    return (dpi_written_law){dp_censored(law.d, side.e),
                             dpi_write_text(w, "dp_censored(%s, %s)", law.c, side.c)};
}

dpi_written_law dpi_write_weighted(dpi_writer *w, dpi_written_law law, dpi_value weight,
                                   double most)
{
    return (dpi_written_law){
        dp_weighted(law.d, weight.e, most),
        dpi_write_text(w, "dp_weighted(%s, %s, %s)", law.c, weight.c, digits(w, most))};
}

dpi_written_law dpi_write_prior(dpi_writer *w, const dpi_prior *prior)
{
    const dpi_prior_family *f = prior->family;
    const double *a = prior->argument;
    switch (f->n_arguments) {
    case 1:
        return (dpi_written_law){f->one(a[0]),
                                 dpi_write_text(w, "%s(%s)", f->call, digits(w, a[0]))};
    case 2:
        return (dpi_written_law){
            f->two(a[0], a[1]),
            dpi_write_text(w, "%s(%s, %s)", f->call, digits(w, a[0]), digits(w, a[1]))};
    default:
        return (dpi_written_law){f->three(a[0], a[1], a[2]),
                                 dpi_write_text(w, "%s(%s, %s, %s)", f->call, digits(w, a[0]),
                                                digits(w, a[1]), digits(w, a[2]))};
    }
}

dpi_value dpi_write_sample(dpi_writer *w, const dpi_groups *groups, const char *name, size_t n,
                           dpi_written_law law)
{
    const char *string = dpi_write_string(w, name);
    if (groups == NULL)
        return let(w, name, dp_sample(w->model, name, n, law.d),
                   dpi_write_text(w, "dp_sample(m, %s, %zu, %s)", string, n, law.c));
    return let(w, name, dp_sample_in(groups->plate, name, n, law.d),
               dpi_write_text(w, "dp_sample_in(%s, %s, %zu, %s)", groups->c, string, n, law.c));
}

void dpi_write_deterministic(dpi_writer *w, const char *name, dpi_value a)
{
    (void)dp_deterministic(w->model, name, a.e);
    statement(
        w, dpi_write_text(w, "(void)dp_deterministic(m, %s, %s);", dpi_write_string(w, name), a.c));
}

void dpi_write_observe(dpi_writer *w, const char *name, dpi_written_law law)
{
    dp_observe(w->rows, name, law.d);
    statement(w, dpi_write_text(w, "dp_observe(rows, %s, %s);", dpi_write_string(w, name), law.c));
}
