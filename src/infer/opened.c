/* Integers of an owner, in steps of the grid of the noise: what its records add, at most
 * `most_records` times `steps` each, plus K = round(2^32 Z).  All are added up modulo 2^64, which is
 * exact while the sum is below 2^63: records of all owners, and for each 16 standard deviations of
 * a share, beyond which a normal number lies with a chance of less than 2^-180.
 *
 * Shares are rounded apart, so their sum is no rounding of one normal number; doc/design/silo.md
 * has why it is as good. */
#include "infer/opened.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/error.h"
#include "random/grid.h"
#include "random/noise.h"
#include "svi/together.h"

static dp_status check_room(const dpi_scan *s, const dpi_pass *pass, dp_error *err)
{
    const dp_owners *o = s->owners;
    double size = (double)o->size, noise = pass->sigma > 0 ? 16 * DPI_GRID_SCALE : 0;
    dp_status status = dpi_together_check_records(o, s->n_records, err);
    if (status != DP_OK)
        return status;
    if (size * ((double)o->most_records * dpi_scan_steps(pass) + noise) < 0x1p62)
        return DP_OK;
    return dpi_fail(err, DP_EUNSUPPORTED,
                    "sums over %zu owners of up to %llu records each, with noise of %g, need more "
                    "than 64 bits; plan for fewer records, or a smaller epsilon",
                    o->size, (unsigned long long)o->most_records, pass->sigma);
}

/* Adds a share of the noise, made from a stream. */
static void add_share(dpi_scan *s, size_t n, dpi_stream *stream)
{
    dpi_grid grid;
    int64_t share[DPI_GRID_PIECE];
    dpi_grid_begin(&grid, dpi_grid_best(), stream);
    for (size_t first = 0, some; first < n; first += some) {
        some = n - first < DPI_GRID_PIECE ? n - first : DPI_GRID_PIECE;
        dpi_grid_next(&grid, some, share);
        for (size_t j = 0; j < some; j++)
            s->whole[first + j] += share[j];
    }
    dpi_grid_end(&grid);
    sodium_memzero(share, sizeof share);
}

/* Adds the share that an owner's own key gives. */
static dp_status add_kept_share(dpi_scan *s, const dpi_pass *pass, dp_error *err)
{
    const dp_owners *o = s->owners;
    unsigned char key[DP_OWNERS_KEY];
    dpi_stream stream;
    dp_status status =
        o->share(o->context, pass->question, pass->n, (const uint64_t *)s->whole, key, err);
    if (status == DP_OK) {
        dpi_stream_start(&stream, key);
        add_share(s, pass->n, &stream);
        dpi_stream_end(&stream);
    }
    sodium_memzero(key, sizeof key);
    return status;
}

/* Adds this owner's share of the noise.  What was made before is not told again, and of a share
 * that goes on from the last one only the source draws. */
static dp_status add_noise(dpi_scan *s, const dpi_pass *pass, bool made, dp_error *err)
{
    dpi_stream *stream;
    if (s->owners->share != NULL)
        return made ? DP_OK : add_kept_share(s, pass, err);
    dp_status status = dpi_noise_stream(s->noise, &stream, err);
    if (status == DP_OK)
        add_share(s, pass->n, stream);
    return status;
}

dp_status dpi_opened_release(dpi_scan *s, const dpi_pass *pass, double *out, dp_error *err)
{
    const dp_owners *o = s->owners;
    const bool made = dpi_keeper_is_ahead(s->keeper);
    uint64_t *words = (uint64_t *)s->whole; /* two's complement: sums wrap as those of words do */
    dp_status status = check_room(s, pass, err);
    if (status == DP_OK && pass->sigma > 0)
        status = add_noise(s, pass, made, err);
    if (status == DP_OK && !made)
        status = o->open(o->context, pass->question, pass->n, words, err);
    for (size_t e = 0; status == DP_OK && e < pass->n; e++)
        out[e] = (double)s->whole[e] / dpi_scan_steps(pass);
    sodium_memzero(s->whole, pass->n * sizeof *s->whole);
    return status;
}
