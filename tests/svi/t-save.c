/* Runs that are interrupted and go on: their state, their files, and what is refused. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "svi/cost.h"
#include "svi/svi.h"
#include "tests/graph/faulty.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"
#include "tests/svi/bench.h"

/* ---- state ---- */

static void resumed_state_is_that_saved(const dp_svi_opts *o)
{
    bench b = set_up(o, 0);
    dp_svi *first = start(&b);
    walk(first, 60);
    save(first, "run");
    dp_svi *second = go_on(&b, "run");
    const dpi_optimizer *p = &first->optimizer, *q = &second->optimizer;
    assert_true(p->done == 60 && q->done == 60 && p->n == q->n);
    dpi_state ours[DPI_OPTIMIZER_VECTORS], theirs[DPI_OPTIMIZER_VECTORS];
    size_t n_vectors = dpi_optimizer_vectors(p, ours);
    assert_int_equal(dpi_optimizer_vectors(q, theirs), n_vectors);
    for (size_t i = 0; i < n_vectors * p->n; i++)
        assert_true(dpi_state_get(&ours[i / p->n], i % p->n) ==
                    dpi_state_get(&theirs[i / p->n], i % p->n));
    assert_true(p->step_size == q->step_size && p->average_from == q->average_from);
    assert_memory_equal(&first->opts, &second->opts, sizeof first->opts);
    while (!dp_svi_done(second))
        walk(second, 1);
    dp_svi_free(first);
    dp_svi_free(second);
    tear_down(&b);
}

static void a_resumed_run_has_the_state_that_was_saved(void **state)
{
    (void)state;
    const dp_svi_opts kinds[] = {
        plain,
        {.mode = DP_NO_PRIVACY, .steps = 100, .optimizer = DP_MOMENTUM, .step_size = 1e-3},
        {.mode = DP_NO_PRIVACY, .steps = 100, .optimizer = DP_SGD, .step_size = 1e-3},
        {.mode = DP_NO_PRIVACY, .steps = 100, .optimizer = DP_ADAGRAD, .step_size = 1e-1},
        {.mode = DP_NO_PRIVACY, .steps = 100, .precision = DP_SINGLE},
        {.mode = DP_NO_PRIVACY, .steps = 100, .loss_every = 4},
        {.epsilon = 1,
         .delta = 1e-6,
         .clip = 1,
         .steps = 100,
         .sampling = DP_SAMPLING_TRUNCATED,
         .rate = .3,
         .cap = 12,
         .public_units = 100},
        {.mode = DP_WITHOUT_GUARANTEE,
         .sigma = 3,
         .clip = 2,
         .steps = 100,
         .form = DP_FORM_PARAMETERS},
        {.epsilon = 1,
         .delta = 1e-6,
         .clip = 1,
         .steps = 100,
         .sampling = DP_SAMPLING_FIXED,
         .batch = 7},
        {.epsilon = 1,
         .delta = 1e-6,
         .clip = 1,
         .steps = 100,
         .sampling = DP_SAMPLING_POISSON,
         .rate = .3},
        {.epsilon = 1,
         .delta = 1e-6,
         .clip = 1,
         .steps = 100,
         .sampling = DP_SAMPLING_ALLOCATION,
         .epoch = 30},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        resumed_state_is_that_saved(&kinds[k]);
}

static void loss_and_clip_norm_go_on(void **state)
{
    (void)state;
    for (int single = 0; single < 2; single++)
        for (int steps = 0; steps < 8; steps += 7) {
            dp_error err = {0};
            dp_loss before, after;
            dp_privacy privacy;
            double epsilon;
            const dp_svi_opts o = with_extras(single ? DP_SINGLE : DP_DOUBLE);
            bench b = set_up(&o, 5);
            dp_svi *first = start(&b);
            walk(first, steps);
            save(first, "run");
            dp_svi *second = go_on(&b, "run");
            dp_status told = dp_svi_loss(first, &before, NULL);
            assert_int_equal(dp_svi_loss(second, &after, NULL), told);
            assert_int_equal(told, steps == 0 ? DP_ESTATE : DP_OK);
            if (steps > 0) {
                assert_true(after.step == 6 && after.value == before.value);
                assert_true(after.noise == 60 * 4 && before.noise == after.noise);
                assert_true(second->opts.clip != o.clip);
                assert_true(second->extras.fraction_below == first->extras.fraction_below);
            }
            assert_true(second->opts.clip == first->opts.clip);
            dp_svi_free(first);
            assert_ok(dp_svi_run(second, NULL, &err), err.text);
            assert_ok(dp_svi_loss(second, &after, &err), err.text);
            assert_int_equal(after.step, 99);
            assert_ok(dp_svi_privacy(second, &privacy, &err), err.text);
            assert_ok(dpi_cost_epsilon(&second->opts, 100, &epsilon, &err), err.text);
            assert_true(privacy.epsilon == epsilon);
            entry_is(&b, 67, 67, true); /* steps without a loss; 33 with one */
            dp_svi_free(second);
            tear_down(&b);
        }
}

/* The noise of some steps, as far as it shows: releases of data whose gradients it drowns.  A
 * release keeps 64 parts of a standard deviation (doc/design/noise.md), so that two are equal with
 * a chance of 1 / (128 sqrt(pi)) = 0.0044, and all of these with one of 1.4e-19. */
enum { SOME = 8 };

static void next_releases(dp_svi *svi, double release[SOME])
{
    for (int i = 0; i < SOME; i++) {
        walk(svi, 1);
        release[i] = svi->release.out[0];
    }
}

static void no_noise_is_repeated(void **state)
{
    (void)state;
    dp_svi_opts o = plain;
    o.sigma = 1e5;
    for (int seeded = 0; seeded < 2; seeded++) {
        double seen[5][SOME];
        int n = 0;
        o.seed = seeded ? 7 : 0;
        bench b = set_up(&o, 0);
        dp_svi *first = start(&b);
        next_releases(first, seen[n++]);
        save(first, "run");
        next_releases(first, seen[n++]);
        dp_svi *second = go_on(&b, "run"), *third = go_on(&b, "run");
        next_releases(second, seen[n++]);
        next_releases(second, seen[n++]);
        next_releases(third, seen[n++]);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++)
                if (!seeded || i != 4 || j != 2) /* a seeded run is repeatable from a checkpoint */
                    assert_memory_not_equal(seen[i], seen[j], sizeof seen[i]);
        if (seeded)
            assert_memory_equal(seen[4], seen[2], sizeof seen[4]);
        dp_svi_free(first);
        dp_svi_free(second);
        dp_svi_free(third);
        tear_down(&b);
    }
}

/* The file has the parameters and what is public, and its size says so; not the number of
 * records. */
static void a_checkpoint_has_no_room_for_secrets(void **state)
{
    (void)state;
    bench b = set_up(&plain, 0);
    dp_svi *svi = start(&b);
    save(svi, "run");
    FILE *file = fopen(folder_path("run"), "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    assert_int_equal(ftell(file),
                     16 + 8 + 2 * 32 + 29 * 8 + 8 + 16 + 6 * 8 + 4 * (32 + 2 * 8) + 32);
    (void)fclose(file);
    dp_svi_free(svi);
    tear_down(&b);
}

static void epochs_are_not_cut(void **state)
{
    (void)state;
    dp_error err = {0};
    const dp_svi_opts o = {.epsilon = 1,
                           .delta = 1e-6,
                           .clip = 1,
                           .steps = 100,
                           .sampling = DP_SAMPLING_ALLOCATION,
                           .epoch = 10};
    bench b = set_up(&o, 2);
    dp_svi *svi = start(&b);
    walk(svi, 11);
    assert_fails(dp_svi_save(svi, folder_path("run"), &err), DP_ESTATE, &err, "save after step 20");
    walk(svi, 9);
    save(svi, "run");
    walk(svi, 1);
    entry_is(&b, 100, 30, false); /* leases are whole epochs */
    assert_ok(dp_svi_settle(svi, &err), err.text);
    entry_is(&b, 30, 30, true);
    dp_svi_free(svi);
    tear_down(&b);
}

/* ---- errors ---- */

/* y ~ N(w . (largest numbers of windows of `size` x `size`), 1), two stops a side. */
static dp_model *pooled(size_t size)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    const dp_window window = {
        .image = {4, 4}, .size = {size, size}, .stride = {4 - size, 4 - size}};
    dp_expr seen = dp_flatten(dp_max_pool2d(dp_data(rows, "image", 16), &window));
    dp_expr w = dp_sample(m, "w", 4, dp_normal(0, 1));
    dp_observe(rows, "y", dp_normal_v(dp_dot(w, seen), dp_num(1)));
    assert_null(dp_model_error(m));
    return m;
}

static void another_window_is_another_model(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_svi *svi;
    double images[N * 16];
    for (size_t i = 0; i < N * 16; i++)
        images[i] = (double)(i * i % 29) / 29;
    bench b = set_up(&plain, 0);
    dp_dataset_real(b.data, "image", 16, images);
    dp_model_free(b.model);
    b.model = pooled(2);
    svi = start(&b);
    walk(svi, 5);
    save(svi, "run");
    dp_svi_free(svi);
    dp_svi_free(go_on(&b, "run"));
    bench wrong = b;
    wrong.model = pooled(3);
    assert_fails(try(&wrong, "run", &svi, &err), DP_EMISMATCH, &err, "model");
    dp_model_free(wrong.model);
    tear_down(&b);
}

static void only_the_same_model_data_and_ledger_will_do(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_svi *svi;
    bench b = set_up(&plain, 2), wrong;
    dp_svi_free(svi = start(&b));
    svi = start(&b);
    save(svi, "run");
    dp_svi_free(svi);
    assert_fails(try(&b, "none", &svi, &err), DP_EIO, &err, "cannot open");
    assert_fails(try(&b, "data.csv", &svi, &err), DP_EDATA, &err, "no checkpoint");
    wrong = b;
    wrong.model = make_model(1 + 1e-15);
    assert_fails(try(&wrong, "run", &svi, &err), DP_EMISMATCH, &err, "model");
    const dp_resume_opts with = {.ledger = b.ledger};
    assert_int_equal(
        dp_svi_resume(folder_path("run"), b.model, wrong.model, b.data, &with, &svi, NULL),
        DP_EMISMATCH);
    dp_model_free(wrong.model);
    wrong = b;
    wrong.ledger = NULL;
    assert_fails(try(&wrong, "run", &svi, &err), DP_EPRIVACY, &err, "open that ledger");
    assert_ok(dp_ledger_create(folder_path("second"), &wrong.ledger, &err), err.text);
    assert_fails(try(&wrong, "run", &svi, &err), DP_EMISMATCH, &err, "another ledger");
    dp_ledger_close(wrong.ledger);
    x[0] = 77;
    assert_fails(try(&b, "run", &svi, &err), DP_EDATA, &err, "column 'x'");
    x[0] = -2;
    b.opts.ledger = NULL;
    b.opts.ledger_data = b.opts.ledger_label = NULL;
    svi = start(&b);
    save(svi, "free");
    dp_svi_free(svi);
    assert_fails(try(&b, "free", &svi, &err), DP_EPRIVACY, &err, "started without a ledger");
    tear_down(&b);
}

static int files_in_folder(void)
{
    int count = 0;
    DIR *list = opendir(folder_path("."));
    assert_non_null(list);
    while (readdir(list) != NULL)
        count++;
    (void)closedir(list);
    return count;
}

/* No file may grow beyond 100 bytes, as on a full disk: the old checkpoint stays, and nothing
 * beside it; no run starts that the ledger could not write down. */
static void a_full_disk_leaves_what_was_there(void **state)
{
    (void)state;
    dp_error err = {0};
    struct rlimit kept, small;
    bench b = set_up(&plain, 2);
    dp_svi *svi = start(&b), *other;
    walk(svi, 3);
    save(svi, "run");
    walk(svi, 3);
    int files = files_in_folder();
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &kept), 0);
    small = kept;
    small.rlim_cur = 100;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    dp_status saved = dp_svi_save(svi, folder_path("run"), &err);
    dp_status started = dp_svi_new(b.model, NULL, b.data, &b.opts, &other, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &kept), 0);
    assert_fails(saved, DP_EIO, &err, "room on the disk");
    assert_int_equal(started, DP_EIO);
    assert_null(other);
    assert_int_equal(files_in_folder(), files);
    assert_int_equal(dp_svi_save(svi, folder_path("none/run"), NULL), DP_EIO);
    dp_svi_free(svi);
    svi = go_on(&b, "run");
    assert_int_equal(svi->optimizer.done, 3);
    dp_svi_free(svi);
    tear_down(&b);
}

static void memory_may_run_out_while_saving_and_resuming(void **state)
{
    (void)state;
    bool failed;
    size_t k = 0;
    dp_svi_opts o = plain;
    o.sigma = 1000;
    bench b = set_up(&o, 2);
    dp_svi *svi = start(&b);
    walk(svi, 3);
    save(svi, "run");
    size_t live = faulty_live();
    do {
        dp_error err = {0};
        dp_svi *again = NULL;
        faulty_fail(++k);
        dp_status status = try(&b, "run", &again, &err);
        if (status == DP_OK)
            status = dp_svi_save(again, folder_path("run"), &err);
        failed = faulty_failed() != 0;
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        dp_svi_free(again);
        assert_int_equal(faulty_live(), live);
    } while (failed && k < 1000);
    assert_true(k > 20 && k < 1000);
    dp_svi_free(svi);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resumed_run_has_the_state_that_was_saved),
        cmocka_unit_test(loss_and_clip_norm_go_on),
        cmocka_unit_test(no_noise_is_repeated),
        cmocka_unit_test(a_checkpoint_has_no_room_for_secrets),
        cmocka_unit_test(epochs_are_not_cut),
        cmocka_unit_test(another_window_is_another_model),
        cmocka_unit_test(only_the_same_model_data_and_ledger_will_do),
        cmocka_unit_test(a_full_disk_leaves_what_was_there),
        cmocka_unit_test(memory_may_run_out_while_saving_and_resuming),
    };
    return cmocka_run_group_tests_name("save", tests, folder_make, folder_remove);
}
