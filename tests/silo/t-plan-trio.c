/* Plans of three parties: their text, what they spend, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "silo/plan.h"
#include "tests/silo/joint.h"
#include "tests/silo/trio-town.h"

enum { ROOM = 64 * 1024 };

static joint j;

/* East and west have the columns, north helps. */
static void begin(void)
{
    static dp_silo_trio terms;
    town_set_up(4);
    memset(&j, 0, sizeof j);
    plans_make(&j.p);
    terms = town_sides[0].terms;
    terms.name = NULL; /* the plan's is taken */
    j.p.opts = (dp_silo_opts){.name = "three",
                              .scheme = "trio+dp",
                              .trio = &terms,
                              .n_owners = 3,
                              .owners = j.p.owners,
                              .epsilon = 4,
                              .delta = 1e-5,
                              .seed = 11};
    joint_begin(&j);
}

static char text[ROOM];

static void refuses(const char *was, const char *is, const char *why)
{
    static char changed[ROOM];
    dp_silo_plan *plan;
    dp_error err = {DP_OK, ""};
    const char *at = strstr(text, was);
    assert_non_null(at);
    (void)snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, is,
                   at + strlen(was));
    dp_status status = dp_silo_plan_parse(changed, strlen(changed), "three.plan", &plan, &err);
    assert_int_not_equal(status, DP_OK);
    assert_null(plan);
    if (strstr(err.text, why) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.text, why);
}

static void the_text_of_a_plan_is_read_as_it_was_written(void **state)
{
    dp_silo_plan *again;
    dp_error err = {DP_OK, ""};
    (void)state;
    begin();
    const size_t n = strlen(dp_silo_plan_text(j.plan));
    assert_true(n < ROOM);
    memcpy(text, dp_silo_plan_text(j.plan), n + 1);
    assert_ok(dp_silo_plan_parse(text, n, "three.plan", &again, &err), err.text);
    assert_string_equal(dp_silo_plan_text(again), text);
    const dp_silo_trio *t = dp_silo_plan_opts(again)->trio;
    assert_true(!t->logistic && t->outcome == 1 && t->columns[0] == 3 && t->columns[2] == 0 &&
                t->steps == 20 && t->rows == TOWN_N && t->ids == NULL && t->residual_most == 1);
    dp_silo_plan_free(again);
    assert_non_null(strstr(text, "\nthree = linear 1 20 0.5 0.01"));
    assert_non_null(strstr(text, "\nparty = 3 0 1\nparty = 2 0 1\nparty = 0 0 0\n"));
    assert_non_null(
        strstr(text, "|   north sees h.d, of records of east, west: with noise of all\n"));
    assert_non_null(
        strstr(text, "\n| any two of the three together\n|   have all rows and outcomes"));
    refuses("three = linear 1 20", "three = linear 1 21", "what is opened");
    refuses("three = linear 1", "three = linear 0", "was changed");
    refuses("three = linear", "three = logistic", "leave outcome_most and residual_most 0");
    refuses("three = linear", "three = other", "was changed");
    refuses("three = linear 1", "three = linear 3", "not what a plan has there");
    refuses("most = 2 1", "most = 2 1.5", "was changed");
    refuses("most = 2 1", "most = 2", "not what a plan has there");
    refuses("party = 3 0 1", "party = 3 0 2", "was changed");
    refuses("party = 3 0 1", "party = 4 0 1", "what is opened");
    refuses("party = 0 0 0\n", "", "not what a plan has there");
    refuses("\nepsilon = ", "\nids = people\nepsilon = ", "was changed");
    refuses("\nepsilon = ", "\ntold = coefficients\nepsilon = ", "leave told false");
    refuses("\nepsilon = ", "\ntold = all\nepsilon = ", "not what a plan has there");
    refuses("\nepsilon = ", "\nheld = a\nepsilon = ", "not what a plan has there");
    refuses("\nepsilon = ", "\nheld = a\nheld = b\nheld = -\nepsilon = ", "goes with");
    refuses("opening = 20", "opening = 19", "what is opened");
    refuses("colluders = 1", "colluders = 0", "one colluder");
    refuses("scheme = trio+dp", "scheme = secagg+dp", "of rows");
    refuses("scheme = trio+dp", "scheme = trio", "");
    refuses("epsilon = 4", "epsilon = 3", "what is opened");
    refuses("records = 200", "records = 100", "not of this plan");
    joint_end(&j);
}

/* Against a party two shares of noise are counted, against who is none three, and two parties have
 * all rows. */
static void noise_is_what_the_budget_asks_for(void **state)
{
    double epsilon[3];
    dp_error err = {DP_OK, ""};
    (void)state;
    begin();
    for (size_t k = 0; k < 3; k++)
        assert_ok(dp_silo_plan_spent(j.plan, k, &epsilon[k], &err), err.text);
    assert_true(epsilon[1] <= 4 && epsilon[1] > 3.99 && epsilon[0] < 3.3 && isinf(epsilon[2]));
    joint_end(&j);
}

static void plans_that_are_none_are_refused(void **state)
{
    dp_silo_plan *plan = NULL;
    (void)state;
    begin();
    const dp_silo_trio good = *j.p.opts.trio;
    dp_silo_trio t = good;
    dp_silo_opts o = j.p.opts;
#define REFUSED(status_, why)                                                                      \
    do {                                                                                           \
        dp_error err = {DP_OK, ""};                                                                \
        dp_status status = dp_silo_plan_new(&o, &plan, &err);                                      \
        assert_fails(status, status_, &err, why);                                                  \
        assert_null(plan);                                                                         \
        o = j.p.opts;                                                                              \
        t = good;                                                                                  \
        o.trio = &t;                                                                               \
    } while (0)
    o.n_owners = 2;
    REFUSED(DP_EINVAL, "three owners");
    o.colluders = 2;
    REFUSED(DP_EINVAL, "one colluder");
    o.rounds = 3;
    REFUSED(DP_EINVAL, "no rounds");
    o.local_steps = 3;
    REFUSED(DP_EINVAL, "leave local steps out");
    o.scheme = "columns+dp";
    REFUSED(DP_EINVAL, "the plan is not");
    o.scheme = "trio";
    REFUSED(DP_EINVAL, "");
    o.trio = NULL;
    o.model = j.p.model;
    REFUSED(DP_EINVAL, "of three parties");
    o.trio_held[0] = "age";
    REFUSED(DP_EINVAL, "goes with");
    o.source = &j.p.source;
    REFUSED(DP_EINVAL, "goes with");
    o.source = &j.p.source;
    o.trio_held[0] = "-"; /* stands for none in a plan's text */
    o.trio_held[1] = "age";
    REFUSED(DP_EINVAL, "rename the column");
    t.columns[2] = 1;
    REFUSED(DP_EDOMAIN, "");
    t.step = 0;
    REFUSED(DP_EDOMAIN, "");
    o.delta = 0;
    REFUSED(DP_EDOMAIN, "");
#undef REFUSED
    joint_end(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_of_a_plan_is_read_as_it_was_written),
        cmocka_unit_test(noise_is_what_the_budget_asks_for),
        cmocka_unit_test(plans_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, town_make, town_clear);
}
