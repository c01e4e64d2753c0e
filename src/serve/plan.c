#include "serve/plan.h"

#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { MOST_LOOKS = 1 << 28 };

static bool is_linear(dp_stage_kind kind)
{
    return kind == DP_STAGE_DENSE || kind == DP_STAGE_CONVOLUTION || kind == DP_STAGE_AVERAGE_POOL;
}

static bool is_elementwise(dp_stage_kind kind)
{
    return kind == DP_STAGE_RELU || kind == DP_STAGE_SIGMOID || kind == DP_STAGE_TANH ||
           kind == DP_STAGE_SQUARE;
}

static dp_status refuse(const dp_program *p, size_t k, const char *why, dp_error *err)
{
    return dpi_fail(err, DP_EUNSUPPORTED, "stage %zu (%s) cannot be served by two parties: %s", k,
                    dp_stage_name(dp_program_stage(p, k)->kind), why);
}

/* ---- cutting ---- */

/* A max pool behind a hidden layer: its windows do not overlap and have no padding. */
static dp_status take_pool(const dp_program *p, size_t k, dpi_serve_layer *layer, dp_error *err)
{
    const dp_stage *s = dp_program_stage(p, k);
    const dp_window *w = &s->window;
    for (int axis = 0; axis < 2; axis++)
        if (w->padding[axis] != 0 || w->stride[axis] < w->size[axis])
            return refuse(p, k,
                          "windows of a maximum on hidden numbers must not overlap nor have "
                          "padding, else their places would show",
                          err);
    if (layer->pool > 0)
        return refuse(p, k, "a second maximum over windows without a linear stage between", err);
    layer->group = w->size[0] * w->size[1];
    layer->pool = k;
    layer->sent = s->size * layer->group;
    layer->left = s->size;
    return DP_OK;
}

/* A max pool that does nothing: it looks at every pixel alone. */
static bool keeps_all(const dp_stage *pool)
{
    const dp_window *w = &pool->window;
    return w->size[0] * w->size[1] == 1 && w->stride[0] * w->stride[1] == 1;
}

/* The client's stages after a layer. */
static dp_status take_client_stages(dpi_serve_plan *plan, dpi_serve_layer *layer, dp_error *err)
{
    const dp_program *p = plan->p;
    dp_status status = DP_OK;
    layer->first = layer->last = layer->stage + 1;
    while (layer->last < dp_program_stages(p) && !is_linear(dp_program_stage(p, layer->last)->kind))
        layer->last++;
    layer->hidden = layer->last < dp_program_stages(p);
    for (size_t k = layer->first; status == DP_OK && layer->hidden && k < layer->last; k++) {
        dp_stage_kind kind = dp_program_stage(p, k)->kind;
        if (kind == DP_STAGE_MAX_POOL && !keeps_all(dp_program_stage(p, k)))
            status = take_pool(p, k, layer, err);
        else if (!is_elementwise(kind) && kind != DP_STAGE_MAX_POOL)
            status = refuse(p, k,
                            "on hidden numbers there are relu, sigmoid, tanh, squares and "
                            "maxima of windows",
                            err);
    }
    return status;
}

static dp_status add_layer(dpi_serve_plan *plan, size_t k, dp_error *err)
{
    const dp_stage *s = dp_program_stage(plan->p, k);
    if (plan->n_layers == DPI_SERVE_LAYERS)
        return refuse(plan->p, k, "there are more than 64 linear stages", err);
    dpi_serve_layer *layer = &plan->layer[plan->n_layers++];
    *layer = (dpi_serve_layer){.stage = k,
                               .inputs = dp_program_stage(plan->p, (size_t)s->in[0])->size,
                               .sent = s->size,
                               .left = s->size,
                               .group = 1,
                               .bits = s->bits};
    dp_status status = take_client_stages(plan, layer, err);
    if (status == DP_OK && layer->hidden && layer->last == layer->first)
        return refuse(plan->p, layer->last,
                      "two linear stages follow one another; make them one before the program is "
                      "fixed",
                      err);
    return status;
}

static dp_status check_chain(const dp_program *p, dp_error *err)
{
    for (size_t k = 1; k < dp_program_stages(p); k++) {
        const dp_stage *s = dp_program_stage(p, k);
        if (s->in[1] != -1 || s->in[0] != (int)k - 1)
            return refuse(p, k, "it reads another stage than the one before it", err);
    }
    return DP_OK;
}

/* The client computes what the sheet says, whoever wrote that: its stages look at so many
 * numbers. */
static dp_status check_work(const dpi_serve_plan *plan, dp_error *err)
{
    size_t looks = 0;
    for (size_t k = 1; k < dp_program_stages(plan->p); k++) {
        const dp_stage *s = dp_program_stage(plan->p, k);
        size_t window = s->window.size[0] * s->window.size[1];
        if (!is_linear(s->kind)) /* each at most 2^28 */
            looks += s->size * (window > 0 ? window : 1);
    }
    return looks <= MOST_LOOKS
               ? DP_OK
               : dpi_fail(err, DP_EUNSUPPORTED,
                          "whoever asks would compute stages that look at %zu numbers, more than "
                          "2^28",
                          looks);
}

dp_status dpi_serve_plan_make(const dp_program *p, dpi_mode mode, dpi_serve_plan *plan,
                              dp_error *err)
{
    *plan = (dpi_serve_plan){.p = p, .before = 1};
    dp_status status = check_chain(p, err);
    while (plan->before < dp_program_stages(p) &&
           !is_linear(dp_program_stage(p, plan->before)->kind))
        plan->before++;
    for (size_t k = 0; k < dp_program_stages(p); k++)
        plan->most =
            dp_program_stage(p, k)->size > plan->most ? dp_program_stage(p, k)->size : plan->most;
    for (size_t k = plan->before; status == DP_OK && k < dp_program_stages(p); k++)
        if (is_linear(dp_program_stage(p, k)->kind))
            status = add_layer(plan, k, err);
    if (status == DP_OK)
        status = check_work(plan, err);
    if (status == DP_OK && plan->n_layers == 0)
        return dpi_fail(err, DP_EUNSUPPORTED, "the program has no linear stage to be served");
    if (status == DP_OK && mode == DPI_MODE_LINEAR && plan->n_layers > 1)
        return dpi_fail(err, DP_EPRIVACY,
                        "mode linear is for one linear stage, and this program has %zu: what is "
                        "between them would be seen by whoever asks; mode permute shows it in "
                        "random order, and needs consent",
                        plan->n_layers);
    return status;
}

dp_status dpi_serve_plan_whole(const dp_program *p, dpi_mode mode, dpi_serve_plan *plan,
                               dp_error *err)
{
    size_t n = dp_program_stages(p), first = 1;
    *plan = (dpi_serve_plan){.p = p, .before = 1, .n_layers = 1};
    dp_status status = check_chain(p, err);
    if (status == DP_OK && mode != DPI_MODE_LINEAR)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "what is computed under encryption to its end is served in mode linear: "
                        "whoever asks sees the answer alone");
    for (size_t k = 0; status == DP_OK && k < n; k++)
        plan->most =
            dp_program_stage(p, k)->size > plan->most ? dp_program_stage(p, k)->size : plan->most;
    n -= dp_program_stage(p, n - 1)->kind == DP_STAGE_ARGMAX;
    while (status == DP_OK && first < n && !is_linear(dp_program_stage(p, first)->kind))
        first++;
    if (status == DP_OK && first >= n)
        return dpi_fail(err, DP_EUNSUPPORTED, "the program has no linear stage to be served");
    if (status != DP_OK)
        return status;
    const dp_stage *last = dp_program_stage(p, n - 1);
    plan->layer[0] = (dpi_serve_layer){.stage = first,
                                       .first = n,
                                       .last = dp_program_stages(p),
                                       .inputs = dp_program_inputs(p),
                                       .sent = last->size,
                                       .left = last->size,
                                       .group = 1,
                                       .bits = last->bits};
    return DP_OK;
}

/* ---- the client's stages ---- */

void dpi_serve_run(const dp_program *p, size_t first, size_t last, int64_t *values, int64_t *room)
{
    for (size_t k = first; k < last; k++) {
        dp_stage_run_exact(p, k, values, NULL, room);
        memcpy(values, room, dp_program_stage(p, k)->size * sizeof *room);
    }
}

/* The largest of each window's numbers, which stand side by side. */
static void take_largest(const dpi_serve_layer *layer, int64_t *values)
{
    for (size_t i = 0; i < layer->left; i++) {
        int64_t most = values[i * layer->group];
        for (size_t k = 1; k < layer->group; k++)
            most = values[i * layer->group + k] > most ? values[i * layer->group + k] : most;
        values[i] = most;
    }
}

void dpi_serve_run_hidden(const dpi_serve_plan *plan, const dpi_serve_layer *layer, int64_t *values)
{
    size_t n = layer->sent;
    for (size_t k = layer->first; k < layer->last; k++) {
        if (k == layer->pool) {
            take_largest(layer, values);
            n = layer->left;
        } else if (is_elementwise(dp_program_stage(plan->p, k)->kind)) {
            for (size_t i = 0; i < n; i++)
                values[i] = dp_stage_element(plan->p, k, values[i]);
        }
    }
}

/* ---- orders ---- */

void dpi_serve_shuffle(size_t n, uint32_t *order)
{
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (size_t i = n; i > 1; i--) {
        uint32_t k = randombytes_uniform((uint32_t)i), kept = order[i - 1];
        order[i - 1] = order[k];
        order[k] = kept;
    }
}

/* The number of the linear stage's output that place k of window t of channel c is. */
static uint32_t window_output(const dp_stage *pool, size_t number, size_t k)
{
    size_t channels = pool->shape[2], stop = number / channels, c = number % channels;
    return (uint32_t)(dp_window_pixel(&pool->window, stop, k) * channels + c);
}

dp_status dpi_serve_order(const dpi_serve_plan *plan, const dpi_serve_layer *layer, uint32_t *order,
                          uint32_t *back, dp_error *err)
{
    dpi_serve_shuffle(layer->left, back);
    if (layer->pool == 0) {
        memcpy(order, back, layer->left * sizeof *order);
        return DP_OK;
    }
    const dp_stage *pool = dp_program_stage(plan->p, layer->pool);
    uint32_t *within = dpi_alloc(layer->group, sizeof *within);
    if (within == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < layer->left; i++) {
        dpi_serve_shuffle(layer->group, within);
        for (size_t k = 0; k < layer->group; k++)
            order[i * layer->group + k] = window_output(pool, back[i], within[k]);
    }
    dpi_free(within);
    return DP_OK;
}
