/* One owner's part of a plan of columns: ids are linked, and rows that both have are gone over in
 * their common order.
 *
 * Nothing is kept of a run: one that ends early cannot go on, as its shares of noise are gone.
 * Begun again in the same mailbox it is refused there, as its first letter is another's. */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/compiler.h"
#include "base/error.h"
#include "silo/audit.h"
#include "silo/describe.h"
#include "silo/keys.h"
#include "silo/policy.h"
#include "silo/psi.h"
#include "silo/run.h"

typedef struct linked_run {
    const dp_silo_plan *plan;
    const dp_silo_columns_data *data;
    const dp_silo_run_opts *opts;
    dpi_columns_terms terms;
    size_t self, d;
    dpi_arena arena;
    dpi_silo_part part;
    dpi_carrier *carrier;
    dpi_audit *audit;
    dpi_post *post;
    dp_noise *noise;
    char names[DP_OWNERS_MOST][DPI_SILO_NAME];
    size_t *rows;  /* [data->rows], of which the first *common are set */
    double *x, *y; /* the common rows, in their order */
} linked_run;

/* ---- what this owner alone can find out ---- */

static dp_status check_data(const linked_run *r, dp_error *err)
{
    const dp_silo_columns_data *a = r->data;
    const bool has = r->self == r->terms.outcome;
    if (a->rows < 1 || a->rows > r->plan->opts.most_records || a->rows > DPI_COLUMNS_ROWS)
        return dpi_fail(err, DP_EINVAL, "%zu rows are given; the plan has 1 to %llu", a->rows,
                        (unsigned long long)r->plan->opts.most_records);
    if (a->ids == NULL || a->x == NULL || has != (a->y != NULL))
        return dpi_fail(err, DP_EINVAL, "ids and columns are needed, and %s outcomes at this owner",
                        has ? "the" : "no");
    for (size_t i = 0; i < a->rows; i++) {
        bool good = true;
        for (size_t j = 0; j < r->d; j++)
            good = good && isfinite(a->x[i * r->d + j]);
        if (has)
            good =
                good && (r->terms.logistic ? a->y[i] == 0 || a->y[i] == 1 : isfinite(a->y[i]) != 0);
        if (!good)
            return dpi_fail(err, DP_EDATA,
                            "row %zu has a number that is none, or an outcome that is not 0 or 1; "
                            "take it out, or put a value in its place",
                            i + 1);
    }
    return dpi_psi_check_ids(a->rows, a->ids, err);
}

static dp_status check(linked_run *r, dp_error *err)
{
    dp_status status = dpi_silo_run_owner(r->plan, r->opts->key, &r->self, err);
    if (status == DP_OK && r->plan->opts.columns == NULL)
        return dpi_fail(err, DP_EINVAL, "this plan is not of columns; run it with dp_silo_run");
    if (status == DP_OK && (r->opts->state != NULL || r->opts->ledger != NULL))
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "runs of columns keep no state and pay from no ledger yet; note what the "
                        "plan costs, and give neither");
    if (status != DP_OK)
        return status;
    dpi_silo_columns_terms(r->plan, &r->terms);
    r->d = r->terms.columns[r->self];
    status = check_data(r, err);
    if (status == DP_OK && r->opts->policy != NULL)
        status = dpi_site_policy_check(r->opts->policy, r->plan, err);
    return status;
}

static dp_status begin(linked_run *r, dp_error *err)
{
    const size_t n = r->data->rows;
    dp_status status = dpi_silo_part_of(r->plan, r->self, &r->arena, &r->part, err);
    r->rows = dpi_alloc(n, sizeof *r->rows);
    r->x = dpi_alloc(n * r->d, sizeof *r->x);
    r->y = dpi_alloc(n, sizeof *r->y);
    if (status == DP_OK && (r->rows == NULL || r->x == NULL || r->y == NULL))
        status = dpi_fail_nomem(err);
    if (status == DP_OK)
        status = dp_noise_new(&r->noise, err);
    if (status == DP_OK)
        status = dpi_silo_run_carrier(r->opts, &r->carrier, err);
    if (status == DP_OK && r->opts->audit != NULL)
        status = dpi_audit_open(r->opts->audit, r->plan->hash, &r->audit, err);
    return status;
}

/* ---- with the other ---- */

static dp_status look(void *of, bool leaves, size_t peer, const char *tag, size_t bytes,
                      dp_error *err)
{
    linked_run *r = of;
    return dpi_audit_letter(r->audit, leaves, r->plan->names[peer], tag, bytes, err);
}

static dp_status meet(linked_run *r, dp_error *err)
{
    dpi_post_opts o = {.carrier = r->carrier,
                       .party = r->self,
                       .parties = 2,
                       .names = r->names,
                       .publics = r->plan->keys,
                       .secret = r->opts->key->secret,
                       .patience_ms = r->opts->patience_ms,
                       .witness = r->audit != NULL ? look : NULL,
                       .witness_of = r};
    unsigned char run_secret[32] = {0};
    memcpy(o.plan, r->plan->hash, DPI_SILO_HASH);
    dp_status status = dpi_post_open(&o, run_secret, &r->post, err);
    sodium_memzero(run_secret, sizeof run_secret);
    return status;
}

static dp_status link_rows(linked_run *r, size_t *common, dp_error *err)
{
    const dp_silo_columns_data *a = r->data;
    const dpi_psi_opts o = {.domain = r->plan->opts.columns->ids, .threads = r->opts->threads};
    dp_status status =
        dpi_psi_link(r->post, 1 - r->self, 0, 0, &o, a->rows, a->ids, common, r->rows, err);
    if (status == DP_OK && *common == 0)
        status = dpi_fail(err, DP_EDATA,
                          "the two owners have no id in common; are they of the same kind, and "
                          "written alike?");
    for (size_t i = 0; i < *common && status == DP_OK; i++) {
        const size_t from = r->rows[i];
        memcpy(r->x + i * r->d, a->x + from * r->d, r->d * sizeof *r->x);
        r->y[i] = a->y == NULL ? 0 : r->terms.logistic ? 2 * a->y[from] - 1 : a->y[from];
    }
    return status;
}

static dp_status regress(linked_run *r, size_t common, double *w, dp_error *err)
{
    const dpi_columns_run_opts o = {.terms = &r->terms,
                                    .part = &r->part,
                                    .post = r->post,
                                    .rows = common,
                                    .x = r->x,
                                    .y = r->y,
                                    .noise = r->noise};
    return dpi_columns_run(&o, w, err);
}

static void wipe(void *bytes, size_t n)
{
    if (bytes != NULL)
        sodium_memzero(bytes, n);
    dpi_free(bytes);
}

static void end(linked_run *r, dp_status status)
{
    const size_t n = r->data->rows;
    dpi_audit_close(r->audit, status);
    dpi_post_close(r->post);
    if (r->carrier != NULL)
        r->carrier->kind->close(r->carrier);
    dp_noise_free(r->noise);
    wipe(r->rows, n * sizeof *r->rows);
    wipe(r->x, n * r->d * sizeof *r->x);
    wipe(r->y, n * sizeof *r->y);
    dpi_arena_free(&r->arena);
}

dp_status dp_silo_run_columns(const dp_silo_plan *plan, const dp_silo_columns_data *data,
                              const dp_silo_run_opts *opts, size_t *common, double *w,
                              dp_error *err)
{
    linked_run r = {.plan = plan, .data = data, .opts = opts};
    *common = 0;
    if (opts->key == NULL || opts->mailbox == NULL)
        dpi_misuse(__func__, "no key or no mailbox");
    memcpy(r.names, plan->names, sizeof r.names);
    dp_status status = check(&r, err);
    if (r.d > 0)
        memset(w, 0, r.d * sizeof *w);
    if (status == DP_OK)
        status = begin(&r, err);
    if (status == DP_OK)
        status = meet(&r, err);
    if (status == DP_OK)
        status = link_rows(&r, common, err);
    if (status == DP_OK)
        status = regress(&r, *common, w, err);
    if (status != DP_OK)
        *common = 0;
    end(&r, status);
    return status;
}
