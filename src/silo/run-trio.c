/* One party's part of a plan of three: dp_silo_trio_run with the plan's terms, by identities that
 * have the plan's keys, and under a name that is its hash.
 *
 * The key that signed the plan is the one that a party shows to the others.  It signs different
 * things: what it signs of TLS begins with 64 blanks, of certificates with the byte 48, of plans
 * and letters with words.
 *
 * A run that ends early goes on from what is kept of its openings (trio-state.h), in a file that
 * dp_silo_forget leaves: a plan is run once. */
#define _XOPEN_SOURCE 700
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "silo/audit.h"
#include "silo/describe.h"
#include "silo/keys.h"
#include "silo/policy.h"
#include "silo/run.h"
#include "silo/trio-rows.h"
#include "silo/trio-run.h"
#include "wire/identity.h"

enum { NAME = 60 };

typedef struct three_run {
    const dp_silo_plan *plan;
    const dp_silo_run_opts *opts;
    size_t self;
    dp_silo_trio terms;
    char name[NAME + 1];
    char fingerprint[DP_SILO_TRIO][DPI_FINGERPRINT_TEXT];
    dp_identity *identity;
    dpi_audit *audit;
    char path[PATH_MAX]; /* of the state; "": there is none */
    unsigned char whose[DPI_SILO_HASH];
} three_run;

/* ---- what this party alone can find out ---- */

/* That what is done is what the plan says of this party: there is no other way to do it. */
static dp_status check_part(const three_run *r, dp_error *err)
{
    static const dpi_silo_step_kind noisy[] = {
        DPI_SILO_BOUND,  DPI_SILO_DEAL,  DPI_SILO_GATHER,   DPI_SILO_RESIDUAL, DPI_SILO_TALLY,
        DPI_SILO_SHROUD, DPI_SILO_BLEND, DPI_SILO_DISCLOSE, DPI_SILO_JOIN,     DPI_SILO_ADVANCE};
    static const dpi_silo_step_kind exact[] = {DPI_SILO_BOUND,   DPI_SILO_DEAL,     DPI_SILO_GATHER,
                                               DPI_SILO_DESCEND, DPI_SILO_DISCLOSE, DPI_SILO_JOIN};
    const bool is_noisy = r->terms.epsilon > 0, has = dpi_silo_trio_has(&r->terms, r->self);
    const dpi_silo_step_kind *list = is_noisy ? noisy : exact;
    const size_t n = is_noisy ? sizeof noisy / sizeof *noisy : sizeof exact / sizeof *exact;
    dpi_arena arena = {NULL};
    dpi_silo_part part = {.n_steps = 0};
    size_t at = has ? 0 : 2;
    dp_status status = dpi_silo_part_of(r->plan, r->self, &arena, &part, err);
    bool same = status == DP_OK;
    for (size_t j = 0; j < part.n_steps && same; j++)
        if (part.steps[j].kind != DPI_SILO_SEND && part.steps[j].kind != DPI_SILO_RECV)
            same = at < n && part.steps[j].kind == list[at++];
    if (!is_noisy && !has && !r->terms.told)
        at++; /* nothing is opened to it */
    dpi_arena_free(&arena);
    return status != DP_OK   ? status
           : same && at == n ? DP_OK
                             : dpi_fail(err, DP_EMISMATCH,
                                        "this version runs other steps than the plan has for %s; "
                                        "plan anew with it",
                                        r->plan->names[r->self]);
}

static dp_status find_state(three_run *r, dp_error *err)
{
    dpi_silo_state_whose(r->plan->hash, r->plan->keys[r->self], r->whose);
    if (r->opts->state == NULL)
        return DP_OK;
    return dpi_silo_run_path(r->path, r->opts->state, DPI_SILO_THREE)
               ? dpi_silo_run_folder(r->opts->state, err)
               : dpi_fail(err, DP_EINVAL, "the path of the state is too long");
}

static dp_status check(three_run *r, dp_error *err)
{
    const dp_silo_run_opts *o = r->opts;
    if (r->plan->opts.trio == NULL)
        return dpi_fail(err, DP_EINVAL,
                        "this plan is not of three parties; run it with dp_silo_run, or "
                        "dp_silo_run_columns");
    if (o->group != NULL)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "a party of three is one process; leave the group NULL, and bring its rows "
                        "together");
    dp_status status = dpi_silo_run_owner(r->plan, o->key, &r->self, err);
    if (status == DP_OK)
        status = dpi_site_policy_check(o->policy, r->plan, err);
    if (status == DP_OK && o->at == NULL)
        status = dpi_fail(err, DP_EINVAL,
                          "where are the parties? three of them meet by TCP; say where each is "
                          "reached");
    if (status == DP_OK && r->plan->opts.epsilon > 0 && o->state == NULL)
        status = dpi_fail(err, DP_EINVAL,
                          "a plan of three parties with noise goes on after a crash from what was "
                          "opened, which is kept in the state; name a folder for it");
    if (status == DP_OK)
        status = check_part(r, err);
    return status == DP_OK ? find_state(r, err) : status;
}

/* Who all are, from the plan's keys. */
static dp_status make_identities(three_run *r, dp_error *err)
{
    unsigned char seed[crypto_sign_SEEDBYTES], print[DPI_FINGERPRINT];
    if (crypto_sign_ed25519_sk_to_seed(seed, r->opts->key->secret) != 0)
        return dpi_fail(err, DP_EINVAL, "the key is none");
    dp_status status = dpi_identity_of_seed(seed, &r->identity, err);
    sodium_memzero(seed, sizeof seed);
    for (size_t k = 0; k < DP_SILO_TRIO && status == DP_OK; k++) {
        if (!dpi_fingerprint_of_key(r->plan->keys[k], print))
            status = dpi_fail_nomem(err);
        else
            dpi_fingerprint_write(print, r->fingerprint[k]);
    }
    return status;
}

/* ---- the log ---- */

static dp_status tell_others(const three_run *r, const char *what, dp_error *err)
{
    dp_status status = DP_OK;
    for (size_t k = 0; k < DP_SILO_TRIO && status == DP_OK && r->audit != NULL; k++)
        if (k != r->self)
            status = dpi_audit_letter(r->audit, true, r->plan->names[k], what, 0, err);
    return status;
}

static dp_status begin(void *of, dp_error *err)
{
    return tell_others(of, "opening", err);
}

/* What was opened stays so, whether or not the log can be written. */
static void moved(void *of, size_t peer, uint64_t sent, uint64_t got)
{
    const three_run *r = of;
    const char *name = r->plan->names[peer];
    dp_status status = DP_OK;
    if (r->audit != NULL)
        status = dpi_audit_letter(r->audit, true, name, "shares", (size_t)sent, NULL);
    if (r->audit != NULL && status == DP_OK)
        status = dpi_audit_letter(r->audit, false, name, "shares", (size_t)got, NULL);
    (void)status;
}

/* ---- the run ---- */

/* Whether the caller ends it. */
static bool is_stopped(void *of, uint64_t opened)
{
    const three_run *r = of;
    const dp_fit_progress at = {.phase = "with the other parties",
                                .made = opened,
                                .planned = r->terms.steps,
                                .kept = r->path[0] != '\0'};
    return r->opts->watch != NULL && r->opts->watch(r->opts->watch_user, &at) != 0;
}

static dp_status run(three_run *r, const dp_silo_trio_data *data, size_t *rows, double *w,
                     dp_error *err)
{
    const dp_silo_run_opts *o = r->opts;
    const dpi_silo_trio_watch watch = {.stop = is_stopped,
                                       .begin = begin,
                                       .moved = moved,
                                       .of = r,
                                       .state = r->path[0] != '\0' ? r->path : NULL,
                                       .whose = r->whose,
                                       .secret = o->key->secret};
    dp_silo_trio_opts opts = {.identity = r->identity,
                              .host = o->host,
                              .port = o->port,
                              .threads = o->threads,
                              .patience_ms = o->patience_ms,
                              .ledger = o->ledger,
                              .ledger_data = o->ledger_data,
                              .ledger_label = o->ledger_label};
    for (size_t k = 0; k < DP_SILO_TRIO; k++) {
        opts.party[k] = o->at[k];
        opts.party[k].fingerprint = r->fingerprint[k];
        opts.party[k].name = r->plan->names[k];
    }
    dp_status status = tell_others(r, "link", err);
    return status == DP_OK ? dpi_silo_trio_run(&r->terms, &opts, data, &watch, rows, w, err)
                           : status;
}

dp_status dp_silo_run_trio(const dp_silo_plan *plan, const dp_silo_trio_data *data,
                           const dp_silo_run_opts *opts, size_t *rows, double *w, dp_error *err)
{
    three_run r = {.plan = plan, .opts = opts, .terms = plan->trio};
    char hex[2 * DP_SILO_HASH + 1];
    *rows = 0;
    if (opts->key == NULL)
        dpi_misuse(__func__, "no key");
    if (plan->opts.trio != NULL)
        memset(w, 0, plan->openings[0].numbers * sizeof *w);
    (void)sodium_bin2hex(hex, sizeof hex, plan->hash, DP_SILO_HASH);
    memcpy(r.name, hex, NAME);
    r.terms.name = r.name;
    dp_status status = check(&r, err);
    if (status == DP_OK)
        status = make_identities(&r, err);
    if (status == DP_OK && opts->audit != NULL)
        status = dpi_audit_open(opts->audit, plan->hash, &r.audit, err);
    if (status == DP_OK)
        status = run(&r, data, rows, w, err);
    dpi_audit_close(r.audit, status);
    dp_identity_free(r.identity);
    return status;
}
