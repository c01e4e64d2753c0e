#include "tests/silo/check-scene.h"

#include <string.h>

#include "tests/lib/check.h"

static const dp_opening openings[] = {{"scales", 1, 12, 40, false}, {"main", 16, 52, 20, false}};

/* Of owners alone, and what they open. */
static const dp_opening of_each[] = {{"steps", 512, 7, 90, true}, {"factors", 8, 45, 0, false}};

static void begin(check_scene *s, const char *scheme)
{
    memset(s, 0, sizeof *s);
    s->who = (dpi_silo_parties){
        .n = OWNERS, .names = {"north", "south", "west"}, .colluders = 1, .most_records = 1000};
    s->scheme = *dpi_silo_scheme_named(scheme);
    memcpy(s->rules, s->scheme.rules, s->scheme.n_rules * sizeof *s->rules);
    s->scheme.rules = s->rules;
}

void scene_begin(check_scene *s, const char *scheme)
{
    begin(s, scheme);
    scene_join(s, dpi_silo_joint_kind(&s->scheme));
}

void scene_columns(check_scene *s, const char *scheme, double z)
{
    const dpi_joint_columns c = {
        .times = 20, .numbers = 30, .z = z, .apart = 0x1p-70, .delta = 1e-5};
    begin(s, scheme);
    s->who.n = 2;
    assert_ok(dpi_silo_joint_columns(&s->program, &s->who, &c, &s->err), s->err.text);
}

void scene_split_learning(check_scene *s)
{
    begin(s, "split");
    s->who.n = 2;
    assert_ok(dpi_silo_joint_split(&s->program, &s->who, 20, 30, &s->err), s->err.text);
}

void scene_shares(check_scene *s, const char *scheme, double z)
{
    const dpi_joint_shares c = {
        .times = z > 0 ? 20 : 1, .numbers = 30, .z = z, .delta = z > 0 ? 1e-5 : 0};
    begin(s, scheme);
    s->who.helpers = 1 << WEST;
    assert_ok(dpi_silo_joint_shares(&s->program, &s->who, &c, &s->err), s->err.text);
}

void scene_join(check_scene *s, dpi_joint_kind kind)
{
    const dp_opening *list = kind == DPI_JOINT_FACTORS ? of_each : openings;
    assert_ok(dpi_silo_joint(&s->program, &s->who, kind, 1e-5, 2, list, &s->err), s->err.text);
}

/* Splits it, so that parts can be changed. */
dp_status scene_split(check_scene *s)
{
    dp_status status = dpi_silo_split(&s->program, &s->scheme, &s->arena, s->parts, &s->err);
    for (size_t k = 0; status == DP_OK && k < s->who.n; k++) {
        assert_true(s->parts[k].n_steps < MOST_STEPS && s->parts[k].n_registers <= 32);
        memcpy(s->steps[k], s->parts[k].steps, s->parts[k].n_steps * sizeof(dpi_silo_step));
        memcpy(s->registers[k], s->parts[k].registers,
               s->parts[k].n_registers * sizeof(dpi_silo_register));
        s->parts[k].steps = s->steps[k];
        s->parts[k].registers = s->registers[k];
    }
    return status;
}

void scene_parts(check_scene *s, const char *scheme)
{
    scene_begin(s, scheme);
    assert_ok(scene_split(s), s->err.text);
}

dp_status scene_check(check_scene *s)
{
    return dpi_silo_check(&s->program, &s->scheme, s->parts, &s->arena, &s->n_views, &s->views,
                          &s->err);
}

void scene_end(check_scene *s)
{
    dpi_arena_free(&s->arena);
}

/* All three words must be there: the party, the variable, and what is wrong. */
void scene_refused(check_scene *s, dp_status status, const char *party, const char *variable,
                   const char *what)
{
    assert_int_not_equal(status, DP_OK);
    if (strstr(s->err.text, party) == NULL || strstr(s->err.text, variable) == NULL ||
        strstr(s->err.text, what) == NULL)
        fail_msg("\"%s\" does not name %s, %s and \"%s\"", s->err.text, party, variable, what);
    scene_end(s);
}

dpi_silo_rule *scene_rule(check_scene *s, const char *op)
{
    size_t k = 0;
    while (strcmp(s->rules[k].op, op) != 0)
        assert_true(++k < s->scheme.n_rules);
    return &s->rules[k];
}

uint16_t scene_register(const check_scene *s, size_t k, const char *name)
{
    uint16_t r = 0;
    while (strcmp(s->registers[k][r].name, name) != 0)
        assert_true(++r < s->parts[k].n_registers);
    return r;
}

size_t scene_step(const check_scene *s, size_t k, dpi_silo_step_kind kind)
{
    size_t at = 0;
    while (s->steps[k][at].kind != kind)
        assert_true(++at < s->parts[k].n_steps);
    return at;
}

void scene_insert(check_scene *s, size_t k, size_t at, dpi_silo_step step)
{
    memmove(&s->steps[k][at + 1], &s->steps[k][at],
            (s->parts[k].n_steps++ - at) * sizeof(dpi_silo_step));
    s->steps[k][at] = step;
}

void scene_take_out(check_scene *s, size_t k, size_t at)
{
    memmove(&s->steps[k][at], &s->steps[k][at + 1],
            (--s->parts[k].n_steps - at) * sizeof(dpi_silo_step));
}

/* From one party to another, where each has that kind of step. */
void scene_letter(check_scene *s, const char *name, size_t from, dpi_silo_step_kind behind,
                  size_t to, dpi_silo_step_kind before)
{
    scene_insert(s, from, scene_step(s, from, behind) + 1,
                 (dpi_silo_step){.kind = DPI_SILO_SEND,
                                 .out = scene_register(s, from, name),
                                 .peer = (uint16_t)to});
    scene_insert(s, to, scene_step(s, to, before),
                 (dpi_silo_step){.kind = DPI_SILO_RECV,
                                 .out = scene_register(s, to, name),
                                 .peer = (uint16_t)from});
}
