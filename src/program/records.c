/* The input's numbers of records: what whoever asks computes before anything is sent. */
#include <math.h>
#include <string.h>

#include "data/dataset.h"
#include "program/program.h"

/* One more than the greatest level of a column for which the program has an indicator by itself or
 * in a product. */
static int64_t levels_of(const dp_program *p, const char *column)
{
    int64_t most = 0;
    for (size_t k = 0; k < dp_program_inputs(p); k++) {
        const dp_program_number number = dp_program_number_at(p, k);
        for (size_t i = 0; i < number.n_factors; i++)
            if (strcmp(number.factor[i].column, column) == 0 && number.factor[i].level >= most)
                most = (int64_t)number.factor[i].level + 1;
    }
    return most;
}

static dp_status check_levels(const dp_program *p, const dpi_column *column, size_t n,
                              dp_error *err)
{
    int64_t levels = levels_of(p, column->name);
    for (size_t r = 0; r < n; r++)
        if (column->index[r] < 0 || column->index[r] >= levels)
            return dpi_fail(err, DP_EDATA,
                            "column '%s' has a group number outside 0 ... %d, the groups that the "
                            "program knows",
                            column->name, (int)(levels - 1));
    return DP_OK;
}

/* The column of a factor; NULL and the error where it does not serve. */
static const dpi_column *find_column(const dp_program_factor *f, const dp_dataset *data,
                                     dp_error *err)
{
    const dpi_column *column = dpi_dataset_find(data, f->column);
    bool groups = f->level >= 0;
    if (column == NULL)
        (void)dpi_fail(err, DP_ENAME, "the program reads column '%s', which the data have not",
                       f->column);
    else if (groups ? column->index == NULL || column->size != 1
                    : column->real == NULL && column->bytes == NULL)
        (void)dpi_fail(err, DP_ESHAPE, "column '%s' is to be one of %s", f->column,
                       groups ? "single group numbers" : "numbers");
    else if (f->element >= column->size)
        (void)dpi_fail(err, DP_ESHAPE,
                       "column '%s' has %zu numbers a record, and number %zu is read", f->column,
                       column->size, f->element);
    else
        return column;
    return NULL;
}

static double factor_value(const dp_program_factor *f, const dpi_column *column, size_t r)
{
    if (f->level >= 0)
        return column->index[r] == f->level;
    size_t at = r * column->size + f->element;
    return column->real != NULL ? column->real[at] : column->bytes[at] / (double)column->most;
}

/* Multiplies number k of every record by the factor.  Groups of a column are checked once, at its
 * first indicator, whichever level that is of: a program need not have one for each. */
static dp_status read_factor(const dp_program *p, const dp_program_factor *f,
                             const dp_dataset *data, size_t k, bool *checked, double *x,
                             dp_error *err)
{
    const dpi_column *column = find_column(f, data, err);
    size_t inputs = dp_program_inputs(p);
    dp_status status = column == NULL ? err->status : DP_OK;
    if (status == DP_OK && f->level >= 0 && !checked[column - data->columns]) {
        checked[column - data->columns] = true;
        status = check_levels(p, column, data->n, err);
    }
    for (size_t r = 0; status == DP_OK && r < data->n; r++)
        x[r * inputs + k] *= factor_value(f, column, r);
    return status;
}

dp_status dp_program_read(const dp_program *p, const dp_dataset *data, size_t n, double *x,
                          dp_error *err)
{
    dp_error own = {0};
    size_t inputs = dp_program_inputs(p), all;
    dp_status status = DP_OK;
    err = err != NULL ? err : &own;
    if (data->err.status != DP_OK)
        status = dpi_fail(err, data->err.status, "%s", data->err.text);
    else if (!dpi_mul(data->n, inputs, &all) || all != n)
        status = dpi_fail(err, DP_ESHAPE,
                          "there are %zu records of %zu numbers; give room for their product, not "
                          "for %zu",
                          data->n, inputs, n);
    bool *checked = status == DP_OK ? dpi_alloc(data->n_columns, sizeof *checked) : NULL;
    if (status == DP_OK && checked == NULL)
        status = dpi_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        x[i] = status == DP_OK ? 1 : NAN;
    for (size_t k = 0; status == DP_OK && k < inputs; k++) {
        const dp_program_number number = dp_program_number_at(p, k);
        for (size_t i = 0; status == DP_OK && i < number.n_factors; i++)
            status = read_factor(p, &number.factor[i], data, k, checked, x, err);
    }
    for (size_t i = 0; status != DP_OK && i < n; i++)
        x[i] = NAN;
    dpi_free(checked);
    return status;
}
