#include "random/wide.h"

#include <math.h>
#include <string.h>

#include "tests/lib/check.h"

typedef struct example {
    dpi_wide x, minus_log, sine;
} example;

/* From mpmath 1.3 with 600 bits. */
static const example examples[] = {
    {{{UINT64_C(0x97b750923ceb3ffd), UINT64_C(0x216363698b529b4a), UINT64_C(0xea7b5bf55eb561a4),
       UINT64_C(0x795b929e9a9a80fd), UINT64_C(0x94b2b8fda02f34a6), UINT64_C(0x0)}},
     {{UINT64_C(0x5ad4f01d14a46796), UINT64_C(0x79eb0caf1c9db91b), UINT64_C(0x6922e15a31d7ffa8),
       UINT64_C(0x6ab2602e689fc77c), UINT64_C(0x8b1307cb3ea59e90), UINT64_C(0x0)}},
     {{UINT64_C(0x76ae382b2346d273), UINT64_C(0xd7383b23c57843ed), UINT64_C(0xb37628831b12b3bc),
       UINT64_C(0xf35cb1b0c584757f), UINT64_C(0xf7c935b646e03007), UINT64_C(0x0)}}},
    {{{UINT64_C(0x9b08923d10c67fd9), UINT64_C(0xe8a8529f035efa25), UINT64_C(0x781f9c58d6645fa9),
       UINT64_C(0x8d0038ec42650644), UINT64_C(0x311624273bfd1d33), UINT64_C(0x0)}},
     {{UINT64_C(0xe9863dae4e69cd4f), UINT64_C(0x8b03f32c2e62ec98), UINT64_C(0x56435b5a5828dae9),
       UINT64_C(0xbcbb3d534e17d428), UINT64_C(0xa6ced6dd77e6c494), UINT64_C(0x1)}},
     {{UINT64_C(0xb34d6b6a30bb9986), UINT64_C(0xc3c91ab4135c3dde), UINT64_C(0xa582e8f8c8f92a13),
       UINT64_C(0x832f06421c35b08a), UINT64_C(0x910d22ec89f964a5), UINT64_C(0x0)}}},
    {{{UINT64_C(0x20000000000000), UINT64_C(0x0), UINT64_C(0x0), UINT64_C(0x0), UINT64_C(0x0),
       UINT64_C(0x0)}},
     {{UINT64_C(0xad6333d2a4cd02e1), UINT64_C(0xfba75c7aab52ebca), UINT64_C(0xbdb709198546017e),
       UINT64_C(0x907c4f8c1e6748c8), UINT64_C(0x11feff77d363e62b), UINT64_C(0xb9)}},
     {{UINT64_C(0x6487ed5110b461), UINT64_C(0x0), UINT64_C(0x0), UINT64_C(0x0), UINT64_C(0x0),
       UINT64_C(0x0)}}},
    {{{UINT64_C(0xffe0000000000000), UINT64_C(0xffffffffffffffff), UINT64_C(0xffffffffffffffff),
       UINT64_C(0xffffffffffffffff), UINT64_C(0xffffffffffffffff), UINT64_C(0x0)}},
     {{UINT64_C(0x20000000000000), UINT64_C(0x0), UINT64_C(0x0), UINT64_C(0x0), UINT64_C(0x0),
       UINT64_C(0x0)}},
     {{UINT64_C(0x6487ed5110b461), UINT64_C(0x0), UINT64_C(0x0), UINT64_C(0x0), UINT64_C(0x0),
       UINT64_C(0x0)}}},
    {{{UINT64_C(0x0), UINT64_C(0x0), UINT64_C(0x0), UINT64_C(0x0), UINT64_C(0x8000000000000000),
       UINT64_C(0x0)}},
     {{UINT64_C(0xe7b876206debac98), UINT64_C(0x8a0d175b8baafa2b), UINT64_C(0x40f343267298b62d),
       UINT64_C(0xc9e3b39803f2f6af), UINT64_C(0xb17217f7d1cf79ab), UINT64_C(0x0)}},
     {{UINT64_C(0x0), UINT64_C(0x0), UINT64_C(0x0), UINT64_C(0x0), UINT64_C(0x0), UINT64_C(0x1)}}},
};
enum { N_EXAMPLES = sizeof examples / sizeof *examples };

/* |a - b| < 2^(bits - 320), bits < 64. */
static void assert_near(const dpi_wide *a, const dpi_wide *b, int bits)
{
    dpi_wide d;
    if (dpi_wide_less(a, b))
        dpi_wide_subtract(b, a, &d);
    else
        dpi_wide_subtract(a, b, &d);
    for (int i = 1; i < DPI_WIDE_LIMBS; i++)
        assert_int_equal(d.limb[i], 0);
    assert_true(d.limb[0] >> bits == 0);
}

static void logarithms_are_those_of_mpmath(void **state)
{
    (void)state;
    for (int i = 0; i < N_EXAMPLES; i++) {
        dpi_wide got;
        dpi_wide_minus_log(&examples[i].x, &got);
        assert_near(&got, &examples[i].minus_log, 10);
    }
}

static void sines_are_those_of_mpmath(void **state)
{
    (void)state;
    for (int i = 0; i < N_EXAMPLES; i++) {
        dpi_wide got;
        dpi_wide_sine_pi(&examples[i].x, &got);
        assert_near(&got, &examples[i].sine, 9);
    }
}

/* (2^64 - 2^-320)^2 is all ones' square; 2/3 * 3/2 = 1 up to cut-offs. */
static void products_and_quotients_undo_each_other(void **state)
{
    (void)state;
    const uint32_t divisors[] = {3, 7, 1000003, UINT32_MAX};
    for (int i = 0; i < N_EXAMPLES; i++)
        for (int k = 0; k < 4; k++) {
            dpi_wide times = {{0, 0, 0, 0, 0, divisors[k]}}, got;
            dpi_wide_multiply(&examples[i].x, &times, &got);
            dpi_wide_divide(&got, divisors[k], &got);
            assert_memory_equal(&got, &examples[i].x, sizeof got);
        }
    dpi_wide ones, square, low = {{0}}, expected;
    memset(&ones, 0xff, sizeof ones);
    ones.limb[DPI_WIDE_LIMBS - 1] =
        UINT32_MAX; /* 2^32 - 2^-320: the square is 2^64 - 2^-287 + .. */
    dpi_wide_multiply(&ones, &ones, &square);
    low.limb[0] = UINT64_C(1) << 33;
    memset(&expected, 0, sizeof expected);
    dpi_wide_subtract(&expected, &low, &expected);
    assert_memory_equal(&square, &expected, sizeof square);
}

static void carries_go_all_the_way(void **state)
{
    (void)state;
    dpi_wide smallest = {{1}}, ones, got, zero = {{0}};
    memset(&ones, 0xff, sizeof ones);
    dpi_wide_add(&ones, &smallest, &got);
    assert_memory_equal(&got, &zero, sizeof got);
    dpi_wide_subtract(&zero, &smallest, &got);
    assert_memory_equal(&got, &ones, sizeof got);
    assert_true(dpi_wide_less(&smallest, &ones) && !dpi_wide_less(&ones, &smallest));
    assert_false(dpi_wide_less(&ones, &ones));
}

static void doubles_are_the_leading_bits(void **state)
{
    (void)state;
    const dpi_wide three_halves = {{0, 0, 0, 0, UINT64_C(1) << 63, 1}}, least = {{1}};
    assert_close(dpi_wide_double(&three_halves), 1.5, 0, 0);
    assert_close(dpi_wide_double(&least), 0x1p-320, 0, 0);
    for (int i = 0; i < N_EXAMPLES; i++) {
        double expected = 0;
        for (int j = 0; j < DPI_WIDE_LIMBS; j++)
            expected += ldexp((double)examples[i].x.limb[j], 64 * j - DPI_WIDE_FRACTION);
        assert_close(dpi_wide_double(&examples[i].x), expected, 0x1p-51, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithms_are_those_of_mpmath),
        cmocka_unit_test(sines_are_those_of_mpmath),
        cmocka_unit_test(products_and_quotients_undo_each_other),
        cmocka_unit_test(carries_go_all_the_way),
        cmocka_unit_test(doubles_are_the_leading_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
