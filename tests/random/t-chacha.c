#include "random/chacha.h"

#include <sodium.h>
#include <string.h>

#include "tests/lib/check.h"

static unsigned char expected[DPI_CHACHA_BYTES], got[DPI_CHACHA_BYTES];

/* libsodium's own vectors, and those of RFC 8439 in t-stream, say what the bytes are. */
static void vector_code_gives_the_bytes_of_libsodium(void **state)
{
    (void)state;
    if (!dpi_chacha_has_avx512())
        skip();
    unsigned char key[DPI_CHACHA_KEY] = {0};
    for (int i = 0; i < 200; i++) {
        dpi_chacha_sodium(key, expected);
        memset(got, 0, sizeof got);
        dpi_chacha_avx512(key, got);
        assert_memory_equal(got, expected, sizeof got);
        memcpy(key, expected + 17 * i, sizeof key);
    }
}

static void any_alignment_will_do(void **state)
{
    (void)state;
    static unsigned char room[DPI_CHACHA_BYTES + 64];
    unsigned char key[DPI_CHACHA_KEY] = {1};
    dpi_chacha_sodium(key, expected);
    for (int shift = 0; shift < 64; shift += 7) {
        memset(room, 0x5a, sizeof room);
        dpi_chacha(key, room + shift);
        assert_memory_equal(room + shift, expected, sizeof expected);
        for (int i = 0; i < 64; i++)
            assert_int_equal(room[i < shift ? i : DPI_CHACHA_BYTES + i], 0x5a);
    }
}

static int setup(void **state)
{
    (void)state;
    return sodium_init() < 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_code_gives_the_bytes_of_libsodium),
        cmocka_unit_test(any_alignment_will_do),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
