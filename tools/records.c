/* The program may be anybody's: what it says of its input is not trusted to be small. */
#include "tools/records.h"

#include <float.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/dataset.h>
#include <tacit/npy.h>
#include <tacit/table.h>

enum { MOST_COLUMNS = 256, MOST_FIELDS = 1 << 16, NAME_ROOM = 24 };

/* A column of the data set: fields of the file side by side. */
typedef struct input_column {
    const char *name;
    size_t size;   /* numbers of a record */
    int32_t level; /* the greatest; -1: numbers */
    void *values;  /* double[n][size], or NULL */
} input_column;

typedef struct input_field {
    size_t column, element;
    char *name;
} input_field;

typedef struct records {
    size_t n_columns, n_fields;
    input_column column[MOST_COLUMNS];
    input_field *field;
    dp_column *schema;
    dp_table *table;
    dp_dataset *data;
} records;

static dp_status fail(dp_error *err, dp_status status, const char *text)
{
    err->status = status;
    (void)snprintf(err->text, sizeof err->text, "%s", text);
    return status;
}

/* ---- from a table: which columns ---- */

static bool add_factor(records *r, const dp_program_factor *f)
{
    size_t c = 0;
    while (c < r->n_columns && strcmp(r->column[c].name, f->column) != 0)
        c++;
    if (c == MOST_COLUMNS || f->element >= MOST_FIELDS)
        return false;
    if (c == r->n_columns)
        r->column[r->n_columns++] = (input_column){.name = f->column, .level = -1};
    input_column *found = &r->column[c];
    found->size = f->element + 1 > found->size ? f->element + 1 : found->size;
    found->level = f->level > found->level ? f->level : found->level;
    return true;
}

static bool find_columns(records *r, const dp_program *p)
{
    size_t fields = 0;
    for (size_t k = 0; k < dp_program_inputs(p); k++) {
        const dp_program_number number = dp_program_number_at(p, k);
        for (size_t i = 0; i < number.n_factors; i++)
            if (!add_factor(r, &number.factor[i]))
                return false;
    }
    for (size_t c = 0; c < r->n_columns; c++)
        fields += r->column[c].size;
    return fields <= MOST_FIELDS;
}

static dp_status name_fields(records *r, dp_error *err)
{
    r->field = calloc(MOST_FIELDS, sizeof *r->field);
    r->schema = calloc(MOST_FIELDS, sizeof *r->schema);
    if (r->field == NULL || r->schema == NULL)
        return fail(err, DP_ENOMEM, "out of memory");
    for (size_t c = 0; c < r->n_columns; c++)
        for (size_t e = 0; e < r->column[c].size; e++) {
            const input_column *of = &r->column[c];
            size_t room = strlen(of->name) + NAME_ROOM;
            char *name = malloc(room);
            if (name == NULL)
                return fail(err, DP_ENOMEM, "out of memory");
            (void)snprintf(name, room, of->size > 1 ? "%s[%zu]" : "%s", of->name, e);
            r->schema[r->n_fields] =
                of->level >= 0
                    ? (dp_column){.name = name,
                                  .kind = DP_COLUMN_INTEGER,
                                  .high = of->level > 0 ? of->level : 1}
                    : (dp_column){
                          .name = name, .kind = DP_COLUMN_REAL, .low = -DBL_MAX, .high = DBL_MAX};
            r->field[r->n_fields++] = (input_field){.column = c, .element = e, .name = name};
        }
    return DP_OK;
}

/* ---- their values ---- */

static dp_status fill_data(records *r, dp_error *err)
{
    size_t n = dp_table_rows(r->table);
    r->data = dp_dataset_new(n);
    bool good = r->data != NULL;
    for (size_t k = 0; good && k < r->n_fields; k++) {
        const input_field *f = &r->field[k];
        input_column *c = &r->column[f->column];
        if (c->level >= 0) {
            dp_dataset_index(r->data, c->name, dp_table_level(r->table, f->name));
            continue;
        }
        double *values = c->values != NULL ? c->values : calloc(n, c->size * sizeof *values);
        const double *from = dp_table_real(r->table, f->name);
        c->values = values;
        good = values != NULL && from != NULL;
        for (size_t i = 0; good && i < n; i++)
            values[i * c->size + f->element] = from[i];
        if (good && f->element + 1 == c->size)
            dp_dataset_real(r->data, c->name, c->size, values);
    }
    return good ? DP_OK : fail(err, DP_ENOMEM, "out of memory");
}

static dp_status make_numbers(const records *r, const dp_program *p, size_t *n, double **x,
                              dp_error *err)
{
    size_t inputs = dp_program_inputs(p);
    *n = dp_table_rows(r->table);
    *x = calloc(*n, inputs * sizeof **x);
    if (*x == NULL)
        return fail(err, DP_ENOMEM, "out of memory");
    return dp_program_read(p, r->data, *n * inputs, *x, err);
}

static void end_reading(records *r)
{
    dp_dataset_free(r->data);
    dp_table_free(r->table);
    for (size_t c = 0; c < r->n_columns; c++)
        free(r->column[c].values);
    for (size_t k = 0; k < r->n_fields; k++)
        free(r->field[k].name);
    free(r->field);
    free(r->schema);
}

static dp_status read_table(const char *path, const dp_program *p, size_t *n, double **x,
                            dp_error *err)
{
    records *r = calloc(1, sizeof *r);
    dp_status status = DP_OK;
    if (r == NULL)
        return fail(err, DP_ENOMEM, "out of memory");
    if (!find_columns(r, p))
        status = fail(err, DP_EUNSUPPORTED,
                      "the program reads more than 65536 numbers of a record, or more than 256 "
                      "columns; give an array (.npy), or ask it from a program of your own");
    if (status == DP_OK)
        status = name_fields(r, err);
    if (status == DP_OK)
        status = dp_table_read_csv(path, NULL, r->n_fields, r->schema, &r->table, err);
    if (status == DP_OK)
        status = fill_data(r, err);
    if (status == DP_OK)
        status = make_numbers(r, p, n, x, err);
    end_reading(r);
    free(r);
    return status;
}

/* ---- from an array ---- */

static bool is_npy(const char *path)
{
    char text[7] = "";
    FILE *file = fopen(path, "rb");
    size_t n = file != NULL ? fread(text, 1, 6, file) : 0;
    if (file != NULL)
        (void)fclose(file);
    return n == 6 && memcmp(text, "\x93NUMPY", 6) == 0;
}

/* How many numbers of a record the program's one column has; 0: it has several columns. */
static size_t width_of(const dp_program *p)
{
    const char *column = dp_program_number_at(p, 0).factor[0].column;
    size_t width = 0;
    for (size_t k = 0; k < dp_program_inputs(p); k++) {
        const dp_program_number number = dp_program_number_at(p, k);
        for (size_t i = 0; i < number.n_factors; i++) {
            const dp_program_factor *f = &number.factor[i];
            if (strcmp(f->column, column) != 0 || f->level >= 0)
                return 0;
            width = f->element >= width ? f->element + 1 : width;
        }
    }
    return width;
}

/* The one column of the input, each row a record. */
static dp_status read_array(const char *path, const dp_program *p, size_t *n, double **x,
                            dp_error *err)
{
    dp_npy *npy;
    dp_status status = dp_npy_open(path, &npy, err);
    if (status != DP_OK)
        return status;
    const dp_program_number first = dp_program_number_at(p, 0);
    size_t inputs = dp_program_inputs(p), width = width_of(p);
    dp_dataset *data = dp_dataset_new(dp_npy_rows(npy));
    *n = dp_npy_rows(npy);
    *x = calloc(*n, inputs * sizeof **x);
    if (dp_npy_real(npy) == NULL)
        status = fail(err, DP_EDATA, "the array is not of float64; in Python: x.astype('float64')");
    else if (width != dp_npy_columns(npy))
        status = fail(err, DP_ESHAPE,
                      width == 0 ? "the program reads several columns, or group numbers; give CSV"
                                 : "the array's rows have another number of numbers than the "
                                   "program reads; give an array of a record a row");
    else if (data == NULL || *x == NULL)
        status = fail(err, DP_ENOMEM, "out of memory");
    else {
        dp_dataset_real(data, first.factor[0].column, dp_npy_columns(npy), dp_npy_real(npy));
        status = dp_program_read(p, data, *n * inputs, *x, err);
    }
    dp_dataset_free(data);
    dp_npy_free(npy);
    return status;
}

/* The program's numbers, each within its bounds; the record is named. */
static dp_status check_records(const dp_program *p, size_t n, const double *x, dp_error *err)
{
    size_t inputs = dp_program_inputs(p);
    int64_t *v = calloc(inputs, sizeof *v);
    dp_error why = {0};
    dp_status status = v == NULL ? fail(err, DP_ENOMEM, "out of memory") : DP_OK;
    for (size_t i = 0; status == DP_OK && i < n; i++) {
        status = dp_program_encode(p, 1, x + i * inputs, v, &why);
        err->status = status;
        if (status != DP_OK)
            (void)snprintf(err->text, sizeof err->text, "record %zu: %.400s", i + 1, why.text);
    }
    free(v);
    return status;
}

dp_status read_records(const char *path, const dp_program *p, size_t *n, double **x, dp_error *err)
{
    *x = NULL;
    dp_status status =
        is_npy(path) ? read_array(path, p, n, x, err) : read_table(path, p, n, x, err);
    if (status == DP_OK)
        status = check_records(p, *n, *x, err);
    if (status != DP_OK) {
        free(*x);
        *x = NULL;
    }
    return status;
}
