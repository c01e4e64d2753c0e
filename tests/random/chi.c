#include "tests/random/chi.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

double chi_p(double statistic, double degrees)
{
    return gsl_cdf_chisq_Q(statistic, degrees);
}

double chi_square_p(size_t cells, const size_t *count, const double *probability)
{
    double total = 0, statistic = 0;
    if (cells < 2)
        return 1;
    for (size_t i = 0; i < cells; i++)
        total += (double)count[i];
    for (size_t i = 0; i < cells; i++) {
        double expected = total * (probability != NULL ? probability[i] : 1.0 / (double)cells);
        double off = (double)count[i] - expected;
        statistic += off * off / expected;
    }
    return chi_p(statistic, (double)cells - 1);
}

double normal_p(double z)
{
    return 2 * gsl_cdf_ugaussian_Q(fabs(z));
}

void check_plausible(double p, const char *what, const char *file, int line)
{
    if (p >= 1e-12)
        return;
    print_error("%s: p-value %g\n", what, p);
    _fail(file, line);
}
