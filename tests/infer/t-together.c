/* Steps and fits by noisy steps of several owners: what is opened, in which law, and that all have
 * the same of it. */
#include "svi/together.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/tacit.h>

#include "tests/infer/loop-models.h"
#include "tests/infer/table.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

enum { MOST = 4, N = LOOP_N, D = LOOP_D };

static loop_records records;
static table tables[2];

static dp_dataset *rows(size_t first, size_t end)
{
    dp_dataset *data = dp_dataset_new(end - first);
    dp_dataset_real(data, "x", D, records.x + first * D);
    dp_dataset_real(data, "y", 1, records.y + first);
    dp_dataset_index(data, "kind", records.kind + first);
    return data;
}

/* ---- fits ---- */

typedef struct sharer {
    size_t model, first, end;
    dp_fit_opts opts;
    dp_fit *fit;
    dp_status status;
    dp_error err;
} sharer;

static void *fit_one(void *of)
{
    sharer *o = of;
    dp_model *m = loop_models[o->model].make();
    dp_dataset *data = rows(o->first, o->end);
    o->status = dp_fit_private(m, data, &o->opts, &o->fit, &o->err);
    dp_dataset_free(data);
    dp_model_free(m);
    return NULL;
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

/* Fits a model over the records, split after each of `ends`; the fit of all, the caller's. */
static dp_fit *fit_together(table *t, size_t model, size_t n, const size_t *ends,
                            const dp_fit_opts *opts)
{
    pthread_t thread[MOST];
    sharer owner[MOST];
    const dp_owners together = {
        .size = n, .honest = n, .seed = 5, .most_records = N, .context = t, .open = table_open};
    table_begin(t, n);
    for (size_t k = 0; k < n; k++) {
        owner[k] = (sharer){.model = model, .first = k > 0 ? ends[k - 1] : 0, .end = ends[k]};
        owner[k].opts = *opts;
        owner[k].opts.owners = &together;
        owner[k].opts.seed = opts->mode == DP_PRIVATE ? 11 + k : 0;
        assert_int_equal(pthread_create(&thread[k], NULL, fit_one, &owner[k]), 0);
    }
    for (size_t k = 0; k < n; k++)
        assert_int_equal(pthread_join(thread[k], NULL), 0);
    for (size_t k = 0; k < n; k++) {
        size_t one, other;
        assert_ok(owner[k].status, owner[k].err.text);
        char *first = bytes_of(owner[0].fit, &one), *mine = bytes_of(owner[k].fit, &other);
        assert_int_equal(one, other);
        assert_memory_equal(first, mine, one);
        free(first);
        free(mine);
        if (k > 0)
            dp_fit_free(owner[k].fit);
    }
    assert_false(t->differ);
    table_end(t);
    return owner[0].fit;
}

static const size_t three[] = {200, 613, N}, one[] = {N};

static void all_have_the_same_fit_and_open_what_is_told(void **state)
{
    (void)state;
    const dp_fit_opts opts = {.epsilon = 4, .delta = 1e-5};
    for (size_t m = 0; m < LOOP_MODELS; m++) {
        dp_opening list[DP_OPENINGS];
        dp_privacy alone, of_three;
        dp_error err = {0};
        size_t n;
        dp_model *model = loop_models[m].make();
        assert_ok(dp_fit_openings(model, &opts, &n, list, &err), err.text);
        dp_fit *fit = fit_together(&tables[0], m, 3, three, &opts);
        assert_int_equal(n, 3);
        uint64_t times = 0;
        for (size_t k = 0; k < n; k++) {
            times += list[k].times;
            assert_true(list[k].sigma > 1);
        }
        assert_int_equal(times, tables[0].times);
        for (size_t k = 0; k < TABLE_KEPT; k++) /* the last ones, which are steps */
            assert_int_equal(tables[0].n[k], list[2].numbers);
        dp_fit_privacy(fit, &of_three);
        dp_fit_free(fit);
        fit = fit_together(&tables[1], m, 1, one, &opts);
        dp_fit_privacy(fit, &alone);
        assert_true(alone.epsilon == of_three.epsilon && alone.sigma == of_three.sigma &&
                    alone.delta == of_three.delta);
        dp_fit_free(fit);
        dp_model_free(model);
    }
}

static void without_noise_it_is_as_one_process_has_it(void **state)
{
    (void)state;
    const dp_fit_opts opts = {.mode = DP_NO_PRIVACY};
    double w[2][3];
    for (int k = 0; k < 2; k++) {
        dp_error err = {0};
        dp_fit *fit =
            fit_together(&tables[k], LOOP_NETWORK, k == 0 ? 1 : 3, k == 0 ? one : three, &opts);
        assert_int_equal(tables[k].times, 2048);
        assert_ok(dp_fit_parameter(fit, "b", 3, w[k], &err), err.text);
        dp_fit_free(fit);
    }
    for (int j = 0; j < 3; j++)
        assert_float_equal(w[0][j], w[1][j], 1e-9);
    assert_true(fabs(w[0][0] - w[0][1]) > 1e-3);
}

/* ---- steps ---- */

/* One step, or more, of a network over the records from first on, by an owner of n. */
typedef struct stepper {
    dp_svi_opts opts;
    size_t first, end;
    double b[3];
    dp_privacy privacy;
    dp_status status;
    dp_error err;
} stepper;

static void *step_one(void *of)
{
    stepper *o = of;
    dp_svi *run;
    dp_model *m = loop_models[LOOP_NETWORK].make();
    dp_dataset *data = rows(o->first, o->end);
    o->status = dp_svi_new(m, NULL, data, &o->opts, &run, &o->err);
    if (o->status == DP_OK)
        o->status = dp_svi_run(run, NULL, &o->err);
    if (o->status == DP_OK)
        o->status = dp_svi_get(run, "b", 3, o->b, &o->err);
    if (o->status == DP_OK)
        o->status = dp_svi_privacy(run, &o->privacy, &o->err);
    dp_svi_free(run);
    dp_dataset_free(data);
    dp_model_free(m);
    return NULL;
}

/* What `n` owners open in their steps, whose shares of noise are of seeds from `seed` on; how many
 * numbers that is in the first one. */
static size_t open_step(table *t, size_t n, const size_t *ends, uint64_t seed,
                        const dp_svi_opts *more)
{
    pthread_t thread[MOST];
    stepper owner[MOST];
    const dp_owners together = {
        .size = n, .honest = n, .seed = 5, .most_records = N, .context = t, .open = table_open};
    table_begin(t, n);
    for (size_t k = 0; k < n; k++) {
        owner[k] = (stepper){.opts = *more, .first = k > 0 ? ends[k - 1] : 0, .end = ends[k]};
        owner[k].opts.owners = &together;
        owner[k].opts.seed = seed + k;
        assert_int_equal(pthread_create(&thread[k], NULL, step_one, &owner[k]), 0);
    }
    for (size_t k = 0; k < n; k++)
        assert_int_equal(pthread_join(thread[k], NULL), 0);
    for (size_t k = 0; k < n; k++) {
        assert_ok(owner[k].status, owner[k].err.text);
        assert_memory_equal(owner[k].b, owner[0].b, sizeof owner[0].b);
        assert_memory_equal(&owner[k].privacy, &owner[0].privacy, sizeof owner[0].privacy);
    }
    assert_false(t->differ);
    table_end(t);
    return t->n[0];
}

static const dp_svi_opts noisy = {
    .sigma = 2, .delta = 1e-5, .clip = 1, .steps = 1, .sampling = DP_SAMPLING_FULL};

/* The noise of a step, from two openings of the same records; squared, in units of what is
 * accounted for. */
static double mean_square(size_t n, const size_t *ends, uint64_t from, int pairs)
{
    double sum = 0, unit = 0x1p32 * sqrt((double)n); /* all are honest */
    size_t count = 0;
    for (int k = 0; k < pairs; k++) {
        size_t size = open_step(&tables[0], n, ends, from + 20 * (uint64_t)k, &noisy);
        (void)open_step(&tables[1], n, ends, from + 20 * (uint64_t)k + 10, &noisy);
        for (size_t e = 0; e < size; e++) {
            double by = (double)(int64_t)(tables[0].opened[0][e] - tables[1].opened[0][e]) / unit;
            sum += by * by / 2;
            count++;
        }
    }
    return sum / (double)count;
}

/* 9 numbers of 400 pairs; the limit is passed once in 10^9 by chance. */
static void the_noise_of_a_step_is_what_is_accounted_for(void **state)
{
    (void)state;
    const int pairs = 400;
    double sd = sqrt(2.0 / (9 * pairs));
    loop_draw(&records);
    assert_int_equal(open_step(&tables[0], 3, three, 1, &noisy), 9);
    double square = mean_square(3, three, 1000, pairs);
    assert_true(fabs(square - 1) < 6.2 * sd);
    assert_true(2.0 / 3 < 1 - 6.2 * sd); /* what a forgotten share would leave */
}

/* With the same noise the opened sums are the same. */
static void sums_are_those_of_one_process(void **state)
{
    (void)state;
    static const size_t some[] = {1, 500, N};
    (void)open_step(&tables[0], 3, three, 77, &noisy);
    (void)open_step(&tables[1], 3, some, 77, &noisy);
    assert_memory_equal(tables[0].opened[0], tables[1].opened[0], 9 * sizeof(uint64_t));
}

/* The step of the grid is 2^-32 of one share, which is 1 / sqrt(3) of what is accounted for: the
 * same sum is sqrt(3) times as many steps, but for noise of a hundredth of it. */
static void shares_are_as_small_as_their_number_allows(void **state)
{
    (void)state;
    size_t n = open_step(&tables[0], 3, three, 1, &noisy), most = 0;
    (void)open_step(&tables[1], 1, one, 1, &noisy);
    for (size_t e = 0; e < n; e++)
        if (fabs((double)(int64_t)tables[1].opened[0][e]) >
            fabs((double)(int64_t)tables[1].opened[0][most]))
            most = e;
    double alone = (double)(int64_t)tables[1].opened[0][most];
    assert_true(fabs(alone) > 0x1p32 * 100);
    assert_float_equal((double)(int64_t)tables[0].opened[0][most] / alone, sqrt(3), 0.05);
}

static void batches_are_drawn_by_each_for_itself(void **state)
{
    (void)state;
    dp_svi_opts o = noisy;
    o.sampling = DP_SAMPLING_POISSON;
    o.rate = 0.1;
    o.steps = 30;
    (void)open_step(&tables[0], 3, three, 1, &o);
    assert_int_equal(tables[0].times, 30);
}

/* ---- without noise ---- */

typedef struct adder {
    uint64_t sum[64];
} adder;

static dp_status add_up(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                        uint64_t *values, dp_error *err)
{
    adder *a = context;
    (void)question;
    (void)err;
    for (size_t e = 0; e < n; e++)
        values[e] = a->sum[e] += values[e];
    return DP_OK;
}

/* x is given by an owner each. */
static double sum_of(size_t n, const double *x)
{
    static const unsigned char question[DP_OWNERS_QUESTION];
    adder a = {{0}};
    const dp_owners all = {.size = n, .honest = n, .context = &a, .open = add_up};
    int64_t whole[3];
    double out = NAN;
    dp_error err = {0};
    for (size_t k = 0; k < n; k++) {
        const dpi_release r = {.n = 1, .out = &out, .whole = whole};
        out = x[k];
        assert_ok(dpi_together_open(&all, NULL, question, &r, DP_OK, &err), err.text);
    }
    return out;
}

static void numbers_without_a_bound_are_added_exactly(void **state)
{
    (void)state;
    static const double x[] = {1e20, 1, -1e20, 0x1p-60, -3.5e-7},
                        y[] = {0x1p-60, -1e20, 1, 1e20, -3.5e-7};
    assert_true(sum_of(5, x) == sum_of(5, y));
    assert_float_equal(sum_of(5, x), 1 + 0x1p-60 - 3.5e-7, 1e-15);
    assert_true(sum_of(1, &(double){-0.1}) == -0.1);
    assert_true(sum_of(1, &(double){1e-9}) == 1e-9);
    assert_true(sum_of(1, &(double){INFINITY}) > 1e25 && sum_of(1, &(double){-1e300}) < -1e25);
    assert_true(isfinite(sum_of(1, &(double){NAN})));
    double most[64];
    for (size_t k = 0; k < 64; k++)
        most[k] = -0x1p83;
    assert_true(sum_of(64, most) == -0x1p89);
}

/* ---- refusals ---- */

static dp_status fails(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                       uint64_t *values, dp_error *err)
{
    (void)context, (void)question, (void)n, (void)values;
    (void)snprintf(err->text, sizeof err->text, "south is not heard");
    return err->status = DP_ETIMEOUT;
}

static dp_status keeps(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                       uint64_t *values, dp_error *err)
{
    *(uint64_t *)context = values[0];
    return fails(NULL, question, n, values, err);
}

static uint64_t number_of_owner(uint64_t seed)
{
    uint64_t number = 0;
    const dp_owners three_of = {
        .size = 3, .honest = 3, .seed = 5, .most_records = N, .context = &number, .open = keeps};
    sharer o = {.model = LOOP_NETWORK, .end = N};
    o.opts = (dp_fit_opts){.epsilon = 4, .delta = 1e-5, .seed = seed, .owners = &three_of};
    (void)fit_one(&o);
    assert_fails(o.status, DP_ETIMEOUT, &o.err, "south");
    return number;
}

static void seeded_fits_have_shares_of_the_owners_own_seed(void **state)
{
    (void)state;
    assert_true(number_of_owner(11) != number_of_owner(12));
}

static dp_status alone(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                       uint64_t *values, dp_error *err)
{
    (void)context, (void)question, (void)n, (void)values, (void)err;
    return DP_OK;
}

static void the_noise_of_a_loss_is_that_of_all_shares(void **state)
{
    (void)state;
    const dp_owners four = {.size = 4, .honest = 1, .seed = 7, .most_records = N, .open = alone};
    dp_svi *run;
    dp_loss loss;
    dp_error err = {0};
    dp_svi_opts o = noisy;
    dp_model *m = loop_models[LOOP_NETWORK].make();
    dp_dataset *data = rows(0, N);
    o.owners = &four, o.loss_every = 1, o.loss_clip = 3, o.loss_sigma = 5;
    assert_ok(dp_svi_new(m, NULL, data, &o, &run, &err), err.text);
    assert_ok(dp_svi_step(run, &err), err.text);
    assert_ok(dp_svi_loss(run, &loss, &err), err.text);
    assert_float_equal(loss.noise, 2 * 3 * 5, 1e-9);
    dp_svi_free(run);
    dp_dataset_free(data);
    dp_model_free(m);
}

static const dp_owners deaf = {.size = 3, .honest = 2, .seed = 7, .most_records = N, .open = fails};

static void refused(const dp_svi_opts *opts, dp_status status, const char *why)
{
    stepper o = {.opts = *opts, .first = 0, .end = N};
    (void)step_one(&o);
    assert_fails(o.status, status, &o.err, why);
}

static int no_sum(void *context, size_t n, int64_t *values)
{
    (void)context, (void)n, (void)values;
    return 0;
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    const dp_group group = {.rank = 0, .size = 1, .sum = no_sum};
    dp_owners few = deaf, many = deaf;
    dp_svi_opts o = noisy;
    o.owners = &deaf;
    refused(&o, DP_ETIMEOUT, "south");
    o.group = &group;
    refused(&o, DP_EINVAL, "rank");
    o = noisy, o.owners = &deaf, o.sampling = DP_SAMPLING_FIXED, o.batch = 10;
    refused(&o, DP_EMISMATCH, "owners");
    o = noisy, o.owners = &deaf, o.form = DP_FORM_PARAMETERS;
    refused(&o, DP_EMISMATCH, "d3p");
    o = noisy, o.owners = &few, few.most_records = N - 1;
    refused(&o, DP_EDATA, "more records");
    o = noisy, o.owners = &many, many.size = many.honest = 64, many.most_records = 1 << 26;
    o.sigma = 0.4;
    refused(&o, DP_EUNSUPPORTED, "64 bits");
    o.sigma = 100;
    refused(&o, DP_ETIMEOUT, "south");
    o.clip_quantile = 0.5, o.clip_sigma = 1, o.public_units = N;
    refused(&o, DP_EUNSUPPORTED, "64 bits");
    o = noisy, o.owners = &few, few.honest = 0;
    refused(&o, DP_EINVAL, "shares");
}

static void a_number_that_words_do_not_hold_is_refused_before_it_is_opened(void **state)
{
    (void)state;
    dp_owners many = deaf;
    dp_fit_opts opts = {.epsilon = 8, .delta = 1e-5, .owners = &many};
    dp_opening list[DP_OPENINGS];
    dp_error err[2] = {{0}};
    size_t n;
    dp_model *m = loop_models[LOOP_NETWORK].make();
    many.size = many.honest = 64, many.most_records = 1 << 26;
    assert_fails(dp_fit_openings(m, &opts, &n, list, err), DP_EUNSUPPORTED, err, "64 bits");
    many.most_records = 1 << 20;
    assert_ok(dp_fit_openings(m, &opts, &n, list, &err[1]), err[1].text);
    dp_model_free(m);
}

static void a_sum_that_may_have_left_is_not_made_again(void **state)
{
    (void)state;
    dp_svi *run;
    dp_svi_opts o = noisy;
    dp_error err = {0};
    o.owners = &deaf;
    dp_model *m = loop_models[LOOP_NETWORK].make();
    dp_dataset *data = rows(0, N);
    assert_ok(dp_svi_new(m, NULL, data, &o, &run, &err), err.text);
    assert_fails(dp_svi_step(run, &err), DP_ETIMEOUT, &err, "south");
    err = (dp_error){0};
    assert_fails(dp_svi_step(run, &err), DP_ESTATE, &err, "may have left");
    err = (dp_error){0};
    assert_fails(dp_svi_save(run, folder_path("saved"), &err), DP_EUNSUPPORTED, &err, "owners");
    dp_svi_free(run);
    dp_dataset_free(data);
    dp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_noise_of_a_step_is_what_is_accounted_for),
        cmocka_unit_test(sums_are_those_of_one_process),
        cmocka_unit_test(shares_are_as_small_as_their_number_allows),
        cmocka_unit_test(batches_are_drawn_by_each_for_itself),
        cmocka_unit_test_setup_teardown(all_have_the_same_fit_and_open_what_is_told, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(without_noise_it_is_as_one_process_has_it, folder_make,
                                        folder_remove),
        cmocka_unit_test(numbers_without_a_bound_are_added_exactly),
        cmocka_unit_test(seeded_fits_have_shares_of_the_owners_own_seed),
        cmocka_unit_test(the_noise_of_a_loss_is_that_of_all_shares),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_number_that_words_do_not_hold_is_refused_before_it_is_opened),
        cmocka_unit_test_setup_teardown(a_sum_that_may_have_left_is_not_made_again, folder_make,
                                        folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
