/* Plans of layers: how they are cut, with which parameters, what they refuse and what they hide. */
#include "crypto/lattice.h"

#include <math.h>

#include "tests/crypto/bfv-case.h"
#include "tests/lib/check.h"

static const dpi_lattice_shape dense_784_128 = {784, 1, 1, 128, 1, 1, 1, 0, 65536};

static void least_traffic_is_found(void **state)
{
    (void)state;
    dp_error err = {0};
    bfv_case b;
    dpi_lattice_plan plan;
    case_start(&b, 4096, 2, 50, 46);
    assert_ok(dpi_lattice_plan_make(b.f, &dense_784_128, &plan, &err), err.text);
    assert_int_equal(plan.queries, 5);
    assert_int_equal(plan.answers, 5);
    assert_int_equal(plan.query_bytes, 5 * (32 + 4096 * 100 / 8));
    /* 26 + 26 + 26 + 26 + 24 results of 49 bits, whole bytes each. */
    assert_int_equal(plan.answer_bytes, 5 * 4096 / 8 * 61 + 4 * 160 + 147);
    const dpi_lattice_shape small = dpi_lattice_dense(32, 2, 1000);
    assert_ok(dpi_lattice_plan_make(b.f, &small, &plan, &err), err.text);
    assert_int_equal(plan.queries + plan.answers, 2);
    case_end(&b);
}

static void what_is_no_layer_is_refused(void **state)
{
    (void)state;
    static const struct refused {
        dpi_lattice_shape shape;
        dp_status status;
        const char *why;
    } refused[] = {
        {{0, 1, 1, 1, 1, 1, 1, 0, 1}, DP_ESHAPE, "is none"},
        {{1, 1, 1, 1, 1, 1, 0, 0, 1}, DP_ESHAPE, "is none"},
        {{1, 1, 1, 1, 1, 1, 1, 0, 0}, DP_ESHAPE, "is none"},
        {{1, 4, 4, 1, 5, 5, 1, 0, 1}, DP_ESHAPE, "is none"},
        {{1, 4, 4, 1, 3, 3, 1, SIZE_MAX, 1}, DP_ESHAPE, "is none"},
        {{SIZE_MAX, 1, 1, 1, 1, 1, 1, 0, 1}, DP_ESHAPE, "is none"},
        {{1, 9, 3000, 1, 3, 3, 1, 0, 1}, DP_ESHAPE, "into columns"},
        {{784, 1, 1, 128, 1, 1, 1, 0, (int64_t)1 << 40}, DP_EPRIVACY, "does not fit"},
    };
    bfv_case b;
    case_start(&b, 4096, 2, 50, 46);
    dp_error err = {0};
    dpi_lattice_plan plan;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_fails(dpi_lattice_plan_make(b.f, &refused[i].shape, &plan, &err), refused[i].status,
                     &err, refused[i].why);
    const dpi_lattice_shape shape = dpi_lattice_dense(2, 1, 100);
    dpi_lattice_layer *layer;
    assert_ok(dpi_lattice_plan_make(b.f, &shape, &plan, &err), err.text);
    assert_fails(dpi_lattice_layer_new(&plan, (const int32_t[]){100, -101}, &layer, &err),
                 DP_EDOMAIN, &err, "beyond the bound 100");
    assert_null(layer);
    case_end(&b);
}

static void parameters_are_chosen_by_privacy(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_bfv_spec spec;
    const dpi_lattice_shape layers[] = {dense_784_128, dpi_lattice_dense(128, 10, 65536)};
    assert_ok(dpi_lattice_choose(2, layers, 46, 10, &spec, &err), err.text);
    assert_int_equal(spec.n, 4096);
    assert_ok(dpi_lattice_choose(2, layers, 46, 40, &spec, &err), err.text);
    assert_int_equal(spec.n, 8192);
    assert_int_equal(spec.levels, 3);
    for (size_t i = 0; i < 2; i++) {
        dpi_lattice_plan plan;
        dpi_bfv *f;
        assert_ok(dpi_bfv_new(&spec, &f, &err), err.text);
        assert_ok(dpi_lattice_plan_make(f, &layers[i], &plan, &err), err.text);
        assert_true(plan.bits >= 40);
        dpi_bfv_free(f);
    }
    assert_fails(dpi_lattice_choose(2, layers, 46, 200, &spec, &err), DP_EPRIVACY, &err,
                 "200.0 bits of circuit privacy");
    assert_fails(dpi_lattice_choose(2, layers, 60, 10, &spec, &err), DP_EINVAL, &err, "not 60");
}

/* What an answer can tell of u, and what must be left of it (doc/design/lattice.md). */
static void plans_hide_as_much_as_answers_can_tell(void **state)
{
    (void)state;
    const dpi_lattice_shape hidden[] = {
        dense_784_128,
        dpi_lattice_dense(10, 1000, 4095),
        {16, 12, 12, 16, 5, 5, 1, 0, 4095},
        {1, 28, 28, 5, 5, 5, 2, 1, 65535},
        {1, 28, 28, 16, 5, 5, 1, 0, 65535},
    };
    const dpi_bfv_spec spec = {8192, 3, 47, 40};
    dpi_bfv *f;
    dp_error err = {0};
    int widest = 0;
    assert_ok(dpi_bfv_new(&spec, &f, &err), err.text);
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        dpi_lattice_plan plan;
        assert_ok(dpi_lattice_plan_make(f, &hidden[i], &plan, &err), err.text);
        const double each = f->log_q - plan.flood - 1;
        assert_true(each < spec.plain_bits + 2);
        for (size_t a = 0; a < plan.answers; a++) {
            const double told = (double)dpi_lattice_places(&plan, a, NULL, NULL) * each;
            assert_true((double)f->n * plan.hide - told >= (double)f->n * log2(3));
        }
        widest = plan.hide > widest ? plan.hide : widest;
    }
    assert_true(widest > 20);
    dpi_bfv_free(f);
}

static void plain_bits_hold_every_result(void **state)
{
    (void)state;
    const dpi_lattice_shape a = dpi_lattice_dense(1, 1, 1), b = dpi_lattice_dense(4, 1, 16);
    assert_int_equal(dpi_lattice_plain_bits(&a, 1, 0), 2);
    assert_int_equal(dpi_lattice_plain_bits(&a, 1, 1), 3); /* 2 is beyond -2 .. 1 */
    assert_int_equal(dpi_lattice_plain_bits(&b, 15, 0), 11);
    assert_int_equal(dpi_lattice_plain_bits(&b, 16, 0), 12);
    assert_int_equal(dpi_lattice_plain_bits(&b, 16, INFINITY), 64);
    assert_int_equal(dpi_lattice_plain_bits(&b, NAN, 0), 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(least_traffic_is_found),
        cmocka_unit_test(what_is_no_layer_is_refused),
        cmocka_unit_test(parameters_are_chosen_by_privacy),
        cmocka_unit_test(plans_hide_as_much_as_answers_can_tell),
        cmocka_unit_test(plain_bits_hold_every_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
