/* Loss and count of a step, and the clip norm that follows the count.
 *
 * Loss.  Each unit of the batch adds -log likelihood at the step's draw of the latents, cut to
 * [-loss_clip, loss_clip]: a unit more or less changes the sum by loss_clip at most.
 *
 * Count.  With gamma the quantile, each unit of the batch adds 1 - gamma when its gradient's norm
 * is at most the clip norm C, else -gamma: a unit more or less changes the sum by max(gamma, 1 -
 * gamma) at most, replacing one by 1.  Then C <- C exp(-speed * sum / (rate units)), as in Andrew,
 * Thakkar, McMahan and Ramaswamy, "Differentially private learning with adaptive clipping", NeurIPS
 * 2021.  They centre at 1/2 (sensitivity 1/2, the same for the median) and subtract what the batch
 * should then hold, which needs its size; here the sum is zero in the mean when a share gamma is
 * below, whatever the batch's size, and `units` only sets the speed.  The clip norm is a function
 * of releases, and costs nothing. */
#include "svi/extras.h"

#include <math.h>

#include "svi/together.h"

static const double least_clip = 1e-100, greatest_clip = 1e100;

void dpi_extras_init(dpi_extras *e, const dp_svi_opts *opts, size_t n)
{
    bool is_private = opts->mode != DP_NO_PRIVACY;
    *e = (dpi_extras){.loss = opts->loss_every > 0,
                      .count = opts->clip_quantile > 0,
                      .loss_clip = is_private ? opts->loss_clip : INFINITY,
                      .quantile = opts->clip_quantile,
                      .speed = opts->clip_speed,
                      .units = opts->public_units > 0 ? (double)opts->public_units : (double)n,
                      .fraction_below = NAN,
                      .last = {.value = NAN, .noise = NAN}};
    e->n = (size_t)e->loss + (size_t)e->count;
}

void dpi_extras_prepare(dpi_extras *e, const dp_svi_opts *opts, uint64_t step, double margin,
                        double steps)
{
    bool is_private = opts->mode != DP_NO_PRIVACY;
    double noise = opts->sigma * opts->clip * margin;
    e->steps = steps;
    e->loss_now = e->loss && step % opts->loss_every == 0;
    e->loss_unit = is_private ? noise / (opts->loss_sigma * opts->loss_clip) : 1;
    e->count_unit = e->count ? noise / opts->clip_sigma : 0;
}

static double entry(const dpi_extras *e, double x)
{
    return e->steps > 0 ? rint(x * e->steps) : x;
}

void dpi_extras_add(const dpi_extras *e, double score, bool below, double *extra)
{
    double loss = -score, bound = e->loss_clip;
    if (e->loss_now)
        extra[0] += entry(e, e->loss_unit * (loss < bound ? fmax(loss, -bound) : bound));
    if (e->count)
        extra[e->n - 1] += entry(e, e->count_unit * ((below ? 1 : 0) - e->quantile));
}

static void move_clip(dpi_extras *e, double excess, double *clip)
{
    /* What is outside is noise: a share lies between 0 and 1. */
    double below = fmin(fmax(e->quantile + excess / e->units, 0), 1);
    e->fraction_below = below;
    *clip = fmin(fmax(*clip * exp(-e->speed * (below - e->quantile)), least_clip), greatest_clip);
}

static double noise_of_loss(const dp_svi_opts *opts)
{
    double noise = opts->loss_sigma * opts->loss_clip / opts->rate;
    return opts->mode != DP_NO_PRIVACY ? noise * dpi_together_excess(opts->owners) : 0;
}

void dpi_extras_take(dpi_extras *e, const double *extra, dp_svi_opts *opts, uint64_t step)
{
    if (e->loss_now)
        e->last =
            (dp_loss){.step = step, .value = extra[0] / e->loss_unit, .noise = noise_of_loss(opts)};
    if (e->count)
        move_clip(e, extra[e->n - 1] / e->count_unit, &opts->clip);
}

void dpi_extras_restore(dpi_extras *e, const dp_svi_opts *opts, uint64_t loss_step, double loss,
                        double fraction_below)
{
    e->fraction_below = fraction_below;
    if (loss_step > 0)
        e->last = (dp_loss){.step = loss_step, .value = loss, .noise = noise_of_loss(opts)};
}
