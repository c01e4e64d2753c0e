#include "infer/exact-words.h"

#include <math.h>
#include <stdio.h>

static const double most_r_hat = 1.05, most_divergent = 0.01;

/* Effective draws, of which a mean is off by a twentieth of a standard deviation.  The least of
 * many numbers is asked for as many, and largest errors among many numbers are about three times
 * that: within the .2 that doc/evaluation.md asks for. */
static const double least_ess = 400;

/* Fewer draws than that are asked for have no more to give. */
static double least_ess_of(size_t n_draws)
{
    return fmin(least_ess, (double)n_draws / 4);
}

bool dpi_exact_is_good(const dpi_hmc_report *report, size_t n_draws)
{
    return report->r_hat < most_r_hat && report->ess >= least_ess_of(n_draws) &&
           (double)report->divergent <= most_divergent * (double)n_draws;
}

static void say_sampling(const dpi_hmc_report *report, size_t n_draws, dp_diagnostic *to,
                         char words[DPI_EXACT_WORDS])
{
    bool few = report->ess < least_ess_of(n_draws), bad = !(report->r_hat < most_r_hat) || few;
    (void)snprintf(words, DPI_EXACT_WORDS,
                   bad && few && report->r_hat < most_r_hat
                       ? "the posterior's chains move slowly (R-hat %.3f, %.0f effective draws): "
                         "means are off by chance; ask for more draws, or write the model so that "
                         "latents do not stand for one another"
                   : bad ? "the posterior's chains disagree (R-hat %.3f, %.0f effective draws); it "
                           "may have several modes, or a prior with a sharp funnel"
                         : "the posterior's chains agree (R-hat %.3f, %.0f effective draws)",
                   report->r_hat, report->ess);
    *to = (dp_diagnostic){.name = "sampling",
                          .value = report->r_hat,
                          .limit = most_r_hat,
                          .bad = bad,
                          .words = words};
}

static void say_divergent(const dpi_hmc_report *report, size_t n_draws, dp_diagnostic *to,
                          char words[DPI_EXACT_WORDS])
{
    double share = (double)report->divergent / (double)n_draws;
    bool bad = share > most_divergent;
    (void)snprintf(words, DPI_EXACT_WORDS,
                   bad ? "%.1f %% of trajectories left the density: places where it is narrow may "
                         "be missing; give scales priors that keep them from 0"
                       : "%.1f %% of trajectories left the density",
                   100 * share);
    *to = (dp_diagnostic){
        .name = "divergences", .value = share, .limit = most_divergent, .bad = bad, .words = words};
}

void dpi_exact_say(const dpi_hmc_report *report, size_t n_draws,
                   dp_diagnostic list[DPI_EXACT_CHECKS],
                   char words[DPI_EXACT_CHECKS][DPI_EXACT_WORDS])
{
    say_sampling(report, n_draws, &list[0], words[0]);
    say_divergent(report, n_draws, &list[1], words[1]);
}
