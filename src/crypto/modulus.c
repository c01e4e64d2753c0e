/* Numbers modulo a prime below 2^50, and such primes.
 *
 * Primes are public, so the search may take as long as it does; Miller-Rabin with the first twelve
 * primes as bases is exact below 3.3e24 (Sorenson and Webster, Mathematics of Computation 86,
 * 2017). */
#include "crypto/modulus.h"

/* The numbers of an odd q > 2 below 2^63, prime or not; above 2^50 without `barrett`. */
static dpi_modulus modulus_of(uint64_t q)
{
    dpi_modulus m = {.q = q};
    while (q >> m.bits != 0)
        m.bits++;
    if (m.bits > DPI_MODULUS_BITS)
        return m;
    /* 2^(bits + 50) by long division, since it may have a hundred bits. */
    uint64_t rest = (uint64_t)1 << (m.bits - 1), quotient = 0;
    for (int i = 0; i < 51; i++) {
        rest *= 2;
        quotient = 2 * quotient + (rest >= q);
        rest = rest >= q ? rest - q : rest;
    }
    m.barrett = quotient;
    return m;
}

/* a b mod q: bit by bit where q is too large for better. */
static uint64_t multiply_any(const dpi_modulus *m, uint64_t a, uint64_t b)
{
    if (m->bits <= DPI_MODULUS_BITS)
        return dpi_modulus_multiply(m, a, b);
    uint64_t sum = 0;
    for (; b != 0; b >>= 1) {
        if (b & 1)
            sum = dpi_modulus_once(sum + a, m->q);
        a = dpi_modulus_once(a + a, m->q);
    }
    return sum;
}

static uint64_t power_any(const dpi_modulus *m, uint64_t a, uint64_t e)
{
    uint64_t result = 1;
    for (; e != 0; e >>= 1) {
        if (e & 1)
            result = multiply_any(m, result, a);
        a = multiply_any(m, a, a);
    }
    return result;
}

/* Whether q, odd and above the base, passes for one base. */
static bool passes(const dpi_modulus *m, uint64_t base)
{
    int twos = dpi_lowest_bit(m->q - 1);
    uint64_t x = power_any(m, base, (m->q - 1) >> twos);
    if (x == 1 || x == m->q - 1)
        return true;
    for (int i = 1; i < twos; i++) {
        x = multiply_any(m, x, x);
        if (x == m->q - 1)
            return true;
    }
    return false;
}

bool dpi_prime(uint64_t q)
{
    static const uint64_t bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    if (q < 2 || q >> 62 != 0)
        return false;
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        if (q % bases[i] == 0)
            return q == bases[i];
    const dpi_modulus m = modulus_of(q);
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        if (!passes(&m, bases[i]))
            return false;
    return true;
}

bool dpi_modulus_make(uint64_t q, dpi_modulus *m)
{
    *m = (dpi_modulus){0};
    if (q < 3 || q >> DPI_MODULUS_BITS != 0 || !dpi_prime(q))
        return false;
    *m = modulus_of(q);
    return true;
}

uint64_t dpi_modulus_find(int bits, uint64_t step, size_t skip)
{
    if (bits < 2 || bits > DPI_MODULUS_BITS || step == 0)
        return 0;
    const uint64_t top = (uint64_t)1 << bits;
    for (uint64_t k = (top - 2) / step; k * step + 1 > top / 2; k--) {
        if (k == 0)
            return 0;
        if (dpi_prime(k * step + 1) && skip-- == 0)
            return k * step + 1;
    }
    return 0;
}

uint64_t dpi_modulus_power(const dpi_modulus *m, uint64_t a, uint64_t e)
{
    return power_any(m, a, e);
}

uint64_t dpi_modulus_inverse(const dpi_modulus *m, uint64_t a)
{
    return dpi_modulus_power(m, a, m->q - 2);
}

uint64_t dpi_modulus_root(const dpi_modulus *m, size_t n)
{
    uint64_t base = 2;
    while (dpi_modulus_power(m, base, (m->q - 1) / 2) == 1)
        base++;
    return dpi_modulus_power(m, base, (m->q - 1) / (2 * (uint64_t)n));
}
