#include "tests/silo/trio-scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "silo/columns.h"

static uint64_t seed = 5;

double trio_uniform(void)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (double)(seed >> 11) * 0x1p-53;
}

double trio_gauss(void)
{
    return sqrt(-2 * log(trio_uniform() + 0x1p-60)) * cos(2 * M_PI * trio_uniform());
}

static double *room(size_t n)
{
    double *x = calloc(n, sizeof *x);
    assert_non_null(x);
    return x;
}

/* Whose row it is, and which of its rows. */
static size_t owner_of(const trio_table *t, size_t *i)
{
    size_t p = 0;
    for (; *i >= t->terms.rows_of[p]; p++)
        *i -= t->terms.rows_of[p];
    return p;
}

/* Whether party p has something of row i. */
static bool is_of(const trio_table *t, size_t i, size_t p)
{
    return !dpi_silo_trio_by_rows(&t->terms) || owner_of(t, &i) == p;
}

static double *x_at(const trio_table *t, size_t i, size_t j)
{
    size_t p = 0;
    if (dpi_silo_trio_by_rows(&t->terms)) {
        p = owner_of(t, &i);
        return &t->side[p].x[i * t->grid.d + j];
    }
    while (p < 2 && j >= t->grid.first[p] + t->terms.columns[p])
        p++;
    return &t->side[p].x[i * t->terms.columns[p] + j - t->grid.first[p]];
}

static double *y_at(const trio_table *t, size_t i)
{
    const size_t p = dpi_silo_trio_by_rows(&t->terms) ? owner_of(t, &i) : t->terms.outcome;
    return &t->side[p].y[i];
}

void trio_draw(trio_table *t)
{
    const dpi_silo_trio_terms *a = &t->terms;
    dp_error err = {DP_OK, ""};
    assert_ok(dpi_silo_trio_grid_make(a, &t->grid, &err), err.text);
    assert_true(t->grid.d <= TRIO_MOST_D);
    for (size_t p = 0; p < DPI_TRIO_ROLES; p++) {
        trio_side *s = &t->side[p];
        const size_t rows = dpi_silo_trio_rows_at(a, p);
        *s = (trio_side){.x = a->columns[p] > 0 ? room(rows * a->columns[p]) : NULL,
                         .y = dpi_silo_trio_outcomes(a, p) ? room(rows) : NULL,
                         .opened = room(TRIO_MOST_OPENED)};
    }
    for (size_t i = 0; i < a->rows; i++) {
        const double size = trio_gauss(), shape = trio_gauss();
        double score = .3 * trio_gauss(), *y = y_at(t, i);
        for (size_t p = 0; p < DPI_TRIO_ROLES; p++)
            for (size_t j = 0; j < a->columns[p] && is_of(t, i, p); j++) {
                const double v = (j % 3 == 0   ? size
                                  : j % 3 == 1 ? shape
                                               : 0) *
                                     .4 +
                                 .8 * trio_gauss();
                *x_at(t, i, t->grid.first[p] + j) =
                    v * a->row_most[p] / (4 * sqrt((double)a->columns[p]));
                score += v * ((j + p) % 2 == 0 ? .5 : -.4);
            }
        *y = a->logistic ? score > 0 : fmax(fmin(.2 * score, a->outcome_most), -a->outcome_most);
    }
}

void trio_drop(trio_table *t)
{
    for (size_t p = 0; p < DPI_TRIO_ROLES; p++) {
        free(t->side[p].x);
        free(t->side[p].y);
        free(t->side[p].opened);
    }
}

/* ---- three parties ---- */

static void keep(void *of, uint64_t step, size_t d, const int64_t *h)
{
    trio_side *s = of;
    (void)step;
    for (size_t j = 0; h != NULL && j < d && s->n_opened < TRIO_MOST_OPENED; j++)
        s->opened[s->n_opened++] = (double)h[j];
}

static void body(dpi_party *p, void *user)
{
    trio_table *t = user;
    trio_side *s = &t->side[p->role];
    dp_noise *noise = NULL;
    s->status = t->terms.z > 0 ? dp_noise_new(&noise, &s->err) : DP_OK;
    if (s->status != DP_OK) {
        dpi_mesh_fail(p->mesh, s->status, s->err.text);
        return;
    }
    const dpi_silo_trio_opts o = {.terms = &t->terms,
                                  .grid = &t->grid,
                                  .party = p,
                                  .x = s->x,
                                  .y = s->y,
                                  .noise = noise,
                                  .told = keep,
                                  .begin = t->asked,
                                  .of = s,
                                  .begun = &s->begun};
    s->status = dpi_silo_trio_steps(&o, s->w, &s->err);
    dp_noise_free(noise);
}

static void tamper(void *user, const scene_message *message)
{
    const trio_table *t = user;
    t->tamper(user, message);
}

void trio_run(const scene *s, trio_table *t)
{
    scene_end end[DPI_SHARE_PARTIES];
    const scene_opts o = {.row = &dpi_trio,
                          .body = body,
                          .user = t,
                          .unverified = true,
                          .begin = t->begin,
                          .timeout = t->timeout,
                          .tamper = t->tamper != NULL ? tamper : NULL};
    for (size_t p = 0; p < DPI_TRIO_ROLES; p++) {
        t->side[p].n_opened = 0;
        t->side[p].status = DP_ESTATE; /* where it does not come to the regression */
    }
    scene_run(s, &o, end);
}

void trio_run_well(const scene *s, trio_table *t)
{
    trio_run(s, t);
    for (size_t p = 0; p < DPI_TRIO_ROLES; p++)
        assert_ok(t->side[p].status, t->side[p].err.text);
}

/* ---- one table ---- */

double trio_x(const trio_table *t, size_t i, size_t j)
{
    return *x_at(t, i, j);
}

void trio_solve(const trio_table *t, double w[TRIO_MOST_D])
{
    const dpi_silo_trio_terms *a = &t->terms;
    const size_t d = t->grid.d;
    double g[TRIO_MOST_D], *x = room(a->rows * d);
    for (size_t i = 0; i < a->rows * d; i++)
        x[i] = trio_x(t, i / d, i % d);
    memset(w, 0, d * sizeof *w);
    for (uint64_t k = 0; k < a->steps; k++) {
        memset(g, 0, sizeof g);
        for (size_t i = 0; i < a->rows; i++) {
            double u = 0;
            for (size_t j = 0; j < d; j++)
                u += x[i * d + j] * w[j];
            const double r = (a->logistic ? 1 / (1 + exp(-u)) : u) - *y_at(t, i);
            for (size_t j = 0; j < d; j++)
                g[j] += r * x[i * d + j];
        }
        for (size_t j = 0; j < d; j++)
            w[j] -= a->step * (g[j] / (double)a->rows + a->ridge * w[j]);
    }
    free(x);
}

void trio_integers(const trio_table *t, int64_t *x, int64_t *y)
{
    const dpi_silo_trio_terms *a = &t->terms;
    const double most = (double)t->grid.y_most;
    for (size_t i = 0; i < a->rows; i++) {
        for (size_t p = 0; p < DPI_TRIO_ROLES; p++) {
            const size_t first = t->grid.first[p];
            if (a->columns[p] > 0 && is_of(t, i, p))
                dpi_columns_bound(a->columns[p], x_at(t, i, first), t->grid.x_scale, a->row_most[p],
                                  t->grid.x_most[p], x + i * t->grid.d + first);
        }
        const double v = *y_at(t, i) * t->grid.y_scale;
        y[i] = (int64_t)nearbyint(fmax(fmin(v, most), -most));
    }
}
