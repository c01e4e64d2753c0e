/* Owners as threads who open sums under a key of all but the one who adds up. */
#include "silo/key-sum.h"

#include <pthread.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/silo/owners.h"

enum { N = 8191, ROUNDS = 3 };

/* Another question in round 2; other words when it begins again. */
typedef enum key_sum_fault { NONE, QUESTION, WORDS } key_sum_fault;

typedef struct actor {
    owners *all;
    size_t k, aggregator;
    key_sum_fault fault; /* of the last owner */
    uint64_t openings, opened, values[N];
    bool again;    /* everything, as after a crash */
    size_t rounds; /* that were opened */
    dp_status status;
    dp_error err;
} actor;

static actor actors[OWNERS_MOST];

static uint64_t word(size_t k, size_t round, size_t j)
{
    return j == 0 ? UINT64_MAX : (k + 1) * (round + 3) * (j * 0x9e3779b97f4a7c15 + 1);
}

static dp_status open_all(actor *a, dpi_key_sum *s)
{
    const bool last = a->k + 1 == a->all->n;
    for (size_t t = 1; t <= ROUNDS; t++) {
        unsigned char question[32] = {(unsigned char)t};
        question[1] = last && a->fault == QUESTION && t == 2;
        for (size_t j = 0; j < N; j++)
            a->values[j] = word(a->k, t, j);
        a->values[1] += last && a->fault == WORDS && a->rounds >= ROUNDS;
        const dp_status status = dpi_key_sum_open(s, t, question, N, a->values, &a->err);
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

static void begin_and_open(actor *a, dpi_carrier *carrier, unsigned char run[32])
{
    const unsigned char secret[32] = {(unsigned char)(a->k + 9)};
    const dpi_post_opts opts =
        owners_post(a->all, a->k, carrier, a->fault == QUESTION ? 3000 : 60000);
    dpi_post *post = NULL;
    dpi_key_sum *s = NULL;
    a->status = dpi_post_open(&opts, run, &post, &a->err);
    const dpi_key_sum_opts own = {.post = post,
                                  .plan = a->all->plan,
                                  .secret = secret,
                                  .party = a->k,
                                  .parties = a->all->n,
                                  .aggregator = a->aggregator,
                                  .openings = a->openings,
                                  .opened = a->opened};
    if (a->status == DP_OK)
        a->status = dpi_key_sum_new(&own, &s, &a->err);
    if (a->status == DP_OK)
        a->status = open_all(a, s);
    dpi_key_sum_free(s);
    dpi_post_close(post);
}

static void *act(void *of)
{
    actor *a = of;
    unsigned char run[32] = {0};
    dpi_carrier *carrier = NULL;
    a->status = dpi_carrier_memory(a->all->box, &carrier, &a->err);
    if (a->status == DP_OK)
        begin_and_open(a, carrier, run);
    if (a->status == DP_OK && a->again)
        begin_and_open(a, carrier, run);
    if (carrier != NULL)
        carrier->kind->close(carrier);
    return NULL;
}

static void run(size_t n, const actor *like)
{
    pthread_t threads[OWNERS_MOST];
    owners o;
    owners_make(&o, n);
    for (size_t k = 0; k < n; k++) {
        actors[k] = *like;
        actors[k].all = &o;
        actors[k].k = k;
        assert_int_equal(pthread_create(&threads[k], NULL, act, &actors[k]), 0);
    }
    for (size_t k = 0; k < n; k++)
        (void)pthread_join(threads[k], NULL);
    owners_free(&o);
}

static void all_come_to_the_sum(void **state)
{
    static const size_t aggregators[] = {0, 1, 4};
    (void)state;
    for (size_t n = 2; n <= 5; n += 1 + (n == 3)) {
        const actor like = {.aggregator = aggregators[n == 2   ? 0
                                                      : n == 3 ? 1
                                                               : 2],
                            .openings = ROUNDS};
        run(n, &like);
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
    actor like = {.fault = QUESTION, .openings = ROUNDS};
    run(3, &like);
    assert_fails(actors[1].status, DP_EPEER, &actors[1].err, "not the same vectors");
    assert_fails(actors[2].status, DP_EPEER, &actors[2].err, "not the same vectors");
    assert_fails(actors[0].status, DP_ETIMEOUT, &actors[0].err, "");
    for (size_t k = 0; k < 3; k++)
        assert_int_equal(actors[k].rounds, 1);
    /* Who adds up has another one: what it opens is no sum to it, and it tells nobody. */
    like.aggregator = 2;
    run(3, &like);
    assert_fails(actors[2].status, DP_EPEER, &actors[2].err, "is no sum");
    assert_fails(actors[0].status, DP_ETIMEOUT, &actors[0].err, "");
    assert_int_equal(actors[0].rounds, 1);
}

/* Where it has lost its vector, it encrypts another one with other random numbers, which is not the
 * one that the others have. */
static void another_vector_is_not_encrypted_alike(void **state)
{
    (void)state;
    const actor like = {.openings = ROUNDS, .again = true, .fault = WORDS};
    run(3, &like);
    assert_fails(actors[2].status, DP_EPEER, &actors[2].err, "not the same vectors");
    for (size_t k = 0; k < 3; k++)
        assert_true(actors[k].rounds >= ROUNDS);
}

static void no_more_is_opened_than_was_said(void **state)
{
    (void)state;
    const actor like = {.fault = QUESTION, .openings = 5, .opened = 4};
    run(2, &like);
    assert_fails(actors[1].status, DP_EPRIVACY, &actors[1].err, "the 5 polynomials");
    assert_int_equal(actors[0].rounds, 1);
    assert_int_equal(actors[1].rounds, 1);
}

/* All that an owner sends follows from its secret: who begins anew sends the same, and finds the
 * others' letters where they were. */
static void what_is_done_again_is_the_same(void **state)
{
    (void)state;
    const actor like = {.openings = ROUNDS, .again = true};
    run(3, &like);
    for (size_t k = 0; k < 3; k++) {
        assert_ok(actors[k].status, actors[k].err.text);
        assert_int_equal(actors[k].rounds, 2 * ROUNDS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_come_to_the_sum),
        cmocka_unit_test(another_question_opens_nothing),
        cmocka_unit_test(what_is_done_again_is_the_same),
        cmocka_unit_test(another_vector_is_not_encrypted_alike),
        cmocka_unit_test(no_more_is_opened_than_was_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
