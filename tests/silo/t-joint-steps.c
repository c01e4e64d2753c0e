/* A network over several owners, which is fitted by noisy steps: all get the same fit, and a run that
 * ended early is not begun again. */
#define _XOPEN_SOURCE 700
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/fit.h>

#include "tests/lib/check.h"
#include "tests/lib/pause.h"
#include "tests/silo/joint.h"

static joint j;

static dp_model *network(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_weights(m, "W", PLANS_X, 1, dp_init_glorot(1));
    dp_expr to = dp_dense(dp_data(rows, "x", PLANS_X), w, dp_param(m, "b", 1, 0));
    dp_observe(rows, "y", dp_normal_v(to, dp_num(0.5)));
    return m;
}

static int set_up(void **state)
{
    (void)state;
    plans_make(&j.p);
    dp_model_free(j.p.model);
    j.p.opts.model = j.p.model = network();
    j.p.opts.source = NULL;
    j.p.opts.rounds = j.p.opts.draws = 0;
    joint_begin(&j);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    joint_end(&j);
    plans_free(&j.p);
    return 0;
}

static void all_have_the_same_network(void **state)
{
    static const joint_owner everybody[PLANS_OWNERS] = {{.k = 0}, {.k = 1}, {.k = 2}};
    dp_error err = {0};
    dp_fit *fit = NULL;
    double w[PLANS_X];
    (void)state;
    assert_int_equal(j.planned, 545);
    joint_run(&j, everybody);
    joint_same(&j);
    assert_ok(dp_fit_load(joint_path("fit", 1), &fit, &err), err.text);
    assert_ok(dp_fit_parameter(fit, "W", PLANS_X, w, &err), err.text);
    assert_float_equal(w[0], 1.2385, 0.2); /* what the records were drawn with */
    assert_float_equal(w[1], -0.7121, 0.2);
    dp_fit_free(fit);
}

static void a_run_that_was_cut_off_is_not_begun_again(void **state)
{
    static const joint_owner cut[PLANS_OWNERS] = {{.k = 0, .patience_ms = 8000},
                                                  {.k = 1, .kill_at = 40},
                                                  {.k = 2, .patience_ms = 8000}},
                             again = {.k = 1, .patience_ms = 8000};
    pid_t process[PLANS_OWNERS];
    size_t n;
    (void)state;
    for (size_t k = 0; k < PLANS_OWNERS; k++)
        process[k] = joint_start(&j, &cut[k]);
    assert_int_equal(joint_wait(process[1]), JOINT_KILLED);
    assert_int_equal(joint_wait(process[0]), DP_ETIMEOUT);
    assert_int_equal(joint_wait(process[2]), DP_ETIMEOUT);
    size_t letters = joint_letters();
    assert_int_equal(joint_wait(joint_start(&j, &again)), DP_EPRIVACY);
    assert_non_null(strstr((const char *)joint_load("message", 1, 0, &n), "again"));
    assert_int_equal(joint_letters(), letters);
}

/* Sums without noise under a key are kept as they are opened, and a run goes on from them.  Takes a
 * minute, and 200 MB of letters: with EVERYWHERE in the environment alone. */
static void without_noise_a_run_that_was_cut_off_goes_on(void **state)
{
    pid_t process[PLANS_OWNERS];
    const joint_owner owners[PLANS_OWNERS] = {
        {.k = 0, .audited = true}, {.k = 1, .audited = true}, {.k = 2, .audited = true}};
    size_t n, m;
    (void)state;
    if (getenv("EVERYWHERE") == NULL)
        skip();
    dp_silo_plan_free(j.plan);
    j.p.opts.scheme = "fedsgd+he";
    j.p.opts.epsilon = j.p.opts.delta = 0;
    j.plan = plans_plan(&j.p, 7);
    for (size_t k = 0; k < PLANS_OWNERS; k++)
        process[k] = joint_start(&j, &owners[k]);
    while (joint_letters() < 100)
        pause_for(1);
    assert_int_equal(kill(process[1], SIGKILL), 0);
    assert_int_equal(joint_wait(process[1]), JOINT_KILLED);
    process[1] = joint_start(&j, &owners[1]);
    for (size_t k = 0; k < PLANS_OWNERS; k++)
        assert_int_equal(joint_wait(process[k]), DP_OK);
    for (size_t k = 1; k < PLANS_OWNERS; k++) {
        const unsigned char *first = joint_load("fit", 0, 0, &n),
                            *fit = joint_load("fit", k, 1, &m);
        assert_int_equal(n, m);
        assert_memory_equal(first, fit, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_have_the_same_network, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_noise_a_run_that_was_cut_off_goes_on, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_run_that_was_cut_off_is_not_begun_again, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
