/* With q_l and u_l the estimates and variances of m twins, q and u their means, b the variance of
 * the q_l (by m - 1):
 *
 *   full      T = (1 + 1/m) b - u              freedom (m - 1) (1 - u / ((1 + 1/m) b))^2
 *             where that is not above 0: T = ratio u, freedom m - 1
 *   partial   T = u + b / m                    freedom (m - 1) (1 + m u / b)^2
 *
 * A freedom below 1, where b hardly exceeds u, is taken as 1: intervals are as wide as Cauchy's
 * then and need not be wider (tests/tools/t-combining.c has what they hold).
 *
 * Full: Raghunathan, Reiter and Rubin 2003; the mending by Reiter 2002, where u is of as many rows
 * as a twin has and `ratio` makes it one of as many as were fitted.  Freedom: Reiter and
 * Raghunathan 2007.  Partial: Reiter 2003.
 *
 * Why full is right of twins that a private posterior has drawn: an estimate from a twin is q_l =
 * Q(theta_l) + e_l with theta_l from the posterior and e_l of variance u, so that b has the mean
 * Var(Q(theta)) + u, and T that of Var(Q(theta)) + b / m: the posterior's variance and what the
 * mean of m adds.  The posterior's holds the noise of privacy where its fit does (Raisa, Jalko,
 * Kaski and Honkela 2023); nothing else in the rule has to know of it. */
#include "tools/combining.h"

#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>

/* Above this freedom a t distribution is normal to every digit that is told. */
static const double many = 1e8, least = 1;

static void apply_full(combined *c, double m, double ratio)
{
    const double whole = (1 + 1 / m) * c->between;
    c->variance = whole - c->within;
    c->mended = !(c->variance > 0);
    c->freedom = fmax(least, (m - 1) * pow(1 - c->within / whole, 2));
    if (!c->mended)
        return;
    c->variance = ratio * c->within;
    c->freedom = m - 1;
}

static void apply_partial(combined *c, double m)
{
    c->variance = c->within + c->between / m;
    c->freedom = c->between > 0 ? (m - 1) * pow(1 + m * c->within / c->between, 2) : INFINITY;
}

/* The quantile of Student's law with freedom >= 1 above which 1 - upper lies, for upper > 1/2.  The
 * upper half is convex, so that Newton's steps from 0 on come nearer from below; GSL's own inverse
 * gives up for some arguments. */
static double student(double upper, double freedom)
{
    enum { STEPS = 2000 };
    double t = 0;
    if (freedom >= many)
        return gsl_cdf_ugaussian_Pinv(upper);
    for (int k = 0; k < STEPS; k++) {
        const double step =
            (gsl_cdf_tdist_Q(t, freedom) - (1 - upper)) / gsl_ran_tdist_pdf(t, freedom);
        t += step;
        if (!(step > 1e-14 * t))
            break;
    }
    return t;
}

combined combine(combining_rule rule, size_t m, const double *estimate, const double *variance,
                 double share, double ratio)
{
    combined c = {.estimate = 0};
    for (size_t l = 0; l < m; l++) {
        c.estimate += estimate[l] / (double)m;
        c.within += variance[l] / (double)m;
    }
    for (size_t l = 0; l < m; l++)
        c.between += pow(estimate[l] - c.estimate, 2) / (double)(m - 1);
    if (rule == COMBINE_FULL)
        apply_full(&c, (double)m, ratio);
    else
        apply_partial(&c, (double)m);
    const double t = student((1 + share) / 2, c.freedom);
    c.low = c.estimate - t * sqrt(c.variance);
    c.high = c.estimate + t * sqrt(c.variance);
    return c;
}
