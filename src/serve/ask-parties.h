/* The client of several parties, for the files that ask. */
#ifndef DPI_SERVE_ASK_PARTIES_H
#define DPI_SERVE_ASK_PARTIES_H

#include "serve/asking.h"
#include "serve/party-talk.h"

/* What a session with several parties has in place of one connection. */
struct dpi_parties_ask {
    size_t n;
    dpi_wire_session *wire[DPI_SHARE_PARTIES];
    dpi_party_sizes sizes;
    size_t records;      /* of a query, at most */
    int bits;            /* of a number of the answer that are told */
    uint32_t answer;     /* ms for an answer */
    unsigned char *seed; /* [lanes][n][DPI_DEAL_SEED], of components of inputs */
    uint64_t used[DPI_PARTY_LANES];
    unsigned char *in[DPI_SHARE_PARTIES], *out[DPI_SHARE_PARTIES]; /* frames of a query */
    int64_t *values;                                               /* [records][inputs] */
};

/* Opens and asks over sessions with all parties, by their number, which it owns from now on.  As
 * dp_ask_parties_new. */
dp_status dpi_parties_ask_open(const dp_ask_parties_opts *opts,
                               dpi_wire_session *const wire[DPI_SHARE_PARTIES], dp_ask **ask,
                               dp_error *err) DP_MUST_CHECK;

/* dp_ask_many, dp_ask_counts and the end of a session, where ask->parties is not NULL; the first of
 * them by whoever has the turn. */
dp_status dpi_parties_ask_many(dp_ask *ask, size_t n, const double *x, int64_t *y, size_t *answered,
                               dp_error *err) DP_MUST_CHECK;
dp_ask_traffic dpi_parties_ask_counts(const dp_ask *ask);
void dpi_parties_ask_free(struct dpi_parties_ask *p);

/* Frames of the same kind from all of them, and to all of them; in the opening the same n bytes to
 * all, and a byte of each. */
dp_status dpi_parties_hear(const struct dpi_parties_ask *p, uint16_t kind, uint32_t layer,
                           unsigned char *const to[], const size_t bytes[], uint32_t within,
                           dp_error *err) DP_MUST_CHECK;
dp_status dpi_parties_say(const struct dpi_parties_ask *p, uint16_t kind, uint32_t layer,
                          unsigned char *const from[], const size_t bytes[], uint32_t within,
                          dp_error *err) DP_MUST_CHECK;
dp_status dpi_parties_say_same(const struct dpi_parties_ask *p, uint16_t kind, unsigned char *bytes,
                               size_t n, uint32_t within, dp_error *err) DP_MUST_CHECK;
dp_status dpi_parties_hear_byte(const struct dpi_parties_ask *p, uint16_t kind, uint32_t within,
                                dp_error *err) DP_MUST_CHECK;

#endif
