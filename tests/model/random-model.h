/* Random models on the public calls: latents of many families, networks of many layers, mixtures,
 * guides. */
#ifndef TESTS_MODEL_RANDOM_MODEL_H
#define TESTS_MODEL_RANDOM_MODEL_H

#include <stdbool.h>

#include <tacit/model.h>

#include "tests/model/random-records.h"

typedef struct random_model {
    uint64_t state;
    dp_model *model, *guide; /* guide: NULL for about half */
    dp_plate rows, groups;
    dp_expr pool[48]; /* vectors [3] of each record */
    size_t n_pool, n_latents;
    bool mixture; /* is observed */
    struct {
        char name[16];
        size_t n;
        int kind; /* of random-model.c */
    } latent[32];
} random_model;

/* The model of this number, which has no error; freed by random_model_free. */
void random_model_new(random_model *r, uint64_t number);
void random_model_free(random_model *r);

#endif
