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
 *
 * Scales.  With r = e + (b - c)'x, e the error of an outcome of scale s, the score of log s is
 * (r / s)^2 - 1, of mean (b - c)'F(b - c) / n + 2 E e (b - c)'x / s^2 for a record, F being the
 * information of locations.  c was found from the same records, which makes the last term -2 tr(K
 * C) / n, C being the covariance of the posterior and K the precision of the likelihood: without
 * noise K = F, and -tr(F C) are the degrees of freedom that were used up; where noise hides all, K
 * = 0, and what is not known of the locations looks like scale.  So log s is moved by half of (tr(F
 * C) - 2 tr(K C)) / n.  Degrees of freedom, where that is below 0, are subtracted.  To subtract it
 * where it is above was tried: it rests on how much members differ, which is as little known, and
 * took from the error of sigma half of what it added to that of tau.  It is told instead. */
#include "infer/bending.h"

#include <math.h>

#include "infer/matrix.h"
#include "num/linalg.h"

/* What degrees of freedom leave of a variance, at the least. */
static const double least_share = 0.25;

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

/* Mean over draws of (draw - at)'M(draw - at), without scales; room[2][d]. */
static double trace(const dpi_rounds *r, size_t n, const double *draws, const double *at,
                    const double *m, double *room)
{
    size_t d = r->view->objective.n_theta;
    double sum = 0, *away = room, *times = room + d;
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < d; i++)
            away[i] = draws[k * d + i] - at[i];
        for (const dpi_read *a = r->view->reads; a < r->view->reads + r->view->n_reads; a++)
            for (size_t i = 0; i < a->size && a->members == 0; i++)
                if (r->known.scale[a->at + i])
                    away[a->block->offset + i] = 0;
        dpi_matrix_times(d, m, away, times);
        sum += dpi_dot(d, away, times) / (double)n;
    }
    return sum;
}

/* What second order adds to the variance of an outcome, as a share of it, in rounds at `at`. */
static double share_of(const dpi_rounds *r, size_t n, const double *draws, const double *at)
{
    double *room = r->aside + r->view->objective.n_theta;
    return (trace(r, n, draws, at, r->information, room) -
            2 * trace(r, n, draws, at, r->posterior.precision, room)) /
           r->n;
}

void dpi_bend_scales(const dpi_rounds *r, size_t n, const double *draws, double *at)
{
    double moved = 0;
    bool known = false;
    for (const dpi_read *a = r->view->reads; a < r->view->reads + r->view->n_reads; a++)
        for (size_t i = 0; i < a->size && a->members == 0; i++) {
            if (!r->known.scale[a->at + i])
                continue;
            if (!known)
                moved = log(fmax(1 + fmin(share_of(r, n, draws, at), 0), least_share)) / 2;
            known = true;
            at[a->block->offset + i] -= moved;
        }
}

static double sd_of(size_t n, size_t step, const double *x)
{
    double mean = 0, square = 0;
    for (size_t k = 0; k < n; k++)
        mean += x[k * step] / (double)n;
    for (size_t k = 0; k < n; k++)
        square += (x[k * step] - mean) * (x[k * step] - mean) / (double)n;
    return sqrt(square);
}

double dpi_bent_scale(const dpi_rounds *r, size_t n, const double *draws)
{
    size_t d = r->view->objective.n_theta;
    double most = 0;
    for (const dpi_read *a = r->view->reads; a < r->view->reads + r->view->n_reads; a++)
        for (size_t i = 0; i < a->size && a->members == 0; i++) {
            if (!r->known.scale[a->at + i])
                continue;
            double sd = sd_of(n, d, draws + a->block->offset + i);
            if (sd > 0)
                most = fmax(most, share_of(r, n, draws, r->centre) / 2 / sd);
        }
    return most;
}
