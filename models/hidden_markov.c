/* A hidden Markov model of sequences, one a record.
 *
 *   s_1 ~ initial,  s_t ~ row s_(t-1) of transition,  y_t ~ N(mean_(s_t), sd_(s_t)) or a symbol
 *
 * The states are summed out by the forward recursion (dp_forward); rows of emissions where nothing
 * was seen are zeros.  All orders of the states are equally good, unless their means are ordered,
 * and states that emit alike a saddle: the start tells them apart. */
#include <tacit/marginal.h>

#include "models/build.h"

#include <math.h>

enum { MOST_STATES = 64, MOST_EMISSIONS = 4096 };

static dp_status check(const dp_hidden_markov_opts *o, dp_error *err)
{
    if (o->states < 2 || o->states > MOST_STATES || o->times < 1)
        return dpi_model_refuse(err,
                                "a hidden Markov model has 2 to 64 states and at least 1 time");
    if (o->symbols == 1 || o->symbols > MOST_EMISSIONS / o->states)
        return dpi_model_refuse(err, "symbols are at least 2, and with the states at most 4096 "
                                     "together; 0 is for numbers");
    if (o->symbols > 0 && o->ordered)
        return dpi_model_refuse(err, "symbols have no order; means of numbers have one");
    return DP_OK;
}

/* 1 beside the diagonal, `stay` on it. */
static dp_expr concentrations(dp_model *m, size_t k, double stay)
{
    double c[MOST_STATES * MOST_STATES];
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            c[i * k + j] = i == j ? stay : 1;
    return dp_constant_matrix(m, k, k, c);
}

/* [times][states]; of one time too, which as a column is a number. */
static dp_expr at_times(dp_expr a, const dp_hidden_markov_opts *o)
{
    return dp_reshape(a, o->times, o->states);
}

static dp_expr of_numbers(dp_plate rows, dp_plate states, const dp_hidden_markov_opts *o)
{
    const double wide = dpi_or_default(o->mean_scale, 1), sd_scale = dpi_or_default(o->sd_scale, 1);
    dp_expr mean = o->ordered
                       ? dp_sample(rows.model, "mean", o->states, dp_ordered(dp_normal(0, wide)))
                       : dp_sample_in(states, "mean", 1, dp_normal(0, wide));
    dp_expr sd = dp_sample_in(states, "sd", 1, dp_inverse_gamma(1, sd_scale));
    dp_expr y = dp_spread(dp_data(rows, "y", o->times), o->states);
    return at_times(dp_log_density(dp_normal_v(mean, sd), y), o);
}

static dp_expr of_symbols(dp_plate rows, dp_plate states, const dp_hidden_markov_opts *o)
{
    dp_plate symbols = dp_plate_new(rows.model, "symbols", o->symbols);
    dp_expr emission = dp_sample_in(states, "emission", o->symbols, dp_dirichlet(1));
    dp_expr y = dp_indices(rows, "y", o->times, symbols);
    return at_times(dp_log_density(dp_categorical_logit(dp_log(emission)), y), o);
}

dp_status dp_hidden_markov(const dp_hidden_markov_opts *o, dp_model **m, dp_error *err)
{
    *m = NULL;
    const dp_status status = check(o, err);
    dp_model *made = status == DP_OK ? dp_model_new() : NULL;
    if (made == NULL)
        return status == DP_OK ? dpi_model_finish(NULL, m, err) : status;
    dp_plate rows = dp_unit_plate(made, "rows"), states = dp_plate_new(made, "states", o->states);
    dp_expr stay = concentrations(made, o->states, dpi_or_default(o->stay, 1));
    dp_expr initial = dp_sample(made, "initial", o->states, dp_dirichlet(1));
    dp_expr transition = dp_sample_in(states, "transition", o->states, dp_dirichlet_v(stay));
    dp_expr seen = o->symbols > 0 ? of_symbols(rows, states, o) : of_numbers(rows, states, o);
    if (o->gaps)
        seen = dp_mul(seen, at_times(dp_spread(dp_data(rows, "seen", o->times), o->states), o));
    dp_factor(rows, "sequence", dp_forward(dp_log(initial), dp_log(transition), seen));
    (void)dp_deterministic(made, "state_probability",
                           dp_state_probabilities(dp_log(initial), dp_log(transition), seen));
    return dpi_model_finish(made, m, err);
}

/* ---- the start ---- */

/* The free numbers of a state's symbols: a symbol of the state's own, v = k modulo their numbers,
 * has a logit above that of the others, z = V' logits with the contrasts V of a simplex
 * (doc/design/dist.md). */
static void start_symbols(const dp_hidden_markov_opts *o, size_t k, double z[])
{
    const size_t least = o->symbols < o->states ? o->symbols : o->states;
    double sum = 0;
    for (size_t v = 0; v < o->symbols; v++) {
        const double logit = v % least == k % least ? 1 + (double)(k / least) : 0;
        if (v > 0)
            z[v - 1] = (sum - (double)v * logit) / sqrt((double)v * (double)(v + 1));
        sum += logit;
    }
}

/* Equal distances over the prior; of ordered means the first and the logarithms of distances. */
static void start_means(const dp_hidden_markov_opts *o, double loc[])
{
    const double wide = 2 * dpi_or_default(o->mean_scale, 1), n = (double)o->states;
    for (size_t k = 0; k < o->states; k++)
        loc[k] = o->ordered && k > 0 ? log(2 * wide / n) : wide * ((double)(2 * k + 1) / n - 1);
}

dp_status dp_hidden_markov_start(dp_svi *svi, const dp_hidden_markov_opts *o, dp_error *err)
{
    double start[MOST_EMISSIONS];
    const dp_status status = check(o, err);
    if (status != DP_OK)
        return status;
    if (o->symbols == 0) {
        start_means(o, start);
        return dp_svi_set(svi, "mean.loc", o->states, start, err);
    }
    for (size_t k = 0; k < o->states; k++)
        start_symbols(o, k, start + k * (o->symbols - 1));
    return dp_svi_set(svi, "emission.loc", o->states * (o->symbols - 1), start, err);
}
