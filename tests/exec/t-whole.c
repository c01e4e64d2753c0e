/* Clipped sums in whole numbers: of each record what it adds to a clipped sum, rounded, and so the
 * same in any order and however records are cut into sums; products of more numbers and records
 * than are taken at once; records that are not finite, or whose factors' squares are not. */
#include "exec/whole.h"

#include <math.h>
#include <string.h>

#include "tests/exec/network.h"
#include "tests/lib/check.h"

enum { NETWORKS = 300 };

typedef double numbers[MOST_RELEASE];

/* The first m records' sums, in whole numbers and as they are. */
static void add_first(dpi_run *run, size_t m, double clip, double steps, double *whole, double *sum)
{
    static numbers unit;
    double scratch[2 * RECORDS];
    memset(whole, 0, sizeof(numbers));
    memset(sum, 0, sizeof(numbers));
    dpi_run_clip_whole(run, m, NULL, clip, steps, scratch, unit, whole);
    dpi_run_clip_sum(run, m, clip, scratch, sum);
}

/* Of record after record: a number is off by half of a step, and by rounding. */
static void compare(const network *n, dpi_choice choice, bool single)
{
    static numbers whole[2], sum[2];
    const double steps = 0x1p20, clip = 1.375, off = single ? 0x1p-4 : 0x1p-20;
    dpi_run *run = network_run(n, choice, single, 0);
    memset(whole, 0, sizeof whole);
    memset(sum, 0, sizeof sum);
    for (size_t m = 1; m <= RECORDS; m++) {
        const size_t now = m % 2, before = 1 - now;
        add_first(run, m, clip, steps, whole[now], sum[now]);
        for (size_t e = 0; e < n->release; e++) {
            const double added = whole[now][e] - whole[before][e];
            assert_true(added == rint(added));
            assert_true(fabs(added - steps * (sum[now][e] - sum[before][e])) <= 0.5 + off * 32);
        }
    }
    dpi_run_free(run);
}

static void records_add_what_they_do_rounded(void **state)
{
    static const dpi_choice choices[] = {DPI_CHEAPEST, DPI_ALWAYS_PRODUCTS, DPI_ALWAYS_ONE_BY_ONE};
    (void)state;
    for (size_t i = 0; i < NETWORKS; i++) {
        network n;
        network_new(&n, i);
        for (int k = 0; k < 3; k++)
            for (int single = 0; single < 2; single++)
                compare(&n, choices[k], single);
        network_free(&n);
    }
}

/* Units of one record are as records; of several their gradients are added up first. */
static void units_are_rounded_once(void **state)
{
    static const size_t ones[RECORDS] = {1, 1, 1, 1, 1}, mixed[] = {1, 3, 1};
    static numbers a, b, unit, sum;
    double scratch[2 * RECORDS];
    const double steps = 0x1p16, clip = 0.875;
    (void)state;
    for (size_t i = 0; i < NETWORKS; i++) {
        network n;
        network_new(&n, i);
        dpi_run *run = network_run(&n, DPI_CHEAPEST, false, 0);
        memset(a, 0, sizeof a);
        memset(b, 0, sizeof b);
        dpi_run_clip_whole(run, RECORDS, NULL, clip, steps, scratch, unit, a);
        dpi_run_clip_whole(run, RECORDS, ones, clip, steps, scratch, unit, b);
        assert_memory_equal(a, b, sizeof a);
        memset(a, 0, sizeof a);
        memset(sum, 0, sizeof sum);
        dpi_run_clip_whole(run, 3, mixed, clip, steps, scratch, unit, a);
        dpi_run_clip_units(run, 3, mixed, clip, scratch, unit, sum);
        for (size_t e = 0; e < n.release; e++) {
            assert_true(a[e] == rint(a[e]));
            assert_true(fabs(a[e] - steps * sum[e]) <= 1.5 + 0x1p-10);
        }
        dpi_run_free(run);
        network_free(&n);
    }
}

/* ---- outer products of more than is taken at once ---- */

enum { SIDE = 50, MANY = 150 };

/* A record's gradient is a b^T, and where there is s, s a and a beside it. */
typedef struct products {
    size_t rows, columns, n, release;
    double a[MANY * SIDE], b[MANY * SIDE], s[MANY];
    dpi_arena arena;
    dp_error err;
    dpi_graph graph;
    dp_dataset *data;
    dpi_run *run;
} products;

static dpi_id column(products *p, const char *name, size_t size, const double *values)
{
    dp_dataset_real(p->data, name, size, values);
    return dpi_source(&p->graph, &dpi_op_data, name, (dpi_attr){.shape = dpi_vector(size, true)});
}

static void products_start(products *p, bool beside)
{
    p->err = (dp_error){0};
    dpi_graph_init(&p->graph, &p->arena, &p->err);
    p->data = dp_dataset_new(p->n);
    dpi_id a = column(p, "a", p->rows, p->a), b = column(p, "b", p->columns, p->b);
    dpi_id part[3] = {dpi_apply(&p->graph, &dpi_op_outer, a, b, NULL)};
    if (beside)
        part[1] = dpi_times(&p->graph, column(p, "s", 1, p->s), part[2] = a);
    assert_ok(p->err.status, p->err.text);
    dpi_run_spec spec = {.graph = &p->graph,
                         .parts = part,
                         .n_parts = beside ? 3 : 1,
                         .data = p->data,
                         .chunk = MANY};
    assert_ok(dpi_run_new(&spec, &p->run, &p->err), p->err.text);
    dpi_run_globals(p->run);
    dpi_run_records(p->run, p->n, NULL, 0);
    p->release = p->rows * p->columns + (beside ? 2 * p->rows : 0);
    assert_true(p->release <= MOST_RELEASE);
}

static void products_end(products *p)
{
    dpi_run_free(p->run);
    dp_dataset_free(p->data);
    dpi_arena_free(&p->arena);
}

/* Of numbers that are exact; records whose products are not finite among them. */
static void fill(products *p)
{
    for (size_t r = 0; r < p->n; r++) {
        const bool spoilt = r % 9 == 4;
        p->s[r] = spoilt ? 1e200 : (double)(r % 5) / 2 - 1;
        for (size_t i = 0; i < p->rows; i++)
            p->a[r * p->rows + i] = spoilt ? 1e200 : (double)((7 * r + 3 * i) % 11) / 4 - 1;
        for (size_t j = 0; j < p->columns; j++)
            p->b[r * p->columns + j] = spoilt ? -1e200 : (double)((5 * r + j) % 13) / 4 - 1.5;
    }
}

static void add_by_hand(const products *p, size_t r, double steps, double *sum)
{
    const double *a = p->a + r * p->rows, *b = p->b + r * p->columns;
    double *beside = sum + p->rows * p->columns;
    for (size_t i = 0; i < p->rows; i++) {
        for (size_t j = 0; j < p->columns; j++)
            sum[i * p->columns + j] += rint(steps * a[i] * b[j]);
        beside[i] += rint(steps * p->s[r] * a[i]);
        beside[p->rows + i] += rint(steps * a[i]);
    }
}

static void products_of_any_size_are_added_up(void **state)
{
    static const size_t sizes[][3] = {{37, 50, 150}, {50, 37, 65}, {8, 16, 64}, {17, 10, 129},
                                      {2, 19, 63},   {50, 2, 150}, {11, 9, 3}};
    static products p;
    static numbers whole, unit, expected;
    double scratch[2 * MANY];
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        p = (products){.rows = sizes[k][0], .columns = sizes[k][1], .n = sizes[k][2]};
        fill(&p);
        products_start(&p, true);
        memset(whole, 0, sizeof whole);
        memset(expected, 0, sizeof expected);
        dpi_run_clip_whole(p.run, p.n, NULL, 1e6, 4, scratch, unit, whole);
        for (size_t r = 0; r < p.n; r++)
            if (r % 9 != 4)
                add_by_hand(&p, r, 4, expected);
        for (size_t e = 0; e < p.release; e++)
            assert_true(whole[e] == expected[e]);
        products_end(&p);
    }
}

/* What is accounted for: the clip norm, and half of a step for each number. */
static void no_record_adds_more_than_is_accounted_for(void **state)
{
    static const double sizes[][2] = {{1e150, 1e-170}, {1e-170, 1e150}, {1e153, 1},
                                      {3, 5},          {1e200, 1e-200}, {1e-200, 1e-250},
                                      {1e200, 1e200},  {1e-3, 1e-4}};
    static const double clips[] = {1e-100, 1e-30, 1e-6, 1, 1e100};
    static products p;
    static numbers whole, unit;
    double scratch[2 * MANY];
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        p = (products){.rows = 19, .columns = 37, .n = 1};
        for (size_t i = 0; i < p.columns; i++) {
            p.a[i] = sizes[k][0] * (1 + (double)i / 16);
            p.b[i] = sizes[k][1] * (1 - (double)i / 16);
        }
        products_start(&p, false);
        for (size_t c = 0; c < sizeof clips / sizeof *clips; c++) {
            double norm2 = 0;
            memset(whole, 0, sizeof whole);
            dpi_run_clip_whole(p.run, 1, NULL, clips[c], 0x1p32 / clips[c], scratch, unit, whole);
            for (size_t e = 0; e < p.release; e++)
                norm2 += whole[e] * whole[e];
            assert_true(sqrt(norm2) <= 0x1p32 * (1 + 0x1p-40) + sqrt((double)p.release) / 2);
        }
        products_end(&p);
    }
}

/* What is not finite adds nothing, and what is beside it is as without it. */
static void what_has_no_norm_adds_nothing(void **state)
{
    double unit[] = {1, -2, NAN}, sum[] = {7, 7, 7};
    (void)state;
    assert_true(dpi_clip_add_whole(3, unit, 1, 0x1p20, sum) == 0);
    unit[2] = 1e200; /* whose square is not */
    assert_true(dpi_clip_add_whole(3, unit, 1, 0x1p20, sum) == 0);
    for (int e = 0; e < 3; e++)
        assert_true(sum[e] == 7);
    unit[2] = 2;
    assert_true(dpi_clip_add_whole(3, unit, 1.5, 0x1p20, sum) == 0.5);
    assert_true(sum[0] == 7 + 0x1p19 && sum[1] == 7 - 0x1p20 && sum[2] == 7 + 0x1p20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_add_what_they_do_rounded),
        cmocka_unit_test(units_are_rounded_once),
        cmocka_unit_test(products_of_any_size_are_added_up),
        cmocka_unit_test(no_record_adds_more_than_is_accounted_for),
        cmocka_unit_test(what_has_no_norm_adds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
