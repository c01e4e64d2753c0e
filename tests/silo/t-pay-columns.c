/* What a run of columns pays from ledgers, and what is told at its end. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <tacit/ledger.h>

#include "silo/plan.h"
#include "tests/lib/check.h"
#include "tests/silo/registers.h"

/* A ledger of owner k, whose data set has that budget; what is in it is not looked at. */
static dp_ledger *ledger_of(const joint *j, size_t k, const dp_budget *budget)
{
    dp_ledger *ledger = NULL;
    dp_error err = {0};
    dp_dataset *data = plans_data(&j->p, k);
    const dp_ledger_source source = {.records = data};
    (void)unlink(joint_path("ledger", k));
    assert_ok(dp_ledger_create(joint_path("ledger", k), &ledger, &err), err.text);
    assert_ok(dp_ledger_add_data(ledger, "records", &source, budget, &err), err.text);
    dp_dataset_free(data);
    return ledger;
}

static double spent_in(dp_ledger *ledger)
{
    dp_interval spent;
    dp_error err = {0};
    assert_ok(dp_ledger_spent(ledger, "records", &spent, &err), err.text);
    return spent.upper;
}

/* A budget of the plan's epsilon and delta pays for it, and for nothing beside. */
static void each_ledger_pays_for_all_of_the_plan(void **state)
{
    static const dp_budget budget = {.epsilon = 4, .delta = 1e-5, .adjacency = DP_REPLACE_ONE};
    static joint j;
    dp_ledger *ledger[2];
    (void)state;
    registers_begin(&j, &registers_usual, "columns+dp");
    for (size_t k = 0; k < 2; k++) {
        registers[k].opts.ledger = ledger[k] = ledger_of(&j, k, &budget);
        registers[k].opts.ledger_data = "records";
        registers[k].opts.ledger_label = "columns";
    }
    registers_run();
    for (size_t k = 0; k < 2; k++) {
        const dp_ledger_statement *all;
        dp_error err = {0};
        assert_ok(registers[k].status, registers[k].err.text);
        assert_true(spent_in(ledger[k]) <= 4 && spent_in(ledger[k]) > 3.99);
        assert_ok(dp_ledger_read(ledger[k], &all, &err), err.text);
        assert_int_equal(all->data[0].n, 1);
        const dp_ledger_entry *e = &all->data[0].entries[0];
        assert_true(e->settled != 0 && e->n == 2);
        assert_true(e->begun[0] == 20 && e->list[0].steps == 20 && e->list[1].steps == 1);
        assert_true(e->list[1].noise == DP_NOISE_ALL_OR_NOTHING && e->list[1].sigma < 1e-14);
        dp_ledger_statement_free(all);
    }
    dp_silo_plan *again = NULL; /* for what is left */
    dp_silo_opts o = j.p.opts;
    dp_error err = {0};
    o.seed++;
    assert_ok(dp_silo_plan_new(&o, &again, &err), err.text);
    for (int k = 0; k < 2; k++)
        assert_ok(dp_silo_plan_sign(again, j.p.keys[k], &err), err.text);
    dp_silo_plan_free(j.plan);
    j.plan = again;
    joint_clear();
    register_act(&registers[1]);
    assert_fails(registers[1].status, DP_EPRIVACY, &registers[1].err, "is spent");
    assert_int_equal(joint_letters(), 0);
    for (size_t k = 0; k < 2; k++)
        dp_ledger_close(ledger[k]);
    registers_end(&j);
}

static int stop_third(void *user, const dp_fit_progress *at)
{
    int *calls = user;
    assert_int_equal(at->made, 0); /* of 20 */
    assert_int_equal(at->planned, 20);
    return ++*calls == 3;
}

static void who_stops_before_the_first_step_has_spent_nothing(void **state)
{
    static const dp_budget budget = {.epsilon = 4, .delta = 1e-5, .adjacency = DP_REPLACE_ONE};
    static joint j;
    int calls = 0;
    (void)state;
    registers_begin(&j, &registers_usual, "columns+dp");
    register_side *s = &registers[1];
    s->opts.ledger = ledger_of(&j, 0, &budget);
    s->opts.ledger_data = "records";
    s->opts.watch = stop_third;
    s->opts.watch_user = &calls;
    register_act(s); /* the other is not there */
    assert_fails(s->status, DP_ESTOPPED, &s->err, "stopped while");
    assert_int_equal(calls, 3);
    assert_close(spent_in(s->opts.ledger), 0, 0, 0);
    dp_ledger_close(s->opts.ledger);
    registers_end(&j);
}

static void nothing_leaves_that_is_not_paid(void **state)
{
    dp_budget budget = {.epsilon = 3.9, .delta = 1e-5, .adjacency = DP_REPLACE_ONE};
    static joint j;
    (void)state;
    registers_begin(&j, &registers_usual, "columns+dp");
    register_side *s = &registers[1]; /* whose audit has no path of joint_path */
    s->opts.patience_ms = 300;
    s->opts.ledger = ledger_of(&j, 0, &budget);
    register_act(s);
    assert_fails(s->status, DP_EINVAL, &s->err, "no ledger_data");
    s->opts.ledger_data = "records";
    register_act(s);
    assert_fails(s->status, DP_EPRIVACY, &s->err, "of 3.9");
    dp_ledger_close(s->opts.ledger);
    budget = (dp_budget){.epsilon = 4, .delta = 1e-5, .adjacency = DP_ADD_REMOVE};
    s->opts.ledger = ledger_of(&j, 0, &budget);
    register_act(s);
    assert_fails(s->status, DP_EMISMATCH, &s->err, "--adjacency replace-one");
    dp_ledger_close(s->opts.ledger);
    budget = (dp_budget){.epsilon = 4, .delta = 1e-5, .adjacency = DP_REPLACE_ONE, .unit = "y"};
    s->opts.ledger = ledger_of(&j, 0, &budget);
    register_act(s);
    assert_fails(s->status, DP_EMISMATCH, &s->err, "the same unit column");
    assert_int_equal(joint_letters(), 0);
    dp_ledger_close(s->opts.ledger);
    budget.unit = NULL;
    dp_ledger *ledger = s->opts.ledger = ledger_of(&j, 0, &budget);
    register_act(s); /* the other is not there: no step was begun */
    assert_fails(s->status, DP_ETIMEOUT, &s->err, "has not begun");
    assert_true(joint_letters() > 0);
    assert_close(spent_in(ledger), 0, 0, 0);
    const dp_ledger_statement *all;
    assert_int_equal(dp_ledger_read(ledger, &all, NULL), DP_OK);
    assert_contains(all->data[0].entries[0].label, "which people both have is not counted");
    dp_ledger_statement_free(all);
    s->opts.ledger = NULL;
    register_act(s);
    assert_fails(s->status, DP_EINVAL, &s->err, "no ledger, so that nothing");
    dp_ledger_close(ledger);
    registers_end(&j);
    registers_begin(&j, &registers_usual, "columns");
    s->opts.ledger = ledger = ledger_of(&j, 0, &budget);
    s->opts.ledger_data = "records";
    register_act(s);
    assert_fails(s->status, DP_EINVAL, &s->err, "no guarantee");
    dp_ledger_close(ledger);
    registers_end(&j);
}

/* Of a run that ends behind its first step all stays spent. */
static void what_was_begun_stays_spent(void **state)
{
    static const dp_budget budget = {.epsilon = 4, .delta = 1e-5, .adjacency = DP_REPLACE_ONE};
    static joint j;
    dp_ledger *ledger[2];
    dp_silo_columns c = registers_usual;
    (void)state;
    c.ridge = 1e20; /* coefficients grow beyond all bounds */
    registers_begin(&j, &c, "columns+dp");
    for (size_t k = 0; k < 2; k++) {
        registers[k].opts.ledger = ledger[k] = ledger_of(&j, k, &budget);
        registers[k].opts.ledger_data = "records";
    }
    registers_run();
    for (size_t k = 0; k < 2; k++) {
        const dp_ledger_statement *all;
        dp_error err = {0};
        assert_fails(registers[k].status, DP_EACCURACY, &registers[k].err, "shorter ones");
        assert_true(spent_in(ledger[k]) > 3.99);
        assert_ok(dp_ledger_read(ledger[k], &all, &err), err.text);
        assert_true(all->data[0].entries[0].settled == 0); /* broken off */
        dp_ledger_statement_free(all);
        dp_ledger_close(ledger[k]);
    }
    registers_end(&j);
}

/* The line: what is charged dominates what the plan's own account allows, at any epsilon. */
static void what_is_charged_dominates_the_run(void **state)
{
    static joint j;
    dp_mechanism list[DPI_COLUMNS_SPENDING];
    dp_error err = {0};
    const double apart = 20 * 0x1p-69; /* 64 bits, and 5 of 20 steps */
    (void)state;
    registers_begin(&j, &registers_usual, "columns+dp");
    assert_ok(dpi_silo_columns_spending(j.plan, list, &err), err.text);
    assert_close(list[0].sigma, j.plan->openings[0].sigma, 0, 0);
    for (double e = 0; e < 60; e += .25) {
        double alone, cut = INFINITY;
        dp_interval both;
        assert_ok(dp_delta(&list[0], e, &alone, &err), err.text);
        assert_ok(dp_account_delta(list, 2, e, 0, &both, &err), err.text);
        for (double below = 0; below <= e; below += .25) { /* delta falls with epsilon */
            double d;
            assert_ok(dp_delta(&list[0], below, &d, &err), err.text);
            cut = fmin(cut, d + apart * (1 + exp(below)));
        }
        assert_true(both.upper >= cut);
    }
    registers_end(&j);
}

static void coefficients_are_told_where_the_plan_says_so(void **state)
{
    static joint j;
    double others[2][MOST_D];
    dp_silo_columns c = registers_usual;
    (void)state;
    c.told = true;
    registers_begin(&j, &c, "columns+dp");
    assert_non_null(strstr(dp_silo_plan_text(j.plan), "\ntold = coefficients\n"));
    assert_non_null(strstr(dp_silo_plan_text(j.plan), "each tells the other its coefficients"));
    assert_non_null(strstr(dp_silo_plan_text(j.plan), "keeps to the protocol"));
    registers[0].opts.others = others[0]; /* the other does not want to know */
    registers_run();
    for (int p = 0; p < 2; p++)
        assert_ok(registers[p].status, registers[p].err.text);
    for (size_t q = 0; q < c.columns[1]; q++)
        assert_close(others[0][q], registers[1].w[q], 0, 0);
    registers_end(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_ledger_pays_for_all_of_the_plan),
        cmocka_unit_test(who_stops_before_the_first_step_has_spent_nothing),
        cmocka_unit_test(nothing_leaves_that_is_not_paid),
        cmocka_unit_test(what_was_begun_stays_spent),
        cmocka_unit_test(what_is_charged_dominates_the_run),
        cmocka_unit_test(coefficients_are_told_where_the_plan_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
