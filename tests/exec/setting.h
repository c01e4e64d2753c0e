/* The model that tests of runs share: a hierarchical logistic regression with a hidden layer, whose
 * values cross to the records in all ways that have factored forms, and in one (the intercept) that
 * has none. */
#ifndef TESTS_EXEC_SETTING_H
#define TESTS_EXEC_SETTING_H

#include "exec/run.h"

enum { N = 7, D = 3, GROUPS = 4, HIDDEN = 5, CROSSINGS = 5 };
enum { SIZE = D + GROUPS + HIDDEN * D + 2 };

typedef struct setting {
    dpi_arena arena;
    dp_error err;
    dpi_graph g;
    dp_dataset *data;
    dpi_id crossing[CROSSINGS];             /* w, a, W, e^s, intercept */
    dpi_id part[CROSSINGS], sum[CROSSINGS]; /* their adjoints, and these summed over records */
    dpi_id weights, scale, root, total, late, result, unused;
    double x[N * D], y[N];
    int32_t group[N];
} setting;

/* Numbers for each crossing, in their order. */
extern const size_t setting_sizes[CROSSINGS];

void set_up(setting *s);
void tear_down(setting *s);

/* A source node of the setting's graph. */
dpi_id source(setting *s, const dpi_op *op, const char *name, dpi_shape shape, size_t number);

/* A run with its inputs set and the globals done, over the first n_parts parts. */
dpi_run *start(const setting *s, size_t n_wanted, const dpi_id *wanted, size_t n_parts,
               size_t chunk);

#endif
