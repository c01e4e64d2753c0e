/* The discrete Gaussian of Canonne, Kamath and Steinke, "The discrete Gaussian for differential
 * privacy" (NeurIPS 2020), algorithms 1 to 3, in integers alone.
 *
 *   t      a power of two, sigma < t <= 2 sigma or 1 (any t is right, this one is fast)
 *   Y      discrete Laplace: P(Y = y) proportional to exp(-|y| / t)
 *   kept   with probability exp(-g), g = (|Y| t - sigma^2)^2 / (2 sigma^2 t^2), since
 *          |y| / t + g = y^2 / (2 sigma^2) + sigma^2 / (2 t^2)
 *
 * sigma is the double that it is, M 2^-58 with an integer M, so g = p / q in integers below 2^400:
 *   p = (|Y| t 2^116 - M^2)^2,      q = 2 M^2 t^2 2^116.
 * An event of probability exp(-p / q), p <= q, is an odd number of trials k = 1, 2, ... until one
 * of probability p / (q k) fails; one of probability a / b compares random bits with those of a /
 * b, two on average.  Nothing is rounded.  |Y| / t stops at 2^10, where it has probability
 * exp(-1024). */
#include "random/discrete.h"

#include <math.h>
#include <sodium.h>

enum { LIMBS = 14, SHIFT = 58, MOST_TIMES = 1 << 10 };

/* limb[0] + limb[1] 2^32 + ... */
typedef struct integer {
    uint32_t limb[LIMBS];
} integer;

static integer from(uint64_t x)
{
    return (integer){{(uint32_t)x, (uint32_t)(x >> 32)}};
}

static integer product(const integer *a, const integer *b)
{
    integer out = {{0}};
    for (int i = 0; i < LIMBS; i++) {
        uint64_t carry = 0;
        for (int j = 0; i + j < LIMBS; j++) {
            carry += (uint64_t)a->limb[i] * b->limb[j] + out.limb[i + j];
            out.limb[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    return out;
}

static bool is_less(const integer *a, const integer *b)
{
    for (int i = LIMBS - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i];
    return false;
}

/* *a -= b, b <= a. */
static void subtract(integer *a, const integer *b)
{
    uint64_t borrow = 0;
    for (int i = 0; i < LIMBS; i++) {
        uint64_t difference = (uint64_t)a->limb[i] - b->limb[i] - borrow;
        a->limb[i] = (uint32_t)difference;
        borrow = difference >> 63;
    }
}

static void double_it(integer *a)
{
    for (int i = LIMBS - 1; i > 0; i--)
        a->limb[i] = a->limb[i] << 1 | a->limb[i - 1] >> 31;
    a->limb[0] <<= 1;
}

/* True with probability a / b, a <= b. */
static bool happens(dpi_stream *stream, integer a, const integer *b)
{
    for (uint32_t bits = 0, left = 0;; left--, bits >>= 1) {
        if (left == 0) {
            bits = dpi_stream_u32(stream);
            left = 32;
        }
        double_it(&a);
        bool digit = !is_less(&a, b);
        if (digit)
            subtract(&a, b);
        if ((bits & 1) != digit)
            return digit;
    }
}

/* True with probability exp(-p / q), p <= q. */
static bool survives(dpi_stream *stream, const integer *p, const integer *q)
{
    for (uint64_t k = 1;; k++) {
        integer times = from(k), bound = product(q, &times);
        if (!happens(stream, *p, &bound))
            return k % 2 == 1;
    }
}

/* The same for any p. */
static bool survives_long(dpi_stream *stream, integer p, const integer *q)
{
    const integer one = from(1);
    for (; is_less(q, &p); subtract(&p, q))
        if (!survives(stream, &one, &one))
            return false;
    return survives(stream, &p, q);
}

/* |Y|, and its sign. */
static uint64_t laplace(dpi_stream *stream, uint64_t t, bool *negative)
{
    const integer one = from(1), whole = from(t);
    for (;;) {
        uint64_t rest = dpi_stream_below(stream, t), times = 0;
        integer part = from(rest);
        if (!survives(stream, &part, &whole))
            continue;
        while (times < MOST_TIMES && survives(stream, &one, &one))
            times++;
        *negative = (dpi_stream_u8(stream) & 1) != 0;
        if (rest + t * times > 0 || !*negative)
            return rest + t * times;
    }
}

/* 2^power. */
static integer power_of_two(int power)
{
    integer out = {{0}};
    out.limb[power / 32] = (uint32_t)1 << power % 32;
    return out;
}

void dpi_discrete_gaussians(dpi_stream *stream, size_t n, double sigma, int64_t *out)
{
    uint64_t t = 1, mantissa;
    int exponent;
    while ((double)t <= sigma)
        t *= 2;
    mantissa = (uint64_t)ldexp(frexp(sigma, &exponent), 53);
    integer scale = power_of_two(2 * SHIFT), steps = from(t), q = from(mantissa);
    /* sigma 2^58 = mantissa 2^(exponent - 53 + 58), a whole number from 2^-6 on. */
    integer up = power_of_two(exponent + SHIFT - 53), square = product(&q, &up);
    square = product(&square, &square);
    q = product(&square, &scale);
    q = product(&q, &steps);
    q = product(&q, &steps);
    double_it(&q);
    for (size_t i = 0; i < n;) {
        bool negative;
        uint64_t y = laplace(stream, t, &negative);
        integer p = from(y);
        p = product(&p, &steps);
        p = product(&p, &scale);
        if (is_less(&p, &square)) {
            integer difference = square;
            subtract(&difference, &p);
            p = difference;
        } else {
            subtract(&p, &square);
        }
        p = product(&p, &p);
        if (survives_long(stream, p, &q))
            out[i++] = negative ? -(int64_t)y : (int64_t)y;
    }
}
