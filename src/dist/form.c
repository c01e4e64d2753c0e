/* The table of forms, and the rows that are made from it. */
#include "dist/form.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const dpi_form *const dpi_forms[DPI_N_FORMS] = {
    [DPI_TRUNCATED] = &dpi_truncated,
    [DPI_TRUNCATED_BELOW] = &dpi_truncated_below,
    [DPI_TRUNCATED_ABOVE] = &dpi_truncated_above,
    [DPI_TRUNCATED_START] = &dpi_truncated_start,
    [DPI_TRUNCATED_END] = &dpi_truncated_end,
    [DPI_CENSORED] = &dpi_censored,
    [DPI_INTERVAL_CENSORED] = &dpi_interval_censored,
    [DPI_WEIGHTED] = &dpi_weighted,
    [DPI_PRESENT] = &dpi_present,
    [DPI_ZERO_INFLATED] = &dpi_zero_inflated,
    [DPI_HURDLE] = &dpi_hurdle,
    [DPI_HURDLE_POSITIVE] = &dpi_hurdle_positive,
    [DPI_MIXTURE_OF] = &dpi_mixture_of_several,
    [DPI_MIXTURE] = &dpi_mixture,
    [DPI_IN_ORDER] = &dpi_ordered,
};

/* A family's arguments behind those that the row has. */
static bool add_arguments(const dpi_family *family, dpi_family *row)
{
    if (row->n_args + family->n_args > DPI_MAX_ARGS)
        return false;
    for (int k = 0; k < family->n_args; k++, row->n_args++) {
        row->arg_name[row->n_args] = family->arg_name[k];
        row->arg_domain[row->n_args] = family->arg_domain[k];
        row->arg_kind[row->n_args] = family->arg_kind[k];
        row->role[row->n_args] = family->role[k];
    }
    return true;
}

/* The form's own arguments, then the base's and those of other components. */
static bool join_arguments(const dpi_form *form, dpi_family *row)
{
    for (; row->n_args < form->n_args; row->n_args++) {
        row->arg_name[row->n_args] = form->arg_name[row->n_args];
        row->arg_domain[row->n_args] = form->arg_domain[row->n_args];
    }
    bool room = add_arguments(row->base, row);
    for (int k = 0; k < DPI_MOST_COMPONENTS - 1 && row->other[k] != NULL; k++)
        room = room && add_arguments(row->other[k], row);
    return room;
}

/* "form(base, other, other)" or "form base" */
static const char *join_name(dpi_arena *arena, const dpi_family *row)
{
    const char *const form = row->form->name;
    const bool in_words = row->form->in_words;
    size_t size = strlen(form) + strlen(row->base->name) + 3;
    for (int k = 0; k < DPI_MOST_COMPONENTS - 1 && row->other[k] != NULL; k++)
        size += strlen(row->other[k]->name) + 2;
    char *name = dpi_arena_alloc(arena, size, 1);
    if (name == NULL)
        return NULL;
    (void)snprintf(name, size, "%s%c%s", form, in_words ? ' ' : '(', row->base->name);
    for (int k = 0; k < DPI_MOST_COMPONENTS - 1 && row->other[k] != NULL; k++)
        (void)strcat(strcat(name, ", "), row->other[k]->name);
    return in_words ? name : strcat(name, ")");
}

/* Why the families are no components of one mixture; NULL where they are. */
static const char *refuses_components(const dpi_family *base, const dpi_family *const other[])
{
    for (int k = 0; k < DPI_MOST_COMPONENTS - 1 && other[k] != NULL; k++) {
        const char *refused = dpi_mixture_of_several.refuses(other[k]);
        if (refused != NULL)
            return refused;
        if (other[k]->support != base->support)
            return "its components are numbers of different kinds; take families of one kind";
    }
    return other[0] == NULL ? "a mixture has at least two components" : NULL;
}

static const dpi_family *make_row(dpi_arena *arena, int code, const dpi_family *base,
                                  const dpi_family *const other[], const char **why)
{
    if (code <= DPI_NO_FORM || code >= DPI_N_FORMS) {
        *why = "there is no such form; use the calls of <tacit/forms.h>";
        return NULL;
    }
    const dpi_form *form = dpi_forms[code];
    *why = form->refuses(base);
    if (*why == NULL && code == DPI_MIXTURE_OF)
        *why = refuses_components(base, other);
    dpi_family *row = *why == NULL ? dpi_arena_alloc(arena, 1, sizeof *row) : NULL;
    if (row == NULL)
        return NULL;
    for (int k = 0; k < DPI_MOST_COMPONENTS - 1 && code == DPI_MIXTURE_OF; k++)
        row->other[k] = other[k];
    row->formula = form->formula;
    row->form = form;
    row->base = base;
    row->support = base->support;
    row->bound_at = base->bound_at + form->n_args;
    row->vector_arg = base->vector_arg;
    row->takes = base->takes;
    row->name = join_name(arena, row);
    if (!join_arguments(form, row)) {
        *why = "it has too many arguments; take fewer forms";
        return NULL;
    }
    if (form->fill != NULL)
        form->fill(base, row);
    return row->name != NULL ? row : NULL;
}

const dpi_family *dpi_dist_family(dpi_arena *arena, const dp_dist *dist, dpi_no_form *wrong)
{
    const dpi_family *family = dist->family;
    for (int k = 0; family != NULL && k < DPI_MOST_FORMS && dist->form[k] != 0; k++) {
        const int code = dist->form[k];
        const dpi_form *form = code < DPI_N_FORMS ? dpi_forms[code] : NULL;
        const bool in_words = form != NULL && form->in_words;
        (void)snprintf(wrong->form, sizeof wrong->form, in_words ? "%s %s" : "%s(%s)",
                       form != NULL ? form->name : "form", family->name);
        family = make_row(arena, code, family, dist->other, &wrong->why);
    }
    return family;
}

dp_dist dpi_dist_of(const dpi_family *family)
{
    dp_dist dist = {.family = family};
    int n = 0;
    for (; dist.family->form != NULL; dist.family = dist.family->base)
        n++;
    for (; family->form != NULL; family = family->base) {
        dist.form[--n] = (unsigned char)family->form->code;
        for (int k = 0; k < DPI_MOST_COMPONENTS - 1 && family->other[0] != NULL; k++)
            dist.other[k] = family->other[k];
    }
    return dist;
}

/* The form that *name starts with, which becomes the name of its base; or DPI_NO_FORM. */
static int take_form(char **name)
{
    const size_t last = strlen(*name) - (**name != '\0');
    for (int code = 1; code < DPI_N_FORMS; code++) {
        const dpi_form *form = dpi_forms[code];
        const size_t n = strlen(form->name);
        if (strncmp(*name, form->name, n) != 0 || (*name)[n] != (form->in_words ? ' ' : '('))
            continue;
        if (!form->in_words && (*name)[last] != ')')
            return DPI_NO_FORM;
        if (!form->in_words)
            (*name)[last] = '\0';
        *name += n + 1;
        return code;
    }
    return DPI_NO_FORM;
}

/* The families of "name, name" in *dist; false when one is none. */
static bool find_families(char *names, bool several, dp_dist *dist)
{
    char *next = several ? strstr(names, ", ") : NULL;
    for (int k = 0; k < DPI_MOST_COMPONENTS; k++) {
        if (next != NULL)
            *next = '\0';
        const dpi_family *family = dpi_family_named(names);
        *(k == 0 ? &dist->family : &dist->other[k - 1]) = family;
        if (family == NULL || next == NULL)
            return family != NULL;
        names = next + 2;
        next = strstr(names, ", ");
    }
    return false;
}

bool dpi_form_named(const char *name, dp_dist *dist)
{
    enum { MOST = 160 };
    int code[DPI_MOST_FORMS + 1] = {DPI_NO_FORM}, n = 0;
    char text[MOST], *rest = text;
    *dist = (dp_dist){0};
    if (strlen(name) >= MOST)
        return false;
    (void)strcpy(text, name);
    while (n <= DPI_MOST_FORMS && (code[n] = take_form(&rest)) != DPI_NO_FORM)
        n++;
    if (n > DPI_MOST_FORMS)
        return false;
    for (int k = 0; k < n; k++)
        dist->form[k] = (unsigned char)code[n - 1 - k];
    return find_families(rest, dist->form[0] == DPI_MIXTURE_OF, dist);
}

bool dpi_is_transparent(const dpi_form *form)
{
    return form->draw == NULL && form->draw_value == NULL && form->draw_joint == NULL;
}

bool dpi_mixes(const dpi_family *family)
{
    const dpi_support_kind of = family->support;
    const bool fixed = of == DPI_REAL || of == DPI_ABOVE_ZERO || of == DPI_UNIT ||
                       of == DPI_CIRCLE || of == DPI_COUNT || of == DPI_BINARY;
    const bool drawn = family->form != NULL ? family->form->draw != NULL : family->draw != NULL;
    return fixed && drawn && !family->vector_arg;
}

dpi_id dpi_base_mean(const dpi_family *row, dpi_graph *g, const dpi_id arg[], const char **why)
{
    return dpi_mean(g, row->base, arg + row->form->n_args, why);
}

typedef dpi_id function_of(const dpi_family *base, dpi_graph *g, dpi_id x, const dpi_id arg[]);

static double value_at(function_of *f, const dpi_family *base, double x, const double *const arg[])
{
    dpi_arena arena = {0};
    dp_error err = {0};
    dpi_graph g;
    dpi_graph_init(&g, &arena, &err);
    dpi_id node[DPI_MAX_ARGS];
    for (int k = 0; k < base->n_args; k++)
        node[k] = dpi_constant(&g, *arg[k]);
    dpi_id value = f(base, &g, dpi_constant(&g, x), node);
    bool number = value != DPI_NONE && dpi_is_number(dpi_get(&g, value));
    double result = number ? dpi_get(&g, value)->attr.value : (double)NAN;
    dpi_arena_free(&arena);
    return result;
}

double dpi_log_density_at(const dpi_family *base, double x, const double *const arg[])
{
    return value_at(dpi_family_log_density, base, x, arg);
}

double dpi_log_cdf_at(const dpi_family *base, double x, const double *const arg[])
{
    return value_at(dpi_family_log_cdf, base, x, arg);
}

double dpi_log_survival_at(const dpi_family *base, double x, const double *const arg[])
{
    return value_at(dpi_family_log_survival, base, x, arg);
}

dpi_id dpi_log_sum(dpi_graph *g, dpi_id a, dpi_id b)
{
    dpi_id by_a = dpi_add(g, a, dpi_unary(g, &dpi_op_softplus, dpi_sub(g, b, a)));
    dpi_id by_b = dpi_add(g, b, dpi_unary(g, &dpi_op_softplus, dpi_sub(g, a, b)));
    return dpi_choose(g, dpi_apply(g, &dpi_op_step, a, b, NULL), by_a, by_b);
}
