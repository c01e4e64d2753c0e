/* What the check passes, and what it refuses of rules and clauses. */
#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/silo/check-scene.h"

/* ---- what passes ---- */

static void releases_pass_and_are_listed(void **state)
{
    check_scene s;
    (void)state;
    scene_parts(&s, "secagg+dp");
    assert_ok(scene_check(&s), s.err.text);
    assert_int_equal(s.n_views, OWNERS);
    for (size_t k = 0; k < s.n_views; k++) {
        assert_string_equal(s.views[k].name, "h.s");
        assert_int_equal(s.views[k].owners, 7);
        assert_null(s.views[k].clause);
    }
    scene_end(&s);
}

static void sums_without_noise_pass_by_clauses(void **state)
{
    check_scene s;
    size_t of_one = 0;
    (void)state;
    scene_parts(&s, "fedsgd");
    assert_ok(scene_check(&s), s.err.text);
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
    scene_end(&s);
}

static void parameters_pass_by_clauses(void **state)
{
    (void)state;
    for (int keyed = 0; keyed < 2; keyed++) {
        check_scene s;
        scene_parts(&s, keyed ? "fedavg+he" : "fedavg");
        assert_ok(scene_check(&s), s.err.text);
        assert_int_equal(s.n_views, OWNERS + !keyed); /* of each owner's one sees, or none */
        for (size_t k = 0; k < s.n_views; k++)
            assert_non_null(s.views[k].clause);
        scene_end(&s);
    }
}

static void one_owner_and_many_pass(void **state)
{
    (void)state;
    for (uint16_t n = 1; n <= DPI_SILO_PARTIES; n = (uint16_t)(n * 4))
        for (int noisy = 0; noisy < 2; noisy++) {
            check_scene s;
            scene_begin(&s, noisy ? "secagg+dp" : "fedsgd");
            s.who.n = n;
            s.who.colluders = n > 1;
            s.who.dropouts = n > 4;
            for (size_t k = 0; k < n; k++)
                (void)snprintf(s.who.names[k], DPI_SILO_NAME, "owner%zu", k);
            scene_join(&s, noisy ? DPI_JOINT_NOISY : DPI_JOINT_SUMS);
            assert_ok(dpi_silo_split(&s.program, &s.scheme, &s.arena, s.parts, &s.err), s.err.text);
            assert_ok(scene_check(&s), s.err.text);
            scene_end(&s);
        }
}

/* ---- rules ---- */

static void a_forgotten_mask_is_refused(void **state)
{
    check_scene s;
    (void)state;
    scene_begin(&s, "secagg+dp");
    scene_rule(&s, "reveal")->steps = "each: send x0 agg; agg: s = addplain x0; agg: send s each; "
                                      "each: o = open s";
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "south: N", "N = s_gauss S", "must stay hidden");
}

static void forgotten_noise_is_refused(void **state)
{
    check_scene s;
    (void)state;
    scene_begin(&s, "secagg+dp");
    scene_join(&s, DPI_JOINT_SUMS);
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north", "h.s (h = s_reveal S)",
                  "neither noise nor a clause");
}

static void a_missing_rule_is_refused(void **state)
{
    check_scene s;
    (void)state;
    scene_begin(&s, "secagg+dp");
    scene_rule(&s, "reveal")->op = "none";
    scene_refused(&s, scene_split(&s), "secagg+dp", "h = s_reveal N", "no rule for it on place +");
}

static void a_missing_clause_is_refused(void **state)
{
    check_scene s;
    (void)state;
    scene_begin(&s, "fedsgd");
    s.scheme.n_clauses = 1;
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north", "h.s", "neither noise nor a clause");
    scene_begin(&s, "fedsgd");
    s.scheme.clauses++;
    s.scheme.n_clauses = 1;
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north: h.m", "h = s_reveal S", "the records of south");
}

/* ---- parameters of one owner ---- */

static void parameters_that_no_clause_names_are_refused(void **state)
{
    check_scene s;
    (void)state;
    scene_begin(&s, "fedavg");
    s.scheme.clauses++;
    s.scheme.n_clauses = 1;
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north: h.m", "h = s_reveal W", "the records of south");
    scene_begin(&s, "fedavg+he");
    s.scheme.n_clauses = 0;
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north: h.s", "h = s_reveal W", "the records of south");
}

static void parameters_under_a_key_are_told_to_nobody(void **state)
{
    check_scene s;
    (void)state;
    scene_begin(&s, "fedavg+he");
    scene_rule(&s, "walk")->steps = "each: o = walk x0 x1; each: send o agg";
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north: W", "W = s_walk q x", "the records of south");
}

static void an_owner_does_not_go_on_from_its_own_parameters(void **state)
{
    check_scene s;
    (void)state;
    scene_parts(&s, "fedavg+he");
    s.steps[SOUTH][scene_step(&s, SOUTH, DPI_SILO_ADVANCE)].in[1] = scene_register(&s, SOUTH, "W");
    scene_refused(&s, scene_check(&s), "south: q'", "q' = advance q h",
                  "it is carried to the next step, and follows from records");
}

/* Noise on parameters is for no bound. */
static void noise_on_parameters_is_no_release(void **state)
{
    check_scene s;
    (void)state;
    scene_begin(&s, "secagg+dp");
    scene_rule(&s, "sum")->steps = "each: o = walk x0 x0";
    assert_ok(scene_split(&s), s.err.text);
    for (size_t k = 0; k < OWNERS; k++)
        for (int a = 0; a < 2; a++)
            s.steps[k][scene_step(&s, k, DPI_SILO_WALK)].in[a] =
                scene_register(&s, k, a == 0 ? "q" : "x");
    scene_refused(&s, scene_check(&s), "north: h.s", "h = s_reveal N",
                  "what a record adds has no bound");
}

static void steps_are_on_records_row_by_row(void **state)
{
    check_scene s;
    (void)state;
    scene_parts(&s, "fedavg");
    for (size_t k = 0; k < OWNERS; k++)
        s.steps[k][scene_step(&s, k, DPI_SILO_WALK)].in[1] = scene_register(&s, k, "q");
    for (size_t k = 0; k < OWNERS; k++)
        s.steps[k][scene_step(&s, k, DPI_SILO_WALK)].in[0] = scene_register(&s, k, "x");
    scene_refused(&s, scene_check(&s), "north: h.m", "h = s_reveal W",
                  "neither noise nor a clause");
}

static void a_scheme_of_sums_has_no_steps_of_owners(void **state)
{
    check_scene s;
    (void)state;
    scene_begin(&s, "fedsgd");
    scene_join(&s, DPI_JOINT_PARAMETERS);
    scene_refused(&s, scene_split(&s), "fedsgd", "W = s_walk q", "no rule for it on place *");
    scene_begin(&s, "fedavg");
    scene_join(&s, DPI_JOINT_SUMS);
    scene_refused(&s, scene_split(&s), "fedavg", "S = s_sum v", "no rule for it on place 0");
}

static void a_result_that_somebody_lacks_is_refused(void **state)
{
    check_scene s;
    (void)state;
    scene_begin(&s, "secagg+dp");
    scene_rule(&s, "gauss")->steps = "agg: o = dgauss x0";
    scene_refused(&s, scene_split(&s), "south", "N = s_gauss", "does not give the result");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(releases_pass_and_are_listed),
        cmocka_unit_test(sums_without_noise_pass_by_clauses),
        cmocka_unit_test(parameters_pass_by_clauses),
        cmocka_unit_test(one_owner_and_many_pass),
        cmocka_unit_test(a_forgotten_mask_is_refused),
        cmocka_unit_test(forgotten_noise_is_refused),
        cmocka_unit_test(a_missing_rule_is_refused),
        cmocka_unit_test(a_missing_clause_is_refused),
        cmocka_unit_test(parameters_that_no_clause_names_are_refused),
        cmocka_unit_test(parameters_under_a_key_are_told_to_nobody),
        cmocka_unit_test(an_owner_does_not_go_on_from_its_own_parameters),
        cmocka_unit_test(noise_on_parameters_is_no_release),
        cmocka_unit_test(steps_are_on_records_row_by_row),
        cmocka_unit_test(a_scheme_of_sums_has_no_steps_of_owners),
        cmocka_unit_test(a_result_that_somebody_lacks_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
