/* Checking options.  Privacy's own numbers have no default, and what cannot be accounted is refused
 * here, before the data are read. */
#include "svi/options.h"

#include <math.h>

#include "base/error.h"
#include "svi/cost.h"
#include "svi/optimizer.h"
#include "svi/sampling.h"

static const double default_init_scale = 0.1, default_momentum = 0.9, default_beta2 = 0.999;
static const uint64_t default_steps = 1000;

static const size_t most_threads = 1024;

/* Clipping norms far outside what anyone means, whose squares, and those of gradients near them,
 * stay far inside the range of double: a norm is compared with clip after it was squared, so a
 * gradient of 1e-170 would pass under a clip of 1e-200. */
static const double least_clip = 1e-100, greatest_clip = 1e100;

static dp_status resolve_optimizer(dp_svi_opts *o, dp_error *err)
{
    const dpi_rule *kind = dpi_rule_of(o->optimizer);
    if ((o->form != DP_FORM_LATENTS && o->form != DP_FORM_PARAMETERS) || kind == NULL ||
        (o->schedule != DP_LINEAR_DECAY && o->schedule != DP_CONSTANT &&
         o->schedule != DP_COSINE_DECAY))
        return dpi_fail(err, DP_EINVAL,
                        "form %d, optimizer %d or schedule %d is unknown; use the names of "
                        "tacit/svi.h",
                        (int)o->form, (int)o->optimizer, (int)o->schedule);
    if (o->steps == 0)
        o->steps = default_steps;
    if (o->step_size == 0 && !kind->sizes_itself)
        return dpi_fail(err, DP_EINVAL,
                        "step_size has no default for this optimizer; give one, or use "
                        "DP_ADAM");
    if (o->step_size == 0)
        o->step_size = 1 / sqrt((double)o->steps);
    if (o->momentum == 0)
        o->momentum = default_momentum;
    if (o->beta2 == 0)
        o->beta2 = default_beta2;
    if (o->init_scale == 0)
        o->init_scale = default_init_scale;
    if (!(o->step_size > 0 && isfinite(o->step_size)))
        return dpi_fail(err, DP_EDOMAIN, "step_size is %g; it must be above 0", o->step_size);
    if (!(o->momentum > 0 && o->momentum < 1) || !(o->beta2 > 0 && o->beta2 < 1))
        return dpi_fail(err, DP_EDOMAIN, "momentum is %g and beta2 %g; both must be in (0, 1)",
                        o->momentum, o->beta2);
    if (!(o->average >= 0 && o->average <= 1))
        return dpi_fail(err, DP_EDOMAIN, "average is %g; it is a share, in [0, 1]", o->average);
    if (!(o->init_scale > 0 && isfinite(o->init_scale)))
        return dpi_fail(err, DP_EDOMAIN, "init_scale is %g; it must be above 0", o->init_scale);
    return DP_OK;
}

/* Noise so small is a mistake, and sums in units of it need not fit the grid of the noise. */
static const double least_extra_sigma = 0.1, greatest_extra_sigma = 1e6, default_clip_speed = 0.2;

static bool is_noise(double sigma)
{
    return sigma >= least_extra_sigma && sigma <= greatest_extra_sigma;
}

static dp_status resolve_loss(const dp_svi_opts *o, dp_error *err)
{
    bool given = o->loss_clip != 0 || o->loss_sigma != 0;
    if (o->loss_every == 0)
        return !given
                   ? DP_OK
                   : dpi_fail(err, DP_EMISMATCH,
                              "loss_clip is %g and loss_sigma %g, but loss_every is 0; say every "
                              "how many steps a loss is to be released, or leave them 0",
                              o->loss_clip, o->loss_sigma);
    if (o->mode == DP_NO_PRIVACY)
        return !given ? DP_OK
                      : dpi_fail(err, DP_EMISMATCH,
                                 "mode is DP_NO_PRIVACY, which shows the loss as it is, but "
                                 "loss_clip is %g and loss_sigma %g; leave them 0",
                                 o->loss_clip, o->loss_sigma);
    if (!(o->loss_clip >= least_clip && o->loss_clip <= greatest_clip) || !is_noise(o->loss_sigma))
        return dpi_fail(err, DP_EDOMAIN,
                        "loss_clip is %g and loss_sigma %g; a noisy loss needs the bound to which "
                        "each loss is cut, above 0, and noise of %g to %g of it",
                        o->loss_clip, o->loss_sigma, least_extra_sigma, greatest_extra_sigma);
    return DP_OK;
}

static dp_status resolve_clip(dp_svi_opts *o, dp_error *err)
{
    if (o->clip_quantile == 0)
        return o->clip_sigma == 0 && o->clip_speed == 0
                   ? DP_OK
                   : dpi_fail(err, DP_EMISMATCH,
                              "clip_sigma is %g and clip_speed %g, but clip_quantile is 0; give "
                              "the share of gradients that the clip norm is to leave as they are",
                              o->clip_sigma, o->clip_speed);
    if (o->mode == DP_NO_PRIVACY)
        return dpi_fail(err, DP_EMISMATCH,
                        "mode is DP_NO_PRIVACY, which clips nothing, but clip_quantile is %g; "
                        "leave it 0",
                        o->clip_quantile);
    if (o->clip_speed == 0)
        o->clip_speed = default_clip_speed;
    if (!(o->clip_quantile > 0 && o->clip_quantile < 1) || !is_noise(o->clip_sigma) ||
        !(o->clip_speed > 0 && o->clip_speed <= 1))
        return dpi_fail(err, DP_EDOMAIN,
                        "clip_quantile is %g, clip_sigma %g and clip_speed %g; they must be in (0, "
                        "1), [%g, %g] (a 20th of the batch is usual) and (0, 1]",
                        o->clip_quantile, o->clip_sigma, o->clip_speed, least_extra_sigma,
                        greatest_extra_sigma);
    if (o->public_units == 0 && !dpi_sampler_of(o->sampling)->replaces)
        return dpi_fail(
            err, DP_EINVAL,
            "clip_quantile is %g, but public_units is 0; give the number of records (or "
            "units), roughly and from public knowledge: the data set's own is private",
            o->clip_quantile);
    return DP_OK;
}

static dp_status resolve_extras(dp_svi_opts *o, dp_error *err)
{
    dp_status status = resolve_loss(o, err);
    if (status == DP_OK)
        status = resolve_clip(o, err);
    if (status == DP_OK && o->mode == DP_WITHOUT_GUARANTEE && o->sigma == 0 &&
        (o->loss_every > 0 || o->clip_quantile > 0))
        return dpi_fail(err, DP_EMISMATCH,
                        "sigma is 0; a noisy loss or a count of norms is measured by the "
                        "gradient's noise: give sigma above 0");
    return status;
}

dp_status dpi_options_budget(double epsilon, double delta, double sigma, dp_error *err)
{
    if (!(delta > 0 && delta < 1))
        return dpi_fail(err, DP_EDOMAIN,
                        "delta is %g; it must be in (0, 1), well below one over the "
                        "number of records",
                        delta);
    if (sigma != 0 && epsilon != 0)
        return dpi_fail(err, DP_EINVAL, "epsilon is %g and sigma %g; give one of them", epsilon,
                        sigma);
    if (sigma == 0 && !(epsilon > 0 && isfinite(epsilon)))
        return dpi_fail(err, DP_EDOMAIN,
                        "epsilon is %g; give the epsilon to spend, above 0 and finite (or sigma)",
                        epsilon);
    return DP_OK;
}

dp_status dpi_options_ledger(const dp_ledger *ledger, const char *data, const char *label,
                             dp_error *err)
{
    if (ledger != NULL || (data == NULL && label == NULL))
        return DP_OK;
    return dpi_fail(err, DP_EINVAL,
                    "%s is given and no ledger, so that nothing would be paid for; open the ledger "
                    "and give it too, or leave %s NULL",
                    data != NULL ? "ledger_data" : "ledger_label",
                    data == NULL    ? "ledger_label"
                    : label == NULL ? "ledger_data"
                                    : "ledger_data and ledger_label");
}

static dp_status resolve_noise(dp_svi_opts *o, double *epsilon, dp_error *err)
{
    if (o->mode == DP_NO_PRIVACY) {
        if (o->epsilon != 0 || o->delta != 0 || o->sigma != 0 || o->clip != 0)
            return dpi_fail(err, DP_EMISMATCH,
                            "mode is DP_NO_PRIVACY, but epsilon, delta, sigma or clip "
                            "is given; leave them 0");
        o->clip = INFINITY;
        return DP_OK;
    }
    if (!(o->clip >= least_clip && o->clip <= greatest_clip))
        return dpi_fail(err, DP_EDOMAIN,
                        "clip is %g; give the norm to which each record's gradient is "
                        "clipped, above 0 (from %g to %g)",
                        o->clip, least_clip, greatest_clip);
    if (o->mode == DP_WITHOUT_GUARANTEE && (o->epsilon != 0 || o->delta != 0))
        return dpi_fail(err, DP_EMISMATCH,
                        "mode is DP_WITHOUT_GUARANTEE, which certifies nothing, but epsilon "
                        "or delta is given; leave them 0 and give sigma, or use DP_PRIVATE");
    if (o->mode == DP_WITHOUT_GUARANTEE)
        return o->sigma >= 0 && isfinite(o->sigma)
                   ? DP_OK
                   : dpi_fail(err, DP_EDOMAIN, "sigma is %g; it must not be negative", o->sigma);
    dp_status status = dpi_options_budget(o->epsilon, o->delta, o->sigma, err);
    if (status != DP_OK)
        return status;
    /* The accountant says whether it knows the mechanisms at all. */
    if (o->sigma != 0)
        return dpi_cost_epsilon(o, o->steps, epsilon, err);
    *epsilon = o->epsilon;
    return dpi_cost_calibrate(o, err);
}

static dp_status resolve_machine(dp_svi_opts *o, dp_error *err)
{
    if (o->precision != DP_DOUBLE && o->precision != DP_SINGLE)
        return dpi_fail(err, DP_EINVAL, "precision %d is unknown; use DP_DOUBLE or DP_SINGLE",
                        (int)o->precision);
    if (o->threads == 0)
        o->threads = 1;
    if (o->threads > most_threads)
        return dpi_fail(err, DP_EDOMAIN, "threads is %zu; take at most %zu, one a core", o->threads,
                        most_threads);
    return DP_OK;
}

dp_status dpi_options_resolve(dp_svi_opts *o, size_t n, double *epsilon, dp_error *err)
{
    *epsilon = INFINITY;
    if (o->mode != DP_PRIVATE && o->mode != DP_WITHOUT_GUARANTEE && o->mode != DP_NO_PRIVACY)
        return dpi_fail(err, DP_EINVAL, "mode %d is unknown", (int)o->mode);
    dp_status status = dpi_options_ledger(o->ledger, o->ledger_data, o->ledger_label, err);
    if (status == DP_OK)
        status = dpi_sampling_resolve(o, n, err);
    if (status == DP_OK)
        status = resolve_optimizer(o, err);
    if (status == DP_OK)
        status = resolve_machine(o, err);
    if (status == DP_OK)
        status = resolve_extras(o, err);
    if (status == DP_OK)
        status = resolve_noise(o, epsilon, err);
    return status;
}
