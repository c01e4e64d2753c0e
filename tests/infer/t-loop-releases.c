/* All that a fit by the loop releases: that it is accounted for, and that nothing else of the
 * records is used. */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/infer/loop-models.h"
#include "tests/infer/releases.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

enum { N = LOOP_N, D = LOOP_D, NUMBER = 0, NORMS, STEPS, PHASES };
static loop_records records, others;

/* ---- fits ---- */

/* Of the first n records, in units of so many. */
static dp_fit *fit_of_units(size_t model, const loop_records *r, size_t n, size_t unit,
                            const dp_fit_opts *o)
{
    static int32_t who[N];
    dp_fit *fit;
    dp_error err = {0};
    dp_model *m = loop_models[model].make();
    dp_dataset *data = loop_data(r, n);
    for (size_t i = 0; i < n; i++)
        who[i] = (int32_t)(i / unit);
    dp_dataset_index(data, "who", who);
    if (unit > 1)
        dp_dataset_unit(data, "who");
    assert_ok(dp_fit_private(m, data, o, &fit, &err), err.text);
    dp_dataset_free(data);
    dp_model_free(m);
    return fit;
}

static dp_fit *fit_of(size_t model, const loop_records *r, size_t n, const dp_fit_opts *o)
{
    return fit_of_units(model, r, n, 1, o);
}

static char *bytes_of(const dp_fit *fit, size_t *n)
{
    dp_error err = {0};
    const char *path = folder_path("fit");
    assert_ok(dp_fit_save(fit, path, &err), err.text);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *n = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*n);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *n, file), *n);
    assert_int_equal(fclose(file), 0);
    return bytes;
}

static bool equal(const dp_fit *a, const dp_fit *b)
{
    size_t n, m;
    char *one = bytes_of(a, &n), *two = bytes_of(b, &m);
    bool same = n == m && memcmp(one, two, n) == 0;
    free(one);
    free(two);
    return same;
}

/* ---- what is accounted for ---- */

/* How far the sum before noise moved in a fit that repeats it, squared, in standard deviations. */
static double moved(const release_seen *r)
{
    double square = 0;
    for (size_t e = 0; e < r->n; e++) {
        double by = (r->again[e] - r->steps[e]) * 0x1p-32;
        square += by * by;
    }
    return square;
}

/* The last unit, in place of the usual one: far out, in four directions, of which some class is the
 * wrong one. */
static void put_far_out(loop_records *r, size_t unit, int direction)
{
    for (size_t i = N - unit; i < N; i++) {
        r->x[i * D] = direction % 2 == 0 ? 1e5 : -1e5;
        r->x[i * D + 1] = direction < 2 ? 1e5 : -1e5;
        r->y[i] = direction < 2 ? -1e7 : 1e7;
        r->kind[i] = direction % 3;
    }
}

/* What one unit more moves each release by at most, of four that are far out: square[n], where the
 * releases of a fit without it are put in the place of its own. */
static dp_fit *fit_neighbours(size_t model, size_t unit, const dp_fit_opts *o, double *square)
{
    releases_forget();
    dp_fit *fit = fit_of_units(model, &records, N - unit, unit, o);
    size_t n = releases_count();
    memset(square, 0, n * sizeof *square);
    others = records;
    for (int direction = 0; direction < 4; direction++) {
        put_far_out(&others, unit, direction);
        releases_repeat();
        dp_fit *neighbour = fit_of_units(model, &others, N, unit, o);
        assert_true(equal(fit, neighbour));
        assert_int_equal(releases_count(), n);
        dp_fit_free(neighbour);
        for (size_t k = 0; k < n; k++)
            square[k] = fmax(square[k], moved(releases_at(k)));
    }
    return fit;
}

/* The closed form of t-budget. */
static double delta_of(double mu, double epsilon)
{
    return gsl_cdf_ugaussian_P(mu / 2 - epsilon / mu) -
           exp(epsilon) * gsl_cdf_ugaussian_Q(mu / 2 + epsilon / mu);
}

/* Every release is moved no further than its phase says, and by `least` of that at least; all of
 * them together by what the fit says it has spent. */
static void check_account(const dp_fit *fit, const dp_fit_opts *o, const double *square,
                          double least)
{
    dp_privacy p;
    size_t n, k = 0;
    double sum = 0;
    const dp_fit_phase *phases = dp_fit_phases(fit, &n);
    dp_fit_privacy(fit, &p);
    assert_int_equal(n, PHASES);
    for (size_t j = 0; j < n; j++) {
        double most = 1 / (phases[j].sigma * phases[j].sigma);
        for (uint64_t t = 0; t < phases[j].releases; t++, k++) {
            assert_true(k < releases_count());
            assert_int_equal(releases_at(k)->n == 1, j == NUMBER);
            if (!(square[k] <= most && square[k] >= most * (j == STEPS ? least : 0.9999)))
                fail_msg("phase %zu, release %llu: moved by %.9g of %.9g", j, (unsigned long long)t,
                         sqrt(square[k]), sqrt(most));
            sum += square[k];
        }
    }
    assert_int_equal(k, releases_count());
    assert_int_equal(k, p.steps);
    double mu = sqrt(sum);
    assert_true(mu <= 1 / p.sigma && delta_of(mu, p.epsilon) <= p.delta);
    assert_true(delta_of(mu / (0.9999 * sqrt(least)), p.epsilon) > 0.999 * p.delta);
    assert_true(p.delta <= o->delta && p.epsilon <= o->epsilon);
}

/* The count of a step is accounted for as if 95 of 100 gradients were to be left as they are; where
 * half of them are, a unit moves it by 50/95, and a tenth of a step's share is the count's.  At
 * epsilon 30 a thousand units are enough for 95. */
static void what_is_released_is_what_is_accounted_for(void **state)
{
    static const struct {
        double epsilon, delta, least;
    } asked[] = {{0.5, 1e-5, 0.92}, {4, 1e-4, 0.92}, {30, 1e-6, 0.9999}};
    static const struct {
        size_t model, unit;
    } cases[] = {{LOOP_MIXTURE, 1}, {LOOP_NETWORK, 1}, {LOOP_COLUMNS, 1}, {LOOP_COLUMNS, 4}};
    static double square[4096];
    (void)state;
    for (size_t m = 0; m < sizeof cases / sizeof *cases; m++)
        for (size_t k = 0; k < 3; k++) {
            const dp_fit_opts o = {
                .epsilon = asked[k].epsilon, .delta = asked[k].delta, .seed = 3 + k};
            dp_fit *fit = fit_neighbours(cases[m].model, cases[m].unit, &o, square);
            check_account(fit, &o, square, cases[m].unit > 1 ? 0.92 : asked[k].least);
            dp_fit_free(fit);
        }
}

/* ---- what is used ---- */

/* Records that have nothing in common with those of the first fit, and are as wild as columns may
 * be. */
static void make_others(loop_records *r)
{
    for (size_t i = 0; i < N; i++) {
        r->x[i * D] = i % 3 == 0 ? 1e5 : i % 3 == 1 ? -1e-5 : 0;
        r->x[i * D + 1] = i % 11 == 0 ? 1e150 : (double)i;
        r->y[i] = i % 7 == 0 ? -1e8 : 50 + (double)i;
        r->kind[i] = 0;
    }
}

/* Other records, and fewer, whose releases are put in the place of the first ones: all that follows
 * must be the same, or something was used that was not released. */
static void nothing_is_used_but_what_was_released(void **state)
{
    static const double epsilons[] = {0.3, 4, 30};
    (void)state;
    make_others(&others);
    for (size_t m = 0; m < LOOP_MODELS; m++)
        for (size_t k = 0; k < 3; k++) {
            const dp_fit_opts o = {.epsilon = epsilons[k], .delta = 1e-5, .seed = 7};
            releases_forget();
            dp_fit *one = fit_of(m, &records, N, &o);
            size_t n = releases_count();
            releases_repeat();
            dp_fit *two = fit_of(m, &others, 100, &o);
            assert_int_equal(releases_count(), n);
            if (!equal(one, two))
                fail_msg("two fits of model %zu at epsilon %g differ", m, o.epsilon);
            /* They tell the records apart where they are not replaced. */
            releases_forget();
            dp_fit *three = fit_of(m, &others, 100, &o);
            assert_false(equal(one, three));
            dp_fit_free(one);
            dp_fit_free(two);
            dp_fit_free(three);
        }
}

/* ---- noise ---- */

/* What was added to number e of a release, in standard deviations. */
static double noise(const release_seen *r, size_t e)
{
    return r->out[e] * r->rate / r->sd - r->steps[e] * 0x1p-32;
}

/* A release drops the last 26 bits, so two numbers agree by chance in 1 of 200 cases. */
static bool near(double a, double b)
{
    return fabs(a - b) < 0x1p-7;
}

/* Eight numbers of 22 agree by chance in one of 10^13 pairs. */
static bool alike(const release_seen *a, const release_seen *b)
{
    size_t same = 0, n = a->n < b->n ? a->n : b->n;
    for (size_t e = 0; e < n; e++)
        same += near(noise(a, e), noise(b, e));
    return same >= 8;
}

static void each_release_has_noise_of_its_own(void **state)
{
    (void)state;
    static const uint64_t seeds[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, 3, 4};
    const dp_fit_opts o = {.epsilon = 4, .delta = 1e-5};
    for (size_t k = 0; k < sizeof seeds / sizeof *seeds; k += 2) {
        releases_forget();
        for (size_t j = 0; j < 2; j++) {
            dp_fit_opts seeded = o;
            seeded.seed = seeds[k] == 0 ? 0 : seeds[k + j];
            dp_fit_free(fit_of(LOOP_MIXTURE, &records, N, &seeded));
        }
        assert_true(releases_count() > 1000 && releases_at(1)->n >= 12);
        for (size_t i = 0; i < releases_count(); i++)
            for (size_t j = 0; j < i; j++)
                if (alike(releases_at(i), releases_at(j)))
                    fail_msg("releases %zu and %zu have the same noise", j, i);
    }
}

/* The number's noise, of which there is one a fit, against the first of every other release: six of
 * eight agree by chance in one of 10^12 cases, and there are 545. */
static void the_number_has_noise_of_its_own(void **state)
{
    enum { FITS = 8, MOST = 1000 };
    static size_t same[MOST];
    (void)state;
    for (uint64_t seed = 1; seed <= FITS; seed++) {
        const dp_fit_opts o = {.epsilon = 4, .delta = 1e-5, .seed = seed};
        releases_forget();
        dp_fit_free(fit_of(LOOP_COLUMNS, &records, N, &o));
        assert_true(releases_count() < MOST);
        for (size_t k = 1; k < releases_count(); k++)
            same[k] += near(noise(releases_at(0), 0), noise(releases_at(k), 0));
    }
    for (size_t k = 0; k < MOST; k++)
        assert_true(same[k] < 6);
}

/* The mean of some 10^4 numbers of noise, and of that of 200 numbers of units, is within 6.2
 * standard deviations of 0, and the sum of their squares where a chi-squared number is: each but in
 * 1 of 10^9 cases; the seeds are fixed. */
static void noise_has_the_size_that_is_said(void **state)
{
    enum { FITS = 200 };
    double sum[2] = {0}, square[2] = {0}, n[2] = {0};
    (void)state;
    for (uint64_t seed = 1; seed <= FITS; seed++) {
        const dp_fit_opts o = {.epsilon = 4, .delta = 1e-5, .seed = seed};
        releases_forget();
        dp_fit_free(fit_of(LOOP_COLUMNS, &records, 20, &o));
        for (size_t k = 0; k < (seed < 9 ? releases_count() : 1); k++)
            for (size_t e = 0; e < releases_at(k)->n; e++) {
                double z = noise(releases_at(k), e);
                sum[k > 0] += z;
                square[k > 0] += z * z;
                n[k > 0] += 1;
            }
    }
    assert_true(n[0] == FITS && n[1] > 1e4);
    for (int k = 0; k < 2; k++) {
        assert_close(sum[k] / n[k], 0, 0, 6.2 / sqrt(n[k]));
        assert_true(fmin(gsl_cdf_chisq_P(square[k], n[k]), gsl_cdf_chisq_Q(square[k], n[k])) >
                    5e-10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_released_is_what_is_accounted_for),
        cmocka_unit_test(nothing_is_used_but_what_was_released),
        cmocka_unit_test(each_release_has_noise_of_its_own),
        cmocka_unit_test(the_number_has_noise_of_its_own),
        cmocka_unit_test(noise_has_the_size_that_is_said),
    };
    loop_draw(&records);
    int failed = cmocka_run_group_tests_name("loop-releases", tests, folder_make, folder_remove);
    releases_forget();
    return failed;
}
