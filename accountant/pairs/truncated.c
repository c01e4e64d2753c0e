/* Poisson sampling with a largest batch: of a batch above `cap` records a random `cap` are kept.
 *
 * Upper.  Let m be the number of sampled records besides the one that differs, the same under P and
 * Q; telling the attacker whether m reaches the cap only helps.
 * m < cap: nothing is cut whether the record is sampled or not: a Poisson-sampled release of rate
 * q. m >= cap: without the record the batch is a uniform set A + e of cap of the m others; with it,
 * it is A + the record with probability q cap / (m + 1) <= q, and A + e otherwise, A and e
 * distributed as before.  Given A and e the record takes the place of e: the sum moves by at most
 * 2C, with probability at most q.  So the mixture
 *     (1 - w) (Poisson of rate q at sigma) + w (Poisson of rate q at sigma / 2),   w = Pr(m >=
 *     cap),
 * with the branch revealed, dominates (joint convexity).  The second dominates the first, so w may
 * be rounded up, and `records` others are counted, whichever of the neighbours has the extra one.
 * Loss and base are alike: two pieces.
 *
 * Lower.  All other records are 0: the record is in the sum with probability
 *     E q min(1, cap / (m + 1)) = q Pr(Bin(n, q) < cap) + cap / (n + 1) Pr(Bin(n + 1, q) > cap),
 * n = records, and alone there: a Poisson release of this smaller rate, which some data realise. */
#include "accountant/pairs/make.h"

#include <float.h>
#include <math.h>

#include "accountant/pairs/binomial.h"
#include "accountant/pairs/normal.h"

/* The same pair, counted with a weight. */
static void weigh(dpi_piece *piece, double weight)
{
    piece->weight = weight;
    piece->log_scale = dpi_normal_log_scale(weight, piece->sigma);
}

static double realised_rate(const dp_mechanism *m)
{
    double n = (double)m->records, q = m->rate;
    if (q == 1)
        return fmin(1, (double)m->cap / (n + 1)) * (1 - DBL_EPSILON);
    double uncut = 1 - dpi_binomial_tail(m->records, q, m->cap, DPI_UPPER);
    double cut = dpi_binomial_tail(m->records + 1, q, m->cap + 1, DPI_LOWER);
    return (q * fmax(uncut, 0) + (double)m->cap / (n + 1) * cut) * (1 - 8 * DBL_EPSILON);
}

static dpi_pair realised(const dp_mechanism *m, dpi_direction direction)
{
    double rate = fmin(realised_rate(m), m->rate);
    return rate == 1 ? dpi_make_full(m->sigma) : dpi_pair_gaussian(m->sigma, rate, direction);
}

dpi_pair dpi_make_truncated(const dp_mechanism *m, dpi_direction direction, dpi_side side)
{
    if (side == DPI_LOWER)
        return realised(m, direction);
    if (m->rate == 1)
        return dpi_make_full(m->records >= m->cap ? m->sigma / 2 : m->sigma);
    double w = dpi_binomial_tail(m->records, m->rate, m->cap, DPI_UPPER);
    dpi_pair pair = dpi_pair_gaussian(m->sigma, m->rate, direction);
    dpi_pair cut = dpi_pair_gaussian(m->sigma / 2, m->rate, direction);
    if (!(w < 1))
        return cut;
    if (w < 1e-200) { /* not worth a piece */
        pair.infinite = w;
        return pair;
    }
    weigh(&pair.piece[0], 1 - w);
    pair.piece[pair.n_pieces] = cut.piece[0];
    weigh(&pair.piece[pair.n_pieces++], w);
    return pair;
}
