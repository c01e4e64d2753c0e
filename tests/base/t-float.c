/* Arithmetic that the bounds do not hold for is seen, in the caller, in threads, and by what
 * releases. */
#include "base/float.h"

#include <fenv.h>
#include <math.h>
#include <tacit/bounds.h>

#include "base/pool.h"
#include "svi/svi.h"
#include "tests/lib/check.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

static void the_usual_arithmetic_is_taken(void **state)
{
    (void)state;
    dp_error err = {0};
    assert_ok(dpi_float_check(&err), err.text);
}

static void another_rounding_is_refused(void **state)
{
    (void)state;
    const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
        dp_error err = {0};
        assert_int_equal(fesetround(modes[k]), 0);
        dp_status status = dpi_float_check(&err);
        assert_int_equal(fesetround(FE_TONEAREST), 0);
        assert_fails(status, DP_EUNSUPPORTED, &err, "call fesetround(FE_TONEAREST)");
    }
}

#if defined(__SSE2__)
/* Bits that fegetround does not look at: the vector unit's rounding, one mode after the other, and
 * zeros for subnormal results and operands. */
static const unsigned controls[] = {0x2000, 0x4000, 0x6000, 0x8000, 0x0040};
static const char *const words[] = {"to nearest", "to nearest", "to nearest", "subnormal",
                                    "subnormal"};
enum { N_CONTROLS = sizeof controls / sizeof *controls };

/* Valgrind's vector unit keeps the rounding mode alone. */
static void skip_without_controls(void)
{
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040);
    bool kept = (_mm_getcsr() & 0x8040) == 0x8040;
    _mm_setcsr(before);
    if (!kept) {
        print_message("the vector unit does not flush to zero here\n");
        skip();
    }
}

static void what_the_vector_unit_is_set_to_is_seen(void **state)
{
    (void)state;
    skip_without_controls();
    for (size_t k = 0; k < N_CONTROLS; k++) {
        dp_error err = {0};
        unsigned before = _mm_getcsr();
        _mm_setcsr(before | controls[k]);
        dp_status status = dpi_float_check(&err);
        _mm_setcsr(before);
        assert_fails(status, DP_EUNSUPPORTED, &err, words[k]);
    }
}

static void look(void *user, size_t k)
{
    unsigned *seen = user;
    seen[k] = _mm_getcsr() & (0xe000 | 0x0040);
}

/* A thread inherits the control word of the one that starts it. */
static void threads_of_a_pool_compute_as_usual(void **state)
{
    (void)state;
    skip_without_controls();
    dp_error err = {0};
    dpi_pool *pool;
    unsigned seen[3] = {1, 1, 1}, before = _mm_getcsr();
    _mm_setcsr(before | 0x8040 | 0x2000);
    dp_status status = dpi_pool_new(3, &pool, &err);
    if (status == DP_OK)
        dpi_pool_run(pool, look, seen);
    _mm_setcsr(before);
    assert_ok(status, err.text);
    assert_int_equal(seen[0], 0x8040 | 0x2000);
    assert_int_equal(seen[1], 0);
    assert_int_equal(seen[2], 0);
    dpi_pool_free(pool);
}
#endif

enum { N = 20 };

static void nothing_is_released_without_it(void **state)
{
    (void)state;
    static double y[N];
    dp_error err = {0};
    dp_svi *svi, *other;
    dp_quantile_answer answer;
    dp_privacy spent;
    const dp_quantile asked = {.column = "y", .share = 0.5, .low = -1, .high = 1};
    const dp_quantile_opts quantiles = {.sigma = 1, .delta = 1e-3, .asked = &asked, .n = 1};
    const dp_svi_opts opts = {.sigma = 2, .delta = 1e-3, .clip = 1, .steps = 2};
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(N);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr a = dp_sample(m, "a", 1, dp_normal(0, 1));
    dp_observe(rows, "y", dp_normal_v(a, dp_num(1)));
    dp_dataset_real(data, "y", 1, y);
    assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
    (void)fesetround(FE_UPWARD);
    dp_error made = {0}, stepped = {0}, found = {0};
    dp_status making = dp_svi_new(m, NULL, data, &opts, &other, &made);
    dp_status stepping = dp_svi_step(svi, &stepped);
    dp_status finding = dp_private_quantiles(data, &quantiles, &answer, &spent, &found);
    (void)fesetround(FE_TONEAREST);
    assert_null(other);
    assert_fails(making, DP_EUNSUPPORTED, &made, "round to nearest");
    assert_fails(stepping, DP_EUNSUPPORTED, &stepped, "round to nearest");
    assert_fails(finding, DP_EUNSUPPORTED, &found, "round to nearest");
    assert_true(isnan(answer.value) && spent.steps == 0);
    dp_privacy privacy;
    assert_ok(dp_svi_privacy(svi, &privacy, &err), err.text);
    assert_int_equal(privacy.steps, 0);
    assert_ok(dp_svi_step(svi, &err), err.text); /* and goes on when it is mended */
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_usual_arithmetic_is_taken),
        cmocka_unit_test(another_rounding_is_refused),
#if defined(__SSE2__)
        cmocka_unit_test(what_the_vector_unit_is_set_to_is_seen),
        cmocka_unit_test(threads_of_a_pool_compute_as_usual),
#endif
        cmocka_unit_test(nothing_is_released_without_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
