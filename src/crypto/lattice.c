/* Linear layers on encrypted vectors: what lies at which coefficient (lattice-plan.c has the
 * formulas), and the client. */
#include "crypto/lattice.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "crypto/bfv-parts.h"

/* ---- what lies where ---- */

static size_t upper(size_t from, size_t step, size_t end)
{
    return end - from < step ? end : from + step;
}

void dpi_lattice_message(const dpi_lattice_plan *p, size_t query, const int64_t *x,
                         uint64_t *message)
{
    const dpi_lattice_shape *s = &p->shape;
    const uint64_t mask = ((uint64_t)1 << p->f->spec.plain_bits) - 1;
    const size_t from = query % p->groups * p->group_channels;
    const size_t top = query / p->groups * p->tile_rows * s->stride; /* in padded rows */
    memset(message, 0, p->f->n * sizeof *message);
    for (size_t c = from; c < upper(from, p->group_channels, s->channels); c++)
        for (size_t i = 0; i < p->area / p->width; i++) {
            if (top + i < s->padding || top + i - s->padding >= s->height)
                continue;
            const int64_t *row = x + (c * s->height + top + i - s->padding) * s->width;
            uint64_t *at = message + (c - from) * p->area + i * p->width + s->padding;
            for (size_t j = 0; j < s->width; j++)
                at[j] = (uint64_t)row[j] & mask;
        }
}

/* o_m of the m-th filter of a pack. */
static size_t origin(const dpi_lattice_plan *p, size_t m)
{
    return ((m + 1) * p->group_channels - 1) * p->area + (p->shape.kernel_height - 1) * p->width +
           p->shape.kernel_width - 1;
}

void dpi_lattice_factor(const dpi_lattice_plan *p, const int32_t *w, size_t pack, size_t group,
                        int64_t *factor)
{
    const dpi_lattice_shape *s = &p->shape;
    const size_t filter = pack * p->pack_filters, channel = group * p->group_channels;
    memset(factor, 0, p->f->n * sizeof *factor);
    for (size_t m = filter; m < upper(filter, p->pack_filters, s->filters); m++)
        for (size_t c = channel; c < upper(channel, p->group_channels, s->channels); c++) {
            const int32_t *kernel = w + (m * s->channels + c) * s->kernel_height * s->kernel_width;
            const size_t at = origin(p, m - filter) - (c - channel) * p->area;
            for (size_t i = 0; i < s->kernel_height; i++)
                for (size_t j = 0; j < s->kernel_width; j++)
                    factor[at - i * p->width - j] = kernel[i * s->kernel_width + j];
        }
}

size_t dpi_lattice_places(const dpi_lattice_plan *p, size_t answer, size_t *places, size_t *results)
{
    const dpi_lattice_shape *s = &p->shape;
    const size_t filter = answer % p->packs * p->pack_filters;
    const size_t row = answer / p->packs * p->tile_rows;
    size_t count = 0;
    for (size_t m = filter; m < upper(filter, p->pack_filters, s->filters); m++)
        for (size_t i = row; i < upper(row, p->tile_rows, p->out_height); i++)
            for (size_t j = 0; j < p->out_width; j++, count++) {
                if (places == NULL)
                    continue;
                places[count] =
                    origin(p, m - filter) + (i - row) * s->stride * p->width + j * s->stride;
                results[count] = (m * p->out_height + i) * p->out_width + j;
            }
    return count;
}

size_t dpi_lattice_results(const dpi_lattice_plan *p, size_t answer)
{
    const size_t filter = answer % p->packs * p->pack_filters;
    const size_t row = answer / p->packs * p->tile_rows;
    return (upper(filter, p->pack_filters, p->shape.filters) - filter) *
           (upper(row, p->tile_rows, p->out_height) - row) * p->out_width;
}

size_t dpi_lattice_answer_at(const dpi_lattice_plan *p, size_t answer)
{
    size_t at = 0;
    for (size_t a = 0; a < answer; a++)
        at += dpi_bfv_answer_size(p->f, dpi_lattice_results(p, a));
    return at;
}

size_t dpi_lattice_output_at(const dpi_lattice_plan *p, size_t m)
{
    return origin(p, m);
}

size_t dpi_lattice_input_at(const dpi_lattice_plan *p, size_t input)
{
    /* Less than the origin, which is added: the difference may wrap around. */
    return input / p->group_channels * p->f->n - input % p->group_channels;
}

/* ---- the client ---- */

dp_status dpi_lattice_query_some(const dpi_lattice_plan *plan, const dpi_bfv_secret *secret,
                                 const int64_t *x, size_t first, size_t last,
                                 dpi_rlwe_stream *random, unsigned char *to, dp_error *err)
{
    const dpi_bfv *f = plan->f;
    const size_t size = dpi_bfv_cipher_size(f);
    dpi_bfv_cipher *c = NULL;
    uint64_t *message = dpi_alloc(f->n, sizeof *message);
    dp_status status = message != NULL ? dpi_bfv_cipher_new(f, &c, err) : dpi_fail_nomem(err);
    for (size_t i = first; i < last && status == DP_OK; i++) {
        dpi_lattice_message(plan, i, x, message);
        status = dpi_bfv_encrypt(f, secret, message, random, c, err);
        if (status == DP_OK)
            dpi_bfv_cipher_write(f, c, to + i * size);
    }
    if (status != DP_OK)
        memset(to + first * size, 0, (last - first) * size);
    dpi_bfv_cipher_free(c);
    dpi_wipe_free(message, f->n * sizeof *message);
    return status;
}

dp_status dpi_lattice_query(const dpi_lattice_plan *plan, const dpi_bfv_secret *secret,
                            const int64_t *x, dpi_rlwe_stream *random, unsigned char *to,
                            dp_error *err)
{
    dp_status status = dpi_lattice_query_some(plan, secret, x, 0, plan->queries, random, to, err);
    if (status != DP_OK)
        memset(to, 0, plan->query_bytes);
    return status;
}

/* Room for one answer: its places, which results they are, and their values. */
typedef struct answer_room {
    size_t *places, *results;
    uint64_t *values;
} answer_room;

static dp_status room_new(const dpi_lattice_plan *plan, answer_room *room, dp_error *err)
{
    const size_t n = plan->f->n;
    *room = (answer_room){dpi_alloc(n, sizeof(size_t)), dpi_alloc(n, sizeof(size_t)),
                          dpi_alloc(n, sizeof(uint64_t))};
    return room->places != NULL && room->results != NULL && room->values != NULL
               ? DP_OK
               : dpi_fail_nomem(err);
}

static void room_free(const dpi_lattice_plan *plan, answer_room *room)
{
    dpi_free(room->places);
    dpi_free(room->results);
    dpi_wipe_free(room->values, plan->f->n * sizeof *room->values);
}

/* Opens answer number i, at `from`, and moves on. */
static dp_status open_one(const dpi_lattice_plan *plan, const dpi_bfv_secret *secret, size_t i,
                          answer_room *room, const unsigned char **from, int64_t *y, dp_error *err)
{
    const dpi_bfv *f = plan->f;
    const size_t count = dpi_lattice_places(plan, i, room->places, room->results);
    dpi_bfv_answer *a;
    dp_status status = dpi_bfv_answer_new(f, count, &a, err);
    if (status != DP_OK)
        return status;
    status = dpi_bfv_answer_read(f, dpi_bfv_answer_size(f, count), *from, a, err);
    if (status == DP_OK)
        status = dpi_bfv_answer_open(f, secret, room->places, a, room->values, err);
    const uint64_t half = (uint64_t)1 << (f->spec.plain_bits - 1);
    for (size_t k = 0; k < count && status == DP_OK; k++)
        y[room->results[k]] = (int64_t)((room->values[k] ^ half) - half);
    *from += dpi_bfv_answer_size(f, count);
    dpi_bfv_answer_free(a);
    return status;
}

dp_status dpi_lattice_open_some(const dpi_lattice_plan *plan, const dpi_bfv_secret *secret,
                                size_t first, size_t last, const unsigned char *from, int64_t *y,
                                dp_error *err)
{
    answer_room room = {0};
    const unsigned char *at = from + dpi_lattice_answer_at(plan, first);
    dp_status status = room_new(plan, &room, err);
    for (size_t i = first; i < last && status == DP_OK; i++)
        status = open_one(plan, secret, i, &room, &at, y, err);
    room_free(plan, &room);
    return status;
}

dp_status dpi_lattice_open(const dpi_lattice_plan *plan, const dpi_bfv_secret *secret,
                           size_t n_bytes, const unsigned char *from, int64_t *y, dp_error *err)
{
    dp_status status = DP_OK;
    if (n_bytes != plan->answer_bytes)
        status = dpi_fail(err, DP_EPEER, "answers of %zu bytes came, of %zu were expected", n_bytes,
                          plan->answer_bytes);
    if (status == DP_OK)
        status = dpi_lattice_open_some(plan, secret, 0, plan->answers, from, y, err);
    if (status != DP_OK)
        memset(y, 0, plan->outputs * sizeof *y);
    return status;
}
