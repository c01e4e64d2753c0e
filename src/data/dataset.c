/* Named, borrowed columns. */
#include "data/dataset.h"

#include <stdatomic.h>
#include <string.h>

#include "base/compiler.h"
#include "base/error.h"
#include "base/name.h"
#include "num/copy.h"

struct dpi_identity {
    atomic_size_t holders;
};

static dpi_identity *new_identity(void)
{
    dpi_identity *identity = dpi_alloc(1, sizeof *identity);
    if (identity != NULL)
        atomic_init(&identity->holders, 1);
    return identity;
}

dpi_identity *dpi_identity_hold(dpi_identity *identity)
{
    if (identity != NULL)
        (void)atomic_fetch_add(&identity->holders, 1);
    return identity;
}

void dpi_identity_release(dpi_identity *identity)
{
    if (identity != NULL && atomic_fetch_sub(&identity->holders, 1) == 1)
        dpi_free(identity);
}

dp_dataset *dp_dataset_new(size_t n)
{
    dp_dataset *data = dpi_alloc(1, sizeof *data);
    if (data == NULL)
        return NULL;
    data->n = n;
    data->identity = new_identity();
    if (data->identity == NULL) {
        dp_dataset_free(data);
        return NULL;
    }
    if (n == 0)
        (void)dpi_fail(&data->err, DP_EDATA,
                       "the data set has no records; look whether the table that they come from is "
                       "empty, or a condition has left all of them out");
    return data;
}

void dp_dataset_free(dp_dataset *data)
{
    if (data == NULL)
        return;
    dpi_identity_release(data->identity);
    dpi_store_free(&data->store);
    dpi_arena_free(&data->arena);
    dpi_free(data);
}

const dpi_column *dpi_dataset_find(const dp_dataset *data, const char *name)
{
    for (size_t i = 0; i < data->n_columns; i++)
        if (strcmp(data->columns[i].name, name) == 0)
            return &data->columns[i];
    return NULL;
}

static void add(dp_dataset *data, const char *name, dpi_column column)
{
    if (data == NULL || name == NULL)
        dpi_misuse("tacit/dataset.h", "NULL data set or name");
    if (data->err.status != DP_OK)
        return;
    if (column.real == NULL && column.index == NULL && column.bytes == NULL) {
        (void)dpi_fail(&data->err, DP_EINVAL,
                       "column '%s' has no values (NULL); look for the error of the call that "
                       "should have given them, such as dp_table_error",
                       name);
        return;
    }
    const char *fault = dpi_name_fault(name);
    if (fault != NULL) {
        (void)dpi_fail(&data->err, DP_ENAME, "a column's name %s", fault);
        return;
    }
    if (dpi_dataset_find(data, name) != NULL) {
        (void)dpi_fail(&data->err, DP_ENAME, "column '%s' is given twice; use another name", name);
        return;
    }
    size_t cells;
    if (column.size == 0 || !dpi_mul(data->n, column.size, &cells) ||
        !dpi_mul(cells, sizeof(double), &cells)) {
        (void)dpi_fail(
            &data->err, DP_ESHAPE,
            "column '%s' is said to have %zu numbers a record; give at least one, and no "
            "more than there are",
            name, column.size);
        return;
    }
    column.name = dpi_arena_strdup(&data->arena, name);
    if (column.name == NULL ||
        !dpi_arena_grow(&data->arena, (void **)&data->columns, &data->capacity, data->n_columns + 1,
                        sizeof column)) {
        (void)dpi_fail_nomem(&data->err);
        return;
    }
    data->columns[data->n_columns++] = column;
}

void dp_dataset_real(dp_dataset *data, const char *name, size_t d, const double *values)
{
    add(data, name, (dpi_column){.size = d, .real = values});
}

void dp_dataset_index(dp_dataset *data, const char *name, const int32_t *values)
{
    add(data, name, (dpi_column){.size = 1, .index = values});
}

void dp_dataset_indices(dp_dataset *data, const char *name, size_t d, const int32_t *values)
{
    add(data, name, (dpi_column){.size = d, .index = values});
}

static void add_bytes(dp_dataset *data, const char *name, size_t d, unsigned most, bool drawn,
                      const unsigned char *values)
{
    if (most >= 1 && most <= UINT8_MAX)
        add(data, name, (dpi_column){.size = d, .bytes = values, .most = most, .drawn = drawn});
    else if (data == NULL || name == NULL)
        add(data, name, (dpi_column){0}); /* misuse */
    else if (data->err.status == DP_OK)
        (void)dpi_fail(
            &data->err, DP_EDOMAIN,
            "column '%s': bytes are out of %u; give 1 to 255, such as 255 for those of a "
            "grey image",
            name, most);
}

void dp_dataset_bytes(dp_dataset *data, const char *name, size_t d, unsigned most,
                      const unsigned char *values)
{
    add_bytes(data, name, d, most, false, values);
}

void dp_dataset_bernoulli(dp_dataset *data, const char *name, size_t d, unsigned most,
                          const unsigned char *values)
{
    add_bytes(data, name, d, most, true, values);
}

void dp_dataset_unit(dp_dataset *data, const char *name)
{
    if (data == NULL || name == NULL)
        dpi_misuse("dp_dataset_unit", "NULL data set or name");
    if (data->err.status != DP_OK)
        return;
    const dpi_column *column = dpi_dataset_find(data, name);
    if (data->unit != NULL)
        (void)dpi_fail(&data->err, DP_ENAME,
                       "'%s' is to be the unit column, but there is one already; call "
                       "dp_dataset_unit once",
                       name);
    else if (column == NULL)
        (void)dpi_fail(&data->err, DP_ENAME,
                       "the data set has no column '%s' to be the unit column; add it with "
                       "dp_dataset_index before dp_dataset_unit",
                       name);
    else if (column->index == NULL)
        (void)dpi_fail(&data->err, DP_EINVAL,
                       "column '%s' is real and cannot be the unit column; number the units "
                       "and add the numbers with dp_dataset_index",
                       name);
    else if (column->size != 1)
        (void)dpi_fail(&data->err, DP_ESHAPE,
                       "column '%s' has %zu numbers a record and cannot be the unit column, which "
                       "has one",
                       name, column->size);
    else
        data->unit = column->index;
}

size_t dp_dataset_size(const dp_dataset *data)
{
    return data->n;
}

const char *dp_dataset_error(const dp_dataset *data)
{
    return data->err.status == DP_OK ? NULL : data->err.text;
}

DPI_LOOPS static void divide_row(size_t n, double most, const unsigned char *restrict bytes,
                                 double *restrict out)
{
    for (size_t e = 0; e < n; e++)
        out[e] = bytes[e] / most;
}

DPI_LOOPS static void widen_row(size_t n, const unsigned char *restrict bytes, double *restrict out)
{
    for (size_t e = 0; e < n; e++)
        out[e] = bytes[e];
}

/* Bytes from which on a table of all quotients is worth making. */
enum { MANY_BYTES = 1024, N_BYTES = 256 };

static void look_up_row(size_t n, const double quotient[N_BYTES], const unsigned char *bytes,
                        double *restrict out)
{
    for (size_t e = 0; e < n; e++)
        out[e] = quotient[bytes[e]];
}

enum { CACHE_LINE = 64, PAGE = 4096 };

void dpi_column_fetch(const dpi_column *column, size_t m, const size_t *index)
{
    const char *from = column->index != NULL   ? (const char *)column->index
                       : column->bytes != NULL ? (const char *)column->bytes
                                               : (const char *)column->real;
    const size_t bytes = column->size * (column->index != NULL   ? sizeof *column->index
                                         : column->bytes != NULL ? sizeof *column->bytes
                                                                 : sizeof *column->real);
    for (size_t i = 0; i < m && bytes > CACHE_LINE && bytes <= PAGE; i++)
        for (size_t at = 0; at < bytes; at += CACHE_LINE)
            __builtin_prefetch(from + index[i] * bytes + at);
}

static size_t record_at(const size_t *index, size_t first, size_t i)
{
    return index != NULL ? index[i] : first + i;
}

static void gather_index(const dpi_column *column, size_t m, const size_t *index, size_t first,
                         double *out)
{
    size_t size = column->size;
    for (size_t i = 0; i < m; i++) {
        const int32_t *from = column->index + record_at(index, first, i) * size;
        for (size_t e = 0; e < size; e++)
            *out++ = from[e];
    }
}

/* A division of each would take longer than the layer of a network that reads them. */
static void gather_bytes(const dpi_column *column, size_t m, const size_t *index, size_t first,
                         double *out)
{
    const size_t size = column->size;
    double quotient[N_BYTES];
    const bool looks_up = column->most > 1 && m * size >= MANY_BYTES;
    for (unsigned byte = 0; looks_up && byte < N_BYTES; byte++)
        quotient[byte] = byte / (double)column->most;
    for (size_t i = 0; i < m; i++) {
        const unsigned char *bytes = column->bytes + record_at(index, first, i) * size;
        if (column->most == 1)
            widen_row(size, bytes, out + i * size);
        else if (looks_up)
            look_up_row(size, quotient, bytes, out + i * size);
        else
            divide_row(size, column->most, bytes, out + i * size);
    }
}

void dpi_column_gather(const dpi_column *column, size_t m, const size_t *index, size_t first,
                       double *out)
{
    size_t size = column->size;
    if (column->index != NULL)
        gather_index(column, m, index, first, out);
    else if (column->bytes != NULL)
        gather_bytes(column, m, index, first, out);
    else if (index == NULL)
        memcpy(out, column->real + first * size, m * size * sizeof *out);
    else
        for (size_t i = 0; i < m; i++)
            dpi_copy_row(size * sizeof *out, column->real + index[i] * size, out + i * size);
}

/* The byte c is uniform below most * k, so it is below v * k with probability v / most. */
DPI_LOOPS static void draw_row(size_t n, unsigned k, const unsigned char *restrict odds,
                               const unsigned char *restrict chance, double *restrict out)
{
    for (size_t e = 0; e < n; e++)
        out[e] = chance[e] < odds[e] * k;
}

void dpi_column_draw(const dpi_column *column, size_t m, const size_t *index, size_t first,
                     const unsigned char *chance, double *out)
{
    size_t size = column->size;
    for (size_t i = 0; i < m; i++) {
        size_t record = record_at(index, first, i);
        draw_row(size, 256 / column->most, column->bytes + record * size, chance + i * size,
                 out + i * size);
    }
}

void dpi_column_range(const dpi_column *column, size_t record, size_t e, double range[2])
{
    if (column->bytes != NULL) {
        unsigned byte = column->bytes[record * column->size + e];
        range[0] = column->drawn ? byte >= column->most : byte / (double)column->most;
        range[1] = column->drawn ? byte > 0 : range[0];
        return;
    }
    range[0] = range[1] = column->index != NULL ? column->index[record * column->size + e]
                                                : column->real[record * column->size + e];
}
