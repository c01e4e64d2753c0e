/* Regressions. */
#include "tests/language/guide.h"

/* Stan, regression: linear */
static void linear(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr a = dp_sample(m, "a", 1, dp_normal(0, 5));
    dp_expr b = dp_sample(m, "b", D, dp_normal(0, 2));
    dp_expr s = dp_sample(m, "s", 1, dp_half_normal(2));
    dp_observe(rows, "y", dp_normal_v(dp_add(a, dp_dot(dp_data(rows, "x", D), b)), s));
}

/* Stan, regression: robust noise */
static void robust(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr b = dp_sample(m, "b", D, dp_normal(0, 2));
    dp_expr s = dp_sample(m, "s", 1, dp_half_normal(2));
    dp_expr df = dp_sample(m, "df", 1, dp_gamma(2, 0.1));
    dp_observe(rows, "y", dp_student_t_v(df, dp_dot(dp_data(rows, "x", D), b), s));
}

/* Stan, regression: logistic */
static void logistic(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr b = dp_sample(m, "b", D, dp_normal(0, 2));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_dot(dp_data(rows, "x", D), b)));
}

/* Stan, regression: multi-logit */
static void multi_logit(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows"), predictors = dp_plate_new(m, "predictors", D);
    dp_expr b = dp_sample_in(predictors, "b", K, dp_normal(0, 2));
    dp_observe(rows, "y", dp_categorical_logit(dp_matmul(dp_data(rows, "x", D), b)));
}

/* Stan, regression: hierarchical logistic */
static void hierarchical(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", GROUPS);
    dp_expr mu = dp_sample(m, "mu", D, dp_normal(0, 5));
    dp_expr tau = dp_sample(m, "tau", D, dp_half_normal(1));
    dp_expr b = dp_sample_in(groups, "b", D, dp_normal_v(mu, tau));
    dp_expr mine = dp_pick(b, dp_index(rows, "group", groups));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_dot(dp_data(rows, "x", D), mine)));
}

/* Stan, regression: hierarchical priors */
static void hierarchical_priors(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", GROUPS);
    dp_expr mu = dp_sample(m, "mu", 1, dp_normal(0, 5));
    dp_expr tau = dp_sample(m, "tau", 1, dp_half_cauchy(2.5));
    dp_expr a = dp_sample_in(groups, "a", 1, dp_normal_v(mu, tau));
    dp_observe(rows, "y", dp_normal_v(dp_pick(a, dp_index(rows, "group", groups)), dp_num(1)));
}

/* Stan, regression: item response, one parameter */
static void one_parameter(dp_model *m)
{
    dp_plate answers = dp_unit_plate(m, "answers");
    dp_plate persons = dp_plate_new(m, "persons", GROUPS), items = dp_plate_new(m, "items", ITEMS);
    dp_expr ability = dp_sample_in(persons, "ability", 1, dp_normal(0, 1));
    dp_expr difficulty = dp_sample_in(items, "difficulty", 1, dp_normal(0, 2));
    dp_expr logit = dp_sub(dp_pick(ability, dp_index(answers, "person", persons)),
                           dp_pick(difficulty, dp_index(answers, "item", items)));
    dp_observe(answers, "right", dp_bernoulli_logit(logit));
}

/* Stan, regression: item response, two parameters */
static void two_parameters(dp_model *m)
{
    dp_plate answers = dp_unit_plate(m, "answers");
    dp_plate persons = dp_plate_new(m, "persons", GROUPS), items = dp_plate_new(m, "items", ITEMS);
    dp_expr ability = dp_sample_in(persons, "ability", 1, dp_normal(0, 1));
    dp_expr difficulty = dp_sample_in(items, "difficulty", 1, dp_normal(0, 2));
    dp_expr slope = dp_sample_in(items, "slope", 1, dp_log_normal(0, 0.5));
    dp_expr item = dp_index(answers, "item", items);
    dp_expr distance =
        dp_sub(dp_pick(ability, dp_index(answers, "person", persons)), dp_pick(difficulty, item));
    dp_observe(answers, "right", dp_bernoulli_logit(dp_mul(dp_pick(slope, item), distance)));
}

/* Stan, regression: group-level predictors */
static void group_predictors(dp_model *m)
{
    static const double uranium[GROUPS] = {-0.7, 0.2, 0.4, -0.1, 0.9}; /* of each group, public */
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", GROUPS);
    dp_expr g = dp_sample(m, "g", 2, dp_normal(0, 5));
    dp_expr tau = dp_sample(m, "tau", 1, dp_half_normal(1));
    dp_expr s = dp_sample(m, "s", 1, dp_half_normal(1));
    dp_expr mean =
        dp_add(dp_slice(g, 0, 1), dp_mul(dp_slice(g, 1, 1), dp_constant(m, GROUPS, uranium)));
    dp_expr a = dp_sample_in(groups, "a", 1, dp_normal_v(mean, tau));
    dp_observe(rows, "y", dp_normal_v(dp_pick(a, dp_index(rows, "group", groups)), s));
}

/* Stan, multivariate: factor analysis */
static void factor_analysis(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows"), items = dp_plate_new(m, "items", D);
    dp_expr L = dp_sample_in(items, "loadings", 2, dp_normal(0, 1));
    dp_expr mu = dp_sample_in(items, "mu", 1, dp_normal(0, 5));
    dp_expr s = dp_sample_in(items, "s", 1, dp_half_normal(1));
    dp_observe(rows, "y", dp_multivariate_normal_low_rank(mu, L, dp_square(s)));
}

/* Stan, regression: multivariate outcomes, independent given the predictors */
static void several_outcomes(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows"), predictors = dp_plate_new(m, "predictors", D);
    dp_expr b = dp_sample_in(predictors, "b", K, dp_normal(0, 2));
    dp_expr s = dp_sample(m, "s", K, dp_half_normal(1));
    dp_observe(rows, "y", dp_normal_v(dp_matmul(dp_data(rows, "x", D), b), s));
}

/* d3p, listing: hierarchical logistic regression with group weights around M g */
static void d3p_hierarchical(dp_model *m)
{
    static const double level[GROUPS * K] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1};
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", GROUPS);
    dp_plate levels = dp_plate_new(m, "levels", K);
    dp_expr M = dp_sample_in(levels, "M", D, dp_normal(0, 4));
    dp_expr mean = dp_matmul(dp_constant_matrix(m, GROUPS, K, level), M);
    dp_expr w = dp_sample_in(groups, "w", D, dp_normal_v(mean, dp_num(1)));
    dp_expr mine = dp_pick(w, dp_index(rows, "group", groups));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_dot(dp_data(rows, "x", D), mine)));
}

#define MODEL(name)                                                                                \
    {                                                                                              \
#name, name                                                                                \
    }

const guide_model guide_regression[] = {
    MODEL(linear),           MODEL(robust),          MODEL(logistic),
    MODEL(multi_logit),      MODEL(hierarchical),    MODEL(hierarchical_priors),
    MODEL(one_parameter),    MODEL(two_parameters),  MODEL(group_predictors),
    MODEL(several_outcomes), MODEL(factor_analysis), MODEL(d3p_hierarchical),
};
const size_t n_guide_regression = sizeof guide_regression / sizeof guide_regression[0];
