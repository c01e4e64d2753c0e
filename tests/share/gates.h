/* Gates of a row with numbers to try them on, for tests of one or of all protocols. */
#ifndef TESTS_SHARE_GATES_H
#define TESTS_SHARE_GATES_H

#include "tests/share/scene.h"

typedef enum gate_kind {
    GATE_MULTIPLY,
    GATE_LINEAR,
    GATE_TO_BITS,
    GATE_HALVES,
    GATE_FROM_BITS,
    GATE_INJECT
} gate_kind;

/* Where z is; of GATE_SQUARE y is x as well. */
typedef enum gate_place { GATE_BESIDE, GATE_OVER_X, GATE_OVER_Y, GATE_SQUARE } gate_place;

typedef struct gate {
    const char *name;
    gate_kind kind;
    dpi_ring ring;
    size_t n; /* numbers of z, words of bits; of x in GATE_TO_BITS */
    gate_place place;
    int shift;        /* of GATE_LINEAR and GATE_HALVES */
    size_t bits;      /* of GATE_FROM_BITS */
    dpi_linear layer; /* of GATE_LINEAR */
    bool biased;
    size_t n_planes; /* of GATE_TO_BITS */
    int plane[64];
} gate;

/* What goes in and what has come out.  x, y: operands, or a layer's numbers and weights;
 * bit[k][words of n]; z: of GATE_TO_BITS the planes of m and of u. */
typedef struct gate_numbers {
    const gate *g;
    size_t n_x, n_y, n_bias, n_bit, n_z;
    int64_t *x, *y, *bias, *bit;
    scene_told told_x, told[2];
    int64_t *z[2];
    int64_t *x_piece[2]; /* what roles 0 and 1 told of x */
} gate_numbers;

/* Random numbers, some of them the largest and smallest there are; the same ones for a seed. */
gate_numbers gate_numbers_of(const gate *g, uint64_t seed);
void gate_numbers_free(gate_numbers *u);

/* The body of a scene: the gate once; user: gate_numbers. */
void gate_body(dpi_party *p, void *user);

/* Opens what was told, and forgets it. */
void gate_open(const dpi_share_row *row, gate_numbers *u);
/* Forgets it unopened. */
void gate_drop(gate_numbers *u);

/* Coefficient k of GATE_FROM_BITS. */
uint64_t gate_coefficient(size_t k);

/* The next of a stream of numbers. */
uint64_t gate_next(uint64_t *state);

/* Bit i of words. */
uint64_t gate_bit(const int64_t *words, size_t i);

/* Numbers of the ring, without sign. */
uint64_t gate_within(dpi_ring ring, uint64_t v);

#endif
