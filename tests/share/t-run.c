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
    bool all; /* the answer with the ring's upper bits */
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
    scene_tell(p, &u->told, ring, u->all ? dpi_ring_bits(ring) : dpi_share_answer_bits(plan), &y);
    dpi_share_free(&x);
    dpi_share_free(&model);
    dpi_share_free(&y);
    dpi_share_room_free(room);
    dpi_share_plan_free(plan);
}

/* What was sent is what the plan says. */
static void check_cost(const rows_case *c, const runs_of *u, const scene_end *end)
{
    dpi_share_plan *plan;
    dpi_share_cost cost;
    if (c->row == &dpi_clear)
        return;
    dp_error err = {DP_OK, ""};
    assert_ok(dpi_share_plan_new(u->p, &u->opts, &plan, &err), err.text);
    assert_ok(dpi_share_cost_of(plan, c->row, u->n, &cost, &err), err.text);
    for (size_t i = 0; i < c->row->parties; i++)
        for (size_t j = 0; j < c->row->parties; j++) {
            assert_int_equal(end[i].traffic.prepared[j], cost.prepared[i][j]);
            assert_int_equal(end[i].traffic.online[j], cost.online[i][j]);
        }
    assert_int_equal(end[1].traffic.turns, cost.rounds);
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
    check_cost(c, u, end);
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
    runs_of u = {.p = p,
                 .opts = {.batch = n + n % 3, .block = block},
                 .n = n,
                 .x = x,
                 .salt = *state,
                 .all = n % 2 == 0};
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

/* ---- labels ---- */

static size_t first_largest(size_t n, const int64_t *y)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        best = y[i] > y[best] ? i : best;
    return best;
}

/* Records whose outputs are the inputs, among which there are ties. */
static dp_program *same_again(size_t n)
{
    dp_program *p = dp_program_new();
    assert_non_null(p);
    double *weights = calloc(n * n, sizeof *weights);
    assert_non_null(weights);
    for (size_t i = 0; i < n; i++)
        weights[i * n + i] = 1;
    int x = dp_program_input(p, n, "x", -4, 4);
    assert_true(dp_program_dense(p, x, n, weights, NULL) > 0);
    free(weights);
    dp_error err = {DP_OK, ""};
    assert_ok(dp_program_fix(p, &(dp_scale_opts){.activation_bits = 3}, &err), err.text);
    return p;
}

static void check_labels(const scene *s, const rows_case *c, size_t outputs)
{
    enum { N = 100 };
    uint64_t state = outputs;
    dp_program *p = same_again(outputs);
    int64_t *x = calloc(N * outputs, sizeof *x), scores[N * 11], label[N];
    assert_non_null(x);
    for (size_t i = 0; i < N * outputs; i++)
        x[i] = (int64_t)(rows_next(&state) % 7) - 3;
    dp_error err = {DP_OK, ""};
    assert_ok(dp_program_run_exact(p, N, x, scores, &err), err.text);
    runs_of u = {
        .p = p, .opts = {.batch = N, .block = 64, .label = true}, .n = N, .x = x, .salt = 5};
    run_among(s, c, &u, label);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(label[i], outputs > 1
                                       ? (int64_t)first_largest(outputs, scores + i * outputs)
                                       : scores[i] > 0);
    free(x);
    dp_program_free(p);
}

static void a_label_is_the_first_largest_output_or_a_sign(void **state)
{
    for (size_t c = 0; c < ROWS_ALL; c++)
        for (size_t outputs = 1; outputs <= 11; outputs += outputs < 3 ? 1 : 4)
            check_labels(*state, &rows_all[c], outputs);
}

/* ---- plans ---- */

static dp_program *one_relu(int activation_bits, int weight_bits)
{
    enum { IN = 40, OUT = 50 };
    double weights[IN * OUT];
    uint64_t state = 9;
    for (size_t i = 0; i < IN * OUT; i++)
        weights[i] = (double)(int64_t)rows_next(&state) * 0x1p-63;
    dp_program *p = dp_program_new();
    assert_non_null(p);
    int x = dp_program_input(p, IN, "x", -1, 1);
    (void)dp_program_relu(p, dp_program_dense(p, x, OUT, weights, NULL));
    const dp_scale_opts scales = {.activation_bits = activation_bits, .weight_bits = weight_bits};
    dp_error err = {DP_OK, ""};
    assert_ok(dp_program_fix(p, &scales, &err), err.text);
    return p;
}

static dpi_share_plan *plan_of(const dp_program *p, dpi_share_opts opts)
{
    dpi_share_plan *plan;
    dp_error err = {DP_OK, ""};
    assert_ok(dpi_share_plan_new(p, &opts, &plan, &err), err.text);
    return plan;
}

static void the_ring_is_chosen_by_the_bits(void **state)
{
    (void)state;
    dp_program *small = one_relu(10, 8), *large = one_relu(16, 14);
    assert_true(dp_program_bits(small) <= 30);
    assert_true(dp_program_bits(large) > 30);
    dpi_share_plan *a = plan_of(small, (dpi_share_opts){.probabilistic = true});
    dpi_share_plan *b = plan_of(large, (dpi_share_opts){0});
    assert_int_equal(dpi_share_plan_ring(a), DPI_RING_32);
    assert_int_equal(dpi_share_plan_ring(b), DPI_RING_64);
    assert_int_equal(dpi_share_answers(b), 50);
    assert_int_equal(dpi_share_answer_bits(b), dp_program_stage(large, 2)->bits + 1);
    dpi_share_plan_free(a);
    dpi_share_plan_free(b);
    dp_program_free(small);
    dp_program_free(large);
}

static void values_share_their_places(void **state)
{
    (void)state;
    dp_program *p = dp_program_new();
    assert_non_null(p);
    double weights[16] = {1};
    int x = dp_program_input(p, 4, "x", -1, 1);
    for (int k = 0; k < 10; k++)
        x = dp_program_relu(p, dp_program_dense(p, x, 4, weights, NULL));
    dp_error err = {DP_OK, ""};
    assert_ok(dp_program_fix(p, NULL, &err), err.text);
    dpi_share_plan *plan = plan_of(p, (dpi_share_opts){0});
    assert_int_equal(plan->values, 2 * 16);
    assert_int_equal(dpi_share_layers(plan), 20);
    dpi_share_plan_free(plan);
    dp_program_free(p);
}

/* A shift by a linear stage leaves the floor or one more, and rounding is one of the two.  Of 1000
 * numbers below 2^40 each is wrong altogether with a probability below 2^-24: three of them are
 * with one below 4e-14. */
static void a_probabilistic_shift_is_off_by_one_at_most(void **state)
{
    enum { N = 20, OUT = 50 };
    dp_program *p = one_relu(20, 14);
    uint64_t seed = 3;
    int64_t *x = programs_records(p, N, &seed), exact[N * OUT], y[N * OUT];
    dp_error err = {DP_OK, ""};
    assert_true(dp_program_bits(p) <= 40);
    assert_ok(dp_program_run_exact(p, N, x, exact, &err), err.text);
    for (size_t c = 0; c < ROWS_ALL; c++) {
        runs_of u = {.p = p, .opts = {.batch = N, .probabilistic = true}, .n = N, .x = x};
        dpi_share_plan *plan = plan_of(p, u.opts);
        assert_true(plan->step[0].shift > 0 && plan->step[1].relu.shift == 0);
        dpi_share_plan_free(plan);
        run_among(*state, &rows_all[c], &u, y);
        size_t other = 0, wrong = 0;
        for (size_t i = 0; i < N * OUT; i++) {
            wrong += y[i] - exact[i] > 1 || exact[i] - y[i] > 1;
            other += y[i] != exact[i];
        }
        assert_true(wrong <= 2);
        assert_true(other > 0);
    }
    free(x);
    dp_program_free(p);
}

static void what_cannot_be_computed_is_refused_by_name(void **state)
{
    (void)state;
    dp_program *p = dp_program_new();
    assert_non_null(p);
    const double weights[4] = {1, 0, 0, 1};
    int x = dp_program_input(p, 2, "x", -1, 1);
    (void)dp_program_dense(p, x, 2, weights, NULL);
    dp_program_answer(p, DP_LINK_IDENTITY, 2);
    dp_error err = {DP_OK, ""};
    assert_ok(dp_program_fix(p, NULL, &err), err.text);
    dpi_share_plan *plan;
    dp_status status = dpi_share_plan_new(p, &(dpi_share_opts){.label = true}, &plan, &err);
    assert_fails(status, DP_EUNSUPPORTED, &err, "several posterior draws");
    assert_null(plan);
    dp_program_free(p);
}

/* Numbers of 59 bits that stand for 2^19 each, of which the table tells 2^-10 apart. */
static void a_table_too_far_from_its_numbers_is_refused(void **state)
{
    (void)state;
    dp_program *p = dp_program_new();
    assert_non_null(p);
    const double weights[1] = {0x1p37 - 1};
    int x = dp_program_input(p, 1, "x", -0x1p40, 0x1p40);
    (void)dp_program_sigmoid(p, dp_program_dense(p, x, 1, weights, NULL));
    dp_error err = {DP_OK, ""};
    const dp_scale_opts scales = {.weight_bits = 28, .activation_bits = 30};
    assert_ok(dp_program_fix(p, &scales, &err), err.text);
    dpi_share_plan *plan;
    assert_fails(dpi_share_plan_new(p, NULL, &plan, &err), DP_EUNSUPPORTED, &err,
                 "stage 2 (sigmoid)");
    assert_null(plan);
    dp_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_programs_are_computed_to_the_bit),
        cmocka_unit_test(drawn_programs_are_computed_alike_by_several),
        cmocka_unit_test(a_label_is_the_first_largest_output_or_a_sign),
        cmocka_unit_test(the_ring_is_chosen_by_the_bits),
        cmocka_unit_test(values_share_their_places),
        cmocka_unit_test(a_probabilistic_shift_is_off_by_one_at_most),
        cmocka_unit_test(what_cannot_be_computed_is_refused_by_name),
        cmocka_unit_test(a_table_too_far_from_its_numbers_is_refused),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
