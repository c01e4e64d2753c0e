/* Linear maps by diagonals over cards, the DFTs that are made of them, and bootstrapping of both.
 *
 * y = sum_k e_k rot_k(x), k = stride (i + b j - low), i < b: each card turns x by the baby steps
 * stride i, cards have the giant steps j in turns, and their sums are added by a tree and then
 * rescaled once, so that what comes is the same to the bit on any number of cards. */
#ifndef DPI_CLUSTER_TRANSFORM_H
#define DPI_CLUSTER_TRANSFORM_H

#include "cluster/polynomial.h"
#include "cluster/search.h"

enum { DPI_SPREAD_LOG = 7, DPI_SPREAD_RADIX = 1 << DPI_SPREAD_LOG, DPI_SPREAD_BABY = 256 };

typedef struct dpi_spread_map {
    size_t places, diagonals, baby; /* powers of two; `baby` divides `diagonals` */
    size_t stride;
    bool centred; /* low = diagonals / 2, else 0 */
} dpi_spread_map;

/* On card `first`, by it and those behind it, `cards` of them.  Plaintext baby j + i of the
 * map's, in the order in which maps are added, is e_k turned by -stride (baby j - low).  x is
 * broadcast to the cards first.  A level. */
uint32_t dpi_plan_map(dpi_plan *p, uint32_t first, uint32_t cards, const dpi_spread_map *map,
                      uint32_t x);

/* A DFT's three matrices; `down`: in the other order, small strides first.  Three levels. */
uint32_t dpi_plan_dft(dpi_plan *p, uint32_t first, uint32_t cards, const dpi_dft *dft, bool down,
                      uint32_t x);

/* The fastest DFT of 2^log_slots places: the plan of each matrix is simulated, at all radices up to
 * DPI_SPREAD_RADIX and all baby steps, from when the first card has x.  log_slots 3 or more, else
 * misuse; there are no more places than the largest radices have.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_dft_find(size_t log_slots, size_t cards, const dpi_costs *costs,
                                     dpi_dft *dft, dp_error *err);

/* Bootstrapping from its raising of the modulus on: the DFT up, cos by a polynomial,
 * `doublings` of 2 t^2 - 1, the DFT down. */
typedef struct dpi_spread_boot {
    dpi_dft dft;
    dpi_polynomial_way way;
    size_t degree, doublings;
    const double *a; /* [degree + 1] */
} dpi_spread_boot;

uint32_t dpi_plan_boot(dpi_plan *p, uint32_t first, uint32_t cards, const dpi_spread_boot *boot,
                       uint32_t x);

#endif
