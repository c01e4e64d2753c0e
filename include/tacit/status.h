/* Status codes and error texts shared by every Tacit call.
 *
 * Every call that can fail returns a dp_status, 0 on success.  Objects keep the first error and its
 * message; calls with no object take a nullable dp_error.  Nothing here prints, exits or uses
 * thread-local state.  Thread-safe: all functions are pure. */
#ifndef TACIT_STATUS_H
#define TACIT_STATUS_H

#include <tacit/export.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DP_STATUS_LIST(X)                                                                          \
    X(DP_OK, "success")                                                                            \
    X(DP_EINVAL, "an argument is not allowed")                                                     \
    X(DP_EDOMAIN, "a number is outside its domain")                                                \
    X(DP_ESHAPE, "shapes do not fit together")                                                     \
    X(DP_ENAME, "a name is unknown or used twice")                                                 \
    X(DP_EDATA, "the data are not what the model needs")                                           \
    X(DP_EIO, "a file cannot be read or written")                                                  \
    X(DP_ENOMEM, "out of memory")                                                                  \
    X(DP_EACCURACY, "the requested accuracy cannot be certified")                                  \
    X(DP_EMISMATCH, "sampler and accounting do not match")                                         \
    X(DP_EPRIVACY, "refused: it would break the privacy guarantee")                                \
    X(DP_EENTROPY, "the operating system gives no randomness")                                     \
    X(DP_ESTATE, "the call comes at the wrong time")                                               \
    X(DP_EUNSUPPORTED, "not supported")                                                            \
    X(DP_EREFUSED, "the other side refused")                                                       \
    X(DP_ETIMEOUT, "the other side did not answer in time")                                        \
    X(DP_EPEER, "the other side broke the protocol")                                               \
    X(DP_ESTOPPED, "stopped at the caller's word")

typedef enum dp_status {
#define DP_STATUS_ENUM(name, text) name,
    DP_STATUS_LIST(DP_STATUS_ENUM)
#undef DP_STATUS_ENUM
        DP_N_STATUS
} dp_status;

/* Status and message of a failed call; caller-owned, no cleanup.  Zero-initialise it.  The first
 * error stays: a call that fails when `status` is already set leaves it as it is. */
typedef struct dp_error {
    dp_status status;
    char text[512];
} dp_error;

/* The constant's name, "DP_EDOMAIN"; "DP_?" for a number that is no status.  Static storage. */
DP_API const char *dp_status_name(dp_status status);

/* One plain sentence for the status.  Static storage. */
DP_API const char *dp_status_text(dp_status status);

#ifdef __cplusplus
}
#endif
#endif
