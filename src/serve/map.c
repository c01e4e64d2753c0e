/* A linear stage as a matrix with shared weights. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "serve/plan.h"

static size_t window_size(const dp_stage *s)
{
    return s->window.size[0] * s->window.size[1];
}

/* Terms of output o of a convolution or a mean, written at `at`; how many. */
static size_t add_terms(const dp_stage *s, size_t channels, size_t o, dpi_serve_map *map, size_t at)
{
    size_t out = s->shape[2], stop = o / out, filter = o % out, n = 0;
    bool mean = s->kind == DP_STAGE_AVERAGE_POOL;
    for (size_t k = 0; k < window_size(s); k++) {
        size_t pixel = dp_window_pixel(&s->window, stop, k);
        for (size_t c = mean ? filter : 0; pixel != SIZE_MAX && c < (mean ? filter + 1 : channels);
             c++, n++) {
            map->input[at + n] = (uint32_t)(pixel * channels + c);
            map->weight[at + n] =
                mean ? 0 : (uint32_t)((filter * window_size(s) + k) * channels + c);
        }
    }
    return n;
}

static dp_status make_windows(const dp_stage *s, size_t channels, dpi_serve_map *map, dp_error *err)
{
    bool mean = s->kind == DP_STAGE_AVERAGE_POOL;
    size_t most = s->size * window_size(s) * (mean ? 1 : channels);
    map->begin = dpi_alloc(s->size + 1, sizeof *map->begin);
    map->input = dpi_alloc(most, sizeof *map->input);
    map->weight = dpi_alloc(most, sizeof *map->weight);
    if (map->begin == NULL || map->input == NULL || map->weight == NULL)
        return dpi_fail_nomem(err);
    for (size_t o = 0; o < s->size; o++)
        map->begin[o + 1] = map->begin[o] + add_terms(s, channels, o, map, map->begin[o]);
    return DP_OK;
}

dp_status dpi_serve_map_make(const dp_program *p, size_t stage, dpi_serve_map *map, dp_error *err)
{
    const dp_stage *s = dp_program_stage(p, stage);
    const dp_stage *a = dp_program_stage(p, (size_t)s->in[0]);
    *map = (dpi_serve_map){
        .inputs = a->size, .outputs = s->size, .n_weights = s->n_weights, .weights = s->weights};
    map->bias = dpi_alloc(s->size, sizeof *map->bias);
    dp_status status = map->bias == NULL ? dpi_fail_nomem(err) : DP_OK;
    for (size_t o = 0; status == DP_OK && o < s->size; o++)
        map->bias[o] = s->bias != NULL ? s->bias[o % s->n_bias] : 0;
    if (status == DP_OK && s->kind != DP_STAGE_DENSE)
        status = make_windows(s, a->shape[2], map, err);
    if (status != DP_OK)
        dpi_serve_map_free(map);
    return status;
}

void dpi_serve_map_free(dpi_serve_map *map)
{
    dpi_free(map->begin);
    dpi_free(map->input);
    dpi_free(map->weight);
    dpi_free(map->bias);
    *map = (dpi_serve_map){0};
}
