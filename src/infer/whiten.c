/* The factor of the sampler's coordinates, learnt from what it has drawn.
 *
 * The covariance is that within chains, so that a chain which is elsewhere does not stretch it.
 * With r_ij the correlations of the window and s_i the standard deviations, the new covariance is
 *
 *   s_i s_j (1 - w) r_ij off the diagonal, s_i^2 on it,
 *   w = sum_(i>j) (1 - r_ij^2)^2 / N  over  sum_(i>j) r_ij^2
 *
 * (Schaefer and Strimmer 2005, Stat. Appl. Genet. Mol. Biol. 4(1) 32, target D, with the variance
 * of a correlation that normal draws have), w at most 1 and at least least_weight, which keeps the
 * matrix positive definite.  N counts draws as if they were independent: with a the mean
 * autocorrelation of neighbours, (1 - a) / (1 + a) of them.  The coordinates are white if what was
 * known before was right, and to shrink is to go back to that, with scales renewed. */
#include "infer/whiten.h"

#include <math.h>
#include <string.h>

#include "num/linalg.h"

enum { FEWEST = 4 };

static const double least_weight = 1e-3;

static void centre(size_t draws, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t t = 0; t < draws; t++)
            sum += x[t * n + i];
        for (size_t t = 0; t < draws; t++)
            x[t * n + i] -= sum / (double)draws;
    }
}

/* products[i][j] += sum of x_i x_j, for j <= i. */
static void add_products(size_t draws, size_t n, const double *x, double *products)
{
    for (size_t t = 0; t < draws; t++, x += n)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++)
                products[i * n + j] += x[i] * x[j];
}

/* As many independent draws as the window has, by the autocorrelation of neighbours. */
static double count(const dpi_hmc_window *w, const double *products)
{
    const size_t n = w->n;
    double mean = 0;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t c = 0; c < w->chains; c++)
            for (size_t t = 1; t < w->draws; t++) {
                const double *x = w->x + (c * w->draws + t) * n + i;
                sum += x[0] * *(x - n);
            }
        mean += products[i * n + i] > 0 ? sum / products[i * n + i] / (double)n : 0;
    }
    mean = mean > 0 ? fmin(mean, 0.98) : 0;
    return (double)(w->chains * (w->draws - 1)) * (1 - mean) / (1 + mean);
}

/* Below the diagonal correlations, on it standard deviations; 1 where nothing has moved. */
static void make_correlations(size_t n, double degrees, double *products)
{
    for (size_t i = 0; i < n; i++) {
        double square = products[i * n + i];
        products[i * n + i] = square > 0 && isfinite(square) ? sqrt(square / degrees) : 1;
        for (size_t j = 0; j < i; j++) {
            double r = products[i * n + j] / degrees / products[i * n + i] / products[j * n + j];
            products[i * n + j] = fabs(r) <= 1 ? r : 0;
        }
    }
}

static double shrinkage(size_t n, double number, const double *correlations)
{
    double noise = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            double square = correlations[i * n + j] * correlations[i * n + j];
            noise += (1 - square) * (1 - square) / number;
            squares += square;
        }
    double weight = squares > 0 ? noise / squares : 1;
    return fmin(1, fmax(weight, least_weight));
}

/* The Cholesky factor of the matrix whose lower triangle is given, in its place.  A pivot that
 * rounding has left with nothing is set to `least`. */
static void factorise(size_t n, double least, double *a)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            a[i * n + j] = (a[i * n + j] - dpi_dot(j, a + i * n, a + j * n)) / a[j * n + j];
        double pivot = a[i * n + i] - dpi_dot(i, a + i * n, a + i * n);
        a[i * n + i] = sqrt(pivot > least ? pivot : least);
    }
}

/* factor = factor c, row by row from the left: an element needs its own row from itself on. */
static void multiply(size_t n, const double *c, double *factor)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t k = j; k <= i; k++)
                sum += factor[i * n + k] * c[k * n + j];
            factor[i * n + j] = sum;
        }
}

void dpi_whiten_learn(const dpi_hmc_window *window, double *scratch, double *factor)
{
    const size_t n = window->n;
    if (window->draws < FEWEST)
        return;
    memset(scratch, 0, n * n * sizeof *scratch);
    for (size_t c = 0; c < window->chains; c++) {
        double *x = window->x + c * window->draws * n;
        centre(window->draws, n, x);
        add_products(window->draws, n, x, scratch);
    }
    double number = count(window, scratch);
    make_correlations(n, (double)(window->chains * (window->draws - 1)), scratch);
    double weight = shrinkage(n, number, scratch);
    /* The factor of the correlations, its rows times the standard deviations: so no scale is lost
     * beside a larger one. */
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            scratch[i * n + j] *= 1 - weight;
        for (size_t j = i; j < n; j++)
            factor[j * n + i] *= scratch[i * n + i]; /* column i: factor diag(s) */
        scratch[i * n + i] = 1;
    }
    factorise(n, least_weight / 2, scratch);
    multiply(n, scratch, factor);
}
