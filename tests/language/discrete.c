/* Discrete latents, summed out. */
#include "tests/language/guide.h"

/* Stan, latent discrete: change point, a record the series */
static void change_point(dp_model *m)
{
    dp_plate series = dp_unit_plate(m, "series");
    dp_expr early = dp_sample(m, "early", 1, dp_exponential(1));
    dp_expr late = dp_sample(m, "late", 1, dp_exponential(1)), y = dp_data(series, "y", T);
    dp_expr before = dp_cumulative_sum(dp_log_density(dp_poisson_log(dp_log(early)), y));
    dp_expr other = dp_cumulative_sum(dp_log_density(dp_poisson_log(dp_log(late)), y));
    dp_expr after = dp_sub(dp_slice(other, T - 1, 1), other);
    dp_expr even = dp_log_softmax(dp_constant(m, T, (const double[T]){0}));
    dp_marginal(series, "change", even, dp_add(before, after));
}

/* Stan, latent discrete: Dawid and Skene's noisy ratings */
static void dawid_skene(dp_model *m)
{
    static const char *const names[][2] = {{"theta1", "y1"}, {"theta2", "y2"}, {"theta3", "y3"}};
    dp_plate items = dp_unit_plate(m, "items"), kinds = dp_plate_new(m, "kinds", K);
    dp_expr w = dp_sample(m, "pi", K, dp_dirichlet(3)), all = dp_num(0);
    for (int j = 0; j < 3; j++) {
        dp_expr theta = dp_sample_in(kinds, names[j][0], K, dp_dirichlet(2));
        dp_expr y = dp_index(items, names[j][1], kinds);
        all = dp_add(all, dp_log_density(dp_categorical_logit(dp_log(theta)), y));
    }
    dp_marginal(items, "kind", dp_log(w), all);
    (void)dp_deterministic(m, "chance", dp_responsibilities(dp_log(w), all));
}

/* Stan, latent discrete: Cormack, Jolly and Seber's individuals, who live or not */
static void capture_recapture(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "individuals");
    dp_expr phi = dp_sample(m, "phi", 1, dp_beta(1, 1)), p = dp_sample(m, "p", 1, dp_beta(1, 1));
    dp_expr y = dp_data(rows, "seen", T), lives = dp_log(dp_concat(phi, dp_sub(dp_num(1), phi)));
    dp_expr stays = dp_constant(m, 2, (const double[2]){-1e9, 0});
    dp_expr logit = dp_sub(dp_log(p), dp_log1p(dp_neg(p)));
    dp_expr alive = dp_log_density(dp_bernoulli_logit(logit), y), dead = dp_scale(-1e9, y);
    dp_expr seen = dp_transpose(dp_reshape(dp_concat(alive, dead), 2, T));
    dp_expr first = dp_constant(m, 2, (const double[2]){0, -1e9});
    dp_factor(rows, "history", dp_forward(first, dp_reshape(dp_concat(lives, stays), 2, 2), seen));
}

/* Stan, hidden Markov models: outputs are categories, a record the sequence */
static void hidden_categories(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "sequences"), states = dp_plate_new(m, "states", K);
    dp_plate outputs = dp_plate_new(m, "outputs", ITEMS);
    dp_expr theta = dp_sample_in(states, "theta", K, dp_dirichlet(1));
    dp_expr phi = dp_sample_in(states, "phi", ITEMS, dp_dirichlet(1));
    dp_expr y = dp_indices(rows, "y", T, outputs);
    dp_expr seen = dp_log_density(dp_categorical_logit(dp_log(phi)), y);
    dp_expr first = dp_log_softmax(dp_constant(m, K, (const double[K]){0}));
    dp_factor(rows, "sequence", dp_forward(first, dp_log(theta), seen));
}

/* Stan, hidden Markov models: outputs are numbers */
static void hidden_numbers(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "sequences"), states = dp_plate_new(m, "states", K);
    dp_expr theta = dp_sample_in(states, "theta", K, dp_dirichlet(1));
    dp_expr mu = dp_sample_in(states, "mu", 1, dp_normal(0, 5));
    dp_expr y = dp_spread(dp_data(rows, "y", T), K);
    dp_expr seen = dp_log_density(dp_normal_v(mu, dp_num(1)), y);
    dp_expr first = dp_log_softmax(dp_constant(m, K, (const double[K]){0}));
    dp_factor(rows, "sequence", dp_forward(first, dp_log(theta), seen));
    (void)dp_deterministic(m, "state", dp_state_probabilities(first, dp_log(theta), seen));
}

/* Tacit, mixtures: two outcomes of a record under one assignment */
static void two_outcomes(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows"), kinds = dp_plate_new(m, "kinds", K);
    dp_expr w = dp_sample(m, "w", K, dp_dirichlet(1));
    dp_expr mu = dp_sample_in(kinds, "mu", 1, dp_normal(0, 5));
    dp_expr rate = dp_sample_in(kinds, "log_rate", 1, dp_normal(0, 1));
    dp_expr x = dp_log_density(dp_normal_v(mu, dp_num(1)), dp_data(rows, "x", 1));
    dp_expr n = dp_log_density(dp_poisson_log(rate), dp_data(rows, "n", 1));
    dp_marginal(rows, "kind", dp_log(w), dp_add(x, n));
}

/* Tacit, mixtures: groups of numbers under one assignment, a record the group */
static void kinds_of_groups(dp_model *m)
{
    dp_plate groups = dp_unit_plate(m, "groups"), kinds = dp_plate_new(m, "kinds", K);
    dp_expr w = dp_sample(m, "w", K, dp_dirichlet(1));
    dp_expr mu = dp_sample_in(kinds, "mu", 1, dp_normal(0, 5));
    dp_dist each = dp_normal_v(dp_spread(mu, ITEMS), dp_num(1));
    dp_expr all = dp_sum_last(dp_log_density(each, dp_data(groups, "y", ITEMS)));
    dp_marginal(groups, "kind", dp_log(w), all);
}

#define MODEL(name)                                                                                \
    {                                                                                              \
#name, name                                                                                \
    }

const guide_model guide_discrete[] = {
    MODEL(change_point),   MODEL(dawid_skene),  MODEL(capture_recapture), MODEL(hidden_categories),
    MODEL(hidden_numbers), MODEL(two_outcomes), MODEL(kinds_of_groups),
};
const size_t n_guide_discrete = sizeof guide_discrete / sizeof guide_discrete[0];
