/* How a layer of few outputs is computed, and what for one key is.
 *
 * Inputs are not brought into Montgomery form: the number c read as a residue is c / R, and
 * prod_i (c_i / R)^{w_oi} is off by R^{-sum_i w_oi}, which does not depend on inputs.  R^{sum w_oi}
 * is computed once for a key.
 *
 * With T inputs, windows of b bits, D of them, and k outputs there are k D chains; as many more
 * share the inputs of each as fill the groups best.  A group costs T / parts products, eight at a
 * time, and 2 2^b to join its buckets. */
#include "crypto/narrow-plan.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { WIDEST = 8, MOST_GROUPS = 64, SUPPOSED = 2 /* threads */ };

/* ---- the plan ---- */

size_t dpi_narrow_pairs(const dpi_narrow *narrow)
{
    return narrow->outputs * narrow->windows;
}

size_t dpi_narrow_begin(const dpi_narrow *narrow, size_t groups, size_t p)
{
    return DPI_LANES * groups * p / dpi_narrow_pairs(narrow);
}

/* Products one behind the other. */
static double cost_of(const dpi_narrow *n, size_t groups, size_t threads)
{
    size_t parts = DPI_LANES * groups / dpi_narrow_pairs(n);
    size_t each = (n->inputs + parts - 1) / parts + ((size_t)2 << n->window);
    return (double)((groups + threads - 1) / threads * each);
}

static size_t best_groups(const dpi_narrow *n, size_t threads)
{
    size_t least = (dpi_narrow_pairs(n) + DPI_LANES - 1) / DPI_LANES, best = least;
    for (size_t g = least; g <= MOST_GROUPS; g++)
        if (cost_of(n, g, threads) < cost_of(n, best, threads))
            best = g;
    return best;
}

/* The cost with the window that is asked for, or the best, which is set. */
static double choose(const dpi_dense_layer *l, unsigned window, dpi_narrow *n)
{
    double least = INFINITY;
    dpi_narrow trial = {.inputs = l->inputs, .outputs = l->outputs, .bits = l->weight_bits};
    for (trial.window = 1; trial.window <= WIDEST; trial.window++) {
        trial.windows = (trial.bits + trial.window) / trial.window; /* u has a bit more */
        double cost = cost_of(&trial, best_groups(&trial, SUPPOSED), SUPPOSED);
        if ((window != 0 && window != trial.window) || !(cost < least))
            continue;
        least = cost;
        *n = trial;
    }
    return least + n->bits;
}

double dpi_narrow_cost(const dpi_dense_layer *layer)
{
    dpi_narrow n;
    return choose(layer, 0, &n);
}

static dp_status check_layer(const dpi_dense_layer *l, unsigned window, dp_error *err)
{
    size_t cells;
    if (l->inputs == 0 || l->outputs == 0 || l->begin != NULL || l->slots.count > 1 ||
        l->weight_bits < 1 || l->weight_bits > 32 || window > WIDEST ||
        !dpi_mul(l->inputs, l->outputs, &cells) || cells != l->n_weights)
        return dpi_fail(err, DP_EINVAL,
                        "a layer of %zu inputs, %zu outputs and %zu weights of %u bits is none of "
                        "few outputs; windows have at most %d bits",
                        l->inputs, l->outputs, l->n_weights, l->weight_bits, (int)WIDEST);
    int64_t most = (INT64_C(1) << l->weight_bits) - 1;
    for (size_t w = 0; w < l->n_weights; w++)
        if (l->weights[w] > most || l->weights[w] < -most)
            return dpi_fail(err, DP_EDOMAIN,
                            "a weight of a layer has more than the %u bits that were declared",
                            l->weight_bits);
    return DP_OK;
}

static void write_weights(const dpi_dense_layer *l, dpi_narrow *n)
{
    for (size_t o = 0; o < n->outputs; o++)
        for (size_t i = 0; i < n->inputs; i++) {
            int64_t w = l->weights[o * n->inputs + i];
            n->sum[o] += w;
            n->lifted[o * n->inputs + i] = (uint64_t)(w + (INT64_C(1) << n->bits));
        }
    if (l->bias != NULL)
        memcpy(n->bias, l->bias, n->outputs * sizeof *n->bias);
}

dp_status dpi_narrow_new(const dpi_dense_layer *layer, unsigned window, dpi_narrow **narrow,
                         dp_error *err)
{
    *narrow = NULL;
    dp_status status = check_layer(layer, window, err);
    if (status != DP_OK)
        return status;
    dpi_narrow *n = dpi_alloc(1, sizeof *n);
    if (n == NULL)
        return dpi_fail_nomem(err);
    (void)choose(layer, window, n);
    n->lifted = dpi_alloc(layer->n_weights, sizeof *n->lifted);
    n->sum = dpi_alloc(n->outputs, sizeof *n->sum);
    n->bias = layer->bias == NULL ? NULL : dpi_alloc(n->outputs, sizeof *n->bias);
    if (n->lifted == NULL || n->sum == NULL || (layer->bias != NULL && n->bias == NULL)) {
        dpi_narrow_free(n);
        return dpi_fail_nomem(err);
    }
    write_weights(layer, n);
    *narrow = n;
    return DP_OK;
}

void dpi_narrow_free(dpi_narrow *narrow)
{
    if (narrow == NULL)
        return;
    dpi_free(narrow->lifted);
    dpi_free(narrow->sum);
    dpi_free(narrow->bias);
    dpi_free(narrow);
}

/* ---- the desk ---- */

/* R^{sum w} of eight outputs: R is R^2 as a residue, and 1 / R is 1. */
static void fill_missing(const dpi_narrow_desk *d, size_t block, uint64_t *space)
{
    const dpi_montgomery *m = d->m;
    size_t eight = dpi_montgomery_eight(m), left = d->of->outputs - block * DPI_LANES;
    size_t lanes = left < DPI_LANES ? left : DPI_LANES;
    mp_limb_t size[DPI_LANES] = {0};
    const mp_limb_t *exponent[DPI_LANES];
    uint64_t spare[2][2 * DPI_LIMBS_MOST];
    const uint64_t *from[DPI_LANES];
    uint64_t *spares[DPI_LANES];
    for (int i = 0; i < 2; i++) {
        for (size_t lane = 0; lane < DPI_LANES; lane++)
            spares[lane] = spare[i];
        m->backend->unpack(m, i == 0 ? m->square : m->plain, spares);
    }
    for (size_t lane = 0; lane < DPI_LANES; lane++) {
        int64_t sum = lane < lanes ? d->of->sum[block * DPI_LANES + lane] : 0;
        size[lane] = sum < 0 ? 0 - (mp_limb_t)sum : (mp_limb_t)sum;
        exponent[lane] = &size[lane];
        from[lane] = spare[sum < 0];
    }
    uint64_t *to = d->missing + block * eight;
    m->backend->pack(m, from, to);
    dpi_montgomery_power(m, lanes, to, exponent, DPI_LIMB_BITS, space, to);
}

/* Gives the next n words. */
static uint64_t *cut(uint64_t **at, size_t n)
{
    uint64_t *from = *at;
    *at += n;
    return from;
}

static dp_status make_room(dpi_narrow_desk *d, dp_error *err)
{
    const dpi_montgomery *m = d->m;
    size_t words = m->words, eight = dpi_montgomery_eight(m), each = (size_t)1 << d->of->window;
    size_t blocks = (d->of->outputs + DPI_LANES - 1) / DPI_LANES, pairs = dpi_narrow_pairs(d->of);
    size_t residues = 1 + d->of->inputs + 2 * DPI_LANES * d->groups + pairs + 1;
    size_t eights = blocks + (residues + DPI_LANES - 1) / DPI_LANES + d->groups * each;
    uint64_t *space = dpi_montgomery_alloc(m, dpi_montgomery_power_space(m) / eight + 1);
    uint64_t *at = d->memory = dpi_montgomery_alloc(m, eights);
    if (d->memory == NULL || space == NULL) {
        dpi_montgomery_release(m, space);
        return dpi_fail_nomem(err);
    }
    d->missing = cut(&at, blocks * eight);
    d->buckets = cut(&at, d->groups * each * eight);
    d->one = cut(&at, words);
    d->input = cut(&at, d->of->inputs * words);
    d->result = cut(&at, 2 * DPI_LANES * d->groups * words);
    d->joined = at;
    uint64_t *ones[DPI_LANES];
    for (size_t lane = 0; lane < DPI_LANES; lane++)
        ones[lane] = d->one;
    m->backend->unpack(m, m->one, ones);
    for (size_t b = 0; b < blocks; b++)
        fill_missing(d, b, space);
    dpi_montgomery_release(m, space);
    return DP_OK;
}

dp_status dpi_narrow_desk_new(const dpi_narrow *narrow, const dpi_paillier_public *key,
                              size_t threads, dpi_narrow_desk **desk, dp_error *err)
{
    *desk = NULL;
    dpi_narrow_desk *d = dpi_alloc(1, sizeof *d);
    if (d == NULL)
        return dpi_fail_nomem(err);
    *d = (dpi_narrow_desk){.of = narrow, .key = key, .m = dpi_paillier_public_ring(key)};
    d->groups = best_groups(narrow, threads > 0 ? threads : 1);
    dp_status status = make_room(d, err);
    if (status == DP_OK)
        *desk = d;
    else
        dpi_narrow_desk_free(d);
    return status;
}

void dpi_narrow_desk_free(dpi_narrow_desk *desk)
{
    if (desk == NULL)
        return;
    dpi_montgomery_release(desk->m, desk->memory);
    dpi_free(desk);
}
