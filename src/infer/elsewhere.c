/* With weights phi(from'x) all records are A = sum phi, and x has mean m and covariance V,
 * A m = F e and A (V + m m') = F for the constant's unit vector e.  Let z be two independent
 * standard numbers of which both predictors are made,
 *
 *   (from'x, to'x) = mean + L z,   x = m + K z + rest,   K = V [from to] L'^-1
 *
 * the rest being independent of z, of covariance V - K K', and r = phi(to'x) / phi(from'x).  Then
 *
 *   F(to) = A (E r (m + K z)(m + K z)' + E r (V - K K'))
 *
 * with the five moments of z under r by sums over a grid.  It is positive definite whenever V is
 * not negative, as r is positive. */
#include "infer/elsewhere.h"

#include <math.h>

#include "base/alloc.h"
#include "base/error.h"
#include "num/linalg.h"
#include "num/matrix.h"

enum { NODES = 25 };

/* Ends of the grid, and by what factor a move may change what all records tell of the constant. */
static const double farthest = 4.5, longest = 8;

/* Below it a standard deviation is 0: nothing of a predictor varies. */
static const double still = 1e-9;

/* E r, E r z and E r z z'. */
typedef struct pair_moments {
    double all, one[2], two[2][2];
} pair_moments;

typedef struct pair {
    double mean[2], factor[2][2]; /* of from'x and to'x; L, lower */
} pair;

static void add_node(pair_moments *m, double weight, const double z[2])
{
    m->all += weight;
    for (int i = 0; i < 2; i++) {
        m->one[i] += weight * z[i];
        for (int j = 0; j < 2; j++)
            m->two[i][j] += weight * z[i] * z[j];
    }
}

static pair_moments find_moments(const dpi_predictor_told *l, const pair *p)
{
    double at[NODES], weight[NODES], total = 0;
    pair_moments m = {.all = 0};
    for (int i = 0; i < NODES; i++) {
        at[i] = farthest * (2.0 * i / (NODES - 1) - 1);
        weight[i] = exp(-at[i] * at[i] / 2);
        total += weight[i];
    }
    for (int i = 0; i < NODES; i++) {
        const double here = l->phi(l->of, p->mean[0] + p->factor[0][0] * at[i]);
        for (int j = 0; j < NODES && here > 0; j++) {
            const double z[] = {at[i], at[j]};
            const double eta = p->mean[1] + p->factor[1][0] * z[0] + p->factor[1][1] * z[1];
            add_node(&m, weight[i] * weight[j] / (total * total) * l->phi(l->of, eta) / here, z);
        }
    }
    return m;
}

/* L from the covariances of both, and K[2][n], which comes as V [from to]. */
static void find_factor(size_t n, const double *from, const double *to, pair *p, double *k)
{
    double *other = k + n;
    const double first = sqrt(fmax(dpi_dot(n, from, k), 0));
    p->factor[0][0] = first > still ? first : 0;
    p->factor[1][0] = first > still ? dpi_dot(n, to, k) / first : 0;
    const double left = dpi_dot(n, to, other) - p->factor[1][0] * p->factor[1][0];
    const double second = sqrt(fmax(left, 0));
    /* what rounding leaves of equal predictors is nothing */
    p->factor[1][1] = second > 1e-6 * fabs(p->factor[1][0]) + still ? second : 0;
    for (size_t i = 0; i < n; i++) {
        k[i] = first > still ? k[i] / first : 0;
        other[i] = p->factor[1][1] > 0 ? (other[i] - p->factor[1][0] * k[i]) / p->factor[1][1] : 0;
    }
}

/* information / A = E r (m + K z)(m + K z)' + E r (V - K K'); V comes in it. */
static void put_together(size_t n, double all, const pair_moments *r, const double *mean,
                         const double *k, double *information)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = r->all * (information[i * n + j] + mean[i] * mean[j]);
            for (int a = 0; a < 2; a++) {
                sum += r->one[a] * (mean[i] * k[a * n + j] + k[a * n + i] * mean[j]);
                for (int b = 0; b < 2; b++)
                    sum += (r->two[a][b] - (a == b ? r->all : 0)) * k[a * n + i] * k[b * n + j];
            }
            information[i * n + j] = all * sum;
        }
}

dp_status dpi_elsewhere(const dpi_predictor_told *l, const double *from, const double *to,
                        double *information, bool *known, dp_error *err)
{
    const size_t n = l->n;
    const double all = information[l->constant * n + l->constant];
    double *mean = dpi_alloc(n + 3, n * sizeof *mean), *k = mean + n, *spread = k + 2 * n;
    if (mean == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        mean[i] = information[l->constant * n + i] / all;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            spread[i * n + j] = information[i * n + j] / all - mean[i] * mean[j];
    pair p = {.mean = {dpi_dot(n, mean, from), dpi_dot(n, mean, to)}};
    dpi_matrix_times(n, spread, from, k);
    dpi_matrix_times(n, spread, to, k + n);
    find_factor(n, from, to, &p, k);
    const pair_moments r = find_moments(l, &p);
    *known = all > 0 && r.all > 1 / longest && r.all < longest;
    if (*known) {
        for (size_t e = 0; e < n * n; e++)
            information[e] = spread[e];
        put_together(n, all, &r, mean, k, information);
    }
    dpi_free(mean);
    return DP_OK;
}
