/* Columns of predictors against R's model.matrix, and what else a data set of a formula has. */
#include <tacit/formula.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/dataset.h"
#include "formula/formula.h"
#include "tests/formula/tables.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { RECORDS = 12, STRIDE = 67 };

static dp_formula *parse(const data_set *of, const char *family, const char *text)
{
    const dp_formula_opts options = {
        .family = family, .columns = of->columns, .n_columns = of->n_columns};
    dp_formula *f;
    dp_error err = {0};
    assert_ok(dp_formula_parse(text, &options, &f, &err), err.text);
    return f;
}

static dp_dataset *dataset_of(const dp_formula *f, dp_table *table)
{
    dp_dataset *data;
    dp_error err = {0};
    assert_ok(dp_formula_dataset(f, table, &data, &err), err.text);
    assert_null(dp_dataset_error(data));
    return data;
}

static const double *real_block(const dp_dataset *data, const char *name, size_t d)
{
    const dpi_column *c = dpi_dataset_find(data, name);
    if (c == NULL)
        fail_msg("no column '%s'", name);
    assert_int_equal(c->size, d);
    assert_non_null(c->real);
    return c->real;
}

/* ---- against R ---- */

typedef struct design_case {
    char formula[200];
    dp_formula *f;
    dp_dataset *data;
    size_t columns; /* compared so far */
} design_case;

static void end_case(design_case *c)
{
    if (c->f != NULL && c->columns != c->f->layout[0].design.n)
        fail_msg("%s: %zu columns, R has %zu", c->formula, c->f->layout[0].design.n, c->columns);
    dp_dataset_free(c->data);
    dp_formula_free(c->f);
    *c = (design_case){.f = NULL};
}

static void begin_case(design_case *c, const char *formula, dp_table *table)
{
    char text[256];
    end_case(c);
    assert_true(strlen(formula) < sizeof c->formula);
    (void)strcpy(c->formula, formula);
    (void)strcpy(stpcpy(text, "normal ~ "), c->formula);
    c->f = parse(find_data_set("simulated"), NULL, text);
    c->data = dataset_of(c->f, table);
}

/* One line of matrix.csv: "formula","name",values. */
static void compare_line(design_case *c, char *line, dp_table *table)
{
    char *formula = line + 1, *end = strstr(formula, "\",\"");
    assert_non_null(end);
    *end = 0;
    char *name = end + 3, *values = strstr(name, "\",");
    assert_non_null(values);
    *values = 0;
    values += 2;
    if (strcmp(c->formula, formula) != 0)
        begin_case(c, formula, table);
    const dpi_design *d = &c->f->layout[0].design;
    if (c->columns == d->n)
        fail_msg("%s: R has '%s', too", formula, name);
    const size_t j = c->columns++;
    if (strcmp(d->column[j].name, name) != 0)
        fail_msg("%s: column %zu is '%s', in R '%s'", formula, j, d->column[j].name, name);
    const double *x = real_block(c->data, "design(mu)", d->n);
    for (size_t r = 0; r < RECORDS; r++) {
        const double natural = x[r * STRIDE * d->n + j] * d->column[j].scale + d->column[j].centre;
        assert_close(natural, strtod(values, &values), 1e-13, 1e-13);
        values += *values == ',' ? 1 : 0;
    }
}

static void columns_are_those_of_r(void **state)
{
    (void)state;
    char path[4096], line[4096];
    dp_table *table = read_data_set(find_data_set("simulated"));
    (void)snprintf(path, sizeof path, "%s/tests/formula/matrix.csv", getenv("top_srcdir"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(table);
    design_case c = {.f = NULL};
    size_t lines = 0;
    assert_non_null(fgets(line, sizeof line, file));
    for (; fgets(line, sizeof line, file) != NULL; lines++)
        compare_line(&c, line, table);
    end_case(&c);
    (void)fclose(file);
    dp_table_free(table);
    assert_true(lines > 200);
}

/* ---- ranges ---- */

/* Every number of a design is at most 2, as the schema promises, and the columns of centred numbers
 * reach -2 and 2 at the ends of their range. */
static void numbers_are_of_unit_size(void **state)
{
    (void)state;
    const data_set *of = find_data_set("simulated");
    dp_table *table = read_data_set(of);
    dp_formula *f =
        parse(of, NULL,
              "normal ~ x*z*f + I(x^2 - z) + poly(exposure, 4) + poly(z, 3, raw = TRUE) "
              "+ (x + exposure + f || g), sigma ~ 0 + exposure + f:z");
    dp_dataset *data = dataset_of(f, table);
    const struct {
        const char *name;
        const dpi_design *design;
    } blocks[] = {{"design(mu)", &f->layout[0].design},
                  {"design(mu | g)", &f->layout[0].effects[0]},
                  {"design(sigma)", &f->layout[1].design}};
    for (size_t b = 0; b < 3; b++) {
        const size_t n = blocks[b].design->n;
        const double *x = real_block(data, blocks[b].name, n);
        for (size_t i = 0; i < 800 * n; i++)
            assert_true(fabs(x[i]) <= 4 + 1e-12);
        for (size_t j = 0; j < n; j++) {
            const dpi_design_column *c = &blocks[b].design->column[j];
            assert_true(fabs(c->range.low - c->centre) <= 4 * c->scale * (1 + 1e-12));
            assert_true(fabs(c->range.high - c->centre) <= 4 * c->scale * (1 + 1e-12));
            assert_true(b == 0 || c->centre == 0);
        }
    }
    dp_dataset_free(data);
    dp_formula_free(f);
    dp_table_free(table);
}

static void legendre_polynomials_are_orthogonal_on_the_range(void **state)
{
    (void)state;
    enum { DEGREE = 12, POINTS = 20000 };
    const dpi_variable v = {
        .kind = DPI_VARIABLE_POLYNOMIAL, .degree = DEGREE, .range = {.low = 3, .high = 7}};
    for (size_t a = 0; a < DEGREE; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = 0;
            for (size_t i = 0; i < POINTS; i++) {
                const double x = 3 + 4 * ((double)i + .5) / POINTS;
                sum += dpi_variable_value(&v, false, a, x) * dpi_variable_value(&v, false, b, x);
            }
            assert_close(sum / POINTS, a == b ? 1 / (2 * (double)a + 3) : 0, 0, 1e-5);
        }
    assert_close(dpi_variable_value(&v, false, 1, 6), (3 * .25 - 1) / 2, 1e-15, 0);
}

/* ---- the other columns ---- */

static void outcomes_groups_offsets_and_units_are_there(void **state)
{
    (void)state;
    static const char csv[] =
        "y,n,e,g,h,k,who\n3,5,2,b,7,b,Ann\n0,4,1,a,6,b,Bob\n4,4,4,b,6,a,Ann\n";
    static const char *const letters[] = {"a", "b", "c"};
    const dp_column schema[] = {
        {.name = "y", .kind = DP_COLUMN_INTEGER, .low = 0, .high = 9},
        {.name = "n", .kind = DP_COLUMN_INTEGER, .low = 2, .high = 9},
        {.name = "e", .kind = DP_COLUMN_REAL, .low = 1, .high = 4},
        {.name = "g", .kind = DP_COLUMN_LEVEL, .levels = letters, .n_levels = 3},
        {.name = "h", .kind = DP_COLUMN_INTEGER, .low = 5, .high = 8},
        {.name = "k", .kind = DP_COLUMN_LEVEL, .levels = letters, .n_levels = 3},
        {.name = "who", .kind = DP_COLUMN_UNIT},
    };
    dp_error err = {0};
    dp_table *table;
    assert_ok(dp_table_parse_csv(csv, strlen(csv), NULL, 7, schema, &table, &err), err.text);
    const data_set of = {.columns = schema, .n_columns = 7};
    dp_formula *f = parse(&of, "binomial",
                          "y | trials(n) ~ h + offset(log(e)) + offset(n / 2) + (1 | g:h) + "
                          "(1 | mm(g, k)) + (1 | h) + s(e) + gp(e, 3)");
    dp_dataset *data = dataset_of(f, table);
    dp_table_free(table); /* the data set has its own */
    const double y[] = {3, 0, 4}, n[] = {5, 4, 4}, e[] = {2, 1, 4}, h[] = {7, 6, 6};
    const int32_t gh[] = {1 * 4 + 2, 0 * 4 + 1, 1 * 4 + 1}, hs[] = {2, 1, 1},
                  both[] = {1, 1, 0, 1, 1, 0};
    const double *design = real_block(data, "design(mu)", 1), *gp = real_block(data, "gp(e, 3)", 3);
    for (size_t i = 0; i < 3; i++) {
        const double u = (2 * e[i] - 5) / 3;
        assert_true(real_block(data, "y", 1)[i] == y[i] && real_block(data, "n", 1)[i] == n[i]);
        assert_close(real_block(data, "offset(mu)", 1)[i], log(e[i]) + n[i] / 2, 1e-15, 0);
        assert_close(real_block(data, "s(e)", 9)[9 * i], sqrt(3) * u, 1e-15, 0);
        assert_true(dpi_dataset_find(data, "g:h")->index[i] == gh[i]);
        assert_true(dpi_dataset_find(data, "h")->index[i] == hs[i]);
        assert_close(design[i], (h[i] - 6.5) / .375, 1e-15, 0);
        for (size_t j = 0; j < 3; j++)
            assert_close(gp[i * 3 + j], sin(acos(-1) * (double)(j + 1) * (u + 1.5) / 3) / sqrt(1.5),
                         1e-14, 1e-15);
    }
    assert_memory_equal(dpi_dataset_find(data, "mm(g, k)")->index, both, sizeof both);
    assert_true(data->unit != NULL && data->unit[0] == data->unit[2] &&
                data->unit[0] != data->unit[1]);
    dp_dataset_free(data);
    dp_formula_free(f);
}

/* The names of what a formula reads, with commas between. */
static const char *columns_of(const dp_formula *f, dp_formula_use use, char text[200])
{
    size_t n;
    char *to = text;
    const dp_column *c = dp_formula_columns(f, use, &n);
    *to = 0;
    for (size_t i = 0; i < n; i++)
        to += sprintf(to, "%s%s", i > 0 ? "," : "", c[i].name);
    return text;
}

static void what_is_read_is_told_and_no_more_is_needed(void **state)
{
    (void)state;
    static const char csv[] = "e,h,g,k,n,a\n2,7,b,b,5,1\n1,6,a,b,4,2\n";
    static const char *const letters[] = {"a", "b", "c"};
    const dp_column schema[] = {
        {.name = "y", .kind = DP_COLUMN_INTEGER, .low = 0, .high = 9},
        {.name = "unread", .kind = DP_COLUMN_REAL, .low = 0, .high = 9},
        {.name = "n", .kind = DP_COLUMN_INTEGER, .low = 2, .high = 9},
        {.name = "w", .kind = DP_COLUMN_REAL, .low = 0, .high = 9},
        {.name = "e", .kind = DP_COLUMN_REAL, .low = 1, .high = 4},
        {.name = "g", .kind = DP_COLUMN_LEVEL, .levels = letters, .n_levels = 3},
        {.name = "h", .kind = DP_COLUMN_INTEGER, .low = 5, .high = 8},
        {.name = "k", .kind = DP_COLUMN_LEVEL, .levels = letters, .n_levels = 3},
        {.name = "a", .kind = DP_COLUMN_REAL, .low = 0, .high = 9},
        {.name = "who", .kind = DP_COLUMN_UNIT},
    };
    const data_set of = {.columns = schema, .n_columns = 10};
    char text[200];
    size_t n;
    dp_error err = {0};
    dp_formula *f = parse(&of, "binomial",
                          "y | trials(n) + weights(w) ~ C(h, sum) + offset(log(e)) + (1 | g) + "
                          "(1 | mm(g, k)) + s(a, k = 5)");
    assert_string_equal(columns_of(f, DP_FORMULA_FIT, text), "y,n,w,e,g,h,k,a,who");
    assert_string_equal(columns_of(f, DP_FORMULA_PREDICT, text), "n,e,g,h,k,a");
    const dp_column *c = dp_formula_columns(f, DP_FORMULA_PREDICT, &n);
    dp_table *table;
    dp_dataset *data;
    assert_ok(dp_table_parse_csv(csv, strlen(csv), NULL, n, c, &table, &err), err.text);
    assert_ok(dp_formula_new_records(f, table, &data, &err), err.text);
    assert_null(dpi_dataset_find(data, "y"));
    assert_null(dpi_dataset_find(data, "w"));
    assert_null(data->unit);
    assert_true(real_block(data, "n", 1)[1] == 4);
    assert_close(real_block(data, "offset(mu)", 1)[0], log(2), 1e-15, 0);
    dp_dataset_free(data);
    assert_fails(dp_formula_dataset(f, table, &data, &err), DP_ENAME, &err, "'y'");
    dp_table_free(table);
    dp_formula_free(f);
    f = parse(&of, "gaussian", "log(e) ~ 1");
    assert_string_equal(columns_of(f, DP_FORMULA_FIT, text), "e,who");
    assert_string_equal(columns_of(f, DP_FORMULA_PREDICT, text), "");
    dp_formula_free(f);
    assert_ok(dp_formula_parse("y ~ x", NULL, &f, &err), err.text);
    assert_string_equal(columns_of(f, DP_FORMULA_FIT, text), "");
    dp_formula_free(f);
}

static void a_table_of_another_schema_is_refused(void **state)
{
    (void)state;
    const data_set *of = find_data_set("simulated");
    dp_formula *f = parse(of, NULL, "normal ~ x + (1 | g)"), *plain = NULL;
    dp_column other[] = {{.name = "normal", .kind = DP_COLUMN_REAL, .low = -9, .high = 9},
                         {.name = "x", .kind = DP_COLUMN_REAL, .low = -9, .high = 9},
                         {.name = "g", .kind = DP_COLUMN_INTEGER, .low = 0, .high = 20}};
    static const char csv[] = "normal,x,g\n1,0.5,3\n";
    dp_error err = {0};
    dp_table *table;
    dp_dataset *data;
    assert_ok(dp_table_parse_csv(csv, strlen(csv), NULL, 3, other, &table, &err), err.text);
    assert_fails(dp_formula_dataset(f, table, &data, &err), DP_EDATA, &err, "21 levels");
    assert_null(data);
    assert_ok(dp_formula_parse("normal ~ x", NULL, &plain, &err), err.text);
    assert_fails(dp_formula_dataset(plain, table, &data, &err), DP_ESTATE, &err, ".columns");
    dp_table_free(table);
    assert_ok(dp_table_parse_csv(csv, strlen(csv), NULL, 2, other, &table, &err), err.text);
    assert_fails(dp_formula_dataset(f, table, &data, &err), DP_ENAME, &err, "g");
    dp_table_free(table);
    static const char far[] = "normal,x,g\n1,0.5,3\n1,8000,3\n";
    other[1].high = 9000;
    assert_ok(dp_table_parse_csv(far, strlen(far), NULL, 3, other, &table, &err), err.text);
    assert_fails(dp_formula_dataset(f, table, &data, &err), DP_EDATA, &err,
                 "'x', record 1 (from 0): the value is outside");
    dp_table_free(table);
    dp_formula_free(plain);
    dp_formula_free(f);
}

/* Over the range the line of s(x) has mean 0 and mean square 1, its wiggles have mean 0 and are
 * orthogonal to the line and each other, and their mean squares have the sum 1. */
static void splines_are_orthogonal_on_the_range(void **state)
{
    enum { N = 4000, D = 5 };
    (void)state;
    const dp_column columns[] = {{.name = "y", .kind = DP_COLUMN_REAL, .low = 0, .high = 1},
                                 {.name = "x", .kind = DP_COLUMN_REAL, .low = -2, .high = 6}};
    const dp_formula_opts options = {.columns = columns, .n_columns = 2};
    dp_formula *f;
    dp_table *table;
    dp_error err = {0};
    char *csv = malloc(40 * (N + 1)), *at = stpcpy(csv, "x,y\n");
    for (int i = 0; i < N; i++)
        at += sprintf(at, "%.17g,0.5\n", -2 + 8 * (i + .5) / N);
    assert_ok(dp_formula_parse("y ~ s(x, k = 6)", &options, &f, &err), err.text);
    assert_ok(dp_table_parse_csv(csv, strlen(csv), NULL, 2, columns, &table, &err), err.text);
    dp_dataset *data = dataset_of(f, table);
    const double *b = real_block(data, "s(x, k = 6)", D);
    double mean[D] = {0}, square[D][D] = {{0}}, wiggles = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < D; j++) {
            mean[j] += b[i * D + j] / N;
            for (size_t k = 0; k < D; k++)
                square[j][k] += b[i * D + j] * b[i * D + k] / N;
        }
    for (size_t j = 0; j < D; j++) {
        assert_close(mean[j], 0, 0, 1e-6);
        wiggles += j > 0 ? square[j][j] : 0;
        for (size_t k = 0; k < j; k++)
            assert_close(square[j][k], 0, 0, 1e-6);
    }
    assert_close(square[0][0], 1, 1e-6, 0);
    assert_close(wiggles, 1, 1e-5, 0);
    dp_dataset_free(data);
    dp_table_free(table);
    dp_formula_free(f);
    free(csv);
}

/* Reads `csv` under `table_column` and what formula `text` reads of it under `column`. */
static dp_status under_two_schemas(const char *text, const char *csv, const dp_column *column,
                                   const dp_column *table_column, dp_error *err)
{
    const dp_column y = {.name = "y", .kind = DP_COLUMN_REAL, .low = -9, .high = 9};
    const dp_column one[] = {y, *column}, other[] = {y, *table_column};
    const dp_formula_opts options = {.columns = one, .n_columns = 2};
    dp_formula *f;
    dp_table *table;
    dp_dataset *data = NULL;
    assert_ok(dp_formula_parse(text, &options, &f, err), err->text);
    assert_ok(dp_table_parse_csv(csv, strlen(csv), NULL, 2, other, &table, err), err->text);
    const dp_status status = dp_formula_dataset(f, table, &data, err);
    dp_dataset_free(data);
    dp_table_free(table);
    dp_formula_free(f);
    return status;
}

static void levels_that_mean_something_else_are_refused(void **state)
{
    static const char *const sites[] = {"north", "south", "west"},
                             *const renamed[] = {"north", "east", "west"},
                             *const moved[] = {"south", "north", "west"},
                             *const same[] = {"north", "south", "west"};
    static const char csv[] = "y,g\n1,north\n2,west\n";
    const dp_column by = {.name = "g", .kind = DP_COLUMN_LEVEL, .levels = sites, .n_levels = 3},
                    number = {.name = "g", .kind = DP_COLUMN_INTEGER, .low = 1, .high = 3};
    dp_column other = by, later = number, unit = {.name = "g", .kind = DP_COLUMN_UNIT};
    static const char *const formulas[] = {"y ~ g", "y ~ 1 + (1 | g)"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        dp_error err = {0}, named = {0}, low = {0}, kind = {0};
        other.levels = renamed;
        assert_fails(under_two_schemas(formulas[i], csv, &by, &other, &err), DP_EDATA, &err,
                     "column 'g': level 2 of 3 is 'east' in the table and 'south' in the "
                     "formula's schema; read the table with the formula's schema");
        other.levels = moved;
        assert_fails(under_two_schemas(formulas[i], csv, &by, &other, &named), DP_EDATA, &named,
                     "level 1 of 3 is 'south' in the table and 'north'");
        other.levels = same;
        dp_error good = {0};
        assert_ok(under_two_schemas(formulas[i], csv, &by, &other, &good), good.text);
        later.low = 0;
        later.high = 2;
        assert_fails(under_two_schemas(formulas[i], "y,g\n1,1\n2,2\n", &number, &later, &low),
                     DP_EDATA, &low, "begins at 0 in the table and at 1 in the formula's schema");
        assert_fails(under_two_schemas(formulas[i], csv, &by, &unit, &kind), DP_EDATA, &kind,
                     "is UNIT in the table and LEVEL in the formula's schema");
    }
}

static void survives_memory_running_out_anywhere(void **state)
{
    (void)state;
    const data_set *of = find_data_set("simulated");
    dp_table *table = read_data_set(of);
    dp_formula *f =
        parse(of, "binomial",
              "successes | trials(trials) ~ x*f + I(z + x) + offset(x) + s(z) + gp(x, 4) "
              "+ (1 + x | g) + (1 | g:h)");
    dp_status status = DP_ENOMEM;
    for (size_t k = 1; status != DP_OK; k++) {
        dp_dataset *data;
        dp_error err = {0};
        const size_t live = faulty_live();
        faulty_fail(k);
        status = dp_formula_dataset(f, table, &data, &err);
        assert_true(status == DP_OK || (status == DP_ENOMEM && data == NULL && faulty_failed()));
        faulty_fail(0);
        dp_dataset_free(data);
        assert_int_equal(faulty_live(), live);
        assert_true(k < 1000);
    }
    dp_formula_free(f);
    dp_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_those_of_r),
        cmocka_unit_test(numbers_are_of_unit_size),
        cmocka_unit_test(legendre_polynomials_are_orthogonal_on_the_range),
        cmocka_unit_test(outcomes_groups_offsets_and_units_are_there),
        cmocka_unit_test(what_is_read_is_told_and_no_more_is_needed),
        cmocka_unit_test(a_table_of_another_schema_is_refused),
        cmocka_unit_test(splines_are_orthogonal_on_the_range),
        cmocka_unit_test(levels_that_mean_something_else_are_refused),
        cmocka_unit_test(survives_memory_running_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
