/* A plan in words and numbers, and as JSON. */
#include <math.h>
#include <string.h>

#include "tools/forecast.h"
#include "tools/json.h"
#include "tools/table-source.h"

enum {
    LISTED = 12, /* most numbers of a latent that all have lines */
    LARGE = 32   /* room for a number in words */
};

/* Of more than this the prior's, an answer's standard deviation tells nothing of the records. */
static const double drowned = 0.9;

/* ---- what it takes ---- */

/* The program, its libraries and what any fit has; the rest goes with the records. */
double forecast_bytes(const forecast *f)
{
    const double program = 9e6, cell = 8 + 6; /* of the table, and of its text */
    size_t n;
    (void)dp_formula_columns(f->m.formula, DP_FORMULA_FIT, &n);
    return program + cell * (double)n * (double)f->records + dp_plan_costs(f->plan).bytes;
}

static void tell_cost(const forecast *f)
{
    const dp_plan_cost cost = dp_plan_costs(f->plan);
    const double threads = isnan(f->m.said.threads) ? 1 : f->m.said.threads;
    (void)printf("A fit takes about %.2g s with %g thread%s (the slowest here %.2g), reading its "
                 "table %.2g s, and about %.2g MB of memory.\n",
                 cost.seconds, threads, threads == 1 ? "" : "s", cost.slowest,
                 f->reading * (double)f->records, forecast_bytes(f) / 1e6);
}

/* ---- the table ---- */

static void put_number(double x)
{
    if (isnan(x))
        (void)printf(" %9s", "-");
    else if (isinf(x))
        (void)printf(" %9s", "none");
    else
        (void)printf(" %9.2g", x);
}

/* Of a large number the first two digits, and zeros. */
static const char *large(double x, char text[LARGE])
{
    const double step = x >= 100 ? pow(10, floor(log10(x)) - 1) : 0;
    if (!isfinite(x))
        (void)snprintf(text, LARGE, "%s", isnan(x) ? "-" : "none");
    else if (step == 0 || x >= 1e9)
        (void)snprintf(text, LARGE, "%.2g", x);
    else
        (void)snprintf(text, LARGE, "%.0f", round(x / step) * step);
    return text;
}

/* Noise against signal in a word. */
static const char *word_of(const dp_plan_number *k)
{
    if (k->sd_private > drowned * k->prior_sd)
        return "drowned";
    return k->noise <= 0.5 ? "small" : k->noise <= 1 ? "fair" : "large";
}

/* Of an intercept nobody asks whether it is 0. */
static double visible_of(const char *name, const dp_plan_number *k)
{
    const size_t n = strlen(name), end = strlen("Intercept");
    const bool intercept = n >= end && strcmp(name + n - end, "Intercept") == 0;
    return intercept ? NAN : k->visible;
}

static void put_row(const forecast *f, const dp_plan_number *k)
{
    char name[FORECAST_NAME], text[LARGE];
    const double unit = forecast_name(f, k->name, name);
    (void)printf("%-25s", name);
    put_number(unit * k->sd);
    put_number(unit * k->sd_private);
    put_number(forecast_width * unit * k->sd_private);
    put_number(unit * visible_of(name, k));
    put_number(k->noise);
    (void)printf(" %-7s", word_of(k));
    put_number(k->error);
    put_number(k->epsilon);
    (void)printf(" %9s\n", large(k->records, text));
}

/* How many numbers from `from` on are of one latent: they differ in what stands in brackets. */
static size_t of_one_latent(const forecast *f, size_t from)
{
    const char *name = f->number[from].name;
    const size_t length = strcspn(name, "[");
    size_t n = 1;
    while (name[length] == '[' && from + n < f->n &&
           strncmp(f->number[from + n].name, name, length + 1) == 0)
        n++;
    return n;
}

/* Those of the least and the greatest noise, where there are many. */
static void put_latent(const forecast *f, const dp_plan_number *first, size_t n)
{
    const dp_plan_number *least = first, *greatest = first;
    for (size_t k = 0; k < n; k++) {
        least = first[k].noise < least->noise ? &first[k] : least;
        greatest = first[k].noise > greatest->noise ? &first[k] : greatest;
    }
    for (size_t k = 0; k < n && n <= LISTED; k++)
        put_row(f, &first[k]);
    if (n <= LISTED)
        return;
    put_row(f, least);
    put_row(f, greatest);
    (void)printf("  of %zu such numbers, with the least and the greatest noise\n", n);
}

static void put_table(const forecast *f)
{
    (void)printf("%-25s %9s %9s %9s %9s %9s %-7s %9s %9s %9s\n", "", "sd", "private", "width",
                 "visible", "noise", "", "error", "epsilon", "records");
    for (size_t k = 0, n; k < f->n; k += n) {
        n = of_one_latent(f, k);
        put_latent(f, &f->number[k], n);
    }
    (void)printf(
        "\n"
        "sd, private: standard deviations to be expected without privacy and with it; width: of\n"
        "  the interval from 5 %% to 95 %% with privacy.\n"
        "visible: the least effect that four of five fits would tell from none; none: beyond what\n"
        "  the prior allows.\n"
        "noise: of privacy against the signal, in sds: small up to 0.5, fair up to 1, else large;\n"
        "  drowned: the answer is nearly the prior.\n"
        "error: that privacy adds to the mean, in sds; the root of the mean square, which one bad\n"
        "  simulation raises.\n"
        "epsilon, records: with either of which noise would be about 1 (within a factor of "
        "1.5).\n");
}

/* ---- what would do ---- */

/* The slopes that the least and the greatest epsilon would bring to noise of 1; of all numbers
 * where there is no slope. */
static void find_ends(const forecast *f, const dp_plan_number **least,
                      const dp_plan_number **greatest)
{
    char name[FORECAST_NAME];
    *least = *greatest = NULL;
    for (int slopes = 1; slopes >= 0 && *least == NULL; slopes--)
        for (size_t e = 0; e < f->n; e++) {
            const dp_plan_number *k = &f->number[e];
            (void)forecast_name(f, k->name, name);
            if (slopes && !forecast_is_slope(name))
                continue;
            *least = *least == NULL || k->epsilon < (*least)->epsilon ? k : *least;
            *greatest = *greatest == NULL || k->epsilon > (*greatest)->epsilon ? k : *greatest;
        }
}

static void put_budget(const forecast *f, const char *what, const dp_plan_number *k)
{
    char name[FORECAST_NAME], text[LARGE];
    (void)forecast_name(f, k->name, name);
    (void)printf("  %s (%s): ", what, name);
    if (isinf(k->epsilon))
        (void)printf("not even epsilon %g; have far more records\n", 32 * f->m.said.epsilon);
    else
        (void)printf("epsilon %.2g, or %s records\n", k->epsilon, large(k->records, text));
}

/* The first line, where there is little hope. */
static void tell_hopeless(const forecast *f)
{
    const dp_plan_number *least, *greatest;
    const double hopeless = dp_plan_hopeless(f->plan);
    if (hopeless == 0)
        return;
    (void)printf(hopeless >= 0.5
                     ? "HOPELESS: in %.0f %% of the simulations the noise hides what so many "
                       "records tell.  What would do:\n"
                     : "IN DOUBT: in %.0f %% of the simulations the noise hides what so many "
                       "records tell.  What would do:\n",
                 100 * hopeless);
    find_ends(f, &least, &greatest);
    put_budget(f, "for the first", least);
    put_budget(f, "for the last", greatest);
    (void)printf("  or ask a simpler question.\n\n");
}

static size_t fitted(const forecast *f)
{
    size_t n, k = 0;
    const dp_plan_point *point = dp_plan_points(f->plan, &n);
    while (k + 1 < n && point[k].epsilon < f->m.said.epsilon)
        k++;
    return point[k].fitted;
}

/* Where intervals of slopes miss the truths, widths say little.  Of eight simulations in each of
 * which all hold or none, at nine in ten, four or fewer hold with a chance of .005. */
static void tell_misses(const forecast *f)
{
    static const size_t least_fitted = 8;
    static const double believable = 0.6;
    char name[FORECAST_NAME];
    double covered = 0, n = 0;
    for (size_t e = 0; e < f->n; e++) {
        (void)forecast_name(f, f->number[e].name, name);
        if (!forecast_is_slope(name))
            continue;
        covered += f->number[e].covered;
        n++;
    }
    if (n == 0 || covered / n >= believable || fitted(f) < least_fitted)
        return;
    (void)printf("MISSES: of the slopes' 90 %% intervals with privacy %.0f %% held the truth.\n"
                 "  Truths come from the priors, which allow some that a private fit does not\n"
                 "  reach, as where predictors settle nearly all outcomes.  Say what is believed\n"
                 "  (--priors) and plan again.\n\n",
                 100 * covered / n);
}

static size_t find_number(const forecast *f, const char *latent)
{
    size_t e = 0;
    while (e < f->n && strcmp(f->number[e].name, latent) != 0)
        e++;
    return e;
}

static void find_budget(const forecast *f, size_t k, double *epsilon, double *records)
{
    if (dp_plan_suffices(f->plan, find_number(f, f->wish[k].latent), f->asked[k].sd, epsilon,
                         records, NULL) != DP_OK)
        *epsilon = *records = NAN;
}

static void tell_wish(const forecast *f, size_t k)
{
    char text[LARGE];
    double epsilon, records;
    const forecast_wish *w = &f->wish[k];
    const double without = forecast_width * w->unit * f->number[find_number(f, w->latent)].sd;
    find_budget(f, k, &epsilon, &records);
    (void)printf("%s within %.3g: ", w->name, w->width);
    if (isfinite(epsilon))
        (void)printf("epsilon %.2g, or %s records\n", epsilon, large(records, text));
    else if (without >= w->width)
        (void)printf("%s records; with %zu it is %.2g wide even without privacy\n",
                     large(records, text), f->records, without);
    else
        (void)printf("%s records; no epsilon up to %g\n", large(records, text),
                     32 * f->m.said.epsilon);
}

static void tell_wishes(const forecast *f)
{
    for (size_t k = 0; k < f->n_wishes; k++)
        tell_wish(f, k);
    if (f->n_wishes == 0)
        return;
    if (isfinite(dp_plan_granted(f->plan)))
        (void)printf("All of these: epsilon %.2g, which was tried.\n\n", dp_plan_granted(f->plan));
    else
        (void)printf("All of these: no epsilon; have more records, or wish for less.\n\n");
}

/* ---- the whole of it ---- */

void forecast_tell(const forecast *f)
{
    const settings *s = &f->m.said;
    tell_hopeless(f);
    (void)printf("%s\nfamily %s\nplan: epsilon %g at delta %g, %zu records; %zu data sets fitted, "
                 "predictors %s%s\n\n",
                 dp_formula_text(f->m.formula), dp_formula_family(f->m.formula), s->epsilon,
                 s->delta, f->records, fitted(f),
                 s->public_data != NULL ? "of "
                                        : "invented, each value of the schema equally likely",
                 s->public_data != NULL ? table_shown(s->public_data) : "");
    put_table(f);
    (void)putchar('\n');
    tell_misses(f);
    tell_wishes(f);
    tell_cost(f);
    if (s->picture != NULL)
        (void)printf("Accuracy over epsilon: %s; marks are simulated, lines between them not.\n",
                     s->picture);
    (void)printf("Nothing was spent, and no private record was read.\n");
}

/* ---- JSON ---- */

static void tell_number(json *j, const forecast *f, const dp_plan_number *k)
{
    char name[FORECAST_NAME];
    const double unit = forecast_name(f, k->name, name);
    json_object(j, NULL);
    json_text(j, "name", name);
    json_number(j, "prior_sd", unit * k->prior_sd);
    json_number(j, "sd", unit * k->sd);
    json_number(j, "private_sd", unit * k->sd_private);
    json_number(j, "width", forecast_width * unit * k->sd_private);
    json_number(j, "width_ratio", k->width);
    json_number(j, "visible", unit * visible_of(name, k));
    json_number(j, "noise", k->noise);
    json_text(j, "noise_is", word_of(k));
    json_number(j, "error", k->error);
    json_number(j, "covered", k->covered);
    json_number(j, "epsilon", k->epsilon);
    json_number(j, "records", k->records);
    json_end_object(j);
}

static void tell_curve(json *j, const forecast *f)
{
    size_t n;
    const dp_plan_point *point = dp_plan_points(f->plan, &n);
    json_list(j, "curve");
    for (size_t i = 0; i < n; i++) {
        json_object(j, NULL);
        json_number(j, "epsilon", point[i].epsilon);
        json_count(j, "fitted", point[i].fitted);
        json_number(j, "hopeless", point[i].hopeless);
        json_list(j, "private_sd"); /* in the order of numbers */
        for (size_t e = 0; e < f->n; e++) {
            char name[FORECAST_NAME];
            json_number(j, NULL,
                        forecast_name(f, f->number[e].name, name) * point[i].sd_private[e]);
        }
        json_end_list(j);
        json_end_object(j);
    }
    json_end_list(j);
}

static void tell_widths(json *j, const forecast *f)
{
    json_list(j, "wishes");
    for (size_t k = 0; k < f->n_wishes; k++) {
        double epsilon, records;
        find_budget(f, k, &epsilon, &records);
        json_object(j, NULL);
        json_text(j, "name", f->wish[k].name);
        json_number(j, "width", f->wish[k].width);
        json_number(j, "epsilon", epsilon);
        json_number(j, "records", records);
        json_end_object(j);
    }
    json_end_list(j);
    json_number(j, "granted", dp_plan_granted(f->plan));
}

void forecast_tell_json(const forecast *f)
{
    const settings *s = &f->m.said;
    const dp_plan_cost cost = dp_plan_costs(f->plan);
    json j = json_begin(stdout);
    json_text(&j, "command", "plan");
    json_text(&j, "formula", dp_formula_text(f->m.formula));
    json_text(&j, "family", dp_formula_family(f->m.formula));
    json_number(&j, "epsilon", s->epsilon);
    json_number(&j, "delta", s->delta);
    json_count(&j, "records", f->records);
    json_text(&j, "public", table_shown(s->public_data));
    json_number(&j, "hopeless", dp_plan_hopeless(f->plan));
    json_count(&j, "fitted", fitted(f));
    json_list(&j, "numbers");
    for (size_t k = 0; k < f->n; k++)
        tell_number(&j, f, &f->number[k]);
    json_end_list(&j);
    tell_curve(&j, f);
    tell_widths(&j, f);
    json_number(&j, "seconds", cost.seconds);
    json_number(&j, "slowest", cost.slowest);
    json_number(&j, "reading", f->reading * (double)f->records);
    json_number(&j, "bytes", forecast_bytes(f));
    json_text(&j, "picture", s->picture);
    json_end(&j);
}
