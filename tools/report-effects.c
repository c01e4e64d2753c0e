/* What one predictor does: expected outcomes of invented records that differ in it alone.
 *
 * The predictor goes over all that the schema allows; others stay at the middle of their range or
 * at their first level.  Records stand in all groups alike (in REPLICAS of them, where there are
 * more), and of each draw the mean over these is taken: the effect in the average group. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/groups.h>

#include "tools/report.h"
#include "tools/sheet.h"
#include "tools/spread.h"

enum {
    POINTS = 33,
    MOST_LEVELS = 30,
    REPLICAS = 64,
    DRAWS = 400,
    MOST_EFFECTS = 16,
    MOST_SHOWN = PICTURE_SERIES, /* expected values of a record */
    MOST_VALUES = 1 << 23
};

/* One effect on its way. */
typedef struct predictor_effect {
    report_page *r;
    const dp_column *columns; /* that predictions read */
    size_t n_columns, which;
    bool *grouped; /* [n_columns] */
    dp_expr mean;
    size_t size, points, replicas, n_draws;
    double place[POINTS];
    double *values; /* [n_draws][points][replicas][size] */
    double middle[MOST_SHOWN][POINTS], low[MOST_SHOWN][POINTS], high[MOST_SHOWN][POINTS];
} predictor_effect;

/* ---- the records ---- */

static bool is_grouping(const report_page *r, const char *column)
{
    size_t n;
    const dp_fit_quantity *q = dp_fit_quantities(r->fit, &n);
    for (size_t i = 0; i < n; i++) {
        const dp_groups g = dp_groups_of(r->m.schema, q[i].name, q[i].size);
        for (size_t k = 0; k < g.n_by; k++)
            if (strcmp(g.by[k]->name, column) == 0)
                return true;
    }
    return false;
}

/* What a record of replica j has where the column is not the one that is shown. */
static double reference(const predictor_effect *e, size_t column, size_t j)
{
    const dp_column *c = &e->columns[column];
    const size_t levels = column_levels(c);
    if (e->grouped[column]) /* columns of equal size do not go together */
        return (double)((j * levels / e->replicas + column * 7) % levels);
    return c->kind == DP_COLUMN_REAL      ? .5 * (c->low + c->high)
           : c->kind == DP_COLUMN_INTEGER ? (double)((levels - 1) / 2)
                                          : 0;
}

static void choose_points(predictor_effect *e)
{
    const dp_column *c = &e->columns[e->which];
    const size_t levels = column_levels(c);
    e->points = levels == 0 || levels > POINTS ? POINTS : levels;
    for (size_t i = 0; i < e->points; i++) {
        const double share = (double)i / (double)(e->points > 1 ? e->points - 1 : 1);
        e->place[i] = c->kind == DP_COLUMN_REAL ? c->low + share * (c->high - c->low)
                                                : floor(share * (double)(levels - 1) + .5);
    }
}

/* As many groups and draws as there is room for; false where there is none. */
static bool choose_sizes(predictor_effect *e)
{
    size_t most = 1;
    for (size_t j = 0; j < e->n_columns; j++)
        if (e->grouped[j] && column_levels(&e->columns[j]) > most)
            most = column_levels(&e->columns[j]);
    e->replicas = most < REPLICAS ? most : REPLICAS;
    e->n_draws = DRAWS;
    while (e->n_draws > 50 && e->n_draws * e->points * e->replicas * e->size > MOST_VALUES)
        e->n_draws /= 2;
    while (e->replicas > 1 && e->n_draws * e->points * e->replicas * e->size > MOST_VALUES)
        e->replicas /= 2;
    return e->n_draws * e->points * e->replicas * e->size <= MOST_VALUES;
}

static dp_status make_records(predictor_effect *e, dp_dataset **data)
{
    sheet s;
    dp_table *table = NULL;
    dp_error *err = &e->r->m.err;
    dp_status status =
        sheet_make(&s, e->columns, e->n_columns, e->points * e->replicas) ? DP_OK : DP_ENOMEM;
    for (size_t i = 0; i < s.rows && status == DP_OK; i++)
        for (size_t c = 0; c < e->n_columns; c++)
            s.value[c][i] =
                c == e->which ? e->place[i / e->replicas] : reference(e, c, i % e->replicas);
    if (status == DP_OK)
        status = sheet_table(&s, e->columns, e->n_columns, &table, err);
    if (status == DP_OK)
        status = dp_formula_new_records(e->r->m.formula, table, data, err);
    dp_table_free(table);
    sheet_free(&s);
    return status;
}

/* ---- what is expected of them ---- */

static void summarise(predictor_effect *e)
{
    double room[DRAWS];
    for (size_t k = 0; k < e->size && k < MOST_SHOWN; k++)
        for (size_t i = 0; i < e->points; i++) {
            for (size_t s = 0; s < e->n_draws; s++) {
                const double *v = e->values + ((s * e->points + i) * e->replicas) * e->size + k;
                room[s] = 0;
                for (size_t j = 0; j < e->replicas; j++)
                    room[s] += v[j * e->size] / (double)e->replicas;
            }
            const dp_summary sum = spread_of(room, e->n_draws);
            e->middle[k][i] = sum.q50;
            e->low[k][i] = sum.q05;
            e->high[k][i] = sum.q95;
        }
}

static dp_status compute(predictor_effect *e)
{
    dp_rng *rng = NULL;
    dp_draws *draws = NULL;
    dp_dataset *data = NULL;
    dp_error *err = &e->r->m.err;
    const size_t n = e->n_draws * e->points * e->replicas * e->size;
    e->values = malloc(n * sizeof *e->values);
    dp_status status = e->values != NULL ? make_records(e, &data) : DP_ENOMEM;
    if (status == DP_OK)
        status = dp_rng_new(1, &rng, err);
    if (status == DP_OK)
        status = dp_fit_draw(e->r->fit, e->n_draws, rng, &draws, err);
    const dp_given given = {.data = data, .draws = draws};
    if (status == DP_OK)
        status = dp_fit_evaluate(e->r->fit, e->mean, &given, n, e->values, err);
    if (status == DP_OK)
        summarise(e);
    dp_draws_free(draws);
    dp_rng_free(rng);
    dp_dataset_free(data);
    free(e->values);
    return status;
}

/* ---- the pictures ---- */

static void draw(predictor_effect *e, size_t number)
{
    char name[32], words[320], level[PICTURE_SERIES][32];
    const char *names[POINTS];
    const dp_column *c = &e->columns[e->which];
    report_page *r = e->r;
    picture_series s[PICTURE_SERIES];
    const bool rows = c->kind == DP_COLUMN_LEVEL && e->points <= MOST_LEVELS;
    const size_t n = e->size < PICTURE_SERIES ? e->size : PICTURE_SERIES;
    for (size_t k = 0; k < n; k++)
        s[k] = (picture_series){.name = e->size > 1 ? report_level(r, k, level[k]) : NULL,
                                .style = rows ? PICTURE_POINT : PICTURE_LINE,
                                .n = e->points,
                                .place = rows ? NULL : e->place,
                                .value = e->middle[k],
                                .low = e->low[k],
                                .high = e->high[k]};
    for (size_t i = 0; i < e->points && rows; i++)
        names[i] = c->levels[(size_t)e->place[i]];
    for (size_t i = 0; i < e->points && c->kind == DP_COLUMN_INTEGER; i++)
        e->place[i] += c->low;

    (void)snprintf(words, sizeof words, "%s%.200s", r->levels != NULL ? "chance of " : "expected ",
                   r->levels == NULL ? r->outcome
                   : e->size > 1     ? "each level"
                                     : report_level(r, 0, level[0]));
    const picture p = {.title = c->name,
                       .names = rows ? names : NULL,
                       .n_names = rows ? e->points : 0,
                       .place = {.label = c->name},
                       .value = {.label = words},
                       .series = s,
                       .n = n,
                       .rule = NAN};
    (void)snprintf(name, sizeof name, "effect-%zu", number);
    report_picture(r, name, &p, "");
}

static void put_reference(predictor_effect *e)
{
    report_page *r = e->r;
    char text[64];
    bool grouped = false;
    report_put(r, "<p>What is expected of a record, when one predictor goes over its range and the "
                  "others stay where they are: ");
    for (size_t j = 0, n = 0; j < e->n_columns; j++) {
        const dp_column *c = &e->columns[j];
        grouped = grouped || e->grouped[j];
        if (e->grouped[j])
            continue;
        report_put(r, "%s<code>", n++ > 0 ? ", " : "");
        report_say(r, c->name);
        report_put(r, " = ");
        (void)snprintf(text, sizeof text, "%.6g",
                       reference(e, j, 0) + (c->kind == DP_COLUMN_INTEGER ? c->low : 0));
        report_say(r, c->kind == DP_COLUMN_LEVEL ? c->levels[0] : text);
        report_put(r, "</code>");
    }
    report_put(r,
               "%s. Medians and 90&nbsp;%% intervals of the expectation; single records vary "
               "around it.</p>\n",
               grouped ? "; averaged over groups" : "");
}

/* The columns whose effects are shown, one after another. */
static void draw_all(predictor_effect *e)
{
    size_t shown = 0;
    dp_status status = DP_OK;
    report_put(e->r, "<div class=\"pictures\">\n");
    for (size_t j = 0; j < e->n_columns && shown < MOST_EFFECTS && status == DP_OK; j++) {
        if (e->grouped[j] || e->columns[j].kind == DP_COLUMN_UNIT)
            continue;
        e->which = j;
        choose_points(e);
        if (!choose_sizes(e))
            continue;
        status = compute(e);
        if (status == DP_OK)
            draw(e, ++shown);
    }
    report_put(e->r, "</div>\n");
    if (status == DP_OK && shown > 0)
        return;
    report_put(e->r, "<p>%s",
               status == DP_OK ? "There is no predictor whose effect could be shown."
                               : "They cannot be computed: ");
    if (status != DP_OK)
        report_say(e->r, e->r->m.err.text[0] != '\0' ? e->r->m.err.text : dp_status_text(status));
    report_put(e->r, "</p>\n");
}

void report_effects(report_page *r)
{
    predictor_effect *e = calloc(1, sizeof *e);
    report_section(r, "effects", "Effects of predictors");
    if (e == NULL) {
        report_fail(r, "out of memory");
        return;
    }
    e->r = r;
    if (r->m.formula != NULL && r->outcome != NULL)
        e->columns = dp_formula_columns(r->m.formula, DP_FORMULA_PREDICT, &e->n_columns);
    e->grouped = calloc(e->n_columns + 1, sizeof *e->grouped);
    for (size_t j = 0; j < e->n_columns && e->grouped != NULL; j++)
        e->grouped[j] = is_grouping(r, e->columns[j].name);
    if (e->n_columns > 0 && e->grouped != NULL) {
        e->mean = dp_fit_mean(r->fit, r->outcome);
        e->size = dp_expr_size(e->mean);
    }
    if (e->size == 0)
        report_put(r, "<p>None can be shown: the fit tells no formula with predictors, or its "
                      "outcome has no mean.</p>\n");
    else {
        e->replicas = 1;
        put_reference(e);
        draw_all(e);
    }
    free(e->grouped);
    free(e);
}
