/* Fits of known parameters, made without a run. */
#ifndef TESTS_FIT_SCENE_H
#define TESTS_FIT_SCENE_H

#include "fit/fit.h"

/* A parameter's values. */
typedef struct given_block {
    const char *name;
    double value[8];
} given_block;

/* A fit of the parts, whose parameters are these, the rest 0; their statement of privacy is that
 * there is none.  What dpi_fit_new says. */
dp_status make_fit_of(dpi_fit_parts *parts, const given_block *blocks, size_t n_blocks,
                      dp_fit **fit, dp_error *err);

/* Of model and guide (nullable), which it takes. */
dp_status make_fit(dp_model *model, dp_model *guide, dp_form form, const given_block *blocks,
                   size_t n_blocks, dp_fit **fit, dp_error *err);

#endif
