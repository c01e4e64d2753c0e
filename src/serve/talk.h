/* What both sides say to each other, and in which order.
 *
 *   client -> provider   ask     protocol, mode, hash of the program (zeros: any)
 *   provider -> client   size    of the sheet       or a refusal
 *                        sheet
 *   client -> provider   key
 *   then for each query
 *   client -> provider   query   its kind
 *   provider -> client   go                         or a refusal
 *   and for each layer   up, down
 *
 * A query of the kind DPI_QUERY_PREPARE asks nothing: it prepares the next one, which then is
 * DPI_QUERY_MASKED (masks.h).  It is not refused: who breaks the rule that there is one such for a
 * query that was answered before breaks the protocol.  Behind one of the kind DPI_QUERY_STREAM
 * comes how many records are asked about and how many at a time (stream.h). */
#ifndef DPI_SERVE_TALK_H
#define DPI_SERVE_TALK_H

#include "serve/guests.h"
#include "serve/protocol.h"

enum {
    DPI_SAY_ASK = DPI_FRAME_OWN,
    DPI_SAY_SIZE,
    DPI_SAY_SHEET,
    DPI_SAY_KEY,
    DPI_SAY_QUERY,
    DPI_SAY_GO,
    DPI_SAY_UP,
    DPI_SAY_DOWN,
    DPI_SAY_STREAM
};

enum {
    DPI_ASK_BYTES = 16 + DP_PROGRAM_HASH, /* protocol, mode, hash */
    DPI_SIZE_BYTES = 8,
    DPI_QUERY_BYTES = 1, /* of query and go */
    DPI_STREAM_BYTES = 16,
    DPI_IN_FLIGHT = 16, /* what a server allows where it is not told */
    DPI_SHEET_MOST = 1 << 24,
    DPI_QUERY_MOST = 1 << 29,  /* bytes that queries under way move */
    DPI_SERVE_TIMEOUT = 30000, /* ms */
    DPI_SERVE_IDLE = 60000
};

/* What the byte of a query says. */
typedef enum dpi_query_kind {
    DPI_QUERY_PLAIN = 1,
    DPI_QUERY_MASKED,
    DPI_QUERY_PREPARE,
    DPI_QUERY_STREAM
} dpi_query_kind;

/* What the public enums are here; DPI_N_... for a number that is none. */
dpi_protocol dpi_serve_protocol_of(dp_serve_protocol protocol);
dpi_mode dpi_serve_mode_of(dp_serve_mode mode);

/* DP_EPRIVACY, with what would be given up, for mode permute without the flag. */
dp_status dpi_serve_consent(dpi_mode mode, unsigned flags, dp_error *err) DP_MUST_CHECK;

/* Flags that are not public: keys of other sizes, for tests alone; Paillier's products without
 * vector instructions, and streams whose stages have threads alike, for comparison. */
enum { DPI_ALLOW_WEAK_KEYS = 1 << 30, DPI_PORTABLE = 1 << 29, DPI_EVEN_THREADS = 1 << 28 };

/* DP_EINVAL unless the bits of a key are 2048, 3072, or 0 for the first, or the flag is there. */
dp_status dpi_serve_check_key(size_t bits, unsigned flags, dp_error *err) DP_MUST_CHECK;

/* The largest of bytes[layers] and masked[layers], at least 1. */
size_t dpi_serve_largest(size_t layers, const size_t *bytes, const size_t *masked);

/* Messages there and back of one query. */
size_t dpi_serve_rounds(const dpi_serve_plan *plan);

/* DP_EUNSUPPORTED where so many queries would move more than DPI_QUERY_MOST bytes: no memory is
 * given for them, whoever says that it must be. */
dp_status dpi_serve_check_cost(const dpi_serve_plan *plan, const dpi_serve_cost *cost,
                               size_t in_flight, dp_error *err) DP_MUST_CHECK;

/* The session's error, or the status with a message of its own, into err. */
dp_status dpi_serve_fail(const dpi_wire_session *wire, dp_status status, dp_error *err);

/* ---- the provider's part of one session ---- */

typedef struct dpi_answering {
    const dpi_serve_row *row;
    const void *compiled;
    const dpi_serve_plan *plan;
    dpi_serve_cost cost;
    dpi_mode mode;
    const unsigned char *sheet;
    size_t sheet_bytes;
    unsigned char hash[DP_PROGRAM_HASH];
    const dpi_policy *policy;
    struct dpi_query_log *log;
    size_t threads, in_flight; /* of one session */
    struct dpi_stream_profile *profile;
    bool even; /* threads of a stream's stages alike */
    uint32_t timeout, idle;
} dpi_answering;

/* Answers over the session until the other side ends it, is refused, or breaks the protocol, or the
 * server ends it, for which `guest` is; NULL: nobody does.  The session is the caller's. */
dp_status dpi_serve_answer(const dpi_answering *a, dpi_wire_session *wire, dpi_guest *guest,
                           dp_error *err) DP_MUST_CHECK;

/* ---- the client's part ---- */

/* Opens and asks over a session that it owns from now on. */
dp_status dpi_serve_ask(const dp_ask_opts *opts, dpi_wire_session *wire, dp_ask **ask,
                        dp_error *err) DP_MUST_CHECK;

#endif
