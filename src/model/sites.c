/* Sites: how they are added, parameters, and named values.
 *
 * Latents and observations, which have a distribution, are in sample.c. */
#include "model/declare.h"

#include <math.h>

#include "model/init.h"

dpi_id dpi_expr_id(dp_model *m, dp_expr e)
{
    if (e.model == NULL)
        return dpi_constant(&m->graph, e.value);
    if (e.model != m && m->err.status == DP_OK)
        (void)dpi_fail(&m->err, DP_EINVAL,
                       "after %s:%d: an expression of another model is used here; "
                       "expressions belong to the model that made them",
                       m->graph.where.file != NULL ? m->graph.where.file : "model",
                       m->graph.where.line);
    return e.model != m ? DPI_NONE : e.id;
}

dpi_id dpi_append_site(dp_model *m, dpi_site site)
{
    site.where = m->graph.where;
    if (!dpi_arena_grow(&m->arena, (void **)&m->sites, &m->site_capacity, m->n_sites + 1,
                        sizeof site)) {
        (void)dpi_fail_nomem(&m->err);
        return DPI_NONE;
    }
    m->sites[m->n_sites++] = site;
    return site.value;
}

dpi_id dpi_add_site(dp_model *m, dpi_site site, const dpi_op *op, dpi_attr attr)
{
    if (site.value == DPI_NONE)
        site.value = dpi_source(&m->graph, op, site.name, attr);
    if (site.value == DPI_NONE)
        return DPI_NONE;
    site.name = dpi_get(&m->graph, site.value)->name;
    return dpi_append_site(m, site);
}

bool dpi_site_shape(dp_model *m, const dp_plate *plate, const char *name, size_t n,
                    dpi_shape *shape)
{
    const dpi_plate *p = plate != NULL ? dpi_get_plate(plate) : NULL;
    if (n == 0 || (plate != NULL && p == NULL)) {
        FAIL(m, n == 0 ? DP_ESHAPE : DP_EINVAL, "'%s': %s", name,
             n == 0 ? "n is 0; give how many numbers it has, at least 1"
                    : "the plate is not one of this model");
        return false;
    }
    *shape = dpi_vector(n, p != NULL && p->size == 0);
    if (p != NULL && p->size > 0)
        (void)dpi_shape_prepend(shape, p->size, plate->id);
    return true;
}

static dp_expr param(dp_model *m, const dp_plate *plate, const char *name, size_t n, double init)
{
    dpi_shape shape;
    dpi_site site = {
        .kind = DPI_PARAM, .name = name, .value = DPI_NONE, .start.init = dp_init_constant(init)};
    if (!dpi_name_is_new(m, name) || !dpi_site_shape(m, plate, name, n, &shape))
        return dpi_expression(m, DPI_NONE);
    if (shape.per_record)
        FAIL(
            m, DP_EPRIVACY,
            "parameter '%s': a parameter of each record would be that record's own secret; compute "
            "it from the record's data instead",
            name);
    else if (!isfinite(init))
        FAIL(m, DP_EDOMAIN, "parameter '%s': its start is %g; it must be a finite number", name,
             init);
    if (shape.per_record || !isfinite(init))
        return dpi_expression(m, DPI_NONE);
    return dpi_expression(m, dpi_add_site(m, site, &dpi_op_input, (dpi_attr){.shape = shape}));
}

dp_expr dp_param_at(dp_model *m, const char *name, size_t n, double init, const char *file,
                    int line)
{
    return dpi_enter(m, name, file, line) ? param(m, NULL, name, n, init)
                                          : dpi_expression(m, DPI_NONE);
}

dp_expr dp_param_in_at(dp_plate plate, const char *name, size_t n, double init, const char *file,
                       int line)
{
    return dpi_enter(plate.model, name, file, line) ? param(plate.model, &plate, name, n, init)
                                                    : dpi_expression(plate.model, DPI_NONE);
}

dp_expr dp_deterministic_at(dp_model *m, const char *name, dp_expr value, const char *file,
                            int line)
{
    if (!dpi_enter(m, name, file, line) || !dpi_name_is_new(m, name))
        return dpi_expression(m, DPI_NONE);
    if (m->of != NULL) {
        FAIL(m, DP_EINVAL, "a guide names no computed value ('%s'); name it in the model", name);
        return dpi_expression(m, DPI_NONE);
    }
    dpi_site site = {.kind = DPI_DETERMINISTIC, .value = dpi_expr_id(m, value)};
    if (site.value == DPI_NONE)
        return dpi_expression(m, DPI_NONE);
    /* The name is the site's: the node may be a latent or a value that another name stands for. */
    site.name = dpi_arena_strdup(&m->arena, name);
    if (site.name == NULL) {
        (void)dpi_fail_nomem(&m->err);
        return dpi_expression(m, DPI_NONE);
    }
    return dpi_expression(m, dpi_append_site(m, site));
}

dp_expr dp_weights_at(dp_model *m, const char *name, dp_extent extent, dp_init init,
                      const char *file, int line)
{
    if (!dpi_enter(m, name, file, line) || !dpi_name_is_new(m, name))
        return dpi_expression(m, DPI_NONE);
    const char *wrong = extent.rows == 0 || extent.columns == 0
                            ? "a weight has at least one row and one column"
                            : dpi_init_wrong(&init, extent.rows);
    if (wrong != NULL) {
        FAIL(m, extent.rows == 0 || extent.columns == 0 ? DP_ESHAPE : DP_EDOMAIN,
             "parameter '%s': %s", name, wrong);
        return dpi_expression(m, DPI_NONE);
    }
    const dpi_shape shape = {.n_dims = 2, .dim = {extent.rows, extent.columns}};
    const dpi_site site = {
        .kind = DPI_PARAM, .name = name, .value = DPI_NONE, .start = {init, m->seed}};
    return dpi_expression(m, dpi_add_site(m, site, &dpi_op_input, (dpi_attr){.shape = shape}));
}
