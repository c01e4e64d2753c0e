/* All that a fit releases: that it is accounted for, and that nothing else of the records is
 * used. */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/infer.h>

#include "tests/infer/readers.h"
#include "tests/infer/releases.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

static const char *const models[] = {"normal", "bernoulli by group", "poisson, two plates",
                                     "student", "categorical by group"};
enum { MODELS = sizeof models / sizeof *models };

typedef struct scene {
    dp_model *model;
    reader_records records;
    dp_dataset *data;
} scene;

static void set_up(scene *s, const char *model, size_t n, uint64_t seed)
{
    s->model = reader_named(model)->make();
    reader_draw(&s->records, seed);
    s->data = reader_data(&s->records, n);
    releases_forget();
}

static void tear_down(scene *s)
{
    dp_dataset_free(s->data);
    dp_model_free(s->model);
}

static dp_fit *fit_of(const scene *s, const dp_fit_opts *o)
{
    dp_fit *fit;
    dp_error err = {0};
    assert_ok(dp_fit_private(s->model, s->data, o, &fit, &err), err.text);
    return fit;
}

/* ---- what is accounted for ---- */

static size_t releases_with(double sd)
{
    size_t n = 0;
    for (size_t k = 0; k < releases_count(); k++)
        n += releases_at(k)->sd == sd;
    return n;
}

static void check_account(const dp_fit *fit, const dp_fit_opts *o)
{
    dp_privacy p;
    size_t n, releases = 0;
    double square = 0;
    const dp_fit_phase *phases = dp_fit_phases(fit, &n);
    dp_fit_privacy(fit, &p);
    for (size_t k = 0; k < n; k++) {
        uint64_t alike = 0; /* phases may have noise in common */
        for (size_t l = 0; l < n; l++)
            alike += phases[l].sigma == phases[k].sigma ? phases[l].releases : 0;
        assert_int_equal(releases_with(phases[k].sigma), alike);
        releases += phases[k].releases;
    }
    assert_int_equal(releases_count(), releases);
    assert_int_equal(p.steps, releases);
    for (size_t k = 0; k < releases; k++)
        square += 1 / (releases_at(k)->sd * releases_at(k)->sd);
    /* The closed form of t-budget, from what was done and not from what was planned. */
    double mu = sqrt(square), delta = gsl_cdf_ugaussian_P(mu / 2 - p.epsilon / mu) -
                                      exp(p.epsilon) * gsl_cdf_ugaussian_Q(mu / 2 + p.epsilon / mu);
    assert_true(delta <= p.delta && p.delta <= o->delta && p.epsilon <= o->epsilon);
    assert_close(1 / mu, p.sigma, 1e-9, 0);
}

static void what_is_released_is_what_is_accounted_for(void **state)
{
    static const dp_fit_opts asked[] = {{.epsilon = 4, .delta = 1e-5, .draws = 100},
                                        {.epsilon = 1, .delta = 1e-4, .draws = 100, .rounds = 3},
                                        {.epsilon = 8,
                                         .delta = 1e-3,
                                         .draws = 100,
                                         .clip = 2,
                                         .seed = 3,
                                         .hopeless_allowed = true}};
    static scene s;
    (void)state;
    for (size_t m = 0; m < MODELS; m++) {
        dp_fit_opts o = asked[m % 3];
        o.hopeless_allowed = true; /* all phases, whatever the noise */
        set_up(&s, models[m], READER_RECORDS, 3 + m);
        dp_fit *fit = fit_of(&s, &o);
        check_account(fit, &o);
        dp_fit_free(fit);
        tear_down(&s);
    }
}

static void a_hopeless_fit_stops_before_it_costs_more(void **state)
{
    static scene s;
    dp_fit *fit;
    dp_error err = {0};
    (void)state;
    set_up(&s, "normal", 10, 3);
    dp_fit_opts o = {.epsilon = 0.1, .delta = 1e-4, .seed = 3};
    assert_fails(dp_fit_private(s.model, s.data, &o, &fit, &err), DP_EPRIVACY, &err, "epsilon");
    assert_true(releases_count() > 0 && releases_count() < 6);
    tear_down(&s);
}

/* ---- what is used ---- */

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

static void check_equal(const dp_fit *a, const dp_fit *b, const char *model)
{
    size_t n, m;
    char *one = bytes_of(a, &n), *two = bytes_of(b, &m);
    if (n != m || memcmp(one, two, n) != 0)
        fail_msg("two fits of the model '%s' differ", model);
    free(one);
    free(two);
}

/* Records that have nothing in common with those of a seed, and are as wild as columns may be. */
static void change(scene *s, size_t n)
{
    reader_records *r = &s->records;
    for (size_t i = 0; i < READER_RECORDS; i++) {
        r->x[i * READER_X] = i % 3 == 0 ? 1e5 : i % 3 == 1 ? -1e-5 : 0;
        r->real[i] = i % 7 == 0 ? 1e8 : 50 + (double)i;
        r->binary[i] = 1;
        r->count[i] = i % 5 == 0 ? 1000 : 0;
        r->positive[i] = i % 2 == 0 ? 1e-9 : 1e9;
        r->g[i] = r->h[i] = r->class[i] = 0;
    }
    dp_dataset_free(s->data);
    s->data = reader_data(r, n);
}

/* Other records, and fewer, whose releases are put in the place of the first ones: all that follows
 * must be the same, or something was used that was not released. */
static void nothing_is_used_but_what_was_released(void **state)
{
    static scene s;
    (void)state;
    for (size_t m = 0; m < MODELS; m++) {
        dp_fit_opts o = {.epsilon = 4, .delta = 1e-5, .draws = 100, .seed = 7};
        o.hopeless_allowed = true;
        set_up(&s, models[m], READER_RECORDS, 3 + m);
        dp_fit *one = fit_of(&s, &o);
        size_t n = releases_count();
        change(&s, 100);
        releases_repeat();
        dp_fit *two = fit_of(&s, &o);
        assert_int_equal(releases_count(), n);
        check_equal(one, two, models[m]);
        /* They tell the records apart where they are not replaced. */
        releases_forget();
        dp_fit *three = fit_of(&s, &o);
        size_t sizes[2];
        char *bytes[2] = {bytes_of(one, &sizes[0]), bytes_of(three, &sizes[1])};
        assert_true(sizes[0] != sizes[1] || memcmp(bytes[0], bytes[1], sizes[0]) != 0);
        free(bytes[0]);
        free(bytes[1]);
        dp_fit_free(one);
        dp_fit_free(two);
        dp_fit_free(three);
        tear_down(&s);
    }
}

static void swap(size_t size, void *column, size_t i, size_t j)
{
    char keep[64], *a = (char *)column + i * size, *b = (char *)column + j * size;
    memcpy(keep, a, size);
    memcpy(a, b, size);
    memcpy(b, keep, size);
}

static void reverse(reader_records *r)
{
    for (size_t i = 0, j = READER_RECORDS - 1; i < j; i++, j--) {
        swap(READER_X * sizeof(double), r->x, i, j);
        swap(sizeof(double), r->real, i, j);
        swap(sizeof(double), r->binary, i, j);
        swap(sizeof(double), r->count, i, j);
        swap(sizeof(double), r->positive, i, j);
        swap(sizeof(int32_t), r->g, i, j);
        swap(sizeof(int32_t), r->h, i, j);
        swap(sizeof(int32_t), r->class, i, j);
    }
}

static void the_order_of_records_changes_nothing(void **state)
{
    static scene s;
    (void)state;
    for (size_t m = 0; m < 3; m++) {
        dp_fit_opts o = {.epsilon = 4, .delta = 1e-5, .draws = 100, .seed = 7};
        o.hopeless_allowed = true;
        set_up(&s, models[m], READER_RECORDS, 3 + m);
        dp_fit *one = fit_of(&s, &o);
        reverse(&s.records);
        o.threads = 3;
        dp_fit *two = fit_of(&s, &o);
        check_equal(one, two, models[m]);
        dp_fit_free(one);
        dp_fit_free(two);
        tear_down(&s);
    }
}

/* ---- noise ---- */

/* What was added to number e of a release, in standard deviations. */
static double noise(const release_seen *r, size_t e)
{
    return r->out[e] / r->sd - r->steps[e] * 0x1p-32;
}

/* A release drops the last 26 bits, so single numbers may agree: sixteen of them do not. */
static bool alike(const release_seen *a, const release_seen *b)
{
    size_t same = 0, n = a->n < b->n ? a->n : b->n;
    for (size_t e = 0; e < n; e++)
        same += fabs(noise(a, e) - noise(b, e)) < 0x1p-7;
    return n >= 16 && same > n / 2;
}

static void each_release_has_noise_of_its_own(void **state)
{
    static scene s;
    (void)state;
    set_up(&s, "poisson, two plates", READER_RECORDS, 3);
    dp_fit_opts o = {.epsilon = 4, .delta = 1e-5, .draws = 100, .hopeless_allowed = true};
    for (int again = 0; again < 2; again++)
        dp_fit_free(fit_of(&s, &o));
    assert_true(releases_count() > 50);
    for (size_t k = 0; k < releases_count(); k++)
        for (size_t l = 0; l < k; l++)
            assert_false(alike(releases_at(k), releases_at(l)));
    tear_down(&s);
}

/* Mean and variance of some 10^4 numbers of noise are within 6.2 standard deviations of theirs,
 * which other noise is not in 1 of 10^9 cases; the seed is fixed. */
static void noise_has_the_size_that_is_said(void **state)
{
    static scene s;
    double sum = 0, square = 0, n = 0;
    (void)state;
    set_up(&s, "normal, slopes by group", READER_RECORDS, 3);
    dp_fit_opts o = {
        .epsilon = 4, .delta = 1e-5, .draws = 100, .seed = 3, .hopeless_allowed = true};
    dp_fit_free(fit_of(&s, &o));
    for (size_t k = 0; k < releases_count(); k++)
        for (size_t e = 0; e < releases_at(k)->n; e++) {
            double z = noise(releases_at(k), e);
            sum += z;
            square += z * z;
            n += 1;
        }
    assert_true(n > 1000);
    assert_close(sum / n, 0, 0, 6.2 / sqrt(n));
    assert_close(square / n, 1, 0, 6.2 * sqrt(2 / n));
    tear_down(&s);
}

static void seeds_repeat_and_are_not_private(void **state)
{
    static scene s;
    dp_privacy p;
    (void)state;
    set_up(&s, "normal", READER_RECORDS, 3);
    dp_fit_opts o = {.epsilon = 4, .delta = 1e-5, .draws = 100, .seed = 5};
    dp_fit *one = fit_of(&s, &o), *two = fit_of(&s, &o);
    check_equal(one, two, "normal");
    dp_fit_privacy(one, &p);
    assert_false(p.is_private);
    assert_contains(p.why_not, "seed");
    dp_fit_free(one);
    dp_fit_free(two);
    o.seed = 0;
    o.hopeless_allowed = true; /* as it happens */
    one = fit_of(&s, &o);
    dp_fit_privacy(one, &p);
    assert_true(p.is_private && p.why_not == NULL);
    dp_fit_free(one);
    tear_down(&s);
}

static void a_fit_without_privacy_releases_nothing_and_says_so(void **state)
{
    static scene s;
    dp_privacy p;
    size_t n;
    (void)state;
    set_up(&s, "normal", READER_RECORDS, 3);
    for (uint64_t seed = 0; seed < 2; seed++) {
        dp_fit_opts o = {
            .mode = DP_NO_PRIVACY, .method = DP_METHOD_ROUNDS, .draws = 100, .seed = seed};
        releases_forget();
        dp_fit *fit = fit_of(&s, &o);
        assert_int_equal(releases_count(), 0);
        dp_fit_privacy(fit, &p);
        assert_false(p.is_private);
        assert_true(isinf(p.epsilon) && p.delta == 1);
        assert_contains(p.why_not, "without privacy");
        (void)dp_fit_phases(fit, &n);
        assert_int_equal(n, 0);
        dp_fit_free(fit);
    }
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_released_is_what_is_accounted_for),
        cmocka_unit_test(a_hopeless_fit_stops_before_it_costs_more),
        cmocka_unit_test(nothing_is_used_but_what_was_released),
        cmocka_unit_test(the_order_of_records_changes_nothing),
        cmocka_unit_test(each_release_has_noise_of_its_own),
        cmocka_unit_test(noise_has_the_size_that_is_said),
        cmocka_unit_test(seeds_repeat_and_are_not_private),
        cmocka_unit_test(a_fit_without_privacy_releases_nothing_and_says_so),
    };
    int failed = cmocka_run_group_tests_name("releases", tests, folder_make, folder_remove);
    releases_forget();
    return failed;
}
