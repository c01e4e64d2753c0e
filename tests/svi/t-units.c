/* Units of privacy with several rows: what they are in a batch, in a release and in the
 * guarantee. */
#include <math.h>
#include <string.h>

#include "svi/svi.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"
#include "tests/svi/scene.h"

enum { UNITS = 400, MOST = 4000, CHUNK = 256 };

static double x[MOST], y[MOST];
static int32_t person[MOST], group[MOST];
static size_t n_rows, rows_of[UNITS];

static int32_t name_of(size_t unit)
{
    return (int32_t)((unit * 2654435761u) % 100003) - 50000; /* neither sorted nor dense */
}

/* Unit u has 1 + u % 5 rows, unit 7 has 700 (chunks are 256), dealt out in turns so that a unit's
 * rows lie apart. */
static void deal(void)
{
    uint64_t r = 11;
    n_rows = 0;
    memset(rows_of, 0, sizeof rows_of);
    for (size_t turn = 0; turn < 700; turn++)
        for (size_t u = 0; u < UNITS; u++) {
            if (turn >= (u == 7 ? 700 : 1 + u % 5))
                continue;
            x[n_rows] = 1 + 0.5 * next_number(&r);
            y[n_rows] = 1 + next_number(&r);
            person[n_rows] = name_of(u);
            group[n_rows] = (int32_t)u;
            rows_of[u]++;
            n_rows++;
        }
}

static const dp_svi_opts plain = {.mode = DP_NO_PRIVACY,
                                  .optimizer = DP_SGD,
                                  .step_size = 0x1p-100, /* the parameters stay where they are */
                                  .schedule = DP_CONSTANT,
                                  .steps = 12,
                                  .seed = 9};

/* Number u of the release is the sum of the unit's y over the rate. */
static scene begin(const dp_svi_opts *opts, bool grouped, size_t chunk)
{
    const groups g = {.n = n_rows,
                      .n_groups = UNITS,
                      .y = y,
                      .group = group,
                      .person = grouped ? person : NULL,
                      .chunk = chunk};
    return begin_groups(&g, opts);
}

static double total(size_t unit)
{
    double sum = 0;
    for (size_t i = 0; i < n_rows; i++)
        sum += group[i] == (int32_t)unit ? y[i] : 0;
    return sum;
}

/* Units in the release: each whole or not at all. */
static size_t count(const scene *s, double rate)
{
    size_t n = 0;
    for (size_t u = 0; u < UNITS; u++) {
        double is = s->svi->release.out[u];
        n += is != 0;
        if (is != 0)
            assert_close(is, total(u) / rate, 1e-12, 0);
    }
    return n;
}

static void a_batch_has_all_rows_of_a_unit_or_none(void **state)
{
    (void)state;
    const size_t chunks[] = {1, 3, 64, CHUNK};
    for (int c = 0; c < 4; c++)
        for (int sampling = DP_SAMPLING_POISSON; sampling <= DP_SAMPLING_ALLOCATION; sampling++) {
            dp_svi_opts o = plain;
            o.sampling = (dp_sampling)sampling;
            double rate = 1, seen = 0;
            if (sampling == DP_SAMPLING_POISSON)
                o.rate = rate = 0.375;
            else if (sampling == DP_SAMPLING_FIXED)
                o.batch = 100, rate = 0.25;
            else if (sampling == DP_SAMPLING_ALLOCATION)
                o.epoch = 4, rate = 0.25;
            else if (sampling != DP_SAMPLING_FULL)
                continue;
            scene s = begin(&o, true, chunks[c]);
            assert_int_equal(s.svi->n, UNITS);
            assert_close(s.svi->opts.rate, rate, 0, 0);
            while (!dp_svi_done(s.svi)) {
                step(&s);
                size_t n = count(&s, rate);
                assert_true(sampling != DP_SAMPLING_FIXED || n == 100);
                assert_true(sampling != DP_SAMPLING_FULL || n == UNITS);
                seen += (double)n;
            }
            /* 6.2 standard deviations of a binomial */
            assert_close(seen, 12 * UNITS * rate, 0, 6.2 * sqrt(12 * UNITS * rate * (1 - rate)));
            end(&s);
        }
}

/* Each unit to the bound once, less what is left to rounding; smaller ones stay whole. */
static void a_unit_with_many_rows_counts_once(void **state)
{
    (void)state;
    const size_t chunks[] = {2, CHUNK, 1000};
    for (int c = 0; c < 3; c++) {
        dp_svi_opts o = plain;
        o.mode = DP_WITHOUT_GUARANTEE;
        o.clip = 3;
        scene s = begin(&o, true, chunks[c]);
        size_t clipped = 0;
        step(&s);
        for (size_t u = 0; u < UNITS; u++) {
            double is = fabs(s.svi->release.out[u]), whole = fabs(total(u));
            if (whole < 2.99)
                assert_close(is, whole, 1e-12, 0);
            else
                assert_true(is <= 3 && is > 2.98);
            clipped += whole > 3;
        }
        assert_true(clipped > 50);
        end(&s);
    }
}

/* The same without the unit column: the largest unit alone has hundreds of clips. */
static void without_the_column_every_row_is_a_unit(void **state)
{
    (void)state;
    dp_svi_opts o = plain;
    o.mode = DP_WITHOUT_GUARANTEE;
    o.clip = 3;
    scene s = begin(&o, false, CHUNK);
    assert_int_equal(s.svi->n, n_rows);
    step(&s);
    assert_true(fabs(s.svi->release.out[7]) > 100 * o.clip);
    end(&s);
}

/* ---- one person less ---- */

enum { WIDTH = 40, ROWS = 600 };

static double wide[ROWS * WIDTH], ones[ROWS];
static int32_t of_three[ROWS];

/* The release for y ~ Bernoulli(logit 1e18 x.w), w = 1, where x.w is nothing but rounding. */
static void release_at_rounding(size_t n, bool grouped, double release[WIDTH])
{
    dp_error err = {0};
    dp_svi *svi;
    double loc[WIDTH], log_scale[WIDTH];
    dp_svi_opts o = {.mode = DP_WITHOUT_GUARANTEE, .clip = 1, .steps = 1, .seed = 1};
    for (size_t j = 0; j < WIDTH; j++)
        loc[j] = 1, log_scale[j] = -60;
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(n);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", WIDTH, dp_normal(0, 10));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_scale(1e18, dp_dot(dp_data(rows, "x", WIDTH), w))));
    dp_dataset_real(data, "x", WIDTH, wide);
    dp_dataset_real(data, "y", 1, ones);
    dp_dataset_index(data, "person", of_three);
    if (grouped)
        dp_dataset_unit(data, "person");
    assert_ok(dp_svi_new(m, NULL, data, &o, &svi, &err), err.text);
    assert_ok(dp_svi_set(svi, "w.loc", WIDTH, loc, &err), err.text);
    assert_ok(dp_svi_set(svi, "w.log_scale", WIDTH, log_scale, &err), err.text);
    assert_ok(dp_svi_step(svi, &err), err.text);
    memcpy(release, svi->release.out, WIDTH * sizeof *release);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

/* Takes the unit's rows out of columns of n rows; returns how many rows are left. */
static size_t leave_out(size_t n, int32_t unit)
{
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        if (of_three[i] == unit)
            continue;
        memmove(wide + left * WIDTH, wide + i * WIDTH, WIDTH * sizeof *wide);
        of_three[left++] = of_three[i];
    }
    return left;
}

/* All rows of a person go, also from the middle, so that other rows move to other chunks. */
static void one_person_less_changes_the_sum_by_one_clip(void **state)
{
    (void)state;
    double most_as_rows = 0;
    for (uint64_t seed = 1; seed <= 8; seed++)
        for (int grouped = 0; grouped < 2; grouped++) {
            double before[WIDTH], after[WIDTH], norm2 = 0, sum = 0;
            uint64_t r = seed;
            for (size_t j = 0; j + 1 < WIDTH; j++)
                sum += wide[j] = next_number(&r);
            wide[WIDTH - 1] = -sum;
            for (size_t i = 0; i < ROWS; i++) {
                memmove(wide + i * WIDTH, wide, WIDTH * sizeof *wide);
                of_three[i] = (int32_t)(i * 7 % 200);
                ones[i] = 1;
            }
            release_at_rounding(ROWS, grouped, before);
            size_t left = leave_out(ROWS, (int32_t)(seed * 23));
            assert_int_equal(left, ROWS - 3);
            release_at_rounding(left, grouped, after);
            for (size_t j = 0; j < WIDTH; j++)
                norm2 += (after[j] - before[j]) * (after[j] - before[j]);
            if (grouped && !(sqrt(norm2) <= 1))
                fail_msg("seed %d: the sum differs by %g clips", (int)seed, sqrt(norm2));
            if (!grouped)
                most_as_rows = fmax(most_as_rows, sqrt(norm2));
        }
    assert_true(most_as_rows > 2.9); /* three rows, three clips */
}

/* ---- the same as one row that was added up beforehand ---- */

/* For y ~ N(x w, 1) rows (x_i, y_i) have the gradient sum x_i (y_i - x_i w) of the single row
 * X = sqrt(sum x_i^2), Y = sum x_i y_i / X. */
static dp_svi *linear(bool grouped, dp_svi_opts o, size_t chunk, scene *s)
{
    static double X[UNITS], Y[UNITS];
    dp_error err = {0};
    memset(X, 0, sizeof X);
    memset(Y, 0, sizeof Y);
    for (size_t i = 0; i < n_rows; i++) {
        X[group[i]] += x[i] * x[i];
        Y[group[i]] += x[i] * y[i];
    }
    for (size_t u = 0; u < UNITS; u++) {
        X[u] = sqrt(X[u]);
        Y[u] /= X[u];
    }
    *s = (scene){.m = dp_model_new(), .data = dp_dataset_new(grouped ? n_rows : UNITS)};
    dp_plate rows = dp_unit_plate(s->m, "rows");
    dp_expr w = dp_sample(s->m, "w", 1, dp_normal(0, 1));
    dp_observe(rows, "y", dp_normal_v(dp_mul(dp_data(rows, "x", 1), w), dp_num(1)));
    dp_dataset_real(s->data, "x", 1, grouped ? x : X);
    dp_dataset_real(s->data, "y", 1, grouped ? y : Y);
    dp_dataset_index(s->data, "person", person);
    if (grouped)
        dp_dataset_unit(s->data, "person");
    const dpi_svi_spec spec = {.model = s->m, .data = s->data, .opts = &o, .chunk = chunk};
    assert_ok(dpi_svi_new(&spec, &s->svi, &err), err.text);
    return s->svi;
}

static void fit_both(dp_svi_opts o, size_t chunk)
{
    dp_error err = {0};
    double w[2];
    for (int grouped = 0; grouped < 2; grouped++) {
        const double narrow = -60;
        scene s;
        dp_svi *svi = linear(grouped, o, chunk, &s);
        if (o.form == DP_FORM_PARAMETERS) /* each row has a draw of w */
            assert_ok(dp_svi_set(svi, "w.log_scale", 1, &narrow, &err), err.text);
        assert_ok(dp_svi_run(svi, NULL, &err), err.text);
        assert_ok(dp_svi_get(svi, "w.loc", 1, &w[grouped], &err), err.text);
        end(&s);
    }
    assert_close(w[1], w[0], 1e-9, 0);
    assert_true(fabs(w[0]) > 0.01);
}

/* Draws of rows come from the source of batches and noise, so with them the two need another
 * comparison: all units and no noise. */
static void a_fit_is_that_of_rows_added_up_beforehand(void **state)
{
    (void)state;
    const size_t chunks[] = {16, CHUNK};
    for (int c = 0; c < 2; c++)
        for (int sampled = 0; sampled < 2; sampled++) {
            dp_svi_opts o = {.sigma = 0.5, .delta = 1e-5, .clip = 2, .steps = 30, .seed = 3};
            o.sampling = sampled ? DP_SAMPLING_POISSON : DP_SAMPLING_FULL;
            o.rate = sampled ? 0.5 : 0;
            fit_both(o, chunks[c]);
            o = (dp_svi_opts){.mode = DP_WITHOUT_GUARANTEE,
                              .form = DP_FORM_PARAMETERS,
                              .clip = sampled ? 0.25 : 2,
                              .steps = 30,
                              .seed = 3};
            fit_both(o, chunks[c]);
        }
}

/* In the form of d3p the units' shares of the prior add up to the prior, whatever their rows: with
 * nothing to observe in the data but zeros times w, the release is the prior's gradient. */
static void the_prior_is_counted_once_in_all(void **state)
{
    (void)state;
    const double loc = 0.75, narrow = -60;
    dp_error err = {0};
    dp_svi_opts o = plain;
    o.form = DP_FORM_PARAMETERS;
    for (size_t i = 0; i < n_rows; i++)
        x[i] = 0x1p-300; /* not 0, by which nothing can be added up beforehand */
    for (int grouped = 0; grouped < 2; grouped++) {
        scene s;
        dp_svi *svi = linear(grouped, o, CHUNK, &s);
        assert_ok(dp_svi_set(svi, "w.loc", 1, &loc, &err), err.text);
        assert_ok(dp_svi_set(svi, "w.log_scale", 1, &narrow, &err), err.text);
        step(&s);
        assert_close(svi->release.out[0], -loc, 1e-12, 0);
        assert_close(svi->release.out[1], 1, 1e-12, 0);
        end(&s);
    }
    deal();
}

/* ---- what is said ---- */

static void the_guarantee_speaks_of_units(void **state)
{
    (void)state;
    for (int grouped = 0; grouped < 2; grouped++)
        for (int kind = 0; kind < 3; kind++) {
            const char *const says[2][3] = {
                {"add or remove one record", "replace one record",
                 "add or remove what one record adds, the number of records being public"},
                {"add or remove one unit (all rows with one value in the unit column)",
                 "replace one unit (all rows with one value in the unit column)",
                 "add or remove what one unit (all rows with one value in the unit column) adds, "
                 "the number of units being public"}};
            dp_error err = {0};
            dp_privacy privacy;
            dp_svi_opts o = {.sigma = 8, .delta = 0.5 / UNITS, .clip = 1, .steps = 2, .seed = 1};
            if (kind == 1)
                o.sampling = DP_SAMPLING_FIXED, o.batch = 10;
            if (kind == 2)
                o.form = DP_FORM_PARAMETERS;
            scene s = begin(&o, grouped, CHUNK);
            assert_ok(dp_svi_privacy(s.svi, &privacy, &err), err.text);
            assert_string_equal(privacy.adjacency, says[grouped][kind]);
            /* 0.5 / units is below one over the units and above one over the rows */
            assert_int_equal(privacy.warning == NULL, grouped);
            assert_close(privacy.rate, kind == 1 ? 10.0 / (double)s.svi->n : 1, 1e-15, 0);
            end(&s);
        }
}

static void batches_of_more_units_than_there_are_are_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_svi *svi;
    dp_svi_opts o = plain;
    o.sampling = DP_SAMPLING_FIXED;
    o.batch = UNITS + 1;
    scene s = begin(&plain, true, CHUNK);
    assert_int_equal(dp_svi_new(s.m, NULL, s.data, &o, &svi, &err), DP_EINVAL);
    assert_null(svi);
    end(&s);
}

/* What a wrong unit column leaves behind stops the run. */
static void an_error_of_the_data_set_stops_the_run(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_svi *svi;
    scene s = begin(&plain, false, CHUNK);
    dp_dataset_unit(s.data, "nobody");
    assert_int_equal(dp_svi_new(s.m, NULL, s.data, &plain, &svi, &err), DP_ENAME);
    assert_contains(err.text, "no column 'nobody' to be the unit column");
    end(&s);
}

static void failing_memory_is_reported(void **state)
{
    (void)state;
    scene s = begin(&plain, true, CHUNK);
    dp_svi_opts o = plain;
    o.threads = 3;
    size_t k = 1, live = faulty_live();
    for (int failed = 1; failed; k++) {
        dp_error err = {0};
        dp_svi *svi;
        faulty_fail(k);
        dp_status status = dp_svi_new(s.m, NULL, s.data, &o, &svi, &err);
        failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_int_equal(svi == NULL, failed);
        dp_svi_free(svi);
        assert_int_equal(faulty_live(), live);
    }
    assert_true(k > 20);
    end(&s);
}

int main(void)
{
    deal();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_has_all_rows_of_a_unit_or_none),
        cmocka_unit_test(a_unit_with_many_rows_counts_once),
        cmocka_unit_test(without_the_column_every_row_is_a_unit),
        cmocka_unit_test(one_person_less_changes_the_sum_by_one_clip),
        cmocka_unit_test(a_fit_is_that_of_rows_added_up_beforehand),
        cmocka_unit_test(the_prior_is_counted_once_in_all),
        cmocka_unit_test(the_guarantee_speaks_of_units),
        cmocka_unit_test(batches_of_more_units_than_there_are_are_refused),
        cmocka_unit_test(an_error_of_the_data_set_stops_the_run),
        cmocka_unit_test(failing_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
