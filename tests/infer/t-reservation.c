/* What a fit takes from a ledger: all of it before the first release, and back only where there was
 * none; whatever ends it, a signal or memory included. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tacit/infer.h>
#include <tacit/ledger.h>

#include "tests/graph/faulty.h"
#include "tests/infer/readers.h"
#include "tests/infer/releases.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

typedef struct scene {
    dp_model *model;
    reader_records records;
    dp_dataset *data;
    dp_ledger *ledger;
    dp_fit_opts opts;
} scene;

static const double delta = 1e-6;

/* Columns with a budget of so much epsilon in the ledger. */
static void set_up(scene *s, const char *model, size_t n, double epsilon)
{
    dp_error err = {0};
    const dp_budget budget = {.epsilon = epsilon, .delta = delta, .adjacency = DP_ADD_REMOVE};
    s->model = reader_named(model)->make();
    reader_draw(&s->records, 3);
    s->data = reader_data(&s->records, n);
    s->ledger = folder_ledger(1);
    const dp_ledger_source source = {.records = s->data};
    assert_ok(dp_ledger_add_data(s->ledger, "records", &source, &budget, &err), err.text);
    s->opts = (dp_fit_opts){.epsilon = 1,
                            .delta = delta,
                            .draws = 100,
                            .rounds = 1,
                            .hopeless_allowed = true,
                            .ledger = s->ledger,
                            .ledger_data = "records",
                            .ledger_label = "a test"};
    releases_forget();
}

static void tear_down(scene *s)
{
    dp_ledger_close(s->ledger);
    dp_dataset_free(s->data);
    dp_model_free(s->model);
}

/* Fits, and frees the fit. */
static dp_status fit(const scene *s, dp_error *err)
{
    dp_fit *made;
    dp_status status = dp_fit_private(s->model, s->data, &s->opts, &made, err);
    assert_true((status == DP_OK) == (made != NULL));
    dp_fit_free(made);
    return status;
}

/* What another process would find to be spent. */
static double spent_by_now(void)
{
    dp_error err = {0};
    dp_ledger *ledger;
    dp_interval epsilon;
    assert_ok(dp_ledger_open(folder_path("ledger"), &ledger, &err), err.text);
    assert_ok(dp_ledger_spent(ledger, "records", &epsilon, &err), err.text);
    dp_ledger_close(ledger);
    return epsilon.upper;
}

typedef struct entries {
    size_t n;
    bool settled;             /* the last one */
    uint64_t reserved, begun; /* its releases */
} entries;

static entries read_entries(void)
{
    dp_error err = {0};
    dp_ledger *ledger;
    const dp_ledger_statement *all;
    assert_ok(dp_ledger_open(folder_path("ledger"), &ledger, &err), err.text);
    assert_ok(dp_ledger_read(ledger, &all, &err), err.text);
    assert_int_equal(all->n, 2);
    const dp_ledger_data *mine = &all->data[1];
    entries found = {.n = mine->n};
    if (mine->n > 0) {
        const dp_ledger_entry *e = &mine->entries[mine->n - 1];
        found.settled = e->settled > 0;
        for (size_t k = 0; k < e->n; k++) {
            found.reserved += e->list[k].steps;
            found.begun += e->begun[k];
        }
        assert_string_equal(e->label, "a test");
    }
    dp_ledger_statement_free(all);
    dp_ledger_close(ledger);
    return found;
}

/* ---- when ---- */

typedef struct watch {
    double first, last; /* spent at the first release and at the last one */
    size_t releases;
} watch;

static void look(void *of, size_t k)
{
    watch *w = of;
    w->last = spent_by_now();
    w->first = k == 0 ? w->last : w->first;
    w->releases++;
}

static void a_fit_reserves_all_before_its_first_release(void **state)
{
    static scene s;
    dp_error err = {0};
    watch w = {0};
    (void)state;
    set_up(&s, "normal", 200, 3);
    releases_watch(look, &w);
    assert_ok(fit(&s, &err), err.text);
    double spent = spent_by_now();
    assert_close(spent, 1, 1e-3, 0);
    assert_true(w.releases > 10 && w.first == spent && w.last == spent);
    entries e = read_entries();
    assert_int_equal(e.n, 1);
    assert_true(e.settled && e.reserved == w.releases && e.begun == w.releases);
    /* And once more: two fits of epsilon 1 cost less than 2. */
    assert_ok(fit(&s, &err), err.text);
    assert_int_equal(read_entries().n, 2);
    spent = spent_by_now();
    assert_true(spent > 1.3 && spent < 2);
    tear_down(&s);
}

static void a_fit_beyond_the_budget_is_refused_and_sees_no_record(void **state)
{
    static scene s;
    dp_error err = {0};
    (void)state;
    set_up(&s, "normal", 200, 1.2);
    assert_ok(fit(&s, &err), err.text);
    double spent = spent_by_now();
    releases_forget();
    s.records.real[7] = NAN; /* which nobody looks at any more */
    assert_fails(fit(&s, &err), DP_EPRIVACY, &err, "epsilon 1 of 1.2");
    assert_int_equal(releases_count(), 0);
    assert_true(spent_by_now() == spent);
    assert_int_equal(read_entries().n, 1);
    tear_down(&s);
}

/* ---- back ---- */

static void data_that_do_not_fit_cost_nothing(void **state)
{
    static scene s;
    dp_error err = {0};
    (void)state;
    set_up(&s, "bernoulli", 200, 3);
    for (int again = 0; again < 2; again++) {
        double *value = again ? &s.records.binary[199] : &s.records.x[7], keep = *value;
        *value = again ? 0.5 : NAN;
        /* Without saying which record it is, or what it has; the ledger, which knows the columns'
         * bytes, sees that they are not the ones it was given. */
        s.opts.ledger = NULL;
        s.opts.ledger_data = s.opts.ledger_label = NULL;
        dp_status status = fit(&s, &err);
        assert_null(strstr(err.text, "199"));
        assert_null(strstr(err.text, "record 3"));
        assert_fails(status, DP_EDATA, &err, "dp_check_data");
        *value = keep;
        s.opts.ledger = s.ledger;
        s.opts.ledger_data = "records";
        s.opts.ledger_label = "a test";
    }
    assert_int_equal(releases_count(), 0);
    tear_down(&s);
}

/* The ledger knows these records, with the value that the model does not take. */
static void a_reservation_without_a_release_is_given_back(void **state)
{
    static scene s;
    dp_error err = {0};
    const dp_budget budget = {.epsilon = 3, .delta = delta, .adjacency = DP_ADD_REMOVE};
    (void)state;
    set_up(&s, "bernoulli", 200, 3);
    s.records.binary[7] = 0.5;
    dp_ledger_close(s.ledger);
    s.opts.ledger = s.ledger = folder_ledger(1);
    const dp_ledger_source source = {.records = s.data};
    assert_ok(dp_ledger_add_data(s.ledger, "records", &source, &budget, &err), err.text);
    assert_fails(fit(&s, &err), DP_EDATA, &err, "dp_check_data");
    entries e = read_entries();
    assert_int_equal(e.n, 1);
    assert_true(e.settled && e.reserved == 0 && e.begun == 0);
    assert_true(spent_by_now() == 0);
    assert_int_equal(releases_count(), 0);
    tear_down(&s);
}

/* Noise that nobody can repeat tells of more than there is in all whitenings of a fit with
 * probability 1e-4 at most: not in three fits. */
static void a_hopeless_fit_has_spent_all(void **state)
{
    static scene s;
    dp_error err = {0};
    dp_status status = DP_OK;
    size_t fits = 0;
    (void)state;
    set_up(&s, "normal", 10, 3);
    s.opts.hopeless_allowed = false;
    s.opts.epsilon = 0.2;
    for (; fits < 3 && status == DP_OK; fits++)
        status = fit(&s, &err);
    assert_fails(status, DP_EPRIVACY, &err, "records tell");
    assert_true(releases_count() > 0);
    entries e = read_entries();
    assert_int_equal(e.n, fits);
    assert_true(e.settled && e.reserved > releases_count() && e.begun == e.reserved);
    assert_true(spent_by_now() > 0.19);
    tear_down(&s);
}

/* ---- ends ---- */

static void die(void *of, size_t k)
{
    const size_t *when = of;
    if (k == *when)
        (void)raise(SIGKILL);
}

/* A life that ends before noise is added to a release, the first one or one between. */
static void what_a_killed_process_reserved_stays_spent(void **state)
{
    static const size_t moments[] = {0, 1, 9};
    static scene s;
    (void)state;
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        set_up(&s, "normal", 200, 3);
        dp_ledger_close(s.ledger);
        s.ledger = NULL;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            size_t when = moments[i];
            if (dp_ledger_open(folder_path("ledger"), &s.opts.ledger, NULL) != DP_OK)
                _exit(3);
            releases_watch(die, &when);
            _exit(fit(&s, NULL) == DP_OK ? 1 : 2);
        }
        int ended;
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_true(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL);
        entries e = read_entries();
        assert_int_equal(e.n, 1);
        assert_false(e.settled);
        assert_true(e.reserved > 10 && e.begun == e.reserved);
        assert_close(spent_by_now(), 1, 1e-3, 0);
        tear_down(&s);
    }
}

static void a_fit_without_entropy_ends_and_has_spent_all(void **state)
{
    static scene s;
    dp_error err = {0};
    (void)state;
    for (size_t k = 0; k < 12; k += 11) {
        set_up(&s, "normal", 200, 3);
        releases_fail(k);
        assert_fails(fit(&s, &err), DP_EENTROPY, &err, "entropy");
        assert_int_equal(releases_count(), k);
        entries e = read_entries();
        assert_true(e.n == 1 && e.reserved > k && e.begun == e.reserved);
        tear_down(&s);
    }
}

static void note(void *of, size_t k)
{
    bool *failed = of;
    if (k == 0)
        *failed = faulty_failed() != 0;
}

/* Each allocation fails in turn.  Of those before the first release the accountant can do without
 * some: what it certifies by one way it checks by another where there is memory. */
static void every_failing_allocation_is_survived(void **state)
{
    static const char *const models[] = {"bernoulli", "normal, slopes by group"};
    static scene s;
    dp_error err = {0};
    (void)state;
    for (size_t m = 0; m < 2; m++) {
        bool failed = true, before = false;
        size_t k = 0, spared = 0;
        set_up(&s, models[m], 20, 3);
        s.opts.ledger = NULL;
        s.opts.ledger_data = s.opts.ledger_label = NULL;
        s.opts.threads = 1 + m;
        size_t live = faulty_live();
        while (failed) {
            releases_forget();
            releases_watch(note, &before);
            /* What walks and matrices allocate in every round, with all latents: in steps of 29. */
            k += m == 0 || k < 100 ? 1 : 29;
            faulty_fail(k);
            dp_status status = fit(&s, &err);
            failed = faulty_failed() != 0;
            faulty_fail(0);
            spared += failed && status == DP_OK;
            if (failed && status != DP_ENOMEM && !(before && status == DP_OK))
                fail_msg("allocation %zu fails, and the fit has status %d", k, (int)status);
            assert_int_equal(faulty_live(), live);
            err = (dp_error){0};
        }
        assert_true(k > 200 && spared < 20);
        tear_down(&s);
    }
}

/* Some of them with a ledger.  Shortly before the first release nothing is given back any more. */
static void what_fails_after_a_release_has_spent_all(void **state)
{
    static scene s;
    dp_error err = {0};
    bool failed = true;
    size_t kept = 0, back = 0;
    (void)state;
    set_up(&s, "bernoulli", 20, 100);
    for (size_t k = 1; failed; k += 4) {
        size_t before = read_entries().n;
        releases_forget();
        faulty_fail(k);
        dp_status status = fit(&s, &err);
        failed = faulty_failed() != 0;
        faulty_fail(0);
        entries e = read_entries();
        if (releases_count() > 0) {
            assert_true(e.n == before + 1 && e.reserved == e.begun && e.reserved > 10);
            kept += status != DP_OK;
        } else {
            back += e.n > before && e.reserved == 0 && e.begun == 0;
        }
        err = (dp_error){0};
    }
    assert_true(kept > 20 && back > 1);
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fit_reserves_all_before_its_first_release),
        cmocka_unit_test(a_fit_beyond_the_budget_is_refused_and_sees_no_record),
        cmocka_unit_test(data_that_do_not_fit_cost_nothing),
        cmocka_unit_test(a_reservation_without_a_release_is_given_back),
        cmocka_unit_test(a_hopeless_fit_has_spent_all),
        cmocka_unit_test(what_a_killed_process_reserved_stays_spent),
        cmocka_unit_test(a_fit_without_entropy_ends_and_has_spent_all),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(what_fails_after_a_release_has_spent_all),
    };
    int failed = cmocka_run_group_tests_name("reservation", tests, folder_make, folder_remove);
    releases_forget();
    return failed;
}
