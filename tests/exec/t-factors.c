/* Clipped sums in two passes against sums in long double of gradients by hand, and within the bound
 * that is proven for chains of floats; records whose factors leave the range of floats; records of
 * weight 0. */
#include "exec/factors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exec/clip.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

/* A record's gradient is (s a, a b^T, a). */
enum { ROWS = 37, COLUMNS = 50, MOST = 2000, SLOTS = 3, SIZE = 2 * ROWS + ROWS * COLUMNS };

static double a[MOST][ROWS], b[MOST][COLUMNS], s[MOST];

static double spread(size_t i)
{
    double at = (double)(i + 3) * 0.6180339887498949;
    return 2.385 * (at - floor(at)) - 1.213;
}

static void fill(size_t from)
{
    for (size_t r = 0; r < MOST; r++) {
        s[r] = (float)spread(r + from);
        for (size_t i = 0; i < ROWS; i++)
            a[r][i] = (float)spread(from + r * ROWS + i);
        for (size_t j = 0; j < COLUMNS; j++)
            b[r][j] = (float)spread(from + r * COLUMNS + j + 77);
    }
}

/* All records are one whose numbers round badly, with signs that alternate where asked for. */
static void fill_equal(bool alternate, double size)
{
    for (size_t r = 0; r < MOST; r++) {
        s[r] = 0;
        for (size_t i = 0; i < ROWS; i++)
            a[r][i] = (float)((alternate && r % 2 ? -size : size) * (1 + 0x1p-23 * (double)i));
        for (size_t j = 0; j < COLUMNS; j++)
            b[r][j] = (float)(1.0 / 3);
    }
}

typedef struct setting {
    dpi_arena arena;
    dp_error err;
    dpi_graph graph;
    dp_dataset *data;
    dpi_run *run;
    dpi_factors *factors;
} setting;

static dpi_id column(setting *t, const char *name, size_t d)
{
    return dpi_source(&t->graph, &dpi_op_data, name, (dpi_attr){.shape = dpi_vector(d, true)});
}

static bool as_floats;      /* of the runs that are made: sums are asked of their factors alone */
static size_t together = 1; /* slots whose records are run at once */

static void set_up(setting *t, size_t chunk, bool single)
{
    *t = (setting){0};
    dpi_graph_init(&t->graph, &t->arena, &t->err);
    dpi_id A = column(t, "a", ROWS), B = column(t, "b", COLUMNS), S = column(t, "s", 1);
    dpi_id parts[] = {dpi_times(&t->graph, S, A), dpi_apply(&t->graph, &dpi_op_outer, A, B, NULL),
                      A};
    assert_ok(t->err.status, t->err.text);
    t->data = dp_dataset_new(MOST);
    dp_dataset_real(t->data, "a", ROWS, a[0]);
    dp_dataset_real(t->data, "b", COLUMNS, b[0]);
    dp_dataset_real(t->data, "s", 1, s);
    dpi_run_spec spec = {.graph = &t->graph,
                         .parts = parts,
                         .n_parts = 3,
                         .data = t->data,
                         .chunk = together * chunk,
                         .single = single,
                         .kept = as_floats};
    assert_ok(dpi_run_new(&spec, &t->run, &t->err), t->err.text);
    assert_true(dpi_factors_pay(t->run));
    assert_ok(dpi_factors_new(&t->arena, t->run, SLOTS, chunk, 1, &t->factors, &t->err),
              t->err.text);
    dpi_run_globals(t->run);
}

static void tear_down(setting *t)
{
    dpi_run_free(t->run);
    dp_dataset_free(t->data);
    dpi_arena_free(&t->arena);
}

/* The sum of records list[0 ... n - 1], or 0 ... n - 1, in waves of SLOTS tasks of `chunk`
 * records. */
static size_t sum_of(bool single, size_t chunk, size_t n, const size_t *list, double clip,
                     double sum[SIZE + 1])
{
    setting t;
    static double scratch[2 * MOST], lost[SIZE + 1];
    const size_t group = together * chunk;
    set_up(&t, chunk, single);
    size_t chain = dpi_factors_chain(t.run, n, clip), used = 0;
    bool fresh = true;
    for (size_t i = 0; i <= SIZE; i++)
        sum[i] = lost[i] = NAN; /* what was there does not matter */
    for (size_t from = 0, m; from < n; from += m) {
        m = n - from < chunk ? n - from : chunk;
        if (from % group == 0) {
            const size_t all = n - from < group ? n - from : group;
            dpi_run_records(t.run, all, list != NULL ? list + from : NULL, from);
            dpi_factors_weigh(t.run, all, clip, chain, scratch);
        }
        dpi_factors_keep(t.factors, t.run, from % group, m, chain, scratch, used);
        *dpi_factors_extra(t.factors, used++) += (double)m;
        if (used < SLOTS && from + m < n)
            continue;
        for (size_t k = dpi_factors_blocks(t.factors); k-- > 0;)
            dpi_factors_add(t.factors, k, used, chain, fresh, sum, n > SLOTS * chunk ? lost : NULL);
        used = 0;
        fresh = false;
    }
    assert_close(sum[SIZE], (double)n, 0, 0);
    tear_down(&t);
    return chain;
}

static void add_by_hand(size_t r, double clip, long double sum[SIZE])
{
    long double norm2 = 0;
    static long double g[SIZE];
    for (size_t i = 0; i < ROWS; i++) {
        g[i] = (long double)s[r] * a[r][i];
        g[ROWS + ROWS * COLUMNS + i] = a[r][i];
        for (size_t j = 0; j < COLUMNS; j++)
            g[ROWS + i * COLUMNS + j] = (long double)a[r][i] * b[r][j];
    }
    for (size_t e = 0; e < SIZE; e++)
        norm2 += g[e] * g[e];
    long double norm = sqrtl(norm2), weight = norm > clip ? clip / norm : 1;
    for (size_t e = 0; e < SIZE; e++)
        sum[e] += weight * g[e];
}

static double distance_by_hand(size_t n, double clip, const double sum[SIZE])
{
    static long double expected[SIZE];
    memset(expected, 0, sizeof expected);
    long double off = 0;
    for (size_t r = 0; r < n; r++)
        add_by_hand(r, clip, expected);
    for (size_t e = 0; e < SIZE; e++)
        off += (sum[e] - expected[e]) * (sum[e] - expected[e]);
    return (double)sqrtl(off);
}

/* Returns the share of the bound that was used. */
static double check(bool single, size_t chunk, size_t n, double clip)
{
    static double sum[SIZE + 1];
    size_t chain = sum_of(single, chunk, n, NULL, clip, sum);
    double norm = fmin(clip, 1e4), count = (double)n; /* no record is longer */
    double bound = count * norm * 0x1p-52 * ((double)chunk + 20);
    if (chain > 0) /* chains, and factors rounded to floats */
        bound += count * norm * 0x1p-24 * ((double)(chain + 3) / 2 + 2);
    double off = distance_by_hand(n, clip, sum);
    if (!(off <= bound))
        fail_msg("%s, %zu records, chunks of %zu, clip %g: off by %g, proven %g",
                 single ? "single" : "double", n, chunk, clip, off, bound);
    return off / bound;
}

static void sums_are_those_by_hand(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 2, 64, 128, 193, 450, 1398, 1500}, chunks[] = {64, 7, 100};
    const double clips[] = {0.01, 5, INFINITY};
    double most = 0;
    fill(0);
    for (int single = 0; single < 2; single++)
        for (size_t n = 0; n < 8; n++)
            for (int c = 0; c < 3; c++)
                most = fmax(most, check(single, chunks[(n + (size_t)c) % 3], sizes[n], clips[c]));
    print_message("# %.2g of the bound used\n", most);
    assert_true(most > 1e-4);
}

/* Equal records add up rounding errors of one sign, alternating ones cancel what was large. */
static void bad_records_stay_within_the_bound(void **state)
{
    (void)state;
    const double sizes[] = {1e-3, 1, 77.7};
    double most = 0;
    for (int k = 0; k < 6; k++) {
        fill_equal(k % 2, sizes[k / 2]);
        for (size_t n = 128; n < 1400; n *= 3)
            for (int c = 0; c < 2; c++)
                most = fmax(most, check(true, 64, n, c == 0 ? 1 : 1e3));
    }
    print_message("# %.2g of the bound used\n", most);
    assert_true(most > 0.01);
}

/* Neighbours' sums together may be off by what is left (src/svi/svi.c). */
static void chains_are_chosen_within_what_is_left(void **state)
{
    (void)state;
    setting t;
    set_up(&t, 64, true);
    for (size_t n = 1; n < 5000; n++) {
        size_t one = dpi_factors_chain(t.run, n, 1), more = dpi_factors_chain(t.run, n + 1, 1);
        double off = 0x1p-25 * ((one > 0 ? (double)(n * (one + 3)) : 0) +
                                (more > 0 ? (double)((n + 1) * (more + 3)) : 0));
        assert_true(off + 0x1p-22 + 0x1p-16 <= 0x1p-10);
    }
    assert_int_equal(dpi_factors_chain(t.run, 128, 1), 64);
    assert_int_equal(dpi_factors_chain(t.run, 5000, 1), 0);
    assert_int_equal(dpi_factors_chain(t.run, 5000, INFINITY), 64);
    assert_int_equal(dpi_factors_chain(t.run, 128, 1e-20), 0);
    assert_int_equal(dpi_factors_chain(t.run, 128, 1e20), 0);
    tear_down(&t);
    set_up(&t, 64, false);
    assert_int_equal(dpi_factors_chain(t.run, 128, 1), 0);
    tear_down(&t);
}

static double norm_of(const double sum[SIZE])
{
    double largest = 0, norm2 = 0;
    for (size_t e = 0; e < SIZE; e++)
        largest = fmax(largest, fabs(sum[e]));
    for (size_t e = 0; e < SIZE && largest > 0; e++)
        norm2 += sum[e] / largest * (sum[e] / largest);
    return isfinite(largest) ? largest * sqrt(norm2) : largest;
}

/* One side is as large as the other one is small, or both are; products that no double holds add
 * zero. */
static void factors_beyond_floats_are_clipped(void **state)
{
    (void)state;
    static double sum[SIZE + 1];
    const double clips[] = {1e-15, 1, 1e18, INFINITY};
    size_t clipped = 0, dropped = 0;
    for (int single = 0; single < 2; single++)
        for (int p = -300; p <= 300; p += 20)
            for (int q = -300; q <= 300; q += 20)
                for (int c = 0; c < 4; c++) {
                    s[0] = 0;
                    for (size_t i = 0; i < ROWS; i++)
                        a[0][i] = pow(10, p) * (1 + (double)(i % 5) * 0.1);
                    for (size_t j = 0; j < COLUMNS; j++)
                        b[0][j] = pow(10, q) * (1 + (double)(j % 7) * 0.1);
                    (void)sum_of(single, 4, 1, NULL, clips[c], sum);
                    double norm = norm_of(sum);
                    if (!(norm <= clips[c] * (1 + 0x1p-20)) || isnan(norm))
                        fail_msg("1e%d, 1e%d, clip %g: %g", p, q, clips[c], norm);
                    clipped += norm > 0.999 * clips[c];
                    dropped += norm == 0;
                    if (p < 30 && p > -30 && q < 30 && q > -30 && isinf(clips[c]) && p + q < 29 &&
                        p + q > -29)
                        assert_close(sum[ROWS], a[0][0] * b[0][0], 0x1p-22, 0);
                }
    assert_true(clipped > 500 && dropped > 100);
}

/* Dropped records between others change no bit. */
static void records_of_weight_zero_leave_no_trace(void **state)
{
    (void)state;
    static double with[SIZE + 1], without[SIZE + 1];
    size_t kept[40], all[60], n = 0, n_all = 0;
    fill(5);
    for (size_t r = 0; r < 60; r++) {
        if (r % 3 == 1)
            a[r][r % ROWS] = 1e200, b[r][r % COLUMNS] = 1e200;
        else
            kept[n++] = r;
        all[n_all++] = r;
    }
    for (int single = 0; single < 2; single++)
        for (int clipped = 0; clipped < 2; clipped++) {
            double clip = clipped ? 1 : INFINITY;
            (void)sum_of(single, 64, n_all, all, clip, with);
            (void)sum_of(single, 64, n, kept, clip, without);
            assert_memory_equal(with, without, SIZE * sizeof *with);
            assert_true(norm_of(with) > 0);
        }
}

static void sums_do_not_depend_on_waves(void **state)
{
    (void)state;
    static double sum[SIZE + 1], one_wave[SIZE + 1], scratch[128];
    setting t;
    fill(9);
    for (int single = 0; single < 2; single++) {
        (void)sum_of(single, 64, SLOTS * 64, NULL, 3, one_wave);
        set_up(&t, 64, single);
        static double lost[SIZE + 1];
        size_t chain = dpi_factors_chain(t.run, SLOTS * 64, 3);
        for (size_t k = 0; k < SLOTS; k++) { /* a wave for each task */
            dpi_run_records(t.run, 64, NULL, k * 64);
            dpi_factors_weigh(t.run, 64, 3, chain, scratch);
            dpi_factors_keep(t.factors, t.run, 0, 64, chain, scratch, 0);
            *dpi_factors_extra(t.factors, 0) += 64;
            for (size_t i = 0; i < dpi_factors_blocks(t.factors); i++)
                dpi_factors_add(t.factors, i, 1, chain, k == 0, sum, lost);
        }
        assert_memory_equal(sum, one_wave, sizeof sum);
        tear_down(&t);
    }
}

/* Where factors are floats alone they are what the same floats are in double. */
static void factors_that_are_read_as_floats_give_the_same_bits(void **state)
{
    (void)state;
    static double wide[SIZE + 1], floats[SIZE + 1];
    const double clips[] = {INFINITY, 1, 1e-3, 0x1p-70}; /* the last is too small for chains */
    const size_t sizes[] = {1, 100, MOST / 2};
    fill(3);
    for (size_t c = 0; c < 12; c++) {
        const double clip = clips[c / 3];
        const size_t n = sizes[c % 3];
        as_floats = false;
        const size_t chain = sum_of(true, 64, n, NULL, clip, wide);
        as_floats = true;
        assert_int_equal(sum_of(true, 64, n, NULL, clip, floats), chain);
        as_floats = false;
        assert_true((chain > 0) == (c / 3 < 3));
        assert_memory_equal(wide, floats, sizeof wide);
    }
}

/* Slots whose records are run together hold what they hold alone. */
static void records_may_be_run_together(void **state)
{
    static double alone[SIZE + 1], sum[SIZE + 1];
    const size_t sizes[] = {50, 64, 200, MOST};
    (void)state;
    fill(4);
    for (int k = 0; k < 8; k++) {
        const bool single = k % 2 == 1;
        (void)sum_of(single, 32, sizes[k / 2], NULL, 3, alone);
        for (together = 2; together <= 5; together++) {
            (void)sum_of(single, 32, sizes[k / 2], NULL, 3, sum);
            assert_memory_equal(sum, alone, sizeof sum);
        }
        together = 1;
    }
}

static void fails_cleanly_when_memory_is_out(void **state)
{
    (void)state;
    setting t;
    set_up(&t, 8, true);
    size_t k = 0;
    int failed = 1;
    for (k = 1; failed; k++) {
        dpi_arena arena = {0};
        dpi_factors *factors;
        faulty_fail(k);
        dp_status status = dpi_factors_new(&arena, t.run, SLOTS, 8, 1, &factors, &t.err);
        failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_true((factors == NULL) == failed);
        dpi_arena_free(&arena);
    }
    assert_true(k > 2);
    tear_down(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_by_hand),
        cmocka_unit_test(bad_records_stay_within_the_bound),
        cmocka_unit_test(chains_are_chosen_within_what_is_left),
        cmocka_unit_test(factors_beyond_floats_are_clipped),
        cmocka_unit_test(records_of_weight_zero_leave_no_trace),
        cmocka_unit_test(sums_do_not_depend_on_waves),
        cmocka_unit_test(records_may_be_run_together),
        cmocka_unit_test(factors_that_are_read_as_floats_give_the_same_bits),
        cmocka_unit_test(fails_cleanly_when_memory_is_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
