#include "bench/networks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(dp_status status, const char *what, const dp_error *err)
{
    if (status == DP_OK)
        return;
    (void)fprintf(stderr, "%s: %s\n", what, err->text);
    exit(1);
}

static dp_model *logistic(size_t pixels)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_weights(m, "w", pixels, NETWORK_CLASSES, dp_init_zeros());
    dp_expr to = dp_dense(dp_data(rows, "x", pixels), w, dp_param(m, "b", NETWORK_CLASSES, 0));
    (void)dp_deterministic(m, "class_probability", dp_softmax(to));
    dp_observe(rows, "y", dp_categorical_logit(to));
    return m;
}

dp_model *network_new(const char *name, size_t pixels)
{
    const bool small = pixels == 64;
    static const dp_cnn_layer few[] = {{8, 3, 1, 1, 2, 2}, {16, 3, 1, 1, 2, 2}},
                              many[] = {{16, 8, 2, 2, 2, 1}, {32, 4, 2, 0, 2, 1}};
    const size_t side = small ? 8 : 28;
    const dp_cnn_opts network = {
        side, side, 1, small ? few : many, 2, small ? 16 : 32, NETWORK_CLASSES, 0, 1};
    dp_model *m;
    dp_error err = {0};
    if (strcmp(name, "cnn") != 0)
        return logistic(pixels);
    must(dp_cnn(&network, &m, &err), name, &err);
    return m;
}

double network_right(const dp_fit *fit, const images *s)
{
    double *chance = calloc(s->n_test * NETWORK_CLASSES, sizeof *chance);
    dp_error err = {0};
    const dp_expr asked = dp_fit_expr((dp_fit *)(uintptr_t)fit, "class_probability");
    dp_dataset *test = dp_dataset_new(s->n_test);
    dp_dataset_bytes(test, "x", s->pixels, s->pixels == 64 ? 16 : 255, s->test);
    const dp_given given = {.data = test};
    must(dp_fit_evaluate(fit, asked, &given, s->n_test * NETWORK_CLASSES, chance, &err), "test",
         &err);
    const double share = images_right(s, NETWORK_CLASSES, chance);
    free(chance);
    dp_dataset_free(test);
    return share;
}
