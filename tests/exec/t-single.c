/* Runs in single precision against the same in double: clipped sums of a model, clones, and rows
 * that know nothing of each other. */
#include "exec/clip.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exec/value.h"
#include "random/stream.h"
#include "tests/exec/setting.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

static dp_status new_run(const setting *s, bool single, size_t chunk, dpi_run **run, dp_error *err)
{
    dpi_run_spec spec = {.graph = &s->g,
                         .wanted = &s->root,
                         .n_wanted = 1,
                         .parts = s->part,
                         .n_parts = CROSSINGS,
                         .data = s->data,
                         .chunk = chunk,
                         .single = single};
    return dpi_run_new(&spec, run, err);
}

/* Inputs that floats hold exactly, as setting.c numbers them. */
static dpi_run *start_run(const setting *s, bool single, size_t chunk)
{
    dpi_run *run;
    dp_error err = {0};
    size_t k = 0;
    assert_ok(new_run(s, single, chunk, &run, &err), err.text);
    for (size_t i = 0; i < s->g.n_nodes; i++) {
        double *value = dpi_run_value(run, (dpi_id)i);
        for (size_t e = 0; s->g.nodes[i].op == &dpi_op_input && value != NULL &&
                           e < dpi_shape_size(&s->g.nodes[i].shape);
             e++, k++)
            value[e] = (float)(1.4 * sin(2.385 * (double)k + 1));
    }
    dpi_run_globals(run);
    return run;
}

static void sum_records(dpi_run *run, size_t chunk, double clip, double *sum)
{
    double scratch[2 * N];
    for (size_t from = 0; from < N; from += chunk) {
        size_t m = N - from < chunk ? N - from : chunk;
        dpi_run_records(run, m, NULL, from);
        dpi_run_clip_sum(run, m, clip, scratch, sum);
    }
}

static void sums_are_those_of_double_precision(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    for (size_t chunk = 1; chunk <= N; chunk += 3)
        for (int k = 0; k < 3; k++) {
            static const double clips[] = {0.3, 2, INFINITY};
            double single[SIZE] = {0}, wide[SIZE] = {0};
            dpi_run *a = start_run(&s, true, chunk), *b = start_run(&s, false, chunk);
            sum_records(a, chunk, clips[k], single);
            sum_records(b, chunk, clips[k], wide);
            double differs = 0;
            for (size_t e = 0; e < SIZE; e++) {
                assert_close(single[e], wide[e], 2e-6, 4e-6);
                differs += fabs(single[e] - wide[e]);
            }
            assert_true(differs > 0); /* it was not double precision */
            assert_close(dpi_run_value(a, s.root)[0], dpi_run_value(b, s.root)[0], 1e-6, 1e-6);
            dpi_run_free(b);
            dpi_run_free(a);
        }
    tear_down(&s);
}

/* The clip holds for what is computed: one record's sum has the norm it is clipped to. */
static void clipped_norms_hold(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    dpi_run *run = start_run(&s, true, 1);
    for (size_t i = 0; i < N; i++) {
        double sum[SIZE] = {0}, scratch[2], norm2 = 0;
        dpi_run_records(run, 1, NULL, i);
        dpi_run_clip_sum(run, 1, 0.01, scratch, sum);
        for (size_t e = 0; e < SIZE; e++)
            norm2 += sum[e] * sum[e];
        assert_close(sqrt(norm2), 0.01, 1e-14, 0);
    }
    dpi_run_free(run);
    tear_down(&s);
}

static void a_record_is_the_same_in_every_company(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    dpi_run *run = start_run(&s, true, N), *clone;
    assert_ok(dpi_run_clone(run, &clone, NULL), "");
    for (size_t i = 0; i < N; i++)
        for (size_t m = 1; m <= N; m++) {
            double alone[SIZE] = {0}, among[SIZE] = {0};
            size_t list[N], at = (i + m) % m;
            for (size_t r = 0; r < m; r++)
                list[r] = r == at ? i : (i + r) % N;
            dpi_run_records(clone, 1, NULL, i);
            dpi_run_add_rows(clone, 0, 1, alone);
            dpi_run_records(run, m, list, 0);
            dpi_run_add_rows(run, at, 1, among);
            assert_memory_equal(alone, among, sizeof alone);
        }
    dpi_run_free(clone);
    dpi_run_free(run);
    tear_down(&s);
}

/* A float overflows where a double does not; the record adds nothing, and nothing else changes. */
static void records_that_overflow_add_zero(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    s.x[3 * D] = 1e200;
    dpi_run *run = start_run(&s, true, 1);
    double all[SIZE] = {0}, others[SIZE] = {0}, scratch[2];
    for (size_t i = 0; i < N; i++) {
        dpi_run_records(run, 1, NULL, i);
        dpi_run_clip_sum(run, 1, INFINITY, scratch, all);
        if (i != 3)
            dpi_run_clip_sum(run, 1, INFINITY, scratch, others);
    }
    for (size_t e = 0; e < SIZE; e++)
        assert_true(isfinite(all[e]));
    assert_memory_equal(all, others, sizeof all);
    dpi_run_free(run);
    tear_down(&s);
}

enum { LONG = 784, RECORDS = 40 };

/* Draws for records 0 ... m - 1 of a column of LONG numbers, in two calls. */
static void draw(dpi_run *run, size_t m)
{
    static const unsigned char key[DPI_STREAM_KEY] = {7};
    dpi_stream stream;
    dpi_stream_start(&stream, key);
    dpi_run_draw(run, 0, 3, &stream);
    dpi_run_draw(run, 3, m - 3, &stream);
    dpi_stream_end(&stream);
}

/* Long records, which are made a few at a time, in an order of their own: `y` is what columns of
 * the four kinds hold, with the sign turned. */
static void columns_are_those_of_double_precision(void **state)
{
    static double real[RECORDS * LONG], wide[RECORDS * LONG], narrow[RECORDS * LONG];
    static unsigned char bytes[RECORDS * LONG];
    static int32_t index[RECORDS * LONG];
    size_t list[RECORDS];
    (void)state;
    for (size_t i = 0; i < RECORDS * LONG; i++) {
        real[i] = sin(2.385 * (double)i);
        bytes[i] = (unsigned char)(i * 7 % 251);
        index[i] = (int32_t)(i * 11 % 1009);
    }
    for (size_t i = 0; i < RECORDS; i++)
        list[i] = i * 17 % RECORDS;
    dp_dataset *data = dp_dataset_new(RECORDS);
    dp_dataset_real(data, "0", LONG, real);
    dp_dataset_bytes(data, "1", LONG, 250, bytes);
    dp_dataset_bernoulli(data, "2", LONG, 250, bytes);
    dp_dataset_indices(data, "3", LONG, index);
    for (int kind = 0; kind < 4; kind++) {
        dp_error err = {0};
        dpi_arena arena = {0};
        dpi_graph g;
        const char name[] = {(char)('0' + kind), '\0'};
        const size_t m = RECORDS - 1;
        dpi_graph_init(&g, &arena, &err);
        dpi_id x = dpi_source(&g, kind == 3 ? &dpi_op_index : &dpi_op_data, name,
                              (dpi_attr){.shape = dpi_vector(LONG, true), .number = 1009});
        dpi_id y = dpi_apply(&g, &dpi_op_neg, x, DPI_NONE, NULL);
        for (int single = 0; single < 2; single++) {
            const dpi_run_spec spec = {.graph = &g,
                                       .wanted = &y,
                                       .n_wanted = 1,
                                       .data = data,
                                       .chunk = RECORDS,
                                       .single = single};
            dpi_run *run;
            assert_ok(dpi_run_new(&spec, &run, &err), err.text);
            assert_true((dpi_run_numbers(run, x) == 0) == single); /* as floats alone */
            draw(run, m);
            dpi_run_records(run, m, list, 0);
            dpi_run_read(run, y, 0, m * LONG, single ? narrow : wide);
            dpi_run_free(run);
        }
        for (size_t i = 0; i < m * LONG; i++) {
            const size_t from = list[i / LONG] * LONG + i % LONG;
            const double held[] = {real[from], bytes[from] / 250., wide[i] != 0, index[from]};
            assert_true(wide[i] == -held[kind]);
            assert_true(narrow[i] == (float)wide[i]);
        }
        dpi_arena_free(&arena);
    }
    dp_dataset_free(data);
}

static void too_many_groups_are_refused(void **state)
{
    (void)state;
    setting s;
    dp_error err = {0};
    dpi_run *run;
    set_up(&s);
    dpi_id group = source(&s, &dpi_op_index, "district", dpi_scalar(true), (1 << 24) + 1);
    dpi_run_spec spec = {
        .graph = &s.g, .wanted = &group, .n_wanted = 1, .data = s.data, .chunk = 2, .single = true};
    assert_int_equal(dpi_run_new(&spec, &run, &err), DP_EUNSUPPORTED);
    assert_null(run);
    assert_non_null(strstr(err.text, "use double precision"));
    spec.single = false;
    assert_ok(dpi_run_new(&spec, &run, &err), err.text);
    dpi_run_free(run);
    tear_down(&s);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    setting s;
    bool failed = true;
    set_up(&s);
    for (size_t k = 1; failed; k++) {
        dp_error err = {0};
        dpi_run *run, *clone = NULL;
        faulty_fail(k);
        dp_status status = new_run(&s, true, 4, &run, &err);
        if (status == DP_OK)
            status = dpi_run_clone(run, &clone, &err);
        failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        dpi_run_free(clone);
        dpi_run_free(run);
        assert_true(k < 1000);
    }
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_double_precision),
        cmocka_unit_test(clipped_norms_hold),
        cmocka_unit_test(a_record_is_the_same_in_every_company),
        cmocka_unit_test(records_that_overflow_add_zero),
        cmocka_unit_test(columns_are_those_of_double_precision),
        cmocka_unit_test(too_many_groups_are_refused),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
