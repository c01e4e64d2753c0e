/* Clipped sums in whole numbers: of each record what it adds to a clipped sum, rounded, and so the
 * same in any order and however records are cut into sums. */
#include "exec/whole.h"

#include <math.h>
#include <string.h>

#include "tests/exec/network.h"
#include "tests/lib/check.h"

enum { NETWORKS = 300 };

typedef double numbers[MOST_RELEASE];

/* The first m records' sums, in whole numbers and as they are. */
static void add_first(dpi_run *run, size_t m, double clip, double steps, double *whole, double *sum)
{
    static numbers unit;
    double scratch[2 * RECORDS];
    memset(whole, 0, sizeof(numbers));
    memset(sum, 0, sizeof(numbers));
    dpi_run_clip_whole(run, m, NULL, clip, steps, scratch, unit, whole);
    dpi_run_clip_sum(run, m, clip, scratch, sum);
}

/* Of record after record: a number is off by half of a step, and by rounding. */
static void compare(const network *n, dpi_choice choice, bool single)
{
    static numbers whole[2], sum[2];
    const double steps = 0x1p20, clip = 1.375, off = single ? 0x1p-4 : 0x1p-20;
    dpi_run *run = network_run(n, choice, single, 0);
    memset(whole, 0, sizeof whole);
    memset(sum, 0, sizeof sum);
    for (size_t m = 1; m <= RECORDS; m++) {
        const size_t now = m % 2, before = 1 - now;
        add_first(run, m, clip, steps, whole[now], sum[now]);
        for (size_t e = 0; e < n->release; e++) {
            const double added = whole[now][e] - whole[before][e];
            assert_true(added == rint(added));
            assert_true(fabs(added - steps * (sum[now][e] - sum[before][e])) <= 0.5 + off * 32);
        }
    }
    dpi_run_free(run);
}

static void records_add_what_they_do_rounded(void **state)
{
    static const dpi_choice choices[] = {DPI_CHEAPEST, DPI_ALWAYS_PRODUCTS, DPI_ALWAYS_ONE_BY_ONE};
    (void)state;
    for (size_t i = 0; i < NETWORKS; i++) {
        network n;
        network_new(&n, i);
        for (int k = 0; k < 3; k++)
            for (int single = 0; single < 2; single++)
                compare(&n, choices[k], single);
        network_free(&n);
    }
}

/* Units of one record are as records; of several their gradients are added up first. */
static void units_are_rounded_once(void **state)
{
    static const size_t ones[RECORDS] = {1, 1, 1, 1, 1}, mixed[] = {1, 3, 1};
    static numbers a, b, unit, sum;
    double scratch[2 * RECORDS];
    const double steps = 0x1p16, clip = 0.875;
    (void)state;
    for (size_t i = 0; i < NETWORKS; i++) {
        network n;
        network_new(&n, i);
        dpi_run *run = network_run(&n, DPI_CHEAPEST, false, 0);
        memset(a, 0, sizeof a);
        memset(b, 0, sizeof b);
        dpi_run_clip_whole(run, RECORDS, NULL, clip, steps, scratch, unit, a);
        dpi_run_clip_whole(run, RECORDS, ones, clip, steps, scratch, unit, b);
        assert_memory_equal(a, b, sizeof a);
        memset(a, 0, sizeof a);
        memset(sum, 0, sizeof sum);
        dpi_run_clip_whole(run, 3, mixed, clip, steps, scratch, unit, a);
        dpi_run_clip_units(run, 3, mixed, clip, scratch, unit, sum);
        for (size_t e = 0; e < n.release; e++) {
            assert_true(a[e] == rint(a[e]));
            assert_true(fabs(a[e] - steps * sum[e]) <= 1.5 + 0x1p-10);
        }
        dpi_run_free(run);
        network_free(&n);
    }
}

/* What is not finite adds nothing, and what is beside it is as without it. */
static void what_has_no_norm_adds_nothing(void **state)
{
    double unit[] = {1, -2, NAN}, sum[] = {7, 7, 7};
    (void)state;
    assert_true(dpi_clip_add_whole(3, unit, 1, 0x1p20, sum) == 0);
    unit[2] = 1e200; /* whose square is not */
    assert_true(dpi_clip_add_whole(3, unit, 1, 0x1p20, sum) == 0);
    for (int e = 0; e < 3; e++)
        assert_true(sum[e] == 7);
    unit[2] = 2;
    assert_true(dpi_clip_add_whole(3, unit, 1.5, 0x1p20, sum) == 0.5);
    assert_true(sum[0] == 7 + 0x1p19 && sum[1] == 7 - 0x1p20 && sum[2] == 7 + 0x1p20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_add_what_they_do_rounded),
        cmocka_unit_test(units_are_rounded_once),
        cmocka_unit_test(what_has_no_norm_adds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
