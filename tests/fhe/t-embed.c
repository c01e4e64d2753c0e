/* The embedding against its definition: values of the polynomial at the places' points. */
#include "fhe/embed.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { MOST = 512 };

static double re[MOST], im[MOST], kept[2][MOST];

static void draw(size_t n, uint64_t seed)
{
    for (size_t k = 0; k < n; k++) {
        kept[0][k] = re[k] = next_number(&seed);
        kept[1][k] = im[k] = next_number(&seed);
    }
}

/* The value at zeta^(5^j) of the polynomial whose coefficients re and im are. */
static double complex value(size_t n, size_t places, size_t j)
{
    const size_t gap = n / 2 / places;
    size_t power = 1;
    double complex sum = 0;
    for (size_t k = 0; k < j; k++)
        power = power * 5 % (2 * n);
    for (size_t k = 0; k < places; k++) {
        const size_t at[2] = {k * gap, n / 2 + k * gap};
        for (int part = 0; part < 2; part++)
            sum +=
                kept[part][k] * cexp(M_PI * I * (double)(power * at[part] % (2 * n)) / (double)n);
    }
    return sum;
}

static void places_are_values_at_powers_of_5(void **state)
{
    dp_error err = {0};
    (void)state;
    for (size_t n = 4; n <= 2 * MOST; n *= 4)
        for (size_t places = 1; places <= n / 2; places *= 2) {
            dpi_embedding *e;
            assert_ok(dpi_embedding_new(n, &e, &err), err.text);
            draw(places, n + places);
            dpi_embedding_forward(e, places, re, im);
            for (size_t j = 0; j < places; j += 1 + places / 16) {
                const double complex v = value(n, places, j);
                assert_close(re[j], creal(v), 1e-13, 1e-12);
                assert_close(im[j], cimag(v), 1e-13, 1e-12);
                /* and the same again where a vector is repeated */
                const double complex again = value(n, places, j + places);
                assert_close(creal(again), creal(v), 1e-12, 1e-12);
            }
            dpi_embedding_inverse(e, places, re, im);
            for (size_t k = 0; k < places; k++) {
                assert_close(re[k], kept[0][k], 1e-13, 1e-14);
                assert_close(im[k], kept[1][k], 1e-13, 1e-14);
            }
            dpi_embedding_free(e);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places_are_values_at_powers_of_5)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
