/* Halves of the main rounds compared.
 *
 * A score S released at c has the mean H (theta - c) and the variance of noise v Q^-1.  So of two
 * halves with mean scores S and mean places c
 *
 *   e = S_2 - S_1 + H (c_2 - c_1)
 *
 * has the mean 0, whatever theta is, and e'Q e, but for the numbers that no record reads, is v (1 /
 * T_1 + 1 / T_2) times a chi-square of m degrees of freedom, the numbers that are read.  If the
 * score is not linear over the places where rounds were made, as where they were on their way
 * still, it is not.  Told is (e'Q e / variance - m) / sqrt(2 m), nearly normal if all is well.  To
 * the variance is added a hundredth of what sampling leaves open (1 a record in the metric's
 * coordinates): a tenth of a posterior standard deviation is no harm, and H is not exact. */
#include "infer/drift.h"

#include <math.h>
#include <string.h>

#include "num/matrix.h"

static const double harmless = 0.01;

/* sum[n] += factor * the mean of rows first ... end - 1. */
static void add_mean(size_t n, size_t first, size_t end, double factor, const double *rows,
                     double *sum)
{
    for (size_t t = first; t < end; t++)
        for (size_t e = 0; e < n; e++)
            sum[e] += factor / (double)(end - first) * rows[t * n + e];
}

dp_status dpi_drift_of(const dpi_trace *t, double *drift, dp_error *err)
{
    const dpi_model_view *r = t->metric->view;
    size_t d = r->objective.n_theta, m = 0, half = t->rounds / 2;
    *drift = 0;
    for (const dpi_read *a = r->reads; a < r->reads + r->n_reads; a++)
        m += a->block->size;
    if (half == 0)
        return DP_OK;
    double *away = dpi_alloc(3 * d + r->n_release, sizeof *away), square = 0;
    if (away == NULL)
        return dpi_fail_nomem(err);
    double *turned = away + d, *apart = turned + d, *lowered = apart + d;
    add_mean(d, 0, half, -1, t->centres, away);
    add_mean(d, half, t->rounds, 1, t->centres, away);
    add_mean(d, 0, half, -1, t->scores, apart);
    add_mean(d, half, t->rounds, 1, t->scores, apart);
    dpi_matrix_times(d, t->slope, away, turned);
    for (size_t i = 0; i < d; i++)
        apart[i] += turned[i];
    dpi_metric_lower(t->metric, apart, lowered);
    for (size_t e = 0; e < r->n_release; e++)
        square += lowered[e] * lowered[e];
    double variance = t->noise * (1 / (double)half + 1 / (double)(t->rounds - half));
    variance += harmless * t->records;
    *drift = (square / variance - (double)m) / sqrt(2 * (double)m);
    dpi_free(away);
    return DP_OK;
}
