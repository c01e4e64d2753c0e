/* One line each, with a remedy where something is wrong. */
#include "infer/diagnose.h"

#include <math.h>
#include <stdio.h>

#include "infer/clip.h"

/* The noise of privacy in the posterior means, in standard deviations of the posterior without it,
 * under the public model of clipping; on average over latents. */
static double noise_of(const dpi_rounds *r)
{
    const dpi_budget *b = r->budget;
    double clip = r->clip[DPI_STAGE_MAIN], rounds = (double)b->releases[DPI_STAGE_MAIN];
    double sd = b->sigmas[DPI_STAGE_MAIN] * clip / sqrt(rounds - floor(rounds / DPI_LEFT_OUT));
    return b->noisy ? sd / dpi_clipped_at(r->metric.dims, clip).slope / sqrt(r->n) : 0;
}

static void say(dpi_diagnosis *room, dp_diagnostic *list, size_t k, dp_diagnostic d)
{
    d.words = room->words[k];
    list[k] = d;
}

size_t dpi_diagnose(const dpi_rounds *r, dpi_diagnosis *room, dp_diagnostic *list)
{
    size_t n = 0;
    double noise = noise_of(r);
    bool bad = r->signal < 3;
    (void)snprintf(
        room->words[n], DPI_DIAGNOSIS_WORDS,
        bad ? "what the records tell is hidden by the noise (%.1f standard deviations): "
              "the answer is the prior; more records or a larger epsilon are needed"
            : "what the records tell stands out of the noise by %.1f standard deviations",
        r->signal);
    say(room, list, n,
        (dp_diagnostic){.name = "information", .value = r->signal, .limit = 3, .bad = bad});
    n++;
    bad = noise > 1;
    (void)snprintf(room->words[n], DPI_DIAGNOSIS_WORDS,
                   "privacy adds about %.2f posterior standard deviations of noise to each mean; "
                   "intervals include it%s",
                   noise, bad ? "; more records or a larger epsilon would narrow them" : "");
    say(room, list, n, (dp_diagnostic){.name = "noise", .value = noise, .limit = 1, .bad = bad});
    n++;
    bad = r->excess > 3;
    (void)snprintf(
        room->words[n], DPI_DIAGNOSIS_WORDS,
        bad ? "more records are far out than the model expects (%.1f standard deviations "
              "of the count's noise); a family with heavier tails, such as Student's t, "
              "may fit better"
            : "no more records are far out than the model expects (%.1f standard "
              "deviations of the count's noise)",
        r->excess);
    say(room, list, n,
        (dp_diagnostic){.name = "misfit", .value = r->excess, .limit = 3, .bad = bad});
    n++;
    bad = !(r->drift < 4);
    (void)snprintf(
        room->words[n], DPI_DIAGNOSIS_WORDS,
        bad ? "the main rounds had not arrived when they began (%.1f standard deviations "
              "between their halves); bring the prior nearer, or scale the predictors"
            : "the main rounds stayed where they were (%.1f standard deviations between "
              "their halves)",
        r->drift);
    say(room, list, n,
        (dp_diagnostic){.name = "convergence", .value = r->drift, .limit = 4, .bad = bad});
    n++;
    bad = !(r->report.r_hat < 1.05);
    (void)snprintf(
        room->words[n], DPI_DIAGNOSIS_WORDS,
        bad ? "the posterior's chains disagree (R-hat %.3f, %.0f effective draws); it may "
              "have several modes, or a prior with a sharp funnel"
            : "the posterior's chains agree (R-hat %.3f, %.0f effective draws)",
        r->report.r_hat, r->report.ess);
    say(room, list, n,
        (dp_diagnostic){.name = "sampling", .value = r->report.r_hat, .limit = 1.05, .bad = bad});
    return n + 1;
}
