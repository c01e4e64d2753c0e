/* What the threads of a sum have each for itself, and the draws of records that they are given.
 *
 * A worker has a run of its own (the first one the run itself, the others clones), the sum of a
 * task, room to park two more where these are short, and the sum of a unit where units have several
 * rows.  All of it is made before the first step, in sizes that do not depend on the data.  Draws
 * of records are secrets: they come from the source of the noise, one thread at a time, and are
 * wiped with the runs. */
#include <sodium.h>

#include "base/error.h"
#include "exec/clip.h"
#include "random/noise.h"
#include "svi/sum.h"
#include "svi/waves.h"

/* Longer releases are not parked: their tasks take so much longer that waiting costs nothing. */
enum { LONG_RELEASE = 1 << 16 };

static bool of_record(const dpi_summation *s, size_t noise)
{
    return dpi_get(&s->objective->graph, s->objective->noise[noise])->shape.per_record;
}

/* Room for the draws of a record that come in whole pairs (dpi_run_noise), the largest. */
static size_t draw_room(const dpi_summation *s)
{
    size_t most = 0;
    for (size_t k = 0; k < s->objective->n_noise; k++) {
        size_t room = of_record(s, k) ? dpi_run_noise_room(s->run, s->objective->noise[k]) : 0;
        most = room > most ? room : most;
    }
    return most;
}

static dp_status init_worker(dpi_summation *s, size_t k, dpi_arena *arena, dp_error *err)
{
    dpi_worker *w = &s->workers[k];
    size_t n = s->objective->n_release;
    bool grouped = s->units->start != NULL;
    w->scratch = dpi_arena_alloc(arena, 2 * s->rows, sizeof *w->scratch);
    bool sums = s->factors == NULL;
    if (sums)
        w->part = dpi_arena_alloc(arena, n, sizeof *w->part);
    if (grouped || s->whole)
        w->unit = dpi_arena_alloc(arena, n, sizeof *w->unit);
    if (grouped) {
        w->row = dpi_arena_alloc(arena, s->chunk, sizeof *w->row);
        w->rows = dpi_arena_alloc(arena, s->chunk, sizeof *w->rows);
    }
    bool parks = sums && s->n_workers > 1 && n <= LONG_RELEASE;
    for (int i = 0; i < 2 && parks; i++)
        w->parked[i].part = dpi_arena_alloc(arena, n, sizeof *w->part);
    if (w->scratch == NULL || (sums && w->part == NULL) || (parks && w->parked[1].part == NULL) ||
        (parks && w->parked[0].part == NULL) || ((grouped || s->whole) && w->unit == NULL) ||
        (grouped && (w->row == NULL || w->rows == NULL)))
        return dpi_fail_nomem(err);
    dp_status status = DP_OK;
    if (k > 0)
        status = dpi_run_clone(s->run, &w->run, err);
    else
        w->run = s->run;
    return status == DP_OK && sums ? dpi_run_chains_new(w->run, err) : status;
}

dp_status dpi_summation_init(dpi_summation *s, size_t threads, dpi_arena *arena, dp_error *err)
{
    dp_status status = dpi_waves_init(s, arena, err);
    if (status != DP_OK)
        return status;
    s->total = s->factors != NULL ? s->place : NULL;
    if (s->total == NULL)
        s->total = dpi_arena_alloc(arena, s->objective->n_release, sizeof *s->total);
    s->lost = dpi_arena_alloc(arena, s->objective->n_release, sizeof *s->lost);
    if (s->total == NULL || s->lost == NULL)
        return dpi_fail_nomem(err);
    s->n_workers = threads;
    s->workers = dpi_arena_alloc(arena, s->n_workers, sizeof *s->workers);
    if (s->workers == NULL) {
        s->n_workers = 0;
        return dpi_fail_nomem(err);
    }
    size_t odd = draw_room(s), room = 0;
    if (odd > 0 && dpi_mul(odd, s->chunk, &room))
        s->pairs = dpi_arena_alloc(arena, room, sizeof *s->pairs);
    if (odd > 0 && s->pairs == NULL)
        return dpi_fail_nomem(err);
    for (size_t k = 0; k < s->objective->n_noise; k++)
        s->draws = s->draws || of_record(s, k);
    s->draws = s->draws || dpi_run_draws(s->run);
    for (size_t k = 0; k < s->n_workers && status == DP_OK; k++)
        status = init_worker(s, k, arena, err);
    if (status == DP_OK && s->n_workers > 1)
        status = dpi_pool_new(s->n_workers, &s->pool, err);
    return status;
}

size_t dpi_summation_bytes(const dpi_summation *s)
{
    size_t bytes = 0;
    for (size_t k = 0; k < s->n_workers; k++)
        bytes += dpi_run_memory(s->workers[k].run);
    return bytes;
}

static void wipe_draws(const dpi_summation *s, dpi_run *run)
{
    for (size_t k = 0; k < s->objective->n_noise; k++)
        if (of_record(s, k))
            dpi_run_wipe(run, s->objective->noise[k]);
}

void dpi_summation_free(dpi_summation *s)
{
    dpi_pool_free(s->pool);
    dpi_waves_free(s);
    for (size_t k = 0; k < s->n_workers; k++) {
        dpi_worker *w = &s->workers[k];
        if (w->run != NULL)
            wipe_draws(s, w->run);
        if (k > 0)
            dpi_run_free(w->run);
    }
}

dp_status dpi_draw_records(dpi_summation *s, dpi_run *run, size_t first, size_t m, dp_error *err)
{
    const dpi_objective *o = s->objective;
    dpi_stream *stream;
    dp_status status = DP_OK;
    if (dpi_run_draws(run) && (status = dpi_noise_stream(s->noise, &stream, err)) == DP_OK)
        dpi_run_draw(run, first, m, stream);
    for (size_t k = 0; k < o->n_noise && s->draws && status == DP_OK; k++)
        if (of_record(s, k))
            status = dpi_run_noise(run, o->noise[k], first, m, s->noise, s->pairs, err);
    return status;
}
