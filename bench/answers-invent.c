/* Formulas, and data sets with a known truth for them.
 *
 * A formula is fitted without privacy to records of its data set.  A truth is one draw of that
 * posterior: groups' effects and all, so that it is like what such data hold.  Records are drawn
 * from the data set with replacement, and their outcomes from the model at the truth.  Outcomes of
 * which some are censored are cut off at times that are uniform in [0.5, 3.5], as those of
 * tests/formula/reference.R are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers-formulas.h"
#include "options.h"

/* ---- the list of cases ---- */

/* Takes a field of a line, without its quotes. */
static void take(const char **at, char word[FORMULA_WORD])
{
    bool quoted = **at == '"';
    size_t n = 0;
    *at += quoted;
    for (; **at != 0 && **at != '\n' && (quoted ? **at != '"' : **at != ','); ++*at)
        if (n + 1 < FORMULA_WORD)
            word[n++] = **at;
    word[n] = 0;
    *at += quoted;
    *at += **at == ',';
}

size_t formula_cases(const char *source, size_t most, formula_case *cases)
{
    char line[1024], word[FORMULA_WORD];
    size_t n = 0;
    (void)snprintf(line, sizeof line, "%s/tests/formula/reference.csv", source);
    FILE *in = fopen(line, "r");
    if (in == NULL)
        bench_stop(line, "cannot be read; give --source");
    while (fgets(line, sizeof line, in) != NULL) {
        int number = atoi(line);
        const char *at = line;
        if (number == 0)
            continue;
        if (n == 0 || cases[n - 1].number != number) {
            if (n == most)
                bench_stop("reference.csv", "has too many cases");
            cases[n++] = (formula_case){.number = number};
        }
        formula_case *c = &cases[n - 1];
        take(&at, word);
        take(&at, c->data);
        take(&at, c->family);
        take(&at, c->formula);
        if (c->n_names == FORMULA_NAMES)
            bench_stop(c->formula, "has too many terms");
        take(&at, c->names[c->n_names++]);
    }
    (void)fclose(in);
    return n;
}

/* ---- a case ---- */

static dp_rng *rng_of(uint64_t seed)
{
    dp_rng *rng;
    if (dp_rng_new(seed, &rng, NULL) != DP_OK)
        bench_stop("formulas", "no source of randomness");
    return rng;
}

static bool is_count(const char *family)
{
    return strstr(family, "poisson") != NULL || strstr(family, "negbinomial") != NULL;
}

/* The outcome's column.  Counts may be five times as large as the data set's, so that few have to
 * be cut. */
static void find_outcome(formula_case *c)
{
    char name[FORMULA_WORD];
    size_t n = strcspn(c->formula, " ~|");
    (void)snprintf(name, sizeof name, "%.*s", (int)n, c->formula);
    c->outcome = frame_find(&c->all, name);
    if (is_count(c->family))
        c->all.columns[c->outcome].high *= 5;
}

dp_dataset *formula_records(const formula_case *c, const frame *f)
{
    dp_error err = {0};
    dp_dataset *records;
    dp_table *table = frame_table(f);
    if (dp_formula_dataset(c->parsed, table, &records, &err) != DP_OK)
        bench_stop(c->formula, err.text);
    dp_table_free(table);
    return records;
}

void formula_values(const formula_case *c, dp_fit *fit, const dp_draws *draws, double *values)
{
    dp_error err = {0};
    size_t n = dp_draws_count(draws);
    const dp_given given = {.draws = draws};
    for (size_t k = 0; k < c->n_names; k++)
        if (dp_fit_evaluate(fit, dp_fit_expr(fit, c->names[k]), &given, n, values + k * n, &err) !=
            DP_OK)
            bench_stop(c->formula, err.text);
}

void formula_spread(const double *values, double *mean, double *sd)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < FORMULA_DRAWS; i++)
        sum += values[i] / FORMULA_DRAWS;
    for (size_t i = 0; i < FORMULA_DRAWS; i++)
        squares += (values[i] - sum) * (values[i] - sum) / FORMULA_DRAWS;
    *mean = sum;
    *sd = sqrt(squares);
}

dp_fit *formula_exact(const formula_case *c, const formula_opts *o, const dp_dataset *records,
                      uint64_t seed)
{
    dp_fit *fit;
    dp_error err = {0};
    dp_fit_opts opts = {.mode = DP_NO_PRIVACY, .method = o->method, .seed = seed};
    dp_status status = dp_fit_private(c->model, records, &opts, &fit, &err);
    if (status != DP_OK) {
        opts.method = DP_METHOD_EXACT;
        status = dp_fit_private(c->model, records, &opts, &fit, &err);
    }
    if (status != DP_OK)
        bench_stop(c->formula, err.text);
    return fit;
}

/* A fit whose budget tells nothing is the prior. */
static void find_prior(formula_case *c, const dp_dataset *records)
{
    const dp_fit_opts o = {.epsilon = 1e-3, .delta = 1e-6, .seed = 1, .hopeless_allowed = true};
    dp_fit *fit;
    dp_draws *draws;
    dp_error err = {0};
    dp_rng *rng = rng_of(1);
    double *values = answers_alloc(c->n_names * FORMULA_DRAWS, sizeof *values);
    if (dp_fit_private(c->model, records, &o, &fit, &err) != DP_OK ||
        dp_fit_draw(fit, FORMULA_DRAWS, rng, &draws, &err) != DP_OK)
        bench_stop(c->formula, err.text);
    formula_values(c, fit, draws, values);
    for (size_t k = 0; k < c->n_names; k++) {
        double mean;
        formula_spread(values + k * FORMULA_DRAWS, &mean, &c->prior_sd[k]);
    }
    free(values);
    dp_draws_free(draws), dp_fit_free(fit), dp_rng_free(rng);
}

/* Leaves names out that R has and the fit has not. */
static void keep_known(formula_case *c)
{
    size_t n = 0;
    for (size_t k = 0; k < c->n_names; k++)
        if (dp_fit_size(c->base, c->names[k]) == 1)
            memmove(c->names[n++], c->names[k], FORMULA_WORD);
    c->n_names = n;
}

bool formula_open(formula_case *c, const formula_opts *o)
{
    dp_error err = {0};
    frame f;
    const data_set *set = data_set_named(c->data);
    if (set == NULL || !frame_load(set, o->data, o->source, &c->all))
        return false;
    find_outcome(c);
    const dp_formula_opts opts = {
        .family = c->family, .columns = c->all.columns, .n_columns = c->all.n_columns};
    if (dp_formula_parse(c->formula, &opts, &c->parsed, &err) != DP_OK ||
        dp_formula_model(c->parsed, &c->model, &err) != DP_OK)
        bench_stop(c->formula, err.text);
    dp_rng *rng = rng_of(1000003);
    frame_sample(&c->all, o->n > 0 ? o->n : c->all.n, rng, &f);
    dp_dataset *records = formula_records(c, &f);
    c->base = formula_exact(c, o, records, 1);
    keep_known(c);
    find_prior(c, records);
    dp_dataset_free(records);
    frame_free(&f);
    dp_rng_free(rng);
    return true;
}

void formula_close(formula_case *c)
{
    dp_fit_free(c->base), dp_model_free(c->model), dp_formula_free(c->parsed);
    frame_free(&c->all);
}

/* ---- inventing ---- */

static void censor(const formula_case *c, dp_rng *rng, frame *f, double *times)
{
    const char *at = strstr(c->formula, "cens(");
    char name[FORMULA_WORD];
    if (at == NULL)
        return;
    at += strlen("cens(");
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ")"), at);
    double *censored = answers_alloc(f->n, sizeof *censored);
    for (size_t i = 0; i < f->n; i++) {
        double end;
        dp_rng_uniform(rng, 1, &end);
        end = 0.5 + 3 * end;
        censored[i] = times[i] > end;
        times[i] = fmin(times[i], end);
    }
    frame_set(f, frame_find(f, name), censored);
    free(censored);
}

/* Whether a formula has a term of groups of the column. */
static bool is_grouping(const char *formula, const char *column)
{
    size_t length = strlen(column);
    bool in_groups = false;
    for (const char *at = strchr(formula, '~'); *at != 0; at++) {
        in_groups = *at == '|' || (in_groups && *at != ')');
        if (in_groups && strchr("| /:", at[0]) != NULL && strncmp(at + 1, column, length) == 0 &&
            strchr(" /:)", at[1 + length]) != NULL)
            return true;
    }
    return false;
}

/* Which group a record is in stays; which truth is that group's does not, so that what it is does
 * not go with its size.  Those of a data set may, which no model says. */
static void shuffle_groups(const formula_case *c, dp_rng *rng, frame *f)
{
    for (size_t k = 0; k < f->n_columns; k++) {
        const dp_column *column = &f->columns[k];
        if (column->kind == DP_COLUMN_REAL || !is_grouping(c->formula, column->name))
            continue;
        size_t n = column->kind == DP_COLUMN_LEVEL ? column->n_levels
                                                   : (size_t)(column->high - column->low) + 1;
        double *label = answers_alloc(n, sizeof *label), share;
        double *values = answers_alloc(f->n, sizeof *values);
        for (size_t i = 0; i < n; i++) {
            dp_rng_uniform(rng, 1, &share);
            size_t j = (size_t)(share * (double)(i + 1));
            label[i] = label[j];
            label[j] = (double)i;
        }
        for (size_t i = 0; i < f->n; i++)
            values[i] = label[(size_t)f->values[k][i]];
        frame_set(f, k, values);
        free(label), free(values);
    }
}

void formula_invent(const formula_case *c, const formula_opts *o, uint64_t seed, frame *f,
                    double truth[FORMULA_NAMES])
{
    dp_error err = {0};
    dp_draws *draws;
    dp_rng *rng = rng_of(seed + 1);
    frame_sample(&c->all, o->n > 0 ? o->n : c->all.n, rng, f);
    if (o->shuffled)
        shuffle_groups(c, rng, f);
    dp_dataset *records = formula_records(c, f);
    double *outcomes = answers_alloc(f->n, sizeof *outcomes);
    if (dp_fit_draw(c->base, 1, rng, &draws, &err) != DP_OK)
        bench_stop(c->formula, err.text);
    const dp_given given = {.data = records, .draws = draws, .rng = rng};
    formula_values(c, c->base, draws, truth);
    if (dp_fit_simulate(c->base, NULL, &given, f->n, outcomes, &err) != DP_OK)
        bench_stop(c->formula, err.text);
    censor(c, rng, f, outcomes);
    frame_set(f, c->outcome, outcomes);
    free(outcomes);
    dp_draws_free(draws), dp_dataset_free(records), dp_rng_free(rng);
}
