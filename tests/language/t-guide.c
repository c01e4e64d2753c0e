/* Every model of the guide is one: it is written without an error, and it has an objective. */
#include "model/objective.h"
#include "tests/language/guide.h"
#include "tests/lib/check.h"

static void check(const guide_model *models, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        dp_error err = {0};
        dp_model *m = dp_model_new();
        dpi_objective o;
        const dpi_objective_spec spec = {.model = m, .points = true};
        models[k].write(m);
        if (dp_model_error(m) != NULL)
            fail_msg("%s: %s", models[k].name, dp_model_error(m));
        if (dpi_objective_init(&o, &spec, &err) != DP_OK)
            fail_msg("%s: %s", models[k].name, err.text);
        dpi_objective_free(&o);
        dp_model_free(m);
    }
}

static void regressions_are_models(void **state)
{
    (void)state;
    check(guide_regression, n_guide_regression);
}

static void mixtures_are_models(void **state)
{
    (void)state;
    check(guide_mixtures, n_guide_mixtures);
}

static void what_is_measured_in_part_is_a_model(void **state)
{
    (void)state;
    check(guide_partial, n_guide_partial);
}

static void discrete_latents_are_models(void **state)
{
    (void)state;
    check(guide_discrete, n_guide_discrete);
}

static void steps_of_time_are_models(void **state)
{
    (void)state;
    check(guide_dynamics, n_guide_dynamics);
}

static void what_is_no_formula_is_a_model(void **state)
{
    (void)state;
    check(guide_brms, n_guide_brms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regressions_are_models),
        cmocka_unit_test(mixtures_are_models),
        cmocka_unit_test(what_is_measured_in_part_is_a_model),
        cmocka_unit_test(discrete_latents_are_models),
        cmocka_unit_test(steps_of_time_are_models),
        cmocka_unit_test(what_is_no_formula_is_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
