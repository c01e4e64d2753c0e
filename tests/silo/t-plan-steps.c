/* Plans whose owners take steps by themselves: how many is said, signed, and looked at. */
#include <string.h>

#include "silo/plan.h"
#include "tests/lib/check.h"
#include "tests/silo/plans.h"

enum { ROOM = 64 * 1024 };

static plans p;

static int set_up(void **state)
{
    (void)state;
    plans_make(&p);
    p.opts.scheme = "fedavg";
    p.opts.epsilon = p.opts.delta = 0;
    p.opts.rounds = p.opts.draws = 0;
    p.opts.local_steps = 5;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    plans_free(&p);
    return 0;
}

static void a_plan_says_how_many_steps_owners_take(void **state)
{
    static const char *const changes[][2] = {
        {"local-steps = 5\n", "local-steps = 6\n"}, {"local-steps = 5\n", "local-steps = 0\n"},
        {"local-steps = 5\n", "local-steps = x\n"}, {"local-steps = 5\n", "local-step5 = 5\n"},
        {"most 5 steps", "most 6 steps"},           {"scheme = fedavg\n", "scheme = fedsgd\n"}};
    static char text[ROOM], was[ROOM];
    dp_silo_plan *plan = plans_plan(&p, 3), *again;
    dp_error err = {0};
    (void)state;
    const size_t n = strlen(dp_silo_plan_text(plan));
    assert_true(n < ROOM);
    memcpy(text, dp_silo_plan_text(plan), n + 1);
    dp_silo_plan_free(plan);
    assert_contains(text, "\ndraws = 0\nlocal-steps = 5\ncolluders = 1\n");
    assert_contains(text, "\nopening = 1 3 0 number\nopening = 410 39 0 steps\n");
    assert_contains(
        text,
        "each owner takes at most 5 steps on its records alone: what is opened tells of single");
    assert_contains(text, "NO NOISE: how many records an owner has");
    assert_ok(dp_silo_plan_parse(text, n, "a", &again, &err), err.text);
    assert_int_equal(dp_silo_plan_opts(again)->local_steps, 5);
    assert_string_equal(dp_silo_plan_text(again), text);
    dp_silo_plan_free(again);
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        memcpy(was, text, n + 1);
        char *at = strstr(text, changes[k][0]);
        assert_non_null(at);
        memcpy(at, changes[k][1], strlen(changes[k][1]));
        assert_int_not_equal(dp_silo_plan_parse(text, n, "a", &again, &err), DP_OK);
        memcpy(text, was, n + 1);
    }
}

/* K steps of each and one opening; the first one is of numbers. */
static void openings_are_counted_by_steps(void **state)
{
    static const uint64_t steps[] = {1, 2, 3, 256}, times[] = {2048, 1024, 683, 8};
    (void)state;
    for (int k = 0; k < 4; k++) {
        p.opts.local_steps = steps[k];
        dp_silo_plan *plan = plans_plan(&p, 0);
        assert_int_equal(plan->n_openings, 2);
        assert_int_equal(plan->openings[0].times, 1);
        assert_int_equal(plan->openings[1].times, times[k]);
        dp_silo_plan_free(plan);
    }
}

/* Who adds up may choose what is asked: noise alone holds whatever that is. */
static void without_noise_who_adds_up_is_trusted(void **state)
{
    static const char *const schemes[] = {"fedavg", "fedavg+he", "fedsgd", "fedsgd+he",
                                          "secagg+dp"};
    (void)state;
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++) {
        p.opts.scheme = schemes[k];
        p.opts.local_steps = k < 2 ? 5 : 0;
        p.opts.epsilon = k < 4 ? 0 : 4;
        p.opts.delta = k < 4 ? 0 : 1e-5;
        dp_silo_plan *plan = plans_plan(&p, 0);
        const char *said = strstr(dp_silo_plan_text(plan), "who adds up, may tell false sums");
        assert_true((said != NULL) == (k < 4));
        dp_silo_plan_free(plan);
    }
}

static void cannot(dp_silo_opts o, dp_status expected, const char *why)
{
    dp_silo_plan *plan;
    dp_error err = {0};
    assert_fails(dp_silo_plan_new(&o, &plan, &err), expected, &err, why);
    assert_null(plan);
}

static void what_cannot_be_planned_is_refused(void **state)
{
    dp_model *latents = plans_latents();
    dp_silo_opts o = p.opts;
    (void)state;
    cannot((o.local_steps = 0, o), DP_EDOMAIN, "say how many, 1 to 256");
    cannot((o.local_steps = 257, o), DP_EDOMAIN, "say how many, 1 to 256");
    cannot((o.local_steps = 256, o.rounds = 2, o), DP_EINVAL, "neither rounds nor draws");
    cannot((o.rounds = 0, o.draws = 200, o), DP_EINVAL, "neither rounds nor draws");
    cannot((o.draws = 0, o.epsilon = 1, o.delta = 1e-5, o), DP_EINVAL, "has no noise");
    o = p.opts;
    cannot((o.scheme = "fedsgd", o), DP_EINVAL, "opens a sum in each step");
    cannot((o.scheme = "secagg+dp", o.epsilon = 4, o.delta = 1e-5, o), DP_EINVAL,
           "opens a sum in each step");
    o = p.opts;
    o.model = latents;
    o.source = NULL;
    cannot(o, DP_EUNSUPPORTED, "no mean over owners");
    cannot((o.model = p.model, o.scheme = "fedavg+he", o.colluders = 2, o), DP_EPRIVACY,
           "it is one owner's");
    cannot((o.colluders = 1, o.dropouts = 1, o), DP_EINVAL, "plan without dropouts");
    dp_model_free(latents);
}

#define ONE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE(a_plan_says_how_many_steps_owners_take),
        ONE(openings_are_counted_by_steps),
        ONE(without_noise_who_adds_up_is_trusted),
        ONE(what_cannot_be_planned_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
