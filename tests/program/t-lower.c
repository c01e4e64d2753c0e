/* Programs of fits: what they compute is what the fit predicts, and what cannot be is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/models.h>
#include <tacit/multivariate.h>

#include "program/lower.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { RECORDS = 40, GROUPS = 5, OTHERS = 3, WIDE = 4 };

/* Of guides: so small that draws are their means, unless a test says otherwise. */
enum { SMALL_SCALE = -30 };
static double log_scale = SMALL_SCALE;

/* A fit with scattered parameters. */
static dp_fit *guided_fit(dp_model *m, dp_model *guide)
{
    const dp_privacy privacy = {.adjacency = "none", .why_not = "for a test", .delta = 1};
    dp_error err = {0};
    dp_fit *fit = NULL;
    dpi_objective o;
    uint64_t numbers = 5;
    assert_null(dp_model_error(m));
    const dpi_objective_spec spec = {
        .model = m, .guide = guide, .population = 1, .init_scale = 0.1};
    assert_ok(dpi_objective_init(&o, &spec, &err), err.text);
    double *theta = calloc(o.n_theta + 1, sizeof *theta);
    for (size_t k = 0; k < o.n_blocks; k++)
        for (size_t i = 0; i < o.blocks[k].size; i++)
            theta[o.blocks[k].offset + i] =
                strstr(o.blocks[k].name, ".log_scale") != NULL ? log_scale : next_number(&numbers);
    const dpi_fit_parts parts = {
        .model = m, .guide = guide, .theta = theta, .n_theta = o.n_theta, .privacy = &privacy};
    dpi_objective_free(&o);
    assert_ok(dpi_fit_new(&parts, &fit, &err), err.text);
    free(theta);
    return fit;
}

static dp_fit *fit_of(dp_model *m)
{
    return guided_fit(m, NULL);
}

typedef struct records {
    double x[RECORDS * 784], z[RECORDS];
    int32_t g[RECORDS], h[RECORDS];
    dp_dataset *data;
} records;

static records *new_records(size_t wide)
{
    records *r = calloc(1, sizeof *r);
    uint64_t numbers = 17;
    for (size_t i = 0; i < RECORDS * wide; i++)
        r->x[i] = next_number(&numbers);
    for (int i = 0; i < RECORDS; i++) {
        r->z[i] = 3 * next_number(&numbers);
        r->g[i] = i % GROUPS;
        r->h[i] = i * 7 % OTHERS;
    }
    r->data = dp_dataset_new(RECORDS);
    dp_dataset_real(r->data, "x", wide, r->x);
    dp_dataset_real(r->data, "z", 1, r->z);
    dp_dataset_index(r->data, "g", r->g);
    dp_dataset_index(r->data, "h", r->h);
    return r;
}

static void free_records(records *r)
{
    dp_dataset_free(r->data);
    free(r);
}

static const dp_lower_opts bounds = {.low = -3, .high = 3};

/* Program and fit agree on all records; frees the fit.  Returns the program, which is fixed. */
static dp_program *agrees(dp_fit *fit, const char *name, size_t size, const dp_lower_opts *opts,
                          const records *r)
{
    dp_error err = {0};
    dp_program *p;
    assert_ok(dp_program_of_fit(fit, name, opts, &p, &err), err.text);
    const dp_scale_opts fine = {.weight_bits = 24, .activation_bits = 20};
    assert_ok(dp_program_fix(p, &fine, &err), err.text);
    size_t inputs = dp_program_inputs(p), outputs = dp_program_outputs(p);
    assert_int_equal(outputs, size * dp_program_draws(p));
    double *x = calloc(RECORDS * inputs, sizeof *x), *y = calloc(RECORDS * outputs, sizeof *y);
    int64_t *v = calloc(RECORDS * inputs, sizeof *v), *w = calloc(RECORDS * outputs, sizeof *w);
    double *expected = calloc(RECORDS * size, sizeof *expected), *mean = calloc(size, sizeof *mean);
    assert_ok(dp_program_read(p, r->data, RECORDS * inputs, x, &err), err.text);
    assert_ok(dp_program_run(p, RECORDS, x, y, &err), err.text);
    assert_ok(dp_program_encode(p, RECORDS, x, v, &err), err.text);
    assert_ok(dp_program_run_exact(p, RECORDS, v, w, &err), err.text);
    const dp_given given = {.data = r->data};
    bool observed = strcmp(name, "y") == 0;
    if (observed)
        assert_ok(dp_fit_predict(fit, name, &given, RECORDS * size, expected, &err), err.text);
    else
        assert_ok(
            dp_fit_evaluate(fit, dp_fit_expr(fit, name), &given, RECORDS * size, expected, &err),
            err.text);
    for (size_t i = 0; i < RECORDS; i++) {
        dp_program_decode(p, w + i * outputs, mean, NULL);
        for (size_t k = 0; k < size; k++) {
            assert_close(mean[k], expected[i * size + k], 1e-3, 1e-3);
            if (!observed)
                assert_close(y[i * outputs + k], expected[i * size + k], 1e-9, 1e-9);
        }
    }
    free(x), free(y), free(v), free(w), free(expected), free(mean);
    dp_fit_free(fit);
    return p;
}

/* Effects and slopes of crossed groups, standardised columns, and their product as a column. */
static dp_fit *hierarchical(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", GROUPS),
             others = dp_plate_new(m, "others", OTHERS);
    dp_expr x = dp_data(rows, "x", WIDE), z = dp_data(rows, "z", 1);
    dp_expr g = dp_index(rows, "g", groups), h = dp_index(rows, "h", others);
    dp_expr tau = dp_sample(m, "tau", 1, dp_half_normal(1));
    dp_expr w = dp_sample(m, "w", WIDE, dp_normal(0, 1));
    dp_expr a = dp_sample_in(groups, "a", 1, dp_normal_v(dp_num(0), tau));
    dp_expr b = dp_sample_in(groups, "b", 1, dp_normal(0, 1));
    dp_expr c = dp_sample_in(others, "c", 1, dp_normal(0, 1));
    dp_expr scaled = dp_div(dp_sub(z, dp_num(.25)), dp_num(1.75));
    dp_expr eta = dp_add(dp_dot(x, w), dp_add(dp_pick(a, g), dp_pick(c, h)));
    eta = dp_add(eta, dp_mul(dp_add(dp_pick(b, g), dp_num(.5)), scaled));
    dp_deterministic(m, "eta", dp_add(eta, dp_mul(dp_pick(a, g), dp_pick(b, g))));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_add(eta, dp_mul(dp_pick(a, g), dp_pick(b, g)))));
    return fit_of(m);
}

static void groups_and_slopes_are_indicators_and_products(void **state)
{
    (void)state;
    records *r = new_records(WIDE);
    dp_program *p = agrees(hierarchical(), "y", 1, &bounds, r);
    /* x, z, g, h, and g with z. */
    assert_int_equal(dp_program_inputs(p), WIDE + 1 + GROUPS + OTHERS + GROUPS);
    assert_int_equal(dp_program_link(p), DP_LINK_LOGISTIC);
    assert_int_equal(dp_program_stages(p), 2);
    dp_program_number last = dp_program_number_at(p, dp_program_inputs(p) - 1);
    assert_int_equal(last.n_factors, 2);
    assert_true(last.low == -3 && last.high == 3);
    dp_program_free(p);
    dp_program_free(agrees(hierarchical(), "eta", 1, &bounds, r));
    free_records(r);
}

static void draws_stand_side_by_side(void **state)
{
    (void)state;
    records *r = new_records(WIDE);
    const dp_lower_opts opts = {.low = -3, .high = 3, .draws = 6, .seed = 1};
    dp_program *p = agrees(hierarchical(), "y", 1, &opts, r);
    assert_int_equal(dp_program_outputs(p), 6);
    dp_program_free(p);
    free_records(r);
}

static dp_fit *network(dp_activation activation)
{
    static const size_t hidden[] = {6, 5};
    dp_error err = {0};
    dp_model *m;
    const dp_mlp_opts opts = {
        .inputs = WIDE, .hidden = hidden, .n_hidden = 2, .classes = 3, .activation = activation};
    assert_ok(dp_mlp(&opts, &m, &err), err.text);
    return fit_of(m);
}

/* What a network has that is computed under encryption. */
static void squares_are_stages(void **state)
{
    (void)state;
    records *r = new_records(WIDE);
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr h = dp_matmul(dp_data(rows, "x", WIDE), dp_weights(m, "W", WIDE, 2, dp_init_normal(1)));
    h = dp_square(dp_add(h, dp_num(.5)));
    (void)dp_deterministic(m, "squares", h);
    dp_observe(rows, "y", dp_bernoulli_logit(dp_sum_last(h)));
    dp_program *p = agrees(fit_of(m), "squares", 2, &bounds, r);
    assert_int_equal(dp_program_stages(p), 3);
    assert_int_equal(dp_program_stage(p, 2)->kind, DP_STAGE_SQUARE);
    dp_program_free(p);
    free_records(r);
}

static void networks_are_layers(void **state)
{
    (void)state;
    records *r = new_records(WIDE);
    dp_program *p = agrees(network(DP_ACTIVATION_RELU), "y", 3, &bounds, r);
    assert_int_equal(dp_program_stages(p), 6);
    assert_int_equal(dp_program_link(p), DP_LINK_SOFTMAX);
    dp_program_free(p);
    dp_program_free(agrees(network(DP_ACTIVATION_RELU), "logits", 3, &bounds, r));
    const dp_lower_opts opts = {.low = -1, .high = 1, .draws = 2};
    dp_program_free(agrees(network(DP_ACTIVATION_RELU), "logits", 3, &bounds, r));
    dp_program_free(agrees(network(DP_ACTIVATION_RELU), "y", 3, &opts, r));
    free_records(r);
}

/* Layers whose weights are latents, with scales of their guide near 1: every draw is another
 * network, and each is answered as the fit answers that draw. */
static void each_draw_is_a_network_of_its_own(void **state)
{
    (void)state;
    enum { DRAWS = 3, CLASSES = 3 };
    static const size_t hidden[] = {4, 5};
    static double expected[DRAWS * RECORDS * CLASSES], y[RECORDS * DRAWS * CLASSES];
    static double x[RECORDS * WIDE];
    dp_error err = {0};
    dp_model *m;
    dp_rng *rng;
    dp_draws *draws;
    dp_program *p;
    const dp_bayesian_network_opts opts = {
        .inputs = WIDE, .classes = CLASSES, .hidden = hidden, .n_hidden = 2};
    const dp_lower_opts lower = {.low = -1, .high = 1, .draws = DRAWS, .seed = 9};
    records *r = new_records(WIDE);
    assert_ok(dp_bayesian_network(&opts, &m, &err), err.text);
    log_scale = -1;
    dp_fit *fit = fit_of(m);
    log_scale = SMALL_SCALE;
    assert_ok(dp_rng_new(9, &rng, &err), err.text);
    assert_ok(dp_fit_draw(fit, DRAWS, rng, &draws, &err), err.text);
    const dp_given given = {.data = r->data, .draws = draws};
    assert_ok(dp_fit_evaluate(fit, dp_fit_expr(fit, "logits"), &given,
                              sizeof expected / sizeof *expected, expected, &err),
              err.text);
    assert_ok(dp_program_of_fit(fit, "logits", &lower, &p, &err), err.text);
    assert_ok(dp_program_fix(p, NULL, &err), err.text);
    assert_ok(dp_program_read(p, r->data, RECORDS * WIDE, x, &err), err.text);
    assert_ok(dp_program_run(p, RECORDS, x, y, &err), err.text);
    for (int d = 0; d < DRAWS; d++)
        for (int i = 0; i < RECORDS; i++)
            for (int k = 0; k < CLASSES; k++)
                assert_close(y[(i * DRAWS + d) * CLASSES + k],
                             expected[(d * RECORDS + i) * CLASSES + k], 1e-9, 1e-9);
    assert_true(fabs(y[0] - y[CLASSES]) > 1e-3);
    dp_program_free(p);
    dp_draws_free(draws);
    dp_rng_free(rng);
    dp_fit_free(fit);
    free_records(r);
}

static void convolutions_stay_convolutions(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_model *m;
    records *r = new_records(9 * 8 * 2);
    const dp_cnn_layer layers[] = {
        {.filters = 3, .size = 3, .padding = 1, .pool = 2, .pool_stride = 2},
        {.filters = 4, .size = 2, .stride = 2}};
    const dp_cnn_opts opts = {.rows = 9,
                              .columns = 8,
                              .channels = 2,
                              .layers = layers,
                              .n_layers = 2,
                              .hidden = 5,
                              .classes = 3,
                              .activation = DP_ACTIVATION_RELU};
    assert_ok(dp_cnn(&opts, &m, &err), err.text);
    dp_program *p = agrees(fit_of(m), "logits", 3, &bounds, r);
    static const dp_stage_kind kinds[] = {DP_STAGE_INPUT,    DP_STAGE_CONVOLUTION, DP_STAGE_RELU,
                                          DP_STAGE_MAX_POOL, DP_STAGE_CONVOLUTION, DP_STAGE_RELU,
                                          DP_STAGE_DENSE,    DP_STAGE_RELU,        DP_STAGE_DENSE};
    assert_int_equal(dp_program_stages(p), sizeof kinds / sizeof *kinds);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        assert_int_equal(dp_program_stage(p, k)->kind, kinds[k]);
    dp_program_free(p);
    free_records(r);
}

/* A normalised convolution (a scale and a shift for each channel), a mean of windows, and what goes
 * round the layers. */
static void normalised_images_and_short_cuts(void **state)
{
    (void)state;
    records *r = new_records(6 * 6);
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    const dp_window three = {.image = {6, 6}, .size = {3, 3}};
    const dp_window two = {.image = {4, 4}, .size = {2, 2}, .stride = {2, 2}};
    dp_expr x = dp_data(rows, "x", 36);
    dp_expr w = dp_param(m, "W", 9 * 2, 0), scale = dp_param(m, "scale", 2, 1);
    dp_expr shift = dp_param(m, "shift", 2, 0), v = dp_param(m, "V", 8, 0);
    dp_expr image = dp_conv2d(x, dp_reshape(w, 9, 2), &three);
    image = dp_add(dp_mul(dp_sub(image, dp_num(.3)), scale), shift);
    dp_expr pooled = dp_flatten(dp_avg_pool2d(dp_relu(image), &two));
    dp_expr round_ = dp_dot(x, dp_param(m, "u", 36, 0));
    dp_deterministic(m, "eta", dp_add(dp_add(dp_dot(pooled, v), dp_num(1)), round_));
    dp_observe(rows, "y", dp_normal_v(dp_add(dp_dot(pooled, v), round_), dp_num(1)));
    dp_program *p = agrees(fit_of(m), "eta", 1, &bounds, r);
    static const dp_stage_kind kinds[] = {
        DP_STAGE_INPUT,        DP_STAGE_DENSE, DP_STAGE_CONVOLUTION, DP_STAGE_RELU,
        DP_STAGE_AVERAGE_POOL, DP_STAGE_DENSE, DP_STAGE_ADD};
    assert_int_equal(dp_program_stages(p), sizeof kinds / sizeof *kinds);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        assert_int_equal(dp_program_stage(p, k)->kind, kinds[k]);
    dp_program_free(p);
    free_records(r);
}

/* ---- refusals ---- */

static void refuses(dp_model *m, const char *name, const dp_lower_opts *opts, dp_status status,
                    const char *why)
{
    dp_error err = {0};
    dp_program *p;
    dp_fit *fit = fit_of(m);
    assert_fails(dp_program_of_fit(fit, name, opts, &p, &err), status, &err, why);
    assert_null(p);
    dp_fit_free(fit);
}

static void what_has_no_stage_is_refused(void **state)
{
    (void)state;
    static const char *const why[] = {"no stage for this operation",
                                      "with itself",
                                      "divides by a number of the record",
                                      "has no bounds",
                                      "does not follow from one",
                                      "no value of records",
                                      "as it is"};
    for (int which = 0; which < 7; which++) {
        dp_model *m = dp_model_new();
        dp_plate rows = dp_unit_plate(m, "rows");
        dp_expr x = dp_data(rows, "x", 1), z = dp_data(rows, "z", 1);
        dp_expr w = dp_sample(m, "w", 1, dp_normal(0, 1)), eta = dp_mul(x, w);
        if (which == 0)
            eta = dp_exp(eta);
        else if (which == 1)
            eta = dp_mul(eta, dp_add(z, x));
        else if (which == 2)
            eta = dp_div(eta, z);
        else if (which == 6)
            eta = x;
        if (which == 4)
            dp_observe(rows, "y", dp_gamma_v(dp_exp(eta), dp_num(1)));
        else
            dp_observe(rows, "y", dp_normal_v(eta, dp_exp(w)));
        const dp_status status = which == 3 ? DP_EINVAL : which == 5 ? DP_ENAME : DP_EUNSUPPORTED;
        refuses(m, which == 5 ? "w" : "y", which == 3 ? NULL : &bounds, status, why[which]);
    }
}

static void latents_of_records_are_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_model *m, *guide;
    dp_program *p;
    const dp_vae_opts opts = {.inputs = WIDE, .hidden = 3, .latent = 2};
    assert_ok(dp_vae(&opts, &m, &guide, &err), err.text);
    dp_fit *fit = guided_fit(m, guide);
    assert_fails(dp_program_of_fit(fit, "logits", &bounds, &p, &err), DP_EUNSUPPORTED, &err,
                 "latent of records");
    dp_fit_free(fit);
}

static void unknown_groups_are_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    records *r = new_records(WIDE);
    dp_program *p;
    dp_fit *fit = hierarchical();
    assert_ok(dp_program_of_fit(fit, "y", &bounds, &p, &err), err.text);
    assert_ok(dp_program_fix(p, NULL, &err), err.text);
    size_t n = RECORDS * dp_program_inputs(p);
    double *x = calloc(n, sizeof *x);
    assert_fails(dp_program_read(p, r->data, n - 1, x, &err), DP_ESHAPE, &err, "room");
    r->g[11] = GROUPS;
    assert_fails(dp_program_read(p, r->data, n, x, &err), DP_EDATA, &err, "column 'g'");
    assert_true(isnan(x[0]));
    free(x);
    dp_program_free(p);
    dp_fit_free(fit);
    free_records(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_and_slopes_are_indicators_and_products),
        cmocka_unit_test(draws_stand_side_by_side),
        cmocka_unit_test(squares_are_stages),
        cmocka_unit_test(networks_are_layers),
        cmocka_unit_test(each_draw_is_a_network_of_its_own),
        cmocka_unit_test(convolutions_stay_convolutions),
        cmocka_unit_test(normalised_images_and_short_cuts),
        cmocka_unit_test(what_has_no_stage_is_refused),
        cmocka_unit_test(latents_of_records_are_refused),
        cmocka_unit_test(unknown_groups_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
