/* Integers of a regression by three parties: their bounds hold for the worst data, what a record
 * adds is what noise is made for, and what no integers hold is refused. */
#include "silo/trio.h"

#include <math.h>
#include <string.h>

#include "silo/columns.h"
#include "tests/silo/trio-scene.h"

static dpi_silo_trio_terms linear(void)
{
    return (dpi_silo_trio_terms){.rows = 100,
                                 .columns = {3, 2, 4},
                                 .row_most = {1, 2, .5},
                                 .outcome_most = 3,
                                 .residual_most = 1,
                                 .steps = 50,
                                 .step = .2};
}

static dp_status make(const dpi_silo_trio_terms *t, dpi_silo_trio_grid *g)
{
    dp_error err = {DP_OK, ""};
    const dp_status status = dpi_silo_trio_grid_make(t, g, &err);
    assert_true(status == err.status);
    assert_true((status == DP_OK) == (err.text[0] == '\0'));
    return status;
}

/* ---- without noise ---- */

/* Between 2^low and 2^high. */
static double scale(double low, double high)
{
    return exp2(low + (high - low) * trio_uniform());
}

static dpi_silo_trio_terms draw_terms(int k)
{
    dpi_silo_trio_terms t = {
        .logistic = k % 2 == 0,
        .rows = (size_t)scale(0, 20),
        .columns = {(size_t)scale(0, 10), k % 3 == 0 ? 5 : 0, 1},
        .row_most = {scale(-6, 6), k % 3 == 0 ? scale(-3, 3) : 0, scale(-3, 3)},
        .outcome_most = scale(-6, 6),
        .residual_most = scale(-3, 3),
        .steps = (uint64_t)scale(0, 12),
        .ridge = k % 4 < 2 ? 0 : scale(-12, 2)};
    const double square = t.row_most[0] * t.row_most[0] + t.row_most[1] * t.row_most[1] +
                          t.row_most[2] * t.row_most[2];
    t.step = scale(-4, 0) * 1.75 / (square / (t.logistic ? 4 : 1) + t.ridge);
    return t;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

static void a_step_is_a_shift(void **state)
{
    size_t made = 0;
    (void)state;
    for (int k = 0; k < 2000; k++) {
        const dpi_silo_trio_terms t = draw_terms(k);
        dpi_silo_trio_grid g;
        if (make(&t, &g) != DP_OK)
            continue;
        made++;
        const double a = g.x_scale, n = (double)t.rows;
        assert_true(near(ldexp(a * g.w_scale, -g.score_shift), t.logistic ? 1024 : g.r_scale));
        assert_true(near(g.y_scale, t.logistic ? 0x1p14 : a * g.w_scale));
        assert_true(near(g.w_scale * t.step / n, ldexp(a * g.r_scale, g.lift - g.sum_shift)));
        assert_true(fabs((double)g.ridge - ldexp(t.step * t.ridge, g.sum_shift)) <= .5);
        assert_true(g.score_shift >= 0 && g.lift >= 0 && g.sum_shift >= 1);
    }
    assert_true(made > 1000);
}

/* Many short rows that lead coefficients far, and few that are as long as they may be, in one
 * direction, all with the largest outcomes: integers as real numbers of their size. */
typedef struct worst {
    double length[2], rows[2], y[2]; /* of either kind */
    double most;                     /* of scores and sums so far */
} worst;

static worst draw_worst(const dpi_silo_trio_terms *t, const dpi_silo_trio_grid *g, int k)
{
    const double longest =
        hypot(hypot((double)g->x_most[0], (double)g->x_most[1]), (double)g->x_most[2]);
    const double path = sqrt(t->step * (double)t->steps * (t->logistic ? .25 : 1));
    const double few = k % 3 == 0 ? floor(scale(0, log2((double)t->rows))) : 1;
    const double y = (double)g->y_most;
    return (worst){.length = {fmin(scale(-3, 3) * g->x_scale / path, longest), longest},
                   .rows = {(double)t->rows - few, few},
                   .y = {y, k % 5 == 0 ? -y : y}};
}

static void step_of(const dpi_silo_trio_terms *t, const dpi_silo_trio_grid *g, worst *a, double *w)
{
    double sum = 0;
    for (int k = 0; k < 2; k++) {
        const double u = a->length[k] * *w - (t->logistic ? 0 : a->y[k]);
        const double v = ldexp(u, -g->score_shift);
        const double r = t->logistic ? 0x1p14 / (1 + exp(-v / 1024)) - fmax(a->y[k], 0) : v;
        sum += ldexp(a->rows[k] * a->length[k] * r, g->lift);
        a->most = fmax(a->most, a->rows[k] > 0 ? fabs(u) : 0);
    }
    sum += (double)g->ridge * *w;
    a->most = fmax(a->most, fabs(sum));
    *w -= ldexp(sum, -g->sum_shift);
}

static void no_data_leave_the_bounds(void **state)
{
    const double most = 0x1p60;
    double closest[4] = {0}; /* linear and logistic, without a ridge and with one */
    (void)state;
    for (int k = 0; k < 4000; k++) {
        dpi_silo_trio_terms t = draw_terms(k);
        dpi_silo_trio_grid g;
        if (k % 8 >= 6)
            t.ridge = scale(-24, -8); /* that holds coefficients and hardly rows */
        if (make(&t, &g) != DP_OK)
            continue;
        worst a = draw_worst(&t, &g, k);
        double w = 0;
        for (uint64_t i = 0; i < t.steps; i++)
            step_of(&t, &g, &a, &w);
        assert_true(a.most < most);
        double *at = &closest[(t.logistic ? 0 : 2) + (t.ridge > 0)];
        *at = fmax(*at, a.most / most);
    }
    for (int k = 0; k < 4; k++)
        assert_true(closest[k] > .1); /* and they are no wider than they must be */
}

/* ---- with noise ---- */

/* Whatever rows are, a record adds no more than the noise of two parties is made for. */
static void what_a_record_adds_is_bounded(void **state)
{
    static const double z[] = {.02, 1, 40, 1500};
    size_t made = 0;
    (void)state;
    for (int k = 0; k < 400; k++) {
        dpi_silo_trio_terms t = draw_terms(k);
        dpi_silo_trio_grid g;
        double square = 0;
        t.z = z[k / 2 % 4];
        t.residual_most = t.outcome_most * scale(-3, 3);
        if (make(&t, &g) != DP_OK)
            continue; /* of rows that are too short beside others */
        made++;
        for (size_t p = 0; p < DPI_TRIO_ROLES; p++) {
            double x[DPI_SILO_TRIO_COLUMNS], norm = 0;
            int64_t row[DPI_SILO_TRIO_COLUMNS];
            const size_t d = t.columns[p];
            for (size_t j = 0; j < d; j++) {
                x[j] = trio_gauss() * (k % 3 == 0 ? 1e300 : 1);
                norm = hypot(norm, x[j]);
            }
            for (size_t j = 0; j < d && k % 3 == 1; j++)
                x[j] *= t.row_most[p] / norm;
            dpi_columns_bound(d, x, g.x_scale, t.row_most[p], g.x_most[p], row);
            for (size_t j = 0; j < d; j++)
                square += (double)row[j] * (double)row[j];
        }
        const double residual = 0x1p14, counted = M_SQRT2 * 0x1p32 / t.z;
        assert_true(t.logistic ? g.y_most == 1 << 14 && g.r_most == 0 : g.r_most == 1 << 14);
        assert_true(sqrt(square) * residual <= counted);
        assert_true((double)t.rows * counted < 0x1p59);
        if (k % 3 < 2)
            assert_true(sqrt(square) * residual > counted / 2); /* noise is not for much more */
    }
    assert_true(made > 300);
}

/* A row lies at one owner: the longest bound is that of all. */
static void a_record_of_rows_adds_one_row(void **state)
{
    (void)state;
    for (int logistic = 0; logistic < 2; logistic++) {
        dpi_silo_trio_terms t = {.logistic = logistic == 1,
                                 .rows = 100,
                                 .rows_of = {60, 0, 40},
                                 .columns = {7, 0, 7},
                                 .row_most = {.5, 0, 3},
                                 .outcome_most = 1,
                                 .residual_most = 2,
                                 .steps = 10,
                                 .step = .1,
                                 .z = 20};
        dpi_silo_trio_grid g;
        const double counted = M_SQRT2 * 0x1p32 / t.z;
        assert_int_equal(make(&t, &g), DP_OK);
        assert_int_equal(g.d, 7);
        assert_true((double)g.x_most[2] * 0x1p14 <= counted);
        assert_true((double)(g.x_most[2] + 2) * 0x1p14 > counted);
        assert_true(near((double)g.x_most[0], floor((double)g.x_most[2] / 6)));
        for (int k = 0; k < 4; k++) {
            dpi_silo_trio_terms u = t;
            if (k == 0)
                u.rows++;
            else if (k == 1)
                u.columns[2] = 6;
            else if (k == 2)
                u.outcome = 2;
            else
                u.columns[1] = 7, u.row_most[1] = 1;
            assert_int_equal(make(&u, &g), DP_EDOMAIN);
        }
    }
}

static void coefficients_with_noise_have_a_bound(void **state)
{
    (void)state;
    dpi_silo_trio_terms t = linear();
    dpi_silo_trio_grid g;
    int64_t w[TRIO_MOST_D] = {0};
    t.z = 5;
    assert_int_equal(make(&t, &g), DP_OK);
    assert_true(dpi_silo_trio_holds(&t, &g, w));
    const double row = hypot(hypot((double)g.x_most[0], (double)g.x_most[1]), (double)g.x_most[2]);
    w[4] = (int64_t)((0x1p59 - (double)g.y_most) * (1 - 0x1p-18) / row);
    assert_true(dpi_silo_trio_holds(&t, &g, w));
    w[4] = -(int64_t)((0x1p59 - (double)g.y_most) / row);
    assert_false(dpi_silo_trio_holds(&t, &g, w));
}

/* ---- refusals ---- */

static void terms_that_are_none_are_refused(void **state)
{
    (void)state;
    for (int k = 0; k < 18; k++) {
        dpi_silo_trio_terms t = linear();
        dpi_silo_trio_grid g;
        t.z = k % 2 == 0 ? 0 : 3;
        switch (k / 2 * 2) {
        case 0:
            t.step = k == 0 ? NAN : 0;
            break;
        case 2:
            t.rows = k == 2 ? 0 : DPI_SILO_TRIO_ROWS + 1;
            break;
        case 4:
            t.columns[1] = k == 4 ? 0 : DPI_SILO_TRIO_COLUMNS + 1;
            break;
        case 6:
            t.row_most[2] = k == 6 ? 0 : INFINITY;
            break;
        case 8:
            t.outcome = 3;
            break;
        case 10:
            t.steps = k == 10 ? 0 : DPI_SILO_TRIO_STEPS + 1;
            break;
        case 12:
            t.ridge = k == 12 ? -1 : NAN;
            break;
        case 14:
            t.outcome_most = k == 14 ? 0 : -1;
            break;
        default:
            t.z = k == 16 ? -1 : 3;
            t.residual_most = k == 16 ? 1 : 0;
        }
        assert_int_equal(make(&t, &g), DP_EDOMAIN);
    }
}

static void what_no_integers_hold_is_refused(void **state)
{
    (void)state;
    dpi_silo_trio_terms t = linear();
    dpi_silo_trio_grid g;
    t.step = .4; /* rows have squares up to 5.25 */
    assert_int_equal(make(&t, &g), DP_EDOMAIN);
    t = linear();
    t.rows = DPI_SILO_TRIO_ROWS;
    t.steps = DPI_SILO_TRIO_STEPS;
    assert_int_equal(make(&t, &g), DP_EUNSUPPORTED);
    t = linear();
    t.row_most[2] = 1e-12;
    assert_int_equal(make(&t, &g), DP_EUNSUPPORTED);
    t = linear();
    t.z = 1e5;
    assert_int_equal(make(&t, &g), DP_EUNSUPPORTED);
    t.z = 1e-8;
    assert_int_equal(make(&t, &g), DP_EUNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_a_shift),
        cmocka_unit_test(no_data_leave_the_bounds),
        cmocka_unit_test(what_a_record_adds_is_bounded),
        cmocka_unit_test(a_record_of_rows_adds_one_row),
        cmocka_unit_test(coefficients_with_noise_have_a_bound),
        cmocka_unit_test(terms_that_are_none_are_refused),
        cmocka_unit_test(what_no_integers_hold_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
