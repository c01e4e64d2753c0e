/* Programs of one number, of a block and of a tile of them, one less and one more, and of more
 * records than a block has: equal to what is computed in the clear, to the bit. */
#include "share/run.h"

#include <stdlib.h>
#include <string.h>

#include "tests/share/programs.h"

enum { WIDTHS = 4 };
static const size_t widths[WIDTHS] = {1, DPI_SHARE_TILE - 1, DPI_SHARE_TILE, DPI_SHARE_TILE + 1};

typedef struct runs_of {
    const dp_program *p;
    size_t n;
    int64_t *x, *model;
    scene_told told;
} runs_of;

static void body(dpi_party *p, void *user)
{
    runs_of *u = user;
    const dpi_share_opts o = {.batch = u->n};
    dpi_share_plan *plan;
    dpi_share_room *room;
    scene_must(dpi_share_plan_new(u->p, &o, &plan, NULL) == DP_OK &&
                   dpi_share_room_new(p, plan, &room, NULL) == DP_OK,
               "a plan and its room");
    const dpi_ring ring = dpi_share_plan_ring(plan);
    dpi_share x = scene_give(p, ring, u->n * dp_program_inputs(u->p), u->x, 1);
    dpi_share model = scene_give(p, ring, dpi_share_model_size(u->p), u->model, 2);
    dpi_share y = scene_share(p, ring, u->n * dpi_share_answers(plan));
    dpi_share_run(p, plan, room, &model, 0, u->n, &x, &y);
    scene_tell(p, &u->told, ring, dpi_share_answer_bits(plan), &y);
    dpi_share_free(&x);
    dpi_share_free(&model);
    dpi_share_free(&y);
    dpi_share_room_free(room);
    dpi_share_plan_free(plan);
}

/* Runs a fixed program, which it frees, of n records among the parties of each row. */
static void check(const scene *s, dp_program *p, size_t n)
{
    static const dpi_share_row *const rows[] = {&dpi_clear, &dpi_trio, &dpi_quad};
    const size_t outputs = n * dp_program_outputs(p);
    uint64_t state = n + outputs;
    dp_error err = {DP_OK, ""};
    runs_of u = {.p = p, .n = n, .x = programs_records(p, n, &state)};
    int64_t *expected = calloc(outputs, sizeof *expected), *y = calloc(outputs, sizeof *y);
    u.model = calloc(dpi_share_model_size(p) + 1, sizeof *u.model);
    assert_true(expected != NULL && y != NULL && u.model != NULL);
    dpi_share_model_numbers(p, u.model);
    assert_ok(dp_program_run_exact(p, n, u.x, expected, &err), err.text);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        scene_end end[DPI_SHARE_PARTIES];
        scene_run_well(s, &(scene_opts){.row = rows[k], .body = body, .user = &u}, end);
        scene_join(rows[k], &u.told, y);
        assert_memory_equal(y, expected, outputs * sizeof *y);
    }
    free(u.x), free(u.model), free(expected), free(y);
    dp_program_free(p);
}

static double *weights_of(size_t n)
{
    uint64_t state = n;
    double *w = calloc(n, sizeof *w);
    assert_non_null(w);
    for (size_t i = 0; i < n; i++)
        w[i] = (double)(int64_t)rows_next(&state) * 0x1p-63;
    return w;
}

static dp_program *fixed(dp_program *p, int activation_bits)
{
    dp_error err = {DP_OK, ""};
    const dp_scale_opts scales = {.activation_bits = activation_bits, .weight_bits = 10};
    assert_ok(dp_program_fix(p, &scales, &err), err.text);
    return p;
}

/* x to `width` numbers, what is done to each, and back to one. */
static dp_program *wide_of(size_t width, int activation_bits, int (*each)(dp_program *p, int in))
{
    double *w = weights_of(2 * width);
    dp_program *p = dp_program_new();
    assert_non_null(p);
    int h = dp_program_dense(p, dp_program_input(p, 1, "x", -1, 1), width, w, w + width);
    (void)dp_program_dense(p, each(p, h), 1, w + width, NULL);
    free(w);
    return fixed(p, activation_bits);
}

static void layers_of_a_tile_and_one_more_are_exact(void **state)
{
    for (size_t k = 0; k < WIDTHS; k++) {
        check(*state, wide_of(widths[k], 8, dp_program_relu), 1);
        check(*state, wide_of(widths[k], 20, dp_program_relu), 2);
        check(*state, wide_of(widths[k], 20, dp_program_tanh), 1);
    }
}

/* Pools of images of 181 x 181 pixels, which is a block less 7, and of one pixel. */
static void pools_of_a_block_are_exact(void **state)
{
    static const dp_window two = {.size = {2, 2}, .padding = {1, 1}};
    for (size_t side = 1; side <= 181; side += 180)
        for (int mean = 0; mean < 2; mean++) {
            double *w = weights_of(side * side * 4);
            dp_program *p = dp_program_new();
            assert_non_null(p);
            int h = dp_program_image(p, side, side, 1, "x", -1, 1);
            h = dp_program_convolution(p, h, 1, &(dp_window){.size = {1, 1}}, w, w);
            h = dp_program_relu(p, h);
            h = mean ? dp_program_average_pool(p, h, &two) : dp_program_max_pool(p, h, &two);
            (void)dp_program_dense(p, h, 1, w, NULL);
            free(w);
            check(*state, fixed(p, 9), 2);
        }
}

/* Labels of more records than a block has, and of one class. */
static void labels_of_many_records_are_exact(void **state)
{
    static const size_t records[] = {DPI_SHARE_TILE - 1, DPI_SHARE_TILE + 1, 65536};
    for (size_t k = 0; k < sizeof records / sizeof *records; k++)
        for (size_t classes = 1; classes <= 3; classes += 2) {
            double *w = weights_of(classes);
            dp_program *p = dp_program_new();
            assert_non_null(p);
            int h = dp_program_dense(p, dp_program_input(p, 1, "x", -1, 1), classes, w, NULL);
            (void)dp_program_argmax(p, h);
            free(w);
            check(*state, fixed(p, 8), records[k]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_of_a_tile_and_one_more_are_exact),
        cmocka_unit_test(pools_of_a_block_are_exact),
        cmocka_unit_test(labels_of_many_records_are_exact),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
