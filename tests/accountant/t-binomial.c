/* Tails of the binomial distribution, from both sides. */
#include "accountant/pairs/binomial.h"

#include "tests/accountant/naive.h"
#include "tests/lib/check.h"

/* 40-digit sums, and sums in long double. */
static void binomial_tails_are_exact(void **state)
{
    (void)state;
    SKIP_WITHOUT_LONG_DOUBLE();
    for (int k = 0; k <= 90; k += 3) {
        double exact = (double)naive_binomial_tail(90, 0.3L, k);
        double low = dpi_binomial_tail(90, 0.3, (uint64_t)k, DPI_LOWER);
        double high = dpi_binomial_tail(90, 0.3, (uint64_t)k, DPI_UPPER);
        assert_true(low <= exact * (1 + 1e-15) && high >= exact * (1 - 1e-15));
        assert_close(low, high, 4e-8, 1e-289);
    }
    assert_true(dpi_binomial_tail(10, 0.2, 11, DPI_UPPER) == 0);
    assert_true(dpi_binomial_tail(10, 0.2, 0, DPI_LOWER) == 1);
    const struct {
        uint64_t n, k;
        double p, exact;
    } cases[] = {
        {60000u, 200u, 0.0021333333333333334, 2.34487767395206251e-9},
        {60000u, 150u, 0.0021333333333333334, 0.030953904693547905},
        {60000u, 120u, 0.0021333333333333334, 0.772100276447592214},
        {1000000000u, 100300u, 0.0001, 0.171767399965211397},
        {1000000000u, 99000u, 0.0001, 0.999234616648216972},
        {9999999999u, 5000100000u, 0.5, 0.0227501319400805622},
        {1000000000u, 1u, 1e-09, 0.632120559012497422},
        {5000000000u, 40u, 1e-09, 8.55002273538239947e-23},
        {20000000u, 19999000u, 0.99993, 1.12402625814874896e-29},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double low = dpi_binomial_tail(cases[i].n, cases[i].p, cases[i].k, DPI_LOWER);
        double high = dpi_binomial_tail(cases[i].n, cases[i].p, cases[i].k, DPI_UPPER);
        assert_true(low <= cases[i].exact && high >= cases[i].exact);
        assert_close(low, high, 4e-8, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binomial_tails_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
