/* Scores whose slope is not quite known. */
#include "infer/doubt.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "num/linalg.h"
#include "num/matrix.h"

/* Eigenvalues of W, as a share of the largest, that are 0 but for rounding. */
static const double none = 1e-12;

bool dpi_doubt_init(dpi_doubt *o, size_t d, dpi_arena *arena)
{
    *o = (dpi_doubt){.d = d};
    double **vector[] = {&o->part, &o->score, &o->u, &o->x};
    bool ok = true;
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        ok = ok && (*vector[k] = dpi_arena_alloc(arena, d, sizeof(double))) != NULL;
    ok = ok && (o->into = dpi_arena_alloc(arena, d * d, sizeof(double))) != NULL;
    return ok && dpi_rows_init(&o->ahead, d, DPI_ROWS_WHOLE, arena) &&
           dpi_rows_init(&o->back, d, DPI_ROWS_WHOLE, arena);
}

/* p[d][d], the columns of lower times vectors, the largest eigenvalues before those that are 0. */
static void sort_out(dpi_doubt *o, const double *values, const double *lower, double *vectors,
                     double *p)
{
    size_t d = o->d, last = d;
    double largest = 0;
    o->rank = 0;
    for (size_t j = 0; j < d; j++)
        largest = fmax(largest, values[j]);
    for (size_t j = 0; j < d; j++) {
        bool some = values[j] > none * largest;
        size_t at = some ? o->rank++ : --last;
        o->part[at] = some ? values[j] : 0;
        for (size_t i = 0; i < d; i++)
            p[i * d + at] = vectors[i * d + j];
    }
    memcpy(vectors, p, d * d * sizeof *p);
    dpi_matrix_product(d, lower, vectors, p);
}

/* P'H by rows and by columns, P'S and P^-1; room[d][d]. */
static dp_status turn(dpi_doubt *o, const dpi_doubt_of *of, const double *p, double *across,
                      double *room, dp_error *err)
{
    size_t d = o->d;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            across[j * d + i] = p[i * d + j];
    dpi_matrix_times(d, across, of->score, o->score);
    dpi_matrix_product(d, across, of->slope, room);
    dpi_rows_set_across(&o->ahead, room);
    dpi_rows_set(&o->back, room);
    return dpi_matrix_inverse(d, p, o->into, err);
}

/* lower lower' = N^-1, in whose units rounding may have left a little less than nothing. */
static dp_status factor(size_t d, const double *inverse, double *lower, dp_error *err)
{
    dp_status status = dpi_matrix_factor(d, inverse, lower, NULL); /* an error would stay */
    for (double more = 1e-14; status == DP_EDOMAIN && more < 1e-3; more *= 10) {
        memcpy(lower, inverse, d * d * sizeof *lower);
        for (size_t i = 0; i < d; i++)
            lower[i * d + i] *= 1 + more;
        status = dpi_matrix_factor(d, lower, lower, NULL);
    }
    if (status == DP_ENOMEM)
        return dpi_fail_nomem(err);
    return status == DP_OK ? DP_OK : dpi_fail(err, status, "what was released has no variance");
}

/* With L L' = N^-1 and L'W L = V part V', P = L V makes N the unit matrix and W diagonal. */
dp_status dpi_doubt_set(dpi_doubt *o, const dpi_doubt_of *of, dp_error *err)
{
    size_t d = o->d, n = d * d;
    o->half = of->dense > 1 ? of->sd * of->sd / 2 : 0; /* of one number, its trace is all */
    o->along = 1 - 2 / (double)of->dense;
    if (o->half == 0)
        return DP_OK;
    double *lower = dpi_alloc(4 * d + 1, d * sizeof *lower);
    if (lower == NULL)
        return dpi_fail_nomem(err);
    double *vectors = lower + n, *p = vectors + n, *room = p + n, *values = room + n;
    dp_status status = factor(d, of->inverse, lower, err);
    if (status == DP_OK) {
        dpi_matrix_congruence(d, lower, of->lengths, room, p);
        status = dpi_matrix_eigen(d, p, values, vectors, err);
    }
    if (status == DP_OK) {
        sort_out(o, values, lower, vectors, p);
        status = turn(o, of, p, vectors, room, err);
    }
    dpi_free(lower);
    return status;
}

void dpi_doubt_copy(dpi_doubt *to, const dpi_doubt *from)
{
    size_t square = to->ahead.stride * to->ahead.stride;
    to->half = from->half;
    to->along = from->along;
    to->rank = from->rank;
    memcpy(to->part, from->part, to->d * sizeof *to->part);
    memcpy(to->score, from->score, to->d * sizeof *to->score);
    memcpy(to->into, from->into, to->d * to->d * sizeof *to->into);
    memcpy(to->ahead.a, from->ahead.a, square * sizeof *to->ahead.a);
    memcpy(to->back.a, from->back.a, square * sizeof *to->back.a);
}

/* By P: N = D + a g g', D diagonal, 1 + h |u|^2 w, and g = w u; x = N^-1 (score - P'H delta).  Of
 * the logarithm of the determinant and of the square that x makes, derivatives by N are N^-1 and
 * -x x'. */
double dpi_doubt_at(dpi_doubt *o, const double *delta, double *gradient)
{
    size_t d = o->d, rank = o->rank;
    const double h = o->half, a = o->along * h, *w = o->part;
    double *u = o->u, *x = o->x;
    double square = 0, sum = 0, told = 0, one = 1, trace = 0, lost = 0, spread = 0, both = 0;
    dpi_rows_combine(&o->ahead, delta, x);
    for (size_t k = 0; k < rank; k++) {
        u[k] = dpi_dot(d, o->into + k * d, delta);
        square += w[k] * u[k] * u[k];
    }
    for (size_t k = 0; k < d; k++)
        x[k] = o->score[k] - x[k];
    for (size_t k = rank; k < d; k++)
        sum += x[k] * x[k];
    for (size_t k = 0; k < rank; k++) {
        double wide = 1 + h * square * w[k], g = w[k] * u[k];
        told += g * x[k] / wide;
        one += a * g * g / wide;
        trace += w[k] / wide;
        lost += w[k] * g * g / (wide * wide);
        sum += log(wide) + x[k] * x[k] / wide;
    }
    sum += log(one) - a * told * told / one;
    trace -= a * lost / one;
    for (size_t k = 0; k < rank; k++) {
        x[k] = (x[k] - a * told / one * w[k] * u[k]) / (1 + h * square * w[k]);
        spread += w[k] * x[k] * x[k];
        both += w[k] * u[k] * x[k];
    }
    dpi_rows_combine(&o->back, x, gradient);
    for (size_t k = 0; k < rank; k++) {
        double g = w[k] * u[k], back = g / (1 + h * square * w[k]) / one; /* N^-1 g */
        double pull = h * g * (trace - spread) + a * w[k] * (back - x[k] * both);
        for (size_t i = 0; i < d; i++)
            gradient[i] -= pull * o->into[k * d + i];
    }
    return -sum / 2;
}
