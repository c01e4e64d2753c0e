/* Diagonals are turned back by their giant steps when they are added. */
#include "fhe/diagonals.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "fhe/ckks-parts.h"

typedef struct diagonal {
    size_t baby, giant; /* steps */
    dpi_ckks_plain plain;
} diagonal;

struct dpi_ckks_diagonals {
    const dpi_ckks *c;
    size_t level, places, stride, baby, n, most;
    diagonal *one;   /* [most] */
    double *back[2]; /* [places] room for what is turned back */
    double *sum[2];  /* [places] of magnitudes, and of their squares: of rows */
    double norm[2];  /* the largest sum, and root of one of squares */
};

/* ---- making it ---- */

dp_status dpi_ckks_diagonals_new(const dpi_ckks *c, size_t level, size_t places, size_t most,
                                 size_t stride, size_t baby, dpi_ckks_diagonals **to, dp_error *err)
{
    dpi_ckks_diagonals *d = *to = dpi_alloc(1, sizeof *d);
    if (d == NULL)
        return dpi_fail_nomem(err);
    *d = (dpi_ckks_diagonals){.c = c,
                              .level = level,
                              .places = places,
                              .stride = stride,
                              .baby = baby,
                              .most = most,
                              .one = dpi_alloc(most, sizeof *d->one)};
    bool all = d->one != NULL;
    for (int k = 0; k < 2; k++) {
        d->back[k] = dpi_alloc(places, sizeof *d->back[k]);
        d->sum[k] = dpi_alloc(places, sizeof *d->sum[k]);
        all = all && d->back[k] != NULL && d->sum[k] != NULL;
    }
    if (!all) {
        dpi_ckks_diagonals_free(d);
        *to = NULL;
        return dpi_fail_nomem(err);
    }
    for (int k = 0; k < 2; k++)
        memset(d->sum[k], 0, places * sizeof *d->sum[k]);
    return DP_OK;
}

void dpi_ckks_diagonals_free(dpi_ckks_diagonals *d)
{
    if (d == NULL)
        return;
    for (size_t k = 0; k < d->n; k++)
        dpi_ckks_plain_free(&d->one[k].plain);
    for (int k = 0; k < 2; k++) {
        dpi_free(d->back[k]);
        dpi_free(d->sum[k]);
    }
    dpi_free(d->one);
    dpi_free(d);
}

dp_status dpi_ckks_diagonals_add(dpi_ckks_diagonals *d, size_t offset, const double *re,
                                 const double *im, dpi_ckks_room *room, dp_error *err)
{
    const size_t baby = offset / d->stride % d->baby * d->stride, giant = offset - baby;
    if (d->n == d->most || offset >= d->places || offset % d->stride != 0)
        dpi_misuse(__func__, "no room is left, or the offset is no multiple of the stride");
    for (size_t i = 0; i < d->places; i++) {
        const size_t from = (i + d->places - giant) % d->places;
        const double size = hypot(re[i], im != NULL ? im[i] : 0);
        d->back[0][i] = re[from];
        d->back[1][i] = im != NULL ? im[from] : 0;
        d->sum[0][i] += size;
        d->sum[1][i] += size * size;
        d->norm[0] = fmax(d->norm[0], d->sum[0][i]);
        d->norm[1] = fmax(d->norm[1], sqrt(d->sum[1][i]));
    }
    diagonal *one = &d->one[d->n];
    *one = (diagonal){.baby = baby, .giant = giant};
    dp_status status = dpi_ckks_plain_new(d->c, d->level, &one->plain, err);
    if (status == DP_OK) {
        d->n++;
        status = dpi_ckks_encode(d->c, d->level, 0, d->places, d->back[0], d->back[1], room,
                                 &one->plain, err);
    }
    return status;
}

/* ---- turns ---- */

/* Whether diagonal k is the first one of its baby step, or of its giant one. */
static bool is_first(const dpi_ckks_diagonals *d, size_t k, bool giant)
{
    for (size_t i = 0; i < k; i++)
        if (giant ? d->one[i].giant == d->one[k].giant : d->one[i].baby == d->one[k].baby)
            return false;
    return true;
}

size_t dpi_ckks_diagonals_turns(const dpi_ckks_diagonals *d, int *steps)
{
    size_t n = 0;
    for (int giant = 0; giant < 2; giant++)
        for (size_t k = 0; k < d->n; k++) {
            const size_t by = giant == 1 ? d->one[k].giant : d->one[k].baby;
            if (by == 0 || !is_first(d, k, giant == 1))
                continue;
            if (steps != NULL)
                steps[n] = (int)by;
            n++;
        }
    return n;
}

/* ---- applying it ---- */

double dpi_ckks_diagonals_noise(const dpi_ckks_diagonals *d, double size, double noise, bool apart)
{
    const dpi_ckks *c = d->c;
    const double scale = c->scale[d->level], factor = c->factor[d->level], n = (double)d->n;
    const double switched = dpi_ckks_switching(c, d->level);
    const double of_encoding =
        (apart ? sqrt(n) : n) * (dpi_ckks_spread(c, 1.0 / 12, factor) + 0x1p-50);
    return d->norm[apart] * (noise + dpi_ckks_spread(c, switched, scale)) + size * of_encoding +
           n * dpi_ckks_spread(c, switched, scale * factor) +
           dpi_ckks_spread(c, dpi_ckks_rounding(c), c->scale[d->level - 1]);
}

typedef struct turning {
    const dpi_ckks_diagonals *d;
    dpi_ckks_cipher *x;  /* [baby] turned by each step */
    dpi_ckks_cipher sum; /* of a giant step */
} turning;

static dp_status turn_babies(turning *a, const dpi_ckks_cipher *x, const dpi_ckks_turns *turns,
                             dpi_ckks_room *room, dp_error *err)
{
    const dpi_ckks_diagonals *d = a->d;
    dpi_ckks_raise(d->c, x->level, x->part[1], room);
    for (size_t k = 0; k < d->n; k++) {
        const size_t by = d->one[k].baby;
        dpi_ckks_cipher *to = &a->x[by / d->stride];
        if (!is_first(d, k, false))
            continue;
        dp_status status = dpi_ckks_take(room, d->level, to, err);
        if (status != DP_OK)
            return status;
        dpi_ckks_turn_raised(d->c, x, by == 0 ? NULL : dpi_ckks_turns_key(turns, by), room, to);
    }
    return DP_OK;
}

/* sum = that of the diagonals of one giant step. */
static void add_up(turning *a, size_t giant)
{
    const dpi_ckks_diagonals *d = a->d;
    const size_t all = (d->level + 1) * d->c->n * sizeof(uint64_t);
    for (int k = 0; k < 2; k++)
        memset(a->sum.part[k], 0, all);
    a->sum.level = d->level;
    for (size_t k = 0; k < d->n; k++)
        if (d->one[k].giant == giant)
            dpi_ckks_multiply_add_plain(d->c, &a->x[d->one[k].baby / d->stride], &d->one[k].plain,
                                        &a->sum);
}

static void take_giants(turning *a, const dpi_ckks_turns *turns, dpi_ckks_room *room,
                        dpi_ckks_cipher *to)
{
    const dpi_ckks *c = a->d->c;
    for (size_t k = 0; k < a->d->n; k++) {
        const size_t by = a->d->one[k].giant;
        if (!is_first(a->d, k, true))
            continue;
        add_up(a, by);
        if (by > 0)
            dpi_ckks_rotate(c, &a->sum, dpi_ckks_turns_key(turns, by), room, &a->sum);
        if (k > 0)
            dpi_ckks_add(c, to, &a->sum, to);
        else
            dpi_ckks_copy(c, &a->sum, to);
    }
}

dp_status dpi_ckks_diagonals_apply(const dpi_ckks_diagonals *d, const dpi_ckks_cipher *x,
                                   const dpi_ckks_turns *turns, dpi_ckks_room *room,
                                   dpi_ckks_cipher *to, dp_error *err)
{
    turning a = {.d = d, .x = dpi_alloc(d->baby, sizeof *a.x)};
    const double size = d->norm[0] * x->size;
    const double noise = dpi_ckks_diagonals_noise(d, x->size, x->noise, false);
    if (x->level != d->level || d->n == 0)
        dpi_misuse(__func__, "the vector is at another level than the map, or that has no rows");
    if (a.x == NULL)
        return dpi_fail_nomem(err);
    memset(a.x, 0, d->baby * sizeof *a.x);
    dp_status status = dpi_ckks_take(room, d->level, &a.sum, err);
    if (status == DP_OK)
        status = turn_babies(&a, x, turns, room, err);
    if (status == DP_OK) {
        take_giants(&a, turns, room, to);
        dpi_ckks_rescale(d->c, room, to);
        to->size = size;
        to->noise = noise;
    }
    for (size_t i = 0; i < d->baby; i++)
        dpi_ckks_give(room, &a.x[i]);
    dpi_ckks_give(room, &a.sum);
    dpi_free(a.x);
    return status;
}
