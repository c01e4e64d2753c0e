/* Sums that owners open together: exact, of a signed set, once; and after a crash the same. */
#define _XOPEN_SOURCE 700
#include "silo/round.h"

#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "silo/state.h"
#include "tests/lib/check.h"
#include "tests/silo/owners.h"

enum { NUMBERS = 300, ROUNDS = 3 };

typedef struct actor {
    owners *all;
    size_t k, colluders, dropouts;
    uint64_t skip, rounds; /* rounds that were made before, and that are made */
    const char *state;
    uint32_t patience_ms, lack_ms;
    unsigned char question[32];
    uint64_t values[ROUNDS][NUMBERS];
    dp_status status;
    dp_error err;
} actor;

static owners all;
static actor actors[OWNERS_MOST];
static uint64_t truth[ROUNDS][OWNERS_MOST][NUMBERS];

static void *act(void *of)
{
    actor *a = of;
    dpi_carrier *carrier = NULL;
    dpi_silo_round *r = NULL;
    a->status = dpi_carrier_memory(a->all->box, &carrier, &a->err);
    const dpi_silo_round_opts opts = {.part = &a->all->parts[a->k],
                                      .post = owners_post(a->all, a->k, carrier, a->patience_ms),
                                      .colluders = a->colluders,
                                      .dropouts = a->dropouts,
                                      .state = a->state,
                                      .lack_ms = a->lack_ms};
    if (a->status == DP_OK)
        a->status = dpi_silo_round_new(&opts, &r, &a->err);
    if (a->status == DP_OK)
        dpi_silo_round_skip(r, a->skip);
    for (uint64_t t = a->skip; a->status == DP_OK && t < a->skip + a->rounds; t++) {
        memcpy(a->values[t], truth[t][a->k], sizeof a->values[t]);
        a->status = dpi_silo_round_open(r, a->question, NUMBERS, a->values[t], &a->err);
    }
    dpi_silo_round_free(r);
    if (carrier != NULL)
        carrier->kind->close(carrier);
    return NULL;
}

static void set_up(size_t n)
{
    owners_make(&all, n);
    owners_mask(&all, false);
    randombytes_buf_deterministic(truth, sizeof truth,
                                  (const unsigned char[randombytes_SEEDBYTES]){1});
    for (size_t k = 0; k < n; k++)
        actors[k] = (actor){.all = &all, .k = k, .rounds = ROUNDS, .patience_ms = 5000};
}

/* Five of whom one may drop out, and one look on with the aggregator. */
static void set_up_five(uint32_t lack_ms, uint32_t patience_ms)
{
    set_up(5);
    owners_mask(&all, true);
    for (size_t k = 0; k < 5; k++) {
        actors[k].colluders = 1;
        actors[k].dropouts = 1;
        actors[k].lack_ms = lack_ms;
        actors[k].patience_ms = patience_ms;
    }
}

/* All that are not in `silent` act. */
static void run(size_t n, uint64_t silent)
{
    pthread_t thread[OWNERS_MOST];
    for (size_t k = 0; k < n; k++)
        if ((silent >> k & 1) == 0)
            assert_int_equal(pthread_create(&thread[k], NULL, act, &actors[k]), 0);
    for (size_t k = 0; k < n; k++)
        if ((silent >> k & 1) == 0)
            assert_int_equal(pthread_join(thread[k], NULL), 0);
}

static void check_sums(const actor *a, uint64_t from, uint64_t rounds, uint64_t set)
{
    for (uint64_t t = from; t < from + rounds; t++)
        for (size_t j = 0; j < NUMBERS; j++) {
            uint64_t sum = 0;
            for (size_t k = 0; k < all.n; k++)
                sum += (set >> k & 1) != 0 ? truth[t][k][j] : 0;
            assert_true(a->values[t][j] == sum);
        }
}

static void sums_are_exact(void **state)
{
    static const size_t sizes[] = {1, 2, 3, 8};
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int plain = 0; plain < 2; plain++) {
            set_up(sizes[s]);
            if (plain)
                owners_plain(&all);
            run(all.n, 0);
            for (size_t k = 0; k < all.n; k++) {
                assert_ok(actors[k].status, actors[k].err.text);
                check_sums(&actors[k], 0, ROUNDS, UINT64_MAX);
            }
            owners_free(&all);
        }
}

static void another_question_opens_nothing(void **state)
{
    (void)state;
    set_up(3);
    actors[1].question[5] = 1;
    for (size_t k = 0; k < 3; k++)
        actors[k].patience_ms = 500;
    run(3, 0);
    for (size_t k = 0; k < 3; k++) {
        assert_true(actors[k].status == DP_EPEER || actors[k].status == DP_ETIMEOUT);
        for (size_t j = 0; j < NUMBERS; j++)
            assert_true(actors[k].values[0][j] == 0);
    }
    owners_free(&all);
}

/* Vectors that are sent as they are have been seen: nobody says that nothing of records was. */
static void what_is_no_sum_was_seen(void **state)
{
    (void)state;
    set_up(3);
    owners_plain(&all);
    actors[1].question[5] = 1;
    run(3, 0);
    for (size_t k = 0; k < 3; k++) {
        assert_null(strstr(actors[k].err.text, "anybody's records"));
        assert_fails(actors[k].status, DP_EPEER, &actors[k].err, "is no sum");
    }
    owners_free(&all);
}

static void who_drops_out_is_left_out(void **state)
{
    (void)state;
    set_up_five(300, 5000);
    actors[3].rounds = 1; /* it is there, and gone after the first round */
    run(5, 0);
    for (size_t k = 0; k < 5; k++) {
        assert_ok(actors[k].status, actors[k].err.text);
        check_sums(&actors[k], 0, 1, 31);
        if (k != 3)
            check_sums(&actors[k], 1, ROUNDS - 1, 31 & ~8);
    }
    owners_free(&all);
}

static void too_few_open_nothing(void **state)
{
    (void)state;
    set_up_five(200, 800);
    actors[3].rounds = actors[4].rounds = 1;
    run(5, 0);
    for (size_t k = 0; k < 3; k++)
        assert_fails(actors[k].status, DP_ETIMEOUT, &actors[k].err, k == 0 ? "3 of 5" : "h.u");
    owners_free(&all);
}

/* ---- after a crash ---- */

static char paths[OWNERS_MOST][64];

static void keep_states(size_t n)
{
    for (size_t k = 0; k < n; k++) {
        (void)snprintf(paths[k], sizeof paths[k], "silo-state-%ld-%zu", (long)getpid(), k);
        (void)unlink(paths[k]);
        actors[k].state = paths[k];
    }
}

static void drop_states(size_t n)
{
    char lock[1024];
    for (size_t k = 0; k < n; k++) {
        (void)snprintf(lock, sizeof lock, "%s.lock", paths[k]);
        (void)unlink(paths[k]);
        (void)unlink(lock);
    }
}

/* Owner 2 has sent all of round 2 but what unlocks it when it ends.  Another vector that it comes
 * with then, as new noise would make it, is not used. */
static void a_round_goes_on_with_what_was_sent(void **state)
{
    (void)state;
    set_up(3);
    keep_states(3);
    for (size_t k = 0; k < 3; k++)
        actors[k].rounds = 1;
    run(3, 0);
    for (size_t k = 0; k < 3; k++) {
        assert_ok(actors[k].status, actors[k].err.text);
        actors[k].skip = 1;
        actors[k].patience_ms = 300;
    }
    run(3, 1); /* without the aggregator: vectors are kept and sent, and nobody answers */
    assert_fails(actors[1].status, DP_ETIMEOUT, &actors[1].err, "a is not heard");
    memset(truth[1][1], 99, sizeof truth[1][1]);
    for (size_t k = 0; k < 3; k++)
        actors[k].patience_ms = 5000;
    run(3, 0);
    randombytes_buf_deterministic(truth, sizeof truth,
                                  (const unsigned char[randombytes_SEEDBYTES]){1});
    for (size_t k = 0; k < 3; k++) {
        assert_ok(actors[k].status, actors[k].err.text);
        check_sums(&actors[k], 1, 1, 7);
    }
    drop_states(3);
    owners_free(&all);
}

static void no_round_is_opened_twice(void **state)
{
    (void)state;
    set_up(2);
    keep_states(2);
    actors[0].rounds = actors[1].rounds = 2;
    run(2, 0);
    actors[0].rounds = actors[1].rounds = 1; /* as if the journal were lost */
    run(2, 0);
    for (size_t k = 0; k < 2; k++)
        assert_fails(actors[k].status, DP_EPRIVACY, &actors[k].err, "opened again");
    actors[0].skip = actors[1].skip = 1; /* the last one, with another question */
    actors[0].question[0] = actors[1].question[0] = 1;
    run(2, 0);
    for (size_t k = 0; k < 2; k++)
        assert_fails(actors[k].status, DP_EPRIVACY, &actors[k].err, "another question");
    drop_states(2);
    actors[0].question[0] = actors[1].question[0] = 0;
    run(2, 0); /* a new state, and letters of the old one */
    for (size_t k = 0; k < 2; k++)
        assert_fails(actors[k].status, DP_ESTATE, &actors[k].err, "begun this run before");
    drop_states(2);
    owners_free(&all);
}

/* One that has lost its state comes with other keys, to an empty mailbox: it would add other noise
 * to what the others have begun. */
static void who_has_lost_its_state_opens_nothing(void **state)
{
    dp_error err = {0};
    (void)state;
    set_up(3);
    keep_states(3);
    for (size_t k = 0; k < 3; k++)
        actors[k].rounds = 1;
    run(3, 0);
    dpi_letter_box_free(all.box);
    assert_ok(dpi_letter_box_new(&all.box, &err), err.text);
    (void)unlink(paths[2]);
    for (size_t k = 0; k < 3; k++)
        actors[k].patience_ms = 1500;
    run(3, 0);
    for (size_t k = 0; k < 2; k++)
        assert_fails(actors[k].status, DP_ESTATE, &actors[k].err, "has begun this plan anew");
    assert_fails(actors[2].status, DP_ETIMEOUT, &actors[2].err, "is not heard");
    drop_states(3);
    owners_free(&all);
}

/* A state is of one owner: another one's vector would leave as one's own. */
static void the_state_of_another_is_refused(void **state)
{
    (void)state;
    set_up(2);
    keep_states(2);
    actors[0].rounds = actors[1].rounds = 1;
    run(2, 0);
    actors[0].state = paths[1];
    actors[1].state = paths[0];
    actors[0].patience_ms = actors[1].patience_ms = 300;
    run(2, 0);
    for (size_t k = 0; k < 2; k++)
        assert_fails(actors[k].status, DP_ESTATE, &actors[k].err, "or another owner");
    drop_states(2);
    owners_free(&all);
}

static void copy_file(const char *from, const char *to)
{
    static unsigned char bytes[1 << 16];
    FILE *in = fopen(from, "rb"), *out;
    assert_non_null(in);
    size_t n = fread(bytes, 1, sizeof bytes, in);
    (void)fclose(in);
    assert_true(n > 0 && n < sizeof bytes);
    (void)unlink(to);
    out = fopen(to, "wb");
    assert_non_null(out);
    assert_int_equal(fchmod(fileno(out), 0600), 0);
    assert_int_equal(fwrite(bytes, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
}

static void an_older_state_is_refused(void **state)
{
    (void)state;
    set_up(2);
    keep_states(2);
    actors[0].rounds = actors[1].rounds = 1;
    run(2, 0);
    char kept[80];
    (void)snprintf(kept, sizeof kept, "%s.kept", paths[0]);
    copy_file(paths[0], kept);
    actors[0].skip = actors[1].skip = 1;
    run(2, 0);
    assert_ok(actors[0].status, actors[0].err.text);
    copy_file(kept, paths[0]);
    actors[0].skip = actors[1].skip = 2;
    actors[1].patience_ms = 300;
    run(2, 0);
    assert_fails(actors[0].status, DP_EPRIVACY, &actors[0].err, "an older copy");
    (void)unlink(kept);
    drop_states(2);
    owners_free(&all);
}

/* Of one owner's rounds, whose state is at a path. */
static void share_of(const char *path, uint64_t done, unsigned char question, uint64_t value,
                     bool opens, unsigned char key[32])
{
    dpi_carrier *carrier = NULL;
    dpi_silo_round *r = NULL;
    dp_error err = {0};
    uint64_t values[NUMBERS] = {value};
    const unsigned char asked[32] = {question};
    assert_ok(dpi_carrier_memory(all.box, &carrier, &err), err.text);
    const dpi_silo_round_opts opts = {
        .part = &all.parts[0], .post = owners_post(&all, 0, carrier, 300), .state = path};
    assert_ok(dpi_silo_round_new(&opts, &r, &err), err.text);
    dpi_silo_round_skip(r, done);
    dpi_silo_round_share(r, asked, NUMBERS, values, key);
    if (opens)
        assert_ok(dpi_silo_round_open(r, asked, NUMBERS, values, &err), err.text);
    dpi_silo_round_free(r);
    carrier->kind->close(carrier);
}

/* An older copy gives the same key for the same sum, and another one for anything else; a later one
 * does not give it. */
static void shares_are_made_again_for_the_same_sum_alone(void **state)
{
    unsigned char first[32], again[32], other[32];
    char kept[80];
    (void)state;
    set_up(1);
    keep_states(1);
    share_of(paths[0], 0, 1, 5, true, first);
    (void)snprintf(kept, sizeof kept, "%s.kept", paths[0]);
    copy_file(paths[0], kept);
    share_of(paths[0], 1, 2, 6, true, first);
    share_of(paths[0], 1, 2, 6, false, other);
    assert_memory_not_equal(first, other, 32);
    copy_file(kept, paths[0]);
    share_of(paths[0], 1, 2, 6, false, again);
    assert_memory_equal(first, again, 32);
    share_of(paths[0], 1, 3, 6, false, other);
    assert_memory_not_equal(first, other, 32);
    share_of(paths[0], 1, 2, 7, false, other);
    assert_memory_not_equal(first, other, 32);
    share_of(paths[0], 2, 2, 6, false, other);
    assert_memory_not_equal(first, other, 32);
    (void)unlink(kept);
    drop_states(1);
    owners_free(&all);
}

/* What a process that was killed has left of a state that it was writing has secrets of rounds that
 * are over. */
static void what_was_left_beside_a_state_is_taken_away(void **state)
{
    static const unsigned char plan[DPI_SILO_HASH] = {1};
    static const char *const beside[] = {"state.new-aB3dE6", "state.new-aB3dE67", "state.backup"};
    char folder[64], path[80], lock[96], other[3][100];
    dpi_silo_state s;
    dp_error err = {0};
    (void)state;
    (void)snprintf(folder, sizeof folder, "silo-folder-%ld", (long)getpid());
    (void)snprintf(path, sizeof path, "%s/state", folder);
    (void)snprintf(lock, sizeof lock, "%s.lock", path);
    assert_int_equal(mkdir(folder, 0700), 0);
    for (size_t k = 0; k < 3; k++) {
        (void)snprintf(other[k], sizeof other[k], "%s/%s", folder, beside[k]);
        FILE *f = fopen(other[k], "wb");
        assert_non_null(f);
        assert_int_equal(fclose(f), 0);
    }
    assert_ok(dpi_silo_state_open(path, plan, &s, &err), err.text);
    dpi_silo_state_free(&s);
    assert_int_equal(access(other[0], F_OK), -1);
    assert_int_equal(unlink(other[1]) | unlink(other[2]) | unlink(path) | unlink(lock), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* What could not be written may be on the disk or not: nothing leaves after it. */
static void a_state_that_was_not_written_is_used_no_more(void **state)
{
    static const unsigned char plan[DPI_SILO_HASH] = {1}, question[32] = {2};
    const uint64_t x[2] = {3, 4};
    char folder[64], path[80], lock[96];
    dpi_silo_state s;
    dp_error err = {0};
    (void)state;
    (void)snprintf(folder, sizeof folder, "silo-folder-%ld", (long)getpid());
    (void)snprintf(path, sizeof path, "%s/state", folder);
    (void)snprintf(lock, sizeof lock, "%s.lock", path);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_ok(dpi_silo_state_open(path, plan, &s, &err), err.text);
    assert_ok(dpi_silo_state_begin(&s, 1, question, 2, x, &err), err.text);
    assert_int_equal(unlink(path) | unlink(lock) | rmdir(folder), 0);
    dp_status status = dpi_silo_state_begin(&s, 2, question, 2, x, &err);
    assert_int_equal(status, DP_EIO);
    assert_int_equal(mkdir(folder, 0700), 0);
    err = (dp_error){0};
    status = dpi_silo_state_begin(&s, 2, question, 2, x, &err);
    assert_fails(status, DP_EIO, &err, "could not be written before");
    dpi_silo_state_free(&s);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_exact),
        cmocka_unit_test(what_was_left_beside_a_state_is_taken_away),
        cmocka_unit_test(another_question_opens_nothing),
        cmocka_unit_test(what_is_no_sum_was_seen),
        cmocka_unit_test(who_drops_out_is_left_out),
        cmocka_unit_test(too_few_open_nothing),
        cmocka_unit_test(a_round_goes_on_with_what_was_sent),
        cmocka_unit_test(no_round_is_opened_twice),
        cmocka_unit_test(who_has_lost_its_state_opens_nothing),
        cmocka_unit_test(the_state_of_another_is_refused),
        cmocka_unit_test(an_older_state_is_refused),
        cmocka_unit_test(shares_are_made_again_for_the_same_sum_alone),
        cmocka_unit_test(a_state_that_was_not_written_is_used_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
