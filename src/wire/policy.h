/* The provider's policy: who may ask, how often, by which protocols, and what is told.
 *
 * A text file of lines `key = value`; # begins a comment.  Every key but those that belong to a
 * choice must be there: what a provider has not said is not allowed.
 *
 *   client = tacit:... NAME        may ask; a line each
 *   queries = N                    of one client
 *   window = SECONDS               within any time of this length
 *   returns = label | top | scores | noisy-scores
 *   top = K                        with returns = top
 *   epsilon = E                    with returns = noisy-scores: of one answer, and what one
 *   sensitivity = S                  record of the fitted data can change the scores by
 *   protocols = NAME ...           he2-paillier he2-lattice hm3 hm4 ckks
 *   modes = NAME ...               linear permute shared
 *   allow-activation-leak = yes    with mode permute, in which clients can learn the model */
#ifndef DPI_WIRE_POLICY_H
#define DPI_WIRE_POLICY_H

#include <stdint.h>

#include "wire/frame.h"
#include "wire/peers.h"

#define DPI_PROTOCOL_LIST(X)                                                                       \
    X(HE2_PAILLIER, "he2-paillier")                                                                \
    X(HE2_LATTICE, "he2-lattice")                                                                  \
    X(HM3, "hm3")                                                                                  \
    X(HM4, "hm4")                                                                                  \
    X(CKKS, "ckks")

#define DPI_MODE_LIST(X)                                                                           \
    X(LINEAR, "linear")                                                                            \
    X(PERMUTE, "permute")                                                                          \
    X(SHARED, "shared")

#define DPI_RETURN_LIST(X)                                                                         \
    X(LABEL, "label")                                                                              \
    X(TOP, "top")                                                                                  \
    X(SCORES, "scores")                                                                            \
    X(NOISY_SCORES, "noisy-scores")

typedef enum dpi_protocol {
#define DPI_POLICY_ENUM(name, text) DPI_PROTOCOL_##name,
    DPI_PROTOCOL_LIST(DPI_POLICY_ENUM)
#undef DPI_POLICY_ENUM
        DPI_N_PROTOCOLS
} dpi_protocol;

typedef enum dpi_mode {
#define DPI_POLICY_ENUM(name, text) DPI_MODE_##name,
    DPI_MODE_LIST(DPI_POLICY_ENUM)
#undef DPI_POLICY_ENUM
        DPI_N_MODES
} dpi_mode;

typedef enum dpi_return {
#define DPI_POLICY_ENUM(name, text) DPI_RETURN_##name,
    DPI_RETURN_LIST(DPI_POLICY_ENUM)
#undef DPI_POLICY_ENUM
        DPI_N_RETURNS
} dpi_return;

/* The most queries and the longest window: a century of seconds. */
#define DPI_MOST_COUNT UINT64_C(3155760000)

typedef struct dpi_policy {
    dpi_peers clients;
    uint64_t queries, window; /* so many in so many seconds */
    dpi_return returns;
    uint64_t top;                /* 0 unless returns is TOP */
    double epsilon, sensitivity; /* 0 unless returns is NOISY_SCORES */
    unsigned protocols, modes;   /* a bit each, 1u << value */
} dpi_policy;

/* Their words in the file; "?" for a number that is none. */
const char *dpi_protocol_name(dpi_protocol protocol);
const char *dpi_mode_name(dpi_mode mode);

/* From n bytes of text; `file` stands in messages.  *policy [out] freed by dpi_policy_free, empty
 * on error.  DP_EDATA with the line; DP_ENOMEM. */
dp_status dpi_policy_parse(const char *text, size_t n, const char *file, dpi_policy *policy,
                           dp_error *err) DP_MUST_CHECK;

/* The same from the file, which nobody but its owner may write.  DP_EIO, DP_EPRIVACY. */
dp_status dpi_policy_load(const char *path, dpi_policy *policy, dp_error *err) DP_MUST_CHECK;

void dpi_policy_free(dpi_policy *policy);

/* Whether somebody may ask by a protocol in a mode, how often apart: DPI_REFUSED_NOTHING, _CLIENT
 * or _MODE. */
dpi_refusal dpi_policy_check(const dpi_policy *policy,
                             const unsigned char fingerprint[DPI_FINGERPRINT],
                             dpi_protocol protocol, dpi_mode mode);

#endif
