/* Small dense matrices, and regressions in standardised coordinates (answers-standard.h). */
#include "answers-standard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool dense_factor(size_t d, double *a)
{
    for (size_t j = 0; j < d; j++) {
        for (size_t k = 0; k < j; k++)
            for (size_t i = j; i < d; i++)
                a[i * d + j] -= a[i * d + k] * a[j * d + k];
        if (!(a[j * d + j] > 0))
            return false;
        double root = sqrt(a[j * d + j]);
        for (size_t i = j; i < d; i++)
            a[i * d + j] /= root;
    }
    return true;
}

void dense_solve_lower(size_t d, const double *l, double *v)
{
    for (size_t i = 0; i < d; i++) {
        for (size_t k = 0; k < i; k++)
            v[i] -= l[i * d + k] * v[k];
        v[i] /= l[i * d + i];
    }
}

void dense_solve_upper(size_t d, const double *l, double *v)
{
    for (size_t i = d; i-- > 0;) {
        for (size_t k = i + 1; k < d; k++)
            v[i] -= l[k * d + i] * v[k];
        v[i] /= l[i * d + i];
    }
}

double dense_dot(size_t d, const double *a, const double *b)
{
    double s = 0;
    for (size_t j = 0; j < d; j++)
        s += a[j] * b[j];
    return s;
}

/* ---- standardised coordinates ---- */

static void moments(size_t n, size_t step, const double *v, double *mean, double *sd)
{
    double s = 0, ss = 0;
    for (size_t i = 0; i < n; i++)
        s += v[i * step] / (double)n;
    for (size_t i = 0; i < n; i++)
        ss += (v[i * step] - s) * (v[i * step] - s) / (double)n;
    bool varies = ss > 1e-20 * s * s;
    *mean = varies ? s : 0;
    *sd = varies ? sqrt(ss) : 1;
}

standard standard_of(const regression *r)
{
    standard s = {.r = r, .n = r->n, .p = r->p, .y_spread = 1};
    s.x = answers_alloc(r->n * r->p, sizeof *s.x);
    s.y = answers_alloc(r->n, sizeof *s.y);
    s.middle = answers_alloc(r->p, sizeof *s.middle);
    s.spread = answers_alloc(r->p, sizeof *s.spread);
    for (size_t j = 0; j < r->p; j++)
        moments(r->n, r->p, r->x + j, &s.middle[j], &s.spread[j]);
    if (regression_has_noise(r))
        moments(r->n, 1, r->y, &s.y_middle, &s.y_spread);
    for (size_t i = 0; i < r->n; i++) {
        s.y[i] = (r->y[i] - s.y_middle) / s.y_spread;
        for (size_t j = 0; j < r->p; j++)
            s.x[i * r->p + j] = (r->x[i * r->p + j] - s.middle[j]) / s.spread[j];
    }
    return s;
}

void standard_free(standard *s)
{
    free(s->x), free(s->y), free(s->middle), free(s->spread);
}

void standard_coefficients(const standard *s, const double *z, double *w)
{
    w[0] = s->y_middle + s->y_spread * z[0];
    for (size_t j = 1; j < s->p; j++) {
        w[j] = s->y_spread * z[j] / s->spread[j];
        w[0] -= s->middle[j] * w[j];
    }
}

void standard_row(const standard *s, size_t j, double *row)
{
    memset(row, 0, s->p * sizeof *row);
    row[j] = s->y_spread / s->spread[j];
    for (size_t k = 1; j == 0 && k < s->p; k++)
        row[k] = -s->y_spread * s->middle[k] / s->spread[k];
}
