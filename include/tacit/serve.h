/* Private serving of fitted models: libtacit-serve, `pkg-config tacit-serve`.
 *
 * An identity is what a provider, a client or a computing party is known by to the others: an
 * Ed25519 key with a certificate of its own in one file.  Nobody signs for it; the others are given
 * its fingerprint by a way that they trust, and pin it. */
#ifndef TACIT_SERVE_H
#define TACIT_SERVE_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/export.h>
#include <tacit/program.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dp_identity dp_identity;

/* Makes a new identity and its file, which its owner alone can read.  A file that is there is never
 * overwritten.
 *   *identity  [out] owned by the caller; NULL on error
 * DP_EIO the file exists or cannot be written; DP_EENTROPY, DP_ENOMEM.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_identity_new(const char *path, dp_identity **identity,
                                               dp_error *err) DP_NONNULL(1, 2);

/* Reads an identity from its file, which must be a regular file of the user that runs this process
 * and which nobody else may read or write.
 *   *identity  [out] owned by the caller; NULL on error
 * DP_EIO it cannot be opened; DP_EPRIVACY others can read it, or it is a link; DP_EDATA it is no
 * identity; DP_ENOMEM.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_identity_load(const char *path, dp_identity **identity,
                                                dp_error *err) DP_NONNULL(1, 2);

/* What others know it by: "tacit:" and 64 hexadecimal digits, the SHA-256 of its public key (the
 * DER form of SubjectPublicKeyInfo).  Public; valid as long as the identity.  Thread-safe. */
DP_API const char *dp_identity_fingerprint(const dp_identity *identity) DP_NONNULL(1);

/* Wipes its key from memory and frees it; NULL is allowed.  The file stays. */
DP_API void dp_identity_free(dp_identity *identity);

/* ---- serving a program ---- */

typedef enum dp_serve_protocol {
    DP_SERVE_PAILLIER = 0, /* one ciphertext a number: few bytes, much time */
    DP_SERVE_LATTICE,      /* numbers packed into polynomials: the other way round */
    DP_SERVE_CKKS          /* the whole program under encryption, nearly: one round, and whoever
                            * asks sees nothing but the answer.  Stages: dense, convolution, average
                            * pool, square, and sigmoid and tanh by polynomials; DP_SERVE_LINEAR.
                            * Experimental until reviewed by others */
} dp_serve_protocol;

/* What the client sees beside the answer.  DP_SERVE_LINEAR: nothing; for programs of one linear
 * stage, such as all regressions.  DP_SERVE_PERMUTE: every hidden number of every layer, in an
 * order that is fresh in each query.  That hides the record from the provider, but not the model
 * from a client: a few queries of chosen numbers read off its weights (doc/design/serve.md). 
 * Weights that were fitted with differential privacy keep that guarantee for the people they were
 * fitted to, whatever leaks of them: what is given up is the model as property. */
typedef enum dp_serve_mode { DP_SERVE_LINEAR = 0, DP_SERVE_PERMUTE } dp_serve_mode;

/* Flags.  Mode permute runs with this one alone, and only where the policy agrees. */
enum { DP_ALLOW_ACTIVATION_LEAK = 1 };

/* What a query takes: messages there and back; bytes of payload, the key's once a session; what
 * the client encrypts and decrypts and the provider multiplies by weights, in ciphertexts. */
typedef struct dp_query_cost {
    size_t rounds;
    uint64_t key, up, down;
    uint64_t encrypted, products, decrypted;
} dp_query_cost;

/* What queries of a program cost, of which its sheet is enough.
 *   key_bits  of Paillier's keys, 2048 or 3072; 0: 2048
 * DP_EPRIVACY mode linear of a program with hidden layers; DP_EUNSUPPORTED it cannot be served so,
 * which the message says; DP_EINVAL; DP_ENOMEM.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_serve_cost(const dp_program *p, dp_serve_protocol protocol,
                                             dp_serve_mode mode, size_t key_bits,
                                             dp_query_cost *cost, dp_error *err) DP_NONNULL(1, 5);

typedef struct dp_server_opts {
    const dp_program *program;   /* fixed, with weights */
    const dp_identity *identity; /* both borrowed as long as the server */
    const char *policy, *log;    /* files: who may ask what, and who asked when (doc/man) */
    const char *host, *port;     /* to listen at; port "0": any free one */
    dp_serve_protocol protocol;
    dp_serve_mode mode;
    unsigned flags;
    size_t threads;       /* of one session; 0: 1 */
    size_t sessions;      /* at a time; 0: 32.  Who comes beyond is told that it is busy */
    size_t sessions_each; /* of one client; 0: half of them */
    size_t in_flight;     /* queries of one session at a time, at most 64; 0: 16 */
    uint32_t timeout_ms;  /* for the other side's next message within a query; 0: 30 000 */
    uint32_t idle_ms;     /* between queries, after which a session is ended; 0: 60 000 */
    size_t key_bits;      /* of Paillier's keys, 2048 or 3072; 0: 2048 */
} dp_server_opts;

typedef struct dp_server dp_server;

/* A server that listens, and does not answer yet.
 *   *server  [out] freed with dp_server_free; NULL on error
 * DP_EPRIVACY mode permute without consent of both flags and policy, or mode linear of a program
 * with hidden layers; DP_EUNSUPPORTED the program or the policy's `returns` is not for two-party
 * protocols; DP_EDATA, DP_EIO of policy and log; DP_ENAME, DP_EINVAL, DP_ENOMEM. */
DP_API DP_MUST_CHECK dp_status dp_server_new(const dp_server_opts *opts, dp_server **server,
                                             dp_error *err) DP_NONNULL(1, 2);

/* Where it listens. */
DP_API int dp_server_port(const dp_server *server) DP_NONNULL(1);

/* Answers until dp_server_stop, each session in a thread of its own.  Where all places are taken,
 * who has most sessions gives up one that waits between queries to somebody who has fewer.
 * DP_EIO, DP_ENOMEM nobody could be let in for a minute: the system has no more files, memory or
 * threads.  DP_EIO, DP_EDATA the log's disk has failed, or the log was damaged, cut or moved
 * away. */
DP_API DP_MUST_CHECK dp_status dp_server_run(dp_server *server, dp_error *err) DP_NONNULL(1);

/* Has dp_server_run take no more sessions, and return: sessions between queries end at once, and
 * queries that have begun have timeout_ms to end.  From any thread, or a signal handler. */
DP_API void dp_server_stop(dp_server *server) DP_NONNULL(1);

/* When nothing runs it.  NULL is allowed. */
DP_API void dp_server_free(dp_server *server);

/* ---- asking ---- */

typedef struct dp_ask_opts {
    const dp_identity *identity; /* borrowed */
    const char *host, *port;
    const char *provider;      /* the fingerprint that it must have, "tacit:..." */
    const unsigned char *hash; /* [DP_PROGRAM_HASH] of the program that is meant; NULL: any */
    dp_serve_protocol protocol;
    dp_serve_mode mode;
    unsigned flags;
    size_t threads;      /* 0: 1 */
    uint32_t timeout_ms; /* 0: 30 000 */
    size_t key_bits;     /* as the provider's; 0: 2048 */
    uint32_t prepare_ms; /* milliseconds without a query after which the next one is prepared, where
                          * the protocol can; 0: 20; UINT32_MAX: never */
    size_t in_flight;    /* queries of dp_ask_many at a time, at most 64; 0: 1 */
} dp_ask_opts;

typedef struct dp_ask dp_ask;

/* Opens a session: the program's sheet comes, a fresh key goes.
 *   *ask  [out] freed with dp_ask_free; NULL on error
 * DP_EREFUSED with the reason; DP_EPEER it has another fingerprint, sends what is no sheet, or
 * breaks the protocol; DP_EPRIVACY mode permute without the flag; DP_ETIMEOUT; DP_ENAME;
 * DP_ENOMEM. */
DP_API DP_MUST_CHECK dp_status dp_ask_new(const dp_ask_opts *opts, dp_ask **ask, dp_error *err)
    DP_NONNULL(1, 2);

/* The program's sheet: what its input is (dp_program_number_at, dp_program_read). */
DP_API const dp_program *dp_ask_program(const dp_ask *ask) DP_NONNULL(1);

/* Asks for one record x[inputs]: y[outputs] are the integers that dp_program_run_exact would give,
 * for dp_program_decode.  One query of the budget.  After an error the session is at an end.
 * DP_EDOMAIN x is outside the program's bounds, and nothing was sent; DP_EREFUSED; DP_EPEER;
 * DP_ETIMEOUT; DP_ENOMEM; all 0 then. */
DP_API DP_MUST_CHECK dp_status dp_ask_query(dp_ask *ask, const double *x, int64_t *y, dp_error *err)
    DP_NONNULL(1, 2, 3);

/* Asks for n records x[n][inputs], at most in_flight of them at a time: while the provider computes
 * a layer of one, others are encrypted, computed and decrypted.  y[n][outputs] is what dp_ask_query
 * gives for each; a query of the budget each.  Who watches sees what follows from n and in_flight
 * alone.  Memory is that of in_flight queries.  After an error the session is at an end.
 *   *answered  [out] so many rows of y are answers, also after an error; the others are 0.  Queries
 *              that were under way then are spent without an answer: at most in_flight
 * DP_EDOMAIN a record is outside the program's bounds, and nothing was sent; DP_EREFUSED the budget
 * ends, or the provider allows fewer at a time; as dp_ask_query. */
DP_API DP_MUST_CHECK dp_status dp_ask_many(dp_ask *ask, size_t n, const double *x, int64_t *y,
                                           size_t *answered, dp_error *err) DP_NONNULL(1, 3, 4, 5);

/* Payload bytes so far, and rounds of one query.  Once a query was answered, the next is prepared
 * while nothing is asked: its encrypted part is done then, and what is left to a query that was
 * prepared is few bytes and plain arithmetic.  doc/design/serve.md has what both sides see. */
typedef struct dp_ask_traffic {
    uint64_t up, down;             /* of all but: */
    uint64_t ahead_up, ahead_down; /* of preparations, */
    uint64_t ahead;                /* of which there were so many that were finished */
    size_t rounds;
} dp_ask_traffic;
DP_API dp_ask_traffic dp_ask_counts(const dp_ask *ask) DP_NONNULL(1);

/* Ends the session and wipes its key; NULL is allowed. */
DP_API void dp_ask_free(dp_ask *ask);

/* ---- networks of other libraries ---- */

/* How an ONNX file is read.  The bounds have no default: they are public, and are the provider's
 * word on what whoever asks may send. */
typedef struct dp_onnx_opts {
    double low, high;   /* of each number of the input, low < high */
    const char *column; /* the column that the input is; NULL: its name in the file */
    size_t max_bytes;   /* of the file, at most 2^32; 0: 2^28 */
} dp_onnx_opts;

/* The program of a network in an ONNX file, which may be anybody's; dp_program_fix comes next.
 *
 * Operators: Gemm, MatMul, Conv, BatchNormalization; Add, Sub, Mul and Div with constants, Add and
 * Sub of two values; Relu, Sigmoid, Tanh; MaxPool, AveragePool, GlobalAveragePool; Flatten,
 * Reshape, Identity, Dropout (for inference), Constant; as the last one Softmax, which becomes the
 * answer's link as a last Sigmoid does, or ArgMax.  Not: groups, dilations, padding that differs
 * between sides, means without the padding.  One input [batch, ...] and one output.
 *
 * Constants, scales and neighbouring dense layers are merged.  Images of the program are [rows]
 * [columns][channels], an output that is an image too, flattened or not; the column that the input
 * is has them as the file does, [channels][rows][columns].
 *   *p  [out] freed by dp_program_free; NULL on error
 * DP_EINVAL the bounds; DP_EIO the file cannot be read; DP_EDATA it is no ONNX file or contradicts
 * itself; DP_EUNSUPPORTED what is not served, DP_ESHAPE, DP_ENAME: the node is named; DP_ENOMEM.
 * Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_program_of_onnx(const char *path, const dp_onnx_opts *opts,
                                                  dp_program **p, dp_error *err) DP_NONNULL(1, 3);

#ifdef __cplusplus
}
#endif
#endif
