/* Composition of a data set's entries by the accountant.
 *
 * Mechanisms that differ in their steps alone are one mechanism with the sum of the steps: the same
 * composition, and the cost of an account grows with the number of different ones.  What would fit
 * is searched by bisection on the same certified upper bound, so that it is then admitted.
 *
 * The accountant is given a little less than the budget's delta; the rest is for failures of the
 * sampler (random/failure.h), as in the run's own account: what fits a run's epsilon and delta fits
 * a budget of the same.  Numbers released are not in the ledger: each step counts as the most that
 * there may be. */
#include "ledger/compose.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "random/failure.h"

/* Bisections end at a relative 1/512 of the steps, 1/128 of the noise. */
enum { STEP_PARTS = 512, SIGMA_HALVINGS = 9, MOST_DOUBLINGS = 12 };

bool dpi_compose_same(const dp_mechanism *a, const dp_mechanism *b)
{
    if (a->sampling != b->sampling || a->noise != b->noise || a->adjacency != b->adjacency ||
        a->sigma != b->sigma || a->rate != b->rate || a->epoch != b->epoch ||
        a->records != b->records || a->cap != b->cap || a->rows != b->rows ||
        a->categories != b->categories || a->n_jumps != b->n_jumps)
        return false;
    for (size_t i = 0; i < a->n_jumps; i++)
        if (a->jumps[i] != b->jumps[i] || a->chances[i] != b->chances[i])
            return false;
    return true;
}

/* The neighbours of a mechanism: full batches and Poisson samples have an account for either. */
static dp_adjacency neighbours(const dp_mechanism *m, dp_adjacency budget)
{
    if (m->adjacency != DP_ADJACENCY_OF_SAMPLING)
        return m->adjacency;
    if (m->sampling == DP_SAMPLING_FIXED || m->noise == DP_NOISE_RANDOMISED_RESPONSE)
        return DP_REPLACE_ONE;
    if (m->sampling == DP_SAMPLING_POISSON || m->sampling == DP_SAMPLING_FULL)
        return budget;
    return DP_ADD_REMOVE;
}

static dp_status add(dp_mechanism *list, size_t *n, const dpi_entry_part *part, dp_adjacency budget,
                     dp_error *err)
{
    dp_mechanism m = part->mechanism;
    if (m.steps == 0)
        return DP_OK;
    m.adjacency = neighbours(&m, budget);
    bool whole = m.epoch == 0 || m.steps % m.epoch == 0; /* else the accountant refuses it */
    for (size_t i = 0; i < *n && whole; i++) {
        if (!dpi_compose_same(&list[i], &m))
            continue;
        if (list[i].steps > INT64_MAX - m.steps)
            return dpi_fail(err, DP_EDOMAIN, "the steps of all runs together overflow; take fewer");
        list[i].steps += m.steps;
        return DP_OK;
    }
    list[(*n)++] = m;
    return DP_OK;
}

static dp_status account(const dp_mechanism *list, size_t n, double delta, dp_interval *epsilon,
                         dp_error *err)
{
    *epsilon = (dp_interval){.estimate = 0, .method = "closed form"};
    if (n == 0)
        return DP_OK;
    dp_status status = dp_account_epsilon(list, n, delta, 0, epsilon, err);
    if (status == DP_OK && n == 1) { /* a run calibrated by this bound to the budget must fit */
        double bound;
        status = dp_epsilon(&list[0], delta, &bound, err);
        epsilon->upper = fmin(epsilon->upper, bound);
    }
    if (status != DP_OK)
        *epsilon = (dp_interval){.upper = INFINITY, .estimate = NAN};
    return status;
}

/* Whether the failures of all samplers are within what is left of delta. */
static bool failures_are_covered(const dp_mechanism *list, size_t n, double delta, double epsilon)
{
    double draws = 0;
    for (size_t i = 0; i < n; i++)
        draws += (double)list[i].steps * ((double)DPI_MOST_RELEASED + (double)DPI_MOST_MEMBERS);
    return dpi_release_whole_delta(delta, dpi_release_delta(delta), draws, epsilon) <= delta;
}

dp_status dpi_compose(const dpi_data *data, const dpi_entry_part *more, size_t n_more,
                      dp_interval *epsilon, dp_error *err)
{
    size_t total = n_more, n = 0;
    *epsilon = (dp_interval){.upper = INFINITY, .estimate = NAN};
    for (size_t i = 0; i < data->n; i++)
        total += data->entries[i].n;
    dp_mechanism *list = dpi_alloc(total, sizeof *list);
    if (list == NULL)
        return dpi_fail_nomem(err);
    dp_status status = DP_OK;
    dp_adjacency budget = data->budget.adjacency;
    const double delta = data->budget.delta;
    for (size_t i = 0; i < data->n; i++)
        for (size_t k = 0; status == DP_OK && k < data->entries[i].n; k++)
            status = add(list, &n, &data->entries[i].parts[k], budget, err);
    for (size_t k = 0; status == DP_OK && k < n_more; k++)
        status = add(list, &n, &more[k], budget, err);
    if (status == DP_OK)
        status = account(list, n, dpi_release_delta(delta), epsilon, err);
    if (status == DP_OK && !failures_are_covered(list, n, delta, epsilon->upper))
        epsilon->upper = INFINITY;
    dpi_free(list);
    return status;
}

/* ---- what would fit ---- */

/* True when the data set's entries and `part` are within the budget; *failed on an error. */
static bool fits(const dpi_data *data, const dpi_entry_part *part, bool *failed)
{
    dp_interval epsilon;
    if (*failed || dpi_compose(data, part, 1, &epsilon, NULL) != DP_OK) {
        *failed = true;
        return false;
    }
    return epsilon.upper <= data->budget.epsilon;
}

/* The most steps (whole epochs) that fit, given that part's own do not; 0 for none. */
static uint64_t most_steps(const dpi_data *data, dpi_entry_part part, bool *failed)
{
    uint64_t unit = part.mechanism.epoch > 0 ? part.mechanism.epoch : 1;
    uint64_t low = 0, high = part.mechanism.steps / unit;
    while (high - low > 1 + low / STEP_PARTS && !*failed) {
        uint64_t middle = low + (high - low) / 2;
        part.mechanism.steps = middle * unit;
        if (fits(data, &part, failed))
            low = middle;
        else
            high = middle;
    }
    return *failed ? 0 : low * unit;
}

/* The least noise at which all steps fit, to a relative 1/128 above it; NaN when none is found. */
static double least_sigma(const dpi_data *data, dpi_entry_part part, bool *failed)
{
    double low = part.mechanism.sigma, high = low;
    bool found = false;
    for (int i = 0; i < MOST_DOUBLINGS && !found && !*failed; i++) {
        low = high;
        part.mechanism.sigma = high = 2 * high;
        found = fits(data, &part, failed);
    }
    for (int i = 0; i < SIGMA_HALVINGS && found && !*failed; i++) {
        part.mechanism.sigma = sqrt(low * high);
        if (fits(data, &part, failed))
            high = part.mechanism.sigma;
        else
            low = part.mechanism.sigma;
    }
    return found && !*failed ? high : NAN;
}

static void say_what_fits(const dpi_data *data, const dpi_entry_part *more, size_t n, char *text,
                          size_t size)
{
    (void)snprintf(text, size, "take fewer steps or more noise");
    if (n != 1)
        return;
    bool failed = false, scales = more->mechanism.noise != DP_NOISE_RANDOMISED_RESPONSE &&
                                  more->mechanism.noise != DP_NOISE_ALL_OR_NOTHING;
    uint64_t steps = most_steps(data, *more, &failed);
    double sigma = scales ? least_sigma(data, *more, &failed) : NAN;
    char noise[80] = "";
    if (isfinite(sigma))
        (void)snprintf(noise, sizeof noise, "sigma %.4g for all %llu steps",
                       ceil(sigma * 1000) / 1000, (unsigned long long)more->mechanism.steps);
    if (failed || (steps == 0 && noise[0] == 0))
        (void)snprintf(text, size, "nothing of this kind would fit");
    else if (steps == 0)
        (void)snprintf(text, size, "what would fit: %s", noise);
    else
        (void)snprintf(text, size, "what would fit: %llu steps at sigma %.4g%s%s",
                       (unsigned long long)steps, more->mechanism.sigma, noise[0] ? ", or " : "",
                       noise);
}

static const char *adjacency_text(dp_adjacency a)
{
    return a == DP_REPLACE_ONE ? "replace one" : "add or remove one";
}

static dp_status check_neighbours(const dpi_data *data, const dpi_entry_part *more, size_t n,
                                  dp_error *err)
{
    dp_adjacency budget = data->budget.adjacency;
    for (size_t k = 0; k < n; k++)
        if (neighbours(&more[k].mechanism, budget) != budget)
            return dpi_fail(err, DP_EMISMATCH,
                            "the budget of '%.100s' is for neighbours that %s, and this run's "
                            "figures for those "
                            "that %s; %s",
                            data->name, adjacency_text(budget),
                            adjacency_text(neighbours(&more[k].mechanism, budget)),
                            budget == DP_ADD_REMOVE
                                ? "use Poisson sampling, random allocation or full batches"
                                : "use fixed-size batches, or Poisson sampling or full batches");
    return DP_OK;
}

dp_status dpi_compose_admit(const dpi_data *data, const dpi_entry_part *more, size_t n_more,
                            dp_error *err)
{
    dp_interval all, before;
    char fitting[200];
    dp_status status = check_neighbours(data, more, n_more, err);
    if (status == DP_OK)
        status = dpi_compose(data, more, n_more, &all, err);
    if (status != DP_OK || all.upper <= data->budget.epsilon)
        return status;
    status = dpi_compose(data, NULL, 0, &before, err);
    if (status != DP_OK)
        return status;
    say_what_fits(data, more, n_more, fitting, sizeof fitting);
    return dpi_fail(err, DP_EPRIVACY,
                    "epsilon %.4g of %.4g (delta %.3g) on '%.100s' is spent, and this would make "
                    "it %.4g; %s",
                    before.upper, data->budget.epsilon, data->budget.delta, data->name, all.upper,
                    fitting);
}
