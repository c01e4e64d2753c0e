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
    scene_begin(&s, "secagg+dp");
    assert_ok(scene_split(&s), s.err.text);
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
    scene_begin(&s, "fedsgd");
    assert_ok(scene_split(&s), s.err.text);
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
            scene_join(&s, noisy);
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
    scene_join(&s, false);
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
        cmocka_unit_test(one_owner_and_many_pass),
        cmocka_unit_test(a_forgotten_mask_is_refused),
        cmocka_unit_test(forgotten_noise_is_refused),
        cmocka_unit_test(a_missing_rule_is_refused),
        cmocka_unit_test(a_missing_clause_is_refused),
        cmocka_unit_test(a_result_that_somebody_lacks_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
