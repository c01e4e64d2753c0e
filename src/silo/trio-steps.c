/* One party's run of a regression on shares: rows are given, steps are taken, coefficients opened.
 *
 *   u = X w              a layer of Trio; with noise w is public, and each does it on its parts
 *   r = shifted, cut u   or of the sigmoid's table
 *   G = X' r             a layer of Trio
 *   with noise           H = G + K0 + K1 + K2 is opened to all, and all do w -= step H
 *   without              w -= shifted (G + rho w), on shares
 *
 * All parties make the same calls in the same order, which follow from terms and grid alone.  Room
 * is made before the first step. */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "share/elements.h"
#include "share/kernels.h"
#include "share/table.h"
#include "silo/columns.h"
#include "silo/trio-openings.h"

enum { BITS = DPI_SILO_TRIO_BITS };

typedef struct trio_steps {
    const dpi_silo_trio_opts *o;
    const dpi_silo_trio_terms *t;
    const dpi_silo_trio_grid *g;
    dpi_party *p;
    size_t n, d, own;   /* rows; columns of all and of this party */
    size_t n_own;       /* rows of this party */
    dpi_share across;   /* X' [d][n] */
    dpi_share rows;     /* X [n][d] */
    dpi_share y, u;     /* [n]; u becomes the residuals */
    dpi_share w, sum;   /* [d]; w without noise */
    dpi_share added;    /* [d] a share of noise, or rho w */
    dpi_blocks room;    /* for blocks of so many numbers */
    dpi_relu low, high; /* of residuals: shift and lower bound; upper bound */
    dpi_relu down;      /* of sums */
    dpi_table table;
    int64_t *mine;           /* [own][n] or, by rows, [n_own][d] integers */
    int64_t *drawn, *opened; /* [d] */
    int64_t *coefficients;   /* [d] with noise */
    void *kernel;            /* room of a local layer */
    dpi_trio_opener opener;
    uint64_t first; /* step */
} trio_steps;

/* ---- what this party gives ---- */

static dp_status refuse_row(size_t i, const char *what, dp_error *err)
{
    return dpi_fail(err, DP_EDATA,
                    "row %zu has %s beyond its bound, and without noise nothing is cut; plan with "
                    "a wider bound, or mend the row",
                    i + 1, what);
}

/* Rows as integers; with noise longer ones are shortened. */
static dp_status bring_rows(trio_steps *s, dp_error *err)
{
    const size_t role = s->p->role, d = s->own;
    const bool by_rows = dpi_silo_trio_by_rows(s->t);
    int64_t row[DPI_SILO_TRIO_COLUMNS];
    dp_status status = DP_OK;
    for (size_t i = 0; d > 0 && i < s->n_own && status == DP_OK; i++) {
        const double *x = s->o->x + i * d;
        double norm = 0;
        for (size_t j = 0; j < d; j++)
            norm = hypot(norm, x[j]);
        if (s->t->z == 0 && !(norm <= s->t->row_most[role] * (1 + 0x1p-40)))
            status = refuse_row(i, "a norm", err);
        dpi_columns_bound(d, x, s->g->x_scale, s->t->row_most[role], s->g->x_most[role], row);
        for (size_t j = 0; j < d; j++)
            s->mine[by_rows ? i * d + j : j * s->n + i] = row[j];
    }
    sodium_memzero(row, sizeof row);
    return status;
}

/* Outcomes, in `mine`, after rows have been given. */
static void bring_outcomes(trio_steps *s)
{
    const double most = (double)s->g->y_most;
    for (size_t i = 0; i < s->n_own; i++) {
        const double v = s->o->y[i] * s->g->y_scale;
        s->mine[i] = (int64_t)nearbyint(v > most ? most : v < -most ? -most : v);
    }
}

static dp_status check_outcomes(const trio_steps *s, dp_error *err)
{
    const double most = s->t->outcome_most * (1 + 0x1p-40);
    for (size_t i = 0; !s->t->logistic && s->t->z == 0 && i < s->n_own; i++)
        if (!(fabs(s->o->y[i]) <= most))
            return refuse_row(i, "an outcome", err);
    return DP_OK;
}

/* to[n][m] = from[m][n], of each part. */
static void transpose(const trio_steps *s, size_t m, size_t n, const dpi_share *from,
                      const dpi_share *to)
{
    for (size_t part = 0; part < s->p->row->parts[s->p->role]; part++) {
        const uint64_t *a = from->part[part];
        uint64_t *b = to->part[part];
        for (size_t j = 0; j < m; j++)
            for (size_t i = 0; i < n; i++)
                b[i * m + j] = a[j * n + i];
    }
}

/* Elements first ... first + n - 1 of z are party k's, who has them in `mine`. */
static void give_block(trio_steps *s, size_t k, dpi_share *z, size_t first, size_t n)
{
    dpi_share block = dpi_share_from(DPI_RING_64, z, first, n);
    if (n > 0)
        dpi_trio_give(s->p, k, k == s->p->role ? s->mine : NULL, &block);
}

static void give_columns(trio_steps *s)
{
    const size_t outcome = s->t->outcome;
    for (size_t k = 0; k < DPI_TRIO_ROLES; k++)
        give_block(s, k, &s->across, s->g->first[k] * s->n, s->t->columns[k] * s->n);
    if (s->p->role == outcome)
        bring_outcomes(s);
    give_block(s, outcome, &s->y, 0, s->n);
    transpose(s, s->d, s->n, &s->across, &s->rows);
}

static void give_rows(trio_steps *s)
{
    const size_t *rows = s->t->rows_of;
    for (size_t k = 0, first = 0; k < DPI_TRIO_ROLES; first += rows[k++])
        give_block(s, k, &s->rows, first * s->d, rows[k] * s->d);
    if (s->n_own > 0)
        bring_outcomes(s);
    for (size_t k = 0, first = 0; k < DPI_TRIO_ROLES; first += rows[k++])
        give_block(s, k, &s->y, first, rows[k]);
    transpose(s, s->n, s->d, &s->rows, &s->across);
}

/* ---- scores ---- */

static dpi_linear layer(size_t outputs, size_t terms)
{
    return (dpi_linear){
        .records = 1, .outputs = outputs, .terms = terms, .inputs = terms, .stops = 1};
}

static void score(trio_steps *s)
{
    const dpi_linear l = layer(s->n, s->d);
    if (s->t->z == 0) {
        s->p->row->linear(s->p, DPI_RING_64, &l, &s->w, &s->rows, NULL, 0, &s->u);
        return;
    }
    for (size_t part = 0; part < s->p->row->parts[s->p->role]; part++) {
        const dpi_linear_pair pair = {s->coefficients, s->rows.part[part]};
        memset(s->u.part[part], 0, s->n * sizeof(uint64_t));
        dpi_linear_run(DPI_RING_64, &l, 1, &pair, 0, 1, s->u.part[part], s->kernel);
    }
}

/* ---- residuals ---- */

static void add(trio_steps *s, uint64_t number, dpi_share *x)
{
    s->p->row->add_public(s->p, DPI_RING_64, NULL, number, x);
}

/* x = x / 2^shift to the nearest, |x| < 2^60: it is made 0 or more and relued. */
static void shift_down(trio_steps *s, const dpi_relu *r, dpi_share *x)
{
    add(s, UINT64_C(1) << BITS, x);
    dpi_relu_run(s->p, DPI_RING_64, r, &s->room, x, x);
    add(s, 0 - (UINT64_C(1) << (BITS - r->shift)), x);
}

/* The same, and brought to [-r_most, r_most]. */
static void cut_down(trio_steps *s, dpi_share *x)
{
    const uint64_t most = (uint64_t)s->g->r_most;
    add(s, most << s->low.shift, x);
    dpi_relu_run(s->p, DPI_RING_64, &s->low, &s->room, x, x);
    dpi_share_scale(s->p, DPI_RING_64, UINT64_MAX, x, x);
    add(s, 2 * most, x);
    dpi_relu_run(s->p, DPI_RING_64, &s->high, &s->room, x, x);
    dpi_share_scale(s->p, DPI_RING_64, UINT64_MAX, x, x);
    add(s, most, x);
}

static void subtract_from_scores(trio_steps *s)
{
    if (s->t->logistic)
        dpi_table_run(s->p, DPI_RING_64, &s->table, &s->room, &s->u, &s->u);
    dpi_share_subtract(s->p, DPI_RING_64, &s->u, &s->y, &s->u);
    if (!s->t->logistic && s->g->r_most > 0)
        cut_down(s, &s->u);
    else if (!s->t->logistic)
        shift_down(s, &s->low, &s->u);
}

static void sum_up(trio_steps *s)
{
    const dpi_linear l = layer(s->d, s->n);
    s->p->row->linear(s->p, DPI_RING_64, &l, &s->u, &s->across, NULL, 0, &s->sum);
}

/* ---- coefficients ---- */

static void advance_shared(trio_steps *s)
{
    if (s->g->lift > 0)
        dpi_share_scale(s->p, DPI_RING_64, UINT64_C(1) << s->g->lift, &s->sum, &s->sum);
    if (s->g->ridge > 0) {
        dpi_share_scale(s->p, DPI_RING_64, s->g->ridge, &s->w, &s->added);
        dpi_share_add(s->p, DPI_RING_64, &s->sum, &s->added, &s->sum);
    }
    shift_down(s, &s->down, &s->sum);
    dpi_share_subtract(s->p, DPI_RING_64, &s->w, &s->sum, &s->w);
}

/* Each party's share of noise, given like rows. */
static dp_status add_noise(trio_steps *s, dp_error *err)
{
    dp_status status = dp_noise_shares(s->o->noise, s->d, s->drawn, err);
    for (size_t k = 0; k < DPI_TRIO_ROLES && status == DP_OK; k++) {
        dpi_trio_give(s->p, k, k == s->p->role ? s->drawn : NULL, &s->added);
        dpi_share_add(s->p, DPI_RING_64, &s->sum, &s->added, &s->sum);
    }
    sodium_memzero(s->drawn, s->d * sizeof *s->drawn);
    return status;
}

/* Products stand alone, so that they are rounded alike at all parties. */
static dp_status advance_public(trio_steps *s, dp_error *err)
{
    const dpi_silo_trio_terms *t = s->t;
    const double n = (double)s->n, most = 0x1p61;
    const double by_sum = s->g->w_scale * t->step / (n * s->g->x_scale * s->g->r_scale);
    const double by_w = t->step * t->ridge;
    bool holds = true;
    for (size_t j = 0; j < s->d && holds; j++) {
        const double down = by_sum * (double)s->opened[j];
        const double shrink = by_w * (double)s->coefficients[j];
        holds = fabs(down) < most && fabs(shrink) < most;
        if (holds)
            s->coefficients[j] -= (int64_t)nearbyint(down) + (int64_t)nearbyint(shrink);
    }
    return holds && dpi_silo_trio_holds(t, s->g, s->coefficients)
               ? DP_OK
               : dpi_fail(err, DP_EACCURACY,
                          "coefficients left the integers that they are computed with: steps of "
                          "%g are too long for these columns or this noise; plan for shorter "
                          "ones, fewer, or more epsilon",
                          t->step);
}

static dp_status advance_noisy(trio_steps *s, uint64_t step, dp_error *err)
{
    dp_status status = add_noise(s, err);
    if (status == DP_OK)
        status = dpi_trio_open_sum(&s->opener, step, s->coefficients, &s->sum, s->opened, err);
    if (status != DP_OK || dpi_mesh_status(s->p->mesh) != DP_OK)
        return status;
    return advance_public(s, err);
}

/* Without noise P0 would deal for all steps and then wait for their end, which may be long after
 * its patience: it goes at most so many steps ahead of P1, who says when one is done. */
static void keep_pace(trio_steps *s, uint64_t step)
{
    enum { P0, P1, AHEAD = 8 };
    unsigned char done[sizeof step] = {0};
    const uint64_t last = s->t->steps;
    if (s->p->role == P1) {
        memcpy(dpi_mesh_room(s->p->mesh, P0, sizeof done), done, sizeof done);
        dpi_mesh_post(s->p->mesh, P0);
    }
    uint64_t takes = step > AHEAD;
    if (step == last)
        takes += last < AHEAD ? last : AHEAD;
    for (; s->p->role == P0 && takes > 0; takes--)
        dpi_mesh_take(s->p->mesh, P1, done, sizeof done);
}

/* ---- the run ---- */

static dp_status make_shares(trio_steps *s, dp_error *err)
{
    size_t numbers = 0;
    if (!dpi_mul(s->n, s->d, &numbers))
        return dpi_fail_nomem(err);
    const struct {
        dpi_share *x;
        size_t n;
    } all[] = {{&s->across, numbers}, {&s->rows, numbers}, {&s->y, s->n},    {&s->u, s->n},
               {&s->w, s->d},         {&s->sum, s->d},     {&s->added, s->d}};
    dp_status status = DP_OK;
    for (size_t k = 0; k < sizeof all / sizeof *all && status == DP_OK; k++)
        status = dpi_share_new(s->p, DPI_RING_64, all[k].n, all[k].x, err);
    return status;
}

static dp_status make_room(trio_steps *s, dp_error *err)
{
    const size_t most = s->n > s->d ? s->n : s->d;
    const dpi_linear l = layer(s->n, s->d);
    dp_status status = make_shares(s, err);
    if (status == DP_OK)
        status = dpi_blocks_new(s->p, DPI_RING_64, DPI_CARRIES_PLANES, dpi_least(most, DPI_BLOCK),
                                &s->room, err);
    s->mine = dpi_alloc(s->n, (s->own > 1 ? s->own : 1) * sizeof *s->mine);
    s->drawn = dpi_alloc(s->d, sizeof *s->drawn);
    s->opened = dpi_alloc(s->d, sizeof *s->opened);
    s->coefficients = dpi_alloc(s->d, sizeof *s->coefficients); /* zeros */
    s->kernel = dpi_alloc(dpi_linear_room(DPI_RING_64, &l, 1), 1);
    if (status == DP_OK && (s->mine == NULL || s->drawn == NULL || s->opened == NULL ||
                            s->coefficients == NULL || s->kernel == NULL))
        status = dpi_fail_nomem(err);
    return status;
}

static void make_gates(trio_steps *s)
{
    const int shift = s->g->score_shift;
    if (s->t->logistic) {
        dpi_table_make(DPI_RING_64, BITS, shift, false, &s->table);
    } else {
        dpi_relu_make(DPI_RING_64, BITS + 1, shift, &s->low);
        dpi_relu_make(DPI_RING_64, BITS + 2 - shift, 0, &s->high);
    }
    if (s->t->z == 0)
        dpi_relu_make(DPI_RING_64, BITS + 1, s->g->sum_shift, &s->down);
}

/* Whoever waits for this party is told so by the links' end. */
static dp_status ask_to_go_on(const trio_steps *s, uint64_t step, dp_error *err)
{
    const uint64_t opened = s->t->z > 0 ? step - 1 : 0;
    return s->o->stop == NULL || !s->o->stop(s->o->of, opened)
               ? DP_OK
               : dpi_fail(err, DP_ESTOPPED, "it was stopped before step %llu of %llu",
                          (unsigned long long)step, (unsigned long long)s->t->steps);
}

/* The step before the first is opened from what was kept of it, whether or not this party has what
 * has come of it. */
static dp_status open_again(trio_steps *s, dp_error *err)
{
    const bool noisy = s->t->z > 0;
    bool is_news = false;
    if (s->o->state == NULL)
        return DP_OK;
    dpi_trio_state_coefficients(s->o->state, s->coefficients);
    dp_status status =
        dpi_trio_open_again(&s->opener, noisy ? &s->sum : &s->w, s->opened, &is_news, err);
    if (status != DP_OK || !is_news || dpi_mesh_status(s->p->mesh) != DP_OK)
        return status;
    if (noisy)
        return advance_public(s, err);
    memcpy(s->coefficients, s->opened, s->d * sizeof *s->coefficients);
    return DP_OK;
}

static dp_status take_steps(trio_steps *s, dp_error *err)
{
    dp_status status = DP_OK;
    for (uint64_t k = s->first; k <= s->t->steps && status == DP_OK; k++) {
        status = ask_to_go_on(s, k, err);
        if (status != DP_OK)
            return status;
        dpi_mesh_layer(s->p->mesh, (uint32_t)k);
        score(s);
        subtract_from_scores(s);
        sum_up(s);
        if (s->t->z > 0)
            status = advance_noisy(s, k, err);
        else
            advance_shared(s);
        if (s->t->z == 0)
            keep_pace(s, k);
        if (dpi_mesh_status(s->p->mesh) != DP_OK)
            return status;
        if (status == DP_OK && s->o->told != NULL)
            s->o->told(s->o->of, k, s->d, s->t->z > 0 ? s->opened : NULL);
    }
    return status;
}

/* Whether there are steps left to take, and so rows to give. */
static bool has_steps(const trio_steps *s)
{
    return s->first <= (s->t->z > 0 ? s->t->steps : 1);
}

/* Rows, steps and openings, from where it goes on. */
static dp_status go_on(trio_steps *s, dp_error *err)
{
    dpi_mesh_layer(s->p->mesh, 0);
    dp_status status = open_again(s, err);
    if (status != DP_OK || !has_steps(s) || dpi_mesh_status(s->p->mesh) != DP_OK)
        return status;
    if (dpi_silo_trio_by_rows(s->t))
        give_rows(s);
    else
        give_columns(s);
    status = take_steps(s, err);
    if (status != DP_OK || s->t->z > 0 || dpi_mesh_status(s->p->mesh) != DP_OK)
        return status;
    return dpi_trio_open_sum(&s->opener, 1, s->coefficients, &s->w, s->coefficients, err);
}

/* What the parties do together; an error of one's own ends it for all. */
static dp_status run(trio_steps *s, dp_error *err)
{
    dpi_mesh *mesh = s->p->mesh;
    dp_status status = go_on(s, err);
    if (status == DP_OK && dpi_mesh_status(mesh) != DP_OK)
        return dpi_fail(err, dpi_mesh_status(mesh), "%s", dpi_mesh_error(mesh)->text);
    if (status == DP_OK)
        status = dpi_trio_open_end(&s->opener, s->coefficients, err);
    dpi_mesh_flush(mesh); /* after an error, too: the others come to the same end by themselves */
    if (status != DP_OK)
        dpi_mesh_fail(mesh, status, "a step of the regression has failed");
    return status;
}

static void wipe(void *bytes, size_t n)
{
    if (bytes != NULL)
        sodium_memzero(bytes, n);
    dpi_free(bytes);
}

static void end(trio_steps *s)
{
    dpi_share *const all[] = {&s->across, &s->rows, &s->y, &s->u, &s->w, &s->sum, &s->added};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        dpi_share_free(all[k]);
    dpi_blocks_free(&s->room);
    wipe(s->mine, s->n * (s->own > 1 ? s->own : 1) * sizeof *s->mine);
    wipe(s->drawn, s->d * sizeof *s->drawn);
    wipe(s->opened, s->d * sizeof *s->opened);
    wipe(s->coefficients, s->d * sizeof *s->coefficients);
    dpi_free(s->kernel);
}

dp_status dpi_silo_trio_steps(const dpi_silo_trio_opts *o, double *w, dp_error *err)
{
    trio_steps s = {.o = o,
                    .t = o->terms,
                    .g = o->grid,
                    .p = o->party,
                    .n = o->terms->rows,
                    .d = o->grid->d,
                    .own = o->terms->columns[o->party->role],
                    .n_own = dpi_silo_trio_rows_at(o->terms, o->party->role)};
    s.opener = (dpi_trio_opener){.o = o};
    s.first = o->state != NULL ? dpi_trio_state_first(o->state) : 1;
    memset(w, 0, s.d * sizeof *w);
    dp_status status = make_room(&s, err);
    if (status == DP_OK && has_steps(&s))
        status = bring_rows(&s, err);
    if (status == DP_OK && has_steps(&s) && dpi_silo_trio_outcomes(s.t, s.p->role))
        status = check_outcomes(&s, err);
    make_gates(&s);
    if (status == DP_OK)
        status = run(&s, err);
    else
        dpi_mesh_fail(s.p->mesh, status, "a party could not begin");
    for (size_t j = 0; j < s.d && status == DP_OK; j++)
        w[j] = (double)s.coefficients[j] / s.g->w_scale;
    end(&s);
    return status;
}
