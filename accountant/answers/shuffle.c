/* Batches cut from a shuffled list.
 *
 * No tight upper bound is known, and the account of Poisson sampling is none: when all records but
 * one push the other way, the batch of the one stands out.  One epoch of t steps contains the pair
 *     P = mean over s of N(2 e_s, sigma^2 I),   Q = mean over s of N(e_s, sigma^2 I),   s = 1 ... t
 * (Chua et al., ICML 2024), and so for every event "some coordinate is at least c"
 *     delta >= P(c) - e^eps Q(c),   P(c) = 1 - Phi((c-2)/sigma) Phi(c/sigma)^(t-1),   Q(c) likewise
 *     with 1.
 * The best c of a grid is taken.  The figure is for messages; nothing certified rests on it. */
#include "accountant/answers/shuffle.h"

#include <math.h>

enum { CUTS = 2000 };

static double log_below(double z)
{
    return log1p(-0.5 * erfc(z * M_SQRT1_2));
}

/* Probability that one coordinate of mean `mean` or t - 1 of mean 0 reach c. */
static double reaches(double c, double mean, double sigma, double steps)
{
    return -expm1(log_below((c - mean) / sigma) + (steps - 1) * log_below(c / sigma));
}

double dpi_shuffle_floor(double sigma, double steps, double delta)
{
    double best = 0;
    for (int i = 0; i <= CUTS; i++) {
        double c = 2 + sigma * (20.0 * i / CUTS - 8);
        double p = reaches(c, 2, sigma, steps) - delta, q = reaches(c, 1, sigma, steps);
        if (p > 0 && q > 0)
            best = fmax(best, log(p / q));
    }
    return best;
}
