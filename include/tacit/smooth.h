/* Smooth functions of a column: splines on public knots.
 *
 * Knots and ranges are public, as bounds of columns are: a range that is read off private records
 * leaks them.  Numbers of records beyond the range count as its nearer end.  Errors are those of
 * the model (tacit/model.h), which the column's expression tells; names and file and line are as
 * in dp_sample. */
#ifndef TACIT_SMOOTH_H
#define TACIT_SMOOTH_H

#include <tacit/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* B-splines of a degree, 1 to 5, over the range low < high that `interior` knots divide, which rise
 * and lie between: n_interior + degree + 1 functions, none of them negative, of sum 1. */
typedef struct dp_spline {
    double low, high;
    size_t degree;          /* 0: cubic, 3 */
    const double *interior; /* [n_interior], nullable: equally spaced.  Borrowed for the call */
    size_t n_interior;      /* at most 96 */
} dp_spline;

/* The functions at x, one number of each record or a global one: a vector [n_interior + degree +
 * 1], of which dp_dot with a latent is a spline.  Their rounding error is about 2^-53 / width^degree,
 * the width of a knot interval being a share of the range.  DP_EDOMAIN for a range, a degree or
 * knots that are none; DP_ESHAPE where x is not one number. */
DP_API dp_expr dp_spline_basis(dp_expr x, const dp_spline *spline);

/* Zero means the default, which stands in brackets, but for the range. */
typedef struct dp_smooth_opts {
    double low, high;   /* public, low < high */
    size_t functions;   /* 4 ... 100: how wiggly it can be [10] */
    double slope_scale; /* of the straight part's prior [1] */
    double sd_scale;    /* of the prior of how much it wiggles [1] */
} dp_smooth_opts;

/* A smooth function of x, the s(x) of additive models: a straight line and what is penalised for
 * bending, a cubic spline.  Over the range it has mean 0, so that an intercept stands beside it.
 *
 *   latents  <name>_slope ~ N(0, slope_scale): its part slope * u, u being x moved and scaled to
 *            mean 0 and mean square 1 over the range
 *            <name>_sd ~ HalfNormal(sd_scale): root of the mean square of its wiggles, over range
 *            and prior
 *            <name>_wiggle [functions - 2] ~ N(0, <name>_sd)
 *
 * Wiggles are orthogonal to the line and to each other over the range, in their values and in their
 * second derivatives (Demmler and Reinsch 1975, Numer. Math. 24, 375; Wood 2017, Generalized
 * Additive Models, ch. 5).  Returns its value for each record.  Errors as above, and DP_EDOMAIN a
 * scale that is not above 0. */
DP_API dp_expr dp_smooth_at(dp_expr x, const char *name, const dp_smooth_opts *opts,
                            const char *file, int line);
#define dp_smooth(x, name, opts) dp_smooth_at(x, name, opts, __FILE__, __LINE__)

#ifdef __cplusplus
}
#endif
#endif
