/* dp_silo_trio_run: one party's part of a regression by three, from public terms.
 *
 * What all have agreed on is hashed, grid and noise with it, as it is computed at each: machines
 * whose arithmetic differs do not begin. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "silo/pay-columns.h"
#include "silo/trio-rows.h"
#include "silo/trio-run.h"

enum { OVER_PATIENCE = 60000 /* ms */ };

static const char label[] = "a regression by three parties";

typedef struct trio_party {
    const dp_silo_trio *what;
    const dp_silo_trio_opts *opts;
    const dp_silo_trio_data *data;
    const dpi_silo_trio_watch *watch; /* nullable */
    dpi_silo_trio_terms terms;
    dpi_silo_trio_grid grid;
    size_t self;
    dp_noise *noise;
    dpi_silo_trio_links links;
    dpi_silo_trio_rows rows;
    dpi_mesh *mesh;
    dpi_wire_session *link[DP_SILO_TRIO]; /* of the mesh, as long as it has not failed */
    dpi_silo_payment paid;
    dpi_trio_state *state;
    unsigned char met[DPI_SILO_HASH]; /* a hash of where all go on */
    bool begun;                       /* something may have been opened */
} trio_party;

/* ---- terms ---- */

static dp_status hash_terms(const trio_party *r, unsigned char to[DPI_SILO_HASH], dp_error *err)
{
    const dpi_silo_trio_terms *t = &r->terms;
    const dpi_silo_trio_grid *g = &r->grid;
    dpi_bytes b = {NULL, 0, 0, false};
    dpi_bytes_text(&b, "tacit: a regression by three parties, 2");
    dpi_bytes_text(&b, r->what->name);
    dpi_bytes_text(&b, r->what->ids);
    dpi_bytes_number(&b, r->what->rows);
    const uint64_t numbers[] = {t->logistic,
                                t->told,
                                t->rows,
                                t->outcome,
                                t->steps,
                                (uint64_t)g->lift,
                                g->ridge,
                                (uint64_t)g->sum_shift,
                                (uint64_t)g->score_shift};
    const double reals[] = {t->outcome_most,  t->residual_most, t->step,    t->ridge,   t->z,
                            r->what->epsilon, r->what->delta,   g->x_scale, g->w_scale, g->r_scale,
                            g->y_scale};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        dpi_bytes_number(&b, numbers[k]);
    for (size_t k = 0; k < sizeof reals / sizeof *reals; k++)
        dpi_bytes_real(&b, reals[k]);
    for (size_t p = 0; p < DP_SILO_TRIO; p++) {
        dpi_bytes_text(&b, r->opts->party[p].fingerprint);
        dpi_bytes_number(&b, t->columns[p]);
        dpi_bytes_number(&b, t->rows_of[p]);
        dpi_bytes_real(&b, t->row_most[p]);
    }
    dpi_bytes_add(&b, r->met, sizeof r->met);
    if (!b.failed)
        (void)crypto_generichash(to, DPI_SILO_HASH, b.at, b.n, NULL, 0);
    const bool failed = b.failed;
    dpi_bytes_free(&b);
    return failed ? dpi_fail_nomem(err) : DP_OK;
}

/* ---- what is paid ---- */

static dp_status check_ledger(const trio_party *r, dp_error *err)
{
    const dp_silo_trio_opts *o = r->opts;
    dp_status status = dpi_silo_check_ledger(o->ledger, o->ledger_data, o->ledger_label, err);
    if (status != DP_OK || o->ledger == NULL)
        return status;
    return r->terms.z > 0 && dpi_silo_trio_has(r->what, r->self)
               ? DP_OK
               : dpi_fail(err, DP_EINVAL,
                          "a ledger pays for records of its party and for noise, and here is %s; "
                          "leave the ledger out",
                          r->terms.z > 0 ? "none of the former" : "no noise");
}

static dp_status pay(trio_party *r, dp_error *err)
{
    const dp_mechanism m = dpi_silo_trio_releases(r->what, r->terms.z);
    char name[DPI_SILO_STATE_NAME], columns[100];
    dpi_trio_state_name(r->state, name);
    (void)snprintf(columns, sizeof columns, "of three parties, run %s", name);
    const dp_spending what = {.data = r->opts->ledger_data,
                              .label =
                                  r->opts->ledger_label != NULL ? r->opts->ledger_label : label,
                              .columns = columns,
                              .list = &m,
                              .n = 1};
    return dpi_silo_pay(r->opts->ledger, &what, &r->paid, err);
}

/* ---- the run ---- */

/* That all three were given the same, before anything else is said. */
static dp_status compare_terms(trio_party *r, dp_error *err)
{
    unsigned char own[DPI_SILO_HASH], all[DP_SILO_TRIO][DPI_SILO_HASH];
    unsigned char *const others[DP_SILO_TRIO] = {all[0], all[1], all[2]};
    dp_status status = hash_terms(r, own, err);
    if (status == DP_OK)
        status = dpi_silo_trio_swap(&r->links, sizeof own, own, others, err);
    for (size_t k = 0; k < DP_SILO_TRIO && status == DP_OK; k++)
        if (memcmp(own, all[k], sizeof own) != 0)
            status = dpi_fail(err, DP_EPEER,
                              "%s was given other terms, or the parties in another order, "
                              "or computes otherwise; all three need the same",
                              r->links.called[k]);
    return status;
}

/* Where all three go on, and which of them this is. */
static dp_status find_place(trio_party *r, dp_error *err)
{
    unsigned char own[DPI_TRIO_TOLD], all[DP_SILO_TRIO][DPI_TRIO_TOLD];
    unsigned char *const told[DP_SILO_TRIO] = {all[0], all[1], all[2]};
    dpi_trio_state_tell(r->state, own);
    dp_status status = dpi_silo_trio_swap(&r->links, sizeof own, own, told, err);
    if (status != DP_OK)
        return status;
    (void)crypto_generichash(r->met, sizeof r->met, all[0], sizeof all, NULL, 0);
    return dpi_trio_state_meet(r->state, told, r->links.called, err);
}

/* Rows are of no use where all have been gone over, and are not linked once more. */
static dp_status find_rows(trio_party *r, dp_error *err)
{
    const uint64_t openings = r->terms.z > 0 ? r->terms.steps : 1;
    const dpi_silo_trio_way way = {&r->links, r->state, r->opts->threads};
    dp_status status = DP_OK;
    r->rows = (dpi_silo_trio_rows){.n = dpi_trio_state_has_rows(r->state)};
    if (dpi_trio_state_first(r->state) <= openings)
        status = dpi_silo_trio_rows_find(r->what, r->data, &way, &r->rows, err);
    if (status != DP_OK || r->what->ids == NULL)
        return status;
    r->terms.rows = r->rows.n;
    return dpi_silo_trio_grid_make(&r->terms, &r->grid, err);
}

/* Links, terms, where they go on, rows that are common, and keys that are bound to all of it. */
static dp_status meet(trio_party *r, dp_error *err)
{
    unsigned char context[DPI_SILO_HASH];
    dp_status status = dpi_silo_trio_meet(r->opts, r->self, r->watch, &r->links, err);
    if (status == DP_OK)
        status = compare_terms(r, err);
    if (status == DP_OK)
        status = find_place(r, err);
    if (status == DP_OK)
        status = find_rows(r, err);
    if (status == DP_OK)
        status = hash_terms(r, context, err);
    memcpy(r->link, r->links.link, sizeof r->link);
    return status == DP_OK ? dpi_silo_trio_bind(&r->links, sizeof context, context, &r->mesh, err)
                           : status;
}

static dp_status begin(void *of, dp_error *err)
{
    const trio_party *r = of;
    return r->watch != NULL ? r->watch->begin(r->watch->of, err) : DP_OK;
}

static bool is_stopped(void *of, uint64_t opened)
{
    const trio_party *r = of;
    return r->watch != NULL && r->watch->stop(r->watch->of, opened);
}

/* What has gone over the links of a run that is over. */
static void tell_moved(const trio_party *r)
{
    for (size_t k = 0; r->watch != NULL && k < DP_SILO_TRIO; k++)
        if (k != r->self) {
            const dpi_wire_traffic t = dpi_wire_counts(r->link[k]);
            r->watch->moved(r->watch->of, k, t.bytes_sent, t.bytes_received);
        }
}

static dp_status regress(trio_party *r, double *w, dp_error *err)
{
    dpi_party party = {.row = &dpi_trio, .role = r->self, .mesh = r->mesh};
    const dpi_silo_trio_opts o = {.terms = &r->terms,
                                  .grid = &r->grid,
                                  .party = &party,
                                  .x = r->rows.x,
                                  .y = r->rows.y,
                                  .noise = r->noise,
                                  .state = r->state,
                                  .begin = begin,
                                  .stop = is_stopped,
                                  .of = r,
                                  .begun = &r->begun};
    dp_status status = dpi_party_start(&party, err);
    if (status == DP_OK)
        status = dpi_silo_trio_steps(&o, w, err);
    dpi_party_end(&party);
    return status;
}

static dp_status open_state(trio_party *r, dp_error *err)
{
    static const unsigned char nobody[DPI_SILO_SECRET];
    const dpi_silo_trio_watch *w = r->watch;
    const dp_silo_trio_data *a = r->data;
    unsigned char records[DPI_SILO_HASH];
    if (sodium_init() < 0)
        return dpi_fail(err, DP_EENTROPY, "libsodium cannot be started");
    dpi_silo_hash_records(a->rows, r->terms.columns[r->self], a->ids, a->x, a->y, records);
    const dpi_trio_state_opts o = {.path = w != NULL ? w->state : NULL,
                                   .whose = w != NULL ? w->whose : nobody,
                                   .secret = w != NULL ? w->secret : nobody,
                                   .records = records,
                                   .self = r->self,
                                   .d = r->grid.d,
                                   .openings = r->terms.z > 0 ? r->terms.steps : 1};
    dp_status status = dpi_trio_state_new(&o, &r->state, err);
    sodium_memzero(records, sizeof records);
    r->begun = status == DP_OK && dpi_trio_state_begun(r->state);
    return status;
}

static dp_status prepare(trio_party *r, dp_error *err)
{
    dp_status status = dpi_silo_trio_self(r->opts, &r->self, err);
    if (status == DP_OK)
        status = dpi_silo_trio_rows_check(r->what, r->self, r->data, err);
    if (status == DP_OK)
        status = check_ledger(r, err);
    if (status == DP_OK)
        status = open_state(r, err);
    if (status == DP_OK && r->terms.z > 0)
        status = dp_noise_new(&r->noise, err);
    return status == DP_OK && r->opts->ledger != NULL ? pay(r, err) : status;
}

/* Who has its coefficients waits for others that may lack theirs, but not as long. */
static dp_status with_others(trio_party *r, double *w, dp_error *err)
{
    const dp_silo_trio_opts *given = r->opts;
    dp_silo_trio_opts o = *given;
    if (dpi_trio_state_is_over(r->state) && (o.patience_ms == 0 || o.patience_ms > OVER_PATIENCE))
        o.patience_ms = OVER_PATIENCE;
    r->opts = &o;
    dp_status status = meet(r, err);
    if (status == DP_OK)
        status = regress(r, w, err);
    if (status == DP_OK)
        tell_moved(r);
    r->opts = given;
    return status;
}

/* Of a run that is over: another may still need this party, or has just heard all that it needs. */
static dp_status tell_again(const trio_party *r, double *w, dp_error *err)
{
    int64_t *kept = dpi_alloc(r->grid.d, sizeof *kept);
    dpi_silo_trio_terms terms = r->terms;
    dpi_silo_trio_grid grid = r->grid;
    if (kept == NULL)
        return dpi_fail_nomem(err);
    terms.rows = dpi_trio_state_has_rows(r->state);
    dp_status status = dpi_silo_trio_grid_make(&terms, &grid, err);
    dpi_trio_state_coefficients(r->state, kept);
    for (size_t j = 0; j < grid.d && status == DP_OK; j++)
        w[j] = (double)kept[j] / grid.w_scale;
    sodium_memzero(kept, grid.d * sizeof *kept);
    dpi_free(kept);
    return status;
}

dp_status dpi_silo_trio_run(const dp_silo_trio *terms, const dp_silo_trio_opts *opts,
                            const dp_silo_trio_data *data, const dpi_silo_trio_watch *watch,
                            size_t *rows, double *w, dp_error *err)
{
    trio_party r = {.what = terms, .opts = opts, .data = data, .watch = watch};
    dp_error found = {DP_OK, ""};
    *rows = 0;
    dp_status status = dpi_silo_trio_agree(terms, &r.terms, &r.grid, err);
    if (status != DP_OK) /* how many coefficients there are is not known */
        return status;
    memset(w, 0, r.grid.d * sizeof *w);
    status = prepare(&r, err);
    const bool over = status == DP_OK && dpi_trio_state_is_over(r.state);
    if (status == DP_OK && !(over && dpi_trio_state_is_closed(r.state)))
        status = with_others(&r, w, over ? &found : err);
    if (over)
        status = tell_again(&r, w, err);
    *rows = status == DP_OK ? dpi_trio_state_has_rows(r.state) : 0;
    dpi_silo_pay_end(&r.paid, r.begun, status);
    dpi_silo_trio_part(&r.links);
    dpi_mesh_free(r.mesh);
    dpi_silo_trio_rows_free(&r.rows);
    dp_noise_free(r.noise);
    dpi_trio_state_free(r.state);
    return status;
}

dp_status dp_silo_trio_run(const dp_silo_trio *terms, const dp_silo_trio_opts *opts,
                           const dp_silo_trio_data *data, size_t *rows, double *w, dp_error *err)
{
    if (opts->identity == NULL)
        dpi_misuse(__func__, "no identity");
    return dpi_silo_trio_run(terms, opts, data, NULL, rows, w, err);
}
