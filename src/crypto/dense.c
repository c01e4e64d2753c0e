/* Eight outputs of a linear layer at a time, one in each lane.
 *
 * Lanes go through the terms of their outputs on their own: what they have in common is only that
 * they multiply at the same moment.  A lane that has nothing to do multiplies into a bucket that
 * nobody reads. */
#include "crypto/dense.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "crypto/dense-plan.h"

typedef struct work {
    const dpi_dense *d;
    const dpi_dense_inputs *in;
    const dpi_montgomery *m;
    size_t window, from, lanes;      /* outputs from ... from + lanes - 1 */
    size_t next[DPI_LANES];          /* term of each lane */
    uint64_t *total, *sum, *running; /* eights */
    uint64_t *a, *b;
    uint64_t *buckets; /* [lanes][1 + largest][words]; one is a lane's total with tables */
} work;

static size_t buckets_of(const dpi_dense *d)
{
    return d->method == DPI_DENSE_BUCKETS ? d->largest + 1 : 2;
}

/* The number of terms of an output, and term t of it: input and digits. */
static size_t count_terms(const dpi_dense *d, size_t o)
{
    return d->begin == NULL ? d->inputs : d->begin[o + 1] - d->begin[o];
}

static int digit_of(const work *w, size_t o, size_t t, size_t *input)
{
    const dpi_dense *d = w->d;
    size_t term = d->begin == NULL ? o * d->inputs + t : d->begin[o] + t;
    size_t weight = d->begin == NULL ? term : d->weight[term];
    *input = d->begin == NULL ? t : d->input[term];
    return d->digits[weight * d->windows + w->window];
}

/* The bucket, and its factor, of a lane's next product; false at the end of its terms. */
static bool find_product(work *w, size_t lane, uint64_t **bucket, const uint64_t **factor)
{
    const dpi_dense *d = w->d;
    size_t o = w->from + lane, input;
    if (w->next[lane] == count_terms(d, o))
        return false;
    int digit = digit_of(w, o, w->next[lane]++, &input);
    size_t size = (size_t)(digit < 0 ? -digit : digit);
    bool tables = d->method == DPI_DENSE_TABLES;
    size_t at = lane * buckets_of(d) + (tables ? size != 0 : size);
    *bucket = w->buckets + at * w->m->words;
    *factor =
        size == 0 ? w->in->one : dpi_dense_entry(d, w->in, input, digit < 0, tables ? size : 1);
    return true;
}

/* All buckets of one window. */
static void fill_buckets(work *w)
{
    const dpi_montgomery *m = w->m;
    size_t each = buckets_of(w->d);
    memset(w->next, 0, sizeof w->next);
    for (;;) {
        uint64_t *bucket[DPI_LANES];
        const uint64_t *factor[DPI_LANES], *from[DPI_LANES];
        size_t active = 0;
        for (size_t lane = 0; lane < w->lanes; lane++)
            if (find_product(w, lane, &bucket[active], &factor[active]))
                active++;
        if (active == 0)
            break;
        for (size_t i = active; i < DPI_LANES; i++) { /* the last, which nobody reads */
            bucket[i] = w->buckets + DPI_LANES * each * m->words;
            factor[i] = w->in->one;
        }
        for (size_t i = 0; i < DPI_LANES; i++)
            from[i] = bucket[i];
        m->backend->pack(m, from, w->a);
        m->backend->pack(m, factor, w->b);
        m->backend->multiply(m, active, w->a, w->b, w->a);
        m->backend->unpack(m, w->a, bucket);
    }
}

/* eight = bucket number b of each lane. */
static void read_buckets(work *w, size_t b, uint64_t *eight)
{
    const uint64_t *from[DPI_LANES];
    for (size_t lane = 0; lane < DPI_LANES; lane++)
        from[lane] = w->buckets + (lane * buckets_of(w->d) + b) * w->m->words;
    w->m->backend->pack(w->m, from, eight);
}

/* sum = prod_b bucket_b^b, from the top: each running product of buckets comes in once. */
static void join_buckets(work *w)
{
    const dpi_montgomery *m = w->m;
    size_t bytes = dpi_montgomery_eight(m) * sizeof *w->sum;
    read_buckets(w, buckets_of(w->d) - 1, w->running);
    memcpy(w->sum, w->running, bytes);
    for (size_t b = buckets_of(w->d) - 1; b-- > 1;) {
        read_buckets(w, b, w->a);
        m->backend->multiply(m, w->lanes, w->running, w->a, w->running);
        m->backend->multiply(m, w->lanes, w->sum, w->running, w->sum);
    }
}

/* total = products of powers of the inputs. */
static void multiply_terms(work *w)
{
    const dpi_dense *d = w->d;
    const dpi_montgomery *m = w->m;
    size_t each = buckets_of(d);
    memcpy(w->total, m->one, dpi_montgomery_eight(m) * sizeof *w->total);
    for (w->window = d->windows; w->window-- > 0;) {
        for (unsigned i = 0; i < d->window && w->window + 1 < d->windows; i++)
            m->backend->multiply(m, w->lanes, w->total, w->total, w->total);
        for (size_t i = 0; i < DPI_LANES * each + 1; i++)
            memcpy(w->buckets + i * m->words, w->in->one, m->words * sizeof *w->buckets);
        fill_buckets(w);
        join_buckets(w);
        m->backend->multiply(m, w->lanes, w->total, w->sum, w->total);
    }
}

/* out[lanes] = total times encryptions of the biases and, where they are given, of zero. */
static dp_status finish(work *w, dpi_zeros *zeros, mp_limb_t *out, dp_error *err)
{
    const dpi_montgomery *m = w->m;
    const mp_limb_t *numbers[DPI_LANES];
    mp_limb_t *results[DPI_LANES];
    for (size_t lane = 0; lane < w->lanes; lane++)
        numbers[lane] = results[lane] = out + lane * m->limbs;
    dp_status status = zeros != NULL ? dpi_zeros_take(zeros, w->lanes, out, err) : DP_OK;
    if (status != DP_OK)
        return status;
    if (zeros != NULL) {
        dpi_montgomery_enter(m, w->lanes, numbers, w->a);
        m->backend->multiply(m, w->lanes, w->total, w->a, w->total);
    }
    if (w->d->bias != NULL) {
        dpi_paillier_encode_public(w->in->key, &w->d->slots, w->lanes, w->d->bias + w->from, out);
        dpi_montgomery_enter(m, w->lanes, numbers, w->a);
        m->backend->multiply(m, w->lanes, w->total, w->a, w->total);
    }
    dpi_montgomery_leave(m, w->lanes, w->total, results);
    return DP_OK;
}

dp_status dpi_dense_outputs(const dpi_dense *dense, const dpi_dense_inputs *inputs,
                            dpi_zeros *zeros, size_t from, size_t to, mp_limb_t *out, dp_error *err)
{
    const dpi_montgomery *m = inputs->m;
    size_t eight = dpi_montgomery_eight(m), each = buckets_of(dense);
    if (from > to || to > dense->outputs)
        dpi_misuse("dpi_dense_outputs", "outputs that the layer does not have");
    uint64_t *space = dpi_montgomery_alloc(m, 5 + each + 1);
    work w = {.d = dense, .in = inputs, .m = m};
    dp_status status = space == NULL ? dpi_fail_nomem(err) : DP_OK;
    if (status == DP_OK) {
        w.total = space;
        w.sum = space + eight;
        w.running = space + 2 * eight;
        w.a = space + 3 * eight;
        w.b = space + 4 * eight;
        w.buckets = space + 5 * eight;
    }
    for (size_t o = from; o < to && status == DP_OK; o += DPI_LANES) {
        w.from = o;
        w.lanes = to - o < DPI_LANES ? to - o : DPI_LANES;
        multiply_terms(&w);
        status = finish(&w, zeros, out + (o - from) * m->limbs, err);
    }
    dpi_montgomery_release(m, space);
    return status;
}
