/* The models, and how each is trained.  Regressions are fitted from epsilon and delta alone;
 * networks by DP-SGD with Adam, or by Adam without privacy.  Priors, steps, batches, step sizes and
 * clip norms were chosen on these sets; what choosing costs is not in epsilon. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "options.h"
#include "served.h"

enum { CLASSES_OF_TWO = 2, SEED = 1, LAYERS = 2 };

/* How a network is trained: without privacy, and with. */
typedef struct way {
    size_t batch, epochs; /* batch 0: all records */
    double step_size, clip;
} way;

struct served_recipe {
    size_t hidden[LAYERS];
    dp_cnn_layer layers[LAYERS]; /* none: dense layers alone, else hidden[0] units after them */
    size_t n_layers, side;
    bool lenet; /* LeNet-5, whose layers are its own */
    way plain, private;
};

static const struct served_recipe small = {
    .hidden = {32, 32}, .plain = {32, 60, 2e-3, 0}, .private = {0, 150, 1e-2, 1}};
static const struct served_recipe middle = {
    .hidden = {32, 32}, .plain = {512, 20, 2e-3, 0}, .private = {2048, 40, 5e-3, 1}};
static const struct served_recipe mnist_1 = {
    .hidden = {128, 128}, .plain = {128, 12, 1e-3, 0}, .private = {4096, 60, 8e-3, .3}};
static const struct served_recipe mnist_2 = {.hidden = {100},
                                             .layers = {{5, 5, 2, 1, 0, 0}},
                                             .n_layers = 1,
                                             .side = 28,
                                             .plain = {128, 12, 1e-3, 0},
                                             .private = {4096, 50, 1e-2, .3}};
static const struct served_recipe mnist_3 = {.hidden = {100},
                                             .layers = {{16, 5, 1, 0, 2, 2}, {16, 5, 1, 0, 2, 2}},
                                             .n_layers = 2,
                                             .side = 28,
                                             .plain = {128, 5, 1e-3, 0},
                                             .private = {4096, 20, 8e-3, .3}};
static const struct served_recipe lenet = {
    .lenet = true, .plain = {128, 12, 1e-3, 0}, .private = {4096, 50, 8e-3, .3}};

static const served_model models[] = {
    {"contraception", "contraception", "6 + 60 districts, 1", DP_SERVE_LINEAR, NULL},
    {"breast", "breast", "30, 1", DP_SERVE_LINEAR, NULL},
    {"breast-3fc", "breast", "30, 32, 32, 2", DP_SERVE_PERMUTE, &small},
    {"heart", "heart", "18, 1", DP_SERVE_LINEAR, NULL},
    {"heart-3fc", "heart", "18, 32, 32, 2", DP_SERVE_PERMUTE, &small},
    {"cardio", "cardio", "11, 1", DP_SERVE_LINEAR, NULL},
    {"cardio-3fc", "cardio", "11, 32, 32, 2", DP_SERVE_PERMUTE, &middle},
    {"mnist-1", "mnist", "784, 128, 128, 10", DP_SERVE_PERMUTE, &mnist_1},
    {"mnist-2", "mnist", "conv 5 of 5 x 5 / 2, 845, 100, 10", DP_SERVE_PERMUTE, &mnist_2},
    {"mnist-3", "mnist", "conv 16 of 5 x 5, conv 16 of 5 x 5, 256, 100, 10", DP_SERVE_PERMUTE,
     &mnist_3},
    {"lenet-5", "mnist", "conv 6 of 5 x 5, conv 16 of 5 x 5, 400, 120, 84, 10", DP_SERVE_PERMUTE,
     &lenet}};

const served_model *served_models(size_t *n)
{
    *n = sizeof models / sizeof *models;
    return models;
}

/* ---- models ---- */

static dp_model *new_regression(const served_data *d)
{
    const dp_grouping group = {"group", d->groups};
    /* Log odds of a record then have much the same prior, however many predictors there are. */
    const double scale = 2.5 / sqrt((double)d->inputs);
    const dp_regression_opts o = {.predictors = d->inputs,
                                  .scale = scale,
                                  .groupings = &group,
                                  .n_groupings = d->groups > 0,
                                  .likelihood = DP_LIKELIHOOD_LOGISTIC};
    dp_model *m;
    dp_error err = {0};
    served_must(d->groups > 0 ? dp_hierarchical_regression(&o, &m, &err)
                              : dp_logistic_regression(&o, &m, &err),
                "regression", &err);
    return m;
}

static dp_model *new_network(const struct served_recipe *r, const served_data *d)
{
    const dp_mlp_opts dense = {.inputs = d->inputs,
                               .classes = d->classes,
                               .hidden = r->hidden,
                               .n_hidden = LAYERS,
                               .activation = DP_ACTIVATION_RELU,
                               .seed = SEED};
    const dp_cnn_opts image = {.rows = r->side,
                               .columns = r->side,
                               .layers = r->layers,
                               .n_layers = r->n_layers,
                               .hidden = r->hidden[0],
                               .classes = d->classes,
                               .activation = DP_ACTIVATION_RELU,
                               .seed = SEED};
    dp_model *m;
    dp_error err = {0};
    if (r->lenet)
        return served_lenet(SEED);
    served_must(r->n_layers > 0 ? dp_cnn(&image, &m, &err) : dp_mlp(&dense, &m, &err), "network",
                &err);
    return m;
}

/* ---- training ---- */

static dp_fit *fit_regression(const served_data *d, double epsilon, double delta, bool *hopeless)
{
    dp_fit_opts o = {.mode = DP_NO_PRIVACY, .seed = SEED};
    dp_model *m = new_regression(d);
    dp_fit *fit;
    dp_error err = {0};
    if (isfinite(epsilon))
        o.mode = DP_PRIVATE, o.epsilon = epsilon, o.delta = delta;
    dp_status status = dp_fit_private(m, d->train.numbers, &o, &fit, &err);
    *hopeless = status == DP_EPRIVACY;
    if (*hopeless) {
        o.hopeless_allowed = true;
        status = dp_fit_private(m, d->train.numbers, &o, &fit, &err);
    }
    served_must(status, "fit", &err);
    dp_model_free(m);
    return fit;
}

static dp_fit *fit_network(const struct served_recipe *r, const served_data *d, double epsilon,
                           double delta)
{
    const way *w = isfinite(epsilon) ? &r->private : &r->plain;
    const size_t n = d->train.n, batch = w->batch > 0 ? w->batch : n;
    dp_svi_opts o = {.mode = DP_NO_PRIVACY,
                     .sampling = batch == n ? DP_SAMPLING_FULL : DP_SAMPLING_POISSON,
                     .rate = batch == n ? 0 : (double)batch / (double)n,
                     .steps = w->epochs * ((n + batch / 2) / batch),
                     .step_size = w->step_size,
                     .precision = DP_SINGLE,
                     .seed = SEED};
    dp_model *m = new_network(r, d);
    dp_svi *svi;
    dp_fit *fit;
    dp_error err = {0};
    if (isfinite(epsilon))
        o.mode = DP_PRIVATE, o.epsilon = epsilon, o.delta = delta, o.clip = w->clip;
    served_must(dp_svi_new(m, NULL, d->train.classes, &o, &svi, &err), "training", &err);
    served_must(dp_svi_run(svi, stderr, &err), "training", &err);
    served_must(dp_svi_finish(svi, &fit, &err), "training", &err);
    dp_svi_free(svi);
    dp_model_free(m);
    return fit;
}

served_fit served_train(const served_model *m, const served_data *d, double epsilon, double delta,
                        const char *keep)
{
    served_fit f = {.epsilon = epsilon, .delta = isfinite(epsilon) ? delta : NAN, .seconds = NAN};
    char path[1000];
    dp_error err = {0};
    (void)snprintf(path, sizeof path, "%s/%s-%zu-%g.tacit", keep != NULL ? keep : "", m->name,
                   d->fold, epsilon);
    if (keep != NULL && dp_fit_load(path, &f.fit, &err) == DP_OK)
        return f;
    const double from = bench_processor();
    f.fit = m->recipe != NULL ? fit_network(m->recipe, d, epsilon, delta)
                              : fit_regression(d, epsilon, delta, &f.hopeless);
    f.seconds = bench_processor() - from;
    if (keep != NULL)
        served_must(dp_fit_save(f.fit, path, &err), path, &err);
    return f;
}

/* ---- programs ---- */

dp_program *served_lower(const served_fit *f, const served_data *d)
{
    const dp_lower_opts o = {.low = d->low, .high = d->high};
    dp_program *p;
    dp_error err = {0};
    served_must(dp_program_of_fit(f->fit, "y", &o, &p, &err), "program", &err);
    return p;
}

double *served_inputs(const dp_program *p, const served_set *s)
{
    dp_error err = {0};
    const size_t n = s->n * dp_program_inputs(p);
    double *x = served_room(n, sizeof *x);
    served_must(dp_program_read(p, s->numbers, n, x, &err), "records", &err);
    return x;
}

int32_t served_class_of(size_t outputs, const double *y)
{
    size_t best = 0;
    for (size_t k = 1; k < outputs; k++)
        best = y[k] > y[best] ? k : best;
    return outputs == 1 ? y[0] > 0 : (int32_t)best;
}

int32_t served_class_of_integers(size_t outputs, const int64_t *y)
{
    size_t best = 0;
    for (size_t k = 1; k < outputs; k++)
        best = y[k] > y[best] ? k : best;
    return outputs == 1 ? y[0] > 0 : (int32_t)best;
}
