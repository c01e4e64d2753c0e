/* What an outsider gives: components that sum to the numbers, of which all but one are drawn. */
#include "share/deal.h"

#include <string.h>

#include "tests/lib/check.h"

enum { N = 5000, PARTIES = 4 };

static const dpi_ring rings[] = {DPI_RING_64, DPI_RING_32, DPI_RING_BITS};

static void make_seeds(unsigned char seed[PARTIES][DPI_DEAL_SEED])
{
    for (size_t c = 0; c < PARTIES; c++)
        for (size_t i = 0; i < DPI_DEAL_SEED; i++)
            seed[c][i] = (unsigned char)(c * 60 + i * 3);
}

static uint64_t element(dpi_ring ring, const void *x, size_t i)
{
    return ring == DPI_RING_32 ? ((const uint32_t *)x)[i] : ((const uint64_t *)x)[i];
}

static int64_t number(size_t i)
{
    static const int64_t edges[] = {0, 1, -1, INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN};
    return i < 7 ? edges[i] : (int64_t)((uint64_t)i * 0x9e3779b97f4a7c15u);
}

static void components_sum_to_the_numbers(void **state)
{
    static uint64_t sum[N], drawn[N];
    static int64_t x[N];
    unsigned char seed[PARTIES][DPI_DEAL_SEED];
    (void)state;
    make_seeds(seed);
    for (size_t i = 0; i < N; i++)
        x[i] = number(i);
    for (size_t k = 0; k < 3; k++)
        for (size_t parties = 3; parties <= PARTIES; parties++)
            for (size_t full = 0; full < parties; full++) {
                dpi_ring ring = rings[k];
                dpi_deal_split(ring, parties, full, (const unsigned char(*)[DPI_DEAL_SEED])seed, 7,
                               N, x, sum);
                uint64_t total[N];
                for (size_t i = 0; i < N; i++)
                    total[i] = element(ring, sum, i);
                for (size_t c = 0; c < parties; c++) {
                    if (c == full)
                        continue;
                    dpi_deal_draw(ring, seed[c], 7, N, drawn);
                    for (size_t i = 0; i < N; i++)
                        total[i] = ring == DPI_RING_BITS ? total[i] ^ element(ring, drawn, i)
                                                         : total[i] + element(ring, drawn, i);
                }
                for (size_t i = 0; i < N; i++)
                    assert_true(ring == DPI_RING_32 ? (uint32_t)total[i] == (uint32_t)x[i]
                                                    : total[i] == (uint64_t)x[i]);
            }
}

/* From anywhere in the stream, in any pieces; other seeds and rings give others. */
static void a_seed_gives_the_same_from_any_place(void **state)
{
    static uint64_t all[N], part[N], other[N];
    unsigned char seed[PARTIES][DPI_DEAL_SEED];
    (void)state;
    make_seeds(seed);
    for (size_t k = 0; k < 3; k++) {
        size_t bytes = dpi_ring_bytes(rings[k]);
        dpi_deal_draw(rings[k], seed[0], 0, N, all);
        for (size_t first = 0, n = 1; first < N; first += n, n = n * 2 % 997 + 1) {
            size_t m = n < N - first ? n : N - first;
            dpi_deal_draw(rings[k], seed[0], first, m, part);
            assert_memory_equal(part, (const unsigned char *)all + first * bytes, m * bytes);
        }
        dpi_deal_draw(rings[k], seed[1], 0, N, other);
        assert_memory_not_equal(all, other, N * bytes);
        dpi_deal_draw(rings[(k + 1) % 3], seed[0], 0, N / 2, other);
        assert_memory_not_equal(all, other, 8);
    }
    dpi_deal_draw(DPI_RING_64, seed[0], UINT64_MAX / 16, 0, NULL);
}

/* The first numbers under a seed, from a ChaCha20 of another library: that parties of different
 * versions understand each other. */
static void the_stream_is_chacha20(void **state)
{
    static const unsigned char zero[DPI_DEAL_SEED];
    unsigned char expected[] = {0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90,
                                0x40, 0x5d, 0x6a, 0xe5, 0x53, 0x86, 0xbd, 0x28};
    uint64_t drawn[2];
    (void)state;
    dpi_deal_draw(DPI_RING_64, zero, 0, 2, drawn); /* its nonce is zeros; RFC 8439, A.1, vector 1 */
    assert_memory_equal(drawn, expected, sizeof drawn);
}

/* Each component alone is uniform: the counts of the 256 values of a byte of 40000 numbers, all of
 * them 0, have a chi-square of 255 degrees.  One of the 24 is above 460 by chance in fewer than
 * 1e-9 cases (the bound of Laurent and Massart, 255 + 2 sqrt(255 t) + 2 t with t = 24); the seeds
 * are fixed, so that it does not vary. */
static void one_component_is_uniform(void **state)
{
    enum { MANY = 40000 };
    static int64_t x[MANY];
    static uint64_t out[MANY];
    unsigned char seed[PARTIES][DPI_DEAL_SEED];
    (void)state;
    make_seeds(seed);
    for (size_t full = 0; full < 3; full++)
        for (int byte = 0; byte < 8; byte++) {
            double count[256] = {0}, chi = 0, mean = MANY / 256.0;
            dpi_deal_split(DPI_RING_64, 3, full, (const unsigned char(*)[DPI_DEAL_SEED])seed, 0,
                           MANY, x, out);
            for (size_t i = 0; i < MANY; i++)
                count[out[i] >> (8 * byte) & 255]++;
            for (int v = 0; v < 256; v++)
                chi += (count[v] - mean) * (count[v] - mean) / mean;
            assert_true(chi < 460);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_sum_to_the_numbers),
        cmocka_unit_test(a_seed_gives_the_same_from_any_place),
        cmocka_unit_test(the_stream_is_chacha20),
        cmocka_unit_test(one_component_is_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
