/* Matrices on encrypted vectors, by diagonals (Halevi and Shoup, CRYPTO 2014), with baby and giant
 * steps and one raising of digits for all baby steps.
 *
 * A vector of n places is repeated with period d, a power of two.  With m' >= m rows, a power of
 * two too, e_k[i] = M[i mod m'][(i + k) mod d] for k < m', and s = sum_k e_k * rot_k(x),
 *
 *   y = s + rot_m'(s) + rot_2m'(s) + ...      (d / m' terms, by doubling)
 *
 * is M x, repeated with period m'.  Of k = g j + i, i < g, the e's are turned back by g j, so that there
 * are rotations of x by i, of sums by g j, and log2(d / m') of s.  One level.
 *
 * A map says the same of any places: the term (to, from, w) is w at place `to` of the diagonal from -
 * to modulo d; sums are folded from m' on, or not at all where m' = d.  Diagonals without terms are
 * left out, and g is what takes the least rotations. */
#ifndef DPI_FHE_LINEAR_H
#define DPI_FHE_LINEAR_H

#include "fhe/ckks.h"

typedef struct dpi_ckks_term {
    uint32_t to, from;
    double w;
} dpi_ckks_term;

typedef struct dpi_ckks_map {
    size_t places, made; /* d and m', powers of two, m' <= d */
    size_t n;
    dpi_ckks_term *term; /* [n] no two of the same places */
} dpi_ckks_map;

/* Frees its terms. */
void dpi_ckks_map_free(dpi_ckks_map *map);

/* Steps of the rotations that a map needs, whatever its weights are, each once: steps [*n], NULL to
 * count them.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ckks_map_turns(const dpi_ckks_map *map, size_t *n, int *steps,
                                           dp_error *err);

typedef struct dpi_ckks_matrix dpi_ckks_matrix;

/* A map for vectors at that level, above 0, encoded; places at most n / 2.  DP_EDOMAIN a weight is no
 * number or too large; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ckks_matrix_map(const dpi_ckks *c, const dpi_ckks_map *map,
                                            size_t level, dpi_ckks_room *room,
                                            dpi_ckks_matrix **matrix, dp_error *err);

/* The same of w[rows][columns], both at most n / 2; zeros are no terms. */
DP_MUST_CHECK dp_status dpi_ckks_matrix_new(const dpi_ckks *c, size_t rows, size_t columns,
                                            const double *w, size_t level, dpi_ckks_room *room,
                                            dpi_ckks_matrix **matrix, dp_error *err);
void dpi_ckks_matrix_free(dpi_ckks_matrix *matrix);

/* Places of a vector that it takes, and of what it makes: both repeated. */
size_t dpi_ckks_matrix_places(const dpi_ckks_matrix *matrix);
size_t dpi_ckks_matrix_made(const dpi_ckks_matrix *matrix);

/* Steps of the rotations that it needs, each once: steps [n], NULL to count them. */
size_t dpi_ckks_matrix_turns(const dpi_ckks_matrix *matrix, int *steps);

/* Keys by their steps, in any order. */
typedef struct dpi_ckks_turns {
    size_t n;
    const int *steps;
    const dpi_ckks_switch *const *key;
} dpi_ckks_turns;

/* The key of a rotation; that there is none is misuse. */
const dpi_ckks_switch *dpi_ckks_turns_key(const dpi_ckks_turns *turns, size_t steps);

/* to = M x, a level below x, which is at the matrix' level and is not `to`; `to` has room for that.  A step without a key
 * is misuse.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ckks_matrix_apply(const dpi_ckks *c, const dpi_ckks_matrix *matrix,
                                              const dpi_ckks_cipher *x, const dpi_ckks_turns *turns,
                                              dpi_ckks_room *room, dpi_ckks_cipher *to,
                                              dp_error *err);

#endif
