/* Numbers of 64 + 320 bits: what the last digit of a rounding is decided with. */
#ifndef DPI_RANDOM_WIDE_H
#define DPI_RANDOM_WIDE_H

#include <stdbool.h>
#include <stdint.h>

enum { DPI_WIDE_LIMBS = 6, DPI_WIDE_FRACTION = 320 };

/* The number limb[0] 2^-320 + limb[1] 2^-256 + ... + limb[5], in [0, 2^64). */
typedef struct dpi_wide {
    uint64_t limb[DPI_WIDE_LIMBS];
} dpi_wide;

/* High and low word of a product. */
void dpi_multiply_words(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low);

/* *sum = a + b and *difference = a - b, modulo 2^64; exact.  May alias. */
void dpi_wide_add(const dpi_wide *a, const dpi_wide *b, dpi_wide *sum);
void dpi_wide_subtract(const dpi_wide *a, const dpi_wide *b, dpi_wide *difference);

/* a b and a / divisor, cut off below 2^-320; the product modulo 2^64.  divisor < 2^32.  May
 * alias. */
void dpi_wide_multiply(const dpi_wide *a, const dpi_wide *b, dpi_wide *product);
void dpi_wide_divide(const dpi_wide *a, uint32_t divisor, dpi_wide *quotient);

bool dpi_wide_less(const dpi_wide *a, const dpi_wide *b);

/* The double below or at a, to 2^-52 of it. */
double dpi_wide_double(const dpi_wide *a);

/* -log u of 2^-300 < u < 1, off by less than 2^-300. */
void dpi_wide_minus_log(const dpi_wide *u, dpi_wide *result);

/* sin(pi f) of 0 <= f <= 1, off by less than 2^-310. */
void dpi_wide_sine_pi(const dpi_wide *f, dpi_wide *result);

#endif
