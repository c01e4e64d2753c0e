/* Numbers that several parties hold together, and none of them knows.
 *
 * Arithmetic is modulo 2^64 or 2^32; bits stand 64 to a word, with XOR for the sum and AND for the
 * product.  What a party holds of n numbers are one to three arrays of them, its parts: which ones
 * depends on the protocol and on the role that it plays (trio.h, quad.h).  All that is linear is
 * done part by part, without a message. */
#ifndef DPI_SHARE_SHARE_H
#define DPI_SHARE_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum dpi_ring { DPI_RING_64, DPI_RING_32, DPI_RING_BITS } dpi_ring;

enum {
    DPI_SHARE_PARTS = 3,     /* at most */
    DPI_SHARE_PARTIES = 4,   /* at most */
    DPI_SHARE_TILE = 1 << 15 /* numbers (words of bits) that one message has at most */
};

/* n elements: numbers of the ring, or words of bits. */
typedef struct dpi_share {
    size_t n;
    void *part[DPI_SHARE_PARTS]; /* uint64_t, or uint32_t in DPI_RING_32; unused ones NULL */
} dpi_share;

/* Bytes of an element, and bits: 8 and 64, or 4 and 32; a word of bits has 8 and 1. */
size_t dpi_ring_bytes(dpi_ring ring);
int dpi_ring_bits(dpi_ring ring);

/* The elements from `first` on, n of them, as a share of their own, over the same memory. */
dpi_share dpi_share_from(dpi_ring ring, const dpi_share *x, size_t first, size_t n);

/* Words that n bits take. */
size_t dpi_share_words(size_t n);

/* ---- a linear layer ---- */

/* What dense layers and convolutions have in common: rows, each made of `terms` numbers of x, and
 * `outputs` numbers a row, z[row][outputs] = sum over k of pick(x, row, k) w[output][k].  A row is
 * a record, or a stop of the window on a record's image. */
typedef struct dpi_linear {
    size_t records, outputs, terms; /* of all records; outputs of one row */
    size_t inputs;                  /* numbers of one record of x */
    size_t stops;                   /* rows of a record; 1 of a dense layer */
    const struct dp_window
        *window; /* NULL: dense, terms == inputs; else w[output][places][channels] */
} dpi_linear;

#endif
