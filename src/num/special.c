/* Gamma functions from GSL, through its calls that return an error instead of a handler's abort. */
#include "num/special.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sf_psi.h>

double dpi_lgamma(double x)
{
    gsl_sf_result result;
    if (!(x > 0))
        return NAN;
    if (isinf(x) || x > 1e15) /* Stirling's main terms; GSL's series overflows its bound there */
        return x * (log(x) - 1);
    return gsl_sf_lngamma_e(x, &result) == GSL_SUCCESS ? result.val : NAN;
}

/* Above this argument the first two terms of the asymptotic series are exact in double. */
static const double asymptotic_from = 1e9;

double dpi_polygamma(size_t order, double x)
{
    gsl_sf_result result;
    if (!(x > 0))
        return NAN;
    if (x > asymptotic_from) {
        if (order == 0)
            return log(x) - 0.5 / x;
        double sign = order % 2 == 0 ? -1 : 1;
        double factorial = exp(dpi_lgamma((double)order));
        return sign * factorial * pow(x, -(double)order) * (1 + 0.5 * (double)order / x);
    }
    int status = order == 0 ? gsl_sf_psi_e(x, &result) : gsl_sf_psi_n_e((int)order, x, &result);
    return status == GSL_SUCCESS ? result.val : NAN;
}
