/* Finite mixtures and hidden Markov models. */
#include "tests/language/guide.h"

/* Stan, mixtures: normal components */
static void normal_mixture(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows"), kinds = dp_plate_new(m, "kinds", K);
    dp_expr w = dp_sample(m, "w", K, dp_dirichlet(1));
    dp_expr mu = dp_sample_in(kinds, "mu", 1, dp_normal(0, 10));
    dp_expr s = dp_sample_in(kinds, "s", 1, dp_log_normal(0, 2));
    dp_observe(rows, "y", dp_mixture(w, dp_normal_v(mu, s)));
}

/* Stan, clustering: soft k-means */
static void soft_k_means(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows"), kinds = dp_plate_new(m, "kinds", K);
    dp_expr mu = dp_sample_in(kinds, "mu", D, dp_normal(0, 1));
    dp_expr w = dp_constant(m, K, (const double[K]){1, 1, 1});
    dp_observe(rows, "y", dp_mixture(w, dp_normal_v(mu, dp_num(1))));
}

/* d3p, listing: Gaussian mixture with an inverse gamma scale of each component */
static void d3p_mixture(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows"), kinds = dp_plate_new(m, "kinds", K);
    dp_expr w = dp_sample(m, "w", K, dp_dirichlet(1));
    dp_expr mu = dp_sample_in(kinds, "mu", 2, dp_normal(0, 1));
    dp_expr s = dp_sample_in(kinds, "s", 1, dp_inverse_gamma(1, 1));
    dp_observe(rows, "x", dp_mixture(w, dp_normal_v(mu, s)));
}

#define MODEL(name)                                                                                \
    {                                                                                              \
#name, name                                                                                \
    }

const guide_model guide_mixtures[] = {
    MODEL(normal_mixture),
    MODEL(soft_k_means),
    MODEL(d3p_mixture),
};
const size_t n_guide_mixtures = sizeof guide_mixtures / sizeof guide_mixtures[0];
