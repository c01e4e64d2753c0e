/* The score of a record's outcome, clipped around the centre at which it has mean zero.
 *
 * With the norm |u|^2 = u' gamma u, clip(u) = u min(1, C / |u|) and
 *
 *   psi(y) = clip(s(y) - a),  where a solves  E clip(s(Y) - a) = 0  for Y of the record's law,
 *
 * the sum of psi over records has mean zero where the model holds, however much is clipped, and a
 * record adds at most C (Kuensch, Stefanski and Carroll 1989, JASA 84, 460).  The bound is of the
 * last clip alone: how well a is known matters for bias, not for privacy.
 *
 * Of an outcome of which only a range is known psi is the mean of what it may be.
 *
 * doc/design/scores.md derives how a is found. */
#ifndef DPI_INFER_PSI_H
#define DPI_INFER_PSI_H

#include "infer/law.h"

/* psi[k] of the record's outcome for gamma[k][k]; psi' gamma psi <= clip^2 but for rounding.  False
 * where it is not finite. */
bool dpi_psi(const dpi_law *law, const double *gamma, double clip, double *psi);

/* slope = E psi s' and variance = E psi psi', [k][k], as dpi_law_fisher takes them where an outcome
 * counts several times or is not seen. */
void dpi_psi_moments(const dpi_law *law, const double *gamma, double clip, double *slope,
                     double *variance);

/* 1 where s' gamma s > beyond^2, else 0, less what is expected. */
double dpi_psi_excess(const dpi_law *law, const double *gamma, double beyond);

/* How long scores are: the square q = E s' gamma s, and the means of l and l^2 by what they tell,
 * E |s|^2 l / q, where l is log(|s| / unit), cut to -most ... most. */
typedef struct dpi_lengths {
    double square, first, second;
} dpi_lengths;

/* For unit > 0, most > 0.  All 0 where scores are 0, or out of range. */
dpi_lengths dpi_psi_lengths(const dpi_law *law, const double *gamma, double unit, double most);

#endif
