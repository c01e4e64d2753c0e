/* Poisson subsets: every record by itself, with a probability that is exact.
 *
 * A double q is a finite binary fraction 0.q1 q2 ... qL.  Let U = 0.u1 u2 ... be a sequence of
 * independent fair bits.  U < q holds exactly when at the first place where the two differ u is 0
 * and q is 1; the places are compared one group of bits after the other and only as far as needed:
 *   group of U < group of q: in,  >: out,  =: the next group; no digits of q left: out (U >= q).
 * P(U < q) = q with no rounding anywhere, because
 *   - the groups of q come from r -> 2^g r, floor, difference: a product with a power of two and the
 *     difference of two doubles with a common grid are exact; 2^64 r <= 2^64 - 2^11 for r < 1, so
 *     its floor fits a 64-bit word;
 *   - r has finitely many digits, at most 1074, so it reaches 0 after at most 17 words.
 * The groups are 8 bits, then 64 each; the first one decides for 255 records of 256.  That is what
 * makes the loop over records a comparison of bytes.
 *
 * Where q is small, the members are found by their gaps instead (gap.c), in time that grows with the
 * subset and not with n.
 *
 * What is public is q, never the size of the subset: nothing here caps it.  Of a binomial number X with
 * mean m, P(X > m + 40 sqrt(m) + 64) < 2^-500 (Bennett 1962: e^(-m h(t / m)) with
 * h(u) = (1 + u) log(1 + u) - u), so a subset that does not fit that room is taken for a broken stream.
 * Time: the keystream and one comparison a record, or one logarithm a member. */
#include "random/poisson.h"

#include <math.h>

#include "base/compiler.h"
#include "base/error.h"

enum { CHUNK = 2048 }; /* records compared at once; ties are kept apart in so many bytes of stack */

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

bool dpi_bernoulli_draw(dpi_stream *stream, const dpi_bernoulli *rate)
{
    if (rate->always)
        return true;
    unsigned char drawn = dpi_stream_u8(stream);
    return drawn < rate->first || (drawn == rate->first && below_rest(stream, rate->rest));
}

/* Bit i is whether byte i of the word is at most `first` <= 127: no sum carries into the next byte, and in the
 * product the top bit of byte i comes to lie at 56 + i, others where it is cut off. */
static inline uint64_t at_most(uint64_t word, unsigned first)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t found = ~(((word & ~tops) + ones * (127 - first)) | word) & tops;
    return (found >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

static inline uint64_t at_most_of_64(const unsigned char *bytes, unsigned first)
{
    uint64_t found = 0;
    for (int k = 0; k < 64; k += 8)
        found |= at_most(dpi_load64(bytes + k), first) << k;
    return found;
}

/* Writes the indices whose byte is at most `first` and marks the ties among them; returns how many.  Where
 * these are rare they are looked for in 64 bytes at once and taken one by one; else every index is written
 * and the place only moves on when it counts, which costs no branch. */
static size_t candidates(const unsigned char *bytes, size_t n, unsigned char first, size_t base,
                         size_t *out, unsigned char *tie)
{
    enum { RARE = 16 };
    size_t count = 0, i = 0;
    for (; first < RARE && i + 64 <= n; i += 64)
        for (uint64_t found = at_most_of_64(bytes + i, first); found != 0; count++) {
            size_t place = i + (size_t)dpi_lowest_bit(found);
            out[count] = base + place;
            tie[count] = bytes[place] == first;
            found &= found - 1;
        }
    for (; i < n; i++) {
        out[count] = base + i;
        tie[count] = bytes[i] == first;
        count += bytes[i] <= first;
    }
    return count;
}

/* Keeps those candidates that are no ties or win theirs; returns how many. */
static size_t settle(dpi_stream *stream, double rest, size_t count, const unsigned char *tie,
                     size_t *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        out[kept] = out[i];
        kept += !tie[i] || below_rest(stream, rest);
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
    unsigned char tie[CHUNK];
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
        size_t count = candidates(bytes, got, rate->first, base, out + total, tie);
        total += settle(stream, rate->rest, count, tie, out + total);
    }
    return total;
}
