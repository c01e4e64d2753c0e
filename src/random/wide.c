/* Numbers of 64 + 320 bits.
 *
 * Products and quotients are cut off below 2^-320, sums are exact: a result is off by the number of
 * cut-offs times 2^-320, times what it is multiplied with afterwards.
 *
 *   log   u = 2^-e m, 1/2 <= m < 1.  With c near -log m, above it by 2^-51 to 2^-49 (the C library
 *         and a cut to 2^-60 are good for that), m exp(c) = 1 + d with 0 < d < 2^-48, and
 *         -log u = e log 2 + c - log(1 + d); exp by its series (c < 0.7: the term c^k / k! is below
 *         2^-320 from k = 60 on), log(1 + d) by six terms, the next below 2^-336.  Cut-offs: under
 *         60 in exp, each multiplied by at most 2, ten afterwards, and e <= 300 of log 2: together
 *         below 2^9 2^-320.
 *   sine  of y = pi min(f, 1 - f) <= 1.5708 by its series, ended when a term vanishes; fewer than
 *         40 terms, each with two cut-offs.
 *
 * The time depends on the number.  Used once for some 50000 draws of noise; portable, with no type
 * of 128 bits. */
#include "random/wide.h"

#include <math.h>

static const dpi_wide log_2 = {{UINT64_C(0xe7b876206debac98), UINT64_C(0x8a0d175b8baafa2b),
                                UINT64_C(0x40f343267298b62d), UINT64_C(0xc9e3b39803f2f6af),
                                UINT64_C(0xb17217f7d1cf79ab), 0}};
static const dpi_wide pi = {{UINT64_C(0x452821e638d01377), UINT64_C(0x082efa98ec4e6c89),
                             UINT64_C(0xa4093822299f31d0), UINT64_C(0x13198a2e03707344),
                             UINT64_C(0x243f6a8885a308d3), 3}};
static const dpi_wide one = {{0, 0, 0, 0, 0, 1}};

void dpi_multiply_words(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low)
{
    uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    uint64_t low_product = a0 * b0;
    uint64_t middle = a1 * b0 + (low_product >> 32);
    uint64_t other = a0 * b1 + (middle & UINT32_MAX);
    *high = a1 * b1 + (middle >> 32) + (other >> 32);
    *low = other << 32 | (low_product & UINT32_MAX);
}

void dpi_wide_add(const dpi_wide *a, const dpi_wide *b, dpi_wide *sum)
{
    uint64_t carry = 0;
    for (int i = 0; i < DPI_WIDE_LIMBS; i++) {
        uint64_t with_carry = a->limb[i] + carry;
        carry = with_carry < carry;
        uint64_t total = with_carry + b->limb[i];
        carry += total < with_carry;
        sum->limb[i] = total;
    }
}

void dpi_wide_subtract(const dpi_wide *a, const dpi_wide *b, dpi_wide *difference)
{
    uint64_t borrow = 0;
    for (int i = 0; i < DPI_WIDE_LIMBS; i++) {
        uint64_t x = a->limb[i], y = b->limb[i];
        difference->limb[i] = x - y - borrow;
        borrow = x < y || (x == y && borrow != 0);
    }
}

void dpi_wide_multiply(const dpi_wide *a, const dpi_wide *b, dpi_wide *product)
{
    uint64_t full[2 * DPI_WIDE_LIMBS] = {0};
    for (int i = 0; i < DPI_WIDE_LIMBS; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < DPI_WIDE_LIMBS; j++) {
            uint64_t high, low;
            dpi_multiply_words(a->limb[i], b->limb[j], &high, &low);
            low += carry;
            high += low < carry;
            full[i + j] += low;
            carry = high + (full[i + j] < low);
        }
        full[i + DPI_WIDE_LIMBS] = carry;
    }
    for (int i = 0; i < DPI_WIDE_LIMBS; i++)
        product->limb[i] = full[i + DPI_WIDE_LIMBS - 1];
}

void dpi_wide_divide(const dpi_wide *a, uint32_t divisor, dpi_wide *quotient)
{
    uint64_t rest = 0;
    for (int i = DPI_WIDE_LIMBS - 1; i >= 0; i--) {
        uint64_t upper = rest << 32 | a->limb[i] >> 32;
        uint64_t lower = upper % divisor << 32 | (a->limb[i] & UINT32_MAX);
        quotient->limb[i] = upper / divisor << 32 | lower / divisor;
        rest = lower % divisor;
    }
}

bool dpi_wide_less(const dpi_wide *a, const dpi_wide *b)
{
    for (int i = DPI_WIDE_LIMBS - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i];
    return false;
}

static bool is_zero(const dpi_wide *a)
{
    uint64_t bits = 0;
    for (int i = 0; i < DPI_WIDE_LIMBS; i++)
        bits |= a->limb[i];
    return bits == 0;
}

double dpi_wide_double(const dpi_wide *a)
{
    int top = DPI_WIDE_LIMBS - 1;
    while (top > 0 && a->limb[top] == 0)
        top--;
    double sum = 0;
    /* 53 bits in all: what is added is a whole number of units in the last place. */
    for (int i = top, left = 53; i >= 0 && left > 0; i--) {
        uint64_t word = a->limb[i];
        int bits = 64;
        while (i == top && bits > 0 && word >> (bits - 1) == 0)
            bits--;
        if (bits > left)
            word = word >> (bits - left) << (bits - left);
        left -= bits;
        sum += ldexp((double)word, 64 * i - DPI_WIDE_FRACTION);
    }
    return sum;
}

/* a becomes 2^e a in [1/2, 1); 0 < a < 1. */
static uint32_t normalise(dpi_wide *a)
{
    uint32_t e = 0;
    while (a->limb[DPI_WIDE_LIMBS - 2] >> 63 == 0) {
        dpi_wide_add(a, a, a);
        e++;
    }
    return e;
}

/* exp(c), 0 <= c < 1. */
static dpi_wide exponential(const dpi_wide *c)
{
    dpi_wide sum = one, term = one;
    for (uint32_t k = 1; !is_zero(&term); k++) {
        dpi_wide_multiply(&term, c, &term);
        dpi_wide_divide(&term, k, &term);
        dpi_wide_add(&sum, &term, &sum);
    }
    return sum;
}

/* log(1 + d), 0 < d < 2^-48. */
static dpi_wide log_near_one(const dpi_wide *d)
{
    enum { TERMS = 6 };
    dpi_wide sum = *d, power = *d, term;
    for (uint32_t k = 2; k <= TERMS; k++) {
        dpi_wide_multiply(&power, d, &power);
        dpi_wide_divide(&power, k, &term);
        if (k % 2 == 0)
            dpi_wide_subtract(&sum, &term, &sum);
        else
            dpi_wide_add(&sum, &term, &sum);
    }
    return sum;
}

void dpi_wide_minus_log(const dpi_wide *u, dpi_wide *result)
{
    dpi_wide m = *u, c = {{0}}, d, part;
    uint32_t e = normalise(&m);
    uint64_t near = (uint64_t)ldexp(-log(dpi_wide_double(&m)) + 0x1p-50, 60);
    c.limb[DPI_WIDE_LIMBS - 2] = near << 4;
    d = exponential(&c);
    dpi_wide_multiply(&m, &d, &d);
    dpi_wide_subtract(&d, &one, &d);
    part = log_near_one(&d);
    for (uint32_t k = 0; k < e; k++)
        dpi_wide_add(&c, &log_2, &c);
    dpi_wide_subtract(&c, &part, result);
}

void dpi_wide_sine_pi(const dpi_wide *f, dpi_wide *result)
{
    dpi_wide y, square, term, rest;
    dpi_wide_subtract(&one, f, &rest);
    dpi_wide_multiply(dpi_wide_less(f, &rest) ? f : &rest, &pi, &y);
    dpi_wide_multiply(&y, &y, &square);
    *result = term = y;
    for (uint32_t k = 2; !is_zero(&term); k += 2) {
        dpi_wide_multiply(&term, &square, &term);
        dpi_wide_divide(&term, k * (k + 1), &term);
        if (k % 4 == 2)
            dpi_wide_subtract(result, &term, result);
        else
            dpi_wide_add(result, &term, result);
    }
}
