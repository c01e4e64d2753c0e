/* Numbers as planes of bits, and back: squares of 64 x 64 bits are transposed, eight of them, a
 * block, at a time.  What a plane has of a block is a line of eight words, so that planes are
 * written and read by whole lines, and only those that are asked for.
 *
 * Numbers of 32 bits go in pairs, 512 apart, so that a line k and the line k + 32 are sixteen words
 * of one plane. */
#include <sodium.h>
#include <string.h>

#include "base/compiler.h"
#include "share/kernels-parts.h"

enum { SIDE = DPI_PLANES_SIDE, SQUARES = DPI_PLANES_SQUARES, BLOCK = DPI_PLANES_BLOCK };

typedef uint64_t lines[SIDE][SQUARES];

/* ---- without special instructions ---- */

/* Transposes the squares, square s in a[i][s]: halves change places, then halves of these, and so
 * on (Warren, Hacker's Delight, 7-3); on squares side by side, for vectors. */
DPI_LOOPS static void turn(lines a)
{
    uint64_t mask = 0xffffffff;
    for (size_t j = SIDE / 2; j > 0; j /= 2, mask ^= mask << j)
        for (size_t i = 0; i < SIDE; i = (i + j + 1) & ~j) {
            uint64_t *high = a[i], *low = a[i + j];
            DPI_APART
            for (size_t s = 0; s < SQUARES; s++) {
                uint64_t swap = (high[s] >> j ^ low[s]) & mask;
                low[s] ^= swap;
                high[s] ^= swap << j;
            }
        }
}

static void split(const uint64_t x[BLOCK], lines line)
{
    for (size_t s = 0; s < SQUARES; s++)
        for (size_t i = 0; i < SIDE; i++)
            line[i][s] = x[s * SIDE + i];
    turn(line);
}

static void join(lines line, uint64_t x[BLOCK])
{
    turn(line);
    for (size_t s = 0; s < SQUARES; s++)
        for (size_t i = 0; i < SIDE; i++)
            x[s * SIDE + i] = line[i][s];
}

/* ---- the choice ---- */

static bool everywhere(void)
{
    return true;
}

#if defined(__x86_64__)
static bool has_gfni(void)
{
    return __builtin_cpu_supports("gfni") != 0 && __builtin_cpu_supports("avx512vbmi") != 0 &&
           __builtin_cpu_supports("avx512f") != 0;
}
#endif

const dpi_planes_kernel dpi_planes_kernels[] = {
#if defined(__x86_64__)
    {"gfni", has_gfni, dpi_planes_gfni_split, dpi_planes_gfni_join},
#endif
    {"portable", everywhere, split, join},
};
const size_t dpi_n_planes_kernels = sizeof dpi_planes_kernels / sizeof *dpi_planes_kernels;

static const dpi_planes_kernel *best(void)
{
    const dpi_planes_kernel *kernel = dpi_planes_kernels;
    while (!kernel->works())
        kernel++;
    return kernel;
}

/* ---- blocks of arrays ---- */

/* Halves of a pair: numbers i and i + BLOCK. */
DPI_LOOPS static void pair_up(const uint32_t *x, uint64_t *pairs)
{
    for (size_t i = 0; i < BLOCK; i++)
        pairs[i] = x[i] | (uint64_t)x[i + BLOCK] << 32;
}

DPI_LOOPS static void take_apart(const uint64_t *pairs, uint32_t *x)
{
    for (size_t i = 0; i < BLOCK; i++) {
        x[i] = (uint32_t)pairs[i];
        x[i + BLOCK] = (uint32_t)(pairs[i] >> 32);
    }
}

/* Words `at` and on of a plane, at most SQUARES of them. */
static void put_line(const uint64_t line[SQUARES], size_t words, size_t at, uint64_t *plane)
{
    if (at + SQUARES <= words)
        memcpy(plane + at, line, SQUARES * sizeof *line);
    else if (at < words)
        memcpy(plane + at, line, (words - at) * sizeof *line);
}

static void get_line(const uint64_t *plane, size_t words, size_t at, uint64_t line[SQUARES])
{
    if (at + SQUARES <= words) {
        memcpy(line, plane + at, SQUARES * sizeof *line);
        return;
    }
    memset(line, 0, SQUARES * sizeof *line);
    if (at < words)
        memcpy(line, plane + at, (words - at) * sizeof *line);
}

/* What a block is made in. */
typedef struct bench {
    lines line;
    uint64_t x[BLOCK];
    uint32_t narrow[2 * BLOCK];
} bench;

/* `n` numbers, at most as many as a block has, and zeros. */
static void split_block(const dpi_planes_kernel *kernel, dpi_ring ring, size_t n,
                        const unsigned char *x, bench *b)
{
    const size_t size = dpi_ring_bytes(ring), all = BLOCK * sizeof *b->x;
    unsigned char *whole = ring == DPI_RING_32 ? (unsigned char *)b->narrow : (unsigned char *)b->x;
    if (n * size < all) {
        memcpy(whole, x, n * size);
        memset(whole + n * size, 0, all - n * size);
        x = whole;
    }
    if (ring == DPI_RING_32) {
        pair_up((const uint32_t *)(const void *)x, b->x);
        x = (const unsigned char *)b->x;
    }
    kernel->split((const uint64_t *)(const void *)x, b->line);
}

static void join_block(const dpi_planes_kernel *kernel, dpi_ring ring, size_t n, bench *b,
                       unsigned char *x)
{
    const size_t size = dpi_ring_bytes(ring), all = BLOCK * sizeof *b->x;
    const bool whole = n * size == all;
    if (ring == DPI_RING_64) {
        kernel->join(b->line, whole ? (uint64_t *)(void *)x : b->x);
        if (!whole)
            memcpy(x, b->x, n * size);
        return;
    }
    kernel->join(b->line, b->x);
    take_apart(b->x, whole ? (uint32_t *)(void *)x : b->narrow);
    if (!whole)
        memcpy(x, b->narrow, n * size);
}

/* Numbers of a block. */
static size_t block_of(dpi_ring ring)
{
    return ring == DPI_RING_32 ? 2 * BLOCK : BLOCK;
}

void dpi_planes_split(const dpi_planes_kernel *kernel, dpi_ring ring, size_t n, const void *x,
                      size_t n_planes, const int *plane, uint64_t *planes)
{
    const size_t words = dpi_share_words(n), block = block_of(ring), size = dpi_ring_bytes(ring);
    bench b;
    for (size_t i = 0; i < n; i += block) {
        const unsigned char *from = (const unsigned char *)x + i * size;
        split_block(kernel, ring, n - i < block ? n - i : block, from, &b);
        for (size_t j = 0; j < n_planes; j++) {
            uint64_t *to = planes + j * words;
            put_line(b.line[plane[j]], words, i / SIDE, to);
            if (ring == DPI_RING_32)
                put_line(b.line[plane[j] + SIDE / 2], words, i / SIDE + SQUARES, to);
        }
    }
    sodium_memzero(&b, sizeof b);
}

void dpi_planes_join(const dpi_planes_kernel *kernel, dpi_ring ring, size_t n, size_t n_planes,
                     const uint64_t *planes, void *x)
{
    const size_t words = dpi_share_words(n), block = block_of(ring), size = dpi_ring_bytes(ring);
    bench b;
    for (size_t i = 0; i < n; i += block) {
        memset(b.line, 0, sizeof b.line);
        for (size_t j = 0; j < n_planes; j++) {
            const uint64_t *from = planes + j * words;
            get_line(from, words, i / SIDE, b.line[j]);
            if (ring == DPI_RING_32)
                get_line(from, words, i / SIDE + SQUARES, b.line[j + SIDE / 2]);
        }
        join_block(kernel, ring, n - i < block ? n - i : block, &b, (unsigned char *)x + i * size);
    }
    sodium_memzero(&b, sizeof b);
}

void dpi_planes_of(dpi_ring ring, size_t n, const void *x, size_t n_planes, const int *plane,
                   uint64_t *planes)
{
    dpi_planes_split(best(), ring, n, x, n_planes, plane, planes);
}

void dpi_planes_to(dpi_ring ring, size_t n, size_t n_planes, const uint64_t *planes, void *x)
{
    dpi_planes_join(best(), ring, n, n_planes, planes, x);
}

/* ---- single bits ---- */

DPI_LOOPS static void spread_64(size_t n, const uint64_t *words, uint64_t *x)
{
    size_t i = 0;
    for (; i + SIDE <= n; i += SIDE) {
        const uint64_t word = words[i / SIDE];
        for (size_t k = 0; k < SIDE; k++)
            x[i + k] = word >> k & 1;
    }
    for (; i < n; i++)
        x[i] = words[i / SIDE] >> i % SIDE & 1;
}

DPI_LOOPS static void spread_32(size_t n, const uint64_t *words, uint32_t *x)
{
    enum { HALF = SIDE / 2 };
    size_t i = 0;
    for (; i + HALF <= n; i += HALF) {
        const uint32_t half = (uint32_t)(words[i / SIDE] >> i % SIDE);
        for (size_t k = 0; k < HALF; k++)
            x[i + k] = half >> k & 1;
    }
    for (; i < n; i++)
        x[i] = (uint32_t)(words[i / SIDE] >> i % SIDE & 1);
}

void dpi_bits_spread(dpi_ring ring, size_t n, const uint64_t *words, void *x)
{
    if (ring == DPI_RING_64)
        spread_64(n, words, x);
    else
        spread_32(n, words, x);
}
