/* The two-party protocols: one row each.
 *
 * A row computes linear stages on the client's encrypted numbers, exactly; what goes up and down is
 * bytes whose number follows from the plan.  Rows are const.  What a row makes of a program
 * (`compiled`) is const and shared by the provider's sessions; of one session different layers may
 * be at work in different threads, each layer in one at a time: the provider's `layer`, the
 * client's `encrypt`, and its `decrypt`.
 */
#ifndef DPI_SERVE_PROTOCOL_H
#define DPI_SERVE_PROTOCOL_H

#include "base/pool.h"
#include "serve/plan.h"

typedef struct dpi_serve_opts {
    size_t key_bits;      /* of Paillier's keys; 0: 2048 */
    size_t exponent_bits; /* of its randomness; 0: half of key_bits (crypto/paillier.h) */
    bool portable;        /* no vector instructions, for comparison */
    size_t slots; /* most numbers that Paillier's answers pack into one; 0: as many as fit */
    bool bare;    /* Paillier's answers without masks, as published, for the attack that
                           * masks are against (tests/serve/t-attack.c) */
} dpi_serve_opts;

/* What the provider computes a layer with.  Orders are NULL where there is none: input[inputs] is
 * which number of the layer's input each one is that came up, output[sent] which output stands at
 * each place of what goes down. */
typedef struct dpi_serve_order_pair {
    const uint32_t *input, *output;
} dpi_serve_order_pair;

/* What a session moves, in bytes, and what a query takes, in ciphertexts. */
typedef struct dpi_serve_cost {
    size_t key, up[DPI_SERVE_LAYERS], down[DPI_SERVE_LAYERS];
    size_t masked_up[DPI_SERVE_LAYERS], masked_down[DPI_SERVE_LAYERS]; /* of dpi_serve_masked */
    uint64_t encrypted, products,
        decrypted; /* products: of a ciphertext with a weight, or weights */
} dpi_serve_cost;

/* Queries whose encrypted part is done before there is a question (masks.h): a preparation moves
 * what a plain query would, and the query then only masked numbers.  A side keeps one preparation
 * at most and uses each layer of it once.  Calls are those of dpi_serve_row. */
typedef struct dpi_serve_masked {
    /* The provider: a layer of a preparation, which keeps the order, and one of the query, which
     * has that order. */
    dp_status (*prepare)(void *session, size_t layer, const dpi_serve_order_pair *order,
                         const unsigned char *up, unsigned char *down, dpi_pool *pool,
                         size_t threads, dp_error *err);
    dp_status (*layer)(void *session, size_t layer, const dpi_serve_order_pair *none,
                       const unsigned char *up, unsigned char *down, dpi_pool *pool, size_t threads,
                       dp_error *err);
    /* The client: of a preparation, which reads and writes no values, and of the query. */
    dp_status (*mask)(void *client, size_t layer, const int64_t *none, unsigned char *up,
                      dpi_pool *pool, size_t threads, dp_error *err);
    dp_status (*keep)(void *client, size_t layer, const unsigned char *down, int64_t *none,
                      dpi_pool *pool, size_t threads, dp_error *err);
    dp_status (*send)(void *client, size_t layer, const int64_t *values, unsigned char *up,
                      dpi_pool *pool, size_t threads, dp_error *err);
    dp_status (*take)(void *client, size_t layer, const unsigned char *down, int64_t *values,
                      dpi_pool *pool, size_t threads, dp_error *err);
} dpi_serve_masked;

typedef struct dpi_serve_row {
    dpi_protocol protocol;
    bool whole; /* all of a program is one layer: dpi_serve_plan_whole */

    /* The same for both sides, of the plan alone; fails where the row cannot hold its numbers. */
    dp_status (*cost)(const dpi_serve_plan *plan, dpi_mode mode, const dpi_serve_opts *opts,
                      dpi_serve_cost *cost, dp_error *err);

    /* ---- the provider ---- */
    dp_status (*compile)(const dpi_serve_plan *plan, dpi_mode mode, const dpi_serve_opts *opts,
                         void **compiled, dp_error *err);
    void (*discard)(void *compiled);
    /* A session with whoever has sent that key.  DP_EPEER the key is none. */
    dp_status (*open)(const void *compiled, const unsigned char *key, void **session,
                      dp_error *err);
    dp_status (*layer)(void *session, size_t layer, const dpi_serve_order_pair *order,
                       const unsigned char *up, unsigned char *down, dpi_pool *pool, size_t threads,
                       dp_error *err);
    /* Work for the next query in idle time; false when there is none left.  By another thread than
     * the session's. */
    bool (*idle)(void *session);
    void (*close)(void *session);

    /* ---- the client ---- */
    dp_status (*client_new)(const dpi_serve_plan *plan, dpi_mode mode, const dpi_serve_opts *opts,
                            void **client, dp_error *err);
    void (*client_free)(void *client);
    bool (*client_idle)(void *client); /* as idle */
    void (*write_key)(const void *client, unsigned char *to);
    dp_status (*encrypt)(void *client, size_t layer, const int64_t *values, unsigned char *up,
                         dpi_pool *pool, size_t threads, dp_error *err);
    /* DP_EPEER where a number is beyond the layer's bits, or what came is none; values are 0. */
    dp_status (*decrypt)(void *client, size_t layer, const unsigned char *down, int64_t *values,
                         dpi_pool *pool, size_t threads, dp_error *err);

    const dpi_serve_masked *masked; /* NULL: the protocol has no queries that are prepared */
} dpi_serve_row;

/* By dpi_protocol; NULL where this library has none. */
extern const dpi_serve_row *const dpi_serve_rows[DPI_N_PROTOCOLS];

extern const dpi_serve_row dpi_he2_paillier, dpi_he2_lattice, dpi_ckks_row;

/* The plan that a row is for. */
dp_status dpi_serve_plan_of(const dpi_serve_row *row, const dp_program *p, dpi_mode mode,
                            dpi_serve_plan *plan, dp_error *err) DP_MUST_CHECK;

/* Work cut into `threads` equal parts: part(user, first, last) of 0 ... n - 1.  The first error. */
typedef dp_status (*dpi_serve_part)(void *user, size_t first, size_t last, dp_error *err);
dp_status dpi_serve_parts(dpi_pool *pool, size_t threads, size_t n, size_t unit,
                          dpi_serve_part part, void *user, dp_error *err) DP_MUST_CHECK;

#endif
