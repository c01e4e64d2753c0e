/* The Gaussian mechanism: T steps of noise sigma are one step with mu = sqrt(T) / sigma, and
 *     delta(eps) = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)
 * in both directions (Balle and Wang, ICML 2018, theorem 8).
 *
 * In logs: log A + log(1 - e^d), d = eps + log B - log A < 0, A and B the two terms.  For an upper
 * bound d is lowered and the result raised by the error of the logs (GSL's own estimate, doubled)
 * and of the arguments, for a lower bound the reverse: the argument's error 4u(|mu/2| + |eps/mu|)
 * moves log Phi by at most that times (|argument| + 1).  Inversions are bisections that keep the
 * safe end. */
#include "accountant/answers/gaussian.h"

#include <float.h>
#include <gsl/gsl_sf_erf.h>
#include <math.h>

enum { BISECTIONS = 200 };

/* log Phi(x); *error bounds its error when x itself is off by x_error. */
static double log_phi(double x, double x_error, double *error)
{
    gsl_sf_result r = {0};
    (void)gsl_sf_log_erfc_e(-x * M_SQRT1_2, &r);
    *error = 2 * r.err + (x_error + 2 * DBL_EPSILON * fabs(x)) * (fmax(-x, 0) + 1);
    return r.val - M_LN2;
}

double dpi_gaussian_log_delta(double mu, double epsilon, dpi_side side)
{
    double half = mu / 2, ratio = epsilon / mu, way = side == DPI_UPPER ? 1 : -1;
    double worst = side == DPI_UPPER ? 0 : -INFINITY;
    double x_error = 2 * DBL_EPSILON * (half + ratio);
    double error_a, error_b;
    double log_a = log_phi(half - ratio, x_error, &error_a);
    double log_b = log_phi(-half - ratio, x_error, &error_b);
    double error = error_a + error_b + DBL_EPSILON * (epsilon + fabs(log_b) + fabs(log_a));
    double d = epsilon + log_b - log_a - way * error;
    if (!(d < 0)) /* all of it may be rounding */
        d = side == DPI_UPPER ? -error : 0;
    double slack = error_a + 4 * DBL_EPSILON * (fabs(log_a) + 4);
    double bound = log_a + log(-expm1(d)) + way * slack;
    return bound <= 0 || bound > 0 ? fmin(bound, 0) : worst;
}

double dpi_gaussian_epsilon(double mu, double log_delta, dpi_side side)
{
    if (dpi_gaussian_log_delta(mu, 0, side) <= log_delta)
        return 0;
    /* delta <= Phi(mu/2 - eps/mu) <= exp(-(eps/mu - mu/2)^2 / 2). */
    double low = 0, high = mu * (mu / 2 + sqrt(-2 * log_delta) + 1);
    if (!(high < INFINITY) || dpi_gaussian_log_delta(mu, high, side) > log_delta)
        return side == DPI_UPPER ? INFINITY : 0;
    for (int i = 0; i < BISECTIONS && high - low > 1e-13 * high; i++) {
        double middle = low + (high - low) / 2;
        if (dpi_gaussian_log_delta(mu, middle, side) <= log_delta)
            high = middle;
        else
            low = middle;
    }
    return side == DPI_UPPER ? high : low;
}
