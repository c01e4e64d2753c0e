/* What a budget allows at best.
 *
 * Let m be the exact posterior means of k numbers, V their covariance and l_i the log density of
 * record i.  To first order the record moves m by c_i = Cov(numbers, l_i) (Giordano and Broderick
 * 2023), by u_i = L^-1 c_i in the metric in which the posterior is white, V = L L'.  An ideal
 * mechanism knows all of V and of the u_i but m itself, and spends the whole budget, mu-GDP, on one
 * release of sum w_i u_i / h, clipped at w_i = min(1, C / |u_i|) and put right on average by h =
 * sum w_i |u_i|^2 / sum |u_i|^2.  In posterior standard deviations, for each of the k directions,
 * what is clipped and noise move it by
 *
 *   b^2 = sum |u_i|^2 (w_i / h - 1)^2 / k + (C / (mu h))^2
 *
 * at the best C.  Where the prior is as good as what is left, it is used: if records tell a share t
 * of the posterior's precision, as 1 - V / (variance of the prior), the release leaves 1 - b^2 t /
 * (t + b^2) of it, and posterior means lie off by the square root of the reciprocal less 1. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/accountant.h>

#include "answers-formulas.h"
#include "options.h"

enum { DRAWS = 2000, CLIPS = 60 };

/* Lower triangle l of v = l l', in place. */
static void factor(size_t k, double *v)
{
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b <= a; b++) {
            double s = v[a * k + b];
            for (size_t c = 0; c < b; c++)
                s -= v[a * k + c] * v[b * k + c];
            v[a * k + b] = a == b ? sqrt(fmax(s, 1e-12)) : s / v[b * k + b];
        }
}

/* |l^-1 c|, c being overwritten. */
static double white_size(size_t k, const double *l, double *c)
{
    double square = 0;
    for (size_t a = 0; a < k; a++) {
        for (size_t b = 0; b < a; b++)
            c[a] -= l[a * k + b] * c[b];
        c[a] /= l[a * k + a];
        square += c[a] * c[a];
    }
    return sqrt(square);
}

/* Numbers in their standard deviations from their means; the correlations.  Which share of what is
 * known of each is not the prior's. */
static void standardise(const formula_case *c, double *values, double *v, double *told)
{
    size_t k = c->n_names;
    for (size_t a = 0; a < k; a++) {
        double *x = values + a * DRAWS, sum = 0, squares = 0;
        for (size_t i = 0; i < DRAWS; i++)
            sum += x[i] / DRAWS;
        for (size_t i = 0; i < DRAWS; i++)
            squares += (x[i] - sum) * (x[i] - sum) / DRAWS;
        for (size_t i = 0; i < DRAWS; i++)
            x[i] = (x[i] - sum) / sqrt(squares);
        told[a] = fmin(fmax(1 - squares / (c->prior_sd[a] * c->prior_sd[a]), 0), 1);
    }
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b <= a; b++)
            for (size_t i = 0; i < DRAWS; i++)
                v[a * k + b] += values[a * DRAWS + i] * values[b * DRAWS + i] / DRAWS;
}

void influence_of(const formula_case *c, dp_fit *exact, const dp_dataset *records, size_t n,
                  influence *f)
{
    size_t k = c->n_names;
    dp_error err = {0};
    dp_rng *rng;
    dp_draws *draws;
    double *values = answers_alloc(k * DRAWS, sizeof *values);
    double *density = answers_alloc(DRAWS * n, sizeof *density);
    double *v = answers_alloc(k * k, sizeof *v), *move = answers_alloc(n * k, sizeof *move);
    *f = (influence){.n = n, .k = k, .size = answers_alloc(n, sizeof *f->size)};
    if (dp_rng_new(7, &rng, &err) != DP_OK || dp_fit_draw(exact, DRAWS, rng, &draws, &err) != DP_OK)
        bench_stop(c->formula, err.text);
    const dp_given given = {.data = records, .draws = draws};
    formula_values(c, exact, draws, values);
    if (dp_fit_log_density(exact, &given, DRAWS * n, density, &err) != DP_OK)
        bench_stop(c->formula, err.text);
    standardise(c, values, v, f->told);
    factor(k, v);
    for (size_t d = 0; d < DRAWS; d++)
        for (size_t i = 0; i < n; i++)
            for (size_t a = 0; a < k; a++)
                move[i * k + a] += values[a * DRAWS + d] * density[d * n + i] / DRAWS;
    for (size_t i = 0; i < n; i++)
        f->size[i] = white_size(k, v, move + i * k);
    answers_sort(n, f->size);
    free(values), free(density), free(v), free(move);
    dp_draws_free(draws), dp_rng_free(rng);
}

void influence_free(influence *f)
{
    free(f->size);
    *f = (influence){0};
}

/* b^2 at clip norm C. */
static double moved(const influence *f, double clip, double mu)
{
    double all = 0, kept = 0, lost = 0;
    for (size_t i = 0; i < f->n; i++) {
        double r = f->size[i];
        all += r * r;
        kept += r * fmin(r, clip);
    }
    double h = kept / all;
    for (size_t i = 0; i < f->n; i++) {
        double r = f->size[i], off = fmin(r, clip) / h - r;
        lost += off * off;
    }
    return lost / (double)f->k + pow(clip / (mu * h), 2);
}

double influence_best(const influence *f, double epsilon, double delta)
{
    double sigma, best = INFINITY, error = 0;
    dp_error err = {0};
    const dp_mechanism m = {.sampling = DP_SAMPLING_FULL, .rate = 1, .steps = 1};
    if (dp_calibrate_sigma(&m, epsilon, delta, 0, &sigma, &err) != DP_OK)
        bench_stop("best", err.text);
    for (int c = 0; c < CLIPS; c++) {
        double q = 1 - pow(10, -4.0 * c / CLIPS);
        best = fmin(best, moved(f, answers_quantile(f->n, f->size, fmax(q, 0.05)), 1 / sigma));
    }
    for (size_t a = 0; a < f->k; a++) {
        double t = f->told[a], left = 1 - best * t / (t + best);
        error += sqrt(2 / acos(-1.0) * (1 / left - 1)) / (double)f->k;
    }
    return error;
}
