/* The law of a record's outcome given its arguments, as nodes with their masses and scores
 * (dist/outcomes.h).
 *
 * What is the same for many records is made once: outcomes with location m and scale c are moved
 * standard ones (dpi_role), whose scores are the standard ones', those in m and c divided by c.  So
 * the nodes are a function of the shapes alone, and are made anew where these differ from the last
 * record's. */
#ifndef DPI_INFER_LAW_H
#define DPI_INFER_LAW_H

#include "dist/outcomes.h"
#include "infer/scan.h"

/* Sums over nodes go by so many at a time: beyond the last, up to a multiple, there are nodes of
 * mass 0. */
enum { DPI_LAW_LANES = 8 };

/* None yet where family is NULL. */
typedef struct dpi_law {
    const dpi_model_view *view;
    double own[DPI_READ_MOST];  /* [k] the record's score */
    double unit[DPI_READ_MOST]; /* [k] by which standard scores are multiplied */
    double times;               /* that the record counts; its scores are so many times as large */
    bool seen;                  /* else: inside[n], which sum to 1, is the law where it may lie */
    double inside[DPI_MOST_OUTCOMES];

    /* Of standard outcomes; all numbers of the score, whichever are inferred. */
    const dpi_family *family;    /* of the outcome itself (dpi_behind) */
    int first;                   /* where its arguments begin */
    double shape[DPI_READ_MOST]; /* the arguments, less location and scale */
    size_t width, n;             /* numbers of a score; nodes */
    bool smooth;                 /* nodes are a quadrature, in order; else they are the law */
    bool has_square;             /* square[j][l] = E t_j t_l of standard scores */
    double square[DPI_READ_MOST * DPI_READ_MOST];
    double mass[DPI_MOST_OUTCOMES];
    double score[DPI_READ_MOST][DPI_MOST_OUTCOMES];
} dpi_law;

/* The law of a record, *law being that of another one, or none yet.  False where
 * there is none: arguments outside their domain, or no outcome that counts. */
bool dpi_law_of(const dpi_model_view *r, const dpi_record *record, dpi_law *law);

/* The mean of x[n] inside. */
double dpi_law_inside(const dpi_law *law, const double *x);

/* Standard scores at the nodes, by number j of those that are inferred. */
const double *dpi_law_score(const dpi_law *law, size_t j);

/* What the record tells of its arguments, [k][k]: E s s', less what is lost where the outcome is
 * not seen, which is the covariance of s inside; a record that counts w times has w times that of
 * one: E s s' divided by w. */
void dpi_law_fisher(dpi_law *law, double *fisher);

#endif
