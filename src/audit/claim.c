/* Is the certified trade-off curve refuted?
 *
 * The account claims more than epsilon at one delta: for every test, TPR <= f(FPR), where f rises
 * and bounds either order of the two worlds (accountant/answers/tradeoff.h).  Where an attack is as
 * strong as the worst case, measured tests lie on f, and any fault that lets through more lies
 * above it at ordinary rates, of which few runs tell; at delta = 10^-5 the same fault may need 10^8
 * runs before epsilon shows it.
 *
 * Tests.  Events "score above t" and, with the worlds exchanged, "at most t", for the false
 * positive rates of the table below, which are fixed beforehand.  The t with that rate is found in
 * one half of the runs, and the other half judges: with k of n false positives and l of n true
 * ones,
 *     FPR <= b = upper bound on k / n,   TPR >= a = lower bound on l / n
 * (Clopper and Pearson), each but with probability alpha / (2 x number of tests), all of them but
 * with probability alpha (Bonferroni).  If f is true, a <= TPR <= f(FPR) <= f(b).  So a > f(b)
 * refutes it.
 *
 * The samplers' own failures (random/failure.h) move a rate by far less than `room`. */
#include "audit/claim.h"

#include <math.h>

#include "accountant/answers/tradeoff.h"
#include "audit/bound.h"
#include "base/error.h"

static const double nominal[] = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3};
static const double room = 1e-9;

enum { RATES = sizeof nominal / sizeof *nominal, TESTS = 2 * RATES };

/* How many of n sorted numbers are above t, and how many at most t. */
static size_t above(size_t n, const double *sorted, double t)
{
    return n - dpi_at_most(n, sorted, t);
}

/* Bounds on the rates of a test that has `rate` in the first halves, judged by the second ones. */
static void measure(size_t n, double *const scores[2], double rate, bool below, double alpha,
                    dpi_claim *seen)
{
    size_t half = n / 2, rest = n - half, rank = (size_t)(rate * (double)half), wrong, right;
    const double *innocent = scores[below], *guilty = scores[!below];
    if (below) { /* the world with the canary is the one that is to look innocent */
        double t = innocent[rank > 0 ? rank - 1 : 0];
        wrong = dpi_at_most(rest, innocent + half, t);
        right = dpi_at_most(rest, guilty + half, t);
    } else {
        double t = innocent[half - 1 - rank];
        wrong = above(rest, innocent + half, t);
        right = above(rest, guilty + half, t);
    }
    seen->false_positives = dpi_rate_upper(wrong, rest, alpha);
    seen->true_positives = dpi_rate_lower(right, rest, alpha);
}

/* What is certified for the test; 1 where no account is to be had. */
static void compare(const dpi_trade_lines *curve, dpi_claim *seen)
{
    double rate = seen->false_positives;
    seen->certified = rate < 1 ? fmin(dpi_trade_lines_at(curve, rate) + room, 1) : 1;
    seen->refuted = seen->true_positives > seen->certified;
}

static bool tells_more(const dpi_claim *a, const dpi_claim *b)
{
    if (a->refuted != b->refuted)
        return a->refuted;
    return a->true_positives * b->certified > b->true_positives * a->certified;
}

static dp_status find_curve(const dp_mechanism *run, dpi_trade_lines *curve, dp_error *err)
{
    dpi_trade trade;
    dp_error ignored = {0};
    dp_status status = dpi_check_list(run, 1, err);
    if (status == DP_OK)
        status = dpi_trade_new(run, 1, &trade, err);
    if (status != DP_OK)
        return status;
    status = dpi_trade_lines_new(&trade, nominal[0], curve, &ignored);
    dpi_trade_free(&trade);
    return status == DP_ENOMEM ? dpi_fail_nomem(err) : DP_OK;
}

dp_status dpi_claim_judge(const dp_mechanism *run, size_t n, double *const scores[2], double alpha,
                          dpi_claim *claim, dp_error *err)
{
    dpi_trade_lines curve;
    *claim = (dpi_claim){.false_positives = 1, .certified = 1};
    dp_status status = find_curve(run, &curve, err);
    for (size_t i = 0; i < TESTS && status == DP_OK; i++) {
        dpi_claim seen = {0};
        measure(n, scores, nominal[i / 2], i % 2 == 1, alpha / (2 * TESTS), &seen);
        compare(&curve, &seen);
        if (tells_more(&seen, claim))
            *claim = seen;
    }
    return status;
}
