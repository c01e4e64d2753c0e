/* How a program is cut between two sides: linear stages are the provider's, others the client's.
 *
 * A plan follows from the sheet, so both sides make the same one. */
#ifndef DPI_SERVE_PLAN_H
#define DPI_SERVE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/program.h>

#include "wire/policy.h"

/* A linear stage, and the client's stages after it. */
typedef struct dpi_serve_layer {
    size_t stage;       /* of the program */
    size_t first, last; /* the client's stages first ... last - 1 come after it */
    size_t inputs;      /* numbers that go up */
    size_t sent;        /* numbers that come down */
    size_t left;        /* numbers that the client's stages leave */
    size_t group;       /* numbers of a window of a max pool among those; else 1 */
    size_t pool;        /* that stage; else 0 */
    bool hidden;        /* not the last layer: what comes down is permuted */
    int bits;           /* |number that comes down| < 2^bits */
} dpi_serve_layer;

enum { DPI_SERVE_LAYERS = 64 };

typedef struct dpi_serve_plan {
    const dp_program *p; /* borrowed; its sheet will do */
    size_t before;       /* stages 1 ... before - 1 are the client's, in front of all layers */
    size_t n_layers;
    dpi_serve_layer layer[DPI_SERVE_LAYERS];
    size_t most; /* numbers of the largest stage */
} dpi_serve_plan;

/* DP_EUNSUPPORTED the program cannot be served so, which the message says, with the stage;
 * DP_EPRIVACY mode linear of a program with hidden layers. */
dp_status dpi_serve_plan_make(const dp_program *p, dpi_mode mode, dpi_serve_plan *plan,
                              dp_error *err) DP_MUST_CHECK;

/* The whole program as one layer of the provider's, but for an argmax at its end, which is the
 * client's: layer[0].stage is the first linear one.  Mode linear, as whoever asks sees nothing but
 * the answer.  DP_EUNSUPPORTED with the stage. */
dp_status dpi_serve_plan_whole(const dp_program *p, dpi_mode mode, dpi_serve_plan *plan,
                               dp_error *err) DP_MUST_CHECK;

/* ---- the client's stages ---- */

/* Stages first ... last - 1 on values[size of stage first - 1], in place; room[plan->most]. */
void dpi_serve_run(const dp_program *p, size_t first, size_t last, int64_t *values, int64_t *room);

/* The same of what a hidden layer has sent, values[sent]: layer->left numbers, of windows of
 * layer->group. */
void dpi_serve_run_hidden(const dpi_serve_plan *plan, const dpi_serve_layer *layer,
                          int64_t *values);

/* ---- the provider's orders ---- */

/* A fresh order of a hidden layer: order[sent] is which output stands at each place, back[left]
 * which number of the next layer's input each number is that comes back.  DP_ENOMEM. */
dp_status dpi_serve_order(const dpi_serve_plan *plan, const dpi_serve_layer *layer, uint32_t *order,
                          uint32_t *back, dp_error *err) DP_MUST_CHECK;

/* A uniform permutation of 0 ... n - 1. */
void dpi_serve_shuffle(size_t n, uint32_t *order);

/* ---- a linear stage as a matrix ---- */

/* Output o is the sum over the terms begin[o] ... begin[o + 1] - 1 of weights[weight] times
 * input[input], and bias[o]. */
typedef struct dpi_serve_map {
    size_t inputs, outputs, n_weights;
    const int32_t *weights; /* borrowed of the program */
    size_t *begin;          /* [outputs + 1]; NULL: weights are [outputs][inputs] */
    uint32_t *input, *weight;
    int64_t *bias; /* [outputs] */
} dpi_serve_map;

/* Freed by dpi_serve_map_free.  DP_ENOMEM. */
dp_status dpi_serve_map_make(const dp_program *p, size_t stage, dpi_serve_map *map,
                             dp_error *err) DP_MUST_CHECK;
void dpi_serve_map_free(dpi_serve_map *map);

#endif
