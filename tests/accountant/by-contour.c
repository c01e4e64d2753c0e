#include "tests/accountant/by-contour.h"

#include <math.h>

#include "tests/lib/check.h"

dpi_pair normal(double sigma)
{
    return (dpi_pair){.normal_mu = 1 / sigma};
}

dpi_pair gaussian(double sigma, double q, dpi_direction direction)
{
    return q < 1 ? dpi_pair_gaussian(sigma, q, direction) : normal(sigma);
}

double epsilon_of(const dpi_pair_times *terms, size_t n, double delta)
{
    dp_error err = {0};
    double epsilon = NAN;
    assert_ok(dpi_contour_epsilon(terms, n, log(delta), &epsilon, &err), err.text);
    return epsilon;
}

double log_delta_of(const dpi_pair_times *terms, size_t n, double epsilon)
{
    dp_error err = {0};
    double log_delta = NAN;
    assert_ok(dpi_contour_log_delta(terms, n, epsilon, &log_delta, &err), err.text);
    return log_delta;
}
