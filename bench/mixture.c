/* Gaussian mixture, the experiment of section 5.4 of Prediger, Loppi, Kaski and Honkela, d3p: a
 * Python package for differentially-private probabilistic programming (2022).
 *
 *   weights ~ Dirichlet(1),  mean_k ~ N(0, I),  sd_k ~ InverseGamma(1, 1),  K = 5, N = 2000, delta
 *                            .001
 *
 * Form "d3p": 1000 steps of Adam 1e-3, batches of 6 without replacement, clip 1 and the noise
 * multipliers printed there, for which nothing is certified here.  Form "tacit": this library's
 * defaults (all records in every step, 1000 steps) with clip 0.5, at the epsilon that a Poisson
 * sample of rate .003 with the printed noise really has.  Starts, which the paper does not give:
 * means on a spiral of radius 2 over the prior, turned by the seed ("spiral"), or drawn from the
 * prior ("prior"); scales 1, weights equal.
 *
 * One JSON line a run; score is the mean log density of the 100 test points at the guide's median.
 * Seeded runs are repeatable and so are not private.
 *   make bench/mixture && bench/mixture [--seeds S] [--form d3p|tacit] [--start spiral|prior]
 *                                       [--delta D] [--clip C] [--picture FILE.svg] */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tacit/random.h>
#include <tacit/svi.h>

#include "bench.h"
#include "numpy-legacy.h"
#include "options.h"

enum { D = 2, K = 5, N = 2000, TEST = 100, BATCH = 6, STEPS = 1000 };

static const double centre[K][D] = {{0, 0}, {2, 2}, {-2, -2}, {-2, 2}, {2, -2}};
static const double variance = 0.5, pi = 3.14159265358979323846, golden = 2.39996322972865332;

/* Nominal epsilon (advanced composition) and noise as published; without privacy last. */
static const double nominal[] = {0.1, 0.3162, 1, 3.162, 10, INFINITY};
static const double sigma[] = {18.716, 6.628, 2.736, 1.406, 0.889, 0};
enum { BUDGETS = sizeof sigma / sizeof sigma[0] };

typedef struct simulated {
    double train[N][D], test[TEST][D];
} simulated;

typedef struct components {
    double weight[K], mean[K][D], sd[K];
} components;

typedef struct settings {
    uint64_t seeds;
    const char *form, *start, *picture; /* form NULL: both */
    double delta, clip;
} settings;

typedef struct outcome {
    components found;
    double certified, score, seconds;
} outcome;

/* One multinomial draw a point, by a Bernoulli draw for each component but the last; then, for each
 * component, normal numbers for all points, of which those of its own are kept. */
static void draw_points(numpy_legacy *g, size_t n, double x[][D])
{
    int from[N];
    for (size_t i = 0; i < n; i++) {
        double rest = 1;
        for (from[i] = 0; from[i] < K - 1; from[i]++, rest -= 1.0 / K)
            if (numpy_legacy_bernoulli(g, 1.0 / K / rest))
                break;
    }
    for (int k = 0; k < K; k++)
        for (size_t i = 0; i < n; i++)
            for (int d = 0; d < D; d++) {
                double z = numpy_legacy_normal(g);
                if (from[i] == k)
                    x[i][d] = centre[k][d] + sqrt(variance) * z;
            }
}

/* Mean log density of the test points. */
static double score(const simulated *data, const components *c)
{
    double sum = 0;
    for (size_t i = 0; i < TEST; i++) {
        double p = 0;
        for (int k = 0; k < K; k++) {
            double square = 0;
            for (int d = 0; d < D; d++)
                square += pow((data->test[i][d] - c->mean[k][d]) / c->sd[k], 2);
            p += c->weight[k] * exp(-0.5 * square) / (2 * pi * c->sd[k] * c->sd[k]);
        }
        sum += log(p) / TEST;
    }
    return sum;
}

static void simulate(simulated *data)
{
    numpy_legacy g;
    components truth;
    double sum[D] = {0};
    numpy_legacy_seed(&g, 123);
    draw_points(&g, N, data->train);
    draw_points(&g, TEST, data->test);
    for (size_t i = 0; i < N; i++)
        for (int d = 0; d < D; d++)
            sum[d] += data->train[i][d];
    memcpy(truth.mean, centre, sizeof centre);
    for (int k = 0; k < K; k++) {
        truth.weight[k] = 1.0 / K;
        truth.sd[k] = sqrt(variance);
    }
    if (fabs(sum[0] - 108.54084705) > 1e-8 || fabs(sum[1] - 127.27138893) > 1e-8 ||
        fabs(data->train[0][0] - -2.24736255) > 1e-8 ||
        fabs(data->test[0][1] - -2.44582043) > 1e-8 || fabs(score(data, &truth) - -3.676) > 5e-4)
        bench_stop("data", "not the published data set");
}

static void write_model(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "records"), parts = dp_plate_new(m, "components", K);
    dp_expr weight = dp_sample(m, "weight", K, dp_dirichlet(1));
    dp_expr mean = dp_sample_in(parts, "mean", D, dp_normal(0, 1));
    dp_expr sd = dp_sample_in(parts, "sd", 1, dp_inverse_gamma(1, 1));
    dp_observe(rows, "x", dp_mixture(weight, dp_normal_v(mean, sd)));
}

static dp_svi_opts options(const settings *ask, size_t budget, bool as_d3p, uint64_t seed)
{
    bool private = sigma[budget] > 0;
    dp_svi_opts o = {.mode = private ? DP_PRIVATE : DP_NO_PRIVACY, .seed = seed + 1};
    dp_error err = {0};
    const dp_mechanism theirs = {.sampling = DP_SAMPLING_POISSON,
                                 .sigma = sigma[budget],
                                 .rate = (double)BATCH / N,
                                 .steps = STEPS};
    if (private && !as_d3p) {
        o.clip = ask->clip;
        o.delta = ask->delta;
        if (dp_epsilon(&theirs, 0.001, &o.epsilon, &err))
            bench_stop("epsilon", err.text);
    }
    if (as_d3p) {
        o.mode = private ? DP_WITHOUT_GUARANTEE : DP_NO_PRIVACY;
        o.sigma = sigma[budget];
        o.clip = private ? 1 : 0;
        o.sampling = DP_SAMPLING_FIXED;
        o.batch = BATCH;
        o.form = DP_FORM_PARAMETERS;
        o.schedule = DP_CONSTANT;
        o.steps = STEPS;
        o.step_size = 1e-3;
    }
    return o;
}

static dp_status set_start(dp_svi *svi, const settings *ask, uint64_t seed, dp_error *err)
{
    double mean[K][D], turn;
    dp_rng *rng;
    dp_status status = dp_rng_new(1000 + seed, &rng, err);
    if (status != DP_OK)
        return status;
    dp_rng_normal(rng, (size_t)K * D, mean[0]);
    dp_rng_uniform(rng, 1, &turn);
    dp_rng_free(rng);
    for (int k = 0; k < K && strcmp(ask->start, "spiral") == 0; k++) {
        double radius = 2 * sqrt((k + 0.5) / K), angle = 2 * pi * turn + golden * k;
        mean[k][0] = radius * cos(angle);
        mean[k][1] = radius * sin(angle);
    }
    return dp_svi_set(svi, "mean.loc", (size_t)K * D, mean[0], err);
}

/* The guide's median: the weights from their K - 1 free numbers, by Helmert's contrasts. */
static dp_status get_median(const dp_svi *svi, components *c, dp_error *err)
{
    double free[K - 1], total = 0, sum = 0;
    if (dp_svi_get(svi, "mean.loc", (size_t)K * D, c->mean[0], err) ||
        dp_svi_get(svi, "sd.loc", K, c->sd, err) || dp_svi_get(svi, "weight.loc", K - 1, free, err))
        return err->status;
    for (int k = K - 1; k >= 0; k--) {
        double term = k > 0 ? free[k - 1] / sqrt(k * (k + 1.0)) : 0;
        c->weight[k] = exp(sum - k * term);
        c->sd[k] = exp(c->sd[k]);
        sum += term;
        total += c->weight[k];
    }
    for (int k = 0; k < K; k++)
        c->weight[k] /= total;
    return DP_OK;
}

static outcome fit(const simulated *data, const settings *ask, size_t budget, bool as_d3p,
                   uint64_t seed)
{
    dp_error err = {0};
    dp_svi *svi;
    dp_privacy privacy;
    outcome result = {.seconds = bench_now()};
    dp_svi_opts o = options(ask, budget, as_d3p, seed);
    dp_model *m = dp_model_new();
    dp_dataset *records = dp_dataset_new(N);
    if (m == NULL || records == NULL)
        bench_stop("fit", "out of memory");
    write_model(m);
    dp_dataset_real(records, "x", D, data->train[0]);
    if (dp_svi_new(m, NULL, records, &o, &svi, &err) || set_start(svi, ask, seed, &err) ||
        dp_svi_run(svi, NULL, &err) || dp_svi_privacy(svi, &privacy, &err) ||
        get_median(svi, &result.found, &err))
        bench_stop("fit", err.text);
    result.seconds = bench_now() - result.seconds;
    result.certified = privacy.epsilon;
    result.score = score(data, &result.found);
    dp_svi_free(svi);
    dp_dataset_free(records);
    dp_model_free(m);
    return result;
}

/* The data are simulated: a picture of private ones would show the components alone. */
static void draw_picture(const char *name, const simulated *data, const components *c)
{
    FILE *svg = fopen(name, "w");
    if (svg == NULL)
        bench_stop(name, "cannot be written");
    (void)fprintf(svg,
                  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='-5 -5 10 10' width='480'>\n"
                  "<rect x='-5' y='-5' width='10' height='10' fill='white'/>\n");
    (void)fprintf(svg, "<path stroke='#888' stroke-width='.04' stroke-linecap='round' d='");
    for (size_t i = 0; i < N; i++)
        (void)fprintf(svg, "%sM%.2f %.2fh0", i % 8 == 0 ? "\n" : "", data->train[i][0],
                      -data->train[i][1]);
    (void)fprintf(svg, "'/>\n");
    for (int k = 0; k < K; k++)
        for (int sds = 1; sds <= 2; sds++)
            (void)fprintf(svg,
                          "<circle cx='%.3f' cy='%.3f' r='%.3f' fill='none' stroke='#0a58a8' "
                          "stroke-width='%.3f'/>\n",
                          c->mean[k][0], -c->mean[k][1], sds * c->sd[k], 0.3 * c->weight[k]);
    (void)fprintf(svg, "</svg>\n");
    if (fclose(svg) != 0)
        bench_stop(name, "cannot be written");
}

static void run_form(const simulated *data, const settings *ask, bool as_d3p)
{
    for (size_t b = 0; b < BUDGETS; b++)
        for (uint64_t seed = 0; seed < ask->seeds; seed++) {
            outcome r = fit(data, ask, b, as_d3p, seed);
            (void)printf("{\"kernel\": \"mixture\", \"form\": \"%s\", \"start\": \"%s\", ",
                         as_d3p ? "d3p" : "tacit", ask->start);
            bench_number("epsilon_nominal", nominal[b]);
            bench_number("epsilon_certified", r.certified);
            bench_number("delta", as_d3p || b + 1 == BUDGETS ? (double)NAN : ask->delta);
            (void)printf("\"seed\": %llu, \"private\": false, \"score\": %.4f, \"seconds\": %.3f, "
                         "\"steps_per_second\": %.0f, ",
                         (unsigned long long)seed, r.score, r.seconds, STEPS / r.seconds);
            bench_end_line();
            if (ask->picture != NULL && !as_d3p && b == 2 && seed == 0)
                draw_picture(ask->picture, data, &r.found);
        }
}

static settings parse(int argc, char **argv)
{
    settings s = {.seeds = 5, .start = "spiral", .delta = 0.001, .clip = 0.5};
    const bench_option list[] = {
        {.name = "--seeds", .count = &s.seeds}, {.name = "--form", .text = &s.form},
        {.name = "--start", .text = &s.start},  {.name = "--delta", .number = &s.delta},
        {.name = "--clip", .number = &s.clip},  {.name = "--picture", .text = &s.picture}};
    bench_options(argc, argv, sizeof list / sizeof *list, list);
    if (strcmp(s.start, "spiral") != 0 && strcmp(s.start, "prior") != 0)
        bench_stop(s.start, "starts are spiral and prior");
    return s;
}

int main(int argc, char **argv)
{
    static simulated data;
    settings ask = parse(argc, argv);
    simulate(&data);
    if (bench_asks_for(ask.form, "d3p"))
        run_form(&data, &ask, true);
    if (bench_asks_for(ask.form, "tacit"))
        run_form(&data, &ask, false);
    return 0;
}
