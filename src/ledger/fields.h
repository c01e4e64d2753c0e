/* A data set as records of values, from columns in memory or from a text file, one by one. */
#ifndef DPI_LEDGER_FIELDS_H
#define DPI_LEDGER_FIELDS_H

#include <stdbool.h>

#include "data/dataset.h"
#include "ledger/store.h"

/* A value of any kind: numbers are equal when they are equal as doubles, texts by their bytes. */
typedef struct dpi_record_value {
    uint64_t hash; /* keyed */
    double number; /* NaN: a text, or no number */
} dpi_record_value;

enum { DPI_FIELD_KEY = 16, DPI_MOST_FIELDS = 65536 };

/* What is read. */
typedef struct dpi_fields {
    const dp_dataset *records; /* or */
    const char *path;
    unsigned char key[DPI_FIELD_KEY];
    size_t width;   /* most fields of a record; 0: the file is no text */
    char separator; /* of the file */
    bool headed;    /* the file's first line holds names */
} dpi_fields;

/* Looks at the shape.  DP_EIO; DP_ENOMEM. */
dp_status dpi_fields_open(dpi_fields *f, dp_error *err) DP_MUST_CHECK;

/* Calls take(user, fields, n) for every record, n <= width, until it gives false. */
typedef bool (*dpi_take_fields)(void *user, const dpi_record_value *fields, size_t n);
dp_status dpi_fields_walk(const dpi_fields *f, dpi_take_fields take, void *user,
                          dp_error *err) DP_MUST_CHECK;

#endif
