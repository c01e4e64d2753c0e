#include "tests/dist/formed.h"

#include <math.h>
#include <string.h>

#include "random/gsl.h"

void formed_open(formed *f, dp_dist dist)
{
    dpi_no_form wrong = {.why = NULL};
    *f = (formed){.c.family = NULL};
    assert_null(dist.family->refused);
    f->c.family = dpi_dist_family(&f->arena, &dist, &wrong);
    if (f->c.family == NULL)
        fail_msg("%s: %s", wrong.form, wrong.why);
    f->c.n_numbers = (size_t)f->c.family->n_args;
    for (int k = 0; k < f->c.family->n_args; k++)
        f->arg[k] = dist.arg[k].value;
    density_open(&f->d, &f->c, false);
}

void formed_close(formed *f)
{
    density_close(&f->d);
    dpi_arena_free(&f->arena);
}

dp_dist dist_of(const char *family, const double arg[])
{
    dp_dist dist = {.family = dpi_family_named(family)};
    assert_non_null(dist.family);
    for (int k = 0; k < dist.family->n_args; k++)
        dist.arg[k] = dp_num(arg[k]);
    return dist;
}

double formed_at(formed *f, double x, double slope[])
{
    return density_at(&f->d, x, f->arg, slope);
}

double formed_difference(formed *f, size_t k, double x)
{
    double at[1 + DPI_MAX_ARGS], by[3];
    at[0] = x;
    memcpy(at + 1, f->arg, sizeof f->arg);
    double centre = at[k], h = 4e-4 * (centre == 0 ? 1 : fmin(1, fabs(centre)));
    for (int level = 0; level < 3; level++, h /= 2) {
        at[k] = centre + h;
        double up = density_at(&f->d, at[0], at + 1, NULL);
        at[k] = centre - h;
        by[level] = (up - density_at(&f->d, at[0], at + 1, NULL)) / (2 * h);
    }
    double first = (4 * by[1] - by[0]) / 3, second = (4 * by[2] - by[1]) / 3;
    return (16 * second - first) / 15;
}

void formed_draw(const formed *f, uint64_t seed, size_t n, double *out)
{
    const double *arg[DPI_MAX_ARGS] = {NULL};
    dp_error err = {0};
    dp_rng *rng;
    assert_ok(dp_rng_new(seed, &rng, &err), err.text);
    gsl_rng source = dpi_rng_gsl(rng);
    for (int k = 0; k < f->c.family->n_args; k++)
        arg[k] = &f->arg[k];
    for (size_t i = 0; i < n; i++)
        out[i] = dpi_draw(f->c.family, &source, arg, 1);
    dp_rng_free(rng);
}

void assert_follows(size_t n, const double x[], double (*cdf)(double x, void *of), void *of)
{
    double distance = 0;
    for (size_t i = 0; i < n; i++) {
        double f = cdf(x[i], of);
        assert_true(i == 0 || x[i - 1] <= x[i]);
        distance = fmax(distance, fmax(f - (double)i / (double)n, (double)(i + 1) / (double)n - f));
    }
    double bound = sqrt(log(2 / 1e-11) / (2.0 * (double)n));
    if (!(distance <= bound))
        fail_msg("distance %g, at most %g is chance", distance, bound);
}
