/* Attempts at draws that are good enough.  Room is two sets of draws: the best ones so far, and
 * those of the attempt that is being made. */
#include "infer/attempts.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "infer/exact-words.h"

static const struct {
    size_t warmup;
    double acceptance;
} attempts[DPI_ATTEMPTS] = {{400, 0.8}, {1000, 0.95}, {3000, 0.99}};

void dpi_attempt(int k, dpi_hmc_opts *opts)
{
    opts->warmup = attempts[k].warmup;
    opts->acceptance = attempts[k].acceptance;
}

/* Sets of draws are the caller's and `other`; the best one so far is in `best`. */
static dp_status try_all(dpi_attempts *a, const dpi_target *target, dpi_hmc_opts *o, dp_rng *rng,
                         double *other, dp_error *err)
{
    size_t n = target->n, each = o->draws;
    double *best = NULL, *to = a->draws;
    dp_status status = DP_OK;
    bool good = false;
    o->start = a->from;
    for (int k = a->first; k < a->end && status == DP_OK && !good; k++) {
        dpi_hmc_report now;
        dpi_attempt(k, o);
        status = dpi_hmc(target, o, rng, to, &now, err);
        for (size_t c = 0; c < o->chains && status == DP_OK; c++)
            memcpy(a->from + c * n, to + ((c + 1) * each - 1) * n, n * sizeof *to);
        good = dpi_exact_is_good(&now, o->chains * each);
        if (best == NULL || good || now.ess > a->report.ess) {
            best = to;
            a->report = now;
        }
        to = best == a->draws ? other : a->draws;
    }
    if (best == other && status == DP_OK)
        memcpy(a->draws, other, o->chains * each * n * sizeof *other);
    return status;
}

dp_status dpi_attempts_make(dpi_attempts *a, const dpi_target *target, const dpi_hmc_opts *opts,
                            dp_rng *rng, dp_error *err)
{
    size_t all = a->end > a->first + 1 ? opts->chains * opts->draws * target->n : 1;
    double *other = dpi_alloc(all, sizeof *other);
    dpi_hmc_opts o = *opts;
    a->report = (dpi_hmc_report){.r_hat = INFINITY};
    dp_status status =
        other != NULL ? try_all(a, target, &o, rng, other, err) : dpi_fail_nomem(err);
    dpi_free(other);
    return status;
}
