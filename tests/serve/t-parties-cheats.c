/* A party of four that cheats in a session, in any of its messages and in either lane, ends it for
 * all others before any of them tells the client a number, and the client has no answer; a cheat of
 * three is not found.
 *
 * Parties are honest ones, in whose place between.c does one deed. */
#include <string.h>

#include "tests/lib/numbers.h"
#include "tests/lib/pause.h"
#include "tests/serve/between.h"
#include "tests/serve/scene.h"

#ifndef FLIPS
#define FLIPS 60
#endif

enum {
    INPUTS = 6,
    HIDDEN = 5,
    OUTPUTS = 3,
    RECORDS = 3, /* two of the first lane, one of the second */
    LANES = BETWEEN_LANES,
    MOST_MESSAGES = 4096,
    LONG = 20000,
    SHORT = 400 /* ms */
};

/* ---- whoever asks ---- */

typedef struct stage {
    daemons d;
    dp_program *p;
    int64_t expected[RECORDS * OUTPUTS];
} stage;

static const double asked[RECORDS * INPUTS] = {.5,  -1, .25, 0, 1,  -.125, 1,  1,   -.5,
                                               .75, 0,  -1,  1, -1, .375,  .5, -.5, 0};

/* Of one of the two rings. */
static dp_program *small(bool wide_numbers)
{
    double w[INPUTS * HIDDEN], v[HIDDEN * OUTPUTS];
    uint64_t numbers = 8;
    fill(&numbers, sizeof w / sizeof *w, w);
    fill(&numbers, sizeof v / sizeof *v, v);
    dp_program *p = dp_program_new();
    assert_non_null(p);
    int h = dp_program_input(p, INPUTS, "x", -1, 1);
    h = dp_program_relu(p, dp_program_dense(p, h, HIDDEN, w, v));
    (void)dp_program_dense(p, h, OUTPUTS, v, v);
    const int bits = wide_numbers ? 14 : 8;
    dp_error err = {0};
    assert_ok(
        dp_program_fix(p, &(dp_scale_opts){.activation_bits = bits + 2, .weight_bits = bits}, &err),
        err.text);
    assert_true((dp_program_bits(p) > 30) == wide_numbers);
    return p;
}

static void begin(stage *s, size_t parties, bool wide_numbers, uint32_t timeout)
{
    dp_error err = {0};
    int64_t v[RECORDS * INPUTS];
    s->p = small(wide_numbers);
    (void)session_begin(&(deed){NOTHING});
    if (!daemons_start(&s->d, &(daemons_opts){.n = parties, .lanes = LANES, .timeout_ms = timeout},
                       &err))
        fail_msg("%s", err.text);
    assert_ok(daemons_share(&s->d, s->p, &err), err.text);
    assert_ok(dp_program_encode(s->p, RECORDS, asked, v, &err), err.text);
    assert_ok(dp_program_run_exact(s->p, RECORDS, v, s->expected, &err), err.text);
    for (size_t i = 0; i < RECORDS * OUTPUTS; i++)
        assert_int_not_equal(s->expected[i], 0);
}

static void end(stage *s)
{
    daemons_stop(&s->d);
    dp_program_free(s->p);
    session_forget_all();
}

/* One query; zeros where there is no answer.  When it returns all parties are done with it. */
static dp_status ask(const stage *s, const deed *d, int64_t y[RECORDS * OUTPUTS], session **seen)
{
    const dp_ask_parties_opts o = {.identity = s->d.client,
                                   .parties = s->d.parties,
                                   .records = RECORDS,
                                   .lanes = LANES,
                                   .timeout_ms = s->d.opts.timeout_ms};
    size_t answered = 0;
    dp_error err = {0};
    dp_ask *made;
    *seen = session_begin(d);
    for (size_t i = 0; i < RECORDS * OUTPUTS; i++)
        y[i] = 0;
    dp_status status = dp_ask_parties_new(&o, &made, &err);
    if (status == DP_OK)
        status = dp_ask_many(made, RECORDS, asked, y, &answered, &err);
    dp_ask_free(made);
    assert_int_equal(answered, status == DP_OK ? RECORDS : 0);
    for (int ms = 0; (*seen)->closed < (*seen)->opened; ms++) {
        assert_true(ms < LONG);
        pause_for(1);
    }
    return status;
}

/* Who has told nothing, beside the cheat. */
static size_t count_silent(const session *seen, const deed *d)
{
    size_t silent = 0;
    for (size_t m = 0; m < DAEMONS; m++)
        silent += m != d->machine && seen->told[m] == 0;
    return silent;
}

/* Whether the deed has been done: who is silent while the machine stands still is so to nobody. */
static bool is_done(const session *seen, const deed *d)
{
    return seen->done > 0 && (d->kind != FALL_SILENT || count_silent(seen, d) == DAEMONS - 1);
}

/* Nobody but the cheat, who may say what it likes, has told anything; where `some_may`, not all. */
static void assert_nothing(const stage *s, const deed *d, bool some_may)
{
    int64_t y[RECORDS * OUTPUTS];
    session *seen;
    dp_status status;
    double begun;
    int tries = 0;
    do {
        begun = clock_now();
        status = ask(s, d, y, &seen);
    } while (!is_done(seen, d) && stood_still(begun, s->d.opts.timeout_ms, &tries));
    if (seen->done != 1)
        fail_msg("machine %zu in lane %zu does nothing", d->machine, d->lane);
    if (status != DP_EPEER && status != DP_EREFUSED && status != DP_ETIMEOUT)
        fail_msg("deed %d of machine %zu, message %zu of kind %d to role %zu in lane %zu: %d",
                 (int)d->kind, d->machine, d->number, (int)d->message, d->to, d->lane, (int)status);
    for (size_t i = 0; i < RECORDS * OUTPUTS; i++)
        assert_int_equal(y[i], 0);
    const size_t silent = count_silent(seen, d);
    assert_true(some_may ? silent > 0 : silent == DAEMONS - 1);
}

static session *works(const stage *s)
{
    int64_t y[RECORDS * OUTPUTS];
    session *seen;
    dp_status status;
    double begun;
    int tries = 0;
    do {
        begun = clock_now();
        status = ask(s, &(deed){NOTHING}, y, &seen);
    } while (status != DP_OK && stood_still(begun, s->d.opts.timeout_ms, &tries));
    assert_int_equal(status, DP_OK);
    assert_memory_equal(y, s->expected, sizeof y);
    assert_int_equal(seen->opened, s->d.opts.n * LANES);
    for (size_t m = 0; m < s->d.opts.n; m++)
        assert_int_equal(seen->told[m], LANES);
    return seen;
}

/* ---- tests ---- */

/* All messages that gates send in a session. */
static size_t list_messages(const session *seen, deed list[MOST_MESSAGES])
{
    size_t n = 0;
    for (size_t lane = 0; lane < LANES; lane++)
        for (size_t m = 0; m < DAEMONS; m++)
            for (size_t to = 0; to < DAEMONS; to++)
                for (size_t k = 0; k < seen->lane[m][lane].sent[to][DPI_MESH_POSTED]; k++) {
                    assert_true(n < MOST_MESSAGES);
                    list[n++] = (deed){.kind = TURN_A_BIT,
                                       .machine = m,
                                       .lane = lane,
                                       .to = to,
                                       .number = k,
                                       .message = DPI_MESH_POSTED};
                }
    return n;
}

/* Messages one after the other, as many as are tried in steps that have no part in common with
 * their number; of each a random bit. */
static void a_bit_of_any_message_in_either_lane_ends_it_before_anything_is_told(void **state)
{
    static deed list[MOST_MESSAGES];
    uint64_t random = 7;
    (void)state;
    for (int wide_numbers = 0; wide_numbers < 2; wide_numbers++) {
        stage s;
        begin(&s, 4, wide_numbers > 0, LONG);
        const size_t n = list_messages(works(&s), list);
        size_t at = 0, step = n / 3;
        while (step % 2 == 0 || n % step == 0)
            step++;
        for (size_t i = 0; i < FLIPS / 2; i++, at = (at + step) % n) {
            list[at].random = (uint64_t)((next_number(&random) + 1) * 0x1p52);
            assert_nothing(&s, &list[at], false);
        }
        print_message("# %zu messages, %d tries\n", n, FLIPS / 2);
        (void)works(&s);
        end(&s);
    }
}

/* To one role, or in the keys: that one ends, and the client with it.  The others may have nothing
 * against each other, and tell what all honest parties have seen alike. */
static void who_lies_in_a_comparison_leaves_the_client_without_an_answer(void **state)
{
    static const dpi_mesh_kind kinds[] = {DPI_MESH_KEYS, DPI_MESH_DIGEST, DPI_MESH_TAG};
    stage s;
    (void)state;
    begin(&s, 4, true, LONG);
    for (size_t k = 0; k < 3; k++)
        for (size_t machine = 0; machine < DAEMONS; machine++)
            for (size_t to = 0; to < DAEMONS; to++) {
                const size_t lane = (machine + to) % LANES;
                deed d = {.kind = TURN_A_BIT, .machine = machine, .lane = lane, .to = to};
                d.message = kinds[k];
                d.random = 37 * machine + 101 * to;
                if (dpi_parties_role(DAEMONS, lane, machine) != to)
                    assert_nothing(&s, &d, kinds[k] != DPI_MESH_KEYS);
            }
    (void)works(&s);
    end(&s);
}

static void who_lies_about_what_it_was_given_ends_it_before_anything_is_told(void **state)
{
    static const deed_kind kinds[] = {CHANGE_SEED, CHANGE_MODEL};
    stage s;
    (void)state;
    begin(&s, 4, false, LONG);
    for (size_t k = 0; k < 2; k++)
        for (size_t machine = 0; machine < DAEMONS; machine++)
            for (size_t lane = 0; lane < LANES; lane++)
                for (uint64_t random = 0; random < 2; random++) {
                    deed d = {.kind = kinds[k], .machine = machine, .lane = lane};
                    d.random = 1 + 17 * machine + 1001 * random;
                    d.number = INPUTS * HIDDEN;
                    assert_nothing(&s, &d, false);
                }
    (void)works(&s);
    end(&s);
}

static void who_falls_silent_is_not_waited_for(void **state)
{
    stage s;
    (void)state;
    begin(&s, 4, false, SHORT);
    const session *seen = works(&s);
    for (size_t machine = 0; machine < DAEMONS; machine++) {
        const struct lane_seen *l = &seen->lane[machine][machine / 2];
        deed d = {.kind = FALL_SILENT, .machine = machine, .lane = machine / 2};
        d.message = DPI_MESH_POSTED;
        d.random = 4 * SHORT;
        while (d.to < DAEMONS - 1 && l->sent[d.to][DPI_MESH_POSTED] == 0)
            d.to++;
        if (l->sent[d.to][DPI_MESH_POSTED] == 0) /* P0 speaks in comparisons alone */
            d.message = DPI_MESH_TAG;
        d.number = d.message == DPI_MESH_POSTED ? l->sent[d.to][DPI_MESH_POSTED] / 2 : 0;
        assert_nothing(&s, &d, false);
    }
    (void)works(&s);
    end(&s);
}

/* Numbers of one party, hashes of another. */
static void what_two_parties_tell_differently_is_no_answer(void **state)
{
    stage s;
    (void)state;
    begin(&s, 4, true, LONG);
    for (size_t machine = 0; machine < DAEMONS; machine++)
        for (size_t lane = 0; lane < LANES; lane++) {
            const deed d = {.kind = CHANGE_PIECE, .machine = machine, .lane = lane};
            int64_t y[RECORDS * OUTPUTS];
            session *seen;
            assert_int_equal(ask(&s, &d, y, &seen), DP_EPEER);
            assert_int_equal(seen->done, 1);
            for (size_t i = 0; i < RECORDS * OUTPUTS; i++)
                assert_int_equal(y[i], 0);
        }
    (void)works(&s);
    end(&s);
}

/* doc/design/share-trio.md: it protects against the curious, and not against a cheat. */
static void a_cheat_of_three_is_not_found(void **state)
{
    stage s;
    (void)state;
    begin(&s, 3, true, LONG);
    for (size_t machine = 0; machine < 2; machine++) {
        const deed d = {.kind = CHANGE_PIECE, .machine = machine};
        int64_t y[RECORDS * OUTPUTS];
        session *seen;
        assert_int_equal(ask(&s, &d, y, &seen), DP_OK);
        assert_int_equal(seen->done, 1);
        assert_memory_not_equal(y, s.expected, sizeof y);
    }
    (void)works(&s);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bit_of_any_message_in_either_lane_ends_it_before_anything_is_told),
        cmocka_unit_test(who_lies_in_a_comparison_leaves_the_client_without_an_answer),
        cmocka_unit_test(who_lies_about_what_it_was_given_ends_it_before_anything_is_told),
        cmocka_unit_test(who_falls_silent_is_not_waited_for),
        cmocka_unit_test(what_two_parties_tell_differently_is_no_answer),
        cmocka_unit_test(a_cheat_of_three_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
