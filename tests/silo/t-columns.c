/* Regressions over columns of two owners: the same as of one table, but for noise, whose law is the
 * one that is counted. */
#include "silo/columns.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "silo/check.h"
#include "silo/joint.h"
#include "silo/split.h"
#include "tests/lib/check.h"
#include "tests/silo/owners.h"

enum { MOST_D = 32, MOST_OPENED = 1 << 14 };

typedef struct columns_side {
    const dpi_columns_terms *terms;
    size_t rows;
    double *x, *y; /* y NULL: has no outcomes */
    double w[MOST_D];
    double *opened; /* [n_opened] as integers */
    size_t n_opened;
    dpi_columns_grid grid;
    dp_status status;
    dp_error err;
} columns_side;

static owners all;
static columns_side sides[2];
static uint64_t seed;
static uint32_t patience = 60000;

static double uniform(void)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (double)(seed >> 11) * 0x1p-53;
}

static double gauss(void)
{
    return sqrt(-2 * log(uniform() + 0x1p-60)) * cos(2 * M_PI * uniform());
}

/* Columns as those of a table of measures of cells: ten quantities, each three times, which go
 * together.  What lies at the two owners is of the same rows. */
static void draw(const dpi_columns_terms *t, size_t rows)
{
    seed = 5;
    for (int p = 0; p < 2; p++) {
        sides[p] = (columns_side){.terms = t, .rows = rows};
        sides[p].x = calloc(rows * t->columns[p], sizeof(double));
        sides[p].y = t->outcome == (size_t)p ? calloc(rows, sizeof(double)) : NULL;
        sides[p].opened = calloc(MOST_OPENED, sizeof(double));
        assert_true(sides[p].x != NULL && sides[p].opened != NULL);
    }
    for (size_t i = 0; i < rows; i++) {
        const double size = gauss(), shape = gauss();
        double score = .3 * gauss();
        for (int p = 0; p < 2; p++)
            for (size_t j = 0; j < t->columns[p]; j++) {
                const double v = (j % 3 == 0 ? size : j % 3 == 1 ? shape : 0) * .4 + .8 * gauss();
                const double norm = sqrt((double)t->columns[p]);
                sides[p].x[i * t->columns[p] + j] = v / (2 * norm);
                score += v * ((j + (size_t)p) % 2 == 0 ? .5 : -.4);
            }
        sides[t->outcome].y[i] = t->logistic ? (score > 0 ? 1 : -1) : .2 * score;
    }
}

static void drop(void)
{
    for (int p = 0; p < 2; p++) {
        free(sides[p].x);
        free(sides[p].y);
        free(sides[p].opened);
    }
}

static void keep(void *of, uint64_t step, const dpi_columns_grid *grid, size_t d, const int64_t *h)
{
    columns_side *s = of;
    (void)step;
    s->grid = *grid;
    for (size_t j = 0; j < d && s->n_opened < MOST_OPENED; j++)
        s->opened[s->n_opened++] = (double)h[j];
}

static void *act(void *of)
{
    columns_side *s = of;
    const size_t k = (size_t)(s - sides);
    dpi_carrier *carrier = NULL;
    dpi_post *post = NULL;
    dpi_columns_state *state = NULL;
    const unsigned char records[32] = {0};
    s->status = dpi_carrier_memory(all.box, &carrier, &s->err);
    const dpi_post_opts post_opts = owners_post(&all, k, carrier, patience);
    if (s->status == DP_OK)
        s->status = dpi_columns_state_new(NULL, &post_opts, records, &state, &s->err);
    if (s->status == DP_OK)
        s->status = dpi_columns_state_meet(state, &post_opts, &post, &s->err);
    const dpi_columns_run_opts o = {.terms = s->terms,
                                    .part = &all.parts[k],
                                    .post = post,
                                    .state = state,
                                    .rows = s->rows,
                                    .x = s->x,
                                    .y = s->y,
                                    .opened = keep,
                                    .of = s};
    if (s->status == DP_OK)
        s->status = dpi_columns_run(&o, s->w, &s->err);
    dpi_post_close(post);
    dpi_columns_state_free(state);
    if (carrier != NULL)
        carrier->kind->close(carrier);
    return NULL;
}

/* Parts of a program that was checked. */
static void plan(const dpi_columns_terms *t)
{
    dpi_silo_parties who = {.n = 2, .colluders = 1, .most_records = 1000};
    dpi_joint_columns c = {.times = t->steps, .numbers = MOST_D, .z = t->z, .delta = 1e-5};
    const dpi_silo_scheme *scheme = dpi_silo_scheme_named(t->z > 0 ? "columns+dp" : "columns");
    dpi_silo_program p;
    dpi_silo_view *views;
    size_t n;
    dp_error err = {0};
    owners_make(&all, 2);
    memcpy(who.names, all.names, sizeof all.names);
    assert_ok(dpi_silo_joint_columns(&p, &who, &c, &err), err.text);
    assert_ok(dpi_silo_split(&p, scheme, &all.arena, all.parts, &err), err.text);
    assert_ok(dpi_silo_check(&p, scheme, all.parts, &all.arena, &n, &views, &err), err.text);
}

static void run(void)
{
    pthread_t threads[2];
    for (int k = 0; k < 2; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, act, &sides[k]), 0);
    for (int k = 0; k < 2; k++)
        (void)pthread_join(threads[k], NULL);
}

/* ---- without noise ---- */

/* All columns at one place, in floating point. */
static void solve(const dpi_columns_terms *t, size_t rows, double w[2][MOST_D])
{
    const double of_score = t->logistic ? .25 : 1, of_outcome = t->logistic ? .5 : 1;
    memset(w, 0, 2 * sizeof *w);
    for (uint64_t k = 0; k < t->steps; k++) {
        double g[2][MOST_D] = {{0}};
        for (size_t i = 0; i < rows; i++) {
            double score = 0;
            for (int p = 0; p < 2; p++)
                for (size_t j = 0; j < t->columns[p]; j++)
                    score += sides[p].x[i * t->columns[p] + j] * w[p][j];
            const double residual = of_score * score - of_outcome * sides[t->outcome].y[i];
            for (int p = 0; p < 2; p++)
                for (size_t j = 0; j < t->columns[p]; j++)
                    g[p][j] += residual * sides[p].x[i * t->columns[p] + j];
        }
        for (int p = 0; p < 2; p++)
            for (size_t j = 0; j < t->columns[p]; j++)
                w[p][j] -= t->step * (g[p][j] / (double)rows + t->ridge * w[p][j]);
    }
}

static void without_noise_it_is_the_regression_of_one_table(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const dpi_columns_terms t = {.logistic = k == 0,
                                     .outcome = (size_t)k,
                                     .columns = {10, 20},
                                     .row_most = {1.7, 1.7},
                                     .addend_most = {2.5, 2.5},
                                     .steps = 25,
                                     .step = 2,
                                     .ridge = .01};
        double w[2][MOST_D], off = 0, size = 0;
        draw(&t, 569);
        plan(&t);
        run();
        solve(&t, 569, w);
        for (int p = 0; p < 2; p++) {
            assert_ok(sides[p].status, sides[p].err.text);
            for (size_t j = 0; j < t.columns[p]; j++) {
                off += (sides[p].w[j] - w[p][j]) * (sides[p].w[j] - w[p][j]);
                size += w[p][j] * w[p][j];
            }
        }
        assert_true(size > .1);
        assert_true(sqrt(off / size) < 1e-6);
        owners_free(&all);
        drop();
    }
}

/* ---- noise ---- */

/* What is opened where coefficients stay 0: what follows from outcomes alone, in integers. */
static double exact(const dpi_columns_terms *t, int p, size_t j)
{
    int64_t row[MOST_D];
    const columns_side *s = &sides[p];
    const size_t d = t->columns[p];
    double sum = 0;
    for (size_t i = 0; i < s->rows; i++) {
        dpi_columns_bound(d, s->x + i * d, s->grid.x_scale, t->row_most[p], s->grid.x_most[p], row);
        sum +=
            (double)row[j] * dpi_columns_addend((t->logistic ? -.5 : -1) * sides[t->outcome].y[i],
                                                s->grid.s_scale, s->grid.s_most[t->outcome]);
    }
    return sum;
}

/* The noise of all that was opened has the variance of two shares: sums of its squares lie where
 * those of normal numbers do but with probability 1e-10. */
static void opened_noise_is_of_both_owners(void **state)
{
    static const struct {
        double z;
        size_t rows;
        int dropped;
    } cases[] = {{40, 100, 0}, {.02, 2000, 3}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const dpi_columns_terms t = {.logistic = c == 0,
                                     .outcome = 1,
                                     .columns = {3, 30},
                                     .row_most = {1, 1},
                                     .addend_most = {1, 1},
                                     .steps = 60,
                                     .step = 0,
                                     .z = cases[c].z};
        draw(&t, cases[c].rows);
        plan(&t);
        run();
        for (int p = 0; p < 2; p++) {
            assert_ok(sides[p].status, sides[p].err.text);
            assert_int_equal(sides[p].grid.dropped, cases[c].dropped);
            assert_int_equal(sides[p].n_opened, t.steps * t.columns[p]);
            const double sd = ldexp(M_SQRT2, 32 - cases[c].dropped);
            double squares = 0, between = 0;
            for (size_t j = 0; j < t.columns[p]; j++) {
                const double e = exact(&t, p, j);
                double last = 0;
                for (size_t k = 0; k < t.steps; k++) {
                    const double v = (sides[p].opened[k * t.columns[p] + j] - e) / sd;
                    squares += v * v;
                    if (k % 2 == 1)
                        between += (v - last) * (v - last) / 2;
                    last = v;
                }
            }
            const double n = (double)sides[p].n_opened;
            assert_true(gsl_cdf_chisq_P(squares, n) > 1e-10);
            assert_true(gsl_cdf_chisq_Q(squares, n) > 1e-10);
            assert_true(gsl_cdf_chisq_P(between, n / 2) > 1e-10); /* another one in each step */
            assert_true(gsl_cdf_chisq_Q(between, n / 2) > 1e-10);
        }
        owners_free(&all);
        drop();
    }
}

/* ---- the grid ---- */

/* Whatever rows and addends are, a record adds no more than noise is made for. */
static void what_a_record_adds_is_bounded(void **state)
{
    static const double z[] = {.02, 1, 40, 3000};
    (void)state;
    seed = 3;
    for (size_t c = 0; c < sizeof z / sizeof *z; c++) {
        const dpi_columns_terms t = {.columns = {5, 700},
                                     .row_most = {1, 3},
                                     .addend_most = {2, .5},
                                     .steps = 10,
                                     .z = z[c]};
        dpi_columns_grid g;
        dp_error err = {0};
        double most = 0;
        assert_ok(dpi_columns_grid_make(&t, 4000, &g, &err), err.text);
        const double counted = ldexp(1, 32 - g.dropped) / t.z;
        for (int k = 0; k < 300; k++) {
            double square = 0, addends = 0, x[700];
            int64_t row[700];
            for (int p = 0; p < 2; p++) {
                const double size = k % 3 == 0   ? t.row_most[p]
                                    : k % 3 == 1 ? 1e300
                                                 : t.row_most[p] * 2 * uniform();
                double norm = 0, own = 0;
                for (size_t j = 0; j < t.columns[p]; j++) {
                    x[j] = k % 2 == 0 ? gauss() : 1;
                    norm += x[j] * x[j];
                }
                for (size_t j = 0; j < t.columns[p]; j++)
                    x[j] *= size / sqrt(norm);
                dpi_columns_bound(t.columns[p], x, g.x_scale, t.row_most[p], g.x_most[p], row);
                for (size_t j = 0; j < t.columns[p]; j++)
                    own += (double)row[j] * (double)row[j];
                assert_true(sqrt(own) <= g.x_scale * t.row_most[p]);
                assert_true(k % 3 == 2 || sqrt(own) > .9 * g.x_scale * t.row_most[p]);
                square += own;
                addends +=
                    dpi_columns_addend(k % 2 == 0 ? 1e9 : (double)NAN, g.s_scale, g.s_most[p]);
            }
            most = fmax(most, sqrt(square) * addends);
        }
        assert_true(most <= counted);
        assert_true(most > .9 * counted); /* and not much less */
    }
}

static void numbers_that_do_not_fit_are_refused(void **state)
{
    dpi_columns_terms t = {
        .columns = {2, 2}, .row_most = {1, 1}, .addend_most = {1, 1}, .steps = 5, .z = 1};
    dpi_columns_grid g;
    dp_error err = {0};
    (void)state;
    dp_status status = dpi_columns_grid_make(&t, 0, &g, &err);
    assert_fails(status, DP_EUNSUPPORTED, &err, "0 rows");
    status = dpi_columns_grid_make(&t, (1 << 20) + 1, &g, &err);
    assert_fails(status, DP_EUNSUPPORTED, &err, "2^20");
    t.z = 1e8;
    status = dpi_columns_grid_make(&t, 100, &g, &err);
    assert_fails(status, DP_EUNSUPPORTED, &err, "larger epsilon");
    t.z = 40;
    t.row_most[1] = 1e7;
    status = dpi_columns_grid_make(&t, 100, &g, &err);
    assert_fails(status, DP_EUNSUPPORTED, &err, "too far apart");
    assert_close(dpi_columns_bits(1), 64, 0, 0);
    assert_close(dpi_columns_bits(1000), 74, 0, 0);
}

/* Owners who have agreed on different things do not come to a result. */
static void letters_of_other_sizes_end_it(void **state)
{
    const dpi_columns_terms t = {.columns = {3, 4},
                                 .row_most = {1, 1},
                                 .addend_most = {1, 1},
                                 .steps = 2,
                                 .step = 1,
                                 .z = 40};
    dpi_columns_terms other = t;
    (void)state;
    other.columns[0] = 900;
    draw(&t, 9000);
    plan(&t);
    sides[1].terms = &other;
    patience = 2000;
    run();
    patience = 60000;
    assert_int_equal(sides[1].status, DP_EPEER);
    for (size_t j = 0; j < 4; j++)
        assert_close(sides[1].w[j], 0, 0, 0);
    owners_free(&all);
    drop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_noise_it_is_the_regression_of_one_table),
        cmocka_unit_test(opened_noise_is_of_both_owners),
        cmocka_unit_test(what_a_record_adds_is_bounded),
        cmocka_unit_test(numbers_that_do_not_fit_are_refused),
        cmocka_unit_test(letters_of_other_sizes_end_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
