/* dp_noise: the private source, keyed by the operating system.
 *
 * The stream lies in memory pages of its own, which are
 *   - zeroed by the kernel in a forked child (MADV_WIPEONFORK): a zeroed stream is one without a
 *     key, so the child takes a new key, and a stream pointer kept across the fork aborts instead
 *     of repeating the parent's noise;
 *   - kept out of core files and, where the limits allow, out of swap (sodium_mlock).
 * Where the kernel has no MADV_WIPEONFORK (Linux before 4.14, other systems) a mark
 * tells a child at every use (base/fork.c).
 *
 * A seeded source lies in the same kind of memory but is not wiped on fork: it is repeatable. */
#include "random/noise.h"

#include <math.h>
#include <sodium.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fork.h"
#include "random/discrete.h"
#include "random/entropy.h"
#include "random/grid.h"
#include "random/normal.h"

struct dp_noise {
    dpi_stream *stream; /* at the start of the pages */
    void *block;        /* what dpi_alloc gave; holds the pages */
    size_t pages_size;  /* whole pages, bytes */
    dpi_fork *owner;    /* marks the process that drew the key; NULL: the pages are wiped */
    bool private;
};

static dp_status draw_key(dp_noise *noise, dp_error *err)
{
    unsigned char key[DPI_STREAM_KEY];
    dpi_stream_end(noise->stream);
    dp_status status = dpi_entropy(key, sizeof key, err);
    if (status == DP_OK)
        dpi_stream_start(noise->stream, key);
    sodium_memzero(key, sizeof key);
    if (noise->owner != NULL)
        dpi_fork_set(noise->owner);
    return status;
}

/* A source without a key, its stream on whole pages; NULL with *status set on error. */
static dp_noise *new_without_key(dp_status *status, dp_error *err)
{
    *status = dpi_sodium_start(err);
    if (*status != DP_OK)
        return NULL;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t size = (sizeof(dpi_stream) + page - 1) / page * page;
    dp_noise *made = dpi_alloc(1, sizeof *made);
    unsigned char *block = dpi_alloc(1, size + page);
    if (made == NULL || block == NULL) {
        dpi_free(made);
        dpi_free(block);
        *status = dpi_fail_nomem(err);
        return NULL;
    }
    made->block = block;
    made->pages_size = size;
    made->stream = (dpi_stream *)(void *)(block + (page - (uintptr_t)block % page) % page);
    (void)sodium_mlock(made->stream, size);
    return made;
}

dp_status dp_noise_new(dp_noise **noise, dp_error *err)
{
    dp_status status;
    *noise = NULL;
    dp_noise *made = new_without_key(&status, err);
    if (made == NULL)
        return status;
    made->private = true;
    if (!dpi_fork_wipe(made->stream, made->pages_size))
        status = dpi_fork_new(&made->owner, err);
    if (status == DP_OK)
        status = draw_key(made, err);
    if (status == DP_OK)
        *noise = made;
    else
        dp_noise_free(made);
    return status;
}

dp_status dp_noise_new_seeded(uint64_t seed, dp_noise **noise, dp_error *err)
{
    dp_status status;
    *noise = new_without_key(&status, err);
    if (*noise != NULL)
        dpi_stream_start_seeded((*noise)->stream, seed, "tacit dp_noise for tests 1");
    return status;
}

bool dp_noise_is_private(const dp_noise *noise)
{
    return noise->private;
}

void dp_noise_free(dp_noise *noise)
{
    if (noise == NULL)
        return;
    (void)sodium_munlock(noise->stream, noise->pages_size); /* wipes, too */
    sodium_memzero(noise->stream, noise->pages_size);
    if (noise->private)
        dpi_fork_keep(noise->stream, noise->pages_size);
    dpi_fork_free(noise->owner);
    dpi_free(noise->block);
    dpi_free(noise);
}

static bool key_is_lost(const dp_noise *noise)
{
    if (!noise->stream->keyed)
        return true;
    return noise->owner != NULL && !dpi_fork_here(noise->owner);
}

dp_status dpi_noise_stream(dp_noise *noise, dpi_stream **stream, dp_error *err)
{
    *stream = NULL;
    if (DPI_UNLIKELY(key_is_lost(noise))) {
        dp_status status = draw_key(noise, err);
        if (status != DP_OK)
            return status;
    }
    *stream = noise->stream;
    return DP_OK;
}

void dpi_noise_key(dp_noise *noise, const unsigned char key[DPI_STREAM_KEY])
{
    dpi_stream_end(noise->stream);
    dpi_stream_start(noise->stream, key);
    if (noise->owner != NULL)
        dpi_fork_set(noise->owner);
}

dp_status dp_noise_normal(dp_noise *noise, size_t n, double sd, double *out, dp_error *err)
{
    dpi_stream *stream = NULL;
    dp_status status = DP_OK;
    if (!(sd > 0) || !isfinite(sd))
        status =
            dpi_fail(err, DP_EDOMAIN,
                     "noise of standard deviation %g was asked for; it must be finite and > 0", sd);
    if (status == DP_OK)
        status = dpi_noise_stream(noise, &stream, err);
    if (status != DP_OK) {
        for (size_t i = 0; i < n; i++)
            out[i] = NAN;
        return status;
    }
    dpi_stream_normals(stream, n, out);
    for (size_t i = 0; sd != 1 && i < n; i++)
        out[i] *= sd;
    return DP_OK;
}

dp_status dpi_noise_normal_rows(dp_noise *noise, size_t rows, size_t size, double *out,
                                dp_error *err)
{
    dpi_stream *stream;
    dp_status status = dpi_noise_stream(noise, &stream, err);
    for (size_t i = 0; i < rows * size && status != DP_OK; i++)
        out[i] = NAN;
    if (status == DP_OK)
        dpi_stream_normal_rows(stream, rows, size, out);
    return status;
}

dp_status dp_noise_discrete_gaussian(dp_noise *noise, size_t n, double sigma, int64_t *out,
                                     dp_error *err)
{
    dpi_stream *stream = NULL;
    dp_status status = DP_OK;
    if (!(sigma >= DPI_DISCRETE_LEAST && sigma <= DPI_DISCRETE_GREATEST))
        status = dpi_fail(err, DP_EDOMAIN,
                          "a discrete Gaussian of sigma %g was asked for; it must be in [%g, %g]",
                          sigma, DPI_DISCRETE_LEAST, DPI_DISCRETE_GREATEST);
    if (status == DP_OK)
        status = dpi_noise_stream(noise, &stream, err);
    for (size_t i = 0; i < n && status != DP_OK; i++)
        out[i] = INT64_MIN;
    if (status == DP_OK)
        dpi_discrete_gaussians(stream, n, sigma, out);
    return status;
}

dp_status dp_noise_shares(dp_noise *noise, size_t n, int64_t *out, dp_error *err)
{
    dpi_stream *stream = NULL;
    const dp_status status = dpi_noise_stream(noise, &stream, err);
    for (size_t i = 0; i < n && status != DP_OK; i++)
        out[i] = INT64_MIN;
    if (status == DP_OK)
        dpi_stream_grid(stream, n, out);
    return status;
}

dp_status dp_noise_shares_from(const unsigned char key[DP_NOISE_KEY], size_t n, int64_t *out,
                               dp_error *err)
{
    dpi_stream stream;
    const dp_status status = dpi_sodium_start(err);
    for (size_t i = 0; i < n && status != DP_OK; i++)
        out[i] = INT64_MIN;
    if (status != DP_OK)
        return status;
    dpi_stream_start(&stream, key);
    dpi_stream_grid(&stream, n, out);
    dpi_stream_end(&stream);
    return DP_OK;
}
