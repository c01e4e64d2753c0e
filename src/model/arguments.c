/* A distribution's arguments where it meets a site: their domains, and the shape that they give one
 * value. */
#include "model/model.h"

#define FAIL(m, status, text, ...)                                                                 \
    ((void)dpi_fail(&(m)->err, status, "%s:%d: " text, (m)->graph.where.file,                      \
                    (m)->graph.where.line, __VA_ARGS__))

const char *dpi_domain_text(dpi_domain domain)
{
    return domain == DPI_POSITIVE       ? "a number above 0"
           : domain == DPI_NOT_NEGATIVE ? "a whole number from 0 up"
                                        : "a finite number";
}

bool dpi_take_arguments(dp_model *m, const char *name, dp_dist dist, dpi_id arg[])
{
    if (dist.family == NULL) {
        FAIL(m, DP_EINVAL, "'%s' has no distribution; use a constructor such as dp_normal", name);
        return false;
    }
    if (dist.family->refused != NULL) {
        FAIL(m, DP_EUNSUPPORTED, "'%s': %s", name, dist.family->refused);
        return false;
    }
    for (int k = 0; k < dist.family->n_args; k++) {
        arg[k] = dpi_expr_id(m, dist.arg[k]);
        if (arg[k] == DPI_NONE)
            return false;
        const dpi_node *node = dpi_get(&m->graph, arg[k]);
        const double *values = node->attr.array != NULL ? node->attr.array : &node->attr.value;
        size_t n = dpi_is_const(node) ? dpi_shape_size(&node->shape) : 0;
        for (size_t e = 0; e < n; e++)
            if (!dpi_in_domain(dist.family->arg_domain[k], values[e])) {
                FAIL(m, DP_EDOMAIN, "'%s': %s of %s is %g; it must be %s", name,
                     dist.family->arg_name[k], dist.family->name, values[e],
                     dpi_domain_text(dist.family->arg_domain[k]));
                return false;
            }
    }
    if (dist.family->support == DPI_INTERVAL && dist.arg[0].model == NULL &&
        dist.arg[1].model == NULL && !(dist.arg[0].value < dist.arg[1].value)) {
        FAIL(m, DP_EDOMAIN, "'%s': the interval from %g to %g is empty", name, dist.arg[0].value,
             dist.arg[1].value);
        return false;
    }
    return true;
}

/* One value of a mixture: what is left of its components' arguments behind the component. */
static bool mixture_shape(const dp_model *m, const dpi_family *family, const dpi_id arg[],
                          dpi_shape *shape)
{
    const dpi_shape *weights = &dpi_get(&m->graph, arg[0])->shape;
    if (weights->n_dims != 1 || weights->dim[0] < 2)
        return false;
    *shape = dpi_scalar(weights->per_record);
    for (int k = 1; k < family->n_args; k++) {
        const dpi_shape *next = &dpi_get(&m->graph, arg[k])->shape;
        shape->per_record = shape->per_record || next->per_record;
        if (next->n_dims == 0)
            continue;
        if (next->n_dims > 2 || next->dim[0] != weights->dim[0] ||
            (next->plate[0] != 0 && weights->plate[0] != 0 && next->plate[0] != weights->plate[0]))
            return false;
        dpi_shape rest = dpi_shape_drop_first(*next);
        if (!dpi_shape_join(shape, &rest, shape))
            return false;
    }
    return true;
}

bool dpi_arguments_shape(const dp_model *m, const dpi_family *family, const dpi_id arg[],
                         dpi_shape *shape)
{
    if (family->component != NULL)
        return mixture_shape(m, family, arg, shape);
    *shape = dpi_scalar(false);
    for (int k = 0; k < family->n_args; k++) {
        dpi_shape next = dpi_get(&m->graph, arg[k])->shape;
        if (family->vector_arg) {
            if (next.n_dims != 1)
                return false;
            next = dpi_scalar(next.per_record);
        }
        if (!dpi_shape_join(shape, &next, shape))
            return false;
    }
    return true;
}
