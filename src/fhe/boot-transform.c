/* The special transform of embed.c as products of few sparse matrices.
 *
 * Stage `size` has entries at offsets 0 and +- size / 2; consecutive stages from s to r s / 2 make
 * a matrix with diagonals at multiples of s between -(r - 1) s and (r - 1) s, of the last r s =
 * places only r.  Orders are reversed by neither: what the one transform leaves reversed the other
 * takes so.  An even split of the stages has the fewest diagonals, as 2^k grows faster than k. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "fhe/boot-parts.h"

/* A matrix by its diagonals, at multiples of a stride: row[k], NULL where it is zeros. */
typedef struct sparse {
    size_t places, stride, n;
    double complex **row; /* [n = places / stride] */
} sparse;

static void empty(sparse *m)
{
    for (size_t k = 0; m->row != NULL && k < m->n; k++)
        dpi_free(m->row[k]);
    dpi_free(m->row);
    *m = (sparse){.row = NULL};
}

static dp_status start(sparse *m, size_t places, size_t stride, dp_error *err)
{
    *m = (sparse){places, stride, places / stride, NULL};
    m->row = dpi_alloc(m->n, sizeof *m->row);
    if (m->row == NULL)
        return dpi_fail_nomem(err);
    memset(m->row, 0, m->n * sizeof *m->row);
    return DP_OK;
}

/* The diagonal at an offset, zeros at first; NULL without memory. */
static double complex *diagonal(sparse *m, size_t offset)
{
    double complex **row = &m->row[offset / m->stride % m->n];
    if (*row == NULL && (*row = dpi_alloc(m->places, sizeof **row)) != NULL)
        memset(*row, 0, m->places * sizeof **row);
    return *row;
}

/* The factor of pair j of a stage. */
static double complex root(const dpi_embedding *e, size_t size, size_t j)
{
    const size_t order = 4 * size, k = e->turn[j] % order * (2 * e->n / order);
    return e->root[0][k] + I * e->root[1][k];
}

/* One stage: x + w y and x - w y; inverse: (x + y) / 2 and conj(w) (x - y) / 2. */
static dp_status one_stage(const dpi_embedding *e, size_t size, bool inverse, size_t stride,
                           size_t places, sparse *m, dp_error *err)
{
    const size_t half = size / 2;
    dp_status status = start(m, places, stride, err);
    if (status != DP_OK)
        return status;
    double complex *same = diagonal(m, 0), *next = diagonal(m, half),
                   *last = diagonal(m, places - half);
    if (same == NULL || next == NULL || last == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < places; i++) {
        const size_t j = i % size;
        const double complex w = root(e, size, j % half);
        if (j < half) {
            same[i] += inverse ? .5 : 1;
            next[i] += inverse ? .5 : w;
        } else {
            same[i] += inverse ? -conj(w) / 2 : -w;
            last[i] += inverse ? conj(w) / 2 : 1;
        }
    }
    return DP_OK;
}

/* b becomes a b: row k + l at i has a_k[i] b_l[i + k]. */
static dp_status compose(const sparse *a, sparse *b, dp_error *err)
{
    sparse both;
    const size_t places = a->places;
    dp_status status = start(&both, places, a->stride, err);
    for (size_t k = 0; k < a->n && status == DP_OK; k++)
        for (size_t l = 0; a->row[k] != NULL && l < b->n && status == DP_OK; l++) {
            if (b->row[l] == NULL)
                continue;
            double complex *to = diagonal(&both, (k + l) * a->stride);
            if (to == NULL)
                status = dpi_fail_nomem(err);
            else
                for (size_t i = 0; i < places; i++)
                    to[i] += a->row[k][i] * b->row[l][(i + k * a->stride) % places];
        }
    empty(b);
    *b = both;
    return status;
}

/* Stages 2^from ... 2^(to - 1) of pairs, as one matrix. */
static dp_status merged(const dpi_ckks *c, int from, int to, bool inverse, sparse *m, dp_error *err)
{
    const size_t places = c->n / 2, stride = (size_t)1 << from;
    dp_status status = DP_OK;
    for (int k = 0; k < to - from && status == DP_OK; k++) {
        const size_t size = (size_t)2 << (inverse ? to - 1 - k : from + k);
        sparse one = {.row = NULL};
        status = one_stage(c->embedding, size, inverse, stride, places, k == 0 ? m : &one, err);
        if (status == DP_OK && k > 0)
            status = compose(&one, m, err);
        empty(&one);
    }
    return status;
}

/* Baby steps for so many diagonals: a hoisted rotation takes .6 of another one (bench/ckks). */
static size_t babies(size_t diagonals)
{
    size_t best = 1;
    double least = INFINITY;
    for (size_t g = 1; g <= diagonals; g *= 2) {
        const double cost = .6 * (double)(g - 1) + ceil((double)diagonals / (double)g) - 1;
        if (cost < least)
            best = g;
        least = fmin(cost, least);
    }
    return best;
}

static dp_status encode(const dpi_ckks *c, const sparse *m, size_t level, double constant,
                        dpi_ckks_room *room, dpi_ckks_diagonals **to, dp_error *err)
{
    size_t n = 0;
    double *re = dpi_alloc(m->places, sizeof *re), *im = dpi_alloc(m->places, sizeof *im);
    for (size_t k = 0; k < m->n; k++)
        n += m->row[k] != NULL;
    dp_status status = re != NULL && im != NULL ? DP_OK : dpi_fail_nomem(err);
    if (status == DP_OK)
        status = dpi_ckks_diagonals_new(c, level, m->places, n, m->stride, babies(n), to, err);
    for (size_t k = 0; k < m->n && status == DP_OK; k++) {
        if (m->row[k] == NULL)
            continue;
        for (size_t i = 0; i < m->places; i++) {
            re[i] = constant * creal(m->row[k][i]);
            im[i] = constant * cimag(m->row[k][i]);
        }
        status = dpi_ckks_diagonals_add(*to, k * m->stride, re, im, room, err);
    }
    dpi_free(re);
    dpi_free(im);
    return status;
}

dp_status dpi_ckks_boot_transforms(dpi_ckks_boot *b, double constant, dpi_ckks_room *room,
                                   dp_error *err)
{
    const dpi_ckks *c = b->c;
    const int log = c->spec.log_n - 1, stages = (int)b->stages;
    dp_status status = DP_OK;
    for (int g = 0; g < stages && status == DP_OK; g++)
        for (int inverse = 0; inverse < 2 && status == DP_OK; inverse++) {
            const size_t level =
                inverse == 0 ? b->stages - (size_t)g : c->levels - (size_t)(stages - g);
            sparse m = {.row = NULL};
            status = merged(c, log * g / stages, log * (g + 1) / stages, inverse == 1, &m, err);
            if (status == DP_OK)
                status = encode(c, &m, level, inverse == 1 ? pow(constant, 1.0 / stages) : 1, room,
                                inverse == 1 ? &b->up[stages - 1 - g] : &b->down[g], err);
            empty(&m);
        }
    return status;
}
