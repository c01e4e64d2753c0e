/* The records' part of the ELBO on public data: one pass with fresh draws of latents and drawn
 * columns. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "random/rng.h"
#include "svi/check.h"
#include "svi/svi.h"

static dp_status make_run(const dp_svi *s, const dp_dataset *data, dpi_run **run, dp_error *err)
{
    const dpi_objective *o = &s->objective;
    size_t n = 0;
    *run = NULL;
    if (data->err.status != DP_OK)
        return dpi_fail(err, data->err.status, "%s", data->err.text);
    dpi_id *wanted = dpi_alloc(o->n_blocks + o->n_noise + 1, sizeof *wanted);
    if (wanted == NULL)
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
                         .chunk = data->n < s->chunk ? data->n : s->chunk,
                         .single = s->opts.precision == DP_SINGLE};
    dp_status status = dpi_check_observations(o, data, err);
    if (status == DP_OK)
        status = dpi_run_new(&spec, run, err);
    dpi_free(wanted);
    return status;
}

/* Draws the noise of m records, or the global noise for m = 0. */
static void draw(const dpi_objective *o, dpi_run *run, size_t m, dp_rng *rng)
{
    for (size_t k = 0; k < o->n_noise; k++) {
        const dpi_shape *shape = &dpi_get(&o->graph, o->noise[k])->shape;
        if (shape->per_record == (m > 0))
            dp_rng_normal(rng, (m > 0 ? m : 1) * dpi_shape_size(shape),
                          dpi_run_value(run, o->noise[k]));
    }
    if (m > 0)
        dpi_run_draw(run, m, dpi_rng_stream(rng));
}

static double sum_records(const dpi_objective *o, dpi_run *run, size_t n, size_t chunk, dp_rng *rng)
{
    const double *score = dpi_run_value(run, o->record);
    double sum = 0;
    for (size_t first = 0, m; first < n; first += m) {
        m = n - first < chunk ? n - first : chunk;
        draw(o, run, m, rng);
        dpi_run_records(run, m, NULL, first);
        for (size_t r = 0; r < m; r++)
            sum += score[r];
    }
    return sum;
}

dp_status dp_svi_elbo(const dp_svi *s, const dp_dataset *data, dp_rng *rng, double *mean,
                      dp_error *err)
{
    const dpi_objective *o = &s->objective;
    const double *theta = dpi_optimizer_result(&s->optimizer);
    dpi_run *run;
    *mean = NAN;
    if (data == s->data && s->opts.mode != DP_NO_PRIVACY)
        return dpi_fail(err, DP_EPRIVACY,
                        "these are the records of the run, whose ELBO is not public; give other "
                        "records, which are, or ask for a noisy loss (loss_every)");
    dp_status status = make_run(s, data, &run, err);
    if (status != DP_OK)
        return status;
    for (size_t k = 0; k < o->n_blocks; k++)
        memcpy(dpi_run_value(run, o->blocks[k].node), theta + o->blocks[k].offset,
               o->blocks[k].size * sizeof *theta);
    draw(o, run, 0, rng);
    dpi_run_globals(run);
    *mean = sum_records(o, run, data->n, data->n < s->chunk ? data->n : s->chunk, rng) /
            (double)data->n;
    dpi_run_free(run);
    return DP_OK;
}
