#include "share/kernels.h"

#include <string.h>

#include "share/kernels-parts.h"
#include "tests/lib/check.h"

enum { MOST = 3000, WORDS = (MOST + 63) / 64, BITS = 64, GUARD = 2 };

static uint64_t wide[MOST], back[MOST + GUARD], planes[BITS * WORDS + GUARD];
static uint32_t narrow[MOST];

static const size_t sizes[] = {1,   2,   31,  63,  64,   65,   127,  128,  500, 511,
                               512, 513, 575, 576, 1000, 1023, 1024, 1025, MOST};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

static void fill(uint64_t seed)
{
    for (size_t i = 0; i < MOST; i++) {
        seed += 0x9e3779b97f4a7c15;
        uint64_t v = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9;
        v = (v ^ v >> 27) * 0x94d049bb133111eb;
        wide[i] = i % 17 == 16 ? UINT64_MAX : v ^ v >> 31;
        narrow[i] = (uint32_t)wide[i];
    }
}

static const void *numbers_of(dpi_ring ring)
{
    return ring == DPI_RING_64 ? (const void *)wide : narrow;
}

static uint64_t bit_of(dpi_ring ring, size_t i, int bit)
{
    return (ring == DPI_RING_64 ? wide[i] : narrow[i]) >> bit & 1;
}

/* Bits of some planes, zeros past the end, and nothing behind it. */
static void check_split(const dpi_planes_kernel *kernel, dpi_ring ring, size_t n, size_t n_planes,
                        const int *plane)
{
    const size_t words = dpi_share_words(n);
    memset(planes, 0xa5, sizeof planes);
    dpi_planes_split(kernel, ring, n, numbers_of(ring), n_planes, plane, planes);
    for (size_t j = 0; j < n_planes; j++)
        for (size_t i = 0; i < words * BITS; i++) {
            const uint64_t bit = planes[j * words + i / BITS] >> i % BITS & 1;
            assert_int_equal(bit, i < n ? bit_of(ring, i, plane[j]) : 0);
        }
    for (size_t i = 0; i < GUARD; i++)
        assert_int_equal(planes[n_planes * words + i], 0xa5a5a5a5a5a5a5a5);
}

static void planes_have_the_bits_of_numbers(void **state)
{
    (void)state;
    const int some[] = {63, 0, 31, 32, 7, 7, 62, 1}, few[] = {31, 0, 7, 7, 30, 16};
    int all[BITS];
    for (int i = 0; i < BITS; i++)
        all[i] = i;
    fill(1);
    for (size_t k = 0; k < dpi_n_planes_kernels; k++)
        for (size_t i = 0; dpi_planes_kernels[k].works() && i < N_SIZES; i++) {
            const dpi_planes_kernel *kernel = &dpi_planes_kernels[k];
            check_split(kernel, DPI_RING_64, sizes[i], BITS, all);
            check_split(kernel, DPI_RING_64, sizes[i], 8, some);
            check_split(kernel, DPI_RING_64, sizes[i], 1, some);
            check_split(kernel, DPI_RING_32, sizes[i], BITS / 2, all);
            check_split(kernel, DPI_RING_32, sizes[i], 6, few);
        }
}

/* Bits of planes past the last number are nobody's, and need not be zeros. */
static void check_join(const dpi_planes_kernel *kernel, dpi_ring ring, size_t n, size_t n_planes)
{
    const size_t words = dpi_share_words(n), size = dpi_ring_bytes(ring);
    const uint64_t mask = n_planes == BITS ? UINT64_MAX : ((uint64_t)1 << n_planes) - 1;
    memset(planes, 0xff, sizeof planes);
    for (size_t j = 0; j < n_planes; j++)
        for (size_t i = 0; i < n; i++)
            planes[j * words + i / BITS] ^= (bit_of(ring, i, (int)j) ^ 1) << i % BITS;
    memset(back, 0xa5, sizeof back);
    dpi_planes_join(kernel, ring, n, n_planes, planes, back);
    for (size_t i = 0; i < n; i++)
        if (ring == DPI_RING_64)
            assert_int_equal(back[i], wide[i] & mask);
        else
            assert_int_equal(((uint32_t *)back)[i], narrow[i] & mask);
    for (size_t i = n * size; i < (n + GUARD) * size; i++)
        assert_int_equal(((unsigned char *)back)[i], 0xa5);
}

static void numbers_have_the_bits_of_planes(void **state)
{
    (void)state;
    fill(2);
    for (size_t k = 0; k < dpi_n_planes_kernels; k++)
        for (size_t i = 0; dpi_planes_kernels[k].works() && i < N_SIZES; i++)
            for (size_t n_planes = 1; n_planes <= BITS; n_planes += 9) {
                check_join(&dpi_planes_kernels[k], DPI_RING_64, sizes[i], n_planes);
                if (n_planes <= BITS / 2)
                    check_join(&dpi_planes_kernels[k], DPI_RING_32, sizes[i], n_planes);
            }
    for (size_t k = 0; k < dpi_n_planes_kernels; k++)
        if (dpi_planes_kernels[k].works())
            check_join(&dpi_planes_kernels[k], DPI_RING_32, MOST, BITS / 2);
}

static void the_kernel_that_is_chosen_goes_there_and_back(void **state)
{
    (void)state;
    int all[BITS];
    for (int i = 0; i < BITS; i++)
        all[i] = i;
    fill(3);
    for (size_t i = 0; i < N_SIZES; i++) {
        dpi_planes_of(DPI_RING_64, sizes[i], wide, BITS, all, planes);
        dpi_planes_to(DPI_RING_64, sizes[i], BITS, planes, back);
        assert_memory_equal(back, wide, sizes[i] * sizeof *wide);
        dpi_planes_of(DPI_RING_32, sizes[i], narrow, BITS / 2, all, planes);
        dpi_planes_to(DPI_RING_32, sizes[i], BITS / 2, planes, back);
        assert_memory_equal(back, narrow, sizes[i] * sizeof *narrow);
    }
}

static void bits_become_numbers(void **state)
{
    (void)state;
    fill(4);
    for (size_t k = 0; k < N_SIZES; k++) {
        const size_t n = sizes[k];
        memset(back, 0xa5, sizeof back);
        dpi_bits_spread(DPI_RING_64, n, wide, back);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(back[i], wide[i / BITS] >> i % BITS & 1);
        assert_int_equal(back[n], 0xa5a5a5a5a5a5a5a5);
        memset(back, 0xa5, sizeof back);
        dpi_bits_spread(DPI_RING_32, n, wide, back);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(((uint32_t *)back)[i], wide[i / BITS] >> i % BITS & 1);
        assert_int_equal(((uint32_t *)back)[n], 0xa5a5a5a5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_have_the_bits_of_numbers),
        cmocka_unit_test(numbers_have_the_bits_of_planes),
        cmocka_unit_test(the_kernel_that_is_chosen_goes_there_and_back),
        cmocka_unit_test(bits_become_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
