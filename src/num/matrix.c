/* Eigenvalues and factors of symmetric matrices.  A product is of the order of n^3. */
#include "num/matrix.h"

#include <gsl/gsl_eigen.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/error.h"
#include "num/linalg.h"

static dp_status not_positive(dp_error *err)
{
    return dpi_fail(err, DP_EDOMAIN, "a matrix that must be positive definite is not");
}

static bool finite_all(size_t n, const double *a)
{
    bool finite = true;
    for (size_t i = 0; i < n; i++)
        finite = finite && isfinite(a[i]);
    return finite;
}

/* out = V w V', by columns of V. */
static void compose(size_t n, const double *w, const double *v, double *out)
{
    memset(out, 0, n * n * sizeof *out);
    for (size_t e = 0; e < n; e++)
        for (size_t i = 0; i < n; i++) {
            double left = w[e] * v[i * n + e];
            for (size_t j = 0; j < n; j++)
                out[i * n + j] += left * v[j * n + e];
        }
}

/* Room is [2][n][n] and [5][n].  GSL's own allocation would abort where memory is out. */
static void decompose(size_t n, const double *a, double *room, double *v, double *w)
{
    double *copy = room, *rest = room + n * n;
    memcpy(copy, a, n * n * sizeof *a);
    gsl_matrix_view from = gsl_matrix_view_array(copy, n, n), to = gsl_matrix_view_array(v, n, n);
    gsl_vector_view values = gsl_vector_view_array(w, n);
    gsl_eigen_symmv_workspace work = {n, rest, rest + n, rest + 2 * n, rest + 3 * n};
    (void)gsl_eigen_symmv(&from.matrix, &values.vector, &to.matrix, &work);
}

/* out = V f(w) V'; false from f: not positive. */
typedef struct spectral {
    double power, floor, least;
} spectral;

static dp_status apply(size_t n, const double *a, const spectral *f, double *out, dp_error *err)
{
    if (!finite_all(n * n, a))
        return not_positive(err);
    double *room = dpi_alloc(2 * n + 5, n * sizeof *room);
    if (room == NULL)
        return dpi_fail_nomem(err);
    double *v = room + n * n + 4 * n, *w = v + n * n;
    dp_status status = DP_OK;
    decompose(n, a, room, v, w);
    for (size_t e = 0; e < n && status == DP_OK; e++) {
        w[e] = w[e] < f->least ? 1 : fmax(w[e], f->floor);
        if (f->power != 1 && !(f->power > 0 ? w[e] >= 0 : w[e] > 0))
            status = not_positive(err);
        else if (f->power != 1)
            w[e] = pow(w[e], f->power);
    }
    if (status == DP_OK)
        compose(n, w, v, out);
    dpi_free(room);
    return status;
}

dp_status dpi_matrix_eigen(size_t n, const double *a, double *w, double *v, dp_error *err)
{
    if (!finite_all(n * n, a))
        return not_positive(err);
    double *room = dpi_alloc(n + 4, n * sizeof *room);
    if (room == NULL)
        return dpi_fail_nomem(err);
    decompose(n, a, room, v, w);
    dpi_free(room);
    return DP_OK;
}

dp_status dpi_matrix_power(size_t n, const double *a, double power, double floor, double *out,
                           dp_error *err)
{
    const spectral f = {.power = power, .floor = floor, .least = -INFINITY};
    return apply(n, a, &f, out, err);
}

dp_status dpi_matrix_root(size_t n, const double *a, double least, double *out, dp_error *err)
{
    const spectral f = {.power = -0.5, .floor = -INFINITY, .least = least};
    return apply(n, a, &f, out, err);
}

dp_status dpi_matrix_factor(size_t n, const double *a, double *out, dp_error *err)
{
    if (out != a)
        memcpy(out, a, n * n * sizeof *out);
    for (size_t j = 0; j < n; j++) {
        double pivot = out[j * n + j] - dpi_dot(j, out + j * n, out + j * n);
        if (!(pivot > 0) || !isfinite(pivot))
            return not_positive(err);
        pivot = sqrt(pivot);
        out[j * n + j] = pivot;
        for (size_t i = j + 1; i < n; i++) {
            out[i * n + j] = (out[i * n + j] - dpi_dot(j, out + i * n, out + j * n)) / pivot;
            out[j * n + i] = 0;
        }
    }
    return DP_OK;
}

DPI_LOOPS static void add(size_t n, double factor, const double *a, double *sum)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += factor * a[i];
}

/* Row by row: row i of the factor's inverse is (unit_i - sum_(e < i) L_ie row_e) / L_ii, and the
 * inverse of a is the sum of row_e' row_e. */
dp_status dpi_matrix_invert(size_t n, const double *a, double *out, dp_error *err)
{
    double *factor = dpi_alloc(n * n, 2 * sizeof *factor);
    if (factor == NULL)
        return dpi_fail_nomem(err);
    double *inverse = factor + n * n; /* of the factor, lower */
    dp_status status = dpi_matrix_factor(n, a, factor, err);
    for (size_t i = 0; i < n && status == DP_OK; i++) {
        double *row = inverse + i * n;
        memset(row, 0, n * sizeof *row);
        for (size_t e = 0; e < i; e++)
            add(e + 1, -factor[i * n + e], inverse + e * n, row);
        row[i] = 1;
        for (size_t e = 0; e <= i; e++)
            row[e] /= factor[i * n + i];
    }
    if (status == DP_OK)
        memset(out, 0, n * n * sizeof *out);
    for (size_t e = 0; e < n && status == DP_OK; e++)
        for (size_t i = 0; i <= e; i++)
            add(i + 1, inverse[e * n + i], inverse + e * n, out + i * n);
    for (size_t i = 0; i < n && status == DP_OK; i++)
        for (size_t j = 0; j < i; j++)
            out[j * n + i] = out[i * n + j];
    dpi_free(factor);
    return status;
}

static void swap_rows(size_t n, double *a, size_t i, size_t j)
{
    for (size_t e = 0; e < n && i != j; e++) {
        double kept = a[i * n + e];
        a[i * n + e] = a[j * n + e];
        a[j * n + e] = kept;
    }
}

static void subtract_row(size_t n, double *a, size_t i, double factor, size_t j)
{
    for (size_t e = 0; e < n && factor != 0; e++)
        a[i * n + e] -= factor * a[j * n + e];
}

dp_status dpi_matrix_inverse(size_t n, const double *a, double *out, dp_error *err)
{
    double *left = dpi_alloc(n * n, sizeof *left);
    if (left == NULL)
        return dpi_fail_nomem(err);
    memcpy(left, a, n * n * sizeof *left);
    for (size_t e = 0; e < n * n; e++)
        out[e] = e % (n + 1) == 0;
    dp_status status = DP_OK;
    for (size_t j = 0; j < n && status == DP_OK; j++) {
        size_t pivot = j;
        for (size_t i = j + 1; i < n; i++)
            pivot = fabs(left[i * n + j]) > fabs(left[pivot * n + j]) ? i : pivot;
        double size = left[pivot * n + j];
        if (!(fabs(size) > 0) || !isfinite(size)) {
            status = dpi_fail(err, DP_EDOMAIN, "a matrix that must have an inverse has none");
            break;
        }
        swap_rows(n, left, j, pivot);
        swap_rows(n, out, j, pivot);
        for (size_t e = 0; e < n; e++) {
            left[j * n + e] /= size;
            out[j * n + e] /= size;
        }
        for (size_t i = 0; i < n; i++) {
            double factor = i != j ? left[i * n + j] : 0;
            subtract_row(n, left, i, factor, j);
            subtract_row(n, out, i, factor, j);
        }
    }
    dpi_free(left);
    return status;
}

void dpi_matrix_product(size_t n, const double *a, const double *b, double *out)
{
    dpi_gemm(false, false, n, n, n, a, b, out);
}

void dpi_matrix_times(size_t n, const double *a, const double *x, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = dpi_dot(n, a + i * n, x);
}

void dpi_matrix_congruence(size_t n, const double *a, const double *x, double *room, double *out)
{
    dpi_matrix_product(n, x, a, room);
    memset(out, 0, n * n * sizeof *out);
    for (size_t e = 0; e < n; e++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n && a[e * n + i] != 0; j++)
                out[i * n + j] += a[e * n + i] * room[e * n + j];
}
