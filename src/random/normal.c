/* Standard normal numbers from a stream: Box-Muller without branches.
 *
 *   z0 = r cos(t), z1 = r sin(t),   r = sqrt(-2 log u),   u and t/(2 pi) uniform on (0, 1)
 *
 * Two 64-bit words make a pair.  Of word 0, 52 bits are the leading bits of u and 12 go below them,
 * with 10 bits of word 1 below those:  u = (k + 1/2) 2^-74, k uniform on 0 .. 2^74 - 1, rounded to
 * double (relative 2^-53).  So u is fine where the tails need it: at a radius of 8, u = e^-32, it
 * comes in steps of 2^-27 u and the radius in steps of 2^-30; the largest radius is sqrt(150 log 2)
 * = 10.2, beyond which a pair of real normals falls with probability 2^-75.  Of word 1, 52 bits
 * place x on (-pi/4, pi/4) in steps of 2^-52 pi/2, one bit exchanges sine and cosine and one bit is
 * the common sign: together a uniform angle.
 *
 * log, sin and cos are their Taylor series on reduced arguments: after u = 2^e m with m in
 * [1/sqrt 2, sqrt 2) and s = (m - 1)/(m + 1), |s| < 0.172,
 *   log m = 2 s (1 + s^2/3 + ... + s^20/21), next term below 2 s * 3e-18;
 *   sin x to x^17/17!, cos x to x^18/18!, next terms below 1e-19 for |x| <= pi/4.
 * The numbers agree with the C library's in long double to 1e-15 relative to r (tested).
 *
 * Nothing depends on the values but arithmetic: no table, no rejection, no data-dependent branch,
 * so the time taken tells nothing of the noise (cf. Jin, McMurtry, Rubinstein and Ohrimenko,
 * "Are we there yet? Timing and floating-point attacks on differential privacy systems", 2022).
 * The loops run over LANES pairs with a fixed count so that compilers make vector code of them.
 *
 * Ziggurat and polar methods are faster on paper but reject, hence leak time; inversion needs a
 * special function of 53-bit quality in the tails.  Reference: Box and Muller 1958. */
#include "random/normal.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/compiler.h"
#include "num/copy.h"

enum { LANES = DPI_NORMALS_AT_ONCE / 2, BYTES = 16 * LANES };

/* A double in [2^52, 2^53) has its low 52 bits as an integer: or-ing them in and subtracting 2^52
 * converts without an integer-to-double instruction, which vector units often lack. */
#define TWO52_BITS UINT64_C(0x4330000000000000)
#define ONE_BITS UINT64_C(0x3ff0000000000000)
#define MANTISSA UINT64_C(0x000fffffffffffff)
#define SIGN UINT64_C(0x8000000000000000)
#define SQRT_HALF_BITS UINT64_C(0x3fe6a09e667f3bcd)
#define LOG_2 0.693147180559945309417
#define HALF_PI 1.57079632679489661923

static inline double as_double(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t as_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Integer below 2^52 to double. */
static inline double to_double(uint64_t k)
{
    return as_double(TWO52_BITS | k) - 0x1p52;
}

/* Radius sqrt(-2 log u), u of 64 + 10 bits. */
static inline double radius(uint64_t word, uint64_t low10)
{
    double u =
        to_double(word >> 12) * 0x1p-52 + (to_double((word & 0xfff) << 10 | low10) + 0.5) * 0x1p-74;
    /* Subtracting the bits of sqrt(1/2) makes the exponent field e for m in [sqrt 1/2, sqrt 2). */
    uint64_t shifted = as_bits(u) - SQRT_HALF_BITS + (UINT64_C(1023) << 52);
    double e = to_double(shifted >> 52) - 1023.0;
    double m = as_double((shifted & MANTISSA) + SQRT_HALF_BITS);
    double s = (m - 1.0) / (m + 1.0);
    double z = s * s;
    double p = 1.0 / 21.0;
    p = p * z + 1.0 / 19.0;
    p = p * z + 1.0 / 17.0;
    p = p * z + 1.0 / 15.0;
    p = p * z + 1.0 / 13.0;
    p = p * z + 1.0 / 11.0;
    p = p * z + 1.0 / 9.0;
    p = p * z + 1.0 / 7.0;
    p = p * z + 1.0 / 5.0;
    p = p * z + 1.0 / 3.0;
    /* u may round to 1; e is then 0 and s is 0: the radius is 0, never the root of a negative. */
    return sqrt(-2.0 * (e * LOG_2 + 2.0 * (s + s * z * p)));
}

static inline double sine(double x, double z)
{
    double p = 1.0 / 355687428096000.0;
    p = p * z - 1.0 / 1307674368000.0;
    p = p * z + 1.0 / 6227020800.0;
    p = p * z - 1.0 / 39916800.0;
    p = p * z + 1.0 / 362880.0;
    p = p * z - 1.0 / 5040.0;
    p = p * z + 1.0 / 120.0;
    p = p * z - 1.0 / 6.0;
    return x + x * z * p;
}

static inline double cosine(double z)
{
    double p = -1.0 / 6402373705728000.0;
    p = p * z + 1.0 / 20922789888000.0;
    p = p * z - 1.0 / 87178291200.0;
    p = p * z + 1.0 / 479001600.0;
    p = p * z - 1.0 / 3628800.0;
    p = p * z + 1.0 / 40320.0;
    p = p * z - 1.0 / 720.0;
    p = p * z + 1.0 / 24.0;
    p = p * z - 1.0 / 2.0;
    return 1.0 + z * p;
}

/* LANES pairs from as many times two words, word 0 then word 1 of each pair; out gets z0 and z1 of
 * each pair in turn. */
DPI_LOOPS static void pairs(const unsigned char *bytes, double *out)
{
    double r[LANES];
    uint64_t first[LANES], second[LANES], c[LANES], s[LANES];
    for (int i = 0; i < LANES; i++) {
        first[i] = dpi_load64(bytes + 16 * i);
        second[i] = dpi_load64(bytes + 16 * i + 8);
    }
    for (int i = 0; i < LANES; i++)
        r[i] = radius(first[i], second[i] & 0x3ff);
    for (int i = 0; i < LANES; i++) {
        uint64_t w = second[i];
        double x = (to_double(w >> 12) - (0x1p51 - 0.5)) * (0x1p-52 * HALF_PI);
        uint64_t swap = 0 - (w >> 10 & 1), sign = w << 52 & SIGN;
        uint64_t cos_bits = as_bits(cosine(x * x)), sin_bits = as_bits(sine(x, x * x));
        uint64_t change = (cos_bits ^ sin_bits) & swap;
        c[i] = cos_bits ^ change ^ sign;
        s[i] = sin_bits ^ change ^ sign;
    }
    for (int i = 0; i < LANES; i++) {
        out[2 * i] = r[i] * as_double(c[i]);
        out[2 * i + 1] = r[i] * as_double(s[i]);
    }
}

/* Words are read where the stream has them, unless they are few or lie across the ends of its
 * buffers. */
void dpi_stream_normals(dpi_stream *stream, size_t n, double *out)
{
    unsigned char bytes[BYTES];
    double last[DPI_NORMALS_AT_ONCE];
    bool copied = false;
    for (size_t some; n > 0; n -= some, out += some) {
        some = n < DPI_NORMALS_AT_ONCE ? n : DPI_NORMALS_AT_ONCE;
        size_t read = (some + 1) / 2 * 16;
        const unsigned char *words = read == BYTES ? dpi_stream_whole(stream, BYTES) : NULL;
        if (words == NULL) {
            memset(bytes, 0, sizeof bytes);
            dpi_stream_bytes(stream, read, bytes);
            words = bytes;
            copied = true;
        }
        pairs(words, some == DPI_NORMALS_AT_ONCE ? out : last);
        if (some == DPI_NORMALS_AT_ONCE)
            continue;
        dpi_copy_row(some * sizeof *out, last, out);
        sodium_memzero(last, sizeof last);
    }
    if (copied)
        sodium_memzero(bytes, sizeof bytes);
}

/* Of whole pairs of each row but the last, whose number beyond the row the next one overwrites. */
void dpi_stream_normal_rows(dpi_stream *stream, size_t rows, size_t size, double *out)
{
    const size_t whole = size + size % 2;
    for (; rows > 1; rows--, out += size) {
        const unsigned char *words =
            whole == DPI_NORMALS_AT_ONCE ? dpi_stream_whole(stream, BYTES) : NULL;
        if (words != NULL)
            pairs(words, out);
        else
            dpi_stream_normals(stream, whole, out);
    }
    if (rows == 1)
        dpi_stream_normals(stream, size, out);
}
