/* One owner's part of a plan of columns: ids are linked, and rows that both have are gone over in
 * their common order.
 *
 * A run that ends early does all of it again, from the same secrets, and sends nothing that is not
 * what has left (columns-state.h).  What that takes is in the state's folder before anything
 * leaves. */
#define _XOPEN_SOURCE 700
#include <limits.h>
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/bytes.h"
#include "base/compiler.h"
#include "base/error.h"
#include "silo/audit.h"
#include "silo/columns.h"
#include "silo/describe.h"
#include "silo/keys.h"
#include "silo/pay-columns.h"
#include "silo/policy.h"
#include "silo/psi.h"
#include "silo/run-split.h"
#include "silo/run.h"
#include "silo/state.h"

static const char told[] = "coefficients"; /* a letter */
static const char anew[] =
    "nothing is kept of this run: when it does, both owners begin anew, in an empty mailbox";

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
    dpi_columns_state *state;
    dpi_silo_payment payment;
    char names[DP_OWNERS_MOST][DPI_SILO_NAME];
    size_t *rows;        /* [data->rows], of which the first *common are set */
    double *x, *y;       /* the common rows, in their order */
    dpi_plan_side *half; /* of split learning, which takes them where they lie */
    char path[PATH_MAX]; /* of the state */
} linked_run;

static bool is_noisy(const linked_run *r)
{
    return dpi_silo_scheme_named(r->plan->opts.scheme)->noisy;
}

/* ---- what this owner alone can find out ---- */

static dp_status check_table(const linked_run *r, dp_error *err)
{
    const dp_silo_columns_data *a = r->data;
    const bool has = r->self == r->terms.outcome;
    if (a->x == NULL || has != (a->y != NULL))
        return dpi_fail(err, DP_EINVAL, "columns are needed, and %s outcomes at this owner",
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
    return DP_OK;
}

static dp_status check_data(linked_run *r, dp_error *err)
{
    const dp_silo_columns_data *a = r->data;
    if (a->rows < 1 || a->rows > r->plan->opts.most_records || a->rows > DPI_COLUMNS_ROWS)
        return dpi_fail(err, DP_EINVAL, "%zu rows are given; the plan has 1 to %llu", a->rows,
                        (unsigned long long)r->plan->opts.most_records);
    if (a->ids == NULL)
        return dpi_fail(err, DP_EINVAL, "ids are needed, of each row one");
    dp_status status = dpi_silo_plan_is_cut(r->plan) ? DP_OK : check_table(r, err);
    if (status == DP_OK && dpi_silo_plan_is_split(r->plan))
        status = dpi_plan_side_open(r->plan, r->self, a, &r->half, err);
    return status == DP_OK ? dpi_psi_check_ids(a->rows, a->ids, err) : status;
}

static dp_status check(linked_run *r, dp_error *err)
{
    dp_status status = dpi_silo_run_owner(r->plan, r->opts->key, &r->self, err);
    if (status == DP_OK && r->plan->opts.columns == NULL)
        return dpi_fail(err, DP_EINVAL, "this plan is not of columns; run it with dp_silo_run");
    if (status == DP_OK && r->opts->group != NULL)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "an owner of columns is one process; leave the group NULL, and bring its "
                        "rows together");
    if (status != DP_OK)
        return status;
    dpi_silo_columns_terms(r->plan, &r->terms);
    r->d = r->terms.columns[r->self];
    status = dpi_columns_check_ledger(r->plan, r->opts, err);
    if (status == DP_OK && is_noisy(r) && r->opts->state == NULL)
        return dpi_fail(err, DP_EINVAL,
                        "a plan of columns with noise goes on after a crash with the noise that it "
                        "had, which is kept in the state; name a folder for it");
    if (status == DP_OK)
        status = dpi_site_policy_check(r->opts->policy, r->plan, err);
    if (status == DP_OK)
        status = check_data(r, err);
    return status;
}

static bool is_begun(const linked_run *r)
{
    return r->state != NULL && dpi_columns_state_begun(r->state);
}

/* Whether the caller ends it.  Behind the first step all that is paid for counts as released. */
static bool is_stopped(void *of)
{
    const linked_run *r = of;
    const uint64_t steps = r->plan->columns.steps;
    const dp_fit_progress at = {.phase = "with the other owner",
                                .made = is_begun(r) ? steps : 0,
                                .planned = steps,
                                .epsilon = is_begun(r) ? r->plan->opts.epsilon : 0,
                                .kept = r->opts->state != NULL};
    return r->opts->watch(r->opts->watch_user, &at) != 0;
}

static dp_status open_carrier(linked_run *r, dp_error *err)
{
    dp_status status = dpi_silo_run_carrier(r->opts, &r->carrier, err);
    if (status == DP_OK && r->opts->watch != NULL) {
        r->carrier->stop = is_stopped;
        r->carrier->stop_of = r;
    }
    return status;
}

static dp_status look(void *of, bool leaves, size_t peer, const char *tag, size_t bytes,
                      dp_error *err)
{
    linked_run *r = of;
    return dpi_audit_letter(r->audit, leaves, r->plan->names[peer], tag, bytes, err);
}

static dpi_post_opts post_opts(linked_run *r)
{
    dpi_post_opts o = {.carrier = r->carrier,
                       .party = r->self,
                       .parties = 2,
                       .names = r->names,
                       .publics = r->plan->keys,
                       .secret = r->opts->key->secret,
                       .patience_ms = r->opts->patience_ms,
                       .witness = r->audit != NULL ? look : NULL,
                       .witness_of = r,
                       .again = r->opts->state != NULL ? NULL : anew};
    memcpy(o.plan, r->plan->hash, DPI_SILO_HASH);
    return o;
}

static dp_status open_state(linked_run *r, dp_error *err)
{
    const char *folder = r->opts->state;
    const dpi_post_opts o = post_opts(r);
    unsigned char records[32];
    dp_status status = folder != NULL ? dpi_silo_run_folder(folder, err) : DP_OK;
    if (status == DP_OK && folder != NULL && !dpi_silo_run_path(r->path, folder, "run"))
        status = dpi_fail(err, DP_EINVAL, "the path of the state is too long");
    if (status != DP_OK)
        return status;
    dpi_silo_hash_records(r->data->rows, r->d, r->data->ids, r->data->x, r->data->y, records);
    if (r->half != NULL)
        dpi_plan_side_hash(r->half, records);
    status = dpi_columns_state_new(folder != NULL ? r->path : NULL, &o, records, &r->state, err);
    sodium_memzero(records, sizeof records);
    return status;
}

static dp_status begin(linked_run *r, dp_error *err)
{
    const size_t n = r->half == NULL ? r->data->rows : 0;
    dp_status status = dpi_silo_part_of(r->plan, r->self, &r->arena, &r->part, err);
    r->rows = dpi_alloc(r->data->rows, sizeof *r->rows);
    r->x = dpi_alloc(n * r->d + 1, sizeof *r->x);
    r->y = dpi_alloc(n + 1, sizeof *r->y);
    if (status == DP_OK && (r->rows == NULL || r->x == NULL || r->y == NULL))
        status = dpi_fail_nomem(err);
    if (status == DP_OK)
        status = open_carrier(r, err);
    if (status == DP_OK)
        status = open_state(r, err);
    if (status == DP_OK && r->opts->audit != NULL)
        status = dpi_audit_open(r->opts->audit, r->plan->hash, &r->audit, err);
    return status;
}

static dp_status pay(linked_run *r, dp_error *err)
{
    char name[DPI_COLUMNS_NAME];
    dpi_columns_state_name(r->state, name);
    return dpi_columns_pay(r->plan, r->opts, name, &r->payment, err);
}

/* ---- with the other ---- */

static dp_status meet(linked_run *r, dp_error *err)
{
    const dpi_post_opts o = post_opts(r);
    return dpi_columns_state_meet(r->state, &o, &r->post, err);
}

static dp_status link_rows(linked_run *r, size_t *common, dp_error *err)
{
    const dp_silo_columns_data *a = r->data;
    unsigned char seed[DPI_PSI_KEY];
    const dpi_psi_opts o = {.domain = r->plan->opts.columns->ids,
                            .seed = seed,
                            .most = (size_t)r->plan->opts.most_records,
                            .threads = r->opts->threads};
    dpi_columns_state_key(r->state, "linking", 0, 0, NULL, seed);
    dp_status status =
        dpi_psi_link(r->post, 1 - r->self, 0, 0, &o, a->rows, a->ids, common, r->rows, err);
    sodium_memzero(seed, sizeof seed);
    if (status == DP_OK && *common == 0)
        status = dpi_fail(err, DP_EDATA,
                          "the two owners have no id in common; are they of the same kind, and "
                          "written alike?");
    for (size_t i = 0; i < *common && status == DP_OK && r->half == NULL; i++) {
        const size_t from = r->rows[i];
        memcpy(r->x + i * r->d, a->x + from * r->d, r->d * sizeof *r->x);
        r->y[i] = a->y == NULL ? 0 : r->terms.logistic ? 2 * a->y[from] - 1 : a->y[from];
    }
    return status;
}

static dp_status regress(linked_run *r, size_t common, double *w, dp_error *err)
{
    if (r->half != NULL)
        return dpi_plan_side_run(r->half, &r->part, r->post, common, r->rows, w, err);
    const dpi_columns_run_opts o = {.terms = &r->terms,
                                    .part = &r->part,
                                    .post = r->post,
                                    .state = r->state,
                                    .rows = common,
                                    .x = r->x,
                                    .y = r->y};
    return dpi_columns_run(&o, w, err);
}

/* ---- what is told ---- */

static dp_status send_coefficients(linked_run *r, const double *w, dp_error *err)
{
    dpi_bytes body = {NULL, 0, 0, false};
    for (size_t j = 0; j < r->d; j++)
        dpi_bytes_real(&body, w[j]);
    dp_status status = body.failed ? dpi_fail_nomem(err)
                                   : dpi_post_send(r->post, 1 - r->self, r->terms.steps + 1, 0,
                                                   told, body.n, body.at, err);
    dpi_bytes_free(&body);
    return status;
}

static dp_status take_coefficients(linked_run *r, double *w, dp_error *err)
{
    const size_t other = 1 - r->self, d = r->terms.columns[other];
    unsigned char *body = dpi_alloc(d + 1, sizeof *w);
    if (body == NULL)
        return dpi_fail_nomem(err);
    dp_status status =
        dpi_post_receive(r->post, other, r->terms.steps + 1, 0, told, 0, d * sizeof *w, body, err);
    dpi_reader from = {.at = body, .left = d * sizeof *w};
    for (size_t j = 0; j < d && status == DP_OK; j++) {
        w[j] = dpi_read_real(&from);
        if (!isfinite(w[j]))
            status = dpi_fail(err, DP_EPEER, "%s has told a coefficient that is no number",
                              r->plan->names[other]);
    }
    if (status != DP_OK)
        memset(w, 0, d * sizeof *w);
    dpi_free(body);
    return status;
}

/* Each tells its own, whether or not it asks for the other's. */
static dp_status tell(linked_run *r, const double *w, dp_error *err)
{
    double *others = r->opts->others;
    double *kept =
        others != NULL ? others : dpi_alloc(r->terms.columns[1 - r->self] + 1, sizeof *kept);
    if (kept == NULL)
        return dpi_fail_nomem(err);
    dp_status status = send_coefficients(r, w, err);
    if (status == DP_OK)
        status = take_coefficients(r, kept, err);
    if (status == DP_OK && r->opts->fit != NULL && dpi_silo_plan_is_cut(r->plan))
        status = dpi_plan_side_fit(r->half, w, kept, r->opts->fit, err);
    if (kept != others)
        dpi_free(kept);
    return status;
}

static void wipe(void *bytes, size_t n)
{
    if (bytes != NULL)
        sodium_memzero(bytes, n);
    dpi_free(bytes);
}

static void end(linked_run *r, dp_status status)
{
    const size_t n = r->half == NULL ? r->data->rows : 0;
    const bool begun = is_begun(r);
    dpi_silo_pay_end(&r->payment, begun, status);
    dpi_audit_close(r->audit, status);
    dpi_post_close(r->post);
    dpi_columns_state_free(r->state);
    if (r->carrier != NULL)
        r->carrier->kind->close(r->carrier);
    wipe(r->rows, r->data->rows * sizeof *r->rows);
    wipe(r->x, n * r->d * sizeof *r->x);
    wipe(r->y, n * sizeof *r->y);
    dpi_plan_side_close(r->half);
    dpi_arena_free(&r->arena);
}

/* After an error. */
static void give_nothing(const linked_run *r, size_t *common, double *w)
{
    *common = 0;
    if (r->d > 0) /* else it is of who has outcomes alone, or of nobody */
        memset(w, 0, r->d * sizeof *w);
    if (r->opts->fit != NULL) {
        dp_fit_free(*r->opts->fit);
        *r->opts->fit = NULL;
    }
    if (r->opts->others != NULL)
        memset(r->opts->others, 0, r->terms.columns[1 - r->self] * sizeof *w);
}

dp_status dp_silo_run_columns(const dp_silo_plan *plan, const dp_silo_columns_data *data,
                              const dp_silo_run_opts *opts, size_t *common, double *w,
                              dp_error *err)
{
    linked_run r = {.plan = plan, .data = data, .opts = opts};
    *common = 0;
    if (opts->fit != NULL)
        *opts->fit = NULL;
    if (opts->key == NULL || opts->mailbox == NULL)
        dpi_misuse(__func__, "no key or no mailbox");
    memcpy(r.names, plan->names, sizeof r.names);
    dp_status status = check(&r, err);
    if (status == DP_OK)
        status = begin(&r, err);
    if (status == DP_OK)
        status = pay(&r, err);
    if (status == DP_OK)
        status = meet(&r, err);
    if (status == DP_OK)
        status = link_rows(&r, common, err);
    if (status == DP_OK)
        status = regress(&r, *common, w, err);
    if (status == DP_OK && plan->opts.columns->told)
        status = tell(&r, w, err);
    if (status == DP_OK)
        status = dpi_columns_state_end(r.state, err);
    if (status != DP_OK)
        give_nothing(&r, common, w);
    end(&r, status);
    return status;
}
