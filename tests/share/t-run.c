/* Programs among the parties: equal to what is computed in the clear, to the bit. */
#include "share/run.h"

#include <stdlib.h>
#include <string.h>

#include "share/plan.h"
#include "tests/share/programs.h"

typedef struct runs_of {
    const dp_program *p;
    dpi_share_opts opts;
    size_t n;
    const int64_t *x, *model;
    uint64_t salt;
    scene_told told;
} runs_of;

static void body(dpi_party *p, void *user)
{
    runs_of *u = user;
    dpi_share_plan *plan;
    dpi_share_room *room;
    if (p->row == &dpi_clear)
        memcpy(p->room, &u->salt, sizeof u->salt);
    if (dpi_share_plan_new(u->p, &u->opts, &plan, NULL) != DP_OK ||
        dpi_share_room_new(p, plan, &room, NULL) != DP_OK)
        abort();
    dpi_ring ring = dpi_share_plan_ring(plan);
    dpi_share x = scene_give(p, ring, u->n * dp_program_inputs(u->p), u->x, 1);
    dpi_share model = scene_give(p, ring, dpi_share_model_size(u->p), u->model, 2);
    dpi_share y = scene_share(p, ring, u->n * dpi_share_answers(plan));
    dpi_share_run(p, plan, room, &model, 100, u->n, &x, &y);
    scene_tell(p, &u->told, ring, dpi_share_answer_bits(plan), &y);
    dpi_share_free(&x);
    dpi_share_free(&model);
    dpi_share_free(&y);
    dpi_share_room_free(room);
    dpi_share_plan_free(plan);
}

/* Answers y[n][answers] of a program among the parties of a row. */
static void run_among(const scene *s, const rows_case *c, runs_of *u, int64_t *y)
{
    scene_end end[DPI_SHARE_PARTIES];
    int64_t *model = calloc(dpi_share_model_size(u->p) + 1, sizeof *model);
    assert_non_null(model);
    dpi_share_model_numbers(u->p, model);
    u->model = model;
    scene_run_well(s, &(scene_opts){.row = c->row, .apart = c->apart, .body = body, .user = u},
                   end);
    scene_join(c->row, &u->told, y);
    free(model);
}

static void check_program(const scene *s, const rows_case *c, const dp_program *p, size_t n,
                          size_t block, uint64_t *state)
{
    size_t outputs = dp_program_outputs(p);
    int64_t *x = programs_records(p, n, state), *y = calloc(n * outputs, sizeof *y);
    int64_t *expected = calloc(n * outputs, sizeof *expected);
    dp_error err = {DP_OK, ""};
    assert_non_null(y);
    assert_non_null(expected);
    assert_ok(dp_program_run_exact(p, n, x, expected, &err), err.text);
    runs_of u = {
        .p = p, .opts = {.batch = n + n % 3, .block = block}, .n = n, .x = x, .salt = *state};
    run_among(s, c, &u, y);
    for (size_t i = 0; i < n * outputs; i++)
        assert_true(y[i] == expected[i]);
    free(x);
    free(y);
    free(expected);
}

static void check_drawn(const scene *s, const rows_case *c, size_t programs, uint64_t seed)
{
    for (size_t k = 0; k < programs; k++) {
        uint64_t state = seed + k;
        dp_program *p = programs_draw(&state, k % 3 == 0 ? 30 : 62, k % 2 == 0);
        if (p != NULL)
            check_program(s, c, p, 1 + k % 5, k % 4 == 0 ? 64 : 0, &state);
        dp_program_free(p);
    }
}

static void drawn_programs_are_computed_to_the_bit(void **state)
{
    check_drawn(*state, &rows_all[0], 400, 1000);
}

static void drawn_programs_are_computed_alike_by_several(void **state)
{
    for (size_t c = 1; c < ROWS_ALL; c++)
        check_drawn(*state, &rows_all[c], 60, 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_programs_are_computed_to_the_bit),
        cmocka_unit_test(drawn_programs_are_computed_alike_by_several),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
