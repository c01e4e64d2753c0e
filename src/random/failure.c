/* Failures of the samplers.  A draw differs in law from the rounding of a real normal number by at
 * most t = 2^DPI_GRID_FAILURE_LOG2 in total variation (grid.c), a gap from a geometric number by no
 * more (gap.c), and two distributions within t of ideal ones that are (epsilon, delta)-close are
 * (epsilon, delta + (1 + e^epsilon) t)-close. */
#include "random/failure.h"

#include <math.h>

#include "random/grid.h"

/* Share of delta that is kept back.  The failures of 2^40 draws at epsilon 50 are a 2^-88th. */
static const double kept_back = 0x1p-40;

double dpi_release_delta(double delta)
{
    return delta * (1 - kept_back);
}

/* Twice the failures covers the rounding here. */
double dpi_release_whole_delta(double asked, double accounted, double draws, double epsilon)
{
    double failures = ldexp(draws, DPI_GRID_FAILURE_LOG2 + 1) * (1 + exp(epsilon));
    return failures <= asked * kept_back / 2 ? asked : fmin(1, accounted + failures);
}
