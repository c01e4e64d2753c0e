/* Sites with a distribution: latents of models and guides, observations.
 *
 * A model's latent is continuous, has the shape that its arguments have together, and depends on
 * single records only where it is itself of a record.  A guide samples the latents of its model,
 * each from a family whose draws the model's prior can take. */
#include "dist/form.h"
#include "model/declare.h"
#include "model/proper.h"

dpi_id dpi_log_density(dpi_graph *g, const dpi_family *family, dpi_id x, const dpi_id arg[])
{
    if (g->err->status != DP_OK)
        return DPI_NONE;
    return dpi_sum(g, dpi_family_log_density(family, g, x, arg));
}

/* A row of one number, or of none that is known. */
static bool is_short_row(const dpi_shape *shape, const dpi_family *family)
{
    return dpi_is_row(family) && (shape->n_dims == 0 || shape->dim[shape->n_dims - 1] < 2);
}

/* False, with an error, for a latent that should be a row and is one number: the dimension of a
 * plate, whose members are apart from one another, is none of a row's. */
static bool is_long_enough(dp_model *m, const char *name, const dpi_shape *shape,
                           const dpi_family *family)
{
    const dpi_support *support = &dpi_supports[family->support];
    int last = shape->n_dims - 1;
    if (!dpi_is_joint(family) || (last >= 0 && shape->dim[last] > 1 && !shape->plate[last]))
        return true;
    if (support->rows != NULL && support->rows->is_matrix)
        FAIL(m, DP_ESHAPE, "'%s': %s is of a matrix [n][n], n >= 2; give its rows as n", name,
             family->name);
    else
        FAIL(m, DP_ESHAPE, "'%s': %s is of n >= 2 %s; give their number as n", name, family->name,
             support->rows != NULL ? support->says : "numbers");
    return false;
}

/* In a guide: the model has this latent, with this shape. */
static bool matches_model(dp_model *m, const char *name, const dpi_shape *shape)
{
    if (m->of == NULL)
        return true;
    const dpi_site *site = dpi_find_site(m->of, name);
    char wanted[DPI_SHAPE_TEXT], found[DPI_SHAPE_TEXT];
    if (site == NULL || site->kind != DPI_LATENT) {
        FAIL(m, DP_ENAME, "the guide samples '%s', which is no latent of the model", name);
        return false;
    }
    const dpi_shape *other = &dpi_get(&m->of->graph, site->value)->shape;
    if (dpi_shape_same(other, shape) && other->per_record == shape->per_record)
        return true;
    FAIL(m, DP_ESHAPE, "the guide's '%s' is %s, the model's is %s", name,
         dpi_shape_text(shape, found), dpi_shape_text(other, wanted));
    return false;
}

/* In a guide: whatever the family draws is a value that the model's latent can take. */
static bool stays_in_support(dp_model *m, const char *name, const dpi_family *family)
{
    if (m->of == NULL)
        return true;
    const dpi_family *prior = dpi_find_site(m->of, name)->family;
    if (prior->support == DPI_REAL || prior->support == family->support)
        return true;
    FAIL(m, DP_EDOMAIN, "the guide samples '%s' from %s, but the model's %s needs %s; %s", name,
         family->name, prior->name, dpi_supports[prior->support].says,
         prior->support == DPI_ABOVE_ZERO
             ? "use dp_log_normal"
             : "sample a normal latent instead and transform it in the model");
    return false;
}

/* The shape of a latent of n numbers, or of a matrix [n][n]: false, with an error, where there is
 * none. */
static bool latent_shape(dp_model *m, const dp_plate *plate, const char *name, size_t n,
                         const dpi_family *family, dpi_shape *shape)
{
    const dpi_row_support *rows = family != NULL ? dpi_supports[family->support].rows : NULL;
    if (!dpi_site_shape(m, plate, name, n, shape))
        return false;
    if (rows == NULL || !rows->is_matrix || shape->n_dims == 0)
        return true;
    if (plate != NULL) {
        FAIL(m, DP_EUNSUPPORTED,
             "'%s': a value of %s is a matrix, of which members of a plate have none; give each "
             "member its own by dp_sample",
             name, family->name);
        return false;
    }
    shape->dim[shape->n_dims++] = n;
    return true;
}

static void misfit(dp_model *m, const char *name, const dpi_family *family, const dpi_id arg[])
{
    char list[160] = "", text[DPI_SHAPE_TEXT];
    size_t used = 0;
    for (int k = 0; k < family->n_args && used < sizeof list; k++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s is %s", k > 0 ? ", " : "",
                                 family->arg_name[k],
                                 dpi_shape_text(&dpi_get(&m->graph, arg[k])->shape, text));
    if (family->takes == NULL)
        FAIL(m, DP_ESHAPE,
             "the arguments of '%s' do not fit together: %s; the smaller one must have the last "
             "dimensions of the larger, and a value per group meets records by dp_pick",
             name, list);
    else
        FAIL(m, DP_ESHAPE, "the arguments of '%s' do not fit together: %s; %s takes %s", name, list,
             family->name, family->takes);
}

static dp_expr sample(dp_model *m, const dp_plate *plate, const char *name, size_t n, dp_dist dist)
{
    dpi_shape shape, args, joined;
    dpi_site site = {.kind = DPI_LATENT, .name = name, .value = DPI_NONE};
    char text[2][DPI_SHAPE_TEXT];
    if (!dpi_name_is_new(m, name) || !latent_shape(m, plate, name, n, dist.family, &shape) ||
        (dist.family = dpi_take_arguments(m, name, dist, site.arg)) == NULL ||
        !matches_model(m, name, &shape))
        return dpi_expression(m, DPI_NONE);
    site.family = dist.family;
    if (dist.family->form != NULL && dist.family->form->observed)
        FAIL(m, DP_EUNSUPPORTED, "latent '%s' has the prior %s, which is for observations", name,
             dist.family->name);
    else if (shape.per_record && dpi_is_improper(dist.family))
        FAIL(m, DP_EUNSUPPORTED,
             "latent '%s' belongs to each record and has no proper prior (%s); give it one, such "
             "as dp_normal(0, 10)",
             name, dist.family->name);
    else if (dpi_supports[dist.family->support].discrete)
        FAIL(m, DP_EUNSUPPORTED,
             "latent '%s' is discrete (%s); sum it out (dp_mixture, dp_marginal), or observe it",
             name, dist.family->name);
    else if (m->of != NULL && dist.family->from_normal == NULL)
        FAIL(m, DP_EUNSUPPORTED,
             "a guide cannot sample from %s; use dp_normal or dp_log_normal "
             "and transform",
             dist.family->name);
    else if (!is_long_enough(m, name, &shape, dist.family) ||
             !stays_in_support(m, name, dist.family))
        return dpi_expression(m, DPI_NONE);
    else if (!dpi_arguments_shape(m, dist.family, site.arg, &args))
        misfit(m, name, dist.family, site.arg);
    else if (!dpi_shape_join(&shape, &args, &joined) || !dpi_shape_same(&shape, &joined))
        FAIL(m, DP_ESHAPE,
             "'%s' is %s, but the arguments of %s are together %s; declare it with n and the plate "
             "that make it so, or take as many numbers of the arguments (dp_slice, dp_pick)",
             name, dpi_shape_text(&shape, text[0]), dist.family->name,
             dpi_shape_text(&args, text[1]));
    else if (args.per_record && !shape.per_record)
        FAIL(m, DP_EPRIVACY,
             "global latent '%s' would depend on single records; put it in the unit "
             "plate, or give it global arguments",
             name);
    if (m->err.status != DP_OK)
        return dpi_expression(m, DPI_NONE);
    return dpi_expression(m, dpi_add_site(m, site, &dpi_op_input, (dpi_attr){.shape = shape}));
}

dp_expr dp_sample_at(dp_model *m, const char *name, size_t n, dp_dist dist, const char *file,
                     int line)
{
    return dpi_enter(m, name, file, line) ? sample(m, NULL, name, n, dist)
                                          : dpi_expression(m, DPI_NONE);
}

dp_expr dp_sample_in_at(dp_plate plate, const char *name, size_t n, dp_dist dist, const char *file,
                        int line)
{
    return dpi_enter(plate.model, name, file, line) ? sample(plate.model, &plate, name, n, dist)
                                                    : dpi_expression(plate.model, DPI_NONE);
}

/* Whether the name is that of a column which is read and not observed. */
static bool is_read(const dp_model *m, const char *name)
{
    dpi_id id = dpi_find_source(m, name);
    return id != DPI_NONE && dpi_is_column(dpi_get(&m->graph, id)) && !dpi_is_observed(m, name);
}

/* How many categories an observation has; 0 for numbers that are none. */
static size_t categories_of(const dp_model *m, const dpi_site *site)
{
    dpi_support_kind support = site->family->support;
    if (support != DPI_CATEGORY && support != DPI_LEVEL)
        return 0;
    dpi_id numbers = site->arg[site->family->bound_at];
    return dpi_get(&m->graph, numbers)->shape.dim[0] + (support == DPI_LEVEL);
}

void dp_observe_at(dp_plate rows, const char *name, dp_dist dist, const char *file, int line)
{
    dp_model *m = rows.model;
    dpi_shape shape;
    dpi_site site = {.kind = DPI_OBSERVED, .name = name, .value = DPI_NONE};
    if (!dpi_enter(m, name, file, line) || !dpi_need_unit(&rows, "an observation") ||
        (!is_read(m, name) && !dpi_name_is_new(m, name)) ||
        (dist.family = dpi_take_arguments(m, name, dist, site.arg)) == NULL)
        return;
    site.family = dist.family;
    if (dpi_is_improper(dist.family)) {
        FAIL(m, DP_EUNSUPPORTED,
             "'%s': %s is no distribution that outcomes could have; dp_flat and dp_flat_positive "
             "are priors of latents; observe dp_normal or another",
             name, dist.family->name);
        return;
    }
    if (m->of != NULL) {
        FAIL(m, DP_EINVAL, "a guide observes nothing ('%s'); use dp_data to read a column", name);
        return;
    }
    if (!dpi_arguments_shape(m, dist.family, site.arg, &shape)) {
        misfit(m, name, dist.family, site.arg);
        return;
    }
    if (is_short_row(&shape, dist.family)) {
        FAIL(m, DP_ESHAPE,
             "'%s': %s needs a vector [K], K >= 2, as argument, to tell how many numbers", name,
             dist.family->name);
        return;
    }
    shape.per_record = true;
    const dpi_row_support *matrix = dpi_supports[dist.family->support].rows;
    if (matrix != NULL && matrix->is_matrix) {
        FAIL(
            m, DP_EUNSUPPORTED,
            "'%s': a value of %s is a matrix, of which records have none; it is a prior of latents",
            name, dist.family->name);
        return;
    }
    size_t categories = categories_of(m, &site);
    dpi_attr attr = {.shape = shape, .number = categories};
    const dpi_op *op = categories > 0 ? &dpi_op_index : &dpi_op_data;
    if (dpi_same_column(m, name, op, &attr, &site.value))
        (void)dpi_add_site(m, site, op, attr);
}
