/* Models that the rounds do not take, and records for them: points around three centres, a number
 * and a class that depend on them. */
#ifndef TESTS_INFER_LOOP_MODELS_H
#define TESTS_INFER_LOOP_MODELS_H

#include <tacit/tacit.h>

enum { LOOP_N = 1000, LOOP_D = 2, LOOP_K = 3 };

typedef struct loop_records {
    double x[LOOP_N * LOOP_D], y[LOOP_N];
    int32_t kind[LOOP_N];
} loop_records;

extern const double loop_centre[LOOP_K][LOOP_D];

void loop_draw(loop_records *r);

/* The first n of them, borrowed. */
dp_dataset *loop_data(const loop_records *r, size_t n);

enum { LOOP_MIXTURE, LOOP_NETWORK, LOOP_CODES, LOOP_COLUMNS, LOOP_MODELS };

typedef struct loop_model {
    dp_model *(*make)(void);
    const char *why; /* in the words of its check */
} loop_model;

extern const loop_model loop_models[LOOP_MODELS];

#endif
