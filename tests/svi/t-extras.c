/* What a step releases beside its gradients: how far one unit moves it, and that it says what it is
 * said to say.  What it costs is in t-cost. */
#include "svi/extras.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "svi/cost.h"
#include "svi/release.h"
#include "svi/svi.h"
#include "tests/lib/check.h"
#include "tests/svi/witness.h"

enum { MOST = 1300 };

static double y_values[MOST];
static int32_t unit_of[MOST];

/* y ~ N(w, 1) at w = 0, where it stays: the gradient of a record is y and its loss y^2 / 2 + log(2
 * pi) / 2. */
static dp_svi *start(size_t n, bool grouped, dp_svi_opts o, size_t chunk, dp_dataset **data)
{
    dp_error err = {0};
    dp_svi *svi;
    double zero = 0, log_scale = -60;
    dp_model *m = dp_model_new();
    *data = dp_dataset_new(n);
    assert_true(m != NULL && *data != NULL);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", 1, dp_normal(0, 1e9));
    dp_observe(rows, "y", dp_normal_v(w, dp_num(1)));
    dp_dataset_real(*data, "y", 1, y_values);
    dp_dataset_index(*data, "unit", unit_of);
    if (grouped)
        dp_dataset_unit(*data, "unit");
    o.optimizer = DP_SGD;
    o.step_size = 1e-250;
    dpi_svi_spec spec = {.model = m, .data = *data, .opts = &o, .chunk = chunk};
    assert_ok(dpi_svi_new(&spec, &svi, &err), err.text);
    assert_ok(dp_svi_set(svi, "w.loc", 1, &zero, &err), err.text);
    assert_ok(dp_svi_set(svi, "w.log_scale", 1, &log_scale, &err), err.text);
    dp_model_free(m);
    return svi;
}

static void end(dp_svi *svi, dp_dataset *data)
{
    dp_svi_free(svi);
    dp_dataset_free(data);
}

static double loss_of(double y)
{
    return y * y / 2 + log(2 * acos(-1)) / 2;
}

static const dp_svi_opts everything = {.sigma = 3,
                                       .delta = 1e-5,
                                       .clip = 2,
                                       .steps = 12,
                                       .loss_every = 4,
                                       .loss_clip = 5,
                                       .loss_sigma = 4,
                                       .clip_quantile = 0.7,
                                       .clip_sigma = 2,
                                       .public_units = 40,
                                       .seed = 3};

/* ---- what one unit can change ---- */

/* With 1 / s the most that a unit may move a release in units of the noise, s being accounted
 * for. */
static double greatest_move(const dp_svi_opts *o, bool loss)
{
    dp_mechanism list[DPI_COST_MOST];
    assert_int_equal(dpi_cost_list(o, o->steps, list), 2);
    return 1 / list[loss].sigma;
}

static void no_unit_moves_a_release_further_than_is_accounted_for(void **state)
{
    (void)state;
    const double scores[] = {0,    1,    -1,       5,         -5,  5.0001, -5.0001,
                             1e10, 1e-9, INFINITY, -INFINITY, NAN, 1e308,  -1e308};
    const size_t n_scores = sizeof scores / sizeof *scores;
    for (int now = 0; now < 2; now++) {
        dpi_extras e;
        double noise = everything.sigma * everything.clip, most = 0, apart = 0;
        dpi_extras_init(&e, &everything, 40);
        dpi_extras_prepare(&e, &everything, now ? 8 : 7, 1, 0);
        for (size_t i = 0; i < 2 * n_scores; i++)
            for (size_t k = 0; k < 2 * n_scores; k++) {
                double one[2] = {0, 0}, other[2] = {0, 0};
                dpi_extras_add(&e, scores[i / 2], i % 2, one);
                dpi_extras_add(&e, scores[k / 2], k % 2, other);
                /* gradients of norm `clip`, in opposite directions */
                most = fmax(most, hypot(hypot(one[0], one[1]), everything.clip) / noise);
                apart = fmax(
                    apart, hypot(hypot(one[0] - other[0], one[1] - other[1]), 2 * everything.clip) /
                               noise);
            }
        assert_true(most <= greatest_move(&everything, now));
        assert_close(most, greatest_move(&everything, now), 1e-12, 0);
        assert_true(apart <= 2 * greatest_move(&everything, now));
    }
}

/* The same of what is entered in whole steps of the grid, beside a gradient whose 7 numbers were
 * rounded, of what a step leaves to the grid and to rounding. */
static void nor_does_one_that_is_rounded(void **state)
{
    (void)state;
    const double scores[] = {0, 1.3, 5, -5, 1e10, -INFINITY, NAN};
    const double noise = everything.sigma * everything.clip, steps = dpi_release_steps(noise);
    const double share = 1 - 0x1p-16 - dpi_release_share(everything.sigma, 9);
    const double gradient = everything.clip * share * steps + sqrt(7) / 2;
    for (int now = 0; now < 2; now++) {
        dpi_extras e;
        double most = 0;
        dpi_extras_init(&e, &everything, 40);
        dpi_extras_prepare(&e, &everything, now ? 8 : 7, share, steps);
        for (size_t i = 0; i < 2 * sizeof scores / sizeof *scores; i++) {
            double one[2] = {0, 0};
            dpi_extras_add(&e, scores[i / 2], i % 2, one);
            assert_true(one[0] == rint(one[0]) && one[1] == rint(one[1]));
            most = fmax(most, hypot(hypot(one[0], one[1]), gradient) / (noise * steps));
        }
        assert_true(most <= greatest_move(&everything, now));
        assert_close(most, greatest_move(&everything, now), 0x1p-15, 0);
    }
}

/* The same of the program: the sums before noise differ by what the last record adds. */
static void one_record_more_adds_that_much(void **state)
{
    (void)state;
    const double last[] = {0, 1.5, -1.5, 1e9, -1e9, 1e160, 3e300};
    const size_t n_last = sizeof last / sizeof *last;
    double reached[2] = {0, 0};
    for (size_t i = 0; i < 30; i++)
        y_values[i] = (double)(i % 7) - 3;
    for (size_t k = 0; k < 2 * n_last; k++) {
        dp_error err = {0};
        dp_dataset *data[2];
        dp_svi_opts o = everything;
        if (k % n_last == 0)
            reached[0] = reached[1] = 0;
        o.precision = k < n_last ? DP_DOUBLE : DP_SINGLE;
        o.clip_speed = 1e-300; /* else the next step has another noise */
        y_values[29] = last[k % n_last];
        dp_svi *without = start(29, false, o, 256, &data[0]);
        dp_svi *with = start(30, false, o, 256, &data[1]);
        for (uint64_t step = 1; step <= 8; step++) {
            double square = 0;
            double sums[2][3];
            assert_ok(dp_svi_step(without, &err), err.text);
            witness_sum(3, sums[0]);
            assert_ok(dp_svi_step(with, &err), err.text);
            witness_sum(3, sums[1]);
            assert_int_equal(with->objective.n_release, 3);
            for (size_t e = 0; e < 3; e++) {
                bool is_read = e != 1 || step % 4 == 0;
                double moved = sums[1][e] - sums[0][e];
                square += is_read ? moved * moved : 0;
                assert_true(is_read || moved == 0);
            }
            assert_true(sqrt(square) <= greatest_move(&o, step % 4 == 0));
            reached[step % 4 == 0] = fmax(reached[step % 4 == 0], sqrt(square));
        }
        end(without, data[0]);
        end(with, data[1]);
        if (k % n_last < n_last - 1)
            continue;
        assert_close(reached[1], greatest_move(&everything, true), 1e-3, 0);
        assert_true(reached[0] >
                    0.95 * greatest_move(&everything, false)); /* -gamma: no 1 - gamma */
    }
}

/* ---- what it says ---- */

static void the_result_says_what_everything_costs(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_dataset *data;
    dp_privacy privacy;
    dp_svi_opts o = everything;
    o.sampling = DP_SAMPLING_POISSON, o.rate = 0.5;
    dp_svi *svi = start(30, false, o, 256, &data);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_privacy(svi, &privacy, &err), err.text);
    dp_mechanism list[2] = {
        {.sampling = o.sampling, .sigma = 1 / sqrt(1. / 9 + 0.49 / 4), .rate = 0.5, .steps = 9},
        {.sampling = o.sampling, .sigma = 1 / sqrt(1. / 9 + 0.49 / 4 + 1. / 16), .rate = 0.5}};
    list[1].steps = 3;
    dp_interval expected;
    assert_ok(dp_account_epsilon(list, 2, o.delta, 0, &expected, &err), err.text);
    assert_close(privacy.epsilon, expected.upper, 1e-6, 0);
    assert_true(privacy.clip == svi->opts.clip && privacy.clip != o.clip);
    end(svi, data);
}

static void without_privacy_the_loss_is_exact(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_dataset *data;
    dp_loss loss;
    double expected = 0;
    const dp_svi_opts o = {.mode = DP_NO_PRIVACY, .steps = 5, .loss_every = 2, .seed = 1};
    for (size_t i = 0; i < 300; i++)
        expected += loss_of(y_values[i] = (double)i / 10);
    dp_svi *svi = start(300, false, o, 256, &data);
    assert_ok(dp_svi_step(svi, &err), err.text);
    assert_int_equal(dp_svi_loss(svi, &loss, &err), DP_ESTATE);
    assert_contains(err.text, "no loss has been released yet");
    assert_true(loss.step == 0 && isnan(loss.value) && isnan(loss.noise));
    err = (dp_error){0};
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_loss(svi, &loss, &err), err.text);
    assert_true(loss.step == 4 && loss.noise == 0);
    assert_close(loss.value, expected, 1e-12, 0);
    end(svi, data);
}

/* 600 released losses, each off by noise of the size that it is said to have: the squares add up to
 * chi-square with 600 degrees of freedom, whose limits are 6.2 standard deviations.  Losses are
 * cut. */
static void a_noisy_loss_has_the_noise_that_it_names(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_dataset *data;
    dp_loss loss;
    double expected = 0;
    dp_svi_opts o = {.sigma = 9,
                     .delta = 1e-5,
                     .clip = 0.1,
                     .steps = 600,
                     .loss_every = 1,
                     .loss_clip = 5,
                     .loss_sigma = 4,
                     .seed = 5};
    for (size_t i = 0; i < 300; i++)
        expected += fmin(loss_of(y_values[i] = (double)i / 30), 5);
    for (int single = 0; single < 2; single++) {
        double square = 0;
        o.precision = single ? DP_SINGLE : DP_DOUBLE;
        dp_svi *svi = start(300, false, o, 256, &data);
        while (!dp_svi_done(svi)) {
            assert_ok(dp_svi_step(svi, &err), err.text);
            assert_ok(dp_svi_loss(svi, &loss, &err), err.text);
            assert_true(loss.step == svi->optimizer.done && loss.noise == 20);
            square += pow((loss.value - expected) / loss.noise, 2) / 600;
        }
        assert_close(square, 1, 0, 6.2 * sqrt(2. / 600));
        end(svi, data);
    }
}

/* Norms are 1 ... 1000 and the clip norm starts at 30; the count's noise moves it by a few per
 * cent. */
static void the_clip_norm_finds_its_quantile(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        bool sampled = kind % 2 == 1;
        dp_error err = {0};
        dp_dataset *data;
        dp_svi_opts o = {.sigma = 9, .delta = 1e-5, .clip = 30, .steps = 300, .clip_quantile = 0.7};
        o.clip_sigma = 10, o.public_units = 1100, o.seed = 5;
        o.precision = kind < 2 ? DP_DOUBLE : DP_SINGLE;
        if (sampled)
            o.sampling = DP_SAMPLING_POISSON, o.rate = 0.5;
        double mean = 0;
        for (size_t i = 0; i < 1000; i++)
            y_values[i] = i % 2 ? -(double)(i + 1) : (double)(i + 1);
        dp_svi *svi = start(1000, false, o, 256, &data);
        while (!dp_svi_done(svi)) {
            assert_ok(dp_svi_step(svi, &err), err.text);
            mean += svi->optimizer.done > 100 ? svi->opts.clip / 200 : 0;
        }
        assert_close(mean, 700, 0.02, 0);
        end(svi, data);
    }
}

/* ---- units, chunks, threads ---- */

/* Units of 1 to 40 rows in chunks of 256 and of 7 rows, and on 3 threads. */
static void units_are_cut_as_a_whole_however_they_are_computed(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_dataset *data[3];
    dp_svi *svi[3];
    dp_svi_opts o = everything;
    double loss[60] = {0}, gradient[60] = {0}, sum = 0, below = 0;
    size_t n = 0;
    for (int32_t u = 0; u < 60; u++)
        for (int32_t k = 0; k < 1 + u * 39 / 59; k++, n++) {
            unit_of[n] = u;
            y_values[n] = (double)((u + k) % 5) / 4 - 0.45;
            loss[u] += loss_of(y_values[n]);
            gradient[u] += y_values[n];
        }
    assert_true(n <= MOST && n > 4 * 256);
    o.mode = DP_WITHOUT_GUARANTEE, o.delta = 0, o.sigma = 1e-6, o.loss_every = 1;
    o.loss_clip = 40, o.loss_sigma = 0.1, o.clip_sigma = 0.1, o.clip_speed = 1e-300;
    for (int u = 0; u < 60; u++) {
        sum += fmin(loss[u], 40);
        below += fabs(gradient[u]) <= 2;
    }
    assert_true(below > 5 && below < 55);
    for (int single = 0; single < 2; single++) {
        o.precision = single ? DP_SINGLE : DP_DOUBLE;
        for (int k = 0; k < 3; k++) {
            o.threads = k == 2 ? 3 : 1;
            svi[k] = start(n, true, o, k == 1 ? 7 : 256, &data[k]);
            assert_ok(dp_svi_step(svi[k], &err), err.text);
        }
        /* The noise of the three is the same: what differs is rounding. */
        for (size_t e = 0; e < 3; e++) {
            assert_close(svi[1]->release.out[e], svi[0]->release.out[e], single ? 1e-6 : 1e-9, 0);
            assert_true(svi[2]->release.out[e] == svi[0]->release.out[e]);
        }
        assert_close(svi[0]->extras.last.value, sum, 0, 6.5 * 4);
        assert_close(svi[0]->extras.fraction_below, 0.7 + (below - 0.7 * 60) / 40, 0,
                     6.5 * 0.1 / 40);
        for (int k = 0; k < 3; k++)
            end(svi[k], data[k]);
    }
}

/* ---- options and progress ---- */

static void refused(dp_svi_opts o, dp_status status, const char *words)
{
    dp_error err = {0};
    dp_svi *svi;
    dp_dataset *data = dp_dataset_new(3);
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_observe(rows, "y", dp_normal_v(dp_sample(m, "w", 1, dp_normal(0, 1)), dp_num(1)));
    dp_dataset_real(data, "y", 1, y_values);
    assert_int_equal(dp_svi_new(m, NULL, data, &o, &svi, &err), status);
    assert_contains(err.text, words);
    dp_dataset_free(data);
    dp_model_free(m);
}

static void options_that_do_not_go_together_are_refused(void **state)
{
    (void)state;
    dp_svi_opts o;
    o = everything, o.loss_every = 0, refused(o, DP_EMISMATCH, "loss_every is 0");
    o = everything, o.loss_clip = 0, refused(o, DP_EDOMAIN, "loss_clip is 0");
    o = everything, o.loss_sigma = 0.05, refused(o, DP_EDOMAIN, "loss_sigma 0.05");
    o = everything, o.loss_sigma = NAN, refused(o, DP_EDOMAIN, "loss_sigma");
    o = everything, o.clip_quantile = 0, refused(o, DP_EMISMATCH, "clip_quantile is 0");
    o = everything, o.clip_quantile = 1, refused(o, DP_EDOMAIN, "clip_quantile is 1");
    o = everything, o.clip_sigma = 0, refused(o, DP_EDOMAIN, "clip_sigma 0");
    o = everything, o.clip_speed = 2, refused(o, DP_EDOMAIN, "clip_speed 2");
    o = everything, o.public_units = 0, refused(o, DP_EINVAL, "public_units is 0");
    o = (dp_svi_opts){.mode = DP_NO_PRIVACY, .loss_every = 1, .loss_clip = 1};
    refused(o, DP_EMISMATCH, "shows the loss as it is");
    o = (dp_svi_opts){.mode = DP_NO_PRIVACY, .clip_quantile = 0.5};
    refused(o, DP_EMISMATCH, "clips nothing");
    o = everything, o.mode = DP_WITHOUT_GUARANTEE, o.delta = 0, o.sigma = 0;
    refused(o, DP_EMISMATCH, "sigma is 0");
}

static void progress_shows_a_loss_only_when_one_was_released(void **state)
{
    (void)state;
    for (int asked = 0; asked < 2; asked++) {
        dp_error err = {0};
        dp_dataset *data;
        dp_loss loss;
        char text[512];
        dp_svi_opts o = everything;
        if (!asked)
            o.loss_every = 0, o.loss_clip = o.loss_sigma = 0;
        FILE *progress = tmpfile();
        assert_non_null(progress);
        dp_svi *svi = start(30, false, o, 256, &data);
        assert_ok(dp_svi_run(svi, progress, &err), err.text);
        rewind(progress);
        text[fread(text, 1, sizeof text - 1, progress)] = 0;
        (void)fclose(progress);
        assert_int_equal(strstr(text, "loss") != NULL, asked);
        assert_int_equal(strstr(text, "+- 20 (step 12)") != NULL, asked);
        assert_int_equal(dp_svi_loss(svi, &loss, &err), asked ? DP_OK : DP_ESTATE);
        if (!asked)
            assert_contains(err.text, "this run releases no loss");
        end(svi, data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_unit_moves_a_release_further_than_is_accounted_for),
        cmocka_unit_test(nor_does_one_that_is_rounded),
        cmocka_unit_test(one_record_more_adds_that_much),
        cmocka_unit_test(the_result_says_what_everything_costs),
        cmocka_unit_test(without_privacy_the_loss_is_exact),
        cmocka_unit_test(a_noisy_loss_has_the_noise_that_it_names),
        cmocka_unit_test(the_clip_norm_finds_its_quantile),
        cmocka_unit_test(units_are_cut_as_a_whole_however_they_are_computed),
        cmocka_unit_test(options_that_do_not_go_together_are_refused),
        cmocka_unit_test(progress_shows_a_loss_only_when_one_was_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
