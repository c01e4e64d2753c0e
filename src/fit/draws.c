/* A matrix of draws with a name for every column. */
#include "fit/draws.h"

#include <stdio.h>
#include <string.h>

/* "[3][1]" behind the name for number e of a value of that shape; "" for a number. */
static const char *name_number(dp_draws *d, const char *name, const dpi_shape *shape, size_t e)
{
    enum { ONE = 24 }; /* a bracket's characters */
    size_t room = strlen(name) + DPI_MAX_DIMS * ONE + 1, left = dpi_shape_size(shape);
    char *text = dpi_arena_alloc(&d->arena, room, 1);
    if (text == NULL)
        return NULL;
    int used = snprintf(text, room, "%s", name);
    for (int k = 0; k < shape->n_dims; k++) {
        left /= shape->dim[k];
        used += snprintf(text + used, room - (size_t)used, "[%zu]", e / left);
        e %= left;
    }
    return text;
}

static dp_status name_numbers(dp_draws *d, const dpi_latents *l, dp_error *err)
{
    const dp_model *m = l->fit->model;
    size_t first = 0;
    d->names = dpi_arena_alloc(&d->arena, l->size, sizeof *d->names);
    d->drawn = dpi_arena_alloc(&d->arena, l->n, sizeof *d->drawn);
    if (d->names == NULL || d->drawn == NULL)
        return dpi_fail_nomem(err);
    for (size_t k = 0; k < l->n; k++) {
        const char *name = l->latent[k]->name;
        const dpi_shape *shape = &dpi_get(&m->graph, dpi_find_site(m, name)->value)->shape;
        d->drawn[k] = (dpi_drawn){dpi_arena_strdup(&d->arena, name), first, l->latent[k]->size};
        if (d->drawn[k].latent == NULL)
            return dpi_fail_nomem(err);
        for (size_t e = 0; e < l->latent[k]->size; e++)
            if ((d->names[first + e] = name_number(d, name, shape, e)) == NULL)
                return dpi_fail_nomem(err);
        first += l->latent[k]->size;
    }
    d->n_drawn = l->n;
    return DP_OK;
}

static dp_status fill(dp_draws *d, const dp_fit *fit, dp_rng *rng, dp_error *err)
{
    dpi_latents l = {0};
    dpi_arena scratch = {0};
    size_t row;
    dp_status status = dpi_latents_init(&l, fit, &scratch, NULL, 0, err);
    if (status == DP_OK)
        status = name_numbers(d, &l, err);
    d->size = l.size;
    if (status == DP_OK && (!dpi_mul(l.size, sizeof *d->values, &row) ||
                            (d->values = dpi_arena_alloc(&d->arena, d->n, row)) == NULL))
        status = dpi_fail_nomem(err);
    for (size_t i = 0; status == DP_OK && i < d->n; i++)
        dpi_latents_draw(&l, rng, d->values + i * d->size);
    dpi_latents_free(&l);
    dpi_arena_free(&scratch);
    return status;
}

static dp_status make(const dp_fit *fit, size_t n, dp_rng *rng, dp_draws **draws, dp_error *err)
{
    *draws = NULL;
    dp_draws *d = dpi_alloc(1, sizeof *d);
    if (d == NULL)
        return dpi_fail_nomem(err);
    d->n = n;
    dp_status status = fill(d, fit, rng, err);
    if (status == DP_OK)
        *draws = d;
    else
        dp_draws_free(d);
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
