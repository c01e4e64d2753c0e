/* Mechanisms from settings.  What belongs to another sampling than the one named is an error: an
 * option that is silently ignored is a claim that does not hold. */
#include "tools/mechanism.h"

#include <math.h>

static bool given(double value)
{
    return !isnan(value);
}

static bool sampling_needs(const settings *said, const char *dashes, message *why)
{
    const char *alien = NULL, *owner = NULL;
    if (given(said->epoch) && said->sampling != DP_SAMPLING_ALLOCATION &&
        said->sampling != DP_SAMPLING_SHUFFLE)
        alien = "epoch", owner = "allocation";
    else if (given(said->cap) && said->sampling != DP_SAMPLING_TRUNCATED)
        alien = "cap", owner = "truncated";
    else if (given(said->rows) && said->sampling != DP_SAMPLING_POISSON)
        alien = "rows", owner = "poisson";
    if (alien != NULL)
        return complain(why, "%s%s belongs to sampling %s and not to %s; leave it out", dashes,
                        alien, owner, option_word_of("sampling", said->sampling));
    bool answers = said->noise == DP_NOISE_RANDOMISED_RESPONSE;
    if (answers != given(said->categories))
        return complain(why, "%scategories and the noise randomised-response belong together; %s",
                        dashes, answers ? "give the number of answers" : "leave it out");
    if (said->jumps.n != said->chances.n)
        return complain(why,
                        "%sjumps has %zu numbers and %schances %zu; give one chance for each jump",
                        dashes, said->jumps.n, dashes, said->chances.n);
    return true;
}

/* q from whichever of q, n, batch and epoch were given. */
static bool find_rate(const settings *said, const char *dashes, double *rate, message *why)
{
    bool by_batch = given(said->batch);
    if (by_batch && given(said->q))
        return complain(why, "%sq and %sbatch both give the sampling rate; give one of them",
                        dashes, dashes);
    if (by_batch && !given(said->n))
        return complain(why, "%sbatch needs %sn, the number of records, for q = batch / n", dashes,
                        dashes);
    if (by_batch && said->batch > said->n)
        return complain(why, "%sbatch is %.0f with %sn %.0f; a batch is at most all records",
                        dashes, said->batch, dashes, said->n);
    *rate = by_batch ? said->batch / said->n : said->q;
    if (said->sampling == DP_SAMPLING_FULL) {
        if (given(*rate) && *rate != 1)
            return complain(why,
                            "the sampling rate is %g with sampling full; leave out %s, or name the "
                            "sampling",
                            *rate, by_batch ? "the batch" : "q");
        *rate = 1;
    }
    if (said->sampling == DP_SAMPLING_SHUFFLE && !given(*rate)) /* all is one epoch */
        *rate = 1 / (given(said->epoch) ? said->epoch : said->steps);
    if (given(*rate))
        return true;
    if (given(said->epoch))
        return true; /* allocation: from the epoch */
    if (said->jumps.n > 0) {
        *rate = 1;
        return true;
    }
    return complain(why, "the sampling rate is missing; give %sq, or %sn and %sbatch", dashes,
                    dashes, dashes);
}

static bool find_epoch(const settings *said, const char *dashes, dp_mechanism *m, message *why)
{
    double epoch = given(said->epoch) ? said->epoch : nearbyint(1 / m->rate);
    if (given(said->batch) && !given(said->epoch))
        epoch = ceil(said->n / said->batch);
    else if (given(m->rate) && fabs(m->rate * epoch - 1) > 1e-6)
        return complain(
            why,
            "q is %g, and one batch of each epoch has q = 1 / (steps of an epoch); give "
            "%sepoch instead, as in %sepoch%c469",
            m->rate, dashes, dashes, dashes[0] == '-' ? ' ' : '=');
    m->epoch = (uint64_t)epoch;
    m->rate = 1 / epoch;
    return true;
}

bool mechanism_from(const settings *said, const char *dashes, bool any_sigma, dp_mechanism *m,
                    message *why)
{
    *m = (dp_mechanism){0};
    if (said->sampling < 0)
        return complain(why,
                        "%ssampling is missing, and it decides what a figure means; give poisson, "
                        "fixed, full, allocation or truncated, whichever your sampler really does",
                        dashes);
    m->sampling = (dp_sampling)said->sampling;
    if (!any_sigma && !given(said->sigma))
        return complain(
            why, "%ssigma is missing; give the noise as a multiple of the clipping norm", dashes);
    if (!given(said->steps))
        return complain(why, "%ssteps is missing; give the number of releases", dashes);
    if (!sampling_needs(said, dashes, why) || !find_rate(said, dashes, &m->rate, why))
        return false;
    if (m->sampling == DP_SAMPLING_ALLOCATION && !find_epoch(said, dashes, m, why))
        return false;
    if (m->sampling == DP_SAMPLING_TRUNCATED && !(given(said->cap) && given(said->n)))
        return complain(why, "sampling truncated needs %scap, the largest batch, and %sn", dashes,
                        dashes);
    m->sigma = said->sigma;
    m->steps = (uint64_t)said->steps;
    m->noise = said->noise < 0 ? DP_NOISE_GAUSSIAN : (dp_noise_law)said->noise;
    m->adjacency = said->adjacency < 0 ? DP_ADJACENCY_OF_SAMPLING : (dp_adjacency)said->adjacency;
    if (m->sampling == DP_SAMPLING_TRUNCATED) {
        m->records = (uint64_t)said->n;
        m->cap = (uint64_t)said->cap;
    }
    m->rows = given(said->rows) ? (uint32_t)said->rows : 0;
    m->categories = given(said->categories) ? (uint32_t)said->categories : 0;
    m->n_jumps = said->jumps.n;
    m->jumps = m->n_jumps > 0 ? said->jumps.value : NULL;
    m->chances = m->n_jumps > 0 ? said->chances.value : NULL;
    return true;
}

const char *mechanism_adjacency(const dp_mechanism *m)
{
    if (m->adjacency != DP_ADJACENCY_OF_SAMPLING)
        return option_word_of("adjacency", (int)m->adjacency);
    bool replace = m->sampling == DP_SAMPLING_FIXED || m->noise == DP_NOISE_RANDOMISED_RESPONSE;
    return option_word_of("adjacency", replace ? DP_REPLACE_ONE : DP_ADD_REMOVE);
}

void mechanism_describe(FILE *out, const dp_mechanism *m, bool with_sigma)
{
    (void)fprintf(out, "%llu release%s, %s", (unsigned long long)m->steps, m->steps == 1 ? "" : "s",
                  option_word_of("noise", (int)m->noise));
    if (m->noise == DP_NOISE_RANDOMISED_RESPONSE)
        (void)fprintf(out, " of chance %g among %lu answers", m->sigma,
                      (unsigned long)m->categories);
    else if (m->noise == DP_NOISE_ALL_OR_NOTHING)
        (void)fprintf(out, " with chance %g", m->sigma);
    else if (with_sigma)
        (void)fprintf(out, " noise of %g clipping norms", m->sigma);
    else
        (void)fprintf(out, " noise");
    (void)fprintf(out, ", sampling %s", option_word_of("sampling", (int)m->sampling));
    if (m->rate < 1)
        (void)fprintf(out, ", q = %g", m->rate);
    if (m->epoch > 0)
        (void)fprintf(out, ", epochs of %llu steps", (unsigned long long)m->epoch);
    if (m->cap > 0)
        (void)fprintf(out, ", batches of at most %llu", (unsigned long long)m->cap);
    if (m->rows > 1)
        (void)fprintf(out, ", %lu rows a person", (unsigned long)m->rows);
    if (m->n_jumps > 0)
        (void)fprintf(out, ", %zu possible jumps", m->n_jumps);
}
