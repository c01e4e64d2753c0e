/* Models written wrongly: each mistake gives its status, the caller's place and a remedy, and the
 * first one stays. */
#include <tacit/model.h>
#include <tacit/svi.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/model/written.h"

static void a_name_is_used_once(void **state)
{
    (void)state;
    scene s = set_up();
    int line = __LINE__ + 1;
    (void)dp_sample(s.m, "x", 1, dp_normal(0, 1));
    assert_error(s.m, DP_ENAME, line, "give this one another name");
    dp_model_free(s.m);

    s = set_up();
    line = __LINE__ + 1;
    dp_observe(s.rows, "w", dp_bernoulli_logit(dp_dot(s.x, s.w)));
    assert_error(s.m, DP_ENAME, line, "'w' was used at written.c:");
    dp_model_free(s.m);

    s = set_up();
    line = __LINE__ + 1;
    (void)dp_plate_new(s.m, "groups", 4);
    assert_error(s.m, DP_ENAME, line, "keep the one that the first call returned");
    dp_model_free(s.m);

    s = set_up();
    line = __LINE__ + 1;
    (void)dp_param(s.m, "", 1, 0);
    assert_error(s.m, DP_ENAME, line, "must not be empty");
    dp_model_free(s.m);
}

static void shapes_must_fit(void **state)
{
    (void)state;
    scene s = set_up();
    dp_expr two = dp_param(s.m, "two", 2, 0);
    int line = __LINE__ + 1;
    dp_observe(s.rows, "y", dp_normal_v(s.x, dp_exp(two)));
    assert_error(s.m, DP_ESHAPE, line, "'y'");
    dp_model_free(s.m);

    s = set_up();
    line = __LINE__ + 1;
    (void)dp_sample(s.m, "v", 2, dp_normal_v(s.w, dp_num(1)));
    assert_error(s.m, DP_ESHAPE, line, "'v'");
    dp_model_free(s.m);

    s = set_up();
    line = __LINE__ + 1;
    (void)dp_sample(s.m, "v", 0, dp_normal(0, 1));
    assert_error(s.m, DP_ESHAPE, line, "n is 0");
    dp_model_free(s.m);

    s = set_up();
    line = __LINE__ + 1;
    (void)dp_data(s.rows, "z", 0);
    assert_error(s.m, DP_ESHAPE, line, "d is at least 1");
    dp_model_free(s.m);
}

/* Plain arithmetic knows no place of its own: it names the declaration before it. */
static void arithmetic_names_the_declaration_before_it(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        scene s = set_up();
        char place[64];
        (void)snprintf(place, sizeof place, "t-model.c:%d", __LINE__ + 1);
        dp_expr two = dp_param(s.m, "two", 2, 0);
        (void)(kind == 0   ? dp_add(s.x, two)
               : kind == 1 ? dp_dot(s.x, two)
               : kind == 2 ? dp_slice(s.w, 2, 2)
                           : dp_concat(dp_constant_matrix(s.m, 1, 2, (double[]){1, 2}), two));
        assert_int_equal(dp_model_status(s.m), DP_ESHAPE);
        assert_contains(dp_model_error(s.m), place);
        dp_model_free(s.m);
    }
}

static void arithmetic_before_any_declaration_is_told(void **state)
{
    (void)state;
    dp_model *m = dp_model_new();
    (void)dp_dot(dp_constant_matrix(m, 2, 2, (double[]){1, 2, 3, 4}), dp_num(1));
    assert_int_equal(dp_model_status(m), DP_ESHAPE);
    assert_null(strstr(dp_model_error(m), "(null)"));
    dp_model_free(m);
}

static void a_pick_is_over_the_plate_of_its_index(void **state)
{
    (void)state;
    scene s = set_up();
    dp_plate other = dp_plate_new(s.m, "other", 5);
    int line = __LINE__ + 1;
    dp_expr b = dp_sample_in(other, "b", 1, dp_normal(0, 1));
    (void)dp_pick(b, s.g);
    char place[64];
    (void)snprintf(place, sizeof place, "t-model.c:%d", line);
    assert_int_equal(dp_model_status(s.m), DP_ESHAPE);
    assert_contains(dp_model_error(s.m), place);
    assert_contains(dp_model_error(s.m), "over the same plate");
    assert_contains(dp_model_error(s.m), "4 groups");
    dp_model_free(s.m);

    s = set_up();
    (void)dp_pick(dp_sample_in(s.groups, "b", 1, dp_normal(0, 1)), s.x);
    assert_int_equal(dp_model_status(s.m), DP_ESHAPE);
    assert_contains(dp_model_error(s.m), "'x' is no column of group numbers; declare it with");
    dp_model_free(s.m);
}

static void a_plate_of_the_same_size_is_another_plate(void **state)
{
    (void)state;
    scene s = set_up();
    dp_plate other = dp_plate_new(s.m, "other", 4);
    (void)dp_pick(dp_sample_in(other, "b", 1, dp_normal(0, 1)), s.g);
    assert_int_equal(dp_model_status(s.m), DP_ESHAPE);
    dp_model_free(s.m);
}

static void a_global_latent_must_not_depend_on_records(void **state)
{
    (void)state;
    scene s = set_up();
    int line = __LINE__ + 1;
    (void)dp_sample(s.m, "v", 1, dp_normal_v(dp_dot(s.x, s.w), dp_num(1)));
    assert_error(s.m, DP_EPRIVACY, line, "put it in the unit plate");
    dp_model_free(s.m);

    s = set_up();
    line = __LINE__ + 1;
    (void)dp_sample_in(s.groups, "v", 3, dp_normal_v(s.x, dp_num(1)));
    assert_error(s.m, DP_EPRIVACY, line, "give it global arguments");
    dp_model_free(s.m);

    s = set_up();
    line = __LINE__ + 1;
    (void)dp_param_in(s.rows, "p", 1, 0);
    assert_error(s.m, DP_EPRIVACY, line, "compute it from the record's data");
    dp_model_free(s.m);
}

static void expressions_belong_to_their_model(void **state)
{
    (void)state;
    scene s = set_up(), t = set_up();
    (void)dp_add(s.w, t.w);
    assert_int_equal(dp_model_status(s.m), DP_EINVAL);
    assert_contains(dp_model_error(s.m), "written.c:");
    assert_contains(dp_model_error(s.m), "belong to the model that made them");
    dp_model_free(s.m);

    s = set_up();
    dp_observe(s.rows, "y", dp_bernoulli_logit(dp_dot(t.x, t.w)));
    assert_int_equal(dp_model_status(s.m), DP_EINVAL);
    dp_model_free(s.m);

    s = set_up();
    int line = __LINE__ + 1;
    (void)dp_index(s.rows, "h", t.groups);
    assert_error(s.m, DP_EINVAL, line, "same model");
    assert_int_equal(dp_model_status(t.m), DP_OK);
    dp_model_free(s.m);
    dp_model_free(t.m);
}

static void constants_must_serve_their_distribution(void **state)
{
    (void)state;
    const dp_dist bad[] = {dp_normal(0, -1),       dp_normal(0, 0),   dp_normal(NAN, 1),
                           dp_normal(0, INFINITY), dp_gamma(-1, 1),   dp_beta(1, 0),
                           dp_student_t(0, 0, 1),  dp_half_normal(0), dp_exponential(-2),
                           dp_uniform(2, 1),       dp_uniform(1, 1)};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        scene s = set_up();
        int line = __LINE__ + 1;
        (void)dp_sample(s.m, "v", 1, bad[k]);
        assert_error(s.m, DP_EDOMAIN, line, "'v'");
        dp_model_free(s.m);
    }
    scene s = set_up();
    int line = __LINE__ + 1;
    (void)dp_sample(s.m, "v", 1, dp_normal(0, -1));
    assert_error(s.m, DP_EDOMAIN, line, "is -1; it must be a number above 0");
    dp_model_free(s.m);

    s = set_up();
    line = __LINE__ + 1;
    (void)dp_sample(s.m, "v", 1, (dp_dist){0});
    assert_error(s.m, DP_EINVAL, line, "use a constructor");
    dp_model_free(s.m);

    s = set_up();
    line = __LINE__ + 1;
    (void)dp_param(s.m, "p", 1, NAN);
    assert_error(s.m, DP_EDOMAIN, line, "must be a finite number");
    dp_model_free(s.m);
}

static void there_is_one_plate_of_records(void **state)
{
    (void)state;
    scene s = set_up();
    int line = __LINE__ + 1;
    (void)dp_unit_plate(s.m, "more rows");
    assert_error(s.m, DP_EPRIVACY, line, "one plate of records");
    dp_model_free(s.m);

    s = set_up();
    line = __LINE__ + 1;
    (void)dp_plate_new(s.m, "none", 0);
    assert_error(s.m, DP_EINVAL, line, "give its public size");
    dp_model_free(s.m);

    s = set_up();
    line = __LINE__ + 1;
    (void)dp_data(s.groups, "z", 1);
    assert_error(s.m, DP_EINVAL, line, "give it the plate of dp_unit_plate");
    dp_model_free(s.m);
}

static void a_latent_is_continuous(void **state)
{
    (void)state;
    scene s = set_up();
    int line = __LINE__ + 1;
    (void)dp_sample(s.m, "v", 1, dp_poisson_log(dp_num(0)));
    assert_error(s.m, DP_EUNSUPPORTED, line, "or observe it");
    dp_model_free(s.m);

    s = set_up();
    line = __LINE__ + 1;
    (void)dp_sample(s.m, "v", 1, dp_bernoulli_logit(dp_num(0)));
    assert_error(s.m, DP_EUNSUPPORTED, line, "discrete");
    dp_model_free(s.m);

    s = set_up();
    line = __LINE__ + 1;
    (void)dp_sample(s.m, "v", 1, dp_chance_logit(dp_num(0)));
    assert_error(s.m, DP_EUNSUPPORTED, line, "or observe it");
    dp_model_free(s.m);
}

/* ---- guides ---- */

static void a_guide_samples_latents_of_its_model(void **state)
{
    (void)state;
    scene s = set_up();
    dp_model *guide = dp_guide_new(s.m);
    int line = __LINE__ + 1;
    (void)dp_sample(guide, "v", 3, dp_normal(0, 1));
    assert_error(guide, DP_ENAME, line, "no latent of the model");
    dp_model_free(guide);

    guide = dp_guide_new(s.m);
    line = __LINE__ + 1;
    (void)dp_sample(guide, "w", 2, dp_normal(0, 1));
    assert_error(guide, DP_ESHAPE, line, "the model's is");
    dp_model_free(guide);

    guide = dp_guide_new(s.m);
    line = __LINE__ + 1;
    (void)dp_sample(guide, "w", 3, dp_gamma(1, 1));
    assert_error(guide, DP_EUNSUPPORTED, line, "use dp_normal or dp_log_normal");
    dp_model_free(guide);

    guide = dp_guide_new(s.m);
    line = __LINE__ + 1;
    (void)dp_plate_new(guide, "groups", 3);
    assert_error(guide, DP_ENAME, line, "with the same size");
    dp_model_free(guide);

    guide = dp_guide_new(s.m);
    dp_plate rows = dp_unit_plate(guide, "rows");
    line = __LINE__ + 1;
    dp_observe(rows, "y", dp_normal(0, 1));
    assert_error(guide, DP_EINVAL, line, "a guide observes nothing");
    dp_model_free(guide);
    dp_model_free(s.m);
}

static const double x_values[6] = {1, 0, 0, 0, 1, 0}, y_values[2] = {0, 1};
static const int32_t g_values[2] = {0, 3};

/* What dp_svi_new says of model and guide. */
static dp_status start(const dp_model *m, const dp_model *guide, dp_error *err)
{
    dp_dataset *data = dp_dataset_new(2);
    dp_svi *svi = (dp_svi *)data;
    dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 1, .seed = 1};
    assert_non_null(data);
    dp_dataset_real(data, "x", 3, x_values);
    dp_dataset_real(data, "y", 1, y_values);
    dp_dataset_index(data, "g", g_values);
    dp_status status = dp_svi_new(m, guide, data, &opts, &svi, err);
    assert_true((svi == NULL) == (status != DP_OK));
    dp_svi_free(svi);
    dp_dataset_free(data);
    return status;
}

static void a_latent_missing_in_the_guide_is_told(void **state)
{
    (void)state;
    scene s = set_up();
    dp_observe(s.rows, "y", dp_bernoulli_logit(dp_dot(s.x, s.w)));
    dp_error err = {0};
    assert_ok(start(s.m, NULL, &err), err.text);
    dp_model *guide = dp_guide_new(s.m);
    (void)dp_param(guide, "p", 1, 0);
    assert_int_not_equal(start(s.m, guide, &err), DP_OK);
    assert_contains(err.text, "written.c:");
    assert_contains(err.text, "'w'");
    dp_model_free(guide);

    scene t = set_up();
    guide = dp_guide_new(t.m);
    (void)dp_sample(guide, "w", 3, dp_normal(0, 1));
    err = (dp_error){0};
    assert_int_equal(start(s.m, guide, &err), DP_EINVAL);
    assert_contains(err.text, "use dp_guide_new(model)");
    dp_model_free(guide);
    dp_model_free(t.m);
    dp_model_free(s.m);
}

static void a_latent_of_each_record_needs_a_guide(void **state)
{
    (void)state;
    scene s = set_up();
    dp_error err = {0};
    char place[64];
    (void)snprintf(place, sizeof place, "t-model.c:%d:", __LINE__ + 1);
    dp_expr z = dp_sample_in(s.rows, "z", 1, dp_normal(0, 1));
    dp_observe(s.rows, "y", dp_bernoulli_logit(dp_add(z, dp_dot(s.x, s.w))));
    assert_int_equal(dp_model_status(s.m), DP_OK);
    assert_int_equal(start(s.m, NULL, &err), DP_EUNSUPPORTED);
    assert_contains(err.text, place);
    assert_contains(err.text, "dp_guide_new");

    dp_model *guide = dp_guide_new(s.m);
    dp_plate rows = dp_unit_plate(guide, "rows");
    dp_expr x = dp_data(rows, "x", 3), a = dp_param(guide, "a", 3, 0);
    (void)dp_sample(guide, "w", 3, dp_normal_v(dp_param(guide, "w_loc", 3, 0), dp_num(0.1)));
    (void)dp_sample_in(rows, "z", 1, dp_normal_v(dp_dot(x, a), dp_num(0.5)));
    assert_int_equal(dp_model_status(guide), DP_OK);
    err = (dp_error){0};
    assert_ok(start(s.m, guide, &err), err.text);
    dp_model_free(guide);
    dp_model_free(s.m);
}

static void a_model_must_observe(void **state)
{
    (void)state;
    scene s = set_up();
    dp_error err = {0};
    assert_int_equal(start(s.m, NULL, &err), DP_EINVAL);
    assert_contains(err.text, "add dp_observe");
    dp_model_free(s.m);

    s = set_up();
    dp_observe(s.rows, "y", dp_normal(0, 1));
    err = (dp_error){0};
    assert_int_equal(start(s.m, NULL, &err), DP_EINVAL);
    assert_contains(err.text, "depend on no latent");
    dp_model_free(s.m);
}

static void the_first_error_stays(void **state)
{
    (void)state;
    scene s = set_up();
    dp_error err = {0};
    int line = __LINE__ + 1;
    dp_expr bad = dp_sample(s.m, "v", 1, dp_normal(0, -1));
    char first[512];
    (void)snprintf(first, sizeof first, "%s", dp_model_error(s.m));
    dp_plate none = dp_plate_new(s.m, "none", 0);
    dp_expr more = dp_dot(dp_add(bad, s.w), dp_pick(bad, dp_index(none, "i", none)));
    more = dp_concat(dp_slice(dp_exp(more), 0, 9), dp_matmul(more, dp_log_sum_exp(bad)));
    (void)dp_unit_plate(s.m, "again");
    dp_observe(s.rows, "x", dp_normal_v(more, bad));
    assert_error(s.m, DP_EDOMAIN, line, "above 0");
    assert_string_equal(dp_model_error(s.m), first);
    assert_int_equal(dp_model_describe(s.m, stderr), DP_EDOMAIN);
    assert_int_equal(start(s.m, NULL, &err), DP_EDOMAIN);
    assert_string_equal(err.text, first);
    dp_model *guide = dp_guide_new(s.m);
    assert_string_equal(dp_model_error(guide), first);
    dp_model_free(guide);
    dp_model_free(s.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_used_once),
        cmocka_unit_test(shapes_must_fit),
        cmocka_unit_test(arithmetic_names_the_declaration_before_it),
        cmocka_unit_test(arithmetic_before_any_declaration_is_told),
        cmocka_unit_test(a_pick_is_over_the_plate_of_its_index),
        cmocka_unit_test(a_plate_of_the_same_size_is_another_plate),
        cmocka_unit_test(a_global_latent_must_not_depend_on_records),
        cmocka_unit_test(expressions_belong_to_their_model),
        cmocka_unit_test(constants_must_serve_their_distribution),
        cmocka_unit_test(there_is_one_plate_of_records),
        cmocka_unit_test(a_latent_is_continuous),
        cmocka_unit_test(a_guide_samples_latents_of_its_model),
        cmocka_unit_test(a_latent_missing_in_the_guide_is_told),
        cmocka_unit_test(a_latent_of_each_record_needs_a_guide),
        cmocka_unit_test(a_model_must_observe),
        cmocka_unit_test(the_first_error_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
