/* Runs in strips: whatever the strips are, norms, factors, clipped sums and wanted values are the
 * same to the bit, in less memory. */
#include <math.h>
#include <string.h>

#include "exec/value.h"
#include "tests/exec/network.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { NETWORKS = 300 };

typedef struct result {
    double scratch[2 * RECORDS], sum[MOST_RELEASE];
} result;

static void compute(const network *n, dpi_choice choice, bool single, size_t strip, result *out)
{
    dpi_run *run = network_run(n, choice, single, strip);
    memset(out, 0, sizeof *out);
    dpi_run_clip_sum(run, RECORDS, 0.7, out->scratch, out->sum);
    dpi_run_free(run);
}

static void strips_change_no_bit(void **state)
{
    (void)state;
    static const size_t strips[] = {1, 300, 1000}; /* bytes: one record, two or three of most */
    static result whole, some;
    for (size_t i = 0; i < NETWORKS; i++) {
        network n;
        network_new(&n, i);
        for (int single = 0; single < 2; single++)
            for (size_t k = 0; k < 3; k++) {
                dpi_choice choice = i % 2 == 0 ? DPI_CHEAPEST : DPI_ALWAYS_MADE;
                compute(&n, choice, single, 0, &whole);
                compute(&n, choice, single, strips[k], &some);
                assert_true(isfinite(whole.scratch[0]) && whole.scratch[0] > 0);
                assert_memory_equal(&whole, &some, sizeof whole);
            }
        network_free(&n);
    }
}

/* ---- a chain that is known ---- */

enum { CHUNK = 1024, M = 1000, LENGTH = 12, BYTES = 4 * LENGTH * sizeof(double) /* of a record */ };

static const size_t whole_chunk = SIZE_MAX;

typedef struct chain {
    dpi_arena arena;
    dp_error err;
    dpi_graph g;
    dpi_id x, factor, inner, product, last, total;
} chain;

/* last = tanh(factor x) + x in one chain; total = sum over records of last, which is read by
 * others. */
static void chain_new(chain *c)
{
    memset(c, 0, sizeof *c);
    dpi_graph_init(&c->g, &c->arena, &c->err);
    dpi_shape vector = {.n_dims = 1, .dim = {LENGTH}};
    c->factor = dpi_source(&c->g, &dpi_op_input, "f", (dpi_attr){.shape = vector});
    vector.per_record = true;
    c->x = dpi_source(&c->g, &dpi_op_input, "x", (dpi_attr){.shape = vector});
    c->product = dpi_times(&c->g, c->factor, c->x);
    c->inner = dpi_unary(&c->g, &dpi_op_tanh, c->product);
    c->last = dpi_add(&c->g, c->inner, c->x);
    c->total = dpi_apply(&c->g, &dpi_op_sum_records, c->last, DPI_NONE, NULL);
    assert_ok(c->err.status, c->err.text);
}

static dp_status chain_run(const chain *c, size_t n_wanted, size_t strip, dpi_run **run)
{
    dp_error err = {0};
    const dpi_id wanted[] = {c->total, c->last};
    dpi_run_spec spec = {
        .graph = &c->g, .wanted = wanted, .n_wanted = n_wanted, .chunk = CHUNK, .strip = strip};
    dp_status status = dpi_run_new(&spec, run, &err);
    if (status != DP_OK)
        return status;
    for (size_t i = 0; i < CHUNK * LENGTH; i++)
        dpi_run_value(*run, c->x)[i] = 0.385 * (double)(i % 17) - 2.9 + 1e-3 * (double)i;
    for (size_t i = 0; i < LENGTH; i++)
        dpi_run_value(*run, c->factor)[i] = 0.7 - 0.13 * (double)i;
    dpi_run_globals(*run);
    dpi_run_start_records(*run);
    dpi_run_records(*run, M, NULL, 0);
    return DP_OK;
}

static dpi_run *chain_start(const chain *c, size_t n_wanted, size_t strip)
{
    dpi_run *run;
    assert_int_equal(chain_run(c, n_wanted, strip, &run), DP_OK);
    return run;
}

static void values_are_right_and_only_wanted_ones_are_kept(void **state)
{
    (void)state;
    chain c;
    chain_new(&c);
    const size_t strips[] = {whole_chunk, 0, 300 * BYTES, 1};
    double sum[LENGTH];
    for (size_t k = 0; k < 4; k++) {
        dpi_run *run = chain_start(&c, 2, strips[k]);
        const double *x = dpi_run_value(run, c.x), *f = dpi_run_value(run, c.factor);
        const double *last = dpi_run_value(run, c.last);
        memset(sum, 0, sizeof sum);
        for (size_t i = 0; i < M * LENGTH; i++) {
            assert_true(last[i] == tanh(f[i % LENGTH] * x[i]) + x[i]);
            sum[i % LENGTH] += last[i];
        }
        assert_memory_equal(dpi_run_value(run, c.total), sum, sizeof sum);
        assert_true((dpi_run_value(run, c.inner) == NULL) == (k > 0));
        assert_true((dpi_run_value(run, c.product) == NULL) == (k > 0));
        dpi_run_free(run);
    }
    dpi_arena_free(&c.arena);
}

/* Two values of the chain are kept for a strip of records instead of a chunk. */
static void strips_take_less_memory(void **state)
{
    (void)state;
    chain c;
    chain_new(&c);
    dpi_run *whole = chain_start(&c, 2, whole_chunk), *some = chain_start(&c, 2, 8 * BYTES);
    size_t saved = 2 * (CHUNK - 8) * LENGTH * sizeof(double);
    assert_true(dpi_run_memory(some) + saved / 2 < dpi_run_memory(whole));
    dpi_run_free(whole);
    dpi_run_free(some);
    dpi_arena_free(&c.arena);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    size_t before = faulty_live();
    for (size_t k = 1;; k++) {
        chain c;
        dpi_run *run;
        chain_new(&c);
        faulty_fail(k);
        dp_status status = chain_run(&c, 2, 1, &run);
        int failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_int_equal(run != NULL, !failed);
        dpi_run_free(run);
        dpi_arena_free(&c.arena);
        assert_int_equal(faulty_live(), before);
        if (!failed)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strips_change_no_bit),
        cmocka_unit_test(values_are_right_and_only_wanted_ones_are_kept),
        cmocka_unit_test(strips_take_less_memory),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
