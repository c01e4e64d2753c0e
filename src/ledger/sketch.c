/* Sketches: the k smallest of keyed hashes (Broder 1997; Beyer et al. 2007), each with the number
 * of its occurrences.  Which values are kept depends on the key alone, so the first k hashes of the
 * union of two sketches are a sample of the values of both, with all their occurrences.
 *
 * Chance.  Let both data sets be independent records of any two populations.  Were the numbers of
 * records Poisson, occurrences of a value in the two would be independent Poisson numbers with
 * means s and t, and of two occurrences in all the chance that each data set has one is
 * 2 s t / (s + t)^2 <= 1/2, independently for all values.  So of D values that occur twice in all,
 * the number x that both have is at most Binomial(D, 1/2): Pr <= exp(-D KL(x/D, 1/2)) (Chernoff).
 * That both have a value equally often, a times of 2 a, has a chance of at most C(2a, a) / 4^a, and
 * all of a sketch the product.  Given the numbers of records, n and m, either is at most
 * 1 / Pr(n) Pr(m) < 8 sqrt(n m) <= 4 (n + m) times as likely (Stirling).
 *
 * So values that many records have tell nothing when a part of them is shared, and a column of few
 * values never does. */
#include "ledger/sketch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum {
    FEW_RECORDS = 64,
    MANY_VALUES = 32,
    HEAD = 8,
    SKETCH_HEAD = 8 + 16 + 4 + 4,
    ITEM = 12,
    MOST_SKETCHES = 4096
};

void dpi_sketches_free(dpi_sketches *sketches)
{
    dpi_arena_free(&sketches->arena);
    *sketches = (dpi_sketches){.n = 0};
}

/* ---- making ---- */

dp_status dpi_sketcher_begin(dpi_sketcher *s, size_t most, dp_error *err)
{
    size_t slots = 4;
    while (slots < 4 * most)
        slots *= 2;
    *s = (dpi_sketcher){.mask = slots - 1, .most = most, .limit = UINT64_MAX};
    s->slots = dpi_alloc(slots + most, sizeof *s->slots);
    s->spare = s->slots != NULL ? s->slots + slots : NULL;
    return s->slots != NULL ? DP_OK : dpi_fail_nomem(err);
}

static dpi_sketch_item *slot_of(const dpi_sketcher *s, uint64_t hash)
{
    size_t i = (size_t)hash & s->mask;
    while (s->slots[i].count > 0 && s->slots[i].hash != hash)
        i = (i + 1) & s->mask;
    return &s->slots[i];
}

static int by_hash(const void *a, const void *b)
{
    uint64_t x = ((const dpi_sketch_item *)a)->hash, y = ((const dpi_sketch_item *)b)->hash;
    return (x > y) - (x < y);
}

/* Moves what is there to the front, in order; the rest of the slots is not cleared. */
static void sort(dpi_sketcher *s)
{
    size_t n = 0;
    for (size_t i = 0; i <= s->mask; i++)
        if (s->slots[i].count > 0)
            s->slots[n++] = s->slots[i];
    qsort(s->slots, n, sizeof *s->slots, by_hash);
}

/* Forgets all but the smallest.  Half of the slots are free at any time. */
static void shrink(dpi_sketcher *s)
{
    sort(s);
    s->limit = s->slots[s->most - 1].hash;
    s->made.full = true;
    s->used = s->most;
    memcpy(s->spare, s->slots, s->most * sizeof *s->spare);
    memset(s->slots, 0, (s->mask + 1) * sizeof *s->slots);
    for (size_t i = 0; i < s->most; i++)
        *slot_of(s, s->spare[i].hash) = s->spare[i];
}

/* A second function of a hash, so that the two sums are not one (the finaliser of splitmix64). */
static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

void dpi_sketcher_add(dpi_sketcher *s, uint64_t hash)
{
    s->made.n++;
    s->made.sum[0] += hash;
    s->made.sum[1] += mix(hash);
    if (hash > s->limit)
        return;
    dpi_sketch_item *item = slot_of(s, hash);
    s->used += item->count == 0;
    item->hash = hash;
    item->count += item->count < UINT32_MAX;
    if (s->used > 2 * s->most)
        shrink(s);
}

bool dpi_sketcher_end(dpi_sketcher *s, dpi_arena *arena, dpi_sketch *sketch)
{
    bool good = true;
    if (sketch != NULL && s->slots != NULL) {
        sort(s);
        s->made.full = s->made.full || s->used > s->most;
        s->made.n_items = s->used < s->most ? s->used : s->most;
        *sketch = s->made;
        sketch->items = dpi_arena_alloc(arena, sketch->n_items, sizeof *sketch->items);
        good = sketch->items != NULL;
        if (good)
            memcpy(sketch->items, s->slots, sketch->n_items * sizeof *sketch->items);
    }
    dpi_free(s->slots);
    *s = (dpi_sketcher){.used = 0};
    return good;
}

/* ---- comparing ---- */

/* Of the values that occur twice in both together: how many have one occurrence in each. */
static void count_pairs(const dpi_sketch *a, const dpi_sketch *b, double *split, double *all)
{
    size_t i = 0, k = 0, most = SIZE_MAX;
    if (a->full)
        most = a->n_items;
    if (b->full && b->n_items < most)
        most = b->n_items;
    *split = *all = 0;
    for (size_t rank = 0; rank < most && (i < a->n_items || k < b->n_items); rank++) {
        const dpi_sketch_item *p = i < a->n_items ? &a->items[i] : NULL;
        const dpi_sketch_item *q = k < b->n_items ? &b->items[k] : NULL;
        if (p != NULL && q != NULL && p->hash != q->hash) {
            if (p->hash < q->hash)
                q = NULL;
            else
                p = NULL;
        }
        *all += (p != NULL ? (double)p->count : 0) + (q != NULL ? (double)q->count : 0) == 2;
        *split += p != NULL && q != NULL && p->count == 1 && q->count == 1;
        i += p != NULL;
        k += q != NULL;
    }
}

static double log_of_pairs(const dpi_sketch *a, const dpi_sketch *b)
{
    double split, all;
    count_pairs(a, b, &split, &all);
    if (2 * split <= all)
        return 0;
    double rest = all - split, information = split * log(2 * split / all);
    if (rest > 0)
        information += rest * log(2 * rest / all);
    return -information;
}

/* Whether the values of a column are many, and occur as unevenly as chance makes them: equal
 * numbers of each are a design (doses, strata), which unrelated data sets may share. */
static bool is_drawn(const dpi_sketch *s)
{
    double n = (double)s->n_items, mean = 0, square = 0;
    for (size_t i = 0; i < s->n_items; i++) {
        mean += s->items[i].count / n;
        square += (double)s->items[i].count * s->items[i].count / n;
    }
    return s->n_items >= MANY_VALUES && square - mean * mean >= mean / 2;
}

/* Of records, or columns, that are the same as a whole. */
static double log_of_equality(const dpi_sketch *a, const dpi_sketch *b)
{
    double sum = 0;
    bool rows = a->rows && b->rows;
    if (a->n != b->n || memcmp(a->sum, b->sum, sizeof a->sum) != 0 || (!rows && !is_drawn(a)))
        return 0;
    if (rows && a->n < FEW_RECORDS && a->varied && b->varied)
        return -INFINITY; /* too few for chance to be ruled out, and whoever means it can say so */
    for (size_t i = 0; i < a->n_items; i++) {
        double count = a->items[i].count;
        sum += lgamma(2 * count + 1) - 2 * lgamma(count + 1) - 2 * count * log(2);
    }
    return sum;
}

double dpi_sketch_log_chance(const dpi_sketch *a, const dpi_sketch *b)
{
    double pairs = log_of_pairs(a, b), equality = log_of_equality(a, b);
    if (a->n == 0 || b->n == 0)
        return 0;
    return fmin(0, fmin(pairs, equality) + log(4 * ((double)a->n + (double)b->n)));
}

/* ---- bytes ---- */

static unsigned char *put(unsigned char *out, uint64_t value, int n)
{
    for (int i = 0; i < n; i++)
        *out++ = (unsigned char)(value >> (8 * i));
    return out;
}

static uint64_t get(const unsigned char **in, int n)
{
    uint64_t value = 0;
    for (int i = 0; i < n; i++)
        value |= (uint64_t) * (*in)++ << (8 * i);
    return value;
}

dp_status dpi_sketches_write(dpi_sketches *sketches, unsigned char **bytes, size_t *size,
                             dp_error *err)
{
    *size = HEAD;
    for (size_t i = 0; i < sketches->n; i++)
        *size += SKETCH_HEAD + ITEM * sketches->list[i].n_items;
    *bytes = dpi_arena_alloc(&sketches->arena, *size, 1);
    if (*bytes == NULL)
        return dpi_fail_nomem(err);
    unsigned char *p = put(*bytes, sketches->n, HEAD);
    for (size_t i = 0; i < sketches->n; i++) {
        const dpi_sketch *s = &sketches->list[i];
        p = put(p, s->n, 8);
        p = put(p, s->sum[0], 8);
        p = put(p, s->sum[1], 8);
        p = put(p, (uint64_t)(s->rows | s->varied << 1 | s->full << 2), 4);
        p = put(p, s->n_items, 4);
        for (size_t k = 0; k < s->n_items; k++) {
            p = put(p, s->items[k].hash, 8);
            p = put(p, s->items[k].count, 4);
        }
    }
    return DP_OK;
}

static bool read_items(const unsigned char **p, dpi_sketch *s)
{
    for (size_t k = 0; k < s->n_items; k++) {
        s->items[k].hash = get(p, 8);
        s->items[k].count = (uint32_t)get(p, 4);
        if (s->items[k].count == 0 || (k > 0 && s->items[k].hash <= s->items[k - 1].hash))
            return false;
    }
    return true;
}

dp_status dpi_sketches_read(const unsigned char *bytes, size_t size, dpi_sketches *sketches,
                            dp_error *err)
{
    const unsigned char *p = bytes, *end = bytes + size;
    *sketches = (dpi_sketches){.n = 0};
    uint64_t n = size >= HEAD ? get(&p, HEAD) : UINT64_MAX;
    bool good = n <= MOST_SKETCHES;
    if (good)
        sketches->list = dpi_arena_alloc(&sketches->arena, (size_t)n, sizeof *sketches->list);
    if (good && sketches->list == NULL)
        return dpi_fail_nomem(err);
    while (good && sketches->n < n) {
        dpi_sketch *s = &sketches->list[sketches->n++];
        good = (size_t)(end - p) >= SKETCH_HEAD;
        if (!good)
            break;
        *s = (dpi_sketch){.n = get(&p, 8)};
        s->sum[0] = get(&p, 8);
        s->sum[1] = get(&p, 8);
        uint64_t flags = get(&p, 4);
        s->rows = flags & 1, s->varied = flags >> 1 & 1, s->full = flags >> 2 & 1;
        s->n_items = (size_t)get(&p, 4);
        good = flags < 8 && s->n_items <= (size_t)(end - p) / ITEM;
        s->items = good ? dpi_arena_alloc(&sketches->arena, s->n_items, sizeof *s->items) : NULL;
        if (good && s->items == NULL)
            return dpi_fail_nomem(err);
        good = good && read_items(&p, s);
    }
    return good && p == end ? DP_OK
                            : dpi_fail(err, DP_EDATA,
                                       "a sketch in the ledger is not as it was written; tacit "
                                       "ledger check says more, put back an intact copy");
}
