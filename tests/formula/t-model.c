/* Formulas under schemas: what they say of themselves, what they refuse, and their models, which
 * are those of the C that they write. */
#include <tacit/formula.h>
#include <tacit/infer.h>
#include <tacit/multivariate.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op.h"
#include "model/model.h"
#include "tests/formula/golden.h"
#include "tests/formula/tables.h"
#include "tests/formula/written.inc"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

/* ---- in words ---- */

/* "data family" as options. */
static dp_formula_opts options_of(const char *head, char data[64])
{
    const char *family = strchr(head, ' ');
    assert_non_null(family);
    (void)snprintf(data, 64, "%.*s", (int)(family - head), head);
    const data_set *of = find_data_set(data);
    return (dp_formula_opts){
        .family = family + 1, .columns = of->columns, .n_columns = of->n_columns};
}

static void put_indented(const char *text, FILE *to)
{
    for (const char *c = text; *c != 0; c++) {
        if (c == text || c[-1] == '\n')
            (void)fputs("    ", to);
        (void)fputc(*c, to);
    }
}

static void put_description(const char *head, const char *formula, FILE *to)
{
    char data[64], *text = NULL;
    size_t n = 0;
    dp_error err = {0};
    dp_formula *f;
    const dp_formula_opts options = options_of(head, data);
    assert_ok(dp_formula_parse(formula, &options, &f, &err), err.text);
    FILE *stream = open_memstream(&text, &n);
    assert_ok(dp_formula_describe(f, stream, &err), err.text);
    (void)fclose(stream);
    put_indented(text, to);
    free(text);
    dp_formula_free(f);
}

static void formulas_describe_themselves_as_expected(void **state)
{
    (void)state;
    golden_compare("described.expected", put_description);
    assert_true(golden_count("described.expected") >= 30);
}

static void put_refusal(const char *head, const char *formula, FILE *to)
{
    char data[64];
    dp_error err = {0};
    dp_formula *f;
    const dp_formula_opts options = options_of(head, data);
    const dp_status status = dp_formula_parse(formula, &options, &f, &err);
    if (status == DP_OK)
        fail_msg("'%s' is accepted", formula);
    assert_null(f);
    (void)fprintf(to, "    %s\n", dp_status_name(status));
    put_indented(err.text, to);
    (void)fputc('\n', to);
}

static void errors_of_the_schema_point_to_the_place(void **state)
{
    (void)state;
    golden_compare("refused.expected", put_refusal);
    assert_true(golden_count("refused.expected") >= 20);
}

static void effects_of_one_group_are_refused(void **state)
{
    static const char *const here[] = {"here"};
    const dp_column columns[] = {
        {.name = "y", .kind = DP_COLUMN_REAL, .low = 0, .high = 1},
        {.name = "site", .kind = DP_COLUMN_LEVEL, .levels = here, .n_levels = 1},
        {.name = "ward", .kind = DP_COLUMN_INTEGER, .low = 1, .high = 9}};
    const dp_formula_opts options = {.columns = columns, .n_columns = 3};
    dp_error err = {0};
    dp_formula *f;
    (void)state;
    assert_fails(dp_formula_parse("y ~ 1 + (1 | site)", &options, &f, &err), DP_EINVAL, &err,
                 "'site' has one level");
    assert_ok(dp_formula_parse("y ~ 1 + (1 | ward:site)", &options, &f, &err), err.text);
    dp_formula_free(f);
}

/* ---- as C ---- */

typedef struct written {
    const char *name, *data, *family, *formula;
    dp_model *(*model)(void);
} written;

static const written all[] = {
    {"written_groups", "contraception", "bernoulli", "y ~ age*urban + livch + (1 + age | district)",
     written_groups},
    {"written_scales", "simulated", "student",
     "normal ~ C(f, sum) + s(z, k = 6) + gp(x, 5) + (0 + f || g) + offset(log(exposure)), sigma ~ "
     "z + (1 | g)",
     written_scales},
    {"written_categories", "heart", "categorical", "cp ~ age + factor(sex)", written_categories},
    {"written_grades", "simulated", "cumulative(probit)", "grade ~ exposure + (1 | g)",
     written_grades},
    {"written_rows", "simulated", "gaussian", "normal ~ x + (1 + x + z | g) + (x + f | mm(g, g2))",
     written_rows},
    {"written_counts", "simulated", "negbinomial", "zeros ~ x, shape ~ z", written_counts},
    {"written_zeros", "simulated", "zero_inflated_negbinomial",
     "zeros | weights(weight) ~ x, zi ~ z", written_zeros},
    {"written_hurdle", "simulated", "hurdle_lognormal", "positive ~ x", written_hurdle},
    {"written_times", "simulated", "exponential", "time | cens(censored) ~ x", written_times},
    {"written_trials", "simulated", "binomial(cloglog)",
     "successes | trials(trials) ~ 0 + poly(x, 2) + (1 | g/h)", written_trials},
    {"written_probit", "simulated", "beta(probit)", "share ~ 1 + (1 | mm(g, g2)), phi ~ x",
     written_probit},
};

enum { N_WRITTEN = sizeof all / sizeof all[0], MOST_COLUMNS = 32 };

/* The schema of the data set with the column g2, as g. */
static size_t with_second_groups(const char *name, dp_column columns[MOST_COLUMNS])
{
    const data_set *of = find_data_set(name);
    memcpy(columns, of->columns, of->n_columns * sizeof *columns);
    columns[of->n_columns] =
        (dp_column){.name = "g2", .kind = DP_COLUMN_INTEGER, .low = 1, .high = 20};
    return of->n_columns + 1;
}

static dp_formula *parse_written(const written *w)
{
    dp_column columns[MOST_COLUMNS];
    const size_t n = with_second_groups(w->data, columns);
    const dp_formula_opts options = {.family = w->family, .columns = columns, .n_columns = n};
    dp_formula *f;
    dp_error err = {0};
    assert_ok(dp_formula_parse(w->formula, &options, &f, &err), err.text);
    return f;
}

static char *read_file(const char *name)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/tests/formula/%s", getenv("top_srcdir"), name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 18);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 18) - 1, file) < (1 << 18) - 1);
    (void)fclose(file);
    return text;
}

static void c_is_written_as_it_stands_in_the_sources(void **state)
{
    (void)state;
    char *text = NULL, *expected = read_file("written.inc");
    size_t n = 0;
    dp_error err = {0};
    FILE *stream = open_memstream(&text, &n);
    for (size_t i = 0; i < N_WRITTEN; i++) {
        dp_formula *f = parse_written(&all[i]);
        assert_ok(dp_formula_c(f, all[i].name, stream, &err), err.text);
        assert_fails(dp_formula_c(f, "2", stream, &err), DP_EINVAL, &err, "identifier");
        assert_fails(dp_formula_c(f, "a b", stream, &err), DP_EINVAL, &err, "identifier");
        assert_fails(dp_formula_c(f, "for", stream, &err), DP_EINVAL, &err, "word of the language");
        assert_fails(dp_formula_c(f, "main", stream, &err), DP_EINVAL, &err, "another one");
        dp_formula_free(f);
    }
    (void)fclose(stream);
    if (strcmp(text, expected) != 0) {
        FILE *kept = fopen("written.inc.out", "w");
        if (kept != NULL) {
            (void)fputs(text, kept);
            (void)fclose(kept);
        }
        fail_msg("written.inc.out has what was written now");
    }
    free(expected);
    free(text);
}

/* Whether node a of one model computes what node b of another one does.  seen[a] is the node that a
 * has been found to be, -1 before. */
static bool same_node(const dpi_graph *p, dpi_id a, const dpi_graph *q, dpi_id b, dpi_id seen[])
{
    if (a == DPI_NONE || b == DPI_NONE)
        return a == b;
    if (seen[a] >= 0)
        return seen[a] == b;
    const dpi_node *m = dpi_get(p, a), *n = dpi_get(q, b);
    if (m->op != n->op || !dpi_shape_same(&m->shape, &n->shape) ||
        !dpi_attr_same(&m->attr, &n->attr) || (m->name == NULL) != (n->name == NULL) ||
        (m->name != NULL && strcmp(m->name, n->name) != 0))
        return false;
    seen[a] = b;
    return same_node(p, m->in[0], q, n->in[0], seen) && same_node(p, m->in[1], q, n->in[1], seen);
}

static void models_are_those_of_their_c(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_WRITTEN; i++) {
        dp_formula *f = parse_written(&all[i]);
        dp_model *made, *compiled = all[i].model();
        dp_error err = {0};
        assert_ok(dp_formula_model(f, &made, &err), err.text);
        dp_formula_free(f); /* the model does not need it */
        assert_ok(dp_model_status(compiled), dp_model_error(compiled));
        assert_int_equal(made->n_sites, compiled->n_sites);
        dpi_id *seen = malloc(made->graph.n_nodes * sizeof *seen);
        for (size_t k = 0; k < made->graph.n_nodes; k++)
            seen[k] = -1;
        for (size_t s = 0; s < made->n_sites; s++) {
            const dpi_site *a = &made->sites[s], *b = &compiled->sites[s];
            assert_string_equal(a->name, b->name);
            assert_true(a->kind == b->kind && (a->family == NULL) == (b->family == NULL));
            if (a->family != NULL)
                assert_string_equal(a->family->name, b->family->name);
            assert_true(same_node(&made->graph, a->value, &compiled->graph, b->value, seen));
            for (int k = 0; a->family != NULL && k < (int)a->family->n_args; k++)
                assert_true(same_node(&made->graph, a->arg[k], &compiled->graph, b->arg[k], seen));
        }
        free(seen);
        dp_model_free(made);
        dp_model_free(compiled);
    }
}

/* ---- priors ---- */

static dp_status with_priors(size_t n, const dp_formula_prior *priors, char **text, dp_error *err)
{
    const data_set *of = find_data_set("faithful");
    const dp_formula_opts options = {
        .columns = of->columns, .n_columns = of->n_columns, .priors = priors, .n_priors = n};
    dp_formula *f;
    size_t size = 0;
    *text = NULL;
    const dp_status status =
        dp_formula_parse("waiting ~ eruptions + I(eruptions^2)", &options, &f, err);
    if (status != DP_OK)
        return status;
    FILE *stream = open_memstream(text, &size);
    assert_ok(dp_formula_describe(f, stream, err), err->text);
    (void)fclose(stream);
    dp_formula_free(f);
    return DP_OK;
}

static void the_narrowest_prior_is_taken(void **state)
{
    (void)state;
    const dp_formula_prior priors[] = {{"b", "normal(1, 3)"},
                                       {"b_eruptions", "student_t(4, -2, 5)"},
                                       {"Intercept", "normal(60, 20)"},
                                       {"sigma", "normal(0, 7)"}};
    char *text;
    dp_error err = {0};
    assert_ok(with_priors(4, priors, &text, &err), err.text);
    assert_contains(text, "  Intercept ~ normal(60, 20)\n  b_eruptions ~ student_t(4, -2, 5)\n"
                          "  b_I(eruptions^2) ~ normal(1, 3)\n  sigma ~ half_normal(7)\n");
    free(text);
    assert_ok(with_priors(1, priors, &text, &err), err.text);
    assert_contains(text, "  b_eruptions ~ normal(1, 3)\n  b_I(eruptions^2) ~ normal(1, 3)\n"
                          "  sigma ~ half_normal(20)\n");
    free(text);
}

static void wrong_priors_are_refused(void **state)
{
    (void)state;
    static const struct {
        dp_formula_prior prior;
        dp_status status;
        const char *why;
    } wrong[] = {
        {{"b_eruption", "normal(0, 1)"},
         DP_ENAME,
         "no such parameter; give one of Intercept, b_eruptions, b_I(eruptions^2), sigma, or a"},
        {{"sd", "half_normal(1)"}, DP_ENAME, "no such parameter"},
        {{"b", "norml(0, 1)"}, DP_EINVAL, "is no prior"},
        {{"b", "normal"}, DP_EINVAL, "is no prior"},
        {{"b", "normal(0)"}, DP_EINVAL, "2 numbers"},
        {{"b", "normal(0, 1, 2)"}, DP_EINVAL, "2 numbers"},
        {{"b", "normal(x, 1)"}, DP_EINVAL, "2 numbers"},
        {{"b", "normal(0, -1)"}, DP_EDOMAIN, "above 0"},
        {{"b", "uniform(2, 1)"}, DP_EDOMAIN, "low below high"},
        {{"b", "half_normal(1)"}, DP_EINVAL, "any number"},
        {{"b", "lkj(1)"}, DP_EINVAL, "any number"},
        {{"sigma", "normal(1, 1)"}, DP_EINVAL, "above 0"},
        {{"sigma", "uniform(-1, 1)"}, DP_EDOMAIN, "above 0"},
        {{"b", "normal(0, 1) + 2"}, DP_EINVAL, "end of the text"},
        {{"b", NULL}, DP_EINVAL, "NULL"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *text;
        dp_error err = {0};
        assert_fails(with_priors(1, &wrong[i].prior, &text, &err), wrong[i].status, &err,
                     wrong[i].why);
    }
    const dp_formula_prior twice[] = {{"b", "normal(0, 1)"}, {"b", "normal(0, 2)"}};
    const dp_formula_opts no_schema = {.priors = twice, .n_priors = 1};
    char *text;
    dp_error err = {0};
    dp_formula *f;
    assert_fails(with_priors(2, twice, &text, &err), DP_ENAME, &err, "two priors");
    assert_fails(dp_formula_parse("y ~ x", &no_schema, &f, &err), DP_EINVAL, &err, ".columns");
}

/* A message has room for some names, and ends between two. */
static void a_prior_of_nothing_is_told_what_there_is(void **state)
{
    (void)state;
    enum { N = 16 };
    static char names[N][40];
    char text[1024] = "x_0 ~ 0";
    dp_column columns[N];
    for (int i = 0; i < N; i++) {
        (void)snprintf(names[i], sizeof names[i], i == 0 ? "x_0" : "column_of_a_long_name_%d", i);
        columns[i] = (dp_column){.name = names[i], .kind = DP_COLUMN_INTEGER, .high = 1};
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), i == 0 ? "%s" : " + %s",
                       i == 0 ? "" : names[i]);
    }
    const dp_formula_prior prior = {"b_none", "normal(0, 1)"};
    const dp_formula_opts options = {
        .columns = columns, .n_columns = N, .family = "bernoulli", .priors = &prior, .n_priors = 1};
    dp_formula *f;
    dp_error err = {0};
    assert_fails(dp_formula_parse(text, &options, &f, &err), DP_ENAME, &err,
                 "give one of b_column_of_a_long_name_1, b_column");
    assert_fails(dp_formula_parse(text, &options, &f, &err), DP_ENAME, &err,
                 "b_column_of_a_long_name_8, ..., or a class of them");
    assert_fails(dp_formula_parse("x_0 ~ 0 + offset(column_of_a_long_name_1)", &options, &f, &err),
                 DP_ENAME, &err, "the formula has no parameter; leave it out");
}

static const dpi_site *site_of(const dp_model *m, const char *name)
{
    for (size_t s = 0; s < m->n_sites; s++)
        if (strcmp(m->sites[s].name, name) == 0)
            return &m->sites[s];
    return NULL;
}

/* A parameter that was described is in the model, as a latent or computed, and its prior is heard
 * under its name; correlations have no prior but their own. */
static void check_described(const dp_formula_opts *options, const char *formula, char *line,
                            const dp_model *m)
{
    char *name = line + strspn(line, " "), *prior = strstr(name, " ~ ");
    assert_non_null(prior);
    *prior = 0;
    if (site_of(m, name) == NULL)
        fail_msg("%s: the model has no '%s'", formula, name);
    if (strncmp(name, "cor_", 4) == 0)
        return;
    const dp_formula_prior asked = {name, prior + 3};
    dp_formula_opts with = *options;
    with.priors = &asked;
    with.n_priors = 1;
    dp_formula *f;
    dp_error err = {0};
    assert_ok(dp_formula_parse(formula, &with, &f, &err), err.text);
    dp_formula_free(f);
}

static void put_checked(const char *head, const char *formula, FILE *to)
{
    char data[64], *text = NULL, *rest = NULL;
    size_t n = 0;
    dp_error err = {0};
    dp_formula *f;
    dp_model *m;
    const dp_formula_opts options = options_of(head, data);
    put_description(head, formula, to);
    assert_ok(dp_formula_parse(formula, &options, &f, &err), err.text);
    assert_ok(dp_formula_model(f, &m, &err), err.text);
    FILE *stream = open_memstream(&text, &n);
    assert_ok(dp_formula_describe(f, stream, &err), err.text);
    (void)fclose(stream);
    char *at = strstr(text, "parameters and their priors\n");
    assert_non_null(at);
    (void)strtok_r(at, "\n", &rest);
    for (char *line = strtok_r(NULL, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        check_described(&options, formula, line, m);
    free(text);
    dp_model_free(m);
    dp_formula_free(f);
}

static void described_parameters_are_those_of_the_model(void **state)
{
    (void)state;
    golden_compare("described.expected", put_checked);
}

/* ---- memory ---- */

/* Units by hand: a quarter of the outcome's range over an eighth of the column's. */
static void latents_are_known_by_their_names(void **state)
{
    (void)state;
    const dp_column columns[] = {{.name = "y", .kind = DP_COLUMN_REAL, .low = -10, .high = 30},
                                 {.name = "x", .kind = DP_COLUMN_REAL, .low = 0, .high = 8},
                                 {.name = "z", .kind = DP_COLUMN_REAL, .low = 0, .high = 2},
                                 {.name = "g", .kind = DP_COLUMN_INTEGER, .low = 1, .high = 4}};
    const dp_formula_prior prior = {"b_x", "student_t(3, 0, 1)"};
    const struct {
        const char *formula, *latent, *name;
        double unit;
        size_t n_priors;
    } known[] = {{"y ~ x + z + (1 | g)", "scaled.b[0]", "b_x", 10. / 1, 0},
                 {"y ~ x + z + (1 | g)", "scaled.b[1]", "b_z", 10. / .25, 0},
                 {"y ~ x + z + (1 | g)", "scaled.Intercept", "Intercept", 10, 0},
                 {"y ~ x + z + (1 | g)", "scaled.r_g__Intercept", "r_g__Intercept", 10, 0},
                 {"y ~ x", "scaled.b", "b_x", 10. / 1, 0},
                 {"y ~ x + z", "scaled.b_x", "b_x", 10. / 1, 1},
                 {"y ~ 1, sigma ~ x + z", "scaled.b_sigma[1]", "b_sigma_z", 1 / .25, 0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const dp_formula_opts o = {
            .columns = columns, .n_columns = 4, .priors = &prior, .n_priors = known[i].n_priors};
        dp_error err = {0};
        dp_formula *f;
        size_t n, found = 0;
        assert_ok(dp_formula_parse(known[i].formula, &o, &f, &err), err.text);
        const dp_formula_number *list = dp_formula_numbers(f, &n);
        for (size_t k = 0; k < n; k++)
            if (strcmp(list[k].latent, known[i].latent) == 0) {
                found++;
                assert_string_equal(list[k].name, known[i].name);
                assert_close(list[k].unit, known[i].unit, 1e-12, 0);
            }
        if (found != 1)
            fail_msg("%s: %s is there %zu times", known[i].formula, known[i].latent, found);
        dp_formula_free(f);
    }
}

static void survives_memory_running_out_anywhere(void **state)
{
    (void)state;
    const data_set *of = find_data_set("simulated");
    const dp_formula_prior priors[] = {{"b_x", "cauchy(0, 1)"}, {"sd", "exponential(2)"}};
    const dp_formula_opts options = {.family = "student",
                                     .columns = of->columns,
                                     .n_columns = of->n_columns,
                                     .priors = priors,
                                     .n_priors = 2};
    FILE *nowhere = fopen("/dev/null", "w");
    assert_non_null(nowhere);
    dp_status status = DP_ENOMEM;
    for (size_t k = 1; status != DP_OK; k++) {
        dp_error err = {0};
        dp_formula *f;
        const size_t live = faulty_live();
        faulty_fail(k);
        status = dp_formula_parse("normal ~ x*f + s(z) + gp(x, 4) + (1 + x | g/h), sigma ~ x",
                                  &options, &f, &err);
        if (status == DP_OK)
            status = dp_formula_describe(f, nowhere, &err);
        if (status == DP_OK)
            status = dp_formula_c(f, "model", nowhere, &err);
        if (status != DP_OK && status != DP_ENOMEM)
            fail_msg("allocation %zu: %s", k, err.text);
        assert_true(status == DP_OK || faulty_failed());
        faulty_fail(0);
        dp_formula_free(f);
        assert_int_equal(faulty_live(), live);
        assert_true(k < 20000);
    }
    (void)fclose(nowhere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_describe_themselves_as_expected),
        cmocka_unit_test(errors_of_the_schema_point_to_the_place),
        cmocka_unit_test(effects_of_one_group_are_refused),
        cmocka_unit_test(c_is_written_as_it_stands_in_the_sources),
        cmocka_unit_test(models_are_those_of_their_c),
        cmocka_unit_test(the_narrowest_prior_is_taken),
        cmocka_unit_test(wrong_priors_are_refused),
        cmocka_unit_test(a_prior_of_nothing_is_told_what_there_is),
        cmocka_unit_test(described_parameters_are_those_of_the_model),
        cmocka_unit_test(latents_are_known_by_their_names),
        cmocka_unit_test(survives_memory_running_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
