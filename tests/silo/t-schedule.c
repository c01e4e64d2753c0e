/* Tasks of plans, which hosts they are bound to, and rounds by the clock, against what follows by
 * hand. */
#include "silo/schedule.h"

#include <string.h>

#include "silo/joint.h"
#include "silo/split.h"
#include "tests/lib/check.h"

enum { MOST = 4, RECORDS = 80 };

static dpi_arena arena;
static dpi_silo_part parts[DPI_SILO_PARTIES];

static void make_parts(const char *name, size_t parties)
{
    static const dp_opening one = {"main", 1, 1, 1, false};
    static const dpi_joint_columns columns = {20, 30, 40, 0, 1e-5};
    const dpi_silo_scheme *scheme = dpi_silo_scheme_named(name);
    dpi_silo_parties who = {.n = (uint16_t)parties, .colluders = 1, .most_records = 1000};
    dpi_silo_program p;
    dp_error err = {0};
    for (size_t k = 0; k < parties; k++)
        who.names[k][0] = (char)('a' + k);
    if (scheme->by_columns)
        assert_ok(dpi_silo_joint_columns(&p, &who, &columns, &err), err.text);
    else
        assert_ok(dpi_silo_joint(&p, &who, dpi_silo_joint_kind(scheme), 1e-5, 1, &one, &err),
                  err.text);
    assert_ok(dpi_silo_split(&p, scheme, &arena, parts, &err), err.text);
}

static dpi_silo_schedule *make(size_t parties, size_t hosts, dpi_silo_order order,
                               const dpi_silo_costs *costs)
{
    const dpi_silo_schedule_opts o = {.parts = parts,
                                      .parties = parties,
                                      .hosts = hosts,
                                      .blocks = 8,
                                      .records = RECORDS,
                                      .order = order,
                                      .costs = *costs};
    dpi_silo_schedule *s;
    dp_error err = {0};
    assert_ok(dpi_silo_schedule_new(&o, &s, &err), err.text);
    return s;
}

static double seconds(size_t parties, size_t hosts, dpi_silo_order order,
                      const dpi_silo_costs *costs, size_t rounds)
{
    dpi_silo_schedule *s = make(parties, hosts, order, costs);
    const double took = dpi_silo_schedule_run(s, rounds);
    dpi_silo_schedule_free(s);
    return took;
}

/* The task of a party's that a step of this kind is in; of records the first block. */
static const dpi_silo_task *find(const dpi_silo_schedule *s, size_t party, dpi_silo_step_kind kind)
{
    for (uint32_t t = s->party[party]; t < s->party[party + 1]; t++)
        if (parts[party].steps[s->tasks[t].first].kind == kind)
            return &s->tasks[t];
    fail_msg("no task of party %zu begins with %s", party, dpi_silo_step_name(kind));
    return NULL;
}

/* ---- tasks ---- */

static void steps_between_letters_are_one_task(void **state)
{
    const dpi_silo_costs none = {.push = 0};
    (void)state;
    make_parts("fedsgd", 2);
    dpi_silo_schedule *s = make(2, 2, DPI_SILO_BY_PRIORITY, &none);
    /* The first adds up: blocks; their sum as it is; the other's; the sum of both; its letter; and
     * what is opened, and what follows.  The other: blocks; their sum, which is sent; the letter,
     * what is opened and what follows. */
    assert_int_equal(s->party[1], 8 + 5);
    assert_int_equal(s->party[2] - s->party[1], 8 + 2);
    assert_int_equal(find(s, 0, DPI_SILO_ISUM)->steps, 2);
    assert_int_equal(find(s, 0, DPI_SILO_ISUM)->waits, 8);
    assert_int_equal(find(s, 0, DPI_SILO_SEND)->outside, 1);
    assert_int_equal(find(s, 0, DPI_SILO_OPEN)->outside, 0);
    assert_int_equal(find(s, 1, DPI_SILO_ISUM)->outside, 1);
    assert_int_equal(find(s, 1, DPI_SILO_RECV)->steps, 3);
    for (int k = 0; k < 2; k++) {
        assert_true(find(s, (size_t)k, DPI_SILO_INQUIRE)->asks);
        assert_int_equal(find(s, (size_t)k, DPI_SILO_INQUIRE)->records, RECORDS / 8);
    }
    dpi_silo_schedule_free(s);
}

static void a_step_that_is_done_once_is_no_task(void **state)
{
    const dpi_silo_costs none = {.push = 0};
    (void)state;
    make_parts("columns+dp", 2);
    dpi_silo_schedule *s = make(2, 1, DPI_SILO_BY_PRIORITY, &none);
    size_t steps = 0, once = 0;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < parts[k].n_steps; i++)
            once += parts[k].steps[i].once;
    for (size_t t = 0; t < s->n; t++)
        steps += s->tasks[t].steps;
    assert_true(once > 0);
    assert_int_equal(steps + once, parts[0].n_steps + parts[1].n_steps);
    dpi_silo_schedule_free(s);
}

static void lengths_are_means_of_what_was_seen(void **state)
{
    dpi_silo_costs c = {.push = 0};
    (void)state;
    dpi_silo_costs_learn(&c, DPI_SILO_MASK, 8);
    assert_true(c.step[DPI_SILO_MASK] == 8);
    dpi_silo_costs_learn(&c, DPI_SILO_MASK, 2);
    assert_true(c.step[DPI_SILO_MASK] == 5 && c.step[DPI_SILO_OPEN] == 0);
}

/* ---- binding ---- */

static void blocks_go_where_the_queue_is_shortest(void **state)
{
    dpi_silo_costs c = {.step = {[DPI_SILO_INQUIRE] = 1}};
    (void)state;
    make_parts("secagg+dp", 3);
    dpi_silo_schedule *s = make(3, 4, DPI_SILO_BY_PRIORITY, &c);
    for (size_t k = 0; k < 3; k++)
        for (size_t h = 0; h < 4; h++)
            assert_int_equal(dpi_silo_schedule_records(s, k, h), RECORDS / 4);
    dpi_silo_schedule_free(s);
    c.step[DPI_SILO_DGAUSS] = 1000; /* which begins when all blocks are made */
    s = make(3, 4, DPI_SILO_BY_PRIORITY, &c);
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(dpi_silo_schedule_records(s, k, 0), RECORDS / 4);
        for (uint32_t t = s->party[k]; t < s->party[k + 1]; t++)
            assert_true(s->tasks[t].records > 0 || s->tasks[t].host == 0);
    }
    dpi_silo_schedule_free(s);
}

/* What host 0 does while blocks are made: it has one block where others have two or three. */
static void a_host_that_has_other_work_has_fewer_records(void **state)
{
    static const dpi_silo_register registers[] = {
        {.name = "x"}, {.name = "v"}, {.name = "S"}, {.name = "w"}};
    const dpi_silo_step steps[] = {{.kind = DPI_SILO_INQUIRE, .out = 1},
                                   {.kind = DPI_SILO_ISUM, .out = 2, .in = {1}},
                                   {.kind = DPI_SILO_WALK, .out = 3}};
    const dpi_silo_costs c = {.step = {[DPI_SILO_INQUIRE] = 1, [DPI_SILO_WALK] = 15}};
    (void)state;
    parts[0] = (dpi_silo_part){
        .parties = 1, .n_registers = 4, .n_steps = 3, .registers = registers, .steps = steps};
    dpi_silo_schedule *s = make(1, 4, DPI_SILO_BY_PRIORITY, &c);
    assert_int_equal(dpi_silo_schedule_records(s, 0, 0), RECORDS / 8);
    assert_int_equal(dpi_silo_schedule_records(s, 0, 1), RECORDS * 3 / 8);
    assert_true(dpi_silo_schedule_run(s, 1) == 30);
    dpi_silo_schedule_free(s);
}

/* ---- the clock ---- */

/* Of two owners the other's sum is a letter, and the sum of both is one. */
static void rounds_take_what_their_longest_chain_takes(void **state)
{
    const dpi_silo_order orders[] = {DPI_SILO_IN_ORDER, DPI_SILO_AS_THEY_COME,
                                     DPI_SILO_BY_PRIORITY};
    dpi_silo_costs c = {.step = {[DPI_SILO_INQUIRE] = 1}, .way = 100, .push = 1};
    (void)state;
    make_parts("fedsgd", 2);
    for (size_t k = 0; k < 3; k++) {
        c.step[DPI_SILO_ISUM] = c.step[DPI_SILO_ADVANCE] = 0;
        assert_true(seconds(2, 1, orders[k], &c, 1) == RECORDS + 200);
        assert_true(seconds(2, 1, orders[k], &c, 5) == 5 * (RECORDS + 200));
        /* Blocks of other hosts come a push later, and from the second round on ask one later. */
        assert_true(seconds(2, 4, orders[k], &c, 1) == RECORDS / 4 + 1 + 200);
        assert_true(seconds(2, 4, orders[k], &c, 5) == 5 * (RECORDS / 4 + 1 + 200) + 4);
        c.step[DPI_SILO_ISUM] = 3; /* for each of the other hosts */
        c.step[DPI_SILO_ADVANCE] = 7;
        assert_true(seconds(2, 1, orders[k], &c, 5) == 5 * (RECORDS + 200 + 7));
    }
}

/* Where a step has work that nobody else waits for, what others wait for is done before it. */
static void letters_go_before_work_that_nobody_waits_for(void **state)
{
    const dpi_silo_costs c = {.step = {[DPI_SILO_INNER] = 50, [DPI_SILO_VEIL] = 10}, .way = 100};
    (void)state;
    make_parts("columns+dp", 2);
    assert_true(seconds(2, 1, DPI_SILO_IN_ORDER, &c, 3) == 3 * 160);
    assert_true(seconds(2, 1, DPI_SILO_AS_THEY_COME, &c, 3) == 3 * 160);
    assert_true(seconds(2, 1, DPI_SILO_BY_PRIORITY, &c, 3) == 3 * 110);
    make_parts("secagg+dp", 3); /* a chain, in which there is nothing to choose */
    const dpi_silo_costs all = {.step = {[DPI_SILO_INQUIRE] = 1,
                                         [DPI_SILO_DGAUSS] = 2,
                                         [DPI_SILO_MASK] = 3,
                                         [DPI_SILO_ADVANCE] = 5},
                                .way = 100};
    assert_true(seconds(3, 1, DPI_SILO_AS_THEY_COME, &all, 3) ==
                seconds(3, 1, DPI_SILO_BY_PRIORITY, &all, 3));
}

static void what_cannot_be_is_refused(void **state)
{
    const dpi_silo_schedule_opts o = {.parts = parts, .parties = 2, .hosts = 3, .blocks = 2};
    dpi_silo_schedule *s;
    dp_error err = {0};
    (void)state;
    assert_int_equal(dpi_silo_schedule_new(&o, &s, &err), DP_EINVAL);
    assert_contains(err.text, "a block for each host");
    assert_null(s);
}

static int tear_down(void **state)
{
    (void)state;
    dpi_arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_between_letters_are_one_task),
        cmocka_unit_test(a_step_that_is_done_once_is_no_task),
        cmocka_unit_test(lengths_are_means_of_what_was_seen),
        cmocka_unit_test(blocks_go_where_the_queue_is_shortest),
        cmocka_unit_test(a_host_that_has_other_work_has_fewer_records),
        cmocka_unit_test(rounds_take_what_their_longest_chain_takes),
        cmocka_unit_test(letters_go_before_work_that_nobody_waits_for),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
