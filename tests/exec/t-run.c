/* Runs of one model.  Per-record gradients, made one record at a time in plain loops, are the
 * reference. */
#include "exec/clip.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exec/value.h"
#include "tests/exec/setting.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

/* The gradient of record i, all crossings side by side. */
static void reference_gradient(const setting *s, size_t i, double *gradient)
{
    dpi_run *run = start(s, CROSSINGS, s->part, 0, 1);
    dpi_run_records(run, 1, NULL, i);
    for (size_t k = 0, at = 0; k < CROSSINGS; at += setting_sizes[k++])
        memcpy(gradient + at, dpi_run_value(run, s->part[k]), setting_sizes[k] * sizeof *gradient);
    dpi_run_free(run);
}

static void reference_clip_sum(const setting *s, size_t m, const size_t *list, double clip,
                               double *sum)
{
    memset(sum, 0, SIZE * sizeof *sum);
    for (size_t i = 0; i < m; i++) {
        double gradient[SIZE], norm2 = 0;
        reference_gradient(s, list[i], gradient);
        for (size_t e = 0; e < SIZE; e++)
            norm2 += gradient[e] * gradient[e];
        double norm = sqrt(norm2);
        for (size_t e = 0; isfinite(norm) && e < SIZE; e++)
            sum[e] += norm > clip ? gradient[e] * (clip / norm) : gradient[e];
    }
}

/* The same by the executor, in chunks; list may be NULL for 0 ... m - 1. */
static void clip_sum(const setting *s, size_t m, const size_t *list, double clip, size_t chunk,
                     double *sum)
{
    dpi_run *run = start(s, 0, NULL, CROSSINGS, chunk);
    double *scratch = calloc(2 * chunk, sizeof *scratch);
    memset(sum, 0, SIZE * sizeof *sum);
    for (size_t from = 0; from < m; from += chunk) {
        size_t now = m - from < chunk ? m - from : chunk;
        dpi_run_records(run, now, list != NULL ? list + from : NULL, from);
        dpi_run_clip_sum(run, now, clip, scratch, sum);
    }
    free(scratch);
    dpi_run_free(run);
}

static const size_t in_order[N] = {0, 1, 2, 3, 4, 5, 6};
static const size_t with_repeats[9] = {5, 2, 2, 0, 6, 2, 5, 1, 5};

static void clipped_sums_equal_the_naive_ones(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    const double clips[] = {1e-3, 0.385, 1.25, 3.5, 100, INFINITY};
    const size_t chunks[] = {1, 3, N, 64};
    for (size_t c = 0; c < sizeof clips / sizeof clips[0]; c++)
        for (size_t k = 0; k < 4; k++)
            for (int repeats = 0; repeats < 2; repeats++) {
                double sum[SIZE], expected[SIZE];
                size_t m = repeats ? 9 : N;
                reference_clip_sum(&s, m, repeats ? with_repeats : in_order, clips[c], expected);
                clip_sum(&s, m, repeats ? with_repeats : NULL, clips[c], chunks[k], sum);
                for (size_t e = 0; e < SIZE; e++)
                    assert_close(sum[e], expected[e], 1e-13, 1e-15);
            }
    tear_down(&s);
}

/* To the bit: a record's gradient may not show who else is in the chunk. */
static void a_gradient_is_the_same_in_every_chunk(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    for (size_t chunk = 1; chunk <= N; chunk++) {
        dpi_run *run = start(&s, CROSSINGS, s.part, 0, chunk);
        for (size_t from = 0; from < N; from += chunk) {
            size_t m = N - from < chunk ? N - from : chunk;
            dpi_run_records(run, m, NULL, from);
            for (size_t i = 0; i < m; i++) {
                double alone[SIZE];
                reference_gradient(&s, from + i, alone);
                for (size_t k = 0, at = 0; k < CROSSINGS; at += setting_sizes[k++])
                    assert_memory_equal(dpi_run_value(run, s.part[k]) + i * setting_sizes[k],
                                        alone + at, setting_sizes[k] * sizeof *alone);
            }
        }
        dpi_run_free(run);
    }
    tear_down(&s);
}

static void one_record_never_exceeds_the_bound(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    for (size_t i = 0; i < N; i++)
        for (double clip = 1e-9; clip < 1e4; clip *= 7.385) {
            double sum[SIZE], gradient[SIZE], norm2 = 0, free_norm2 = 0;
            clip_sum(&s, 1, &i, clip, 3, sum);
            reference_gradient(&s, i, gradient);
            for (size_t e = 0; e < SIZE; e++) {
                norm2 += sum[e] * sum[e];
                free_norm2 += gradient[e] * gradient[e];
            }
            assert_true(sqrt(norm2) <= clip * (1 + 1e-14));
            assert_close(sqrt(norm2), fmin(clip, sqrt(free_norm2)), 1e-13, 0);
        }
    tear_down(&s);
}

static void unclipped_sums_are_the_gradient_of_the_total(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    for (size_t chunk = 1; chunk <= N; chunk++) {
        double sum[SIZE];
        clip_sum(&s, N, NULL, INFINITY, chunk, sum);
        dpi_run *run = start(&s, CROSSINGS, s.sum, 0, chunk);
        for (size_t from = 0; from < N; from += chunk)
            dpi_run_records(run, N - from < chunk ? N - from : chunk, NULL, from);
        for (size_t k = 0, at = 0; k < CROSSINGS; at += setting_sizes[k++])
            for (size_t e = 0; e < setting_sizes[k]; e++)
                assert_close(dpi_run_value(run, s.sum[k])[e], sum[at + e], 1e-13, 1e-15);
        dpi_run_free(run);
    }
    tear_down(&s);
}

static void chunks_do_not_change_sums(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    double expected = NAN;
    const size_t chunks[] = {1, 2, 3, N, 100};
    for (size_t k = 0; k < 5; k++) {
        dpi_run *run = start(&s, 1, &s.result, 0, chunks[k]);
        for (int pass = 0; pass < 2; pass++) { /* the second full scan starts again at zero */
            dpi_run_start_records(run);
            for (size_t from = 0; from < N; from += chunks[k])
                dpi_run_records(run, N - from < chunks[k] ? N - from : chunks[k], NULL, from);
            *dpi_run_value(run, s.late) = 2.385;
            dpi_run_late(run);
            double result = *dpi_run_value(run, s.result);
            double plain = *dpi_run_value(run, s.scale) * 2.385 + *dpi_run_value(run, s.total);
            assert_close(result, plain, 1e-15, 0);
            if (k == 0 && pass == 0)
                expected = result;
            assert_close(result, expected, 1e-14, 0);
        }
        dpi_run_free(run);
    }
    tear_down(&s);
}

/* The record whose gradient is not finite adds nothing, and the others' sum has not changed by a
 * bit. */
static void a_record_without_a_finite_gradient_adds_zero(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1e300},
                        clips[] = {0.385, 5.385, INFINITY};
    for (size_t b = 0; b < sizeof bad / sizeof bad[0]; b++)
        for (size_t j = 0; j < N; j++)
            for (size_t c = 0; c < 3; c++) {
                double sum[SIZE], expected[SIZE], scratch[2 * N];
                size_t others[N - 1], n = 0;
                for (size_t i = 0; i < N; i++)
                    if (i != j)
                        others[n++] = i;
                clip_sum(&s, n, others, clips[c], N, expected);
                /* Such a record cannot come from a checked data set, only from overflow on the
                 * way. */
                dpi_run *run = start(&s, 0, NULL, CROSSINGS, N);
                double kept = s.y[j];
                s.y[j] = bad[b];
                dpi_run_records(run, N, NULL, 0);
                memset(sum, 0, sizeof sum);
                dpi_run_clip_sum(run, N, clips[c], scratch, sum);
                assert_memory_equal(sum, expected, sizeof sum);
                s.y[j] = kept;
                dpi_run_free(run);
            }
    tear_down(&s);
}

static void only_what_is_wanted_is_made(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    dpi_run *run = start(&s, 0, NULL, CROSSINGS, 3);
    assert_null(dpi_run_value(run, s.total));
    assert_null(dpi_run_value(run, s.unused));
    assert_null(dpi_run_value(run, DPI_NONE));
    assert_null(dpi_run_value(run, (dpi_id)s.g.n_nodes));
    for (size_t k = 0; k < 4; k++) /* factored, so never made */
        assert_null(dpi_run_value(run, s.part[k]));
    assert_non_null(dpi_run_value(run, s.part[4]));
    /* A record more takes room for its values and its one weight, and for nothing else. */
    size_t each = sizeof(double);
    for (size_t i = 0; i < s.g.n_nodes; i++)
        if (s.g.nodes[i].shape.per_record && dpi_run_value(run, (dpi_id)i) != NULL)
            each += dpi_shape_size(&s.g.nodes[i].shape) * sizeof(double);
    dpi_run *large = start(&s, 0, NULL, CROSSINGS, 3 + 8192);
    assert_close((double)(dpi_run_memory(large) - dpi_run_memory(run)) / 8192, (double)each, 0.05,
                 0);
    dpi_run_free(large);
    dpi_id later = dpi_unary(&s.g, &dpi_op_exp, s.total);
    assert_null(dpi_run_value(run, later)); /* added after the run was made */
    dpi_run_free(run);
    dpi_run_free(NULL);
    tear_down(&s);
}

static void runs_of_one_graph_are_apart(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    dpi_run *one = start(&s, 1, &s.root, 0, 2), *two = start(&s, 1, &s.root, 0, 2);
    dpi_run_records(one, 2, NULL, 0);
    double first = dpi_run_value(one, s.root)[0];
    dpi_run_value(two, s.weights)[0] += 1;
    dpi_run_globals(two);
    dpi_run_records(two, 2, NULL, 0);
    assert_true(dpi_run_value(two, s.root)[0] != first);
    assert_close(dpi_run_value(one, s.root)[0], first, 0, 0);
    dpi_run_free(one);
    dpi_run_free(two);
    tear_down(&s);
}

static void records_may_be_set_by_the_caller(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    dpi_id z = source(&s, &dpi_op_input, "z", dpi_vector(2, true), 0);
    dpi_id y = dpi_sum(&s.g, dpi_unary(&s.g, &dpi_op_square, z));
    dpi_run *run = start(&s, 1, &y, 0, 3);
    const double values[6] = {1.5, 2.5, -3.5, 0.25, 7, 11};
    memcpy(dpi_run_value(run, z), values, sizeof values);
    dpi_run_records(run, 3, NULL, 0);
    for (size_t r = 0; r < 3; r++)
        assert_close(dpi_run_value(run, y)[r],
                     values[2 * r] * values[2 * r] + values[2 * r + 1] * values[2 * r + 1], 1e-15,
                     0);
    dpi_run_free(run);
    tear_down(&s);
}

/* Tries to make a run and checks how it is refused. */
static void refused(const setting *s, dpi_id wanted, const dp_dataset *data, dp_status status,
                    const char *part_of_message)
{
    dpi_run *run = (dpi_run *)1;
    dp_error err = {0};
    dpi_run_spec spec = {
        .graph = &s->g, .wanted = &wanted, .n_wanted = 1, .data = data, .chunk = 2};
    assert_int_equal(dpi_run_new(&spec, &run, &err), status);
    assert_null(run);
    assert_int_equal(err.status, status);
    assert_contains(err.text, part_of_message);
    assert_int_equal(dpi_run_new(&spec, &run, NULL), status);
}

static void what_depends_on_a_sum_over_records_comes_late(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    dpi_id coupled = dpi_sub(&s.g, s.root, s.total);
    refused(&s, coupled, s.data, DP_EUNSUPPORTED, "sum over all records");
    refused(&s, dpi_times(&s.g, s.late, s.root), s.data, DP_EUNSUPPORTED, "each record");
    refused(&s, dpi_apply(&s.g, &dpi_op_sum_records, coupled, DPI_NONE, NULL), s.data,
            DP_EUNSUPPORTED, "each record");
    tear_down(&s);
}

static void bad_columns_are_refused(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    refused(&s, s.root, NULL, DP_ENAME, "no column 'x'");
    refused(&s, s.unused, s.data, DP_ENAME, "no column 'not there'");
    dpi_id wide = source(&s, &dpi_op_data, "x", dpi_vector(D + 1, true), 0);
    refused(&s, wide, s.data, DP_ESHAPE, "'x' has 3 real number(s) a record");
    refused(&s, wide, s.data, DP_ESHAPE, "asks for 4 real number(s)");
    dpi_id real_group = source(&s, &dpi_op_index, "y", dpi_scalar(true), 2);
    s.g.nodes[wide].name = "y"; /* the wide column out of the way */
    s.g.nodes[wide].shape = dpi_scalar(true);
    refused(&s, real_group, s.data, DP_ESHAPE, "dp_dataset_index");
    tear_down(&s);

    const double values[] = {NAN, INFINITY, -INFINITY};
    for (size_t k = 0; k < 3; k++) {
        set_up(&s);
        s.x[4 * D + 1] = values[k];
        refused(&s, s.root, s.data, DP_EDATA, "'x', record 4 (from 0)");
        tear_down(&s);
    }
    const int32_t groups[] = {-1, GROUPS, INT32_MIN, INT32_MAX};
    for (size_t k = 0; k < 4; k++) {
        set_up(&s);
        s.group[5] = groups[k];
        refused(&s, s.root, s.data, DP_EDATA, "'district', record 5 (from 0)");
        tear_down(&s);
    }
    set_up(&s);
    dp_dataset_real(s.data, "x", D, s.x);
    refused(&s, s.root, s.data, DP_ENAME, "given twice");
    tear_down(&s);
}

/* Messages name the record, never its value. */
static void messages_keep_values_to_themselves(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    dp_error err = {0};
    dpi_run *run;
    s.group[5] = 1234567;
    dpi_run_spec spec = {
        .graph = &s.g, .wanted = &s.root, .n_wanted = 1, .data = s.data, .chunk = 2};
    assert_int_equal(dpi_run_new(&spec, &run, &err), DP_EDATA);
    assert_null(strstr(err.text, "1234567"));
    tear_down(&s);
}

static void whole_numbers_may_be_read_as_real(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    dpi_id count = source(&s, &dpi_op_data, "district", dpi_scalar(true), 0);
    dpi_run *run = start(&s, 1, &count, 0, N);
    dpi_run_records(run, N, NULL, 0);
    for (size_t i = 0; i < N; i++)
        assert_close(dpi_run_value(run, count)[i], s.group[i], 0, 0);
    dpi_run_free(run);
    tear_down(&s);
}

static void start_with_parts(void *s)
{
    dpi_run_free(start(s, 0, NULL, CROSSINGS, 3));
}

static void a_global_part_is_misuse(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    s.part[0] = s.scale;
    assert_aborts(start_with_parts, &s);
    tear_down(&s);
}

static void sizes_beyond_memory_are_refused(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    dp_error err = {0};
    dpi_run *run;
    dpi_run_spec spec = {
        .graph = &s.g, .wanted = &s.root, .n_wanted = 1, .data = s.data, .chunk = SIZE_MAX / 4};
    assert_int_equal(dpi_run_new(&spec, &run, &err), DP_ENOMEM);
    assert_null(run);
    tear_down(&s);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    const dpi_id wanted[] = {s.root, s.result, s.part[0], s.sum[2]};
    size_t k = 1, before = faulty_live();
    for (;; k++) {
        dpi_run *run;
        dp_error err = {0};
        dpi_run_spec spec = {.graph = &s.g,
                             .wanted = wanted,
                             .n_wanted = 4,
                             .parts = s.part,
                             .n_parts = CROSSINGS,
                             .data = s.data,
                             .chunk =
                                 4000}; /* large buffers, so that most have a block of their own */
        faulty_fail(k);
        dp_status status = dpi_run_new(&spec, &run, &err);
        int failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_int_equal(err.status, status);
        assert_int_equal(run != NULL, !failed);
        size_t made = faulty_live();
        if (run != NULL) { /* the stages allocate nothing */
            double *scratch = calloc(2 * 4000, sizeof *scratch), sum[SIZE] = {0};
            faulty_fail(1);
            dpi_run_globals(run);
            dpi_run_start_records(run);
            dpi_run_records(run, N, NULL, 0);
            dpi_run_clip_sum(run, N, 1, scratch, sum);
            dpi_run_late(run);
            assert_false(faulty_failed());
            assert_int_equal(faulty_live(), made);
            faulty_fail(0);
            free(scratch);
        }
        dpi_run_free(run);
        assert_int_equal(faulty_live(), before);
        if (!failed)
            break;
    }
    assert_true(k > 10);
    tear_down(&s);
    assert_int_equal(faulty_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clipped_sums_equal_the_naive_ones),
        cmocka_unit_test(a_gradient_is_the_same_in_every_chunk),
        cmocka_unit_test(one_record_never_exceeds_the_bound),
        cmocka_unit_test(unclipped_sums_are_the_gradient_of_the_total),
        cmocka_unit_test(chunks_do_not_change_sums),
        cmocka_unit_test(a_record_without_a_finite_gradient_adds_zero),
        cmocka_unit_test(only_what_is_wanted_is_made),
        cmocka_unit_test(runs_of_one_graph_are_apart),
        cmocka_unit_test(records_may_be_set_by_the_caller),
        cmocka_unit_test(what_depends_on_a_sum_over_records_comes_late),
        cmocka_unit_test(bad_columns_are_refused),
        cmocka_unit_test(messages_keep_values_to_themselves),
        cmocka_unit_test(whole_numbers_may_be_read_as_real),
        cmocka_unit_test(a_global_part_is_misuse),
        cmocka_unit_test(sizes_beyond_memory_are_refused),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
