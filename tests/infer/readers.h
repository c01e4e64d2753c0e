/* Models whose records read latents in all the ways that an automatic fit knows, and records for
 * them; for tests of its parts. */
#ifndef TESTS_INFER_READERS_H
#define TESTS_INFER_READERS_H

#include <tacit/random.h>

#include "infer/metric.h"
#include "infer/scan.h"

/* Records of a data set, predictors of each, members of the plates "g" and "h". */
enum { READER_RECORDS = 600, READER_X = 2, READER_G = 4, READER_H = 3, READER_CLASSES = 3 };

typedef struct reader {
    const char *name;
    dp_model *(*make)(void);
    size_t k, p, plates, local, n_release; /* what its view is to have */
} reader;

extern const reader readers[];
extern const size_t n_readers;

const reader *reader_named(const char *name);

/* Columns "x" [READER_X], "g", "h", "real", "binary", "count", "positive" and "class". */
typedef struct reader_records {
    double x[READER_RECORDS * READER_X], real[READER_RECORDS], binary[READER_RECORDS];
    double count[READER_RECORDS], positive[READER_RECORDS];
    int32_t g[READER_RECORDS], h[READER_RECORDS], class[READER_RECORDS];
} reader_records;

/* Records as a seed has them, all of moderate size. */
void reader_draw(reader_records *r, uint64_t seed);

/* Records first ... first + n - 1 of `all`. */
void reader_take(const reader_records *all, size_t first, size_t n, reader_records *some);

/* The first n of them as a data set, which borrows r. */
dp_dataset *reader_data(const reader_records *r, size_t n);

/* A model with its view and a metric, which is the unit matrix; they point to each other. */
typedef struct reading {
    dp_model *model;
    dpi_model_view view;
    dpi_arena arena;
    dpi_metric metric;
    double *theta; /* [d] of moderate size, from a seed */
} reading;

/* Fails the test where there is none. */
void reading_make(reading *made, const reader *r);
void reading_free(reading *r);

/* A metric that is no multiple of the unit matrix, from a seed; the larger `size` the smaller what
 * records are in it. */
void reading_turn(reading *r, double size);

#endif
