/* Coefficients of formulas, without privacy, beside those of R's packages (reference.csv, which
 * reference.R writes): within .2 of R's standard errors.
 *
 * R's numbers are maxima of likelihoods; priors here are wide, and posterior means differ from
 * maxima by what skews the posterior and by chance of the draws, .02 standard deviations.  With
 * EVERY_CASE all formulas are fitted, which takes minutes; else those of one table without
 * groups. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/formula.h>
#include <tacit/infer.h>

#include "tests/formula/tables.h"
#include "tests/lib/check.h"

enum { TERMS = 24, WORD = 200, DRAWS = 4000 };
static const double most_off = 0.2;

/* Of scales and shapes, whose posterior is skewed: its mean is off its mode. */
static const double most_skewed = 0.3;

typedef struct term {
    char name[WORD];
    double estimate, se; /* NaN: not given */
} term;

typedef struct reference {
    int number; /* of the case; 0: the file has ended */
    char data[WORD], family[WORD], formula[WORD];
    term terms[TERMS];
    size_t n_terms;
} reference;

static FILE *open_reference(void)
{
    char path[4096];
    const char *root = getenv("top_srcdir");
    (void)snprintf(path, sizeof path, "%s/tests/formula/reference.csv", root != NULL ? root : ".");
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    return in;
}

/* Takes a field of a line, without its quotes. */
static void take(const char **at, char word[WORD])
{
    bool quoted = **at == '"';
    size_t n = 0;
    *at += quoted;
    for (; **at != 0 && **at != '\n' && (quoted ? **at != '"' : **at != ','); ++*at)
        if (n + 1 < WORD)
            word[n++] = **at;
    word[n] = 0;
    *at += quoted;
    *at += **at == ',';
}

/* Reads the lines of the next case; *line holds the line read last, of the case after it. */
static void read_case(FILE *in, char *line, size_t room, reference *to)
{
    *to = (reference){.number = atoi(line)};
    while (to->number != 0 && atoi(line) == to->number) {
        const char *at = line;
        char word[WORD];
        take(&at, word);
        take(&at, to->data);
        take(&at, to->family);
        take(&at, to->formula);
        assert_true(to->n_terms < TERMS);
        term *t = &to->terms[to->n_terms++];
        take(&at, t->name);
        take(&at, word);
        t->estimate = strtod(word, NULL);
        take(&at, word);
        t->se = word[0] != 0 ? strtod(word, NULL) : NAN;
        if (fgets(line, (int)room, in) == NULL)
            line[0] = 0;
    }
}

/* R has no priors, so those of coefficients are so wide that they say nothing; categories, whose
 * coefficients have a name for each, keep their own. */
static const dp_formula_prior wide[] = {{"b", "normal(0, 1000)"}};

static dp_fit *fit_case(const reference *of, dp_dataset **data, dp_model **model)
{
    const data_set *set = find_data_set(of->data);
    const dp_formula_opts opts = {.family = of->family,
                                  .columns = set->columns,
                                  .n_columns = set->n_columns,
                                  .priors = wide,
                                  .n_priors = strcmp(of->family, "categorical") != 0};
    dp_formula *f;
    dp_fit *fit;
    dp_error err = {0};
    dp_table *table = read_data_set(set);
    if (table == NULL)
        return NULL;
    assert_ok(dp_formula_parse(of->formula, &opts, &f, &err), err.text);
    assert_ok(dp_formula_model(f, model, &err), err.text);
    assert_ok(dp_formula_dataset(f, table, data, &err), err.text);
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .draws = DRAWS, .seed = 11, .threads = 2};
    assert_ok(dp_fit_private(*model, *data, &o, &fit, &err), err.text);
    dp_table_free(table);
    dp_formula_free(f);
    return fit;
}

static double mean_of(dp_fit *fit, const char *name)
{
    static double values[DRAWS];
    double sum = 0;
    dp_rng *rng;
    dp_draws *draws;
    dp_error err = {0};
    assert_ok(dp_rng_new(1, &rng, &err), err.text);
    assert_ok(dp_fit_draw(fit, DRAWS, rng, &draws, &err), err.text);
    const dp_given given = {.draws = draws};
    assert_ok(dp_fit_evaluate(fit, dp_fit_expr(fit, name), &given, DRAWS, values, &err), err.text);
    for (size_t k = 0; k < DRAWS; k++)
        sum += values[k] / DRAWS;
    dp_draws_free(draws);
    dp_rng_free(rng);
    return sum;
}

static size_t compare(const reference *of)
{
    dp_dataset *data;
    dp_model *model;
    dp_fit *fit = fit_case(of, &data, &model);
    size_t missed = 0;
    double most = 0;
    const char *worst = "";
    if (fit == NULL)
        return 0;
    for (size_t k = 0; k < of->n_terms; k++) {
        const term *t = &of->terms[k];
        if (isnan(t->se))
            continue;
        double off = fabs(mean_of(fit, t->name) - t->estimate) / t->se;
        missed += !(off <= (strncmp(t->name, "b_", 2) == 0 ? most_off : most_skewed));
        if (!(off <= most)) {
            most = off;
            worst = t->name;
        }
    }
    print_message("# %2d %-13s %-22s %-50s %.2f %s\n", of->number, of->data, of->family,
                  of->formula, most, worst);
    dp_fit_free(fit);
    dp_model_free(model);
    dp_dataset_free(data);
    return missed;
}

static bool is_wanted(const reference *of)
{
#ifdef EVERY_CASE
    (void)of;
    return getenv("CASE") == NULL || atoi(getenv("CASE")) == of->number;
#else
    return strcmp(of->data, "simulated") == 0 && strstr(of->formula, "(1") == NULL;
#endif
}

static void coefficients_are_those_of_r(void **state)
{
    char line[1024] = "";
    reference of;
    size_t missed = 0, cases = 0;
    FILE *in = open_reference();
    (void)state;
    assert_non_null(fgets(line, sizeof line, in));
    assert_non_null(fgets(line, sizeof line, in));
    for (read_case(in, line, sizeof line, &of); of.number != 0;
         read_case(in, line, sizeof line, &of)) {
        if (!is_wanted(&of))
            continue;
        missed += compare(&of);
        cases++;
    }
    (void)fclose(in);
    assert_true(cases > 0);
    assert_int_equal(missed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_are_those_of_r),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
