/* Entropy of the operating system and the start of libsodium. */
#ifndef DPI_RANDOM_ENTROPY_H
#define DPI_RANDOM_ENTROPY_H

#include <stddef.h>

#include <tacit/status.h>

/* Fills out with n <= 256 bytes from the operating system.
 * DP_EENTROPY when it gives none; then out is zeroed.  Thread-safe. */
DP_MUST_CHECK dp_status dpi_entropy(void *out, size_t n, dp_error *err);

/* Makes libsodium choose its fastest code for this processor.  To be called before the first use of
 * a stream; repeating it is harmless.  DP_EENTROPY when the system gives no randomness (libsodium
 * would then abort the process).  Thread-safe. */
DP_MUST_CHECK dp_status dpi_sodium_start(dp_error *err);

#endif
