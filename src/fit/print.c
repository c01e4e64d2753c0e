/* A fit for people: a table of its latents and of what is computed from them, what was spent, what
 * was checked.
 *
 * Everything here is already in the fit and is had by other calls too; only its form is made here.
 * A mean is known to a few hundredths of its standard deviation, so that digits beyond the second
 * one of that would say nothing. */
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <tacit/groups.h>

#include "fit/draws.h"

enum {
    LISTED = 12,       /* most numbers of a latent that all have lines */
    SUMMARISED = 2000, /* most that are looked at: they take 64 MB */
    LEAST_WIDTH = 12,
    MOST_WIDTH = 28, /* of names; longer ones stand out */
    NUMBER = 32      /* room for one in words */
};

typedef struct page {
    const dp_fit *fit;
    FILE *to;
    dpi_arena arena;
    dp_schema *schema; /* by which groups have names; NULL: there is none */
    int width;         /* of names */
    bool good;         /* all was written */
} page;

static void say(page *p, const char *format, ...) DPI_PRINTF(2, 3);

static void say(page *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    p->good = vfprintf(p->to, format, args) >= 0 && p->good;
    va_end(args);
}

/* ---- numbers ---- */

/* "-0.00" is 0.00; with a point in every locale. */
static void tidy(char *text)
{
    char *comma = strchr(text, ',');
    if (comma != NULL)
        *comma = '.';
    if (text[0] == '-' && strspn(text + 1, "0.") == strlen(text + 1))
        memmove(text, text + 1, strlen(text));
}

/* x to the second digit of its standard deviation, of which .0995 has become .10. */
static void say_number(double x, double sd, char text[NUMBER])
{
    const bool sized = sd >= 1e-6 && sd < 1e6 && fabs(x) < 1e12;
    const int places = sized ? 1 - (int)floor(log10(1.005 * sd)) : 0;
    if (sized)
        (void)snprintf(text, NUMBER, "%.*f", places > 0 ? places : 0, x);
    else
        (void)snprintf(text, NUMBER, "%.4g", x);
    tidy(text);
}

static void put_numbers(page *p, const char *name, size_t n, const double *x, double sd)
{
    char text[NUMBER];
    say(p, "%-*s", p->width, name);
    for (size_t k = 0; k < n; k++) {
        say_number(x[k], sd, text);
        say(p, " %10s", text);
    }
}

static void put_row(page *p, const char *name, const dp_summary *s)
{
    const double row[] = {s->mean, s->sd, s->q05, s->q50, s->q95};
    put_numbers(p, name, 5, row, s->sd);
    say(p, "\n");
}

/* ---- quantities ---- */

static const dpi_shape *shape_of(const dp_fit *fit, const char *name)
{
    return &dpi_get(&fit->model->graph, dpi_fit_find(fit, name))->shape;
}

/* The numbers that have lines: all of a few, else those with the least, the middle and the greatest
 * mean. */
static size_t choose(size_t n, const double *means, size_t *order)
{
    if (n <= LISTED) {
        for (size_t e = 0; e < n; e++)
            order[e] = e;
        return n;
    }
    gsl_sort_index(order, means, 1, n);
    order[1] = order[n / 2];
    order[2] = order[n - 1];
    return 3;
}

/* "r_district__Intercept[35]": a group by its name and not by its place, where it has one. */
static void name_number(const page *p, const dp_fit_quantity *q, const dp_groups *by, size_t e,
                        size_t room, char *text)
{
    char level[DP_GROUP_ROOM];
    if (by->n_by == 0) {
        dpi_number_name(q->name, shape_of(p->fit, q->name), e, room, text);
        return;
    }
    dp_groups_level(by, e, sizeof level, level);
    (void)snprintf(text, room, "%s[%s]", q->name, level);
}

static dp_status put_summaries(page *p, const dp_fit_quantity *q, dp_error *err)
{
    const dp_groups by = dp_groups_of(p->schema, q->name, q->size);
    size_t n = q->size, room = dpi_number_name_room(q->name) + DP_GROUP_ROOM + 2;
    dp_summary *all = dpi_arena_alloc(&p->arena, n, sizeof *all);
    double *means = dpi_arena_alloc(&p->arena, n, sizeof *means);
    size_t *order = dpi_arena_alloc(&p->arena, n, sizeof *order);
    char *name = dpi_arena_alloc(&p->arena, room, 1);
    if (all == NULL || means == NULL || order == NULL || name == NULL)
        return dpi_fail_nomem(err);
    dp_status status = dp_fit_summary(p->fit, q->name, n, all, err);
    if (status != DP_OK)
        return status;
    for (size_t e = 0; e < n; e++)
        means[e] = all[e].mean;
    size_t shown = choose(n, means, order);
    if (shown < n)
        say(p, "%-*s %zu numbers, those with the least, middle and greatest mean:\n", p->width,
            q->name, n);
    for (size_t k = 0; k < shown; k++) {
        size_t indent = shown < n ? 2 : 0;
        memcpy(name, "  ", indent);
        name_number(p, q, &by, order[k], room - indent, name + indent);
        put_row(p, name, &all[order[k]]);
    }
    return DP_OK;
}

static dp_status put_parameter(page *p, const dp_fit_quantity *q, dp_error *err)
{
    size_t n = q->size, room = dpi_number_name_room(q->name);
    double *values = dpi_arena_alloc(&p->arena, n, sizeof *values);
    char *name = dpi_arena_alloc(&p->arena, room, 1);
    if (values == NULL || name == NULL)
        return dpi_fail_nomem(err);
    dp_status status = dp_fit_parameter(p->fit, q->name, n, values, err);
    for (size_t e = 0; e < n && status == DP_OK; e++) {
        dpi_number_name(q->name, shape_of(p->fit, q->name), e, room, name);
        put_numbers(p, name, 1, &values[e], 0);
        say(p, " a parameter: a point, without a posterior\n");
    }
    return status;
}

/* A formula's latent of unit size, which people know by what is computed from it. */
static bool is_hidden(const page *p, const dp_fit_quantity *q)
{
    return p->fit->parts.source != NULL && strncmp(q->name, "scaled.", strlen("scaled.")) == 0;
}

static dp_status put_quantity(page *p, const dp_fit_quantity *q, dp_error *err)
{
    bool latent = q->role == DP_FIT_LATENT;
    const char *instead = NULL;
    if ((!latent && q->role != DP_FIT_PARAMETER) || is_hidden(p, q))
        return DP_OK;
    if (q->per_record)
        instead = "one for each record: dp_fit_evaluate has them";
    else if (q->size > (latent ? SUMMARISED : LISTED))
        instead = latent ? "more numbers than are listed: dp_fit_summary has them"
                         : "more numbers than are listed: dp_fit_parameter has them";
    if (instead == NULL)
        return latent ? put_summaries(p, q, err) : put_parameter(p, q, err);
    say(p, "%-*s %s\n", p->width, q->name, instead);
    return DP_OK;
}

static bool is_computed(const dp_fit_quantity *q)
{
    return q->role == DP_FIT_DETERMINISTIC && !q->per_record;
}

/* Numbers of all global latents, which a computed value needs the draws of. */
static size_t count_latents(const dp_fit_quantity *q, size_t n)
{
    size_t sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += q[k].role == DP_FIT_LATENT && !q[k].per_record ? q[k].size : 0;
    return sum;
}

/* Those of the model's values that follow from its global latents. */
static dp_status put_computed(page *p, const dp_fit_quantity *q, size_t n, dp_error *err)
{
    bool many = p->fit->kept == NULL && count_latents(q, n) > SUMMARISED,
         first = p->fit->parts.source == NULL;
    dp_status status = DP_OK;
    for (size_t k = 0; k < n && status == DP_OK; k++) {
        if (!is_computed(&q[k]))
            continue;
        say(p, "%s", first ? "computed from these:\n" : "");
        first = false;
        if (many || q[k].size > SUMMARISED)
            say(p, "%-*s many numbers, or of many latents: dp_fit_summary has them\n", p->width,
                q[k].name);
        else
            status = put_summaries(p, &q[k], err);
    }
    return status;
}

static dp_status put_table(page *p, dp_error *err)
{
    size_t n;
    const dp_fit_quantity *q = dp_fit_quantities(p->fit, &n);
    p->width = LEAST_WIDTH;
    for (size_t k = 0; k < n; k++) {
        size_t width = strlen(q[k].name) + 6;
        if ((q[k].role == DP_FIT_LATENT || is_computed(&q[k])) && width > (size_t)p->width)
            p->width = width < MOST_WIDTH ? (int)width : MOST_WIDTH;
    }
    say(p, "%-*s %10s %10s %10s %10s %10s\n", p->width, "", "mean", "sd", "5 %", "50 %", "95 %");
    const bool computed_first = p->fit->parts.source != NULL;
    dp_status status = computed_first ? put_computed(p, q, n, err) : DP_OK;
    for (size_t k = 0; k < n && status == DP_OK; k++)
        status = put_quantity(p, &q[k], err);
    return status == DP_OK && !computed_first ? put_computed(p, q, n, err) : status;
}

/* ---- what was spent ---- */

static void put_intervals(page *p)
{
    bool noisy = p->fit->privacy.sigma > 0, mean_field = p->fit->guide == NULL;
    say(p, "\n");
    if (p->fit->kept != NULL)
        say(p, "%s", noisy ? "Intervals include the noise of privacy.\n" : "");
    else if (noisy || mean_field)
        say(p, "Intervals are of a guide: they leave out %s%s%s, and are too narrow.\n",
            mean_field ? "correlations" : "", noisy && mean_field ? " and " : "",
            noisy ? "the noise of privacy" : "");
}

static void put_phases(page *p)
{
    size_t n;
    const dp_fit_phase *phases = dp_fit_phases(p->fit, &n);
    for (size_t k = 0; k < n; k++)
        say(p, "%s%s %llu", k == 0 ? "releases: " : ", ", phases[k].name,
            (unsigned long long)phases[k].releases);
    if (n > 0)
        say(p, "\n");
}

static void put_spending(page *p)
{
    dp_privacy s;
    dp_fit_privacy(p->fit, &s);
    if (!s.is_private)
        say(p, "NOT PRIVATE: %s\n", s.why_not != NULL ? s.why_not : "");
    if (isfinite(s.epsilon))
        say(p, "%s: epsilon %.6g at delta %.6g (%s)\n",
            s.is_private ? "spent" : "an unseeded fit would have spent", s.epsilon, s.delta,
            s.adjacency);
    if (isfinite(s.epsilon) && p->fit->parts.n_phases == 0)
        say(p, "releases: %llu steps, noise %.4g x clip %.4g\n", (unsigned long long)s.steps,
            s.sigma, s.clip);
    if (s.warning != NULL)
        say(p, "warning: %s\n", s.warning);
    put_phases(p);
}

static void put_diagnostics(page *p, bool bad)
{
    size_t n;
    const dp_diagnostic *d = dp_fit_diagnostics(p->fit, &n);
    for (size_t k = 0; k < n; k++)
        if (d[k].bad == bad)
            say(p, "%s %s: %s\n", bad ? "BAD " : "good", d[k].name, d[k].words);
}

dp_status dp_fit_print(const dp_fit *fit, FILE *to, dp_error *err)
{
    page p = {.fit = fit, .to = to, .good = true};
    if (fit == NULL || to == NULL)
        dpi_misuse(__func__, "NULL fit or file");
    p.schema = dp_groups_schema(fit);
    dp_status status = put_table(&p, err);
    dp_schema_free(p.schema);
    dpi_arena_free(&p.arena);
    if (status != DP_OK)
        return status;
    put_intervals(&p);
    put_spending(&p);
    put_diagnostics(&p, true);
    put_diagnostics(&p, false);
    p.good = fflush(to) == 0 && p.good;
    return p.good ? DP_OK : dpi_fail(err, DP_EIO, "the fit could not be written to the end");
}
