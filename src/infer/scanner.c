/* Scans are made: the nodes that a pass reads, and what each thread has. */
#include "infer/scanner.h"

#include <sodium.h>

#include "svi/check.h"

enum { MOST_NUMBERS = 1 << 14, MOST_RECORDS = 1 << 26 };

static bool make_column(dpi_scan *s, dpi_id node, dpi_scan_column *c)
{
    *c = (dpi_scan_column){.node = node};
    if (node == DPI_NONE)
        return true;
    const dpi_shape *shape = &dpi_get(&s->view->objective.graph, node)->shape;
    c->size = dpi_shape_size(shape);
    c->per_record = shape->per_record;
    c->values = dpi_arena_alloc(&s->arena, (c->per_record ? DPI_SCAN_CHUNK : 1) * c->size,
                                sizeof *c->values);
    return c->values != NULL;
}

static bool make_columns(dpi_scan *s, dpi_scan_thread *t)
{
    const dpi_model_view *r = s->view;
    bool ok = make_column(s, r->seen->value, &t->y);
    t->slope = dpi_arena_alloc(&s->arena, r->n_reads * r->k, sizeof *t->slope);
    t->index = dpi_arena_alloc(&s->arena, r->n_plates + 1, sizeof *t->index);
    ok = ok && t->slope != NULL && t->index != NULL;
    for (int a = 0; a < r->seen->family->n_args && ok; a++)
        ok = make_column(s, r->seen->arg[a], &t->arg[a]);
    for (size_t i = 0, plate = 0; i < r->n_reads && ok; i++) {
        for (size_t j = 0; j < r->k && ok; j++)
            ok = make_column(s, r->reads[i].slope[j], &t->slope[i * r->k + j]);
        if (ok && r->reads[i].members > 0)
            ok = make_column(s, r->reads[i].index, &t->index[plate++]);
    }
    return ok;
}

static bool make_room(dpi_scan *s, dpi_scan_thread *t)
{
    const dpi_model_view *r = s->view;
    size_t rows = DPI_SCAN_CHUNK * r->k;
    t->dense = dpi_arena_alloc(&s->arena, rows * r->p + 1, sizeof *t->dense);
    t->own = dpi_arena_alloc(&s->arena, rows * (r->local - r->p) + 1, sizeof *t->own);
    t->white = dpi_arena_alloc(&s->arena, rows * r->local, sizeof *t->white);
    t->gamma = dpi_arena_alloc(&s->arena, rows * r->k, sizeof *t->gamma);
    t->member = dpi_arena_alloc(&s->arena, DPI_SCAN_CHUNK * r->n_plates + 1, sizeof *t->member);
    t->room = dpi_arena_alloc(&s->arena, s->most_room + 1, sizeof *t->room);
    t->sum = dpi_arena_alloc(&s->arena, s->most, sizeof *t->sum);
    return t->dense != NULL && t->own != NULL && t->white != NULL && t->gamma != NULL &&
           t->member != NULL && t->room != NULL && t->sum != NULL;
}

static dp_status make_run(dpi_scan *s, const dp_dataset *data, dp_error *err)
{
    const dpi_model_view *r = s->view;
    const dpi_objective *o = &r->objective;
    size_t n = 0, most = o->n_blocks + 1 + DPI_MAX_ARGS + r->n_reads * (r->k + 1);
    dpi_id *wanted = dpi_arena_alloc(&s->arena, most, sizeof *wanted);
    if (wanted == NULL)
        return dpi_fail_nomem(err);
    for (size_t b = 0; b < o->n_blocks; b++)
        wanted[n++] = o->blocks[b].node;
    wanted[n++] = r->seen->value;
    for (int a = 0; a < r->seen->family->n_args; a++)
        wanted[n++] = r->seen->arg[a];
    for (const dpi_read *d = r->reads; d < r->reads + r->n_reads; d++) {
        for (size_t j = 0; j < r->k; j++)
            if (d->slope[j] != DPI_NONE)
                wanted[n++] = d->slope[j];
        if (d->members > 0)
            wanted[n++] = d->index;
    }
    dpi_run_spec spec = {
        .graph = &o->graph, .wanted = wanted, .n_wanted = n, .data = data, .chunk = DPI_SCAN_CHUNK};
    dp_status status = dpi_check_observations(o, data, err);
    if (status == DP_OK)
        status = dpi_run_new(&spec, &s->scanners[0].run, err);
    if (status == DP_OK && dpi_run_draws(s->scanners[0].run))
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "a column is drawn afresh for each use, and an automatic fit looks at "
                        "records many times; fit the model by dp_svi_new, or give the chances as "
                        "real numbers");
    return status;
}

static dp_status check(const dpi_scan_spec *spec, dp_error *err)
{
    if (spec->data->err.status != DP_OK)
        return dpi_fail(err, spec->data->err.status, "%s", spec->data->err.text);
    if (spec->data->unit != NULL)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "a column names the units, and an automatic fit takes single records; fit "
                        "the model by dp_svi_new");
    if (spec->data->n > MOST_RECORDS)
        return dpi_fail(err, DP_EUNSUPPORTED, "an automatic fit takes at most 2^26 records");
    if (spec->most > MOST_NUMBERS)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "%zu numbers would be released at once, and an automatic fit takes at most "
                        "%d; fit the model by dp_svi_new",
                        spec->most, MOST_NUMBERS);
    return DP_OK;
}

static dp_status make(dpi_scan *s, const dpi_scan_spec *spec, dp_error *err)
{
    dp_status status = check(spec, err);
    if (status != DP_OK)
        return status;
    s->scanners = dpi_arena_alloc(&s->arena, s->threads, sizeof *s->scanners);
    s->total = dpi_arena_alloc(&s->arena, s->most, sizeof *s->total);
    s->whole = dpi_arena_alloc(&s->arena, s->most + 1, sizeof *s->whole);
    s->out = dpi_arena_alloc(&s->arena, s->most, sizeof *s->out);
    s->paid = spec->paid != NULL ? dpi_arena_alloc(&s->arena, s->n_paid, sizeof *s->paid) : NULL;
    if (s->scanners == NULL || s->total == NULL || s->whole == NULL || s->out == NULL ||
        (spec->paid != NULL && s->paid == NULL))
        return dpi_fail_nomem(err);
    for (size_t k = 0; s->paid != NULL && k < s->n_paid; k++)
        s->paid[k] = spec->paid[k];
    status = make_run(s, spec->data, err);
    for (size_t k = 0; k < s->threads && status == DP_OK; k++) {
        if (!make_columns(s, &s->scanners[k]) || !make_room(s, &s->scanners[k]))
            return dpi_fail_nomem(err);
        if (k > 0)
            status = dpi_run_clone(s->scanners[0].run, &s->scanners[k].run, err);
    }
    if (status == DP_OK)
        status = dpi_release_init(&s->release, s->most, 0, &s->arena, err);
    if (status == DP_OK && s->threads > 1)
        status = dpi_pool_new(s->threads, &s->pool, err);
    return status;
}

dp_status dpi_scan_init(dpi_scan *s, const dpi_scan_spec *spec, dp_error *err)
{
    *s = (dpi_scan){.view = spec->view,
                    .n_records = spec->data->n,
                    .most = spec->most,
                    .most_room = spec->most_room,
                    .threads = spec->threads > 0 ? spec->threads : 1,
                    .noise = spec->noise,
                    .n_paid = spec->n_paid,
                    .owners = spec->owners,
                    .progress = spec->progress,
                    .keeper = spec->keeper};
    dp_status status = make(s, spec, err);
    if (status != DP_OK)
        dpi_scan_free(s);
    return status;
}

static void wipe_column(const dpi_scan_column *c)
{
    if (c->values != NULL)
        sodium_memzero(c->values,
                       (c->per_record ? DPI_SCAN_CHUNK : 1) * c->size * sizeof *c->values);
}

/* Values of records, as the run gave them.  What is missing was never made. */
static void wipe_columns(const dpi_scan *s, const dpi_scan_thread *t)
{
    const dpi_model_view *r = s->view;
    wipe_column(&t->y);
    for (int a = 0; a < DPI_MAX_ARGS; a++)
        wipe_column(&t->arg[a]);
    for (size_t i = 0; t->slope != NULL && i < r->n_reads * r->k; i++)
        wipe_column(&t->slope[i]);
    for (size_t i = 0; t->index != NULL && i < r->n_plates; i++)
        wipe_column(&t->index[i]);
}

static void wipe_room(void *room, size_t n, size_t size)
{
    if (room != NULL)
        sodium_memzero(room, n * size);
}

void dpi_scan_thread_wipe(const dpi_scan *s, const dpi_scan_thread *t)
{
    const dpi_model_view *r = s->view;
    size_t rows = DPI_SCAN_CHUNK * r->k;
    wipe_room(t->dense, rows * r->p, sizeof *t->dense);
    wipe_room(t->own, rows * (r->local - r->p), sizeof *t->own);
    wipe_room(t->white, rows * r->local, sizeof *t->white);
    wipe_room(t->gamma, rows * r->k, sizeof *t->gamma);
    wipe_room(t->member, DPI_SCAN_CHUNK * r->n_plates, sizeof *t->member);
    wipe_room(t->room, s->most_room, sizeof *t->room);
    wipe_room(t->sum, s->most, sizeof *t->sum);
}

void dpi_scan_free(dpi_scan *s)
{
    dpi_pool_free(s->pool);
    for (size_t k = 0; s->scanners != NULL && k < s->threads; k++) {
        dpi_scan_thread_wipe(s, &s->scanners[k]);
        wipe_columns(s, &s->scanners[k]);
        if (k > 0)
            dpi_run_free(s->scanners[k].run);
    }
    if (s->scanners != NULL)
        dpi_run_free(s->scanners[0].run);
    dpi_arena_free(&s->arena);
    *s = (dpi_scan){.n_records = 0};
}
