/* Masks that cancel: each pair of owners adds and subtracts the stream of a common key. */
#ifndef DPI_SILO_MASKS_H
#define DPI_SILO_MASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DPI_MASK_KEY = 32 };

/* Adds the words of a key's stream (ChaCha20) to x[n] modulo 2^64, or subtracts them. */
void dpi_mask_add(const unsigned char key[DPI_MASK_KEY], bool minus, size_t n,
                  uint64_t *x /* [n] */);

/* A number that shows whether a sum is one: the inner product of x[n] with random odd words that
 * the key alone says.  It is linear, so that numbers of summands add up to that of the sum, and
 * garbage has the right one with a chance of 2^-63. */
uint64_t dpi_mask_check(const unsigned char key[DPI_MASK_KEY], size_t n,
                        const uint64_t *x /* [n] */);

#endif
