/* Running the guide's global side, from normal noise of three kinds: none, random, and a Latin
 * hypercube, in which every coordinate of the noise takes the S normal quantiles (i + 1/2) / S in
 * random order (McKay, Beckman and Conover 1979), so that a margin that depends on one coordinate
 * has no Monte Carlo error to speak of.
 *
 * Under DP_FORM_PARAMETERS latents count as values of a record: one record is run. */
#include "fit/latents.h"

#include <gsl/gsl_cdf.h>
#include <string.h>

#include "fit/kept.h"
#include "random/rng.h"
#include "random/stream.h"

static size_t noise_size(const dpi_objective *o, size_t k)
{
    return dpi_shape_size(&dpi_get(&o->graph, o->noise[k])->shape);
}

const dpi_latent *dpi_fit_latent(const dp_fit *fit, const char *name)
{
    for (size_t k = 0; k < fit->objective.n_latents; k++)
        if (!fit->objective.latents[k].per_record &&
            strcmp(fit->objective.latents[k].name, name) == 0)
            return &fit->objective.latents[k];
    return NULL;
}

static dp_status choose(dpi_latents *l, const char *const *names, size_t n, dp_error *err)
{
    const dp_fit *fit = l->fit;
    size_t most = names != NULL ? n : fit->n_sites[0];
    for (size_t k = 0; k < most; k++) {
        const char *name = names != NULL ? names[k] : fit->model->sites[k].name;
        const dpi_latent *latent = dpi_fit_latent(fit, name);
        if (latent == NULL && names != NULL)
            return dpi_fail(err, DP_ENAME,
                            "there is no global latent '%s' in the model; dp_fit_quantities "
                            "tells which there are, dp_fit_evaluate gives values of records",
                            name);
        if (latent == NULL)
            continue;
        l->latent[l->n++] = latent;
        l->size += latent->size;
    }
    return DP_OK;
}

static dp_status make_run(dpi_latents *l, dpi_arena *arena, dp_error *err)
{
    const dpi_objective *o = &l->fit->objective;
    size_t n = 0;
    dpi_id *wanted = dpi_arena_alloc(arena, l->n + o->n_blocks + o->n_noise, sizeof *wanted);
    if (wanted == NULL)
        return dpi_fail_nomem(err);
    for (size_t k = 0; k < l->n; k++) {
        wanted[n++] = l->latent[k]->value;
        dpi_mark(&o->graph, l->latent[k]->value, l->needed);
    }
    for (size_t k = 0; k < o->n_blocks; k++)
        if (l->needed[o->blocks[k].node])
            wanted[n++] = o->blocks[k].node;
    for (size_t k = 0; k < o->n_noise; k++)
        if (l->needed[o->noise[k]])
            wanted[n++] = o->noise[k];
    dpi_run_spec spec = {.graph = &o->graph, .wanted = wanted, .n_wanted = n, .chunk = 1};
    dp_status status = dpi_run_new(&spec, &l->run, err);
    for (size_t k = 0; status == DP_OK && k < o->n_blocks; k++)
        if (l->needed[o->blocks[k].node])
            dpi_run_write(l->run, o->blocks[k].node, 0, o->blocks[k].size,
                          l->fit->parts.theta + o->blocks[k].offset);
    return status;
}

dp_status dpi_latents_init(dpi_latents *l, const dp_fit *fit, dpi_arena *arena,
                           const char *const *names, size_t n, dp_error *err)
{
    const dpi_objective *o = &fit->objective;
    size_t largest = 0;
    *l = (dpi_latents){.fit = fit};
    for (size_t k = 0; k < o->n_noise; k++)
        largest = noise_size(o, k) > largest ? noise_size(o, k) : largest;
    l->latent = dpi_arena_alloc(arena, names != NULL ? n : fit->n_sites[0], sizeof *l->latent);
    l->needed = dpi_arena_alloc(arena, o->graph.n_nodes, sizeof *l->needed);
    l->noise = dpi_arena_alloc(arena, largest, sizeof *l->noise);
    if (l->latent == NULL || l->needed == NULL || l->noise == NULL)
        return dpi_fail_nomem(err);
    dp_status status = choose(l, names, n, err);
    return status == DP_OK ? make_run(l, arena, err) : status;
}

void dpi_latents_free(dpi_latents *l)
{
    dpi_run_free(l->run);
    l->run = NULL;
}

/* Runs what the noise gives and reads the latents, number after number, `step` apart. */
static void evaluate(dpi_latents *l, double *out, size_t step)
{
    dpi_run_globals(l->run);
    dpi_run_records(l->run, 1, NULL, 0);
    for (size_t k = 0; k < l->n; k++)
        for (size_t e = 0; e < l->latent[k]->size; e++, out += step)
            dpi_run_read(l->run, l->latent[k]->value, e, 1, out);
}

void dpi_latents_draw(dpi_latents *l, dp_rng *rng, double *out)
{
    const dpi_objective *o = &l->fit->objective;
    for (size_t k = 0; k < o->n_noise; k++) {
        size_t size = noise_size(o, k);
        if (!l->needed[o->noise[k]])
            continue;
        if (rng != NULL)
            dp_rng_normal(rng, size, l->noise);
        else
            memset(l->noise, 0, size * sizeof *l->noise);
        dpi_run_write(l->run, o->noise[k], 0, size, l->noise);
    }
    evaluate(l, out, 1);
}

/* ---- the hypercube ---- */

typedef struct hypercube {
    dpi_arena arena;
    double *quantile; /* [DPI_HYPERCUBE] of the standard normal */
    uint16_t *order;  /* [needed numbers of noise][DPI_HYPERCUBE] */
} hypercube;

/* A random order by insertion. */
static void shuffle(dpi_stream *stream, uint16_t *order)
{
    for (size_t i = 0; i < DPI_HYPERCUBE; i++) {
        size_t j = (size_t)dpi_stream_below(stream, i + 1);
        order[i] = order[j];
        order[j] = (uint16_t)i;
    }
}

/* An order for every number of noise, also for those that are not needed, so that a latent's is the
 * same whatever else is asked for. */
static dp_status make_hypercube(const dpi_latents *l, hypercube *h, dp_error *err)
{
    const dpi_objective *o = &l->fit->objective;
    uint16_t unused[DPI_HYPERCUBE] = {0}, *order;
    size_t n = 0;
    dp_rng *rng;
    for (size_t k = 0; k < o->n_noise; k++)
        n += l->needed[o->noise[k]] ? noise_size(o, k) : 0;
    h->quantile = dpi_arena_alloc(&h->arena, DPI_HYPERCUBE, sizeof *h->quantile);
    h->order = order = dpi_arena_alloc(&h->arena, n, DPI_HYPERCUBE * sizeof *order);
    if (h->quantile == NULL || order == NULL)
        return dpi_fail_nomem(err);
    dp_status status = dp_rng_new(1, &rng, err);
    if (status != DP_OK)
        return status;
    for (size_t i = 0; i < DPI_HYPERCUBE; i++)
        h->quantile[i] = gsl_cdf_ugaussian_Pinv(((double)i + 0.5) / DPI_HYPERCUBE);
    for (size_t k = 0; k < o->n_noise; k++)
        for (size_t e = 0; e < noise_size(o, k); e++) {
            bool needed = l->needed[o->noise[k]];
            shuffle(dpi_rng_stream(rng), needed ? order : unused);
            order += needed ? DPI_HYPERCUBE : 0;
        }
    dp_rng_free(rng);
    return DP_OK;
}

static void set_noise(dpi_latents *l, const hypercube *h, size_t i)
{
    const dpi_objective *o = &l->fit->objective;
    const uint16_t *order = h->order;
    for (size_t k = 0; k < o->n_noise; k++) {
        size_t size = noise_size(o, k);
        if (!l->needed[o->noise[k]])
            continue;
        for (size_t e = 0; e < size; e++, order += DPI_HYPERCUBE)
            l->noise[e] = h->quantile[order[i]];
        dpi_run_write(l->run, o->noise[k], 0, size, l->noise);
    }
}

size_t dpi_latents_count(const dp_fit *fit)
{
    return fit->kept != NULL ? fit->kept->n : DPI_HYPERCUBE;
}

dp_status dpi_latents_spread(dpi_latents *l, double *out, dp_error *err)
{
    hypercube h = {0};
    if (l->fit->kept != NULL) {
        dpi_kept_spread(l->fit->kept, l, out);
        return DP_OK;
    }
    dp_status status = make_hypercube(l, &h, err);
    for (size_t i = 0; status == DP_OK && i < DPI_HYPERCUBE; i++) {
        set_noise(l, &h, i);
        evaluate(l, out + i, DPI_HYPERCUBE);
    }
    dpi_arena_free(&h.arena);
    return status;
}
