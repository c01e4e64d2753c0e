/* A mixture of normal distributions with round components.
 *
 *   x_i ~ sum over k of w_k N(mean_k, sd_k^2 I)
 *   w ~ Dirichlet(concentration),  mean_kj ~ N(0, mean_scale),  sd_k ~ InverseGamma(1, sd_scale)
 *
 * The component of a record is summed out, so that there is nothing of single records to learn and
 * the posterior is smooth.  It has K! equal modes, of which a run finds one: the one nearest to its
 * start. */
#include "models/build.h"

#include <math.h>

enum { MOST_MEANS = 4096 };

static dp_status check(const dp_mixture_opts *o, dp_error *err)
{
    if (o->components < 2 || o->dimensions < 1)
        return dpi_model_refuse(err, "a mixture has at least 2 components and 1 dimension");
    if (o->components > MOST_MEANS / o->dimensions)
        return dpi_model_refuse(err,
                                "the means of a mixture's components are at most 4096 numbers");
    return DP_OK;
}

/* P(component k | x_i) = softmax over k of log w_k - d log sd_k - |x_i - mean_k|^2 / (2 sd_k^2). */
static dp_expr responsibilities(dp_plate rows, dp_expr w, dp_expr mean, dp_expr sd,
                                const dp_mixture_opts *o)
{
    dp_expr off = dp_square(dp_sub(dp_data(rows, "x", o->dimensions), mean));
    dp_expr squares = off;
    if (o->dimensions > 1) {
        double ones[MOST_MEANS];
        for (size_t j = 0; j < o->dimensions; j++)
            ones[j] = 1;
        squares = dp_matmul(off, dp_constant(rows.model, o->dimensions, ones));
    }
    dp_expr near = dp_div(squares, dp_scale(-2, dp_square(sd)));
    dp_expr volume = dp_scale((double)o->dimensions, dp_log(sd));
    return dp_softmax(dp_add(dp_sub(dp_log(w), volume), near));
}

dp_status dp_gaussian_mixture(const dp_mixture_opts *o, dp_model **m, dp_error *err)
{
    *m = NULL;
    const dp_status status = check(o, err);
    dp_model *made = status == DP_OK ? dp_model_new() : NULL;
    if (made == NULL)
        return status == DP_OK ? dpi_model_finish(NULL, m, err) : status;
    dp_plate rows = dp_unit_plate(made, "rows");
    dp_plate parts = dp_plate_new(made, "components", o->components);
    const double wide = dpi_or_default(o->mean_scale, 1), sd_scale = dpi_or_default(o->sd_scale, 1);
    dp_dist weights = dp_dirichlet(dpi_or_default(o->concentration, 1));
    dp_expr w = dp_sample(made, "w", o->components, weights);
    dp_expr mean = dp_sample_in(parts, "mean", o->dimensions, dp_normal(0, wide));
    dp_expr sd = dp_sample_in(parts, "sd", 1, dp_inverse_gamma(1, sd_scale));
    dp_observe(rows, "x", dp_mixture(w, dp_normal_v(mean, sd)));
    (void)dp_deterministic(made, "component_probability", responsibilities(rows, w, mean, sd, o));
    return dpi_model_finish(made, m, err);
}

/* Coordinates come in pairs: in pair p component k stands at angle (p + 1) k turns of the golden
 * angle, at radius 2 mean_scale sqrt((k + 1/2) / K), which spreads points evenly over a disc (Vogel
 * 1979). */
static double on_spiral(const dp_mixture_opts *o, size_t k, size_t j)
{
    static const double golden = 2.39996322972865332, quarter = 1.57079632679489662;
    const double angle = golden * (double)(k * (j / 2 + 1)) - quarter * (double)(j % 2);
    const double share = ((double)k + 0.5) / (double)o->components;
    return 2 * dpi_or_default(o->mean_scale, 1) * sqrt(share) * cos(angle);
}

dp_status dp_gaussian_mixture_start(dp_svi *svi, const dp_mixture_opts *o, dp_error *err)
{
    double start[MOST_MEANS];
    const dp_status status = check(o, err);
    if (status != DP_OK)
        return status;
    for (size_t k = 0; k < o->components; k++)
        for (size_t j = 0; j < o->dimensions; j++)
            start[k * o->dimensions + j] = on_spiral(o, k, j);
    return dp_svi_set(svi, "mean.loc", o->components * o->dimensions, start, err);
}
