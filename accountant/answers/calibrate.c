/* Calibration: the least noise, the greatest rate, the most steps, the smallest cap for an epsilon,
 * each searched for (search.c) and certified. */
#include <tacit/accountant.h>

#include <math.h>

#include "accountant/answers/check.h"
#include "accountant/answers/composition.h"
#include "accountant/answers/search.h"
#include "accountant/pairs/allocation.h"
#include "base/error.h"

static const double LEAST_SIGMA = 0.1, MOST_SIGMA = 1e5;
static const double LEAST_RATE = 1e-9;
static const uint64_t MOST_STEPS = 1000000000;
static const double TOLERANCE = 1e-4;
static const double CLOSED_FORM = 1e-9; /* tolerance where certificates are closed forms */

/* ---- noise ---- */

static dp_status outside(const dpi_search *s, dp_error *err)
{
    bool epochs = s->m.sampling == DP_SAMPLING_ALLOCATION;
    return dpi_fail(err, DP_EACCURACY,
                    "epsilon %g at delta %g asks for noise outside [%g, %g] clipping norms; change "
                    "epsilon, the %s or the number of steps%s",
                    s->epsilon, s->delta, s->least, s->most, epochs ? "epoch" : "rate",
                    epochs ? ", or take Poisson sampling, which has wider limits" : "");
}

/* Without sampling a certificate is the closed form itself: nothing is gained by a tolerance. */
static dp_status finest(const dp_mechanism *m, double *tolerance, dp_error *err)
{
    dpi_composition c;
    dp_status status = dpi_composition_new(m, 1, DPI_REMOVE, DPI_UPPER, &c, err);
    if (status == DP_OK && c.normal_mu > 0)
        *tolerance = fmin(*tolerance, CLOSED_FORM);
    dpi_composition_free(&c);
    return status;
}

/* What the account covers, or less. */
static void limits(const dp_mechanism *m, double *least, double *most)
{
    bool epochs = m->sampling == DP_SAMPLING_ALLOCATION;
    *least = epochs ? DPI_ALLOCATION_LEAST_SIGMA : LEAST_SIGMA;
    *most = epochs ? DPI_ALLOCATION_MOST_SIGMA : MOST_SIGMA;
    if (m->noise == DP_NOISE_RANDOMISED_RESPONSE)
        *most = 1;
}

static dp_status search_sigma(const dp_mechanism *m, double epsilon, double delta, double tolerance,
                              double *sigma, dp_error *err)
{
    dpi_search s = {.m = *m, .what = DPI_NOISE, .epsilon = epsilon, .delta = delta};
    limits(m, &s.least, &s.most);
    dpi_bracket b;
    dp_status status = finest(m, &tolerance, err);
    if (status == DP_OK)
        status = dpi_search_root(&s, &b, err);
    if (status != DP_OK)
        return status;
    bool found = fabs(b.log_ratio) < 1e-3 || (b.safe == b.safe && b.unsafe == b.unsafe);
    return found ? dpi_search_settle(&s, &b, tolerance, sigma, err) : outside(&s, err);
}

static dp_status check_goal(double epsilon, double delta, dp_error *err)
{
    dp_status status = dpi_check_epsilon(epsilon, false, err);
    return status == DP_OK ? dpi_check_delta(delta, err) : status;
}

dp_status dp_calibrate_sigma(const dp_mechanism *m, double epsilon, double delta, double tolerance,
                             double *sigma, dp_error *err)
{
    *sigma = INFINITY;
    double found = INFINITY;
    dp_mechanism any = *m;
    any.sigma = m->noise == DP_NOISE_RANDOMISED_RESPONSE ? 0.5 : 1;
    dp_status status = dpi_check_mechanism(&any, err);
    if (status == DP_OK)
        status = check_goal(epsilon, delta, err);
    if (status == DP_OK && !(tolerance >= 0 && tolerance < 1))
        status = dpi_fail(err, DP_EDOMAIN,
                          "tolerance is %g; give a relative one above 0 and below 1, or 0 for %g",
                          tolerance, TOLERANCE);
    if (status == DP_OK)
        status =
            search_sigma(&any, epsilon, delta, tolerance > 0 ? tolerance : TOLERANCE, &found, err);
    if (status == DP_OK)
        *sigma = found;
    return status;
}

dp_status dp_approximate_sigma(double epsilon, double delta, double q, uint64_t steps,
                               dp_sampling sampling, double *sigma, dp_error *err)
{
    *sigma = INFINITY;
    dp_mechanism m = {.sampling = sampling, .sigma = 1, .rate = q, .steps = steps};
    dp_status status = dpi_check_sampling(sampling, q, steps, err);
    return status == DP_OK ? dp_calibrate_sigma(&m, epsilon, delta, 0, sigma, err) : status;
}

/* ---- rate ---- */

static dp_status search_rate(const dp_mechanism *m, double epsilon, double delta, double *rate,
                             dp_error *err)
{
    dpi_search s = {.m = *m, .what = DPI_RATE, .epsilon = epsilon, .delta = delta};
    s.least = LEAST_RATE;
    s.most = 1;
    dpi_bracket b;
    dp_status status = dpi_search_root(&s, &b, err);
    if (status != DP_OK)
        return status;
    double bound;
    if (!(b.unsafe == b.unsafe)) { /* even all records fit */
        status = dpi_search_certify(&s, 1, DPI_SEARCH_FINE, &bound, err);
        if (status != DP_OK || bound <= epsilon) {
            *rate = 1;
            return status;
        }
    }
    if (!(b.safe == b.safe) && !(fabs(b.log_ratio) < 1e-3))
        return DP_OK; /* none fits */
    return dpi_search_settle(&s, &b, TOLERANCE, rate, err);
}

dp_status dp_calibrate_rate(const dp_mechanism *m, double epsilon, double delta, double *rate,
                            dp_error *err)
{
    *rate = 0;
    double found = 0;
    dp_mechanism any = *m;
    any.rate = 0.5;
    if (m->sampling != DP_SAMPLING_POISSON && m->sampling != DP_SAMPLING_FIXED)
        return dpi_fail(err, DP_EDOMAIN,
                        "sampling is %d; a rate is searched for DP_SAMPLING_POISSON and "
                        "DP_SAMPLING_FIXED only",
                        (int)m->sampling);
    dp_status status = dpi_check_mechanism(&any, err);
    if (status == DP_OK)
        status = check_goal(epsilon, delta, err);
    if (status == DP_OK)
        status = search_rate(&any, epsilon, delta, &found, err);
    if (status == DP_OK)
        *rate = found;
    return status;
}

/* ---- steps and cap ---- */

static dp_status search_steps(const dp_mechanism *m, double epsilon, double delta, double *units,
                              dp_error *err)
{
    dpi_search s = {
        .m = *m, .what = DPI_STEPS, .epsilon = epsilon, .delta = delta, .least = 1, .unit = 1};
    if (m->sampling == DP_SAMPLING_ALLOCATION)
        s.unit = (double)m->epoch;
    s.most = floor((double)MOST_STEPS / s.unit);
    double root = NAN;
    dp_status status = dpi_search_whole_root(&s, dpi_search_guess(&s), &root, err);
    if (status != DP_OK || !(root == root))
        return status;
    /* Where a step more or less is far below the bound's excess, begin behind it. */
    return dpi_search_whole_settle(&s, root - floor(root * DPI_SEARCH_EXCESS), units, err);
}

dp_status dp_calibrate_steps(const dp_mechanism *m, double epsilon, double delta, uint64_t *steps,
                             dp_error *err)
{
    *steps = 0;
    double units = 0;
    dp_mechanism any = *m;
    any.steps = m->sampling == DP_SAMPLING_ALLOCATION && m->epoch > 0 ? m->epoch : 1;
    dp_status status = dpi_check_mechanism(&any, err);
    if (status == DP_OK)
        status = check_goal(epsilon, delta, err);
    if (status == DP_OK)
        status = search_steps(&any, epsilon, delta, &units, err);
    if (status == DP_OK)
        *steps = (uint64_t)units * any.steps;
    return status;
}

/* epsilon of plain Poisson sampling: exact where the contour applies. */
static dp_status plain_epsilon(const dp_mechanism *m, double delta, double *epsilon, dp_error *err)
{
    dpi_search s = {.m = *m, .what = DPI_NOISE, .delta = delta};
    s.m.sampling = DP_SAMPLING_POISSON;
    s.m.records = s.m.cap = 0;
    return dpi_search_look(&s, m->sigma, epsilon, err);
}

dp_status dp_calibrate_cap(const dp_mechanism *m, double delta, double excess, uint64_t *cap,
                           dp_error *err)
{
    *cap = 0;
    double plain = 0, root = NAN, found = 0;
    dp_mechanism any = *m;
    any.cap = m->records;
    if (m->sampling != DP_SAMPLING_TRUNCATED)
        return dpi_fail(err, DP_EDOMAIN, "sampling is %d; a cap belongs to DP_SAMPLING_TRUNCATED",
                        (int)m->sampling);
    dp_status status = dpi_check_mechanism(&any, err);
    if (status == DP_OK)
        status = dpi_check_delta(delta, err);
    if (status == DP_OK && !(excess >= 0 && excess < INFINITY))
        status = dpi_fail(err, DP_EDOMAIN,
                          "excess is %g; give a relative one above 0, or 0 for 1e-3", excess);
    if (status == DP_OK)
        status = plain_epsilon(&any, delta, &plain, err);
    dpi_search s = {
        .m = any, .what = DPI_CAP, .delta = delta, .least = 1, .most = (double)m->records};
    s.epsilon = plain * (1 + (excess > 0 ? excess : 1e-3));
    double mean = (double)m->records * m->rate;
    if (status == DP_OK)
        status = dpi_search_whole_root(&s, mean + 6 * sqrt(mean) + 1, &root, err);
    if (status == DP_OK)
        status = dpi_search_whole_settle(&s, root == root ? root : s.most, &found, err);
    if (status == DP_OK)
        *cap = (uint64_t)found;
    return status;
}
