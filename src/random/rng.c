/* dp_rng: the reproducible source.  Its ChaCha20 key is BLAKE2b of the seed and a purpose that no
 * other source uses, so that dp_rng and a seeded dp_noise of the same seed have nothing in common.
 * The purpose is part of what a seed means: changing it changes every seeded result. */
#include "random/rng.h"

#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "random/entropy.h"
#include "random/normal.h"

struct dp_rng {
    dpi_stream stream;
};

dp_status dp_rng_new(uint64_t seed, dp_rng **rng, dp_error *err)
{
    *rng = NULL;
    dp_status status = dpi_sodium_start(err);
    if (status != DP_OK)
        return status;
    dp_rng *made = dpi_alloc(1, sizeof *made);
    if (made == NULL)
        return dpi_fail_nomem(err);
    dpi_rng_reseed(made, seed);
    *rng = made;
    return DP_OK;
}

dp_status dp_rng_new_random(dp_rng **rng, uint64_t *seed, dp_error *err)
{
    unsigned char drawn[8];
    *rng = NULL;
    if (seed != NULL)
        *seed = 0;
    dp_status status = dpi_entropy(drawn, sizeof drawn, err);
    if (status == DP_OK)
        status = dp_rng_new(dpi_load64(drawn), rng, err);
    if (status == DP_OK && seed != NULL)
        *seed = dpi_load64(drawn);
    return status;
}

void dp_rng_free(dp_rng *rng)
{
    if (rng == NULL)
        return;
    dpi_stream_end(&rng->stream);
    dpi_free(rng);
}

void dp_rng_uniform(dp_rng *rng, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = dpi_stream_uniform(&rng->stream);
}

void dp_rng_normal(dp_rng *rng, size_t n, double *out)
{
    dpi_stream_normals(&rng->stream, n, out);
}

dp_status dp_rng_below(dp_rng *rng, uint64_t bound, size_t n, uint64_t *out, dp_error *err)
{
    if (bound == 0) {
        memset(out, 0, n * sizeof *out);
        return dpi_fail(err, DP_EDOMAIN, "integers below 0 were asked for; bound must be >= 1");
    }
    for (size_t i = 0; i < n; i++)
        out[i] = dpi_stream_below(&rng->stream, bound);
    return DP_OK;
}

dpi_stream *dpi_rng_stream(dp_rng *rng)
{
    return &rng->stream;
}

void dpi_rng_reseed(dp_rng *rng, uint64_t seed)
{
    dpi_stream_end(&rng->stream);
    dpi_stream_start_seeded(&rng->stream, seed, "tacit dp_rng 1");
}
