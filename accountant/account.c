/* The public calls: check, bound, and the worst value on every error. */
#include <tacit/accountant.h>

#include <math.h>

#include "accountant/bound.h"
#include "accountant/sigma.h"

dp_status dp_epsilon(const dp_mechanism *m, double delta, double *epsilon, dp_error *err)
{
    *epsilon = INFINITY;
    double found;
    dp_status status = dpi_check_mechanism(m, err);
    if (status == DP_OK)
        status = dpi_check_delta(delta, err);
    if (status == DP_OK)
        status = dpi_bound(m, (dpi_query){DPI_ASK_EPSILON, delta}, &found, err);
    if (status == DP_OK)
        *epsilon = found;
    return status;
}

dp_status dp_delta(const dp_mechanism *m, double epsilon, double *delta, dp_error *err)
{
    *delta = 1;
    double found;
    dp_status status = dpi_check_mechanism(m, err);
    if (status == DP_OK)
        status = dpi_check_epsilon(epsilon, true, err);
    if (status == DP_OK)
        status = dpi_bound(m, (dpi_query){DPI_ASK_DELTA, epsilon}, &found, err);
    if (status == DP_OK)
        *delta = fmin(found, 1);
    return status;
}

dp_status dp_approximate_sigma(double epsilon, double delta, double q, uint64_t steps,
                               dp_sampling sampling, double *sigma, dp_error *err)
{
    *sigma = INFINITY;
    double found;
    dp_status status = dpi_check_sampling(sampling, q, steps, err);
    if (status == DP_OK)
        status = dpi_check_epsilon(epsilon, false, err);
    if (status == DP_OK)
        status = dpi_check_delta(delta, err);
    dp_mechanism m = {.sampling = sampling, .rate = q, .steps = steps};
    if (status == DP_OK)
        status = dpi_sigma_search(&m, epsilon, delta, &found, err);
    if (status == DP_OK)
        *sigma = found;
    return status;
}
