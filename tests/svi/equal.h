/* How far rounding moves a clipped sum in single precision, where it moves it most. */
#ifndef TESTS_SVI_EQUAL_H
#define TESTS_SVI_EQUAL_H

#include <stdbool.h>
#include <stddef.h>

/* A sum over n equal records of a layer of this size. */
typedef struct equal_sum {
    size_t n, inputs, outputs;
    bool factors; /* it goes through factors (svi/waves.c), else through chains (exec/chains.c) */
} equal_sum;

/* The norm that all gradients are clipped at, which clips none. */
double equal_clip(const equal_sum *s);

/* Its greatest distance from the exact sum, in clips.  1 + (2^(k-2) - 1) 2^-23 is added to sums of
 * 2^(k-1) ... 2^k of it with the loss of almost half a unit in their last place, always downwards:
 * chains of 2^k lose most. */
double equal_off(const equal_sum *s);

#endif
