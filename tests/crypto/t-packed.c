#include "crypto/packed.h"

#include <string.h>

#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

static unsigned char bytes[1024];

static uint64_t some(uint64_t *seed, int bits)
{
    (void)next_number(seed);
    return (*seed ^ *seed << 31 ^ *seed >> 17) & (((uint64_t)1 << bits) - 1);
}

/* Bit by bit, from the definition, at all widths and lengths that end anywhere in a word. */
static void bits_lie_one_after_another(void **state)
{
    (void)state;
    uint64_t seed = 3, numbers[70], back[70];
    for (int bits = 1; bits <= DPI_PACKED_MOST; bits++)
        for (size_t n = 0; n <= 70; n++) {
            const size_t size = dpi_packed_size(n, bits);
            assert_int_equal(size, (n * (size_t)bits + 7) / 8);
            for (size_t i = 0; i < n; i++)
                numbers[i] = some(&seed, bits);
            memset(bytes, 0xa5, sizeof bytes);
            dpi_packed_write(n, bits, numbers, bytes);
            for (size_t i = 0; i < n; i++)
                for (int j = 0; j < bits; j++) {
                    const size_t at = i * (size_t)bits + (size_t)j;
                    assert_int_equal(bytes[at / 8] >> at % 8 & 1, numbers[i] >> j & 1);
                }
            assert_int_equal(bytes[size], 0xa5);
            assert_true(dpi_packed_read(n, bits, bytes, back));
            assert_memory_equal(back, numbers, n * sizeof *back);
        }
}

static void bits_behind_the_last_are_refused(void **state)
{
    (void)state;
    uint64_t numbers[9] = {0}, back[9];
    for (int bits = 1; bits <= DPI_PACKED_MOST; bits++)
        for (size_t n = 1; n <= 9; n++) {
            dpi_packed_write(n, bits, numbers, bytes);
            for (size_t at = n * (size_t)bits; at < 8 * dpi_packed_size(n, bits); at++) {
                bytes[at / 8] |= (unsigned char)(1 << at % 8);
                assert_false(dpi_packed_read(n, bits, bytes, back));
                bytes[at / 8] &= (unsigned char)~(1 << at % 8);
            }
            assert_true(dpi_packed_read(n, bits, bytes, back));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_lie_one_after_another),
        cmocka_unit_test(bits_behind_the_last_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
