/* Splines by truncated powers.
 *
 * B_j is (t_(j+d+1) - t_j) times the divided difference of t -> (t - x)_+^d over t_j ... t_(j+d+1);
 * (t - x)_+^d and (-1)^(d+1) (x - t)_+^d differ by a polynomial of degree d, which the difference
 * of order d + 1 takes to 0.
 *
 * Values and bending over (0, 1) are the forms W and S with W = integral B B', S = integral of
 * B'' B''', by Gauss and Legendre's rule with four nodes between knots: exact for cubic splines.
 * With W^-1/2 S W^-1/2 = V diag(lambda) V' the functions B' W^-1/2 V are orthogonal as wanted; two
 * lambda are 0, for 1 and x, and the others are divided by root lambda. */
#include "num/spline.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "num/matrix.h"

enum { CUBIC = 3, NODES = 4 };

void dpi_spline_powers(size_t degree, size_t n, const double *knots, double *powers)
{
    size_t m = n - degree - 1;
    memset(powers, 0, n * m * sizeof *powers);
    for (size_t j = 0; j < m; j++)
        for (size_t i = j; i <= j + degree + 1; i++) {
            double share = knots[j + degree + 1] - knots[j];
            for (size_t k = j; k <= j + degree + 1; k++)
                share /= k == i ? 1 : knots[k] - knots[i];
            powers[i * m + j] = share;
        }
}

void dpi_spline_knots(size_t functions, double *knots)
{
    double pieces = (double)functions - CUBIC;
    for (size_t i = 0; i < functions + CUBIC + 1; i++)
        knots[i] = ((double)i - CUBIC) / pieces;
}

/* All functions, or their second derivatives, at x. */
static void at(size_t m, const double *knots, const double *powers, double x, bool bending,
               double *out)
{
    memset(out, 0, m * sizeof *out);
    for (size_t i = 0; i < m + CUBIC + 1; i++) {
        double r = fmax(0, x - knots[i]), power = bending ? 6 * r : r * r * r;
        for (size_t j = 0; j < m; j++)
            out[j] += power * powers[i * m + j];
    }
}

/* sum over nodes of weight f f', f being the functions or their second derivatives. */
static void form(size_t m, const double *knots, const double *powers, bool bending, double *value,
                 double *out)
{
    static const double node[NODES] = {-0.86113631159405257522, -0.33998104358485626480,
                                       0.33998104358485626480, 0.86113631159405257522};
    static const double weight[NODES] = {0.34785484513745385737, 0.65214515486254614263,
                                         0.65214515486254614263, 0.34785484513745385737};
    memset(out, 0, m * m * sizeof *out);
    for (size_t piece = CUBIC; piece < m; piece++) {
        double middle = 0.5 * (knots[piece] + knots[piece + 1]), half = knots[piece + 1] - middle;
        for (int q = 0; q < NODES; q++) {
            at(m, knots, powers, middle + half * node[q], bending, value);
            for (size_t i = 0; i < m; i++)
                for (size_t j = 0; j < m; j++)
                    out[i * m + j] += half * weight[q] * value[i] * value[j];
        }
    }
}

/* combination[m][m - 2]: of the B-splines, those functions whose bending is not 0. */
static dp_status wiggles_of(size_t m, const double *values, const double *bending, double *room,
                            double *combination, dp_error *err)
{
    double *root = room, *turned = root + m * m, *scratch = turned + m * m, *v = scratch + m * m,
           *lambda = v + m * m, total = 0;
    dp_status status = dpi_matrix_power(m, values, -0.5, 0, root, err);
    if (status != DP_OK)
        return status;
    dpi_matrix_congruence(m, root, bending, scratch, turned);
    status = dpi_matrix_eigen(m, turned, lambda, v, err);
    if (status != DP_OK)
        return status;
    dpi_matrix_product(m, root, v, turned);
    /* By falling bending, whatever order the eigenvalues are in; the last two are 0 but for
     * rounding. */
    for (size_t j = 0; j < m; j++) {
        size_t rank = 0;
        for (size_t k = 0; k < m; k++)
            rank += lambda[k] > lambda[j] || (lambda[k] == lambda[j] && k < j);
        if (rank + 2 >= m)
            continue;
        double last = turned[(m - 1) * m + j], sign = last < 0 ? -1 : 1;
        total += 1 / lambda[j];
        for (size_t i = 0; i < m; i++)
            combination[i * (m - 2) + rank] = sign * turned[i * m + j] / sqrt(lambda[j]);
    }
    for (size_t e = 0; e < m * (m - 2); e++)
        combination[e] /= sqrt(total);
    return DP_OK;
}

dp_status dpi_spline_wiggles(size_t functions, double *powers, dp_error *err)
{
    size_t m = functions, n = m + CUBIC + 1;
    double *room = dpi_alloc(n + n * m + 7 * m * m + 2 * m, sizeof *room);
    if (room == NULL)
        return dpi_fail_nomem(err);
    double *knots = room, *splines = knots + n, *values = splines + n * m,
           *bending = values + m * m, *combination = bending + m * m, *value = combination + m * m,
           *rest = value + m;
    dpi_spline_knots(m, knots);
    dpi_spline_powers(CUBIC, n, knots, splines);
    form(m, knots, splines, false, value, values);
    form(m, knots, splines, true, value, bending);
    dp_status status = wiggles_of(m, values, bending, rest, combination, err);
    for (size_t i = 0; i < n && status == DP_OK; i++)
        for (size_t j = 0; j < m - 2; j++) {
            double sum = 0;
            for (size_t k = 0; k < m; k++)
                sum += splines[i * m + k] * combination[k * (m - 2) + j];
            powers[i * (m - 2) + j] = sum;
        }
    dpi_free(room);
    return status;
}
