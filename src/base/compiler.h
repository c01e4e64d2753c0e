/* Compiler extensions, all in one place. */
#ifndef DPI_BASE_COMPILER_H
#define DPI_BASE_COMPILER_H

#include <float.h>
#include <limits.h> /* says whose C library it is */

/* Rounding to a grid (random/grid.c, svi/release.c), compensated sums and outward rounding hold for
 * operations as they are written, each rounded to its type.  Compiled otherwise the library would
 * release sums that are on no grid, and say nothing. */
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) ||                                     \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "privacy and accounting need arithmetic as written: no -ffast-math, no -Ofast in CFLAGS"
#endif
#if defined(__clang__) /* has no macro for -fassociative-math alone */
#pragma clang fp reassociate(off)
#endif
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16 /* 16: as 0, but for _Float16 */
#error "privacy and accounting need results rounded to their type: on x86 -msse2 -mfpmath=sse"
#endif

#if defined(__GNUC__)
#define DPI_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define DPI_NORETURN __attribute__((noreturn))
#define DPI_INLINE static inline __attribute__((always_inline))
#define DPI_LIKELY(x) __builtin_expect(!!(x), 1)
#define DPI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define DPI_PRINTF(fmt, args)
#define DPI_NORETURN
#define DPI_INLINE static inline
#define DPI_LIKELY(x) (x)
#define DPI_UNLIKELY(x) (x)
#endif

/* Before a loop of at most eight constant rounds, or sixteen: written out, so that arrays indexed
 * by it stay in registers.  DPI_AS_LOOPS leaves them as they are, for builds with sanitizers, which
 * clang is minutes over else. */
#if defined(__clang__) && defined(DPI_AS_LOOPS)
#define DPI_UNROLL _Pragma("clang loop unroll(disable)")
#define DPI_UNROLL_LONG DPI_UNROLL
#elif defined(__clang__)
#define DPI_UNROLL _Pragma("clang loop unroll(full)")
#define DPI_UNROLL_LONG DPI_UNROLL
#elif defined(__GNUC__)
#define DPI_UNROLL _Pragma("GCC unroll 8")
#define DPI_UNROLL_LONG _Pragma("GCC unroll 16")
#else
#define DPI_UNROLL
#define DPI_UNROLL_LONG
#endif

/* Before a loop in which no round reads what another one writes: an array of results may be one of
 * the operands, but not lie across it.  The compiler then needs no check of where arrays lie, of
 * which it makes a few at most and else takes no vectors. */
#if defined(__clang__)
#define DPI_APART _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define DPI_APART _Pragma("GCC ivdep")
#else
#define DPI_APART
#endif

/* The number of the lowest bit that is set in x, an unsigned long long that is not 0. */
DPI_INLINE int dpi_lowest_bit(unsigned long long x)
{
#if defined(__GNUC__)
    return __builtin_ctzll(x);
#else
    int bit = 0;
    while ((x >> bit & 1) == 0)
        bit++;
    return bit;
#endif
}

/* The product of two 64-bit numbers: its high word, and its low one in *low. */
DPI_INLINE unsigned long long dpi_multiply_wide(unsigned long long a, unsigned long long b,
                                                unsigned long long *low)
{
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    *low = (unsigned long long)product;
    return (unsigned long long)(product >> 64);
#else
    unsigned long long mask = 0xffffffffULL, a1 = a >> 32, a0 = a & mask, b1 = b >> 32;
    unsigned long long b0 = b & mask, middle = a1 * b0 + (a0 * b0 >> 32);
    unsigned long long cross = a0 * b1 + (middle & mask);
    *low = a * b;
    return a1 * b1 + (middle >> 32) + (cross >> 32);
#endif
}

/* For a plain loop over numbers: compiled for vectors, and on x86-64 several times, the widest that
 * the machine has being taken when the library is loaded.  Not with sanitizers, whose run-time
 * library is not there yet at that moment.  For static functions only: the choice would be exported
 * with the others.  DPI_LOOPS_AS_WRITTEN fuses no products with sums, so that all versions have the
 * same results. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) &&       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DPI_LOOPS                                                                                  \
    __attribute__((optimize("tree-vectorize", "vect-cost-model=dynamic"),                          \
                   target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define DPI_LOOPS_AS_WRITTEN                                                                       \
    __attribute__((optimize("tree-vectorize", "vect-cost-model=dynamic", "fp-contract=off"),       \
                   target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DPI_LOOPS
#if defined(__GNUC__) && !defined(__clang__)
#define DPI_LOOPS_AS_WRITTEN __attribute__((optimize("fp-contract=off")))
#else /* fuses within an expression alone */
#define DPI_LOOPS_AS_WRITTEN
#endif
#endif

#endif
