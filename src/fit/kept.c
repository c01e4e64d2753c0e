/* Draws that a fit keeps, as a sampler leaves them: joint, of equal weight, the latents' own
 * values.
 *
 * They are given out by Fisher and Yates's shuffle (Durstenfeld 1964, Algorithm 235), of which n
 * steps give a random subset of n in random order, and which starts anew, from the order that it
 * has, when all have been given out: every such round is a permutation of its own. */
#include "fit/kept.h"

#include <math.h>
#include <string.h>

#include "random/rng.h"

/* How far from 1 the numbers of a simplex may sum, which is 1e-15 as they are made: their own
 * rounding, and that of a sum of a million. */
static const double off_one = 1e-9;

/* ---- taking them in ---- */

/* Bounds of a support, numbers in every model that the calls of tacit/dist.h can write. */
static dp_status find_bounds(const dp_fit *fit, const dpi_site *site, double bound[2],
                             dp_error *err)
{
    for (int k = 0; k < dpi_support_bounds(site->family->support); k++) {
        const dpi_node *node = dpi_get(&fit->model->graph, site->arg[k]);
        if (!dpi_is_number(node))
            return dpi_fail(err, DP_EUNSUPPORTED,
                            "latent '%s' lies between bounds that are computed; draws of it "
                            "cannot be checked, nor kept",
                            site->name);
        bound[k] = node->attr.value;
    }
    return DP_OK;
}

/* Whether a value of `size` numbers, a row of n or a matrix, lies in the support. */
static bool is_inside(const dpi_support *support, const double bound[2], size_t n, size_t size,
                      const double *x)
{
    for (size_t e = 0; e < size; e++)
        if (!support->contains(x[e], bound[0], bound[1]))
            return false;
    return support->rows == NULL || support->rows->wrong(n, x, off_one) == NULL;
}

static dp_status check_latent(const dp_fit *fit, const dp_draws *kept, const dpi_drawn *drawn,
                              dp_error *err)
{
    const dpi_site *site = dpi_find_site(fit->model, drawn->latent);
    const dpi_support *support = &dpi_supports[site->family->support];
    const dpi_shape *shape = &dpi_get(&fit->model->graph, site->value)->shape;
    bool is_row = support->rows != NULL;
    size_t n = is_row ? shape->dim[shape->n_dims - 1] : 1;
    size_t row = is_row ? dpi_value_size(site->family, shape) : 1;
    double bound[2] = {0};
    dp_status status = find_bounds(fit, site, bound, err);
    for (size_t i = 0; status == DP_OK && i < kept->n; i++)
        for (size_t e = 0; e < drawn->size; e += row)
            if (!is_inside(support, bound, n, row,
                           kept->values + i * kept->size + drawn->first + e))
                return dpi_fail(err, DP_EDOMAIN,
                                "draw %zu (from 0) of %s is not %s; there is no fit to keep", i,
                                kept->names[drawn->first + e], support->says);
    return status;
}

dp_status dpi_kept_new(const dp_fit *fit, const dpi_fit_parts *from, dp_draws **kept, dp_error *err)
{
    *kept = NULL;
    if (from->n_draws == 0)
        return DP_OK;
    if (from->n_draws == 1)
        return dpi_fail(err, DP_EINVAL, "one draw tells no spread; keep at least two");
    dp_status status = dpi_draws_new(fit, from->n_draws, kept, err);
    if (status != DP_OK)
        return status;
    dp_draws *d = *kept;
    if (d->size == 0 || d->size != from->draw_size)
        status = dpi_fail(err, DP_EINVAL,
                          "the model's global latents have %zu numbers, and draws of %zu are given",
                          d->size, from->draw_size);
    if (status == DP_OK)
        memcpy(d->values, from->draws, d->n * d->size * sizeof *d->values);
    for (size_t k = 0; status == DP_OK && k < d->n_drawn; k++)
        status = check_latent(fit, d, &d->drawn[k], err);
    return status; /* after an error the fit is freed, and they with it */
}

/* ---- giving them out ---- */

dp_status dpi_kept_draw(const dp_draws *kept, dp_rng *rng, dp_draws *d, dp_error *err)
{
    size_t *order = dpi_alloc(kept->n, sizeof *order);
    if (order == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < kept->n; i++)
        order[i] = i;
    for (size_t i = 0; i < d->n; i++) {
        size_t at = i % kept->n;
        size_t from = at + (size_t)dpi_stream_below(dpi_rng_stream(rng), kept->n - at);
        size_t chosen = order[from];
        order[from] = order[at];
        order[at] = chosen;
        memcpy(d->values + i * d->size, kept->values + chosen * kept->size,
               d->size * sizeof *d->values);
    }
    dpi_free(order);
    return DP_OK;
}

void dpi_kept_spread(const dp_draws *kept, const dpi_latents *l, double *out)
{
    for (size_t k = 0; k < l->n; k++) {
        const dpi_drawn *drawn = dpi_draws_find(kept, l->latent[k]->name);
        for (size_t e = 0; e < drawn->size; e++)
            for (size_t i = 0; i < kept->n; i++)
                *out++ = kept->values[i * kept->size + drawn->first + e];
    }
}
