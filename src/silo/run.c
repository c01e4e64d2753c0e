/* One owner's part of a plan: the fit of its records, whose sums the owners open together.
 *
 * Order: what the plan, the site's policy, the model, the records and the ledger forbid is found
 * out before anything leaves: keys are exchanged when the first sum is to be opened.  The journal
 * of the fit and the state of the rounds lie side by side in one folder: the former has what was
 * opened, the latter what is being opened.  A run that ends between the two goes on with the same
 * round, in which the same bytes leave again.
 *
 * Of an owner's ranks rank 0 does all that; the others come in when it has found all in order, and
 * have neither key nor folder (base/hosts.h). */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/error.h"
#include "base/group.h"
#include "base/hosts.h"
#include "base/replace.h"
#include "infer/journal.h"
#include "silo/audit.h"
#include "silo/describe.h"
#include "silo/keys.h"
#include "silo/policy.h"
#include "silo/round.h"
#include "silo/run.h"
#include "silo/state.h"
#include "silo/sums.h"

typedef struct silo_run {
    const dp_silo_plan *plan;
    const dp_silo_run_opts *opts;
    size_t self;
    dpi_arena arena;
    dpi_silo_part part;
    dpi_carrier *carrier;
    dpi_audit *audit;
    dpi_silo_round *round;
    dpi_silo_sums *sums; /* NULL: they are in the journal, or not kept */
    bool gate;           /* of the owner's ranks the one that speaks with other owners */
    bool noisy;          /* else no release is counted */
    bool alone;          /* each owner's releases are its own, and opened is what follows */
    uint64_t made;       /* releases, those of the journal among them */
    char names[DP_OWNERS_MOST][DPI_SILO_NAME];
    char state[PATH_MAX], journal[PATH_MAX], kept[PATH_MAX];
} silo_run;

/* Said to who waits in vain. */
static const char anew[] =
    "nothing is kept of this run: when it does, all owners begin anew, in an empty mailbox";

bool dpi_silo_run_keeps(const dp_silo_plan *plan)
{
    const dpi_silo_scheme *scheme = dpi_silo_scheme_named(plan->opts.scheme);
    return scheme->noisy || scheme->by_columns || scheme->shared ||
           dpi_silo_scheme_says(scheme, "keypart");
}

static bool keeps(const silo_run *r)
{
    return r->gate && r->opts->state != NULL && dpi_silo_run_keeps(r->plan);
}

static dp_fit_opts fit_opts(const silo_run *r)
{
    const dp_silo_opts *plan = &r->plan->opts;
    const dp_silo_run_opts *o = r->opts;
    return (dp_fit_opts){.mode = r->noisy ? DP_PRIVATE : DP_NO_PRIVACY,
                         .epsilon = plan->epsilon,
                         .delta = plan->delta,
                         .rounds = plan->rounds,
                         .draws = plan->draws,
                         .threads = o->threads,
                         .hopeless_allowed = o->hopeless_allowed,
                         .ledger = o->ledger,
                         .ledger_data = o->ledger_data,
                         .ledger_label = o->ledger_label};
}

/* ---- what is allowed ---- */

/* That the model is the plan's, and that this version opens of it what all have signed. */
static dp_status check_model(const silo_run *r, const dp_model *model, dp_error *err)
{
    const dp_silo_plan *p = r->plan;
    dp_opening list[DP_OPENINGS];
    unsigned char hash[DP_MODEL_HASH];
    size_t n;
    dp_model_hash(model, hash);
    if (memcmp(hash, p->model, sizeof hash) != 0)
        return dpi_fail(err, DP_EMISMATCH,
                        "the model is not the one of the plan; fit that one, or plan anew");
    dp_status status = dpi_silo_plan_openings(&p->opts, model, &n, list, err);
    bool same = status == DP_OK && n == p->n_openings;
    for (size_t k = 0; same && k < n; k++)
        same = list[k].times == p->openings[k].times && list[k].numbers == p->openings[k].numbers &&
               list[k].alone == p->openings[k].alone && list[k].sigma == p->openings[k].sigma &&
               strcmp(list[k].phase, p->openings[k].phase) == 0;
    if (status == DP_OK && !same)
        status =
            dpi_fail(err, DP_EMISMATCH,
                     "this version, or this machine, would open other sums than the plan says; "
                     "plan anew with it");
    return status;
}

dp_status dpi_silo_run_owner(const dp_silo_plan *p, const dp_silo_key *key, size_t *self,
                             dp_error *err)
{
    *self = 0;
    while (*self < p->opts.n_owners && strcmp(p->owners[*self].key, dp_silo_key_public(key)) != 0)
        ++*self;
    if (*self == p->opts.n_owners)
        return dpi_fail(err, DP_ENAME, "this key is of none of the plan's owners");
    for (size_t k = 0; k < p->opts.n_owners; k++)
        if (!p->is_signed[k])
            return dpi_fail(err, DP_EPRIVACY,
                            "%s has not signed the plan; all owners must, before anything runs",
                            p->names[k]);
    return DP_OK;
}

/* A plan of columns, or of three parties, has a model of its own. */
static dp_status check(silo_run *r, const dp_model *model, dp_error *err)
{
    dp_status status = r->gate ? dpi_silo_run_owner(r->plan, r->opts->key, &r->self, err) : DP_OK;
    if (status == DP_OK && dpi_silo_plan_of_model(r->plan))
        status = check_model(r, model, err);
    if (status == DP_OK && r->gate)
        status = dpi_site_policy_check(r->opts->policy, r->plan, err);
    return status;
}

/* ---- what is opened before anything runs ---- */

bool dpi_silo_run_path(char to[PATH_MAX], const char *folder, const char *file)
{
    int n = snprintf(to, PATH_MAX, "%s/%s", folder, file);
    return n > 0 && n < PATH_MAX - 16; /* files beside it have longer names */
}

/* The state of the rounds is there before the journal is: a journal alone is one whose state was
 * lost, and with it what has left of the round that was being opened. */
static dp_status check_state(const silo_run *r, dp_error *err)
{
    dpi_silo_state s;
    const bool opened = access(r->journal, F_OK) == 0 || access(r->kept, F_OK) == 0;
    if (opened && access(r->state, F_OK) != 0)
        return dpi_fail(
            err, DP_ESTATE,
            "%.200s has a journal and no state of its rounds, without which a sum could "
            "be opened a second time; bring the file back, or plan anew",
            r->opts->state);
    unsigned char whose[DPI_SILO_HASH];
    dpi_silo_state_whose(r->plan->hash, r->plan->keys[r->self], whose);
    dp_status status = dpi_silo_state_open(r->state, whose, &s, err);
    if (status != DP_OK)
        return status;
    const bool kept = r->alone ? access(r->journal, F_OK) == 0 : opened;
    if (r->noisy && !kept && s.round > 0) /* said before a ledger would pay once more */
        status = dpi_fail(err, DP_EPRIVACY,
                          "the run in %.200s was begun, and no journal of what was opened is kept "
                          "(a model with more than %d numbers has none): it cannot be begun again, "
                          "as sums would be opened under other noise; plan anew",
                          r->opts->state, DPI_JOURNAL_NUMBERS);
    dpi_silo_state_free(&s);
    return status;
}

dp_status dpi_silo_run_folder(const char *path, dp_error *err)
{
    struct stat s;
    if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST)
        return dpi_fail(err, DP_EIO, "cannot make the folder %.200s: %s", path, strerror(errno));
    if (stat(path, &s) != 0 || !S_ISDIR(s.st_mode) || s.st_uid != geteuid())
        return dpi_fail(err, DP_EIO, "%.200s is no folder of this user's", path);
    if ((s.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return dpi_fail(err, DP_EPRIVACY,
                        "others may look into %.200s, which has this owner's secrets; chmod 700 it",
                        path);
    return DP_OK;
}

static dp_status open_sums(silo_run *r, dp_error *err)
{
    unsigned char whose[DPI_SILO_HASH];
    dpi_silo_state_whose(r->plan->hash, r->plan->keys[r->self], whose);
    return dpi_silo_sums_open(r->kept, whose, &r->sums, err);
}

static dp_status make_folder(silo_run *r, dp_error *err)
{
    const char *path = r->opts->state;
    if (!dpi_silo_run_path(r->state, path, "run") ||
        !dpi_silo_run_path(r->journal, path, "journal") ||
        !dpi_silo_run_path(r->kept, path, "sums"))
        return dpi_fail(err, DP_EINVAL, "the path of the state is too long");
    dp_status status = dpi_silo_run_folder(path, err);
    if (status == DP_OK)
        status = check_state(r, err);
    return status == DP_OK && (!r->noisy || r->alone) ? open_sums(r, err) : status;
}

dp_status dpi_silo_run_carrier(const dp_silo_run_opts *o, dpi_carrier **carrier, dp_error *err)
{
    const dpi_https_opts https = {.url = o->mailbox,
                                  .certificate = o->certificate,
                                  .key = o->certificate_key,
                                  .authorities = o->authorities,
                                  .patience_ms = o->patience_ms};
    return strncmp(o->mailbox, "https://", 8) == 0 ? dpi_carrier_https(&https, carrier, err)
                                                   : dpi_carrier_folder(o->mailbox, carrier, err);
}

/* All that can be found out by this owner alone. */
static dp_status begin_alone(silo_run *r, dp_error *err)
{
    dp_status status = dpi_silo_part_of(r->plan, r->self, &r->arena, &r->part, err);
    if (status == DP_OK)
        status = dpi_silo_run_carrier(r->opts, &r->carrier, err);
    if (status == DP_OK && keeps(r))
        status = make_folder(r, err);
    if (status == DP_OK && r->opts->audit != NULL)
        status = dpi_audit_open(r->opts->audit, r->plan->hash, &r->audit, err);
    return status;
}

/* ---- letters ---- */

static dp_status look(void *of, bool leaves, size_t peer, const char *tag, size_t bytes,
                      dp_error *err)
{
    silo_run *r = of;
    return dpi_audit_letter(r->audit, leaves, r->plan->names[peer], tag, bytes, err);
}

/* How long an owner that may drop out is waited for: so that the others, who meanwhile wait for the
 * one that adds up, do not lose patience with it. */
static uint32_t lack_of(const silo_run *r)
{
    const uint32_t usual = 30000, patience = r->opts->patience_ms;
    uint64_t most = patience / (2 * (r->plan->opts.dropouts + 1));
    return patience == 0 || most > usual ? usual : most > 0 ? (uint32_t)most : 1;
}

void dpi_silo_plan_sums(const dp_silo_plan *p, uint64_t *sums, size_t *most)
{
    *sums = *most = 0;
    for (size_t k = 0; k < p->n_openings; k++) {
        if (p->openings[k].alone)
            continue;
        *sums += p->openings[k].times;
        *most = p->openings[k].numbers > *most ? p->openings[k].numbers : *most;
    }
}

/* Exchanges keys with the other owners. */
static dp_status meet(silo_run *r, dp_error *err)
{
    const dp_silo_opts *plan = &r->plan->opts;
    dpi_silo_round_opts o = {.part = &r->part,
                             .post = {.carrier = r->carrier,
                                      .party = r->self,
                                      .parties = plan->n_owners,
                                      .names = r->names,
                                      .publics = r->plan->keys,
                                      .secret = r->opts->key->secret,
                                      .patience_ms = r->opts->patience_ms,
                                      .again = keeps(r) ? NULL : anew,
                                      .witness = r->audit != NULL ? look : NULL,
                                      .witness_of = r},
                             .colluders = plan->colluders,
                             .dropouts = plan->dropouts,
                             .lack_ms = lack_of(r),
                             .state = keeps(r) ? r->state : NULL};
    dpi_silo_plan_sums(r->plan, &o.rounds, &o.most);
    memcpy(o.post.plan, r->plan->hash, DPI_SILO_HASH);
    return dpi_silo_round_new(&o, &r->round, err);
}

/* ---- the fit ---- */

/* That the owners have met, and the round is the next one. */
static dp_status be_ready(silo_run *r, dp_error *err)
{
    dp_status status = r->round == NULL ? meet(r, err) : DP_OK;
    if (status == DP_OK && r->sums != NULL)
        dpi_silo_round_skip(r->round, dpi_silo_sums_done(r->sums));
    else if (status == DP_OK && r->noisy && !r->alone)
        dpi_silo_round_skip(r->round, r->made);
    return status;
}

static dp_status refuse_older(const silo_run *r, dp_error *err)
{
    return dpi_fail(err, DP_EPRIVACY,
                    "the journal in %.200s is older than what was opened, and steps would be "
                    "taken again with other noise; go on with the newest, or plan anew",
                    r->opts->state);
}

static dp_status share(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                       const uint64_t *values, unsigned char key[DP_OWNERS_KEY], dp_error *err)
{
    silo_run *r = context;
    if (r->alone && r->sums != NULL && dpi_silo_sums_ahead(r->sums))
        return refuse_older(r, err);
    /* What is drawn for a sum that is there already is used for nothing. */
    if (r->sums != NULL && dpi_silo_sums_ahead(r->sums)) {
        randombytes_buf(key, DP_OWNERS_KEY);
        return DP_OK;
    }
    dp_status status = be_ready(r, err);
    /* An owner's own steps were all in the journal when their sum began to be opened. */
    if (status == DP_OK && r->alone && dpi_silo_round_begun(r->round))
        status = refuse_older(r, err);
    if (status == DP_OK)
        dpi_silo_round_share(r->round, question, n, values, key);
    return status;
}

static dp_status open_sum(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                          uint64_t *values, dp_error *err)
{
    silo_run *r = context;
    if (r->sums != NULL && dpi_silo_sums_ahead(r->sums))
        return dpi_silo_sums_next(r->sums, question, n, values, err);
    dp_status status = be_ready(r, err);
    if (status == DP_OK)
        status = dpi_silo_round_open(r->round, question, n, values, err);
    if (status == DP_OK && r->sums != NULL)
        status = dpi_silo_sums_add(r->sums, question, n, values, err);
    return status;
}

static int watch(void *user, const dp_fit_progress *at)
{
    silo_run *r = user;
    r->made = at->made;
    return r->opts->watch != NULL ? r->opts->watch(r->opts->watch_user, at) : 0;
}

/* Whether a journal would not hold what is opened. */
static bool is_wide(const silo_run *r)
{
    bool wide = false;
    for (size_t k = 0; k < r->plan->n_openings; k++)
        wide = wide || (r->plan->openings[k].alone == r->alone &&
                        r->plan->openings[k].numbers > DPI_JOURNAL_NUMBERS);
    return wide && r->noisy && keeps(r);
}

static dp_owners owners_of(silo_run *r)
{
    const dp_silo_opts *plan = &r->plan->opts;
    return (dp_owners){.size = plan->n_owners,
                       .honest = dpi_silo_honest(plan),
                       .seed = plan->seed,
                       .most_records = plan->most_records,
                       .repeats = keeps(r),
                       .local_steps = plan->local_steps,
                       .damping = dpi_silo_damping(plan),
                       .group = r->opts->group,
                       .context = r,
                       .share = share,
                       .open = open_sum};
}

/* All that is in order before a rank fits, of which rank 0 finds out the most; that all ranks have
 * come so far, with one plan.  What keeps no journal cannot wait for owners when it is paid for. */
static dp_status begin(silo_run *r, const dp_model *model, dp_error *err)
{
    const dp_owners owners = owners_of(r);
    dpi_hosts_meeting at = {.question = r->plan->hash};
    dp_status status = dpi_hosts_check(&owners, err);
    if (status == DP_OK)
        status = check(r, model, err);
    if (status == DP_OK && r->plan->opts.columns != NULL)
        status = dpi_fail(err, DP_EINVAL,
                          "this plan is of columns of the same people; run it with "
                          "dp_silo_run_columns");
    if (status == DP_OK && r->plan->opts.trio != NULL)
        status =
            dpi_fail(err, DP_EINVAL, "this plan is of three parties; run it with dp_silo_run_trio");
    if (status == DP_OK && r->gate)
        status = begin_alone(r, err);
    if (status == DP_OK && is_wide(r))
        status = be_ready(r, err);
    return dpi_hosts_meet(&owners, status, &at, err);
}

static dp_status fit(silo_run *r, const dp_model *model, const dp_dataset *data, dp_fit **fit,
                     dp_error *err)
{
    const dp_owners owners = owners_of(r);
    dp_fit_opts opts = fit_opts(r);
    opts.owners = &owners;
    opts.journal = keeps(r) && r->noisy ? r->journal : NULL;
    opts.resume = opts.journal != NULL && access(r->journal, F_OK) == 0;
    opts.watch = watch;
    opts.watch_user = r;
    dp_status status = dp_fit_private(model, data, &opts, fit, err);
    if (status == DP_OK && r->plan->opts.source != NULL)
        status = dp_fit_set_source(*fit, r->plan->opts.source, err);
    if (status != DP_OK) {
        dp_fit_free(*fit);
        *fit = NULL;
    }
    return status;
}

static silo_run run_of(const dp_silo_plan *plan, const dp_silo_run_opts *opts)
{
    const dpi_silo_scheme *scheme = dpi_silo_scheme_named(plan->opts.scheme);
    return (silo_run){.plan = plan,
                      .opts = opts,
                      .gate = opts->group == NULL || opts->group->rank == 0,
                      .noisy = scheme->noisy,
                      .alone = scheme->noisy && scheme->averages};
}

dp_status dp_silo_run_check(const dp_silo_plan *plan, const dp_model *model,
                            const dp_silo_run_opts *opts, dp_error *err)
{
    silo_run r = run_of(plan, opts);
    if (opts->key == NULL || (model == NULL && dpi_silo_plan_of_model(plan)))
        dpi_misuse(__func__, "no key or no model");
    return check(&r, model, err);
}

dp_status dp_silo_run(const dp_silo_plan *plan, const dp_model *model, const dp_dataset *data,
                      const dp_silo_run_opts *opts, dp_fit **made, dp_error *err)
{
    silo_run r = run_of(plan, opts);
    *made = NULL;
    if (r.gate && (opts->key == NULL || opts->mailbox == NULL))
        dpi_misuse(__func__, "no key or no mailbox");
    memcpy(r.names, plan->names, sizeof r.names);
    dp_status status = dpi_group_check(opts->group, err);
    if (status != DP_OK) /* nobody to meet */
        return status;
    status = begin(&r, model, err);
    if (status == DP_OK)
        status = fit(&r, model, data, made, err);
    dpi_audit_close(r.audit, status);
    dpi_silo_round_free(r.round);
    dpi_silo_sums_close(r.sums);
    if (r.carrier != NULL)
        r.carrier->kind->close(r.carrier);
    dpi_arena_free(&r.arena);
    return status;
}

void dp_silo_forget(const char *state)
{
    static const char *const files[] = {"journal", "sums", "run"};
    char path[PATH_MAX];
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        int n = snprintf(path, sizeof path - sizeof ".lock", "%s/%s", state, files[k]);
        if (n <= 0 || (size_t)n >= sizeof path - sizeof ".lock")
            continue;
        dpi_file_sweep(path);
        (void)unlink(path);
        (void)unlink(strcat(path, ".lock"));
    }
    (void)rmdir(state);
}
