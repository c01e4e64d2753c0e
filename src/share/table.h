/* The sigmoid's table (doc/design/program.md), number by number and to the bit.
 *
 * c = min(max(up, 0), 2^14), up being x in units of the table with -8 at 0, is made by two relus,
 * the first of which also shifts.  What is outside becomes the first knot or the last one.  With k
 * = c >> 8 and pieces from a_k to a_(k+1), the oracle's number is
 *
 *   a_k + round_shift(d_k (c - 256 k), 8) = round_shift(d_k c + e_k, 8),
 *   d_k = a_(k+1) - a_k,   e_k = 256 (a_k - k d_k),   d_64 = 0.
 *
 * k has bits 8 ... 14 of c, for which the carries of all 15 positions are made at once: level by
 * level, g_i += p_i g_(i-d) and p_i = p_i p_(i-d) for d = 1, 2, 4, 8.  Every bit of d_k and e_k is
 * a polynomial in k's lower six bits over the field of two elements: 57 ANDs make their monomials,
 * in three rounds, and all else is sums.  k = 64 alone has the seventh bit, which adds what e_64
 * and d_64 differ by from e_0 and d_0.  Bits become numbers, one product and a last shift do the
 * rest. */
#ifndef DPI_SHARE_TABLE_H
#define DPI_SHARE_TABLE_H

#include "share/relu.h"

enum {
    DPI_TABLE_SLOPE = 10,  /* bits of d_k */
    DPI_TABLE_START = 26,  /* bits of e_k, the last one its sign */
    DPI_TABLE_PLANES = 64, /* that the room must have */
    DPI_TABLE_BITS = 26    /* that the ring must have for what is inside the table */
};

/* A bit of d_k or e_k: which monomials of k's lower bits it is the sum of, bit m being the product
 * of the bits that m has; and whether k's seventh bit is one more. */
typedef struct dpi_table_bit {
    uint64_t monomials;
    bool end;
} dpi_table_bit;

typedef struct dpi_table {
    int lift;      /* bits that x is shifted up by first */
    uint64_t zero; /* what then is added */
    bool twice;    /* tanh: 2 s - 1 */
    dpi_relu low, high, last;
    dpi_table_bit slope[DPI_TABLE_SLOPE], start[DPI_TABLE_START];
} dpi_table;

/* Bits, with two more, that the ring must have for |x| < 2^bits and a stage's shift. */
int dpi_table_bits(int bits, int shift);

/* The sigmoid of |x| < 2^bits with the shift (negative: up) that brings x to the table, or tanh. */
void dpi_table_make(dpi_ring ring, int bits, int shift, bool tanh, dpi_table *t);

/* z[i] of x[i]; z may be x. */
void dpi_table_run(dpi_party *p, dpi_ring ring, const dpi_table *t, dpi_blocks *room,
                   const dpi_share *x, dpi_share *z);

#endif
