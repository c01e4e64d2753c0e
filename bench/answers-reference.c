/* The exact posterior of a regression, by methods that share nothing with the library: a grid for
 * normal outcomes (answers-quadrature.c), and here, for all others, Hamiltonian Monte Carlo (Duane
 * et al. 1987).
 *
 * Group effects are tau u_k, u_k ~ N(0, 1).  Coordinates are whitened by the curvature at the mode,
 * trajectories have random lengths up to half a turn.  It goes on until batch means say that no
 * mean is off by more than 0.03 posterior standard deviations (standard error; the worst
 * quantity), and gives up after 40 000 moves: reference.error says what was reached. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers-standard.h"
#include "options.h"

static const double error_wanted = 0.03;
static const double pi = 3.14159265358979;

/* Position: z [p], u [groups], log tau. */
typedef struct target {
    const standard *s;
    size_t d, p, groups;
    bool tau_fixed;
    double *w; /* work: [p] */
} target;

/* Log likelihood of a record up to a constant, and its derivative by eta. */
static double likelihood(answers_family family, double y, double eta, double *slope)
{
    double rate = exp(eta);
    switch (family) {
    case ANSWERS_LOGISTIC:
        *slope = y - 1 / (1 + 1 / rate);
        return y * eta - (eta > 0 ? eta + log1p(1 / rate) : log1p(rate));
    case ANSWERS_GAMMA:
        *slope = 2 * (y / rate - 1);
        return -2 * (eta + y / rate);
    case ANSWERS_POISSON:
    case ANSWERS_NORMAL:
        break;
    }
    *slope = y - rate;
    return y * eta - rate;
}

/* Log likelihood, its slopes by z, and by the linear predictor summed over each group. */
static double log_likelihood(const target *t, const double *q, double tau, double *gradient)
{
    const standard *s = t->s;
    size_t p = t->p;
    double sum = 0, slope = 0;
    memset(gradient, 0, t->d * sizeof *gradient);
    for (size_t i = 0; i < s->n; i++) {
        const double *x = s->x + i * p;
        size_t member = p + (t->groups > 0 ? (size_t)s->r->group[i] : 0);
        double eta = dense_dot(p, x, q) + (t->groups > 0 ? tau * q[member] : 0);
        sum += likelihood(s->r->family, s->y[i], eta, &slope);
        for (size_t j = 0; j < p; j++)
            gradient[j] += slope * x[j];
        if (t->groups > 0)
            gradient[member] += slope;
    }
    return sum;
}

/* Log prior of z; adds its slopes. */
static double log_prior(const target *t, const double *z, double *gradient)
{
    const standard *s = t->s;
    double sum = 0, first = 0; /* slope of the prior of w_0, which all of z moves */
    standard_coefficients(s, z, t->w);
    for (size_t j = 0; j < t->p; j++) {
        double scale = s->r->scale[j], off = (t->w[j] - s->r->mean[j]) / scale;
        sum -= 0.5 * off * off;
        if (j == 0)
            first = off / scale;
        gradient[j] -= (off / scale - (j > 0 ? s->middle[j] * first : 0)) / s->spread[j];
    }
    return sum;
}

static double log_posterior(const target *t, const double *q, double *gradient)
{
    const double *u = q + t->p;
    double log_tau = t->groups > 0 ? q[t->d - 1] : 0, tau = exp(log_tau), by_tau = 0;
    double sum = log_likelihood(t, q, tau, gradient) + log_prior(t, q, gradient);
    double *by_u = gradient + t->p;
    for (size_t k = 0; k < t->groups; k++) {
        by_tau += by_u[k] * tau * u[k];
        by_u[k] = tau * by_u[k] - u[k];
        sum -= 0.5 * u[k] * u[k];
    }
    if (t->groups > 0) {
        double ratio = tau / t->s->r->group_scale;
        sum += log_tau - 0.5 * ratio * ratio;
        gradient[t->d - 1] = t->tau_fixed ? 0 : by_tau + 1 - ratio * ratio;
    }
    return sum;
}

/* Minus the second derivatives, from differences of gradients. */
static void curvature(const target *t, double *q, double tau_precision, double *h)
{
    size_t d = t->d;
    double *up = answers_alloc(d, sizeof *up), *down = answers_alloc(d, sizeof *down);
    for (size_t j = 0; j < d; j++) {
        double at = q[j], step = 1e-5;
        q[j] = at + step, (void)log_posterior(t, q, up);
        q[j] = at - step, (void)log_posterior(t, q, down);
        q[j] = at;
        for (size_t i = 0; i < d; i++)
            h[i * d + j] = (down[i] - up[i]) / (2 * step);
    }
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < i; j++)
            h[i * d + j] = h[j * d + i] = 0.5 * (h[i * d + j] + h[j * d + i]);
    for (size_t j = 0; t->groups > 0 && j < d; j++)
        h[j * d + d - 1] = h[(d - 1) * d + j] = j == d - 1 ? tau_precision : 0;
    free(up), free(down);
}

/* Newton's method with log tau where it is; leaves the factor of the curvature in h. */
static void find_mode(target *t, double *q, double tau_precision, double *h)
{
    size_t d = t->d;
    double *g = answers_alloc(d, sizeof *g), *to = answers_alloc(d, sizeof *to);
    double *unused = answers_alloc(d, sizeof *unused), gain = 1;
    t->tau_fixed = true;
    for (int step = 0; step < 50 && gain > 1e-8; step++) {
        curvature(t, q, tau_precision, h);
        if (!dense_factor(d, h))
            bench_stop("reference", "the curvature is not positive");
        double now = log_posterior(t, q, g), then = -INFINITY, factor_of = 1;
        dense_solve_lower(d, h, g), dense_solve_upper(d, h, g);
        for (; !(then >= now) && factor_of > 1e-6; factor_of /= 2) {
            for (size_t j = 0; j < d; j++)
                to[j] = q[j] + factor_of * g[j];
            then = log_posterior(t, to, unused);
        }
        gain = then - now;
        if (gain > 0)
            memcpy(q, to, d * sizeof *q);
    }
    t->tau_fixed = false;
    free(g), free(to), free(unused);
}

/* A chain in coordinates e with q = mode + L'^-1 e. */
typedef struct chain {
    const target *t;
    dp_rng *rng;
    double *mode, *factor;                      /* [d], [d][d] */
    double *e, *next, *momentum, *q, *gradient; /* [d] */
    double log_density, log_step;
    double *last_gradient;
} chain;

static double density_at(chain *c, const double *e)
{
    size_t d = c->t->d;
    memcpy(c->q, e, d * sizeof *e);
    dense_solve_upper(d, c->factor, c->q);
    for (size_t j = 0; j < d; j++)
        c->q[j] += c->mode[j];
    double l = log_posterior(c->t, c->q, c->gradient);
    dense_solve_lower(d, c->factor, c->gradient);
    return l;
}

/* One trajectory; the chance that it was accepted with. */
static double move(chain *c)
{
    size_t d = c->t->d;
    double u[2], step = exp(c->log_step), density = c->log_density;
    dp_rng_uniform(c->rng, 2, u);
    dp_rng_normal(c->rng, d, c->momentum);
    double kinetic = 0.5 * dense_dot(d, c->momentum, c->momentum);
    int steps = 1 + (int)fmin(50, u[0] * pi / step);
    memcpy(c->next, c->e, d * sizeof *c->e);
    memcpy(c->gradient, c->last_gradient, d * sizeof *c->gradient);
    for (int k = 0; k < steps; k++) {
        for (size_t j = 0; j < d; j++) {
            c->momentum[j] += 0.5 * step * c->gradient[j];
            c->next[j] += step * c->momentum[j];
        }
        density = density_at(c, c->next);
        for (size_t j = 0; j < d; j++)
            c->momentum[j] += 0.5 * step * c->gradient[j];
    }
    double gain = density - c->log_density + kinetic - 0.5 * dense_dot(d, c->momentum, c->momentum);
    double chance = gain >= 0 ? 1 : isfinite(gain) ? exp(gain) : 0;
    if (u[1] < chance) {
        memcpy(c->e, c->next, d * sizeof *c->e);
        memcpy(c->last_gradient, c->gradient, d * sizeof *c->gradient);
        c->log_density = density;
    }
    return chance;
}

/* Moves with a step size that tends to acceptance .8; mean and sd of log tau of the second half. */
static void warm_up(chain *c, int moves, double log_tau[2])
{
    size_t d = c->t->d;
    double s = 0, ss = 0, n = moves / 2;
    memset(c->e, 0, d * sizeof *c->e);
    c->log_density = density_at(c, c->e);
    memcpy(c->last_gradient, c->gradient, d * sizeof *c->gradient);
    for (int k = 0; k < moves; k++) {
        c->log_step = fmin(c->log_step + (move(c) - 0.8) * 2 / (double)(k + 5), log(1.5));
        double at = c->mode[d - 1] + c->e[d - 1] / c->factor[d * d - 1];
        if (k >= moves - (int)n)
            s += at / n, ss += at * at / n;
    }
    log_tau[0] = s;
    log_tau[1] = sqrt(fmax(ss - s * s, 1e-4));
}

static void quantities(chain *c, double *value)
{
    const target *t = c->t;
    size_t d = t->d, at = t->p;
    memcpy(c->q, c->e, d * sizeof *c->e);
    dense_solve_upper(d, c->factor, c->q);
    for (size_t j = 0; j < d; j++)
        c->q[j] += c->mode[j];
    standard_coefficients(t->s, c->q, value);
    if (t->groups > 0)
        value[at++] = exp(c->q[d - 1]);
    for (size_t k = 0; k < t->groups; k++)
        value[at++] = value[0] + exp(c->q[d - 1]) * c->q[t->p + k];
}

/* Standard error of a mean, from the means of its batches. */
static double batch_error(const double *batch, size_t batches, size_t step, double mean)
{
    double between = 0;
    for (size_t k = 0; k < batches; k++)
        between += (batch[k * step] - mean) * (batch[k * step] - mean);
    return sqrt(between / (double)(batches * (batches - 1)));
}

/* Batches of moves until their means agree. */
static void sample(chain *c, reference *ref)
{
    enum { BATCH = 100, FEWEST = 32, MOST = 400 };
    size_t size = regression_size(c->t->s->r);
    double *value = answers_alloc(size, sizeof *value), *zero = answers_alloc(size, sizeof *zero);
    double *sum = answers_alloc(size, sizeof *sum), *square = answers_alloc(size, sizeof *square);
    double *batch = answers_alloc(size * MOST, sizeof *batch);
    quantities(c, zero); /* offsets, against cancellation */
    ref->error = INFINITY;
    for (int b = 0; b < MOST && ref->error > error_wanted; b++) {
        for (int k = 0; k < BATCH; k++) {
            (void)move(c);
            quantities(c, value);
            for (size_t j = 0; j < size; j++) {
                double v = value[j] - zero[j];
                sum[j] += v, square[j] += v * v, batch[(size_t)b * size + j] += v / BATCH;
            }
        }
        double n = BATCH * (b + 1.0), worst = 0;
        for (size_t j = 0; j < size && b + 1 >= FEWEST; j++) {
            double mean = sum[j] / n, var = fmax(square[j] / n - mean * mean, DBL_MIN);
            double error = batch_error(batch + j, (size_t)b + 1, size, mean);
            ref->mean[j] = zero[j] + mean, ref->sd[j] = sqrt(var);
            ref->error = worst = fmax(worst, error / ref->sd[j]);
        }
    }
    free(value), free(zero), free(sum), free(square), free(batch);
}

static chain new_chain(const target *t, uint64_t seed)
{
    size_t d = t->d;
    chain c = {.t = t, .log_step = log(0.5)};
    c.mode = answers_alloc(d, sizeof(double)), c.factor = answers_alloc(d * d, sizeof(double));
    c.e = answers_alloc(d, sizeof(double)), c.next = answers_alloc(d, sizeof(double));
    c.momentum = answers_alloc(d, sizeof(double)), c.q = answers_alloc(d, sizeof(double));
    c.gradient = answers_alloc(d, sizeof(double));
    c.last_gradient = answers_alloc(d, sizeof(double));
    if (dp_rng_new(seed, &c.rng, NULL) != DP_OK)
        bench_stop("reference", "no source of randomness");
    return c;
}

static void chain_free(chain *c)
{
    free(c->mode), free(c->factor), free(c->e), free(c->next), free(c->momentum), free(c->q);
    free(c->gradient), free(c->last_gradient);
    dp_rng_free(c->rng);
}

void reference_by_monte_carlo(const regression *r, uint64_t seed, reference *ref)
{
    standard s = standard_of(r);
    target t = {.s = &s, .p = r->p, .groups = r->groups};
    t.d = r->p + r->groups + (r->groups > 0);
    t.w = answers_alloc(r->p, sizeof *t.w);
    chain c = new_chain(&t, seed);
    double log_tau[2] = {log(0.5 * r->group_scale), 0.2};
    for (int round = 0; round < (r->groups > 0 ? 3 : 1); round++) {
        if (r->groups > 0)
            c.mode[t.d - 1] = log_tau[0];
        find_mode(&t, c.mode, 1 / (log_tau[1] * log_tau[1]), c.factor);
        warm_up(&c, 200, log_tau);
    }
    sample(&c, ref);
    chain_free(&c), standard_free(&s);
    free(t.w);
}

void reference_of(const regression *r, uint64_t seed, reference *ref)
{
    size_t size = regression_size(r);
    *ref = (reference){.mean = answers_alloc(size, sizeof(double)),
                       .sd = answers_alloc(size, sizeof(double))};
    if (regression_has_noise(r))
        reference_by_quadrature(r, ref);
    else
        reference_by_monte_carlo(r, seed, ref);
}

void reference_none(const regression *r, reference *ref)
{
    size_t size = regression_size(r);
    *ref = (reference){.mean = answers_alloc(size, sizeof(double)),
                       .sd = answers_alloc(size, sizeof(double)),
                       .error = NAN};
    for (size_t k = 0; k < size; k++)
        ref->mean[k] = ref->sd[k] = NAN;
}

void reference_free(reference *ref)
{
    free(ref->mean), free(ref->sd);
}
