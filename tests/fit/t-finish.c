/* From runs to fits: what a fit has of its run, what it refuses, and that it stands alone. */
#include <math.h>
#include <string.h>

#include "fit/file.h"
#include "fit/fit.h"
#include "svi/svi.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { N = 300, GROUPS = 3, WIDTH = 4 };

static double x[N], y[N];
static int32_t group[N], label[N];
static unsigned char pixel[N * WIDTH];

static void fill(void)
{
    for (size_t i = 0; i < N; i++) {
        x[i] = sin((double)i);
        group[i] = (int32_t)(i % GROUPS);
        label[i] = (int32_t)(i * 7 % 5 % 3);
        y[i] = i % 3 == 0 || x[i] > 0.4;
    }
    for (size_t i = 0; i < N * WIDTH; i++)
        pixel[i] = (unsigned char)(i * 7919 % 17);
}

/* Every kind of column, a constant, a deterministic value, a plate; nullable guide with a latent of
 * each record. */
typedef struct world {
    dp_model *m, *guide;
    dp_dataset *data;
    dp_svi *svi;
    dp_fit *fit;
    dp_error err;
} world;

static void write_regression(world *w)
{
    const double shift[1] = {0.125};
    *w = (world){.m = dp_model_new(), .data = dp_dataset_new(N)};
    if (w->m == NULL || w->data == NULL)
        return;
    dp_plate rows = dp_unit_plate(w->m, "rows"), groups = dp_plate_new(w->m, "groups", GROUPS);
    dp_expr a = dp_sample_in(groups, "a", 1, dp_normal(0, 1)),
            b = dp_sample(w->m, "b", 1, dp_normal(0, 2)), c = dp_param(w->m, "c", 3, 0);
    dp_expr g = dp_index(rows, "g", groups), read = dp_data(rows, "x", 1);
    dp_expr at = dp_add(dp_pick(a, g), dp_mul(b, read));
    at = dp_deterministic(w->m, "logit", dp_add(at, dp_constant(w->m, 1, shift)));
    dp_observe(rows, "y", dp_bernoulli_logit(at));
    dp_observe(rows, "kind", dp_categorical_logit(dp_mul(c, at)));
    dp_dataset_real(w->data, "x", 1, x);
    dp_dataset_index(w->data, "g", group);
    dp_dataset_real(w->data, "y", 1, y);
    dp_dataset_index(w->data, "kind", label);
    dp_dataset_real(w->data, "not read", 1, x);
}

static void write_encoder(world *w)
{
    *w = (world){.m = dp_model_new(), .data = dp_dataset_new(N)};
    dp_plate rows = dp_unit_plate(w->m, "rows");
    dp_expr z = dp_sample_in(rows, "z", 2, dp_normal(0, 1)),
            weights = dp_reshape(dp_param(w->m, "w", 2 * WIDTH, 0.1), 2, WIDTH);
    dp_expr logits = dp_dense(z, weights, dp_param(w->m, "b", WIDTH, 0));
    dp_observe(rows, "pixels", dp_bernoulli_logit(dp_deterministic(w->m, "logits", logits)));
    w->guide = dp_guide_new(w->m);
    rows = dp_unit_plate(w->guide, "rows");
    dp_expr in = dp_data(rows, "pixels", WIDTH),
            encode = dp_reshape(dp_param(w->guide, "v", 2 * WIDTH, 0.2), WIDTH, 2);
    dp_expr scale = dp_exp(dp_param(w->guide, "s", 2, -1));
    (void)dp_sample_in(rows, "z", 2, dp_normal_v(dp_matmul(in, encode), scale));
    dp_dataset_bernoulli(w->data, "pixels", WIDTH, 16, pixel);
}

static void run(world *w, const dp_svi_opts *opts)
{
    assert_ok(dp_svi_new(w->m, w->guide, w->data, opts, &w->svi, &w->err), w->err.text);
    assert_ok(dp_svi_run(w->svi, NULL, &w->err), w->err.text);
    assert_ok(dp_svi_finish(w->svi, &w->fit, &w->err), w->err.text);
}

/* All but the fit. */
static void end_run(world *w)
{
    dp_svi_free(w->svi);
    dp_dataset_free(w->data);
    dp_model_free(w->guide);
    dp_model_free(w->m);
    w->svi = NULL;
}

static const dp_svi_opts plain = {.mode = DP_NO_PRIVACY, .steps = 30, .seed = 1};
static const dp_svi_opts private = {
    .sigma = 3, .delta = 1e-6, .clip = 1, .steps = 4, .seed = 1, .average = 0.5};

/* ---- what it has ---- */

static void a_fit_outlives_run_model_and_data(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        world w;
        double theta[2 * WIDTH], kept[2 * WIDTH], chance[N * WIDTH], again[N * WIDTH];
        const char *name = which == 0 ? "b.loc" : "v";
        size_t size = which == 0 ? 1 : 2 * WIDTH, n = which == 0 ? N : N * WIDTH;
        dp_fit *fit;
        (which == 0 ? write_regression : write_encoder)(&w);
        run(&w, &plain);
        assert_ok(dp_svi_get(w.svi, name, size, theta, &w.err), w.err.text);
        dp_dataset *test = dp_dataset_new(N);
        if (which == 0) {
            dp_dataset_real(test, "x", 1, x);
            dp_dataset_index(test, "g", group);
        } else
            dp_dataset_bytes(test, "pixels", WIDTH, 16, pixel);
        dp_given later = {.data = test, .latents = DP_LATENTS_GUIDE_MEAN};
        const char *column = which == 0 ? "y" : "pixels";
        assert_ok(dp_fit_predict(w.fit, column, &later, n, chance, &w.err), w.err.text);
        end_run(&w);
        fit = w.fit;
        assert_ok(dp_fit_parameter(fit, name, size, kept, &w.err), w.err.text);
        assert_memory_equal(kept, theta, size * sizeof *theta);
        assert_ok(dp_fit_predict(fit, column, &later, n, again, &w.err), w.err.text);
        assert_memory_equal(again, chance, n * sizeof *chance);
        /* By the value's own name, too. */
        dp_expr logit = dp_fit_expr(fit, which == 0 ? "logit" : "logits");
        assert_ok(dp_fit_evaluate(fit, dp_logistic(logit), &later, n, again, &w.err), w.err.text);
        assert_memory_equal(again, chance, n * sizeof *chance);
        dp_dataset_free(test);
        dp_fit_free(fit);
    }
}

static void columns_are_those_that_are_read_or_observed(void **state)
{
    (void)state;
    world w;
    size_t n;
    write_regression(&w);
    run(&w, &plain);
    end_run(&w);
    const dp_fit_column *c = dp_fit_columns(w.fit, &n);
    const dp_fit_column wanted[] = {
        {.name = "g", .kind = DP_FIT_INDEX, .size = 1, .groups = 3},
        {.name = "x", .size = 1},
        {.name = "y", .size = 1, .observed = true},
        {.name = "kind", .kind = DP_FIT_INDEX, .size = 1, .groups = 3, .observed = true}};
    assert_int_equal(n, 4);
    for (size_t k = 0; k < n; k++) {
        assert_string_equal(c[k].name, wanted[k].name);
        assert_int_equal(c[k].kind, wanted[k].kind);
        assert_int_equal(c[k].size, wanted[k].size);
        assert_int_equal(c[k].groups, wanted[k].groups);
        assert_int_equal(c[k].observed, wanted[k].observed);
        assert_int_equal(dp_fit_size(w.fit, c[k].name), c[k].size);
    }
    assert_int_equal(dp_fit_size(w.fit, "not read"), 0);
    assert_int_equal(dp_fit_size(w.fit, "logit"), 1);
    dp_fit_free(w.fit);
    write_encoder(&w);
    run(&w, &plain);
    end_run(&w);
    c = dp_fit_columns(w.fit, &n);
    assert_int_equal(n, 1);
    assert_true(c[0].kind == DP_FIT_BYTES && c[0].drawn && c[0].observed && c[0].most == 16 &&
                c[0].size == WIDTH && c[0].groups == 0);
    dp_fit_free(w.fit);
}

static void the_privacy_statement_is_the_runs(void **state)
{
    (void)state;
    world w;
    dp_privacy of_run, of_fit;
    write_regression(&w);
    run(&w, &private);
    assert_ok(dp_svi_privacy(w.svi, &of_run, &w.err), w.err.text);
    end_run(&w);
    dp_fit_privacy(w.fit, &of_fit);
    assert_true(of_fit.epsilon == of_run.epsilon && of_fit.delta == of_run.delta);
    assert_true(of_fit.sigma == 3 && of_fit.steps == 4 && !of_fit.is_private);
    assert_string_equal(of_fit.why_not, of_run.why_not);
    assert_string_equal(of_fit.adjacency, of_run.adjacency);
    assert_true(w.fit->parts.asked_delta == 1e-6);
    dp_fit_free(w.fit);
}

/* Data sets of n and of n - 1 records, of which the first reaches 1 / delta: what is kept and
 * handed on says the same of both, in as many bytes. */
static void nothing_in_a_fit_tells_the_number_of_records(void **state)
{
    (void)state;
    size_t size[2];
    for (int less = 0; less < 2; less++) {
        world w;
        dp_privacy of_run, of_fit;
        dpi_bytes bytes = {0};
        dp_svi_opts opts = private;
        write_regression(&w);
        dp_dataset_free(w.data);
        w.data = dp_dataset_new(N - (size_t)less);
        dp_dataset_real(w.data, "x", 1, x);
        dp_dataset_index(w.data, "g", group);
        dp_dataset_real(w.data, "y", 1, y);
        dp_dataset_index(w.data, "kind", label);
        opts.delta = 1.0 / N;
        run(&w, &opts);
        assert_ok(dp_svi_privacy(w.svi, &of_run, &w.err), w.err.text);
        assert_int_equal(of_run.warning == NULL, less);
        end_run(&w);
        dp_fit_privacy(w.fit, &of_fit);
        assert_null(of_fit.warning);
        assert_true(of_fit.epsilon == of_run.epsilon && of_fit.delta == of_run.delta);
        assert_ok(dpi_fit_store(w.fit, &bytes, &w.err), w.err.text);
        size[less] = bytes.n;
        dpi_bytes_free(&bytes);
        dp_fit_free(w.fit);
    }
    assert_int_equal(size[0], size[1]);
}

/* Steps go on from where they were; the fit stays. */
static void a_run_goes_on_after_a_fit(void **state)
{
    (void)state;
    world w;
    double at_once, later;
    dp_fit *early;
    write_regression(&w);
    assert_ok(dp_svi_new(w.m, NULL, w.data, &plain, &w.svi, &w.err), w.err.text);
    assert_int_equal(dp_svi_finish(w.svi, &early, NULL), DP_ESTATE);
    assert_null(early);
    assert_ok(dp_svi_step(w.svi, &w.err), w.err.text);
    assert_ok(dp_svi_finish(w.svi, &early, &w.err), w.err.text);
    assert_ok(dp_svi_run(w.svi, NULL, &w.err), w.err.text);
    assert_ok(dp_svi_finish(w.svi, &w.fit, &w.err), w.err.text);
    assert_ok(dp_fit_parameter(early, "b.loc", 1, &at_once, &w.err), w.err.text);
    assert_ok(dp_fit_parameter(w.fit, "b.loc", 1, &later, &w.err), w.err.text);
    assert_true(at_once != 0 && later != at_once);
    assert_int_equal(dp_fit_parameter(w.fit, "b", 1, &later, NULL), DP_ENAME);
    assert_true(isnan(later));
    assert_int_equal(dp_fit_parameter(w.fit, "c", 1, &later, NULL), DP_ESHAPE);
    dp_fit_free(early);
    dp_fit_free(w.fit);
    end_run(&w);
}

/* What is written into the model later is not of the run. */
static void a_fit_is_of_the_model_as_it_was_given(void **state)
{
    (void)state;
    world w;
    write_regression(&w);
    assert_ok(dp_svi_new(w.m, NULL, w.data, &plain, &w.svi, &w.err), w.err.text);
    (void)dp_sample(w.m, "late", 1, dp_normal(0, 1));
    assert_ok(dp_svi_run(w.svi, NULL, &w.err), w.err.text);
    assert_ok(dp_svi_finish(w.svi, &w.fit, &w.err), w.err.text);
    assert_int_equal(dp_fit_size(w.fit, "late"), 0);
    end_run(&w);
    dp_fit_free(w.fit);
}

static void parameters_that_are_not_finite_are_no_fit(void **state)
{
    (void)state;
    world w;
    write_regression(&w);
    assert_ok(dp_svi_new(w.m, NULL, w.data, &plain, &w.svi, &w.err), w.err.text);
    assert_ok(dp_svi_step(w.svi, &w.err), w.err.text);
    w.svi->optimizer.theta[2] = NAN;
    assert_int_equal(dp_svi_finish(w.svi, &w.fit, &w.err), DP_EDOMAIN);
    assert_null(w.fit);
    end_run(&w);
}

/* ---- whose records ---- */

static void the_records_of_a_private_run_are_refused_and_no_others(void **state)
{
    (void)state;
    world w;
    dp_rng *rng;
    double found[4 * N], elbo = 0;
    write_regression(&w);
    run(&w, &private);
    assert_ok(dp_rng_new(1, &rng, &w.err), w.err.text);
    const dp_given given = {.data = w.data, .rng = rng};
    dp_expr logit = dp_fit_expr(w.fit, "logit");
    assert_int_equal(dp_fit_evaluate(w.fit, logit, &given, N, found, &w.err), DP_EPRIVACY);
    assert_contains(w.err.text, "the records of the run");
    assert_true(isnan(found[0]));
    assert_int_equal(dp_fit_predict(w.fit, "y", &given, N, found, NULL), DP_EPRIVACY);
    assert_int_equal(dp_fit_simulate(w.fit, "y", &given, N, found, NULL), DP_EPRIVACY);
    assert_int_equal(dp_fit_log_density(w.fit, &given, N, found, NULL), DP_EPRIVACY);
    assert_int_equal(dp_fit_elbo(w.fit, w.data, rng, &elbo, NULL), DP_EPRIVACY);
    assert_true(isnan(elbo));
    w.err = (dp_error){0};
    /* The data set is freed and its memory used again: others are not mistaken for it. */
    end_run(&w);
    for (int k = 0; k < 50; k++) {
        dp_dataset *test = dp_dataset_new(N);
        const dp_given other = {.data = test};
        dp_dataset_real(test, "x", 1, x);
        dp_dataset_index(test, "g", group);
        assert_ok(dp_fit_evaluate(w.fit, logit, &other, N, found, &w.err), w.err.text);
        dp_dataset_free(test);
    }
    dp_rng_free(rng);
    dp_fit_free(w.fit);
    /* Without privacy there is nothing to refuse. */
    write_regression(&w);
    run(&w, &plain);
    const dp_given own = {.data = w.data};
    assert_ok(dp_fit_predict(w.fit, "y", &own, N, found, &w.err), w.err.text);
    dp_fit_free(w.fit);
    end_run(&w);
}

/* ---- single precision, the form of d3p ---- */

static void a_fit_in_single_precision_predicts_as_one_in_double(void **state)
{
    (void)state;
    world w;
    double chance[2][N * WIDTH];
    for (int single = 0; single < 2; single++) {
        dp_svi_opts opts = plain;
        opts.precision = single ? DP_SINGLE : DP_DOUBLE;
        write_encoder(&w);
        run(&w, &opts);
        const dp_given given = {.data = w.data, .latents = DP_LATENTS_PRIOR, .rng = NULL};
        dp_rng *rng;
        assert_ok(dp_rng_new(3, &rng, &w.err), w.err.text);
        dp_given drawn = given;
        drawn.rng = rng;
        assert_int_equal(dp_fit_predict(w.fit, "pixels", &given, N * WIDTH, chance[0], NULL),
                         DP_EINVAL);
        assert_ok(dp_fit_predict(w.fit, "pixels", &drawn, N * WIDTH, chance[single], &w.err),
                  w.err.text);
        dp_rng_free(rng);
        if (single) {
            int differ = 0;
            for (size_t i = 0; i < N * WIDTH; i++) {
                differ += chance[1][i] != (double)(float)chance[1][i];
                assert_true(chance[1][i] > 0 && chance[1][i] < 1);
            }
            assert_int_equal(differ, 0); /* floats they are */
        }
        dp_fit_free(w.fit);
        end_run(&w);
    }
}

static void every_failed_allocation_of_a_finish_is_reported(void **state)
{
    (void)state;
    world w;
    write_encoder(&w);
    assert_ok(dp_svi_new(w.m, w.guide, w.data, &plain, &w.svi, &w.err), w.err.text);
    assert_ok(dp_svi_step(w.svi, &w.err), w.err.text);
    size_t before = faulty_live();
    for (size_t k = 1;; k++) {
        dp_error err = {0};
        faulty_fail(k);
        dp_status status = dp_svi_finish(w.svi, &w.fit, &err);
        int failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_int_equal(w.fit == NULL, failed);
        dp_fit_free(w.fit);
        assert_int_equal(faulty_live(), before);
        if (!failed)
            break;
    }
    end_run(&w);
}

int main(void)
{
    fill();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fit_outlives_run_model_and_data),
        cmocka_unit_test(columns_are_those_that_are_read_or_observed),
        cmocka_unit_test(the_privacy_statement_is_the_runs),
        cmocka_unit_test(nothing_in_a_fit_tells_the_number_of_records),
        cmocka_unit_test(a_run_goes_on_after_a_fit),
        cmocka_unit_test(a_fit_is_of_the_model_as_it_was_given),
        cmocka_unit_test(parameters_that_are_not_finite_are_no_fit),
        cmocka_unit_test(the_records_of_a_private_run_are_refused_and_no_others),
        cmocka_unit_test(a_fit_in_single_precision_predicts_as_one_in_double),
        cmocka_unit_test(every_failed_allocation_of_a_finish_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
