/* What a run costs.
 *
 * One step releases one vector (extras.h): the clipped sum, whose noise is sigma times what a unit
 * can change, and beside it numbers x_j with noise sigma_j times what a unit can change them by.
 * In units of the noise one unit of privacy moves that vector by at most
 *
 *   sqrt(1 / sigma^2 + sum 1 / sigma_j^2) = 1 / s,
 *
 * so the step is one Gaussian release with multiplier s, on one batch, sampled as the step is.
 * (Two releases on one batch are not two releases on two batches: composing them as such would be
 * wrong.) Replacing a unit moves each number by twice as much at most, and so the vector.
 *
 * Steps with a loss and steps without are two mechanisms in the list.  Under random allocation a
 * unit's step is drawn from all steps of an epoch, which the accountant knows for equal noise only:
 * there every step is accounted for as if it released a loss.  More noise afterwards costs nothing,
 * so that is a bound. */
#include "svi/cost.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "svi/sampling.h"

double dpi_cost_count_sigma(const dp_svi_opts *o)
{
    return o->clip_sigma / fmax(o->clip_quantile, 1 - o->clip_quantile);
}

/* 1 / s^2 of the numbers beside the gradient, rounded up. */
static double precision_beside(const dp_svi_opts *o, bool loss)
{
    double count = o->clip_quantile > 0 ? dpi_cost_count_sigma(o) : INFINITY;
    double precision = 1 / (count * count) + (loss ? 1 / (o->loss_sigma * o->loss_sigma) : 0);
    return precision * (1 + 0x1p-49);
}

/* The multiplier of a step, rounded down: three operations after rounded ones, 2^-50 at most. */
static double joint_sigma(const dp_svi_opts *o, bool loss)
{
    double beside = precision_beside(o, loss);
    return beside == 0 ? o->sigma
                       : o->sigma / sqrt(1 + o->sigma * o->sigma * beside) * (1 - 0x1p-49);
}

static bool is_split(const dp_svi_opts *o)
{
    const dpi_sampler *sampler = dpi_sampler_of(o->sampling);
    bool epochs = sampler != NULL && sampler->has_epochs;
    return o->loss_every > 1 && o->loss_every <= o->steps && !epochs;
}

size_t dpi_cost_list(const dp_svi_opts *o, uint64_t steps, dp_mechanism list[DPI_COST_MOST])
{
    bool any_loss = o->loss_every > 0 && o->loss_every <= o->steps;
    list[0] = dpi_sampling_mechanism(o, steps);
    list[0].sigma = joint_sigma(o, any_loss);
    if (!is_split(o))
        return 1;
    list[1] = list[0];
    list[1].steps = steps / o->loss_every;
    list[0].steps = steps - list[1].steps;
    list[0].sigma = joint_sigma(o, false);
    return 2;
}

dp_status dpi_cost_epsilon(const dp_svi_opts *o, uint64_t steps, double *epsilon, dp_error *err)
{
    dp_mechanism list[DPI_COST_MOST];
    size_t n = 0, all = dpi_cost_list(o, steps, list);
    dp_interval bounds;
    *epsilon = 0;
    for (size_t k = 0; k < all; k++)
        if (list[k].steps > 0)
            list[n++] = list[k];
    if (n == 0)
        return DP_OK;
    if (n == 1)
        return dp_epsilon(&list[0], o->delta, epsilon, err);
    dp_status status = dp_account_epsilon(list, n, o->delta, 0, &bounds, err);
    *epsilon = bounds.upper;
    return status;
}

/* ---- calibration ---- */

/* The least noise of a run that releases nothing beside its gradient. */
static dp_status calibrate_alone(dp_svi_opts *o, dp_error *err)
{
    const dp_mechanism asked = dpi_sampling_mechanism(o, o->steps);
    return dp_calibrate_sigma(&asked, o->epsilon, o->delta, 0, &o->sigma, err);
}

/* Least and greatest noise tried, as that alone and as a multiple of it; nine halvings of the
 * logarithm of a factor of 2 leave 1.4e-3. */
static const double greatest_factor = 1024;
static const double most_told = 50; /* epsilon that a message proposes at most */
enum { HALVINGS = 9 };

/* Says which noise would do.  With all noise beside the gradient multiplied by f its precision p
 * falls to p / f^2, and what `alone` keeps within epsilon has room for 1 / alone^2, less what the
 * gradient takes at the greatest noise tried.  A hundredth more covers tolerances and printing. */
static dp_status refuse_extras(const dp_svi_opts *o, double alone, double epsilon, dp_error *err)
{
    char text[4][40] = {"", "", "", ""};
    double room = (1 - 1 / (greatest_factor * greatest_factor)) / (alone * alone);
    double factor = 1.01 * sqrt(precision_beside(o, o->loss_every > 0) / room);
    if (o->clip_quantile > 0)
        (void)snprintf(text[0], sizeof text[0], "clip_sigma %.3g", factor * o->clip_sigma);
    if (o->clip_quantile > 0 && o->loss_every > 0)
        (void)snprintf(text[1], sizeof text[1], " and ");
    if (o->loss_every > 0)
        (void)snprintf(text[2], sizeof text[2], "loss_sigma %.3g", factor * o->loss_sigma);
    if (epsilon < most_told)
        (void)snprintf(text[3], sizeof text[3], ", or epsilon %.3g", 1.01 * epsilon);
    return dpi_fail(err, DP_EDOMAIN,
                    "epsilon %g is not enough for what is released beside the gradient; the least "
                    "that would do is %s%s%s%s, and more leaves something for the gradient",
                    o->epsilon, text[0], text[1], text[2], text[3]);
}

/* Where the account does not reach, as for epochs below 0.4, epsilon is infinite: more noise is
 * tried.  False when memory is out. */
static bool look(const dp_svi_opts *o, double *epsilon)
{
    dp_error beyond = {0};
    return dpi_cost_epsilon(o, o->steps, epsilon, &beyond) != DP_ENOMEM;
}

/* Raises sigma from what the gradient alone needs until the rest fits in, too. */
static dp_status calibrate_list(dp_svi_opts *o, double alone, dp_error *err)
{
    double low = alone, high = alone, epsilon = INFINITY;
    for (double factor = 1; factor <= greatest_factor && epsilon > o->epsilon; factor *= 2) {
        low = high;
        o->sigma = high = alone * factor;
        if (!look(o, &epsilon))
            return dpi_fail_nomem(err);
    }
    if (epsilon > o->epsilon)
        return refuse_extras(o, alone, epsilon, err);
    for (int k = 0; k < HALVINGS && high > low; k++) {
        o->sigma = sqrt(low * high);
        if (!look(o, &epsilon))
            return dpi_fail_nomem(err);
        if (epsilon > o->epsilon)
            low = o->sigma;
        else
            high = o->sigma;
    }
    o->sigma = high;
    return DP_OK;
}

dp_status dpi_cost_calibrate(dp_svi_opts *o, dp_error *err)
{
    dp_svi_opts alone = *o;
    alone.loss_every = 0;
    alone.clip_quantile = 0;
    dp_status status = calibrate_alone(&alone, err);
    if (status != DP_OK)
        return status;
    o->sigma = alone.sigma;
    if (o->loss_every == 0 && o->clip_quantile == 0)
        return DP_OK;
    status = calibrate_list(o, alone.sigma, err);
    if (status != DP_OK)
        o->sigma = INFINITY;
    return status;
}
