/* A fit on paper: lines by hand for numbers that are known, what is said of privacy and of checks,
 * and what a file that is full does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fit/fits.h"
#include "tests/fit/scene.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { KEPT = 4, MANY = 13, SIZE = 3 + MANY };

/* What is printed, of which the caller frees the text. */
static char *print(const dp_fit *fit)
{
    char *text = NULL;
    size_t size;
    dp_error err = {0};
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    assert_ok(dp_fit_print(fit, to, &err), err.text);
    (void)fclose(to);
    return text;
}

static void has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("there is no \"%s\" in:\n%s", part, text);
}

static void lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("there is \"%s\" in:\n%s", part, text);
}

/* Two numbers, a scale, and a latent of more numbers than are listed; a parameter. */
static dp_model *four(void)
{
    dp_model *m = dp_model_new();
    if (m == NULL)
        return NULL;
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", MANY);
    dp_expr w = dp_sample(m, "w", 2, dp_normal(0, 1)), s = dp_sample(m, "s", 1, dp_gamma(2, 1)),
            a = dp_sample_in(groups, "a", 1, dp_normal_v(dp_num(0), s)), c = dp_param(m, "c", 1, 0);
    dp_expr at = dp_add(dp_dot(dp_data(rows, "x", 2), w), dp_add(c, dp_num(0)));
    (void)dp_deterministic(m, "half", dp_scale(0.5, w));
    (void)dp_deterministic(m, "moved", dp_add(dp_square(dp_slice(w, 0, 1)), c));
    (void)dp_deterministic(m, "at", at);
    dp_observe(rows, "y", dp_bernoulli_logit(dp_add(at, dp_pick(a, dp_index(rows, "g", groups)))));
    return m;
}

static const dp_fit_phase phases[] = {{"scales", 1, 30, 2}, {"main", 16, 9, 2.5}};
static const dp_diagnostic checks[] = {{"noise", 0.2, 1, false, "little of it"},
                                       {"misfit", 5, 3, true, "take heavier tails"}};

/* Kept draws of which means, deviations and quantiles are known: of four numbers x at 1/8, 3/8, 5/8
 * and 7/8 quantiles 5 %, 50 % and 95 % are the least, the mean of the middle ones, the greatest. */
static dp_fit *keeping(const dpi_fit_parts *also)
{
    static double draws[KEPT][SIZE];
    static const double w[KEPT] = {1, 2, 3, 4}, large[KEPT] = {-9000, -8000, -7000, -4000},
                        s[KEPT] = {1e-9, 2e-9, 3e-9, 4e-9};
    const given_block blocks[] = {{"c", {0.25}}};
    dp_error err = {0};
    dp_fit *fit;
    dpi_fit_parts parts = *also;
    for (size_t i = 0; i < KEPT; i++) {
        draws[i][0] = w[i];
        draws[i][1] = large[i];
        draws[i][2] = s[i];
        for (size_t k = 0; k < MANY;
             k++) /* means 0, 5, 10, 2, 7, ... 8: a[0], a[4], a[2] are least, middle, greatest */
            draws[i][3 + k] = (double)(k * 5 % MANY) + 0.01 * w[i];
    }
    parts.model = four();
    parts.draws = *draws;
    parts.n_draws = KEPT;
    parts.draw_size = SIZE;
    assert_ok(make_fit_of(&parts, blocks, 1, &fit, &err), err.text);
    return fit;
}

static void each_number_has_a_line(void **state)
{
    (void)state;
    dp_fit *fit = keeping(&(dpi_fit_parts){0});
    char *text = print(fit);
    /* Standard deviations: sqrt(5/3) = 1.29, 2160, 1.29e-9. */
    has(text, "                   mean         sd        5 %       50 %       95 %\n"
              "w[0]                2.5        1.3        1.0        2.5        4.0\n"
              "w[1]              -7000       2160      -9000      -7500      -4000\n"
              "s               2.5e-09  1.291e-09      1e-09    2.5e-09      4e-09\n"
              "a            13 numbers, ");
    has(text, "mean:\n  a[0]            0.025      0.013      0.010      0.025      0.040\n");
    /* Squares of 1, 2, 3, 4 and a quarter: mean 7.75, deviation sqrt(129 / 3) = 6.56; a value of
     * each record has no line. */
    has(text, "\nc                  0.25 a parameter: a point, without a posterior\n"
              "computed from these:\n"
              "half[0]            1.25       0.65       0.50       1.25       2.00\n"
              "half[1]           -3500       1080      -4500      -3750      -2000\n"
              "moved               7.8        6.6        1.2        6.8       16.2\n\n");
    lacks(text, "a[1]");
    lacks(text, "\nat ");
    free(text);
    dp_fit_free(fit);
}

static void of_many_the_least_middle_and_greatest_are_shown(void **state)
{
    (void)state;
    dp_fit *fit = keeping(&(dpi_fit_parts){0});
    char *text = print(fit), *least = strstr(text, "  a["), *middle = strstr(least + 1, "  a["),
         *greatest = strstr(middle + 1, "  a[");
    assert_non_null(greatest);
    assert_null(strstr(greatest + 1, "  a["));
    /* k 5 mod 13 is 0, 6 and 12 for k = 0, 9 and 5. */
    assert_memory_equal(least, "  a[0] ", 7);
    assert_memory_equal(middle, "  a[9] ", 7);
    assert_memory_equal(greatest, "  a[5] ", 7);
    free(text);
    dp_fit_free(fit);
}

static void what_was_spent_stands_below(void **state)
{
    (void)state;
    const dp_privacy spent = {.is_private = true,
                              .adjacency = "add or remove one record",
                              .epsilon = 0.75,
                              .delta = 1e-6,
                              .sigma = 4};
    dp_privacy seeded = spent, open = spent;
    dp_fit *fit = keeping(&(dpi_fit_parts){.phases = phases, .n_phases = 2});
    fit->privacy = spent;
    char *text = print(fit);
    has(text, "\nIntervals include the noise of privacy.\n"
              "spent: epsilon 0.75 at delta 1e-06 (add or remove one record)\n"
              "releases: scales 1, main 16\n");
    lacks(text, "NOT");
    free(text);
    seeded.is_private = false;
    seeded.why_not = "seeded: it can be computed again";
    fit->privacy = seeded;
    text = print(fit);
    has(text, "\nNOT PRIVATE: seeded: it can be computed again\n"
              "an unseeded fit would have spent: epsilon 0.75 at");
    free(text);
    open.is_private = false;
    open.why_not = "fitted without privacy";
    open.epsilon = INFINITY;
    open.sigma = 0;
    open.warning = "of something";
    fit->privacy = open;
    text = print(fit);
    has(text, "\nNOT PRIVATE: fitted without privacy\nwarning: of something\n");
    lacks(text, "spent");
    lacks(text, "Intervals");
    free(text);
    dp_fit_free(fit);
}

static void bad_checks_come_first(void **state)
{
    (void)state;
    dp_fit *fit = keeping(&(dpi_fit_parts){.diagnostics = checks, .n_diagnostics = 2});
    char *text = print(fit);
    has(text, "\nBAD  misfit: take heavier tails\ngood noise: little of it\n");
    lacks(text, "Intervals");
    free(text);
    dp_fit_free(fit);
}

/* ---- fits of a guide ---- */

static void a_guide_is_said_to_know_nothing_of_the_noise(void **state)
{
    (void)state;
    const dp_privacy spent = {.is_private = true,
                              .adjacency = "add or remove one record",
                              .epsilon = 2,
                              .delta = 1e-5,
                              .steps = 300,
                              .sigma = 4.5,
                              .clip = 1.5};
    const given_block blocks[] = {{"w.loc", {0.5, -3}}, {"w.log_scale", {log(0.1), log(2)}}};
    dp_error err = {0};
    dp_fit *fit;
    assert_ok(make_fit(four(), NULL, DP_FORM_LATENTS, blocks, 2, &fit, &err), err.text);
    fit->privacy = spent;
    char *text = print(fit);
    /* 0.5 and -3 with 1.645 standard deviations on either side. */
    has(text, "w[0]               0.50       0.10       0.34       0.50       0.66\n"
              "w[1]               -3.0        2.0       -6.3       -3.0        0.3\n");
    has(text, "\nIntervals are of a guide: they leave out correlations and the noise of privacy, "
              "and are too narrow.\n");
    has(text, "   0.0        1.0       -1.6        0.0        1.6\n");
    lacks(text, "-0.0 ");
    has(text, "\nspent: epsilon 2 at delta 1e-05 (add or remove one record)\n"
              "releases: 300 steps, noise 4.5 x clip 1.5\n");
    free(text);
    dp_fit_free(fit);
}

static void of_a_formula_what_is_computed_stands_first(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_fit *fit;
    dp_model *m = dp_model_new();
    dp_expr unit = dp_sample(m, "scaled.b_x", 1, dp_normal(0, 1)),
            sd = dp_sample(m, "sd", 1, dp_normal(0, 1));
    (void)dp_deterministic(m, "b_x", dp_scale(3, unit));
    dp_observe(dp_unit_plate(m, "rows"), "y", dp_normal_v(dp_add(unit, sd), dp_num(1)));
    assert_ok(make_fit(m, NULL, DP_FORM_LATENTS, NULL, 0, &fit, &err), err.text);
    char *text = print(fit);
    has(text, "\nscaled.b_x ");
    has(text, "\ncomputed from these:\nb_x ");
    free(text);
    const dp_fit_source source = {.formula = "y ~ x", .family = "gaussian", .schema = "y unit\n"};
    assert_ok(dp_fit_set_source(fit, &source, &err), err.text);
    text = print(fit);
    has(text, "95 %\nb_x ");
    has(text, "\nsd ");
    lacks(text, "scaled.b_x");
    lacks(text, "computed from these");
    free(text);
    dp_fit_free(fit);
}

static void what_has_no_lines_is_named(void **state)
{
    (void)state;
    enum { WIDE = 2001 };
    dp_error err = {0};
    dp_fit *fit;
    dp_model *m = dp_model_new(), *guide = dp_guide_new(m);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", WIDE, dp_normal(0, 1)), c = dp_param(m, "c", MANY, 0),
            z = dp_sample_in(rows, "z", 2, dp_normal(0, 1));
    dp_expr sum = dp_add(dp_sum(w), dp_add(dp_sum(c), dp_sum(z)));
    (void)dp_deterministic(m, "most", dp_sum(w));
    dp_observe(rows, "y", dp_normal_v(dp_deterministic(m, "sum", sum), dp_num(1)));
    (void)dp_sample(guide, "w", WIDE, dp_normal(0, 1));
    (void)dp_sample_in(dp_unit_plate(guide, "rows"), "z", 2, dp_normal(0, 1));
    assert_ok(make_fit(m, guide, DP_FORM_LATENTS, NULL, 0, &fit, &err), err.text);
    char *text = print(fit);
    has(text, "\nw            more numbers than are listed: dp_fit_summary has them\n"
              "c            more numbers than are listed: dp_fit_parameter has them\n"
              "z            one for each record: dp_fit_evaluate has them\n"
              "computed from these:\n"
              "most         many numbers, or of many latents: dp_fit_summary has them\n");
    lacks(text, "Intervals"); /* a guide of its own, and no noise */
    lacks(text, "\nsum");
    free(text);
    dp_fit_free(fit);
}

/* ---- files and memory ---- */

static void a_loaded_fit_prints_the_same(void **state)
{
    (void)state;
    for (int which = 0; which < N_NAMED_FITS; which++) {
        dp_error err = {0};
        dp_fit *fit = named_fit(which, 5), *read;
        assert_ok(dp_fit_save(fit, "t-print.fit", &err), err.text);
        assert_ok(dp_fit_load("t-print.fit", &read, &err), err.text);
        char *text = print(fit), *again = print(read);
        assert_string_equal(again, text);
        assert_true((strstr(text, "\nBAD  ") != NULL) == (which == FIT_KEPT));
        free(text);
        free(again);
        dp_fit_free(fit);
        dp_fit_free(read);
    }
    assert_int_equal(remove("t-print.fit"), 0);
}

static void a_full_file_is_an_error(void **state)
{
    (void)state;
    dp_error err = {0};
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL)
        skip();
    dp_fit *fit = keeping(&(dpi_fit_parts){0});
    assert_fails(dp_fit_print(fit, full, &err), DP_EIO, &err, "written");
    (void)fclose(full);
    dp_fit_free(fit);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    dp_fit *fit = keeping(&(dpi_fit_parts){0});
    size_t before = faulty_live();
    FILE *to = tmpfile();
    assert_non_null(to);
    for (size_t k = 1;; k++) {
        dp_error err = {0};
        faulty_fail(k);
        dp_status status = dp_fit_print(fit, to, &err);
        int failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_int_equal(faulty_live(), before);
        if (!failed)
            break;
    }
    (void)fclose(to);
    dp_fit_free(fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_number_has_a_line),
        cmocka_unit_test(of_many_the_least_middle_and_greatest_are_shown),
        cmocka_unit_test(what_was_spent_stands_below),
        cmocka_unit_test(bad_checks_come_first),
        cmocka_unit_test(a_guide_is_said_to_know_nothing_of_the_noise),
        cmocka_unit_test(of_a_formula_what_is_computed_stands_first),
        cmocka_unit_test(what_has_no_lines_is_named),
        cmocka_unit_test(a_loaded_fit_prints_the_same),
        cmocka_unit_test(a_full_file_is_an_error),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
