/* The exact posterior of a regression with normal outcomes, without Monte Carlo.
 *
 * Given (sigma, tau) all is normal; group effects are summed out group by group
 * (V^-1 = (1 - c_k 1 1') / sigma^2, c_k = tau^2 / (sigma^2 + n_k tau^2)), and sigma and tau are
 * integrated over a grid in their logarithms. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers-standard.h"
#include "options.h"

/* Precision and linear term of the prior of z: T' P T and T' P (m - t0), added up. */
static void add_prior(const standard *s, double *precision, double *linear)
{
    double *row = answers_alloc(s->p, sizeof *row);
    for (size_t j = 0; j < s->p; j++) {
        double weight = 1 / (s->r->scale[j] * s->r->scale[j]);
        double off = s->r->mean[j] - (j == 0 ? s->y_middle : 0);
        standard_row(s, j, row);
        for (size_t a = 0; a < s->p; a++) {
            linear[a] += weight * off * row[a];
            for (size_t b = 0; b < s->p; b++)
                precision[a * s->p + b] += weight * row[a] * row[b];
        }
    }
    free(row);
}

typedef struct sums {
    double *xx, *xy, yy;        /* [p][p], [p] */
    double *count, *gx, *gy;    /* [groups], [groups][p], [groups] */
    double *precision, *linear; /* of the prior */
    double *q, *h, *v, *row;    /* work: [p][p], [p], [p], [p] */
} sums;

static sums make_sums(const standard *s)
{
    size_t p = s->p, g = s->r->groups + 1;
    sums m = {.xx = answers_alloc(p * p, sizeof(double)), .xy = answers_alloc(p, sizeof(double))};
    m.count = answers_alloc(g, sizeof(double)), m.gx = answers_alloc(g * p, sizeof(double));
    m.gy = answers_alloc(g, sizeof(double)), m.precision = answers_alloc(p * p, sizeof(double));
    m.linear = answers_alloc(p, sizeof(double)), m.q = answers_alloc(p * p, sizeof(double));
    m.h = answers_alloc(p, sizeof(double)), m.v = answers_alloc(p, sizeof(double));
    m.row = answers_alloc(p, sizeof(double));
    for (size_t i = 0; i < s->n; i++) {
        const double *x = s->x + i * p;
        size_t k = s->r->groups > 0 ? (size_t)s->r->group[i] : 0;
        m.count[k]++, m.gy[k] += s->y[i], m.yy += s->y[i] * s->y[i];
        for (size_t a = 0; a < p; a++) {
            m.gx[k * p + a] += x[a], m.xy[a] += x[a] * s->y[i];
            for (size_t b = 0; b < p; b++)
                m.xx[a * p + b] += x[a] * x[b];
        }
    }
    add_prior(s, m.precision, m.linear);
    return m;
}

static void sums_free(sums *m)
{
    free(m->xx), free(m->xy), free(m->count), free(m->gx), free(m->gy), free(m->precision);
    free(m->linear), free(m->q), free(m->h), free(m->v), free(m->row);
}

/* Of group k: c_k, by which its sums are drawn in when its effect is summed out. */
static double draw_in(const sums *m, size_t k, double sigma, double tau)
{
    return tau * tau / (sigma * sigma + m->count[k] * tau * tau);
}

/* Precision X' V^-1 X + P and linear term of z given the scales, in q and h.  Minus twice the log
 * likelihood at z = 0, but for a constant. */
static double collect(const standard *s, sums *m, double sigma, double tau)
{
    size_t p = s->p;
    double inverse = 1 / (sigma * sigma), yy = m->yy, logs = 2 * (double)s->n * log(sigma);
    memcpy(m->h, m->xy, p * sizeof *m->h);
    memcpy(m->q, m->xx, p * p * sizeof *m->q);
    for (size_t k = 0; k < s->r->groups; k++) {
        const double *gx = m->gx + k * p;
        double c = draw_in(m, k, sigma, tau);
        logs += log1p(m->count[k] * tau * tau * inverse);
        yy -= c * m->gy[k] * m->gy[k];
        for (size_t a = 0; a < p; a++) {
            m->h[a] -= c * gx[a] * m->gy[k];
            for (size_t b = 0; b < p; b++)
                m->q[a * p + b] -= c * gx[a] * gx[b];
        }
    }
    for (size_t a = 0; a < p * p; a++)
        m->q[a] = m->q[a] * inverse + m->precision[a];
    for (size_t a = 0; a < p; a++)
        m->h[a] = m->h[a] * inverse + m->linear[a];
    return logs + yy * inverse;
}

/* Conditional posterior of z given the scales, factor of the precision in q and mean in h, and the
 * log density of the scales themselves, in their logarithms. */
static double condition(const standard *s, sums *m, double sigma, double tau)
{
    const regression *r = s->r;
    size_t p = s->p;
    double twice = collect(s, m, sigma, tau);
    if (!dense_factor(p, m->q))
        bench_stop("reference", "the conditional posterior is not positive");
    for (size_t a = 0; a < p; a++)
        twice += 2 * log(m->q[a * p + a]);
    dense_solve_lower(p, m->q, m->h);
    twice -= dense_dot(p, m->h, m->h);
    dense_solve_upper(p, m->q, m->h);
    double u = s->y_spread * sigma / r->noise_scale;
    double v = r->groups > 0 ? s->y_spread * tau / r->group_scale : 0;
    return log(sigma) - 0.5 * (twice + u * u + v * v) + (r->groups > 0 ? log(tau) : 0);
}

/* v' Q^-1 v. */
static double spread_along(size_t p, sums *m, const double *row)
{
    memcpy(m->v, row, p * sizeof *row);
    dense_solve_lower(p, m->q, m->v);
    return dense_dot(p, m->v, m->v);
}

/* Adds the conditional moments, with a weight, to first and second moments. */
static void add_moments(const standard *s, sums *m, const double scales[2], double weight,
                        reference *ref)
{
    const regression *r = s->r;
    size_t p = s->p, at = p;
    double sigma = scales[0], tau = scales[1], *w = answers_alloc(p, sizeof *w);
    standard_coefficients(s, m->h, w);
    for (size_t j = 0; j < p; j++) {
        standard_row(s, j, m->row);
        ref->mean[j] += weight * w[j];
        ref->sd[j] += weight * (spread_along(p, m, m->row) + w[j] * w[j]);
    }
    for (int k = 0; k < (r->groups > 0 ? 2 : 1); k++, at++) {
        double scale = s->y_spread * scales[k];
        ref->mean[at] += weight * scale, ref->sd[at] += weight * scale * scale;
    }
    for (size_t k = 0; k < r->groups; k++, at++) {
        const double *gx = m->gx + k * p;
        double c = draw_in(m, k, sigma, tau);
        double mean = w[0] + s->y_spread * c * (m->gy[k] - dense_dot(p, gx, m->h));
        standard_row(s, 0, m->row);
        for (size_t a = 0; a < p; a++)
            m->row[a] -= s->y_spread * c * gx[a];
        double var = spread_along(p, m, m->row) + s->y_spread * s->y_spread * sigma * sigma * c;
        ref->mean[at] += weight * mean;
        ref->sd[at] += weight * (var + mean * mean);
    }
    free(w);
}

/* A grid of centres and steps; one tau where there are no groups. */
typedef struct grid {
    double from[2], step[2];
    int points[2];
} grid;

static double log_density_at(const standard *s, sums *m, const grid *g, int a, int b)
{
    return condition(s, m, exp(g->from[0] + a * g->step[0]), exp(g->from[1] + b * g->step[1]));
}

/* The highest point of a grid. */
static double highest(const standard *s, sums *m, const grid *g, int best[2])
{
    double top = -DBL_MAX;
    for (int a = 0; a < g->points[0]; a++)
        for (int b = 0; b < g->points[1]; b++) {
            double l = log_density_at(s, m, g, a, b);
            if (l > top)
                top = l, best[0] = a, best[1] = b;
        }
    return top;
}

/* Sums over points at most 25 below the top: first and second moments, then means and sds. */
static void integrate(const standard *s, sums *m, const grid *g, reference *ref)
{
    size_t size = regression_size(s->r);
    int best[2];
    double total = 0, top = highest(s, m, g, best);
    for (int a = 0; a < g->points[0]; a++)
        for (int b = 0; b < g->points[1]; b++) {
            double l = log_density_at(s, m, g, a, b) - top;
            double scales[2] = {exp(g->from[0] + a * g->step[0]), exp(g->from[1] + b * g->step[1])};
            if (l < -25)
                continue;
            total += exp(l);
            add_moments(s, m, scales, exp(l), ref);
        }
    for (size_t k = 0; k < size; k++) {
        ref->mean[k] /= total;
        ref->sd[k] = sqrt(fmax(ref->sd[k] / total - ref->mean[k] * ref->mean[k], 0));
    }
}

void reference_by_quadrature(const regression *r, reference *ref)
{
    standard s = standard_of(r);
    sums m = make_sums(&s);
    bool grouped = r->groups > 0;
    grid coarse = {{-13, -7}, {0.1, 0.25}, {150, grouped ? 33 : 1}}, fine;
    int best[2];
    (void)highest(&s, &m, &coarse, best);
    double width = 10 / sqrt(2 * (double)r->n); /* of log sigma: about ten sds on either side */
    fine = (grid){{coarse.from[0] + best[0] * 0.1 - width - 0.1, -8},
                  {(width + 0.1) / 60, grouped ? 0.08 : 0},
                  {121, grouped ? 120 : 1}};
    integrate(&s, &m, &fine, ref);
    sums_free(&m), standard_free(&s);
}
