/* A label that is not 0 or 1, a negative count, more successes than trials, a known standard error
 * of 0: found before the run, where such a record would add nothing and say nothing. */
#include "svi/check.h"

#include <math.h>
#include <string.h>

#include "dist/form.h"

/* An argument of an observation's distribution whose values are known before the run. */
typedef struct argument {
    const dpi_column *column; /* of the data, or */
    const double *values;     /* a constant's, [size] */
    size_t size;              /* numbers a record; 0: computed, not known */
} argument;

static argument find_argument(const dpi_graph *g, const dp_dataset *data, dpi_id id)
{
    const dpi_node *node = dpi_get(g, id);
    size_t size = dpi_shape_size(&node->shape);
    if (dpi_is_number(node))
        return (argument){.values = &node->attr.value, .size = 1};
    if (dpi_is_const(node))
        return (argument){.values = node->attr.array, .size = size};
    if (!dpi_is_column(node))
        return (argument){0};
    /* A column that is missing or of another size is the run's to report. */
    const dpi_column *column = dpi_dataset_find(data, node->name);
    return column == NULL || column->size != size ? (argument){0} : (argument){column, NULL, size};
}

/* The argument of a record's number e, repeated over leading dimensions; `unknown` when
 * computed. */
static double argument_value(const argument *a, size_t record, size_t e, double unknown)
{
    if (a->size == 0)
        return unknown;
    if (a->column == NULL)
        return a->values[e % a->size];
    double range[2];
    dpi_column_range(a->column, record, e % a->size, range);
    return range[0] == range[1] ? range[0] : unknown;
}

/* A column that serves as an argument: scales above 0, whole numbers of trials. */
static dp_status check_argument(const argument *a, const dpi_family *family, int k, size_t n,
                                dp_error *err)
{
    for (size_t i = 0; a->column != NULL && i < n; i++)
        for (size_t e = 0; e < a->size; e++) {
            double x[2];
            dpi_column_range(a->column, i, e, x);
            if (isfinite(x[0]) && (!dpi_in_domain(family->arg_domain[k], x[0]) ||
                                   !dpi_in_domain(family->arg_domain[k], x[1])))
                return dpi_fail(err, DP_EDATA,
                                "column '%s', record %zu (from 0): the value is not %s, as the %s "
                                "of %s must be; mend the data or leave the record out",
                                a->column->name, i, dpi_domain_text(family->arg_domain[k]),
                                family->arg_name[k], family->name);
        }
    return DP_OK;
}

/* The first argument of the form with that code among those of the family, or NULL. */
static const argument *argument_of(const dpi_family *family, dpi_form_code code,
                                   const argument arg[])
{
    for (; family->form != NULL; family = family->base) {
        if (family->form->code == code)
            return arg;
        arg += family->form->n_args;
    }
    return NULL;
}

static bool is_missing(const argument *present, size_t record, size_t e)
{
    return present != NULL && argument_value(present, record, e, 1) == 0;
}

/* An observed column and the arguments of its distribution. */
typedef struct checked {
    const dpi_observation *seen;
    const dpi_column *column;
    size_t n;
    const argument *arg, *present; /* present NULL: all are */
} checked;

/* Whether what is not missing lies in a family's support, whose arguments begin with arg. */
static dp_status check_support(const checked *c, const dpi_family *family, const argument arg[],
                               dp_error *err)
{
    const dpi_support *support = &dpi_supports[family->support];
    double lowest = family->support == DPI_COUNT_TO ? INFINITY : -INFINITY;
    arg += family->bound_at;
    for (size_t i = 0; i < c->n; i++)
        for (size_t e = 0; e < c->column->size; e++) {
            if (is_missing(c->present, i, e))
                continue;
            double low = argument_value(&arg[0], i, e, lowest),
                   high = argument_value(&arg[1], i, e, INFINITY), x[2];
            dpi_column_range(c->column, i, e, x);
            if (!support->contains(x[0], low, high) || !support->contains(x[1], low, high))
                return dpi_fail(err, DP_EDATA,
                                "column '%s', record %zu (from 0): the value is not %s, as "
                                "%s needs; mend the data or choose another distribution",
                                c->seen->name, i, support->says, family->name);
        }
    return DP_OK;
}

/* A truncation's support is part of its base's, which is looked at too. */
static dp_status check_values(const checked *c, dp_error *err)
{
    const argument *arg = c->arg;
    dp_status status = check_support(c, c->seen->family, arg, err);
    for (const dpi_family *family = c->seen->family; status == DP_OK && family->form != NULL;
         family = family->base) {
        arg += family->form->n_args;
        if (family->form->narrows)
            status = check_support(c, family->base, arg, err);
    }
    return status;
}

/* Weights are at most their bound. */
static dp_status check_weights(const checked *c, dp_error *err)
{
    const argument *weight = argument_of(c->seen->family, DPI_WEIGHTED, c->arg);
    for (size_t i = 0; weight != NULL && weight->column != NULL && i < c->n; i++)
        for (size_t e = 0; e < weight->size; e++)
            if (argument_value(weight, i, e, 0) > argument_value(weight + 1, i, e, INFINITY))
                return dpi_fail(err, DP_EDATA,
                                "column '%s', record %zu (from 0): the weight is above the bound "
                                "given to dp_weighted; raise the bound, or cut the weights",
                                weight->column->name, i);
    return DP_OK;
}

/* What lies between two numbers: the second is the greater one. */
static dp_status check_intervals(const checked *c, dp_error *err)
{
    const argument *side = argument_of(c->seen->family, DPI_INTERVAL_CENSORED, c->arg);
    for (size_t i = 0; side != NULL && i < c->n; i++)
        for (size_t e = 0; e < c->column->size; e++) {
            double x[2];
            dpi_column_range(c->column, i, e, x);
            if (argument_value(side, i, e, 0) == 2 && !is_missing(c->present, i, e) &&
                !(argument_value(side + 1, i, e, INFINITY) > x[1]))
                return dpi_fail(err, DP_EDATA,
                                "column '%s', record %zu (from 0): the value is not below its "
                                "upper bound, as %s needs where censoring is 2; mend the data",
                                c->seen->name, i, c->seen->family->name);
        }
    return DP_OK;
}

/* Rows of numbers that sum to 1: as far as their text and arithmetic of their makers allow. */
static const double off_one = 1e-6;

static dp_status check_rows(const checked *c, dp_error *err)
{
    const dpi_column *column = c->column;
    const dpi_row_support *rows = dpi_supports[c->seen->family->support].rows;
    double *row = rows != NULL ? dpi_alloc(column->size, sizeof *row) : NULL;
    dp_status status = rows == NULL || row != NULL ? DP_OK : dpi_fail_nomem(err);
    for (size_t i = 0; row != NULL && i < c->n && status == DP_OK; i++) {
        if (is_missing(c->present, i, 0))
            continue;
        for (size_t e = 0; e < column->size; e++) {
            double x[2];
            dpi_column_range(column, i, e, x);
            row[e] = x[0] == x[1] ? x[0] : (double)NAN; /* drawn numbers are no row */
        }
        const char *wrong = rows->wrong(column->size, row, off_one);
        if (wrong != NULL)
            status = dpi_fail(err, DP_EDATA,
                              "column '%s', record %zu (from 0): %s, as %s needs; %s, or leave the "
                              "record out",
                              c->seen->name, i, wrong, c->seen->family->name, rows->remedy);
    }
    dpi_free(row);
    return status;
}

/* Rows of counts sum to the number of trials where that is known. */
static dp_status check_sums(const checked *c, dp_error *err)
{
    const dpi_family *family = c->seen->family;
    if (!dpi_is_row(family) || family->support != DPI_COUNT_TO)
        return DP_OK;
    for (size_t i = 0; i < c->n; i++) {
        double sum = 0, trials = argument_value(&c->arg[family->bound_at], i, 0, NAN);
        for (size_t e = 0; e < c->column->size; e++) {
            double x[2];
            dpi_column_range(c->column, i, e, x);
            sum += x[0];
        }
        if (!is_missing(c->present, i, 0) && !isnan(trials) && sum != trials)
            return dpi_fail(err, DP_EDATA,
                            "column '%s', record %zu (from 0): the counts do not sum to the "
                            "number of trials, as %s needs; mend the data or leave the record out",
                            c->seen->name, i, family->name);
    }
    return DP_OK;
}

static dp_status check_one(const dpi_objective *o, const dpi_observation *seen,
                           const dp_dataset *data, dp_error *err)
{
    const dpi_column *column = dpi_dataset_find(data, seen->name);
    argument arg[DPI_MAX_ARGS + 2] = {{0}}; /* those behind the last are not known */
    if (column == NULL)
        return dpi_fail(err, DP_ENAME,
                        "the data set has no column '%s', which the model observes; add it, or "
                        "correct the name",
                        seen->name);
    /* Of a vector: how many categories, or cutpoints between them. */
    double numbers =
        (double)dpi_get(&o->graph, seen->value)->attr.number - (seen->family->support == DPI_LEVEL);
    const dpi_family *base = seen->family;
    while (base->form != NULL)
        base = base->base;
    const int first = seen->family->n_args - base->n_args; /* those of forms come before */
    if (base->vector_arg)
        arg[first] = (argument){.values = &numbers, .size = 1};
    for (int k = 0; k < (base->vector_arg ? first : seen->family->n_args); k++) {
        arg[k] = find_argument(&o->graph, data, seen->arg[k]);
        dp_status status = check_argument(&arg[k], seen->family, k, data->n, err);
        if (status != DP_OK)
            return status;
    }
    const checked c = {seen, column, data->n, arg, argument_of(seen->family, DPI_PRESENT, arg)};
    dp_status status = check_values(&c, err);
    if (status == DP_OK)
        status = check_weights(&c, err);
    if (status == DP_OK)
        status = check_intervals(&c, err);
    if (status == DP_OK)
        status = check_rows(&c, err);
    return status != DP_OK ? status : check_sums(&c, err);
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

/* Gradients of most models grow with the square of what a record has (of a normal's mean x.w with
 * x (x.w)), and are squared for their norm, whose square must stay below 1e308. */
static const double greatest_value = 1e75;

static bool is_read(const dpi_graph *g, const dpi_column *column)
{
    for (size_t k = 0; k < g->n_nodes; k++) {
        const dpi_node *node = &g->nodes[k];
        if (dpi_is_column(node) && !dpi_is_groups(node) && strcmp(node->name, column->name) == 0)
            return true;
    }
    return false;
}

dp_status dpi_check_sizes(const dpi_objective *o, const dp_dataset *data, dp_error *err)
{
    for (size_t k = 0; k < data->n_columns; k++) {
        const dpi_column *column = &data->columns[k];
        if (column->real == NULL || !is_read(&o->graph, column))
            continue;
        for (size_t i = 0; i < data->n * column->size; i++)
            if (!(fabs(column->real[i]) <= greatest_value))
                return dpi_fail(err, DP_EDATA,
                                "column '%s', record %zu (from 0): the value is beyond %g, and its "
                                "gradient's square likely to overflow, so that the record would "
                                "add nothing to a run; scale the column",
                                column->name, i / column->size, greatest_value);
    }
    return DP_OK;
}
