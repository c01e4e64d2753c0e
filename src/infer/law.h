/* The law of a record's outcome given its arguments, and the score that is clipped around its
 * centre. */
#ifndef DPI_INFER_LAW_H
#define DPI_INFER_LAW_H

#include "dist/outcomes.h"
#include "infer/scan.h"

typedef struct dpi_law {
    const dpi_model_view *view;
    size_t n; /* nodes */
    double y[DPI_MOST_OUTCOMES], mass[DPI_MOST_OUTCOMES];
    double score[DPI_MOST_OUTCOMES * DPI_READ_MOST]; /* [n][k]: by the numbers that are inferred */
} dpi_law;

/* False where there is none: arguments outside their domain. */
bool dpi_law_of(const dpi_model_view *r, const dpi_record *record, dpi_law *law);

/* E s s', [k][k]. */
void dpi_law_fisher(const dpi_law *law, double *fisher);

/* psi[k] of the record's outcome: its score, less the centre, scaled so that psi' gamma psi <=
 * clip^2.  False where it is not finite. */
bool dpi_law_score(const dpi_law *law, const dpi_record *record, const double *gamma, double clip,
                   double *psi);

/* slope = E psi s' and variance = E psi psi', [k][k]. */
bool dpi_law_moments(const dpi_law *law, const double *gamma, double clip, double *slope,
                     double *variance);

/* 1 where s' gamma s > beyond^2, else 0, less what is expected. */
double dpi_law_excess(const dpi_law *law, const dpi_record *record, const double *gamma,
                      double beyond);

#endif
