/* Summaries of the fitted guide by a Latin hypercube: in every coordinate of the guide's noise the
 * S draws are the S normal quantiles (i + 1/2) / S in random order (McKay, Beckman and Conover
 * 1979), so that a margin that depends on one coordinate has no Monte Carlo error to speak of. */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

#include "fit/posterior.h"
#include "random/rng.h"
#include "random/stream.h"
#include "svi/svi.h"

enum { DRAWS = 4000 };

struct dp_posterior {
    dpi_arena arena;
    const dpi_objective *objective; /* of the run, which outlives the posterior */
    dpi_run *run;
    double *quantile; /* [DRAWS] of the standard normal */
    uint16_t *order;  /* [n_noise numbers][DRAWS] */
    size_t n_numbers;
};

static dp_status make_order(dp_posterior *p, dp_error *err)
{
    const dpi_objective *o = p->objective;
    dp_rng *rng;
    for (size_t k = 0; k < o->n_noise; k++)
        p->n_numbers += dpi_shape_size(&dpi_get(&o->graph, o->noise[k])->shape);
    p->quantile = dpi_arena_alloc(&p->arena, DRAWS, sizeof *p->quantile);
    p->order = dpi_arena_alloc(&p->arena, p->n_numbers, DRAWS * sizeof *p->order);
    if (p->quantile == NULL || p->order == NULL)
        return dpi_fail_nomem(err);
    dp_status status = dp_rng_new(1, &rng, err);
    if (status != DP_OK)
        return status;
    for (size_t i = 0; i < DRAWS; i++)
        p->quantile[i] = gsl_cdf_ugaussian_Pinv(((double)i + 0.5) / DRAWS);
    for (size_t k = 0; k < p->n_numbers; k++) {
        uint16_t *order = p->order + k * DRAWS;
        for (size_t i = 0; i < DRAWS; i++) {
            size_t j = (size_t)dpi_stream_below(dpi_rng_stream(rng), i + 1);
            order[i] = order[j];
            order[j] = (uint16_t)i;
        }
    }
    dp_rng_free(rng);
    return DP_OK;
}

static dp_status make_run(dp_posterior *p, const double *theta, dp_error *err)
{
    const dpi_objective *o = p->objective;
    size_t n = 0;
    dpi_id *wanted = dpi_arena_alloc(&p->arena, o->n_blocks + o->n_latents, sizeof *wanted);
    if (wanted == NULL)
        return dpi_fail_nomem(err);
    for (size_t k = 0; k < o->n_blocks; k++)
        wanted[n++] = o->blocks[k].node;
    for (size_t k = 0; k < o->n_latents; k++) /* the noise that they need comes with them */
        if (!o->latents[k].per_record)
            wanted[n++] = o->latents[k].value;
    dpi_run_spec spec = {.graph = &o->graph, .wanted = wanted, .n_wanted = n, .chunk = 1};
    dp_status status = dpi_run_new(&spec, &p->run, err);
    for (size_t k = 0; status == DP_OK && k < o->n_blocks; k++)
        memcpy(dpi_run_value(p->run, o->blocks[k].node), theta + o->blocks[k].offset,
               o->blocks[k].size * sizeof *theta);
    return status;
}

dp_status dp_posterior_new(const dp_svi *svi, dp_posterior **out, dp_error *err)
{
    *out = NULL;
    if (svi->optimizer.done == 0)
        return dpi_fail(err, DP_ESTATE,
                        "no step is done, and the guide is as it was made; run dp_svi_run first");
    dp_posterior *p = dpi_alloc(1, sizeof *p);
    if (p == NULL)
        return dpi_fail_nomem(err);
    p->objective = &svi->objective;
    dp_status status = make_order(p, err);
    if (status == DP_OK)
        status = make_run(p, dpi_optimizer_result(&svi->optimizer), err);
    if (status != DP_OK) {
        dp_posterior_free(p);
        return status;
    }
    *out = p;
    return DP_OK;
}

void dp_posterior_free(dp_posterior *p)
{
    if (p == NULL)
        return;
    dpi_run_free(p->run);
    dpi_arena_free(&p->arena);
    dpi_free(p);
}

/* The global latent of that name, or NULL. */
static const dpi_latent *find_latent(const dp_posterior *p, const char *name)
{
    for (size_t k = 0; k < p->objective->n_latents; k++)
        if (!p->objective->latents[k].per_record &&
            strcmp(p->objective->latents[k].name, name) == 0)
            return &p->objective->latents[k];
    return NULL;
}

size_t dp_posterior_size(const dp_posterior *p, const char *name)
{
    const dpi_latent *latent = find_latent(p, name);
    return latent != NULL ? latent->size : 0;
}

/* Sets the guide's noise to draw i of the hypercube and evaluates the latents. */
static void evaluate(dp_posterior *p, size_t i)
{
    const dpi_objective *o = p->objective;
    const uint16_t *order = p->order;
    for (size_t k = 0; k < o->n_noise; k++) {
        double *value = dpi_run_value(p->run, o->noise[k]);
        size_t size = dpi_shape_size(&dpi_get(&o->graph, o->noise[k])->shape);
        for (size_t e = 0; e < size; e++, order += DRAWS)
            if (value != NULL)
                value[e] = p->quantile[order[i]];
    }
    dpi_run_globals(p->run);
    dpi_run_records(p->run, 1, NULL, 0); /* latents count as per-record under DP_FORM_PARAMETERS */
}

static double quantile(const double *sorted, double q)
{
    double place = q * DRAWS - 0.5;
    size_t i = (size_t)place;
    return sorted[i] + (place - (double)i) * (sorted[i + 1] - sorted[i]);
}

static dp_summary summarise(double *draws)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < DRAWS; i++)
        mean += draws[i] / DRAWS;
    for (size_t i = 0; i < DRAWS; i++)
        square += (draws[i] - mean) * (draws[i] - mean);
    gsl_sort(draws, 1, DRAWS);
    return (dp_summary){.mean = mean,
                        .sd = sqrt(square / (DRAWS - 1)),
                        .q05 = quantile(draws, 0.05),
                        .q50 = quantile(draws, 0.5),
                        .q95 = quantile(draws, 0.95)};
}

dp_status dp_posterior_summary(dp_posterior *p, const char *name, size_t n, dp_summary *summary,
                               dp_error *err)
{
    const dpi_latent *latent = find_latent(p, name);
    for (size_t e = 0; e < n; e++)
        summary[e] = (dp_summary){NAN, NAN, NAN, NAN, NAN};
    if (latent == NULL)
        return dpi_fail(err, DP_ENAME, "there is no global latent '%s' in the model", name);
    if (latent->size != n)
        return dpi_fail(err, DP_ESHAPE, "latent '%s' has %zu numbers, not %zu", name, latent->size,
                        n);
    double *draws = dpi_alloc(n, DRAWS * sizeof *draws);
    if (draws == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < DRAWS; i++) {
        evaluate(p, i);
        const double *value = dpi_run_value(p->run, latent->value);
        for (size_t e = 0; e < n; e++)
            draws[e * DRAWS + i] = value[e];
    }
    for (size_t e = 0; e < n; e++)
        summary[e] = summarise(draws + e * DRAWS);
    dpi_free(draws);
    return DP_OK;
}

void dpi_posterior_draw(dp_posterior *p, dp_rng *rng)
{
    const dpi_objective *o = p->objective;
    for (size_t k = 0; k < o->n_noise; k++) {
        double *value = dpi_run_value(p->run, o->noise[k]);
        if (value != NULL)
            dp_rng_normal(rng, dpi_shape_size(&dpi_get(&o->graph, o->noise[k])->shape), value);
    }
    dpi_run_globals(p->run);
    dpi_run_records(p->run, 1, NULL, 0);
}

const double *dpi_posterior_value(dp_posterior *p, const char *name, size_t n)
{
    const dpi_latent *latent = find_latent(p, name);
    return latent != NULL && latent->size == n ? dpi_run_value(p->run, latent->value) : NULL;
}

const double *dpi_posterior_parameter(dp_posterior *p, const char *name, size_t n)
{
    const dpi_objective *o = p->objective;
    for (size_t k = 0; k < o->n_blocks; k++)
        if (strcmp(o->blocks[k].name, name) == 0 && o->blocks[k].size == n)
            return dpi_run_value(p->run, o->blocks[k].node);
    return NULL;
}
