/* Each function makes one mistake that people make.  Whoever adds a refusal to the language adds a
 * mistake here; the golden file then has its message. */
#include "tests/model/wrong.h"

#include <math.h>

/* ---- names ---- */

static void name_twice(draft *d)
{
    (void)dp_sample(d->m, "w", 1, dp_normal(0, 1));
}

static void name_of_a_column(draft *d)
{
    (void)dp_sample(d->m, "x", 1, dp_normal(0, 1));
}

static void name_empty(draft *d)
{
    (void)dp_sample(d->m, "", 1, dp_normal(0, 1));
}

static void name_with_line_end(draft *d)
{
    (void)dp_sample(d->m, "two\nlines", 1, dp_normal(0, 1));
}

static void plate_twice(draft *d)
{
    (void)dp_plate_new(d->m, "groups", 3);
}

static void observed_twice(draft *d)
{
    dp_observe(d->rows, "y", dp_normal_v(dp_dot(d->x, d->w), d->s));
    dp_observe(d->rows, "y", dp_bernoulli_logit(dp_dot(d->x, d->w)));
}

/* ---- plates and columns ---- */

static void two_unit_plates(draft *d)
{
    (void)dp_unit_plate(d->m, "visits");
}

static void plate_of_none(draft *d)
{
    (void)dp_plate_new(d->m, "wards", 0);
}

static void column_in_groups(draft *d)
{
    (void)dp_data(d->groups, "z", 1);
}

static void column_of_none(draft *d)
{
    (void)dp_data(d->rows, "z", 0);
}

static void column_of_two_sizes(draft *d)
{
    (void)dp_data(d->rows, "x", 2);
}

static void index_over_records(draft *d)
{
    (void)dp_index(d->rows, "z", d->rows);
}

static void index_over_two_plates(draft *d)
{
    (void)dp_index(d->rows, "g", dp_plate_new(d->m, "wards", 4));
}

static void index_read_as_numbers(draft *d)
{
    (void)dp_data(d->rows, "g", 1);
}

static void observed_in_groups(draft *d)
{
    dp_observe(d->groups, "y", dp_normal(0, 1));
}

static void category_read_as_number(draft *d)
{
    (void)dp_data(d->rows, "y", 1);
    dp_observe(d->rows, "y", dp_categorical_logit(d->w));
}

/* ---- shapes ---- */

static void group_value_beside_records(draft *d)
{
    (void)dp_add(d->a, dp_slice(d->x, 0, 2));
}

static void vector_beside_vector(draft *d)
{
    (void)dp_add(d->w, dp_constant(d->m, 2, (const double[]){1, 2}));
}

static void dot_of_a_matrix(draft *d)
{
    dp_expr b = dp_sample_in(d->groups, "b", 3, dp_normal(0, 1));
    (void)dp_dot(d->x, b);
}

static void dot_of_sizes(draft *d)
{
    (void)dp_dot(d->x, dp_slice(d->w, 0, 2));
}

static void product_of_sizes(draft *d)
{
    (void)dp_matmul(d->x, dp_weights(d->m, "W", 4, 2, dp_init_zeros()));
}

static void product_of_a_number(draft *d)
{
    (void)dp_matmul(d->x, d->s);
}

static void picked_by_a_number(draft *d)
{
    (void)dp_pick(d->a, dp_slice(d->x, 0, 1));
}

static void picked_from_another_plate(draft *d)
{
    dp_plate wards = dp_plate_new(d->m, "wards", 4);
    (void)dp_pick(dp_sample_in(wards, "b", 1, dp_normal(0, 1)), d->g);
}

static void picked_from_too_few(draft *d)
{
    (void)dp_pick(d->w, d->g);
}

static void slice_beyond(draft *d)
{
    (void)dp_slice(d->w, 2, 2);
}

static void reshaped_to_more(draft *d)
{
    (void)dp_reshape(d->x, 2, 2);
}

static void groups_of_channels(draft *d)
{
    (void)dp_group_norm(d->x, 2, dp_num(1), dp_num(0));
}

static void window_beyond(draft *d)
{
    const dp_window window = {.image = {1, 3}, .size = {2, 2}};
    (void)dp_avg_pool2d(d->x, &window);
}

static void concatenated_matrix(draft *d)
{
    dp_expr b = dp_sample_in(d->groups, "b", 3, dp_normal(0, 1));
    (void)dp_concat(b, d->w);
}

static void latent_of_none(draft *d)
{
    (void)dp_sample(d->m, "b", 0, dp_normal(0, 1));
}

static void latent_and_arguments(draft *d)
{
    (void)dp_sample(d->m, "b", 2, dp_normal_v(d->w, dp_num(1)));
}

static void prior_of_each_group_for_one(draft *d)
{
    (void)dp_sample(d->m, "b", 1, dp_normal_v(d->a, dp_num(1)));
}

static void arguments_apart(draft *d)
{
    dp_observe(d->rows, "y", dp_normal_v(d->w, dp_constant(d->m, 2, (const double[]){1, 2})));
}

/* ---- domains ---- */

static void scale_zero(draft *d)
{
    (void)dp_sample(d->m, "b", 1, dp_normal(0, 0));
}

static void scale_negative(draft *d)
{
    (void)dp_sample(d->m, "b", 1, dp_half_normal(-1));
}

static void location_no_number(draft *d)
{
    (void)dp_sample(d->m, "b", 1, dp_normal(NAN, 1));
}

static void scale_may_be_negative(draft *d)
{
    dp_observe(d->rows, "y", dp_normal_v(dp_dot(d->x, d->w), dp_slice(d->w, 0, 1)));
}

static void scale_is_a_parameter(draft *d)
{
    dp_expr scale = dp_param(d->m, "scale", 1, 1);
    dp_observe(d->rows, "y", dp_normal_v(dp_dot(d->x, d->w), scale));
}

static void interval_empty(draft *d)
{
    (void)dp_sample(d->m, "b", 1, dp_uniform(1, 1));
}

static void trials_broken(draft *d)
{
    dp_observe(d->rows, "y", dp_binomial_logit(dp_num(2.5), dp_dot(d->x, d->w)));
}

static void trials_latent(draft *d)
{
    dp_observe(d->rows, "y", dp_binomial_logit(d->s, dp_dot(d->x, d->w)));
}

static void parameter_starts_nowhere(draft *d)
{
    (void)dp_param(d->m, "b", 1, INFINITY);
}

static void slope_no_number(draft *d)
{
    (void)dp_leaky_relu(NAN, d->x);
}

/* ---- distributions where they cannot be ---- */

static void prior_discrete(draft *d)
{
    (void)dp_sample(d->m, "k", 1, dp_poisson_log(dp_num(1)));
}

static void prior_category(draft *d)
{
    (void)dp_sample(d->m, "k", 1, dp_categorical_logit(d->w));
}

static void prior_mixture(draft *d)
{
    dp_expr weights = dp_sample(d->m, "p", 3, dp_dirichlet(1));
    (void)dp_sample(d->m, "b", 1, dp_mixture(weights, dp_normal_v(d->w, dp_num(1))));
}

static void mixture_of_uniform(draft *d)
{
    dp_expr weights = dp_sample(d->m, "p", 3, dp_dirichlet(1));
    dp_observe(d->rows, "y", dp_mixture(weights, dp_uniform(0, 1)));
}

static void mixture_of_sizes(draft *d)
{
    dp_expr weights = dp_sample(d->m, "p", 2, dp_dirichlet(1));
    dp_observe(d->rows, "y", dp_mixture(weights, dp_normal_v(d->w, dp_num(1))));
}

static void simplex_of_one(draft *d)
{
    (void)dp_sample(d->m, "p", 1, dp_dirichlet(1));
}

static void no_distribution(draft *d)
{
    const dp_dist none = {0};
    (void)dp_sample(d->m, "b", 1, none);
}

/* ---- privacy ---- */

static void latent_of_single_records(draft *d)
{
    (void)dp_sample(d->m, "b", 3, dp_normal_v(d->x, dp_num(1)));
}

static void parameter_of_records(draft *d)
{
    (void)dp_param_in(d->rows, "b", 1, 0);
}

/* ---- another model ---- */

static void factor_of_no_record(draft *d)
{
    dp_factor(d->rows, "penalty", dp_sum(d->w));
}

static void factor_of_many(draft *d)
{
    dp_factor(d->rows, "fit", dp_log_density(dp_normal_v(d->w, d->s), d->x));
}

static void category_read_as_numbers(draft *d)
{
    (void)dp_log_density(dp_categorical_logit(d->w), dp_slice(d->x, 0, 1));
}

static void category_of_more(draft *d)
{
    (void)dp_log_density(dp_categorical_logit(d->w), d->g);
}

static void latent_of_other_values(draft *d)
{
    dp_marginal(d->rows, "kind", dp_log_softmax(d->w),
                dp_log_density(dp_normal_v(d->a, d->s), dp_slice(d->x, 0, 1)));
}

static void chain_of_other_states(draft *d)
{
    dp_factor(d->rows, "chain", dp_forward(d->w, dp_outer(d->a, d->a), dp_outer(d->x, d->w)));
}

static void expression_of_another(draft *d)
{
    dp_model *other = dp_model_new();
    if (other == NULL)
        return;
    (void)dp_add(d->w, dp_sample(other, "b", 3, dp_normal(0, 1)));
    dp_model_free(other);
}

#define MODEL(function, says)                                                                      \
    {                                                                                              \
        says, function                                                                             \
    }

const wrong_model wrong_models[] = {
    MODEL(name_twice, "a second latent of one name"),
    MODEL(name_of_a_column, "a latent of a column's name"),
    MODEL(name_empty, "an empty name"),
    MODEL(name_with_line_end, "a name of two lines"),
    MODEL(plate_twice, "a second plate of one name"),
    MODEL(observed_twice, "a column that is observed twice"),
    MODEL(two_unit_plates, "a second plate of records"),
    MODEL(plate_of_none, "a plate without members"),
    MODEL(column_in_groups, "a column of groups"),
    MODEL(column_of_none, "a column of no numbers"),
    MODEL(column_of_two_sizes, "a column that is read with two sizes"),
    MODEL(index_over_records, "group numbers over the records"),
    MODEL(index_over_two_plates, "group numbers over two plates"),
    MODEL(index_read_as_numbers, "group numbers that are read as numbers"),
    MODEL(observed_in_groups, "an observation of groups"),
    MODEL(category_read_as_number, "a category that is read as a number"),
    MODEL(group_value_beside_records, "a group's value beside a record's"),
    MODEL(vector_beside_vector, "vectors of different sizes"),
    MODEL(dot_of_a_matrix, "an inner product with a matrix"),
    MODEL(dot_of_sizes, "an inner product of different sizes"),
    MODEL(product_of_sizes, "a matrix product of different sizes"),
    MODEL(product_of_a_number, "a matrix product with a number"),
    MODEL(picked_by_a_number, "a pick by a number that is no group's"),
    MODEL(picked_from_another_plate, "a pick from another plate"),
    MODEL(picked_from_too_few, "a pick from a value of too few groups"),
    MODEL(slice_beyond, "a slice beyond the end"),
    MODEL(reshaped_to_more, "a shape of more numbers"),
    MODEL(groups_of_channels, "groups that do not divide the channels"),
    MODEL(window_beyond, "a window larger than its image"),
    MODEL(concatenated_matrix, "a matrix and a vector one after the other"),
    MODEL(latent_of_none, "a latent of no numbers"),
    MODEL(latent_and_arguments, "a latent smaller than its arguments"),
    MODEL(prior_of_each_group_for_one, "one latent with a prior of each group"),
    MODEL(arguments_apart, "arguments that do not fit together"),
    MODEL(scale_zero, "a scale of 0"),
    MODEL(scale_negative, "a scale below 0"),
    MODEL(location_no_number, "a location that is no number"),
    MODEL(scale_may_be_negative, "a scale that may be negative"),
    MODEL(scale_is_a_parameter, "a scale that is a free parameter"),
    MODEL(interval_empty, "an empty interval"),
    MODEL(trials_broken, "two trials and a half"),
    MODEL(trials_latent, "a number of trials that is a latent"),
    MODEL(parameter_starts_nowhere, "a parameter that starts at infinity"),
    MODEL(slope_no_number, "a slope that is no number"),
    MODEL(prior_discrete, "a count as a latent"),
    MODEL(prior_category, "a category as a latent"),
    MODEL(prior_mixture, "a mixture as a prior"),
    MODEL(mixture_of_uniform, "a mixture of families that it does not take"),
    MODEL(mixture_of_sizes, "a mixture of more components than weights"),
    MODEL(simplex_of_one, "a simplex of one number"),
    MODEL(no_distribution, "no distribution"),
    MODEL(latent_of_single_records, "a global latent that depends on single records"),
    MODEL(parameter_of_records, "a parameter of each record"),
    MODEL(factor_of_no_record, "a factor that is of no record"),
    MODEL(factor_of_many, "a factor of several numbers"),
    MODEL(category_read_as_numbers, "the density of a category that is read as a number"),
    MODEL(category_of_more, "the density of a category of more groups than logits"),
    MODEL(latent_of_other_values, "a discrete latent with densities of other values"),
    MODEL(chain_of_other_states, "a chain with transitions of other states"),
    MODEL(expression_of_another, "an expression of another model"),
};
const size_t n_wrong_models = sizeof wrong_models / sizeof wrong_models[0];
