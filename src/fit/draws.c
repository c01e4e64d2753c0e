/* A matrix of draws with a name for every column. */
#include "fit/draws.h"

#include <stdio.h>
#include <string.h>

#include "fit/kept.h"

size_t dpi_number_name_room(const char *name)
{
    enum { ONE = 24 }; /* a bracket's characters */
    return strlen(name) + DPI_MAX_DIMS * ONE + 1;
}

void dpi_number_name(const char *name, const dpi_shape *shape, size_t e, size_t room, char *text)
{
    size_t left = dpi_shape_size(shape);
    int used = snprintf(text, room, "%s", name);
    for (int k = 0; k < shape->n_dims && used >= 0 && (size_t)used < room; k++) {
        left /= shape->dim[k];
        used += snprintf(text + used, room - (size_t)used, "[%zu]", e / left);
        e %= left;
    }
}

static const char *name_number(dp_draws *d, const char *name, const dpi_shape *shape, size_t e)
{
    size_t room = dpi_number_name_room(name);
    char *text = dpi_arena_alloc(&d->arena, room, 1);
    if (text != NULL)
        dpi_number_name(name, shape, e, room, text);
    return text;
}

static dp_status name_latent(dp_draws *d, const dp_fit *fit, dpi_drawn *drawn, dp_error *err)
{
    const dp_model *m = fit->model;
    const dpi_shape *shape = &dpi_get(&m->graph, dpi_find_site(m, drawn->latent)->value)->shape;
    for (size_t e = 0; e < drawn->size; e++)
        if ((d->names[drawn->first + e] = name_number(d, drawn->latent, shape, e)) == NULL)
            return dpi_fail_nomem(err);
    drawn->latent = dpi_arena_strdup(&d->arena, drawn->latent);
    return drawn->latent != NULL ? DP_OK : dpi_fail_nomem(err);
}

/* The global latents in the order of the model. */
static dp_status name_numbers(dp_draws *d, const dp_fit *fit, dp_error *err)
{
    d->drawn = dpi_arena_alloc(&d->arena, fit->n_sites[0], sizeof *d->drawn);
    if (d->drawn == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < fit->n_sites[0]; i++) {
        const dpi_latent *latent = dpi_fit_latent(fit, fit->model->sites[i].name);
        if (latent == NULL)
            continue;
        d->drawn[d->n_drawn++] = (dpi_drawn){latent->name, d->size, latent->size};
        d->size += latent->size;
    }
    d->names = dpi_arena_alloc(&d->arena, d->size, sizeof *d->names);
    dp_status status = d->names != NULL ? DP_OK : dpi_fail_nomem(err);
    for (size_t k = 0; status == DP_OK && k < d->n_drawn; k++)
        status = name_latent(d, fit, &d->drawn[k], err);
    return status;
}

dp_status dpi_draws_new(const dp_fit *fit, size_t n, dp_draws **draws, dp_error *err)
{
    size_t row;
    *draws = NULL;
    dp_draws *d = dpi_alloc(1, sizeof *d);
    if (d == NULL)
        return dpi_fail_nomem(err);
    d->n = n;
    dp_status status = name_numbers(d, fit, err);
    if (status == DP_OK && (!dpi_mul(d->size, sizeof *d->values, &row) ||
                            (d->values = dpi_arena_alloc(&d->arena, n, row)) == NULL))
        status = dpi_fail_nomem(err);
    if (status == DP_OK)
        *draws = d;
    else
        dp_draws_free(d);
    return status;
}

/* By the guide, from noise of rng, or of 0 where it is NULL. */
static dp_status draw_from_guide(const dp_fit *fit, dp_rng *rng, dp_draws *d, dp_error *err)
{
    dpi_latents l = {0};
    dpi_arena scratch = {0};
    dp_status status = dpi_latents_init(&l, fit, &scratch, NULL, 0, err);
    for (size_t i = 0; status == DP_OK && i < d->n; i++)
        dpi_latents_draw(&l, rng, d->values + i * d->size);
    dpi_latents_free(&l);
    dpi_arena_free(&scratch);
    return status;
}

static dp_status make(const dp_fit *fit, size_t n, dp_rng *rng, dp_draws **draws, dp_error *err)
{
    dp_status status = dpi_draws_new(fit, n, draws, err);
    if (status != DP_OK)
        return status;
    status = fit->kept != NULL && rng != NULL ? dpi_kept_draw(fit->kept, rng, *draws, err)
                                              : draw_from_guide(fit, rng, *draws, err);
    if (status != DP_OK) {
        dp_draws_free(*draws);
        *draws = NULL;
    }
    return status;
}

dp_status dp_fit_draw(const dp_fit *fit, size_t n_draws, dp_rng *rng, dp_draws **draws,
                      dp_error *err)
{
    if (rng == NULL)
        dpi_misuse(__func__, "NULL source of randomness");
    *draws = NULL;
    if (n_draws == 0)
        return dpi_fail(err, DP_EINVAL, "no draws are asked for; ask for at least one");
    return make(fit, n_draws, rng, draws, err);
}

dp_status dpi_fit_centre(const dp_fit *fit, dp_draws **draws, dp_error *err)
{
    return make(fit, 1, NULL, draws, err);
}

void dp_draws_free(dp_draws *draws)
{
    if (draws == NULL)
        return;
    dpi_arena_free(&draws->arena);
    dpi_free(draws);
}

size_t dp_draws_count(const dp_draws *draws)
{
    return draws->n;
}

size_t dp_draws_size(const dp_draws *draws)
{
    return draws->size;
}

const char *dp_draws_name(const dp_draws *draws, size_t k)
{
    if (k >= draws->size)
        dpi_misuse(__func__, "there is no number of that place in a draw");
    return draws->names[k];
}

const double *dp_draws_values(const dp_draws *draws)
{
    return draws->values;
}

const dpi_drawn *dpi_draws_find(const dp_draws *draws, const char *latent)
{
    for (size_t k = 0; k < draws->n_drawn; k++)
        if (strcmp(draws->drawn[k].latent, latent) == 0)
            return &draws->drawn[k];
    return NULL;
}

size_t dp_draws_find(const dp_draws *draws, const char *latent, size_t *n)
{
    const dpi_drawn *drawn = dpi_draws_find(draws, latent);
    *n = drawn != NULL ? drawn->size : 0;
    return drawn != NULL ? drawn->first : 0;
}
