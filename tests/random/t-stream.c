#include "random/stream.h"

#include <sodium.h>
#include <string.h>

#include "tests/random/chi.h"

static dpi_stream stream, other;

static void unhex(const char *hex, unsigned char *out)
{
    size_t length;
    assert_int_equal(sodium_hex2bin(out, strlen(hex) / 2, hex, strlen(hex), NULL, &length, NULL),
                     0);
    assert_int_equal(length, strlen(hex) / 2);
}

/* RFC 8439, appendix A.1: block `counter` of the keystream.  Of block 0 the first half is the next
 * key and is not handed out. */
static void known_block(const char *key_hex, size_t counter, const char *block_hex)
{
    unsigned char key[32], block[64], bytes[64 * 4];
    unhex(key_hex, key);
    unhex(block_hex, block);
    dpi_stream_start(&stream, key);
    dpi_stream_bytes(&stream, sizeof bytes - 32, bytes + 32);
    size_t skip = counter == 0 ? 32 : 0;
    assert_memory_equal(bytes + 64 * counter + skip, block + skip, 64 - skip);
    if (counter == 0)
        assert_memory_equal(stream.key, block, 32);
}

static void keystream_is_that_of_rfc_8439(void **state)
{
    (void)state;
    const char *zero = "0000000000000000000000000000000000000000000000000000000000000000";
    known_block(zero, 0,
                "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
                "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586");
    known_block(zero, 1,
                "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
                "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f");
    known_block("0000000000000000000000000000000000000000000000000000000000000001", 1,
                "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
                "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0");
    known_block("00ff000000000000000000000000000000000000000000000000000000000000", 2,
                "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca"
                "13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096");
}

static void every_buffer_takes_its_key_from_the_last(void **state)
{
    (void)state;
    static const unsigned char nonce[8];
    unsigned char key[32] = {7}, expected[DPI_STREAM_BUFFER], got[DPI_STREAM_BUFFER - 32];
    dpi_stream_start(&stream, key);
    for (int buffer = 0; buffer < 5; buffer++) {
        (void)crypto_stream_chacha20(expected, sizeof expected, nonce, key);
        memcpy(key, expected, 32);
        dpi_stream_bytes(&stream, sizeof got, got);
        assert_memory_equal(got, expected + 32, sizeof got);
        assert_memory_equal(stream.key, key, 32);
    }
}

static void bytes_do_not_depend_on_request_sizes(void **state)
{
    (void)state;
    enum { TOTAL = 100000 };
    static unsigned char at_once[TOTAL], in_parts[TOTAL];
    dpi_stream_start_seeded(&stream, 3, "test");
    dpi_stream_bytes(&stream, TOTAL, at_once);
    dpi_stream_start_seeded(&stream, 3, "test");
    size_t done = 0, got;
    for (unsigned turn = 0; done + 9000 < TOTAL; turn++) {
        if (turn % 5 == 0) {
            in_parts[done++] = dpi_stream_u8(&stream);
        } else if (turn % 5 == 1) {
            uint32_t word = dpi_stream_u32(&stream);
            for (int i = 0; i < 4; i++)
                in_parts[done++] = (unsigned char)(word >> 8 * i);
        } else if (turn % 5 == 2) {
            uint64_t word = dpi_stream_u64(&stream);
            for (int i = 0; i < 8; i++)
                in_parts[done++] = (unsigned char)(word >> 8 * i);
        } else if (turn % 5 == 3) {
            size_t n = turn % 7 == 0 ? 8999 : turn * 37 % 101;
            dpi_stream_bytes(&stream, n, in_parts + done);
            done += n;
        } else {
            const unsigned char *view = dpi_stream_view(&stream, 13, &got);
            memcpy(in_parts + done, view, got);
            done += got;
        }
    }
    assert_memory_equal(at_once, in_parts, done);
}

static void streams_of_other_seeds_and_purposes_are_independent(void **state)
{
    (void)state;
    const struct {
        uint64_t seed;
        const char *purpose;
    } others[] = {{12, "test"}, {11, "test 2"}, {11 + ((uint64_t)1 << 63), "test"}};
    for (int o = 0; o < 3; o++) {
        static size_t both[65536], difference[256];
        memset(both, 0, sizeof both);
        memset(difference, 0, sizeof difference);
        dpi_stream_start_seeded(&stream, 11, "test");
        dpi_stream_start_seeded(&other, others[o].seed, others[o].purpose);
        for (int i = 0; i < 1 << 20; i++) {
            unsigned char a = dpi_stream_u8(&stream), b = dpi_stream_u8(&other);
            both[a * 256 + b]++;
            difference[a ^ b]++;
        }
        assert_plausible(chi_square_p(65536, both, NULL));
        assert_plausible(chi_square_p(256, difference, NULL));
    }
}

static void integers_below_a_bound_are_uniform(void **state)
{
    (void)state;
    dpi_stream_start_seeded(&stream, 5, "test");
    for (uint64_t bound = 1; bound <= 64; bound++) {
        size_t count[64] = {0};
        for (int i = 0; i < 20000; i++) {
            uint64_t draw = dpi_stream_below(&stream, bound);
            assert_true(draw < bound);
            count[draw]++;
        }
        assert_plausible(chi_square_p((size_t)bound, count, NULL));
    }
}

static void bytes_below_a_bound_are_uniform(void **state)
{
    (void)state;
    static unsigned char bytes[50000];
    const unsigned bounds[] = {1, 2, 3, 100, 128, 129, 240, 254, 255, 256};
    dpi_stream_start_seeded(&stream, 8, "test");
    for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++) {
        size_t count[256] = {0};
        dpi_stream_bytes_below(&stream, bounds[b], sizeof bytes, bytes);
        for (size_t i = 0; i < sizeof bytes; i++) {
            assert_true(bytes[i] < bounds[b]);
            count[bytes[i]]++;
        }
        assert_plausible(chi_square_p(bounds[b], count, NULL));
    }
}

/* Without rejection one residue modulo 3 would come twice as often at these bounds. */
static void remainders_are_rejected(void **state)
{
    (void)state;
    const uint64_t bounds[] = {3u << 30, (uint64_t)3 << 62, ((uint64_t)1 << 32) + 1, UINT64_MAX};
    dpi_stream_start_seeded(&stream, 6, "test");
    for (int b = 0; b < 4; b++) {
        size_t residue[3] = {0}, half[2] = {0};
        for (int i = 0; i < 100000; i++) {
            uint64_t draw = dpi_stream_below(&stream, bounds[b]);
            assert_true(draw < bounds[b]);
            residue[draw % 3]++;
            half[draw >= bounds[b] / 2]++;
        }
        assert_plausible(chi_square_p(3, residue, NULL));
        assert_plausible(chi_square_p(2, half, NULL));
    }
}

static void uniform_numbers_fill_the_open_interval(void **state)
{
    (void)state;
    size_t leading[256] = {0}, trailing[256] = {0};
    dpi_stream_start_seeded(&stream, 7, "test");
    for (int i = 0; i < 300000; i++) {
        double u = dpi_stream_uniform(&stream);
        assert_true(u > 0 && u < 1);
        leading[(int)(u * 256)]++;
        trailing[(uint64_t)(u * 0x1p53) & 255]++;
    }
    assert_plausible(chi_square_p(256, leading, NULL));
    assert_plausible(chi_square_p(256, trailing, NULL));
}

/* The word 2^64 - 1 gives the largest number, 0 is drawn again. */
static void uniform_numbers_never_are_0_or_1(void **state)
{
    (void)state;
    dpi_stream_start_seeded(&stream, 7, "test");
    dpi_stream_refill(&stream);
    unsigned char *next = stream.buffer + (DPI_STREAM_BUFFER - stream.left);
    memset(next, 0xff, 8);
    memset(next + 8, 0, 8);
    assert_true(dpi_stream_uniform(&stream) == 1 - 0x1p-53);
    assert_true(dpi_stream_uniform(&stream) > 0);
}

static void read_ended(void *of)
{
    (void)of;
    dpi_stream_start_seeded(&stream, 7, "test");
    (void)dpi_stream_u8(&stream);
    dpi_stream_end(&stream);
    (void)dpi_stream_u64(&stream);
}

static void ask_empty_range(void *of)
{
    (void)of;
    dpi_stream_start_seeded(&stream, 7, "test");
    (void)dpi_stream_below(&stream, 0);
}

static void ended_streams_and_empty_ranges_abort(void **state)
{
    (void)state;
    dpi_stream_end(NULL);
    assert_aborts(read_ended, NULL);
    assert_aborts(ask_empty_range, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keystream_is_that_of_rfc_8439),
        cmocka_unit_test(every_buffer_takes_its_key_from_the_last),
        cmocka_unit_test(bytes_do_not_depend_on_request_sizes),
        cmocka_unit_test(streams_of_other_seeds_and_purposes_are_independent),
        cmocka_unit_test(integers_below_a_bound_are_uniform),
        cmocka_unit_test(bytes_below_a_bound_are_uniform),
        cmocka_unit_test(remainders_are_rejected),
        cmocka_unit_test(uniform_numbers_fill_the_open_interval),
        cmocka_unit_test(uniform_numbers_never_are_0_or_1),
        cmocka_unit_test(ended_streams_and_empty_ranges_abort),
    };
    return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
