/* dp_silo_trio_run: one party's part of a regression by three, from public terms.
 *
 * Noise follows from epsilon and delta (doc/design/silo-trio.md): T full batches of one Gaussian
 * mechanism, for a record in place of another, against a party that knows one share of three.  A
 * little of delta is set aside for what a ledger keeps back, and for shares of noise that are no
 * real numbers.
 *
 * What all have agreed on is hashed, grid and noise with it, as it is computed at each: machines
 * whose arithmetic differs do not begin. */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include <tacit/accountant.h>
#include <tacit/silo-trio.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "silo/trio-rows.h"
#include "silo/trio.h"

enum { MOST_NAME = 60 };

static const double aside = 0x1p-20;      /* of delta */
static const double of_shares = 0x1p-160; /* more than all of a run's shares are off by */
static const char label[] = "a regression by three parties";

typedef struct trio_party {
    const dp_silo_trio *what;
    const dp_silo_trio_opts *opts;
    const dp_silo_trio_data *data;
    dpi_silo_trio_terms terms;
    dpi_silo_trio_grid grid;
    size_t self;
    dp_noise *noise;
    dpi_silo_trio_links links;
    dpi_silo_trio_rows rows;
    dpi_mesh *mesh;
    dp_reservation *paid; /* NULL: no ledger */
    bool begun;           /* something may have been opened */
} trio_party;

/* ---- terms ---- */

static bool is_noisy(const dp_silo_trio *a)
{
    return a->epsilon != 0 || a->delta != 0;
}

static dp_mechanism releases(const dp_silo_trio *a, double z)
{
    return (dp_mechanism){.sampling = DP_SAMPLING_FULL,
                          .rate = 1,
                          .steps = a->steps,
                          .sigma = z,
                          .adjacency = DP_REPLACE_ONE};
}

static bool is_name(const char *text)
{
    const size_t n = text != NULL ? strnlen(text, MOST_NAME + 1) : 0;
    for (size_t i = 0; i < n; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return n >= 1 && n <= MOST_NAME;
}

/* What is of no use must not be there: whoever wrote it meant something by it. */
static dp_status check_uses(const dp_silo_trio *a, dp_error *err)
{
    if (!is_name(a->name))
        return dpi_fail(err, DP_EINVAL,
                        "a run has a name of 1 to %d printable characters, another than any run "
                        "before",
                        (int)MOST_NAME);
    if (a->logistic && (a->outcome_most != 0 || a->residual_most != 0))
        return dpi_fail(err, DP_EINVAL,
                        "outcomes of a logistic regression are 0 and 1 and residuals at most 1: "
                        "leave outcome_most and residual_most 0");
    if (!is_noisy(a) && a->residual_most != 0)
        return dpi_fail(err, DP_EINVAL,
                        "without noise residuals are not cut; leave residual_most 0");
    if (is_noisy(a) && a->told)
        return dpi_fail(err, DP_EINVAL,
                        "with noise all parties know all coefficients; leave told false");
    return DP_OK;
}

/* Ids are of two, who link them, or of three, who compare them. */
static dp_status check_ids(const dp_silo_trio *a, dp_error *err)
{
    const bool by_rows = a->rows_of[0] > 0 || a->rows_of[1] > 0 || a->rows_of[2] > 0;
    return a->ids == NULL || (is_name(a->ids) && dpi_silo_trio_owners(a) > 1 && !by_rows)
               ? DP_OK
               : dpi_fail(err, DP_EINVAL,
                          "ids are of columns of the same people at two or three owners, and %zu "
                          "have records; what they are of is said in 1 to %d printable characters",
                          dpi_silo_trio_owners(a), (int)MOST_NAME);
}

static dp_status find_noise(const dp_silo_trio *a, double *z, dp_error *err)
{
    const dp_mechanism m = releases(a, 1);
    *z = 0;
    if (!is_noisy(a))
        return DP_OK;
    if (!(a->epsilon > 0 && a->epsilon < INFINITY) || !(a->delta > 0 && a->delta < 1))
        return dpi_fail(err, DP_EDOMAIN,
                        "epsilon %g at delta %g; both are above 0 and delta below 1, or both are "
                        "0, which is without noise",
                        a->epsilon, a->delta);
    if (!(of_shares * (1 + exp(a->epsilon)) < aside * a->delta))
        return dpi_fail(err, DP_EDOMAIN, "delta %g is too small for epsilon %g", a->delta,
                        a->epsilon);
    return dp_calibrate_sigma(&m, a->epsilon, a->delta * (1 - aside), 0, z, err);
}

static dp_status agree(const dp_silo_trio *a, dpi_silo_trio_terms *t, dpi_silo_trio_grid *g,
                       dp_error *err)
{
    *t = (dpi_silo_trio_terms){.logistic = a->logistic,
                               .rows = a->rows,
                               .outcome = a->outcome,
                               .outcome_most = a->outcome_most,
                               .residual_most = a->residual_most,
                               .steps = a->steps,
                               .step = a->step,
                               .ridge = a->ridge,
                               .told = a->told};
    memcpy(t->columns, a->columns, sizeof t->columns);
    memcpy(t->row_most, a->row_most, sizeof t->row_most);
    memcpy(t->rows_of, a->rows_of, sizeof t->rows_of);
    dp_status status = check_uses(a, err);
    if (status == DP_OK)
        status = check_ids(a, err);
    if (status == DP_OK && (a->steps < 1 || a->steps > DPI_SILO_TRIO_STEPS))
        return dpi_fail(err, DP_EDOMAIN, "%llu steps; there are 1 to %d",
                        (unsigned long long)a->steps, (int)DPI_SILO_TRIO_STEPS);
    if (status == DP_OK)
        status = find_noise(a, &t->z, err);
    if (status == DP_OK && a->ids != NULL) { /* however many turn out to be common */
        t->rows = 1;
        status = dpi_silo_trio_grid_make(t, g, err);
        t->rows = a->rows;
    }
    return status == DP_OK ? dpi_silo_trio_grid_make(t, g, err) : status;
}

dp_status dp_silo_trio_check(const dp_silo_trio *terms, dp_error *err)
{
    dpi_silo_trio_terms t;
    dpi_silo_trio_grid g;
    return agree(terms, &t, &g, err);
}

/* Of two shares there are z, of three sqrt(3 / 2) z. */
dp_status dp_silo_trio_spent(const dp_silo_trio *terms, size_t known, double *epsilon,
                             dp_error *err)
{
    dpi_silo_trio_terms t;
    dpi_silo_trio_grid g;
    *epsilon = INFINITY;
    dp_status status = agree(terms, &t, &g, err);
    if (status != DP_OK || t.z == 0 || known >= DP_SILO_TRIO - 1)
        return status;
    const dp_mechanism m = releases(terms, known == 0 ? t.z * sqrt(1.5) * (1 - 0x1p-40) : t.z);
    return dp_epsilon(&m, terms->delta * (1 - aside), epsilon, err);
}

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
    if (o->ledger == NULL)
        return o->ledger_data == NULL && o->ledger_label == NULL
                   ? DP_OK
                   : dpi_fail(err, DP_EINVAL,
                              "a data set or label is given and no ledger, so that nothing would "
                              "be paid for; open the ledger that pays, or leave them out");
    if (o->ledger_data == NULL)
        return dpi_fail(err, DP_EINVAL,
                        "a ledger is given and no ledger_data; name the data set as the ledger "
                        "knows it");
    return r->terms.z > 0 && dpi_silo_trio_has(r->what, r->self)
               ? DP_OK
               : dpi_fail(err, DP_EINVAL,
                          "a ledger pays for records of its party and for noise, and here is %s; "
                          "leave the ledger out",
                          r->terms.z > 0 ? "none of the former" : "no noise");
}

static dp_status pay(trio_party *r, dp_error *err)
{
    const dp_mechanism m = releases(r->what, r->terms.z);
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
                              "party %zu was given other terms, or the parties in another order, "
                              "or computes otherwise; all three need the same",
                              k);
    return status;
}

/* Links, terms, rows that are common, and keys that are bound to all of it. */
static dp_status meet(trio_party *r, dp_error *err)
{
    unsigned char context[DPI_SILO_HASH];
    dp_status status = sodium_init() >= 0
                           ? dpi_silo_trio_meet(r->opts, r->self, &r->links, err)
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
    return status == DP_OK ? dpi_silo_trio_bind(&r->links, sizeof context, context, &r->mesh, err)
                           : status;
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
                                  .begun = &r->begun};
    dp_status status = dpi_party_start(&party, err);
    if (status == DP_OK)
        status = dpi_silo_trio_steps(&o, w, err);
    dpi_party_end(&party);
    return status;
}

dp_status dp_silo_trio_run(const dp_silo_trio *terms, const dp_silo_trio_opts *opts,
                           const dp_silo_trio_data *data, size_t *rows, double *w, dp_error *err)
{
    trio_party r = {.what = terms, .opts = opts, .data = data};
    *rows = 0;
    if (opts->identity == NULL)
        dpi_misuse(__func__, "no identity");
    dp_status status = agree(terms, &r.terms, &r.grid, err);
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
    *rows = status == DP_OK ? r.rows.n : 0;
    settle(&r, status);
    dpi_silo_trio_part(&r.links);
    dpi_mesh_free(r.mesh);
    dpi_silo_trio_rows_free(&r.rows);
    dp_noise_free(r.noise);
    return status;
}
