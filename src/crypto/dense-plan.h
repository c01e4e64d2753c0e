/* The insides of a linear layer over ciphertexts. */
#ifndef DPI_CRYPTO_DENSE_PLAN_H
#define DPI_CRYPTO_DENSE_PLAN_H

#include "crypto/dense.h"

struct dpi_dense {
    size_t inputs, outputs;
    size_t *begin;    /* [outputs + 1], or NULL: all inputs in order */
    uint32_t *input;  /* [terms], NULL with begin */
    uint32_t *weight; /* [terms], NULL with begin */
    int64_t *bias;    /* [outputs], or NULL */
    int16_t *digits;  /* [n_weights][windows], lowest first */
    size_t windows;
    unsigned window; /* bits */
    size_t largest;  /* 2^(window - 1): digits are within +- that */
    size_t powers;   /* of an input in the table: largest, or 1 with buckets */
    dpi_dense_method method;
    dpi_slots slots;
};

struct dpi_dense_inputs {
    const dpi_paillier_public *key;
    const dpi_montgomery *m;
    uint64_t *one;   /* the residue 1 */
    uint64_t *table; /* [inputs][2: c, 1 / c][powers][words] */
};

/* Entry of the table for a digit that is not 0. */
const uint64_t *dpi_dense_entry(const dpi_dense *dense, const dpi_dense_inputs *inputs, size_t i,
                                int negative, size_t power);

#endif
