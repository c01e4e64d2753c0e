/* Polynomials by Remez' exchange (1934).
 *
 * Of odd Chebyshev polynomials T_1, T_3 ... T_(2 m - 1), for a <= x <= 1: the one nearest to 1 is
 * off by d to one side and the other at m + 1 points in turn.  What is off by d at m + 1 points
 * follows from these by a linear system; its extremes are the next points.  The next polynomial
 * is for (1 - d) / (1 + d) <= x <= 1: each but the last is divided by 1 + d. */
#include "fhe/sign.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "fhe/ckks-parts.h"
#include "fhe/polynomial.h"

enum { POINTS = (DPI_CKKS_SIGN_DEGREE + 1) / 2 + 1, GRID = 1 << 14, STEPS = 60 };

/* ---- one polynomial ---- */

/* Gauss' elimination with pivots, of n <= POINTS equations with the right side in column n. */
static void solve(size_t n, double (*m)[POINTS + 1], double *x)
{
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(m[i][k]) > fabs(m[best][k]))
                best = i;
        for (size_t j = 0; j <= n; j++) {
            const double kept = m[k][j];
            m[k][j] = m[best][j];
            m[best][j] = kept;
        }
        for (size_t i = k + 1; i < n; i++)
            for (size_t j = n + 1; j-- > k;)
                m[i][j] -= m[i][k] / m[k][k] * m[k][j];
    }
    for (size_t k = n; k-- > 0;) {
        x[k] = m[k][n];
        for (size_t j = k + 1; j < n; j++)
            x[k] -= m[k][j] * x[j];
        x[k] /= m[k][k];
    }
}

/* Between a and 1, dense at both ends; grid points are as many by the logarithm as by x. */
static double grid(double a, size_t i)
{
    const double part = (1 - cos(M_PI * (double)i / GRID)) / 2;
    return exp(log(a) * (1 - part));
}

/* p with p(x_i) = 1 + (-1)^i d at the points; d is returned. */
static double level(size_t degree, const double *x, double *p)
{
    const size_t n = (degree + 1) / 2 + 1;
    double m[POINTS][POINTS + 1], y[POINTS];
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k + 1 < n; k++)
            m[i][k] = cos((double)(2 * k + 1) * acos(x[i]));
        m[i][n - 1] = i % 2 == 0 ? 1 : -1;
        m[i][n] = 1;
    }
    solve(n, m, y);
    memset(p, 0, (degree + 1) * sizeof *p);
    for (size_t k = 0; k + 1 < n; k++)
        p[2 * k + 1] = y[k];
    return fabs(y[n - 1]);
}

/* Of the first and the last extreme the lesser one, of n, is left out. */
static void leave_out(size_t n, double *x, double *e)
{
    if (e[0] < e[n - 1]) {
        memmove(x, x + 1, (n - 1) * sizeof *x);
        memmove(e, e + 1, (n - 1) * sizeof *e);
    }
}

/* The extremes of p - 1, one for each run of a sign, of which there are as many as points or more:
 * n in a row stay.  False where there are fewer. */
static bool exchange(size_t degree, double a, const double *p, double *x, double *most)
{
    const size_t n = (degree + 1) / 2 + 1;
    size_t runs = 0;
    double last = 0, at[2 * POINTS], size[2 * POINTS];
    *most = 0;
    for (size_t i = 0; i <= GRID; i++) {
        const double t = grid(a, i), e = dpi_ckks_polynomial_at(degree, p, t) - 1;
        if (runs == 0 || (e * last < 0 && runs < 2 * POINTS))
            size[runs++] = -1;
        if (fabs(e) > size[runs - 1]) {
            size[runs - 1] = fabs(e);
            at[runs - 1] = t;
        }
        last = e;
        *most = fmax(*most, fabs(e));
    }
    for (; runs > n; runs--)
        leave_out(runs, at, size);
    memcpy(x, at, n * sizeof *x);
    return runs == n;
}

/* The largest error; infinite where none is found. */
static double nearest_to_one(size_t degree, double a, double *p)
{
    const size_t n = (degree + 1) / 2 + 1;
    double x[POINTS], most = INFINITY;
    for (size_t i = 0; i < n; i++)
        x[i] = pow(a, 1 - (double)i / (double)(n - 1));
    for (int step = 0; step < STEPS; step++) {
        const double d = level(degree, x, p);
        if (!exchange(degree, a, p, x, &most))
            return INFINITY;
        if (most <= d * (1 + 1e-6) + 1e-13)
            break;
    }
    return most;
}

/* ---- their composition ---- */

dp_status dpi_ckks_sign_make(int alpha, dpi_ckks_sign *s, dp_error *err)
{
    static const size_t degree[DPI_CKKS_SIGNS] = {15, 15, 27};
    if (alpha < 8 || alpha > 12)
        return dpi_fail(err, DP_EDOMAIN,
                        "numbers are told from 0 from 2^-8 ... 2^-12 on, not from 2^-%d on: nearer "
                        "to it takes other degrees, and farther off fewer",
                        alpha);
    double a = exp2(-alpha);
    *s = (dpi_ckks_sign){.off = 0};
    for (int k = 0; k < DPI_CKKS_SIGNS; k++) {
        s->degree[k] = degree[k];
        s->off = nearest_to_one(degree[k], a, s->a[k]);
        if (!(s->off < 1))
            return dpi_fail(
                err, DP_EACCURACY,
                "no polynomial of degree %zu is near 1 from %g on; take a smaller alpha", degree[k],
                a);
        a = (1 - s->off) / (1 + s->off);
        for (size_t i = 0; k + 1 < DPI_CKKS_SIGNS && i <= degree[k]; i++)
            s->a[k][i] /= 1 + s->off;
    }
    return DP_OK;
}

size_t dpi_ckks_sign_levels(void)
{
    return 2 * dpi_ckks_polynomial_levels(15) + dpi_ckks_polynomial_levels(27);
}

size_t dpi_ckks_relu_levels(void)
{
    return dpi_ckks_sign_levels() + 1;
}

double dpi_ckks_sign_at(const dpi_ckks_sign *s, double x)
{
    for (int k = 0; k < DPI_CKKS_SIGNS; k++)
        x = dpi_ckks_polynomial_at(s->degree[k], s->a[k], x);
    return x;
}

double dpi_ckks_relu_at(const dpi_ckks_sign *s, double x)
{
    return x * (1 + dpi_ckks_sign_at(s, x)) / 2;
}

/* to = the sign, times `height`. */
static dp_status apply(const dpi_ckks *c, const dpi_ckks_sign *s, double height,
                       const dpi_ckks_cipher *x, const dpi_ckks_switch *square, dpi_ckks_room *room,
                       dpi_ckks_cipher *to, dp_error *err)
{
    dpi_ckks_cipher y;
    dp_status status = dpi_ckks_take(room, x->level, &y, err);
    if (status != DP_OK)
        return status;
    dpi_ckks_copy(c, x, to);
    for (int k = 0; k < DPI_CKKS_SIGNS && status == DP_OK; k++) {
        double a[DPI_CKKS_SIGN_DEGREE + 1];
        for (size_t i = 0; i <= s->degree[k]; i++)
            a[i] = (k + 1 < DPI_CKKS_SIGNS ? 1 : height) * s->a[k][i];
        status = dpi_ckks_polynomial(c, s->degree[k], a, to, square, room, &y, err);
        if (status == DP_OK)
            dpi_ckks_copy(c, &y, to);
        to->size = k + 1 < DPI_CKKS_SIGNS ? 1 : height * (1 + s->off);
    }
    dpi_ckks_give(room, &y);
    return status;
}

dp_status dpi_ckks_sign_apply(const dpi_ckks *c, const dpi_ckks_sign *s, const dpi_ckks_cipher *x,
                              const dpi_ckks_switch *square, dpi_ckks_room *room,
                              dpi_ckks_cipher *to, dp_error *err)
{
    return apply(c, s, 1, x, square, room, to, err);
}

dp_status dpi_ckks_relu_apply(const dpi_ckks *c, const dpi_ckks_sign *s, const dpi_ckks_cipher *x,
                              const dpi_ckks_switch *square, dpi_ckks_room *room,
                              dpi_ckks_cipher *to, dp_error *err)
{
    dpi_ckks_cipher low;
    dp_status status = dpi_ckks_take(room, x->level, &low, err);
    if (status != DP_OK)
        return status;
    status = apply(c, s, .5, x, square, room, to, err);
    if (status == DP_OK) {
        dpi_ckks_add_number(c, .5, to);
        dpi_ckks_copy(c, x, &low);
        dpi_ckks_lower(c, to->level, room, &low);
        dpi_ckks_multiply(c, to, &low, square, room, to);
        dpi_ckks_rescale(c, room, to);
        to->size = x->size * (1 + s->off / 2);
    }
    dpi_ckks_give(room, &low);
    return status;
}
