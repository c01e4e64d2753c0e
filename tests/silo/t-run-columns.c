/* Plans of columns: their text, their cost, and a run of two owners whose rows are in other orders
 * and not all the same people's. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "silo/plan.h"
#include "tests/lib/check.h"
#include "tests/silo/registers.h"

/* ---- runs ---- */

static void two_owners_get_the_regression_of_their_common_rows(void **state)
{
    static joint j;
    double w[2][MOST_D];
    dp_silo_columns c = registers_usual;
    (void)state;
    for (int k = 0; k < 2; k++) {
        c.logistic = k == 0;
        registers_begin(&j, &c, "columns");
        registers_run();
        registers_solve(&c, false, w);
        for (int p = 0; p < 2; p++) {
            assert_ok(registers[p].status, registers[p].err.text);
            assert_int_equal(registers[p].common, 160);
            for (size_t q = 0; q < c.columns[p]; q++)
                assert_close(registers[p].w[q], w[p][q], 1e-6, 1e-7);
        }
        dp_silo_audit found;
        dp_error err = {0};
        unsigned char hash[DP_SILO_HASH];
        dp_silo_plan_hash(j.plan, hash);
        assert_ok(dp_silo_audit_check(joint_path("audit", 0), hash, &found, &err), err.text);
        assert_int_equal(found.peers[0].sent, 1 + 4 + 1 + 20); /* key, linking, columns, answers */
        registers_end(&j);
    }
}

static void with_noise_coefficients_are_near_and_not_the_same(void **state)
{
    static joint j;
    double w[2][MOST_D], off = 0;
    (void)state;
    registers_begin(&j, &registers_usual, "columns+dp");
    registers_run();
    registers_solve(&registers_usual, false, w);
    for (int p = 0; p < 2; p++) {
        assert_ok(registers[p].status, registers[p].err.text);
        for (size_t q = 0; q < registers_usual.columns[p]; q++)
            off += pow(registers[p].w[q] - w[p][q], 2);
    }
    /* The gradient's noise over n is z C sqrt(2) / n a step, z = 2 sqrt(T) / mu of epsilon 4 and
     * delta 1e-5, mu = .93: some hundredths a step, of which 20 times 2 add up. */
    assert_true(sqrt(off) > 1e-3 && sqrt(off) < 20);
    registers_end(&j);
}

static void steps_that_are_too_long_are_told(void **state)
{
    static joint j;
    dp_silo_columns c = registers_usual;
    (void)state;
    c.ridge = 1e20; /* each step turns coefficients round, and makes them longer */
    registers_begin(&j, &c, "columns");
    registers_run();
    for (int p = 0; p < 2; p++) {
        assert_fails(registers[p].status, DP_EACCURACY, &registers[p].err, "plan for shorter ones");
        assert_close(registers[p].w[0], 0, 0, 0);
    }
    registers_end(&j);
}

/* In its mailbox; in an empty one nobody sends a second time, nor waits for ever. */
static void a_run_that_is_over_gives_the_same_again(void **state)
{
    static joint j;
    double w[2][MOST_D];
    dp_silo_kept kept;
    (void)state;
    registers_begin(&j, &registers_usual, "columns+dp");
    registers_run();
    const size_t letters = joint_letters();
    for (int p = 0; p < 2; p++) {
        assert_ok(registers[p].status, registers[p].err.text);
        memcpy(w[p], registers[p].w, sizeof w[p]);
    }
    registers[0].opts.patience_ms = registers[1].opts.patience_ms = 2000;
    registers_run();
    for (int p = 0; p < 2; p++) {
        assert_ok(registers[p].status, registers[p].err.text);
        assert_memory_equal(registers[p].w, w[p], registers_usual.columns[p] * sizeof(double));
        assert_int_equal(dp_silo_look(j.plan, registers[p].state, &kept, NULL), DP_OK);
        assert_true(kept.keeps && kept.begun && kept.owner == (size_t)p && kept.changed > 0);
        assert_true(kept.sums == 20 && kept.planned == 20);
    }
    assert_int_equal(joint_letters(), letters);
    assert_int_equal(registers_take(NULL), letters);
    registers_run();
    for (int p = 0; p < 2; p++)
        assert_fails(registers[p].status, DP_ETIMEOUT, &registers[p].err, "no 'psi.n' of round 0");
    assert_int_equal(joint_letters(), 2); /* keys */
    registers_end(&j);
}

/* Without a state nothing goes on, and nothing is begun a second time. */
static void without_a_state_a_run_is_begun_once(void **state)
{
    static joint j;
    (void)state;
    registers_begin(&j, &registers_usual, "columns");
    registers[0].opts.state = registers[1].opts.state = NULL;
    registers_run();
    assert_ok(registers[0].status, registers[0].err.text);
    registers[0].opts.patience_ms = registers[1].opts.patience_ms = 2000;
    registers_run(); /* in the same mailbox */
    for (int p = 0; p < 2; p++) {
        assert_fails(registers[p].status, DP_ESTATE, &registers[p].err,
                     "has begun this run before");
        for (size_t q = 0; q < registers_usual.columns[p]; q++)
            assert_close(registers[p].w[q], 0, 0, 0);
        assert_int_equal(registers[p].common, 0);
    }
    registers_end(&j);
}

/* Of a house that says nothing of columns nothing leaves. */
static void a_policy_must_allow_that_ids_are_linked(void **state)
{
    static joint j;
    static const char base[] = "schemes = columns+dp\nepsilon = 4\ndelta = 1e-5\nowners = 2\n",
                      linked[] = "link-ids = yes\n";
    char path[256];
    (void)state;
    registers_begin(&j, &registers_usual, "columns+dp");
    register_side *s = &registers[1];
    (void)snprintf(path, sizeof path, "%s", joint_path("policy", 1));
    s->opts.policy = path;
    for (int allowed = 0; allowed < 2; allowed++) {
        FILE *f = fopen(s->opts.policy, "wb");
        assert_non_null(f);
        assert_true(fputs(base, f) >= 0 && (allowed == 0 || fputs(linked, f) >= 0));
        assert_int_equal(fclose(f), 0);
        s->opts.patience_ms = 100;
        register_act(s);
        assert_fails(s->status, allowed ? DP_ETIMEOUT : DP_EPRIVACY, &s->err,
                     allowed ? "east" : "no `link-ids = yes`");
        assert_int_equal(joint_letters() > 0, allowed);
    }
    registers_end(&j);
}

static void nothing_leaves_where_something_is_wrong(void **state)
{
    static const dp_group several = {.size = 2};
    static joint j;
    dp_fit *fit = NULL;
    dp_error err = {0};
    (void)state;
    registers_begin(&j, &registers_usual, "columns+dp");
    register_side *s = &registers[1];
    s->y[17] = .5;
    register_act(s);
    assert_fails(s->status, DP_EDATA, &s->err, "row 18");
    s->y[17] = 1;
    s->x[6 * 3 + 2] = (double)NAN;
    register_act(s);
    assert_fails(s->status, DP_EDATA, &s->err, "row 4");
    s->x[6 * 3 + 2] = 0;
    s->at[40] = "\tP10"; /* row 0 is " p10 " */
    register_act(s);
    assert_fails(s->status, DP_EDATA, &s->err, "two ids of this owner are the same");
    s->at[40] = " \t";
    register_act(s);
    assert_fails(s->status, DP_EDATA, &s->err, "an id is empty");
    s->at[40] = s->ids[40];
    s->rows = 0;
    register_act(s);
    assert_fails(s->status, DP_EINVAL, &s->err, "0 rows");
    s->rows = 20;
    const char *folder = s->opts.state;
    s->opts.state = NULL;
    register_act(s);
    assert_fails(s->status, DP_EINVAL, &s->err, "kept in the state");
    s->opts.state = folder;
    s->opts.group = &several;
    register_act(s);
    assert_fails(s->status, DP_EUNSUPPORTED, &s->err, "an owner of columns is one process");
    s->opts.group = NULL;
    s->opts.key = j.p.keys[3];
    register_act(s);
    assert_fails(s->status, DP_ENAME, &s->err, "none of the plan's owners");
    s->opts.key = j.p.keys[1];
    dp_dataset *data = plans_data(&j.p, 0);
    dp_status status = dp_silo_run(j.plan, j.p.model, data, &s->opts, &fit, &err);
    assert_fails(status, DP_EINVAL, &err, "dp_silo_run_columns");
    dp_dataset_free(data);
    assert_int_equal(joint_letters(), 0);
    dp_silo_plan_free(j.plan);
    j.plan = plans_plan(&j.p, 1);
    register_act(s);
    assert_fails(s->status, DP_EPRIVACY, &s->err, "west has not signed");
    assert_int_equal(joint_letters(), 0);
    registers_end(&j);
}

/* ---- plans ---- */

static char text[ROOM];

static void refuses(const char *was, const char *is, const char *why)
{
    static char changed[ROOM];
    dp_silo_plan *plan;
    dp_error err = {0};
    const char *at = strstr(text, was);
    assert_non_null(at);
    (void)snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, is,
                   at + strlen(was));
    dp_status status = dp_silo_plan_parse(changed, strlen(changed), "columns.plan", &plan, &err);
    assert_int_not_equal(status, DP_OK);
    assert_null(plan);
    if (strstr(err.text, why) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.text, why);
}

static void the_text_of_a_plan_is_read_as_it_was_written(void **state)
{
    static joint j;
    dp_silo_plan *again;
    dp_error err = {0};
    (void)state;
    registers_begin(&j, &registers_usual, "columns+dp");
    const size_t n = strlen(dp_silo_plan_text(j.plan));
    assert_true(n < ROOM);
    memcpy(text, dp_silo_plan_text(j.plan), n + 1);
    assert_ok(dp_silo_plan_parse(text, n, "columns.plan", &again, &err), err.text);
    assert_string_equal(dp_silo_plan_text(again), text);
    const dp_silo_columns *c = dp_silo_plan_opts(again)->columns;
    assert_true(c->logistic && c->outcome == 1 && c->columns[1] == 6 && c->steps == 20);
    assert_close(c->row_most[0], 1.5, 0, 0);
    dp_silo_plan_free(again);
    assert_non_null(strstr(text, "\nregression = logistic 1 20 2 0.01"));
    assert_non_null(strstr(text,
                           "| seen of others\n"
                           "|   east sees N.c, of records of east, west: with noise of west\n"
                           "|   west sees N.c, of records of east, west: with noise of east\n"));
    assert_non_null(strstr(text,
                           "\n|   each learns how many ids the other has, and which of its own "
                           "are common: no epsilon covers it\n"));
    refuses("regression = logistic 1 20 2", "regression = logistic 1 21 2", "what is opened");
    refuses("regression = logistic 1", "regression = logistic 0", "was changed");
    refuses("regression = logistic", "regression = other", "was changed");
    refuses("block = 4 1.5", "block = 4 1.6", "was changed");
    refuses("block = 4 1.5", "block = 4", "not what a plan has there");
    refuses("block = 4", "block = 0", "0 columns");
    refuses("ids = people", "ids = person", "was changed");
    refuses("\nepsilon = ", "\ntold = coefficients\nepsilon = ", "was changed");
    refuses("\nepsilon = ", "\ntold = all\nepsilon = ", "not what a plan has there");
    refuses("\nepsilon = ", "\nheld = a\nepsilon = ", "not what a plan has there");
    refuses("\nepsilon = ", "\nheld = a\nheld = b\nepsilon = ", "goes with");
    refuses("opening = 20", "opening = 19", "what is opened");
    refuses("colluders = 1", "colluders = 0", "two owners");
    refuses("scheme = columns+dp", "scheme = secagg+dp", "of rows");
    char opening[64];
    (void)snprintf(opening, sizeof opening, "opening = 20 10 %.17g", j.plan->openings[0].sigma);
    refuses(opening, "opening = 20 10 5", "cost epsilon");
    registers_end(&j);
}

/* Phi(x) */
static double normal(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

static void noise_is_what_the_budget_asks_for(void **state)
{
    static joint j;
    double epsilon[3];
    dp_error err = {0};
    (void)state;
    registers_begin(&j, &registers_usual, "columns+dp");
    const double mu = 2 * sqrt(20) / j.plan->openings[0].sigma;
    const double delta = normal(-4 / mu + mu / 2) - exp(4) * normal(-4 / mu - mu / 2);
    assert_true(delta <= 1e-5);
    assert_close(delta, 1e-5, 5e-3, 0);
    for (size_t k = 0; k < 3; k++)
        assert_ok(dp_silo_plan_spent(j.plan, k, &epsilon[k], &err), err.text);
    assert_true(epsilon[0] <= 4 && epsilon[1] <= 4 && epsilon[1] > 3.99 && isinf(epsilon[2]));
    registers_end(&j);
}

static void plans_that_are_none_are_refused(void **state)
{
    static joint j;
    dp_silo_plan *plan = NULL;
    dp_silo_columns c = registers_usual;
    (void)state;
    registers_begin(&j, &registers_usual, "columns+dp");
    dp_silo_opts o = j.p.opts;
#define REFUSED(status_, why)                                                                      \
    do {                                                                                           \
        dp_error err = {0};                                                                        \
        dp_status status = dp_silo_plan_new(&o, &plan, &err);                                      \
        assert_fails(status, status_, &err, why);                                                  \
        assert_null(plan);                                                                         \
        o = j.p.opts;                                                                              \
        o.columns = &c;                                                                            \
        c = registers_usual;                                                                       \
    } while (0)
    o.n_owners = 3;
    REFUSED(DP_EINVAL, "two owners");
    o.trusting = true;
    REFUSED(DP_EINVAL, "one colluder");
    o.scheme = "secagg+dp";
    REFUSED(DP_EINVAL, "is of rows");
    o.columns = NULL;
    o.model = j.p.model;
    REFUSED(DP_EINVAL, "is of columns");
    o.rounds = 3;
    REFUSED(DP_EINVAL, "no rounds");
    o.epsilon = 0;
    REFUSED(DP_EDOMAIN, "no budget");
    o.delta = 1e-19;
    REFUSED(DP_EDOMAIN, "too small");
    o.scheme = "columns";
    REFUSED(DP_EINVAL, "no epsilon");
    c.row_most[0] = 1e12;
    REFUSED(DP_EUNSUPPORTED, "too far apart");
    c.columns[0] = 1025;
    REFUSED(DP_EDOMAIN, "1025 columns");
    c.addend_most[1] = (double)NAN;
    REFUSED(DP_EDOMAIN, "addends up to nan");
    c.step = 0;
    REFUSED(DP_EDOMAIN, "steps of 0");
    c.ids = "b\n";
    REFUSED(DP_EINVAL, "what ids are of");
    c.outcome = 2;
    REFUSED(DP_EINVAL, "outcomes are at");
#undef REFUSED
    registers_end(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_owners_get_the_regression_of_their_common_rows),
        cmocka_unit_test(with_noise_coefficients_are_near_and_not_the_same),
        cmocka_unit_test(steps_that_are_too_long_are_told),
        cmocka_unit_test(a_run_that_is_over_gives_the_same_again),
        cmocka_unit_test(without_a_state_a_run_is_begun_once),
        cmocka_unit_test(a_policy_must_allow_that_ids_are_linked),
        cmocka_unit_test(nothing_leaves_where_something_is_wrong),
        cmocka_unit_test(the_text_of_a_plan_is_read_as_it_was_written),
        cmocka_unit_test(noise_is_what_the_budget_asks_for),
        cmocka_unit_test(plans_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
