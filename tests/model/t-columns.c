/* What a model may be given: names, columns that are read and observed, and latents that stay in
 * the domain of what they are arguments of. */
#include <string.h>

#include <tacit/dataset.h>

#include "tests/lib/check.h"
#include "tests/model/written.h"

static void a_name_is_one_line_that_messages_can_hold(void **state)
{
    (void)state;
    char longest[202];
    memset(longest, 'n', sizeof longest);
    longest[201] = 0;
    const char *bad[] = {"two\nlines", "tab\tbed", "\x7f", "csi\xc2\x9b", longest};
    for (size_t i = 0; i < 5; i++) {
        scene s = set_up();
        int line = __LINE__ + 1;
        (void)dp_sample(s.m, bad[i], 1, dp_normal(0, 1));
        assert_error(s.m, DP_ENAME, line, i < 4 ? "control characters" : "200 bytes");
        dp_model_free(s.m);
        s = set_up();
        (void)dp_plate_new(s.m, bad[i], 3);
        assert_int_equal(dp_model_status(s.m), DP_ENAME);
        dp_model_free(s.m);
        dp_dataset *data = dp_dataset_new(1);
        dp_dataset_real(data, bad[i], 1, (double[]){1});
        assert_contains(dp_dataset_error(data), i < 4 ? "control characters" : "200 bytes");
        dp_dataset_free(data);
    }
    longest[200] = 0;
    scene s = set_up();
    (void)dp_sample(s.m, longest, 1, dp_normal(0, 1));
    (void)dp_param(s.m, "sch\xc3\xb6n", 1, 0);
    assert_int_equal(dp_model_status(s.m), DP_OK);
    dp_model_free(s.m);
}

static dp_status status_of(dp_model *m)
{
    dp_status status = dp_model_status(m);
    dp_model_free(m);
    return status;
}

static void a_column_is_read_and_observed_in_either_order(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        dp_model *m = dp_model_new();
        dp_plate rows = dp_unit_plate(m, "rows");
        dp_expr w = dp_sample(m, "w", 1, dp_normal(0, 1));
        dp_expr y = {0};
        if (order == 0)
            y = dp_data(rows, "y", 1);
        dp_observe(rows, "y", dp_normal_v(w, dp_num(1)));
        if (order == 1)
            y = dp_data(rows, "y", 1);
        dp_observe(rows, "z", dp_normal_v(dp_mul(w, y), dp_num(1)));
        assert_ok(dp_model_status(m), dp_model_error(m));
        dp_model_free(m);
    }
    for (int order = 0; order < 3; order++) {
        dp_model *m = dp_model_new();
        dp_plate rows = dp_unit_plate(m, "rows"), kinds = dp_plate_new(m, "kinds", 3),
                 others = dp_plate_new(m, "others", 3);
        dp_expr logits = dp_sample_in(kinds, "l", 1, dp_normal(0, 1));
        dp_expr kind = {0};
        if (order == 0)
            kind = dp_index(rows, "kind", kinds);
        dp_observe(rows, "kind", dp_categorical_logit(logits));
        if (order > 0)
            kind = dp_index(rows, "kind", kinds);
        if (order == 2) /* they cannot be groups of two plates */
            (void)dp_index(rows, "kind", others);
        dp_observe(rows, "z", dp_normal_v(dp_pick(logits, kind), dp_num(1)));
        assert_int_equal(dp_model_status(m), order == 2 ? DP_EINVAL : DP_OK);
        dp_model_free(m);
    }
}

static void a_column_is_one_thing_however_often_it_is_named(void **state)
{
    (void)state;
    scene s = set_up();
    int line = __LINE__ + 1;
    dp_observe(s.rows, "x", dp_normal(0, 1)); /* x has three numbers */
    assert_error(s.m, DP_ESHAPE, line, "different sizes: a number, one per record here");
    dp_model_free(s.m);

    s = set_up();
    dp_observe(s.rows, "x", dp_normal_v(s.w, dp_num(1)));
    line = __LINE__ + 1;
    dp_observe(s.rows, "x", dp_normal_v(s.w, dp_num(1)));
    assert_error(s.m, DP_ENAME, line, "'x' was used");
    dp_model_free(s.m);

    s = set_up();
    dp_observe(s.rows, "y", dp_categorical_logit(s.w));
    line = __LINE__ + 1;
    (void)dp_data(s.rows, "y", 1);
    assert_error(s.m, DP_EINVAL, line, "one kind and observed as another");
    dp_model_free(s.m);

    s = set_up(); /* four groups, three categories */
    line = __LINE__ + 1;
    dp_observe(s.rows, "g", dp_categorical_logit(s.w));
    assert_error(s.m, DP_EINVAL, line, "one kind and observed as another");
    dp_model_free(s.m);
}

static void latents_stay_in_the_domain_of_what_they_are_arguments_of(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) { /* as it is, picked, sliced, a parameter */
        scene s = set_up();
        dp_expr tau = way == 1   ? dp_sample_in(s.groups, "tau", 1, dp_normal(0, 5))
                      : way == 3 ? dp_param(s.m, "tau", 1, 1)
                                 : dp_sample(s.m, "tau", 2, dp_normal(0, 5));
        dp_expr scale = way == 1 ? dp_pick(tau, s.g) : way == 2 ? dp_slice(tau, 0, 1) : tau;
        int line = __LINE__ + 1;
        dp_observe(s.rows, "y", dp_normal_v(dp_num(0), scale));
        assert_error(s.m, DP_EDOMAIN, line, "scale of normal must be a number above 0, and 'tau'");
        assert_contains(dp_model_error(s.m), way == 3 ? "dp_exp of it" : "dp_half_normal");
        dp_model_free(s.m);
    }
    scene s = set_up();
    dp_expr t = dp_sample(s.m, "t", 1, dp_gamma(2, 2));
    dp_observe(s.rows, "y", dp_binomial_logit(t, dp_num(0)));
    assert_contains(dp_model_error(s.m), "use a constant or a column");
    assert_int_equal(status_of(s.m), DP_EDOMAIN);
    s = set_up();
    dp_expr low = dp_sample(s.m, "low", 1, dp_uniform(-1, 2));
    dp_observe(s.rows, "y", dp_normal_v(dp_num(0), low));
    assert_int_equal(status_of(s.m), DP_EDOMAIN);
}

static void latents_above_zero_are_scales(void **state)
{
    (void)state;
    const dp_dist good[] = {dp_half_normal(1), dp_gamma(2, 2),  dp_log_normal(0, 1), dp_beta(2, 2),
                            dp_uniform(0, 10), dp_dirichlet(1), dp_pareto(0.1, 2)};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        scene s = set_up();
        dp_expr tau = dp_sample(s.m, "tau", 3, good[i]);
        dp_observe(s.rows, "y", dp_normal_v(dp_num(0), tau));
        assert_ok(dp_model_status(s.m), dp_model_error(s.m));
        dp_model_free(s.m);
    }
    scene s = set_up(); /* what is computed, and what has no domain, is not looked at */
    dp_expr any = dp_sample(s.m, "any", 1, dp_normal(0, 1));
    dp_observe(s.rows, "y", dp_normal_v(any, dp_exp(any)));
    assert_int_equal(status_of(s.m), DP_OK);
}

static void latents_between_0_and_1_are_quantiles(void **state)
{
    (void)state;
    const dp_dist good[] = {dp_beta(2, 2), dp_uniform(0.5, 1)},
                  bad[] = {dp_half_normal(1), dp_uniform(0.5, 1.5), dp_normal(0, 1)};
    for (int i = 0; i < 6; i++) {
        scene s = set_up();
        dp_expr q = i < 2   ? dp_sample(s.m, "q", 1, good[i])
                    : i < 5 ? dp_sample(s.m, "q", 1, bad[i - 2])
                            : dp_param(s.m, "q", 1, 0.5);
        int line = __LINE__ + 1;
        dp_observe(s.rows, "y", dp_asymmetric_laplace_v(dp_num(0), dp_num(1), q));
        if (i < 2)
            assert_ok(dp_model_status(s.m), dp_model_error(s.m));
        else
            assert_error(s.m, DP_EDOMAIN, line, "must be a number strictly between 0 and 1");
        if (i >= 2)
            assert_contains(dp_model_error(s.m), i < 5 ? "such as dp_beta" : "use dp_logistic");
        dp_model_free(s.m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_one_line_that_messages_can_hold),
        cmocka_unit_test(a_column_is_read_and_observed_in_either_order),
        cmocka_unit_test(a_column_is_one_thing_however_often_it_is_named),
        cmocka_unit_test(latents_stay_in_the_domain_of_what_they_are_arguments_of),
        cmocka_unit_test(latents_above_zero_are_scales),
        cmocka_unit_test(latents_between_0_and_1_are_quantiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
