/* Split learning: what the check passes by clauses that name single records, and what it refuses, a
 * mistake a test. */
#include <string.h>

#include "silo/print.h"
#include "tests/lib/check.h"
#include "tests/silo/check-scene.h"

static const char *const text[] = {
    "every step",
    "  w : f64[n]@1",
    "  x : f64[?,n]@1, of records",
    "  G : f64[n]@1 = s_gradient w x",
    "  w' : f64[n]@1 = advance w G",
    "  then w is w'",
    "north runs",
    "  G.e from south",
    "  G.a = adjoint w x G.e",
    "  send G.a to south",
    "  G = slope w x G.e",
    "  w' = advance w G",
    "south runs",
    "  G.e = embed w x",
    "  send G.e to north",
    "  G.a from north",
    "  G = pullback w x G.a",
    "  w' = advance w G",
    "seen of others",
    "  north sees G.e, of records of north, south: NO NOISE: of each single record, what the "
    "other's columns of it come to at the cut: scores, or an embedding, from which columns can be "
    "guessed or solved for",
    "  south sees G.a, of records of north, south: NO NOISE: of each single record, its residual, "
    "or the slope of its loss at the cut, which tells its outcome",
    "sent in all, before sealing",
    "  north sends 20 letters, whose sizes follow from how many rows and columns there are",
    "  south sends 20 letters, whose sizes follow from how many rows and columns there are",
};

static void begin(check_scene *s)
{
    scene_split_learning(s);
    assert_ok(scene_split(s), s->err.text);
}

static void it_passes_by_clauses_and_is_listed(void **state)
{
    check_scene s;
    dpi_bytes to = {NULL, 0, 0, false};
    (void)state;
    begin(&s);
    assert_ok(scene_check(&s), s.err.text);
    dpi_silo_print(&s.program, s.parts, s.n_views, s.views, &to);
    dpi_bytes_add(&to, "", 1);
    const char *at = (const char *)to.at;
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        const size_t length = strcspn(at, "\n");
        if (strlen(text[k]) != length || strncmp(text[k], at, length) != 0)
            fail_msg("line %zu is \"%.*s\"", k + 1, (int)length, at);
        at += length + 1;
    }
    dpi_bytes_free(&to);
    scene_end(&s);
}

static void without_a_clause_it_is_refused(void **state)
{
    check_scene s;
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        scene_split_learning(&s);
        s.scheme.clauses += k;
        s.scheme.n_clauses = 1;
        assert_ok(scene_split(&s), s.err.text);
        scene_refused(&s, scene_check(&s), k == 0 ? "south: G.a" : "north: G.e",
                      "G = s_gradient w x", "neither noise nor a clause");
    }
}

static void a_clause_of_sums_names_no_single_records(void **state)
{
    check_scene s;
    (void)state;
    scene_split_learning(&s);
    s.scheme.single = false;
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north: G.e", "G = s_gradient w x",
                  "neither noise nor a clause");
}

/* Columns themselves, the gradient of one's own, parameters. */
static void nothing_else_is_sent(void **state)
{
    check_scene s;
    (void)state;
    begin(&s);
    scene_letter(&s, "x", SOUTH, DPI_SILO_EMBED, NORTH, DPI_SILO_ADJOINT);
    scene_refused(&s, scene_check(&s), "north: x", "x = input", "the records of south");
    begin(&s);
    scene_letter(&s, "G", SOUTH, DPI_SILO_PULLBACK, NORTH, DPI_SILO_ADVANCE);
    scene_refused(&s, scene_check(&s), "north: G", "G = s_gradient w x", "the records of");
    begin(&s);
    scene_letter(&s, "w'", SOUTH, DPI_SILO_ADVANCE, NORTH, DPI_SILO_ADVANCE);
    scene_refused(&s, scene_check(&s), "north: w'", "w' = advance w G", "the records of");
}

/* What is named as of single rows may not be another thing. */
static void what_is_no_row_goes_by_no_clause_of_rows(void **state)
{
    check_scene s;
    (void)state;
    begin(&s);
    const size_t at = scene_step(&s, SOUTH, DPI_SILO_EMBED);
    s.steps[SOUTH][at].in[1] = scene_register(&s, SOUTH, "w"); /* parameters, and no rows */
    scene_refused(&s, scene_check(&s), "north: w'", "w' = advance w G", "would have no bound");
}

static void letters_in_the_wrong_order_are_refused(void **state)
{
    check_scene s;
    (void)state;
    begin(&s);
    scene_take_out(&s, NORTH, scene_step(&s, NORTH, DPI_SILO_SEND));
    scene_refused(&s, scene_check(&s), "south: G.a", "s_gradient", "waits for ever");
    begin(&s); /* a slope of what has not come */
    const size_t at = scene_step(&s, NORTH, DPI_SILO_RECV);
    const dpi_silo_step came = s.steps[NORTH][at];
    scene_take_out(&s, NORTH, at);
    scene_insert(&s, NORTH, scene_step(&s, NORTH, DPI_SILO_SLOPE), came);
    scene_refused(&s, scene_check(&s), "north: G.e", "s_gradient", "before there is a value");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_passes_by_clauses_and_is_listed),
        cmocka_unit_test(without_a_clause_it_is_refused),
        cmocka_unit_test(a_clause_of_sums_names_no_single_records),
        cmocka_unit_test(nothing_else_is_sent),
        cmocka_unit_test(what_is_no_row_goes_by_no_clause_of_rows),
        cmocka_unit_test(letters_in_the_wrong_order_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
