/* Use of contraception in Bangladesh, 1988: a private hierarchical logistic regression.
 *
 *   logit P(use) = intercept + age a + age2 a^2 + urban u + children_k + b[district]
 *   b_k ~ N(0, district_sd), district_sd ~ HalfNormal(1), every other coefficient ~ N(0, 2.5)
 *
 * a is the age in decades from the mean, children_k is 0 for women without children.  Ranges and
 * levels are public, and epsilon and delta are all that is chosen.  doc/answers.md explains the
 * answer, doc/design/contraception.md compares it. */
#include <stdio.h>
#include <stdlib.h>
#include <tacit/tacit.h>

#include "examples/options.h"

enum { DISTRICTS = 61, COLUMNS = 5, INDICATORS = 5, EFFECTS = 6 };
enum { DECADES = INDICATORS, SQUARES, NUMBERS };
static const char *const yes_no[] = {"N", "Y"}, *const children[] = {"0", "1", "2", "3+"};
static const dp_column columns[COLUMNS] = {
    {.name = "use", .kind = DP_COLUMN_LEVEL, .levels = yes_no, .n_levels = 2},
    {.name = "age", .kind = DP_COLUMN_REAL, .low = -20, .high = 20},
    {.name = "urban", .kind = DP_COLUMN_LEVEL, .levels = yes_no, .n_levels = 2},
    {.name = "livch", .kind = DP_COLUMN_LEVEL, .levels = children, .n_levels = 4},
    {.name = "district", .kind = DP_COLUMN_INTEGER, .low = 1, .high = DISTRICTS}};

/* Columns of 0 and 1: whether a level is this one. */
static const struct {
    const char *name, *of;
    int32_t level;
} indicators[INDICATORS] = {{"uses", "use", 1},
                            {"is urban", "urban", 1},
                            {"has 1", "livch", 1},
                            {"has 2", "livch", 2},
                            {"has 3", "livch", 3}};

static const struct {
    const char *name, *column;
} effects[EFFECTS] = {{"age", "decades"},     {"age2", "squared decades"}, {"urban", "is urban"},
                      {"children1", "has 1"}, {"children2", "has 2"},      {"children3", "has 3"}};

static dp_model *contraception(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "women"); /* one woman is one unit of privacy */
    dp_plate districts = dp_plate_new(m, "districts", DISTRICTS);
    dp_expr odds = dp_sample(m, "intercept", 1, dp_normal(0, 2.5));
    for (int j = 0; j < EFFECTS; j++) {
        dp_expr effect = dp_sample(m, effects[j].name, 1, dp_normal(0, 2.5));
        odds = dp_add(odds, dp_mul(effect, dp_data(rows, effects[j].column, 1)));
    }
    dp_expr sd = dp_sample(m, "district_sd", 1, dp_half_normal(1));
    dp_expr b = dp_sample_in(districts, "b", 1, dp_normal_v(dp_num(0), sd));
    odds = dp_add(odds, dp_pick(b, dp_index(rows, "district", districts)));
    dp_observe(rows, "uses", dp_bernoulli_logit(odds));
    return m;
}

/* The columns that the model reads; room for those that are computed is in *x. */
static dp_dataset *records(dp_table *table, double **x)
{
    size_t n = dp_table_rows(table);
    dp_dataset *data = dp_dataset_new(n);
    const double *age = dp_table_real(table, "age");
    double *column = *x = calloc(NUMBERS * n, sizeof *column);
    if (column == NULL)
        options_stop("contraception", "--data", "out of memory");
    for (int k = 0; k < INDICATORS; k++, column += n) {
        const int32_t *level = dp_table_level(table, indicators[k].of);
        for (size_t i = 0; i < n; i++)
            column[i] = level[i] == indicators[k].level;
        dp_dataset_real(data, indicators[k].name, 1, column);
    }
    for (size_t i = 0; i < n; i++) {
        (*x)[DECADES * n + i] = age[i] / 10;
        (*x)[SQUARES * n + i] = age[i] * age[i] / 100;
    }
    dp_dataset_real(data, "decades", 1, *x + DECADES * n);
    dp_dataset_real(data, "squared decades", 1, *x + SQUARES * n);
    dp_dataset_index(data, "district", dp_table_level(table, "district"));
    return data;
}

int main(int argc, char **argv)
{
    const char *path = "examples/data/contraception.csv", *file = NULL;
    dp_fit_opts o = {.epsilon = 4, .delta = 1e-4};
    const option options[] = {
        {"--epsilon", OPTION_NUMBER, &o.epsilon, "privacy to spend, above 0 (4)"},
        {"--delta", OPTION_NUMBER, &o.delta, "below 1 / (number of women) (1e-4)"},
        {"--seed", OPTION_SEED, &o.seed, "a repeatable fit, for tests: not private"},
        {"--data", OPTION_TEXT, &path, "the survey (examples/data/contraception.csv)"},
        {"--save", OPTION_TEXT, &file, "keep the fit in this file, as for tacit serve"}};
    dp_error err = {0};
    dp_table *table;
    dp_fit *fit;
    double *x;
    options_read(argc, argv, "Fits a hierarchical logistic regression under differential privacy.",
                 sizeof options / sizeof options[0], options);
    if (dp_table_read_csv(path, NULL, COLUMNS, columns, &table, &err))
        options_stop("contraception", "--data", err.text);
    dp_model *m = contraception();
    dp_dataset *data = records(table, &x);
    if (dp_fit_private(m, data, &o, &fit, &err) || dp_fit_print(fit, stdout, &err))
        options_stop("contraception", "fit", err.text);
    if (file != NULL && dp_fit_save(fit, file, &err))
        options_stop("contraception", "--save", err.text);
    dp_fit_free(fit), dp_dataset_free(data), dp_model_free(m), dp_table_free(table), free(x);
    return 0;
}
