/* What may be declared: see tacit/table.h.  Names and levels of a schema are public and may stand
 * in messages. */
#include "data/schema.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

enum { MAX_LINE = 1 << 20, MAX_ROWS = 2000 * 1000 * 1000 };
static const uint64_t max_bytes = (uint64_t)1 << 40;

dp_status dpi_csv_options_fill(const dp_csv_options *options, dp_csv_options *filled, dp_error *err)
{
    *filled = options != NULL ? *options : (dp_csv_options){0};
    if (filled->separator == 0)
        filled->separator = ',';
    if (filled->max_bytes == 0)
        filled->max_bytes = max_bytes < SIZE_MAX / 2 ? (size_t)max_bytes : SIZE_MAX / 2;
    if (filled->max_line == 0)
        filled->max_line = MAX_LINE;
    if (filled->max_rows == 0)
        filled->max_rows = MAX_ROWS;
    if (filled->separator != ',' && filled->separator != ';' && filled->separator != '\t')
        return dpi_fail(err, DP_EINVAL,
                        "CSV separator with code %d; use ',', ';' or a tab (code 9)",
                        filled->separator);
    return DP_OK;
}

static dp_status refuse(const dp_column *c, const char *what, dp_error *err)
{
    return dpi_fail(err, DP_EINVAL, "column '%s': %s", c->name, what);
}

static dp_status check_levels(const dp_column *c, dp_error *err)
{
    if (c->levels == NULL || c->n_levels == 0)
        return refuse(c, "no levels; list them in .levels and count them in .n_levels", err);
    if (c->n_levels > INT32_MAX)
        return refuse(c, "more levels than an int32_t can number; use fewer", err);
    if (c->low != 0 || c->high != 0 || c->clamp)
        return refuse(c, "a LEVEL column has no .low, .high or .clamp; remove them", err);
    return DP_OK;
}

static dp_status check_bounds(const dp_column *c, dp_error *err)
{
    if (c->levels != NULL || c->n_levels != 0)
        return refuse(c, "only a LEVEL column has .levels; remove them or change .kind", err);
    if (!isfinite(c->low) || !isfinite(c->high) || !(c->low < c->high))
        return refuse(c, ".low and .high must be finite with .low < .high; give public bounds",
                      err);
    if (c->kind == DP_COLUMN_REAL)
        return DP_OK;
    if (c->low != floor(c->low) || c->high != floor(c->high))
        return refuse(c, "the bounds of an INTEGER column must be whole numbers", err);
    if (fabs(c->low) > 0x1p52 || fabs(c->high) > 0x1p52 || c->high - c->low >= INT32_MAX)
        return refuse(c, "more levels than an int32_t can number; declare it REAL", err);
    if (c->clamp)
        return refuse(c, ".clamp would move levels into others; it is for REAL columns", err);
    return DP_OK;
}

static dp_status check_unit(const dp_column *c, dp_error *err)
{
    if (c->levels != NULL || c->n_levels != 0 || c->low != 0 || c->high != 0 || c->clamp)
        return refuse(c, "a UNIT column has a name and nothing else; remove the rest", err);
    return DP_OK;
}

static dp_status check_column(const dp_column *c, dp_error *err)
{
    switch (c->kind) {
    case DP_COLUMN_REAL:
    case DP_COLUMN_INTEGER:
        return check_bounds(c, err);
    case DP_COLUMN_LEVEL:
        return check_levels(c, err);
    case DP_COLUMN_UNIT:
        return check_unit(c, err);
    }
    return refuse(c, "no such .kind; use DP_COLUMN_REAL, _INTEGER, _LEVEL or _UNIT", err);
}

dp_status dpi_schema_check(size_t n_columns, const dp_column *columns, dp_error *err)
{
    if (n_columns == 0 || columns == NULL)
        return dpi_fail(err, DP_EINVAL, "the schema has no columns; declare those to read");
    for (size_t i = 0; i < n_columns; i++) {
        if (columns[i].name == NULL || columns[i].name[0] == 0)
            return dpi_fail(err, DP_EINVAL,
                            "schema column %zu has no name; give it that of the "
                            "header line",
                            i);
        for (size_t j = 0; j < i; j++)
            if (strcmp(columns[i].name, columns[j].name) == 0)
                return dpi_fail(err, DP_ENAME, "column '%s' is declared twice; remove one",
                                columns[i].name);
        dp_status status = check_column(&columns[i], err);
        if (status != DP_OK)
            return status;
    }
    return DP_OK;
}
