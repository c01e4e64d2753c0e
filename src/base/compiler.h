/* Compiler extensions, all in one place. */
#ifndef DPI_BASE_COMPILER_H
#define DPI_BASE_COMPILER_H

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

#endif
