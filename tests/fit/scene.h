/* Fits of known parameters, made without a run. */
#ifndef TESTS_FIT_SCENE_H
#define TESTS_FIT_SCENE_H

#include "fit/fit.h"

/* A parameter's values. */
typedef struct given_block {
    const char *name;
    double value[8];
} given_block;

/* A fit of model and guide (nullable), which it takes, with those parameters, the rest 0.  What
 * dpi_fit_new says. */
dp_status make_fit(dp_model *model, dp_model *guide, dp_form form, const given_block *blocks,
                   size_t n_blocks, dp_fit **fit, dp_error *err);

#endif
