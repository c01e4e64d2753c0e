/* ChaCha20, 64 blocks at a time: twice sixteen blocks side by side with AVX-512, else libsodium's.
 *
 * Vector j of a group's state holds word j of sixteen blocks, so that a quarter round is twelve
 * vector instructions, a rotation one of them (Bernstein, "ChaCha, a variant of Salsa20", 2008; RFC
 * 8439).  These wait for each other; the four quarter rounds of one group leave half of the time
 * unused, so two groups go together, whose states fill the 32 registers.
 * At the end 16 x 16 words are transposed.  Loops are unrolled, since the state is in registers
 * only where every index is a constant.  No table and no branch: the time is the same for all
 * keys.  The 64-bit counter starts at zero and stays below 64, so only its low word moves.
 *
 * libsodium has AVX2 code, which this would not improve on.  Key and state stay in registers, or on
 * the stack where the compiler spills them; the spilled part is not more than the keystream that
 * the caller holds. */
#include "random/chacha.h"

#include <sodium.h>
#include <stdint.h>
#include <string.h>

#include "random/stream.h"

void dpi_chacha_sodium(const unsigned char *key, unsigned char *out)
{
    static const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES];
    (void)crypto_stream_chacha20(out, DPI_CHACHA_BYTES, nonce, key);
}

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f")))
#define INLINE static inline __attribute__((always_inline)) AVX512

enum { WIDTH = 16, WORDS = 16, ROUND_PAIRS = 10 };

INLINE void quarter_round(__m512i *a, __m512i *b, __m512i *c, __m512i *d)
{
    *a = _mm512_add_epi32(*a, *b);
    *d = _mm512_rol_epi32(_mm512_xor_si512(*d, *a), 16);
    *c = _mm512_add_epi32(*c, *d);
    *b = _mm512_rol_epi32(_mm512_xor_si512(*b, *c), 12);
    *a = _mm512_add_epi32(*a, *b);
    *d = _mm512_rol_epi32(_mm512_xor_si512(*d, *a), 8);
    *c = _mm512_add_epi32(*c, *d);
    *b = _mm512_rol_epi32(_mm512_xor_si512(*b, *c), 7);
}

/* Four vectors a .. d of words 4k .. 4k+3 become blocks' quarters: a has those of blocks 0, 4, 8
 * and 12, b of 1, 5, 9, 13 and so on. */
INLINE void transpose_quarter(__m512i *v)
{
    __m512i ab_low = _mm512_unpacklo_epi32(v[0], v[1]), ab_high = _mm512_unpackhi_epi32(v[0], v[1]);
    __m512i cd_low = _mm512_unpacklo_epi32(v[2], v[3]), cd_high = _mm512_unpackhi_epi32(v[2], v[3]);
    v[0] = _mm512_unpacklo_epi64(ab_low, cd_low);
    v[1] = _mm512_unpackhi_epi64(ab_low, cd_low);
    v[2] = _mm512_unpacklo_epi64(ab_high, cd_high);
    v[3] = _mm512_unpackhi_epi64(ab_high, cd_high);
}

/* Blocks i, 4 + i, 8 + i and 12 + i from their quarters. */
INLINE void store_blocks(const __m512i *v, int i, unsigned char *out)
{
    __m512i low01 = _mm512_shuffle_i32x4(v[i], v[4 + i], 0x88);
    __m512i high01 = _mm512_shuffle_i32x4(v[i], v[4 + i], 0xdd);
    __m512i low23 = _mm512_shuffle_i32x4(v[8 + i], v[12 + i], 0x88);
    __m512i high23 = _mm512_shuffle_i32x4(v[8 + i], v[12 + i], 0xdd);
    _mm512_storeu_si512(out + 64 * i, _mm512_shuffle_i32x4(low01, low23, 0x88));
    _mm512_storeu_si512(out + 64 * (4 + i), _mm512_shuffle_i32x4(high01, high23, 0x88));
    _mm512_storeu_si512(out + 64 * (8 + i), _mm512_shuffle_i32x4(low01, low23, 0xdd));
    _mm512_storeu_si512(out + 64 * (12 + i), _mm512_shuffle_i32x4(high01, high23, 0xdd));
}

/* The first state of a group of sixteen blocks. */
INLINE void begin_group(const uint32_t *start, __m512i counter, __m512i *v)
{
#pragma GCC unroll 16
    for (int j = 0; j < WORDS; j++)
        v[j] = j == 12 ? counter : _mm512_set1_epi32((int)start[j]);
}

INLINE void end_group(const uint32_t *start, __m512i counter, __m512i *v, unsigned char *out)
{
#pragma GCC unroll 16
    for (int j = 0; j < WORDS; j++)
        v[j] = _mm512_add_epi32(v[j], j == 12 ? counter : _mm512_set1_epi32((int)start[j]));
#pragma GCC unroll 16
    for (int j = 0; j < WORDS; j += 4)
        transpose_quarter(v + j);
#pragma GCC unroll 16
    for (int i = 0; i < 4; i++)
        store_blocks(v, i, out);
}

AVX512 void dpi_chacha_avx512(const unsigned char *key, unsigned char *out)
{
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    uint32_t start[WORDS] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    for (int j = 0; j < 8; j++)
        start[4 + j] = dpi_load32(key + 4 * j);
    for (int first = 0; first < DPI_CHACHA_BYTES / 64; first += 2 * WIDTH, out += 128 * WIDTH) {
        const __m512i one = _mm512_add_epi32(lanes, _mm512_set1_epi32(first));
        const __m512i two = _mm512_add_epi32(one, _mm512_set1_epi32(WIDTH));
        __m512i v[WORDS], w[WORDS];
        begin_group(start, one, v);
        begin_group(start, two, w);
        for (int r = 0; r < ROUND_PAIRS; r++) {
#pragma GCC unroll 16
            for (int j = 0; j < 4; j++) {
                quarter_round(&v[j], &v[4 + j], &v[8 + j], &v[12 + j]);
                quarter_round(&w[j], &w[4 + j], &w[8 + j], &w[12 + j]);
            }
#pragma GCC unroll 16
            for (int j = 0; j < 4; j++) {
                quarter_round(&v[j], &v[4 + (j + 1) % 4], &v[8 + (j + 2) % 4],
                              &v[12 + (j + 3) % 4]);
                quarter_round(&w[j], &w[4 + (j + 1) % 4], &w[8 + (j + 2) % 4],
                              &w[12 + (j + 3) % 4]);
            }
        }
        end_group(start, one, v, out);
        end_group(start, two, w, out + 64 * WIDTH);
    }
    sodium_memzero(start, sizeof start);
}
bool dpi_chacha_has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") != 0;
}
#else
void dpi_chacha_avx512(const unsigned char *key, unsigned char *out)
{
    dpi_chacha_sodium(key, out);
}

bool dpi_chacha_has_avx512(void)
{
    return false;
}
#endif

void dpi_chacha(const unsigned char key[DPI_CHACHA_KEY], unsigned char out[DPI_CHACHA_BYTES])
{
    if (dpi_chacha_has_avx512())
        dpi_chacha_avx512(key, out);
    else
        dpi_chacha_sodium(key, out);
}
