/* Releases that each owner makes alone: what the check passes of them, and what it refuses. */
#include <string.h>

#include "tests/lib/check.h"
#include "tests/silo/check-scene.h"

static void factors_pass_and_are_listed(void **state)
{
    check_scene s;
    (void)state;
    scene_parts(&s, "dp-pvi");
    assert_ok(scene_check(&s), s.err.text);
    assert_int_equal(s.n_views, OWNERS);
    for (size_t k = 0; k < s.n_views; k++) {
        assert_string_equal(s.views[k].name, "h.s");
        assert_int_equal(s.views[k].owners, 7);
        assert_true(s.views[k].alone);
        assert_null(s.views[k].clause);
    }
    scene_end(&s);
    scene_begin(&s, "secagg+dp"); /* where noise is of all it is not so */
    assert_ok(scene_split(&s), s.err.text);
    assert_ok(scene_check(&s), s.err.text);
    for (size_t k = 0; k < s.n_views; k++)
        assert_false(s.views[k].alone);
    scene_end(&s);
}

/* Steps without noise in place of these, at one owner or at all. */
static void forgotten_noise_is_refused(void **state)
{
    check_scene s;
    (void)state;
    for (size_t from = 0; from < 2; from++) {
        scene_parts(&s, "dp-pvi");
        for (size_t k = from; k < OWNERS; k++) {
            const size_t at = scene_step(&s, k, DPI_SILO_REFINE);
            s.steps[k][at].kind = DPI_SILO_WALK;
            s.registers[k][s.steps[k][at].out] =
                s.registers[k][scene_register(&s, k, "d")]; /* as large as a walk's is */
            memcpy(s.registers[k][s.steps[k][at].out].name, "g", 2);
        }
        scene_refused(&s, scene_check(&s), "north", "h.s (h = s_reveal d)",
                      "neither noise nor a clause");
    }
}

/* The same where nobody else would see it: it is carried. */
static void a_factor_kept_of_records_is_refused(void **state)
{
    check_scene s;
    (void)state;
    scene_parts(&s, "dp-pvi");
    const size_t at = scene_step(&s, SOUTH, DPI_SILO_RETAIN);
    s.steps[SOUTH][at].in[0] = scene_register(&s, SOUTH, "x");
    scene_refused(&s, scene_check(&s), "south: f'", "f' = retain g h",
                  "it is carried to the next step, and follows from records");
}

static void questions_of_records_are_refused(void **state)
{
    check_scene s;
    (void)state;
    for (int own = 0; own < 2; own++) { /* a damping of records, or a factor that began so */
        scene_begin(&s, "dp-pvi");
        s.program.variables[dpi_silo_find(&s.program, own ? "f" : "q", 1)].of_records = true;
        assert_ok(scene_split(&s), s.err.text);
        scene_refused(&s, scene_check(&s), "north: g", "g = refine c x",
                      "asked for by what follows from the records of north");
    }
}

static void the_account_has_all_releases_with_noise(void **state)
{
    static const char *const what = "the account has no entry with noise";
    check_scene s;
    (void)state;
    scene_begin(&s, "dp-pvi");
    s.program.entries[0].sigma = 0;
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north: g", "g = refine c x", what);
    scene_begin(&s, "dp-pvi");
    s.program.entries[0].variable = s.program.entries[1].variable;
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north: g", "g = refine c x", what);
    scene_begin(&s, "dp-pvi");
    s.program.entries[0].alone = false; /* of which colluders would know a part */
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north: g", "g = refine c x", what);
    scene_begin(&s, "secagg+dp");
    s.program.entries[0].alone = true; /* of which they are taken to know none */
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "h.s", "h = s_reveal", "no entry for each opening");
}

static void records_are_this_owners_row_by_row(void **state)
{
    check_scene s;
    (void)state;
    scene_parts(&s, "dp-pvi");
    s.steps[WEST][scene_step(&s, WEST, DPI_SILO_REFINE)].in[1] = scene_register(&s, WEST, "q");
    /* of no record at all it is no release, and nothing that one could hide in */
    assert_ok(scene_check(&s), s.err.text);
    scene_end(&s);
    scene_parts(&s, "dp-pvi");
    const size_t at = scene_step(&s, WEST, DPI_SILO_REFINE);
    scene_insert(
        &s, WEST, at,
        (dpi_silo_step){.kind = DPI_SILO_CAVITY,
                        .out = scene_register(&s, WEST, "g"),
                        .in = {scene_register(&s, WEST, "x"), scene_register(&s, WEST, "q")}});
    s.steps[WEST][at + 1].in[1] = scene_register(&s, WEST, "g");
    scene_refused(&s, scene_check(&s), "west: g", "g = refine c x",
                  "not over this party's records, row by row");
}

static void records_in_the_clear_are_refused(void **state)
{
    check_scene s;
    (void)state;
    scene_parts(&s, "dp-pvi");
    scene_letter(&s, "x", SOUTH, DPI_SILO_REFINE, NORTH, DPI_SILO_CAVITY);
    scene_refused(&s, scene_check(&s), "north: x", "x", "the records of south");
}

/* An offer beside the masks has noise enough, and is listed as what it is. */
static void an_offer_that_is_sent_is_listed(void **state)
{
    check_scene s;
    (void)state;
    scene_begin(&s, "dp-pvi");
    scene_rule(&s, "reveal")->steps = "each: m = plain x0; each: send m agg; agg: s = addplain m; "
                                      "agg: send s each; each: o = open s";
    assert_ok(scene_split(&s), s.err.text);
    assert_ok(scene_check(&s), s.err.text);
    size_t told = 0;
    for (size_t k = 0; k < s.n_views; k++)
        if (strcmp(s.views[k].name, "h.m") == 0) {
            assert_int_equal(s.views[k].party, NORTH);
            assert_true(s.views[k].alone);
            told++;
        }
    assert_int_equal(told, 1);
    scene_end(&s);
}

/* A second offer would be hidden by the masks of the first; and the sum that is masked is it. */
static void what_is_masked_is_the_offer(void **state)
{
    check_scene s;
    (void)state;
    scene_parts(&s, "dp-pvi");
    const size_t at = scene_step(&s, SOUTH, DPI_SILO_MASK);
    scene_insert(&s, SOUTH, at + 1, s.steps[SOUTH][at]);
    scene_refused(&s, scene_check(&s), "south: h.m", "h = s_reveal d", "masks of the first");
    scene_begin(&s, "dp-pvi");
    s.who.colluders = 0; /* noise of each does not depend on who looks */
    scene_join(&s, DPI_JOINT_FACTORS);
    assert_ok(scene_split(&s), s.err.text);
    assert_ok(scene_check(&s), s.err.text);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_pass_and_are_listed),
        cmocka_unit_test(forgotten_noise_is_refused),
        cmocka_unit_test(a_factor_kept_of_records_is_refused),
        cmocka_unit_test(questions_of_records_are_refused),
        cmocka_unit_test(the_account_has_all_releases_with_noise),
        cmocka_unit_test(records_are_this_owners_row_by_row),
        cmocka_unit_test(records_in_the_clear_are_refused),
        cmocka_unit_test(an_offer_that_is_sent_is_listed),
        cmocka_unit_test(what_is_masked_is_the_offer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
