/* A million products of each back end against GMP's integers, at the sizes that keys have. */
#include "crypto/limbs.h"
#include "tests/crypto/products.h"
#include "tests/lib/check.h"

enum { PRODUCTS = 1000000, SIZES = 4 };

static void a_million_products_agree(void **state)
{
    static const size_t limbs[SIZES] = {32, 48, 64, 96};
    (void)state;
    for (int i = 0; i < SIZES; i++) {
        check_products(&dpi_montgomery_gmp, limbs[i], 1 + (limbs[i] < 64),
                       PRODUCTS / SIZES / DPI_LANES);
        if (dpi_montgomery_ifma.usable())
            check_products(&dpi_montgomery_ifma, limbs[i], 1 + (limbs[i] < 64),
                           PRODUCTS / SIZES / DPI_LANES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_million_products_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
