/* Products in float with AVX-512. */
#include "num/gemm.h"

#if defined(__x86_64__)
#include <immintrin.h>

enum { SIDE = 16 };

/* Lanes of two vectors in which places of `by` are exchanged: of the first where lanes stay, and of
 * what was in the second's place. */
#define STAY(lane, by) (((lane) & (by)) != 0 ? SIDE + (lane) - (by) : (lane))
#define COME(lane, by) (((lane) & (by)) != 0 ? SIDE + (lane) : (lane) + (by))
#define FOUR(of, lane, by) of(lane, by), of((lane) + 1, by), of((lane) + 2, by), of((lane) + 3, by)
#define LANES_OF(of, by)                                                                           \
    {                                                                                              \
        FOUR(of, 0, by), FOUR(of, 4, by), FOUR(of, 8, by), FOUR(of, 12, by)                        \
    }

/* to[i][j] = from[j][i] for i, j < SIDE: blocks of 8, 4, 2 and 1 change places, each time between
 * two rows. */
static inline __attribute__((target("avx512f"), always_inline)) void
turn_square(size_t from_step, const float *from, size_t step, float *to)
{
    static const int stay[4][SIDE] = {LANES_OF(STAY, 8), LANES_OF(STAY, 4), LANES_OF(STAY, 2),
                                      LANES_OF(STAY, 1)};
    static const int come[4][SIDE] = {LANES_OF(COME, 8), LANES_OF(COME, 4), LANES_OF(COME, 2),
                                      LANES_OF(COME, 1)};
    __m512 row[SIDE];
#pragma GCC unroll 16
    for (int i = 0; i < SIDE; i++)
        row[i] = _mm512_loadu_ps(from + (size_t)i * from_step);
#pragma GCC unroll 4
    for (int s = 0; s < 4; s++) {
        const int by = 8 >> s;
        const __m512i first = _mm512_loadu_si512(stay[s]), second = _mm512_loadu_si512(come[s]);
#pragma GCC unroll 16
        for (int i = 0; i < SIDE; i++)
            if ((i & by) == 0) {
                const __m512 a = row[i], b = row[i + by];
                row[i] = _mm512_permutex2var_ps(a, first, b);
                row[i + by] = _mm512_permutex2var_ps(a, second, b);
            }
    }
#pragma GCC unroll 16
    for (int i = 0; i < SIDE; i++)
        _mm512_storeu_ps(to + (size_t)i * step, row[i]);
}

#define KERNEL_TURN turn_square
#define KERNEL_WIDEN(narrow) _mm512_cvtps_pd((__m256)(narrow))
#define KERNEL_REAL float
#define KERNEL_BYTES 64
#define KERNEL_TARGET __attribute__((target("avx512f,avx2,fma")))
#define KERNEL_ROWS 8
#define KERNEL_PRODUCT dpi_product_single
#define KERNEL_MULTIPLY dpi_gemm_avx512_single
#define KERNEL_CHAIN dpi_chain_single
#define KERNEL_CHAINS dpi_gemm_avx512_chains_single
#define fused _mm512_fmadd_ps
#include "num/gemm-kernel.h"
#endif
