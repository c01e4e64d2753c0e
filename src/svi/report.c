/* What a run tells: its progress, its guarantee, a loss that was released, its parameters.
 *
 * All of it is a function of options and releases (doc/guarantee.md), but for the warning that
 * compares delta with the number of units. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "random/failure.h"
#include "svi/cost.h"
#include "svi/svi.h"
#include "svi/together.h"

/* ---- runs ---- */

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void show_progress(const dp_svi *s, FILE *out, double started)
{
    dp_privacy privacy = {0};
    const dp_loss *loss = &s->extras.last;
    (void)fprintf(out, "tacit: step %llu of %llu, %.1f s", (unsigned long long)s->optimizer.done,
                  (unsigned long long)s->opts.steps, now() - started);
    if (loss->step > 0)
        (void)fprintf(out, ", loss %.5g +- %.2g (step %llu)", loss->value, loss->noise,
                      (unsigned long long)loss->step);
    if (dp_svi_privacy(s, &privacy, NULL) == DP_OK && privacy.is_private)
        (void)fprintf(out, ", spent epsilon %.4g at delta %.3g (eta %.2g)", privacy.epsilon,
                      privacy.delta, privacy.eta);
    else if (privacy.why_not != NULL)
        (void)fprintf(out, ", NOT PRIVATE: %s", privacy.why_not);
    if (s->dropped > 0)
        (void)fprintf(out, ", %llu gradients dropped", (unsigned long long)s->dropped);
    (void)fprintf(out, "\n");
    if (dp_svi_done(s) && privacy.warning != NULL)
        (void)fprintf(out, "tacit: warning: %s\n", privacy.warning);
}

dp_status dp_svi_run(dp_svi *s, FILE *progress, dp_error *err)
{
    double started = now(), shown = started;
    while (!dp_svi_done(s)) {
        dp_status status = dp_svi_step(s, err);
        if (status != DP_OK)
            return status;
        if (progress != NULL && s->optimizer.done % 64 == 0 && now() - shown > 1) {
            shown = now();
            show_progress(s, progress, started);
        }
    }
    if (progress != NULL)
        show_progress(s, progress, started);
    return DP_OK;
}

/* What delta means when it is too large. */
static const char *delta_warning(const dp_svi *s)
{
    return s->grouped ? "delta is not below 1 / (number of units): publishing all rows of one unit "
                        "would be allowed; take a smaller delta"
                      : "delta is not below 1 / (number of records): publishing one whole record "
                        "would be allowed; take a smaller delta";
}

double dpi_svi_delta(const dp_svi *s, double steps, double epsilon)
{
    const dpi_sampler *sampler = dpi_sampler_of(s->opts.sampling);
    double members = sampler != NULL && sampler->draws_gaps ? (double)DPI_MOST_MEMBERS : 0;
    double numbers = (double)s->objective.n_release * dpi_together_failures(s->opts.owners);
    double owners = s->opts.owners != NULL ? (double)s->opts.owners->size : 1;
    double draws = steps * (numbers + owners * members);
    return dpi_release_whole_delta(s->delta, s->opts.delta, draws, epsilon);
}

dp_status dpi_svi_guarantee(const dp_svi *s, dp_privacy *privacy, dp_error *err)
{
    *privacy = (dp_privacy){.adjacency = s->batch.sampler->neighbours[s->opts.form][s->grouped],
                            .epsilon = INFINITY,
                            .delta = 1,
                            .sigma = s->opts.sigma,
                            .clip = s->opts.clip,
                            .rate = s->opts.rate,
                            .eta = s->opts.mode == DP_NO_PRIVACY ? 0 : 1 - dpi_svi_share_clipped(s),
                            .sampling = s->opts.sampling,
                            .epoch = s->opts.epoch,
                            .steps = s->optimizer.done};
    privacy->why_not = s->opts.mode == DP_NO_PRIVACY          ? "run without privacy"
                       : s->opts.mode == DP_WITHOUT_GUARANTEE ? "run without a certified guarantee"
                       : s->seeded ? "seeded: the noise can be computed again"
                                   : NULL;
    if (s->opts.mode != DP_PRIVATE)
        return DP_OK;
    double steps = (double)s->optimizer.done;
    bool counted = s->spend.resumed && s->spend.reservation != NULL;
    dp_status status = counted
                           ? dpi_spend_epsilon(s, &privacy->epsilon, &steps, err)
                           : dpi_cost_epsilon(&s->opts, s->optimizer.done, &privacy->epsilon, err);
    if (status != DP_OK)
        return status;
    privacy->delta = dpi_svi_delta(s, steps, privacy->epsilon);
    if ((s->falls_short || privacy->delta > s->delta) && privacy->why_not == NULL)
        privacy->why_not = "noise so small that the delta asked for is not kept";
    privacy->is_private = privacy->why_not == NULL;
    if (s->spend.resumed && !counted)
        privacy->warning = "resumed without a ledger: steps that were done after the checkpoint "
                           "and lost are not counted, nor is another resumption";
    return DP_OK;
}

/* What the records tell of the guarantee, which takes the place of what the options do. */
static const char *data_warning(const dp_svi *s)
{
    if (s->opts.mode == DP_PRIVATE && s->delta * (double)s->ranks.n_all >= 1)
        return delta_warning(s);
    return s->dropped == 0 ? NULL
                           : "gradients of some units were not finite numbers, and added nothing; "
                             "dp_svi_dropped tells of how many";
}

dp_status dp_svi_privacy(const dp_svi *s, dp_privacy *privacy, dp_error *err)
{
    const char *warning = data_warning(s);
    dp_status status = dpi_svi_guarantee(s, privacy, err);
    if (status == DP_OK && warning != NULL)
        privacy->warning = warning;
    return status;
}

dp_status dp_svi_loss(const dp_svi *s, dp_loss *loss, dp_error *err)
{
    *loss = s->extras.last;
    if (loss->step > 0)
        return DP_OK;
    return dpi_fail(err, DP_ESTATE,
                    s->opts.loss_every > 0
                        ? "no loss has been released yet; wait for step number loss_every"
                        : "this run releases no loss; set loss_every, loss_clip and loss_sigma");
}

/* ---- parameters ---- */

static dp_status find_block(const dp_svi *s, const char *name, size_t n, const dpi_block **block,
                            dp_error *err)
{
    for (size_t k = 0; k < s->objective.n_blocks; k++) {
        *block = &s->objective.blocks[k];
        if (strcmp((*block)->name, name) != 0)
            continue;
        if ((*block)->size == n)
            return DP_OK;
        return dpi_fail(err, DP_ESHAPE, "parameter '%s' has %zu numbers, not %zu", name,
                        (*block)->size, n);
    }
    return dpi_fail(err, DP_ENAME,
                    "there is no parameter '%s'; the mean-field guide's are "
                    "'<latent>.loc' and '<latent>.log_scale'",
                    name);
}

dp_status dp_svi_set(dp_svi *s, const char *name, size_t n, const double *values, dp_error *err)
{
    const dpi_block *block;
    dp_status status = find_block(s, name, n, &block, err);
    if (status == DP_OK && s->optimizer.done > 0)
        status = dpi_fail(err, DP_ESTATE, "parameters are set before the first step");
    for (size_t i = 0; status == DP_OK && i < n; i++)
        if (!isfinite(values[i]))
            status = dpi_fail(err, DP_EDOMAIN, "parameter '%s' is not finite at %zu", name, i);
    if (status == DP_OK)
        memcpy(s->optimizer.theta + block->offset, values, n * sizeof *values);
    return status;
}

dp_status dp_svi_get(const dp_svi *s, const char *name, size_t n, double *values, dp_error *err)
{
    const dpi_block *block;
    dp_status status = find_block(s, name, n, &block, err);
    for (size_t i = 0; status != DP_OK && i < n; i++)
        values[i] = NAN;
    if (status == DP_OK)
        memcpy(values, dpi_optimizer_result(&s->optimizer) + block->offset, n * sizeof *values);
    return status;
}
