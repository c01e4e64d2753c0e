#include "tests/svi/bench.h"

#include <string.h>

#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

double x[N], y[N];
const dp_svi_opts plain = {
    .sigma = 50, .delta = 1e-6, .clip = 1, .steps = 100, .average = 0.5, .optimizer = DP_ADAM};

dp_svi_opts with_extras(dp_precision precision)
{
    dp_svi_opts o = plain;
    o.precision = precision;
    o.loss_every = 3, o.loss_clip = 4, o.loss_sigma = 60;
    o.clip_quantile = 0.6, o.clip_sigma = 50, o.public_units = N;
    return o;
}

dp_model *make_model(double scale)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", 1, dp_normal(0, scale));
    dp_observe(rows, "y", dp_normal_v(dp_mul(dp_data(rows, "x", 1), w), dp_num(1)));
    return m;
}

/* One data set, in all tests; "columns" in the ledger. */
static dp_dataset *make_data(void)
{
    dp_dataset *data = dp_dataset_new(N);
    for (int i = 0; i < N; i++)
        x[i] = y[i] = i % 5 - 2;
    dp_dataset_real(data, "x", 1, x);
    dp_dataset_real(data, "y", 1, y);
    return data;
}

bench set_up_for(const dp_svi_opts *opts, double epsilon, dp_adjacency adjacency)
{
    dp_error err = {0};
    bench b = {.model = make_model(1), .data = make_data(), .opts = *opts};
    b.ledger = folder_ledger(1); /* empties the folder, too */
    if (epsilon == 0) {
        dp_ledger_close(b.ledger);
        b.ledger = NULL;
        return b;
    }
    const dp_budget budget = {.epsilon = epsilon, .delta = 1e-6, .adjacency = adjacency};
    const dp_ledger_source source = {.records = b.data};
    assert_ok(dp_ledger_add_data(b.ledger, "columns", &source, &budget, &err), err.text);
    b.opts.ledger = b.ledger;
    b.opts.ledger_data = "columns";
    b.opts.ledger_label = "a test";
    return b;
}

bench set_up(const dp_svi_opts *opts, double epsilon)
{
    return set_up_for(opts, epsilon, DP_ADD_REMOVE);
}

void tear_down(bench *b)
{
    dp_ledger_close(b->ledger);
    dp_dataset_free(b->data);
    dp_model_free(b->model);
}

dp_svi *start(const bench *b)
{
    dp_error err = {0};
    dp_svi *svi;
    assert_ok(dp_svi_new(b->model, NULL, b->data, &b->opts, &svi, &err), err.text);
    return svi;
}

void walk(dp_svi *svi, int steps)
{
    dp_error err = {0};
    for (int i = 0; i < steps; i++)
        assert_ok(dp_svi_step(svi, &err), err.text);
}

void save(dp_svi *svi, const char *name)
{
    dp_error err = {0};
    assert_ok(dp_svi_save(svi, folder_path(name), &err), err.text);
}

dp_status try(const bench *b, const char *name, dp_svi **svi, dp_error *err)
{
    const dp_resume_opts with = {.ledger = b->ledger};
    return dp_svi_resume(folder_path(name), b->model, NULL, b->data, &with, svi, err);
}

dp_svi *go_on(const bench *b, const char *name)
{
    dp_error err = {0};
    dp_svi *svi;
    assert_ok(try(b, name, &svi, &err), err.text);
    return svi;
}

void entry_is(const bench *b, uint64_t reserved, uint64_t begun, bool settled)
{
    dp_error err = {0};
    const dp_ledger_statement *s;
    assert_ok(dp_ledger_read(b->ledger, &s, &err), err.text);
    assert_int_equal(s->n, 2);
    assert_true(s->data[1].n > 0);
    const dp_ledger_entry *e = &s->data[1].entries[s->data[1].n - 1];
    assert_int_equal(e->list[0].steps, reserved);
    assert_int_equal(e->begun[0], begun);
    assert_int_equal(e->settled > 0, settled);
    assert_string_equal(e->label, "a test");
    assert_string_equal(e->columns, "x, y");
    assert_int_equal(strlen(e->model), 64);
    dp_ledger_statement_free(s);
}
