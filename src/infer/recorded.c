/* Of z ~ N(0, 1) and b = s z, with C = 1 + diag(s) H diag(s) minus the second derivatives of the
 * log density by z, and g its gradient,
 *
 *   precision H = (C - 1)_ij / (s_i s_j),   pull = (g + z) / s + H b,
 *
 * the records' part of the log density then being pull' b - b' H b / 2 near z.  H is by b, so that
 * it serves all scales: a Gaussian process's length need not be near the one at which it was
 * found. */
#include "infer/recorded.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "num/linalg.h"
#include "num/matrix.h"

/* Of the largest scale; what is scaled by less stays with its prior. */
static const double least = 1e-6;

typedef bool visitor(void *of, dpi_evaluator *e, const double *z, size_t block, size_t site);

/* Calls f for each block that has a scale, until it fails. */
static dp_status each_scaled(dpi_evaluator *e, const dp_model *model, const double *z, visitor *f,
                             void *of, dp_error *err)
{
    size_t block = 0;
    for (size_t s = 0; s < model->n_sites; s++) {
        if (model->sites[s].kind != DPI_LATENT)
            continue;
        if (e->of->objective.latents[block].scale != DPI_NONE && !f(of, e, z, block, s))
            return dpi_fail_nomem(err);
        block++;
    }
    return DP_OK;
}

static double largest_of(size_t n, const double *s)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(s[i]));
    return largest;
}

void dpi_recorded_spread(dpi_evaluator *e, const double *z, double *spread)
{
    const dpi_objective *o = &e->of->objective;
    for (size_t k = 0; k < o->n_blocks; k++) {
        const dpi_block *b = &o->blocks[k];
        if (o->latents[k].scale == DPI_NONE)
            continue;
        double *s = spread + b->offset;
        dpi_evaluator_scale(e, z, k, s);
        const double largest = largest_of(b->size, s);
        for (size_t i = 0; i < b->size; i++)
            s[i] = largest > 0 ? 1 / fmax(fabs(s[i]) / largest, least) : 1;
    }
}

/* ---- finding ---- */

typedef struct finding {
    const double *curvature, *gradient;
    size_t d;
    dpi_arena *arena;
    dpi_recorded *told;
} finding;

/* h[n][n], where a scale is too small 0, and not negative; false where it is no matrix. */
static bool precision_of(const finding *f, const dpi_block *b, const double *s, double *h)
{
    const size_t n = b->size;
    const double too_small = least * largest_of(n, s);
    bool finite = true;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double c = f->curvature[(b->offset + i) * f->d + b->offset + j] - (i == j);
            bool known = fabs(s[i]) > too_small && fabs(s[j]) > too_small;
            h[i * n + j] = known ? c / (s[i] * s[j]) : 0;
            finite = finite && isfinite(h[i * n + j]);
        }
    return finite && dpi_matrix_power(n, h, 1, 0, h, NULL) == DP_OK;
}

static bool find_block(void *of, dpi_evaluator *e, const double *z, size_t block, size_t site)
{
    const finding *f = of;
    const dpi_block *b = &e->of->objective.blocks[block];
    const size_t n = b->size;
    double *h = dpi_arena_alloc(f->arena, n, n * sizeof *h);
    double *pull = dpi_arena_alloc(f->arena, n, sizeof *pull);
    double *s = dpi_arena_alloc(f->arena, n, sizeof *s);
    if (h == NULL || pull == NULL || s == NULL)
        return false;
    dpi_evaluator_scale(e, z, block, s);
    if (!precision_of(f, b, s, h))
        return true;
    const double too_small = least * largest_of(n, s);
    bool finite = true;
    for (size_t i = 0; i < n; i++) {
        const size_t k = b->offset + i;
        pull[i] = 0;
        for (size_t j = 0; j < n; j++)
            pull[i] += h[i * n + j] * s[j] * z[b->offset + j];
        if (fabs(s[i]) > too_small)
            pull[i] += (f->gradient[k] + z[k]) / s[i];
        finite = finite && isfinite(pull[i]);
    }
    if (finite)
        f->told[site] = (dpi_recorded){h, pull};
    return true;
}

dp_status dpi_recorded_find(dpi_evaluator *e, const dp_model *model, const double *z,
                            const double *curvature, dpi_arena *arena, dpi_recorded *told,
                            dp_error *err)
{
    const size_t d = e->of->objective.n_theta;
    double *gradient = dpi_arena_alloc(arena, d, sizeof *gradient);
    if (gradient == NULL)
        return dpi_fail_nomem(err);
    (void)dpi_evaluate(e, z, gradient);
    finding f = {
        .curvature = curvature, .gradient = gradient, .d = d, .arena = arena, .told = told};
    return each_scaled(e, model, z, find_block, &f, err);
}

/* ---- placing ---- */

typedef struct placing {
    const dpi_recorded *told;
    double *z;
} placing;

/* x = L' z - L^-1 (s pull), in place of z[n]; l[n][n] and s[n] are used up.  x stays z where A has
 * no factor. */
static void place_one(size_t n, const dpi_recorded *told, double *l, double *s, double *z)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            l[i * n + j] = (i == j) + s[i] * told->precision[i * n + j] * s[j];
    if (dpi_matrix_factor(n, l, l, NULL) != DP_OK)
        return;
    for (size_t i = 0; i < n; i++)
        s[i] = (s[i] * told->pull[i] - dpi_dot(i, l + i * n, s)) / l[i * (n + 1)];
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = i; j < n; j++)
            sum += l[j * n + i] * z[j];
        z[i] = sum - s[i];
    }
}

static bool place_block(void *of, dpi_evaluator *e, const double *z, size_t block, size_t site)
{
    const placing *p = of;
    const dpi_block *b = &e->of->objective.blocks[block];
    const size_t n = b->size;
    if (p->told[site].precision == NULL)
        return true;
    double *room = dpi_alloc(n + 1, n * sizeof *room);
    if (room == NULL)
        return false;
    dpi_evaluator_scale(e, z, block, room + n * n);
    place_one(n, &p->told[site], room, room + n * n, p->z + b->offset);
    dpi_free(room);
    return true;
}

dp_status dpi_recorded_place(dpi_evaluator *e, const dp_model *model, const dpi_recorded *told,
                             double *z, dp_error *err)
{
    placing p = {.told = told, .z = z};
    return each_scaled(e, model, z, place_block, &p, err);
}
