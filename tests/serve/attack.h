/* Reading a network's weights off its hidden numbers, as a client of Paillier's row may. */
#ifndef TESTS_SERVE_ATTACK_H
#define TESTS_SERVE_ATTACK_H

#include "serve/protocol.h"

typedef enum attack_how {
    /* Encrypts B^1, B^2, ... in place of numbers, so that each hidden number holds the base-B
     * digits of a bias and of as many weights as the key has room for.  Orders are fresh in each
     * query, but every query repeats the bias and three weights, by which a neuron is known
     * again. */
    ATTACK_DIGITS,
    /* Numbers within the declared bounds: none but one 1 a query.  Each hidden number is a bias and
     * one weight, and a neuron is known by the nearest bias. */
    ATTACK_UNITS
} attack_how;

typedef struct attack_opts {
    const dp_program *program; /* its first stage is dense */
    dpi_mode mode;
    attack_how how;
    bool bare; /* against answers without masks, as published */
    size_t key_bits;
} attack_opts;

/* Against the first layer.  *recovered [out] its neurons whose bias and weights have all come out;
 * *queries [out] asked.  DP_ENOMEM, and whatever the row gives. */
dp_status attack(const attack_opts *o, size_t *recovered, size_t *queries, dp_error *err);

#endif
