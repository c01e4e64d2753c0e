/* Models that are computed to their end under encryption (doc/design/serve-ckks.md): squares in
 * place of relus, and weights whose magnitudes sum to a given number for each output, so that what
 * is proved of the numbers between is not far from what they are. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "options.h"
#include "served.h"

enum { NAME = 8, SEED = 1, SIDE = 28, WIDE = 32, BATCH = 128, ODD_TRAIN = 20000 };

/* ---- layers ---- */

/* [inputs][outputs] with magnitudes that sum to `total` in each column. */
static dp_expr weights_of(dp_model *m, size_t layer, size_t inputs, size_t outputs, double total)
{
    char name[NAME];
    (void)snprintf(name, sizeof name, "W%zu", layer);
    const dp_expr w = dp_weights(m, name, outputs, inputs, dp_init_normal(1 / (double)inputs));
    const dp_expr sums = dp_spread(dp_sum_last(dp_abs(w)), inputs);
    return dp_transpose(dp_mul(dp_num(total), dp_div(w, sums)));
}

static dp_expr bias_of(dp_model *m, size_t layer, size_t outputs)
{
    char name[NAME];
    (void)snprintf(name, sizeof name, "b%zu", layer);
    return dp_param(m, name, outputs, 0);
}

static dp_expr connect(dp_expr x, size_t layer, size_t inputs, size_t outputs, double total)
{
    return dp_dense(x, weights_of(x.model, layer, inputs, outputs, total),
                    bias_of(x.model, layer, outputs));
}

/* A convolution of 5 x 5, squares, and means of 2 x 2. */
static dp_expr convolve(dp_expr image, size_t layer, size_t side, size_t channels, size_t filters,
                        double total)
{
    dp_model *m = image.model;
    const dp_window window = {.image = {side, side}, .size = {5, 5}};
    const dp_window pool = {.image = {side - 4, side - 4}, .size = {2, 2}, .stride = {2, 2}};
    const dp_expr w = weights_of(m, layer, 25 * channels, filters, total);
    const dp_expr h = dp_add(dp_conv2d(image, w, &window), bias_of(m, layer, filters));
    return dp_avg_pool2d(dp_square(h), &pool);
}

static void classify(dp_plate rows, dp_expr h)
{
    (void)dp_deterministic(h.model, "answer", h);
    dp_observe(rows, "y", dp_categorical_logit(h));
}

/* ---- models ---- */

/* The chance that a digit is odd; pixels are in -1/2 ... 1/2, so that the link's argument is within
 * 1.95, and those that are always white are a bias. */
static void odd(dp_plate rows)
{
    const dp_expr x = dp_data(rows, "x", WIDE * WIDE);
    const dp_expr eta = dp_matmul(x, weights_of(x.model, 1, WIDE * WIDE, 1, 3.9));
    (void)dp_deterministic(x.model, "answer", dp_logistic(eta));
    dp_observe(rows, "y", dp_bernoulli_logit(eta));
}

static void one_layer(dp_plate rows)
{
    const dp_expr x = dp_data(rows, "x", SIDE * SIDE);
    classify(rows, connect(dp_square(connect(x, 1, SIDE * SIDE, 64, 16)), 2, 64, 10, 2));
}

static void lenet(dp_plate rows)
{
    const dp_expr x = dp_data(rows, "x", SIDE * SIDE);
    const dp_expr h = convolve(convolve(x, 1, SIDE, 1, 4, 4), 2, 12, 4, 12, 4);
    classify(rows, connect(dp_flatten(h), 3, 4 * 4 * 12, 10, 2));
}

static const served_square squares[] = {
    {"odd-1024", "1024, 1, sigmoid", DP_LINK_IDENTITY, true, 8, 3e-4, odd},
    {"mnist-64", "784, 64, square, 10", DP_LINK_SOFTMAX, false, 10, 1e-3, one_layer},
    {"lenet-1", "conv 4 of 5 x 5, square, mean, conv 12 of 5 x 5, square, mean, 192, 10",
     DP_LINK_SOFTMAX, false, 5, 2e-3, lenet}};

const served_square *served_squares(size_t *n)
{
    *n = sizeof squares / sizeof *squares;
    return squares;
}

/* ---- data ---- */

static void widen(const served_set *from, size_t n, served_set *to)
{
    const size_t pixels = (size_t)WIDE * WIDE;
    *to = (served_set){.n = n,
                       .x = served_room(n * pixels, sizeof *to->x),
                       .outcome = served_room(n, sizeof *to->outcome),
                       .label = served_room(n, sizeof *to->label)};
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < pixels; k++) {
            const size_t r = k / WIDE - 2, c = k % WIDE - 2;
            const bool inside = r < SIDE && c < SIDE;
            to->x[i * pixels + k] = (inside ? from->x[(i * SIDE + r) * SIDE + c] : 0) - .5;
        }
        to->label[i] = from->label[i] % 2;
        to->outcome[i] = to->label[i];
    }
    to->numbers = dp_dataset_new(n);
    to->classes = dp_dataset_new(n);
    dp_dataset *both[] = {to->numbers, to->classes};
    for (int k = 0; k < 2; k++) {
        dp_dataset_real(both[k], "x", pixels, to->x);
        dp_dataset_real(both[k], "y", 1, to->outcome);
    }
}

void served_widen(const served_data *d, served_data *wide)
{
    *wide = (served_data){.inputs = (size_t)WIDE * WIDE, .classes = 2, .low = -.5, .high = .5};
    widen(&d->train, ODD_TRAIN < d->train.n ? ODD_TRAIN : d->train.n, &wide->train);
    widen(&d->test, d->test.n, &wide->test);
}

/* ---- training ---- */

static dp_fit *train(const served_square *q, const served_data *d)
{
    const size_t n = d->train.n;
    const dp_svi_opts o = {.mode = DP_NO_PRIVACY,
                           .sampling = DP_SAMPLING_POISSON,
                           .rate = (double)BATCH / (double)n,
                           .steps = q->epochs * (n / BATCH),
                           .step_size = q->step_size,
                           .precision = DP_SINGLE,
                           .seed = SEED};
    dp_svi *svi;
    dp_fit *fit;
    dp_error err = {0};
    dp_model *m = dp_model_new();
    if (m == NULL)
        served_must(DP_ENOMEM, q->name, &err);
    dp_model_seed(m, SEED);
    q->build(dp_unit_plate(m, "images"));
    if (dp_model_status(m) != DP_OK)
        bench_stop(q->name, dp_model_error(m));
    served_must(dp_svi_new(m, NULL, d->train.classes, &o, &svi, &err), q->name, &err);
    served_must(dp_svi_run(svi, stderr, &err), q->name, &err);
    served_must(dp_svi_finish(svi, &fit, &err), q->name, &err);
    dp_svi_free(svi);
    dp_model_free(m);
    return fit;
}

dp_program *served_square_program(const served_square *q, const served_data *d, const char *keep)
{
    const dp_lower_opts lower = {.low = d->low, .high = d->high};
    char path[1000];
    dp_fit *fit;
    dp_program *p;
    dp_error err = {0};
    (void)snprintf(path, sizeof path, "%s/%s.tacit", keep != NULL ? keep : "", q->name);
    const bool kept = keep != NULL && dp_fit_load(path, &fit, NULL) == DP_OK;
    if (!kept)
        fit = train(q, d);
    if (keep != NULL && !kept)
        served_must(dp_fit_save(fit, path, &err), path, &err);
    served_must(dp_program_of_fit(fit, "answer", &lower, &p, &err), q->name, &err);
    dp_program_answer(p, q->link, 1);
    dp_fit_free(fit);
    return p;
}
