/* Checks of the arguments, and the worse of the two directions.
 *
 * Neither direction dominates the other in general, and worst cases need not compose to worst cases
 * (Lebeda et al., 2024): each direction is composed on its own and the larger figure counts.  An
 * estimate tells how far the smaller one can be from mattering, and it is computed only as finely as
 * that needs; it stays a bound whatever the estimate is worth. */
#include "accountant/bound.h"

#include <math.h>

#include "accountant/gaussian.h"
#include "accountant/saddle.h"
#include "base/error.h"

/* Relative excess of epsilon aimed at. */
static const double WIDTH = 2e-5;
static const double COARSEST = 0.05;

static const double MIN_SIGMA = 0.05, MAX_SIGMA = 1e6;
static const double MIN_RATE = 1e-9;
static const uint64_t MAX_STEPS = 1000000000;

dp_status dpi_check_sampling(dp_sampling sampling, double rate, uint64_t steps, dp_error *err)
{
    if (sampling == DP_SAMPLING_FIXED)
        return dpi_fail(err, DP_EMISMATCH,
                        "batches of a fixed size without replacement are not Poisson samples, and "
                        "the account of Poisson sampling is no bound for them; there is no account "
                        "for them yet: sample with DP_SAMPLING_POISSON");
    if (sampling != DP_SAMPLING_POISSON && sampling != DP_SAMPLING_FULL)
        return dpi_fail(err, DP_EDOMAIN,
                        "sampling is %d; name the sampler: DP_SAMPLING_POISSON or DP_SAMPLING_FULL",
                        (int)sampling);
    if (!(rate > 0 && rate <= 1))
        return dpi_fail(err, DP_EDOMAIN,
                        "rate is %g; give the probability that a record is in the batch, above 0 "
                        "and at most 1",
                        rate);
    if (sampling == DP_SAMPLING_FULL && rate != 1)
        return dpi_fail(err, DP_EDOMAIN,
                        "rate is %g with DP_SAMPLING_FULL; full batches have rate 1, sampled ones "
                        "are DP_SAMPLING_POISSON",
                        rate);
    if (rate < MIN_RATE)
        return dpi_fail(err, DP_EACCURACY, "rate is %g; rates below %g are not accounted for", rate,
                        MIN_RATE);
    if (steps == 0)
        return dpi_fail(err, DP_EDOMAIN, "steps is 0; give the number of releases, at least 1");
    if (steps > MAX_STEPS)
        return dpi_fail(err, DP_EACCURACY, "steps is %llu; more than %llu are not accounted for",
                        (unsigned long long)steps, (unsigned long long)MAX_STEPS);
    return DP_OK;
}

dp_status dpi_check_mechanism(const dp_mechanism *m, dp_error *err)
{
    dp_status status = dpi_check_sampling(m->sampling, m->rate, m->steps, err);
    if (status != DP_OK)
        return status;
    if (!(m->sigma > 0 && m->sigma < INFINITY))
        return dpi_fail(err, DP_EDOMAIN,
                        "sigma is %g; give the noise as a multiple of the clipping norm, above 0",
                        m->sigma);
    if (m->sigma < MIN_SIGMA || m->sigma > MAX_SIGMA)
        return dpi_fail(err, DP_EACCURACY,
                        "sigma is %g; the account covers noise of %g to %g clipping norms",
                        m->sigma, MIN_SIGMA, MAX_SIGMA);
    return DP_OK;
}

dp_status dpi_check_epsilon(double epsilon, bool zero_allowed, dp_error *err)
{
    if (epsilon > 0 && epsilon < INFINITY)
        return DP_OK;
    if (epsilon == 0 && zero_allowed)
        return DP_OK;
    return dpi_fail(err, DP_EDOMAIN, "epsilon is %g; give a finite number %s 0", epsilon,
                    zero_allowed ? "not below" : "above");
}

dp_status dpi_check_delta(double delta, dp_error *err)
{
    if (!(delta > 0 && delta < 1))
        return dpi_fail(err, DP_EDOMAIN,
                        "delta is %g; give a number above 0 and below 1, below 1 / (number of "
                        "records) to mean anything",
                        delta);
    if (delta < DPI_LEAST_DELTA)
        return dpi_fail(err, DP_EACCURACY, "delta is %g; ask for at least %g", delta,
                        DPI_LEAST_DELTA);
    return DP_OK;
}

static dp_status full_batch_bound(const dp_mechanism *m, dpi_query query, double *answer,
                                  dp_error *err)
{
    double mu = sqrt((double)m->steps) / m->sigma * (1 + 0x1p-50);
    if (query.ask == DPI_ASK_DELTA)
        *answer =
            fmax(exp(dpi_gaussian_log_delta(mu, query.given)) * (1 + 0x1p-42), DPI_LEAST_DELTA);
    else
        *answer = dpi_gaussian_epsilon(mu, log(query.given) - 0x1p-44);
    if (*answer < INFINITY)
        return DP_OK;
    return dpi_fail(err, DP_EACCURACY, "no finite epsilon is found for sigma %g and %llu steps",
                    m->sigma, (unsigned long long)m->steps);
}

/* Saddle-point epsilon of one direction. */
static double estimate(const dpi_pair *pair, double steps, double delta)
{
    dpi_law law;
    dpi_term term = {pair, steps};
    double epsilon = NAN;
    if (dpi_law_new(&term, 1, &law) && dpi_law_look(&law, log(delta) - log(steps) - 12))
        epsilon = dpi_saddle_for_delta(&law, log(delta)).epsilon;
    dpi_law_free(&law);
    return epsilon;
}

double dpi_estimate_epsilon(const dp_mechanism *m, double delta)
{
    dpi_pair remove = dpi_pair_gaussian(m->sigma, m->rate, DPI_REMOVE);
    return estimate(&remove, (double)m->steps, delta);
}

/* Width that is likely to keep the add direction's epsilon below what remove gave. */
static double width_for_add(const dpi_pair *add, double steps, dpi_query query, double found)
{
    if (query.ask == DPI_ASK_DELTA)
        return WIDTH;
    double guess = estimate(add, steps, query.given);
    double room = 0.25 * (found - guess) / fmax(guess, 1e-3 * found);
    return room > WIDTH ? fmin(room, COARSEST) : WIDTH;
}

dp_status dpi_bound(const dp_mechanism *m, dpi_query query, double *answer, dp_error *err)
{
    if (m->rate == 1)
        return full_batch_bound(m, query, answer, err);
    dpi_bounds removed, added;
    dpi_pair remove = dpi_pair_gaussian(m->sigma, m->rate, DPI_REMOVE);
    dpi_pair add = dpi_pair_gaussian(m->sigma, m->rate, DPI_ADD);
    const dpi_term remove_term = {&remove, (double)m->steps}, add_term = {&add, (double)m->steps};
    dpi_wish wish = {.width = WIDTH, .enough = -1};
    dp_status status = dpi_grid_solve(&remove_term, 1, query, &wish, &removed, err);
    if (status != DP_OK)
        return status;
    wish.width = width_for_add(&add, (double)m->steps, query, removed.upper);
    wish.enough = removed.upper;
    status = dpi_grid_solve(&add_term, 1, query, &wish, &added, err);
    if (status == DP_OK && added.upper > removed.upper && wish.width > WIDTH) {
        wish.width = WIDTH;
        status = dpi_grid_solve(&add_term, 1, query, &wish, &added, err);
    }
    if (status != DP_OK)
        return status;
    *answer = fmax(removed.upper, added.upper);
    return DP_OK;
}
