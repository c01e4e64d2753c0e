/* Columns that are drawn afresh in every use of a record, and the ELBO of a test set. */
#include <math.h>
#include <string.h>

#include "fit/fit.h"
#include "svi/svi.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { ROWS = 3000, WIDTH = 5, MOST = 16, THETA = 2 * WIDTH };

static unsigned char odds[ROWS * WIDTH];

static void fill(void)
{
    for (size_t i = 0; i < ROWS * WIDTH; i++)
        odds[i] = (unsigned char)(i * 7919 % (MOST + 1));
}

/* An autoencoder without a code: z ~ Normal(x, 0.1 e^scale), x ~ Bernoulli(logit = slope (z -
 * 1/2)). */
typedef struct world {
    dp_model *m, *guide;
    dp_dataset *data;
    dp_svi *svi;
    dp_error err;
} world;

static void write(world *w, double slope)
{
    *w = (world){.m = dp_model_new(), .data = dp_dataset_new(ROWS)};
    w->guide = dp_guide_new(w->m);
    dp_plate rows = dp_unit_plate(w->m, "rows"), same = dp_unit_plate(w->guide, "rows");
    dp_expr z = dp_sample_in(rows, "z", WIDTH, dp_normal(0, 1));
    dp_expr at = dp_mul(dp_param(w->m, "slope", WIDTH, slope), dp_sub(z, dp_num(0.5)));
    dp_observe(rows, "x", dp_bernoulli_logit(at));
    dp_expr sd = dp_scale(0.1, dp_exp(dp_param(w->guide, "scale", WIDTH, 0)));
    (void)dp_sample_in(same, "z", WIDTH, dp_normal_v(dp_data(same, "x", WIDTH), sd));
    dp_dataset_bernoulli(w->data, "x", WIDTH, MOST, odds);
}

static void start(world *w, double slope, const dp_svi_opts *opts)
{
    write(w, slope);
    assert_ok(dp_svi_new(w->m, w->guide, w->data, opts, &w->svi, &w->err), w->err.text);
}

static void end(world *w)
{
    dp_svi_free(w->svi);
    dp_dataset_free(w->data);
    dp_model_free(w->guide);
    dp_model_free(w->m);
}

/* E log p(z) - log q(z), the ELBO's part but for the likelihood, of records whose mean of x is
 * p. */
static double latent_part(double p)
{
    return WIDTH * (0.5 * (1 - 0.01 - p) + log(0.1));
}

/* The ELBO of a data set where the run stands, also before its first step. */
static dp_status elbo_of(const dp_svi *svi, const dp_dataset *data, dp_rng *rng, double *elbo,
                         dp_error *err)
{
    dp_fit *fit;
    *elbo = NAN;
    dp_status status = dpi_fit_of_run(svi, &fit, err);
    if (status == DP_OK)
        status = dp_fit_elbo(fit, data, rng, elbo, err);
    dp_fit_free(fit);
    return status;
}

static double mean_of_x(void)
{
    double sum = 0;
    for (size_t i = 0; i < ROWS * WIDTH; i++)
        sum += odds[i];
    return sum / (MOST * (double)(ROWS * WIDTH));
}

/* Where the decoder saw another draw than the encoder, a number that differs would cost 50 nats.
 * Seeds are fixed; the limit is 7 standard errors of a mean over records: 0.7 for five z^2, 1.6 in
 * all. */
static void encoder_and_likelihood_see_one_draw(void **state)
{
    (void)state;
    world w;
    double elbo;
    dp_rng *rng;
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 1};
    start(&w, 100, &opts);
    assert_ok(dp_rng_new(4, &rng, &w.err), w.err.text);
    assert_ok(elbo_of(w.svi, w.data, rng, &elbo, &w.err), w.err.text);
    assert_close(elbo, latent_part(mean_of_x()), 0, 7 * 1.6 / sqrt(ROWS));
    dp_rng_free(rng);
    end(&w);
}

/* Losses of steps that do not move: without draws of latents they differ by those of the column
 * alone. */
static void every_step_draws_afresh(void **state)
{
    (void)state;
    static const unsigned char sure[4] = {0, MOST, MOST, 0};
    static const unsigned char open[4] = {1, 8, 15, 8};
    for (int drawn = 0; drawn < 2; drawn++) {
        dp_error err = {0};
        dp_svi *svi;
        dp_loss loss[40];
        int as_before = 0;
        dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 40, .step_size = 1e-300};
        opts.loss_every = 1;
        dp_model *m = dp_model_new();
        dp_dataset *data = dp_dataset_new(4);
        dp_observe(dp_unit_plate(m, "rows"), "x", dp_bernoulli_logit(dp_param(m, "a", 1, 2.385)));
        dp_dataset_bernoulli(data, "x", 1, MOST, drawn ? open : sure);
        assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
        for (int k = 0; k < 40; k++) {
            assert_ok(dp_svi_step(svi, &err), err.text);
            assert_ok(dp_svi_loss(svi, &loss[k], &err), err.text);
            as_before += k > 0 && loss[k].value == loss[k - 1].value;
        }
        assert_int_equal(as_before == 39, !drawn); /* by chance below 2^-39 */
        dp_svi_free(svi);
        dp_dataset_free(data);
        dp_model_free(m);
    }
}

enum { STEPS = 6 };

/* The guide's draws of a global latent in STEPS steps, beside a column of zeros and ones which is
 * drawn, with odds that leave no choice, or read. */
static void draws_beside(bool drawn, double draws[STEPS])
{
    static const unsigned char sure[4] = {0, MOST, MOST, 0};
    static const double read[4] = {0, 1, 1, 0};
    dp_error err = {0};
    dp_svi *svi;
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = STEPS, .seed = 385};
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(4);
    dp_expr a = dp_sample(m, "a", 1, dp_normal(0, 1));
    dp_observe(dp_unit_plate(m, "rows"), "x", dp_bernoulli_logit(a));
    if (drawn)
        dp_dataset_bernoulli(data, "x", 1, MOST, sure);
    else
        dp_dataset_real(data, "x", 1, read);
    assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
    assert_int_equal(svi->objective.n_noise, 1);
    for (int k = 0; k < STEPS; k++) {
        assert_ok(dp_svi_step(svi, &err), err.text);
        dpi_run_read(svi->run, svi->objective.noise[0], 0, 1, &draws[k]);
    }
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

/* Draws of columns are secrets of records and come from the source of noise: from the guide's, a
 * record more would move all that the guide draws after it. */
static void drawn_columns_leave_the_guides_source_alone(void **state)
{
    (void)state;
    double beside_drawn[STEPS], beside_read[STEPS];
    draws_beside(true, beside_drawn);
    draws_beside(false, beside_read);
    for (int k = 0; k < STEPS; k++)
        assert_close(beside_drawn[k], beside_read[k], 0, 0);
    assert_true(beside_read[0] != beside_read[1]);
}

/* The fitted probability of a number is the mean of its odds: 7 standard errors over all steps that
 * the last half of the iterates averages. */
static void fits_find_the_odds(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_svi *svi;
    double a[WIDTH];
    dp_svi_opts opts = {
        .mode = DP_NO_PRIVACY, .steps = 400, .step_size = 0.05, .average = 0.5, .seed = 2};
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(ROWS);
    dp_observe(dp_unit_plate(m, "rows"), "x", dp_bernoulli_logit(dp_param(m, "a", WIDTH, 0)));
    dp_dataset_bernoulli(data, "x", WIDTH, MOST, odds);
    assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_get(svi, "a", WIDTH, a, &err), err.text);
    for (size_t j = 0; j < WIDTH; j++) {
        double p = 0;
        for (size_t i = 0; i < ROWS; i++)
            p += odds[i * WIDTH + j] / (double)MOST / ROWS;
        assert_close(1 / (1 + exp(-a[j])), p, 0, 7 * 0.5 / sqrt(ROWS * 10.));
    }
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    double theta[2][3][THETA];
    for (size_t k = 0; k < 3; k++)
        for (int single = 0; single < 2; single++) {
            world w;
            const dp_svi_opts opts = {.sigma = 2,
                                      .delta = 1e-6,
                                      .clip = 1,
                                      .steps = 8,
                                      .seed = 5,
                                      .sampling = DP_SAMPLING_POISSON,
                                      .rate = 0.8,
                                      .precision = single ? DP_SINGLE : DP_DOUBLE,
                                      .threads = 2 * k + 1};
            start(&w, 3, &opts);
            assert_int_equal(w.svi->sum.n_workers, opts.threads);
            assert_ok(dp_svi_run(w.svi, NULL, &w.err), w.err.text);
            memcpy(theta[single][k], w.svi->optimizer.theta, sizeof theta[0][0]);
            assert_memory_equal(theta[single][k], theta[single][0], sizeof theta[0][0]);
            end(&w);
        }
}

static void numbers_above_the_odds_are_refused(void **state)
{
    (void)state;
    world w;
    dp_rng *rng;
    double elbo = 0;
    const dp_svi_opts plain = {.mode = DP_NO_PRIVACY, .steps = 1};
    const dp_svi_opts private = {.sigma = 2, .delta = 1e-6, .clip = 1, .steps = 1};
    odds[7 * WIDTH + 2] = MOST + 1;
    write(&w, 1);
    assert_int_equal(dp_check_data(w.m, w.guide, w.data, &w.err), DP_EDATA);
    assert_contains(w.err.text, "column 'x', record 7 (from 0): the byte is above 16");
    end(&w);
    write(&w, 1);
    assert_int_equal(dp_svi_new(w.m, w.guide, w.data, &private, &w.svi, &w.err), DP_EDATA);
    assert_null(strstr(w.err.text, "7"));
    end(&w);
    fill();
    start(&w, 1, &plain);
    assert_ok(dp_rng_new(4, &rng, &w.err), w.err.text);
    odds[7 * WIDTH + 2] = MOST + 1;
    assert_int_equal(elbo_of(w.svi, w.data, rng, &elbo, &w.err), DP_EDATA);
    assert_true(isnan(elbo));
    fill();
    dp_rng_free(rng);
    end(&w);
}

/* A drawn number is 0 or 1: no scale, no part of a whole. */
static void distributions_must_take_both_values(void **state)
{
    (void)state;
    for (int as_scale = 0; as_scale < 2; as_scale++) {
        dp_error err = {0};
        dp_model *m = dp_model_new();
        dp_dataset *data = dp_dataset_new(ROWS);
        dp_plate rows = dp_unit_plate(m, "rows");
        static double y[ROWS];
        dp_expr a = dp_param(m, "a", 1, 1);
        if (as_scale)
            dp_observe(rows, "y", dp_normal_v(a, dp_data(rows, "x", 1)));
        else
            dp_observe(rows, "x", dp_gamma_v(dp_exp(a), dp_num(1)));
        dp_dataset_bernoulli(data, "x", 1, MOST, odds);
        dp_dataset_real(data, "y", 1, y);
        assert_int_equal(dp_check_data(m, NULL, data, &err), DP_EDATA);
        assert_contains(err.text, "'x', record 0");
        dp_dataset_free(data);
        dp_model_free(m);
    }
}

/* 0.25 is no binary number, but the mean of many. */
static void bytes_are_not_drawn(void **state)
{
    (void)state;
    static const unsigned char grey[4] = {0, 4, 8, 16};
    for (int drawn = 0; drawn < 2; drawn++) {
        dp_error err = {0};
        dp_model *m = dp_model_new();
        dp_dataset *data = dp_dataset_new(4);
        dp_observe(dp_unit_plate(m, "rows"), drawn ? "x" : "grey",
                   dp_bernoulli_logit(dp_param(m, "a", 1, 0)));
        dp_dataset_bytes(data, "grey", 1, MOST, grey);
        dp_dataset_bernoulli(data, "x", 1, MOST, grey);
        assert_int_equal(dp_check_data(m, NULL, data, &err), drawn ? DP_OK : DP_EDATA);
        if (!drawn)
            assert_contains(err.text, "column 'grey', record 1");
        dp_dataset_free(data);
        dp_model_free(m);
    }
}

/* The cross entropy of grey values: mean x a - log(1 + e^a), without a draw, in either
 * precision. */
static void chances_are_observed_as_they_are(void **state)
{
    (void)state;
    static const unsigned char grey[4] = {0, 4, 8, 16};
    const double a = 0.7131, wanted = 28 / (4.0 * MOST) * a - log1p(exp(a));
    for (int single = 0; single < 2; single++) {
        dp_error err = {0};
        dp_svi *svi;
        dp_rng *rng;
        double elbo;
        dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 1, .seed = 1};
        opts.precision = single ? DP_SINGLE : DP_DOUBLE;
        dp_model *m = dp_model_new();
        dp_dataset *data = dp_dataset_new(4);
        dp_observe(dp_unit_plate(m, "rows"), "x", dp_chance_logit(dp_param(m, "a", 1, a)));
        dp_dataset_bytes(data, "x", 1, MOST, grey);
        assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
        assert_ok(dp_rng_new(4, &rng, &err), err.text);
        assert_ok(elbo_of(svi, data, rng, &elbo, &err), err.text);
        assert_close(elbo, wanted, single ? 1e-6 : 1e-12, 0);
        dp_rng_free(rng);
        dp_svi_free(svi);
        dp_dataset_free(data);
        dp_model_free(m);
    }
}

static void the_elbo_of_private_records_is_refused(void **state)
{
    (void)state;
    world w;
    dp_rng *rng;
    double elbo = 0;
    const dp_svi_opts opts = {.sigma = 2, .delta = 1e-6, .clip = 1, .steps = 1};
    start(&w, 1, &opts);
    assert_ok(dp_rng_new(4, &rng, &w.err), w.err.text);
    assert_int_equal(elbo_of(w.svi, w.data, rng, &elbo, &w.err), DP_EPRIVACY);
    assert_true(isnan(elbo));
    assert_contains(w.err.text, "the records of the run");
    dp_dataset *test = dp_dataset_new(10), *empty = dp_dataset_new(10);
    dp_dataset_bernoulli(test, "x", WIDTH, MOST, odds);
    assert_ok(elbo_of(w.svi, test, rng, &elbo, &w.err), w.err.text);
    assert_true(isfinite(elbo));
    w.err = (dp_error){0};
    assert_int_equal(elbo_of(w.svi, empty, rng, &elbo, &w.err), DP_ENAME);
    assert_true(isnan(elbo));
    dp_dataset_free(empty);
    dp_dataset_free(test);
    dp_rng_free(rng);
    end(&w);
}

/* Under both cuts, with a global latent: in the form of d3p each record has a draw of its own. */
static void the_elbo_has_a_known_value(void **state)
{
    (void)state;
    static double y[ROWS];
    for (size_t i = 0; i < ROWS; i++)
        y[i] = 0.25 * (double)(i % 5);
    for (int form = DP_FORM_LATENTS; form <= DP_FORM_PARAMETERS; form++) {
        dp_error err = {0};
        dp_svi *svi;
        dp_rng *rng;
        double elbo, scale = log(1e-6), half = 0.5;
        dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 1, .form = (dp_form)form};
        dp_model *m = dp_model_new();
        dp_dataset *data = dp_dataset_new(ROWS);
        dp_observe(dp_unit_plate(m, "rows"), "y",
                   dp_normal_v(dp_sample(m, "w", 1, dp_normal(0, 1)), dp_num(2)));
        dp_dataset_real(data, "y", 1, y);
        assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
        assert_ok(dp_svi_set(svi, "w.loc", 1, &half, &err), err.text);
        assert_ok(dp_svi_set(svi, "w.log_scale", 1, &scale, &err), err.text);
        assert_ok(dp_rng_new(4, &rng, &err), err.text);
        assert_ok(elbo_of(svi, data, rng, &elbo, &err), err.text);
        assert_close(elbo, -0.125 / 8 - log(2) - 0.5 * log(2 * acos(-1)), 0, 1e-5);
        dp_rng_free(rng);
        dp_svi_free(svi);
        dp_dataset_free(data);
        dp_model_free(m);
    }
}

static void failed_allocations_leave_nothing(void **state)
{
    (void)state;
    world w;
    dp_rng *rng;
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 1};
    start(&w, 1, &opts);
    assert_ok(dp_rng_new(4, &rng, &w.err), w.err.text);
    size_t live = faulty_live(), k = 1;
    for (;; k++) {
        double elbo = 0;
        faulty_fail(k);
        dp_status status = elbo_of(w.svi, w.data, rng, &elbo, &w.err);
        int failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_int_equal(isnan(elbo) != 0, failed);
        assert_int_equal(faulty_live(), live);
        if (!failed)
            break;
    }
    assert_true(k > 3);
    dp_rng_free(rng);
    end(&w);
}

int main(void)
{
    fill();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encoder_and_likelihood_see_one_draw),
        cmocka_unit_test(every_step_draws_afresh),
        cmocka_unit_test(drawn_columns_leave_the_guides_source_alone),
        cmocka_unit_test(fits_find_the_odds),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(numbers_above_the_odds_are_refused),
        cmocka_unit_test(distributions_must_take_both_values),
        cmocka_unit_test(bytes_are_not_drawn),
        cmocka_unit_test(chances_are_observed_as_they_are),
        cmocka_unit_test(the_elbo_of_private_records_is_refused),
        cmocka_unit_test(the_elbo_has_a_known_value),
        cmocka_unit_test(failed_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
