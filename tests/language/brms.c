/* Models of brms's vignettes that are no formula here. */
#include "tests/language/guide.h"

/* brms, nonlinear: exponential growth, y ~ b1 exp(b2 x) */
static void exponential_growth(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr b1 = dp_sample(m, "b1", 1, dp_normal(1, 2)),
            b2 = dp_sample(m, "b2", 1, dp_normal(0, 2));
    dp_expr sigma = dp_sample(m, "sigma", 1, dp_half_normal(1));
    dp_expr mean = dp_mul(b1, dp_exp(dp_mul(b2, dp_data(rows, "x", 1))));
    dp_observe(rows, "y", dp_normal_v(mean, sigma));
}

/* brms, nonlinear: losses that grow to an ultimate one of each year */
static void insurance_losses(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows"), years = dp_plate_new(m, "years", GROUPS);
    dp_expr mean = dp_sample(m, "ult", 1, dp_normal(5, 1)),
            sd = dp_sample(m, "sd", 1, dp_half_normal(1));
    dp_expr each = dp_sample_in(years, "ult_year", 1, dp_normal_v(mean, sd));
    dp_expr omega = dp_sample(m, "omega", 1, dp_log_normal(0, 1)),
            theta = dp_sample(m, "theta", 1, dp_log_normal(3.8, 1));
    dp_expr late = dp_sub(dp_log(dp_data(rows, "dev", 1)), dp_log(theta));
    dp_expr grown = dp_sub(dp_num(1), dp_exp(dp_neg(dp_exp(dp_mul(omega, late)))));
    dp_expr ult = dp_pick(each, dp_index(rows, "year", years));
    dp_observe(rows, "cum",
               dp_normal_v(dp_mul(ult, grown), dp_sample(m, "sigma", 1, dp_half_normal(1))));
}

/* brms, nonlinear: answers of which a third are guessed, answer ~ .33 + .67 inv_logit(eta) */
static void guessed_answers(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr b = dp_sample(m, "b", D, dp_normal(0, 5));
    dp_expr p = dp_logistic(dp_dot(dp_data(rows, "x", D), b));
    dp_expr right = dp_add(dp_num(.33), dp_scale(.67, p)),
            wrong = dp_scale(.67, dp_sub(dp_num(1), p));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_sub(dp_log(right), dp_log(wrong))));
}

/* brms, multivariate: two outcomes with correlated errors and correlated effects of a group */
static void two_traits(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows"), nests = dp_plate_new(m, "nests", GROUPS);
    dp_expr w = dp_weights(m, "w", D, 2, dp_init_zeros()),
            sd = dp_sample(m, "sd", 2, dp_half_normal(1));
    dp_expr l = dp_matmul(dp_diagonal_matrix(sd), dp_sample(m, "l", 2, dp_lkj_cholesky(1)));
    dp_expr each = dp_sample_in(nests, "nest", 2, dp_multivariate_normal_cholesky(dp_num(0), l));
    dp_expr sigma = dp_sample(m, "sigma", 2, dp_half_normal(1));
    dp_expr e = dp_matmul(dp_diagonal_matrix(sigma), dp_sample(m, "e", 2, dp_lkj_cholesky(1)));
    dp_expr mine = dp_pick(each, dp_index(rows, "nest_of", nests));
    dp_expr mean = dp_add(dp_matmul(dp_data(rows, "x", D), w), mine);
    dp_observe(rows, "y", dp_multivariate_normal_cholesky(mean, e));
}

/* brms, phylogenetics: effects of species with a known covariance, gr(species, cov = A) */
static void phylogeny(dp_model *m)
{
    static const double a[K * K] = {1, .5, .2, .5, 1, .3, .2, .3, 1};
    dp_plate rows = dp_unit_plate(m, "rows"), species = dp_plate_new(m, "species", K);
    dp_expr l = dp_cholesky(dp_constant_matrix(m, K, K, a)),
            sd = dp_sample(m, "sd", 1, dp_half_normal(1));
    dp_expr z = dp_sample_in(species, "z", 1, dp_normal(0, 1));
    dp_expr effect = dp_mul(sd, dp_matmul(l, z)), b = dp_sample(m, "b", 2, dp_normal(0, 5));
    dp_expr mine = dp_pick(effect, dp_index(rows, "species_of", species));
    dp_expr line = dp_add(dp_slice(b, 0, 1), dp_mul(dp_slice(b, 1, 1), dp_data(rows, "x", 1)));
    dp_observe(rows, "y",
               dp_normal_v(dp_add(line, mine), dp_sample(m, "sigma", 1, dp_half_normal(1))));
}

/* brms, ordinal: cumulative with a discrimination of its own, disc ~ 0 + x */
static void unequal_discrimination(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr cut = dp_sample(m, "cut", K, dp_ordered(dp_normal(0, 3))), x = dp_data(rows, "x", D);
    dp_expr b = dp_sample(m, "b", D, dp_normal(0, 2)), d = dp_sample(m, "d", D, dp_normal(0, 1));
    dp_expr disc = dp_exp(dp_dot(x, d));
    dp_observe(rows, "y", dp_ordered_probit(dp_mul(disc, dp_dot(x, b)), dp_mul(disc, cut)));
}

/* brms, ordinal: adjacent categories with effects of each, acat with cs(x) */
static void adjacent_categories(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows"), steps = dp_plate_new(m, "steps", K);
    dp_expr tau = dp_sample(m, "tau", K, dp_normal(0, 3)),
            b = dp_sample_in(steps, "b", D, dp_normal(0, 2));
    dp_expr step = dp_sub(dp_matmul(b, dp_data(rows, "x", D)), tau);
    dp_observe(rows, "y", dp_categorical_logit(dp_concat(dp_num(0), dp_cumulative_sum(step))));
}

/* brms, ordinal: continuation through the categories, sratio */
static void continuation(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr tau = dp_sample(m, "tau", K, dp_normal(0, 3)),
            b = dp_sample(m, "b", D, dp_normal(0, 2));
    dp_expr stop = dp_sub(tau, dp_dot(dp_data(rows, "x", D), b)), on = dp_neg(dp_softplus(stop));
    dp_expr past = dp_concat(dp_num(0), dp_cumulative_sum(on));
    dp_expr here = dp_concat(dp_add(on, stop), dp_num(0));
    dp_observe(rows, "y", dp_categorical_logit(dp_add(past, here)));
}

#define ROW(name)                                                                                  \
    {                                                                                              \
#name, name                                                                                \
    }
const guide_model guide_brms[] = {
    ROW(exponential_growth),  ROW(insurance_losses), ROW(guessed_answers),
    ROW(two_traits),          ROW(phylogeny),        ROW(unequal_discrimination),
    ROW(adjacent_categories), ROW(continuation),
};
const size_t n_guide_brms = sizeof guide_brms / sizeof guide_brms[0];
