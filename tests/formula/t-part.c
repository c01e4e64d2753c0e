/* Columns of a regression at two owners: those of the whole, and refusals. */
#include <math.h>
#include <string.h>

#include <tacit/formula.h>

#include "data/dataset.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

static const char *const yes_no[] = {"N", "Y"}, *const groups[] = {"a", "b", "c"};
static const dp_column schema[] = {
    {.name = "use", .kind = DP_COLUMN_LEVEL, .levels = yes_no, .n_levels = 2},
    {.name = "age", .kind = DP_COLUMN_REAL, .low = 10, .high = 90},
    {.name = "dose", .kind = DP_COLUMN_REAL, .low = -1, .high = 3},
    {.name = "arm", .kind = DP_COLUMN_LEVEL, .levels = groups, .n_levels = 3},
    {.name = "pulse", .kind = DP_COLUMN_REAL, .low = 40, .high = 200},
    {.name = "who", .kind = DP_COLUMN_UNIT},
};
enum { COLUMNS = sizeof schema / sizeof schema[0], ROWS = 4 };

static const char text[] = "use,age,dose,arm,pulse,who\n"
                           "N,20,0.25,a,71.5, p1 \n"
                           "Y,33.5,2.75,b,60,P2\n"
                           "Y,71,-0.5,c,180.25,p3\n"
                           "N,88.25,1,c,99,\"p,4\"\n";

static dp_formula *formula_of(const char *what, const char *family)
{
    dp_formula *f = NULL;
    dp_error err = {0};
    const dp_formula_opts o = {.family = family, .columns = schema, .n_columns = COLUMNS};
    assert_ok(dp_formula_parse(what, &o, &f, &err), err.text);
    return f;
}

static dp_table *table_of(size_t n, const dp_column *columns)
{
    dp_table *t = NULL;
    dp_error err = {0};
    const dp_csv_options o = {.unit_texts = true};
    assert_ok(dp_table_parse_csv(text, strlen(text), &o, n, columns, &t, &err), err.text);
    return t;
}

static const dp_formula_part *part_of(const dp_formula *f, size_t n, const char *const *held)
{
    const dp_formula_part *p = NULL;
    dp_error err = {0};
    assert_ok(dp_formula_part_new(f, n, held, &p, &err), err.text);
    return p;
}

/* Each owner reads a table of its own columns alone, and both together have the whole's design. */
static void parts_are_columns_of_the_whole(void **state)
{
    static const char *const first[] = {"age", "dose"}, *const other[] = {"pulse", "arm", "use"};
    (void)state;
    dp_error err = {0};
    dp_dataset *whole = NULL;
    double x[2][ROWS * 6], y[ROWS];
    dp_formula *f = formula_of("use ~ age * dose + I(age^2) + arm + log(pulse)", "bernoulli");
    dp_table *all = table_of(COLUMNS, schema);
    assert_ok(dp_formula_dataset(f, all, &whole, &err), err.text);
    const dpi_column *design = dpi_dataset_find(whole, "design(mu)");
    const dp_formula_part *p[2] = {part_of(f, 2, first), part_of(f, 3, other)};
    assert_int_equal(design->size, 7);
    assert_true(!p[0]->has_outcome && p[1]->has_outcome && p[0]->logistic);
    assert_int_equal(p[0]->n, 4);
    assert_int_equal(p[1]->n, 4);
    assert_int_equal(p[0]->n_all, 8);
    assert_int_equal(p[0]->n_columns, 2);
    assert_int_equal(p[1]->n_columns, 3);
    for (int k = 0; k < 2; k++) {
        dp_table *own = table_of(p[k]->n_columns, p[k]->columns);
        assert_ok(dp_formula_part_rows(p[k], own, x[k], k == 1 ? y : NULL, &err), err.text);
        dp_table_free(own);
    }
    /* age, dose, I(age^2), armb, armc, log(pulse) and age:dose: numbers are at most 2, there 4. */
    static const double size_of[] = {.5, .5, .5, 1, 1, .5, .5};
    size_t at[2] = {0, 1}, found = 0;
    for (size_t j = 0; j < design->size; j++) {
        bool is = false;
        for (int k = 0; k < 2 && !is; k++) {
            if (at[k] >= p[k]->n)
                continue;
            is = true;
            for (size_t i = 0; i < ROWS; i++)
                is = is && fabs(x[k][i * p[k]->n + at[k]] -
                                design->real[i * design->size + j] * size_of[j]) < 1e-15;
            for (size_t i = 0; is && i < ROWS; i++)
                assert_true(fabs(x[k][i * p[k]->n + at[k]]) <= p[k]->term[at[k]].most);
            at[k] += is;
            found += is;
        }
    }
    assert_int_equal(found, design->size);
    assert_string_equal(p[1]->term[0].name, "(Intercept)");
    for (size_t i = 0; i < ROWS; i++) {
        assert_close(x[1][i * p[1]->n], 1, 0, 0);
        assert_close(y[i], i == 1 || i == 2, 0, 0);
    }
    assert_string_equal(p[0]->term[0].name, "age");
    assert_close(p[0]->term[0].centre, 50, 0, 0);
    assert_close(p[0]->term[0].scale, 20, 0, 0);
    assert_close(p[0]->term[0].most, 2, 0, 0);
    for (int k = 0; k < 2; k++)
        dp_formula_part_free(p[k]);
    dp_dataset_free(whole);
    dp_table_free(all);
    dp_formula_free(f);
}

static void outcomes_that_are_numbers_are_scaled_by_their_range(void **state)
{
    static const char *const held[] = {"pulse"};
    (void)state;
    dp_error err = {0};
    double x[ROWS], y[ROWS];
    dp_formula *f = formula_of("pulse ~ age", NULL);
    const dp_formula_part *p = part_of(f, 1, held);
    dp_table *own = table_of(p->n_columns, p->columns);
    assert_int_equal(p->n, 1);
    assert_true(!p->logistic);
    assert_ok(dp_formula_part_rows(p, own, x, y, &err), err.text);
    assert_close(y[2], (180.25 - 120) / 40, 1e-15, 0);
    assert_close(p->most, 2, 0, 0);
    dp_table_free(own);
    dp_formula_part_free(p);
    dp_formula_free(f);
}

static void refuses(const char *what, const char *family, size_t n, const char *const *held,
                    dp_status status, const char *why)
{
    const dp_formula_part *p = NULL;
    dp_error err = {0};
    dp_formula *f = formula_of(what, family);
    assert_fails(dp_formula_part_new(f, n, held, &p, &err), status, &err, why);
    assert_null(p);
    dp_formula_free(f);
}

static void what_is_no_plain_regression_is_refused(void **state)
{
    static const char *const age[] = {"age"}, *const none[] = {"weight"};
    (void)state;
    refuses("use ~ age:dose", "bernoulli", 1, age, DP_EINVAL, "age:dose is computed of columns");
    refuses("I(pulse + age) ~ dose", NULL, 1, age, DP_EINVAL, "the outcome is computed");
    refuses("use ~ age", "bernoulli", 1, none, DP_ENAME, "'weight'");
    refuses("use ~ dose", "bernoulli", 1, age, DP_EINVAL, "has nothing");
    refuses("use ~ age", "bernoulli(probit)", 1, age, DP_EUNSUPPORTED, "bernoulli(probit)");
    refuses("pulse ~ age", "student", 1, age, DP_EUNSUPPORTED, "student");
    refuses("pulse ~ 0 + age", NULL, 1, age, DP_EUNSUPPORTED, "intercept");
    refuses("pulse ~ age + (1 | arm)", NULL, 1, age, DP_EUNSUPPORTED, "leave out groups");
    refuses("pulse ~ age + s(dose)", NULL, 1, age, DP_EUNSUPPORTED, "leave out groups");
    refuses("pulse ~ age + offset(dose)", NULL, 1, age, DP_EUNSUPPORTED, "leave out groups");
    refuses("pulse ~ age, sigma ~ dose", NULL, 1, age, DP_EUNSUPPORTED, "further formulas");
    dp_formula *f = NULL;
    const dp_formula_part *p = NULL;
    dp_error err = {0};
    assert_ok(dp_formula_parse("use ~ age", NULL, &f, &err), err.text);
    assert_fails(dp_formula_part_new(f, 1, age, &p, &err), DP_ESTATE, &err, "schema");
    dp_formula_free(f);
}

static void texts_of_units_are_kept_where_they_are_asked_for(void **state)
{
    (void)state;
    dp_table *t = table_of(1, &schema[5]), *without = NULL;
    dp_error err = {0};
    const char *const *who = dp_table_text(t, "who");
    assert_string_equal(who[0], "p1");
    assert_string_equal(who[1], "P2");
    assert_string_equal(who[3], "p,4");
    dp_table_free(t);
    assert_ok(dp_table_parse_csv(text, strlen(text), NULL, 1, &schema[5], &without, &err),
              err.text);
    assert_null(dp_table_text(without, "who"));
    assert_int_equal(dp_table_status(without), DP_ESTATE);
    dp_table_free(without);
}

static void survives_memory_running_out_anywhere(void **state)
{
    static const char *const held[] = {"pulse", "arm", "use"};
    (void)state;
    const dp_csv_options o = {.unit_texts = true};
    double x[ROWS * 6], y[ROWS];
    dp_status status = DP_ENOMEM;
    dp_formula *f = formula_of("use ~ age + arm * log(pulse)", "bernoulli");
    for (size_t k = 1; status != DP_OK; k++) {
        const dp_formula_part *p = NULL;
        dp_table *t = NULL;
        dp_error err = {0};
        const size_t live = faulty_live();
        faulty_fail(k);
        status = dp_formula_part_new(f, 3, held, &p, &err);
        if (status == DP_OK)
            status = dp_table_parse_csv(text, strlen(text), &o, COLUMNS, schema, &t, &err);
        if (status == DP_OK)
            status = dp_formula_part_rows(p, t, x, y, &err);
        assert_true(status == DP_OK || (status == DP_ENOMEM && faulty_failed()));
        faulty_fail(0);
        dp_table_free(t);
        dp_formula_part_free(p);
        assert_int_equal(faulty_live(), live);
        assert_true(k < 1000);
    }
    dp_formula_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_columns_of_the_whole),
        cmocka_unit_test(outcomes_that_are_numbers_are_scaled_by_their_range),
        cmocka_unit_test(what_is_no_plain_regression_is_refused),
        cmocka_unit_test(texts_of_units_are_kept_where_they_are_asked_for),
        cmocka_unit_test(survives_memory_running_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
