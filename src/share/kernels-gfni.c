/* Transposition of bits with AVX-512 VBMI and GFNI.
 *
 * A square of 64 x 64 bits is 8 x 8 tiles of 8 x 8 bits.  Of a vector of eight numbers, byte b of
 * all of them is brought together, which is a tile, and the tile is transposed by a product of
 * matrices over GF(2), since A I = A with one operand read row by row and the other one column by
 * column.  Then tiles change places, words among eight vectors, and their bytes are laid out again.
 * Both directions are the same, but for the step between squares and lines. */
#include "share/kernels-parts.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define GFNI __attribute__((target("avx512f,avx512bw,avx512vbmi,gfni")))
#define INLINE static inline __attribute__((always_inline)) GFNI

enum { SIDE = DPI_PLANES_SIDE, SQUARES = DPI_PLANES_SQUARES };

/* Word j of vector i and word i of vector j change places. */
INLINE void turn_words(__m512i v[8])
{
    __m512i a[8], b[8];
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
        a[i] = _mm512_unpacklo_epi64(v[i], v[i + 1]);
        a[i + 1] = _mm512_unpackhi_epi64(v[i], v[i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4)
#pragma GCC unroll 2
        for (int k = 0; k < 2; k++) {
            b[i + k] = _mm512_shuffle_i64x2(a[i + k], a[i + 2 + k], 0x88);
            b[i + 2 + k] = _mm512_shuffle_i64x2(a[i + k], a[i + 2 + k], 0xdd);
        }
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        v[k] = _mm512_shuffle_i64x2(b[k], b[k + 4], 0x88);
        v[k + 4] = _mm512_shuffle_i64x2(b[k], b[k + 4], 0xdd);
    }
}

/* Transposes 64 x 64 bits, eight words a vector. */
INLINE void turn_square(__m512i v[8])
{
    const __m512i unit = _mm512_set1_epi64((long long)0x8040201008040201);
    __m512i tiles, bytes;
    unsigned char tile_of[SIDE], byte_of[SIDE];
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            tile_of[8 * i + j] = (unsigned char)(8 * (7 - j) + i); /* its rows go backwards */
            byte_of[8 * i + j] = (unsigned char)(8 * j + i);
        }
    tiles = _mm512_loadu_si512(tile_of);
    bytes = _mm512_loadu_si512(byte_of);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        v[i] = _mm512_gf2p8affine_epi64_epi8(unit, _mm512_permutexvar_epi8(tiles, v[i]), 0);
    turn_words(v);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        v[i] = _mm512_permutexvar_epi8(bytes, v[i]);
}

/* Between lines of eight squares and, at places 8 i + s, what turn_square has of square s. */
INLINE void turn_lines(uint64_t line[SIDE][SQUARES])
{
    for (size_t i = 0; i < SIDE; i += 8) {
        __m512i v[8];
#pragma GCC unroll 8
        for (size_t j = 0; j < 8; j++)
            v[j] = _mm512_loadu_si512(line[i + j]);
        turn_words(v);
#pragma GCC unroll 8
        for (size_t j = 0; j < 8; j++)
            _mm512_storeu_si512(line[i + j], v[j]);
    }
}

GFNI void dpi_planes_gfni_split(const uint64_t x[DPI_PLANES_BLOCK],
                                uint64_t line[DPI_PLANES_SIDE][DPI_PLANES_SQUARES])
{
    for (size_t s = 0; s < SQUARES; s++) {
        __m512i v[8];
#pragma GCC unroll 8
        for (size_t j = 0; j < 8; j++)
            v[j] = _mm512_loadu_si512(x + s * SIDE + 8 * j);
        turn_square(v);
#pragma GCC unroll 8
        for (size_t j = 0; j < 8; j++)
            _mm512_storeu_si512(line[8 * j + s], v[j]);
    }
    turn_lines(line);
}

GFNI void dpi_planes_gfni_join(uint64_t line[DPI_PLANES_SIDE][DPI_PLANES_SQUARES],
                               uint64_t x[DPI_PLANES_BLOCK])
{
    turn_lines(line);
    for (size_t s = 0; s < SQUARES; s++) {
        __m512i v[8];
#pragma GCC unroll 8
        for (size_t j = 0; j < 8; j++)
            v[j] = _mm512_loadu_si512(line[8 * j + s]);
        turn_square(v);
#pragma GCC unroll 8
        for (size_t j = 0; j < 8; j++)
            _mm512_storeu_si512(x + s * SIDE + 8 * j, v[j]);
    }
}
#endif
