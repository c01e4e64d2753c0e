/* Split learning of two owners: the regression, and the network, of their common rows at one place;
 * and only where a site says that numbers of single records may leave it. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/tacit.h>

#include "silo/plan.h"
#include "tests/lib/check.h"
#include "tests/silo/registers.h"

static const dp_silo_columns usual = {.logistic = true,
                                      .outcome = 1,
                                      .columns = {4, 6},
                                      .steps = 200,
                                      .step = 4,
                                      .ridge = .01,
                                      .ids = "people of two registers"};

static const char allowing[] = "schemes = split\nepsilon = 0\ndelta = 0\nowners = 2\n"
                               "no-noise = yes\nlink-ids = yes\ntell-coefficients = yes\n"
                               "single-records = yes\n";

static char policy[256];

static void write_policy(const char *text)
{
    (void)snprintf(policy, sizeof policy, "%s", joint_path("policy", 0));
    FILE *f = fopen(policy, "w");
    assert_true(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
    registers[0].opts.policy = registers[1].opts.policy = policy;
}

static bool both_have(size_t i)
{
    return i % 5 != 0 && i % 3 != 0;
}

/* ---- regressions ---- */

static void two_owners_get_the_regression_of_their_common_rows(void **state)
{
    static joint j;
    double w[2][MOST_D];
    dp_silo_columns c = usual;
    (void)state;
    for (int k = 0; k < 4; k++) {
        c.logistic = k % 2 == 0;
        c.outcome = (size_t)k / 2;
        registers_begin(&j, &c, "split");
        write_policy(allowing);
        registers_run();
        registers_solve(&c, true, w);
        for (int p = 0; p < 2; p++) {
            assert_ok(registers[p].status, registers[p].err.text);
            assert_int_equal(registers[p].common, 160);
            for (size_t q = 0; q < c.columns[p]; q++)
                assert_close(registers[p].w[q], w[p][q], 1e-11, 1e-12);
        }
        registers_end(&j);
    }
}

/* To the optimum of the ridge's loss, where all batches agree, as steps get small beside it. */
static void batches_come_near_to_it(void **state)
{
    static joint j;
    double w[2][MOST_D], off = 0, size = 0;
    dp_silo_columns c = usual;
    (void)state;
    c.ridge = .05;
    c.batch = 32;
    c.momentum = .9;
    c.step = .02;
    c.steps = 4000;
    registers_begin(&j, &c, "split");
    write_policy(allowing);
    registers_run();
    c.batch = 0;
    c.momentum = 0;
    c.step = 4;
    c.steps = 400;
    registers_solve(&c, true, w);
    for (int p = 0; p < 2; p++) {
        assert_ok(registers[p].status, registers[p].err.text);
        for (size_t q = 0; q < c.columns[p]; q++) {
            off += pow(registers[p].w[q] - w[p][q], 2);
            size += w[p][q] * w[p][q];
        }
    }
    assert_true(off < 1e-2 * size && size > .1);
    registers_end(&j);
}

static void steps_that_are_too_long_are_told(void **state)
{
    static joint j;
    dp_silo_columns c = usual;
    (void)state;
    c.ridge = 1e200;
    registers_begin(&j, &c, "split");
    write_policy(allowing);
    registers[0].opts.patience_ms = registers[1].opts.patience_ms = 5000;
    registers_run();
    for (int p = 0; p < 2; p++) {
        assert_true(registers[p].status == DP_EACCURACY || registers[p].status == DP_ETIMEOUT);
        assert_close(registers[p].w[0], 0, 0, 0);
    }
    assert_true(registers[0].status == DP_EACCURACY || registers[1].status == DP_EACCURACY);
    registers_end(&j);
}

/* Squares of gradients leave all numbers before parameters do. */
static void steps_that_grow_are_told(void **state)
{
    static joint j;
    dp_silo_columns c = usual;
    (void)state;
    c.logistic = false;
    c.step = 1000;
    registers_begin(&j, &c, "split");
    write_policy(allowing);
    registers[0].opts.patience_ms = registers[1].opts.patience_ms = 5000;
    registers_run();
    for (int p = 0; p < 2; p++)
        assert_close(registers[p].w[0], 0, 0, 0);
    assert_true(registers[0].status == DP_EACCURACY || registers[1].status == DP_EACCURACY);
    registers_end(&j);
}

/* ---- what a site allows ---- */

static void refused_by(const char *text, const char *what)
{
    static joint j;
    registers_begin(&j, &usual, "split");
    if (text != NULL)
        write_policy(text);
    registers_run();
    for (int p = 0; p < 2; p++)
        assert_fails(registers[p].status, DP_EPRIVACY, &registers[p].err, what);
    assert_int_equal(joint_letters(), 0);
    registers_end(&j);
}

static void numbers_of_single_records_leave_where_a_site_says_so(void **state)
{
    (void)state;
    refused_by(NULL, "runs only where the site's policy says");
    refused_by("schemes = split\nepsilon = 0\ndelta = 0\nowners = 2\nno-noise = yes\n"
               "link-ids = yes\n",
               "there is no `single-records = yes`");
    refused_by("schemes = split\nepsilon = 0\ndelta = 0\nowners = 2\nno-noise = yes\n"
               "link-ids = yes\nsingle-records = yes\nsingle-records = no\n",
               "there is no `single-records = yes`");
}

/* ---- a network ---- */

enum { HIDDEN = 3, CLASSES = 2, D = 4 };

/* What one owner has of the network, and gets. */
typedef struct network_side {
    register_side *of;
    const dp_silo_plan *plan;
    const dp_model *model;
    dp_dataset *data;
    int32_t label[PEOPLE];
    double w[64], others[64];
    dp_fit *fit;
} network_side;

static dp_model *network(void)
{
    dp_model *m = dp_model_new();
    dp_model_seed(m, 5);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr v = dp_weights(m, "v", D, HIDDEN, dp_init_normal(.5)), d = dp_param(m, "d", HIDDEN, .1);
    dp_expr h = dp_deterministic(m, "hidden", dp_tanh(dp_dense(dp_data(rows, "x", D), v, d)));
    dp_expr w = dp_weights(m, "w", HIDDEN, CLASSES, dp_init_normal(.5));
    dp_observe(rows, "label", dp_categorical_logit(dp_dense(h, w, dp_param(m, "e", CLASSES, 0))));
    return m;
}

static void *act(void *of)
{
    network_side *s = of;
    const dp_silo_columns_data data = {
        .rows = s->of->rows, .ids = s->of->at, .model = s->model, .data = s->data};
    s->of->opts.others = s->others;
    s->of->opts.fit = &s->fit;
    s->of->err = (dp_error){0};
    s->of->status =
        dp_silo_run_columns(s->plan, &data, &s->of->opts, &s->of->common, s->w, &s->of->err);
    return NULL;
}

static network_side sides[2];

static void begin_network(joint *j, const dp_model *m, const dp_silo_columns *c)
{
    dp_silo_columns made = usual;
    dp_error err = {0};
    registers_begin(j, &made, "split");
    dp_silo_plan_free(j->plan);
    j->p.opts.columns = c;
    j->p.opts.model = m;
    assert_ok(dp_silo_plan_new(&j->p.opts, &j->plan, &err), err.text);
    for (size_t k = 0; k < 2; k++)
        assert_ok(dp_silo_plan_sign(j->plan, registers[k].opts.key, &err), err.text);
    write_policy(allowing);
    for (size_t k = 0; k < 2; k++) {
        network_side *s = &sides[k];
        *s = (network_side){.of = &registers[k], .plan = j->plan, .model = m};
        s->data = dp_dataset_new(s->of->rows);
        for (size_t i = 0; i < s->of->rows; i++)
            s->label[i] = (int32_t)register_outcomes[s->of->who[i]];
        if (k == 0)
            dp_dataset_real(s->data, "x", D, s->of->x);
        else
            dp_dataset_index(s->data, "label", s->label);
    }
}

static void run_network(void)
{
    pthread_t threads[2];
    for (int k = 0; k < 2; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, act, &sides[k]), 0);
    for (int k = 0; k < 2; k++)
        (void)pthread_join(threads[k], NULL);
}

static void end_network(joint *j)
{
    for (int k = 0; k < 2; k++) {
        dp_fit_free(sides[k].fit);
        dp_dataset_free(sides[k].data);
    }
    registers_end(j);
}

/* All of the network at one place: d log p / d theta by differences. */
static double log_likelihood(const double *theta)
{
    const double *v = theta, *d = v + D * HIDDEN, *w = d + HIDDEN, *e = w + HIDDEN * CLASSES;
    double sum = 0;
    for (size_t i = 0; i < PEOPLE; i++) {
        double h[HIDDEN], s[CLASSES];
        if (!both_have(i))
            continue;
        for (size_t q = 0; q < HIDDEN; q++) {
            h[q] = d[q];
            for (size_t p = 0; p < D; p++)
                h[q] += .25 * register_table[0][i * MOST_D + p] * v[p * HIDDEN + q];
            h[q] = tanh(h[q]);
        }
        for (size_t c = 0; c < CLASSES; c++) {
            s[c] = e[c];
            for (size_t q = 0; q < HIDDEN; q++)
                s[c] += h[q] * w[q * CLASSES + c];
        }
        sum += s[register_outcomes[i] > 0] - log(exp(s[0]) + exp(s[1]));
    }
    return sum / 160;
}

static void descend(double *theta, size_t n, const dp_silo_columns *c)
{
    double g[64], velocity[64] = {0};
    for (uint64_t t = 0; t < c->steps; t++) {
        for (size_t k = 0; k < n; k++) {
            const double at = theta[k], step = 1e-4;
            theta[k] = at + step;
            const double up = log_likelihood(theta);
            theta[k] = at - step;
            g[k] = (up - log_likelihood(theta)) / (2 * step);
            theta[k] = at;
        }
        for (size_t k = 0; k < n; k++) {
            velocity[k] = c->momentum * velocity[k] - g[k];
            theta[k] -= c->step * velocity[k];
        }
    }
}

static void two_owners_get_the_network_that_was_not_cut(void **state)
{
    static const size_t first = D * HIDDEN + HIDDEN, second = HIDDEN * CLASSES + CLASSES;
    static joint j;
    const dp_silo_columns c = {.steps = 60,
                               .step = .5,
                               .momentum = .5,
                               .ids = "people",
                               .held = {"x", "label"},
                               .cut = "hidden",
                               .told = true};
    dp_model *m = network();
    dp_silo_columns start = c;
    double theta[64];
    (void)state;
    start.step = 1e-300; /* where it starts */
    begin_network(&j, m, &start);
    run_network();
    assert_ok(sides[0].of->status, sides[0].of->err.text);
    memcpy(theta, sides[0].w, first * sizeof *theta);
    memcpy(theta + first, sides[0].others, second * sizeof *theta);
    end_network(&j);
    begin_network(&j, m, &c);
    const dp_silo_columns *planned = dp_silo_plan_opts(j.plan)->columns;
    assert_int_equal(planned->width, HIDDEN);
    assert_int_equal(planned->outcome, 1);
    assert_int_equal(planned->columns[0], first);
    assert_int_equal(planned->columns[1], second);
    run_network();
    descend(theta, first + second, &c);
    for (int k = 0; k < 2; k++) {
        const double *own = sides[k].w, *others = sides[k].others;
        assert_ok(sides[k].of->status, sides[k].of->err.text);
        for (size_t q = 0; q < first; q++)
            assert_close((k == 0 ? own : others)[q], theta[q], 1e-5, 1e-6);
        for (size_t q = 0; q < second; q++)
            assert_close((k == 0 ? others : own)[q], theta[first + q], 1e-5, 1e-6);
        double values[D * HIDDEN];
        dp_error err = {0};
        assert_ok(dp_fit_parameter(sides[k].fit, "v", D * HIDDEN, values, &err), err.text);
        assert_close(values[3], theta[3], 1e-5, 1e-6);
        dp_fit_free(sides[k].fit);
    }
    sides[0].of->x[5] += 1; /* it goes on with rows of then */
    run_network();
    assert_fails(sides[0].of->status, DP_ESTATE, &sides[0].of->err, "");
    end_network(&j);
    dp_model_free(m);
}

/* The same call comes to the same numbers, from the letters that are there. */
static void a_run_that_is_over_gives_the_same_again(void **state)
{
    static joint j;
    double w[2][MOST_D];
    (void)state;
    registers_begin(&j, &usual, "split");
    write_policy(allowing);
    registers_run();
    const size_t letters = joint_letters();
    for (int p = 0; p < 2; p++)
        memcpy(w[p], registers[p].w, sizeof w[p]);
    registers_run();
    for (int p = 0; p < 2; p++) {
        assert_ok(registers[p].status, registers[p].err.text);
        assert_memory_equal(registers[p].w, w[p], usual.columns[p] * sizeof(double));
    }
    assert_int_equal(joint_letters(), letters);
    registers[0].x[5] += 1; /* other rows, in answer to what was asked before */
    registers_run();
    assert_fails(registers[0].status, DP_ESTATE, &registers[0].err, "");
    registers_end(&j);
}

static void another_model_is_refused(void **state)
{
    static joint j;
    const dp_silo_columns c = {
        .steps = 2, .step = .5, .ids = "people", .held = {"x", "label"}, .told = true};
    dp_model *m = network(), *other = network();
    (void)state;
    (void)dp_param(other, "more", 1, 0);
    begin_network(&j, m, &c);
    sides[0].model = other;
    sides[1].model = NULL;
    sides[1].others[0] = 7;
    run_network();
    assert_fails(sides[0].of->status, DP_EMISMATCH, &sides[0].of->err, "another than the one");
    assert_fails(sides[1].of->status, DP_EINVAL, &sides[1].of->err, "this plan is of a model");
    assert_close(sides[1].others[0], 0, 0, 0); /* which has labels alone, and nothing to fit */
    sides[0].model = sides[1].model = m;
    j.plan->columns.width--; /* numbers of each record of which the plan is silent */
    run_network();
    for (int k = 0; k < 2; k++)
        assert_fails(sides[k].of->status, DP_EMISMATCH, &sides[k].of->err, "is cut elsewhere");
    assert_int_equal(joint_letters(), 0);
    end_network(&j);
    dp_model_free(m);
    dp_model_free(other);
}

/* ---- plans ---- */

static void a_plan_says_what_is_told_of_each_record(void **state)
{
    static joint j;
    dp_silo_plan *again;
    dp_error err = {0};
    (void)state;
    registers_begin(&j, &usual, "split");
    const char *text = dp_silo_plan_text(j.plan);
    static const char *const lines[] = {
        "cut = 1 0 0\n",
        "sees G.e, of records of ",
        ": NO NOISE: of each single record, what the other's columns of it come to at the cut",
        "sees G.a, of records of ",
        ": NO NOISE: of each single record, its residual",
        "sees 1 number of each record of a step",
        "each trusts the other to follow the plan"};
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++)
        if (strstr(text, lines[k]) == NULL)
            fail_msg("\"%s\" is not in\n%s", lines[k], text);
    assert_ok(dp_silo_plan_parse(text, strlen(text), "it", &again, &err), err.text);
    assert_string_equal(dp_silo_plan_text(again), text);
    dp_silo_plan_free(again);
    registers_end(&j);
}

static void plans_that_make_no_sense_are_refused(void **state)
{
    static joint j;
    static const struct {
        dp_silo_columns c;
        bool of_model;
        const char *what;
    } wrong[] = {
        {{.columns = {4, 6}, .row_most = {1, 0}}, false, "neither shortens rows"},
        {{.columns = {4, 0}}, false, "has 0 numbers to fit"},
        {{.columns = {4, 6}, .momentum = 1}, false, "momentum is 0 or more and below 1"},
        {{.columns = {4, 6}, .cut = "hidden"}, false, "that a model names"},
        {{.held = {NULL, NULL}}, true, "what each owner has of its columns"},
        {{.held = {"x", "label,y"}}, true, "the model reads 2 alone"},
        {{.held = {"x", "label"}, .cut = "none"}, true, "no value 'none'"},
    };
    dp_model *m = network();
    (void)state;
    registers_begin(&j, &usual, "split");
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        dp_silo_columns c = wrong[k].c;
        dp_silo_plan *plan;
        dp_error err = {0};
        c.steps = 2;
        c.step = 1;
        c.ids = "people";
        j.p.opts.columns = &c;
        j.p.opts.model = wrong[k].of_model ? m : NULL;
        dp_status status = dp_silo_plan_new(&j.p.opts, &plan, &err);
        assert_int_not_equal(status, DP_OK);
        assert_null(plan);
        if (strstr(err.text, wrong[k].what) == NULL)
            fail_msg("%zu: \"%s\" is not in \"%s\"", k, wrong[k].what, err.text);
    }
    registers_end(&j);
    dp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_owners_get_the_regression_of_their_common_rows),
        cmocka_unit_test(batches_come_near_to_it),
        cmocka_unit_test(steps_that_are_too_long_are_told),
        cmocka_unit_test(steps_that_grow_are_told),
        cmocka_unit_test(numbers_of_single_records_leave_where_a_site_says_so),
        cmocka_unit_test(two_owners_get_the_network_that_was_not_cut),
        cmocka_unit_test(a_run_that_is_over_gives_the_same_again),
        cmocka_unit_test(another_model_is_refused),
        cmocka_unit_test(a_plan_says_what_is_told_of_each_record),
        cmocka_unit_test(plans_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
