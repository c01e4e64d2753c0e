/* Trajectories against their definition: each is walked again, with sums of momenta taken afresh
 * for each row, and has to end where a row first bends back. */
#include "infer/nuts.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "tests/lib/check.h"

enum { N = 4, DEPTH = 6, MOST = 1 << (DEPTH + 1) };

/* A normal density, and the points that it has been asked for. */
typedef struct seen {
    double precision[N], z[MOST][N];
    size_t n;
} seen;

static double normal(void *of, const double *z, double *gradient)
{
    seen *s = of;
    double value = 0;
    assert_true(s->n < MOST);
    memcpy(s->z[s->n++], z, sizeof s->z[0]);
    for (int i = 0; i < N; i++) {
        value -= s->precision[i] * z[i] * z[i] / 2;
        gradient[i] = -s->precision[i] * z[i];
    }
    return value;
}

typedef struct state_of {
    double z[N], p[N];
} state_of;

static state_of leap(const seen *s, state_of at, double step)
{
    for (int i = 0; i < N; i++) {
        at.p[i] -= step / 2 * s->precision[i] * at.z[i];
        at.z[i] += step * at.p[i];
        at.p[i] -= step / 2 * s->precision[i] * at.z[i];
    }
    return at;
}

/* Of rows[from] .. rows[to - 1], by the ends asked for. */
static bool turned(const state_of *rows, size_t from, size_t to)
{
    double begin = 0, end = 0;
    for (size_t t = from; t < to; t++)
        for (int i = 0; i < N; i++) {
            begin += rows[t].p[i] * rows[from].p[i];
            end += rows[t].p[i] * rows[to - 1].p[i];
        }
    return begin <= 0 || end <= 0;
}

/* A row of `size` points, and each of its halves with the nearest point of the other; *crossing
 * counts rows that these alone end. */
static bool row_bends(const state_of *rows, size_t size, size_t *crossing)
{
    bool whole = turned(rows, 0, size);
    bool cross = turned(rows, 0, size / 2 + 1) || turned(rows, size / 2 - 1, size);
    *crossing += cross && !whole;
    return whole || cross;
}

/* Whether a row bends that ends at point i of a half, whose number of points is 2^k. */
static bool some_row_bends(const state_of *half, size_t i, size_t *crossing)
{
    for (size_t size = 2; (i + 1) % size == 0; size *= 2)
        if (row_bends(half + i + 1 - size, size, crossing))
            return true;
    return false;
}

typedef struct tally {
    size_t doublings, after, crossing[2]; /* within halves; of the whole */
} tally;

static void reverse(state_of *rows, size_t size)
{
    for (size_t i = 0; i < size / 2; i++) {
        state_of other = rows[i];
        rows[i] = rows[size - 1 - i];
        rows[size - 1 - i] = other;
    }
}

static bool near(const double *a, const double *b)
{
    double most = 0;
    for (int i = 0; i < N; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most < 1e-9;
}

/* Walks as the transition has done that began at `at` and saw s; fails where it went on or stopped
 * otherwise. */
static void follow(const seen *s, const dpi_nuts *nuts, const state_of *at, tally *t)
{
    state_of rows[MOST];
    size_t size = 1, used = 0;
    bool bent = false;
    double way = 1; /* in which rows are ordered */
    rows[0] = *at;
    for (int doubling = 0; doubling < DEPTH && !bent; doubling++, size *= 2) {
        state_of before = leap(s, rows[0], -way * nuts->step);
        if (near(before.z, s->z[used])) {
            reverse(rows, size);
            way = -way;
        }
        t->after += way > 0;
        t->doublings++;
        for (size_t i = 0; i < size && !bent; i++) {
            assert_true(used < s->n);
            rows[size + i] = leap(s, rows[size + i - 1], way * nuts->step);
            assert_true(near(rows[size + i].z, s->z[used++]));
            bent = some_row_bends(rows + size, i, &t->crossing[0]);
        }
        if (!bent)
            bent = row_bends(rows, 2 * size, &t->crossing[1]);
    }
    assert_int_equal(used, s->n);
    assert_true(nuts->cut == !bent);
}

/* Steps are such that all questions are needed; half of the doublings go either way, to 6.2
 * standard errors. */
static void trajectories_end_where_a_row_first_bends(void **state)
{
    (void)state;
    const double sds[][N] = {{1, 1, 1, 1}, {1, 0.6, 0.45, 0.3}, {1, 1, 0.31, 0.3}};
    tally t = {0};
    for (size_t k = 0; k < 3; k++)
        for (double step = 0.05; step < 1.3 * sds[k][N - 1]; step *= 1.13) {
            const double origin[N] = {0};
            seen s = {.n = 0};
            dpi_arena arena = {0};
            dpi_nuts nuts;
            dpi_hmc_point at;
            dpi_target target = {.n = N, .log_density = normal, .of = &s};
            dp_error err = {0};
            dp_rng *rng;
            assert_ok(dp_rng_new(k, &rng, &err), err.text);
            for (int i = 0; i < N; i++)
                s.precision[i] = 1 / (sds[k][i] * sds[k][i]);
            assert_true(dpi_nuts_init(&nuts, &target, DEPTH, &arena) &&
                        dpi_hmc_point_init(&at, N, &arena));
            nuts.in.origin = origin;
            nuts.step = step;
            dp_rng_normal(rng, N, at.x);
            assert_true(dpi_nuts_evaluate(&nuts, &at));
            for (int i = 0; i < 1000; i++) {
                state_of from;
                s.n = 0;
                memcpy(from.z, at.x, sizeof from.z);
                dpi_nuts_step(&nuts, &at, rng);
                memcpy(from.p, at.momentum, sizeof from.p);
                follow(&s, &nuts, &from, &t);
            }
            dp_rng_free(rng);
            dpi_arena_free(&arena);
        }
    assert_true(t.crossing[0] > 100 && t.crossing[1] > 100);
    assert_close((double)t.after / (double)t.doublings, 0.5, 0, 3.1 / sqrt((double)t.doublings));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trajectories_end_where_a_row_first_bends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
