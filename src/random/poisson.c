/* Poisson subsets: every record by itself, with a probability that is exact.
 *
 * A double q is a finite binary fraction 0.q1 q2 ... qL.  Let U = 0.u1 u2 ... be a sequence of
 * independent fair bits.  U < q holds exactly when at the first place where the two differ u is 0
 * and q is 1; the places are compared one group of bits after the other and only as far as needed:
 *   group of U < group of q: in,  >: out,  =: the next group; no digits of q left: out (U >= q).
 * P(U < q) = q with no rounding anywhere, because
 *   - the groups of q come from r -> 2^g r, floor, difference: a product with a power of two and
 *   the
 *     difference of two doubles with a common grid are exact; 2^64 r <= 2^64 - 2^11 for r < 1, so
 *     its floor fits a 64-bit word;
 *   - r has finitely many digits, at most 1074, so it reaches 0 after at most 17 words.
 * The groups are 8 bits, then 64 each; the first one decides for 255 records of 256.  That is what
 * makes the loop over records a comparison of bytes.
 *
 * Where q is small, the members are found by their gaps instead (gap.c), in time that grows with
 * the subset and not with n.
 *
 * What is public is q, never the size of the subset: nothing here caps it.  Of a binomial number X
 * with mean m, P(X > m + 40 sqrt(m) + 64) < 2^-500 (Bennett 1962: e^(-m h(t / m)) with
 * h(u) = (1 + u) log(1 + u) - u), so a subset that does not fit that room is taken for a broken
 * stream.  Time: the keystream and one comparison a record, or one logarithm a member. */
#include "random/poisson.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/compiler.h"
#include "base/error.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { CHUNK = 2048 }; /* records compared at once; ties are listed on the stack */
enum {
    BLOCK = 64,
    RARE = 16, /* of 256: one in 16, or fewer */
    FEW = 4    /* that a block usually has at most, where they are rare */
};

static const double sparse_below = 1.0 / 64; /* from here on a member's logarithm costs less */

dp_status dpi_bernoulli_set(dpi_bernoulli *rate, double q, dp_error *err)
{
    *rate = (dpi_bernoulli){0};
    if (!(q > 0 && q <= 1))
        return dpi_fail(err, DP_EDOMAIN,
                        "a sampling rate of %g was asked for; it must be above 0 and at most 1", q);
    double first = floor(q * 256);
    rate->always = q == 1;
    rate->first = rate->always ? 255 : (unsigned char)first;
    rate->rest = q * 256 - first;
    rate->q = q;
    rate->sparse = q < sparse_below && dpi_gap_serves(q);
    if (rate->sparse)
        dpi_gap_set(&rate->gap, q);
    return DP_OK;
}

/* U < r for fresh bits U, 64 at a time. */
static bool below_rest(dpi_stream *stream, double r)
{
    while (r > 0) {
        r *= 0x1p64;
        double digits = floor(r);
        uint64_t mine = (uint64_t)digits, drawn = dpi_stream_u64(stream);
        if (drawn != mine)
            return drawn < mine;
        r -= digits;
    }
    return false;
}

/* Bit i is whether byte i of 64 is at most `first`. */
#if defined(__SSE2__)
static inline uint64_t at_most_of_64(const unsigned char *bytes, unsigned char first)
{
    const __m128i most = _mm_set1_epi8((char)first);
    uint64_t found = 0;
    for (int k = 0; k < BLOCK; k += 16) {
        __m128i these = _mm_loadu_si128((const __m128i *)(const void *)(bytes + k));
        __m128i mark = _mm_cmpeq_epi8(_mm_min_epu8(these, most), these);
        found |= (uint64_t)(unsigned)_mm_movemask_epi8(mark) << k;
    }
    return found;
}
#else
/* Eight comparisons make bytes that are 0 or 1, whose lowest bits the product puts side by side at
 * its top; others are cut off or meet no carry. */
static uint64_t at_most_of_64(const unsigned char *bytes, unsigned char first)
{
    unsigned char mark[BLOCK];
    uint64_t found = 0;
    for (int i = 0; i < BLOCK; i++)
        mark[i] = bytes[i] <= first;
    for (int k = 0; k < BLOCK; k += 8)
        found |= (dpi_load64(mark + k) * UINT64_C(0x0102040810204080) >> 56) << k;
    return found;
}
#endif

/* Writes the places of the bits of `found`, beginning with `base`; returns how many.  The first few
 * are written whether they are there or not, which costs less than a branch that nobody can
 * predict; `roomy` says that there is room for them. */
static inline size_t write_places(uint64_t found, size_t base, bool roomy, size_t *out)
{
    const uint64_t last = UINT64_C(1) << (BLOCK - 1);
    size_t count = 0;
    for (int i = 0; roomy && i < FEW; i++) {
        out[count] = base + (size_t)dpi_lowest_bit(found | last);
        count += found != 0;
        found &= found - 1;
    }
    for (; found != 0; found &= found - 1)
        out[count++] = base + (size_t)dpi_lowest_bit(found);
    return count;
}

/* Where candidates are rare they are looked for in 64 bytes at once. */
static size_t rare_candidates(const unsigned char *bytes, size_t n, unsigned char first,
                              size_t base, size_t *out)
{
    unsigned char rest[BLOCK];
    size_t count = 0, i = 0;
    for (; i + BLOCK <= n; i += BLOCK)
        count += write_places(at_most_of_64(bytes + i, first), base + i, true, out + count);
    if (i == n)
        return count;
    memset(rest, UINT8_MAX, sizeof rest);
    memcpy(rest, bytes + i, n - i);
    count += write_places(at_most_of_64(rest, first), base + i, n - i >= FEW, out + count);
    sodium_memzero(rest, sizeof rest);
    return count;
}

/* Writes the indices whose byte is at most `first`; returns how many.  Where these are not rare,
 * every index is written and the place only moves on when it counts, which costs no branch. */
static size_t candidates(const unsigned char *bytes, size_t n, unsigned char first, size_t base,
                         size_t *out)
{
    size_t count = 0;
    if (first < RARE)
        return rare_candidates(bytes, n, first, base, out);
    for (size_t i = 0; i < n; i++) {
        out[count] = base + i;
        count += bytes[i] <= first;
    }
    return count;
}

/* Lists which of the candidates are ties; returns how many. */
static size_t ties(const unsigned char *bytes, unsigned char first, size_t base, size_t count,
                   const size_t *out, uint16_t *tie)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        tie[n] = (uint16_t)i;
        n += bytes[out[i] - base] == first;
    }
    return n;
}

/* Keeps those candidates that are no ties or win theirs; returns how many. */
static size_t settle(dpi_stream *stream, double rest, size_t n_ties, const uint16_t *tie,
                     size_t count, size_t *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < n_ties; i++)
        if (!below_rest(stream, rest))
            out[tie[i]] = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        out[kept] = out[i];
        kept += out[i] != SIZE_MAX;
    }
    return kept;
}

size_t dpi_poisson_room(const dpi_bernoulli *rate, size_t n)
{
    double mean = rate->q * (double)n, room = ceil(mean + 40 * sqrt(mean) + 64);
    return rate->sparse && room < (double)n ? (size_t)room : n;
}

static size_t by_gaps(dpi_stream *stream, size_t n, const dpi_bernoulli *rate, size_t *out)
{
    size_t count = 0, room = dpi_poisson_room(rate, n);
    for (size_t at = 0;; at++) {
        uint64_t gap = dpi_gap_draw(stream, &rate->gap);
        if (gap >= n - at)
            return count;
        if (count == room)
            return SIZE_MAX;
        at += (size_t)gap;
        out[count++] = at;
    }
}

size_t dpi_poisson_subset(dpi_stream *stream, size_t n, const dpi_bernoulli *rate, size_t *out)
{
    uint16_t tie[CHUNK];
    size_t total = 0, got;
    if (rate->always) {
        for (size_t i = 0; i < n; i++)
            out[i] = i;
        return n;
    }
    if (rate->sparse)
        return by_gaps(stream, n, rate, out);
    for (size_t base = 0; base < n; base += got) {
        size_t want = n - base < CHUNK ? n - base : CHUNK;
        const unsigned char *bytes = dpi_stream_view(stream, want, &got);
        size_t count = candidates(bytes, got, rate->first, base, out + total);
        size_t n_ties = ties(bytes, rate->first, base, count, out + total, tie);
        total += settle(stream, rate->rest, n_ties, tie, count, out + total);
    }
    return total;
}
