/* What exact noise on the grid costs in a whole step, against ordinary floating-point noise: one
 * JSON line a setting, with medians of alternating rounds and the median of their ratios.
 * Processor time of one thread, which other load on the machine disturbs less than the clock's.
 *
 *   make bench/step_noise && bench/step_noise
 *
 * exact     steps of a private run as it is
 * ordinary  steps of a run that clips and adds up alike and has no noise, each followed by
 * dp_noise_normal of
 *           as many numbers and their addition
 *
 * Settings: the variational autoencoder of vae_step (batches of 128 of 10000, fixed size, so that
 * all steps do the same work; double and single precision), and a hierarchical logistic regression
 * like that of hierarchical_logistic with groups of weights: few numbers, few records, where a step
 * is all overhead. */
#include <stdio.h>
#include <stdlib.h>

#include <tacit/random.h>

#include "bench.h"
#include "vae.h"

enum { PAIRS = 1001, FEW_PAIRS = 31, IMAGES = 10000, RECORDS = 500, WIDTH = 5, MOST_GROUPS = 6 };

static const double sigma = 1.5, clip = 1;

typedef struct setting {
    const char *name;
    dp_model *model, *guide;
    dp_dataset *data;
    size_t batch, numbers, steps_a_round;
    dp_precision precision;
    int pairs;
} setting;

typedef struct contest {
    dp_svi *exact, *without;
    dp_noise *noise;
    double *drawn, *sum;
} contest;

static void fail(const char *what)
{
    (void)fprintf(stderr, "step_noise: %s\n", what);
    exit(1);
}

static dp_svi *new_run(const setting *s, dp_mode mode)
{
    dp_error err;
    dp_svi *svi;
    const dp_svi_opts opts = {.mode = mode,
                              .sigma = mode == DP_PRIVATE ? sigma : 0,
                              .delta = mode == DP_PRIVATE ? 1e-5 : 0,
                              .clip = clip,
                              .sampling = DP_SAMPLING_FIXED,
                              .batch = s->batch,
                              .steps = 10000000,
                              .schedule = DP_CONSTANT,
                              .step_size = 1e-6,
                              .precision = s->precision};
    if (dp_svi_new(s->model, s->guide, s->data, &opts, &svi, &err) != DP_OK)
        fail(err.text);
    if (s->guide != NULL && vae_start(svi, 1, &err) != DP_OK)
        fail(err.text);
    return svi;
}

static double time_exact(const contest *c, const setting *s)
{
    dp_error err;
    double started = bench_processor();
    for (size_t k = 0; k < s->steps_a_round; k++)
        if (dp_svi_step(c->exact, &err) != DP_OK)
            fail(err.text);
    return bench_processor() - started;
}

static double time_ordinary(const contest *c, const setting *s)
{
    dp_error err;
    double started = bench_processor();
    for (size_t k = 0; k < s->steps_a_round; k++) {
        if (dp_svi_step(c->without, &err) != DP_OK ||
            dp_noise_normal(c->noise, s->numbers, sigma * clip, c->drawn, &err) != DP_OK)
            fail(err.text);
        for (size_t i = 0; i < s->numbers; i++)
            c->sum[i] += c->drawn[i];
    }
    return bench_processor() - started;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(int n, double *values)
{
    qsort(values, (size_t)n, sizeof *values, by_size);
    return values[n / 2];
}

static void compare(const setting *s)
{
    dp_error err;
    double exact[PAIRS], ordinary[PAIRS], ratio[PAIRS];
    contest c = {.exact = new_run(s, DP_PRIVATE),
                 .without = new_run(s, DP_WITHOUT_GUARANTEE),
                 .drawn = calloc(s->numbers, sizeof *c.drawn),
                 .sum = calloc(s->numbers, sizeof *c.sum)};
    if (c.drawn == NULL || c.sum == NULL || dp_noise_new(&c.noise, &err) != DP_OK)
        fail("out of memory");
    (void)time_exact(&c, s);
    (void)time_ordinary(&c, s);
    for (int k = 0; k < s->pairs; k++) {
        exact[k] = time_exact(&c, s) / (double)s->steps_a_round;
        ordinary[k] = time_ordinary(&c, s) / (double)s->steps_a_round;
        ratio[k] = exact[k] / ordinary[k];
    }
    double middle = median(s->pairs, ratio);
    (void)printf("{\"kernel\": \"step_noise\", \"of\": \"%s\", \"numbers\": %zu, \"batch\": %zu, "
                 "\"exact_us\": %.4g, \"ordinary_us\": %.4g, \"ratio\": %.3f, \"low\": %.3f, "
                 "\"high\": %.3f, ",
                 s->name, s->numbers, s->batch, 1e6 * median(s->pairs, exact),
                 1e6 * median(s->pairs, ordinary), middle, ratio[s->pairs / 10],
                 ratio[s->pairs - 1 - s->pairs / 10]);
    bench_end_line();
    dp_svi_free(c.exact);
    dp_svi_free(c.without);
    dp_noise_free(c.noise);
    free(c.drawn);
    free(c.sum);
}

static uint32_t next(uint32_t *random)
{
    return (*random = *random * 1664525 + 1013904223) >> 8;
}

static void compare_vae(dp_precision precision, uint32_t random)
{
    double *x = malloc((size_t)IMAGES * VAE_PIXELS * sizeof *x);
    dp_model *decoder = vae_decoder(dp_bernoulli_logit),
             *encoder = decoder != NULL ? vae_encoder(decoder) : NULL;
    dp_dataset *data = dp_dataset_new(IMAGES);
    if (x == NULL || encoder == NULL || data == NULL)
        fail("out of memory");
    for (size_t i = 0; i < (size_t)IMAGES * VAE_PIXELS; i++)
        x[i] = next(&random) % 100 < 13;
    dp_dataset_real(data, "x", VAE_PIXELS, x);
    const setting s = {.name = precision == DP_SINGLE ? "vae, single" : "vae, double",
                       .model = decoder,
                       .guide = encoder,
                       .data = data,
                       .batch = 128,
                       .numbers = VAE_NUMBERS,
                       .steps_a_round = 1,
                       .precision = precision,
                       .pairs = FEW_PAIRS};
    compare(&s);
    dp_dataset_free(data);
    dp_model_free(encoder);
    dp_model_free(decoder);
    free(x);
}

/* groups * WIDTH numbers are released. */
static void compare_hierarchical(size_t groups, size_t batch, uint32_t random)
{
    static double x[RECORDS * WIDTH], y[RECORDS];
    static int32_t group[RECORDS];
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(RECORDS);
    if (m == NULL || data == NULL)
        fail("out of memory");
    for (size_t i = 0; i < RECORDS; i++) {
        for (size_t d = 0; d < WIDTH; d++)
            x[i * WIDTH + d] = next(&random) * 0x1p-23 - 1;
        y[i] = x[i * WIDTH] + x[i * WIDTH + 1] > 0;
        group[i] = (int32_t)(next(&random) % groups);
    }
    dp_dataset_real(data, "x", WIDTH, x);
    dp_dataset_real(data, "y", 1, y);
    dp_dataset_index(data, "group", group);
    dp_plate rows = dp_unit_plate(m, "records"), groups_of = dp_plate_new(m, "groups", groups);
    dp_expr mean = dp_sample(m, "mean", WIDTH, dp_normal(0, 4));
    dp_expr w = dp_sample_in(groups_of, "w", WIDTH, dp_normal_v(mean, dp_num(1)));
    dp_expr of = dp_index(rows, "group", groups_of);
    dp_observe(rows, "y", dp_bernoulli_logit(dp_dot(dp_data(rows, "x", WIDTH), dp_pick(w, of))));
    const setting s = {.name = "hierarchical logistic",
                       .model = m,
                       .data = data,
                       .batch = batch,
                       .numbers = groups * WIDTH,
                       .steps_a_round = 100,
                       .pairs = PAIRS};
    compare(&s);
    dp_dataset_free(data);
    dp_model_free(m);
}

int main(void)
{
    compare_vae(DP_DOUBLE, 1);
    compare_vae(DP_SINGLE, 1);
    compare_hierarchical(MOST_GROUPS / 2, 10, 1);
    compare_hierarchical(MOST_GROUPS, 10, 1);
    compare_hierarchical(MOST_GROUPS / 2, 100, 1);
    return 0;
}
