#include "tests/svi/walkers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "svi/svi.h"
#include "tests/lib/check.h"

enum { BLOCKS = 6 };

loop_records records;

typedef struct block_of {
    const char *name;
    size_t n;
} block_of;
static const block_of network[BLOCKS] = {{"W", 6}, {"b", 3}},
                      columns[BLOCKS] = {{"w.loc", 2},     {"w.log_scale", 2},
                                         {"sd.loc", 1},    {"sd.log_scale", 1},
                                         {"level.loc", 2}, {"level.log_scale", 2}};

static const block_of *blocks_of(const walker *w)
{
    return w->model == LOOP_NETWORK ? network : columns;
}

static void go_on(dp_svi *run, const walker *w)
{
    dpi_optimizer *o = &run->optimizer;
    const double *at = w->behind->theta;
    dp_error err = {0};
    for (const block_of *b = blocks_of(w); b->n > 0; b++) {
        assert_ok(dp_svi_set(run, b->name, b->n, at, &err), err.text);
        at += b->n;
    }
    for (int k = 0; k < 2 && o->state[k] != NULL; k++)
        memcpy(o->state[k], w->behind->memory[k], o->n * sizeof *at);
    o->done = w->behind->done;
}

static dp_status get(const dp_svi *run, walker *w, dp_error *err)
{
    dp_status status = DP_OK;
    double *at = w->theta;
    for (int k = 0; status == DP_OK && k < BLOCKS && blocks_of(w)[k].n > 0; k++) {
        status = dp_svi_get(run, blocks_of(w)[k].name, blocks_of(w)[k].n, at, err);
        at += blocks_of(w)[k].n;
    }
    for (int k = 0; k < 2 && run->optimizer.state[k] != NULL; k++)
        memcpy(w->memory[k], run->optimizer.state[k], run->optimizer.n * sizeof *at);
    w->done = run->optimizer.done;
    return status;
}

void *walk(void *of)
{
    walker *w = of;
    const size_t some = w->end - w->first, n = some * w->times;
    double *x = malloc(n * D * sizeof *x), *y = malloc(n * sizeof *y);
    int32_t *kind = malloc(n * sizeof *kind);
    dp_svi *run;
    if (x == NULL || y == NULL || kind == NULL)
        abort();
    for (size_t t = 0; t < w->times; t++) {
        memcpy(x + t * some * D, records.x + w->first * D, some * D * sizeof *x);
        memcpy(y + t * some, records.y + w->first, some * sizeof *y);
        memcpy(kind + t * some, records.kind + w->first, some * sizeof *kind);
    }
    dp_model *m = loop_models[w->model].make();
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_real(data, "x", D, x);
    dp_dataset_real(data, "y", 1, y);
    dp_dataset_index(data, "kind", kind);
    w->status = dp_svi_new(m, NULL, data, &w->opts, &run, &w->err);
    if (w->status == DP_OK && w->behind != NULL)
        go_on(run, w);
    while (w->status == DP_OK && !dp_svi_done(run) && run->optimizer.done < w->until)
        w->status = dp_svi_step(run, &w->err);
    if (w->status == DP_OK)
        w->status = get(run, w, &w->err);
    dp_svi_free(run);
    dp_dataset_free(data);
    dp_model_free(m);
    free(kind);
    free(y);
    free(x);
    return NULL;
}

void alone(walker *w)
{
    (void)walk(w);
    assert_ok(w->status, w->err.text);
}

void start_all(table *t, size_t n, const size_t *ends, const walker *like, uint64_t local_steps,
               walker owner[MOST])
{
    pthread_t thread[MOST];
    dp_owners together = {.size = n,
                          .honest = n,
                          .seed = 5,
                          .most_records = N,
                          .local_steps = local_steps,
                          .context = t,
                          .open = table_open};
    table_begin(t, n);
    for (size_t k = 0; k < n; k++) {
        owner[k] = *like;
        owner[k].opts.owners = &together;
        owner[k].first = k > 0 && ends != NULL ? ends[k - 1] : 0;
        owner[k].end = ends != NULL ? ends[k] : N;
        assert_int_equal(pthread_create(&thread[k], NULL, walk, &owner[k]), 0);
    }
    for (size_t k = 0; k < n; k++)
        assert_int_equal(pthread_join(thread[k], NULL), 0);
    assert_false(t->differ);
    table_end(t);
}

void together(table *t, size_t n, const size_t *ends, walker *like, uint64_t local_steps)
{
    walker owner[MOST];
    start_all(t, n, ends, like, local_steps, owner);
    for (size_t k = 0; k < n; k++) {
        assert_ok(owner[k].status, owner[k].err.text);
        assert_memory_equal(owner[k].theta, owner[0].theta, sizeof owner[0].theta);
        assert_memory_equal(owner[k].memory, owner[0].memory, sizeof owner[0].memory);
    }
    *like = owner[0];
}

walker walker_of(size_t model, dp_optimizer optimizer, double step, uint64_t steps)
{
    return (walker){.model = model,
                    .end = N,
                    .times = 1,
                    .until = steps,
                    .opts = {.mode = DP_NO_PRIVACY,
                             .sampling = DP_SAMPLING_FULL,
                             .optimizer = optimizer,
                             .step_size = step,
                             .steps = steps}};
}

dp_owners one_of_two(uint64_t local_steps, opener *open, void *context)
{
    return (dp_owners){.size = 2,
                       .honest = 1,
                       .seed = 3,
                       .most_records = N,
                       .local_steps = local_steps,
                       .context = context,
                       .open = open};
}
