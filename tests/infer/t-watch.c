/* Who looks on at a fit: what is told, when, and that a fit that is stopped ends, with what it has
 * spent in the ledger. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <string.h>

#include <tacit/infer.h>

#include "tests/infer/loop-models.h"
#include "tests/infer/readers.h"
#include "tests/infer/releases.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

typedef struct scene {
    dp_model *model;
    reader_records records;
    dp_dataset *data;
    dp_fit_opts opts;
} scene;

typedef struct onlooker {
    uint64_t stop_at; /* releases; UINT64_MAX: never */
    bool stop_drawing;
    size_t calls, drawing;
    dp_fit_progress last;
    bool in_order;
} onlooker;

static int look(void *user, const dp_fit_progress *at)
{
    onlooker *o = user;
    const dp_fit_progress *was = &o->last;
    bool drawing = strcmp(at->phase, "drawing") == 0;
    if (o->calls > 0 && (at->fraction < was->fraction || at->made < was->made ||
                         at->made > was->made + 1 || at->epsilon < was->epsilon))
        o->in_order = false;
    if (at->fraction > 1 || at->made > at->planned || at->kept)
        o->in_order = false;
    o->calls++;
    o->drawing += drawing;
    o->last = *at;
    return at->made >= o->stop_at || (drawing && o->stop_drawing);
}

static onlooker looking(uint64_t stop_at)
{
    return (onlooker){.stop_at = stop_at, .in_order = true};
}

static void set_up(scene *s, const char *model, size_t n)
{
    s->model = reader_named(model)->make();
    reader_draw(&s->records, 3);
    s->data = reader_data(&s->records, n);
    s->opts = (dp_fit_opts){.epsilon = 1,
                            .delta = 1e-6,
                            .draws = 100,
                            .rounds = 2,
                            .seed = 5,
                            .hopeless_allowed = true,
                            .watch = look};
    releases_forget();
}

static void tear_down(scene *s)
{
    dp_dataset_free(s->data);
    dp_model_free(s->model);
}

static dp_privacy privacy_of(const dp_fit *made)
{
    dp_privacy p;
    dp_fit_privacy(made, &p);
    return p;
}

/* Fits, and frees the fit; *epsilon [out] where there is one. */
static dp_status fit(scene *s, onlooker *o, double *epsilon, dp_error *err)
{
    dp_fit *made;
    s->opts.watch_user = o;
    dp_status status = dp_fit_private(s->model, s->data, &s->opts, &made, err);
    assert_true((status == DP_OK) == (made != NULL));
    if (made != NULL)
        *epsilon = privacy_of(made).epsilon;
    dp_fit_free(made);
    assert_true(o->in_order);
    return status;
}

static void each_release_is_told_of_with_what_it_cost(void **state)
{
    static scene s;
    dp_error err = {0};
    double epsilon;
    onlooker o = looking(UINT64_MAX);
    (void)state;
    set_up(&s, "normal", 200);
    assert_ok(fit(&s, &o, &epsilon, &err), err.text);
    assert_int_equal(o.last.made, o.last.planned);
    assert_int_equal(o.last.made, releases_count());
    assert_true(o.calls >= o.last.made + 1);
    assert_close(o.last.epsilon, epsilon, 1e-9, 0);
    assert_string_equal(o.drawing > 0 ? "curvature" : o.last.phase, "curvature");
    tear_down(&s);
}

static void looking_on_changes_no_number(void **state)
{
    static scene s;
    dp_error err = {0};
    dp_fit *fits[2];
    dp_summary w[2][READER_X];
    onlooker o = looking(UINT64_MAX);
    (void)state;
    set_up(&s, "normal", 200);
    for (int k = 0; k < 2; k++) {
        s.opts.watch = k == 0 ? look : NULL;
        s.opts.watch_user = &o;
        assert_ok(dp_fit_private(s.model, s.data, &s.opts, &fits[k], &err), err.text);
        assert_ok(dp_fit_summary(fits[k], "w", READER_X, w[k], &err), err.text);
        dp_fit_free(fits[k]);
    }
    assert_memory_equal(w[0], w[1], sizeof w[0]);
    tear_down(&s);
}

static void it_stops_after_any_release(void **state)
{
    static scene s;
    dp_error err = {0};
    double epsilon;
    (void)state;
    set_up(&s, "normal", 50);
    uint64_t planned = 1;
    for (uint64_t k = 0; k <= planned; k++) {
        onlooker o = looking(k);
        releases_forget();
        assert_fails(fit(&s, &o, &epsilon, &err), DP_ESTOPPED, &err, "stopped");
        assert_int_equal(o.last.made, k);
        assert_int_equal(releases_count(), k);
        planned = o.last.planned;
    }
    assert_true(planned > 10);
    tear_down(&s);
}

/* More draws than can be made between two calls. */
static void it_stops_while_draws_are_made(void **state)
{
    static scene s;
    dp_error err = {0};
    double epsilon;
    (void)state;
    set_up(&s, "normal", 50);
    s.opts.draws = 1000000;
    for (size_t threads = 1; threads <= 2; threads++) {
        onlooker o = looking(UINT64_MAX);
        o.stop_drawing = true;
        s.opts.threads = threads;
        assert_fails(fit(&s, &o, &epsilon, &err), DP_ESTOPPED, &err, "stopped");
        assert_int_equal(o.drawing, 1);
        assert_true(o.last.fraction < 0.9);
    }
    tear_down(&s);
}

static void what_is_stopped_has_been_paid_for(void **state)
{
    static scene s;
    dp_error err = {0};
    const dp_budget budget = {.epsilon = 3, .delta = 1e-6, .adjacency = DP_ADD_REMOVE};
    dp_interval spent;
    double epsilon;
    (void)state;
    set_up(&s, "normal", 50);
    dp_ledger *ledger = folder_ledger(1);
    const dp_ledger_source source = {.records = s.data};
    assert_ok(dp_ledger_add_data(ledger, "records", &source, &budget, &err), err.text);
    s.opts.seed = 0;
    s.opts.ledger = ledger;
    s.opts.ledger_data = "records";
    onlooker before = looking(0), after = looking(1);
    assert_fails(fit(&s, &before, &epsilon, &err), DP_ESTOPPED, &err, "stopped");
    assert_ok(dp_ledger_spent(ledger, "records", &spent, &err), err.text);
    assert_true(spent.upper == 0);
    assert_fails(fit(&s, &after, &epsilon, &err), DP_ESTOPPED, &err, "stopped");
    assert_ok(dp_ledger_spent(ledger, "records", &spent, &err), err.text);
    assert_close(spent.upper, 1, 1e-3, 0);
    dp_ledger_close(ledger);
    tear_down(&s);
}

static void a_fit_by_the_loop_tells_and_stops(void **state)
{
    static scene s;
    static loop_records r;
    dp_error err = {0};
    dp_fit *made;
    (void)state;
    loop_draw(&r);
    dp_dataset *data = loop_data(&r, 100);
    dp_model *model = loop_models[0].make();
    static const uint64_t ends[] = {0, 1, 20, 60};
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        onlooker o = looking(ends[k]);
        s.opts =
            (dp_fit_opts){.epsilon = 1, .delta = 1e-6, .seed = 5, .watch = look, .watch_user = &o};
        assert_fails(dp_fit_private(model, data, &s.opts, &made, &err), DP_ESTOPPED, &err, "stop");
        assert_true(o.in_order && o.last.made == ends[k] && o.last.planned == 1 + 32 + 512);
    }
    dp_model_free(model);
    dp_dataset_free(data);
}

static void without_privacy_it_stops_as_well(void **state)
{
    static scene s;
    dp_error err = {0};
    double epsilon;
    (void)state;
    set_up(&s, "normal", 50);
    s.opts.mode = DP_NO_PRIVACY;
    s.opts.epsilon = s.opts.delta = 0;
    s.opts.draws = 100000;
    s.opts.method = DP_METHOD_EXACT;
    onlooker o = looking(0);
    assert_fails(fit(&s, &o, &epsilon, &err), DP_ESTOPPED, &err, "stopped");
    assert_true(isinf(o.last.epsilon) && o.last.planned == 0);
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_release_is_told_of_with_what_it_cost),
        cmocka_unit_test(looking_on_changes_no_number),
        cmocka_unit_test(it_stops_after_any_release),
        cmocka_unit_test(it_stops_while_draws_are_made),
        cmocka_unit_test(what_is_stopped_has_been_paid_for),
        cmocka_unit_test(a_fit_by_the_loop_tells_and_stops),
        cmocka_unit_test(without_privacy_it_stops_as_well),
    };
    int failed = cmocka_run_group_tests_name("watch", tests, folder_make, folder_remove);
    releases_forget();
    return failed;
}
