/* Regressions in shares at three parties: what the check passes, what it lists, and what it
 * refuses, a mistake a test. */
#include <math.h>
#include <string.h>

#include "silo/joint.h"
#include "silo/print.h"
#include "tests/lib/check.h"
#include "tests/silo/check-scene.h"

static void begin_noisy(check_scene *s)
{
    scene_shares(s, "trio+dp", 40);
    assert_ok(scene_split(s), s->err.text);
}

static void begin_exact(check_scene *s)
{
    scene_shares(s, "trio", 0);
    assert_ok(scene_split(s), s->err.text);
}

/* ---- what passes ---- */

static const char *const noisy_text[] = {
    "every step",
    "  w : i64[n]@*",
    "  x : f64[?,n]@1, of records",
    "  b : i64[?,n]@1 = bound x",
    "  X : i64[?,n]@~ = s_share b",
    "  r : i64[?]@~ = s_residual w X",
    "  G : i64[n]@~ = s_block X r",
    "  N : i64[n]@~ = s_gauss G",
    "  h : i64[n]@* = s_reveal N",
    "  w' : i64[n]@* = advance w h",
    "  then w is w'",
    "north runs",
    "  once: b = bound x",
    "  once: X.s = deal b",
    "  once: send X.s to south",
    "  once: send X.s to west",
    "  once: X.s from south",
    "  once: X = gather X.s",
    "  r = residual w X",
    "  G = tally X r",
    "  N.k = shroud",
    "  send N.k to south",
    "  send N.k to west",
    "  N.k from south",
    "  N.k from west",
    "  N = blend G N.k",
    "  h.d = disclose N",
    "  send h.d to south",
    "  send h.d to west",
    "  h.d from south",
    "  h.d from west",
    "  h = join h.d",
    "  w' = advance w h",
};

static const char *const noisy_end[] = {
    "west runs",
    "  once: X.s from north",
    "  once: X.s from south",
    "  once: X = gather X.s",
    "  r = residual w X",
    "  G = tally X r",
    "  N.k = shroud",
    "  send N.k to north",
    "  send N.k to south",
    "  N.k from north",
    "  N.k from south",
    "  N = blend G N.k",
    "  h.d = disclose N",
    "  send h.d to north",
    "  send h.d to south",
    "  h.d from north",
    "  h.d from south",
    "  h = join h.d",
    "  w' = advance w h",
    "seen of others",
    "  south sees h.d, of records of north, south: with noise of all",
    "  west sees h.d, of records of north, south: with noise of all",
    "  north sees h.d, of records of north, south: with noise of all",
    "sent over links of each two",
    "  north sends shares and uniform numbers, whose sizes follow from rows, columns and steps",
    "  south sends shares and uniform numbers, whose sizes follow from rows, columns and steps",
    "  west sends shares and uniform numbers, whose sizes follow from rows, columns and steps",
};

static const char *const exact_text[] = {
    "once",
    "  x : f64[?,n]@1, of records",
    "  b : i64[?,n]@1 = bound x",
    "  X : i64[?,n]@~ = s_share b",
    "  w : i64[n]@~ = s_descend X",
    "  h : i64[n]@(own) = s_return w",
};

static const char *const exact_end[] = {
    "west runs",
    "  once: X.s from north",
    "  once: X.s from south",
    "  once: X = gather X.s",
    "  w = descend X",
    "  h.d = disclose w",
    "  send h.d to north",
    "  send h.d to south",
    "seen of others",
    "  north sees h.d, of records of north, south: NO NOISE: its exact coefficients of the whole "
    "regression, and what follows",
    "  south sees h.d, of records of north, south: NO NOISE: its exact coefficients of the whole "
    "regression, and what follows",
    "sent over links of each two",
};

static void assert_lines(const char *text, const char *const *lines, size_t n)
{
    assert_non_null(text);
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

static void noisy_gradients_pass_and_are_listed(void **state)
{
    check_scene s;
    (void)state;
    begin_noisy(&s);
    dpi_bytes text = text_of(&s);
    const char *all = (const char *)text.at;
    assert_int_equal(s.n_views, 3);
    assert_lines(all, noisy_text, sizeof noisy_text / sizeof *noisy_text);
    assert_lines(strstr(all, "west runs"), noisy_end, sizeof noisy_end / sizeof *noisy_end);
    dpi_bytes_free(&text);
    scene_end(&s);
}

/* A helper without records is told nothing. */
static void exact_coefficients_pass_by_a_clause(void **state)
{
    check_scene s;
    (void)state;
    begin_exact(&s);
    dpi_bytes text = text_of(&s);
    const char *all = (const char *)text.at;
    assert_int_equal(s.n_views, 2);
    assert_lines(all, exact_text, sizeof exact_text / sizeof *exact_text);
    assert_lines(strstr(all, "west runs"), exact_end, sizeof exact_end / sizeof *exact_end);
    dpi_bytes_free(&text);
    scene_end(&s);
}

static void told_to_all_they_pass_by_another(void **state)
{
    const dpi_joint_shares c = {.times = 1, .numbers = 30, .told = true};
    check_scene s;
    (void)state;
    scene_shares(&s, "trio", 0);
    assert_ok(dpi_silo_joint_shares(&s.program, &s.who, &c, &s.err), s.err.text);
    assert_ok(scene_split(&s), s.err.text);
    assert_ok(scene_check(&s), s.err.text);
    assert_int_equal(s.n_views, 3);
    for (size_t k = 0; k < 3; k++)
        assert_non_null(s.views[k].clause);
    scene_end(&s);
}

static void rows_of_one_table_pass_like_columns(void **state)
{
    const dpi_joint_shares c = {
        .by_rows = true, .times = 20, .numbers = 30, .z = 40, .delta = 1e-5};
    check_scene s;
    (void)state;
    scene_shares(&s, "trio+dp", 40);
    assert_ok(dpi_silo_joint_shares(&s.program, &s.who, &c, &s.err), s.err.text);
    assert_ok(scene_split(&s), s.err.text);
    assert_ok(scene_check(&s), s.err.text);
    assert_int_equal(s.n_views, 3);
    scene_end(&s);
}

static void without_its_clause_nothing_exact_is_opened(void **state)
{
    check_scene s;
    (void)state;
    scene_shares(&s, "trio", 0);
    s.scheme.n_clauses = 0;
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north: h.d", "h = s_return w", "the records of south");
}

/* ---- noise ---- */

static void a_share_of_noise_that_is_forgotten_is_refused(void **state)
{
    check_scene s;
    (void)state;
    scene_shares(&s, "trio+dp", 40);
    scene_rule(&s, "gauss")->steps = "rest: k = shroud; rest: send k each; each: o = blend x0 k";
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "N.k", "N = s_gauss G", "lacks that of north");
    begin_noisy(&s); /* the helper's, which counts as the others' do */
    for (size_t k = 0; k < 2; k++) {
        size_t at = scene_step(&s, k, DPI_SILO_BLEND) - 1;
        assert_true(s.steps[k][at].kind == DPI_SILO_RECV && s.steps[k][at].peer == WEST);
        scene_take_out(&s, k, at);
    }
    scene_refused(&s, scene_check(&s), "north: N.k", "N = s_gauss G", "lacks that of west");
}

static void noise_that_is_forgotten_by_all_is_refused(void **state)
{
    check_scene s;
    (void)state;
    begin_noisy(&s);
    for (size_t k = 0; k < 3; k++)
        s.steps[k][scene_step(&s, k, DPI_SILO_DISCLOSE)].in[0] = scene_register(&s, k, "G");
    scene_refused(&s, scene_check(&s), "h = s_reveal N", "h.d", "neither noise nor a clause");
}

static void rows_in_place_of_noise_are_refused(void **state)
{
    check_scene s;
    (void)state;
    begin_noisy(&s);
    size_t at = scene_step(&s, SOUTH, DPI_SILO_SHROUD);
    s.steps[SOUTH][at].kind = DPI_SILO_DEAL;
    s.steps[SOUTH][at].in[0] = scene_register(&s, SOUTH, "b");
    scene_refused(&s, scene_check(&s), "south: N.k", "N = s_gauss G", "its size is not");
    begin_noisy(&s);
    at = scene_step(&s, SOUTH, DPI_SILO_BLEND);
    s.steps[SOUTH][at].in[1] = scene_register(&s, SOUTH, "X.s");
    scene_refused(&s, scene_check(&s), "south: X.s", "X = s_share b", "lacks that of west");
    const dpi_joint_shares c = {.times = 20, .numbers = 30, .z = 40, .delta = 1e-5};
    scene_shares(&s, "trio+dp", 40); /* where all three have rows */
    s.who.helpers = 0;
    assert_ok(dpi_silo_joint_shares(&s.program, &s.who, &c, &s.err), s.err.text);
    assert_ok(scene_split(&s), s.err.text);
    at = scene_step(&s, SOUTH, DPI_SILO_BLEND);
    s.steps[SOUTH][at].in[1] = scene_register(&s, SOUTH, "X.s");
    scene_refused(&s, scene_check(&s), "south: X.s", "X = s_share b", "not the share of noise of");
}

static void openings_beside_the_account_are_refused(void **state)
{
    check_scene s;
    (void)state;
    begin_noisy(&s);
    s.program.n_entries = 0;
    scene_refused(&s, scene_check(&s), "north: h.d", "h = s_reveal N", "no entry for each opening");
}

static void rows_without_a_bound_are_refused(void **state)
{
    check_scene s;
    (void)state;
    begin_noisy(&s);
    scene_take_out(&s, SOUTH, scene_step(&s, SOUTH, DPI_SILO_BOUND));
    s.steps[SOUTH][scene_step(&s, SOUTH, DPI_SILO_DEAL)].in[0] = scene_register(&s, SOUTH, "x");
    scene_refused(&s, scene_check(&s), "h.d", "h = s_reveal N", "what a record adds has no bound");
}

/* A residual of coefficients that follow from records: a record is in all of them. */
static void residuals_of_what_follows_from_rows_are_refused(void **state)
{
    check_scene s;
    (void)state;
    begin_noisy(&s);
    s.steps[SOUTH][scene_step(&s, SOUTH, DPI_SILO_RESIDUAL)].in[0] = scene_register(&s, SOUTH, "b");
    scene_refused(&s, scene_check(&s), "h.d", "h = s_reveal N", "what a record adds has no bound");
}

/* ---- too early ---- */

static void what_is_opened_too_early_is_refused(void **state)
{
    static const struct {
        const char *op, *steps, *name, *variable;
    } early[] = {
        {"residual",
         "each: o = residual x0 x1; each: d = disclose o; each: send d each; each: v = join d",
         "r.d", "r = s_residual w X"},
        {"residual", /* who is sent a share has what it is of, whether or not it says so */
         "each: o = residual x0 x1; each: d = disclose x1; agg: send d rest", "r.d",
         "r = s_residual w X"},
        {"block", "each: o = tally x0 x1; each: d = disclose o; each: send d agg; agg: v = join d",
         "G.d", "G = s_block X r"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof early / sizeof *early; k++) {
        check_scene s;
        scene_shares(&s, "trio+dp", 40);
        scene_rule(&s, early[k].op)->steps = early[k].steps;
        assert_ok(scene_split(&s), s.err.text);
        scene_refused(&s, scene_check(&s), early[k].name, early[k].variable,
                      "in the clear, with neither noise nor a clause");
    }
}

static void shares_are_not_sent(void **state)
{
    check_scene s;
    (void)state;
    begin_noisy(&s);
    scene_letter(&s, "G", SOUTH, DPI_SILO_TALLY, NORTH, DPI_SILO_SHROUD);
    scene_refused(&s, scene_check(&s), "south: G", "G = s_block X r", "not for north");
    begin_noisy(&s);
    scene_letter(&s, "X", WEST, DPI_SILO_GATHER, NORTH, DPI_SILO_SHROUD);
    scene_refused(&s, scene_check(&s), "west: X", "X = s_share b", "not for north");
}

static void rows_in_the_clear_are_not_sent(void **state)
{
    check_scene s;
    (void)state;
    scene_shares(&s, "trio+dp", 40);
    scene_rule(&s, "share")->steps =
        "once own: s = deal x0; once own: send s each; once each: o = gather s; "
        "once own: send x0 agg";
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north: b", "b = bound x", "the records of south");
}

/* Each of them could be opened by itself. */
static void shares_of_different_values_are_not_joined(void **state)
{
    check_scene s;
    (void)state;
    scene_shares(&s, "trio", 0);
    (void)dpi_silo_call(&s.program, "v", DPI_SILO_OP_DESCEND, dpi_silo_find(&s.program, "X", 1), 0);
    assert_ok(scene_split(&s), s.err.text);
    const dpi_silo_step descend = s.steps[WEST][scene_step(&s, WEST, DPI_SILO_DESCEND)];
    const size_t at = scene_step(&s, WEST, DPI_SILO_DISCLOSE);
    scene_insert(&s, WEST, at, descend);
    s.steps[WEST][at].out = scene_register(&s, WEST, "v");
    s.steps[WEST][at + 1].in[0] = scene_register(&s, WEST, "v");
    scene_refused(&s, scene_check(&s), "h.d", "h = s_return w", "different values are joined");
}

/* ---- parties ---- */

static void parties_are_three_and_strangers(void **state)
{
    check_scene s;
    (void)state;
    begin_noisy(&s);
    s.program.who.colluders = 2;
    dp_status status = scene_check(&s);
    assert_fails(status, DP_EPRIVACY, &s.err, "any two together have all rows");
    scene_end(&s);
    begin_noisy(&s);
    s.steps[SOUTH][scene_step(&s, SOUTH, DPI_SILO_TALLY)].kind = DPI_SILO_ISUM;
    scene_refused(&s, scene_check(&s), "south: G", "G = s_block X r", "no step isum");
    begin_noisy(&s);
    s.steps[SOUTH][scene_step(&s, SOUTH, DPI_SILO_DEAL)].once = false;
    scene_refused(&s, scene_check(&s), "south: X.s", "X = s_share b", "shared once");
    begin_noisy(&s);
    const size_t at = scene_step(&s, SOUTH, DPI_SILO_SHROUD);
    scene_insert(&s, SOUTH, at, s.steps[SOUTH][at]);
    scene_refused(&s, scene_check(&s), "south: N.k", "N = s_gauss G", "second share of the noise");
}

/* Of T steps at z against somebody who knows `known` shares: one Gaussian mechanism. */
static double delta_of(double mu, double epsilon)
{
    const double low = erfc(-(-epsilon / mu + mu / 2) * M_SQRT1_2) / 2;
    return low - exp(epsilon) * erfc((epsilon / mu + mu / 2) * M_SQRT1_2) / 2;
}

static void two_shares_are_counted_against_a_party_and_none_against_two(void **state)
{
    check_scene s;
    double epsilon;
    (void)state;
    scene_shares(&s, "trio+dp", 40);
    for (size_t known = 0; known < 2; known++) {
        const double mu = 2 * sqrt(20) / (known == 0 ? 40 * sqrt(1.5) : 40);
        assert_ok(dpi_silo_epsilon(&s.program, known, &epsilon, &s.err), s.err.text);
        assert_true(delta_of(mu, epsilon) <= 1e-5);
        assert_close(delta_of(mu, epsilon), 1e-5, 1e-3, 0);
    }
    assert_ok(dpi_silo_epsilon(&s.program, 2, &epsilon, &s.err), s.err.text);
    assert_true(isinf(epsilon));
    scene_end(&s);
}

static void places_of_shares_are_looked_at(void **state)
{
    static const struct {
        dpi_silo_op op;
        const char *a, *b, *what;
    } wrong[] = {
        {DPI_SILO_OP_SHARE, "w", "w", "rows (0) or columns (1)"},
        {DPI_SILO_OP_SHARE, "X", "X", "rows (0) or columns (1)"},
        {DPI_SILO_OP_RESIDUAL, "r", "X", "coefficients that all have (*)"},
        {DPI_SILO_OP_DESCEND, "b", "b", "on shares (~)"},
        {DPI_SILO_OP_RETURN, "h", "h", "on shares (~)"},
        {DPI_SILO_OP_ADVANCE, "w", "G", "open it first"},
        {DPI_SILO_OP_BLOCK, "X", "h", "the sum (+)"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        check_scene s;
        scene_shares(&s, "trio+dp", 40);
        (void)dpi_silo_call(&s.program, "z", wrong[k].op, dpi_silo_find(&s.program, wrong[k].a, 1),
                            dpi_silo_find(&s.program, wrong[k].b, 1));
        assert_fails(dpi_silo_program_end(&s.program, &s.err), DP_ESHAPE, &s.err, wrong[k].what);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noisy_gradients_pass_and_are_listed),
        cmocka_unit_test(exact_coefficients_pass_by_a_clause),
        cmocka_unit_test(told_to_all_they_pass_by_another),
        cmocka_unit_test(rows_of_one_table_pass_like_columns),
        cmocka_unit_test(without_its_clause_nothing_exact_is_opened),
        cmocka_unit_test(a_share_of_noise_that_is_forgotten_is_refused),
        cmocka_unit_test(noise_that_is_forgotten_by_all_is_refused),
        cmocka_unit_test(rows_in_place_of_noise_are_refused),
        cmocka_unit_test(openings_beside_the_account_are_refused),
        cmocka_unit_test(rows_without_a_bound_are_refused),
        cmocka_unit_test(residuals_of_what_follows_from_rows_are_refused),
        cmocka_unit_test(what_is_opened_too_early_is_refused),
        cmocka_unit_test(shares_are_not_sent),
        cmocka_unit_test(rows_in_the_clear_are_not_sent),
        cmocka_unit_test(shares_of_different_values_are_not_joined),
        cmocka_unit_test(parties_are_three_and_strangers),
        cmocka_unit_test(two_shares_are_counted_against_a_party_and_none_against_two),
        cmocka_unit_test(places_of_shares_are_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
