/* Powers of a sequence under circular convolution, with a bound on the rounding error. */
#ifndef DPI_ACCOUNTANT_GRID_FFT_H
#define DPI_ACCOUNTANT_GRID_FFT_H

#include <stdbool.h>
#include <stddef.h>

/* Product of powers under circular convolution.  n is a power of two, at least 64; data has n + 2
 * places, 64-byte aligned (dpi_alloc), and is borrowed.  One factor needs no more room.  NULL when
 * memory is out. */
typedef struct dpi_convolution dpi_convolution;
dpi_convolution *dpi_convolution_new(size_t n, double *data, size_t factors);
void dpi_convolution_free(dpi_convolution *product);

/* Takes data[0 ... n-1], non-negative with sum 1 (within 1e-9), as a factor to the power `steps`;
 * leaves data undefined.  As many times as factors were said. */
void dpi_convolution_multiply(dpi_convolution *product, double steps);

/* Puts the product into data; returns a bound on the absolute error of every entry. */
double dpi_convolution_finish(dpi_convolution *product);

/* Bound on the error of every coefficient of one transform of n numbers whose absolute values sum
 * to 1. */
double dpi_fft_error(size_t n);

#endif
