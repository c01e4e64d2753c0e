/* Going through a plan's steps. */
#include "share/run.h"

#include <string.h>

#include "base/compiler.h"
#include "base/error.h"
#include "share/plan.h"

struct dpi_share_room {
    dpi_share values;   /* [values][batch] */
    dpi_share gathered; /* what a pool or a label compares */
    dpi_blocks blocks;
};

/* ---- rooms ---- */

dp_status dpi_share_room_new(const dpi_party *p, const dpi_share_plan *plan, dpi_share_room **room,
                             dp_error *err)
{
    *room = NULL;
    size_t numbers;
    dpi_share_room *made = dpi_alloc(1, sizeof *made);
    if (made == NULL || !dpi_mul(plan->values, plan->opts.batch, &numbers)) {
        dpi_free(made);
        return dpi_fail_nomem(err);
    }
    dp_status status = dpi_share_new(p, plan->ring, numbers, &made->values, err);
    if (status == DP_OK)
        status = dpi_share_new(p, plan->ring, plan->gathered, &made->gathered, err);
    if (status == DP_OK)
        status =
            dpi_blocks_new(p, plan->ring, (size_t)plan->n_planes, plan->block, &made->blocks, err);
    if (status != DP_OK) {
        dpi_share_room_free(made);
        return status;
    }
    *room = made;
    return DP_OK;
}

void dpi_share_room_free(dpi_share_room *room)
{
    if (room == NULL)
        return;
    dpi_share_free(&room->values);
    dpi_share_free(&room->gathered);
    dpi_blocks_free(&room->blocks);
    dpi_free(room);
}

size_t dpi_share_room_bytes(const dpi_share_plan *plan, size_t parts)
{
    size_t numbers = plan->values * plan->opts.batch + plan->gathered + 2 * plan->block;
    size_t words = dpi_share_words(plan->block);
    size_t planes = DPI_CARRIES_ARRAYS * (size_t)plan->n_planes + 2;
    return parts * (numbers * dpi_ring_bytes(plan->ring) + words * planes * sizeof(uint64_t));
}

/* ---- the model ---- */

static bool weighs(const dp_stage *s)
{
    return s->kind == DP_STAGE_DENSE || s->kind == DP_STAGE_CONVOLUTION;
}

size_t dpi_share_model_size(const dp_program *p)
{
    size_t n = 0;
    for (size_t k = 1; k < dp_program_stages(p); k++) {
        const dp_stage *s = dp_program_stage(p, k);
        n += weighs(s) ? s->n_weights + s->n_bias : 0;
    }
    return n;
}

void dpi_share_model_numbers(const dp_program *p, int64_t *x)
{
    for (size_t k = 1; k < dp_program_stages(p); k++) {
        const dp_stage *s = dp_program_stage(p, k);
        for (size_t i = 0; weighs(s) && i < s->n_weights; i++)
            *x++ = s->weights[i];
        for (size_t i = 0; weighs(s) && i < s->n_bias; i++)
            *x++ = s->bias[i];
    }
}

/* ---- one step ---- */

/* A run of n records. */
typedef struct run {
    dpi_party *p;
    const dpi_share_plan *plan;
    dpi_share_room *room;
    const dpi_share *model, *x;
    dpi_share *y;
    size_t n;
} run;

static dpi_share value_of(const run *r, size_t v)
{
    size_t numbers = r->n * r->plan->value[v].size;
    if (v == 0 || v == r->plan->answer)
        return dpi_share_from(r->plan->ring, v == 0 ? r->x : r->y, 0, numbers);
    return dpi_share_from(r->plan->ring, &r->room->values,
                          r->plan->value[v].at * r->plan->opts.batch, numbers);
}

static void run_linear(const run *r, const dpi_plan_step *step)
{
    const dp_stage *s = step->stage;
    bool dense = s->kind == DP_STAGE_DENSE;
    const dpi_linear l = {.records = r->n,
                          .outputs = s->n_bias,
                          .terms = s->n_weights / s->n_bias,
                          .inputs = r->plan->value[step->in[0]].size,
                          .stops = dense ? 1 : s->shape[0] * s->shape[1],
                          .window = dense ? NULL : &s->window};
    dpi_share x = value_of(r, step->in[0]), z = value_of(r, step->out);
    dpi_share w = dpi_share_from(r->plan->ring, r->model, step->weights, s->n_weights);
    dpi_share bias =
        dpi_share_from(r->plan->ring, r->model, step->weights + s->n_weights, s->n_bias);
    r->p->row->linear(r->p, r->plan->ring, &l, &x, &w, &bias, step->shift, &z);
}

static void run_add(const run *r, const dpi_plan_step *step)
{
    int k = step->lift[1] > 0;
    dpi_share a = value_of(r, step->in[k]), b = value_of(r, step->in[!k]);
    dpi_share z = value_of(r, step->out);
    dpi_share_scale(r->p, r->plan->ring, UINT64_C(1) << step->lift[k], &a, &z);
    dpi_share_add(r->p, r->plan->ring, &z, &b, &z);
}

static void run_relu(const run *r, const dpi_plan_step *step)
{
    dpi_share x = value_of(r, step->in[0]), z = value_of(r, step->out);
    dpi_relu_run(r->p, r->plan->ring, &step->relu, &r->room->blocks, &x, &z);
}

static void run_table(const run *r, const dpi_plan_step *step)
{
    dpi_share x = value_of(r, step->in[0]), z = value_of(r, step->out);
    dpi_table_run(r->p, r->plan->ring, &step->table, &r->room->blocks, &x, &z);
}

/* 1 where a number is above 0: where what it is less than is below. */
static void run_above(const run *r, const dpi_plan_step *step)
{
    dpi_ring ring = r->plan->ring;
    dpi_share x = value_of(r, step->in[0]), z = value_of(r, step->out);
    size_t block = r->room->blocks.block;
    for (size_t first = 0; first < r->n; first += block) {
        size_t n = r->n - first < block ? r->n - first : block;
        dpi_share from = dpi_share_from(ring, &x, first, n);
        dpi_share to = dpi_share_from(ring, &z, first, n);
        dpi_share_scale(r->p, ring, UINT64_MAX, &from, &to);
        dpi_compare_run(r->p, ring, &step->tree, &to, &r->room->blocks.planes);
        dpi_share bit = dpi_carries_sign(&step->tree, &r->room->blocks.planes, dpi_share_words(n));
        r->p->row->from_bits(r->p, ring, 1, &bit, &(uint64_t){1}, &to);
    }
}

/* ---- windows ---- */

DPI_LOOPS static void add_row_64(size_t n, const uint64_t *x, uint64_t *z)
{
    DPI_APART
    for (size_t i = 0; i < n; i++)
        z[i] += x[i];
}

DPI_LOOPS static void add_row_32(size_t n, const uint32_t *x, uint32_t *z)
{
    DPI_APART
    for (size_t i = 0; i < n; i++)
        z[i] += x[i];
}

/* Sums of what the windows of one record see, of one part. */
static void sum_windows(dpi_ring ring, const dp_stage *s, const unsigned char *x, unsigned char *z)
{
    size_t channels = s->shape[2], bytes = channels * dpi_ring_bytes(ring);
    size_t places = s->window.size[0] * s->window.size[1];
    for (size_t stop = 0; stop < s->shape[0] * s->shape[1]; stop++, z += bytes) {
        memset(z, 0, bytes);
        for (size_t k = 0; k < places; k++) {
            size_t pixel = dp_window_pixel(&s->window, stop, k);
            if (pixel == SIZE_MAX)
                continue;
            if (ring == DPI_RING_32)
                add_row_32(channels, (const void *)(x + pixel * bytes), (void *)z);
            else
                add_row_64(channels, (const void *)(x + pixel * bytes), (void *)z);
        }
    }
}

static void run_mean(const run *r, const dpi_plan_step *step)
{
    dpi_ring ring = r->plan->ring;
    dpi_share x = value_of(r, step->in[0]), z = value_of(r, step->out);
    size_t parts = dpi_party_works(r->p) ? r->p->row->parts[r->p->role] : 0;
    size_t from = r->plan->value[step->in[0]].size * dpi_ring_bytes(ring);
    size_t to = r->plan->value[step->out].size * dpi_ring_bytes(ring);
    for (size_t k = 0; k < parts; k++)
        for (size_t record = 0; record < r->n; record++)
            sum_windows(ring, step->stage, (const unsigned char *)x.part[k] + record * from,
                        (unsigned char *)z.part[k] + record * to);
    if (step->weight != 1)
        dpi_share_scale(r->p, ring, step->weight, &z, &z);
}

/* The pixel that a window's place sees or, in the padding, the first that the window sees at all:
 * once more among those compared, it changes nothing. */
static size_t seen_pixel(const dp_window *w, size_t stop, size_t place)
{
    size_t pixel = dp_window_pixel(w, stop, place);
    for (size_t k = 0; pixel == SIZE_MAX; k++)
        pixel = dp_window_pixel(w, stop, k);
    return pixel;
}

/* gathered[place][row][channels] of rows first ... first + n - 1, rows being the stops of record
 * after record. */
static void gather_rows(const run *r, const dpi_plan_step *step, const dpi_share *x, size_t first,
                        size_t n)
{
    const dp_stage *s = step->stage;
    size_t bytes = s->shape[2] * dpi_ring_bytes(r->plan->ring);
    size_t stops = s->shape[0] * s->shape[1], places = s->window.size[0] * s->window.size[1];
    size_t record = r->plan->value[step->in[0]].size * dpi_ring_bytes(r->plan->ring);
    size_t parts = dpi_party_works(r->p) ? r->p->row->parts[r->p->role] : 0;
    for (size_t k = 0; k < parts; k++) {
        const unsigned char *from = x->part[k];
        unsigned char *to = r->room->gathered.part[k];
        for (size_t row = first; row < first + n; row++, to += bytes)
            for (size_t place = 0; place < places; place++) {
                size_t pixel = seen_pixel(&s->window, row % stops, place);
                memcpy(to + place * n * bytes, from + row / stops * record + pixel * bytes, bytes);
            }
    }
}

static void run_max(const run *r, const dpi_plan_step *step)
{
    const dp_stage *s = step->stage;
    dpi_ring ring = r->plan->ring;
    dpi_share x = value_of(r, step->in[0]), z = value_of(r, step->out);
    size_t channels = s->shape[2], rows = r->n * s->shape[0] * s->shape[1];
    size_t places = s->window.size[0] * s->window.size[1];
    size_t most = r->room->gathered.n / (places * channels);
    for (size_t first = 0; first < rows; first += most) {
        size_t n = rows - first < most ? rows - first : most, numbers = n * channels;
        gather_rows(r, step, &x, first, n);
        dpi_share all = dpi_share_from(ring, &r->room->gathered, 0, places * numbers);
        dpi_max_of(r->p, ring, &step->tree, &r->room->blocks, places, numbers, &all);
        for (size_t k = 0; dpi_party_works(r->p) && k < r->p->row->parts[r->p->role]; k++)
            memcpy((unsigned char *)z.part[k] + first * channels * dpi_ring_bytes(ring),
                   all.part[k], numbers * dpi_ring_bytes(ring));
    }
}

/* ---- labels ---- */

/* to[number][record] of from[record][number]. */
static void turn(const run *r, size_t numbers, const dpi_share *from, const dpi_share *to)
{
    size_t parts = dpi_party_works(r->p) ? r->p->row->parts[r->p->role] : 0;
    for (size_t k = 0; k < parts; k++)
        for (size_t i = 0; i < numbers; i++)
            for (size_t record = 0; record < r->n; record++) {
                if (r->plan->ring == DPI_RING_32)
                    ((uint32_t *)to->part[k])[i * r->n + record] =
                        ((const uint32_t *)from->part[k])[record * numbers + i];
                else
                    ((uint64_t *)to->part[k])[i * r->n + record] =
                        ((const uint64_t *)from->part[k])[record * numbers + i];
            }
}

/* Public numbers, of which every party has its part. */
static void write_places(const run *r, size_t numbers, dpi_share *place)
{
    size_t bytes = place->n * dpi_ring_bytes(r->plan->ring);
    size_t parts = dpi_party_works(r->p) ? r->p->row->parts[r->p->role] : 0;
    for (size_t k = 0; k < parts; k++)
        memset(place->part[k], 0, bytes);
    for (size_t i = 0; i < numbers; i++) {
        dpi_share row = dpi_share_from(r->plan->ring, place, i * r->n, r->n);
        r->p->row->add_public(r->p, r->plan->ring, NULL, i, &row);
    }
}

static void run_argmax(const run *r, const dpi_plan_step *step)
{
    dpi_ring ring = r->plan->ring;
    size_t numbers = r->plan->value[step->in[0]].size, all = numbers * r->n;
    dpi_share x = value_of(r, step->in[0]), z = value_of(r, step->out);
    dpi_share turned = dpi_share_from(ring, &r->room->gathered, 0, all);
    dpi_share place = dpi_share_from(ring, &r->room->gathered, all, all);
    turn(r, numbers, &x, &turned);
    write_places(r, numbers, &place);
    dpi_argmax_of(r->p, ring, &step->tree, &r->room->blocks, numbers, r->n, &turned, &place);
    size_t parts = dpi_party_works(r->p) ? r->p->row->parts[r->p->role] : 0;
    for (size_t k = 0; k < parts; k++)
        memcpy(z.part[k], place.part[k], r->n * dpi_ring_bytes(ring));
}

/* ---- all steps ---- */

static void (*const runs[])(const run *r, const dpi_plan_step *step) = {
    [DPI_STEP_LINEAR] = run_linear, [DPI_STEP_MEAN] = run_mean,   [DPI_STEP_RELU] = run_relu,
    [DPI_STEP_MAX] = run_max,       [DPI_STEP_ADD] = run_add,     [DPI_STEP_ARGMAX] = run_argmax,
    [DPI_STEP_ABOVE] = run_above,   [DPI_STEP_TABLE] = run_table,
};

void dpi_share_run(dpi_party *p, const dpi_share_plan *plan, dpi_share_room *room,
                   const dpi_share *model, uint32_t layer, size_t n, const dpi_share *x,
                   dpi_share *y)
{
    const run r = {.p = p, .plan = plan, .room = room, .model = model, .x = x, .y = y, .n = n};
    for (size_t k = 0; k < plan->n_steps; k++) {
        if (p->mesh != NULL && dpi_mesh_status(p->mesh) != DP_OK)
            return;
        if (p->mesh != NULL)
            dpi_mesh_layer(p->mesh, layer + (uint32_t)k);
        runs[plan->step[k].kind](&r, &plan->step[k]);
    }
}
