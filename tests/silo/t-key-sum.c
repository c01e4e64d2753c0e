/* Owners as threads who open sums under a key of all but the one who adds up. */
#define _XOPEN_SOURCE 700
#include "silo/key-sum.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "crypto/threshold.h"
#include "silo/joint.h"
#include "silo/round.h"
#include "silo/split.h"
#include "tests/lib/check.h"
#include "tests/silo/owners.h"

enum { N = 8191, ROUNDS = 3 };

/* Another question in round 2; other words in what is made again; another run's key; other words
 * and a state that does not know the last round: of the last owner. */
typedef enum key_sum_fault { NONE, QUESTION, WORDS, RUN, OLDER } key_sum_fault;

typedef struct actor {
    owners *all;
    size_t k;
    key_sum_fault fault;
    uint64_t planned, skip; /* rounds; those that were made before */
    size_t most;
    bool kept;     /* its state, in a file */
    bool again;    /* everything, as after a crash */
    size_t rounds; /* that were opened */
    uint64_t values[N];
    dp_status status;
    dp_error err;
} actor;

static actor actors[OWNERS_MOST];

static uint64_t word(size_t k, size_t round, size_t j)
{
    return j == 0 ? UINT64_MAX : (k + 1) * (round + 3) * (j * 0x9e3779b97f4a7c15 + 1);
}

static bool is_last(const actor *a)
{
    return a->k + 1 == a->all->n;
}

static void state_path(const actor *a, char path[64])
{
    (void)snprintf(path, 64, "./key-sum-%ld-%zu", (long)getpid(), a->k);
}

/* A copy of the state, which a test puts in its place. */
static void copy_state(const actor *a, bool back)
{
    static unsigned char bytes[1 << 20];
    char path[64], copy[80];
    state_path(a, path);
    (void)snprintf(copy, sizeof copy, "%s.old", path);
    FILE *from = fopen(back ? copy : path, "rb"), *to = fopen(back ? path : copy, "wb");
    assert_true(from != NULL && to != NULL);
    assert_true(fwrite(bytes, 1, fread(bytes, 1, sizeof bytes, from), to) > 0);
    (void)fclose(from);
    assert_int_equal(fclose(to), 0);
}

static dp_status open_all(actor *a, dpi_silo_round *r)
{
    for (size_t t = a->skip + 1; t <= ROUNDS; t++) {
        unsigned char question[32] = {(unsigned char)t};
        question[1] = is_last(a) && a->fault == QUESTION && t == 2;
        for (size_t j = 0; j < N; j++)
            a->values[j] = word(a->k, t, j);
        if (is_last(a) && a->fault == OLDER && t == ROUNDS && a->rounds < ROUNDS)
            copy_state(a, false);
        a->values[1] +=
            is_last(a) && (a->fault == WORDS || a->fault == OLDER) && a->rounds >= ROUNDS;
        const dp_status status = dpi_silo_round_open(r, question, N, a->values, &a->err);
        for (size_t j = 0; j < N; j++) {
            uint64_t sum = 0;
            for (size_t k = 0; k < a->all->n && status == DP_OK; k++)
                sum += word(k, t, j);
            if (a->values[j] != sum)
                return DP_EDATA;
        }
        if (status != DP_OK)
            return status;
        a->rounds++;
    }
    return DP_OK;
}

static void begin_and_open(actor *a, dpi_carrier *carrier)
{
    char path[64];
    dpi_silo_round *r = NULL;
    state_path(a, path);
    const dpi_silo_round_opts opts = {
        .part = &a->all->parts[a->k],
        .post = owners_post(a->all, a->k, carrier, a->fault == NONE ? 60000 : 4000),
        .rounds = a->planned,
        .most = a->most,
        .state = a->kept ? path : NULL};
    a->status = dpi_silo_round_new(&opts, &r, &a->err);
    if (a->status == DP_OK) {
        dpi_silo_round_skip(r, a->skip);
        a->status = open_all(a, r);
    }
    dpi_silo_round_free(r);
}

static void *act(void *of)
{
    actor *a = of;
    dpi_carrier *carrier = NULL;
    a->status = dpi_carrier_memory(a->all->box, &carrier, &a->err);
    if (a->status == DP_OK)
        begin_and_open(a, carrier);
    if (a->status == DP_OK && a->again) { /* its state was kept before the last round */
        a->skip = ROUNDS - 1;
        if (is_last(a) && a->fault == OLDER)
            copy_state(a, true);
        begin_and_open(a, carrier);
    }
    if (carrier != NULL)
        carrier->kind->close(carrier);
    return NULL;
}

static void forget(void)
{
    for (size_t k = 0; k < OWNERS_MOST; k++) {
        char path[64], lock[80], copy[80];
        state_path(&actors[k], path);
        (void)snprintf(lock, sizeof lock, "%s.lock", path);
        (void)unlink(path);
        (void)unlink(lock);
        (void)snprintf(copy, sizeof copy, "%s.old", path);
        (void)unlink(copy);
    }
}

static void act_all(owners *o)
{
    pthread_t threads[OWNERS_MOST];
    for (size_t k = 0; k < o->n; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, act, &actors[k]), 0);
    for (size_t k = 0; k < o->n; k++)
        (void)pthread_join(threads[k], NULL);
}

static void set_up(owners *o, size_t n, uint16_t aggregator, const actor *like)
{
    owners_make(o, n);
    owners_key(o, aggregator);
    for (size_t k = 0; k < n; k++) {
        actors[k] = *like;
        actors[k].all = o;
        actors[k].k = k;
    }
}

static void run(size_t n, uint16_t aggregator, const actor *like)
{
    owners o;
    set_up(&o, n, aggregator, like);
    act_all(&o);
    owners_free(&o);
    forget();
}

static void all_come_to_the_sum(void **state)
{
    (void)state;
    for (size_t n = 2; n <= 5; n += 1 + (n == 3)) {
        const actor like = {.planned = ROUNDS, .most = N};
        run(n, (uint16_t)(n == 2 ? 0 : n == 3 ? 1 : 4), &like);
        for (size_t k = 0; k < n; k++) {
            assert_ok(actors[k].status, actors[k].err.text);
            assert_int_equal(actors[k].rounds, ROUNDS);
        }
    }
}

/* In round 2 the last owner has another question: the others' digests are not its own. */
static void another_question_opens_nothing(void **state)
{
    (void)state;
    const actor like = {.fault = QUESTION, .planned = ROUNDS, .most = N};
    run(3, 0, &like);
    assert_fails(actors[1].status, DP_EPEER, &actors[1].err, "not the same vectors");
    assert_fails(actors[2].status, DP_EPEER, &actors[2].err, "not the same vectors");
    assert_fails(actors[0].status, DP_ETIMEOUT, &actors[0].err, "");
    for (size_t k = 0; k < 3; k++)
        assert_int_equal(actors[k].rounds, 1);
    /* Who adds up has another one: what it opens is no sum to it, and it tells nobody. */
    run(3, 2, &like);
    assert_fails(actors[2].status, DP_EPEER, &actors[2].err, "is no sum");
    assert_fails(actors[0].status, DP_ETIMEOUT, &actors[0].err, "");
    assert_int_equal(actors[0].rounds, 1);
}

/* All that an owner sends follows from its state: who goes on with the last round sends the same,
 * and finds the others' letters where they were, those of the key among them. */
static void what_is_done_again_is_the_same(void **state)
{
    (void)state;
    const actor like = {.planned = ROUNDS, .most = N, .again = true, .kept = true};
    run(3, 0, &like);
    for (size_t k = 0; k < 3; k++) {
        assert_ok(actors[k].status, actors[k].err.text);
        assert_int_equal(actors[k].rounds, ROUNDS + 1);
    }
}

/* What was begun takes the place of other words. */
static void another_vector_is_not_encrypted(void **state)
{
    (void)state;
    const actor like = {.planned = ROUNDS, .most = N, .again = true, .kept = true, .fault = WORDS};
    run(3, 0, &like);
    for (size_t k = 0; k < 3; k++) {
        assert_ok(actors[k].status, actors[k].err.text);
        assert_int_equal(actors[k].rounds, ROUNDS + 1);
    }
}

/* An older state does not know that the round was begun: another vector has other random numbers,
 * and is not the one that the others have. */
static void another_vector_is_not_encrypted_alike(void **state)
{
    (void)state;
    const actor like = {.planned = ROUNDS, .most = N, .again = true, .kept = true, .fault = OLDER};
    run(3, 0, &like);
    assert_fails(actors[2].status, DP_EPEER, &actors[2].err, "not the same vectors");
    assert_int_equal(actors[2].rounds, ROUNDS);
}

/* Who lost its state has another key, and the others do not go on with it. */
static void a_key_of_another_run_is_refused(void **state)
{
    owners o;
    (void)state;
    const actor like = {.planned = ROUNDS, .most = N, .kept = true, .fault = RUN};
    set_up(&o, 3, 0, &like);
    act_all(&o);
    for (size_t k = 0; k < 3; k++) {
        assert_ok(actors[k].status, actors[k].err.text);
        actors[k].skip = ROUNDS - 1;
        actors[k].kept = k < 2;
    }
    dpi_letter_box_free(o.box); /* emptied, so that it is not found by its old letters */
    assert_ok(dpi_letter_box_new(&o.box, &actors[0].err), "");
    act_all(&o);
    for (size_t k = 0; k < 2; k++)
        assert_fails(actors[k].status, DP_ESTATE, &actors[k].err, "begun this plan anew");
    assert_int_equal(actors[2].rounds, ROUNDS);
    owners_free(&o);
    forget();
}

static void no_more_is_opened_than_was_said(void **state)
{
    (void)state;
    actor like = {.fault = WORDS, .planned = 1, .most = N};
    run(3, 0, &like);
    assert_fails(actors[1].status, DP_EPRIVACY, &actors[1].err, "polynomials");
    for (size_t k = 0; k < 3; k++)
        assert_int_equal(actors[k].rounds, 1);
    like = (actor){.fault = WORDS, .planned = ROUNDS, .most = N - 1};
    run(3, 0, &like);
    assert_fails(actors[1].status, DP_EPRIVACY, &actors[1].err, "a key for sums of 8190");
    for (size_t k = 0; k < 3; k++)
        assert_int_equal(actors[k].rounds, 0);
    like = (actor){.fault = WORDS, .planned = UINT64_MAX, .most = N};
    run(3, 0, &like);
    assert_fails(actors[0].status, DP_EPRIVACY, &actors[0].err, "bits of privacy");
}

/* So the largest plan that is read is refused by no owner when they meet (plan-read.c): its phases,
 * times of each, and numbers; and there is an end to what a key opens. */
static void a_key_opens_what_any_plan_asks_for(void **state)
{
    const uint64_t most = (uint64_t)DP_OPENINGS * 100000 * ((1 << 24) / DPI_THRESHOLD_DEGREE + 1);
    (void)state;
    for (uint64_t more = 1; more < UINT64_MAX / most / 2; more *= (uint64_t)1 << 24) {
        const dpi_threshold_spec spec = {.owners = DP_OWNERS_MOST - 1, .openings = most * more};
        dpi_threshold *t;
        dp_error err = {0};
        assert_int_equal(dpi_threshold_new(&spec, &t, &err), more == 1 ? DP_OK : DP_EPRIVACY);
        dpi_threshold_free(t);
    }
}

/* The sizes of letters are those that the crypto has. */
static void registers_have_the_sizes_of_what_is_in_them(void **state)
{
    static const size_t numbers[] = {1, 8190, 8191, 8192, 16384, 100000};
    const dpi_threshold_spec spec = {.owners = 2, .openings = 1};
    dpi_threshold *t;
    dp_error err = {0};
    dpi_silo_register r = {.words = 0};
    (void)state;
    assert_ok(dpi_threshold_new(&spec, &t, &err), err.text);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        const size_t n = numbers[k];
        dpi_silo_lay(DPI_SILO_KEYPART, 3, &r);
        assert_int_equal(dpi_silo_register_size(&r, n), dpi_threshold_public_size(t));
        dpi_silo_lay(DPI_SILO_SEALED, 3, &r);
        assert_int_equal(dpi_silo_register_size(&r, n), dpi_threshold_shared_size(t, n + 1));
        dpi_silo_lay(DPI_SILO_COVER, 3, &r);
        assert_int_equal(dpi_silo_register_size(&r, n), dpi_threshold_opened_size(n + 1));
        dpi_silo_lay(DPI_SILO_PARTIAL, 3, &r);
        assert_int_equal(dpi_silo_register_size(&r, n), dpi_threshold_partial_size(n + 1));
        dpi_silo_lay(DPI_SILO_AGREE, 3, &r);
        assert_int_equal(dpi_silo_register_size(&r, n), DPI_THRESHOLD_HASH);
        dpi_silo_lay(DPI_SILO_COMBINE, 3, &r);
        assert_int_equal(dpi_silo_register_size(&r, n), 8 * (n + 1));
    }
    dpi_threshold_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_come_to_the_sum),
        cmocka_unit_test(another_question_opens_nothing),
        cmocka_unit_test(what_is_done_again_is_the_same),
        cmocka_unit_test(another_vector_is_not_encrypted),
        cmocka_unit_test(another_vector_is_not_encrypted_alike),
        cmocka_unit_test(a_key_of_another_run_is_refused),
        cmocka_unit_test(no_more_is_opened_than_was_said),
        cmocka_unit_test(a_key_opens_what_any_plan_asks_for),
        cmocka_unit_test(registers_have_the_sizes_of_what_is_in_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
