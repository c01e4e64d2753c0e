/* Regressions by three parties: the same as of one table, but for noise, whose law is the one that
 * is counted. */
#define _POSIX_C_SOURCE 200809L
#include "silo/trio.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "share/table.h"
#include "tests/silo/trio-scene.h"

/* In rows of one table, the middle party having none. */
static void cut_by_rows(trio_table *t)
{
    dpi_silo_trio_terms *a = &t->terms;
    const size_t d = a->columns[0];
    a->outcome = 0;
    for (size_t p = 0; p < DPI_TRIO_ROLES; p++) {
        a->rows_of[p] = p == 0 ? a->rows / 3 : p == 2 ? a->rows - a->rows / 3 : 0;
        a->columns[p] = p == 1 ? 0 : d;
        a->row_most[p] = p == 0 ? 1.5 : p == 2 ? 2 : 0;
    }
}

/* Draws of noise that come to pass, -1: all. */
static atomic_int draws_left = -1;

dp_status __real_dp_noise_shares(dp_noise *noise, size_t n, int64_t *out, dp_error *err);
dp_status __wrap_dp_noise_shares(dp_noise *noise, size_t n, int64_t *out, dp_error *err);
dp_status __wrap_dp_noise_shares(dp_noise *noise, size_t n, int64_t *out, dp_error *err)
{
    if (draws_left >= 0 && draws_left-- == 0) {
        *err = (dp_error){DP_EENTROPY, "no noise"};
        return DP_EENTROPY;
    }
    return __real_dp_noise_shares(noise, n, out, err);
}

/* ---- without noise ---- */

static trio_table linear(void)
{
    return (trio_table){.terms = {.rows = 569,
                                  .outcome = 1,
                                  .columns = {10, 12, 8},
                                  .row_most = {2, 1, 1.5},
                                  .outcome_most = 1.5,
                                  .steps = 25,
                                  .step = .2,
                                  .ridge = .01,
                                  .told = true}};
}

static trio_table logistic(void)
{
    return (trio_table){.terms = {.logistic = true,
                                  .rows = 569,
                                  .outcome = 0,
                                  .columns = {20, 10, 0},
                                  .row_most = {2, 2, 0},
                                  .steps = 40,
                                  .step = .8,
                                  .ridge = .01}};
}

static double apart(const double *a, const double *b, size_t d, double *size)
{
    double off = 0;
    *size = 0;
    for (size_t j = 0; j < d; j++) {
        off += (a[j] - b[j]) * (a[j] - b[j]);
        *size += b[j] * b[j];
    }
    *size = sqrt(*size);
    return sqrt(off);
}

static void a_linear_regression_is_that_of_one_table(void **state)
{
    trio_table t = linear();
    double w[TRIO_MOST_D], size;
    trio_draw(&t);
    trio_run_well(*state, &t);
    trio_solve(&t, w);
    for (size_t p = 0; p < DPI_TRIO_ROLES; p++) {
        const double off = apart(t.side[p].w, w, t.grid.d, &size);
        assert_true(size > .1);
        assert_true(off < 1e-6 * size);
        assert_true(t.side[p].begun);
        assert_int_equal(t.side[p].n_opened, 0);
    }
    trio_drop(&t);
}

/* The mean gradient is off by R / 1024 at most in each step, and a step brings no two w further
 * apart; in truth errors have both signs. */
static void a_logistic_regression_is_that_of_one_table(void **state)
{
    trio_table t = logistic();
    double w[TRIO_MOST_D], all[TRIO_MOST_D] = {0}, size;
    trio_draw(&t);
    trio_run_well(*state, &t);
    trio_solve(&t, w);
    memcpy(all, t.side[0].w, 20 * sizeof *all);
    memcpy(all + 20, t.side[1].w + 20, 10 * sizeof *all);
    const double off = apart(all, w, t.grid.d, &size);
    const double bound = t.terms.step * (double)t.terms.steps * sqrt(8) * 0x1p-10;
    assert_true(size > 1);
    assert_true(off < bound + t.grid.off);
    assert_true(off < 1e-3 * size);
    trio_drop(&t);
}

static void each_owner_is_told_its_own_coefficients(void **state)
{
    trio_table t = logistic();
    t.terms.steps = 2;
    trio_draw(&t);
    trio_run_well(*state, &t);
    for (size_t p = 0; p < DPI_TRIO_ROLES; p++)
        for (size_t j = 0; j < t.grid.d; j++)
            assert_true((t.side[p].w[j] != 0) == (j / 20 == p));
    trio_drop(&t);
}

static void owners_of_rows_get_those_of_their_table(void **state)
{
    for (int k = 0; k < 4; k++) {
        trio_table t = k % 2 == 0 ? linear() : logistic();
        double w[TRIO_MOST_D], size;
        cut_by_rows(&t);
        t.terms.told = k >= 2;
        trio_draw(&t);
        trio_run_well(*state, &t);
        trio_solve(&t, w);
        for (size_t p = 0; p < DPI_TRIO_ROLES; p++) {
            const double off = apart(t.side[p].w, w, t.grid.d, &size);
            assert_true(size > .1);
            if (p == 1 && k < 2)
                assert_true(t.side[p].w[0] == 0);
            else
                assert_true(off < (k % 2 == 0 ? 1e-6 : 1e-3) * size);
        }
        trio_drop(&t);
    }
}

/* floor(v / 2^shift + 1/2). */
static int64_t shifted(int64_t v, int shift)
{
    const int64_t up = v + ((int64_t)1 << (shift - 1));
    return (up - (int64_t)((uint64_t)up & (((uint64_t)1 << shift) - 1))) / ((int64_t)1 << shift);
}

static void be_slow(void *user, const scene_message *message)
{
    const struct timespec pause = {0, 2000000};
    (void)user;
    if (message->from == 1 && message->to == 2)
        (void)nanosleep(&pause, NULL);
}

static bool all_end_well(const trio_table *t)
{
    bool well = true;
    for (size_t p = 0; p < DPI_TRIO_ROLES; p++)
        well = well && t->side[p].status == DP_OK;
    return well;
}

/* Steps that together take much longer than a party waits for a message; again where the machine
 * stands still for as long, which patience for all steps would not outlast either. */
static void patience_is_for_a_step_and_not_for_all(void **state)
{
    for (int k = 0; k < 2; k++) {
        trio_table t = linear();
        t.terms.rows = 64;
        t.terms.steps = k == 0 ? 50 : 3; /* more and less than a party goes ahead */
        t.timeout = 1500;
        t.tamper = be_slow;
        trio_draw(&t);
        int tries = 0;
        do
            trio_run(*state, &t);
        while (!all_end_well(&t) && ++tries < 5);
        assert_true(all_end_well(&t));
        trio_drop(&t);
    }
}

/* Step by step as integers, which here fit 64 bits because bounds hold. */
static void steps_are_those_of_integers_to_the_bit(void **state)
{
    trio_table t = linear();
    t.terms.steps = 7;
    trio_draw(&t);
    trio_run_well(*state, &t);
    const size_t n = t.terms.rows, d = t.grid.d;
    int64_t w[TRIO_MOST_D] = {0}, g[TRIO_MOST_D];
    int64_t *x = calloc(n * d, sizeof *x), *y = calloc(n, sizeof *y);
    assert_true(x != NULL && y != NULL);
    trio_integers(&t, x, y);
    for (uint64_t k = 0; k < t.terms.steps; k++) {
        memset(g, 0, sizeof g);
        for (size_t i = 0; i < n; i++) {
            int64_t u = -y[i];
            for (size_t j = 0; j < d; j++)
                u += x[i * d + j] * w[j];
            assert_true(llabs(u) < (int64_t)1 << DPI_SILO_TRIO_BITS);
            const int64_t r = shifted(u, t.grid.score_shift);
            for (size_t j = 0; j < d; j++)
                g[j] += x[i * d + j] * r;
        }
        for (size_t j = 0; j < d; j++) {
            g[j] = g[j] * ((int64_t)1 << t.grid.lift) + (int64_t)t.grid.ridge * w[j];
            assert_true(llabs(g[j]) < (int64_t)1 << DPI_SILO_TRIO_BITS);
            w[j] -= shifted(g[j], t.grid.sum_shift);
        }
    }
    for (size_t j = 0; j < d; j++)
        assert_true(t.side[2].w[j] == (double)w[j] / t.grid.w_scale);
    free(x);
    free(y);
    trio_drop(&t);
}

/* What the shared table makes of scores, at all its arguments, between them and beyond. */
static void the_sigmoid_is_within_a_thousandth(void **state)
{
    enum { BITS = DPI_SILO_TRIO_BITS, SHIFT = 30, FINE = 4, END = 12 << 10, N = 2 * END * FINE };
    dpi_party p = {.row = &dpi_clear};
    dpi_blocks room;
    dpi_table table;
    dpi_share u;
    double most = 0;
    (void)state;
    assert_int_equal(dpi_party_start(&p, NULL), DP_OK);
    assert_int_equal(dpi_blocks_new(&p, DPI_RING_64, DPI_CARRIES_PLANES, N, &room, NULL), DP_OK);
    assert_int_equal(dpi_share_new(&p, DPI_RING_64, N, &u, NULL), DP_OK);
    int64_t *v = u.part[0];
    for (int i = 0; i < N; i++)
        v[i] = (int64_t)(i - N / 2) * ((int64_t)1 << SHIFT) / FINE + i % 3;
    v[0] = -((int64_t)1 << (BITS - 1));
    v[1] = (int64_t)1 << (BITS - 1);
    dpi_table_make(DPI_RING_64, BITS, SHIFT, false, &table);
    dpi_table_run(&p, DPI_RING_64, &table, &room, &u, &u);
    for (int i = 2; i < N; i++) {
        const double at = (double)(i - N / 2) / FINE * 0x1p-10;
        most = fmax(most, fabs((double)v[i] * 0x1p-14 - 1 / (1 + exp(-at))));
    }
    most = fmax(most, fmax((double)v[0], (double)((1 << 14) - v[1])) * 0x1p-14);
    assert_true(most > 7e-4);
    assert_true(most < 0x1p-10);
    dpi_share_free(&u);
    dpi_blocks_free(&room);
    dpi_party_end(&p);
}

static void what_is_beyond_its_bound_is_refused(void **state)
{
    for (int k = 0; k < 2; k++) {
        trio_table t = linear();
        t.terms.steps = 3;
        trio_draw(&t);
        if (k == 0)
            t.side[2].x[3 * 8 + 1] = 1.6;
        else
            t.side[1].y[568] = -1.6;
        trio_run(*state, &t);
        for (size_t p = 0; p < DPI_TRIO_ROLES; p++) {
            const bool owner = p == (k == 0 ? 2 : 1);
            assert_int_equal(t.side[p].status, owner ? DP_EDATA : DP_EPEER);
            assert_true(strstr(t.side[p].err.text, "row ") == NULL || owner);
            for (size_t j = 0; j < t.grid.d; j++)
                assert_true(t.side[p].w[j] == 0);
        }
        trio_drop(&t);
    }
}

/* ---- noise ---- */

static trio_table noisy(bool of_logistic, double z, size_t rows)
{
    trio_table t = {.terms = {.logistic = of_logistic,
                              .rows = rows,
                              .outcome = 2,
                              .columns = {3, 17, 0},
                              .row_most = {1, .5, 0},
                              .outcome_most = 1,
                              .residual_most = .25,
                              .steps = 60,
                              .step = 0x1p-90, /* coefficients stay 0 */
                              .z = z}};
    return t;
}

static double exact(const trio_table *t, const int64_t *x, const int64_t *y, size_t j)
{
    double sum = 0;
    for (size_t i = 0; i < t->terms.rows; i++) {
        const double most = (double)t->grid.r_most;
        const double r =
            t->terms.logistic
                ? 0x1p13 - (double)y[i]
                : fmax(fmin(-(double)y[i] * t->grid.r_scale / t->grid.y_scale, most), -most);
        sum += (double)x[i * t->grid.d + j] * nearbyint(r);
    }
    return sum;
}

/* The noise of all that was opened has the variance of three shares: sums of its squares lie where
 * those of normal numbers do but with probability 1e-10.  Residuals are cut to a quarter, without
 * which sums would be off by many times the noise. */
static void opened_noise_is_of_all_three(void **state)
{
    for (int c = 0; c < 4; c++) {
        trio_table t = noisy(c % 2 == 0, c % 2 == 0 ? 40 : .02, 512);
        if (c >= 2)
            cut_by_rows(&t);
        trio_draw(&t);
        trio_run_well(*state, &t);
        const size_t n = t.terms.rows, d = t.grid.d;
        int64_t *x = calloc(n * d, sizeof *x), *y = calloc(n, sizeof *y);
        assert_true(x != NULL && y != NULL);
        trio_integers(&t, x, y);
        double squares = 0, between = 0;
        for (size_t j = 0; j < d; j++) {
            const double e = exact(&t, x, y, j);
            double last = 0;
            for (size_t k = 0; k < t.terms.steps; k++) {
                const double v = (t.side[0].opened[k * d + j] - e) / (sqrt(3) * 0x1p32);
                squares += v * v;
                if (k % 2 == 1)
                    between += (v - last) * (v - last) / 2;
                last = v;
            }
        }
        const double m = (double)(t.terms.steps * d);
        for (size_t p = 0; p < DPI_TRIO_ROLES; p++) {
            assert_int_equal(t.side[p].n_opened, m);
            assert_memory_equal(t.side[p].opened, t.side[0].opened, t.terms.steps * d * 8);
        }
        assert_true(gsl_cdf_chisq_P(squares, m) > 1e-10);
        assert_true(gsl_cdf_chisq_Q(squares, m) > 1e-10);
        assert_true(gsl_cdf_chisq_P(between, m / 2) > 1e-10); /* another one in each step */
        assert_true(gsl_cdf_chisq_Q(between, m / 2) > 1e-10);
        free(x);
        free(y);
        trio_drop(&t);
    }
}

/* With hardly any noise the steps are those of one table, whose rows and residuals are within their
 * bounds. */
static void noisy_steps_are_those_of_one_table(void **state)
{
    for (int c = 0; c < 2; c++) {
        trio_table t = noisy(c == 0, 0x1p-9, 256);
        double w[TRIO_MOST_D], size;
        t.terms.residual_most = 2;
        t.terms.steps = 30;
        t.terms.step = 1;
        t.terms.ridge = .01;
        trio_draw(&t);
        trio_run_well(*state, &t);
        trio_solve(&t, w);
        for (size_t p = 0; p < DPI_TRIO_ROLES; p++) {
            const double off = apart(t.side[p].w, w, t.grid.d, &size);
            assert_true(size > .1);
            assert_true(off < 2e-3 * size);
            assert_memory_equal(t.side[p].w, t.side[0].w, sizeof w);
        }
        trio_drop(&t);
    }
}

static void coefficients_that_leave_the_integers_end_it_for_all(void **state)
{
    trio_table t = noisy(false, 10, 64);
    t.terms.step = 1e6;
    trio_draw(&t);
    trio_run(*state, &t);
    for (size_t p = 0; p < DPI_TRIO_ROLES; p++) {
        assert_int_equal(t.side[p].status, DP_EACCURACY);
        assert_true(t.side[p].n_opened < t.terms.steps * t.grid.d);
        assert_true(t.side[p].w[0] == 0);
    }
    trio_drop(&t);
}

/* The third share of noise that is drawn is not there. */
static void nothing_is_opened_before_all_are_ready(void **state)
{
    trio_table t = noisy(true, 10, 64);
    size_t without = 0;
    trio_draw(&t);
    draws_left = 2;
    trio_run(*state, &t);
    draws_left = -1;
    for (size_t p = 0; p < DPI_TRIO_ROLES; p++) {
        const bool fails = t.side[p].status == DP_EENTROPY;
        without += fails;
        assert_true(fails || t.side[p].status == DP_EPEER);
        assert_false(fails && t.side[p].begun);
        assert_int_equal(t.side[p].n_opened, 0);
    }
    assert_int_equal(without, 1);
    trio_drop(&t);
}

static const trio_side *unwilling;

/* Long after P0 is ready, who waits for nobody until then. */
static dp_status refuse_late(void *side, dp_error *err)
{
    const struct timespec moment = {0, 300000000};
    if (side != unwilling)
        return DP_OK;
    (void)nanosleep(&moment, NULL);
    return dpi_fail(err, DP_EIO, "it is not ready");
}

/* Whatever becomes of it: the others may open what it has said that it is ready for. */
static void who_is_ready_has_begun(void **state)
{
    trio_table t = noisy(true, 10, 64);
    trio_draw(&t);
    t.asked = refuse_late;
    for (size_t late = 1; late < DPI_TRIO_ROLES; late++) {
        unwilling = &t.side[late];
        for (size_t p = 0; p < DPI_TRIO_ROLES; p++) {
            t.side[p].begun = false;
            t.side[p].err = (dp_error){DP_OK, ""};
        }
        trio_run(*state, &t);
        for (size_t p = 0; p < DPI_TRIO_ROLES; p++) {
            assert_int_equal(t.side[p].status, p == late ? DP_EIO : DP_EPEER);
            assert_int_equal(t.side[p].n_opened, 0);
        }
        assert_true(t.side[0].begun && !t.side[late].begun);
    }
    trio_drop(&t);
}

/* One row, one column, more of them than a message has. */
static void shapes_do_not_matter(void **state)
{
    static const size_t shapes[][2] = {{1, 1}, {2, 40}, {65, 3}, {DPI_SHARE_TILE + 3, 2}};
    for (size_t k = 0; k < 8; k++) {
        trio_table t = k % 2 == 0 ? linear() : logistic();
        double w[TRIO_MOST_D], size;
        t.terms.rows = shapes[k / 2][0];
        t.terms.columns[0] = shapes[k / 2][1];
        t.terms.columns[1] = 0;
        t.terms.columns[2] = k / 2 == 1 ? 2 : 0;
        t.terms.row_most[0] = 2;
        t.terms.row_most[1] = 0;
        t.terms.row_most[2] = k / 2 == 1 ? 1 : 0;
        t.terms.steps = 5;
        t.terms.told = true;
        trio_draw(&t);
        trio_run_well(*state, &t);
        trio_solve(&t, w);
        const double off = apart(t.side[1].w, w, t.grid.d, &size);
        assert_true(off < (k % 2 == 0 ? 1e-6 : 4e-3) * size + t.grid.off);
        trio_drop(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_linear_regression_is_that_of_one_table),
        cmocka_unit_test(a_logistic_regression_is_that_of_one_table),
        cmocka_unit_test(each_owner_is_told_its_own_coefficients),
        cmocka_unit_test(owners_of_rows_get_those_of_their_table),
        cmocka_unit_test(patience_is_for_a_step_and_not_for_all),
        cmocka_unit_test(steps_are_those_of_integers_to_the_bit),
        cmocka_unit_test(the_sigmoid_is_within_a_thousandth),
        cmocka_unit_test(what_is_beyond_its_bound_is_refused),
        cmocka_unit_test(opened_noise_is_of_all_three),
        cmocka_unit_test(noisy_steps_are_those_of_one_table),
        cmocka_unit_test(coefficients_that_leave_the_integers_end_it_for_all),
        cmocka_unit_test(nothing_is_opened_before_all_are_ready),
        cmocka_unit_test(who_is_ready_has_begun),
        cmocka_unit_test(shapes_do_not_matter),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
