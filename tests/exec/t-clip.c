/* Clipped sums of units of several records, and runs for other threads.  Gradients of single
 * records, materialised, are the reference. */
#include "exec/clip.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "exec/value.h"
#include "tests/exec/setting.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { ROWS = 14, UNITS = 6, CHUNK = 16 };

static const size_t row[ROWS] = {4, 0, 1, 2, 2, 6, 5, 5, 5, 3, 1, 0, 6, 4};
static const size_t rows[UNITS] = {1, 3, 1, 4, 4, 1};

static void gradient_of(const setting *s, size_t i, double *gradient)
{
    dpi_run *run = start(s, CROSSINGS, s->part, 0, 1);
    dpi_run_records(run, 1, NULL, i);
    for (size_t k = 0, at = 0; k < CROSSINGS; at += setting_sizes[k++])
        memcpy(gradient + at, dpi_run_value(run, s->part[k]), setting_sizes[k] * sizeof *gradient);
    dpi_run_free(run);
}

/* The clipped gradient of m rows together is added to sum; returns its norm before clipping. */
static double add_reference(const setting *s, size_t m, const size_t *list, double clip,
                            double *sum)
{
    double unit[SIZE] = {0}, one[SIZE], norm2 = 0;
    for (size_t i = 0; i < m; i++) {
        gradient_of(s, list[i], one);
        for (size_t e = 0; e < SIZE; e++)
            unit[e] += one[e];
    }
    for (size_t e = 0; e < SIZE; e++)
        norm2 += unit[e] * unit[e];
    for (size_t e = 0; e < SIZE; e++)
        sum[e] += unit[e] * fmin(1, clip / sqrt(norm2));
    return sqrt(norm2);
}

static void units_are_added_up_before_they_are_clipped(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    const double clips[] = {1e-3, 1.25, 3.5, 8, 100, INFINITY};
    for (int c = 0; c < 6; c++) {
        double scratch[2 * CHUNK], unit[SIZE], sum[SIZE] = {0}, expected[SIZE] = {0};
        dpi_run *run = start(&s, 0, NULL, CROSSINGS, CHUNK);
        dpi_run_records(run, ROWS, row, 0);
        dpi_run_clip_units(run, UNITS, rows, clips[c], scratch, unit, sum);
        for (size_t u = 0, at = 0; u < UNITS; at += rows[u++])
            (void)add_reference(&s, rows[u], row + at, clips[c], expected);
        for (size_t e = 0; e < SIZE; e++)
            assert_close(sum[e], expected[e], 1e-13, 1e-15);
        dpi_run_free(run);
    }
    tear_down(&s);
}

/* A unit by itself: what it adds is at most the clip, though each of its rows alone has as much. */
static void a_unit_is_clipped_once(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    const size_t same[4] = {5, 5, 5, 5}, four = 4;
    for (double clip = 1e-9; clip < 1e4; clip *= 7.385) {
        double scratch[2 * CHUNK], unit[SIZE], sum[SIZE] = {0}, none[SIZE], norm2 = 0;
        dpi_run *run = start(&s, 0, NULL, CROSSINGS, CHUNK);
        dpi_run_records(run, 4, same, 0);
        dpi_run_clip_units(run, 1, &four, clip, scratch, unit, sum);
        for (size_t e = 0; e < SIZE; e++)
            norm2 += sum[e] * sum[e];
        memset(none, 0, sizeof none);
        assert_close(sqrt(norm2), fmin(clip, add_reference(&s, 4, same, 1, none)), 1e-13, 0);
        dpi_run_free(run);
    }
    tear_down(&s);
}

static void units_of_one_row_are_as_rows_to_the_bit(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    size_t ones[ROWS];
    double scratch[2 * CHUNK], unit[SIZE], sum[SIZE] = {0}, expected[SIZE] = {0};
    for (size_t i = 0; i < ROWS; i++)
        ones[i] = 1;
    dpi_run *run = start(&s, 0, NULL, CROSSINGS, CHUNK);
    dpi_run_records(run, ROWS, row, 0);
    dpi_run_clip_units(run, ROWS, ones, 2, scratch, unit, sum);
    dpi_run_clip_sum(run, ROWS, 2, scratch, expected);
    assert_memory_equal(sum, expected, sizeof sum);
    dpi_run_free(run);
    tear_down(&s);
}

/* A unit of more rows than a chunk holds, however it is cut, to the bit. */
static void large_units_go_through_chunk_after_chunk(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    double whole[SIZE], expected[SIZE] = {0};
    (void)add_reference(&s, ROWS, row, 2, expected);
    for (size_t chunk = CHUNK; chunk >= 1; chunk--) {
        double unit[SIZE] = {0}, sum[SIZE] = {0};
        dpi_run *run = start(&s, 0, NULL, CROSSINGS, chunk);
        for (size_t from = 0, m; from < ROWS; from += m) {
            m = ROWS - from < chunk ? ROWS - from : chunk;
            dpi_run_records(run, m, row + from, 0);
            dpi_run_add_rows(run, 0, m, unit);
        }
        dpi_clip_add(SIZE, unit, 2, sum);
        if (chunk == CHUNK)
            memcpy(whole, sum, sizeof whole);
        assert_memory_equal(sum, whole, sizeof sum);
        for (size_t e = 0; e < SIZE; e++)
            assert_close(sum[e], expected[e], 1e-13, 1e-15);
        dpi_run_free(run);
    }
    tear_down(&s);
}

/* One row whose gradient overflows takes its unit with it and no other. */
static void a_row_that_is_not_finite_drops_its_unit(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    for (size_t j = 0; j < D; j++)
        s.x[2 * D + j] = 1e300; /* record 2 is in the second unit, and */
    s.x[3 * D] = -1e308;        /* record 3 in the fifth */
    const double clips[] = {2, INFINITY};
    for (int c = 0; c < 2; c++) {
        double scratch[2 * CHUNK], unit[SIZE], sum[SIZE] = {0}, expected[SIZE] = {0};
        dpi_run *run = start(&s, 0, NULL, CROSSINGS, CHUNK);
        dpi_run_records(run, ROWS, row, 0);
        dpi_run_clip_units(run, UNITS, rows, clips[c], scratch, unit, sum);
        for (size_t u = 0, at = 0; u < UNITS; at += rows[u++]) {
            bool spoilt = false;
            for (size_t k = at; k < at + rows[u]; k++)
                spoilt = spoilt || row[k] == 2 || row[k] == 3;
            if (!spoilt)
                (void)add_reference(&s, rows[u], row + at, clips[c], expected);
        }
        for (size_t e = 0; e < SIZE; e++)
            assert_close(sum[e], expected[e], 1e-13, 1e-15);
        dpi_run_free(run);
    }
    tear_down(&s);
}

/* ---- clones ---- */

static void a_clone_gives_the_same_bits(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    dp_error err = {0};
    dpi_run *clone, *run = start(&s, 1, &s.scale, CROSSINGS, CHUNK);
    double scratch[2 * CHUNK], sum[SIZE] = {0}, expected[SIZE] = {0};
    assert_ok(dpi_run_clone(run, &clone, &err), err.text);
    dpi_run_value(run, s.weights)[1] = 0.875; /* after the clone was made */
    dpi_run_globals(run);
    assert_ptr_equal(dpi_run_value(clone, s.scale), dpi_run_value(run, s.scale));
    dpi_run_records(run, 3, NULL, 2); /* what the one does is no matter for the other */
    dpi_run_records(clone, ROWS, row, 0);
    dpi_run_clip_sum(clone, ROWS, 2, scratch, sum);
    dpi_run_records(run, ROWS, row, 0);
    dpi_run_clip_sum(run, ROWS, 2, scratch, expected);
    assert_memory_equal(sum, expected, sizeof sum);
    dpi_run_free(clone);
    dpi_run_free(run);
    tear_down(&s);
}

static void sums_over_records_are_for_one_thread(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    dp_error err = {0};
    dpi_run *clone, *run = start(&s, 1, &s.result, 0, CHUNK);
    assert_int_equal(dpi_run_clone(run, &clone, &err), DP_EUNSUPPORTED);
    assert_null(clone);
    assert_contains(err.text, "use one thread");
    dpi_run_free(run);
    tear_down(&s);
}

static void failing_memory_leaves_no_clone(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    dpi_run *clone, *run = start(&s, 0, NULL, CROSSINGS, CHUNK);
    size_t k = 1, live = faulty_live();
    for (int failed = 1; failed; k++) {
        dp_error err = {0};
        faulty_fail(k);
        dp_status status = dpi_run_clone(run, &clone, &err);
        failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_int_equal(clone == NULL, failed);
        dpi_run_free(clone);
        assert_int_equal(faulty_live(), live);
    }
    assert_true(k > 2);
    dpi_run_free(run);
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_added_up_before_they_are_clipped),
        cmocka_unit_test(a_unit_is_clipped_once),
        cmocka_unit_test(units_of_one_row_are_as_rows_to_the_bit),
        cmocka_unit_test(large_units_go_through_chunk_after_chunk),
        cmocka_unit_test(a_row_that_is_not_finite_drops_its_unit),
        cmocka_unit_test(a_clone_gives_the_same_bits),
        cmocka_unit_test(sums_over_records_are_for_one_thread),
        cmocka_unit_test(failing_memory_leaves_no_clone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
