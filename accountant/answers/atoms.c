/* delta(eps) = sum over the atoms with loss l > eps of m (1 - e^(eps - l)), and its inverse by
 * bisection.  A grid would have to resolve every atom; here there is no discretisation at all.
 *
 * Errors.  A loss is exact within offset_error and 8 u (|base| + |l| + eps), eps - l included;
 * masses within mass_error; a sum of n positive terms within (n + 8) u.  Each goes to the asked
 * side: the upper profile bounds delta at every eps and the lower one likewise, so whichever end of
 * the last bisection bracket is taken, it is a bound.  infinite and lost are rounded up, and count
 * above only. */
#include "accountant/answers/atoms.h"

#include <float.h>
#include <math.h>

static const double UNIT = DBL_EPSILON / 2;

/* delta from above (side > 0) or below (side < 0). */
static double profile(const dpi_pair *pair, double epsilon, int side)
{
    double sum = 0;
    for (size_t i = pair->n_atoms; i-- > 0;) {
        double loss = pair->base + pair->atom[i].offset;
        double error = pair->offset_error +
                       8 * UNIT * (fabs(pair->base) + fabs(pair->atom[i].offset) + epsilon);
        double above = loss + side * error - epsilon;
        if (!(above > 0))
            break;
        sum += pair->atom[i].mass * -expm1(-above);
    }
    double relative = pair->mass_error + ((double)pair->n_atoms + 8) * UNIT;
    sum *= 1 + side * relative;
    if (side > 0)
        return fmin(sum + (pair->infinite + pair->lost) * (1 + 4 * UNIT), 1);
    return fmax(sum, 0);
}

/* Where the profile falls to delta: an epsilon at or above it (side > 0), or below it. */
static double solve(const dpi_pair *pair, double delta, int side)
{
    double low = 0;
    if (pair->n_atoms == 0)
        return side > 0 && profile(pair, 0, side) > delta ? INFINITY : 0;
    double high = fmax(pair->base + pair->atom[pair->n_atoms - 1].offset, 0) + 1;
    if (profile(pair, high, side) > delta)
        return side > 0 ? INFINITY : high;
    if (profile(pair, 0, side) <= delta)
        return 0;
    for (int i = 0; i < 200; i++) {
        double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high)
            break;
        if (profile(pair, middle, side) > delta)
            low = middle;
        else
            high = middle;
    }
    return side > 0 ? high : low;
}

void dpi_atoms_solve(const dpi_pair *pair, dpi_question query, dpi_bounds *bounds)
{
    bool for_delta = query.ask == DPI_ASK_DELTA;
    bounds->upper = for_delta ? profile(pair, query.given, 1) : solve(pair, query.given, 1);
    bounds->lower = for_delta ? profile(pair, query.given, -1) : solve(pair, query.given, -1);
    bounds->points = 0;
}
