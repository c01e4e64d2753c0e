/* Random small networks: dense layers, convolutions, embeddings, sequences, weights that are used
 * again. */
#ifndef TESTS_EXEC_NETWORK_H
#define TESTS_EXEC_NETWORK_H

#include "exec/clip.h"

enum { RECORDS = 5, MOST_WEIGHTS = 24, MOST_VALUES = 48, MOST_RELEASE = 4096 };

typedef struct network {
    dpi_arena arena;
    dp_error err;
    dpi_graph g;
    uint64_t state;
    dpi_id weight[MOST_WEIGHTS], value[MOST_VALUES], part[MOST_WEIGHTS], root;
    size_t n_weights, n_values, n_parts, release;
    size_t uses[MOST_WEIGHTS], convolutions, gathers,
        shared; /* shared: weights used more than once */
} network;

/* The network of that number; to be freed by network_free. */
void network_new(network *n, size_t number);
void network_free(network *n);

/* A run over RECORDS records at once, in strips of so many bytes (0: whole), with the network's
 * inputs set and its globals and records computed. */
dpi_run *network_run(const network *n, dpi_choice choice, bool single, size_t strip);

#endif
