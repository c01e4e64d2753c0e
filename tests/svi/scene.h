/* Runs with what they are made of, and a model whose release shows which records are in it. */
#ifndef TESTS_INFER_SCENE_H
#define TESTS_INFER_SCENE_H

#include "svi/svi.h"

typedef struct scene {
    dp_model *m;
    dp_dataset *data;
    dp_svi *svi;
} scene;

/* y ~ N(a[group], 1) and a[k] ~ N(mean, 2), under a guide whose draws are 0 but for e^-60: number k
 * of a release is the sum of group k's y, over the rate. */
typedef struct groups {
    size_t n, n_groups;
    const double *y;
    const int32_t *group;
    const int32_t *person; /* names the units; NULL: every record is one */
    double mean;
    size_t chunk; /* 0: the usual one */
} groups;

scene begin_groups(const groups *g, const dp_svi_opts *opts);

void step(const scene *s);
void end(scene *s);

#endif
