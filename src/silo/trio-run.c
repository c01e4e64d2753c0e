/* dp_silo_trio_run: one party's part of a regression by three, from public terms.
 *
 * What all have agreed on is hashed, grid and noise with it, as it is computed at each: machines
 * whose arithmetic differs do not begin. */
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "silo/pay-columns.h"
#include "silo/trio-rows.h"
#include "silo/trio-run.h"

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
    dp_reservation *paid;                 /* NULL: no ledger */
    bool begun;                           /* something may have been opened */
} trio_party;

/* ---- terms ---- */

static dp_status hash_terms(const trio_party *r, unsigned char to[DPI_SILO_HASH], dp_error *err)
{
    const dpi_silo_trio_terms *t = &r->terms;
    const dpi_silo_trio_grid *g = &r->grid;
    dpi_bytes b = {NULL, 0, 0, false};
    dpi_bytes_text(&b, "tacit: a regression by three parties, 1");
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
    const dp_spending what = {.data = r->opts->ledger_data,
                              .label =
                                  r->opts->ledger_label != NULL ? r->opts->ledger_label : label,
                              .list = &m,
                              .n = 1};
    dp_error found = {DP_OK, ""};
    dp_status status = dp_ledger_reserve(r->opts->ledger, &what, &r->paid, &found);
    return status == DP_EMISMATCH
               ? dpi_fail(err, status,
                          "%s (the run is counted for records that are replaced: the budget must "
                          "be of those, --adjacency replace-one)",
                          found.text)
           : status != DP_OK ? dpi_fail(err, status, "%s", found.text)
                             : DP_OK;
}

/* Of a run that has opened nothing all is given back; of one that has, nothing is, however few its
 * steps were.  What cannot be written stays spent. */
static void settle(const trio_party *r, dp_status status)
{
    const uint64_t none = 0, all = r->terms.steps;
    dp_status settled = DP_OK;
    if (r->paid != NULL && (!r->begun || status == DP_OK))
        settled = dp_reservation_settle(r->paid, r->begun ? &all : &none, NULL);
    (void)settled;
    dp_reservation_free(r->paid);
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

/* Links, terms, rows that are common, and keys that are bound to all of it. */
static dp_status meet(trio_party *r, dp_error *err)
{
    unsigned char context[DPI_SILO_HASH];
    dp_status status = sodium_init() >= 0
                           ? dpi_silo_trio_meet(r->opts, r->self, r->watch, &r->links, err)
                           : dpi_fail(err, DP_EENTROPY, "libsodium cannot be started");
    if (status == DP_OK)
        status = compare_terms(r, err);
    if (status == DP_OK)
        status =
            dpi_silo_trio_rows_find(r->what, r->data, r->opts->threads, &r->links, &r->rows, err);
    if (status == DP_OK && r->what->ids != NULL) {
        r->terms.rows = r->rows.n;
        status = dpi_silo_trio_grid_make(&r->terms, &r->grid, err);
    }
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

dp_status dpi_silo_trio_run(const dp_silo_trio *terms, const dp_silo_trio_opts *opts,
                            const dp_silo_trio_data *data, const dpi_silo_trio_watch *watch,
                            size_t *rows, double *w, dp_error *err)
{
    trio_party r = {.what = terms, .opts = opts, .data = data, .watch = watch};
    *rows = 0;
    dp_status status = dpi_silo_trio_agree(terms, &r.terms, &r.grid, err);
    if (status != DP_OK) /* how many coefficients there are is not known */
        return status;
    memset(w, 0, r.grid.d * sizeof *w);
    status = dpi_silo_trio_self(opts, &r.self, err);
    if (status == DP_OK)
        status = dpi_silo_trio_rows_check(terms, r.self, data, err);
    if (status == DP_OK)
        status = check_ledger(&r, err);
    if (status == DP_OK && r.terms.z > 0)
        status = dp_noise_new(&r.noise, err);
    if (status == DP_OK && opts->ledger != NULL)
        status = pay(&r, err);
    if (status == DP_OK)
        status = meet(&r, err);
    if (status == DP_OK)
        status = regress(&r, w, err);
    if (status == DP_OK)
        tell_moved(&r);
    *rows = status == DP_OK ? r.rows.n : 0;
    settle(&r, status);
    dpi_silo_trio_part(&r.links);
    dpi_mesh_free(r.mesh);
    dpi_silo_trio_rows_free(&r.rows);
    dp_noise_free(r.noise);
    return status;
}

dp_status dp_silo_trio_run(const dp_silo_trio *terms, const dp_silo_trio_opts *opts,
                           const dp_silo_trio_data *data, size_t *rows, double *w, dp_error *err)
{
    if (opts->identity == NULL)
        dpi_misuse(__func__, "no identity");
    return dpi_silo_trio_run(terms, opts, data, NULL, rows, w, err);
}
