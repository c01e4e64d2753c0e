#include "tests/svi/scene.h"

#include <stdlib.h>

#include "tests/lib/check.h"

scene begin_groups(const groups *g, const dp_svi_opts *opts)
{
    dp_error err = {0};
    scene s = {.m = dp_model_new(), .data = dp_dataset_new(g->n)};
    double *log_scale = malloc(g->n_groups * sizeof *log_scale);
    assert_non_null(log_scale);
    for (size_t k = 0; k < g->n_groups; k++)
        log_scale[k] = -60;
    dp_plate rows = dp_unit_plate(s.m, "rows"), plate = dp_plate_new(s.m, "groups", g->n_groups);
    dp_expr a = dp_sample_in(plate, "a", 1, dp_normal(g->mean, 2));
    dp_observe(rows, "y", dp_normal_v(dp_pick(a, dp_index(rows, "g", plate)), dp_num(1)));
    dp_dataset_real(s.data, "y", 1, g->y);
    dp_dataset_index(s.data, "g", g->group);
    if (g->person != NULL) {
        dp_dataset_index(s.data, "person", g->person);
        dp_dataset_unit(s.data, "person");
    }
    const dpi_svi_spec spec = {.model = s.m,
                               .data = s.data,
                               .opts = opts,
                               .chunk = g->chunk > 0 ? g->chunk : DPI_SVI_CHUNK};
    assert_ok(dpi_svi_new(&spec, &s.svi, &err), err.text);
    assert_ok(dp_svi_set(s.svi, "a.log_scale", g->n_groups, log_scale, &err), err.text);
    free(log_scale);
    return s;
}

void step(const scene *s)
{
    dp_error err = {0};
    assert_ok(dp_svi_step(s->svi, &err), err.text);
}

void end(scene *s)
{
    dp_svi_free(s->svi);
    dp_dataset_free(s->data);
    dp_model_free(s->m);
}
