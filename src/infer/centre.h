/* The centre of a clipped score, by Newton's method on few nodes.
 *
 * In the terms of cloud.h it is the a for which f(a) = E w v = 0.  As
 *
 *   -df/da = M = E w I - E o v v' g,
 *
 * g f is minus the gradient of the convex E rho(|v|), rho being Huber's function, so that both
 * steps, a + M^-1 f (Newton) and a + f / E w (reweighted mean), lead down where they are not too
 * long; the latter never is.  A Newton step after which |f| has grown is taken back for one of the
 * others. */
#ifndef DPI_INFER_CENTRE_H
#define DPI_INFER_CENTRE_H

#include "infer/cloud.h"

/* The centre to a[k], 0 where numbers overflow; *at is room. */
void dpi_find_centre(const dpi_cloud *c, dpi_cloud_nodes *at, double *a);

#endif
