/* Gaussian integers: the integer nearest to a real normal number times 2^32.
 *
 * Construction.  A pair of normal numbers is r cos t, r sin t, r^2 = -2 log u (Box and Muller 1958)
 * of two real uniform numbers, whose leading bits are words 0 and 1 of the pair:
 *   u       in (0, 1): 64 bits of word 0, the low 10 of word 1, and 192 more where they are needed;
 *   f       in (0, 1): the high 52 bits of word 1 and 192 more; x = (pi/2) f - pi/4;
 *   bit 10  exchanges cos x and sin x; bit 11 is the sign of both.
 * The 192 + 192 more bits of pair number j are bytes 0 .. 47 of ChaCha20 under a key of the call's
 * own (its first 32 bytes) with nonce j.  They are a fixed part of the draw, whether looked at or not.
 *
 * Fast.  A kernel (grid-kernel.h) computes Y = 2^32 r cos x in double and rounds it.  When Y is
 * farther than a bound from the middle between two integers, then every real number within the
 * bound of Y rounds to the same integer, so also the exact one.  The rest is undecided: one number in
 * about 50000, 2 E(r) 2^32 2^-49, and those with r > 6 or r < 2^-20, one pair in 6e7.
 *
 * Bound, v = 2^-53.  With or without fused multiply-add:
 *   log u   u is a sum of two doubles, coarse + fine; `rest` is what its rounding loses, exactly.
 *           m - 1 is exact, m + 1 and the quotient lose v each, its square and the series 0.2 v (the
 *           share of the series after s is below s^2/3 < 0.01; its end is below 0.03 v), the sum v:
 *           log m to 3.5 v of itself.  rest stands for rest / u: v (1 - u) at most, that is v of -log u.
 *           With e = 0 the sum with rest loses v: 5.5 v in all.  With e < 0 |e| log 2 <= 2 |log u| and
 *           |log m| <= |log u|, and so 3 v (constant and product), 3.5 v, v, v and v: 9.5 v of log u.
 *           The bits below 2^-74 change log u by at most 2^-75 / u: v of it where u >= e^-18, that is
 *           r^2 <= 36, and u < 1/2; else 2^-74.
 *   r       half of 10.5 v, and v of the root: 6.3 v r; and 2^-75 / r <= 2^-55 with r >= 2^-20.
 *   x       product and constant 2 v pi/4, bits below 2^-52 pi/2 v: 3.2 v.
 *   cos x   3.2 v sin(pi/4), v of the last sum, 1.1 v of what is added to 1: 4.4 v; sin x: 3.2 v,
 *           v/2 and 0.3 v: 4 v.  Ends of the series: below 0.01 v.
 *   Y       2^32 (r (6.3 + 4.4 + 1) v + 2^-55), while the bound is 2^32 (16 v r + 2^-53).
 * The rounder loses nothing: |Y| < 2^35.  All doubles are normal numbers.
 *
 * Exact.  Undecided numbers are computed again with all bits and 320 bits of fraction (wide.c):
 * (r cos x)^2 = -log u (1 + sin pi f), (r sin x)^2 = -log u (1 - sin pi f), compared with the square of the
 * half-integer in question.  Both are off by less than 2^-290.
 *
 * Failure.  The draw differs from the rounding of a real normal number only when the bits below the
 * 266 of u or the 244 of f, or the 2^-290, matter.  Let 2^-w-1 <= u < 2^-w.  The former move r by less than
 * 2^-265+w (r >= 2^-w/2 near u = 1 in place of 1 there: with 1 - u as u, the same sum), the latter r t by
 * 2^-241, so a half-integer of the grid lies between with probability below 2^33 (2^-265+w + 2^-241);
 * weighted with P = 2^-w-1 and summed over w < 220: below 2^-200; and P(u < 2^-220) is 2^-220.  The
 * bits of the stream are taken for random ones here, as everywhere.
 *
 * Time.  It tells how many numbers of a call were undecided.  Whether one is depends on how near the
 * middle of two integers the real number was, which is independent of the integer up to the change
 * of the density over a step, 2^-32 |z|; the bound grows with r, so larger numbers are undecided more
 * often, at 2^-16 r; beyond r = 6 always.
 *
 * Reference for noise rounded to a grid: Mironov 2012; doc/design/noise.md. */
#include "random/grid.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/error.h"
#include "random/wide.h"

enum { GROUP_NUMBERS = 2 * DPI_GRID_GROUP };

static bool everywhere(void)
{
    return true;
}

#if defined(__x86_64__)
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
           __builtin_cpu_supports("avx512vl") != 0 && has_avx2();
}
#endif

const dpi_grid_kernel dpi_grid_kernels[] = {
#if defined(__x86_64__)
    {"avx512", dpi_grid_avx512, has_avx512},
    {"avx2", dpi_grid_avx2, has_avx2},
#endif
    {"portable", dpi_grid_portable, everywhere},
};
const size_t dpi_n_grid_kernels = sizeof dpi_grid_kernels / sizeof *dpi_grid_kernels;

/* u with all its bits and the middle of what is left. */
static dpi_wide wide_u(const uint64_t word[2], const uint64_t more[6])
{
    uint64_t low10 = word[1] & 0x3ff;
    return (dpi_wide){{more[2] << 54 | UINT64_C(1) << 53, more[1] << 54 | more[2] >> 10,
                       more[0] << 54 | more[1] >> 10, low10 << 54 | more[0] >> 10, word[0], 0}};
}

static dpi_wide wide_f(const uint64_t word[2], const uint64_t more[6])
{
    return (dpi_wide){{0, more[5] << 12 | UINT64_C(1) << 11, more[4] << 12 | more[5] >> 52,
                       more[3] << 12 | more[4] >> 52, word[1] >> 12 << 12 | more[3] >> 52, 0}};
}

int64_t dpi_grid_exact(const uint64_t word[2], const uint64_t more[6], int which)
{
    const dpi_wide u = wide_u(word, more), f = wide_f(word, more);
    dpi_wide square, factor, half = {{0}};
    dpi_wide one = {{0, 0, 0, 0, 0, 1}};
    bool is_sine = which != (int)(word[1] >> 10 & 1);
    bool negative = (word[1] >> 11 & 1) != (is_sine && word[1] >> 63 == 0);
    dpi_wide_minus_log(&u, &square);
    dpi_wide_sine_pi(&f, &factor);
    if (is_sine)
        dpi_wide_subtract(&one, &factor, &factor);
    else
        dpi_wide_add(&one, &factor, &factor);
    dpi_wide_multiply(&square, &factor, &square);
    /* Off by less than 2^-14: |z| is below 20 and a double has 53 bits. */
    uint64_t below = (uint64_t)(sqrt(dpi_wide_double(&square)) * DPI_GRID_SCALE);
    double near = sqrt(dpi_wide_double(&square)) * DPI_GRID_SCALE - (double)below;
    if (near < 0.25 || near > 0.75) {
        below += near > 0.75;
    } else {
        /* (below + 1/2) 2^-32 in limbs of 64 bits. */
        half.limb[5] = below >> 32;
        half.limb[4] = below << 32 | UINT64_C(1) << 31;
        dpi_wide_multiply(&half, &half, &half);
        below += !dpi_wide_less(&square, &half);
    }
    return negative ? -(int64_t)below : (int64_t)below;
}

/* Decides what a kernel left; `first` is the number of the first pair within the call. */
static void finish(const unsigned char *key, uint64_t first, size_t groups, const uint64_t *in,
                   int64_t *out)
{
    unsigned char nonce[8], bytes[48];
    uint64_t more[6];
    for (size_t k = 0; k < groups * GROUP_NUMBERS; k++) {
        if (DPI_LIKELY(out[k] != DPI_GRID_UNDECIDED))
            continue;
        size_t lane = k % DPI_GRID_GROUP, group = k / GROUP_NUMBERS;
        const uint64_t *word = in + GROUP_NUMBERS * group + lane;
        const uint64_t both[2] = {word[0], word[DPI_GRID_GROUP]};
        uint64_t pair = first + DPI_GRID_GROUP * group + lane;
        for (int i = 0; i < 8; i++)
            nonce[i] = (unsigned char)(pair >> 8 * i);
        (void)crypto_stream_chacha20(bytes, sizeof bytes, nonce, key);
        for (int i = 0; i < 6; i++)
            more[i] = dpi_load64(bytes + 8 * i);
        out[k] = dpi_grid_exact(both, more, k % GROUP_NUMBERS >= DPI_GRID_GROUP);
    }
    sodium_memzero(bytes, sizeof bytes);
    sodium_memzero(more, sizeof more);
}

/* The next n words.  A piece of the stream's buffer is copied as it is and then put in this machine's order
 * of bytes, which most have. */
static void read_words(dpi_stream *stream, size_t n, uint64_t *word)
{
    for (size_t got; n > 0; n -= got / 8, word += got / 8) {
        if (stream->left < 8) {
            *word = dpi_stream_u64(stream);
            got = 8;
            continue;
        }
        size_t want = 8 * n < stream->left / 8 * 8 ? 8 * n : stream->left / 8 * 8;
        memcpy(word, dpi_stream_view(stream, want, &got), want);
        for (size_t i = 0; i < got / 8; i++)
            word[i] = dpi_load64((const unsigned char *)&word[i]);
    }
}

void dpi_grid_begin(dpi_grid *g, const dpi_grid_kernel *kernel, dpi_stream *stream)
{
    g->kernel = kernel;
    g->stream = stream;
    g->pair = 0;
    g->used = 0;
    dpi_stream_bytes(stream, sizeof g->key, g->key);
}

void dpi_grid_next(dpi_grid *g, size_t n, int64_t *out)
{
    size_t groups = n / GROUP_NUMBERS, rest = n % GROUP_NUMBERS;
    size_t words = (groups + (rest > 0)) * GROUP_NUMBERS;
    int64_t *last = g->last;
    if (words > DPI_GRID_PIECE)
        dpi_misuse(__func__, "more numbers than a piece has");
    g->used = words > g->used ? words : g->used;
    read_words(g->stream, words, g->word);
    if (groups > 0 && g->kernel->make(groups, g->word, out))
        finish(g->key, g->pair, groups, g->word, out);
    g->pair += DPI_GRID_GROUP * groups;
    if (rest == 0)
        return;
    const uint64_t *word = g->word + words - GROUP_NUMBERS;
    if (g->kernel->make(1, word, last))
        finish(g->key, g->pair, 1, word, last);
    memcpy(out + n - rest, last, rest * sizeof *out);
    g->pair += DPI_GRID_GROUP;
}

void dpi_grid_end(dpi_grid *g)
{
    sodium_memzero(g->word, g->used * sizeof *g->word);
    sodium_memzero(g->last, sizeof g->last);
    sodium_memzero(g->key, sizeof g->key);
}

const dpi_grid_kernel *dpi_grid_best(void)
{
    const dpi_grid_kernel *kernel = dpi_grid_kernels;
    while (!kernel->runs_here())
        kernel++;
    return kernel;
}

void dpi_stream_grid_with(const dpi_grid_kernel *kernel, dpi_stream *stream, size_t n, int64_t *out)
{
    dpi_grid g;
    dpi_grid_begin(&g, kernel, stream);
    for (size_t made; n > 0; n -= made, out += made) {
        made = n < DPI_GRID_PIECE ? n : DPI_GRID_PIECE;
        dpi_grid_next(&g, made, out);
    }
    dpi_grid_end(&g);
}

void dpi_stream_grid(dpi_stream *stream, size_t n, int64_t *out)
{
    dpi_stream_grid_with(dpi_grid_best(), stream, n, out);
}
