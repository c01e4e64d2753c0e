/* What the check of parts refuses: each test plants one mistake in a fit that three owners make. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "silo/check.h"
#include "silo/joint.h"
#include "silo/print.h"
#include "silo/split.h"
#include "tests/lib/check.h"

enum { OWNERS = 3, NORTH = 0, SOUTH = 1, WEST = 2, MOST_RULES = 8, MOST_STEPS = 96 };

static const dp_opening openings[] = {{"scales", 1, 12, 40}, {"main", 16, 52, 20}};

/* A fit that can be spoilt before it is split, and after. */
typedef struct scene {
    dpi_silo_parties who;
    dpi_silo_program program;
    dpi_silo_rule rules[MOST_RULES];
    dpi_silo_scheme scheme;
    dpi_silo_part parts[DPI_SILO_PARTIES];
    dpi_silo_step steps[OWNERS][MOST_STEPS];
    dpi_silo_register registers[OWNERS][32];
    dpi_arena arena;
    size_t n_views;
    dpi_silo_view *views;
    dp_error err;
} scene;

static void begin(scene *s, const char *scheme)
{
    memset(s, 0, sizeof *s);
    s->who = (dpi_silo_parties){
        .n = OWNERS, .names = {"north", "south", "west"}, .colluders = 1, .most_records = 1000};
    s->scheme = *dpi_silo_scheme_named(scheme);
    memcpy(s->rules, s->scheme.rules, s->scheme.n_rules * sizeof *s->rules);
    s->scheme.rules = s->rules;
    assert_ok(dpi_silo_joint(&s->program, &s->who, s->scheme.noisy, 1e-5, 2, openings, &s->err),
              s->err.text);
}

/* Splits it, so that parts can be changed. */
static dp_status split(scene *s)
{
    dp_status status = dpi_silo_split(&s->program, &s->scheme, &s->arena, s->parts, &s->err);
    for (size_t k = 0; status == DP_OK && k < OWNERS; k++) {
        assert_true(s->parts[k].n_steps < MOST_STEPS && s->parts[k].n_registers <= 32);
        memcpy(s->steps[k], s->parts[k].steps, s->parts[k].n_steps * sizeof(dpi_silo_step));
        memcpy(s->registers[k], s->parts[k].registers,
               s->parts[k].n_registers * sizeof(dpi_silo_register));
        s->parts[k].steps = s->steps[k];
        s->parts[k].registers = s->registers[k];
    }
    return status;
}

static dp_status check(scene *s)
{
    return dpi_silo_check(&s->program, &s->scheme, s->parts, &s->arena, &s->n_views, &s->views,
                          &s->err);
}

static void end(scene *s)
{
    dpi_arena_free(&s->arena);
}

/* All three words must be there: the party, the variable, and what is wrong. */
static void assert_refused(scene *s, dp_status status, const char *party, const char *variable,
                           const char *what)
{
    assert_int_not_equal(status, DP_OK);
    if (strstr(s->err.text, party) == NULL || strstr(s->err.text, variable) == NULL ||
        strstr(s->err.text, what) == NULL)
        fail_msg("\"%s\" does not name %s, %s and \"%s\"", s->err.text, party, variable, what);
    end(s);
}

static dpi_silo_rule *rule_of(scene *s, const char *op)
{
    size_t k = 0;
    while (strcmp(s->rules[k].op, op) != 0)
        assert_true(++k < s->scheme.n_rules);
    return &s->rules[k];
}

static uint16_t find_register(const scene *s, size_t k, const char *name)
{
    uint16_t r = 0;
    while (strcmp(s->registers[k][r].name, name) != 0)
        assert_true(++r < s->parts[k].n_registers);
    return r;
}

static size_t find_step(const scene *s, size_t k, dpi_silo_step_kind kind)
{
    size_t at = 0;
    while (s->steps[k][at].kind != kind)
        assert_true(++at < s->parts[k].n_steps);
    return at;
}

static void insert(scene *s, size_t k, size_t at, dpi_silo_step step)
{
    memmove(&s->steps[k][at + 1], &s->steps[k][at],
            (s->parts[k].n_steps++ - at) * sizeof(dpi_silo_step));
    s->steps[k][at] = step;
}

static void take_out(scene *s, size_t k, size_t at)
{
    memmove(&s->steps[k][at], &s->steps[k][at + 1],
            (--s->parts[k].n_steps - at) * sizeof(dpi_silo_step));
}

/* From one party to another, where each has that kind of step. */
static void add_letter(scene *s, const char *name, size_t from, dpi_silo_step_kind behind,
                       size_t to, dpi_silo_step_kind before)
{
    insert(s, from, find_step(s, from, behind) + 1,
           (dpi_silo_step){
               .kind = DPI_SILO_SEND, .out = find_register(s, from, name), .peer = (uint16_t)to});
    insert(s, to, find_step(s, to, before),
           (dpi_silo_step){
               .kind = DPI_SILO_RECV, .out = find_register(s, to, name), .peer = (uint16_t)from});
}

/* ---- what passes ---- */

static void releases_pass_and_are_listed(void **state)
{
    scene s;
    (void)state;
    begin(&s, "secagg+dp");
    assert_ok(split(&s), s.err.text);
    assert_ok(check(&s), s.err.text);
    assert_int_equal(s.n_views, OWNERS);
    for (size_t k = 0; k < s.n_views; k++) {
        assert_string_equal(s.views[k].name, "h.s");
        assert_int_equal(s.views[k].owners, 7);
        assert_null(s.views[k].clause);
    }
    end(&s);
}

static void sums_without_noise_pass_by_clauses(void **state)
{
    scene s;
    size_t of_one = 0;
    (void)state;
    begin(&s, "fedsgd");
    assert_ok(split(&s), s.err.text);
    assert_ok(check(&s), s.err.text);
    assert_int_equal(s.n_views, OWNERS + 1);
    for (size_t k = 0; k < s.n_views; k++) {
        assert_non_null(s.views[k].clause);
        if (strcmp(s.views[k].name, "h.m") == 0) {
            assert_int_equal(s.views[k].party, NORTH);
            assert_int_equal(s.views[k].owners, 7); /* asked with what all have opened before */
            of_one++;
        }
    }
    assert_int_equal(of_one, 1);
    end(&s);
}

static void one_owner_and_many_pass(void **state)
{
    (void)state;
    for (uint16_t n = 1; n <= DPI_SILO_PARTIES; n = (uint16_t)(n * 4))
        for (int noisy = 0; noisy < 2; noisy++) {
            scene s;
            begin(&s, noisy ? "secagg+dp" : "fedsgd");
            s.who.n = n;
            s.who.colluders = n > 1;
            s.who.dropouts = n > 4;
            for (size_t k = 0; k < n; k++)
                (void)snprintf(s.who.names[k], DPI_SILO_NAME, "owner%zu", k);
            assert_ok(dpi_silo_joint(&s.program, &s.who, noisy, 1e-5, 2, openings, &s.err),
                      s.err.text);
            assert_ok(dpi_silo_split(&s.program, &s.scheme, &s.arena, s.parts, &s.err), s.err.text);
            assert_ok(check(&s), s.err.text);
            end(&s);
        }
}

/* ---- rules ---- */

static void a_forgotten_mask_is_refused(void **state)
{
    scene s;
    (void)state;
    begin(&s, "secagg+dp");
    rule_of(&s, "reveal")->steps = "each: send x0 agg; agg: s = addplain x0; agg: send s each; "
                                   "each: o = open s";
    assert_ok(split(&s), s.err.text);
    assert_refused(&s, check(&s), "north", "N = s_gauss S", "lacks the share of noise of north");
}

static void forgotten_noise_is_refused(void **state)
{
    scene s;
    (void)state;
    begin(&s, "secagg+dp");
    assert_ok(dpi_silo_joint(&s.program, &s.who, false, 0, 2, openings, &s.err), s.err.text);
    assert_ok(split(&s), s.err.text);
    assert_refused(&s, check(&s), "north", "h.s (h = s_reveal S)", "neither noise nor a clause");
}

static void a_missing_rule_is_refused(void **state)
{
    scene s;
    (void)state;
    begin(&s, "secagg+dp");
    rule_of(&s, "reveal")->op = "none";
    assert_refused(&s, split(&s), "secagg+dp", "h = s_reveal N", "no rule for it on place +");
}

static void a_missing_clause_is_refused(void **state)
{
    scene s;
    (void)state;
    begin(&s, "fedsgd");
    s.scheme.n_clauses = 1;
    assert_ok(split(&s), s.err.text);
    assert_refused(&s, check(&s), "north", "h.s", "neither noise nor a clause");
    begin(&s, "fedsgd");
    s.scheme.clauses++;
    s.scheme.n_clauses = 1;
    assert_ok(split(&s), s.err.text);
    assert_refused(&s, check(&s), "north: h.m", "h = s_reveal S", "the records of south");
}

static void a_result_that_somebody_lacks_is_refused(void **state)
{
    scene s;
    (void)state;
    begin(&s, "secagg+dp");
    rule_of(&s, "gauss")->steps = "agg: o = dgauss x0";
    assert_refused(&s, split(&s), "south", "N = s_gauss", "does not give the result");
}

/* ---- parts ---- */

static void begin_parts(scene *s)
{
    begin(s, "secagg+dp");
    assert_ok(split(s), s->err.text);
}

static void a_forgotten_share_is_refused(void **state)
{
    scene s;
    (void)state;
    begin_parts(&s);
    take_out(&s, SOUTH, find_step(&s, SOUTH, DPI_SILO_DGAUSS));
    s.steps[SOUTH][find_step(&s, SOUTH, DPI_SILO_MASK)].in[0] = find_register(&s, SOUTH, "S");
    assert_refused(&s, check(&s), "north", "h.s", "lacks the share of noise of south");
}

static void a_sum_that_lacks_an_owner_is_refused(void **state)
{
    scene s;
    (void)state;
    begin_parts(&s);
    size_t at = find_step(&s, NORTH, DPI_SILO_RECV);
    while (s.steps[NORTH][at].peer != WEST)
        at++;
    take_out(&s, NORTH, at);
    assert_refused(&s, check(&s), "north: h.m", "h = s_reveal", "lacks that of west");
}

static void records_that_are_sent_are_refused(void **state)
{
    scene s;
    (void)state;
    begin_parts(&s);
    add_letter(&s, "S", SOUTH, DPI_SILO_ISUM, WEST, DPI_SILO_MASK);
    assert_refused(&s, check(&s), "west: S", "S = s_sum v", "the records of south");
    begin_parts(&s);
    add_letter(&s, "N", WEST, DPI_SILO_DGAUSS, NORTH, DPI_SILO_MASK);
    assert_refused(&s, check(&s), "north: N", "N = s_gauss S", "share of noise of north");
}

static void keys_for_others_are_refused(void **state)
{
    scene s;
    (void)state;
    begin_parts(&s);
    add_letter(&s, "h.k", SOUTH, DPI_SILO_UNLOCK, WEST, DPI_SILO_UNLOCK);
    assert_refused(&s, check(&s), "south: h.k", "h = s_reveal N", "not for west");
}

static void a_second_opening_is_refused(void **state)
{
    scene s;
    (void)state;
    begin(&s, "secagg+dp");
    uint16_t opened = dpi_silo_find(&s.program, "N", 1);
    (void)dpi_silo_call(&s.program, "g", DPI_SILO_OP_REVEAL, opened, 0);
    assert_ok(split(&s), s.err.text);
    assert_refused(&s, check(&s), "north: g.m", "g = s_reveal N", "masks of the first");
    begin_parts(&s);
    size_t at = find_step(&s, SOUTH, DPI_SILO_UNLOCK);
    insert(&s, SOUTH, at, s.steps[SOUTH][at]);
    assert_refused(&s, check(&s), "south: h.k", "h = s_reveal N", "told twice");
}

static void keys_without_all_consents_are_refused(void **state)
{
    scene s;
    (void)state;
    begin_parts(&s);
    size_t at = find_step(&s, SOUTH, DPI_SILO_CONSENT);
    while (s.steps[SOUTH][at].kind != DPI_SILO_RECV || s.steps[SOUTH][at].peer != WEST)
        at++;
    take_out(&s, SOUTH, at);
    assert_refused(&s, check(&s), "south: h.c", "h = s_reveal N", "lacks that of west");
}

static void an_opening_beside_the_account_is_refused(void **state)
{
    scene s;
    (void)state;
    begin_parts(&s);
    s.program.n_entries = 0;
    assert_refused(&s, check(&s), "north: h.s", "h = s_reveal N", "the account has no entry for N");
}

static void letters_that_do_not_meet_are_refused(void **state)
{
    scene s;
    (void)state;
    begin_parts(&s);
    take_out(&s, SOUTH, find_step(&s, SOUTH, DPI_SILO_SEND)); /* of h.m */
    assert_refused(&s, check(&s), "north: h.m", "h = s_reveal N", "what nobody sends it: south");
    begin_parts(&s);
    size_t last = s.parts[WEST].n_steps - 3; /* h.s from north, open, advance */
    assert_int_equal(s.steps[WEST][last].kind, DPI_SILO_RECV);
    take_out(&s, WEST, last);
    assert_refused(&s, check(&s), "west", "h = s_reveal N", "before there is a value");
    begin_parts(&s);
    insert(&s, WEST, find_step(&s, WEST, DPI_SILO_SEND) + 1,
           s.steps[WEST][find_step(&s, WEST, DPI_SILO_SEND)]);
    assert_refused(&s, check(&s), "west: h.m", "h = s_reveal N", "a second time to north");
    begin_parts(&s);
    insert(
        &s, WEST, s.parts[WEST].n_steps,
        (dpi_silo_step){.kind = DPI_SILO_SEND, .out = find_register(&s, WEST, "h"), .peer = SOUTH});
    assert_refused(&s, check(&s), "west: h", "h = s_reveal N", "never taken by south");
    begin_parts(&s);
    size_t sends = find_step(&s, WEST, DPI_SILO_SEND);
    const dpi_silo_step early = s.steps[WEST][sends];
    take_out(&s, WEST, sends);
    insert(&s, WEST, 0, early);
    assert_refused(&s, check(&s), "west: h.m", "h = s_reveal N", "before there is a value");
    begin_parts(&s);
    s.registers[NORTH][find_register(&s, NORTH, "h.m")].bytes += 8;
    assert_refused(&s, check(&s), "north: h.m", "h = s_reveal N", "in another size");
    begin_parts(&s);
    insert(&s, SOUTH, s.parts[SOUTH].n_steps,
           (dpi_silo_step){
               .kind = DPI_SILO_SEND, .out = find_register(&s, SOUTH, "h.c"), .peer = WEST});
    take_out(&s, SOUTH, find_step(&s, SOUTH, DPI_SILO_CONSENT) + 2);
    assert_refused(&s, check(&s), "north: h.k", "h = s_reveal N", "waits for ever");
}

static void what_is_not_masked_is_not_added(void **state)
{
    scene s;
    (void)state;
    begin_parts(&s);
    s.steps[NORTH][find_step(&s, NORTH, DPI_SILO_MASK)].kind = DPI_SILO_PLAIN;
    assert_refused(&s, check(&s), "north: h.m", "h = s_reveal N", "is not masked");
}

/* ---- what is carried ---- */

static void state_of_raw_records_is_refused(void **state)
{
    static const dpi_silo_type own = {.dtype = DPI_SILO_I64,
                                      .n_dims = 1,
                                      .dims = {DPI_SILO_OPENED},
                                      .place = {DPI_SILO_SUMMED, 0}};
    scene s;
    (void)state;
    begin(&s, "secagg+dp");
    uint16_t b = dpi_silo_input(&s.program, "b", own, false);
    dpi_silo_carried(&s.program, b, dpi_silo_find(&s.program, "S", 1));
    assert_ok(dpi_silo_program_end(&s.program, &s.err), s.err.text);
    assert_ok(split(&s), s.err.text);
    assert_refused(&s, check(&s), "north: S", "S = s_sum v", "carried to the next step");
}

/* An effect that each owner keeps of its own records would be inside the next step's questions. */
static void an_effect_of_an_owner_that_is_of_records_is_refused(void **state)
{
    static const dpi_silo_type at_south = {.dtype = DPI_SILO_STATE, .place = {DPI_SILO_AT, SOUTH}};
    scene s;
    (void)state;
    begin(&s, "secagg+dp");
    uint16_t b = dpi_silo_input(&s.program, "b", at_south, false);
    uint16_t y = dpi_silo_input(&s.program, "y", at_south, true);
    dpi_silo_carried(&s.program, b, dpi_silo_call(&s.program, "b'", DPI_SILO_OP_ADVANCE, b, y));
    assert_ok(split(&s), s.err.text);
    assert_refused(&s, check(&s), "south: b'", "b' = advance b y", "carried to the next step");
}

/* The same of what was opened with noise passes, and so does what is kept record by record. */
static void state_of_releases_and_of_single_records_passes(void **state)
{
    static const dpi_silo_type at_south = {.dtype = DPI_SILO_STATE, .place = {DPI_SILO_AT, SOUTH}};
    static const dpi_silo_type rows = {.dtype = DPI_SILO_I64,
                                       .n_dims = 2,
                                       .dims = {DPI_SILO_UNTOLD, DPI_SILO_OPENED},
                                       .place = {DPI_SILO_BY_ROWS, 0}};
    scene s;
    (void)state;
    begin(&s, "secagg+dp");
    uint16_t b = dpi_silo_input(&s.program, "b", at_south, false);
    uint16_t l = dpi_silo_input(&s.program, "l", rows, true);
    dpi_silo_carried(
        &s.program, b,
        dpi_silo_call(&s.program, "b'", DPI_SILO_OP_ADVANCE, b, dpi_silo_find(&s.program, "h", 1)));
    dpi_silo_carried(&s.program, l, dpi_silo_find(&s.program, "v", 1));
    assert_ok(split(&s), s.err.text);
    assert_ok(check(&s), s.err.text);
    end(&s);
}

/* What a step has of records is found in the next one, too. */
static void what_is_carried_is_looked_at_in_the_next_step(void **state)
{
    static const dpi_silo_type rows = {.dtype = DPI_SILO_I64,
                                       .n_dims = 2,
                                       .dims = {DPI_SILO_UNTOLD, DPI_SILO_OPENED},
                                       .place = {DPI_SILO_BY_ROWS, 0}};
    scene s;
    (void)state;
    begin(&s, "secagg+dp");
    uint16_t l = dpi_silo_input(&s.program, "l", rows, false);
    dpi_silo_carried(&s.program, l, dpi_silo_find(&s.program, "v", 1));
    assert_ok(split(&s), s.err.text);
    insert(
        &s, SOUTH, 0,
        (dpi_silo_step){.kind = DPI_SILO_SEND, .out = find_register(&s, SOUTH, "l"), .peer = WEST});
    insert(
        &s, WEST, 0,
        (dpi_silo_step){.kind = DPI_SILO_RECV, .out = find_register(&s, WEST, "l"), .peer = SOUTH});
    assert_refused(&s, check(&s), "west: l", "l = input", "the records of south");
}

static void sums_beyond_64_bits_are_refused(void **state)
{
    scene s;
    (void)state;
    begin_parts(&s);
    s.program.who.most_records = (uint64_t)1 << 33;
    assert_refused(&s, check(&s), "3 owners", "N", "more than 64 bits");
}

/* ---- what is spent ---- */

/* Noise for 1.54 in all, sized for nobody who colludes, against those who do: table of the design
 * page, here without sampling.  One who knows k of M shares has left those of M - k. */
static void who_knows_shares_learns_more(void **state)
{
    dpi_silo_parties who = {.n = 5, .names = {"a", "b", "c", "d", "e"}, .most_records = 1000};
    const dp_opening one = {"main", 100, 10, 40};
    dpi_silo_program p;
    dp_error err = {0};
    double last = 0;
    (void)state;
    assert_ok(dpi_silo_joint(&p, &who, true, 1e-5, 1, &one, &err), err.text);
    for (size_t known = 0; known < 5; known++) {
        const dp_mechanism m = {.rate = 1,
                                .steps = 100,
                                .sigma = 40 * sqrt((double)(5 - known) / 5),
                                .sampling = DP_SAMPLING_FULL};
        dp_interval expected;
        double epsilon;
        assert_ok(dp_account_epsilon(&m, 1, 1e-5, 0, &expected, &err), err.text);
        assert_ok(dpi_silo_epsilon(&p, known, &epsilon, &err), err.text);
        assert_true(fabs(epsilon - expected.upper) <= 1e-9 * expected.upper);
        assert_true(epsilon > last);
        last = epsilon;
    }
    double all;
    assert_ok(dpi_silo_epsilon(&p, 5, &all, &err), err.text);
    assert_true(isinf(all));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(releases_pass_and_are_listed),
        cmocka_unit_test(sums_without_noise_pass_by_clauses),
        cmocka_unit_test(one_owner_and_many_pass),
        cmocka_unit_test(a_forgotten_mask_is_refused),
        cmocka_unit_test(forgotten_noise_is_refused),
        cmocka_unit_test(a_missing_rule_is_refused),
        cmocka_unit_test(a_missing_clause_is_refused),
        cmocka_unit_test(a_result_that_somebody_lacks_is_refused),
        cmocka_unit_test(a_forgotten_share_is_refused),
        cmocka_unit_test(a_sum_that_lacks_an_owner_is_refused),
        cmocka_unit_test(records_that_are_sent_are_refused),
        cmocka_unit_test(keys_for_others_are_refused),
        cmocka_unit_test(a_second_opening_is_refused),
        cmocka_unit_test(keys_without_all_consents_are_refused),
        cmocka_unit_test(an_opening_beside_the_account_is_refused),
        cmocka_unit_test(letters_that_do_not_meet_are_refused),
        cmocka_unit_test(what_is_not_masked_is_not_added),
        cmocka_unit_test(state_of_raw_records_is_refused),
        cmocka_unit_test(an_effect_of_an_owner_that_is_of_records_is_refused),
        cmocka_unit_test(state_of_releases_and_of_single_records_passes),
        cmocka_unit_test(what_is_carried_is_looked_at_in_the_next_step),
        cmocka_unit_test(sums_beyond_64_bits_are_refused),
        cmocka_unit_test(who_knows_shares_learns_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
