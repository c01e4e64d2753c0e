/* The public constructors of forms: one more code, and its arguments before the base's. */
#include <tacit/forms.h>

#include <math.h>
#include <string.h>

#include "dist/form.h"

static const dpi_family too_deep = {
    .name = "form",
    .refused = "a distribution has at most four forms around its family; take fewer",
};

static const dpi_family too_long = {
    .name = "form",
    .refused = "a distribution has at most twelve arguments, those of its forms included; take a "
               "family of fewer, or fewer forms",
};

/* How many arguments a distribution has. */
static int count_arguments(const dp_dist *dist)
{
    int n = dist->family->n_args;
    for (int k = 0; k < DPI_MOST_FORMS && dist->form[k] != DPI_NO_FORM; k++)
        n += dpi_forms[dist->form[k]]->n_args;
    for (int k = 0; k < DPI_MOST_COMPONENTS - 1 && dist->other[k] != NULL; k++)
        n += dist->other[k]->n_args;
    return n;
}

static dp_dist put_form(dpi_form_code code, dp_dist base, const dp_expr own[])
{
    const int more = dpi_forms[code]->n_args;
    int depth = 0;
    if (base.family == NULL || base.family->refused != NULL)
        return base;
    while (depth < DPI_MOST_FORMS && base.form[depth] != DPI_NO_FORM)
        depth++;
    if (depth == DPI_MOST_FORMS)
        return (dp_dist){.family = &too_deep};
    const int n = count_arguments(&base);
    if (n + more > DPI_MAX_ARGS)
        return (dp_dist){.family = &too_long};
    (void)memmove(base.arg + more, base.arg, (size_t)n * sizeof *own);
    for (int k = 0; k < more; k++)
        base.arg[k] = own[k];
    base.form[depth] = (unsigned char)code;
    return base;
}

/* Where the base's support starts and ends, whatever its arguments; that of a Pareto distribution
 * starts at an argument that is a number. */
static void ends_of(const dp_dist *base, double *start, double *end)
{
    const dpi_support_kind support = base->family != NULL ? base->family->support : DPI_REAL;
    const bool counts = support == DPI_COUNT || support == DPI_COUNT_TO;
    *start = support == DPI_ABOVE_ZERO || support == DPI_UNIT ? 0
             : support == DPI_FROM                            ? base->arg[0].value
             : counts                                         ? -1
                                                              : -INFINITY;
    *end = support == DPI_UNIT ? 1 : INFINITY;
}

dp_dist dp_truncated(dp_dist base, double low, double high)
{
    const bool counts = base.family != NULL && dpi_supports[base.family->support].discrete;
    double start, end;
    ends_of(&base, &start, &end);
    /* A bound that is not a number, or on the wrong side, is kept for the site to refuse. */
    const bool below = !(low <= start), above = !(high >= end);
    low = counts ? floor(low) : low;
    high = counts ? floor(high) : high;
    const dp_expr bounds[] = {dp_num(below ? low : start), dp_num(above ? high : end)};
    if (!below && !above)
        return base;
    if (below && above)
        return put_form(DPI_TRUNCATED, base, bounds);
    if (below)
        return put_form(isfinite(end) ? DPI_TRUNCATED_START : DPI_TRUNCATED_BELOW, base, bounds);
    return isfinite(start) ? put_form(DPI_TRUNCATED_END, base, bounds)
                           : put_form(DPI_TRUNCATED_ABOVE, base, bounds + 1);
}

dp_dist dp_censored(dp_dist base, dp_expr censoring)
{
    return put_form(DPI_CENSORED, base, &censoring);
}

dp_dist dp_interval_censored(dp_dist base, dp_expr censoring, dp_expr upper)
{
    return put_form(DPI_INTERVAL_CENSORED, base, (const dp_expr[]){censoring, upper});
}

dp_dist dp_zero_inflated(dp_dist base, dp_expr logit)
{
    return put_form(DPI_ZERO_INFLATED, base, &logit);
}

dp_dist dp_hurdle(dp_dist base, dp_expr logit)
{
    const bool counts = base.family != NULL && dpi_supports[base.family->support].discrete;
    return put_form(counts ? DPI_HURDLE : DPI_HURDLE_POSITIVE, base, &logit);
}

dp_dist dp_weighted(dp_dist base, dp_expr weight, double bound)
{
    return put_form(DPI_WEIGHTED, base, (const dp_expr[]){weight, dp_num(bound)});
}

dp_dist dp_present(dp_dist base, dp_expr present)
{
    return put_form(DPI_PRESENT, base, &present);
}

dp_dist dp_mixture(dp_expr weights, dp_dist component)
{
    return put_form(DPI_MIXTURE, component, &weights);
}

dp_dist dp_ordered(dp_dist each)
{
    return put_form(DPI_IN_ORDER, each, NULL);
}

static const dpi_family no_mixture = {
    .name = "mixture",
    .refused = "dp_mixture_of takes two to four families, none of them with a form around it, of "
               "at most eleven arguments together; for components of one family take dp_mixture",
};

dp_dist dp_mixture_of(dp_expr weights, size_t n, const dp_dist components[])
{
    dp_dist all = {.arg = {weights}, .form = {DPI_MIXTURE_OF}};
    int n_args = 1;
    bool good = n >= 2 && n <= DPI_MOST_COMPONENTS;
    for (size_t k = 0; k < n && good; k++) {
        const dpi_family *family = components[k].family;
        good = family != NULL && family->refused == NULL && components[k].form[0] == DPI_NO_FORM &&
               n_args + family->n_args <= DPI_MAX_ARGS;
        *(k == 0 ? &all.family : &all.other[k - 1]) = family;
        for (int a = 0; good && a < family->n_args; a++)
            all.arg[n_args++] = components[k].arg[a];
    }
    return good ? all : (dp_dist){.family = &no_mixture};
}
