/* A program as what CKKS computes of it: where numbers lie in a vector, and at which levels.
 *
 * A circuit follows from the sheet, so both sides make the same one, with the same parameters; the
 * provider's has weights beside (doc/design/serve-ckks.md). */
#ifndef DPI_SERVE_CIRCUIT_H
#define DPI_SERVE_CIRCUIT_H

#include "fhe/linear.h"
#include "fhe/polynomial.h"
#include "serve/plan.h"

typedef enum dpi_circuit_kind {
    DPI_CIRCUIT_LINEAR,
    DPI_CIRCUIT_SQUARE,
    DPI_CIRCUIT_POLYNOMIAL
} dpi_circuit_kind;

/* Number i lies at place[i] and every `period` behind it; all other places are 0, or no matter.  Of
 * an image on a grid, pixel (r, c) is at (r gap[0] + u) pitch + c gap[1] + v of a channel's plane. */
typedef struct dpi_placement {
    size_t n, period;
    uint32_t *place; /* [n] */
    bool grid;
    size_t pitch, plane, gap[2];
} dpi_placement;

typedef struct dpi_circuit_step {
    dpi_circuit_kind kind;
    size_t stage, level; /* of the program; that it takes */
    double times;        /* its numbers are those of the stage times this */
    dpi_placement out;
    dpi_ckks_map map; /* of linear ones: weights, or ones */
    size_t degree;    /* of polynomials, and numbers in the Chebyshev basis */
    double a[DPI_CKKS_DEGREE + 1];
} dpi_circuit_step;

typedef struct dpi_circuit {
    const dp_program *p; /* borrowed */
    dpi_placement in;
    size_t n_steps;
    dpi_circuit_step *step;
    bool squares; /* products of ciphertexts are needed */
    size_t n_turns;
    int *turns; /* rotations that are needed */
    size_t diagonals;
    dpi_ckks *c;
    int flood; /* bits of the answers' floods */
} dpi_circuit;

/* To be freed by dpi_circuit_free, also after an error.  DP_EUNSUPPORTED with the stage; DP_EPRIVACY
 * it is too deep, or has too many outputs; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_circuit_make(const dpi_serve_plan *plan, dpi_circuit *c, dp_error *err);
void dpi_circuit_free(dpi_circuit *c);

const dpi_circuit_step *dpi_circuit_last(const dpi_circuit *c);

#endif
