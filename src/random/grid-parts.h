/* Normal numbers by Box and Muller, a vector of pairs at a time: the part that is the same in
 * double and in single precision.
 *
 * The file that includes it defines PART(name), which makes names of a precision, SCALAR and
 * UNSIGNED, types of as many bits, MANTISSA_BITS of a SCALAR, FINE_BITS, bits of u below these,
 * KERNEL_BYTES (of a vector), KERNEL_TARGET (an attribute), PART(root), the square roots of a
 * vector, and the coefficients of the series from the last one on.  Construction and error bound:
 * grid.c. */
typedef SCALAR PART(real) __attribute__((vector_size(KERNEL_BYTES)));
typedef UNSIGNED PART(word) __attribute__((vector_size(KERNEL_BYTES)));

#define REAL PART(real)
#define WORD PART(word)
#define BITS ((int)(8 * sizeof(SCALAR)))
#define EXPONENT_BIAS ((UNSIGNED)(((UNSIGNED)1 << (BITS - MANTISSA_BITS - 2)) - 1))
#define TOP ((UNSIGNED)1 << (BITS - 1))
#define MANTISSA (((UNSIGNED)1 << MANTISSA_BITS) - 1)
#define POWER ((SCALAR)((UNSIGNED)1 << MANTISSA_BITS)) /* 2^MANTISSA_BITS */
#define POWER_BITS ((EXPONENT_BIAS + MANTISSA_BITS) << MANTISSA_BITS)
#define FINE_POWER ((SCALAR)((UNSIGNED)1 << FINE_BITS))

/* A number in [2^m, 2^(m+1)), m its bits of mantissa, has the low m bits as an integer. */
INLINE REAL PART(whole)(WORD k)
{
    return (REAL)(k | POWER_BITS) - POWER;
}

/* c[0] z^(n-1) + ... + c[n-1] */
INLINE REAL PART(series)(int n, const SCALAR *c, REAL z)
{
    REAL p = z * c[0] + c[1];
#pragma GCC unroll 16
    for (int k = 2; k < n; k++)
        p = p * z + c[k];
    return p;
}

/* -2 log u, u of the MANTISSA_BITS of `high` and the FINE_BITS of `low`, to 10.5 v of it and one of
 * FINE_BITS over u. */
INLINE REAL PART(minus_two_log)(WORD high, WORD low)
{
    REAL coarse = PART(whole)(high) * (1 / POWER);
    REAL fine = (PART(whole)(low) + (SCALAR)0.5) * (1 / POWER / FINE_POWER);
    REAL u = coarse + fine, rest = fine - (u - coarse);
    WORD shifted = (WORD)u - SQRT_HALF_BITS + (EXPONENT_BIAS << MANTISSA_BITS);
    REAL e = PART(whole)(shifted >> MANTISSA_BITS) - (SCALAR)EXPONENT_BIAS;
    REAL m = (REAL)((shifted & MANTISSA) + SQRT_HALF_BITS);
    REAL s = (m - 1) / (m + 1), z = s * s;
    REAL p = PART(series)(LOG_TERMS, PART(of_log), z);
    return (SCALAR)-2 * ((e * (SCALAR)LOG_2 + (SCALAR)2 * (s + s * z * p)) + rest);
}

INLINE REAL PART(sine)(REAL x, REAL z)
{
    return x + x * z * PART(series)(SINE_TERMS, PART(of_sine), z);
}

INLINE REAL PART(cosine)(REAL z)
{
    return 1 + z * PART(series)(COSINE_TERMS, PART(of_cosine), z);
}

/* x of the bits of f that are read. */
INLINE REAL PART(angle)(WORD w1)
{
    REAL middle = PART(whole)(w1 << 2 >> (BITS - MANTISSA_BITS)) - (POWER / 2 - (SCALAR)0.5);
    return middle * (SCALAR)(HALF_PI / (double)POWER);
}

/* r cos x and r sin x, exchanged and with signs as w1 says. */
INLINE void PART(polar)(REAL r, WORD w1, REAL pair[2])
{
    REAL x = PART(angle)(w1), z = x * x;
    WORD c = (WORD)PART(cosine)(z), s = (WORD)PART(sine)(x, z);
    WORD change = (c ^ s) & -(w1 >> (BITS - 2) & 1), sign = w1 & TOP;
    pair[0] = r * (REAL)(c ^ change ^ sign);
    pair[1] = r * (REAL)(s ^ change ^ sign);
}

#undef REAL
#undef WORD
#undef BITS
#undef EXPONENT_BIAS
#undef TOP
#undef MANTISSA
#undef POWER
#undef POWER_BITS
#undef FINE_POWER
#undef PART
#undef SCALAR
#undef UNSIGNED
#undef MANTISSA_BITS
#undef FINE_BITS
#undef SQRT_HALF_BITS
#undef LOG_TERMS
#undef SINE_TERMS
#undef COSINE_TERMS
