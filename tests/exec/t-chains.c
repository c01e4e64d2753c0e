/* Clipped sums through chains of floats against sums in long double by hand, and within the bound
 * that is proven, with records that round badly; a record more or less; records of weight 0;
 * failing memory. */
#include "exec/chains.h"

#include <math.h>
#include <string.h>

#include "exec/clip.h"
#include "exec/decomposition.h"
#include "graph/op.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

/* A record's gradient is sum_i x_i g_i^T, i < rank. */
enum { ROWS = 37, COLUMNS = 50, SIZE = ROWS * COLUMNS, MOST = 300, MOST_RANK = 8, CHUNK = 64 };

static double x[MOST * MOST_RANK * ROWS], g[MOST * MOST_RANK * COLUMNS];

static double spread(size_t i)
{
    double at = (double)(i + 3) * 0.6180339887498949;
    return 2.385 * (at - floor(at)) - 1.213;
}

typedef enum kind { PLAIN, EQUAL, ALTERNATING, CANCELLING, DEEPLY, N_KINDS } kind;

static double s_of(size_t rank)
{
    return rank == 1 ? 1 : sqrt(16 + 4 * (double)rank);
}

/* Numbers that round badly: records that are all equal, or that take turns in sign, or whose terms
 * cancel, as much as goes through chains, or much more. */
static void fill(kind of, size_t rank, double size)
{
    for (size_t k = 0; k < MOST * rank; k++) {
        size_t r = k / rank, i = k % rank;
        double sign = of == ALTERNATING && r % 2 ? -size : size;
        double sum = of == DEEPLY ? 1e-5 : 1.1 / s_of(rank); /* over the sum of lengths */
        if (of >= CANCELLING && 2 * i >= rank)
            sign *= -(1 - sum) / (1 + sum);
        for (size_t e = 0; e < ROWS; e++)
            x[k * ROWS + e] = (float)(of == PLAIN ? size * spread(k * ROWS + e)
                                                  : sign * (1 + 0x1p-23 * (double)(e + 5 * i % 3)));
        for (size_t e = 0; e < COLUMNS; e++)
            g[k * COLUMNS + e] = (float)(of == PLAIN ? spread(k * COLUMNS + e + 77) : 1.0 / 3);
    }
}

typedef struct setting {
    dpi_arena arena;
    dp_error err;
    dpi_graph graph;
    dp_dataset *data;
    dpi_id part;
    size_t rank;
} setting;

static dpi_id column(setting *t, const char *name, size_t columns)
{
    dpi_shape shape = {.per_record = true, .n_dims = 2, .dim = {t->rank, columns}};
    if (t->rank == 1)
        shape = dpi_vector(columns, true);
    return dpi_source(&t->graph, &dpi_op_data, name, (dpi_attr){.shape = shape});
}

static void set_up(setting *t, size_t rank)
{
    *t = (setting){.rank = rank};
    dpi_graph_init(&t->graph, &t->arena, &t->err);
    dpi_id X = column(t, "x", ROWS), G = column(t, "g", COLUMNS);
    const dpi_op *op = rank == 1 ? &dpi_op_outer : &dpi_op_matmul;
    t->part = dpi_apply(&t->graph, op, X, G, &(dpi_attr){.transpose = {rank > 1}});
    assert_ok(t->err.status, t->err.text);
    t->data = dp_dataset_new(MOST);
    dp_dataset_real(t->data, "x", rank * ROWS, x);
    dp_dataset_real(t->data, "g", rank * COLUMNS, g);
}

static void tear_down(setting *t)
{
    dp_dataset_free(t->data);
    dpi_arena_free(&t->arena);
}

static dp_status new_run(const setting *t, bool single, dpi_run **run, dp_error *err)
{
    dpi_run_spec spec = {.graph = &t->graph,
                         .parts = &t->part,
                         .n_parts = 1,
                         .data = t->data,
                         .chunk = CHUNK,
                         .choice = DPI_ALWAYS_PRODUCTS,
                         .single = single};
    return dpi_run_new(&spec, run, err);
}

/* The sum of records list[0 ... n - 1], or 0 ... n - 1, for n in all. */
static void sum_of(size_t rank, size_t n, const size_t *list, double clip, double sum[SIZE])
{
    setting t;
    dpi_run *run;
    dp_error err = {0};
    double scratch[2 * CHUNK];
    set_up(&t, rank);
    assert_ok(new_run(&t, true, &run, &err), err.text);
    assert_ok(dpi_run_chains_new(run, &err), err.text);
    dpi_run_chains_set(run, n, clip);
    dpi_run_globals(run);
    memset(sum, 0, SIZE * sizeof *sum);
    for (size_t from = 0, m; from < n; from += m) {
        m = n - from < CHUNK ? n - from : CHUNK;
        dpi_run_records(run, m, list != NULL ? list + from : NULL, from);
        dpi_run_clip_sum(run, m, clip, scratch, sum);
    }
    dpi_run_free(run);
    tear_down(&t);
}

static long double by_hand[SIZE];

static void add_by_hand(size_t rank, size_t r, double clip)
{
    static long double of_record[SIZE];
    long double norm2 = 0;
    memset(of_record, 0, sizeof of_record);
    for (size_t i = r * rank; i < (r + 1) * rank; i++)
        for (size_t e = 0; e < SIZE; e++)
            of_record[e] += (long double)x[i * ROWS + e / COLUMNS] * g[i * COLUMNS + e % COLUMNS];
    for (size_t e = 0; e < SIZE; e++)
        norm2 += of_record[e] * of_record[e];
    long double norm = sqrtl(norm2), weight = norm > clip ? clip / norm : 1;
    for (size_t e = 0; e < SIZE; e++)
        by_hand[e] += weight * of_record[e];
}

static double distance_by_hand(const double sum[SIZE])
{
    long double off = 0;
    for (size_t e = 0; e < SIZE; e++)
        off += (sum[e] - by_hand[e]) * (sum[e] - by_hand[e]);
    return (double)sqrtl(off);
}

/* What a record leaves to rounding in chains of so many, in 2^-24 clips. */
static double left_of(size_t rank, size_t records)
{
    double p = (double)rank, s = s_of(rank);
    return records == 0 ? 0 : p * ((double)records - 1) + p * (1 + s) / 2 + s;
}

/* What is off is returned in shares of the bound: of chains, and of floats that are kept for the
 * records. */
static double check(size_t rank, size_t n, double clip, double norm)
{
    double sum[SIZE];
    sum_of(rank, n, NULL, clip, sum);
    memset(by_hand, 0, sizeof by_hand);
    for (size_t r = 0; r < n; r++)
        add_by_hand(rank, r, clip);
    size_t records = dpi_chain_records(rank, n, clip);
    double length = fmin(clip, norm), count = (double)n;
    double bound = count * length * 0x1p-24 * left_of(rank, records) + count * length * 0x1p-44;
    bound += records > 0 ? count * length * 0x1p-23 * s_of(rank) : 0;
    double off = distance_by_hand(sum);
    if (!(off <= bound))
        fail_msg("rank %zu, %zu records, clip %g: off by %g, proven %g", rank, n, clip, off, bound);
    return records > 0 ? off / bound : 0;
}

static void sums_stay_within_the_bound(void **state)
{
    (void)state;
    const size_t ranks[] = {1, 2, 8}, sizes[] = {1, 64, 128, 150, 299};
    double most = 0;
    for (int of = PLAIN; of < N_KINDS; of++)
        for (int p = 0; p < 3; p++) {
            double share = 0;
            fill((kind)of, ranks[p], of == EQUAL ? 77.7 : of == DEEPLY ? 1e6 : 1);
            for (int k = 0; k < 5; k++) {
                share = fmax(share, check(ranks[p], sizes[k], 1, INFINITY));
                share = fmax(share, check(ranks[p], sizes[k], INFINITY, 1e8));
            }
            print_message("# kind %d, rank %zu: %.2g of the bound used\n", of, ranks[p], share);
            most = fmax(most, share);
        }
    assert_true(most > 0.05);
}

/* The chains that are made, to the bit: each of as many records as are chosen, and one for each
 * chunk's rest. */
static void chains_have_as_many_records_as_are_chosen(void **state)
{
    (void)state;
    enum { A_STEP = 48, B_STEP = 64, PAIRS = DPI_CHAIN_LONGEST };
    const size_t n = MOST - 1;
    for (size_t rank = 1; rank <= 2; rank++) {
        static float a[PAIRS * A_STEP], b[PAIRS * B_STEP];
        double sum[SIZE], expected[SIZE] = {0}, clip = 1e6; /* no record is so long */
        fill(PLAIN, rank, 1);
        sum_of(rank, n, NULL, clip, sum);
        size_t longest = dpi_chain_records(rank, n, clip), made = 0;
        for (size_t first = 0, m; first < n; first += m, made++) {
            size_t left = CHUNK - first % CHUNK;
            m = longest < left ? longest : left;
            m = m < n - first ? m : n - first;
            for (size_t i = 0; i < m * rank; i++) {
                double wide[ROWS + COLUMNS];
                for (size_t e = 0; e < ROWS; e++)
                    wide[e] = x[(first * rank + i) * ROWS + e];
                for (size_t e = 0; e < COLUMNS; e++)
                    wide[ROWS + e] = g[(first * rank + i) * COLUMNS + e];
                int e = dpi_pair_balance(ROWS, wide, COLUMNS, wide + ROWS, 1);
                dpi_pair_scale(ROWS, wide, ldexp(1, e), 1, A_STEP, a + i * A_STEP);
                dpi_pair_scale(COLUMNS, wide + ROWS, ldexp(1, -e), 1, B_STEP, b + i * B_STEP);
            }
            const dpi_chain_single chain = {m * rank, a, b};
            const dpi_chain_sum to = {.rows = ROWS,
                                      .columns = COLUMNS,
                                      .a_step = A_STEP,
                                      .b_step = B_STEP,
                                      .sum = expected};
            dpi_gemm_best()->add_chains_single(1, &chain, &to);
        }
        assert_true(made > 1);
        assert_memory_equal(sum, expected, sizeof sum);
    }
}

/* Neighbours' sums together may be off by what is left (src/svi/svi.c). */
static void chains_are_chosen_within_what_is_left(void **state)
{
    (void)state;
    size_t chained = 0;
    for (size_t rank = 1; rank <= 70; rank++)
        for (size_t n = 1; n < 3000; n++) {
            size_t one = dpi_chain_records(rank, n, 1), more = dpi_chain_records(rank, n + 1, 1);
            double off =
                0x1p-24 * ((double)n * left_of(rank, one) + (double)(n + 1) * left_of(rank, more));
            assert_true(off + 0x1p-18 + 0x1p-16 <= 0x1p-10);
            assert_true(one * rank <= DPI_CHAIN_LONGEST && (one == 0 || one * rank >= 8));
            chained += one > 0;
        }
    assert_true(chained > 5000);
    assert_int_equal(dpi_chain_records(1, 128, 1), 59);
    assert_int_equal(dpi_chain_records(2, 128, 1), 25);
    assert_int_equal(dpi_chain_records(8, 128, 1), 3);
    assert_int_equal(dpi_chain_records(8, 256, 1), 0);
    assert_int_equal(dpi_chain_records(8, 256, INFINITY), 8);
    assert_int_equal(dpi_chain_records(1, 64, 1e-20), 0);
    assert_int_equal(dpi_chain_records(1, 64, 1e20), 0);
    assert_int_equal(dpi_chain_records(0, 64, 1), 0);
    assert_int_equal(dpi_chain_records(65, 1, 1), 0);
}

/* A record more, in front of all others, moves every chain's ends and what it is rounded to. */
static void a_record_more_moves_a_sum_by_its_clip_at_most(void **state)
{
    (void)state;
    const size_t ranks[] = {1, 2, 8}, sizes[] = {1, 64, 120, 128, 299};
    size_t list[MOST];
    double most = 0, clip = 1 - 0x1p-10;
    for (size_t i = 0; i < MOST; i++)
        list[i] = i;
    for (int of = PLAIN; of < N_KINDS; of++)
        for (int p = 0; p < 3; p++)
            for (int k = 0; k < 5; k++) {
                double with[SIZE], without[SIZE], norm2 = 0;
                fill((kind)of, ranks[p], 13.1);
                sum_of(ranks[p], sizes[k] + 1, list, clip, with);
                sum_of(ranks[p], sizes[k], list + 1, clip, without);
                for (size_t e = 0; e < SIZE; e++)
                    norm2 += (with[e] - without[e]) * (with[e] - without[e]);
                most = fmax(most, sqrt(norm2));
            }
    print_message("# a record changes a sum by up to %.6f clips\n", most);
    assert_true(most <= 1 && most > 0.999);
}

/* One record, its factors as large and as small as floats are. */
static void a_record_adds_its_clip_at_most(void **state)
{
    (void)state;
    const size_t ranks[] = {1, 2, 8};
    const double clips[] = {1e-19, 1, 1e19};
    size_t clipped = 0;
    for (int p = 0; p < 3; p++)
        for (int a = -44; a <= 38; a += 6)
            for (int b = -44; b <= 38; b += 6)
                for (int c = 0; c < 3; c++) {
                    double sum[SIZE], norm2 = 0;
                    fill(PLAIN, ranks[p], 1);
                    for (size_t e = 0; e < ranks[p] * ROWS; e++)
                        x[e] = (float)(x[e] * pow(10, a));
                    for (size_t e = 0; e < ranks[p] * COLUMNS; e++)
                        g[e] = (float)(g[e] * pow(10, b));
                    sum_of(ranks[p], 1, NULL, clips[c], sum);
                    for (size_t e = 0; e < SIZE; e++)
                        norm2 += sum[e] / clips[c] * (sum[e] / clips[c]);
                    assert_true(norm2 <= 1 + 0x1p-17);
                    clipped += norm2 > 0.999;
                }
    print_message("# %zu records were clipped\n", clipped);
    assert_true(clipped > 700);
}

/* Records that are not finite, or too long to be added as floats, between others change no bit. */
static void records_of_weight_zero_leave_no_trace(void **state)
{
    (void)state;
    size_t kept[40], all[60], n = 0;
    const size_t ranks[] = {1, 8};
    for (int p = 0; p < 2; p++)
        for (int clipped = 0; clipped < 2; clipped++) {
            double with[SIZE], without[SIZE], clip = clipped ? 1 : INFINITY;
            fill(PLAIN, ranks[p], 1);
            n = 0;
            for (size_t r = 0; r < 60; r++) {
                all[r] = r;
                if (r % 3 == 1) /* floats overflow, or the gradient is longer than 2^100 */
                    x[r * ranks[p] * ROWS] = clipped || r % 2 ? 1e200 : 1e36;
                else
                    kept[n++] = r;
            }
            sum_of(ranks[p], 60, all, clip, with);
            sum_of(ranks[p], n, kept, clip, without);
            assert_int_equal(n, 40);
            assert_memory_equal(with, without, sizeof with);
            assert_true(with[0] != 0 && isfinite(with[0]));
        }
}

static void failing_memory_leaves_no_run(void **state)
{
    (void)state;
    const size_t live = faulty_live();
    for (size_t rank = 1; rank <= 2; rank++) {
        setting t;
        int failed = 1;
        set_up(&t, rank);
        const size_t before = faulty_live();
        for (size_t k = 1; failed; k++) {
            dpi_run *run = NULL;
            dp_error err = {0};
            faulty_fail(k);
            dp_status status = new_run(&t, true, &run, &err);
            if (status == DP_OK)
                status = dpi_run_chains_new(run, &err);
            failed = faulty_failed();
            faulty_fail(0);
            assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
            dpi_run_free(run);
            assert_int_equal(faulty_live(), before);
        }
        tear_down(&t);
    }
    assert_int_equal(faulty_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_stay_within_the_bound),
        cmocka_unit_test(chains_have_as_many_records_as_are_chosen),
        cmocka_unit_test(chains_are_chosen_within_what_is_left),
        cmocka_unit_test(a_record_more_moves_a_sum_by_its_clip_at_most),
        cmocka_unit_test(a_record_adds_its_clip_at_most),
        cmocka_unit_test(records_of_weight_zero_leave_no_trace),
        cmocka_unit_test(failing_memory_leaves_no_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
