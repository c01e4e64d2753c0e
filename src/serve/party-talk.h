/* What provider, client and parties say to each other, and in which order.
 *
 * Whoever connects to a party begins with a hello, of one size for all purposes.
 *
 *   provider -> party    hello, size of the sheet, sheet
 *   party -> provider    go                                           or a refusal
 *   provider -> party    seeds, parts
 *   party -> provider    done: it has all
 *   provider -> party    commit: all have
 *   party -> provider    done: it is used from now on
 *
 *   client -> party      hello
 *   party -> client      offer, sheet                                 or a refusal
 *   client -> party      start, seeds
 *   party j -> i < j     hello, on a connection for each lane
 *   party i -> j > i     joined, with a reason where it does not
 *   party -> client      ready                                        or a refusal
 *   then for each query
 *   client -> party      query: how many records
 *   party -> client      go                                           or a refusal
 *   client -> party      input
 *   party -> client      output */
#ifndef DPI_SERVE_PARTY_TALK_H
#define DPI_SERVE_PARTY_TALK_H

#include "serve/parties.h"

enum {
    DPI_PARTY_HELLO = DPI_FRAME_OWN + 32,
    DPI_PARTY_SIZE,
    DPI_PARTY_SHEET,
    DPI_PARTY_GO,
    DPI_PARTY_SEEDS,
    DPI_PARTY_PART,
    DPI_PARTY_DONE,
    DPI_PARTY_COMMIT,
    DPI_PARTY_OFFER,
    DPI_PARTY_START,
    DPI_PARTY_JOINED,
    DPI_PARTY_READY,
    DPI_PARTY_QUERY,
    DPI_PARTY_INPUT,
    DPI_PARTY_OUTPUT
};

enum {
    DPI_PARTY_VERSION = 1,
    DPI_PARTY_TOKEN = 16,
    DPI_PARTY_SHARE = 16, /* bytes of a share's name */
    DPI_PARTY_DIGEST = 32,
    DPI_PARTY_LANES = 24,
    DPI_PARTY_RECORDS = 65536,
    DPI_PARTY_CHUNK = 1 << 17, /* numbers of a message with parts of a model */
    DPI_PARTY_HELLO_BYTES =
        7 * 8 + DPI_PARTY_TOKEN + DPI_PARTY_SHARE + 3 * DPI_PARTY_DIGEST + DPI_PARTIES_HASH,
    DPI_PARTY_OFFER_BYTES = DPI_PARTY_SHARE + DP_PROGRAM_HASH + 4 * 8,
    DPI_PARTY_START_BYTES = 2 * 8,
    DPI_PARTY_JOINED_BYTES = 8 + DPI_PARTY_DIGEST
};

typedef enum dpi_party_purpose {
    DPI_PURPOSE_SHARE = 1,
    DPI_PURPOSE_ASK,
    DPI_PURPOSE_JOIN
} dpi_party_purpose;

/* What does not belong to a purpose is 0. */
typedef struct dpi_party_hello {
    uint64_t version, purpose, protocol;
    uint64_t lane, lanes, records;         /* join */
    uint64_t probabilistic;                /* share: 1 where shifts round by chance */
    unsigned char token[DPI_PARTY_TOKEN];  /* ask, join */
    unsigned char share[DPI_PARTY_SHARE];  /* share, join */
    unsigned char client[DPI_FINGERPRINT]; /* join */
    unsigned char hash[DP_PROGRAM_HASH];   /* of the program; ask: zeros are any */
    unsigned char view[DPI_PARTY_DIGEST];  /* join: of what both parties were given */
    unsigned char parties[DPI_PARTIES_HASH];
} dpi_party_hello;

void dpi_party_write_hello(const dpi_party_hello *h, unsigned char to[DPI_PARTY_HELLO_BYTES]);
void dpi_party_read_hello(const unsigned char from[DPI_PARTY_HELLO_BYTES], dpi_party_hello *h);

/* A hello of this version with the protocol and hash of a list. */
dpi_party_hello dpi_party_hello_of(const dp_parties *parties, dpi_party_purpose purpose);

/* What stands against talking to whoever sent it: VERSION, PARTIES, MODE. */
dpi_refusal dpi_party_check_hello(const dp_parties *parties, const dpi_party_hello *h);

dp_status dpi_party_send_hello(dpi_wire_session *wire, const dpi_party_hello *h,
                               uint32_t within) DP_MUST_CHECK;

/* What a party offers to a client. */
typedef struct dpi_party_offer {
    unsigned char share[DPI_PARTY_SHARE], hash[DP_PROGRAM_HASH];
    uint64_t sheet_bytes, lanes, records; /* the most */
    uint64_t probabilistic;               /* 0 or 1 */
} dpi_party_offer;

void dpi_party_write_offer(const dpi_party_offer *o, unsigned char to[DPI_PARTY_OFFER_BYTES]);
void dpi_party_read_offer(const unsigned char from[DPI_PARTY_OFFER_BYTES], dpi_party_offer *o);

/* Records of a query of n that a lane has: the first n % lanes have one more. */
size_t dpi_party_share_of(size_t n, size_t lanes, size_t lane);

/* Whether what a role tells of an output is sent, and as a hash. */
typedef enum dpi_party_tells { DPI_TELLS_NOTHING, DPI_TELLS_HASH, DPI_TELLS_ALL } dpi_party_tells;
dpi_party_tells dpi_party_told(const dpi_share_row *row, size_t role);

/* Bytes of the frames of a query of n records to and from a machine. */
typedef struct dpi_party_sizes {
    const dpi_share_row *row;
    dpi_ring ring;
    size_t inputs, outputs, lanes;
} dpi_party_sizes;
/* Records that a query may have: each of its frames fits in one of the session's. */
size_t dpi_party_most_records(const dpi_party_sizes *s);
size_t dpi_party_input_bytes(const dpi_party_sizes *s, size_t machine, size_t n);
size_t dpi_party_output_bytes(const dpi_party_sizes *s, size_t machine, size_t n);

/* The machine that lacks the component of inputs that is sent: the dealer, which so can prepare. */
size_t dpi_party_full(const dpi_share_row *row, size_t lane);

#endif
