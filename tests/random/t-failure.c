/* The share of delta for the sampler's failures. */
#include "random/failure.h"

#include <math.h>

#include "random/grid.h"
#include "tests/lib/check.h"

static void failures_of_the_sampler_are_part_of_delta(void **state)
{
    (void)state;
    double asked = 1e-6, accounted = dpi_release_delta(asked);
    assert_true(accounted < asked && accounted > asked * (1 - 1e-11));
    assert_true(dpi_release_whole_delta(asked, accounted, 0x1p40, 50) == asked);
    double large = dpi_release_whole_delta(asked, accounted, 0x1p40, 100);
    assert_close(large, accounted + 0x1p-159 * exp(100), 1e-12, 0);
    assert_true(large > asked);
    assert_true(dpi_release_whole_delta(asked, accounted, 1, 1000) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_of_the_sampler_are_part_of_delta),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
