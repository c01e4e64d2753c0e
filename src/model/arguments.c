/* A distribution's arguments where it meets a site: their domains, and the shape that they give one
 * value. */
#include <math.h>

#include "dist/form.h"
#include "model/declare.h"

const char *dpi_domain_text(dpi_domain domain)
{
    return domain == DPI_POSITIVE       ? "a number above 0"
           : domain == DPI_FRACTION     ? "a number strictly between 0 and 1"
           : domain == DPI_NOT_NEGATIVE ? "a whole number from 0 up"
           : domain == DPI_WEIGHT       ? "a number from 0 up"
           : domain == DPI_FLAG         ? "0 or 1"
           : domain == DPI_SIDE         ? "-1, 0 or 1"
           : domain == DPI_SIDE_OR_BOTH ? "-1, 0, 1 or 2"
                                        : "a finite number";
}

/* Whether a node is, or may well be, nowhere below `low` and nowhere above `high`: constants are
 * looked at. */
static bool may_be_within(const dpi_graph *g, dpi_id id, double low, double high)
{
    const dpi_node *node = dpi_get(g, id);
    const double *values = node->attr.array != NULL ? node->attr.array : &node->attr.value;
    size_t n = dpi_is_const(node) ? dpi_shape_size(&node->shape) : 0;
    for (size_t e = 0; e < n; e++)
        if (values[e] < low || values[e] > high)
            return false;
    return true;
}

/* Whether every value of a latent or parameter lies in a domain. */
static bool site_fits(const dpi_graph *g, const dpi_site *site, dpi_domain domain)
{
    if (domain == DPI_ANY || domain >= DPI_NOT_NEGATIVE || site->kind != DPI_LATENT)
        return domain == DPI_ANY; /* a parameter may be any number, and no latent is a whole one */
    dpi_support_kind support = site->family->support;
    bool in_unit = support == DPI_UNIT || support == DPI_SIMPLEX;
    if (domain == DPI_FRACTION)
        return in_unit || (support == DPI_INTERVAL && may_be_within(g, site->arg[0], 0, 1) &&
                           may_be_within(g, site->arg[1], 0, 1));
    return in_unit || support == DPI_ABOVE_ZERO ||
           ((support == DPI_INTERVAL || support == DPI_FROM) &&
            may_be_within(g, site->arg[0], 0, INFINITY));
}

/* What to do instead. */
static const char *remedy(dpi_domain domain, bool latent)
{
    if (domain >= DPI_NOT_NEGATIVE)
        return "use a constant or a column";
    if (domain == DPI_FRACTION)
        return latent ? "give it a prior between 0 and 1, such as dp_beta, or use dp_logistic of it"
                      : "use dp_logistic of it";
    return latent ? "give it a prior above 0, such as dp_half_normal, or use dp_exp of it"
                  : "use dp_exp of it";
}

/* The node whose numbers these are, in other places or some of them. */
static dpi_id origin(const dpi_graph *g, dpi_id id)
{
    const dpi_node *node = dpi_get(g, id);
    while (node->op->class == DPI_LAYOUT || node->op->class == DPI_SELECTION) {
        id = node->in[0];
        node = dpi_get(g, id);
    }
    return id;
}

static const dpi_site *drawn_or_learnt(const dp_model *m, dpi_id id)
{
    for (size_t i = 0; i < m->n_sites; i++)
        if (m->sites[i].value == id &&
            (m->sites[i].kind == DPI_LATENT || m->sites[i].kind == DPI_PARAM))
            return &m->sites[i];
    return NULL;
}

/* False, with an error, when argument k is a latent or parameter that may leave the argument's
 * domain: the density would be that of nothing, and a run would end where it is not a number. */
static bool stays_in_domain(dp_model *m, const char *name, const dpi_family *family, int k,
                            dpi_id arg)
{
    const dpi_domain domain = family->arg_domain[k];
    const dpi_site *site = drawn_or_learnt(m, origin(&m->graph, arg));
    if (site == NULL || site_fits(&m->graph, site, domain))
        return true;
    FAIL(m, DP_EDOMAIN, "'%s': %s of %s must be %s, and '%s' need not be; %s", name,
         family->arg_name[k], family->name, dpi_domain_text(domain), site->name,
         remedy(domain, site->kind == DPI_LATENT));
    return false;
}

/* The family, made in the model's memory where the distribution is made of another; NULL, with an
 * error, when there is none. */
static const dpi_family *family_of(dp_model *m, const char *name, const dp_dist *dist)
{
    const dpi_family *family = dist->family;
    if (family == NULL) {
        FAIL(m, DP_EINVAL, "'%s' has no distribution; use a constructor such as dp_normal", name);
        return NULL;
    }
    if (family->refused != NULL) {
        FAIL(m, DP_EUNSUPPORTED, "'%s': %s", name, family->refused);
        return NULL;
    }
    dpi_no_form wrong = {.why = NULL};
    family = dpi_dist_family(&m->arena, dist, &wrong);
    if (family == NULL && wrong.why != NULL)
        FAIL(m, DP_EUNSUPPORTED, "'%s' is %s: %s", name, wrong.form, wrong.why);
    else if (family == NULL)
        (void)dpi_fail_nomem(&m->err);
    return family;
}

const dpi_family *dpi_take_arguments(dp_model *m, const char *name, dp_dist dist, dpi_id arg[])
{
    dist.family = family_of(m, name, &dist);
    if (dist.family == NULL)
        return NULL;
    for (int k = 0; k < dist.family->n_args; k++) {
        arg[k] = dpi_expr_id(m, dist.arg[k]);
        if (arg[k] == DPI_NONE)
            return NULL;
        const dpi_node *node = dpi_get(&m->graph, arg[k]);
        const double *values = node->attr.array != NULL ? node->attr.array : &node->attr.value;
        size_t n = dpi_is_const(node) ? dpi_shape_size(&node->shape) : 0;
        for (size_t e = 0; e < n; e++)
            if (!dpi_in_domain(dist.family->arg_domain[k], values[e])) {
                FAIL(m, DP_EDOMAIN, "'%s': %s of %s is %g; it must be %s", name,
                     dist.family->arg_name[k], dist.family->name, values[e],
                     dpi_domain_text(dist.family->arg_domain[k]));
                return NULL;
            }
        if (!stays_in_domain(m, name, dist.family, k, arg[k]))
            return NULL;
    }
    const dpi_support_kind support = dist.family->support;
    const dp_expr *bound = dist.arg + dist.family->bound_at;
    if ((support == DPI_INTERVAL || support == DPI_COUNT_BETWEEN) && bound[0].model == NULL &&
        bound[1].model == NULL && !(bound[0].value < bound[1].value)) {
        FAIL(m, DP_EDOMAIN,
             "'%s': the interval from %g to %g is empty; the first number must be below the second",
             name, bound[0].value, bound[1].value);
        return NULL;
    }
    return dist.family;
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

/* Of a mixture of several families: a weight for each, and numbers. */
static bool several_shape(const dp_model *m, const dpi_family *family, const dpi_id arg[],
                          dpi_shape *shape)
{
    const dpi_shape *weights = &dpi_get(&m->graph, arg[0])->shape;
    size_t n = 1;
    while (n < DPI_MOST_COMPONENTS && family->other[n - 1] != NULL)
        n++;
    *shape = dpi_scalar(weights->per_record);
    bool fits = weights->n_dims == 1 && weights->dim[0] == n;
    for (int k = 1; k < family->n_args; k++) {
        const dpi_shape *next = &dpi_get(&m->graph, arg[k])->shape;
        fits = fits && next->n_dims == 0;
        shape->per_record = shape->per_record || next->per_record;
    }
    return fits;
}

/* What an argument says of the shape of a value: *shape is its own and becomes that. */
static bool shape_from(dpi_arg_kind kind, dpi_shape *shape)
{
    bool is_matrix = shape->n_dims == 2, is_list = shape->n_dims <= 1;
    switch (kind) {
    case DPI_EACH:
        return true;
    case DPI_ONE:
        return shape->n_dims == 0;
    case DPI_ROW:
        return is_list;
    case DPI_LIST:
        *shape = dpi_scalar(shape->per_record);
        return is_list;
    case DPI_SQUARE:
    case DPI_TALL:
        is_matrix = is_matrix && (kind == DPI_TALL || shape->dim[0] == shape->dim[1]);
        *shape = (dpi_shape){
            .per_record = shape->per_record, .n_dims = 1, .dim = {is_matrix ? shape->dim[0] : 0}};
        return is_matrix;
    }
    return false;
}

bool dpi_arguments_shape(const dp_model *m, const dpi_family *family, const dpi_id arg[],
                         dpi_shape *shape)
{
    int n_args = family->n_args;
    *shape = dpi_scalar(false);
    const int code = family->form != NULL ? family->form->code : DPI_NO_FORM;
    if (code == DPI_MIXTURE_OF)
        return several_shape(m, family, arg, shape);
    if (code == DPI_MIXTURE)
        return mixture_shape(m, family, arg, shape);
    if (code != DPI_NO_FORM && code != DPI_IN_ORDER) {
        n_args = family->form->n_args;
        if (!dpi_arguments_shape(m, family->base, arg + n_args, shape))
            return false;
    }
    for (int k = 0; k < n_args; k++) {
        dpi_shape next = dpi_get(&m->graph, arg[k])->shape;
        if (family->vector_arg && family->form == NULL) {
            if (next.n_dims != 1)
                return false;
            next = dpi_scalar(next.per_record);
        }
        if (!shape_from(family->arg_kind[k], &next) || !dpi_shape_join(shape, &next, shape))
            return false;
    }
    return true;
}
