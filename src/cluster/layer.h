/* A layer of a network over cards.
 *
 * It is work that splits evenly (a convolution, a product of matrices) and makes n ciphertexts,
 * which are bootstrapped and go through polynomials, and then all cards get them.
 *
 * Work: unit u of U makes part of ciphertext floor(u n / U), and card c of C has the units from
 * floor(c U / C) on; parts of a ciphertext are added by a tree.
 * Ciphertexts: C at a time, one a card.  Where fewer than C are all there are, each is computed by
 * 2^k cards, the most there are for each of them. */
#ifndef DPI_CLUSTER_LAYER_H
#define DPI_CLUSTER_LAYER_H

#include "cluster/transform.h"

enum { DPI_GROUPS = 7, DPI_SIGNS = 4 };
enum { DPI_WORK_LEVEL = 35 }; /* at which work makes ciphertexts: the lowest */

/* Stages of a layer's plan. */
typedef enum dpi_procedure {
    DPI_STAGE_WORK,
    DPI_STAGE_BOOT,
    DPI_STAGE_SIGNS,
    DPI_PROCEDURES
} dpi_procedure;

/* How bootstraps, and polynomials of degree 15, are done on groups of 2^k cards. */
typedef struct dpi_ways {
    dpi_spread_boot boot[DPI_GROUPS];
    dpi_polynomial_way sign[DPI_GROUPS];
    const double *a; /* [16] */
} dpi_ways;

typedef struct dpi_spread_layer {
    uint32_t times, ciphertexts, units;
} dpi_spread_layer;

/* What is done with the n mod C < n ciphertexts of a last round.  ALONE: one card each, as Hydra
 * has it.  REGROUPED: 2^k cards each.  FILLED: one card each, and cards that have none begin with
 * the next work meanwhile, of which they get so much more that all end together; the plan then
 * begins with ciphertexts and ends with work, and is one stage. */
typedef enum dpi_rest { DPI_REST_ALONE, DPI_REST_REGROUPED, DPI_REST_FILLED } dpi_rest;

typedef struct dpi_mapping {
    size_t cards; /* a power of two */
    const dpi_costs *costs;
    const dpi_ways *ways;
    dpi_rest rest;
} dpi_mapping;

/* The cards of ciphertext i of n, and its round. */
typedef struct dpi_place {
    uint32_t first, cards, round;
} dpi_place;
dpi_place dpi_place_of(const dpi_mapping *m, uint32_t n, uint32_t i);

/* `units` of so many seconds each, that make values[n], n <= DPI_PLAN_CARDS. */
void dpi_plan_work(dpi_plan *p, uint32_t n, uint32_t units, double seconds, uint32_t *values);

/* A layer: values[n] are made from nothing, and at last are what all cards have. */
void dpi_plan_layer(dpi_plan *p, const dpi_mapping *m, const dpi_spread_layer *layer,
                    double unit_seconds, uint32_t *values);

#endif
