/* What is one formula: models of brms's vignettes and of Stan's guide.  Each is read, makes a model
 * with an objective, and stands in doc/language.md under its text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/formula.h>

#include "model/objective.h"
#include "tests/lib/check.h"

static const char *const two[] = {"a", "b"}, *const three[] = {"a", "b", "c"};

#define REAL(of)                                                                                   \
    {                                                                                              \
        .name = of, .kind = DP_COLUMN_REAL, .low = -10, .high = 10                                 \
    }
#define POSITIVE(of)                                                                               \
    {                                                                                              \
        .name = of, .kind = DP_COLUMN_REAL, .low = 0, .high = 100                                  \
    }
#define WHOLE(of, from, to)                                                                        \
    {                                                                                              \
        .name = of, .kind = DP_COLUMN_INTEGER, .low = from, .high = to                             \
    }
#define LEVEL(of, list)                                                                            \
    {                                                                                              \
        .name = of, .kind = DP_COLUMN_LEVEL, .levels = list,                                       \
        .n_levels = sizeof list / sizeof list[0]                                                   \
    }
static const dp_column columns[] = {REAL("y"),
                                    REAL("x"),
                                    REAL("z"),
                                    WHOLE("count", 0, 200),
                                    POSITIVE("time"),
                                    WHOLE("censored", 0, 1),
                                    POSITIVE("area"),
                                    REAL("year"),
                                    LEVEL("group", two),
                                    LEVEL("sex", two),
                                    LEVEL("disease", three),
                                    REAL("age"),
                                    WHOLE("patient", 1, 30),
                                    WHOLE("visit", 1, 90),
                                    WHOLE("binary", 0, 1),
                                    WHOLE("rating", 1, 4),
                                    WHOLE("item", 1, 8),
                                    REAL("base")};

typedef struct row {
    const char *where, *title, *family, *formula;
} row;

static const row rows[] = {
    {"brms, multilevel", "counts of seizures, effects of patients and of visits", "poisson",
     "count ~ age + base * group + (1 | patient) + (1 | visit)"},
    {"brms, multilevel", "times to infection, some censored", "lognormal",
     "time | cens(censored) ~ age * sex + disease + (1 + age | patient)"},
    {"brms, multilevel", "rents, smooth in area and year", "gaussian",
     "y ~ s(area) + s(year) + (1 | patient)"},
    {"brms, distributional", "groups with a standard deviation each", "gaussian",
     "y ~ group, sigma ~ group"},
    {"brms, distributional", "catches of fish, of which some are 0 by themselves",
     "zero_inflated_poisson", "count ~ x + z + group"},
    {"brms, distributional", "the same, whose zeros depend on a predictor", "zero_inflated_poisson",
     "count ~ x + z + group, zi ~ z"},
    {"brms, distributional", "a smooth mean and a smooth standard deviation", "gaussian",
     "y ~ s(area) + s(year), sigma ~ s(area)"},
    {"brms, ordinal", "ratings, cumulative logit", "cumulative", "rating ~ x + group"},
    {"brms, ordinal", "ratings, cumulative probit, effects of patients", "cumulative(probit)",
     "rating ~ x + group + (1 | patient)"},
    {"brms, ordinal", "levels without an order", "categorical", "rating ~ x + group"},
    {"Stan, regression", "linear", "gaussian", "y ~ x"},
    {"Stan, regression", "robust noise", "student", "y ~ x"},
    {"Stan, regression", "logistic", "bernoulli", "binary ~ x"},
    {"Stan, regression", "multi-logit", "categorical", "rating ~ x + z"},
    {"Stan, regression", "ordered logistic", "cumulative", "rating ~ x + z"},
    {"Stan, regression", "hierarchical logistic", "bernoulli", "binary ~ x + (1 + x | patient)"},
    {"Stan, regression", "item response, one parameter", "bernoulli",
     "binary ~ 1 + (1 | patient) + (1 | item)"},
    {"Stan, regression", "hierarchical, of a group's own predictor", "gaussian",
     "y ~ x + base + (1 + x | patient)"},
    {"Stan, mixtures", "zero-inflated counts", "zero_inflated_poisson", "count ~ 1"},
    {"Stan, mixtures", "counts behind a hurdle", "hurdle_poisson", "count ~ 1"},
    {"Stan, truncated or censored data", "numbers that are cut off", "gaussian",
     "y | cens(censored) ~ 1"},
    {"Stan, Gaussian processes", "a function of one number", "gaussian", "y ~ gp(x, k = 20)"},
    {"Stan, counts", "overdispersed", "negbinomial", "count ~ x"},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

static char *read_page(void)
{
    enum { ROOM = 1 << 18 };
    char path[4096], *text = calloc(ROOM, 1);
    const char *root = getenv("top_srcdir");
    (void)snprintf(path, sizeof path, "%s/doc/language.md", root != NULL ? root : ".");
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_non_null(text);
    assert_true(fread(text, 1, ROOM - 1, in) > 0);
    (void)fclose(in);
    return text;
}

static void each_is_one_formula(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_ROWS; k++) {
        const dp_formula_opts opts = {.family = rows[k].family,
                                      .columns = columns,
                                      .n_columns = sizeof columns / sizeof columns[0]};
        dp_error err = {0};
        dp_formula *f;
        dp_model *m;
        dpi_objective o;
        if (dp_formula_parse(rows[k].formula, &opts, &f, &err) != DP_OK)
            fail_msg("%s: %s", rows[k].formula, err.text);
        if (dp_formula_model(f, &m, &err) != DP_OK)
            fail_msg("%s: %s", rows[k].formula, err.text);
        const dpi_objective_spec spec = {.model = m, .points = true};
        if (dpi_objective_init(&o, &spec, &err) != DP_OK)
            fail_msg("%s: %s", rows[k].formula, err.text);
        dpi_objective_free(&o);
        dp_model_free(m);
        dp_formula_free(f);
    }
}

static void each_stands_on_the_page(void **state)
{
    char *page = read_page();
    (void)state;
    for (size_t k = 0; k < N_ROWS; k++) {
        char line[512], formula[256];
        size_t n = 0;
        for (const char *c = rows[k].formula; *c != 0; c++) { /* tables have | for themselves */
            if (*c == '|')
                formula[n++] = '\\';
            formula[n++] = *c;
        }
        formula[n] = 0;
        (void)snprintf(line, sizeof line, "| %s | %s | %s | `%s` |\n", rows[k].where, rows[k].title,
                       rows[k].family, formula);
        if (strstr(page, line) == NULL)
            print_message("%s", line);
        assert_non_null(strstr(page, line));
    }
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_one_formula),
        cmocka_unit_test(each_stands_on_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
