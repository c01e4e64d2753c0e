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

/* Where the chains of an attempt have come to. */
static void go_on(const dpi_hmc_opts *o, size_t n, const double *draws, double *from)
{
    for (size_t c = 0; c < o->chains; c++)
        memcpy(from + c * n, draws + ((c + 1) * o->draws - 1) * n, n * sizeof *from);
}

/* draws[2][chains][opts->draws][n], of which the best ones are *best in the end; from[chains][n]
 * is where chains start. */
static dp_status try_all(const dpi_target *target, const dpi_hmc_opts *opts, dp_rng *rng,
                         double *const draws[2], double *from, int *best, dpi_hmc_report *report,
                         dp_error *err)
{
    dp_status status = DP_OK;
    dpi_hmc_opts o = *opts;
    o.start = from;
    memcpy(from, opts->start, o.chains * target->n * sizeof *from);
    for (int k = 0; k < DPI_ATTEMPTS && status == DP_OK; k++) {
        int to = k > 0 ? !*best : 0;
        dpi_hmc_report now;
        dpi_attempt(k, &o);
        status = dpi_hmc(target, &o, rng, draws[to], &now, err);
        bool good = dpi_exact_is_good(&now, o.chains * o.draws);
        if (k == 0 || good || now.ess > report->ess) {
            *best = to;
            *report = now;
        }
        if (status != DP_OK || good)
            break;
        go_on(&o, target->n, draws[to], from);
    }
    return status;
}

dp_status dpi_attempts(const dpi_target *target, const dpi_hmc_opts *opts, dp_rng *rng,
                       double *draws, dpi_hmc_report *report, dp_error *err)
{
    size_t all = opts->chains * opts->draws * target->n;
    double *other = dpi_alloc(all + opts->chains * target->n, sizeof *other);
    double *const sets[2] = {draws, other};
    int best = 0;
    *report = (dpi_hmc_report){.r_hat = INFINITY};
    if (other == NULL)
        return dpi_fail_nomem(err);
    dp_status status = try_all(target, opts, rng, sets, other + all, &best, report, err);
    if (best == 1)
        memcpy(draws, other, all * sizeof *draws);
    dpi_free(other);
    return status;
}
