/* Regressions by three parties as threads (tests/share/scene.h), and the same of one table. */
#ifndef TESTS_SILO_TRIO_SCENE_H
#define TESTS_SILO_TRIO_SCENE_H

#include "silo/trio.h"
#include "tests/share/scene.h"

enum { TRIO_MOST_D = 64, TRIO_MOST_OPENED = 1 << 14 };

typedef struct trio_side {
    double *x, *y; /* NULL where the party has none */
    double w[TRIO_MOST_D];
    dp_status status;
    dp_error err;
    bool begun;
    double *opened; /* [n_opened] */
    size_t n_opened;
} trio_side;

typedef struct trio_table {
    dpi_silo_trio_terms terms;
    dpi_silo_trio_grid grid;
    trio_side side[DPI_TRIO_ROLES];
    void (*tamper)(void *user, const scene_message *message); /* NULL: none */
    void (*begin)(void *user, size_t role);                   /* as of scene_opts */
    dp_status (*asked)(void *side, dp_error *err);            /* before anything is opened */
    uint32_t timeout;
} trio_table;

/* Uniform in [0, 1), and normal. */
double trio_uniform(void);
double trio_gauss(void);

/* The grid of the terms, and data within their bounds: columns that go together in threes. */
void trio_draw(trio_table *t);
void trio_drop(trio_table *t);

/* All three run it; how it ended is in the sides. */
void trio_run(const scene *s, trio_table *t);
void trio_run_well(const scene *s, trio_table *t);

/* All columns at one place, in floating point and with the sigmoid itself. */
void trio_solve(const trio_table *t, double w[TRIO_MOST_D]);

/* x of row i and column j of all. */
double trio_x(const trio_table *t, size_t i, size_t j);

/* Integers that a party gives, x[rows][d] and y[rows]. */
void trio_integers(const trio_table *t, int64_t *x, int64_t *y);

#endif
