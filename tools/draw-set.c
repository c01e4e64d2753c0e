/* A latent's values are copied from the draws, and a computed value is evaluated at them, so that
 * both are of the same draws, to the bit.  How a latent's numbers lie is read from the name of its
 * last one, "a[3][1]"; of computed values only their number is known. */
#include "tools/draw-set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dp_status fail(dp_error *err, dp_status status, const char *text)
{
    *err = (dp_error){.status = status};
    (void)snprintf(err->text, sizeof err->text, "%s", text);
    return status;
}

static bool is_wanted(const dp_fit *fit, const dp_fit_quantity *q, bool all)
{
    const bool unit_size =
        dp_fit_get_source(fit) != NULL && strncmp(q->name, "scaled.", strlen("scaled.")) == 0;
    return !q->per_record && (all || !unit_size) &&
           (q->role == DP_FIT_LATENT || q->role == DP_FIT_DETERMINISTIC);
}

/* Dimensions from the last number's name: "[3][1]" is of 4 x 2. */
static void read_dims(const char *brackets, draw_variable *v)
{
    size_t product = 1;
    for (const char *c = brackets; *c == '[' && v->n_dims < MOST_DIMS;) {
        char *end;
        v->dim[v->n_dims] = (size_t)strtoull(c + 1, &end, 10) + 1;
        product *= v->dim[v->n_dims++];
        c = *end == ']' ? end + 1 : end;
    }
    if (product != v->size) {
        v->n_dims = v->size > 1;
        v->dim[0] = v->size;
    }
}

static dp_status fill(dp_fit *fit, const dp_draws *draws, const dp_fit_quantity *q,
                      draw_variable *v, dp_error *err)
{
    const size_t n = dp_draws_count(draws), row = dp_draws_size(draws);
    size_t size;
    v->values = malloc(n * v->size * sizeof *v->values + 1);
    if (v->values == NULL)
        return fail(err, DP_ENOMEM, "out of memory; ask for fewer --draws");
    if (q->role != DP_FIT_LATENT) {
        const dp_given given = {.draws = draws};
        read_dims("", v);
        return dp_fit_evaluate(fit, dp_fit_expr(fit, q->name), &given, n * v->size, v->values, err);
    }
    const size_t first = dp_draws_find(draws, q->name, &size);
    if (size != v->size)
        return fail(err, DP_ESHAPE, "the draws are not those of this fit");
    for (size_t d = 0; d < n; d++)
        memcpy(v->values + d * size, dp_draws_values(draws) + d * row + first,
               size * sizeof *v->values);
    read_dims(size > 0 ? dp_draws_name(draws, first + size - 1) + strlen(q->name) : "", v);
    return DP_OK;
}

static dp_status add_all(dp_fit *fit, const dp_draws *draws, const dp_schema *schema, bool all,
                         draw_set *set, dp_error *err)
{
    size_t n, numbers = 0;
    const dp_fit_quantity *q = dp_fit_quantities(fit, &n);
    for (size_t i = 0; i < n; i++)
        numbers += is_wanted(fit, &q[i], all) ? q[i].size : 0;
    if (numbers == 0)
        return fail(err, DP_EUNSUPPORTED,
                    "the fit has no latents that all records share, of which there would be draws; "
                    "its parameters are points, which tools/read-fit.py prints");
    if (numbers > MOST_DRAWN / set->n_draws) {
        *err = (dp_error){.status = DP_EDOMAIN};
        (void)snprintf(err->text, sizeof err->text,
                       "%zu draws of %zu numbers are more than the %d numbers that are held; ask "
                       "for fewer --draws",
                       set->n_draws, numbers, MOST_DRAWN);
        return err->status;
    }
    set->variable = calloc(n, sizeof *set->variable);
    if (set->variable == NULL)
        return fail(err, DP_ENOMEM, "out of memory");
    for (size_t i = 0; i < n; i++) {
        if (!is_wanted(fit, &q[i], all) || q[i].size == 0)
            continue;
        draw_variable *v = &set->variable[set->n++];
        *v = (draw_variable){.name = q[i].name, .size = q[i].size};
        const dp_status status = fill(fit, draws, &q[i], v, err);
        if (status != DP_OK)
            return status;
        if (v->n_dims == 1)
            v->by = dp_groups_of(schema, v->name, v->size);
    }
    return DP_OK;
}

dp_status draw_set_make(dp_fit *fit, const dp_draws *draws, const dp_schema *schema, bool all,
                        draw_set *set, dp_error *err)
{
    *set = (draw_set){.n_draws = dp_draws_count(draws)};
    const dp_status status = add_all(fit, draws, schema, all, set, err);
    if (status != DP_OK)
        draw_set_free(set);
    return status;
}

void draw_set_free(draw_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        free(set->variable[i].values);
    free(set->variable);
    *set = (draw_set){.n = 0};
}
