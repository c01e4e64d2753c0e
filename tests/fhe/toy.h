/* Contexts and keys for tests, in rings that protect nothing. */
#ifndef TESTS_FHE_TOY_H
#define TESTS_FHE_TOY_H

#include "fhe/linear.h"

enum { TOY_TURNS = 256 };

typedef struct toy {
    dpi_ckks *c;
    dpi_ckks_room *room;
    dpi_ckks_secret *secret;
    dpi_ckks_switch *square;
    dpi_rlwe_stream random;
    size_t places, top; /* n / 2, and the highest level */
    int steps[TOY_TURNS];
    dpi_ckks_switch *made[TOY_TURNS];
    dpi_ckks_turns turns; /* of the keys that there are */
} toy;

/* All that is drawn follows from `seed` and `what`.  above NULL: no levels above the depth. */
void toy_begin(toy *t, const dpi_ckks_spec *spec, const dpi_ckks_upper *above, unsigned char seed,
               const char *what);
void toy_end(toy *t);

/* Another room, that has nothing from before. */
void toy_empty_room(toy *t);

/* A key to turn by so many places, where there is none. */
void toy_add_turn(toy *t, int steps);

/* Real numbers under the secret key, with room for any level; and what is there, im NULL: real
 * parts. */
dpi_ckks_cipher toy_encrypted(toy *t, size_t level, size_t places, const double *re);
void toy_decrypted(toy *t, const dpi_ckks_cipher *x, size_t places, double *re, double *im);

/* Numbers as next_number of seed draws them, times `size`. */
void toy_draw(uint64_t *seed, size_t n, double size, double *x);

double toy_largest(size_t n, const double *a, const double *b);

#endif
