/* Gaussian integers: the integer nearest to a real normal number times 2^32; and what is left of a
 * sum with them when its lowest bits are dropped.
 *
 * Construction.  A pair of normal numbers is r cos t, r sin t, r^2 = -2 log u (Box and Muller 1958)
 * of two real uniform numbers, whose leading bits are words 0 and 1 of the pair:
 *   u       in (0, 1): 64 bits of word 0, the low 10 of word 1, and 192 more where they are needed;
 *   f       in (0, 1): bits 61 to 10 of word 1 and 192 more; x = (pi/2) f - pi/4;
 *   bit 62  exchanges cos x and sin x; bit 63 is the sign of both.
 * Numbers are made in pieces of 1024, of which the stream gives a key and two leading words of 32
 * bits a pair:
 *   the first   32 bits of u;
 *   the second  bits 63 and 62 of word 1, 23 bits of f, 7 bits of u.
 * The next 35 bits of u and 29 of f come from two trailing words, ChaCha20 under that key with
 * nonce 0, eight bytes a pair; the 192 + 192 more bits of pair number j are bytes 0 .. 47 of it
 * with nonce 1 + j.  All of these are a fixed part of the draw, whether looked at or not.
 *
 * Fast.  A kernel (grid-kernel.h) computes Y = 2^32 r cos x in double and rounds it.  When Y is
 * farther than a bound from the middle between two integers, then every real number within the
 * bound of Y rounds to the same integer, so also the exact one.  The rest is undecided: one number
 * in about 50000, 2 E(r) 2^32 2^-49, and those with r > 6 or r < 2^-20, one pair in 6e7.
 *
 * Rounded.  Of I + K only J = floor((I + K) 2^-26 + 1/2) is wanted.  I = 2^26 i + p exactly, |p| <=
 * 2^25, and J = i + round(2^-26 (p + K)).  A kernel computes y = 2^6 r cos x in single precision
 * from the leading words alone, and t = 2^-26 p + y is rounded where it is farther than a bound
 * from the middle between two integers.  The rest, one number in about 1600, has its K computed as
 * above.  So J is the same to the bit as if all K were.
 *
 * Bound, v = 2^-53 in double and 2^-24 in single precision.  With or without fused multiply-add:
 *   log u   u is a sum of two numbers, coarse + fine; `rest` is what its rounding loses, exactly.
 *           m - 1 is exact, m + 1 and the quotient lose v each, its square and the series 0.2 v
 *           (the share of the series after s is below s^2/3 < 0.01; its end is below 0.04 v), the
 *           sum v: log m to 3.5 v of itself.  rest stands for rest / u: v (1 - u) at most, that is
 *           v of -log u.  With e = 0 the sum with rest loses v: 5.5 v in all.  With e < 0 |e| log 2
 *           <= 2 |log u| and |log m| <= |log u|, and so 3 v (constant and product), 3.5 v, v, v and
 *           v: 9.5 v of log u.
 *   r       half of 10.5 v, and v of the root: 6.3 v r.
 *   x       product and constant 2 v pi/4, bits that are not read pi/2 v: 3.2 v.
 *   cos x   3.2 v sin(pi/4), v of the last sum, 1.1 v of what is added to 1: 4.4 v; sin x: 3.2 v,
 *           v/2 and 0.3 v: 4 v.  Ends of the series: below 0.05 v.
 *   r cos x r (6.3 + 4.4 + 1) v.
 * Double: bits of u below 2^-74 change log u by at most 2^-75 / u: v of it where u >= e^-18, that
 * is r^2 <= 36, and u < 1/2; else 2^-74, and so r by 2^-75 / r <= 2^-55 with r >= 2^-20.  So Y is
 * off by 2^32 (11.7 v r + 2^-55), while the bound is 2^32 (16 v r + 2^-53).  The rounder loses
 * nothing: |Y| < 2^35.  Single: bits of u below 2^-39 change r by at most 2^-40 / (u r), which is
 * 9.2 v at r^2 = 30 and v / 4 at r = 2^-14, the ends, and less between.  So y is off by 64 (11.7
 * sqrt(30) + 9.2) v < 4700 v; |t| < 2^9, whose rounding adds 2^8 v; 2^-26 p as a float v / 4, and
 * 2^-26 K is v / 8 from 2^6 Z: together below 4960 v.  The bound is 1.25 2^-12 = 5120 v.  It is the
 * same for all r, for the sake of time, below.  All floating-point numbers are normal.
 *
 * Exact.  Undecided integers are computed again with all bits and 320 bits of fraction (wide.c):
 * (r cos x)^2 = -log u (1 + sin pi f), (r sin x)^2 = -log u (1 - sin pi f), compared with the
 * square of the half-integer in question.  Both are off by less than 2^-290.
 *
 * Failure.  The draw differs from the rounding of a real normal number only when the bits below the
 * 266 of u or the 244 of f, or the 2^-290, matter.  Let 2^-w-1 <= u < 2^-w.  The former move r by
 * less than 2^-265+w (r >= 2^-w/2 near u = 1 in place of 1 there: with 1 - u as u, the same sum),
 * the latter r t by 2^-241, so a half-integer of the grid lies between with probability below 2^33
 * (2^-265+w + 2^-241); weighted with P = 2^-w-1 and summed over w < 220: below 2^-200; and P(u <
 * 2^-220) is 2^-220.  The bits of the stream are taken for random ones here, as everywhere.
 *
 * Time.  It tells how many numbers of a call were undecided, in either way.  Whether an integer K
 * is depends on how near the middle of two integers the real number was, which is independent of
 * the integer up to the change of the density over a step, 2^-32 |z|; the bound grows with r, so
 * larger numbers are undecided more often, at 2^-16 r; beyond r = 6 always.  Whether J is depends
 * on 2^-26 p + 2^6 Z modulo 1 alone, as long as r^2 is between its ends.  Modulo 1 that is uniform,
 * whatever p is, up to exp(-2 pi^2 2^12).  Given J too, at both ends of whose interval a number is
 * undecided with the same small probability, the density's slope cancels, and 2^-12 of that
 * probability is left of its curvature.  Of a pair with r^2 > 30, one in 3.3e6, both numbers are
 * always undecided.  Where a square of the release, of side 1/64, meets that circle, one pair in
 * 3e7, this tells on which side of it the pair was: who saw for every number whether it was
 * undecided, beside the release, would know a unit's part of the sum better by a share of 4.2e-4 of
 * the Fisher information that the release has of it (t-grid-error adds it up over the squares); the
 * count tells less.
 *
 * Reference for noise rounded to a grid: Mironov 2012; doc/design/noise.md. */
#include "random/grid.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/error.h"
#include "random/chacha.h"
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
    {"avx512", dpi_grid_avx512, dpi_rough_avx512, has_avx512},
    {"avx2", dpi_grid_avx2, dpi_rough_avx2, has_avx2},
#endif
    {"portable", dpi_grid_portable, dpi_rough_portable, everywhere},
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
                       more[3] << 12 | more[4] >> 52, word[1] << 2 >> 12 << 12 | more[3] >> 52, 0}};
}

int64_t dpi_grid_exact(const uint64_t word[2], const uint64_t more[6], int which)
{
    const dpi_wide u = wide_u(word, more), f = wide_f(word, more);
    dpi_wide square, factor, half = {{0}};
    dpi_wide one = {{0, 0, 0, 0, 0, 1}};
    bool is_sine = which != (int)(word[1] >> 62 & 1);
    bool negative = word[1] >> 63 != (is_sine && (word[1] >> 61 & 1) == 0);
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

/* Bits after those of a pair's words: bytes under the piece's key. */
static void more_bits(const unsigned char *key, size_t pair, uint64_t more[6])
{
    unsigned char nonce[crypto_stream_chacha20_NONCEBYTES] = {0}, bytes[48];
    nonce[0] = (unsigned char)(pair + 1);
    nonce[1] = (unsigned char)((pair + 1) >> 8);
    (void)crypto_stream_chacha20(bytes, sizeof bytes, nonce, key);
    for (int i = 0; i < 6; i++)
        more[i] = dpi_load64(bytes + 8 * i);
    sodium_memzero(bytes, sizeof bytes);
}

/* What a kernel could not decide: the first or the second number of a pair, whose words are word[0]
 * and word[DPI_GRID_GROUP]. */
static int64_t exact_of(const unsigned char *key, size_t pair, const uint64_t *word, bool second)
{
    const uint64_t both[2] = {word[0], word[DPI_GRID_GROUP]};
    uint64_t more[6];
    more_bits(key, pair, more);
    int64_t found = dpi_grid_exact(both, more, second);
    sodium_memzero(more, sizeof more);
    return found;
}

void dpi_grid_begin(dpi_grid *g, const dpi_grid_kernel *kernel, dpi_stream *stream)
{
    g->kernel = kernel;
    g->stream = stream;
    g->used = 0;
}

/* Reads key and leading words of a piece; says how many groups it has. */
static size_t begin_piece(dpi_grid *g, size_t n)
{
    size_t groups = (n + GROUP_NUMBERS - 1) / GROUP_NUMBERS, words = groups * GROUP_NUMBERS;
    if (words > DPI_GRID_PIECE)
        dpi_misuse(__func__, "more numbers than a piece has");
    g->used = words > g->used ? words : g->used;
    dpi_stream_bytes(g->stream, sizeof g->key, g->key);
    dpi_stream_bytes(g->stream, words * sizeof *g->leading, (unsigned char *)g->leading);
    for (size_t i = 0; i < words; i++)
        g->leading[i] = dpi_load32((const unsigned char *)&g->leading[i]);
    return groups;
}

/* Words 0 and 1 of pairs of a group, at word[0] and word[DPI_GRID_GROUP], from leading and trailing
 * words. */
static void join(const uint32_t *leading, const unsigned char *trailing, size_t pairs,
                 uint64_t *word)
{
    for (size_t i = 0; i < pairs; i++) {
        const uint64_t first = leading[i], second = leading[DPI_GRID_GROUP + i];
        const uint64_t u = dpi_load32(trailing + 8 * i), f = dpi_load32(trailing + 8 * i + 4);
        word[i] = first << 32 | (second & 0x7f) << 25 | u >> 7;
        word[DPI_GRID_GROUP + i] = second >> 7 << 39 | f >> 3 << 10 | (u & 0x7f) << 3 | (f & 7);
    }
}

enum { TRAILING = 8 * DPI_GRID_GROUP }; /* bytes of a group */
_Static_assert(TRAILING *(DPI_GRID_PIECE / GROUP_NUMBERS) == DPI_CHACHA_BYTES,
               "a piece's trailing words are what ChaCha20 gives at once");

/* The trailing words of a piece. */
static void trailing_of(const unsigned char *key, size_t groups, unsigned char *trailing)
{
    static const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES];
    if (groups > DPI_GRID_PIECE / GROUP_NUMBERS / 8)
        dpi_chacha(key, trailing);
    else
        (void)crypto_stream_chacha20(trailing, groups * TRAILING, nonce, key);
}

void dpi_grid_next(dpi_grid *g, size_t n, int64_t *out)
{
    _Alignas(64) unsigned char trailing[DPI_CHACHA_BYTES];
    uint64_t word[GROUP_NUMBERS];
    int64_t last[GROUP_NUMBERS];
    size_t groups = begin_piece(g, n);
    trailing_of(g->key, groups, trailing);
    for (size_t k = 0; k < groups; k++) {
        size_t at = k * GROUP_NUMBERS, left = n - at;
        int64_t *to = left < GROUP_NUMBERS ? last : out + at;
        join(g->leading + at, trailing + k * TRAILING, DPI_GRID_GROUP, word);
        bool undecided = g->kernel->make(1, word, to);
        for (size_t i = 0; i < GROUP_NUMBERS && undecided; i++)
            if (DPI_UNLIKELY(to[i] == DPI_GRID_UNDECIDED))
                to[i] = exact_of(g->key, k * DPI_GRID_GROUP + i % DPI_GRID_GROUP,
                                 word + i % DPI_GRID_GROUP, i >= DPI_GRID_GROUP);
        if (to == last)
            memcpy(out + at, last, left * sizeof *out);
    }
    sodium_memzero(trailing, groups * TRAILING);
    sodium_memzero(word, sizeof word);
    sodium_memzero(last, sizeof last);
}

/* ---- sums with fewer bits ---- */

/* Makes J worth of a whole number of steps and of the kernel's y; returns by how much t misses the
 * integer that it is rounded to. */
DPI_INLINE float round_one(double steps, float y, double worth, double *out)
{
    const double unit = (double)(1 << DPI_GRID_DROPPED), rounder = 0x1.8p52;
    const float float_rounder = 0x1.8p23F;
    double whole = (steps * (1 / unit) + rounder) - rounder;
    float t = (float)((steps - whole * unit) * (1 / unit)) + y;
    float near = (t + float_rounder) - float_rounder;
    *out = (whole + (double)near) * worth;
    return t - near;
}

/* Marks what is undecided, NaN too. */
DPI_INLINE unsigned char is_undecided(float miss)
{
    return !(fabsf(miss) <= 0.5F - DPI_ROUGH_BOUND);
}

/* From so many numbers on the loop is worth it that goes through them by as many as fill a vector
 * of bytes. */
enum { MANY = 64 };

DPI_INLINE void round_many(size_t n, const double *steps, const float *y, double worth,
                           double *restrict out, unsigned char *restrict undecided)
{
    for (size_t j = 0; j < n; j++)
        undecided[j] = is_undecided(round_one(steps[j], y[j], worth, out + j));
}

/* At most 16 numbers.  Bytes are made in a loop of their own: in one with doubles there would be
 * vectors of two. */
DPI_INLINE void round_some(size_t n, const double *steps, const float *y, double worth,
                           double *restrict out, unsigned char *restrict undecided)
{
    float miss[16];
    for (size_t j = 0; j < n; j++)
        miss[j] = round_one(steps[j], y[j], worth, out + j);
    for (size_t j = 0; j < n; j++)
        undecided[j] = is_undecided(miss[j]);
}

/* By `count` numbers, a constant, the last of which are taken together with some before them. */
DPI_INLINE void round_by(size_t count, size_t n, const double *steps, const float *y, double worth,
                         double *restrict out, unsigned char *restrict undecided)
{
    const size_t last = n - count;
    for (size_t j = 0; j < last; j += count)
        round_some(count, steps + j, y + j, worth, out + j, undecided + j);
    round_some(count, steps + last, y + last, worth, out + last, undecided + last);
}

DPI_LOOPS static void round_sums(size_t n, const double *steps, const float *y, double worth,
                                 double *restrict out, unsigned char *restrict undecided)
{
    if (n >= MANY)
        round_many(n, steps, y, worth, out, undecided);
    else if (n >= 16)
        round_by(16, n, steps, y, worth, out, undecided);
    else if (n >= 8)
        round_by(8, n, steps, y, worth, out, undecided);
    else
        round_some(n, steps, y, worth, out, undecided);
}

/* The integer K of number j of the piece. */
static int64_t integer_of(const dpi_grid *g, size_t j)
{
    static const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES], zero[64];
    unsigned char block[64];
    uint64_t word[GROUP_NUMBERS] = {0};
    int64_t out[GROUP_NUMBERS];
    const bool second = j % GROUP_NUMBERS >= DPI_GRID_GROUP;
    size_t group = j / GROUP_NUMBERS, lane = j % DPI_GRID_GROUP;
    size_t pair = group * DPI_GRID_GROUP + lane;
    (void)crypto_stream_chacha20_xor_ic(block, zero, sizeof block, nonce, pair / 8, g->key);
    join(g->leading + group * GROUP_NUMBERS + lane, block + pair % 8 * 8, 1, word);
    (void)g->kernel->make(1, word, out);
    int64_t found = out[second ? DPI_GRID_GROUP : 0];
    if (DPI_UNLIKELY(found == DPI_GRID_UNDECIDED))
        found = exact_of(g->key, pair, word, second);
    sodium_memzero(block, sizeof block);
    sodium_memzero(word, sizeof word);
    sodium_memzero(out, sizeof out);
    return found;
}

void dpi_grid_round(dpi_grid *g, size_t n, const double *steps, double worth, double *out)
{
    float y[DPI_GRID_PIECE];
    unsigned char undecided[DPI_GRID_PIECE];
    const unsigned char *next;
    size_t groups = begin_piece(g, n);
    g->kernel->rough(groups, g->leading, y);
    round_sums(n, steps, y, worth, out, undecided);
    for (size_t j = 0; (next = memchr(undecided + j, 1, n - j)) != NULL; j++) {
        j = (size_t)(next - undecided);
        out[j] = (double)dpi_grid_dropped((int64_t)steps[j] + integer_of(g, j)) * worth;
    }
    sodium_memzero(y, groups * GROUP_NUMBERS * sizeof *y);
    sodium_memzero(undecided, n);
}

void dpi_grid_end(dpi_grid *g)
{
    sodium_memzero(g->leading, g->used * sizeof *g->leading);
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
