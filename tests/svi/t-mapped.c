/* Mapped files that somebody changes after they were checked: the run is that of other data, which
 * may be any, and neither reads beyond its arrays nor lets a record weigh more than the clip
 * norm. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacit/npy.h>

#include "svi/svi.h"
#include "tests/lib/check.h"

enum { ROWS = 120, WIDTH = 2, WORDS = 3, GROUPS = 5, SIZE = 2, STEPS = 3, THETA = 32, HEAD = 128 };

typedef struct table {
    double x[ROWS * WIDTH], y[ROWS];
    int32_t group[ROWS], words[ROWS * WORDS];
} table;

static void fill(table *t)
{
    uint64_t r = 3;
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t k = 0; k < WORDS; k++) {
            r = r * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            t->words[i * WORDS + k] = (int32_t)(r >> 33) % GROUPS;
        }
        for (size_t k = 0; k < WIDTH; k++)
            t->x[i * WIDTH + k] = (double)((r >> (20 * k)) % 1000) / 250 - 2;
        t->y[i] = (double)(r >> 50) / 4096 - 2;
        t->group[i] = (int32_t)(i * i % GROUPS);
    }
}

/* ---- the files ---- */

enum { N_FILES = 4 };

typedef struct files {
    char path[N_FILES][20];
    dp_npy *npy[N_FILES];
} files;

static const void *column(const table *t, int k, size_t *width, bool *real)
{
    const void *const at[N_FILES] = {t->x, t->y, t->group, t->words};
    const size_t widths[N_FILES] = {WIDTH, 1, 1, WORDS};
    *width = widths[k];
    *real = k < 2;
    return at[k];
}

/* Writes the table's values over those in the files, which mappings see. */
static void put(const files *f, const table *t)
{
    for (int k = 0; k < N_FILES; k++) {
        size_t width;
        bool real;
        const void *values = column(t, k, &width, &real);
        FILE *file = fopen(f->path[k], "r+b");
        assert_non_null(file);
        assert_int_equal(fseek(file, HEAD, SEEK_SET), 0);
        assert_int_equal(fwrite(values, real ? 8 : 4, ROWS * width, file), ROWS * width);
        assert_int_equal(fclose(file), 0);
    }
}

static void make(files *f, const table *t)
{
    dp_error err = {0};
    for (int k = 0; k < N_FILES; k++) {
        char head[HEAD + 1] = "\x93NUMPY\x01\x00\x76", text[HEAD - 10];
        size_t width;
        bool real;
        (void)column(t, k, &width, &real);
        (void)snprintf(text, sizeof text,
                       "{'descr': '<%s', 'fortran_order': False, 'shape': (%d, %zu), }",
                       real ? "f8" : "i4", ROWS, width);
        (void)snprintf(head + 10, sizeof head - 10, "%-117s\n", text);
        memcpy(f->path[k], "t-mapped-XXXXXX", sizeof "t-mapped-XXXXXX");
        int file = mkstemp(f->path[k]);
        assert_true(file >= 0 && write(file, head, HEAD) == HEAD && close(file) == 0);
    }
    put(f, t);
    for (int k = 0; k < N_FILES; k++)
        assert_ok(dp_npy_open(f->path[k], &f->npy[k], &err), err.text);
}

static void drop(files *f)
{
    for (int k = 0; k < N_FILES; k++) {
        dp_npy_free(f->npy[k]);
        assert_int_equal(unlink(f->path[k]), 0);
    }
}

/* ---- the run ---- */

/* y ~ Normal(w.x + a[group] + the sum of its words' rows, 1), checked with `first` in the files and
 * run with `then`. */
static void fit(const table *first, const table *then, dp_precision precision, double theta[THETA])
{
    dp_error err = {0};
    files f;
    dp_svi *svi;
    const dp_svi_opts o = {.mode = DP_WITHOUT_GUARANTEE,
                           .sigma = 0.01,
                           .clip = 0.5,
                           .steps = STEPS,
                           .seed = 4,
                           .precision = precision};
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(ROWS);
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", GROUPS);
    dp_expr w = dp_param(m, "w", WIDTH, 0.5), a = dp_param_in(groups, "a", 1, 0.25),
            b = dp_param_in(groups, "b", SIZE, 0.125);
    dp_expr words = dp_pick(b, dp_indices(rows, "words", WORDS, groups));
    dp_expr mean =
        dp_add(dp_dot(dp_data(rows, "x", WIDTH), w), dp_pick(a, dp_index(rows, "group", groups)));
    dp_observe(rows, "y", dp_normal_v(dp_add(mean, dp_sum(words)), dp_num(1)));
    make(&f, first);
    dp_dataset_real(data, "x", WIDTH, dp_npy_real(f.npy[0]));
    dp_dataset_real(data, "y", 1, dp_npy_real(f.npy[1]));
    dp_dataset_index(data, "group", dp_npy_index(f.npy[2]));
    dp_dataset_indices(data, "words", WORDS, dp_npy_index(f.npy[3]));
    assert_ok(dp_svi_new(m, NULL, data, &o, &svi, &err), err.text);
    put(&f, then);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_int_equal(svi->optimizer.n, WIDTH + GROUPS + GROUPS * SIZE);
    memcpy(theta, svi->optimizer.theta, svi->optimizer.n * sizeof *theta);
    dp_svi_free(svi);
    drop(&f);
    dp_dataset_free(data);
    dp_model_free(m);
}

static const size_t n_theta = WIDTH + GROUPS + GROUPS * SIZE;

static void group_numbers_that_leave_their_range_become_zero(void **state)
{
    (void)state;
    static table checked, changed, zeros;
    const int32_t wild[] = {GROUPS, -1, INT32_MAX, INT32_MIN, 1 << 20, 100};
    fill(&checked);
    changed = zeros = checked;
    for (size_t i = 0; i < 6; i++) {
        changed.group[7 * i] = changed.words[29 * i] = wild[i];
        zeros.group[7 * i] = zeros.words[29 * i] = 0;
    }
    for (int p = DP_DOUBLE; p <= DP_SINGLE; p++) {
        double theta[THETA], expected[THETA], before[THETA];
        fit(&checked, &changed, (dp_precision)p, theta);
        fit(&zeros, &zeros, (dp_precision)p, expected);
        fit(&checked, &checked, (dp_precision)p, before);
        assert_memory_equal(theta, expected, n_theta * sizeof *theta);
        assert_memory_not_equal(theta, before, n_theta * sizeof *theta);
    }
}

/* Whatever a record's gradient overflows to, it adds what NaN adds, and nothing becomes NaN by
 * it. */
static void numbers_that_cease_to_be_finite_add_zero(void **state)
{
    (void)state;
    static table checked, one, two;
    fill(&checked);
    one = two = checked;
    const double wild[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308};
    for (size_t i = 0; i < 5; i++) {
        one.x[18 * i] = wild[i];
        two.y[9 * i] = NAN;
    }
    one.x[18 * 3 + 1] = one.x[18 * 4 + 1] = 1e308; /* whose square is infinite */
    for (int p = DP_DOUBLE; p <= DP_SINGLE; p++) {
        double theta[THETA], expected[THETA], before[THETA];
        fit(&checked, &one, (dp_precision)p, theta);
        fit(&checked, &two, (dp_precision)p, expected);
        fit(&checked, &checked, (dp_precision)p, before);
        assert_memory_equal(theta, expected, n_theta * sizeof *theta);
        assert_memory_not_equal(theta, before, n_theta * sizeof *theta);
        for (size_t e = 0; e < n_theta; e++)
            assert_true(isfinite(theta[e]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(group_numbers_that_leave_their_range_become_zero),
        cmocka_unit_test(numbers_that_cease_to_be_finite_add_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
