/* max(x, 0), and then a rounding shift: z = floor((max(x, 0) + 2^(s-1)) / 2^s), s = 0 being none.
 *
 * For |x| < 2^bits.  With x' = x + 2^(s-1) and x' = m + u modulo 2^l,
 *
 *   floor(x' / 2^s) = floor(m / 2^s) + floor(u / 2^s) + c - w 2^(l-s)   modulo 2^l
 *
 * where c is the carry out of the low s bits and w that out of the ring.  For 0 <= x' < 2^(l-1) the
 * top bits of m and u tell w: m + u = x' + w 2^l is below 2^(l-1), and so has neither, if w = 0,
 * and is 2^l or more, and so has one, if w = 1.  For x' < 0 this number is anything; z is it times
 * 1 - sign(x'), and so 0.
 *
 * Where x < 0 <= x', x' < 2^(s-1) and z = floor(x' / 2^s) = 0 as it should be; elsewhere x and x'
 * have the same sign.  |x'| < 2^(bits+1), so that bits + 2 bits of m and u tell the sign, and
 * bits + 1 where there is no shift. */
#ifndef DPI_SHARE_RELU_H
#define DPI_SHARE_RELU_H

#include "share/blocks.h"

typedef struct dpi_relu {
    int shift;
    dpi_carries tree;
} dpi_relu;

/* 1 <= bits, 0 <= shift <= bits, and bits + 2 (bits + 1 without a shift) those of the ring at
 * most. */
void dpi_relu_make(dpi_ring ring, int bits, int shift, dpi_relu *r);

/* Rounds that a block takes. */
int dpi_relu_rounds(const dpi_relu *r);

/* z of x->n numbers x; z may be x, which else is afterwards what it was. */
void dpi_relu_run(dpi_party *p, dpi_ring ring, const dpi_relu *r, dpi_blocks *room, dpi_share *x,
                  dpi_share *z);

#endif
