#include "graph/kernel-loops.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"

enum { MOST = 40, RECORDS = 5, SPARE = 8 };
static const double mark = 77;

/* Numbers that no two orders of rounding treat alike. */
static void fill(size_t n, double *x, double seed)
{
    for (size_t i = 0; i < n; i++)
        x[i] = seed + (double)i * 0.3719 + 1 / (seed + (double)i);
}

static double value(int op, double a, double b, bool by_inverse)
{
    return op == 0 ? a + b : op == 1 ? a - b : op == 2 ? a * b : by_inverse ? a * (1 / b) : a / b;
}

/* One operand of `size` numbers, n, 1 or any that n is a multiple of, for each record or for
 * all. */
static void check(int op, size_t records, size_t n, const size_t size[2], const bool each[2])
{
    static void (*const kernel[])(const dpi_call *) = {dpi_double_add, dpi_double_sub,
                                                       dpi_double_mul, dpi_double_div};
    double in[2][MOST * RECORDS], out[MOST * RECORDS + SPARE];
    dpi_call call = {.n = records, .out = out, .out_size = n};
    for (int k = 0; k < 2; k++) {
        fill(MOST * RECORDS, in[k], k == 0 ? 1.385 : 2.917);
        call.in[k] = in[k];
        call.in_size[k] = size[k];
        call.in_step[k] = each[k] ? size[k] : 0;
    }
    for (size_t i = 0; i < records * n + SPARE; i++)
        out[i] = mark;
    kernel[op](&call);
    for (size_t r = 0; r < records; r++)
        for (size_t e = 0; e < n; e++) {
            double a = in[0][r * call.in_step[0] + e % size[0]];
            double b = in[1][r * call.in_step[1] + e % size[1]];
            assert_true(out[r * n + e] == value(op, a, b, each[0] && !each[1]));
        }
    for (size_t i = 0; i < SPARE; i++)
        assert_true(out[records * n + i] == mark);
}

/* A record's numbers are the same, to the bit, whatever its neighbours. */
static void rows_of_every_length_are_as_written(void **state)
{
    (void)state;
    for (int op = 0; op < 4; op++)
        for (size_t records = 1; records <= RECORDS; records++)
            for (size_t n = 1; n <= MOST; n++)
                for (int whose = 1; whose < 4; whose++) {
                    const bool each[] = {(whose & 1) != 0, (whose & 2) != 0};
                    check(op, records, n, (size_t[]){n, n}, each);
                    check(op, records, n, (size_t[]){n, 1}, each);
                    check(op, records, n, (size_t[]){1, n}, each);
                    if (n % 3 == 0)
                        check(op, records, n, (size_t[]){n, 3}, each);
                }
}

static void global_values_are_as_written(void **state)
{
    (void)state;
    const bool none[] = {false, false};
    for (int op = 0; op < 4; op++)
        for (size_t n = 1; n <= MOST; n++) {
            check(op, 1, n, (size_t[]){n, n}, none);
            check(op, 1, n, (size_t[]){n, 1}, none);
            check(op, 1, n, (size_t[]){1, n}, none);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_every_length_are_as_written),
        cmocka_unit_test(global_values_are_as_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
