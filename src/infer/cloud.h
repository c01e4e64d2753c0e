/* Sums over the nodes of a record's law, clipped around a point.
 *
 * In standard scores t (law.h) and g = D gamma D / C^2, D the units of the scores, the clip norm is
 * 1.  With v = t - a, q = v' g v, w = min(1, q^-1/2), o = w / q where q > 1, else 0, sums are
 *
 *   E w,   f = E w v,   E o v v'.
 *
 * Kinks.  Nodes of a smooth law are equally spaced in a variable in which all but the clip is
 * smooth, and there sums are exact to many digits.  Where |v| passes 1 between two nodes, a share
 * theta of the way from one to the other, the sum of w v is too large by
 *
 *   m v d (1/12 - theta (1 - theta) / 2),
 *
 * m, v there, d the difference of |v| between the nodes (Euler and Maclaurin's formula on both
 * sides), up to terms of the third order in the distance of the nodes. */
#ifndef DPI_INFER_CLOUD_H
#define DPI_INFER_CLOUD_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "infer/law.h"

/* The law, or the upper half of one, in clip norms. */
typedef struct dpi_cloud {
    size_t k, n; /* n: a multiple of DPI_LAW_LANES, the last of mass 0 */
    const double *mass, *t[DPI_READ_MOST];
    bool smooth;
    double whole; /* sum of masses */
    double g[DPI_READ_MOST * DPI_READ_MOST];
    /* Where not NULL, a number beside those k whose centre is 0: it adds beside_g t^2 to q. */
    const double *beside;
    double beside_g;
} dpi_cloud;

/* At a point: nodes, and sums over them. */
typedef struct dpi_cloud_nodes {
    double v[DPI_READ_MOST][DPI_MOST_OUTCOMES], q[DPI_MOST_OUTCOMES];
    double w[DPI_MOST_OUTCOMES] /* times mass */, o[DPI_MOST_OUTCOMES], product[DPI_MOST_OUTCOMES];
    unsigned char beyond[DPI_MOST_OUTCOMES];     /* q > 1 */
    double weight, f[DPI_READ_MOST];             /* E w, E w v */
    double outer[DPI_READ_MOST * DPI_READ_MOST]; /* E o v v' */
} dpi_cloud_nodes;

/* Where |v| passes 1 between nodes i and i + 1, a share theta of the way. */
typedef struct dpi_kink {
    size_t i;
    double theta, more; /* m d (1/12 - theta (1 - theta) / 2) */
} dpi_kink;

/* Nodes and sums at a[k]; w has seven digits. */
void dpi_visit(const dpi_cloud *c, const double *a, dpi_cloud_nodes *at);

/* The next kink from node `from` on; false where there is none. */
bool dpi_next_kink(const dpi_cloud *c, const dpi_cloud_nodes *at, size_t from, dpi_kink *next);

/* A value at it, from those at the nodes. */
DPI_INLINE double dpi_at_kink(const dpi_kink *k, const double *x)
{
    return x[k->i] + k->theta * (x[k->i + 1] - x[k->i]);
}

/* Takes from f what the sum has too much by the kinks. */
void dpi_mind_kinks(const dpi_cloud *c, dpi_cloud_nodes *at);

/* u' g u for u[k], g[k][k]; and its root. */
DPI_INLINE double dpi_square_by(size_t k, const double *u, const double *g)
{
    double sum = 0;
    if (k == 2)
        sum = u[0] * (g[0] * u[0] + g[1] * u[1]) + u[1] * (g[2] * u[0] + g[3] * u[1]);
    for (size_t j = 0; j < k && k != 2; j++)
        for (size_t l = 0; l < k; l++)
            sum += u[j] * g[j * k + l] * u[l];
    return sum > 0 ? sum : 0;
}

DPI_INLINE double dpi_norm_by(size_t k, const double *u, const double *g)
{
    return sqrt(dpi_square_by(k, u, g));
}

/* Whether all of x[k] are finite. */
DPI_INLINE bool dpi_finite(size_t k, const double *x)
{
    bool finite = true;
    for (size_t j = 0; j < k; j++)
        finite = finite && isfinite(x[j]);
    return finite;
}

#endif
