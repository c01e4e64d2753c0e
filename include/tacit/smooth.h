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
 * 1], of which dp_dot with a latent is a spline.  Their rounding error is about
 * 2^-53 / width^degree, the width of a knot interval being a share of the range.  DP_EDOMAIN for a
 * range, a degree or knots that are none; DP_ESHAPE where x is not one number. */
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

/* ---- Gaussian processes ---- */

/* How alike values are at a distance r, of which `length` is the scale. */
typedef enum dp_gp_kernel {
    DP_GP_SQUARED_EXPONENTIAL = 0, /* e^-(r / length)^2 / 2: the smoothest */
    DP_GP_MATERN_32,               /* (1 + a) e^-a, a = sqrt(3) r / length: one derivative */
    DP_GP_MATERN_52                /* (1 + a + a^2 / 3) e^-a, a = sqrt(5) r / length: two */
} dp_gp_kernel;

/* Zero means the default, which stands in brackets, but for the range. */
typedef struct dp_gp_opts {
    double low, high; /* public, low < high */
    dp_gp_kernel kernel;
    size_t functions; /* 2 ... 200: sines that it is made of [30] */
    double boundary;  /* 1.1 ... 10: half of the interval on which they are waves, in halves of the
                       * range [2] */
    double sd_scale;  /* of the prior of the process's standard deviation [1] */
    double length;    /* median of the length's prior, as a share of the range [0.15] */
} dp_gp_opts;

/* A Gaussian process in x of mean 0 as a sum of `functions` sines with independent coefficients,
 * whose variances are the spectral density of the kernel (Solin and Saerkkae 2020, Stat. Comput.
 * 30, 419; Riutort-Mayol et al. 2022, Stat. Comput. 33, 17).  The cost is that of as many
 * predictors, whatever the number of records.
 *
 *   latents  <name>_sd ~ HalfNormal(sd_scale)
 *            <name>_length ~ LogNormal(log length, 0.4), as a share of the range
 *            <name>_weight [functions] ~ N(0, 1), in units of dp_hilbert_scales of these
 *
 * With the defaults the kernel is met to a hundredth for lengths of 0.06 to 0.3 of the range;
 * shorter ones need functions in proportion, longer ones a farther boundary and functions in
 * proportion to it.  Returns its value for each record.  DP_EDOMAIN for options that are none,
 * DP_ESHAPE where x is not one number. */
DP_API dp_expr dp_hilbert_gp_at(dp_expr x, const char *name, const dp_gp_opts *opts,
                                const char *file, int line);
#define dp_hilbert_gp(x, name, opts) dp_hilbert_gp_at(x, name, opts, __FILE__, __LINE__)

/* Its parts: the sines at x, [functions], and the standard deviations of their coefficients,
 * [functions], for a standard deviation and a length as a share of the range, one number each; so
 * that dp_dot of the sines with normal numbers of these is the process. */
DP_API dp_expr dp_hilbert_basis(dp_expr x, const dp_gp_opts *opts);
DP_API dp_expr dp_hilbert_scales(dp_expr sd, dp_expr length, const dp_gp_opts *opts);

#ifdef __cplusplus
}
#endif
#endif
