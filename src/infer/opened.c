/* Integers of an owner, in steps of the grid of the noise: what its records add, at most
 * `most_records` times `steps` each, plus K = round(2^32 Z).  All are added up modulo 2^64, which
 * is exact while the sum is below 2^63: records of all owners, and for each 16 standard deviations
 * of a share, beyond which a normal number lies with a chance of less than 2^-180.
 *
 * Shares are rounded apart, so their sum is no rounding of one normal number; doc/design/silo.md
 * has why it is as good. */
#include "infer/opened.h"

#include <sodium.h>

#include "base/hosts.h"
#include "svi/together.h"

static dp_status check_room(const dpi_scan *s, const dpi_pass *pass, dp_error *err)
{
    dp_status status = dpi_together_check_records(s->owners, s->n_all, err);
    return status == DP_OK
               ? dpi_together_check_room(s->owners, dpi_scan_steps(pass), pass->sigma, err)
               : status;
}

/* Adds this owner's share of the noise.  What was made before is not told again, and of a share
 * that goes on from the last one only the source draws. */
static dp_status add_noise(dpi_scan *s, const dpi_pass *pass, bool made, dp_error *err)
{
    if (made && s->owners->share != NULL)
        return DP_OK;
    return dpi_together_noise(s->owners, s->noise, pass->question, pass->n, s->whole, err);
}

/* Of this owner's integers those of all. */
static dp_status open_whole(dpi_scan *s, const dpi_pass *pass, bool made, double *out,
                            dp_error *err)
{
    const dp_owners *o = s->owners;
    uint64_t *words = (uint64_t *)s->whole; /* two's complement: sums wrap as those of words do */
    dp_status status = pass->sigma > 0 ? add_noise(s, pass, made, err) : DP_OK;
    if (status == DP_OK && !made)
        status = o->open(o->context, pass->question, pass->n, words, err);
    for (size_t e = 0; status == DP_OK && e < pass->n; e++)
        out[e] = (double)s->whole[e] / dpi_scan_steps(pass);
    return status;
}

dp_status dpi_opened_release(dpi_scan *s, const dpi_pass *pass, bool made, double *out,
                             dp_error *err)
{
    dp_status status = check_room(s, pass, err);
    if (!made)
        status = dpi_hosts_add(s->owners, status, pass->n, s->whole, err);
    if (status == DP_OK && dpi_hosts_gate(s->owners))
        status = open_whole(s, pass, made, out, err);
    sodium_memzero(s->whole, pass->n * sizeof *s->whole);
    return status;
}
