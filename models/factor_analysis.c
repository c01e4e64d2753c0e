/* Factor analysis with the factors of a record integrated out.
 *
 *   y_i = mean + L z_i + noise_i,  z_i ~ N(0, I),  noise_ij ~ N(0, noise_sd_j)
 *
 * so that y_i ~ N(mean, L L' + diag(noise_sd^2)).  L and L Q, Q orthonormal, are one model: zeros
 * above the diagonal and numbers above 0 on it leave one L of them (Geweke and Zhou 1996, Review of
 * Financial Studies 9).  With A = L' diag(noise_sd)^-2 the mean of a record's factors is
 * E(z | y) = (I + A L)^-1 A (y - mean). */
#include <tacit/algebra.h>
#include <tacit/multivariate.h>

#include "models/build.h"

enum { MOST_FACTORS = 64, MOST_OBSERVED = 512 };

static dp_status check(const dp_factor_analysis_opts *o, dp_error *err)
{
    if (o->observed < 2 || o->observed > MOST_OBSERVED)
        return dpi_model_refuse(err, "factor analysis is of 2 to 512 observed numbers");
    if (o->factors < 1 || o->factors >= o->observed || o->factors > MOST_FACTORS)
        return dpi_model_refuse(err, "factors are at least 1, fewer than the observed numbers and "
                                     "at most 64");
    return DP_OK;
}

static dp_expr part(dp_expr below, size_t n_below, size_t from, size_t n)
{
    return n_below > 1 ? dp_slice(below, from, n) : below; /* one number is no vector */
}

/* The loadings, row after row: of the first rows what is below the diagonal, what is on it, and
 * zeros; of the others all. */
static dp_expr loadings(dp_model *m, const dp_factor_analysis_opts *o)
{
    static const double zeros[MOST_FACTORS] = {0};
    const size_t f = o->factors, corner = f * (f - 1) / 2, rest = (o->observed - f) * f;
    const double scale = dpi_or_default(o->loading_scale, 1);
    dp_expr diagonal = dp_sample(m, "diagonal", f, dp_half_normal(scale));
    dp_expr below = dp_sample(m, "below", corner + rest, dp_normal(0, scale)), all = diagonal;
    for (size_t i = 0; i < f && f > 1; i++) {
        dp_expr on = dp_slice(diagonal, i, 1);
        if (i > 0)
            all = dp_concat(all, dp_slice(below, i * (i - 1) / 2, i));
        all = i > 0 ? dp_concat(all, on) : on;
        if (i + 1 < f)
            all = dp_concat(all, dp_constant(m, f - 1 - i, zeros));
    }
    return dp_reshape(dp_concat(all, part(below, corner + rest, corner, rest)), o->observed, f);
}

dp_status dp_factor_analysis(const dp_factor_analysis_opts *o, dp_model **m, dp_error *err)
{
    *m = NULL;
    const dp_status status = check(o, err);
    dp_model *made = status == DP_OK ? dp_model_new() : NULL;
    if (made == NULL)
        return status == DP_OK ? dpi_model_finish(NULL, m, err) : status;
    dp_plate rows = dp_unit_plate(made, "rows");
    const double wide = dpi_or_default(o->mean_scale, 1), noise = dpi_or_default(o->noise_scale, 1);
    dp_expr mean = dp_sample(made, "mean", o->observed, dp_normal(0, wide));
    dp_expr sd = dp_sample(made, "noise_sd", o->observed, dp_half_normal(noise));
    dp_expr L = dp_deterministic(made, "loadings", loadings(made, o));
    dp_expr variance = dp_square(sd);
    dp_observe(rows, "y", dp_multivariate_normal_low_rank(mean, L, variance));
    dp_expr off = dp_sub(dp_data(rows, "y", o->observed), mean);
    dp_expr A = dp_div(dp_transpose(L), variance);
    dp_expr factor = dp_cholesky(dp_add(dp_identity_matrix(made, o->factors), dp_matmul(A, L)));
    (void)dp_deterministic(made, "factors", dp_cholesky_solve(factor, dp_matmul(A, off)));
    return dpi_model_finish(made, m, err);
}
