/* Steps that owners take by themselves: what is opened of them, and how all go on from there. */
#include "svi/svi.h"

#include <math.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/svi/walkers.h"

static table tables[2];

static void same(const double a[ROOM], const double b[ROOM], double within)
{
    for (int k = 0; k < ROOM; k++)
        assert_float_equal(a[k], b[k], within);
}

static double apart(const double a[ROOM], const double b[ROOM])
{
    double most = 0;
    for (int k = 0; k < ROOM; k++)
        most = fmax(most, fabs(a[k] - b[k]));
    return most;
}

/* Words of a number, as svi/together.c writes them. */
static double number_of(const uint64_t *words)
{
    return (double)(int64_t)words[2] * 0x1p-84 + (double)(int64_t)words[1] * 0x1p-28 +
           (double)(int64_t)words[0] * 0x1p28;
}

/* The first n numbers of an opening of parameters. */
static void opened(const table *t, size_t opening, size_t n, double numbers[ROOM])
{
    for (size_t k = 0; k < n; k++)
        numbers[k] = number_of(t->opened[opening] + 3 * k) / N;
    assert_true(number_of(t->opened[opening] + t->n[opening] - 3) == N);
}

static const size_t three[] = {200, 613, N}, unequal[] = {500, 750, N};

/* ---- one step ---- */

static void one_step_up_the_gradient_is_that_of_all_records(void **state)
{
    (void)state;
    static const size_t models[] = {LOOP_NETWORK, LOOP_COLUMNS};
    for (int k = 0; k < 2; k++)
        for (int kind = DP_MOMENTUM; kind <= DP_SGD; kind++) { /* both are linear in gradients */
            walker sums = walker_of(models[k], (dp_optimizer)kind, 2e-5, 20),
                   means = walker_of(models[k], (dp_optimizer)kind, 2e-5, 20), begin = sums;
            begin.opts.steps = 1, begin.opts.step_size = 1e-300;
            together(&tables[0], 3, three, &begin, 0);
            together(&tables[0], 3, three, &sums, 0);
            together(&tables[1], 3, three, &means, 1);
            same(sums.theta, means.theta, 1e-12);
            assert_true(apart(sums.theta, begin.theta) > 1e-2);
            assert_int_equal(tables[0].times, 20);
            assert_int_equal(tables[1].times, 21);
        }
}

static void floats_of_parameters_follow_the_mean(void **state)
{
    (void)state;
    walker sums = walker_of(LOOP_NETWORK, DP_SGD, 1e-3, 20), means = sums;
    sums.opts.precision = means.opts.precision = DP_SINGLE;
    together(&tables[0], 3, three, &sums, 0);
    together(&tables[1], 3, three, &means, 1);
    same(sums.theta, means.theta, 1e-6);
    assert_true(apart(sums.theta, (double[ROOM]){0}) > 0.5);
    together(&tables[1], 3, three, &means, 2);
    assert_true(apart(sums.theta, means.theta) > 1e-5);
}

/* ---- several ---- */

static void owners_of_the_same_records_take_the_steps_of_one(void **state)
{
    (void)state;
    static const dp_optimizer kinds[] = {DP_ADAM, DP_MOMENTUM, DP_SGD, DP_ADAGRAD};
    for (int k = 0; k < 4; k++)
        for (size_t n = 1; n <= MOST; n++) {
            const bool sizes = kinds[k] == DP_ADAM || kinds[k] == DP_ADAGRAD;
            walker all = walker_of(LOOP_NETWORK, kinds[k], sizes ? 0.05 : 1e-4, 9), one = all;
            one.times = n;
            alone(&one);
            together(&tables[0], n, NULL, &all, 4);
            same(one.theta, all.theta, 1e-12);
            assert_int_equal(tables[0].times, 4);
        }
}

/* An owner that has a quarter of the records takes steps as if it had each four times; what it
 * remembers of squares has a mean as roots. */
static void several_steps_are_weighted_means_of_what_each_comes_to(void **state)
{
    (void)state;
    static const size_t times[] = {2, 4, 4};
    walker all = walker_of(LOOP_NETWORK, DP_ADAM, 0.1, 10), mean = all;
    double found[ROOM] = {0};
    together(&tables[0], 3, unequal, &all, 5);
    assert_int_equal(tables[0].times, 3);
    for (size_t round = 1; round <= 2; round++) {
        const walker behind = mean;
        memset(mean.theta, 0, sizeof mean.theta);
        memset(mean.memory, 0, sizeof mean.memory);
        for (size_t k = 0; k < 3; k++) {
            walker one = walker_of(LOOP_NETWORK, DP_ADAM, 0.1, 10);
            one.first = k > 0 ? unequal[k - 1] : 0, one.end = unequal[k], one.times = times[k];
            one.behind = round > 1 ? &behind : NULL;
            one.until = 5 * round;
            alone(&one);
            for (int j = 0; j < ROOM; j++) {
                mean.theta[j] += one.theta[j] / (double)times[k];
                mean.memory[0][j] += one.memory[0][j] / (double)times[k];
                mean.memory[1][j] += sqrt(one.memory[1][j]) / (double)times[k];
            }
        }
        for (int j = 0; j < ROOM; j++)
            mean.memory[1][j] *= mean.memory[1][j];
        mean.done = 5 * round;
        opened(&tables[0], round, 9, found);
        same(mean.theta, found, 1e-11);
        assert_true(apart(mean.theta, behind.theta) > 0.1);
    }
    same(mean.theta, all.theta, 1e-11);
    assert_true(apart(all.memory[1], (double[ROOM]){0}) > 1);
    for (int j = 0; j < 9; j++)
        for (int k = 0; k < 2; k++)
            assert_close(mean.memory[k][j], all.memory[k][j], 1e-9, 1e-9);
}

static void what_is_averaged_is_what_was_opened(void **state)
{
    (void)state;
    static const struct {
        uint64_t steps, local;
        double average, weight[4]; /* of openings */
    } cases[] = {{6, 2, 1, {1. / 3, 1. / 3, 1. / 3}},
                 {5, 2, 1, {.4, .4, .2}},
                 {6, 2, .5, {0, 1. / 3, 2. / 3}},
                 {6, 2, 0, {0, 0, 1}}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double mean[ROOM] = {0}, found[ROOM] = {0};
        walker all = walker_of(LOOP_NETWORK, DP_ADAM, 0.1, cases[c].steps);
        all.opts.average = cases[c].average;
        together(&tables[0], 3, three, &all, cases[c].local);
        assert_int_equal(tables[0].times, 4);
        for (size_t k = 0; k < 3; k++) {
            opened(&tables[0], k + 1, 9, found);
            for (int j = 0; j < ROOM; j++)
                mean[j] += cases[c].weight[k] * found[j];
        }
        same(mean, all.theta, 1e-12);
    }
}

static void threads_and_splits_of_tasks_change_nothing(void **state)
{
    (void)state;
    walker one = walker_of(LOOP_COLUMNS, DP_ADAM, 0, 30), four = one;
    four.opts.threads = 4;
    together(&tables[0], 2, (const size_t[]){400, N}, &one, 7);
    together(&tables[1], 2, (const size_t[]){400, N}, &four, 7);
    assert_memory_equal(one.theta, four.theta, sizeof one.theta);
}

/* ---- what ends ---- */

static void where_one_is_no_longer_finite_all_end(void **state)
{
    (void)state;
    walker owner[MOST], all = walker_of(LOOP_COLUMNS, DP_SGD, 1e-5, 9);
    const double kept = records.y[N - 1];
    records.y[N - 1] = 1e40; /* of the last owner */
    start_all(&tables[0], 3, three, &all, 3, owner);
    records.y[N - 1] = kept;
    for (size_t k = 0; k < 2; k++)
        assert_fails(owner[k].status, DP_EPEER, &owner[k].err, "another owner's parameters");
    assert_fails(owner[2].status, DP_EDOMAIN, &owner[2].err, "no longer finite");
    assert_int_equal(tables[0].times, 2);
}

typedef struct answers {
    size_t answered, calls;
} answers;

static dp_status no_answer(void *context, const unsigned char question[DP_OWNERS_QUESTION],
                           size_t n, uint64_t *values, dp_error *err)
{
    answers *a = context;
    (void)question, (void)n, (void)values;
    if (a->calls++ < a->answered)
        return DP_OK;
    if (err != NULL) {
        err->status = DP_ETIMEOUT;
        memcpy(err->text, "south is not heard", sizeof "south is not heard");
    }
    return DP_ETIMEOUT;
}

static void refused(const dp_svi_opts *opts, const dp_model *guide, dp_status status,
                    const char *why)
{
    dp_svi *run;
    dp_error err = {0};
    dp_model *m = loop_models[LOOP_NETWORK].make();
    dp_dataset *data = loop_data(&records, N);
    assert_fails(dp_svi_new(m, guide, data, opts, &run, &err), status, &err, why);
    dp_dataset_free(data);
    dp_model_free(m);
}

static void what_has_no_mean_or_no_bound_is_refused(void **state)
{
    (void)state;
    answers a = {.calls = 0};
    dp_owners one = one_of_two(2, no_answer, &a);
    dp_svi_opts o = {.mode = DP_NO_PRIVACY, .steps = 4, .owners = &one};
    dp_model *guide = dp_model_new();
    (void)dp_param(guide, "b", 3, 0);
    refused(&o, guide, DP_EUNSUPPORTED, "no mean over owners");
    dp_model_free(guide);
    o.loss_every = 1;
    refused(&o, NULL, DP_EMISMATCH, "loss_every 0");
    o.loss_every = 0, one.local_steps = DP_OWNERS_LOCAL_STEPS + 1;
    refused(&o, NULL, DP_EDOMAIN, "1 to 256");
    one.local_steps = 1;
    o = (dp_svi_opts){.sigma = 2, .delta = 1e-5, .clip = 1, .steps = 4, .owners = &one};
    refused(&o, NULL, DP_EPRIVACY, "no bound on what a record does");
    o.mode = DP_WITHOUT_GUARANTEE;
    refused(&o, NULL, DP_EPRIVACY, "no bound on what a record does");
    assert_int_equal(a.calls, 0);
}

/* The number of records, or what steps have come to. */
static void what_may_have_left_is_not_made_again(void **state)
{
    (void)state;
    for (size_t answered = 0; answered < 2; answered++) {
        answers a = {.answered = answered};
        dp_owners one = one_of_two(2, no_answer, &a);
        const dp_svi_opts o = {.mode = DP_NO_PRIVACY, .steps = 4, .owners = &one};
        dp_svi *run;
        dp_error err = {0};
        dp_model *m = loop_models[LOOP_NETWORK].make();
        dp_dataset *data = loop_data(&records, N);
        assert_ok(dp_svi_new(m, NULL, data, &o, &run, &err), err.text);
        assert_fails(dp_svi_step(run, &err), DP_ETIMEOUT, &err, "south");
        err = (dp_error){0};
        assert_fails(dp_svi_step(run, &err), DP_ESTATE, &err, "may have left");
        assert_int_equal(a.calls, answered + 1);
        dp_svi_free(run);
        dp_dataset_free(data);
        dp_model_free(m);
    }
}

/* ---- questions ---- */

typedef struct asked {
    size_t n;
    double units; /* that are told */
    unsigned char question[4][DP_OWNERS_QUESTION];
} asked;

/* Tells how many units there are, and of parameters what this owner alone has, for all. */
static dp_status note(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                      uint64_t *values, dp_error *err)
{
    asked *a = context;
    (void)err;
    memcpy(a->question[a->n++ % 4], question, DP_OWNERS_QUESTION);
    values[n - 2] = (uint64_t)(a->units * 0x1p28);
    return DP_OK;
}

static asked questions(uint64_t local_steps, double units)
{
    asked a = {.units = units};
    dp_owners one = one_of_two(local_steps, note, &a);
    walker w = walker_of(LOOP_NETWORK, DP_ADAM, 0, 8);
    w.opts.owners = &one;
    alone(&w);
    return a;
}

/* So that owners with other plans, or to whom other numbers were told, open nothing together. */
static void questions_follow_from_steps_and_from_what_was_told(void **state)
{
    (void)state;
    const asked four = questions(4, 2 * N), again = questions(4, 2 * N), two = questions(3, 2 * N),
                more = questions(4, 1.5 * N);
    assert_int_equal(four.n, 3);
    for (int k = 0; k < 3; k++) {
        assert_memory_equal(four.question[k], again.question[k], DP_OWNERS_QUESTION);
        assert_memory_not_equal(four.question[k], two.question[k], DP_OWNERS_QUESTION);
        assert_int_equal(memcmp(four.question[k], more.question[k], DP_OWNERS_QUESTION) != 0,
                         k > 0);
    }
    walker w = walker_of(LOOP_NETWORK, DP_ADAM, 0, 8);
    const double told[] = {N - 1, 2 * N + 1, N + 0.5};
    for (size_t k = 0; k < sizeof told / sizeof *told; k++) {
        asked wrong = {.units = told[k]};
        dp_owners one = one_of_two(2, note, &wrong);
        w.opts.owners = &one;
        (void)walk(&w);
        assert_fails(w.status, DP_EPEER, &w.err, "what is told of the number");
    }
    assert_memory_not_equal(four.question[0], four.question[1], DP_OWNERS_QUESTION);
    assert_memory_not_equal(four.question[1], four.question[2], DP_OWNERS_QUESTION);
}

/* Keys that were asked for, of the first round. */
typedef struct keys {
    asked asked;
    size_t n;
    unsigned char question[4][DP_OWNERS_QUESTION];
} keys;

static dp_status note_keys(void *context, const unsigned char question[DP_OWNERS_QUESTION],
                           size_t n, const uint64_t *whole, unsigned char key[DP_OWNERS_KEY],
                           dp_error *err)
{
    keys *k = context;
    (void)n;
    (void)whole;
    (void)err;
    if (k->n < 4)
        memcpy(k->question[k->n], question, DP_OWNERS_QUESTION);
    k->n++;
    memset(key, 1, DP_OWNERS_KEY);
    return DP_OK;
}

static keys keys_asked(double of_the_first)
{
    keys k = {.asked = {.units = 2 * N}};
    dp_owners one = one_of_two(4, note, &k);
    walker w = walker_of(LOOP_NETWORK, DP_ADAM, 1e-2, 8);
    const double kept = records.x[0];
    one.share = note_keys;
    w.opts.owners = &one;
    w.opts.seed = 0;
    records.x[0] = of_the_first;
    alone(&w);
    records.x[0] = kept;
    return k;
}

/* Whoever is asked for a key is told a hash, by which a guess of what it is of could be tried. */
static void no_key_is_asked_for_by_a_hash_of_own_steps(void **state)
{
    (void)state;
    const keys one = keys_asked(1), other = keys_asked(-2);
    assert_true(one.n >= 4 && one.n == other.n);
    for (size_t k = 0; k < 4; k++) {
        assert_memory_equal(one.question[k], other.question[k], DP_OWNERS_QUESTION);
        for (size_t l = 0; l < k; l++)
            assert_memory_not_equal(one.question[k], one.question[l], DP_OWNERS_QUESTION);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_step_up_the_gradient_is_that_of_all_records),
        cmocka_unit_test(floats_of_parameters_follow_the_mean),
        cmocka_unit_test(owners_of_the_same_records_take_the_steps_of_one),
        cmocka_unit_test(several_steps_are_weighted_means_of_what_each_comes_to),
        cmocka_unit_test(what_is_averaged_is_what_was_opened),
        cmocka_unit_test(threads_and_splits_of_tasks_change_nothing),
        cmocka_unit_test(where_one_is_no_longer_finite_all_end),
        cmocka_unit_test(what_has_no_mean_or_no_bound_is_refused),
        cmocka_unit_test(what_may_have_left_is_not_made_again),
        cmocka_unit_test(questions_follow_from_steps_and_from_what_was_told),
        cmocka_unit_test(no_key_is_asked_for_by_a_hash_of_own_steps),
    };
    loop_draw(&records);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
