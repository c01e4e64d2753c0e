/* A fit keeps what the latents are, not what they are made of: each draw is run through the graph
 * of the objective, as dp_fit_draw would. */
#include "infer/answer.h"

#include <math.h>

#include "exec/run.h"
#include "model/store.h"

void dpi_answer_guide(const dpi_answer *a, double *guide)
{
    const dpi_objective *o = a->objective;
    size_t d = o->n_theta, n = a->n_draws;
    for (const dpi_block *b = o->blocks; b < o->blocks + o->n_blocks; b++)
        for (size_t e = 0; e < b->size; e++) {
            const double *x = a->theta + b->offset + e;
            double mean = 0, square = 0;
            for (size_t k = 0; k < n; k++)
                mean += x[k * d] / (double)n;
            for (size_t k = 0; k < n; k++)
                square += (x[k * d] - mean) * (x[k * d] - mean) / (double)(n - 1);
            guide[2 * b->offset + e] = mean;
            guide[2 * b->offset + b->size + e] = log(fmax(sqrt(square), 1e-300));
        }
}

/* The latents' constrained values at every draw, in draws[n_draws][size]. */
static dp_status constrain(const dpi_answer *a, size_t size, double *draws, dp_error *err)
{
    const dpi_objective *o = a->objective;
    dpi_id *wanted = dpi_arena_alloc(a->arena, o->n_blocks + o->n_latents, sizeof *wanted);
    size_t n = 0;
    dpi_run *values;
    if (wanted == NULL)
        return dpi_fail_nomem(err);
    for (size_t b = 0; b < o->n_blocks; b++)
        wanted[n++] = o->blocks[b].node;
    for (size_t l = 0; l < o->n_latents; l++)
        wanted[n++] = o->latents[l].value;
    dpi_run_spec spec = {.graph = &o->graph, .wanted = wanted, .n_wanted = n, .chunk = 1};
    dp_status status = dpi_run_new(&spec, &values, err);
    for (size_t k = 0; k < a->n_draws && status == DP_OK; k++) {
        double *to = draws + k * size;
        for (const dpi_block *b = o->blocks; b < o->blocks + o->n_blocks; b++)
            dpi_run_write(values, b->node, 0, b->size, a->theta + k * o->n_theta + b->offset);
        dpi_run_globals(values);
        for (size_t l = 0; l < o->n_latents; to += o->latents[l].size, l++)
            dpi_run_read(values, o->latents[l].value, 0, o->latents[l].size, to);
    }
    dpi_run_free(values);
    return status;
}

dp_status dpi_answer_fit(const dpi_answer *a, dpi_fit_parts *parts, dp_fit **fit, dp_error *err)
{
    const dpi_objective *o = a->objective;
    dpi_bytes image[2] = {{NULL}};
    size_t size = 0;
    for (size_t l = 0; l < o->n_latents; l++)
        size += o->latents[l].size;
    double *draws = dpi_arena_alloc(a->arena, a->n_draws, size * sizeof *draws);
    if (draws == NULL)
        return dpi_fail_nomem(err);
    parts->form = DP_FORM_LATENTS;
    parts->theta = a->guide;
    parts->n_theta = 2 * o->n_theta;
    parts->draws = draws;
    parts->n_draws = a->n_draws;
    parts->draw_size = size;
    dp_status status = constrain(a, size, draws, err);
    if (status == DP_OK)
        status = dpi_fit_list_columns(o, a->data, a->arena, parts, err);
    if (status == DP_OK)
        status = dpi_model_store(a->model, &image[0], err);
    if (status == DP_OK)
        status = dpi_fit_restore_models(image, parts, err);
    if (status == DP_OK)
        status = dpi_fit_new(parts, fit, err);
    dpi_bytes_free(&image[0]);
    return status;
}
