/* Polynomials for encryption over rings, from seeds.
 *
 * Errors are centred binomial: as safe as a discrete Gaussian of the same deviation as far as
 * attacks are known (Alkim, Ducas, Poeppelmann and Schwabe, USENIX Security 2016), and made by
 * counting bits without a table or a branch.  42 coins give a deviation of 3.24; the guidelines
 * have 3.19. */
#include "crypto/rlwe-sample.h"

#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/error.h"
#include "crypto/packed.h"

dp_status dpi_rlwe_seed(unsigned char seed[DPI_RLWE_SEED], dp_error *err)
{
    /* sodium_init aborts where there is no randomness, so it comes second. */
    if (getentropy(seed, DPI_RLWE_SEED) == 0 && sodium_init() >= 0)
        return DP_OK;
    sodium_memzero(seed, DPI_RLWE_SEED);
    return dpi_fail(err, DP_EENTROPY,
                    "the operating system gave no random bytes for a key; a sandbox must allow "
                    "getrandom");
}

void dpi_rlwe_start(dpi_rlwe_stream *r, const unsigned char seed[DPI_RLWE_SEED], const char *label)
{
    (void)crypto_generichash(r->key, sizeof r->key, (const unsigned char *)label, strlen(label),
                             seed, DPI_RLWE_SEED);
    r->block = 0;
    r->used = sizeof r->bytes;
}

dp_status dpi_rlwe_begin(dpi_rlwe_stream *r, const char *label, dp_error *err)
{
    unsigned char seed[DPI_RLWE_SEED];
    dp_status status = dpi_rlwe_seed(seed, err);
    if (status == DP_OK)
        dpi_rlwe_start(r, seed, label);
    sodium_memzero(seed, sizeof seed);
    return status;
}

void dpi_rlwe_end(dpi_rlwe_stream *r)
{
    sodium_memzero(r, sizeof *r);
}

/* n > 0 bytes, not more than there is room for, until the next call. */
static const unsigned char *next(dpi_rlwe_stream *r, size_t n)
{
    static const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES];
    if (sizeof r->bytes - r->used < n) {
        memset(r->bytes, 0, sizeof r->bytes);
        (void)crypto_stream_chacha20_xor_ic(r->bytes, r->bytes, sizeof r->bytes, nonce, r->block,
                                            r->key);
        r->block += sizeof r->bytes / 64;
        r->used = 0;
    }
    r->used += n;
    return r->bytes + r->used - n;
}

void dpi_rlwe_bytes(dpi_rlwe_stream *r, size_t n, unsigned char *out)
{
    while (n > 0) {
        const size_t step = n < 64 ? n : 64;
        memcpy(out, next(r, step), step);
        out += step;
        n -= step;
    }
}

void dpi_rlwe_uniform(dpi_rlwe_stream *r, const dpi_modulus *m, size_t n, uint64_t *out)
{
    enum { STEP = 64 };
    const uint64_t mask = ((uint64_t)1 << m->bits) - 1;
    size_t done = 0;
    while (done < n) {
        const size_t step = n - done < STEP ? n - done : STEP;
        const unsigned char *bytes = next(r, 8 * step);
        /* A number that is not below q is overwritten by the next. */
        for (size_t i = 0; i < step; i++) {
            out[done] = dpi_load_word(bytes + 8 * i) & mask;
            done += out[done] < m->q;
        }
    }
}

void dpi_rlwe_ternary(dpi_rlwe_stream *r, size_t n, int8_t *out)
{
    enum { STEP = 256 };
    size_t done = 0;
    while (done < n) {
        const size_t step = n - done < STEP ? n - done : STEP;
        const unsigned char *bytes = next(r, step);
        /* 255 = 3 x 85 values are kept; 171 / 512 is 1/3 closely enough for all of them. */
        for (size_t i = 0; i < step; i++) {
            const unsigned value = bytes[i];
            out[done] = (int8_t)((int)(value - 3 * (value * 171 >> 9)) - 1);
            done += value < 255;
        }
    }
}

void dpi_rlwe_wide(dpi_rlwe_stream *r, int bits, size_t n, int64_t *out)
{
    const uint64_t half = (uint64_t)1 << (bits - 1), mask = 2 * half - 1;
    const size_t each = bits <= 8 ? 1 : 8, most = DPI_RLWE_ROOM / each;
    for (size_t done = 0; done < n; done += most) {
        const size_t step = n - done < most ? n - done : most;
        const unsigned char *bytes = next(r, each * step);
        for (size_t i = 0; i < step; i++) {
            const uint64_t word = each == 1 ? bytes[i] : dpi_load_word(bytes + 8 * i);
            out[done + i] = (int64_t)((word & mask) - half);
        }
    }
}

/* The number of bits of each of the two halves of 21 bits, the second subtracted. */
DPI_LOOPS static void count_coins(size_t n, const unsigned char *bytes, int8_t *out)
{
    for (size_t i = 0; i < n; i++) {
        /* The halves go to the low 21 bits of two 32-bit fields, which are counted side by side. */
        const uint64_t word = dpi_load_word(bytes + 8 * i);
        uint64_t v = (word & 0x1fffff) | (word >> 21 & 0x1fffff) << 32;
        v -= v >> 1 & 0x5555555555555555;
        v = (v & 0x3333333333333333) + (v >> 2 & 0x3333333333333333);
        v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f;
        v += v >> 8;
        v += v >> 16;
        out[i] = (int8_t)((int)(v & 0x3f) - (int)(v >> 32 & 0x3f));
    }
}

void dpi_rlwe_errors(dpi_rlwe_stream *r, size_t n, int8_t *out)
{
    enum { STEP = DPI_RLWE_ROOM / 8 };
    for (size_t done = 0; done < n; done += STEP) {
        const size_t step = n - done < STEP ? n - done : STEP;
        count_coins(step, next(r, 8 * step), out + done);
    }
}
