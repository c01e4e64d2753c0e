/* Draws of global latents from the prior that the fit's model has: ancestral sampling, latents in
 * the order of their declaration, each from its arguments at the values that were drawn before it.
 * After each latent what is global is run again, as in simulate.c, but of latents of records and of
 * records themselves nothing is run: no global latent depends on them. */
#include <string.h>

#include "exec/run.h"
#include "fit/draws.h"
#include "fit/kept.h"
#include "model/proper.h"
#include "random/gsl.h"
#include "random/rng.h"

/* What draws: the model's graph, and room for a site's arguments. */
typedef struct ancestry {
    const dp_model *m;
    size_t n_sites; /* as fitted */
    dpi_run *run;
    dpi_arena arena;
    double *arg[DPI_MAX_ARGS];
} ancestry;

static const dpi_shape *shape_of(const ancestry *a, dpi_id id)
{
    return &dpi_get(&a->m->graph, id)->shape;
}

static bool is_drawn(const ancestry *a, const dpi_site *site)
{
    return site->kind == DPI_LATENT && !shape_of(a, site->value)->per_record;
}

static dp_status check(const ancestry *a, dp_error *err)
{
    for (size_t i = 0; i < a->n_sites; i++)
        if (a->m->sites[i].kind == DPI_PARAM)
            return dpi_fail(err, DP_EUNSUPPORTED, "parameter '%s' has no prior to draw from",
                            a->m->sites[i].name);
    return dpi_need_proper(a->m, "nothing can be drawn from", err);
}

static dp_status make_room(ancestry *a, dp_error *err)
{
    size_t room[DPI_MAX_ARGS] = {0};
    for (size_t i = 0; i < a->n_sites; i++) {
        const dpi_site *site = &a->m->sites[i];
        for (int k = 0; is_drawn(a, site) && k < site->family->n_args; k++) {
            const size_t size = dpi_shape_size(shape_of(a, site->arg[k]));
            room[k] = size > room[k] ? size : room[k];
        }
    }
    for (int k = 0; k < DPI_MAX_ARGS; k++)
        if ((a->arg[k] = dpi_arena_alloc(&a->arena, room[k], sizeof **a->arg)) == NULL)
            return dpi_fail_nomem(err);
    return DP_OK;
}

static dp_status make_run(ancestry *a, dp_error *err)
{
    size_t n = 0;
    dpi_id *wanted = dpi_arena_alloc(&a->arena, a->n_sites, (DPI_MAX_ARGS + 1) * sizeof *wanted);
    if (wanted == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < a->n_sites; i++) {
        const dpi_site *site = &a->m->sites[i];
        if (!is_drawn(a, site))
            continue;
        wanted[n++] = site->value;
        for (int k = 0; k < site->family->n_args; k++)
            wanted[n++] = site->arg[k];
    }
    const dpi_run_spec spec = {.graph = &a->m->graph, .wanted = wanted, .n_wanted = n, .chunk = 1};
    return dpi_run_new(&spec, &a->run, err);
}

static void draw_latent(ancestry *a, const dpi_site *site, gsl_rng *rng, double *out)
{
    size_t arg_size[DPI_MAX_ARGS] = {0};
    const double *arg[DPI_MAX_ARGS] = {NULL};
    const dpi_shape *shape = shape_of(a, site->value);
    const size_t size = dpi_shape_size(shape);
    dpi_run_globals(a->run);
    for (int k = 0; k < site->family->n_args; k++) {
        arg_size[k] = dpi_shape_size(shape_of(a, site->arg[k]));
        dpi_run_read(a->run, site->arg[k], 0, arg_size[k], a->arg[k]);
        arg[k] = a->arg[k];
    }
    dpi_draw_site(site->family, rng, arg, arg_size, size, dpi_value_size(site->family, shape), out);
    dpi_run_write(a->run, site->value, 0, size, out);
}

static void draw_all(ancestry *a, dp_rng *rng, dp_draws *draws)
{
    gsl_rng source = dpi_rng_gsl(rng);
    for (size_t d = 0; d < draws->n; d++)
        for (size_t i = 0; i < a->n_sites; i++) {
            const dpi_site *site = &a->m->sites[i];
            if (is_drawn(a, site))
                draw_latent(a, site, &source,
                            draws->values + d * draws->size +
                                dpi_draws_find(draws, site->name)->first);
        }
}

dp_status dp_fit_draw_prior(const dp_fit *fit, size_t n_draws, dp_rng *rng, dp_draws **draws,
                            dp_error *err)
{
    ancestry a = {.m = fit->model, .n_sites = fit->n_sites[0]};
    if (rng == NULL)
        dpi_misuse(__func__, "NULL source of randomness");
    *draws = NULL;
    if (n_draws == 0)
        return dpi_fail(err, DP_EINVAL, "no draws are asked for; ask for at least one");
    dp_status status = check(&a, err);
    if (status == DP_OK)
        status = make_room(&a, err);
    if (status == DP_OK)
        status = make_run(&a, err);
    if (status == DP_OK)
        status = dpi_draws_new(fit, n_draws, draws, err);
    if (status == DP_OK)
        draw_all(&a, rng, *draws);
    dpi_run_free(a.run);
    dpi_arena_free(&a.arena);
    return status;
}

size_t dp_fit_kept(const dp_fit *fit)
{
    return fit->kept != NULL ? fit->kept->n : 0;
}
