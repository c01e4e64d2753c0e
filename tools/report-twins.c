/* What the fit predicts, against public records where there are some.
 *
 * A twin is a data set of invented outcomes: one draw of the posterior, one outcome for each
 * record.  Records are public ones, with their own outcomes to compare with, or invented ones, with
 * predictors that are spread evenly over what the schema allows.  The private records are looked at
 * in neither case. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/invent.h"
#include "tools/report.h"
#include "tools/sheet.h"
#include "tools/spread.h"
#include "tools/table-source.h"

enum { TWINS = 60, INVENTED = 500, BINS = 20, MOST_LEVELS = 30, MOST_RECORDS = 100000 };

/* What is compared: shares of levels, or of bins with what lies below and above. */
typedef struct twin_check {
    report_page *r;
    const dp_column *column; /* of the outcome, in the schema */
    bool by_level;
    size_t n_records, n_shares;
    double *public_values;            /* [n_records] as the model has them; NULL: none */
    double *values;                   /* [TWINS][n_records] */
    double share[TWINS][MOST_LEVELS]; /* a twin's */
    double mean[TWINS], sd[TWINS], outside[TWINS];
} twin_check;

/* ---- the records ---- */

static dp_status invent(twin_check *t, dp_dataset **data, dp_error *err)
{
    size_t n;
    dp_rng *rng = NULL;
    dp_table *table = NULL;
    const dp_column *columns = dp_formula_columns(t->r->m.formula, DP_FORMULA_PREDICT, &n);
    t->n_records = INVENTED;
    if (n == 0) {
        *data = dp_dataset_new(INVENTED);
        return *data != NULL ? DP_OK : DP_ENOMEM;
    }
    dp_status status = dp_rng_new(3, &rng, err);
    if (status == DP_OK)
        status = invent_table(columns, n, INVENTED, rng, &table, NULL, err);
    if (status == DP_OK)
        status = dp_formula_new_records(t->r->m.formula, table, data, err);
    dp_table_free(table);
    dp_rng_free(rng);
    return status;
}

/* The outcomes of a table as the model has them: levels from 0, and numbers. */
static dp_status keep_outcomes(twin_check *t, dp_table *table)
{
    const bool real = t->column->kind == DP_COLUMN_REAL;
    const double *number = real ? dp_table_real(table, t->column->name) : NULL;
    const int32_t *level = real ? NULL : dp_table_level(table, t->column->name);
    const double first = t->r->levels == NULL && !real ? t->column->low : 0;
    t->n_records = dp_table_rows(table);
    if (number == NULL && level == NULL)
        return dp_table_status(table);
    t->public_values = malloc(t->n_records * sizeof *t->public_values);
    for (size_t i = 0; i < t->n_records && t->public_values != NULL; i++)
        t->public_values[i] = real ? number[i] : first + (double)level[i];
    return t->public_values != NULL ? DP_OK : DP_ENOMEM;
}

static dp_status read_public(twin_check *t, dp_dataset **data, dp_error *err)
{
    dp_table *table = NULL;
    dp_status status = modelling_read(&t->r->m, t->r->m.said.public_data, DP_FORMULA_FIT, &table);
    if (status == DP_OK)
        status = keep_outcomes(t, table);
    if (status == DP_OK && t->n_records > MOST_RECORDS) {
        (void)snprintf(err->text, sizeof err->text,
                       "--public has %zu records, and a report compares at most %d; give a part "
                       "of them",
                       t->n_records, MOST_RECORDS);
        status = DP_EDOMAIN;
    }
    if (status == DP_OK)
        status = dp_formula_dataset(t->r->m.formula, table, data, err);
    dp_table_free(table);
    return status;
}

/* ---- the twins ---- */

/* Where a value belongs; n_shares where it is outside of all. */
static size_t place_of(const twin_check *t, double value)
{
    const dp_column *c = t->column;
    if (!isfinite(value))
        return t->n_shares;
    const double first = t->r->levels == NULL && t->by_level ? c->low : 0;
    const double at = t->by_level ? floor(value - first + .5)
                                  : floor((value - c->low) / (c->high - c->low) * BINS);
    if (!t->by_level && value == c->high)
        return BINS - 1;
    return at >= 0 && at < (double)t->n_shares ? (size_t)at : t->n_shares;
}

/* Shares, mean and standard deviation of n values. */
static void describe(const twin_check *t, const double *values, double *share, double *mean,
                     double *sd, double *outside)
{
    const double n = (double)t->n_records;
    double square = 0;
    *mean = *outside = 0;
    for (size_t k = 0; k < t->n_shares; k++)
        share[k] = 0;
    for (size_t i = 0; i < t->n_records; i++) {
        const size_t k = place_of(t, values[i]);
        *mean += values[i] / n;
        if (k < t->n_shares)
            share[k] += 1 / n;
        else
            *outside += 1 / n;
    }
    for (size_t i = 0; i < t->n_records; i++)
        square += (values[i] - *mean) * (values[i] - *mean) / n;
    *sd = sqrt(square);
}

static dp_status simulate(twin_check *t, const dp_dataset *data, dp_error *err)
{
    dp_rng *rng = NULL;
    dp_draws *draws = NULL;
    const size_t n = TWINS * t->n_records;
    t->values = malloc(n * sizeof *t->values);
    dp_status status = t->values != NULL ? dp_rng_new(2, &rng, err) : DP_ENOMEM;
    if (status == DP_OK)
        status = dp_fit_draw(t->r->fit, TWINS, rng, &draws, err);
    const dp_given given = {.data = data, .draws = draws, .rng = rng};
    if (status == DP_OK)
        status = dp_fit_simulate(t->r->fit, t->r->outcome, &given, n, t->values, err);
    for (size_t s = 0; s < TWINS && status == DP_OK; s++)
        describe(t, t->values + s * t->n_records, t->share[s], &t->mean[s], &t->sd[s],
                 &t->outside[s]);
    dp_draws_free(draws);
    dp_rng_free(rng);
    return status;
}

/* ---- telling ---- */

static void draw(twin_check *t)
{
    double middle[MOST_LEVELS], low[MOST_LEVELS], high[MOST_LEVELS], seen[MOST_LEVELS];
    double place[MOST_LEVELS], room[TWINS], mean, sd, outside;
    char number[MOST_LEVELS][32];
    const char *names[MOST_LEVELS];
    const dp_column *c = t->column;
    for (size_t k = 0; k < t->n_shares; k++) {
        for (size_t s = 0; s < TWINS; s++)
            room[s] = t->share[s][k];
        const dp_summary sum = spread_of(room, TWINS);
        middle[k] = sum.q50;
        low[k] = sum.q05;
        high[k] = sum.q95;
        place[k] = c->low + ((double)k + .5) * (c->high - c->low) / BINS;
        (void)snprintf(number[k], sizeof number[k], "%.0f", c->low + (double)k);
        names[k] = c->kind == DP_COLUMN_LEVEL ? c->levels[k] : number[k];
    }
    if (t->public_values != NULL)
        describe(t, t->public_values, seen, &mean, &sd, &outside);
    const double *at = t->by_level ? NULL : place;
    const picture_series series[] = {{.name = "twins of the fit, 90 % of them",
                                      .style = t->by_level ? PICTURE_POINT : PICTURE_LINE,
                                      .n = t->n_shares,
                                      .place = at,
                                      .value = middle,
                                      .low = low,
                                      .high = high},
                                     {.name = "public records",
                                      .style = PICTURE_POINT,
                                      .n = t->n_shares,
                                      .place = at,
                                      .value = seen}};
    const picture p = {.title = "Outcomes of twins",
                       .names = t->by_level ? names : NULL,
                       .n_names = t->by_level ? t->n_shares : 0,
                       .place = {.label = c->name},
                       .value = {.label = "share of records"},
                       .series = series,
                       .n = t->public_values != NULL ? 2 : 1,
                       .rule = NAN};
    report_put(t->r, "<div class=\"pictures\">\n");
    report_picture(t->r, "twins", &p, "");
    report_put(t->r, "</div>\n");
}

/* A line of the table: what the twins have, and the public records. */
static void put_line(twin_check *t, const char *what, double of_twins[TWINS], double seen)
{
    report_page *r = t->r;
    const dp_summary s = spread_of(of_twins, TWINS);
    char low[32], high[32], value[32];
    report_put(r, "<tr><td>%s</td><td>%s to %s</td>", what, report_number(s.q05, s.sd, low),
               report_number(s.q95, s.sd, high));
    if (t->public_values != NULL)
        report_put(r, "<td>%s%s</td>", report_number(seen, s.sd, value),
                   seen < s.q05 || seen > s.q95 ? " <b>outside</b>" : "");
    report_put(r, "</tr>\n");
}

static void put_table(twin_check *t)
{
    double share[MOST_LEVELS], mean = NAN, sd = NAN, outside = NAN;
    if (t->r->levels != NULL) /* the picture has their shares */
        return;
    if (t->public_values != NULL)
        describe(t, t->public_values, share, &mean, &sd, &outside);
    report_put(t->r,
               "<div class=\"table\"><table>\n<thead><tr><th>of the outcome</th><th>90&nbsp;%% "
               "of twins</th>%s</tr></thead>\n<tbody>\n",
               t->public_values != NULL ? "<th>public records</th>" : "");
    put_line(t, "mean", t->mean, mean);
    put_line(t, "standard deviation", t->sd, sd);
    put_line(t, "share outside the schema's range", t->outside, outside);
    report_put(t->r, "</tbody></table></div>\n");
}

static void put_words(twin_check *t)
{
    report_page *r = t->r;
    if (t->public_values != NULL) {
        report_put(r,
                   "<p>%d data sets were invented by the fit, with the predictors of the %zu "
                   "public records of <code>",
                   TWINS, t->n_records);
        report_say(r, table_shown(r->m.said.public_data));
        report_put(r, "</code>. If the model is right, and these people are like those who were "
                      "fitted, nine in ten figures of theirs lie among those of the twins. The "
                      "private records were not looked at.</p>\n");
        return;
    }
    report_put(r,
               "<p>%d data sets of %zu records were invented by the fit, with predictors that "
               "are spread evenly over what the schema allows. No records were looked at, so "
               "the shares are not those of the fitted table. What can be seen here: whether "
               "the fit predicts outcomes that cannot be. Public records can be compared with "
               "it by <code>tacit report --public FILE</code>.</p>\n",
               TWINS, t->n_records);
}

/* Whether the outcome has a column whose values can be counted. */
static bool find_column(twin_check *t)
{
    size_t n = 0;
    const dp_column *c = t->r->m.formula != NULL ? dp_schema_columns(t->r->m.schema, &n) : NULL;
    for (size_t k = 0; k < n && t->r->outcome != NULL; k++)
        if (strcmp(c[k].name, t->r->outcome) == 0)
            t->column = &c[k];
    if (t->column == NULL || dp_fit_size(t->r->fit, t->r->outcome) != 1)
        return false;
    const size_t levels = column_levels(t->column);
    t->by_level = levels > 0 && levels <= MOST_LEVELS;
    t->n_shares = t->by_level ? levels : BINS;
    return t->by_level || t->column->kind != DP_COLUMN_LEVEL;
}

static void tell(twin_check *t)
{
    report_page *r = t->r;
    dp_error *err = &r->m.err;
    dp_dataset *data = NULL;
    dp_status status =
        r->m.said.public_data != NULL ? read_public(t, &data, err) : invent(t, &data, err);
    if (status == DP_OK)
        status = simulate(t, data, err);
    dp_dataset_free(data);
    const char *why = err->text[0] != '\0' ? err->text : dp_status_text(status);
    if (status == DP_OK) {
        put_words(t);
        put_table(t);
        draw(t);
    } else if (r->m.said.public_data != NULL)
        report_fail(r, why);
    else {
        report_put(r, "<p>No outcomes can be invented: ");
        report_say(r, why);
        report_put(r, "</p>\n");
    }
}

void report_twins(report_page *r)
{
    twin_check *t = calloc(1, sizeof *t);
    report_section(r, "twins", "What the fit predicts");
    if (t == NULL) {
        report_fail(r, "out of memory");
        return;
    }
    t->r = r;
    if (find_column(t))
        tell(t);
    else if (r->m.said.public_data != NULL)
        report_fail(r, "--public: the fit tells no outcome with which records could be compared; "
                       "leave it out");
    else
        report_put(r, "<p>The fit tells no outcome of which twins could be compared.</p>\n");
    free(t->values);
    free(t->public_values);
    free(t);
}
