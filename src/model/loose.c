#include "model/loose.h"

bool dpi_may_loosen(const dp_model *model, const dpi_site *site)
{
    const dpi_family *family = site->family;
    bool location = false, scale = false, computed = false;
    if (site->kind != DPI_LATENT || family->support != DPI_REAL || family->log_density == NULL)
        return false;
    for (int k = 0; k < family->n_args; k++) {
        location = location || family->role[k] == DPI_LOCATION;
        scale = scale || family->role[k] == DPI_SCALE;
        computed = computed || ((family->role[k] != DPI_SHAPE || family->stretch != NULL) &&
                                !dpi_is_const(dpi_get(&model->graph, site->arg[k])));
    }
    return ((location && scale) || family->stretch != NULL) && computed;
}

/* An argument where the mask is 1, and another one where it is 0. */
static dpi_id either(dpi_graph *g, dpi_id mask, dpi_id at_one, dpi_id at_zero)
{
    dpi_id rest = dpi_sub(g, dpi_constant(g, 1), mask);
    return dpi_add(g, dpi_times(g, mask, at_one), dpi_times(g, rest, at_zero));
}

/* location + scale z where z is loose, else z; rows know their own way. */
dpi_id dpi_stretch(dpi_graph *g, const dpi_family *family, dpi_loose *l, const dpi_id arg[])
{
    dpi_id x = l->free;
    if (family->stretch != NULL)
        return family->stretch(g, x, l->mask, arg, &l->volume);
    for (int k = 0; k < family->n_args; k++)
        if (family->role[k] == DPI_SCALE)
            x = dpi_times(g, either(g, l->mask, arg[k], dpi_constant(g, 1)), x);
    for (int k = 0; k < family->n_args; k++)
        if (family->role[k] == DPI_LOCATION)
            x = dpi_add(g, dpi_times(g, l->mask, arg[k]), x);
    return x;
}

/* Of z = (x - location) / scale the family's own, at 0 and 1; of rows that of x, with the
 * volume. */
dpi_id dpi_loose_density(dpi_graph *g, const dpi_family *family, const dpi_loose *l, dpi_id value,
                         const dpi_id arg[])
{
    dpi_id own[DPI_MAX_ARGS];
    if (family->stretch != NULL)
        return dpi_add(g, dpi_sum(g, l->volume), dpi_log_density(g, family, value, arg));
    for (int k = 0; k < family->n_args; k++) {
        dpi_id standard = dpi_constant(g, family->role[k] == DPI_SCALE);
        own[k] = family->role[k] == DPI_SHAPE ? arg[k] : either(g, l->mask, standard, arg[k]);
    }
    return dpi_log_density(g, family, l->free, own);
}
