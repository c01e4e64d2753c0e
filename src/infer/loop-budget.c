/* The budget of the loop.  Number and noise of all releases are functions of options alone.  A step
 * releases the clipped sum and a count in one vector (svi/cost.c); the count is accounted for as if
 * its quantile were the largest there is, so that it may be chosen from the number. */
#include "infer/loop-budget.h"

#include <math.h>

#include "base/error.h"
#include "infer/loop-guide.h"
#include "infer/loop.h"
#include "random/failure.h"
#include "svi/cost.h"
#include "svi/factor.h"
#include "svi/optimizer.h"
#include "svi/options.h"
#include "svi/together.h"

enum { WARM = 32, PRIVATE_STEPS = 512, OPEN_STEPS = 2048 };

const char *const dpi_loop_phase_names[DPI_LOOP_PHASES] = {"number", "norms", "steps"};

/* How it is done was measured (doc/design/loop.md): of 1 / sigma^2 what each phase has, and of that
 * of a step what the count of norms has beside the gradient. */
static const double shares[DPI_LOOP_PHASES] = {0.01, 0.04, 0.95};
static const double count_shares[DPI_LOOP_PHASES] = {0, 0.999, 0.1};
static const double average = 0.5, clip_speed = 0.2;

/* Gradients that are clipped: a share of least_clipped ... 1/2, else so many times sqrt(numbers)
 * sigma, at which bias and noise of a clipped sum balance, or times the noise of their count. */
static const double least_clipped = 0.05, clipped_dims = 3, clipped_noise = 1.5;
/* Of owners' own counts (doc/design/silo-pvi.md). */
static const double least_alone = 0.01, clipped_alone = 0.5;
static const double nowhere = 1e-300;           /* a step that no double notices */
static const double greatest_count_sigma = 1e6; /* of svi/options.c */

static double least_of(const dpi_loop_budget *b)
{
    return dpi_together_is_own(b->opts->owners) ? least_alone : least_clipped;
}

uint64_t dpi_loop_seed(uint64_t of, dpi_loop_phase phase)
{
    uint64_t seed = of + (uint64_t)phase * UINT64_C(0x9e3779b97f4a7c15);
    return seed != 0 ? seed : 1;
}

void dpi_loop_budget_seed(dpi_loop_budget *b, uint64_t seed)
{
    b->seed = seed;
    for (int k = 0; k < DPI_LOOP_PHASES && b->opts->owners != NULL; k++) {
        b->owners[k] = *b->opts->owners;
        b->owners[k].seed = dpi_loop_seed(seed, (dpi_loop_phase)k);
        if (k != DPI_LOOP_STEPS && dpi_together_is_own(b->opts->owners))
            b->owners[k].local_steps = 0; /* nothing moves, and nothing is opened */
    }
}

dp_svi_opts dpi_loop_options(const dpi_loop_budget *b, dpi_loop_phase phase)
{
    const dp_fit_opts *o = b->opts;
    const bool norms = phase == DPI_LOOP_NORMS;
    dp_svi_opts s = {.mode = o->mode,
                     .sampling = DP_SAMPLING_FULL,
                     .steps = norms      ? WARM
                              : b->noisy ? PRIVATE_STEPS
                                         : OPEN_STEPS,
                     .threads = o->threads,
                     .owners = o->owners != NULL ? &b->owners[phase] : NULL,
                     .seed = o->seed != 0 ? dpi_loop_seed(o->seed, phase) : 0, /* an owner's own */
                     .average = phase == DPI_LOOP_STEPS ? average : 0};
    s.step_size = norms ? nowhere : 1 / sqrt((double)s.steps);
    if (!b->noisy)
        return s;
    s.rate = 1;
    s.delta = o->delta;
    s.sigma = b->gradient[phase];
    s.clip = 1;
    s.clip_quantile = norms ? 0.5 : 1 - least_of(b);
    s.clip_sigma = b->count[phase];
    s.clip_speed = norms ? 1 : clip_speed;
    s.public_units = 1; /* until the number is known */
    return s;
}

static void divide(dpi_loop_budget *b)
{
    b->list[DPI_LOOP_NUMBER] = (dp_mechanism){.sampling = DP_SAMPLING_FULL,
                                              .rate = 1,
                                              .steps = 1,
                                              .sigma = b->sigma / sqrt(shares[DPI_LOOP_NUMBER])};
    b->doubt = 2 * b->list[DPI_LOOP_NUMBER].sigma * dpi_together_excess(b->opts->owners);
    for (int k = DPI_LOOP_NORMS; k < DPI_LOOP_PHASES; k++) {
        const dp_svi_opts as_planned = dpi_loop_options(b, (dpi_loop_phase)k);
        double step = b->sigma * sqrt((double)as_planned.steps / shares[k]);
        double beside = count_shares[k];
        b->gradient[k] = step / sqrt(1 - beside);
        b->count[k] = step / sqrt(beside) * as_planned.clip_quantile;
        const dp_svi_opts now = dpi_loop_options(b, (dpi_loop_phase)k);
        (void)dpi_cost_list(&now, now.steps, &b->list[k]);
    }
}

static dp_status calibrate(dpi_loop_budget *b, dp_error *err)
{
    const dp_fit_opts *o = b->opts;
    dp_interval spent;
    b->accounted = dpi_release_delta(o->delta);
    dp_status status =
        dp_approximate_sigma(o->epsilon, b->accounted, 1, 1, DP_SAMPLING_FULL, &b->sigma, err);
    if (status != DP_OK)
        return status;
    b->sigma *= 1 + 0x1p-40; /* for the rounding of the shares */
    divide(b);
    if (!(b->count[DPI_LOOP_STEPS] <= greatest_count_sigma))
        return dpi_fail(err, DP_EDOMAIN,
                        "epsilon %g at delta %g asks for more noise than is drawn in steps, and "
                        "leaves nothing of the records; raise epsilon",
                        o->epsilon, o->delta);
    status = dp_account_epsilon(b->list, DPI_LOOP_PHASES, b->accounted, 0, &spent, err);
    b->epsilon = spent.upper;
    if (status == DP_OK && !(spent.upper <= o->epsilon))
        return dpi_fail(err, DP_EACCURACY, "the phases would cost %.9g, and %.9g may be spent",
                        spent.upper, o->epsilon);
    if (status != DP_OK)
        return status;
    return dpi_together_check_grid(o->owners, b->list[DPI_LOOP_NUMBER].sigma, err);
}

dp_status dpi_loop_budget_init(dpi_loop_budget *b, const dp_fit_opts *o, dp_error *err)
{
    *b = (dpi_loop_budget){.opts = o, .noisy = o->mode == DP_PRIVATE};
    dp_status status = dpi_together_check(o->owners, err);
    if (status == DP_OK)
        status = dpi_together_check_alone(o->owners, err);
    if (status == DP_OK)
        status = dpi_together_check_local(o->owners, o->mode, false, err);
    if (status != DP_OK || !b->noisy)
        return status;
    status = dpi_options_budget(o->epsilon, o->delta, 0, err);
    return status == DP_OK ? calibrate(b, err) : status;
}

double dpi_loop_share_clipped(const dpi_loop_budget *b, double numbers, double units)
{
    const double noise = dpi_together_is_own(b->opts->owners) ? clipped_alone : clipped_noise;
    double most = fmax(clipped_dims * sqrt(numbers) * b->sigma, noise * b->count[DPI_LOOP_STEPS]);
    return fmin(fmax(most / units, least_of(b)), 0.5);
}

dp_status dpi_loop_objective(dpi_objective *o, const dp_model *model, const dp_model *guide,
                             bool noisy, dp_error *err)
{
    const dpi_objective_spec spec = {
        .model = model, .guide = guide, .cut = DP_FORM_LATENTS, .n_extra = noisy, .init_scale = 1};
    return dpi_objective_init(o, &spec, err);
}

/* ---- told before it ---- */

/* What each owner releases to itself, and factors' changes, with the number of owners. */
static void list_factors(const dpi_loop_budget *b, const dpi_objective *o, size_t *n,
                         dp_opening list[DP_OPENINGS])
{
    const uint64_t steps = dpi_loop_options(b, DPI_LOOP_STEPS).steps;
    for (int k = DPI_LOOP_NUMBER; b->noisy && k < DPI_LOOP_PHASES; k++)
        list[(*n)++] = (dp_opening){.phase = dpi_loop_phase_names[k],
                                    .times = b->list[k].steps,
                                    .numbers = k == DPI_LOOP_NUMBER ? 1 : o->n_release,
                                    .sigma = b->list[k].sigma,
                                    .alone = true};
    list[(*n)++] = (dp_opening){.phase = "factors",
                                .times = (steps - 1) / b->opts->owners->local_steps + 1,
                                .numbers = dpi_together_words(false, o->n_theta + 1)};
}

/* Of owners that take steps by themselves: their number of records, and then, with it, parameters
 * and what the optimiser remembers of each. */
static void list_local(const dpi_loop_budget *b, size_t parameters, size_t *n,
                       dp_opening list[DP_OPENINGS])
{
    const char *name[DPI_OPTIMIZER_VECTORS]; /* one of them is the average */
    const dp_optimizer kind = dpi_loop_options(b, DPI_LOOP_STEPS).optimizer;
    const size_t numbers = (dpi_optimizer_names(kind, name) - 1) * parameters;
    list[(*n)++] = (dp_opening){.phase = dpi_loop_phase_names[DPI_LOOP_NUMBER],
                                .times = 1,
                                .numbers = dpi_together_words(false, 1)};
    list[(*n)++] = (dp_opening){.phase = dpi_loop_phase_names[DPI_LOOP_STEPS],
                                .times = (OPEN_STEPS - 1) / b->opts->owners->local_steps + 1,
                                .numbers = dpi_together_words(false, numbers + 1)};
}

static void list_openings(const dpi_loop_budget *b, size_t numbers, size_t *n,
                          dp_opening list[DP_OPENINGS])
{
    for (int k = b->noisy ? DPI_LOOP_NUMBER : DPI_LOOP_STEPS; k < DPI_LOOP_PHASES; k++)
        list[(*n)++] = (dp_opening){
            .phase = dpi_loop_phase_names[k],
            .times = b->noisy ? b->list[k].steps : OPEN_STEPS,
            .numbers = k == DPI_LOOP_NUMBER ? 1 : dpi_together_words(b->noisy, numbers),
            .sigma = b->noisy ? b->list[k].sigma : 0};
}

dp_status dpi_loop_openings(const dp_model *model, const dp_fit_opts *opts, size_t *n,
                            dp_opening list[DP_OPENINGS], dp_error *err)
{
    dpi_loop_budget b;
    dp_model *guide = NULL;
    dpi_objective o;
    *n = 0;
    dp_status status = dpi_loop_budget_init(&b, opts, err);
    if (status == DP_OK)
        status = dpi_loop_guide(model, &guide, err);
    if (status == DP_OK)
        status = dpi_together_check_local(opts->owners, opts->mode, guide != NULL, err);
    if (status == DP_OK)
        status = dpi_loop_objective(&o, model, guide, b.noisy, err);
    if (status == DP_OK) {
        const bool own = dpi_together_is_own(opts->owners);
        status = own ? dpi_factor_check(&o, err) : DP_OK;
        if (status == DP_OK && own)
            list_factors(&b, &o, n, list);
        else if (own)
            *n = 0;
        else if (opts->owners != NULL && opts->owners->local_steps > 0)
            list_local(&b, o.n_theta, n, list);
        else
            list_openings(&b, o.n_release, n, list);
        dpi_objective_free(&o);
    }
    dp_model_free(guide);
    return status;
}
