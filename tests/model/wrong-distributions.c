/* Mistakes with forms of distributions, rows of numbers, matrices and smooth functions. */
#include "tests/model/wrong.h"

#include <math.h>

/* ---- forms ---- */

static void truncated_to_nothing(draft *d)
{
    (void)dp_sample(d->m, "b", 1, dp_truncated(dp_normal(0, 1), 2, 2));
}

static void truncated_without_function(draft *d)
{
    dp_observe(d->rows, "y", dp_truncated(dp_categorical_logit(d->w), 0, 1));
}

static void censored_prior(draft *d)
{
    (void)dp_sample(d->m, "b", 1, dp_censored(dp_normal(0, 1), dp_num(1)));
}

static void zeros_of_a_normal(draft *d)
{
    dp_observe(d->rows, "y", dp_zero_inflated(dp_normal(0, 1), dp_num(0)));
}

static void hurdle_of_a_normal(draft *d)
{
    dp_observe(d->rows, "y", dp_hurdle(dp_normal(0, 1), dp_num(0)));
}

static void zero_inflated_prior(draft *d)
{
    (void)dp_sample(d->m, "k", 1, dp_zero_inflated(dp_poisson_log(dp_num(0)), dp_num(0)));
}

static void weight_without_bound(draft *d)
{
    dp_observe(d->rows, "y", dp_weighted(dp_normal(0, 1), dp_data(d->rows, "n", 1), 0));
}

static void weight_of_infinity(draft *d)
{
    dp_observe(d->rows, "y", dp_weighted(dp_normal(0, 1), dp_data(d->rows, "n", 1), INFINITY));
}

static void form_of_nothing(draft *d)
{
    const dp_dist none = {.family = NULL};
    dp_observe(d->rows, "y", dp_present(none, dp_num(1)));
}

static void too_many_forms(draft *d)
{
    dp_dist dist = dp_poisson_log(dp_num(0));
    for (int k = 0; k < 6; k++)
        dist = dp_present(dist, dp_num(1));
    dp_observe(d->rows, "y", dist);
}

static void mixture_of_two_kinds(draft *d)
{
    const dp_dist parts[] = {dp_normal(0, 1), dp_poisson_log(dp_num(0))};
    dp_observe(d->rows, "y", dp_mixture_of(dp_softmax(dp_slice(d->w, 0, 2)), 2, parts));
}

static void mixture_of_other_weights(draft *d)
{
    const dp_dist parts[] = {dp_normal(0, 1), dp_cauchy(0, 1)};
    dp_observe(d->rows, "y", dp_mixture_of(dp_softmax(d->w), 2, parts));
}

/* ---- order, categories, counts ---- */

static void ordered_gammas(draft *d)
{
    (void)dp_sample(d->m, "c", 3, dp_ordered(dp_gamma(2, 1)));
}

static void ordered_alone(draft *d)
{
    (void)dp_sample(d->m, "c", 1, dp_ordered(dp_normal(0, 1)));
}

static void ordered_observed(draft *d)
{
    dp_observe(d->rows, "y", dp_ordered(dp_normal(0, 1)));
}

static void cutpoints_of_groups(draft *d)
{
    dp_expr matrix = dp_sample_in(d->groups, "c", 3, dp_normal(0, 1));
    dp_observe(d->rows, "y", dp_ordered_logistic(dp_dot(d->x, d->w), matrix));
}

static void dispersion_below_zero(draft *d)
{
    dp_observe(d->rows, "y", dp_negative_binomial_log(dp_dot(d->x, d->w), dp_num(-2)));
}

static void multinomial_prior(draft *d)
{
    (void)dp_sample(d->m, "k", 3, dp_multinomial_logit(dp_num(5), d->w));
}

/* ---- rows and matrices ---- */

static void factor_of_other_size(draft *d)
{
    dp_expr l = dp_identity_matrix(d->m, 2);
    dp_observe(d->rows, "y", dp_multivariate_normal_cholesky(d->w, l));
}

static void factor_no_matrix(draft *d)
{
    dp_observe(d->rows, "y", dp_multivariate_normal_cholesky(d->w, d->w));
}

static void correlations_of_groups(draft *d)
{
    (void)dp_sample_in(d->groups, "l", 2, dp_lkj_cholesky(1));
}

static void correlations_below_zero(draft *d)
{
    (void)dp_sample(d->m, "l", 2, dp_lkj_cholesky(-1));
}

static void cholesky_of_a_vector(draft *d)
{
    (void)dp_cholesky(d->w);
}

static void solved_with_other_sizes(draft *d)
{
    (void)dp_solve_lower(dp_identity_matrix(d->m, 2), d->w);
}

static void diagonal_of_a_vector(draft *d)
{
    (void)dp_diagonal(d->w);
}

/* ---- smooth functions, discrete latents ---- */

static void smooth_of_a_vector(draft *d)
{
    const dp_smooth_opts opts = {.low = 0, .high = 1, .functions = 8};
    (void)dp_smooth(d->x, "f", &opts);
}

static void smooth_over_nothing(draft *d)
{
    const dp_smooth_opts opts = {.low = 1, .high = 1, .functions = 8};
    (void)dp_smooth(dp_data(d->rows, "t", 1), "f", &opts);
}

static void marginal_of_one_value(draft *d)
{
    dp_marginal(d->rows, "kind", dp_num(0),
                dp_log_density(dp_normal(0, 1), dp_data(d->rows, "t", 1)));
}

static void flat_outcome(draft *d)
{
    dp_observe(d->rows, "y", dp_present(dp_flat(), dp_num(1)));
}

static void flat_of_each_record(draft *d)
{
    (void)dp_sample_in(d->rows, "z", 1, dp_flat());
}

static void flat_and_truncated(draft *d)
{
    (void)dp_sample(d->m, "b", 1, dp_truncated(dp_flat(), 0, 1));
}

static void flat_component(draft *d)
{
    const dp_dist parts[] = {dp_normal(0, 1), dp_flat()};
    dp_observe(d->rows, "y", dp_mixture_of(dp_softmax(dp_slice(d->w, 0, 2)), 2, parts));
}

static void flat_and_ordered(draft *d)
{
    (void)dp_sample(d->m, "c", 3, dp_ordered(dp_flat()));
}

static void flat_density(draft *d)
{
    (void)dp_log_density(dp_flat_positive(), d->s);
}

static void density_of_two_sizes(draft *d)
{
    (void)dp_log_density(dp_normal_v(d->w, d->s), dp_constant(d->m, 2, (const double[]){1, 2}));
}

#define MODEL(call, text)                                                                          \
    {                                                                                              \
        .what = text, .write = call                                                                \
    }
const wrong_model wrong_distributions[] = {
    MODEL(truncated_to_nothing, "a truncation that leaves nothing"),
    MODEL(truncated_without_function, "a truncation without a distribution function"),
    MODEL(censored_prior, "a censored prior"),
    MODEL(zeros_of_a_normal, "zeros of a family that has no counts"),
    MODEL(hurdle_of_a_normal, "a hurdle below numbers that may be negative"),
    MODEL(zero_inflated_prior, "a zero-inflated prior"),
    MODEL(weight_without_bound, "weights bounded by 0"),
    MODEL(weight_of_infinity, "weights without a bound"),
    MODEL(form_of_nothing, "a form of no distribution"),
    MODEL(too_many_forms, "too many forms of one another"),
    MODEL(mixture_of_two_kinds, "a mixture of numbers and counts"),
    MODEL(mixture_of_other_weights, "a mixture with other weights than components"),
    MODEL(ordered_gammas, "an order of numbers above 0"),
    MODEL(ordered_alone, "an order of one number"),
    MODEL(ordered_observed, "an order that is observed"),
    MODEL(cutpoints_of_groups, "cutpoints of each group"),
    MODEL(dispersion_below_zero, "a dispersion below 0"),
    MODEL(multinomial_prior, "a row of counts as a latent"),
    MODEL(factor_of_other_size, "a covariance of other size than the mean"),
    MODEL(factor_no_matrix, "a covariance that is no matrix"),
    MODEL(correlations_of_groups, "a correlation matrix of each group"),
    MODEL(correlations_below_zero, "a correlation prior of a negative number"),
    MODEL(cholesky_of_a_vector, "a Cholesky factor of a vector"),
    MODEL(solved_with_other_sizes, "a triangular system of two sizes"),
    MODEL(diagonal_of_a_vector, "the diagonal of a vector"),
    MODEL(smooth_of_a_vector, "a smooth function of three columns"),
    MODEL(smooth_over_nothing, "a smooth function over an empty range"),
    MODEL(marginal_of_one_value, "a discrete latent of one value"),
    MODEL(flat_outcome, "an outcome that is flat"),
    MODEL(flat_of_each_record, "a flat prior of each record"),
    MODEL(flat_and_truncated, "a flat prior that is cut"),
    MODEL(flat_component, "a flat component"),
    MODEL(flat_and_ordered, "flat numbers in order"),
    MODEL(flat_density, "a flat density by itself"),
    MODEL(density_of_two_sizes, "a density of other numbers than the arguments"),
};
const size_t n_wrong_distributions = sizeof wrong_distributions / sizeof wrong_distributions[0];
