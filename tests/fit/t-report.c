/* What a fit says of itself: the names that it has, and phases and diagnostics of its making. */
#include <math.h>
#include <string.h>

#include "tests/fit/scene.h"
#include "tests/lib/check.h"

/* A latent of groups, one of records, a parameter and a deterministic value; with a guide for the
 * latents of records. */
static dp_model *with_everything(dp_model **guide)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", 3);
    dp_expr w = dp_sample(m, "w", 2, dp_normal(0, 1)),
            a = dp_sample_in(groups, "a", 2, dp_normal(0, 1)), b = dp_param(m, "b", 1, 0),
            z = dp_sample_in(rows, "z", 2, dp_normal(0, 1));
    dp_expr at = dp_add(dp_add(w, z), dp_pick(a, dp_index(rows, "g", groups)));
    (void)dp_deterministic(m, "at", dp_add(at, b));
    dp_observe(rows, "y", dp_normal_v(dp_add(at, b), dp_num(1)));
    *guide = dp_guide_new(m);
    rows = dp_unit_plate(*guide, "rows");
    (void)dp_sample(*guide, "w", 2, dp_normal(0, 1));
    groups = dp_plate_new(*guide, "groups", 3);
    (void)dp_sample_in(groups, "a", 2, dp_normal_v(dp_param(*guide, "where", 2, 0), dp_num(1)));
    (void)dp_sample_in(rows, "z", 2, dp_normal(0, 1));
    return m;
}

static void lists(const dp_fit *fit, size_t n, const dp_fit_quantity wanted[])
{
    size_t found;
    const dp_fit_quantity *q = dp_fit_quantities(fit, &found);
    assert_int_equal(found, n);
    for (size_t k = 0; k < n; k++) {
        assert_string_equal(q[k].name, wanted[k].name);
        assert_int_equal(q[k].role, wanted[k].role);
        assert_int_equal(q[k].size, wanted[k].size);
        assert_int_equal(q[k].per_record, wanted[k].per_record);
        assert_int_equal(dp_fit_size(fit, q[k].name), q[k].size);
    }
}

static void everything_that_has_a_name_is_listed(void **state)
{
    (void)state;
    const dp_fit_quantity wanted[] = {
        {"w", DP_FIT_LATENT, 2, false},        {"a", DP_FIT_LATENT, 6, false},
        {"b", DP_FIT_PARAMETER, 1, false},     {"z", DP_FIT_LATENT, 2, true},
        {"at", DP_FIT_DETERMINISTIC, 2, true}, {"where", DP_FIT_GUIDE_PARAMETER, 2, false},
    };
    dp_error err = {0};
    dp_fit *fit;
    dp_model *guide, *m = with_everything(&guide);
    assert_ok(make_fit(m, guide, DP_FORM_LATENTS, NULL, 0, &fit, &err), err.text);
    lists(fit, 6, wanted);
    for (size_t k = 0; k < 5; k++) /* dp_fit_expr knows them, but for what is the guide's alone */
        assert_int_equal(dp_expr_size(dp_fit_expr(fit, wanted[k].name)), wanted[k].size);
    (void)dp_fit_mean(fit, "y"); /* what users add is not listed */
    (void)dp_deterministic(fit->model, "more", dp_exp(dp_fit_expr(fit, "w")));
    lists(fit, 6, wanted);
    dp_fit_free(fit);
}

static void a_mean_field_guide_has_two_parameters_a_latent(void **state)
{
    (void)state;
    const dp_fit_quantity wanted[] = {
        {"w", DP_FIT_LATENT, 3, false},
        {"w.loc", DP_FIT_GUIDE_PARAMETER, 2, false}, /* of a simplex one less */
        {"w.log_scale", DP_FIT_GUIDE_PARAMETER, 2, false},
    };
    dp_error err = {0};
    dp_fit *fit;
    dp_model *m = dp_model_new();
    dp_expr w = dp_sample(m, "w", 3, dp_dirichlet(1));
    dp_observe(dp_unit_plate(m, "rows"), "y", dp_categorical_logit(dp_log(w)));
    assert_ok(make_fit(m, NULL, DP_FORM_LATENTS, NULL, 0, &fit, &err), err.text);
    lists(fit, 3, wanted);
    dp_fit_free(fit);
}

/* ---- phases and diagnostics ---- */

static dp_status report(const dp_fit_phase *phases, size_t n_phases,
                        const dp_diagnostic *diagnostics, size_t n_diagnostics, dp_fit **fit,
                        dp_error *err)
{
    dp_model *m = dp_model_new();
    dp_expr w = dp_sample(m, "w", 1, dp_normal(0, 1));
    dp_observe(dp_unit_plate(m, "rows"), "y", dp_bernoulli_logit(w));
    dpi_fit_parts parts = {.model = m,
                           .phases = phases,
                           .n_phases = n_phases,
                           .diagnostics = diagnostics,
                           .n_diagnostics = n_diagnostics};
    return make_fit_of(&parts, NULL, 0, fit, err);
}

static void phases_and_diagnostics_are_kept_as_they_are(void **state)
{
    (void)state;
    char name[] = "main", words[] = "the chains agree";
    dp_fit_phase phases[] = {{"whitening", 1, 3.5, 0.7}, {name, 400, 0, 0}};
    dp_diagnostic all[] = {{"convergence", 1.02, 1.1, false, words},
                           {"misfit", INFINITY, 3, true, "take a wider prior"}};
    size_t n;
    dp_error err = {0};
    dp_fit *fit;
    assert_ok(report(phases, 2, all, 2, &fit, &err), err.text);
    memset(name, 'x', 4);
    memset(words, 'x', 4);
    memset(phases, 0, sizeof phases);
    memset(all, 0, sizeof all);
    const dp_fit_phase *p = dp_fit_phases(fit, &n);
    assert_int_equal(n, 2);
    assert_string_equal(p[0].name, "whitening");
    assert_true(p[0].releases == 1 && p[0].sigma == 3.5 && p[0].clip == 0.7);
    assert_string_equal(p[1].name, "main");
    assert_true(p[1].releases == 400 && p[1].sigma == 0 && p[1].clip == 0);
    const dp_diagnostic *d = dp_fit_diagnostics(fit, &n);
    assert_int_equal(n, 2);
    assert_string_equal(d[0].name, "convergence");
    assert_string_equal(d[0].words, "the chains agree");
    assert_true(d[0].value == 1.02 && d[0].limit == 1.1 && !d[0].bad);
    assert_string_equal(d[1].words, "take a wider prior");
    assert_true(d[1].value == INFINITY && d[1].limit == 3 && d[1].bad);
    dp_fit_free(fit);
    assert_ok(report(NULL, 0, NULL, 0, &fit, &err), err.text);
    (void)dp_fit_phases(fit, &n);
    assert_int_equal(n, 0);
    (void)dp_fit_diagnostics(fit, &n);
    assert_int_equal(n, 0);
    dp_fit_free(fit);
}

static void phases_and_diagnostics_that_are_none_are_refused(void **state)
{
    (void)state;
    static char words[DPI_FIT_WORDS + 2];
    memset(words, 'w', DPI_FIT_WORDS + 1);
    const dp_fit_phase bad[] = {
        {NULL, 1, 1, 1},      {"", 1, 1, 1},       {"a\nb", 1, 1, 1},
        {"main", 1, NAN, 1},  {"main", 1, -1, 1},  {"main", 1, INFINITY, 1},
        {"main", 1, 1, -0.5}, {"main", 1, 1, NAN}, {"main", 1, 1, INFINITY},
    };
    const dp_diagnostic worse[] = {
        {NULL, 1, 1, false, "w"},  {"", 1, 1, false, "w"},    {"n", NAN, 1, false, "w"},
        {"n", 1, NAN, false, "w"}, {"n", 1, 1, false, NULL},  {"n", 1, 1, false, ""},
        {"n", 1, 1, false, "\t"},  {"n", 1, 1, false, words}, {"n", 1, 1, false, "a\177"},
    };
    dp_error err = {0};
    dp_fit *fit;
    size_t n;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_fails(report(&bad[k], 1, NULL, 0, &fit, &err), DP_EINVAL, &err, "phase 0");
        assert_null(fit);
    }
    for (size_t k = 0; k < sizeof worse / sizeof *worse; k++) {
        assert_fails(report(NULL, 0, &worse[k], 1, &fit, &err), DP_EINVAL, &err, "diagnostic 0");
        assert_null(fit);
    }
    words[DPI_FIT_WORDS] = 0;
    assert_ok(report(NULL, 0, &worse[7], 1, &fit, &err), err.text);
    assert_int_equal(strlen(dp_fit_diagnostics(fit, &n)->words), DPI_FIT_WORDS);
    dp_fit_free(fit);
}

/* ---- the source ---- */

static void the_source_is_kept_as_it_is(void **state)
{
    (void)state;
    char schema[] = "y real 0 .. 1\nx level \"a b\" c\n", formula[] = "y ~ 1 + x";
    dp_error err = {0};
    dp_fit *fit;
    assert_ok(report(NULL, 0, NULL, 0, &fit, &err), err.text);
    assert_null(dp_fit_get_source(fit));
    const dp_fit_source given = {.formula = formula, .family = "f", .schema = schema};
    assert_ok(dp_fit_set_source(fit, &given, &err), err.text);
    memset(schema, 'x', 4);
    memset(formula, 'x', 4);
    const dp_fit_source *s = dp_fit_get_source(fit);
    assert_string_equal(s->formula, "y ~ 1 + x");
    assert_string_equal(s->family, "f");
    assert_string_equal(s->schema, "y real 0 .. 1\nx level \"a b\" c\n");
    assert_null(s->priors);
    dp_fit_free(fit);
}

static void a_source_that_is_none_changes_nothing(void **state)
{
    (void)state;
    const dp_fit_source good = {"y ~ 1", "gaussian", "y real 0 .. 1\n", "b = normal(0, 1)"};
    const dp_fit_source bad[] = {{NULL, good.family, good.schema, NULL},
                                 {good.formula, NULL, good.schema, NULL},
                                 {good.formula, good.family, NULL, NULL},
                                 {"", good.family, good.schema, NULL},
                                 {"y ~\n1", good.family, good.schema, NULL},
                                 {"y ~ \xc2\x9b", good.family, good.schema, NULL},
                                 {good.formula, good.family, good.schema, ""},
                                 {good.formula, good.family, "", NULL},
                                 {good.formula, good.family, "y unit", NULL},
                                 {good.formula, good.family, "y\tunit\n", NULL}};
    dp_error err = {0};
    dp_fit *fit;
    assert_ok(report(NULL, 0, NULL, 0, &fit, &err), err.text);
    assert_ok(dp_fit_set_source(fit, &good, &err), err.text);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_fails(dp_fit_set_source(fit, &bad[k], &err), DP_EINVAL, &err, "a fit's source");
    assert_string_equal(dp_fit_get_source(fit)->priors, "b = normal(0, 1)");
    dp_fit_free(fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_that_has_a_name_is_listed),
        cmocka_unit_test(a_mean_field_guide_has_two_parameters_a_latent),
        cmocka_unit_test(phases_and_diagnostics_are_kept_as_they_are),
        cmocka_unit_test(phases_and_diagnostics_that_are_none_are_refused),
        cmocka_unit_test(the_source_is_kept_as_it_is),
        cmocka_unit_test(a_source_that_is_none_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
