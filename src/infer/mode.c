/* L-BFGS (Liu and Nocedal 1989, Mathematical Programming 45, 503) with a line search that halves
 * steps until the density rises enough (Armijo) and leaves out updates that bend the wrong way, so
 * that places outside of the density only shorten steps. */
#include "infer/mode.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "num/linalg.h"
#include "num/matrix.h"

enum { KEPT = 12, HALVINGS = 40 };

/* Share of the expected rise that a step must have; rise at which the top is reached, and how often
 * in turn; steps of differences in units of spread. */
static const double enough = 1e-4, level = 1e-9, difference = 1e-4;
enum { LEVEL_STEPS = 3 };

typedef struct climb {
    const dpi_target *target;
    size_t n, kept;
    double *z, *gradient; /* [n] */
    double *next, *slope; /* [n] the place that is tried */
    double *way;          /* [n] */
    double *moved[KEPT];  /* [n] moves, the last one first */
    double *bent[KEPT];   /* [n] and how the slope fell */
    double of[KEPT], share[KEPT];
} climb;

static bool make_room(climb *c, dpi_arena *arena)
{
    double **vector[] = {&c->gradient, &c->next, &c->slope, &c->way};
    bool all = true;
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        all = all && (*vector[k] = dpi_arena_alloc(arena, c->n, sizeof(double))) != NULL;
    for (int k = 0; k < KEPT; k++)
        all = all && (c->moved[k] = dpi_arena_alloc(arena, c->n, sizeof(double))) != NULL &&
              (c->bent[k] = dpi_arena_alloc(arena, c->n, sizeof(double))) != NULL;
    return all;
}

static bool all_finite(size_t n, const double *x)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

/* The log density, -INFINITY outside. */
static double look(const climb *c, const double *z, double *gradient)
{
    double top = c->target->log_density(c->target->of, z, gradient);
    return isfinite(top) && all_finite(c->n, gradient) ? top : -INFINITY;
}

/* The way up: the gradient times the inverse curvature that moves so far have shown. */
static void find_way(climb *c)
{
    size_t n = c->n;
    memcpy(c->way, c->gradient, n * sizeof *c->way);
    for (size_t k = 0; k < c->kept; k++) {
        c->share[k] = dpi_dot(n, c->moved[k], c->way) / c->of[k];
        for (size_t i = 0; i < n; i++)
            c->way[i] -= c->share[k] * c->bent[k][i];
    }
    double scale = c->kept > 0 ? c->of[0] / dpi_dot(n, c->bent[0], c->bent[0])
                               : 1 / fmax(dpi_norm(n, c->gradient), 1);
    for (size_t i = 0; i < n; i++)
        c->way[i] *= scale;
    for (size_t k = c->kept; k-- > 0;) {
        double share = c->share[k] - dpi_dot(n, c->bent[k], c->way) / c->of[k];
        for (size_t i = 0; i < n; i++)
            c->way[i] += share * c->moved[k][i];
    }
}

/* Keeps the move to c->next, and forgets the oldest. */
static void keep(climb *c)
{
    double *moved = c->moved[KEPT - 1], *bent = c->bent[KEPT - 1];
    for (size_t i = 0; i < c->n; i++) {
        moved[i] = c->next[i] - c->z[i];
        bent[i] = c->gradient[i] - c->slope[i];
    }
    double of = dpi_dot(c->n, moved, bent);
    if (!(of > 1e-12 * dpi_norm(c->n, moved) * dpi_norm(c->n, bent)))
        return;
    for (size_t k = KEPT - 1; k > 0; k--) {
        c->moved[k] = c->moved[k - 1];
        c->bent[k] = c->bent[k - 1];
        c->of[k] = c->of[k - 1];
    }
    c->moved[0] = moved;
    c->bent[0] = bent;
    c->of[0] = of;
    c->kept += c->kept < KEPT;
}

/* One step up; the log density where it leads, or `top` where none does. */
static double rise(climb *c, double top)
{
    find_way(c);
    double expected = dpi_dot(c->n, c->way, c->gradient), step = 1;
    for (int k = 0; k < HALVINGS; k++, step /= 2) {
        for (size_t i = 0; i < c->n; i++)
            c->next[i] = c->z[i] + step * c->way[i];
        double there = look(c, c->next, c->slope);
        if (!(there >= top + enough * step * expected))
            continue;
        keep(c);
        memcpy(c->z, c->next, c->n * sizeof *c->z);
        memcpy(c->gradient, c->slope, c->n * sizeof *c->gradient);
        return there;
    }
    return top;
}

dp_status dpi_climb(const dpi_target *target, size_t steps, double *z, double *top, dp_error *err)
{
    dpi_arena arena = {0};
    climb c = {.target = target, .n = target->n, .z = z};
    *top = -INFINITY;
    if (!make_room(&c, &arena)) {
        dpi_arena_free(&arena);
        return dpi_fail_nomem(err);
    }
    *top = look(&c, z, c.gradient);
    for (size_t k = 0, still = 0; k < steps && isfinite(*top) && still < LEVEL_STEPS; k++) {
        double next = rise(&c, *top);
        if (next == *top && c.kept == 0)
            break;
        if (next == *top)
            c.kept = 0; /* once more, straight up */
        still = next - *top > level * (1 + fabs(next)) ? 0 : still + 1;
        *top = next;
    }
    dpi_arena_free(&arena);
    return DP_OK;
}

bool dpi_curvature(const dpi_target *target, const double *z, const double *spread, double *room,
                   double *curvature)
{
    size_t n = target->n;
    double *at = room, *up = room + n, *down = room + 2 * n;
    bool finite = true;
    memcpy(at, z, n * sizeof *at);
    for (size_t i = 0; i < n; i++) {
        double step = difference * spread[i];
        at[i] = z[i] + step;
        finite = finite && isfinite(target->log_density(target->of, at, up));
        at[i] = z[i] - step;
        finite = finite && isfinite(target->log_density(target->of, at, down));
        at[i] = z[i];
        for (size_t j = 0; j < n; j++)
            curvature[i * n + j] = (down[j] - up[j]) / (2 * step);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double mean = (curvature[i * n + j] + curvature[j * n + i]) / 2;
            finite = finite && isfinite(mean);
            curvature[i * n + j] = curvature[j * n + i] = mean;
        }
    return finite;
}

/* Curvature in units of its own diagonal that a direction has at least. */
static const double least = 1e-3;

/* Eigenvalues of the scaled curvature count by their size. */
dp_status dpi_curvature_factor(size_t d, const double *spread, double *const square[3], double *w,
                               dp_error *err)
{
    double *c = square[0], *v = square[1], *cov = square[2];
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double scaled = c[i * d + j] * spread[i] * spread[j];
            c[i * d + j] = isfinite(scaled) ? scaled : i == j;
        }
    dp_status status = dpi_matrix_eigen(d, c, w, v, err);
    for (size_t i = 0; i < d && status == DP_OK; i++)
        for (size_t j = 0; j < d; j++)
            c[i * d + j] = v[i * d + j] / sqrt(fmax(fabs(w[j]), least));
    if (status == DP_OK) {
        dpi_gemm_global(false, true, d, d, d, c, c, cov);
        if (dpi_matrix_factor(d, cov, cov, NULL) != DP_OK) { /* along a ridge with no end */
            memset(cov, 0, d * d * sizeof *cov);
            for (size_t i = 0; i < d; i++)
                cov[i * (d + 1)] = 1;
        }
    }
    for (size_t i = 0; i < d && status == DP_OK; i++)
        for (size_t j = 0; j <= i; j++)
            cov[i * d + j] *= spread[i];
    return status;
}
