/* Plans: what a card computes with it has, and broken calls abort. */
#include "cluster/plan.h"

#include "tests/lib/check.h"

static void inputs_are_sent_once(void **state)
{
    dpi_plan p;
    (void)state;
    dpi_plan_begin(&p, 3);
    const uint32_t x = dpi_plan_input(&p, 2);
    const uint32_t y = dpi_plan_do(&p, (dpi_step){.op = DPI_OP_RESCALE, .card = 1}, 1, &x);
    const uint32_t both[] = {x, y};
    assert_int_equal(dpi_plan_messages(&p), 0);
    for (int k = 0; k < 2; k++)
        assert_int_equal(
            p.value[dpi_plan_do(&p, (dpi_step){.op = DPI_OP_ADD, .card = 2}, 2, both)].level, 3);
    assert_int_equal(dpi_plan_messages(&p), 1);
    dpi_plan_broadcast(&p, y, 1, 2);
    assert_int_equal(dpi_plan_messages(&p), 1);
    dpi_plan_free(&p);
}

/* All around from any card, and back at the top after the lowest level. */
static void broadcasts_go_around(void **state)
{
    (void)state;
    for (int copied = 0; copied < 2; copied++) {
        dpi_plan p;
        dpi_plan_begin(&p, 5);
        p.copied = copied;
        const uint32_t v =
            dpi_plan_do(&p, (dpi_step){.op = DPI_OP_WORK, .card = 3, .level = 7}, 0, NULL);
        dpi_plan_broadcast(&p, v, 3, 5);
        assert_int_equal(p.value[v].at, 0x1f);
        assert_int_equal(dpi_plan_messages(&p), 4);
        const uint32_t up = dpi_plan_do(&p, (dpi_step){.op = DPI_OP_RAISE, .card = 1}, 1, &v);
        assert_int_equal(p.value[v].level, 7);
        assert_int_equal(p.value[up].level, 0);
        dpi_plan_free(&p);
    }
}

/* Wherever the values are, to where the first of them is. */
static void sums_go_home(void **state)
{
    uint32_t values[3];
    dpi_plan p;
    (void)state;
    dpi_plan_begin(&p, 5);
    for (uint32_t i = 0; i < 3; i++)
        values[i] =
            dpi_plan_do(&p, (dpi_step){.op = DPI_OP_WORK, .card = (3 + 3 * i) % 5}, 0, NULL);
    assert_int_equal(p.value[dpi_plan_sum(&p, 3, values)].home, 3);
    assert_int_equal(dpi_plan_messages(&p), 2);
    dpi_plan_free(&p);
}

static void send_what_is_not_there(void *of)
{
    dpi_plan *p = of;
    const uint32_t v = dpi_plan_do(p, (dpi_step){.op = DPI_OP_WORK, .card = 1}, 0, NULL);
    dpi_plan_send(p, v, 0, 2);
}

static void compute_nowhere(void *of)
{
    (void)dpi_plan_do(of, (dpi_step){.op = DPI_OP_WORK, .card = 3}, 0, NULL);
}

static void broken_calls_abort(void **state)
{
    dpi_plan p;
    (void)state;
    dpi_plan_begin(&p, 3);
    assert_aborts(send_what_is_not_there, &p);
    assert_aborts(compute_nowhere, &p);
    dpi_plan_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_are_sent_once), cmocka_unit_test(broadcasts_go_around),
        cmocka_unit_test(sums_go_home), cmocka_unit_test(broken_calls_abort)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
