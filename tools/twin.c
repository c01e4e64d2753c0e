/* Outcomes from the posterior predictive.
 *
 * Each twin has one draw of the posterior, and outcomes drawn given it, so that what differs
 * between twins holds what is not known of the parameters (Rubin 1993).  A number outside the
 * schema's range, which the model allows and the schema does not, is drawn again, so that it is one
 * of the predictive distribution within the range; where the schema clamps, it becomes the nearer
 * end, as a record's would. */
#include "tools/twin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tacit.h"

enum { ATTEMPTS = 20 };

/* ---- the fit ---- */

static int load(twin_maker *t, modelling *m, const char *path)
{
    size_t n;
    dp_status status = dp_fit_load(path, &t->fit, &m->err);
    const dp_fit_source *s = status == DP_OK ? dp_fit_get_source(t->fit) : NULL;
    if (status == DP_OK && s == NULL)
        return modelling_refuse(m, EXIT_REFUSED,
                                "this fit does not tell its formula and schema, by which rows are "
                                "written; take one of tacit fit, or dp_fit_simulate in C");
    if (status == DP_OK)
        status =
            dp_schema_parse(s->schema, strlen(s->schema), "the fit's schema", &m->schema, &m->err);
    if (status == DP_OK) {
        const dp_column *columns = dp_schema_columns(m->schema, &n);
        const dp_formula_opts o = {.family = s->family, .columns = columns, .n_columns = n};
        status = dp_formula_parse(s->formula, &o, &m->formula, &m->err);
    }
    if (status == DP_OK)
        return EXIT_CERTIFIED;
    (void)modelling_failed(m, status);
    return EXIT_REFUSED;
}

static bool find_outcome(twin_maker *t, const modelling *m, message *why)
{
    size_t n, observed = 0;
    const char *name = NULL, *family = dp_formula_family(m->formula);
    const dp_fit_column *c = dp_fit_columns(t->fit, &n);
    for (size_t k = 0; k < n; k++)
        if (c[k].observed && c[k].size == 1) {
            name = c[k].name;
            observed++;
        }
    for (size_t k = 0; k < t->n && name != NULL; k++)
        if (strcmp(t->columns[k].name, name) == 0)
            t->outcome = &t->columns[k];
    t->levels = strncmp(family, "bernoulli", 9) == 0 || strncmp(family, "categorical", 11) == 0 ||
                strncmp(family, "cumulative", 10) == 0;
    if (observed == 1 && t->outcome != NULL)
        return true;
    return complain(why,
                    "the outcome '%.100s' is computed from columns, and twins are rows of columns; "
                    "fit a formula whose left side is one column",
                    name != NULL ? name : "");
}

/* Every column must be a predictor, the outcome or the unit: weights and the like are parts of an
 * outcome that the model does not draw. */
static bool check_columns(const twin_maker *t, const modelling *m, message *why)
{
    size_t n;
    const dp_column *from = dp_formula_columns(m->formula, DP_FORMULA_PREDICT, &n);
    for (size_t k = 0; k < t->n; k++) {
        bool known = &t->columns[k] == t->outcome || t->columns[k].kind == DP_COLUMN_UNIT;
        for (size_t j = 0; j < n; j++) {
            known = known || strcmp(from[j].name, t->columns[k].name) == 0;
            if (strcmp(from[j].name, t->outcome->name) == 0)
                return complain(why,
                                "'%.100s' stands on both sides of the formula, so that rows of it "
                                "cannot be drawn",
                                from[j].name);
        }
        if (!known)
            return complain(why,
                            "the formula reads '%.100s' beside the outcome (weights or censoring), "
                            "which the model does not draw; fit a formula without it",
                            t->columns[k].name);
    }
    return true;
}

int twin_open(twin_maker *t, modelling *m, const char *path)
{
    message why = {""};
    const int end = load(t, m, path);
    if (end != EXIT_CERTIFIED)
        return end;
    t->columns = dp_formula_columns(m->formula, DP_FORMULA_FIT, &t->n);
    if (!find_outcome(t, m, &why) || !check_columns(t, m, &why))
        return modelling_refuse(m, EXIT_REFUSED, why.text);
    return EXIT_CERTIFIED;
}

/* ---- a twin ---- */

static dp_status make_data(const modelling *m, const sheet *s, dp_dataset **data, dp_error *err)
{
    size_t n;
    dp_table *table = NULL;
    const dp_column *columns = dp_formula_columns(m->formula, DP_FORMULA_PREDICT, &n);
    if (n == 0) {
        *data = dp_dataset_new(s->rows);
        return *data != NULL ? DP_OK : DP_ENOMEM;
    }
    dp_status status = sheet_table(s, columns, n, &table, err);
    if (status == DP_OK)
        status = dp_formula_new_records(m->formula, table, data, err);
    dp_table_free(table);
    return status;
}

/* An outcome as the sheet holds it; false where the schema does not allow it. */
static bool as_held(const twin_maker *t, double drawn, double *held)
{
    const dp_column *c = t->outcome;
    const double last = c->kind == DP_COLUMN_REAL ? 0 : (double)column_levels(c) - 1;
    if (c->kind == DP_COLUMN_REAL) {
        *held = fmax(c->low, fmin(c->high, drawn));
        return *held == drawn || c->clamp;
    }
    const double level = t->levels ? drawn : drawn - c->low;
    *held = fmax(0, fmin(last, rint(level)));
    return *held == level;
}

/* Draws of those that are not good yet; *left [out] of them. */
static dp_status draw_once(twin_maker *t, const dp_given *given, sheet *s, bool *good,
                           double *drawn, size_t *left, dp_error *err)
{
    dp_status status = dp_fit_simulate(t->fit, t->outcome->name, given, s->rows, drawn, err);
    double *held = s->value[sheet_find(s, t->outcome->name)];
    *left = 0;
    for (size_t i = 0; i < s->rows && status == DP_OK; i++) {
        if (good[i])
            continue;
        if (isnan(drawn[i])) {
            (void)snprintf(err->text, sizeof err->text,
                           "the model has no distribution for the outcome of row %zu; its "
                           "arguments left their domain",
                           i + 1);
            return DP_EDOMAIN;
        }
        good[i] = as_held(t, drawn[i], &held[i]);
        *left += !good[i];
    }
    return status;
}

dp_status twin_draw(twin_maker *t, modelling *m, dp_rng *rng, sheet *s)
{
    dp_dataset *data = NULL;
    dp_draws *draws = NULL;
    bool *good = calloc(s->rows, sizeof *good);
    double *drawn = calloc(s->rows, sizeof *drawn);
    size_t left = s->rows;
    dp_status status = good != NULL && drawn != NULL ? DP_OK : DP_ENOMEM;
    if (status == DP_OK)
        status = make_data(m, s, &data, &m->err);
    if (status == DP_OK)
        status = dp_fit_draw(t->fit, 1, rng, &draws, &m->err);
    const dp_given given = {.data = data, .draws = draws, .rng = rng};
    for (int k = 0; k < ATTEMPTS && left > 0 && status == DP_OK; k++) {
        status = draw_once(t, &given, s, good, drawn, &left, &m->err);
        t->ended += k == 0 ? left : 0;
    }
    t->made += s->rows;
    for (size_t j = 0; j < s->n_columns; j++)
        for (size_t i = 0; i < s->rows && s->columns[j].kind == DP_COLUMN_UNIT; i++)
            s->value[j][i] = (double)i;
    dp_draws_free(draws);
    dp_dataset_free(data);
    free(drawn);
    free(good);
    return status;
}
