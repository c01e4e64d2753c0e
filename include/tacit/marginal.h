/* Densities that a model writes itself: log densities as expressions, terms of a record's log
 * density, and discrete latents summed out.
 *
 * What no distribution of tacit/dist.h says is said by its log density.  A discrete latent of a
 * record (a component, a true class, the states of a chain) is no latent of the model: it is summed
 * out, in logarithms, and how likely each of its values is follows afterwards.
 *
 * Shapes as in tacit/model.h; log densities over K values of a discrete latent are [K], and repeat
 * as operands do.  Errors are the model's, with the caller's place; plain numbers alone are misuse.
 * Thread-safe for different models. */
#ifndef TACIT_MARGINAL_H
#define TACIT_MARGINAL_H

#include <tacit/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* log p(x) under a distribution: of each number of x and of the arguments, which repeat as in
 * dp_add; one a row where a row of numbers has one density between them (dp_dirichlet); under
 * dp_mixture one for x.  Under dp_categorical_logit x is a column of dp_index or dp_indices over a
 * plate of K members, the logits are [K], or [M][K] for M distributions side by side: a number or
 * [M] for each of its numbers, [d] or [d][M].
 * x must lie in the support: where it does not the value is unspecified, and columns that are read
 * (dp_data) are not checked against it, as observed ones are. */
DP_API dp_expr dp_log_density(dp_dist dist, dp_expr x);

/* Adds `value`, one number of each record, to the record's log density.  It is as good as an
 * observation for fits and scores, has a name like one (dp_fit_expr finds it), and has neither
 * draws nor a mean: dp_fit_simulate, dp_simulate_records and dp_fit_predict refuse it, all columns
 * at once, and observed columns that it reads.  dp_fit_private takes a model with it to the loop.
 * Models only.  A value of no record, or of several numbers, is an error. */
DP_API void dp_factor_at(dp_plate rows, const char *name, dp_expr value, const char *file,
                         int line);
#define dp_factor(rows, name, value) dp_factor_at(rows, name, value, __FILE__, __LINE__)

/* ---- a discrete latent of each record ---- */

/* log sum_k e^(log_weights_k + log_density_k) as a factor: log_weights [K], K >= 2, the log chances
 * of the latent's values as they are (dp_log of a simplex, dp_log_softmax of anything), and
 * log_density [K] of what is known of a record given each value, which is the sum over all
 * observations that the one latent explains:
 *   dp_expr each = dp_add(dp_log_density(dp_normal_v(mu, sd), dp_data(rows, "x", 1)),
 *                         dp_log_density(dp_poisson_log(rate), dp_data(rows, "n", 1)));
 *   dp_marginal(rows, "kind", dp_log(w), each);  */
DP_API void dp_marginal_at(dp_plate rows, const char *name, dp_expr log_weights,
                           dp_expr log_density, const char *file, int line);
#define dp_marginal(rows, name, log_weights, log_density)                                          \
    dp_marginal_at(rows, name, log_weights, log_density, __FILE__, __LINE__)

/* The chance of each value given the record, [K]: e^(log_weights_k + log_density_k) divided by
 * their sum.  For dp_deterministic. */
DP_API dp_expr dp_responsibilities(dp_expr log_weights, dp_expr log_density);

/* ---- a chain of discrete latents ---- */

/* log p(y_1 ... y_T) of a chain with K states, which are summed out (the forward recursion, Rabiner
 * 1989, sect. III.A), T, K >= 1; a number:
 *   log_initial     [K]     log chances of the first state
 *   log_transition  [K][K]  log chances from the row's state to the column's
 *   log_emission    [T][K]  log densities of what is seen at each time under each state
 * each global or of each record, as they are.  A time at which nothing is seen has a row of zeros;
 * so has what is behind the end of a record whose chain is shorter.  Of the order of T K^2
 * operations a record.  For dp_factor, or in a sum with other things. */
DP_API dp_expr dp_forward(dp_expr log_initial, dp_expr log_transition, dp_expr log_emission);

/* The chance of each state at each time given all of the chain, [T][K]: forward and backward.  The
 * chain's other two arguments must not be computed from log_emission, DP_EINVAL on the model. */
DP_API dp_expr dp_state_probabilities(dp_expr log_initial, dp_expr log_transition,
                                      dp_expr log_emission);

#ifdef __cplusplus
}
#endif
#endif
