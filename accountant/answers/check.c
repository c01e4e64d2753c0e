/* Checks of what a caller says.
 *
 * A field that belongs to another mechanism than the one named is an error, not ignored: a cap that
 * the account leaves out, or rows that it does not count, would make the figure wrong.  Which
 * combinations have an account, and why the others have none, is in doc/design/mechanisms.md. */
#include "accountant/answers/check.h"

#include <math.h>

#include "accountant/answers/shuffle.h"
#include "accountant/grid/grid.h"
#include "accountant/pairs/binomial.h"
#include "base/error.h"

static const double MIN_SIGMA = 0.05, MAX_SIGMA = 1e6;
static const double MAX_LATTICE_SIGMA = 1e4;
static const double MIN_RATE = 1e-9;
static const double MIN_REPLACED = 1e-9;
static const double CHANCES_SUM = 1e-9; /* how far they may be off 1 */
static const uint64_t MAX_STEPS = 1000000000;

enum { MAX_ROWS = 64, MAX_JUMPS = 64 };

static const char *name_of(dp_sampling sampling)
{
    static const char *const name[] = {
        [DP_SAMPLING_POISSON] = "DP_SAMPLING_POISSON",
        [DP_SAMPLING_FULL] = "DP_SAMPLING_FULL",
        [DP_SAMPLING_FIXED] = "DP_SAMPLING_FIXED",
        [DP_SAMPLING_ALLOCATION] = "DP_SAMPLING_ALLOCATION",
        [DP_SAMPLING_TRUNCATED] = "DP_SAMPLING_TRUNCATED",
    };
    return name[sampling];
}

/* Shuffled batches are refused with what they cost at least; an impossible rate is a first
 * complaint. */
static dp_status refuse_shuffle(double sigma, double rate, dp_error *err)
{
    bool known = sigma >= MIN_SIGMA && sigma <= MAX_SIGMA && rate >= MIN_RATE && rate <= 1;
    double floor = known ? dpi_shuffle_floor(sigma, nearbyint(1 / rate), 1e-5) : 0;
    const char *advice = "draw every epoch afresh with DP_SAMPLING_ALLOCATION (one batch of each "
                         "epoch per record, proven), or use DP_SAMPLING_POISSON";
    if (floor > 0)
        return dpi_fail(err, DP_EMISMATCH,
                        "batches cut from a shuffled list have no account: no good upper bound is "
                        "known and that of Poisson sampling is none; one epoch of %.0f steps with "
                        "sigma %g already has epsilon above %.3g at delta 1e-5 (Chua et al., ICML "
                        "2024); %s",
                        nearbyint(1 / rate), sigma, 0.999 * floor, advice);
    return dpi_fail(
        err, DP_EMISMATCH,
        "batches cut from a shuffled list have no account: no good upper bound is known "
        "and that of Poisson sampling is none (Chua et al., ICML 2024); %s",
        advice);
}

static dp_status check_name(dp_sampling sampling, dp_error *err)
{
    if (sampling >= DP_SAMPLING_POISSON && sampling <= DP_SAMPLING_TRUNCATED)
        return DP_OK;
    if (sampling == DP_SAMPLING_SHUFFLE)
        return refuse_shuffle(NAN, NAN, err);
    return dpi_fail(err, DP_EDOMAIN,
                    "sampling is %d; name the sampler: DP_SAMPLING_POISSON or another of "
                    "DP_SAMPLING_*",
                    (int)sampling);
}

dp_status dpi_check_sampling(dp_sampling sampling, double rate, uint64_t steps, dp_error *err)
{
    dp_status status = check_name(sampling, err);
    if (status != DP_OK)
        return status;
    if (!(rate > 0 && rate <= 1))
        return dpi_fail(err, DP_EDOMAIN,
                        "rate is %g; give the probability that a record is in the batch, above 0 "
                        "and at most 1",
                        rate);
    if (sampling == DP_SAMPLING_FULL && rate != 1)
        return dpi_fail(err, DP_EDOMAIN,
                        "rate is %g with DP_SAMPLING_FULL; full batches have rate 1, sampled ones "
                        "are DP_SAMPLING_POISSON",
                        rate);
    if (rate < MIN_RATE)
        return dpi_fail(err, DP_EACCURACY, "rate is %g; rates below %g are not accounted for", rate,
                        MIN_RATE);
    if (steps == 0)
        return dpi_fail(err, DP_EDOMAIN, "steps is 0; give the number of releases, at least 1");
    if (steps > MAX_STEPS)
        return dpi_fail(err, DP_EACCURACY, "steps is %llu; more than %llu are not accounted for",
                        (unsigned long long)steps, (unsigned long long)MAX_STEPS);
    return DP_OK;
}

static dp_status check_sigma(const dp_mechanism *m, dp_error *err)
{
    bool response = m->noise == DP_NOISE_RANDOMISED_RESPONSE;
    bool lattice = m->noise == DP_NOISE_DISCRETE_GAUSSIAN || m->noise == DP_NOISE_ROUNDED_GAUSSIAN;
    if (response && !(m->sigma > 0 && m->sigma <= 1))
        return dpi_fail(err, DP_EDOMAIN,
                        "sigma is %g; for randomised response give the probability that an answer "
                        "is replaced, above 0 and at most 1",
                        m->sigma);
    if (!(m->sigma > 0 && m->sigma < INFINITY))
        return dpi_fail(err, DP_EDOMAIN,
                        "sigma is %g; give the noise as a multiple of the clipping norm, above 0",
                        m->sigma);
    double least = response ? MIN_REPLACED : MIN_SIGMA;
    double most = lattice ? MAX_LATTICE_SIGMA : MAX_SIGMA;
    if (m->sigma < least || m->sigma > most)
        return dpi_fail(err, DP_EACCURACY, "sigma is %g; the account covers %g to %g%s", m->sigma,
                        least, response ? 1 : most, response ? "" : " clipping norms");
    return DP_OK;
}

/* Fields of one sampler alone. */
static dp_status check_epoch(const dp_mechanism *m, dp_error *err)
{
    if (m->sampling != DP_SAMPLING_ALLOCATION)
        return m->epoch == 0 ? DP_OK
                             : dpi_fail(err, DP_EDOMAIN,
                                        "epoch is %llu with %s; it belongs to "
                                        "DP_SAMPLING_ALLOCATION: leave it 0",
                                        (unsigned long long)m->epoch, name_of(m->sampling));
    if (m->epoch < 2)
        return dpi_fail(err, DP_EDOMAIN,
                        "epoch is %llu; give the number of steps of an epoch, at "
                        "least 2 (DP_SAMPLING_FULL for 1)",
                        (unsigned long long)m->epoch);
    if (m->steps % m->epoch != 0)
        return dpi_fail(err, DP_EDOMAIN,
                        "steps is %llu, which is no multiple of epoch, %llu; account for whole "
                        "epochs",
                        (unsigned long long)m->steps, (unsigned long long)m->epoch);
    if (!(fabs(m->rate * (double)m->epoch - 1) <= 1e-6))
        return dpi_fail(err, DP_EDOMAIN,
                        "rate is %g with an epoch of %llu steps; every record is in one batch of "
                        "it: give 1 / epoch",
                        m->rate, (unsigned long long)m->epoch);
    return DP_OK;
}

static dp_status check_cap(const dp_mechanism *m, dp_error *err)
{
    if (m->sampling != DP_SAMPLING_TRUNCATED)
        return m->cap == 0 ? DP_OK
                           : dpi_fail(err, DP_EDOMAIN,
                                      "cap is %llu with %s; Poisson batches that are cut at a "
                                      "largest size are DP_SAMPLING_TRUNCATED, else leave it 0",
                                      (unsigned long long)m->cap, name_of(m->sampling));
    if (m->cap == 0 || m->records == 0)
        return dpi_fail(err, DP_EDOMAIN,
                        "cap is %llu and records is %llu; give the largest batch and the number of "
                        "records, both at least 1",
                        (unsigned long long)m->cap, (unsigned long long)m->records);
    if (m->records >= DPI_MAX_TRIALS)
        return dpi_fail(err, DP_EACCURACY, "records is %llu; fewer than %llu are accounted for",
                        (unsigned long long)m->records, (unsigned long long)DPI_MAX_TRIALS);
    return DP_OK;
}

static dp_status check_categories(const dp_mechanism *m, dp_error *err)
{
    bool response = m->noise == DP_NOISE_RANDOMISED_RESPONSE;
    if (response && m->categories < 2)
        return dpi_fail(err, DP_EDOMAIN,
                        "categories is %lu; give the number of answers, at least 2",
                        (unsigned long)m->categories);
    if (!response && m->categories != 0)
        return dpi_fail(err, DP_EDOMAIN,
                        "categories is %lu; it belongs to DP_NOISE_RANDOMISED_RESPONSE: leave it 0",
                        (unsigned long)m->categories);
    return DP_OK;
}

/* Whether this is a Gaussian mechanism with records added or removed, in every batch or sampled. */
static bool is_plain(const dp_mechanism *m)
{
    return (m->sampling == DP_SAMPLING_POISSON || m->sampling == DP_SAMPLING_FULL) &&
           m->noise == DP_NOISE_GAUSSIAN && m->adjacency != DP_REPLACE_ONE;
}

static dp_status check_rows(const dp_mechanism *m, dp_error *err)
{
    if (m->rows <= 1)
        return DP_OK;
    if (m->rows > MAX_ROWS)
        return dpi_fail(err, DP_EACCURACY, "rows is %lu; units of at most %d are accounted for",
                        (unsigned long)m->rows, MAX_ROWS);
    if (m->sampling == DP_SAMPLING_FULL)
        return dpi_fail(err, DP_EMISMATCH,
                        "rows is %lu with DP_SAMPLING_FULL; all rows of a unit are in every batch: "
                        "give sigma / rows and rows 0",
                        (unsigned long)m->rows);
    if (!is_plain(m) || m->jumps != NULL)
        return dpi_fail(err, DP_EMISMATCH,
                        "rows is %lu; units of several rows are accounted for with "
                        "DP_SAMPLING_POISSON, Gaussian noise, DP_ADD_REMOVE and no jumps",
                        (unsigned long)m->rows);
    return DP_OK;
}

static dp_status check_each_jump(const dp_mechanism *m, dp_error *err)
{
    double sum = 0;
    for (size_t j = 0; j < m->n_jumps; j++) {
        double jump = m->jumps[j], chance = m->chances[j];
        if (!(jump >= 0 && jump < INFINITY))
            return dpi_fail(err, DP_EDOMAIN,
                            "jumps[%zu] is %g; give how far the sum moves, in clipping norms, not "
                            "below 0",
                            j, jump);
        if (!(chance >= 0 && chance <= 1))
            return dpi_fail(err, DP_EDOMAIN, "chances[%zu] is %g; give a probability", j, chance);
        if (jump > 0 && !(m->sigma / jump >= MIN_SIGMA / MAX_ROWS && m->sigma / jump <= MAX_SIGMA))
            return dpi_fail(err, DP_EACCURACY,
                            "jumps[%zu] is %g with sigma %g; sigma / jump of %g to %g is accounted "
                            "for",
                            j, jump, m->sigma, MIN_SIGMA / MAX_ROWS, MAX_SIGMA);
        sum += chance;
    }
    if (!(fabs(sum - 1) <= CHANCES_SUM))
        return dpi_fail(err, DP_EDOMAIN,
                        "the chances of the jumps sum to %.12g; they must sum to 1", sum);
    return DP_OK;
}

static dp_status check_jumps(const dp_mechanism *m, dp_error *err)
{
    if (m->jumps == NULL && m->chances == NULL && m->n_jumps == 0)
        return DP_OK;
    if (m->jumps == NULL || m->chances == NULL || m->n_jumps == 0)
        return dpi_fail(err, DP_EDOMAIN,
                        "jumps, chances and n_jumps belong together; give all three or none");
    if (m->n_jumps > MAX_JUMPS)
        return dpi_fail(err, DP_EACCURACY, "n_jumps is %zu; at most %d are accounted for",
                        m->n_jumps, MAX_JUMPS);
    if (!is_plain(m))
        return dpi_fail(err, DP_EMISMATCH,
                        "jumps are accounted for with DP_SAMPLING_FULL or DP_SAMPLING_POISSON, "
                        "Gaussian noise and DP_ADD_REMOVE");
    if (m->rate != 1)
        return dpi_fail(err, DP_EDOMAIN,
                        "rate is %g with jumps; the chances say how often the unit takes part (a "
                        "jump of 0 when it does not): give rate 1",
                        m->rate);
    return check_each_jump(m, err);
}

/* Samplers that have one noise and one adjacency. */
static dp_status check_sampler_alone(const dp_mechanism *m, dp_error *err)
{
    if (m->noise != DP_NOISE_GAUSSIAN)
        return dpi_fail(err, DP_EMISMATCH,
                        "%s is accounted for with Gaussian noise only; use DP_SAMPLING_POISSON or "
                        "DP_SAMPLING_FULL",
                        name_of(m->sampling));
    if (m->sampling == DP_SAMPLING_FIXED && m->adjacency == DP_ADD_REMOVE)
        return dpi_fail(
            err, DP_EMISMATCH,
            "DP_SAMPLING_FIXED has no account under DP_ADD_REMOVE: with one record more "
            "the rate or the batch changes; use DP_REPLACE_ONE, or DP_SAMPLING_POISSON");
    if (m->sampling != DP_SAMPLING_FIXED && m->adjacency == DP_REPLACE_ONE)
        return dpi_fail(err, DP_EMISMATCH,
                        "%s has no account under DP_REPLACE_ONE; use DP_ADD_REMOVE, or "
                        "DP_SAMPLING_POISSON",
                        name_of(m->sampling));
    return DP_OK;
}

static dp_status check_combination(const dp_mechanism *m, dp_error *err)
{
    bool replaced = m->adjacency == DP_REPLACE_ONE;
    if (m->sampling != DP_SAMPLING_POISSON && m->sampling != DP_SAMPLING_FULL)
        return check_sampler_alone(m, err);
    if (m->noise == DP_NOISE_RANDOMISED_RESPONSE &&
        (m->sampling != DP_SAMPLING_FULL || m->adjacency == DP_ADD_REMOVE))
        return dpi_fail(err, DP_EMISMATCH,
                        "randomised response is accounted for with DP_SAMPLING_FULL and "
                        "DP_REPLACE_ONE: every record gives an answer of its own");
    if (m->noise == DP_NOISE_LAPLACE && replaced && m->sampling == DP_SAMPLING_POISSON)
        return dpi_fail(err, DP_EMISMATCH,
                        "sampled Laplace noise has no account under DP_REPLACE_ONE; use "
                        "DP_ADD_REMOVE, or DP_SAMPLING_FULL");
    if ((m->noise == DP_NOISE_DISCRETE_GAUSSIAN || m->noise == DP_NOISE_ROUNDED_GAUSSIAN) &&
        replaced)
        return dpi_fail(err, DP_EMISMATCH,
                        "noise on the integers is accounted for a query that changes by at most 1; "
                        "use DP_ADD_REMOVE");
    return DP_OK;
}

static dp_status check_enums(const dp_mechanism *m, dp_error *err)
{
    if (m->noise == DP_NOISE_ALL_OR_NOTHING)
        return dpi_fail(err, DP_EMISMATCH,
                        "what tells all or nothing is accounted for by epsilon and delta alone: "
                        "dp_account_epsilon, dp_account_delta, dp_epsilon, dp_delta");
    if ((int)m->noise < DP_NOISE_GAUSSIAN || m->noise > DP_NOISE_RANDOMISED_RESPONSE)
        return dpi_fail(err, DP_EDOMAIN, "noise is %d; name one of DP_NOISE_*", (int)m->noise);
    if ((int)m->adjacency < DP_ADJACENCY_OF_SAMPLING || m->adjacency > DP_REPLACE_ONE)
        return dpi_fail(err, DP_EDOMAIN,
                        "adjacency is %d; name DP_ADD_REMOVE or DP_REPLACE_ONE, or leave it 0",
                        (int)m->adjacency);
    return DP_OK;
}

typedef dp_status (*field_check)(const dp_mechanism *m, dp_error *err);

dp_status dpi_check_mechanism(const dp_mechanism *m, dp_error *err)
{
    static const field_check check[] = {check_enums, check_combination, check_sigma, check_epoch,
                                        check_cap,   check_categories,  check_rows,  check_jumps};
    if (m->sampling == DP_SAMPLING_SHUFFLE)
        return refuse_shuffle(m->sigma, m->rate, err);
    dp_status status = dpi_check_sampling(m->sampling, m->rate, m->steps, err);
    for (size_t i = 0; i < sizeof check / sizeof *check && status == DP_OK; i++)
        status = check[i](m, err);
    return status;
}

dp_status dpi_check_epsilon(double epsilon, bool zero_allowed, dp_error *err)
{
    if (epsilon > 0 && epsilon < INFINITY)
        return DP_OK;
    if (epsilon == 0 && zero_allowed)
        return DP_OK;
    return dpi_fail(err, DP_EDOMAIN, "epsilon is %g; give a finite number %s 0", epsilon,
                    zero_allowed ? "not below" : "above");
}

dp_status dpi_check_delta(double delta, dp_error *err)
{
    if (!(delta > 0 && delta < 1))
        return dpi_fail(err, DP_EDOMAIN,
                        "delta is %g; give a number above 0 and below 1, below 1 / (number of "
                        "records) to mean anything",
                        delta);
    /* Twice, because runs ask for a little less than they are asked for. */
    if (delta < DPI_LEAST_DELTA)
        return dpi_fail(err, DP_EACCURACY, "delta is %g; ask for at least %g", delta,
                        2 * DPI_LEAST_DELTA);
    return DP_OK;
}
