/* The records' part of the ELBO on public data: one pass with fresh draws of latents and drawn
 * columns, in the objective's own graph. */
#include <math.h>

#include "exec/run.h"
#include "fit/fit.h"
#include "random/rng.h"
#include "svi/check.h"
#include "svi/svi.h"

typedef struct pass {
    dpi_arena arena;
    const dp_fit *fit;
    dpi_run *run;
    size_t chunk;
    double *numbers; /* [chunk or 1][largest noise], and scores [chunk] */
} pass;

static size_t noise_size(const dpi_objective *o, size_t k, size_t chunk)
{
    const dpi_shape *shape = &dpi_get(&o->graph, o->noise[k])->shape;
    return dpi_shape_size(shape) * (shape->per_record ? chunk : 1);
}

static dp_status make_run(pass *p, const dp_dataset *data, dp_error *err)
{
    const dpi_objective *o = &p->fit->objective;
    size_t n = 0, room = p->chunk;
    dpi_id *wanted = dpi_arena_alloc(&p->arena, o->n_blocks + o->n_noise + 1, sizeof *wanted);
    for (size_t k = 0; k < o->n_noise; k++)
        room = noise_size(o, k, p->chunk) > room ? noise_size(o, k, p->chunk) : room;
    p->numbers = dpi_arena_alloc(&p->arena, room, sizeof *p->numbers);
    if (wanted == NULL || p->numbers == NULL)
        return dpi_fail_nomem(err);
    for (size_t k = 0; k < o->n_blocks; k++)
        wanted[n++] = o->blocks[k].node;
    for (size_t k = 0; k < o->n_noise; k++)
        wanted[n++] = o->noise[k];
    wanted[n++] = o->record;
    dpi_run_spec spec = {.graph = &o->graph,
                         .wanted = wanted,
                         .n_wanted = n,
                         .data = data,
                         .chunk = p->chunk,
                         .single = p->fit->parts.precision == DP_SINGLE,
                         .all_columns = true};
    dp_status status = dpi_check_observations(o, data, err);
    if (status == DP_OK)
        status = dpi_run_new(&spec, &p->run, err);
    for (size_t k = 0; status == DP_OK && k < o->n_blocks; k++)
        dpi_run_write(p->run, o->blocks[k].node, 0, o->blocks[k].size,
                      p->fit->parts.theta + o->blocks[k].offset);
    return status;
}

/* Draws the noise of m records, or the global noise for m = 0. */
static void draw(pass *p, size_t m, dp_rng *rng)
{
    const dpi_objective *o = &p->fit->objective;
    for (size_t k = 0; k < o->n_noise; k++) {
        if (dpi_get(&o->graph, o->noise[k])->shape.per_record != (m > 0))
            continue;
        size_t size = noise_size(o, k, m);
        dp_rng_normal(rng, size, p->numbers);
        dpi_run_write(p->run, o->noise[k], 0, size, p->numbers);
    }
    if (m > 0)
        dpi_run_draw(p->run, 0, m, dpi_rng_stream(rng));
}

static double sum_records(pass *p, size_t n, dp_rng *rng)
{
    double sum = 0;
    for (size_t first = 0, m; first < n; first += m) {
        m = n - first < p->chunk ? n - first : p->chunk;
        draw(p, m, rng);
        dpi_run_records(p->run, m, NULL, first);
        dpi_run_read(p->run, p->fit->objective.record, 0, m, p->numbers);
        for (size_t r = 0; r < m; r++)
            sum += p->numbers[r];
    }
    return sum;
}

dp_status dp_fit_elbo(const dp_fit *fit, const dp_dataset *data, dp_rng *rng, double *mean,
                      dp_error *err)
{
    if (data == NULL || rng == NULL)
        dpi_misuse(__func__, "NULL data or source of randomness");
    size_t most = dpi_fit_chunk(fit);
    pass p = {.fit = fit, .chunk = data->n < most ? data->n : most};
    *mean = NAN;
    dp_status status = dpi_fit_may_read(fit, data, err);
    if (status == DP_OK)
        status = make_run(&p, data, err);
    if (status == DP_OK) {
        draw(&p, 0, rng);
        dpi_run_globals(p.run);
        *mean = sum_records(&p, data->n, rng) / (double)data->n;
    }
    dpi_run_free(p.run);
    dpi_arena_free(&p.arena);
    return status;
}
