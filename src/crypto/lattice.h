/* Linear layers on encrypted vectors: convolutions, and dense layers, which are convolutions of a
 * 1 x 1 picture (doc/design/lattice.md).
 *
 * Both sides derive the plan from the public shape; the server makes a layer of it with its
 * weights. client: query -> bytes;   server: bytes -> answer bytes;   client: open. Results are
 * exact modulo 2^k: y = W x + added.  Plans and layers are const and may be shared by threads.  A
 * client's public key is sent once, by dpi_bfv_cipher_write. */
#ifndef DPI_CRYPTO_LATTICE_H
#define DPI_CRYPTO_LATTICE_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "crypto/bfv.h"

/* Arrays are x[channels][height][width], w[filters][channels][kernel_height][kernel_width],
 * y[filters][out_height][out_width]. */
typedef struct dpi_lattice_shape {
    size_t channels, height, width;
    size_t filters, kernel_height, kernel_width;
    size_t stride, padding; /* of both directions; padding by zeros on all four sides */
    int64_t weight_most;    /* public bound of the weights' magnitudes, > 0 */
} dpi_lattice_shape;

/* The shape of w[outputs][inputs]. */
dpi_lattice_shape dpi_lattice_dense(size_t inputs, size_t outputs, int64_t weight_most);

typedef struct dpi_lattice_plan {
    const dpi_bfv *f; /* borrowed */
    dpi_lattice_shape shape;
    size_t out_height, out_width, inputs, outputs;
    /* How the layer is cut: each query has one tile of rows and one group of channels, each answer
     * one tile and one group of filters. */
    size_t tiles, tile_rows; /* rows of the output in a tile */
    size_t area, width;      /* of a tile's input and of its rows, padding included */
    size_t groups, group_channels, packs, pack_filters;
    size_t queries, answers;          /* tiles groups, tiles packs */
    size_t query_bytes, answer_bytes; /* in all */
    int flood, hide;
    double bits; /* of circuit privacy: log2 of one over the statistical distance */
} dpi_lattice_plan;

/* Plans a layer for f with the least traffic. DP_ESHAPE no such layer, or a few rows of one
 * picture do not fit n; DP_EPRIVACY the noise does not fit. */
DP_MUST_CHECK dp_status dpi_lattice_plan_make(const dpi_bfv *f, const dpi_lattice_shape *shape,
                                              dpi_lattice_plan *plan, dp_error *err);

/* The smallest parameters under which all layers have at least `bits` of circuit privacy;
 * plaintexts modulo 2^plain_bits. DP_EPRIVACY: none; the message says what the largest would give.
 * As dpi_lattice_plan_make. */
DP_MUST_CHECK dp_status dpi_lattice_choose(size_t n_layers, const dpi_lattice_shape *shapes,
                                           int plain_bits, double bits, dpi_bfv_spec *spec,
                                           dp_error *err);

/* Bits that hold every result of weights up to weight_most, inputs up to input_most and added
 * numbers up to added_most in magnitude, with sign; 64 where there are more. */
int dpi_lattice_plain_bits(const dpi_lattice_shape *shape, double input_most, double added_most);

/* ---- the client ---- */

/* Encrypts x modulo 2^k into plan->query_bytes bytes. */
DP_MUST_CHECK dp_status dpi_lattice_query(const dpi_lattice_plan *plan,
                                          const dpi_bfv_secret *secret, const int64_t *x,
                                          dpi_rlwe_stream *random, unsigned char *to,
                                          dp_error *err);

/* The same for queries first ... last - 1, written at their places of `to`, which has all. */
DP_MUST_CHECK dp_status dpi_lattice_query_some(const dpi_lattice_plan *plan,
                                               const dpi_bfv_secret *secret, const int64_t *x,
                                               size_t first, size_t last, dpi_rlwe_stream *random,
                                               unsigned char *to, dp_error *err);

/* Decrypts y of plan->answer_bytes bytes: in [-2^(k-1), 2^(k-1)).
 * DP_EPEER another length, or bytes that are no answer; then y is zeroed. */
DP_MUST_CHECK dp_status dpi_lattice_open(const dpi_lattice_plan *plan, const dpi_bfv_secret *secret,
                                         size_t n_bytes, const unsigned char *from, int64_t *y,
                                         dp_error *err);

/* The same for answers first ... last - 1; of y only their results. */
DP_MUST_CHECK dp_status dpi_lattice_open_some(const dpi_lattice_plan *plan,
                                              const dpi_bfv_secret *secret, size_t first,
                                              size_t last, const unsigned char *from, int64_t *y,
                                              dp_error *err);

/* ---- the server (lattice-answer.c) ---- */

/* Weights: factors that were transformed once, or who writes them when they are needed. */
typedef struct dpi_lattice_layer {
    const dpi_lattice_plan *plan; /* borrowed */
    uint64_t **factors;           /* [packs * groups], transformed; or NULL and */
    /* a pack's factors[groups][n], of zeros before; weights within the plan's bound */
    void (*fill)(const void *user, size_t pack, int32_t *factors);
    const void *user;
} dpi_lattice_layer;

/* DP_EDOMAIN a weight is above weight_most (its value is not told); DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_lattice_layer_new(const dpi_lattice_plan *plan, const int32_t *w,
                                              dpi_lattice_layer **layer, dp_error *err);
void dpi_lattice_layer_free(dpi_lattice_layer *layer);

/* DP_EDOMAIN as above, for weights that `fill` will write. */
DP_MUST_CHECK dp_status dpi_lattice_weights(const dpi_lattice_plan *plan, size_t n,
                                            const int32_t *w, dp_error *err);

/* For `fill` of a dense layer: the weight of the pack's m-th output and an input lies at the sum of
 * both. */
size_t dpi_lattice_output_at(const dpi_lattice_plan *plan, size_t m);
size_t dpi_lattice_input_at(const dpi_lattice_plan *plan, size_t input);

/* Answers a query under its owner's public key; `added` (nullable) [outputs] is added modulo 2^k:
 * a bias, or a mask that makes the result one of two additive shares. DP_EPEER another length or
 * bytes that are no query; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_lattice_answer(const dpi_lattice_layer *layer,
                                           const dpi_bfv_cipher *key, size_t n_bytes,
                                           const unsigned char *query, const int64_t *added,
                                           dpi_rlwe_stream *random, unsigned char *to,
                                           dp_error *err);

/* The same in parts, for several threads: first all queries are read, then answers are made. */
typedef struct dpi_lattice_queries {
    size_t n;
    dpi_bfv_cipher **c;
} dpi_lattice_queries;

/* Room for n queries. */
DP_MUST_CHECK dp_status dpi_lattice_queries_new(const dpi_bfv *f, size_t n,
                                                dpi_lattice_queries **queries, dp_error *err);
void dpi_lattice_queries_free(dpi_lattice_queries *queries);

/* Reads queries first ... last - 1 of query_bytes bytes. DP_EPEER. */
DP_MUST_CHECK dp_status dpi_lattice_read(const dpi_lattice_plan *plan, size_t first, size_t last,
                                         const unsigned char *query, dpi_lattice_queries *queries,
                                         dp_error *err);

typedef struct dpi_lattice_ask {
    const dpi_lattice_layer *layer;
    const dpi_lattice_queries *queries;
    const dpi_bfv_cipher *key;
    const int64_t *added; /* nullable */
} dpi_lattice_ask;

/* Makes answers first ... last - 1, written at their places of `to`, which has answer_bytes. */
DP_MUST_CHECK dp_status dpi_lattice_answer_some(const dpi_lattice_ask *ask, size_t first,
                                                size_t last, dpi_rlwe_stream *random,
                                                unsigned char *to, dp_error *err);

/* ---- inside ---- */

/* The factor of a pack of filters and a group of channels. */
void dpi_lattice_factor(const dpi_lattice_plan *plan, const int32_t *w, size_t pack, size_t group,
                        int64_t *factor /* [n] */);

/* The places of an answer's results among its coefficients, and which results they are; returns
 * their number, at most n. */
size_t dpi_lattice_places(const dpi_lattice_plan *plan, size_t answer, size_t *places,
                          size_t *results);

/* The results of an answer, how many; and where its bytes begin among those of all. */
size_t dpi_lattice_results(const dpi_lattice_plan *plan, size_t answer);
size_t dpi_lattice_answer_at(const dpi_lattice_plan *plan, size_t answer);

/* What a query encrypts. */
void dpi_lattice_message(const dpi_lattice_plan *plan, size_t query, const int64_t *x,
                         uint64_t *message /* [n] */);

#endif
