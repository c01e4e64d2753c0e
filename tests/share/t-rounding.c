/* Plans that round by chance: answers lie within what is said of them, and what could leave its
 * bounds is refused. */
#include <stdlib.h>
#include <string.h>

#include "share/plan.h"
#include "tests/share/programs.h"

enum { PROGRAMS = 3000, RECORDS = 4 };

/* ---- a party whose shifts go down, up, or either way ---- */

typedef enum way { DOWN, UP, EITHER } way;

static struct {
    way way;
    uint64_t state;
} luck;

static uint64_t added(int shift)
{
    const uint64_t below = (UINT64_C(1) << shift) - 1;
    return luck.way == DOWN ? 0 : luck.way == UP ? below : rows_next(&luck.state) & below;
}

/* floor((v + r) / 2^shift) with r of 0 ... 2^shift - 1, in 64 bits. */
static void linear_by_luck(dpi_party *p, dpi_ring ring, const dpi_linear *l, const dpi_share *x,
                           const dpi_share *w, const dpi_share *bias, int shift, dpi_share *z)
{
    dpi_clear.linear(p, ring, l, x, w, bias, 0, z);
    int64_t *v = z->part[0];
    for (size_t i = 0; shift > 0 && i < z->n; i++)
        v[i] = (v[i] + (int64_t)added(shift)) >> shift;
}

static void put(dpi_ring ring, size_t n, const int64_t *from, const dpi_share *to)
{
    for (size_t i = 0; i < n; i++) {
        if (ring == DPI_RING_32)
            ((uint32_t *)to->part[0])[i] = (uint32_t)from[i];
        else
            ((int64_t *)to->part[0])[i] = from[i];
    }
}

static void run_by_luck(const dpi_share_plan *plan, size_t n, const int64_t *x, int64_t *y)
{
    const dpi_ring ring = dpi_share_plan_ring(plan);
    dpi_share_row row = dpi_clear;
    row.linear = linear_by_luck;
    dpi_party p = {.row = &row};
    dpi_share in, model, out;
    dpi_share_room *room;
    dp_error err = {DP_OK, ""};
    const size_t numbers = dpi_share_model_size(plan->p), answers = n * dpi_share_answers(plan);
    int64_t *weights = calloc(numbers + 1, sizeof *weights);
    assert_non_null(weights);
    dpi_share_model_numbers(plan->p, weights);
    assert_ok(dpi_party_start(&p, &err), err.text);
    assert_ok(dpi_share_new(&p, ring, n * dp_program_inputs(plan->p), &in, &err), err.text);
    assert_ok(dpi_share_new(&p, ring, numbers + 1, &model, &err), err.text);
    assert_ok(dpi_share_new(&p, ring, answers, &out, &err), err.text);
    assert_ok(dpi_share_room_new(&p, plan, &room, &err), err.text);
    put(ring, in.n, x, &in);
    put(ring, numbers, weights, &model);
    dpi_share_run(&p, plan, room, &model, 0, n, &in, &out);
    const void *piece[] = {out.part[0]};
    dpi_clear.join(ring, dpi_share_answer_bits(plan), answers, piece, y);
    dpi_share_room_free(room);
    dpi_share_free(&in);
    dpi_share_free(&model);
    dpi_share_free(&out);
    dpi_party_end(&p);
    free(weights);
}

/* ---- what is said ---- */

/* The largest distance of an answer from the exact one, each way of rounding. */
static int64_t distance(const dpi_share_plan *plan, uint64_t seed)
{
    const size_t n = RECORDS * dpi_share_answers(plan);
    int64_t *x = programs_records(plan->p, RECORDS, &seed), most = 0;
    int64_t *y = calloc(n, sizeof *y), *exact = calloc(n, sizeof *exact);
    dp_error err = {DP_OK, ""};
    assert_true(x != NULL && y != NULL && exact != NULL);
    assert_ok(dp_program_run_exact(plan->p, RECORDS, x, exact, &err), err.text);
    luck.state = seed;
    for (luck.way = DOWN; luck.way <= EITHER; luck.way++) {
        run_by_luck(plan, RECORDS, x, y);
        for (size_t i = 0; i < n; i++)
            most = llabs(y[i] - exact[i]) > most ? llabs(y[i] - exact[i]) : most;
    }
    free(x);
    free(y);
    free(exact);
    return most;
}

/* Some are off by as much as is said where one shift is all that there is. */
static void answers_lie_within_what_is_said(void **state)
{
    (void)state;
    const dpi_share_opts o = {.batch = RECORDS, .probabilistic = true};
    size_t checked = 0, reached = 0, off = 0;
    for (size_t k = 0; k < PROGRAMS; k++) {
        uint64_t seed = 100 + k;
        dp_program *p = programs_draw(&seed, 38, false);
        dpi_share_plan *plan = NULL;
        double most;
        if (p != NULL && dpi_share_plan_new(p, &o, &plan, NULL) == DP_OK &&
            dpi_share_rounding(plan, &most, NULL) == DP_OK) {
            const int64_t seen = distance(plan, seed);
            assert_true((double)seen <= most);
            checked++;
            off += seen > 1;
            reached += seen > 0 && (double)seen == most;
        }
        dpi_share_plan_free(plan);
        dp_program_free(p);
    }
    assert_true(checked > 50);
    assert_true(off > 20);
    assert_true(reached > 20);
}

/* ---- what is refused ---- */

static dp_status try(const dp_program *p, dp_error *err)
{
    const dpi_share_opts o = {.probabilistic = true};
    dpi_share_plan *plan;
    double most;
    assert_ok(dpi_share_plan_new(p, &o, &plan, err), err->text);
    const dp_status status = dpi_share_rounding(plan, &most, err);
    assert_true((status == DP_OK) == (most == most));
    dpi_share_plan_free(plan);
    return status;
}

/* Two numbers behind a relu, of which the second is less than half a unit, and a stage that weighs
 * them so: the exact one has no use for the second, which is 0, and rounded by chance it can be
 * 1. */
static dp_program *weighed(double first, double second, int bits)
{
    dp_program *p = dp_program_new();
    const double tiny[2] = {1, 0x1p-20}, last[2] = {first, second};
    assert_non_null(p);
    int h =
        dp_program_relu(p, dp_program_dense(p, dp_program_input(p, 1, "x", 0, 1), 2, tiny, NULL));
    (void)dp_program_dense(p, h, 1, last, NULL);
    const dp_scale_opts scales = {.weight_bits = bits, .activation_bits = 12};
    dp_error err = {DP_OK, ""};
    assert_ok(dp_program_fix(p, &scales, &err), err.text);
    return p;
}

static void what_chance_could_take_out_of_its_bounds_is_refused(void **state)
{
    (void)state;
    dp_program *heavy = weighed(0, 1, 26), *light = weighed(1, 1, 26), *small = weighed(1, 1, 8);
    dp_error err = {DP_OK, ""};
    assert_fails(try(heavy, &err), DP_EUNSUPPORTED, &err, "stage 3 (dense)");
    assert_ok(try(light, &err), err.text);
    assert_true(dp_program_bits(small) <= 30);
    assert_fails(try(small, &err), DP_EUNSUPPORTED, &err, "no shift");
    dp_program_free(heavy);
    dp_program_free(light);
    dp_program_free(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_lie_within_what_is_said),
        cmocka_unit_test(what_chance_could_take_out_of_its_bounds_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
