/* Entropy of the operating system and the start of libsodium.
 *
 * The key comes from getentropy(3), which waits until the kernel's pool is seeded once and needs no
 * file descriptor.  libsodium's own randombytes_buf is not used because it aborts the process when
 * there is no entropy; sodium_init does so too, hence the probe before it.  Without sodium_init the
 * streams would be the same, only slower. */
#include "random/entropy.h"

#include <sodium.h>
#include <unistd.h>

#include "base/error.h"

dp_status dpi_entropy(void *out, size_t n, dp_error *err)
{
    if (getentropy(out, n) == 0)
        return DP_OK;
    sodium_memzero(out, n);
    return dpi_fail(err, DP_EENTROPY,
                    "the operating system gave no random bytes (getentropy); Linux 3.17 or newer "
                    "is needed, and a sandbox must allow getrandom");
}

dp_status dpi_sodium_start(dp_error *err)
{
    unsigned char probe[1];
    dp_status status = dpi_entropy(probe, sizeof probe, err);
    if (status != DP_OK)
        return status;
    if (sodium_init() < 0)
        return dpi_fail(err, DP_EENTROPY, "libsodium could not be initialised (sodium_init)");
    return DP_OK;
}
