/* One owner's part of a plan of columns: ids are linked, and rows that both have are gone over in
 * their common order.
 *
 * Nothing is kept of a run but a mark that it was begun: one that ends early cannot go on, as its
 * shares of noise are gone, and another run of the same plan would tell of the same rows under
 * other noise, which nobody counts.  The mark is in the state's folder, on the disk before the
 * first step; who empties the mailbox does not take it away. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/compiler.h"
#include "base/error.h"
#include "silo/audit.h"
#include "silo/describe.h"
#include "silo/keys.h"
#include "silo/policy.h"
#include "silo/psi.h"
#include "silo/run.h"

static const char told[] = "coefficients"; /* a letter */
static const char label[] = "columns of two owners; which people both have is not counted";
static const char again[] =
    "a run of columns does not go on: before its first step run it again with "
    "an empty mailbox, behind it make a new plan";

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
    char mark[PATH_MAX];
    dp_reservation *paid; /* NULL: no ledger */
    bool marked;          /* the steps are begun */
} linked_run;

static bool is_noisy(const linked_run *r)
{
    return dpi_silo_scheme_named(r->plan->opts.scheme)->noisy;
}

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

static dp_status check_ledger(const linked_run *r, dp_error *err)
{
    const dp_silo_run_opts *o = r->opts;
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
    return is_noisy(r) ? DP_OK
                       : dpi_fail(err, DP_EINVAL,
                                  "scheme %s has no guarantee that a ledger could count; leave the "
                                  "ledger out",
                                  r->plan->opts.scheme);
}

static dp_status check(linked_run *r, dp_error *err)
{
    dp_status status = dpi_silo_run_owner(r->plan, r->opts->key, &r->self, err);
    if (status == DP_OK && r->plan->opts.columns == NULL)
        return dpi_fail(err, DP_EINVAL, "this plan is not of columns; run it with dp_silo_run");
    if (status != DP_OK)
        return status;
    dpi_silo_columns_terms(r->plan, &r->terms);
    r->d = r->terms.columns[r->self];
    status = check_ledger(r, err);
    if (status == DP_OK && is_noisy(r) && r->opts->state == NULL)
        return dpi_fail(err, DP_EINVAL,
                        "a plan of columns with noise is run once, which is noted in the state; "
                        "name a folder for it");
    if (status == DP_OK)
        status = check_data(r, err);
    if (status == DP_OK && r->opts->policy != NULL)
        status = dpi_site_policy_check(r->opts->policy, r->plan, err);
    return status;
}

static dp_status fail_mark(const linked_run *r, dp_error *err)
{
    return dpi_fail(err, DP_ESTATE,
                    "this plan was run before, as %.200s says; its noise is gone, and other noise "
                    "would not be paid for: make a new plan",
                    r->opts->state);
}

bool dpi_silo_columns_mark(char to[PATH_MAX], const char *folder, const dp_silo_plan *plan)
{
    char file[DPI_SILO_HASH + 10], hex[2 * DPI_SILO_HASH + 1];
    (void)sodium_bin2hex(hex, sizeof hex, plan->hash, DPI_SILO_HASH);
    (void)snprintf(file, sizeof file, "columns-%.32s", hex);
    return dpi_silo_run_path(to, folder, file);
}

/* The folder, and that there is no mark of this plan in it. */
static dp_status find_mark(linked_run *r, dp_error *err)
{
    if (!dpi_silo_columns_mark(r->mark, r->opts->state, r->plan))
        return dpi_fail(err, DP_EINVAL, "the path of the state is too long");
    dp_status status = dpi_silo_run_folder(r->opts->state, err);
    return status == DP_OK && access(r->mark, F_OK) == 0 ? fail_mark(r, err) : status;
}

/* Notes that the steps are begun; with DP_OK it is on the disk, and was not there. */
static dp_status set_mark(const linked_run *r, dp_error *err)
{
    int file = open(r->mark, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0 && errno == EEXIST)
        return fail_mark(r, err);
    int folder = file >= 0 ? open(r->opts->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    bool good = folder >= 0 && fsync(file) == 0 && fsync(folder) == 0;
    if (folder >= 0)
        (void)close(folder);
    if (file >= 0)
        (void)close(file);
    return good ? DP_OK : dpi_fail(err, DP_EIO, "cannot write %.200s", r->mark);
}

/* Whether the caller ends it.  Behind the first step all that is paid for counts as released. */
static bool is_stopped(void *of)
{
    const linked_run *r = of;
    const uint64_t steps = r->plan->columns.steps;
    const dp_fit_progress at = {.phase = "with the other owner",
                                .made = r->marked ? steps : 0,
                                .planned = steps,
                                .epsilon = r->marked ? r->plan->opts.epsilon : 0};
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
        status = open_carrier(r, err);
    if (status == DP_OK && is_noisy(r))
        status = find_mark(r, err);
    if (status == DP_OK && r->opts->audit != NULL)
        status = dpi_audit_open(r->opts->audit, r->plan->hash, &r->audit, err);
    return status;
}

/* Whether the data set's budget is for a record more or less. */
static bool is_of_more_or_less(const linked_run *r)
{
    const dp_ledger_statement *all;
    bool found = false;
    if (dp_ledger_read(r->opts->ledger, &all, NULL) != DP_OK)
        return false;
    for (size_t k = 0; k < all->n; k++)
        found = found || (strcmp(all->data[k].name, r->opts->ledger_data) == 0 &&
                          all->data[k].budget.adjacency == DP_ADD_REMOVE &&
                          all->data[k].budget.unit == NULL);
    dp_ledger_statement_free(all);
    return found;
}

/* All of the plan, for this owner's data set. */
static dp_status pay(linked_run *r, dp_error *err)
{
    dp_mechanism list[DPI_COLUMNS_SPENDING];
    dp_status status = dpi_silo_columns_spending(r->plan, list, err);
    const dp_spending what = {.data = r->opts->ledger_data,
                              .label =
                                  r->opts->ledger_label != NULL ? r->opts->ledger_label : label,
                              .list = list,
                              .n = DPI_COLUMNS_SPENDING};
    dp_error found = {DP_OK, ""};
    if (status == DP_OK)
        status = dp_ledger_reserve(r->opts->ledger, &what, &r->paid, &found);
    if (status == DP_EMISMATCH && is_of_more_or_less(r))
        return dpi_fail(err, status,
                        "a run of columns is counted for records that are replaced, and the budget "
                        "of '%.100s' is for records more or less; keep one with --adjacency "
                        "replace-one for it",
                        r->opts->ledger_data);
    return found.status != DP_OK ? dpi_fail(err, status, "%s", found.text) : status;
}

/* Of steps that were not begun nothing was told, and nothing is kept; of those that were, all is:
 * how many there were is not looked at.  What cannot be written stays spent. */
static void settle(const linked_run *r, dp_status status)
{
    const uint64_t none[DPI_COLUMNS_SPENDING] = {0};
    const uint64_t all[DPI_COLUMNS_SPENDING] = {r->plan->columns.steps, 1};
    dp_status settled = DP_OK;
    if (r->paid != NULL && (!r->marked || status == DP_OK))
        settled = dp_reservation_settle(r->paid, r->marked ? all : none, NULL);
    (void)settled;
    dp_reservation_free(r->paid);
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
                       .witness_of = r,
                       .again = again};
    unsigned char run_secret[32] = {0};
    memcpy(o.plan, r->plan->hash, DPI_SILO_HASH);
    dp_status status = dpi_post_open(&o, run_secret, &r->post, err);
    sodium_memzero(run_secret, sizeof run_secret);
    return status;
}

static dp_status link_rows(linked_run *r, size_t *common, dp_error *err)
{
    const dp_silo_columns_data *a = r->data;
    const dpi_psi_opts o = {.domain = r->plan->opts.columns->ids,
                            .most = (size_t)r->plan->opts.most_records,
                            .threads = r->opts->threads};
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
    unsigned char *body = dpi_alloc(d, sizeof *w);
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
    double *kept = others != NULL ? others : dpi_alloc(r->terms.columns[1 - r->self], sizeof *kept);
    if (kept == NULL)
        return dpi_fail_nomem(err);
    dp_status status = send_coefficients(r, w, err);
    if (status == DP_OK)
        status = take_coefficients(r, kept, err);
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
    const size_t n = r->data->rows;
    settle(r, status);
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

/* After an error. */
static void give_nothing(const linked_run *r, size_t *common, double *w)
{
    *common = 0;
    if (r->d == 0) /* nobody's */
        return;
    memset(w, 0, r->d * sizeof *w);
    if (r->opts->others != NULL)
        memset(r->opts->others, 0, r->terms.columns[1 - r->self] * sizeof *w);
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
    if (status == DP_OK)
        status = begin(&r, err);
    if (status == DP_OK && opts->ledger != NULL)
        status = pay(&r, err);
    if (status == DP_OK)
        status = meet(&r, err);
    if (status == DP_OK)
        status = link_rows(&r, common, err);
    if (status == DP_OK && is_noisy(&r)) {
        status = set_mark(&r, err);
        r.marked = status == DP_OK;
    }
    if (status == DP_OK)
        status = regress(&r, *common, w, err);
    if (status == DP_OK && plan->opts.columns->told)
        status = tell(&r, w, err);
    if (status != DP_OK)
        give_nothing(&r, common, w);
    end(&r, status);
    return status;
}
