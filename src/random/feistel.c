/* Random permutations of 0 .. n-1 that are computed one element at a time.
 *
 * A number x in [0, ab) is the pair (l, r) = (floor(x / b), x mod b), l in Z_a, r in Z_b.  Rounds
 * alternate
 *     l <- l + F(round, r) mod a,      r <- r + F(round, l) mod b,
 * each of which can be undone, so together they are a permutation of [0, ab): a Feistel network on
 * numbers (Black and Rogaway 2002; Bellare, Ristenpart, Rogaway and Stegers, "Format-preserving
 * encryption", 2009, FE2).  With a = ceil(sqrt n), made even, and b = ceil(n / a), ab < n + a; a
 * result >= n is sent through again (cycle walking), which gives a permutation of [0, n) that is
 * uniform when the one of [0, ab) is; on average that is fewer than 1 + a/n passes.
 *
 * F is SipHash-2-4 (Aumasson and Bernstein 2012) under a 128-bit key that is drawn afresh for every
 * permutation, reduced from 64 bits to a or b by a product (bias below 2^-32 for any n, below
 * 2^-48 for n < 2^32).
 *
 * What is known of such networks with ideal F:
 *   - 4 rounds: indistinguishable from a random permutation for few queries (Luby and Rackoff
 *   1988);
 *     more rounds push the number of queries towards all of them (Patarin 2004; Hoang and Rogaway
 *     2010 for alternating networks on numbers such as this one).
 *   - Over many permutations, k rounds on halves of h bits can be told from random ones with about
 *     2^((k-4)h) computations (Patarin, "Generic attacks on Feistel schemes", 2001).  An observer
 *     of a run has one permutation a step and sees no index of it.  Rounds are therefore
 *     k >= 4 + 80 / h, h = log2 of the smaller half, and at least 10: 14 for n near 2^17 (where
 *     subset.c begins to use this), 10 from 2^28 on.
 *   - Small n is the business of the exact methods of subset.c, never of this file: 4 rounds on
 *     halves of 2 bits are visibly not uniform (tests/random/t-feistel.c), and a network of 128 key
 *     bits has fewer permutations than 35 elements have.
 *   - Balanced networks of xor rounds are even permutations only.  Here a is even, and then a round
 *     on l has a random sign (rotation by one place of an even number of places is odd).
 * So a drawn permutation is computationally, not perfectly, uniform.  Time: rounds times one
 * SipHash. */
#include "random/feistel.h"

#include <math.h>

static inline uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

/* The message and its length fill one word, so one word is all that is compressed.  The constants
 * are SipHash's, the letters of "somepseudorandomlygeneratedbytes". */
uint64_t dpi_siphash(uint64_t key0, uint64_t key1, uint32_t half, unsigned round)
{
    uint64_t word = (uint64_t)5 << 56 | (uint64_t)(round & 0xff) << 32 | half;
    uint64_t v[4] = {key0 ^ UINT64_C(0x736f6d6570736575), key1 ^ UINT64_C(0x646f72616e646f6d),
                     key0 ^ UINT64_C(0x6c7967656e657261), key1 ^ UINT64_C(0x7465646279746573)};
    v[3] ^= word;
    sip_round(v);
    sip_round(v);
    v[0] ^= word;
    v[2] ^= 0xff;
    sip_round(v);
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* floor(u m / 2^64) for m <= 2^32, without a 128-bit product. */
static inline uint64_t scale(uint64_t u, uint64_t m)
{
    return ((u >> 32) * m + ((u & UINT32_MAX) * m >> 32)) >> 32;
}

void dpi_feistel_draw(dpi_feistel *feistel, dpi_stream *stream, uint64_t n)
{
    enum { MIN_ROUNDS = 10, MAX_ROUNDS = 84, SECURITY_BITS = 80 };
    /* Rounding n to a double moves the root by less than 2^-21: a and b stay within 2^32. */
    uint64_t root = (uint64_t)ceil(sqrt((double)n));
    feistel->n = n;
    feistel->a = root + root % 2;
    feistel->b = n / feistel->a + (n % feistel->a != 0);
    double bits = log2((double)feistel->b);
    int rounds = bits > 1 ? 4 + (int)ceil(SECURITY_BITS / bits) : MAX_ROUNDS;
    rounds = rounds < MIN_ROUNDS ? MIN_ROUNDS : rounds > MAX_ROUNDS ? MAX_ROUNDS : rounds;
    feistel->rounds = rounds + rounds % 2;
    feistel->key0 = dpi_stream_u64(stream);
    feistel->key1 = dpi_stream_u64(stream);
}

uint64_t dpi_feistel_at(const dpi_feistel *feistel, uint64_t i)
{
    const uint64_t key0 = feistel->key0, key1 = feistel->key1;
    const uint64_t a = feistel->a, b = feistel->b;
    do {
        uint64_t l = i / b, r = i % b;
        for (unsigned k = 0; k < (unsigned)feistel->rounds; k += 2) {
            l += scale(dpi_siphash(key0, key1, (uint32_t)r, k), a);
            l -= l >= a ? a : 0;
            r += scale(dpi_siphash(key0, key1, (uint32_t)l, k + 1), b);
            r -= r >= b ? b : 0;
        }
        i = l * b + r;
    } while (i >= feistel->n);
    return i;
}
