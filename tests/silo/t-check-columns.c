/* Regressions over columns at two owners: what the check passes, what it lists, and what it
 * refuses, a mistake a test. */
#include <math.h>
#include <string.h>

#include <tacit/accountant.h>

#include "silo/joint.h"
#include "silo/print.h"
#include "tests/lib/check.h"
#include "tests/silo/check-scene.h"

static void begin_noisy(check_scene *s)
{
    scene_columns(s, "columns+dp", 40);
    assert_ok(scene_split(s), s->err.text);
}

/* ---- what passes ---- */

static const char *const noisy_text[] = {
    "every step",
    "  w : f64[n]@1",
    "  x : f64[?,n]@1, of records",
    "  b : i64[?,n]@1 = bound x",
    "  r : i64[?]@+ = addend w b",
    "  G : i64[n]@1 = s_block b r",
    "  N : i64[n]@1 = s_gauss G",
    "  h : i64[n]@1 = s_reveal N",
    "  w' : f64[n]@1 = advance w h",
    "  then w is w'",
    "north runs",
    "  once: b = bound x",
    "  r = addend w b",
    "  once: G.e = encrypt b",
    "  once: send G.e to south",
    "  once: G.e from south",
    "  G = inner b r",
    "  N.c = veil G.e r",
    "  send N.c to south",
    "  N.c from south",
    "  N = dgauss G",
    "  h = unveil N N.c",
    "  w' = advance w h",
    "south runs",
    "  once: b = bound x",
    "  r = addend w b",
    "  once: G.e = encrypt b",
    "  once: send G.e to north",
    "  once: G.e from north",
    "  G = inner b r",
    "  N.c = veil G.e r",
    "  send N.c to north",
    "  N.c from north",
    "  N = dgauss G",
    "  h = unveil N N.c",
    "  w' = advance w h",
    "seen of others",
    "  north sees N.c, of records of north, south: with noise of south",
    "  south sees N.c, of records of north, south: with noise of north",
    "sent in all, before sealing",
    "  north sends 21 letters, whose sizes follow from how many rows and columns there are",
    "  south sends 21 letters, whose sizes follow from how many rows and columns there are",
};

static const char *const exact_seen[] = {
    "seen of others",
    "  north sees G.c, of records of north, south: NO NOISE: exact gradients, from which outcomes "
    "and columns of the other owner can be solved for",
    "  south sees G.c, of records of north, south: NO NOISE: exact gradients, from which outcomes "
    "and columns of the other owner can be solved for",
};

static void assert_lines(const char *text, const char *const *lines, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const size_t length = strcspn(text, "\n");
        if (strlen(lines[k]) != length || strncmp(lines[k], text, length) != 0)
            fail_msg("line %zu is \"%.*s\", and not \"%s\"", k + 1, (int)length, text, lines[k]);
        text += length + 1;
    }
}

static dpi_bytes text_of(check_scene *s)
{
    dpi_bytes text = {NULL, 0, 0, false};
    assert_ok(scene_check(s), s->err.text);
    dpi_silo_print(&s->program, s->parts, s->n_views, s->views, &text);
    dpi_bytes_add(&text, "", 1);
    assert_false(text.failed);
    return text;
}

static void noisy_blocks_pass_and_are_listed(void **state)
{
    check_scene s;
    (void)state;
    begin_noisy(&s);
    dpi_bytes text = text_of(&s);
    assert_int_equal(s.n_views, 2);
    assert_lines((const char *)text.at, noisy_text, sizeof noisy_text / sizeof *noisy_text);
    dpi_bytes_free(&text);
    scene_end(&s);
}

/* A regression on encrypted columns is accepted with a line for each exact gradient that is seen,
 * and with no other. */
static void exact_blocks_pass_by_clauses(void **state)
{
    check_scene s;
    (void)state;
    scene_columns(&s, "columns", 0);
    assert_ok(scene_split(&s), s.err.text);
    dpi_bytes text = text_of(&s);
    assert_int_equal(s.n_views, 2);
    for (size_t k = 0; k < 2; k++) {
        assert_non_null(s.views[k].clause);
        assert_int_equal(s.views[k].owners, 3);
    }
    assert_lines(strstr((const char *)text.at, "seen of others"), exact_seen,
                 sizeof exact_seen / sizeof *exact_seen);
    dpi_bytes_free(&text);
    scene_end(&s);
}

static void without_its_clause_an_exact_block_is_refused(void **state)
{
    check_scene s;
    (void)state;
    scene_columns(&s, "columns", 0);
    s.scheme.n_clauses = 0;
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north: G.c", "G = s_block b r", "the records of south");
}

/* ---- noise ---- */

static void an_answer_without_noise_is_refused(void **state)
{
    check_scene s;
    (void)state;
    begin_noisy(&s);
    s.steps[SOUTH][scene_step(&s, SOUTH, DPI_SILO_VEIL)].kind = DPI_SILO_ANSWER;
    scene_refused(&s, scene_check(&s), "north: N.c", "N = s_gauss G", "neither noise nor a clause");
}

static void a_forgotten_share_of_one_s_own_is_refused(void **state)
{
    check_scene s;
    (void)state;
    begin_noisy(&s);
    scene_take_out(&s, NORTH, scene_step(&s, NORTH, DPI_SILO_DGAUSS));
    s.steps[NORTH][scene_step(&s, NORTH, DPI_SILO_UNVEIL)].in[0] = scene_register(&s, NORTH, "G");
    scene_refused(&s, scene_check(&s), "north: h", "h = s_reveal N",
                  "lacks the share of noise of north");
}

static void a_share_that_is_drawn_before_the_answer_is_refused(void **state)
{
    check_scene s;
    (void)state;
    begin_noisy(&s);
    const size_t at = scene_step(&s, NORTH, DPI_SILO_DGAUSS);
    const dpi_silo_step share = s.steps[NORTH][at];
    scene_take_out(&s, NORTH, at);
    scene_insert(&s, NORTH, scene_step(&s, NORTH, DPI_SILO_VEIL), share);
    scene_refused(&s, scene_check(&s), "north: N", "N = s_gauss G", "before the other's answer");
}

static void an_exact_block_is_refused(void **state)
{
    check_scene s;
    (void)state;
    scene_columns(&s, "columns+dp", 0); /* the noise is forgotten in the program */
    memcpy(s.rules, dpi_silo_scheme_named("columns")->rules, 2 * sizeof *s.rules);
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north: G.c", "G = s_block b r",
                  "neither noise nor a clause");
}

static void shares_of_another_sum_are_refused(void **state)
{
    check_scene s;
    (void)state;
    begin_noisy(&s);
    (void)dpi_silo_call(&s.program, "M", DPI_SILO_OP_GAUSS, dpi_silo_find(&s.program, "G", 1), 0);
    dpi_arena_free(&s.arena);
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north: M.c", "M = s_gauss G", "a second answer");
    begin_noisy(&s);
    scene_take_out(&s, SOUTH, scene_step(&s, SOUTH, DPI_SILO_BOUND));
    s.steps[SOUTH][scene_step(&s, SOUTH, DPI_SILO_ADDEND)].in[1] = scene_register(&s, SOUTH, "x");
    s.steps[SOUTH][scene_step(&s, SOUTH, DPI_SILO_ENCRYPT)].in[0] = scene_register(&s, SOUTH, "x");
    s.steps[SOUTH][scene_step(&s, SOUTH, DPI_SILO_INNER)].in[0] = scene_register(&s, SOUTH, "x");
    scene_refused(&s, scene_check(&s), "north: N.c", "N = s_gauss G", "a record adds has no bound");
    begin_noisy(&s); /* only what is one's own has no bound */
    s.steps[SOUTH][scene_step(&s, SOUTH, DPI_SILO_INNER)].in[0] = scene_register(&s, SOUTH, "x");
    scene_refused(&s, scene_check(&s), "south: h", "h = s_reveal N", "has no bound");
}

static void a_question_that_follows_from_records_is_refused(void **state)
{
    check_scene s;
    (void)state;
    begin_noisy(&s);
    s.steps[NORTH][scene_step(&s, NORTH, DPI_SILO_ADVANCE)].in[1] = scene_register(&s, NORTH, "G");
    scene_refused(&s, scene_check(&s), "north: w'", "w' = advance w h", "would have no bound");
}

static void openings_beside_the_account_are_refused(void **state)
{
    check_scene s;
    (void)state;
    begin_noisy(&s);
    s.program.n_entries = 0;
    scene_refused(&s, scene_check(&s), "north: N.c", "N = s_gauss G", "no entry for each opening");
    begin_noisy(&s);
    s.program.who.colluders = 0;
    scene_refused(&s, scene_check(&s), "north: N.c", "N = s_gauss G", "one colluder");
}

/* ---- columns ---- */

static void columns_in_the_clear_are_refused(void **state)
{
    static const dpi_silo_clause all_seen[] = {{"bound", "o", "each", ""},
                                               {"block", "y", "each", ""}};
    check_scene s;
    (void)state;
    scene_columns(&s, "columns+dp", 40);
    scene_rule(&s, "block")->steps = "once each: e = encrypt x0; once each: send e each; "
                                     "each: o = inner x0 x1; once each: send x0 each";
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north: b", "b = bound x", "the records of south");
    scene_columns(&s, "columns+dp", 40); /* residuals row by row: no clause can name them */
    scene_rule(&s, "block")->steps = "once each: e = encrypt x0; once each: send e each; "
                                     "each: o = inner x0 x1; each: send x1 each";
    s.scheme.clauses = all_seen;
    s.scheme.n_clauses = 2;
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north: r", "r = addend w b", "the records of south");
}

static void exact_sums_and_shares_are_not_sent(void **state)
{
    check_scene s;
    (void)state;
    begin_noisy(&s);
    scene_letter(&s, "G", SOUTH, DPI_SILO_INNER, NORTH, DPI_SILO_UNVEIL);
    scene_refused(&s, scene_check(&s), "north: G", "G = s_block b r", "the records of south");
    begin_noisy(&s);
    scene_letter(&s, "N", SOUTH, DPI_SILO_DGAUSS, NORTH, DPI_SILO_UNVEIL);
    scene_refused(&s, scene_check(&s), "south: N", "N = s_gauss G", "must stay hidden");
}

static void columns_leave_once(void **state)
{
    check_scene s;
    (void)state;
    begin_noisy(&s);
    s.steps[SOUTH][scene_step(&s, SOUTH, DPI_SILO_ENCRYPT)].once = false;
    scene_refused(&s, scene_check(&s), "south: G.e", "G = s_block b r", "every step");
    begin_noisy(&s);
    s.steps[SOUTH][scene_step(&s, SOUTH, DPI_SILO_ENCRYPT)].in[0] = scene_register(&s, SOUTH, "r");
    scene_refused(&s, scene_check(&s), "south: r", "r = addend w b", "another in every step");
    begin_noisy(&s);
    dpi_silo_carried(&s.program, dpi_silo_find(&s.program, "x", 1),
                     dpi_silo_find(&s.program, "x", 1));
    scene_refused(&s, scene_check(&s), "north: x", "x = input", "another in every step");
    begin_noisy(&s);
    s.steps[SOUTH][scene_step(&s, SOUTH, DPI_SILO_SEND)].once = false;
    scene_refused(&s, scene_check(&s), "north: G.e", "G = s_block b r", "a letter of every step");
    begin_noisy(&s);
    for (size_t at = 0; at < s.parts[SOUTH].n_steps; at++)
        s.steps[SOUTH][at].once |= s.steps[SOUTH][at].kind == DPI_SILO_SEND;
    scene_refused(&s, scene_check(&s), "south: N.c", "N = s_gauss G", "sent once, and is another");
    begin_noisy(&s);
    size_t at = scene_step(&s, SOUTH, DPI_SILO_VEIL);
    scene_insert(&s, SOUTH, at, s.steps[SOUTH][at]);
    scene_refused(&s, scene_check(&s), "south: N.c", "N = s_gauss G", "with other noise");
}

static void columns_are_of_two_owners(void **state)
{
    check_scene s;
    const dpi_joint_columns c = {.times = 20, .numbers = 30, .z = 40, .delta = 1e-5};
    (void)state;
    scene_columns(&s, "columns+dp", 40);
    s.who.n = 3;
    assert_ok(dpi_silo_joint_columns(&s.program, &s.who, &c, &s.err), s.err.text);
    assert_ok(scene_split(&s), s.err.text);
    dp_status status = scene_check(&s);
    assert_fails(status, DP_EPRIVACY, &s.err, "of two owners, and this program is of 3");
    scene_end(&s);
    begin_noisy(&s);
    s.steps[SOUTH][scene_step(&s, SOUTH, DPI_SILO_DGAUSS)].kind = DPI_SILO_PLAIN;
    scene_refused(&s, scene_check(&s), "south: N", "N = s_gauss G", "its size is not");
    begin_noisy(&s);
    s.steps[SOUTH][scene_step(&s, SOUTH, DPI_SILO_DGAUSS)].kind = DPI_SILO_OPEN;
    scene_refused(&s, scene_check(&s), "south: N", "N = s_gauss G", "has no step open");
    scene_begin(&s, "secagg+dp"); /* nothing is done once where rounds are */
    assert_ok(scene_split(&s), s.err.text);
    s.steps[WEST][2].once = true;
    status = scene_check(&s);
    assert_fails(status, DP_EPRIVACY, &s.err, "the part of west");
    scene_end(&s);
}

/* ---- the account ---- */

/* Phi(x) */
static double normal(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

/* delta(epsilon) of T steps in which a record in place of another moves both blocks by 2 C, with
 * one share of noise z C; and what answers may differ by. */
static void the_account_is_of_a_record_replaced_and_one_share(void **state)
{
    const double z = 40, mu = 2 * sqrt(20) / z, apart = 20 * 0x1p-70;
    check_scene s;
    double epsilon[2], near;
    (void)state;
    scene_columns(&s, "columns+dp", z);
    for (size_t known = 0; known < 2; known++)
        assert_ok(dpi_silo_epsilon(&s.program, known, &epsilon[known], &s.err), s.err.text);
    assert_close(epsilon[0], epsilon[1], 0, 0);
    const double delta =
        normal(-epsilon[0] / mu + mu / 2) - exp(epsilon[0]) * normal(-epsilon[0] / mu - mu / 2);
    assert_true(delta <= 1e-5);
    assert_close(delta, 1e-5, 1e-3, 0);
    assert_ok(dpi_silo_epsilon(&s.program, 2, &near, &s.err), s.err.text);
    assert_true(isinf(near));
    s.program.entries[0].apart = 1e-7 / 20; /* as much as can be seen */
    assert_ok(dpi_silo_epsilon(&s.program, 1, &near, &s.err), s.err.text);
    const double left = normal(-near / mu + mu / 2) - exp(near) * normal(-near / mu - mu / 2);
    assert_true(left + 1e-7 * (1 + exp(near)) <= 1e-5);
    assert_close(left + 1e-7 * (1 + exp(near)), 1e-5, 5e-3, 0);
    assert_true(apart < 1e-19);
    s.program.entries[0].apart = 1e-6;
    dp_status status = dpi_silo_epsilon(&s.program, 1, &near, &s.err);
    assert_fails(status, DP_EPRIVACY, &s.err, "plan for a larger one");
    assert_true(isinf(near));
    scene_end(&s);
}

/* ---- places ---- */

static void places_of_columns_are_looked_at(void **state)
{
    static const struct {
        dpi_silo_op op;
        const char *a, *b, *what;
    } wrong[] = {
        {DPI_SILO_OP_BLOCK, "r", "r", "there are none"},
        {DPI_SILO_OP_BLOCK, "b", "w", "the sum (+)"},
        {DPI_SILO_OP_ADDEND, "r", "b", "columns that are split (1)"},
        {DPI_SILO_OP_ADVANCE, "w", "r", "reveal the sum first"},
        {DPI_SILO_OP_SUM, "b", "b", "a sum is over records"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        check_scene s;
        scene_columns(&s, "columns+dp", 40);
        (void)dpi_silo_call(&s.program, "z", wrong[k].op, dpi_silo_find(&s.program, wrong[k].a, 1),
                            dpi_silo_find(&s.program, wrong[k].b, 1));
        assert_fails(dpi_silo_program_end(&s.program, &s.err), DP_ESHAPE, &s.err, wrong[k].what);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noisy_blocks_pass_and_are_listed),
        cmocka_unit_test(exact_blocks_pass_by_clauses),
        cmocka_unit_test(without_its_clause_an_exact_block_is_refused),
        cmocka_unit_test(an_answer_without_noise_is_refused),
        cmocka_unit_test(a_forgotten_share_of_one_s_own_is_refused),
        cmocka_unit_test(a_share_that_is_drawn_before_the_answer_is_refused),
        cmocka_unit_test(an_exact_block_is_refused),
        cmocka_unit_test(shares_of_another_sum_are_refused),
        cmocka_unit_test(a_question_that_follows_from_records_is_refused),
        cmocka_unit_test(openings_beside_the_account_are_refused),
        cmocka_unit_test(columns_in_the_clear_are_refused),
        cmocka_unit_test(exact_sums_and_shares_are_not_sent),
        cmocka_unit_test(columns_leave_once),
        cmocka_unit_test(columns_are_of_two_owners),
        cmocka_unit_test(the_account_is_of_a_record_replaced_and_one_share),
        cmocka_unit_test(places_of_columns_are_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
