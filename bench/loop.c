/* How good fits are that dp_fit_private makes by the loop (doc/design/loop.md).
 *
 * One JSON line a problem, epsilon (null: without privacy) and seed: the figure of the problem,
 * which is told beside it, the check of convergence, and processor seconds.  Problems:
 *   mixture, mixture-20000   models' Gaussian mixture of 5 components in the plane, of examples/
 *                            mixture.c, 2000 and 20 000 points: log density of 5000 other points at
 *                            the fit's means, less that of the truth; and the mean found scale,
 *                            whose true value is .707
 *   contraception            of examples/contraception.c, its intercept a dp_param: mean distance
 *                            of six coefficients from the posterior means without privacy, in their
 *                            standard deviations; and the found district_sd (posterior mean .50)
 *   columns                  a normal and a binary outcome of 4 predictors each, 2000 records: as
 *                            above, from two fits without privacy
 *   vae, mlp                 of digits: loss of test images in nats, and share of them that is
 *                            right (64 - 32 - 10, tanh)
 *   codes                    two outcomes that share a latent of each record, 2000 records: mean
 *                            distance of loadings from the truth (0.8 and -0.6)
 * Seeded runs are repeatable and so are not private.
 *   make bench/loop && bench/loop [--seeds S] [--problem NAME] [--data examples/data] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/tacit.h>

#include "bench.h"
#include "examples/images.h"
#include "options.h"
#include "women.h"

enum {
    MIX_K = 5,
    MIX_D = 2,
    MIX_TEST = 5000,
    COLS_N = 2000,
    COLS_P = 4,
    CODES_N = 2000,
    CLASSES = 10
};
static const double centre[MIX_K][MIX_D] = {{0, 0}, {2, 2}, {-2, -2}, {-2, 2}, {2, -2}};
static const double mix_variance = 0.5;

typedef struct figures {
    double main, beside; /* NaN: none */
} figures;

typedef struct ask {
    double epsilon; /* infinite: without privacy */
    uint64_t seed;
    size_t n;
    const char *data;
} ask;

static dp_error err;

static void stop(const char *what)
{
    bench_stop(what, err.text);
}

static void *room(size_t n, size_t size)
{
    void *made = calloc(n, size);
    if (made == NULL)
        bench_stop("memory", "none left");
    return made;
}

/* ---- fitting ---- */

static double drift, seconds;

static dp_fit *fit_of(const dp_model *m, const dp_dataset *data, const ask *a, size_t n)
{
    dp_fit_opts o = {.seed = a->seed};
    dp_fit *fit;
    size_t many;
    if (isfinite(a->epsilon))
        o.epsilon = a->epsilon, o.delta = pow((double)n, -1.1);
    else
        o.mode = DP_NO_PRIVACY;
    double from = bench_processor();
    if (dp_fit_private(m, data, &o, &fit, &err))
        stop("fit");
    seconds = bench_processor() - from;
    drift = NAN;
    const dp_diagnostic *d = dp_fit_diagnostics(fit, &many);
    for (size_t k = 0; k < many; k++)
        if (strcmp(d[k].name, "convergence") == 0)
            drift = d[k].value;
    return fit;
}

static dp_summary summary_of(const dp_fit *fit, const char *name, size_t n, size_t k)
{
    dp_summary *all = room(n, sizeof *all), one;
    if (dp_fit_summary(fit, name, n, all, &err))
        stop(name);
    one = all[k];
    free(all);
    return one;
}

/* The mean distance of w[n] from what `exact` says, in its standard deviations. */
static double distance(const dp_fit *fit, const dp_fit *exact, const char *name, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        dp_summary is = summary_of(fit, name, n, k), should = summary_of(exact, name, n, k);
        sum += fabs(is.mean - should.mean) / should.sd / (double)n;
    }
    return sum;
}

/* ---- mixture ---- */

static void draw_points(dp_rng *rng, size_t n, double *x)
{
    dp_rng_normal(rng, n * MIX_D, x);
    for (size_t i = 0; i < n * MIX_D; i++)
        x[i] = centre[i / MIX_D % MIX_K][i % MIX_D] + sqrt(mix_variance) * x[i];
}

static double mixture_score(const double *x, const double *w, const double *mean, const double *sd)
{
    double score = 0;
    for (size_t i = 0; i < MIX_TEST; i++) {
        double p = 0;
        for (size_t k = 0; k < MIX_K; k++) {
            double square = 0;
            for (size_t j = 0; j < MIX_D; j++)
                square += pow((x[i * MIX_D + j] - mean[k * MIX_D + j]) / sd[k], 2);
            p += w[k] * exp(-0.5 * square) / (2 * 3.14159265358979323846 * sd[k] * sd[k]);
        }
        score += log(p) / MIX_TEST;
    }
    return score;
}

static figures mixture(const ask *a)
{
    double *x = room(a->n * MIX_D, sizeof *x), *test = room(MIX_TEST * MIX_D, sizeof *test);
    double w[MIX_K], mean[MIX_K * MIX_D], sd[MIX_K], right[2][MIX_K];
    const dp_mixture_opts five = {.components = MIX_K, .dimensions = MIX_D};
    dp_rng *rng;
    dp_model *m;
    if (dp_rng_new(1000 + a->seed, &rng, &err) || dp_gaussian_mixture(&five, &m, &err))
        stop("mixture");
    draw_points(rng, a->n, x);
    draw_points(rng, MIX_TEST, test);
    dp_dataset *data = dp_dataset_new(a->n);
    dp_dataset_real(data, "x", MIX_D, x);
    dp_fit *fit = fit_of(m, data, a, a->n);
    figures f = {.beside = 0};
    for (size_t k = 0; k < MIX_K; k++) {
        w[k] = summary_of(fit, "w", MIX_K, k).mean;
        sd[k] = summary_of(fit, "sd", MIX_K, k).q50;
        f.beside += sd[k] / MIX_K;
        right[0][k] = 1.0 / MIX_K, right[1][k] = sqrt(mix_variance);
        for (size_t j = 0; j < MIX_D; j++)
            mean[k * MIX_D + j] = summary_of(fit, "mean", MIX_K * MIX_D, k * MIX_D + j).mean;
    }
    f.main =
        mixture_score(test, w, mean, sd) - mixture_score(test, right[0], &centre[0][0], right[1]);
    dp_fit_free(fit), dp_model_free(m), dp_dataset_free(data), dp_rng_free(rng);
    free(x), free(test);
    return f;
}

/* ---- contraception ---- */

static const char *const effects[] = {"age",       "age2",      "urban",
                                      "children1", "children2", "children3"};
enum { EFFECTS = 6 };

static dp_model *contraception_model(bool param)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "women");
    dp_plate districts = dp_plate_new(m, "districts", WOMEN_DISTRICTS);
    dp_expr x = dp_data(rows, "x", WOMEN_D);
    dp_expr odds =
        param ? dp_param(m, "intercept", 1, 0) : dp_sample(m, "intercept", 1, dp_normal(0, 2.5));
    for (size_t j = 0; j < EFFECTS; j++)
        odds = dp_add(odds, dp_mul(dp_sample(m, effects[j], 1, dp_normal(0, 2.5)),
                                   dp_scale(women_bound[j + 1], dp_slice(x, j + 1, 1))));
    dp_expr sd = dp_sample(m, "district_sd", 1, dp_half_normal(1));
    dp_expr b = dp_sample_in(districts, "b", 1, dp_normal_v(dp_num(0), sd));
    odds = dp_add(odds, dp_pick(b, dp_index(rows, "district", districts)));
    dp_observe(rows, "use", dp_bernoulli_logit(odds));
    return m;
}

static figures contraception(const ask *a)
{
    women s;
    char path[1000];
    (void)snprintf(path, sizeof path, "%s/contraception.csv", a->data);
    if (women_read(path, &s, &err))
        stop(path);
    dp_dataset *data = dp_dataset_new(s.n);
    dp_dataset_real(data, "x", WOMEN_D, s.x);
    dp_dataset_real(data, "use", 1, s.use);
    dp_dataset_index(data, "district", s.district);
    dp_model *m[2] = {contraception_model(false), contraception_model(true)};
    const ask open = {.epsilon = INFINITY, .seed = 1};
    dp_fit *exact = fit_of(m[0], data, &open, s.n), *fit = fit_of(m[1], data, a, s.n);
    figures f = {.beside = summary_of(fit, "district_sd", 1, 0).mean};
    for (size_t j = 0; j < EFFECTS; j++)
        f.main += distance(fit, exact, effects[j], 1) / EFFECTS;
    dp_fit_free(fit), dp_fit_free(exact), dp_dataset_free(data), women_free(&s);
    dp_model_free(m[0]), dp_model_free(m[1]);
    return f;
}

/* ---- several columns ---- */

/* which 0: both outcomes, 1: the normal one, 2: the binary one */
static dp_model *columns_model(int which)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr x = dp_data(rows, "x", COLS_P);
    if (which != 2) {
        dp_expr w = dp_sample(m, "w", COLS_P, dp_normal(0, 2.5));
        dp_expr sd = dp_sample(m, "sd", 1, dp_half_normal(2));
        dp_observe(rows, "y", dp_normal_v(dp_dot(x, w), sd));
    }
    if (which != 1)
        dp_observe(rows, "z",
                   dp_bernoulli_logit(dp_dot(x, dp_sample(m, "v", COLS_P, dp_normal(0, 2.5)))));
    return m;
}

static figures columns(const ask *a)
{
    static const double w[COLS_P] = {1, -0.5, 0.3, 0}, v[COLS_P] = {-0.3, 0.8, 0, -1};
    double *x = room(COLS_N, COLS_P * sizeof *x), *y = room(COLS_N, sizeof *y);
    double *z = room(COLS_N, sizeof *z);
    dp_rng *rng;
    if (dp_rng_new(2000 + a->seed, &rng, &err))
        stop("columns");
    dp_rng_normal(rng, COLS_N * COLS_P, x);
    dp_rng_normal(rng, COLS_N, y);
    dp_rng_uniform(rng, COLS_N, z);
    for (size_t i = 0; i < COLS_N; i++) {
        double eta = 0;
        x[i * COLS_P] = 1;
        y[i] *= 0.7;
        for (size_t j = 0; j < COLS_P; j++)
            y[i] += x[i * COLS_P + j] * w[j], eta += x[i * COLS_P + j] * v[j];
        z[i] = z[i] < 1 / (1 + exp(-eta));
    }
    dp_dataset *data = dp_dataset_new(COLS_N);
    dp_dataset_real(data, "x", COLS_P, x), dp_dataset_real(data, "y", 1, y);
    dp_dataset_real(data, "z", 1, z);
    dp_model *m[3];
    dp_fit *fit[3];
    const ask open = {.epsilon = INFINITY, .seed = 1};
    for (int k = 2; k >= 0; k--) {
        m[k] = columns_model(k);
        fit[k] = fit_of(m[k], data, k == 0 ? a : &open, COLS_N);
    }
    figures f = {.main = distance(fit[0], fit[1], "w", COLS_P) / 2 +
                         distance(fit[0], fit[2], "v", COLS_P) / 2,
                 .beside = summary_of(fit[0], "sd", 1, 0).mean};
    for (int k = 0; k < 3; k++)
        dp_fit_free(fit[k]), dp_model_free(m[k]);
    dp_dataset_free(data), dp_rng_free(rng), free(x), free(y), free(z);
    return f;
}

/* ---- latents of records ---- */

static figures codes(const ask *a)
{
    static const double loading[2] = {0.8, -0.6};
    double *y = room(CODES_N, 2 * sizeof *y), *u = room(CODES_N, sizeof *u);
    dp_rng *rng;
    if (dp_rng_new(3000 + a->seed, &rng, &err))
        stop("codes");
    dp_rng_normal(rng, 2 * CODES_N, y);
    dp_rng_normal(rng, CODES_N, u);
    for (size_t i = 0; i < 2 * CODES_N; i++)
        y[i] = 1 + loading[i % 2] * u[i / 2] + 0.5 * y[i];
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr z = dp_sample_in(rows, "z", 1, dp_normal(0, 1));
    dp_expr by = dp_sample(m, "loading", 2, dp_normal(0, 1));
    dp_expr level = dp_sample(m, "level", 2, dp_normal(0, 2.5));
    dp_expr sd = dp_sample(m, "sd", 1, dp_half_normal(1));
    dp_observe(rows, "y", dp_normal_v(dp_add(level, dp_mul(by, z)), sd));
    dp_dataset *data = dp_dataset_new(CODES_N);
    dp_dataset_real(data, "y", 2, y);
    dp_fit *fit = fit_of(m, data, a, CODES_N);
    double found[2], sign;
    for (size_t k = 0; k < 2; k++)
        found[k] = summary_of(fit, "loading", 2, k).mean;
    sign = found[0] > 0 ? 1 : -1; /* loadings and codes may change sign together */
    /* Two outcomes and one noise: the product is what is told. */
    figures f = {.main = fabs(sign * found[0] - loading[0]) / 2 +
                         fabs(sign * found[1] - loading[1]) / 2,
                 .beside = summary_of(fit, "sd", 1, 0).mean};
    dp_fit_free(fit), dp_model_free(m), dp_dataset_free(data), dp_rng_free(rng);
    free(y), free(u);
    return f;
}

/* ---- digits ---- */

static void read_digits(const ask *a, images *s)
{
    char path[1000];
    (void)snprintf(path, sizeof path, "%s/digits-idx3-ubyte", a->data);
    if (images_read(path, true, s, &err))
        stop(path);
}

static figures vae(const ask *a)
{
    images s;
    read_digits(a, &s);
    const dp_vae_opts network = {.inputs = s.pixels, .hidden = 16, .latent = 2};
    dp_model *m, *guide;
    dp_rng *rng;
    double elbo;
    dp_dataset *data = dp_dataset_new(s.n), *test = dp_dataset_new(s.n_test);
    dp_dataset_bernoulli(data, "x", s.pixels, 16, s.train);
    dp_dataset_bernoulli(test, "x", s.pixels, 16, s.test);
    if (dp_vae(&network, &m, &guide, &err) || dp_rng_new(2, &rng, &err))
        stop("vae");
    dp_fit *fit = fit_of(m, data, a, s.n);
    if (dp_fit_elbo(fit, test, rng, &elbo, &err))
        stop("vae");
    dp_fit_free(fit), dp_model_free(guide), dp_model_free(m), dp_rng_free(rng);
    dp_dataset_free(data), dp_dataset_free(test), images_free(&s);
    return (figures){-elbo, NAN};
}

static double *grey(size_t n, const unsigned char *from)
{
    double *x = room(n, sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = from[i] / 16.0;
    return x;
}

static figures mlp(const ask *a)
{
    images s;
    read_digits(a, &s);
    const size_t hidden[] = {32};
    const dp_mlp_opts network = {
        .inputs = s.pixels, .classes = CLASSES, .hidden = hidden, .n_hidden = 1};
    dp_model *m;
    double *x[2] = {grey(s.n * s.pixels, s.train), grey(s.n_test * s.pixels, s.test)};
    double *chances = room(s.n_test * CLASSES, sizeof *chances);
    dp_dataset *data = dp_dataset_new(s.n), *test = dp_dataset_new(s.n_test);
    dp_dataset_real(data, "x", s.pixels, x[0]), dp_dataset_real(test, "x", s.pixels, x[1]);
    dp_dataset_index(data, "y", s.labels);
    if (dp_mlp(&network, &m, &err))
        stop("mlp");
    dp_fit *fit = fit_of(m, data, a, s.n);
    const dp_given given = {.data = test};
    if (dp_fit_evaluate(fit, dp_fit_expr(fit, "class_probability"), &given, s.n_test * CLASSES,
                        chances, &err))
        stop("mlp");
    figures f = {images_right(&s, CLASSES, chances), NAN};
    dp_fit_free(fit), dp_model_free(m), dp_dataset_free(data), dp_dataset_free(test);
    free(x[0]), free(x[1]), free(chances), images_free(&s);
    return f;
}

/* ---- the whole ---- */

static const struct {
    const char *name, *figure;
    figures (*run)(const ask *);
    size_t n;
} problems[] = {{"mixture", "log density below the truth's; scale", mixture, 2000},
                {"mixture-20000", "log density below the truth's; scale", mixture, 20000},
                {"contraception", "error in sds; district_sd", contraception, 0},
                {"columns", "error in sds; sd", columns, 0},
                {"codes", "error of loadings; sd", codes, 0},
                {"vae", "test loss", vae, 0},
                {"mlp", "right", mlp, 0}};

int main(int argc, char **argv)
{
    static const double epsilon[] = {1, 4, INFINITY};
    uint64_t seeds = 3;
    const char *only = NULL;
    ask a = {.data = "examples/data"};
    const bench_option options[] = {{.name = "--seeds", .count = &seeds},
                                    {.name = "--problem", .text = &only},
                                    {.name = "--data", .text = &a.data}};
    bench_options(argc, argv, sizeof options / sizeof options[0], options);
    for (size_t p = 0; p < sizeof problems / sizeof problems[0]; p++)
        for (size_t e = 0; e < sizeof epsilon / sizeof epsilon[0]; e++)
            for (a.seed = 1; a.seed <= seeds; a.seed++) {
                if (only != NULL && strcmp(only, problems[p].name) != 0)
                    continue;
                a.epsilon = epsilon[e], a.n = problems[p].n;
                figures f = problems[p].run(&a);
                printf("{\"problem\": \"%s\", \"seed\": %llu, ", problems[p].name,
                       (unsigned long long)a.seed);
                bench_number("epsilon", a.epsilon);
                printf("\"figure\": \"%s\", ", problems[p].figure);
                bench_number("main", f.main), bench_number("beside", f.beside);
                bench_number("drift", drift), bench_number("processor", seconds);
                bench_end_line();
            }
    return 0;
}
