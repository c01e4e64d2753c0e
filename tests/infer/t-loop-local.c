/* Fits of owners who take steps by themselves: all have the same, what is opened is what was told,
 * and the fit says how it was made. */
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

enum { OWNERS = 3, N = LOOP_N, D = LOOP_D, FILE_ROOM = 1 << 16 };

static loop_records records;
static table at;

static dp_model *regression(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", D, dp_normal(0, 5));
    dp_expr level = dp_sample(m, "level", 1, dp_normal(0, 5));
    dp_expr sd = dp_sample(m, "sd", 1, dp_half_normal(1));
    dp_observe(rows, "y", dp_normal_v(dp_add(level, dp_dot(dp_data(rows, "x", D), w)), sd));
    return m;
}

/* ---- fits ---- */

typedef struct one_owner {
    dp_model *(*make)(void);
    size_t first, end;
    dp_fit_opts opts;
    dp_fit *fit;
    dp_status status;
    dp_error err;
} one_owner;

static void *fit_one(void *of)
{
    one_owner *o = of;
    dp_model *m = o->make();
    dp_dataset *data = dp_dataset_new(o->end - o->first);
    dp_dataset_real(data, "x", D, records.x + o->first * D);
    dp_dataset_real(data, "y", 1, records.y + o->first);
    dp_dataset_index(data, "kind", records.kind + o->first);
    o->status = dp_fit_private(m, data, &o->opts, &o->fit, &o->err);
    dp_dataset_free(data);
    dp_model_free(m);
    return NULL;
}

static size_t bytes_of(const dp_fit *fit, unsigned char bytes[FILE_ROOM])
{
    dp_error err = {0};
    const char *path = folder_path("fit");
    assert_ok(dp_fit_save(fit, path, &err), err.text);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, FILE_ROOM, file);
    assert_true(n > 0 && n < FILE_ROOM);
    assert_int_equal(fclose(file), 0);
    return n;
}

static dp_owners owners_of(uint64_t local_steps)
{
    return (dp_owners){.size = OWNERS,
                       .honest = OWNERS,
                       .seed = 5,
                       .most_records = N,
                       .local_steps = local_steps,
                       .context = &at,
                       .open = table_open};
}

static void start_all(dp_model *(*make)(void), const dp_owners *together, one_owner owner[OWNERS])
{
    static const size_t ends[OWNERS] = {200, 613, N};
    pthread_t thread[OWNERS];
    table_begin(&at, OWNERS);
    for (size_t k = 0; k < OWNERS; k++) {
        owner[k] = (one_owner){.make = make, .first = k > 0 ? ends[k - 1] : 0, .end = ends[k]};
        owner[k].opts = (dp_fit_opts){.mode = DP_NO_PRIVACY, .owners = together};
        assert_int_equal(pthread_create(&thread[k], NULL, fit_one, &owner[k]), 0);
    }
    for (size_t k = 0; k < OWNERS; k++)
        assert_int_equal(pthread_join(thread[k], NULL), 0);
    assert_false(at.differ);
    table_end(&at);
}

/* The fit of all, the caller's. */
static dp_fit *fit_together(dp_model *(*make)(void), uint64_t local_steps)
{
    static unsigned char first[FILE_ROOM], other[FILE_ROOM];
    const dp_owners together = owners_of(local_steps);
    one_owner owner[OWNERS];
    size_t n = 0;
    start_all(make, &together, owner);
    for (size_t k = 0; k < OWNERS; k++) {
        assert_ok(owner[k].status, owner[k].err.text);
        if (k == 0) {
            n = bytes_of(owner[k].fit, first);
            continue;
        }
        assert_int_equal(bytes_of(owner[k].fit, other), n);
        assert_memory_equal(first, other, n);
        dp_fit_free(owner[k].fit);
    }
    return owner[0].fit;
}

/* The check of a name; NULL. */
static const dp_diagnostic *check_of(const dp_fit *fit, const char *name)
{
    size_t n;
    const dp_diagnostic *all = dp_fit_diagnostics(fit, &n);
    for (size_t k = 0; k < n; k++)
        if (strcmp(all[k].name, name) == 0)
            return &all[k];
    return NULL;
}

static void told_is_what_was_opened(dp_model *(*make)(void), uint64_t local_steps)
{
    const dp_owners together = owners_of(local_steps);
    const dp_fit_opts opts = {.mode = DP_NO_PRIVACY, .owners = &together};
    dp_opening list[DP_OPENINGS];
    dp_error err = {0};
    size_t n;
    dp_model *m = make();
    assert_ok(dp_fit_openings(m, &opts, &n, list, &err), err.text);
    dp_model_free(m);
    assert_int_equal(n, 2);
    assert_int_equal(list[0].times, 1);
    assert_int_equal(list[0].numbers, 3);
    assert_int_equal(list[1].times, (2048 + local_steps - 1) / local_steps);
    assert_int_equal(at.times, 1 + list[1].times);
    assert_int_equal(at.n[(at.times - 1) % TABLE_KEPT], list[1].numbers);
    assert_true(list[0].sigma == 0 && list[1].sigma == 0);
}

static void all_have_the_same_fit_and_open_what_is_told(void **state)
{
    static const uint64_t steps[] = {5, 64, 256};
    static const size_t models[] = {LOOP_NETWORK, LOOP_MIXTURE, LOOP_COLUMNS};
    (void)state;
    for (int k = 0; k < 3; k++) {
        dp_fit *fit = fit_together(loop_models[models[k]].make, steps[k]);
        told_is_what_was_opened(loop_models[models[k]].make, steps[k]);
        const dp_diagnostic *d = check_of(fit, "owners");
        assert_non_null(d);
        assert_true(d->bad && d->value == (double)steps[k]);
        d = check_of(fit, "method");
        assert_non_null(d);
        assert_contains(d->words, loop_models[models[k]].why);
        dp_fit_free(fit);
    }
}

/* Records are in no order, so that owners' are alike; 1/sqrt(n) of a coefficient is .02. */
static void what_rounds_would_fit_is_fitted_by_steps(void **state)
{
    (void)state;
    for (uint64_t steps = 1; steps <= 16; steps *= 16) {
        dp_summary w[D];
        dp_error err = {0};
        dp_fit *fit = fit_together(regression, steps);
        told_is_what_was_opened(regression, steps);
        assert_ok(dp_fit_summary(fit, "w", D, w, &err), err.text);
        assert_float_equal(w[0].mean, 1, 0.06);
        assert_float_equal(w[1].mean, -0.5, 0.06);
        assert_int_equal(check_of(fit, "owners") == NULL, steps == 1);
        const dp_diagnostic *d = check_of(fit, "method");
        assert_non_null(d);
        assert_contains(d->words, "owners take steps by themselves");
        d = check_of(fit, "convergence");
        assert_non_null(d);
        assert_false(d->bad);
        dp_fit_free(fit);
    }
}

/* ---- what is refused ---- */

static void refused(dp_model *(*make)(void), const dp_fit_opts *opts, dp_status status,
                    const char *why)
{
    dp_opening list[DP_OPENINGS];
    dp_error err = {0};
    size_t n;
    dp_model *m = make();
    one_owner o = {.make = make, .end = N, .opts = *opts};
    assert_fails(dp_fit_openings(m, opts, &n, list, &err), status, &err, why);
    (void)fit_one(&o);
    assert_fails(o.status, status, &o.err, why);
    dp_model_free(m);
}

static void latents_of_records_and_privacy_are_refused(void **state)
{
    (void)state;
    dp_owners two = owners_of(2);
    dp_fit_opts opts = {.mode = DP_NO_PRIVACY, .owners = &two};
    table_begin(&at, 1);
    refused(loop_models[LOOP_CODES].make, &opts, DP_EUNSUPPORTED, "no mean over owners");
    two.local_steps = DP_OWNERS_LOCAL_STEPS + 1;
    refused(loop_models[LOOP_NETWORK].make, &opts, DP_EDOMAIN, "1 to 256");
    two.local_steps = 1;
    opts = (dp_fit_opts){.epsilon = 4, .delta = 1e-5, .owners = &two};
    refused(loop_models[LOOP_NETWORK].make, &opts, DP_EPRIVACY, "no bound on what a record");
    refused(regression, &opts, DP_EPRIVACY, "no bound on what a record");
    assert_int_equal(at.times, 0);
    table_end(&at);
}

static int draw(void **state)
{
    (void)state;
    loop_draw(&records);
    return 0;
}

/* Else sums would be opened with shares of noise and accounted as if each had all of it. */
static void damping_is_of_local_steps(void **state)
{
    const dp_owners of_none = {
        .size = 8, .honest = 1, .seed = 4, .most_records = N, .damping = .125, .open = table_open};
    const dp_fit_opts opts = {.epsilon = 1, .delta = 1e-5, .owners = &of_none};
    (void)state;
    refused(regression, &opts, DP_EINVAL, "damping is of what local steps change");
    refused(loop_models[LOOP_NETWORK].make, &opts, DP_EINVAL, "damping is of what local steps");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_have_the_same_fit_and_open_what_is_told, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(what_rounds_would_fit_is_fitted_by_steps, folder_make,
                                        folder_remove),
        cmocka_unit_test(latents_of_records_and_privacy_are_refused),
        cmocka_unit_test(damping_is_of_local_steps),
    };
    return cmocka_run_group_tests(tests, draw, NULL);
}
