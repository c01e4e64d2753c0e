/* Log densities as expressions, and terms of a record's log density. */
#include <tacit/marginal.h>

#include <string.h>

#include "model/declare.h"
#include "model/factor.h"
#include "model/proper.h"

/* ---- log densities ---- */

static dp_model *model_of(dp_dist dist, dp_expr x)
{
    dp_model *m = x.model;
    for (int k = 0; m == NULL && dist.family != NULL && k < DPI_MAX_ARGS; k++)
        m = dist.arg[k].model;
    if (m == NULL)
        dpi_misuse("dp_log_density", "plain numbers where an expression of a model is needed");
    return m;
}

/* Of categories, whose density is read at x: x must be group numbers, and not too large. */
static bool is_category(dp_model *m, const dpi_family *family, dpi_id x, dpi_id logits)
{
    const dpi_node *number = dpi_get(&m->graph, x);
    const dpi_shape *shape = &dpi_get(&m->graph, logits)->shape;
    const size_t n = shape->n_dims > 0 ? shape->dim[shape->n_dims - 1] : 0;
    char text[DPI_SHAPE_TEXT];
    if (dpi_is_groups(number) && number->attr.number == n && shape->n_dims <= 2)
        return true;
    FAIL_AFTER(
        m, DP_ESHAPE,
        "dp_log_density: %s takes logits [K] or [M][K] and a column of dp_index over a plate of K "
        "members; the logits are %s, and x %s",
        family->name, dpi_shape_text(shape, text),
        dpi_is_groups(number) ? "has another number of groups" : "is no such column");
    return false;
}

/* log softmax(logits[m])[x] of M rows of logits: picked from the columns, [d][M] or [M]. */
static dpi_id of_rows(dpi_graph *g, dpi_id logits, dpi_id x)
{
    dpi_id columns = dpi_unary(g, &dpi_op_transpose, logits);
    return dpi_sub(g, dpi_apply(g, &dpi_op_pick, columns, x, NULL),
                   dpi_unary(g, &dpi_op_log_sum_exp, logits));
}

/* NULL, or what is wrong with x, or counts' arguments, as rows of K numbers. */
static const char *row_misfit(const dpi_family *family, const dpi_shape *x,
                              const dpi_shape *arguments)
{
    const int last = x->n_dims - 1;
    if (!dpi_is_row(family))
        return NULL;
    if (last < 0 || x->dim[last] < 2 || x->plate[last])
        return "a value is K >= 2 numbers, so give x as [K]";
    return family->support == DPI_COUNT_TO && arguments->n_dims == 0
               ? "give the last argument as [K], a number for each that x has"
               : NULL;
}

/* Whether the numbers of x and of the arguments go together. */
static bool fits(dp_model *m, const dpi_family *family, dpi_id x, const dpi_shape *arguments)
{
    const dpi_shape *shape = &dpi_get(&m->graph, x)->shape;
    char text[2][DPI_SHAPE_TEXT];
    dpi_shape joined;
    const char *wrong = row_misfit(family, shape, arguments);
    if (wrong == NULL && dpi_shape_join(shape, arguments, &joined))
        return true;
    FAIL_AFTER(m, DP_ESHAPE, "dp_log_density: x is %s, and the arguments of %s are together %s; %s",
               dpi_shape_text(shape, text[0]), family->name, dpi_shape_text(arguments, text[1]),
               wrong != NULL ? wrong
                             : "the smaller one must have the last dimensions of the larger");
    return false;
}

dp_expr dp_log_density(dp_dist dist, dp_expr x)
{
    dp_model *m = model_of(dist, x);
    const dpi_family *family;
    dpi_id arg[DPI_MAX_ARGS], value = dpi_expr_id(m, x);
    if (m->graph.where.file == NULL)
        m->graph.where.file = "model"; /* arguments are told with a place */
    if (m->err.status != DP_OK || value == DPI_NONE ||
        (family = dpi_take_arguments(m, "dp_log_density", dist, arg)) == NULL)
        return dpi_expression(m, DPI_NONE);
    if (dpi_is_improper(family)) {
        FAIL_AFTER(m, DP_EUNSUPPORTED,
                   "dp_log_density: %s has no total, so that it is no density of what is summed "
                   "out; take a distribution, such as dp_normal",
                   family->name);
        return dpi_expression(m, DPI_NONE);
    }
    dpi_shape shape;
    if (!family->vector_arg && !dpi_arguments_shape(m, family, arg, &shape)) {
        FAIL_AFTER(m, DP_ESHAPE, "dp_log_density: the arguments of %s do not fit together",
                   family->name);
        return dpi_expression(m, DPI_NONE);
    }
    if (!family->vector_arg && fits(m, family, value, &shape))
        return dpi_expression(m, dpi_family_log_density(family, &m->graph, value, arg));
    if (!family->vector_arg)
        return dpi_expression(m, DPI_NONE);
    const dpi_id logits = arg[family->bound_at];
    if (!is_category(m, family, value, logits))
        return dpi_expression(m, DPI_NONE);
    if (dpi_get(&m->graph, logits)->shape.n_dims == 2 && family->form != NULL) {
        FAIL_AFTER(m, DP_EUNSUPPORTED, "dp_log_density: %s takes logits [K] only", family->name);
        return dpi_expression(m, DPI_NONE);
    }
    return dpi_expression(m, dpi_get(&m->graph, arg[0])->shape.n_dims == 2
                                 ? of_rows(&m->graph, arg[0], value)
                                 : dpi_family_log_density(family, &m->graph, value, arg));
}

/* ---- factors ---- */

/* NULL, or what is wrong with the value. */
static const char *misfit(const dpi_shape *shape)
{
    if (shape->n_dims > 0)
        return "a record has one log density; sum its numbers (dp_sum)";
    return shape->per_record ? NULL
                             : "a factor is of each record; let it depend on a column or on a "
                               "latent of the records";
}

void dp_factor_at(dp_plate rows, const char *name, dp_expr value, const char *file, int line)
{
    dp_model *m = rows.model;
    char text[DPI_SHAPE_TEXT];
    if (!dpi_enter(m, name, file, line) || !dpi_need_unit(&rows, "a factor") ||
        !dpi_name_is_new(m, name))
        return;
    if (m->of != NULL) {
        FAIL(m, DP_EINVAL, "a guide has no factors ('%s'); give it to the model", name);
        return;
    }
    dpi_site site = {.kind = DPI_FACTOR, .value = dpi_expr_id(m, value)};
    if (site.value == DPI_NONE)
        return;
    const dpi_shape *shape = &dpi_get(&m->graph, site.value)->shape;
    const char *wrong = misfit(shape);
    if (wrong != NULL) {
        FAIL(m, DP_ESHAPE, "factor '%s' is %s: %s", name, dpi_shape_text(shape, text), wrong);
        return;
    }
    site.name = dpi_arena_strdup(&m->arena, name);
    if (site.name == NULL)
        (void)dpi_fail_nomem(&m->err);
    else
        (void)dpi_append_site(m, site);
}

/* ---- what cannot be drawn ---- */

static dp_status refuse(const dpi_site *factor, const dpi_site *seen, dp_error *err)
{
    if (seen == NULL)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "the model has the factor '%s', a log density without draws: not all that "
                        "it is about can be drawn; name one observed column",
                        factor->name);
    return dpi_fail(err, DP_EUNSUPPORTED,
                    "column '%s' is read by the factor '%s' too, so that its distribution is not "
                    "the one it is observed with; ask for computed values (dp_deterministic)",
                    seen->name, factor->name);
}

dp_status dpi_check_drawn(const dp_model *m, size_t n_sites, const char *column, dp_error *err)
{
    const dpi_site *seen = column != NULL ? dpi_find_site(m, column) : NULL;
    dp_status status = DP_OK;
    if (seen != NULL && seen->kind == DPI_FACTOR)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "'%s' is a factor, a log density without draws and without a mean; observe "
                        "a column by a distribution, or ask for computed values (dp_deterministic)",
                        column);
    if (column != NULL && (seen == NULL || seen->kind != DPI_OBSERVED))
        return DP_OK;
    bool *needed = dpi_alloc(m->graph.n_nodes, sizeof *needed);
    if (needed == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < n_sites && status == DP_OK; i++) {
        if (m->sites[i].kind != DPI_FACTOR)
            continue;
        memset(needed, 0, m->graph.n_nodes * sizeof *needed);
        dpi_mark(&m->graph, m->sites[i].value, needed);
        if (seen == NULL || needed[seen->value])
            status = refuse(&m->sites[i], seen, err);
    }
    dpi_free(needed);
    return status;
}
