/* Models and guides that do not make an objective: the status and the remedy. */
#include "model/objective.h"

#include <math.h>
#include <string.h>

#include "tests/lib/check.h"

typedef struct scene {
    dp_model *m, *guide;
    dp_plate rows;
} scene;

static dp_status make(const scene *s, dp_form cut, dpi_objective *o, dp_error *err)
{
    dpi_objective_spec spec = {
        .model = s->m, .guide = s->guide, .cut = cut, .population = 7, .init_scale = 0.1};
    return dpi_objective_init(o, &spec, err);
}

static void leave(scene *s)
{
    dp_model_free(s->guide);
    dp_model_free(s->m);
}

static void refused(scene s, dp_status status, const char *says)
{
    for (int cut = DP_FORM_LATENTS; cut <= DP_FORM_PARAMETERS; cut++) {
        dpi_objective o;
        dp_error err = {0};
        assert_int_equal(dp_model_status(s.m), DP_OK);
        assert_true(s.guide == NULL || dp_model_status(s.guide) == DP_OK);
        assert_int_equal(make(&s, (dp_form)cut, &o, &err), status);
        assert_contains(err.text, says);
        assert_null(o.blocks);
    }
    leave(&s);
}

/* y ~ N(w, 1), w ~ N(0, 1) */
static scene plain(void)
{
    scene s = {.m = dp_model_new()};
    s.rows = dp_unit_plate(s.m, "rows");
    dp_expr w = dp_sample(s.m, "w", 1, dp_normal(0, 1));
    dp_observe(s.rows, "y", dp_normal_v(w, dp_num(1)));
    return s;
}

static void a_parameter_without_influence_is_told(void **state)
{
    (void)state;
    scene s = plain();
    (void)dp_param(s.m, "idle", 1, 0);
    refused(s, DP_EINVAL, "'idle' influences nothing; leave it out");
}

static void a_model_without_anything_to_fit_is_told(void **state)
{
    (void)state;
    scene s = {.m = dp_model_new()};
    dp_observe(dp_unit_plate(s.m, "rows"), "y", dp_normal(0, 1));
    refused(s, DP_EINVAL, "there is nothing to fit");

    s = plain();
    s.guide = dp_guide_new(s.m);
    (void)dp_sample(s.guide, "w", 1, dp_normal(0, 1));
    refused(s, DP_EINVAL, "add dp_param to the guide");
}

static void two_parameters_have_two_names(void **state)
{
    (void)state;
    scene s = plain();
    char says[96];
    (void)snprintf(says, sizeof says, "refused.c:%d: two parameters are called 'w.loc'",
                   __LINE__ + 1);
    dp_expr other = dp_param(s.m, "w.loc", 1, 0);
    dp_observe(s.rows, "z", dp_normal_v(other, dp_num(1)));
    refused(s, DP_ENAME, says);

    s = plain();
    (void)snprintf(says, sizeof says, "refused.c:%d: two parameters are called 'shift'",
                   __LINE__ + 1);
    dp_expr shift = dp_param(s.m, "shift", 1, 0);
    dp_observe(s.rows, "z", dp_normal_v(shift, dp_num(1)));
    s.guide = dp_guide_new(s.m);
    (void)dp_sample(s.guide, "w", 1, dp_normal_v(dp_param(s.guide, "shift", 1, 0), dp_num(1)));
    refused(s, DP_ENAME, says);
}

/* A long name does not lose its ending. */
static void long_names_stay_whole(void **state)
{
    (void)state;
    char name[201] = "", ending[220];
    memset(name, 'n', 200);
    scene s = {.m = dp_model_new()};
    dp_expr w = dp_sample(s.m, name, 1, dp_normal(0, 1));
    dp_observe(dp_unit_plate(s.m, "rows"), "y", dp_normal_v(w, dp_num(1)));
    dpi_objective o;
    dp_error err = {0};
    assert_ok(make(&s, DP_FORM_LATENTS, &o, &err), err.text);
    (void)snprintf(ending, sizeof ending, "%s.loc", name);
    assert_string_equal(o.blocks[0].name, ending);
    (void)snprintf(ending, sizeof ending, "%s.log_scale", name);
    assert_string_equal(o.blocks[1].name, ending);
    dpi_objective_free(&o);
    leave(&s);
}

static void model_and_guide_read_columns_of_one_size(void **state)
{
    (void)state;
    scene s = {.m = dp_model_new()};
    dp_plate rows = dp_unit_plate(s.m, "rows");
    dp_expr z = dp_sample_in(rows, "z", 1, dp_normal(0, 1));
    dp_observe(rows, "y", dp_normal_v(dp_add(z, dp_sum(dp_data(rows, "x", 2))), dp_num(1)));
    s.guide = dp_guide_new(s.m);
    rows = dp_unit_plate(s.guide, "rows");
    dp_expr a = dp_param(s.guide, "a", 1, 0);
    (void)dp_sample_in(rows, "z", 1, dp_normal_v(dp_mul(a, dp_data(rows, "x", 1)), dp_num(1)));
    refused(s, DP_ESHAPE, "read column 'x' with different sizes");
}

static void a_guide_keeps_to_the_support_of_its_latent(void **state)
{
    (void)state;
    const struct {
        dp_dist prior;
        bool normal, log_normal;
        const char *says;
    } cases[] = {
        {dp_student_t(3, 0, 1), true, true, ""},
        {dp_half_normal(1), false, true, "use dp_log_normal"},
        {dp_gamma(2, 1), false, true, "use dp_log_normal"},
        {dp_beta(2, 2), false, false, "transform it in the model"},
        {dp_uniform(0, 1), false, false, "transform it in the model"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (int log_normal = 0; log_normal < 2; log_normal++) {
            dp_model *m = dp_model_new();
            (void)dp_sample(m, "s", 1, cases[c].prior);
            dp_model *guide = dp_guide_new(m);
            (void)dp_sample(guide, "s", 1, log_normal ? dp_log_normal(0, 1) : dp_normal(0, 1));
            bool right = log_normal ? cases[c].log_normal : cases[c].normal;
            assert_int_equal(dp_model_status(guide), right ? DP_OK : DP_EDOMAIN);
            if (!right)
                assert_contains(dp_model_error(guide), cases[c].says);
            dp_model_free(guide);
            dp_model_free(m);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parameter_without_influence_is_told),
        cmocka_unit_test(a_model_without_anything_to_fit_is_told),
        cmocka_unit_test(two_parameters_have_two_names),
        cmocka_unit_test(long_names_stay_whole),
        cmocka_unit_test(model_and_guide_read_columns_of_one_size),
        cmocka_unit_test(a_guide_keeps_to_the_support_of_its_latent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
