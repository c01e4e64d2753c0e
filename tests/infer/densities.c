#include "tests/infer/densities.h"

#include <math.h>
#include <stdlib.h>

#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { N = DENSITY_N };

const double density_mean[N] = {2.385, -117, 0.03};
const double density_root[N][N] = {
    {1.5, 0, 0}, {-20, 12.5, 0}, {0.01, 0.02, 0.04}}; /* z = m + L u */

double density_normal(void *of, const double *z, double *gradient)
{
    density_told *t = of;
    double u[N], value = 0;
    t->calls++;
    if (t->calls == t->settled)
        t->bytes = faulty_bytes();
    t->grew = t->grew || (t->calls > t->settled && faulty_bytes() != t->bytes);
    for (int i = 0; i < N; i++) {
        u[i] = z[i] - density_mean[i];
        for (int j = 0; j < i; j++)
            u[i] -= density_root[i][j] * u[j];
        u[i] /= density_root[i][i];
        value -= u[i] * u[i] / 2;
    }
    for (int i = N - 1; i >= 0; i--) { /* gradient = -L^-T u */
        gradient[i] = -u[i];
        for (int j = i + 1; j < N; j++)
            gradient[i] -= density_root[j][i] * gradient[j];
        gradient[i] /= density_root[i][i];
    }
    for (int i = 0; i < N; i++)
        gradient[i] *= t->slope;
    return value;
}

double density_variance(int i)
{
    double sum = 0;
    for (int j = 0; j <= i; j++)
        sum += density_root[i][j] * density_root[i][j];
    return sum;
}

double density_student(void *of, const double *z, double *gradient)
{
    double value = 0;
    for (int i = 0; i < 2; i++) {
        value -= 3 * log1p(z[i] * z[i] / 5);
        gradient[i] = -6 * z[i] / (5 + z[i] * z[i]) * *(const double *)of;
    }
    return value;
}

double density_funnel(void *of, const double *z, double *gradient)
{
    (void)of;
    double square = z[1] * z[1] * exp(-z[0]);
    gradient[0] = -z[0] - 0.5 + square / 2;
    gradient[1] = -z[1] * exp(-z[0]);
    return -z[0] * z[0] / 2 - z[0] / 2 - square / 2;
}

double density_bounded(void *of, const double *z, double *gradient)
{
    (void)of;
    double x = exp(z[0]), p = 1 / (1 + exp(-z[1]));
    gradient[0] = 2.5 - 3 * x;
    gradient[1] = 2 * (1 - p) - 3 * p;
    return 2.5 * z[0] - 3 * x + 2 * log(p) + 3 * log1p(-p);
}

double density_half(void *of, const double *z, double *gradient)
{
    gradient[0] = z[0] > 0 ? -z[0] : (double)NAN;
    return z[0] > 0 ? -z[0] * z[0] / 2 : *(const double *)of;
}

double density_two_modes(void *of, const double *z, double *gradient)
{
    (void)of;
    double from = z[0] > 0 ? z[0] - 20 : z[0] + 20;
    gradient[0] = -from;
    return -from * from / 2;
}

double density_white(void *of, const double *z, double *gradient)
{
    double value = 0;
    for (int i = 0; i < 20; i++) {
        value -= z[i] * z[i] / 2;
        gradient[i] = -z[i] * *(const double *)of;
    }
    return value;
}

double *hmc_room(size_t size)
{
    double *made = calloc(size, sizeof *made);
    assert_non_null(made);
    return made;
}

dp_rng *hmc_rng(uint64_t seed)
{
    dp_error err = {0};
    dp_rng *rng;
    assert_ok(dp_rng_new(seed, &rng, &err), err.text);
    return rng;
}

double *hmc_run(dpi_target target, dpi_hmc_opts opts, uint64_t seed, dpi_hmc_report *report)
{
    dp_error err = {0};
    dp_rng *rng = hmc_rng(seed);
    double *draws = hmc_room(opts.chains * opts.draws * target.n),
           *start = hmc_room(opts.chains * target.n);
    if (opts.start == NULL)
        opts.start = start;
    assert_ok(dpi_hmc(&target, &opts, rng, draws, report, &err), err.text);
    dp_rng_free(rng);
    free(start);
    return draws;
}
