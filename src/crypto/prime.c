/* Secret primes, by drawing and testing.
 *
 * For N = 3 mod 4, (N - 1) / 2 is odd, and the test of Miller and Rabin is a^((N-1)/2) = +-1, which
 * a composite N passes for at most a quarter of the bases. */
#include "crypto/prime.h"

#include "base/error.h"

enum {
    ROUNDS = 32,
    MOST = DPI_LIMBS_MOST / 4, /* limbs of a prime */
    SMALL = 2048,              /* divisors below this are tried before the test */
    PUBLIC_SMALL = 1 << 16
};

static bool is_small_prime(mp_limb_t d)
{
    for (mp_limb_t f = 3; f * f <= d; f += 2)
        if (d % f == 0)
            return false;
    return true;
}

/* An odd prime below `limit` divides the number and is not the number. */
static bool divides(size_t limbs, const mp_limb_t *number, mp_limb_t limit)
{
    bool single = dpi_limbs_bits(limbs, number) <= DPI_LIMB_BITS;
    for (mp_limb_t d = 3; d < limit; d += 2)
        if (is_small_prime(d) && mpn_mod_1(number, (mp_size_t)limbs, d) == 0 &&
            !(single && number[0] == d))
            return true;
    return false;
}

bool dpi_prime_has_small_factor(size_t limbs, const mp_limb_t *number)
{
    return (number[0] & 1) == 0 || divides(limbs, number, PUBLIC_SMALL);
}

/* A base in 1 ... number - 1, but for a bias of 2^-64. */
static dp_status draw_base(dpi_seed *seed, size_t n, const mp_limb_t *number, mp_limb_t *base,
                           dp_error *err)
{
    mp_limb_t wide[DPI_LIMBS_MOST + 1];
    do {
        dp_status status = dpi_limbs_random(seed, (n + 1) * sizeof *wide, wide, err);
        if (status != DP_OK)
            return status;
        dpi_limbs_mod(n + 1, wide, n, number, base);
    } while (dpi_limbs_are_zero(n, base));
    return DP_OK;
}

/* Whether base^((number - 1) / 2) is 1 or -1. */
static bool is_witnessed(size_t n, const mp_limb_t *base, const mp_limb_t *number,
                         mp_limb_t *scratch)
{
    mp_limb_t half[DPI_LIMBS_MOST], power[DPI_LIMBS_MOST], negative[DPI_LIMBS_MOST];
    (void)mpn_rshift(half, number, (mp_size_t)n, 1);
    mpn_sec_powm(power, base, (mp_size_t)n, half, n * DPI_LIMB_BITS, number, (mp_size_t)n, scratch);
    (void)mpn_sub_n(negative, number, power, (mp_size_t)n);
    mp_limb_t *one = power[0] == 1 ? power : negative;
    one[0] ^= 1;
    return dpi_limbs_are_zero(n, one);
}

dp_status dpi_prime_test(dpi_seed *seed, size_t limbs, const mp_limb_t *number, int rounds,
                         bool *passes, dp_error *err)
{
    size_t n = (dpi_limbs_bits(limbs, number) + DPI_LIMB_BITS - 1) / DPI_LIMB_BITS;
    mp_limb_t base[DPI_LIMBS_MOST];
    mp_size_t itch = mpn_sec_powm_itch((mp_size_t)n, n * DPI_LIMB_BITS, (mp_size_t)n);
    mp_limb_t *scratch = dpi_secret_alloc((size_t)itch, sizeof *scratch);
    dp_status status = scratch == NULL ? dpi_fail_nomem(err) : DP_OK;
    *passes = status == DP_OK;
    for (int round = 0; round < rounds && *passes; round++) {
        status = draw_base(seed, n, number, base, err);
        *passes = status == DP_OK && is_witnessed(n, base, number, scratch);
    }
    dpi_secret_free(scratch);
    return status;
}

dp_status dpi_prime_draw(dpi_seed *seed, size_t bits, mp_limb_t *prime, dp_error *err)
{
    size_t n = bits / DPI_LIMB_BITS;
    bool found = false;
    dp_status status = DP_OK;
    if (bits % DPI_LIMB_BITS != 0 || n == 0 || n > MOST)
        dpi_misuse("dpi_prime_draw", "a number of bits that it does not make");
    while (!found && status == DP_OK) {
        status = dpi_limbs_random(seed, n * sizeof *prime, prime, err);
        prime[0] |= 3;
        prime[n - 1] |= (mp_limb_t)3 << (DPI_LIMB_BITS - 2);
        if (status == DP_OK && !divides(n, prime, SMALL))
            status = dpi_prime_test(seed, n, prime, ROUNDS, &found, err);
    }
    return status;
}
