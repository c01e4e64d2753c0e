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

#ifdef __cplusplus
}
#endif
#endif
