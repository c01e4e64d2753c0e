/* Ranks of an owner, as threads: what they say to each other, that they stop at one place, and that
 * nobody waits for one that has left. */
#include "base/hosts.h"

#include <string.h>

#include "base/error.h"
#include "tests/lib/check.h"
#include "tests/lib/crew.h"

enum { RANKS = 3 };

static crew all;

static dp_owners owner_at(size_t rank)
{
    return (dp_owners){.size = 2, .group = crew_rank(&all, rank)};
}

/* What a rank does, and what came of it. */
typedef struct rank {
    size_t number;
    dp_status (*act)(const dp_owners *o, size_t number, dp_error *err);
    dp_status status;
    dp_error err;
} rank;

static rank ranks[RANKS];

static void *act(void *of)
{
    rank *r = of;
    const dp_owners o = owner_at(r->number);
    r->status = r->act(&o, r->number, &r->err);
    return NULL;
}

static void run(dp_status (*what)(const dp_owners *o, size_t number, dp_error *err),
                size_t breaks_at)
{
    pthread_t thread[RANKS];
    crew_begin(&all, RANKS);
    all.breaks_at = breaks_at;
    for (size_t r = 0; r < RANKS; r++) {
        ranks[r] = (rank){.number = r, .act = what};
        assert_int_equal(pthread_create(&thread[r], NULL, act, &ranks[r]), 0);
    }
    for (size_t r = 0; r < RANKS; r++)
        assert_int_equal(pthread_join(thread[r], NULL), 0);
    crew_end(&all);
}

static void expect(dp_status first, dp_status second, dp_status third)
{
    const dp_status want[RANKS] = {first, second, third};
    for (size_t r = 0; r < RANKS; r++)
        if (ranks[r].status != want[r])
            fail_msg("rank %zu: %d, %s", r, (int)ranks[r].status, ranks[r].err.text);
}

static const unsigned char here[DP_OWNERS_QUESTION] = "here", there[DP_OWNERS_QUESTION] = "there";

static dp_status meet(const dp_owners *o, dp_status mine, const unsigned char *question,
                      dp_error *err)
{
    dpi_hosts_meeting at = {.question = question};
    return dpi_hosts_meet(o, mine, &at, err);
}

/* ---- what is exchanged ---- */

static dp_status talk(const dp_owners *o, size_t number, dp_error *err)
{
    dpi_hosts_meeting at = {.question = here, .made = number == 0, .units = 5 + number};
    int64_t whole[3] = {(int64_t)number + 1, -((int64_t)1 << 60), 0}, room[3];
    double out[2] = {number == 0 ? -0x1.23456789abcdep-1022 : 7, number == 0 ? 1e300 : 0};
    unsigned char key[DP_OWNERS_KEY] = "of rank 0";
    if (number > 0)
        memset(key, 9, sizeof key);
    dp_status status = dpi_hosts_meet(o, DP_OK, &at, err);
    if (status == DP_OK && (!at.made || at.units != 18))
        return DP_EDATA;
    if (status == DP_OK)
        status = dpi_hosts_add(o, DP_OK, 2, whole, err);
    if (status == DP_OK && (whole[0] != 6 || whole[1] != -3 * ((int64_t)1 << 60)))
        return DP_EDATA;
    if (status == DP_OK)
        status = dpi_hosts_give(o, DP_OK, 2, out, room, err);
    if (status == DP_OK && (out[0] != -0x1.23456789abcdep-1022 || out[1] != 1e300))
        return DP_EDATA;
    if (status == DP_OK)
        status = dpi_hosts_key(o, DP_OK, key, err);
    if (status == DP_OK && (strcmp((char *)key, "of rank 0") == 0) != (number == 0))
        return DP_EDATA;
    if (status == DP_OK && (key[0] == 9 && key[1] == 9))
        return DP_EDATA;
    return dpi_hosts_end(o, status, err);
}

static void sums_words_and_keys_are_those_of_all(void **state)
{
    (void)state;
    run(talk, 0);
    expect(DP_OK, DP_OK, DP_OK);
    assert_int_equal(all.times, 5);
}

static unsigned char keys[RANKS][DP_OWNERS_KEY];

static dp_status take_key(const dp_owners *o, size_t number, dp_error *err)
{
    memcpy(keys[number], "of rank 0", sizeof "of rank 0");
    return dpi_hosts_key(o, DP_OK, keys[number], err);
}

static void each_rank_has_a_key_and_a_seed_of_its_own(void **state)
{
    (void)state;
    run(take_key, 0);
    assert_memory_equal(keys[0], "of rank 0", sizeof "of rank 0");
    for (size_t r = 1; r < RANKS; r++)
        for (size_t q = 0; q < r; q++) {
            const dp_owners one = owner_at(q), other = owner_at(r);
            assert_memory_not_equal(keys[r], keys[q], sizeof keys[r]);
            assert_true(dpi_hosts_seed(&one, 5) != dpi_hosts_seed(&other, 5));
        }
    assert_int_equal(dpi_hosts_seed(&(dp_owners){.size = 2}, 5), 5);
}

/* ---- failures ---- */

static dp_status fail_as(dp_error *err)
{
    return dpi_fail(err, DP_EDATA, "what rank 1 has found");
}

static dp_status fails_to_meet(const dp_owners *o, size_t number, dp_error *err)
{
    return dpi_hosts_end(o, meet(o, number == 1 ? fail_as(err) : DP_OK, here, err), err);
}

static dp_status fails_to_add(const dp_owners *o, size_t number, dp_error *err)
{
    int64_t whole[2] = {1};
    dp_status status = meet(o, DP_OK, here, err);
    if (status == DP_OK)
        status = dpi_hosts_add(o, number == 1 ? fail_as(err) : DP_OK, 1, whole, err);
    return whole[0] == 0 ? dpi_hosts_end(o, status, err) : DP_ENAME;
}

static dp_status fails_to_give(const dp_owners *o, size_t number, dp_error *err)
{
    int64_t room[2];
    double out = 3;
    dp_status status = meet(o, DP_OK, here, err);
    if (status == DP_OK)
        status = dpi_hosts_give(o, number == 1 ? fail_as(err) : DP_OK, 1, &out, room, err);
    return out == 0 ? dpi_hosts_end(o, status, err) : DP_ENAME;
}

static dp_status leaves(const dp_owners *o, size_t number, dp_error *err)
{
    dp_status status = DP_OK;
    for (int k = 0; k < 5 && status == DP_OK; k++)
        status = number == 1 && k == 3 ? fail_as(err) : meet(o, DP_OK, here, err);
    return dpi_hosts_end(o, status, err);
}

static dp_status fails_at_the_end(const dp_owners *o, size_t number, dp_error *err)
{
    return dpi_hosts_end(o, number == 1 ? fail_as(err) : DP_OK, err);
}

static void ranks_fail_together_wherever_one_does(void **state)
{
    (void)state;
    dp_status (*const cases[])(const dp_owners *, size_t, dp_error *) = {
        fails_to_meet, fails_to_add, fails_to_give, leaves, fails_at_the_end};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        run(cases[k], 0);
        expect(DP_ESTATE, DP_EDATA, DP_ESTATE);
        assert_string_equal(ranks[1].err.text, "what rank 1 has found");
        assert_contains(ranks[2].err.text, "another rank of");
    }
}

static dp_status ends_early(const dp_owners *o, size_t number, dp_error *err)
{
    return dpi_hosts_end(o, number == 2 ? DP_OK : meet(o, DP_OK, here, err), err);
}

static void one_that_ends_early_ends_all(void **state)
{
    (void)state;
    run(ends_early, 0);
    expect(DP_ESTATE, DP_ESTATE, DP_ESTATE);
}

static dp_status ask_apart(const dp_owners *o, size_t number, dp_error *err)
{
    return dpi_hosts_end(o, meet(o, DP_OK, number == 1 ? there : here, err), err);
}

static void ranks_with_other_questions_stop(void **state)
{
    (void)state;
    run(ask_apart, 0);
    expect(DP_EMISMATCH, DP_EMISMATCH, DP_EMISMATCH);
    assert_contains(ranks[2].err.text, "different questions");
}

static void ranks_that_cannot_reach_each_other_stop(void **state)
{
    (void)state;
    for (size_t at = 1; at <= 5; at++) {
        run(talk, at);
        expect(DP_EIO, DP_EIO, DP_EIO);
    }
}

/* ---- no ranks ---- */

static void one_process_agrees_with_itself(void **state)
{
    (void)state;
    const dp_owners one = {.size = 2}, *const none[] = {NULL, &one};
    for (int k = 0; k < 2; k++) {
        dp_error err = {0};
        dpi_hosts_meeting at = {.question = here, .made = true, .units = 4};
        double out = 3;
        int64_t room[2] = {5};
        assert_false(dpi_hosts_are(none[k]));
        assert_true(dpi_hosts_gate(none[k]));
        assert_int_equal(dpi_hosts_meet(none[k], DP_OK, &at, &err), DP_OK);
        assert_int_equal(dpi_hosts_meet(none[k], DP_EIO, &at, &err), DP_EIO);
        assert_int_equal(dpi_hosts_add(none[k], DP_OK, 1, room, &err), DP_OK);
        assert_int_equal(dpi_hosts_give(none[k], DP_OK, 1, &out, room, &err), DP_OK);
        assert_true(at.made && at.units == 4 && out == 3 && room[0] == 5);
        assert_int_equal(dpi_hosts_end(none[k], DP_EDATA, &err), DP_EDATA);
    }
}

static int no_sum(void *context, size_t n, int64_t *values)
{
    (void)context;
    (void)n;
    (void)values;
    return 1;
}

static void ranks_that_cannot_be_are_refused(void **state)
{
    (void)state;
    const dp_group wrong = {2, 2, NULL, no_sum}, many = {0, 65, NULL, no_sum},
                   two = {0, 2, NULL, no_sum};
    dp_error err[3] = {{0}};
    assert_int_equal(dpi_hosts_check(&(dp_owners){.group = &wrong}, &err[0]), DP_EINVAL);
    assert_int_equal(dpi_hosts_check(&(dp_owners){.group = &many}, &err[1]), DP_EINVAL);
    assert_contains(err[1].text, "it can have 64");
    assert_int_equal(dpi_hosts_check(&(dp_owners){.group = &two, .local_steps = 3}, &err[2]),
                     DP_EUNSUPPORTED);
    assert_contains(err[2].text, "local_steps 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_words_and_keys_are_those_of_all),
        cmocka_unit_test(each_rank_has_a_key_and_a_seed_of_its_own),
        cmocka_unit_test(ranks_fail_together_wherever_one_does),
        cmocka_unit_test(one_that_ends_early_ends_all),
        cmocka_unit_test(ranks_with_other_questions_stop),
        cmocka_unit_test(ranks_that_cannot_reach_each_other_stop),
        cmocka_unit_test(one_process_agrees_with_itself),
        cmocka_unit_test(ranks_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
