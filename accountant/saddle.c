/* Saddle-point estimate of delta(epsilon).
 *
 * delta(eps) = (1 / 2 pi i) int exp(T K(z) - z eps) / (z (z+1)) dz along Re z = c > 0, for any c
 * (Alghamdi et al., ICML 2023).  The integrand is smallest along the real line where
 *     eps = T K'(c) - 1/c - 1/(c+1),
 * and there the second-order expansion gives
 *     log delta ~ T K(c) - c eps - log c - log(c+1) - log(2 pi V) / 2,  V = T K'' + c^-2 + (c+1)^-2.
 * eps rises and delta falls with c, so both queries are bisections on log c. */
#include "accountant/saddle.h"

#include <math.h>

#include "base/alloc.h"

enum { MAX_NODES = 1 << 16, BISECTIONS = 48 };

bool dpi_nodes_new(const dpi_pair *pair, double log_cut, dpi_nodes *nodes)
{
    double low = pair->ops->quantile(pair, log_cut, -1);
    double high = pair->ops->quantile(pair, log_cut, 1);
    double h = fmax(pair->ops->step(pair), (high - low) / MAX_NODES);
    size_t pieces = (size_t)((high - low) / h) + 2;
    h = (high - low) / (double)pieces;
    nodes->n = pieces + 1;
    nodes->weight = dpi_alloc(nodes->n, 2 * sizeof(double));
    if (nodes->weight == NULL)
        return false;
    nodes->offset = nodes->weight + nodes->n;
    for (size_t j = 0; j <= pieces; j++) {
        double x = low + (double)j * h;
        double s = pair->ops->excess(pair, x);
        nodes->weight[j] = h * exp(pair->ops->log_density(pair, x, s));
        nodes->offset[j] = pair->sign * s;
    }
    nodes->weight[0] /= 2;
    nodes->weight[pieces] /= 2;
    return true;
}

void dpi_nodes_free(dpi_nodes *nodes)
{
    dpi_free(nodes->weight);
    *nodes = (dpi_nodes){0};
}

double dpi_cumulant(const dpi_nodes *nodes, double c, double *mean, double *variance)
{
    double sum = 0, excess = 0, first = 0, second = 0;
    for (size_t j = 0; j < nodes->n; j++) {
        double l = nodes->offset[j];
        double t = c * l;
        double e = exp(t);
        double p = nodes->weight[j] * e;
        sum += p;
        excess += nodes->weight[j] * (fabs(t) < 0.5 ? expm1(t) : e - 1);
        first += p * l;
        second += p * l * l;
    }
    if (!(sum < INFINITY) || sum <= 0)
        return INFINITY;
    if (mean != NULL)
        *mean = first / sum;
    if (variance != NULL)
        *variance = fmax(0, second / sum - (first / sum) * (first / sum));
    return fabs(excess) < 0.5 ? log1p(excess) : log(sum);
}

/* Epsilon is INFINITY and log delta -INFINITY where K overflows. */
static dpi_saddle saddle_at(const dpi_pair *pair, const dpi_nodes *nodes, double steps, double c)
{
    double mean = 0, variance = 0;
    double k = dpi_cumulant(nodes, c, &mean, &variance);
    if (!(k < INFINITY))
        return (dpi_saddle){.tilt = c, .epsilon = INFINITY, .log_delta = -INFINITY};
    double shift = steps * pair->base;
    double eps = shift + steps * mean - 1 / c - 1 / (1 + c);
    double v = steps * variance + 1 / (c * c) + 1 / ((1 + c) * (1 + c));
    double log_delta = steps * k - c * (eps - shift) - log(c) - log1p(c) - 0.5 * log(2 * M_PI * v);
    return (dpi_saddle){.tilt = c, .epsilon = eps, .log_delta = log_delta};
}

/* Tilts looked at.  A loss bounded above can ask for any tilt, the closer epsilon is to the bound;
 * beyond 1e6 / bound nothing is left to resolve. */
static double largest_tilt(const dpi_pair *pair, double steps)
{
    return pair->sign < 0 ? fmin(1e9, 1e6 / (steps * pair->base)) : 1e9;
}

dpi_saddle dpi_saddle_for_delta(const dpi_pair *pair, const dpi_nodes *nodes, double steps,
                                double log_delta)
{
    double low = 1e-9, high = largest_tilt(pair, steps);
    for (int i = 0; i < BISECTIONS && high > low * 1.0001; i++) {
        double middle = sqrt(low * high);
        if (saddle_at(pair, nodes, steps, middle).log_delta > log_delta)
            low = middle;
        else
            high = middle;
    }
    return saddle_at(pair, nodes, steps, low);
}

dpi_saddle dpi_saddle_for_epsilon(const dpi_pair *pair, const dpi_nodes *nodes, double steps,
                                  double epsilon)
{
    double low = 1e-9, high = largest_tilt(pair, steps);
    for (int i = 0; i < BISECTIONS && high > low * 1.0001; i++) {
        double middle = sqrt(low * high);
        if (saddle_at(pair, nodes, steps, middle).epsilon < epsilon)
            low = middle;
        else
            high = middle;
    }
    return saddle_at(pair, nodes, steps, low);
}
