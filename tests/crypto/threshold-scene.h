/* Owners who open sums under a key that they share, for tests. */
#ifndef TESTS_CRYPTO_THRESHOLD_SCENE_H
#define TESTS_CRYPTO_THRESHOLD_SCENE_H

#include "crypto/threshold.h"

enum { SCENE_OWNERS = 8, SCENE_WORDS = 20000 };

typedef struct scene {
    dpi_threshold *t;
    dpi_rlwe_stream random;
    size_t owners, n; /* words of the vectors of the sum that is made */
    dpi_threshold_share *share[SCENE_OWNERS];
    unsigned char *public[SCENE_OWNERS];
    dpi_threshold_key *key;
    dpi_threshold_sum *sum[SCENE_OWNERS];
    unsigned char *opened[SCENE_OWNERS], *shared[SCENE_OWNERS], *partial[SCENE_OWNERS];
    unsigned char digests[SCENE_OWNERS * DPI_THRESHOLD_HASH];
    uint64_t *words[SCENE_OWNERS], *result; /* [n] */
    uint64_t sums;                          /* so far */
} scene;

/* Owners with shares and a key, from a fixed seed; ends one too. */
void scene_start(scene *x, size_t owners, uint64_t openings);
void scene_end(scene *x);

/* A sum of vectors of n words: zeros, which the caller sets. */
void scene_sum(scene *x, size_t n);

/* All encrypt; all take what the others share; all tell their digests; all make their partials. */
void scene_encrypt(scene *x);
void scene_share(scene *x);
void scene_digests(scene *x);
void scene_partials(scene *x);

/* The sum from all opened parts and partials, into x->result. */
void scene_open(scene *x);

/* What the sum must be; opens it and checks that. */
uint64_t scene_expected(const scene *x, size_t j);
void scene_check(scene *x);

/* Random words (0), the largest and the middle one (1), or zeros (2); of 1 and 2 a fifth random. */
void scene_words(scene *x, int kind);

/* A sum of such, up to the digests. */
void scene_make(scene *x, size_t n, int kind);

#endif
