/* A network over cards: a matrix by diagonals, whose giant steps are the cards', and a polynomial
 * of what it makes, in a ring that protects nothing.  All follows from the seed, so that who else
 * makes it has the same bits. */
#ifndef TESTS_CLUSTER_SCENE_H
#define TESTS_CLUSTER_SCENE_H

#include "cluster/cards.h"
#include "tests/fhe/toy.h"
#include "tests/lib/check.h"

enum { PLACES = 16, BABY = 4, DEGREE = 15, DEPTH = 6 };

typedef struct card_scene {
    toy t;
    dpi_ckks_plain plain[PLACES];
    double x[PLACES], matrix[PLACES][PLACES], a[DEGREE + 1];
    dpi_ckks_cipher sent;
    dpi_card_keys keys;
} card_scene;

void card_scene_begin(card_scene *s);
void card_scene_end(card_scene *s);

/* Its plan for so many cards; what comes out is *result, of card 0. */
void card_scene_plan(dpi_plan *p, const card_scene *s, size_t cards, uint32_t *result);

/* The plan by `run`; what it makes is *y, which has room, or is NULL where this is not rank 0. */
typedef dp_status card_scene_run(const dpi_plan_job *job, size_t threads, dp_error *err);
dp_status card_scene_value(const card_scene *s, const dpi_plan *p, uint32_t result, size_t threads,
                           card_scene_run *run, dpi_ckks_cipher *y, dp_error *err);

/* Without encryption. */
void card_scene_expected(const card_scene *s, double y[PLACES]);

#endif
