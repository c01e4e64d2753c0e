/* Renyi divergences, upper bounds for all real orders.
 *
 * Let K(a) = log E_Q (P/Q)^a = (a - 1) D_a(P || Q).  K is convex in a with K(1) = 0.
 *
 * Without sampling, closed forms: Gaussian of sensitivity s, D_a = a s^2 / (2 sigma^2).  The
 * rounded Gaussian is a function of it and has no more; the discrete Gaussian has no more either
 * (Canonne, Kamath and Steinke 2020, Proposition 5).  Laplace (Mironov 2017, Table II):
 *     K(a) = log(a / (2a - 1) e^((a-1)/b) + (a - 1) / (2a - 1) e^(-a/b)).
 * Randomised response with u = sigma / k, v = 1 - sigma + u:
 *     K(a) = log(v^a u^(1-a) + u^a v^(1-a) + (k - 2) u).
 *
 * With Poisson sampling, add/remove, at whole a,
 *     K_q(a) = log sum_j binomial(a, j) (1-q)^(a-j) q^j e^K(j)
 *  = log(1 + sum over j >= 2 of binomial(a, j) (1-q)^(a-j) q^j (e^K(j) - 1))
 * for the record removed, as the weights sum to 1 and K(0) = K(1) = 0; removing is the worse
 * direction as the noise is symmetric (Mironov, Talwar and Zhang 2019, Theorem 5).  Terms are
 * positive; each is known from its logarithm within 32 u times the sum of the sizes that make it
 * up.  Between whole orders K lies below its chord.
 *
 * Cost: O(alpha). */
#include "accountant/answers/renyi.h"

#include <float.h>
#include <math.h>

#include "base/error.h"
#include "num/special.h"

static const double MOST_ORDER = 1e5;
static const double ROUNDING = 32 * (DBL_EPSILON / 2);

/* log(e^a + e^b) */
static double log_add(double a, double b)
{
    double most = fmax(a, b), least = fmin(a, b);
    return least == -INFINITY ? most : most + log1p(exp(least - most));
}

static double laplace(double b, double a)
{
    double same = log(a / (2 * a - 1)) + (a - 1) / b;
    double other = a > 1 ? log((a - 1) / (2 * a - 1)) - a / b : -INFINITY;
    double k = log_add(same, other);
    return k + ROUNDING * (4 + fabs(same));
}

static double response(double sigma, double categories, double a)
{
    double log_u = log(sigma / categories), log_v = log1p(-sigma * (1 - 1 / categories));
    double rest = categories > 2 ? log(categories - 2) + log_u : -INFINITY;
    double one = a * log_v + (1 - a) * log_u, other = a * log_u + (1 - a) * log_v;
    double k = log_add(log_add(one, other), rest);
    return k + ROUNDING * (4 + a * (fabs(log_u) + fabs(log_v)));
}

/* Upper bound on K(a) of a release without sampling, a >= 1. */
static double whole(const dp_mechanism *m, double a)
{
    if (m->noise == DP_NOISE_LAPLACE)
        return laplace(m->sigma, a);
    if (m->noise == DP_NOISE_RANDOMISED_RESPONSE)
        return response(m->sigma, m->categories, a);
    double moved = m->adjacency == DP_REPLACE_ONE ? 2 : 1;
    return a * (a - 1) / 2 * (moved / m->sigma) * (moved / m->sigma) * (1 + ROUNDING);
}

/* log(e^k - 1), k > 0 */
static double log_excess(double k)
{
    return k > 1 ? k + log1p(-exp(-k)) : log(expm1(k));
}

/* Upper bound on K_q(a) at a whole order a >= 1. */
static double sampled(const dp_mechanism *m, double a)
{
    double log_q = log(m->rate), log_rest = log1p(-m->rate), most = -INFINITY, sum = 0;
    double top = dpi_lgamma(a + 1);
    for (double j = 2; j <= a; j++) {
        double choose = top - dpi_lgamma(j + 1) - dpi_lgamma(a - j + 1), k = whole(m, j);
        double size = 3 * top + j * fabs(log_q) + (a - j) * fabs(log_rest) + fabs(k);
        double term = choose + j * log_q + (a - j) * log_rest + log_excess(fmax(k, DBL_MIN));
        term += ROUNDING * (size + 1);
        if (term > most) {
            sum = sum * exp(most - term) + 1;
            most = term;
        } else
            sum += exp(term - most);
    }
    if (sum == 0)
        return 0;
    double log_sum = most + log(sum) + ROUNDING * (a + fabs(most) + 4);
    return (log_sum < 0 ? log1p(exp(log_sum)) : log_sum + log1p(exp(-log_sum))) * (1 + ROUNDING);
}

static double sampled_between(const dp_mechanism *m, double alpha)
{
    double below = floor(alpha), part = alpha - below;
    double low = fmax(sampled(m, below), 0);
    if (part == 0)
        return low;
    return ((1 - part) * low + part * fmax(sampled(m, below + 1), 0)) * (1 + ROUNDING);
}

static const char *without_formula(const dp_mechanism *m)
{
    if (m->n_jumps > 0)
        return "a mixture of sensitivities";
    if (m->rows > 1)
        return "several rows of one unit";
    if (m->sampling == DP_SAMPLING_FULL || (m->sampling == DP_SAMPLING_POISSON && m->rate == 1))
        return m->noise != DP_NOISE_GAUSSIAN && m->noise != DP_NOISE_RANDOMISED_RESPONSE &&
                       m->adjacency == DP_REPLACE_ONE
                   ? "this noise with replace-one"
                   : NULL;
    if (m->sampling != DP_SAMPLING_POISSON)
        return "this sampling";
    if (m->noise == DP_NOISE_RANDOMISED_RESPONSE)
        return "sampled randomised response";
    return m->adjacency == DP_REPLACE_ONE ? "Poisson sampling with replace-one" : NULL;
}

dp_status dpi_renyi(const dp_mechanism *m, double alpha, double *divergence, dp_error *err)
{
    *divergence = INFINITY;
    const char *what = without_formula(m);
    if (what != NULL)
        return dpi_fail(err, DP_EMISMATCH,
                        "there is no Renyi bound for %s; ask for epsilon, which is sharper", what);
    if (alpha > MOST_ORDER)
        return dpi_fail(err, DP_EACCURACY, "the order is %g; orders above %g are not computed",
                        alpha, MOST_ORDER);
    double k = m->rate < 1 ? sampled_between(m, alpha) : whole(m, alpha);
    double found = fmax(k, 0) / (alpha - 1) * (1 + ROUNDING);
    if (!(found < INFINITY))
        return dpi_fail(err, DP_EACCURACY, "the divergence of order %g overflows; take more noise",
                        alpha);
    *divergence = found;
    return DP_OK;
}
