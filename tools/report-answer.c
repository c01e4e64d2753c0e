/* What was found: coefficients, scales, effects of groups; in pictures and as numbers.
 *
 * Coefficients are of different units, and their picture would show the one of the largest.  So in
 * the picture each is of the scaled predictor (dp_formula_numbers), that is, times what a step of
 * it is worth. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/groups.h>

#include "tools/report.h"

enum { FEW = 12, ROWS = 31, MOST_ROWS = 13 * ROWS };

/* A number of the answer. */
typedef struct found {
    char name[DP_GROUP_ROOM];
    dp_summary s;
    double unit; /* what is shown in a picture is this times s */
} found;

/* ---- which quantities ---- */

static bool is_told(const dp_fit_quantity *q)
{
    return !q->per_record && strncmp(q->name, "scaled.", 7) != 0 &&
           (q->role == DP_FIT_LATENT || q->role == DP_FIT_DETERMINISTIC);
}

static bool is_of_groups(const dp_fit_quantity *q)
{
    return is_told(q) && q->size > 1 && strncmp(q->name, "r_", 2) == 0;
}

/* Summaries of a quantity, freed by the caller; NULL where there are none, and then it is said. */
static dp_summary *summaries(report_page *r, const dp_fit_quantity *q)
{
    dp_summary *all = q->size <= REPORT_NUMBERS ? malloc(q->size * sizeof *all) : NULL;
    if (all != NULL && dp_fit_summary(r->fit, q->name, q->size, all, &r->m.err) == DP_OK)
        return all;
    free(all);
    report_put(r, "<p><code>");
    report_say(r, q->name);
    report_put(r, "</code>: %zu numbers, which are too many to be told here.</p>\n", q->size);
    return NULL;
}

static double unit_of(const report_page *r, const char *name)
{
    size_t n = 0;
    const dp_formula_number *number =
        r->m.formula != NULL ? dp_formula_numbers(r->m.formula, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        if (strcmp(number[i].name, name) == 0 && number[i].unit > 0 && isfinite(number[i].unit))
            return 1 / number[i].unit;
    return 1;
}

/* The numbers of a small quantity are added to list[n]; gives their new count. */
static size_t add_found(report_page *r, const dp_fit_quantity *q, found *list, size_t n)
{
    dp_summary *all = summaries(r, q);
    for (size_t k = 0; k < q->size && all != NULL; k++, n++) {
        list[n] = (found){.s = all[k], .unit = unit_of(r, q->name)};
        (void)snprintf(list[n].name, sizeof list[n].name, q->size > 1 ? "%s[%zu]" : "%s", q->name,
                       k);
    }
    free(all);
    return n;
}

/* Numbers of small quantities, what is computed first, as dp_fit_print has them; freed by the
 * caller. */
static found *find_small(report_page *r, size_t *n_found)
{
    size_t n, room = 1;
    const dp_fit_quantity *q = dp_fit_quantities(r->fit, &n);
    for (size_t i = 0; i < n; i++)
        room += is_told(&q[i]) && q[i].size <= FEW ? q[i].size : 0;
    found *list = malloc(room * sizeof *list);
    *n_found = 0;
    for (int latent = 0; latent < 2 && list != NULL; latent++)
        for (size_t i = 0; i < n; i++)
            if (is_told(&q[i]) && q[i].size <= FEW && !is_of_groups(&q[i]) &&
                (q[i].role == DP_FIT_LATENT) == (latent == 1))
                *n_found = add_found(r, &q[i], list, *n_found);
    return list;
}

/* ---- tables ---- */

/* What a step of a coefficient multiplies, "odds", by the link; NULL where it adds. */
static const char *multiplied(const report_page *r)
{
    const char *family = r->m.formula != NULL ? dp_formula_family(r->m.formula) : "";
    const char *link = strchr(family, '(');
    if (link == NULL)
        return NULL;
    if (strncmp(family, "cumulative", 10) == 0 || strncmp(family, "categorical", 11) == 0)
        return NULL;
    return strcmp(link, "(logit)") == 0 ? "odds" : strcmp(link, "(log)") == 0 ? "mean" : NULL;
}

static void put_number(report_page *r, const char *attribute, double value, double sd)
{
    char room[32];
    report_put(r, "<td%s>%s</td>", attribute, report_number(value, sd, room));
}

static bool is_coefficient(const found *f)
{
    static const char end[] = "Intercept";
    const size_t n = strlen(f->name), m = sizeof end - 1;
    return strncmp(f->name, "b_", 2) == 0 && !(n >= m && strcmp(f->name + n - m, end) == 0);
}

/* On a narrow screen there is no room for medians, which are near the means. */
static void put_table(report_page *r, const found *list, size_t n)
{
    report_put(r, "<div class=\"table\"><table>\n<thead><tr><th></th><th>mean</th><th>sd</th>"
                  "<th>5&nbsp;%%</th><th class=\"wide\">50&nbsp;%%</th><th>95&nbsp;%%</th></tr>"
                  "</thead>\n<tbody>\n");
    for (size_t i = 0; i < n; i++) {
        const dp_summary *s = &list[i].s;
        report_put(r, "<tr><td>");
        report_say(r, list[i].name);
        report_put(r, "</td>");
        put_number(r, "", s->mean, s->sd);
        put_number(r, "", s->sd, s->sd);
        put_number(r, "", s->q05, s->sd);
        put_number(r, " class=\"wide\"", s->q50, s->sd);
        put_number(r, "", s->q95, s->sd);
        report_put(r, "</tr>\n");
    }
    report_put(r, "</tbody></table></div>\n");
}

/* What a step of each predictor multiplies, where the link makes it so. */
static void put_factors(report_page *r, const found *list, size_t n)
{
    const char *times = multiplied(r);
    size_t shown = 0;
    for (size_t i = 0; i < n && times != NULL; i++) {
        if (!is_coefficient(&list[i]))
            continue;
        if (shown++ == 0)
            report_put(r,
                       "<p>A step of 1 in a predictor multiplies the %s by:</p>\n"
                       "<div class=\"table\"><table>\n<thead><tr><th></th><th>50&nbsp;%%</th>"
                       "<th>5&nbsp;%%</th><th>95&nbsp;%%</th></tr></thead>\n<tbody>\n",
                       times);
        report_put(r, "<tr><td>");
        report_say(r, list[i].name + 2);
        report_put(r, "</td><td>%#.3g</td><td>%#.3g</td><td>%#.3g</td></tr>\n", exp(list[i].s.q50),
                   exp(list[i].s.q05), exp(list[i].s.q95));
    }
    if (shown > 0)
        report_put(r, "</tbody></table></div>\n");
}

/* ---- pictures ---- */

/* What an effect adds to. */
static const char *effect_name(const report_page *r)
{
    const char *times = multiplied(r);
    return times == NULL                ? "effect"
           : strcmp(times, "odds") == 0 ? "effect on log odds"
                                        : "effect on log mean";
}

/* Up to MOST_ROWS rows of a picture, all of list[n]. */
static void draw_rows(report_page *r, const char *name, const found *list, size_t n,
                      const picture *form, const char *caption)
{
    double middle[MOST_ROWS], low[MOST_ROWS], high[MOST_ROWS];
    const char *names[MOST_ROWS];
    for (size_t i = 0; i < n; i++) {
        middle[i] = list[i].s.q50 * list[i].unit;
        low[i] = list[i].s.q05 * list[i].unit;
        high[i] = list[i].s.q95 * list[i].unit;
        names[i] = list[i].name;
    }
    const picture_series s = {
        .style = PICTURE_POINT, .n = n, .value = middle, .low = low, .high = high};
    picture p = *form;
    p.names = names;
    p.n_names = n;
    p.series = &s;
    p.n = 1;
    if (n > 0)
        report_picture(r, name, &p, caption);
}

/* "b_age" becomes "age x 10", with a sign for x. */
static void name_row(found *f)
{
    const size_t n = strlen(f->name + 2);
    memmove(f->name, f->name + 2, n + 1);
    if (fabs(f->unit - 1) > 1e-9)
        (void)snprintf(f->name + n, sizeof f->name - n, " \xc3\x97 %.3g", f->unit);
}

/* Coefficients, or all there is where nothing is called one. */
static void draw_coefficients(report_page *r, found *list, size_t n)
{
    size_t chosen = 0;
    bool named = false;
    for (size_t i = 0; i < n; i++)
        named = named || is_coefficient(&list[i]);
    for (size_t i = 0; i < n && chosen < ROWS; i++) {
        if (named && !is_coefficient(&list[i]))
            continue;
        list[chosen] = list[i];
        if (named)
            name_row(&list[chosen]);
        chosen++;
    }
    const picture form = {.title = "Coefficients", .value = {.label = effect_name(r)}, .rule = 0};
    report_put(r, "<div class=\"pictures\">\n");
    draw_rows(r, "coefficients", list, chosen, &form,
              "Medians and 90\xc2\xa0% intervals. Where a name is followed by a number, the "
              "coefficient is shown times that number, so that all are of like size.");
    report_put(r, "</div>\n");
}

static void put_intervals(report_page *r)
{
    const bool noisy = r->privacy.sigma > 0;
    if (dp_fit_kept(r->fit) == 0)
        report_put(r,
                   "<b>These intervals are of an approximation (a guide)%s, and are too "
                   "narrow.</b>",
                   noisy ? " that leaves out the noise of privacy" : "");
    else if (noisy)
        report_put(r, "Intervals include the noise of privacy: nothing is to be added to them. Of "
                      "many such analyses nine in ten have the truth between 5&nbsp;%% and "
                      "95&nbsp;%%, if model and prior hold.");
}

void report_coefficients(report_page *r)
{
    size_t n;
    found *list = find_small(r, &n);
    report_section(r, "answer", "The answer");
    if (list == NULL) {
        report_fail(r, "out of memory");
        return;
    }
    report_put(r, "<p>Means, standard deviations and quantiles of what may be believed after "
                  "seeing what was released. ");
    put_intervals(r);
    if (dp_fit_size(r->fit, "b_Intercept") > 0)
        report_put(r, " <code>Intercept</code> is where centred predictors are 0, "
                      "<code>b_Intercept</code> where the columns themselves are.");
    report_put(r, "</p>\n");
    if (n > 0)
        put_table(r, list, n);
    else
        report_put(r, "<p>There is no number that all records share.</p>\n");
    put_factors(r, list, n);
    if (n > 0)
        draw_coefficients(r, list, n);
    free(list);
}

/* ---- groups ---- */

static int by_mean(const void *a, const void *b)
{
    const double x = ((const found *)a)->s.mean, y = ((const found *)b)->s.mean;
    return (x < y) - (x > y);
}

/* The numbers of a quantity with the names of their groups, freed by the caller. */
static found *find_groups(report_page *r, const dp_schema *schema, const dp_fit_quantity *q)
{
    dp_summary *all = summaries(r, q);
    found *list = all != NULL ? malloc(q->size * sizeof *list) : NULL;
    const dp_groups by = dp_groups_of(schema, q->name, q->size);
    for (size_t k = 0; k < q->size && list != NULL; k++) {
        list[k] = (found){.s = all[k], .unit = 1};
        if (by.n_by > 0)
            dp_groups_level(&by, k, DP_GROUP_ROOM, list[k].name);
        else
            (void)snprintf(list[k].name, sizeof list[k].name, "%zu", k + 1);
    }
    free(all);
    return list;
}

/* In one picture or two, so that a row is not thinner than its name; of very many groups both
 * ends. */
static void draw_groups(report_page *r, size_t number, const dp_fit_quantity *q, found *list)
{
    char name[48];
    size_t n = q->size < 2 * ROWS ? q->size : 2 * ROWS, first = n <= ROWS ? n : (n + 1) / 2;
    double low = HUGE_VAL, high = -HUGE_VAL;
    qsort(list, q->size, sizeof *list, by_mean);
    for (size_t i = 0; i < q->size; i++) {
        low = fmin(low, list[i].s.q05);
        high = fmax(high, list[i].s.q95);
    }
    const double room = .04 * (high - low);
    const picture form = {.title = q->name,
                          .value = {.label = effect_name(r), .from = low - room, .to = high + room},
                          .rule = 0};
    report_put(r, "<div class=\"pictures\">\n");
    (void)snprintf(name, sizeof name, "groups-%zu", number);
    draw_rows(r, name, list, first, &form,
              "From the largest effect downwards: medians and 90\xc2\xa0% intervals.");
    (void)snprintf(name, sizeof name, "groups-%zu-continued", number);
    draw_rows(r, name, list + q->size - (n - first), n - first, &form,
              q->size > n ? "The smallest ones; those between are not shown." : "Continued.");
    report_put(r, "</div>\n");
}

void report_groups(report_page *r)
{
    size_t n, shown = 0;
    const dp_fit_quantity *q = dp_fit_quantities(r->fit, &n);
    report_section(r, "groups", "Effects of groups");
    for (size_t i = 0; i < n; i++) {
        if (!is_of_groups(&q[i]))
            continue;
        found *list = find_groups(r, r->m.schema, &q[i]);
        shown++;
        if (list == NULL)
            continue;
        report_put(r, "<h3><code>");
        report_say(r, q[i].name);
        report_put(r, "</code>, %zu groups</h3>\n", q[i].size);
        draw_groups(r, shown, &q[i], list);
        free(list);
    }
    report_put(
        r, shown > 0
               ? "<p class=\"small\">A group of few records, or of none, is told of by what groups "
                 "are like: its interval is wide, and its median near 0. Their "
                 "numbers stand at the end.</p>\n"
               : "<p>The model has none.</p>\n");
}

/* ---- all numbers ---- */

void report_numbers(report_page *r)
{
    size_t n, shown = 0;
    const dp_fit_quantity *q = dp_fit_quantities(r->fit, &n);
    report_section(r, "numbers", "Numbers of groups");
    for (size_t i = 0; i < n; i++) {
        const bool vector =
            is_told(&q[i]) && q[i].size > 1 && (is_of_groups(&q[i]) || q[i].size > FEW);
        found *list = vector ? find_groups(r, r->m.schema, &q[i]) : NULL;
        shown += vector;
        if (list == NULL)
            continue;
        report_put(r, "<h3><code>");
        report_say(r, q[i].name);
        report_put(r, "</code></h3>\n");
        report_put(r, "<div class=\"pictures\">\n");
        for (size_t k = 0; k < q[i].size && k < MOST_ROWS; k += ROWS)
            put_table(r, list + k, q[i].size - k < ROWS ? q[i].size - k : ROWS);
        report_put(r, "</div>\n");
        if (q[i].size > MOST_ROWS)
            report_put(r, "<p>%zu more are told by <code>tacit summary --json</code>.</p>\n",
                       q[i].size - MOST_ROWS);
        free(list);
    }
    if (shown == 0)
        report_put(r, "<p>All numbers stand above.</p>\n");
}
