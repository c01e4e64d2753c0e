/* What the check passes and refuses of sums under a key: each test plants one mistake. */
#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/silo/check-scene.h"

static void begin(check_scene *s)
{
    scene_begin(s, "fedsgd+he");
    assert_ok(scene_split(s), s->err.text);
}

/* With the rule of opening in which one text is another. */
static dp_status begin_with(check_scene *s, const char *text, const char *other, char rule[512])
{
    scene_begin(s, "fedsgd+he");
    const char *steps = scene_rule(s, "reveal")->steps, *at = strstr(steps, text);
    assert_non_null(at);
    (void)snprintf(rule, 512, "%.*s%s%s", (int)(at - steps), steps, other, at + strlen(text));
    scene_rule(s, "reveal")->steps = rule;
    return scene_split(s);
}

/* The n-th step of a kind and register. */
static size_t step_at(const check_scene *s, size_t k, dpi_silo_step_kind kind, const char *name)
{
    const uint16_t reg = scene_register(s, k, name);
    size_t at = 0;
    while (s->steps[k][at].kind != kind || s->steps[k][at].out != reg)
        assert_true(++at < s->parts[k].n_steps);
    return at;
}

static void move(check_scene *s, size_t k, size_t from, size_t to)
{
    const dpi_silo_step step = s->steps[k][from];
    scene_take_out(s, k, from);
    scene_insert(s, k, to, step);
}

/* A register as another party has it. */
static void give_register(check_scene *s, size_t from, size_t to, const char *name)
{
    s->registers[to][s->parts[to].n_registers++] =
        s->registers[from][scene_register(s, from, name)];
}

/* ---- what passes ---- */

static void sums_under_a_key_pass_by_their_clause(void **state)
{
    check_scene s;
    (void)state;
    begin(&s);
    assert_ok(scene_check(&s), s.err.text);
    assert_int_equal(s.n_views, OWNERS);
    for (size_t k = 0; k < s.n_views; k++) {
        assert_string_equal(s.views[k].name, "h.s");
        assert_int_equal(s.views[k].owners, 7);
        assert_non_null(s.views[k].clause);
    }
    scene_end(&s);
}

static void many_owners_pass(void **state)
{
    check_scene s;
    (void)state;
    scene_begin(&s, "fedsgd+he");
    s.who.n = DPI_SILO_PARTIES;
    s.who.aggregator = 9;
    for (size_t k = 0; k < s.who.n; k++)
        (void)snprintf(s.who.names[k], DPI_SILO_NAME, "owner%zu", k);
    scene_join(&s, DPI_JOINT_SUMS);
    assert_ok(dpi_silo_split(&s.program, &s.scheme, &s.arena, s.parts, &s.err), s.err.text);
    assert_ok(scene_check(&s), s.err.text);
    scene_end(&s);
}

static void without_its_clause_a_sum_is_refused(void **state)
{
    check_scene s;
    (void)state;
    begin(&s);
    s.scheme.n_clauses = 0;
    scene_refused(&s, scene_check(&s), "north: h.s", "h = s_reveal S",
                  "neither noise nor a clause");
}

/* With everybody's noise it is a release like any other; with less it is none. */
static void sums_with_noise_of_all_are_releases(void **state)
{
    check_scene key, s;
    (void)state;
    scene_begin(&key, "fedsgd+he");
    for (int forgotten = 0; forgotten < 2; forgotten++) {
        scene_begin(&s, "secagg+dp");
        scene_rule(&s, "reveal")->steps = scene_rule(&key, "reveal")->steps;
        assert_ok(scene_split(&s), s.err.text);
        if (forgotten) {
            scene_take_out(&s, WEST, scene_step(&s, WEST, DPI_SILO_DGAUSS));
            s.steps[WEST][scene_step(&s, WEST, DPI_SILO_COVER)].in[0] =
                s.steps[WEST][scene_step(&s, WEST, DPI_SILO_SEALED)].in[0] =
                    scene_register(&s, WEST, "S");
            scene_refused(&s, scene_check(&s), "north: h.s", "h = s_reveal N",
                          "lacks the share of noise of west");
            continue;
        }
        assert_ok(scene_check(&s), s.err.text);
        assert_int_equal(s.n_views, OWNERS);
        for (size_t k = 0; k < s.n_views; k++)
            assert_true(s.views[k].clause == NULL && s.views[k].noise == 7);
        scene_end(&s);
    }
    scene_end(&key);
}

/* ---- who owns the key ---- */

static void who_adds_up_owns_no_share(void **state)
{
    check_scene s;
    char rule[512];
    (void)state;
    assert_ok(begin_with(&s, "once rest: b = keypart; once rest: send b rest",
                         "once each: b = keypart; once each: send b each", rule),
              "");
    scene_refused(&s, scene_check(&s), "north: h.b", "h = s_reveal S",
                  "must own no share of the key");
    assert_ok(begin_with(&s, "rest: h = sealed x0 b",
                         "once agg: b = keypart; rest: h = sealed x0 b", rule),
              "");
    scene_refused(&s, scene_check(&s), "north: h.b", "h = s_reveal S", "keypart");
    begin(&s); /* with what it has, and no part of the key, it makes a partial */
    s.steps[NORTH][scene_step(&s, NORTH, DPI_SILO_COMBINE)].kind = DPI_SILO_PARTIAL;
    scene_refused(&s, scene_check(&s), "north: h.s", "h = s_reveal S", "");
}

static void owners_of_the_key_do_not_add_up(void **state)
{
    check_scene s;
    char rule[512];
    (void)state;
    assert_ok(begin_with(&s, "send c agg", "send c each", rule), "");
    scene_refused(&s, scene_check(&s), "south: h.c", "h = s_reveal S",
                  "another's vector can be opened; it is for the one that adds up, not for west");
    assert_ok(begin_with(&s, "send d agg", "send d rest; rest: send d agg", rule), "");
    scene_refused(&s, scene_check(&s), "west: h.d", "h = s_reveal S", "not for south");
    begin(&s);
    scene_insert(
        &s, SOUTH, scene_step(&s, SOUTH, DPI_SILO_PARTIAL) + 1,
        (dpi_silo_step){.kind = DPI_SILO_COMBINE,
                        .out = scene_register(&s, SOUTH, "h.s"),
                        .in = {scene_register(&s, SOUTH, "S"), scene_register(&s, SOUTH, "h.c"),
                               scene_register(&s, SOUTH, "h.d")}});
    scene_refused(&s, scene_check(&s), "south: h.s", "h = s_reveal S", "owns a share of it");
}

static void who_adds_up_has_no_hand_in_the_key(void **state)
{
    static const struct {
        const char *name;
        dpi_silo_step_kind kind;
    } letters[] = {{"h.b", DPI_SILO_KEYPART}, {"h.h", DPI_SILO_SEALED}, {"h.g", DPI_SILO_AGREE}};
    check_scene s;
    (void)state;
    for (size_t k = 0; k < sizeof letters / sizeof *letters; k++) {
        begin(&s);
        give_register(&s, SOUTH, NORTH, letters[k].name);
        scene_letter(&s, letters[k].name, SOUTH, letters[k].kind, NORTH, DPI_SILO_COMBINE);
        s.steps[SOUTH][scene_step(&s, SOUTH, letters[k].kind) + 1].once = k == 0;
        s.steps[NORTH][scene_step(&s, NORTH, DPI_SILO_COMBINE) - 1].once = k == 0;
        scene_refused(&s, scene_check(&s), k == 0 ? "north: h.b" : "south: h.", "h = s_reveal S",
                      k == 0 ? "it is done once" : "not for the one that adds up: north");
    }
    begin(&s); /* nor in what owners have agreed on */
    scene_insert(&s, NORTH, scene_step(&s, NORTH, DPI_SILO_COMBINE),
                 (dpi_silo_step){.kind = DPI_SILO_AGREE,
                                 .out = scene_register(&s, NORTH, "h.c"),
                                 .in = {scene_register(&s, NORTH, "h.c")}});
    s.registers[NORTH][scene_register(&s, NORTH, "h.c")] =
        s.registers[SOUTH][scene_register(&s, SOUTH, "h.g")];
    scene_refused(&s, scene_check(&s), "north: h.g", "h = s_reveal S", "no share of the key");
}

/* ---- the order of things ---- */

static void a_partial_before_all_have_agreed_is_refused(void **state)
{
    check_scene s;
    char rule[512];
    (void)state;
    begin(&s);
    const size_t digest = step_at(&s, SOUTH, DPI_SILO_RECV, "h.g");
    assert_int_equal(s.steps[SOUTH][digest + 1].kind, DPI_SILO_PARTIAL);
    move(&s, SOUTH, digest + 1, digest);
    scene_refused(&s, scene_check(&s), "south: h.g", "h = s_reveal S", "lacks that of west");
    begin(&s); /* digests of what has not come */
    const size_t vector = step_at(&s, WEST, DPI_SILO_RECV, "h.h");
    move(&s, WEST, scene_step(&s, WEST, DPI_SILO_AGREE), vector);
    scene_refused(&s, scene_check(&s), "west: h.h", "h = s_reveal S", "lacks that of south");
    assert_ok(begin_with(&s, "d = partial h g", "d = partial h h", rule), "");
    scene_refused(&s, scene_check(&s), "west: h.h", "h = s_reveal S",
                  "partial does not work on what this register has");
    assert_ok(begin_with(&s, "rest: g = agree h; rest: send g rest; ", "", rule) == DP_OK
                  ? DP_EINVAL
                  : DP_OK,
              ""); /* there is no g */
    assert_non_null(strstr(s.err.text, "no step before gives it to this party"));
    scene_end(&s);
}

static void a_forgotten_cover_is_refused(void **state)
{
    check_scene s;
    char rule[512];
    (void)state;
    assert_ok(begin_with(&s, "send c agg", "send x0 agg", rule) == DP_OK ? DP_EINVAL : DP_OK, "");
    scene_end(&s);
    begin(&s); /* the vector goes as it is */
    s.steps[SOUTH][step_at(&s, SOUTH, DPI_SILO_SEND, "h.c")].out = scene_register(&s, SOUTH, "S");
    s.steps[NORTH][step_at(&s, NORTH, DPI_SILO_RECV, "h.c")].out = scene_register(&s, NORTH, "S");
    scene_refused(&s, scene_check(&s), "north: S", "S = s_sum v", "the records of south");
    begin(&s); /* one of them is missing */
    scene_take_out(&s, WEST, step_at(&s, WEST, DPI_SILO_SEND, "h.c"));
    size_t at = step_at(&s, NORTH, DPI_SILO_RECV, "h.c");
    while (s.steps[NORTH][at].peer != WEST)
        at++;
    scene_take_out(&s, NORTH, at);
    scene_refused(&s, scene_check(&s), "north: h.c", "h = s_reveal S", "lacks that of west");
    begin(&s); /* another vector is covered than was sealed */
    s.steps[SOUTH][scene_step(&s, SOUTH, DPI_SILO_COVER)].in[0] = scene_register(&s, SOUTH, "v");
    scene_refused(&s, scene_check(&s), "south: h.c", "h = s_reveal S", "another vector is covered");
    begin(&s); /* and another is sealed than was handed over */
    s.steps[SOUTH][scene_step(&s, SOUTH, DPI_SILO_COVER)].in[0] =
        s.steps[SOUTH][scene_step(&s, SOUTH, DPI_SILO_SEALED)].in[0] =
            scene_register(&s, SOUTH, "v");
    scene_refused(&s, scene_check(&s), "north: h.s", "h = s_reveal S",
                  "neither noise nor a clause");
}

static void a_sum_needs_all_partials(void **state)
{
    check_scene s;
    (void)state;
    begin(&s);
    scene_take_out(&s, WEST, step_at(&s, WEST, DPI_SILO_SEND, "h.d"));
    size_t at = step_at(&s, NORTH, DPI_SILO_RECV, "h.d");
    while (s.steps[NORTH][at].peer != WEST)
        at++;
    scene_take_out(&s, NORTH, at);
    scene_refused(&s, scene_check(&s), "north: h.d", "h = s_reveal S", "lacks that of west");
}

/* ---- one key, one vector ---- */

static void a_key_is_of_one_run(void **state)
{
    check_scene s;
    char rule[512];
    (void)state;
    assert_ok(begin_with(&s, "once rest: b = keypart", "rest: b = keypart", rule), "");
    scene_refused(&s, scene_check(&s), "south: h.b", "h = s_reveal S", "another in every step");
    assert_ok(begin_with(&s, "once rest: send b rest", "rest: send b rest", rule), "");
    scene_refused(&s, scene_check(&s), "south: h.b", "h = s_reveal S", "another in every step");
    /* One that is there at the beginning, of a run before. */
    assert_ok(begin_with(&s, "sealed x0 b", "sealed x0 x0", rule), "");
    scene_refused(&s, scene_check(&s), "west: S", "S = s_sum v",
                  "sealed does not work on what this register has");
    scene_begin(&s, "fedsgd+he"); /* a second one */
    (void)dpi_silo_call(&s.program, "g", DPI_SILO_OP_REVEAL, dpi_silo_find(&s.program, "S", 1), 0);
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north: g.s", "g = s_reveal S", "a second sum");
    begin(&s);
    const size_t at = scene_step(&s, SOUTH, DPI_SILO_KEYPART);
    scene_insert(&s, SOUTH, at, s.steps[SOUTH][at]);
    scene_refused(&s, scene_check(&s), "south: h.b", "h = s_reveal S", "this would be a second");
}

static void all_but_the_key_is_of_every_step(void **state)
{
    static const dpi_silo_step_kind kinds[] = {DPI_SILO_SEALED, DPI_SILO_COVER, DPI_SILO_AGREE,
                                               DPI_SILO_PARTIAL, DPI_SILO_ISUM};
    check_scene s;
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        begin(&s);
        s.steps[WEST][scene_step(&s, WEST, kinds[k])].once = true;
        scene_refused(&s, scene_check(&s), "west: ", " = s_", "it is done once");
    }
    begin(&s);
    s.steps[NORTH][scene_step(&s, NORTH, DPI_SILO_COMBINE)].once = true;
    scene_refused(&s, scene_check(&s), "north: h.s", "h = s_reveal S", "it is done once");
}

static void a_second_vector_or_sum_is_refused(void **state)
{
    static const dpi_silo_step_kind kinds[] = {DPI_SILO_SEALED, DPI_SILO_COVER, DPI_SILO_AGREE,
                                               DPI_SILO_PARTIAL};
    check_scene s;
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        begin(&s);
        const size_t at = scene_step(&s, SOUTH, kinds[k]);
        scene_insert(&s, SOUTH, at, s.steps[SOUTH][at]);
        scene_refused(&s, scene_check(&s), "south: h.", "h = s_reveal S", " in one step");
    }
    begin(&s);
    const size_t at = scene_step(&s, NORTH, DPI_SILO_COMBINE);
    scene_insert(&s, NORTH, at, s.steps[NORTH][at]);
    scene_refused(&s, scene_check(&s), "north: h.s", "h = s_reveal S", "a second sum");
}

/* ---- who takes part ---- */

static void a_sum_of_one_is_refused(void **state)
{
    check_scene s;
    (void)state;
    scene_begin(&s, "fedsgd+he");
    s.who.colluders = 2;
    scene_join(&s, DPI_JOINT_SUMS);
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north: h.s", "h = s_reveal S", "it is one owner's");
    scene_begin(&s, "fedsgd+he");
    s.who.n = 2;
    s.who.colluders = 0; /* who adds up looks for itself */
    scene_join(&s, DPI_JOINT_SUMS);
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north: h.s", "h = s_reveal S", "it is one owner's");
    scene_begin(&s, "fedsgd+he");
    s.who.n = 1;
    s.who.colluders = 0;
    scene_join(&s, DPI_JOINT_SUMS);
    scene_refused(&s, scene_split(&s), "fedsgd+he", "h = s_reveal", "and there is one");
}

static void nobody_drops_out(void **state)
{
    check_scene s;
    (void)state;
    scene_begin(&s, "fedsgd+he");
    s.who.dropouts = 1;
    scene_join(&s, DPI_JOINT_SUMS);
    assert_ok(scene_split(&s), s.err.text);
    scene_refused(&s, scene_check(&s), "north: h.s", "h = s_reveal S", "plan without dropouts");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_under_a_key_pass_by_their_clause),
        cmocka_unit_test(many_owners_pass),
        cmocka_unit_test(without_its_clause_a_sum_is_refused),
        cmocka_unit_test(sums_with_noise_of_all_are_releases),
        cmocka_unit_test(who_adds_up_owns_no_share),
        cmocka_unit_test(owners_of_the_key_do_not_add_up),
        cmocka_unit_test(who_adds_up_has_no_hand_in_the_key),
        cmocka_unit_test(a_partial_before_all_have_agreed_is_refused),
        cmocka_unit_test(a_forgotten_cover_is_refused),
        cmocka_unit_test(a_sum_needs_all_partials),
        cmocka_unit_test(a_key_is_of_one_run),
        cmocka_unit_test(all_but_the_key_is_of_every_step),
        cmocka_unit_test(a_second_vector_or_sum_is_refused),
        cmocka_unit_test(a_sum_of_one_is_refused),
        cmocka_unit_test(nobody_drops_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
