#include "tests/fit/scene.h"

#include <string.h>

enum { MOST = 64 };

dp_status make_fit_of(dpi_fit_parts *parts, const given_block *blocks, size_t n_blocks,
                      dp_fit **fit, dp_error *err)
{
    const dp_privacy privacy = {.adjacency = "none", .why_not = "for a test", .delta = 1};
    double theta[MOST] = {0};
    dpi_objective o;
    dpi_objective_spec spec = {
        .model = parts->model, .guide = parts->guide, .population = 1, .init_scale = 0.1};
    dp_status status = dpi_objective_init(&o, &spec, err);
    if (status != DP_OK) {
        dp_model_free(parts->guide);
        dp_model_free(parts->model);
        *fit = NULL;
        return status;
    }
    for (size_t k = 0; k < o.n_blocks; k++)
        for (size_t i = 0; i < n_blocks; i++)
            if (strcmp(o.blocks[k].name, blocks[i].name) == 0)
                memcpy(theta + o.blocks[k].offset, blocks[i].value,
                       o.blocks[k].size * sizeof *theta);
    parts->theta = theta;
    parts->n_theta = o.n_theta;
    parts->privacy = &privacy;
    dpi_objective_free(&o);
    return dpi_fit_new(parts, fit, err);
}

dp_status make_fit(dp_model *model, dp_model *guide, dp_form form, const given_block *blocks,
                   size_t n_blocks, dp_fit **fit, dp_error *err)
{
    dpi_fit_parts parts = {.model = model, .guide = guide, .form = form};
    return make_fit_of(&parts, blocks, n_blocks, fit, err);
}
