/* Second order.
 *
 * Let b be the truth and c where a round is made.  The likelihood takes scores for H (b - c) plus
 * noise of mean 0; what it leaves out is known on average.
 *
 * Canonical arguments.  The score x (y - mu(eta)) has mean x (mu(b) - mu(c)).  Given what has been
 * released, a draw of the posterior has the law of the truth, so that mu(b) - mu(c) is 0 on average
 * if c is a draw, and is not if c is the posterior's mean: means of many members that are not known
 * lie closer together than members do, and coefficients would come out too small, as if the members
 * were all alike.  Rounds are made in pairs, at the mean plus and minus a draw's distance, which to
 * first order cancels; of the dense latents, which are known well, at the mean.
 */
#include "infer/bending.h"

static bool is_member(const dpi_rounds *r, size_t i)
{
    for (const dpi_read *a = r->view->reads; a < r->view->reads + r->view->n_reads; a++)
        if (a->members > 0 && i - a->block->offset < a->block->size)
            return true;
    return false;
}

void dpi_bend_once(const dpi_rounds *r, const double *mean, const double *draw, double *at)
{
    for (size_t i = 0; i < r->view->objective.n_theta && r->known.canonical; i++)
        if (is_member(r, i))
            at[i] += draw[i] - mean[i];
}

void dpi_bend_round(dpi_rounds *r, size_t t, const double *mean, const double *draw, double *at)
{
    double sign = t % 2 == 0 ? 1 : -1;
    for (size_t i = 0; i < r->view->objective.n_theta && r->known.canonical; i++) {
        if (!is_member(r, i))
            continue;
        r->aside[i] = t % 2 == 0 ? draw[i] - mean[i] : r->aside[i];
        at[i] += sign * r->aside[i];
    }
}
