/* A label that is not 0 or 1, a negative count, more successes than trials: found before the run. */
#include "infer/check.h"

#include <math.h>

/* The value of an argument for a record when it is a constant or a column; NaN when it is computed. */
static double argument(const dpi_graph *g, const dp_dataset *data, dpi_id id, size_t record)
{
    if (id == DPI_NONE)
        return NAN;
    const dpi_node *node = dpi_get(g, id);
    if (node->op == &dpi_op_const && node->attr.array == NULL)
        return node->attr.value;
    if (node->op != &dpi_op_data || node->shape.n_dims != 0)
        return NAN;
    const dpi_column *column = dpi_dataset_find(data, node->name);
    double value = NAN;
    if (column != NULL && column->size == 1)
        dpi_column_gather(column, 1, NULL, record, &value);
    return value;
}

static dp_status check_one(const dpi_objective *o, const dpi_observation *seen,
                           const dp_dataset *data, dp_error *err)
{
    const dpi_column *column = dpi_dataset_find(data, seen->name);
    const dpi_support *support = &dpi_supports[seen->family->support];
    if (column == NULL)
        return dpi_fail(err, DP_ENAME, "the data set has no column '%s', which the model observes",
                        seen->name);
    size_t categories = dpi_get(&o->graph, seen->value)->attr.number;
    for (size_t i = 0; i < data->n; i++) {
        double low = seen->family->vector_arg ? (double)categories
                                              : argument(&o->graph, data, seen->arg[0], i);
        double high = argument(&o->graph, data, seen->arg[1], i);
        bool unknown = isnan(low) && (seen->family->support == DPI_COUNT_TO ||
                                      seen->family->support == DPI_INTERVAL);
        for (size_t e = 0; e < column->size && !unknown; e++) {
            double x =
                column->index != NULL ? column->index[i] : column->real[i * column->size + e];
            if (!support->contains(x, low, high))
                return dpi_fail(err, DP_EDATA,
                                "column '%s', record %zu (from 0): the value is not %s, as "
                                "%s needs; mend the data or choose another distribution",
                                seen->name, i, support->says, seen->family->name);
        }
    }
    return DP_OK;
}

dp_status dpi_check_observations(const dpi_objective *o, const dp_dataset *data, dp_error *err)
{
    for (size_t k = 0; k < o->n_observations; k++) {
        dp_status status = check_one(o, &o->observations[k], data, err);
        if (status != DP_OK)
            return status;
    }
    return DP_OK;
}
