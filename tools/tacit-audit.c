/* The command audit: runs of the library's own program under attack, and what was found beside what
 * is certified. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <tacit/audit.h>

#include "tools/json.h"
#include "tools/options.h"
#include "tools/tacit.h"

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int refuse(int status, const char *text)
{
    (void)fprintf(stderr, "tacit audit: %s\n", text);
    return status;
}

static double or_zero(double value)
{
    return isnan(value) ? 0 : value;
}

static bool find_sampling(const settings *said, message *why)
{
    bool sampled = said->sampling == DP_SAMPLING_POISSON || said->sampling == DP_SAMPLING_FIXED;
    bool allocates = said->sampling == DP_SAMPLING_ALLOCATION;
    if (!sampled && !allocates && said->sampling != DP_SAMPLING_FULL)
        return complain(why,
                        "--sampling is %s; give full, poisson, fixed or allocation, the samplings "
                        "that have an audit",
                        said->sampling < 0 ? "missing"
                                           : option_word_of("sampling", said->sampling));
    if (sampled && isnan(said->q))
        return complain(why, "--q is missing; give the sampling rate");
    if (!sampled && !isnan(said->q) && said->q != 1)
        return complain(why, "--q is %g with sampling %s; leave it out, or give poisson", said->q,
                        option_word_of("sampling", said->sampling));
    if (allocates == isnan(said->epoch))
        return complain(why, "--epoch is %s; it belongs to sampling allocation, which needs it",
                        allocates ? "missing" : "given");
    return true;
}

static bool find_options(const settings *said, dp_audit_opts *o, message *why)
{
    if (!find_sampling(said, why))
        return false;
    if (isnan(said->delta))
        return complain(why, "--delta is missing; give one well below 1 / (number of records)");
    if (isnan(said->epsilon) == isnan(said->sigma))
        return complain(why, "--epsilon and --sigma are %s; give one of them",
                        isnan(said->sigma) ? "missing" : "both given");
    if (!isnan(said->runs) && !isnan(said->canaries))
        return complain(why, "--canaries asks for one run, and --runs for many with one canary; "
                             "give one of them");
    *o = (dp_audit_opts){
        .target = said->target < 0 ? DP_AUDIT_GRADIENTS : (dp_audit_target)said->target,
        .sampling = (dp_sampling)said->sampling,
        .rate = said->sampling == DP_SAMPLING_POISSON || said->sampling == DP_SAMPLING_FIXED
                    ? said->q
                    : 0,
        .epoch = (uint64_t)or_zero(said->epoch),
        .epsilon = or_zero(said->epsilon),
        .sigma = or_zero(said->sigma),
        .delta = said->delta,
        .steps = (uint64_t)or_zero(said->steps),
        .runs = (size_t)or_zero(said->runs),
        .canaries = (size_t)or_zero(said->canaries),
        .confidence = or_zero(said->confidence)};
    return true;
}

static const char *target_word(const dp_audit_opts *o)
{
    return option_word_of("target", (int)o->target);
}

static void answer_json_of(const dp_audit_opts *o, const dp_audit_result *r, double seconds)
{
    json j = json_begin(stdout);
    json_text(&j, "command", "audit");
    json_number(&j, "epsilon_certified", r->epsilon_certified);
    json_number(&j, "epsilon_measured_lower", r->epsilon_measured_lower);
    json_number(&j, "epsilon_as_gaussian", r->epsilon_as_gaussian);
    json_number(&j, "confidence", r->confidence);
    json_number(&j, "delta", r->delta);
    json_text(&j, "sampling", option_word_of("sampling", (int)o->sampling));
    json_number(&j, "q", r->rate);
    json_number(&j, "sigma", r->sigma);
    json_count(&j, "steps", r->steps);
    json_truth(&j, "refuted", r->refuted);
    json_number(&j, "curve_false_positives", r->curve_false_positives);
    json_number(&j, "curve_true_positives", r->curve_true_positives);
    json_number(&j, "curve_certified", r->curve_certified);
    if (r->epoch > 0)
        json_count(&j, "epoch", r->epoch);
    json_text(&j, "target", target_word(o));
    json_count(&j, "canaries", r->canaries);
    json_count(&j, "runs", r->runs);
    json_count(&j, "guesses", r->guesses);
    if (r->canaries > 1)
        json_count(&j, "correct", r->correct);
    json_number(&j, "seconds", seconds);
    json_end(&j);
}

/* Four decimals, rounded up (way 1) or down (way -1). */
static double outward(double value, int way)
{
    return way > 0 ? ceil(value * 1e4) / 1e4 : floor(value * 1e4) / 1e4;
}

/* How often the attacker is right where the certified curve is met most closely. */
static void tell_curve(const dp_audit_result *r)
{
    (void)printf("  certified   true positives  at most  %8.3f %%  where false ones are at most "
                 "%.3f %%\n",
                 outward(100 * r->curve_certified, 1), outward(100 * r->curve_false_positives, 1));
    (void)printf("  measured    true positives  at least %8.3f %%  at %.6g %% confidence\n",
                 outward(100 * r->curve_true_positives, -1), 100 * r->confidence);
}

static void tell_how(const dp_audit_opts *o, const dp_audit_result *r, double seconds)
{
    const char *sees = o->target == DP_AUDIT_GRADIENTS    ? "the noisy sum of every step"
                       : o->target == DP_AUDIT_PARAMETERS ? "the parameters at the end"
                       : o->target == DP_AUDIT_LOOP       ? "every release"
                                                          : "every answer";
    if (r->canaries == 1)
        (void)printf("%zu runs, half of them with one record of the worst kind; the attacker sees "
                     "%s.\n",
                     r->runs, sees);
    else
        (void)printf("One run with %zu records of the worst kind, each there by a fair coin; the "
                     "attacker sees\n%s, and of %zu guesses %zu were right.\n",
                     r->canaries, sees, r->guesses, r->correct);
    (void)printf("%.1f s.\n\n", seconds);
}

static void answer_tell_of(const dp_audit_opts *o, const dp_audit_result *r, double seconds)
{
    if (o->target == DP_AUDIT_LOOP)
        (void)printf("Runs of a fit by the noisy steps of dp_fit_private, all of it");
    else if (o->target > DP_AUDIT_PARAMETERS)
        (void)printf("Runs of %llu answer%s of dp_fit_private's question '%s'",
                     (unsigned long long)r->steps, r->steps == 1 ? "" : "s", target_word(o));
    else
        (void)printf("Runs of %llu step%s, sampling %s", (unsigned long long)r->steps,
                     r->steps == 1 ? "" : "s", option_word_of("sampling", (int)o->sampling));
    if (r->rate < 1)
        (void)printf(" with q = %g", r->rate);
    (void)printf(", noise of %.6g clipping norms, delta %g\n\n", r->sigma, r->delta);
    (void)printf("  certified   epsilon is at most  %8.4f\n", outward(r->epsilon_certified, 1));
    (void)printf("  measured    epsilon is at least %8.4f  at %.6g %% confidence\n",
                 outward(r->epsilon_measured_lower, -1), 100 * r->confidence);
    if (!isnan(r->epsilon_as_gaussian))
        (void)printf("              as Gaussian DP      %8.4f  if the noise is normal\n",
                     outward(r->epsilon_as_gaussian, -1));
    if (!isnan(r->curve_certified))
        tell_curve(r);
    (void)printf("\n");
    tell_how(o, r, seconds);
    if (r->refuted)
        (void)printf(
            "The program leaks MORE than is certified: refuted at a confidence of %.6g %%; "
            "do not use it.\n",
            100 * r->confidence);
    else
        (void)printf("The measured figure proves what the program leaks at least and must stay "
                     "below the\ncertified one.  How far below says how good this attack is, not "
                     "how good the program.\n");
}

static int run(const command *self, int argc, char **argv)
{
    message why = {""};
    settings said = settings_none();
    dp_audit_opts o;
    dp_audit_result r;
    dp_error err = {0};
    if (!options_parse(self->options, argc, argv, &said, &why))
        return refuse(EXIT_USAGE, why.text);
    if (said.help) {
        command_help(self);
        return EXIT_CERTIFIED;
    }
    if (!find_options(&said, &o, &why))
        return refuse(EXIT_USAGE, why.text);
    double start = now();
    dp_status status = dp_audit(&o, &r, &err);
    if (status != DP_OK)
        return refuse(status == DP_EDOMAIN || status == DP_EINVAL ? EXIT_USAGE : EXIT_REFUSED,
                      err.text);
    if (said.json)
        answer_json_of(&o, &r, now() - start);
    else
        answer_tell_of(&o, &r, now() - start);
    return r.refuted ? EXIT_REFUSED : EXIT_CERTIFIED;
}

const command command_audit = {
    "audit",
    FOR_AUDIT,
    "attack real runs: what they are measured to leak",
    "Runs this library's own training with and without a record of the worst kind, attacks what\n"
    "it releases, and gives a lower bound on epsilon beside the certified upper one, which\n"
    "takes many runs: 10^6 for an epsilon of 1, 10^5 for 4.  The certified trade-off curve is\n"
    "put to the test, too: 10^4 runs tell noise that is a third too small.",
    "tacit audit --sampling full --epsilon 4 --delta 1e-5 --runs 200000",
    run};
