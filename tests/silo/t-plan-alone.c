/* Plans whose owners release alone: what is said, what it costs, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "silo/plan.h"
#include "silo/policy.h"
#include "tests/lib/check.h"
#include "tests/silo/plans.h"

enum { ROOM = 64 * 1024 };

static plans p;

static int set_up(void **state)
{
    (void)state;
    plans_make(&p);
    p.opts.scheme = "dp-pvi";
    p.opts.rounds = p.opts.draws = 0;
    p.opts.local_steps = 64;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    plans_free(&p);
    return 0;
}

static void a_plan_says_what_each_owner_releases(void **state)
{
    static const char *const changes[][2] = {{"local-steps = 64\n", "local-steps = 32\n"},
                                             {"taken by 1 / 3", "taken by 1 / 1"},
                                             {"own = 512 ", "own = 511 "},
                                             {"opening = 8 ", "opening = 9 "},
                                             {"at most 64 steps", "at most 32 steps"},
                                             {"scheme = dp-pvi\n", "scheme = fedavg\n"},
                                             {"added alone", "added  also"}};
    static char text[ROOM], was[ROOM];
    dp_silo_plan *plan = plans_plan(&p, 3), *again;
    dp_error err = {0};
    (void)state;
    const size_t n = strlen(dp_silo_plan_text(plan));
    assert_true(n < ROOM);
    memcpy(text, dp_silo_plan_text(plan), n + 1);
    dp_silo_plan_free(plan);
    assert_contains(text, "\nown = 1 1 ");
    assert_contains(text, "\nown = 32 3 ");
    assert_contains(text, "\nown = 512 3 ");
    assert_contains(text, "\nopening = 8 15 0 factors\n");
    assert_contains(text, "each owner takes at most 64 steps on its records alone");
    assert_contains(text, "what they change is taken by 1 / 3\n");
    assert_contains(text, "by noise of its owner alone: against all others together");
    assert_contains(text, "east sees h.s, of records of east, west, north: with noise that each of "
                          "them has added alone, for its own\n");
    assert_null(strstr(text, "NO NOISE"));
    assert_null(strstr(text, "false sums"));
    assert_ok(dp_silo_plan_parse(text, n, "a", &again, &err), err.text);
    assert_int_equal(dp_silo_plan_opts(again)->local_steps, 64);
    assert_string_equal(dp_silo_plan_text(again), text);
    dp_silo_plan_free(again);
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        memcpy(was, text, n + 1);
        char *at = strstr(text, changes[k][0]);
        assert_non_null(at);
        const size_t out = strlen(changes[k][0]), in = strlen(changes[k][1]);
        memmove(at + in, at + out, strlen(at + out) + 1);
        memcpy(at, changes[k][1], in);
        assert_int_not_equal(dp_silo_plan_parse(text, strlen(text), "a", &again, &err), DP_OK);
        memcpy(text, was, n + 1);
    }
}

/* The same whoever looks, and as much as the owner's own account has; the budget is used. */
static void epsilon_is_of_the_owners_own_releases(void **state)
{
    dp_silo_plan *plan = plans_plan(&p, 0);
    dp_mechanism list[DP_OPENINGS];
    dp_interval spent;
    dp_error err = {0};
    double told;
    size_t n = 0;
    (void)state;
    for (size_t k = 0; k < plan->n_openings; k++)
        if (plan->openings[k].alone)
            list[n++] = (dp_mechanism){.sampling = DP_SAMPLING_FULL,
                                       .rate = 1,
                                       .steps = plan->openings[k].times,
                                       .sigma = plan->openings[k].sigma};
    assert_int_equal(n, 3);
    assert_int_equal(plan->n_openings, 4);
    assert_ok(dp_account_epsilon(list, n, p.opts.delta, 0, &spent, &err), err.text);
    assert_true(spent.upper <= p.opts.epsilon && spent.upper > .999 * p.opts.epsilon);
    for (size_t known = 0; known < PLANS_OWNERS; known++) {
        assert_ok(dp_silo_plan_spent(plan, known, &told, &err), err.text);
        assert_close(told, spent.upper, 1e-12, 0);
    }
    dp_silo_plan_free(plan);
    p.opts.n_owners = 1; /* nor does it depend on how many there are */
    plan = plans_plan(&p, 0);
    for (size_t k = 0; k < n; k++)
        assert_close(plan->openings[k].sigma, list[k].sigma, 1e-12, 0);
    dp_silo_plan_free(plan);
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
    dp_model *latents = plans_latents(), *bare = dp_model_new();
    dp_plate rows = dp_unit_plate(bare, "rows");
    dp_observe(rows, "y", dp_normal_v(dp_param(bare, "level", 1, 0), dp_num(0.5)));
    dp_silo_opts o = p.opts;
    (void)state;
    cannot((o.local_steps = 0, o), DP_EDOMAIN, "say how many, 1 to 256");
    cannot((o.local_steps = 257, o), DP_EDOMAIN, "say how many, 1 to 256");
    cannot((o.local_steps = 8, o.rounds = 2, o), DP_EINVAL, "neither rounds nor draws");
    cannot((o.rounds = 0, o.epsilon = o.delta = 0, o), DP_EDOMAIN, "delta is 0");
    o = p.opts;
    o.n_owners = 5;
    cannot((o.dropouts = 1, o), DP_EINVAL, "plan without dropouts");
    o = p.opts;
    o.source = NULL;
    cannot((o.model = latents, o), DP_EUNSUPPORTED, "no mean over owners");
    cannot((o.model = bare, o), DP_EUNSUPPORTED, "level has no prior");
    dp_model_free(latents);
    dp_model_free(bare);
}

static dp_status apply(const char *policy, dp_error *err)
{
    dp_silo_plan *plan = plans_plan(&p, 0);
    *err = (dp_error){0};
    dp_status status = dpi_site_policy_apply(policy, strlen(policy), "policy", plan, err);
    dp_silo_plan_free(plan);
    return status;
}

static void a_policy_names_the_scheme_and_its_epsilon(void **state)
{
    dp_error err;
    (void)state;
    assert_ok(apply("schemes = dp-pvi\nepsilon = 4\ndelta = 1e-5\nowners = 3\n", &err), err.text);
    assert_fails(apply("schemes = secagg+dp\nepsilon = 4\ndelta = 1e-5\nowners = 3\n", &err),
                 DP_EPRIVACY, &err, "its scheme");
    assert_fails(apply("schemes = dp-pvi\nepsilon = 3.9\ndelta = 1e-5\nowners = 3\n", &err),
                 DP_EPRIVACY, &err, "its epsilon is larger");
    assert_fails(
        apply("schemes = dp-pvi\nepsilon = 4\ndelta = 1e-5\nowners = 3\nlocal-steps = 63\n", &err),
        DP_EPRIVACY, &err, "more steps by themselves");
    p.opts.trusting = true; /* others' noise is not counted on anyway */
    p.opts.colluders = 0;
    assert_ok(apply("schemes = dp-pvi\nepsilon = 4\ndelta = 1e-5\nowners = 3\n", &err), err.text);
}

#define ONE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE(a_plan_says_what_each_owner_releases),
        ONE(epsilon_is_of_the_owners_own_releases),
        ONE(what_cannot_be_planned_is_refused),
        ONE(a_policy_names_the_scheme_and_its_epsilon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
