/* Accuracy over epsilon, between the budgets that were simulated.
 *
 * Between two points noise lies on a line through log noise against log mu; beyond them it goes as
 * 1 / mu, since it is that of one release of that size over what the records tell.  Noise never
 * falls with less to spend: at each point it is taken as the largest from there on, which single
 * fits near the edge of what is hopeless can undercut.  In terms of mu sqrt n noise is the same
 * (clip.h), and variances without it go as 1 / n. */
#include <math.h>

#include "base/error.h"
#include "infer/plan.h"
#include "random/failure.h"

/* Budgets below a quarter of the least that was simulated are not spoken of; noise below 1/20,
 * which widens intervals by a thousandth, is as good as none. */
static const double least_share = 0.25, least_noise = 0.05;

/* Normal quantiles of .95 and of .8. */
static const double z95 = 1.6448536269514722, z80 = 0.8416212335729143;

/* Points at which number e has noise, and how much, falling with mu. */
static size_t envelope(const dp_plan *plan, size_t e, double mu[DPI_PLAN_POINTS],
                       double noise[DPI_PLAN_POINTS])
{
    size_t n = 0;
    for (size_t k = 0; k < plan->n_points; k++)
        if (isfinite(plan->noises[k].noise[e])) {
            mu[n] = plan->noises[k].mu;
            noise[n++] = fmax(plan->noises[k].noise[e], least_noise);
        }
    for (size_t k = n; k-- > 1;)
        noise[k - 1] = fmax(noise[k - 1], noise[k]);
    return n;
}

/* y at x on the line through (x0, y0) and (x1, y1), all of them logarithms'. */
static double between(double x, double x0, double y0, double x1, double y1)
{
    return x1 == x0 ? y1 : y0 * pow(y1 / y0, log(x / x0) / log(x1 / x0));
}

double dpi_plan_noise(const dp_plan *plan, size_t e, double mu)
{
    double at[DPI_PLAN_POINTS], noise[DPI_PLAN_POINTS];
    size_t n = envelope(plan, e, at, noise), k = 0;
    if (n == 0)
        return NAN;
    while (k < n && at[k] < mu)
        k++;
    if (k == 0)
        return noise[0] * at[0] / mu;
    if (k == n)
        return noise[n - 1] * at[n - 1] / mu;
    return between(mu, at[k - 1], noise[k - 1], at[k], noise[k]);
}

double dpi_plan_mu(const dp_plan *plan, size_t e, double wanted)
{
    double at[DPI_PLAN_POINTS], noise[DPI_PLAN_POINTS];
    size_t n = envelope(plan, e, at, noise), k = n;
    while (k > 0 && noise[k - 1] <= wanted)
        k--;
    if (k == n)
        return INFINITY;
    if (k == 0)
        return at[0] * fmax(noise[0] / wanted, least_share);
    return between(wanted, noise[k - 1], at[k - 1], noise[k], at[k]);
}

double dpi_plan_epsilon(const dp_plan *plan, double mu)
{
    const dp_mechanism one = {.sampling = DP_SAMPLING_FULL, .sigma = 1 / mu, .rate = 1, .steps = 1};
    dp_interval spent;
    if (!isfinite(mu) || dp_account_epsilon(&one, 1, plan->accounted, 0, &spent, NULL) != DP_OK)
        return INFINITY;
    return spent.upper;
}

/* ---- what is handed out ---- */

const dp_plan_point *dp_plan_points(const dp_plan *plan, size_t *n)
{
    *n = plan->n_points;
    return plan->points;
}

double dp_plan_granted(const dp_plan *plan)
{
    return plan->granted;
}

dp_plan_cost dp_plan_costs(const dp_plan *plan)
{
    return plan->cost;
}

/* Below the least point no more is forgotten than the prior knows. */
double dp_plan_sd(const dp_plan *plan, size_t number, double epsilon)
{
    double sigma;
    if (number >= plan->n || !(epsilon > 0) ||
        dp_approximate_sigma(epsilon, plan->accounted, 1, 1, DP_SAMPLING_FULL, &sigma, NULL) !=
            DP_OK)
        return NAN;
    const dp_plan_number *of = &plan->numbers[number];
    const double noise = dpi_plan_noise(plan, number, 1 / sigma);
    const double most = fmax(of->prior_sd, plan->points[0].sd_private[number]);
    const double sd = of->sd * sqrt(1 + noise * noise);
    return 1 / sigma < plan->noises[0].mu && sd > most ? most : sd;
}

/* With the normal prior N(0, t^2) and what is told of theta, N(theta, v), the posterior mean is
 * w times what is told, w = t^2 / (t^2 + v), and has the variance w s^2 around w theta, where s^2 =
 * w v is the posterior's.  0 is outside with a chance of .8 where w theta = z95 s + z80 sqrt(w) s.
 */
double dp_plan_visible(const dp_plan *plan, size_t number, double sd)
{
    if (number >= plan->n || isnan(plan->numbers[number].visible) || !(sd > 0))
        return NAN;
    const double prior = plan->numbers[number].prior_sd;
    const double w = 1 - sd * sd / (prior * prior);
    const double visible = w > 0 ? sd * (z95 + z80 * sqrt(w)) / w : INFINITY;
    return visible <= 3 * prior ? visible : INFINITY;
}

/* The share of records with which number e has variance `wanted`^2: it falls in the share. */
static double find_share(const dp_plan *plan, size_t e, double wanted)
{
    const double sd = plan->numbers[e].sd;
    double low = log(1e-6), high = log(1e9);
    for (int k = 0; k < 60; k++) {
        const double share = exp((low + high) / 2);
        const double noise = dpi_plan_noise(plan, e, plan->mu * sqrt(share));
        if (sd * sd * (1 + noise * noise) / share > wanted * wanted)
            low = log(share);
        else
            high = log(share);
    }
    return high < log(1e9) ? exp(high) : INFINITY;
}

dp_status dp_plan_suffices(const dp_plan *plan, size_t number, double sd, double *epsilon,
                           double *records, dp_error *err)
{
    *epsilon = *records = INFINITY;
    if (number >= plan->n)
        return dpi_fail(err, DP_EDOMAIN, "number %zu is asked for, and the plan has %zu", number,
                        plan->n);
    if (!(sd > 0))
        return dpi_fail(err, DP_EDOMAIN, "sd is %g; it must be above 0", sd);
    const double without = plan->numbers[number].sd;
    if (!isfinite(without) || !isfinite(dpi_plan_noise(plan, number, plan->mu)))
        return DP_OK;
    if (sd > without)
        *epsilon = dpi_plan_epsilon(
            plan, dpi_plan_mu(plan, number, sqrt(sd * sd / (without * without) - 1)));
    *records = (double)plan->records * find_share(plan, number, sd);
    return DP_OK;
}
