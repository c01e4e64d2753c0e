/* dp_fit_private: options, the budget and the ledger, the phases, and the fit.
 *
 * Order of a call: model, options and budget are checked; the phases are reserved; only then are
 * values looked at.  Data that are not what the model needs end the call before the first release,
 * without saying where, and give the reservation back.  From the first release on all that was
 * reserved stays spent, whatever follows. */
#include <tacit/infer.h>

#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/float.h"
#include "base/hosts.h"
#include "infer/answer.h"
#include "infer/diagnose.h"
#include "infer/exact.h"
#include "infer/loop.h"
#include "infer/progress.h"
#include "infer/resume.h"
#include "infer/rounds.h"
#include "model/proper.h"
#include "model/store.h"
#include "random/failure.h"
#include "svi/options.h"
#include "svi/spend.h"
#include "svi/together.h"

enum { CHAINS = 4 };

typedef struct fit_job {
    const dp_model *model;
    const dp_dataset *data;
    const dp_fit_opts *opts;
    dpi_arena arena;
    dpi_model_view view;
    dpi_budget budget;
    dpi_scan scan;
    dpi_rounds rounds;
    dp_noise *noise;
    dp_rng *rng;
    dp_reservation *reservation;
    dpi_progress progress;
    dpi_keeper keeper;
    dpi_resume resume;
    bool begun;     /* a release may have been made */
    size_t n_draws; /* a multiple of CHAINS */
    double *theta;  /* [n_draws][d] */
} fit_job;

/* ---- options ---- */

static dp_status check_ledger(const dp_fit_opts *o, dp_error *err)
{
    dp_status status = dpi_options_ledger(o->ledger, o->ledger_data, o->ledger_label, err);
    if (status != DP_OK || o->ledger == NULL)
        return status;
    if (o->ledger_data == NULL)
        return dpi_fail(err, DP_EINVAL,
                        "a ledger is given and no ledger_data; name the data set as the ledger "
                        "knows it");
    if (o->seed != 0 || o->mode != DP_PRIVATE)
        return dpi_fail(err, DP_EPRIVACY,
                        "%s has no guarantee that a ledger could count; leave ledger NULL for "
                        "public data, or make the fit private",
                        o->seed != 0 ? "a seeded fit" : "this mode");
    return DP_OK;
}

static dp_status check_options(const dp_fit_opts *o, dp_error *err)
{
    if (o->mode != DP_PRIVATE && o->mode != DP_NO_PRIVACY)
        return dpi_fail(err, DP_EINVAL,
                        "mode must be DP_PRIVATE, or DP_NO_PRIVACY for public records");
    if (o->mode == DP_NO_PRIVACY && (o->epsilon != 0 || o->delta != 0))
        return dpi_fail(err, DP_EINVAL,
                        "epsilon and delta are given for a fit without privacy; leave them 0, or "
                        "make the fit private");
    if (o->method != DP_METHOD_CHOSEN && o->method != DP_METHOD_ROUNDS &&
        o->method != DP_METHOD_EXACT)
        return dpi_fail(err, DP_EINVAL,
                        "method must be DP_METHOD_CHOSEN, DP_METHOD_ROUNDS or DP_METHOD_EXACT");
    if (o->method == DP_METHOD_EXACT && o->mode != DP_NO_PRIVACY)
        return dpi_fail(err, DP_EPRIVACY,
                        "DP_METHOD_EXACT is for public records; leave the method 0 for a fit with "
                        "privacy");
    if (o->rounds > 1000)
        return dpi_fail(err, DP_EDOMAIN, "rounds is %llu; it must be at most 1000",
                        (unsigned long long)o->rounds);
    if (o->clip != 0 && !(o->clip >= 0.1 && o->clip <= 100))
        return dpi_fail(err, DP_EDOMAIN,
                        "clip is %g; it must be in [0.1, 100], or 0 to have it "
                        "chosen",
                        o->clip);
    if (o->draws != 0 && (o->draws < 100 || o->draws > 1000000))
        return dpi_fail(err, DP_EDOMAIN, "draws is %zu; keep 100 to 10^6", o->draws);
    if (o->threads > 1024)
        return dpi_fail(err, DP_EDOMAIN, "threads is %zu; it must be at most 1024", o->threads);
    if (o->method == DP_METHOD_EXACT && o->owners != NULL)
        return dpi_fail(err, DP_EINVAL,
                        "DP_METHOD_EXACT reads the records again and again, and owners open sums; "
                        "leave the method 0");
    if (o->seed != 0 && o->owners != NULL && o->owners->share != NULL)
        return dpi_fail(err, DP_EINVAL,
                        "the noise is to come of a seed and of the owners' own keys; leave one 0");
    dp_status status = dpi_resume_check(o, err);
    return status == DP_OK ? check_ledger(o, err) : status;
}

/* ---- the ledger ---- */

static dp_status reserve(fit_job *a, dp_error *err)
{
    dpi_purpose what = {.spending = {.records = a->data}};
    unsigned char print[DPI_PRINT];
    char model[2 * DPI_PRINT + 1];
    dpi_model_print(a->model, print);
    what.model = sodium_bin2hex(model, sizeof model, print, sizeof print);
    dp_status status = dpi_spend_columns(&a->view.objective.graph, a->data, &a->arena, &what, err);
    return status == DP_OK ? dpi_resume_reserve(&a->resume, &what, &a->reservation, err) : status;
}

/* Gives the reservation back, and takes the journal away, where nothing was released; leaves both
 * as they are where the fit can go on. */
static void settle(fit_job *a, dp_status status)
{
    static const uint64_t none[DPI_N_STAGES];
    bool fresh = !a->begun && !a->opts->resume, done = status == DP_OK || a->keeper.journal == NULL;
    if (fresh)
        dpi_journal_drop(a->keeper.journal);
    if (a->reservation != NULL && fresh)
        (void)!dp_reservation_settle(a->reservation, none, NULL);
    else if (a->reservation != NULL && done)
        (void)!dpi_reservation_finish(a->reservation, NULL);
    dp_reservation_free(a->reservation);
    dpi_journal_free(a->keeper.journal);
}

/* ---- the phases ---- */

static dp_status make_random(fit_job *a, dp_error *err)
{
    uint64_t seed = a->opts->seed;
    dp_status status = dp_rng_new(a->resume.random, &a->rng, err);
    if (status != DP_OK || !a->budget.noisy)
        return status;
    return seed != 0 ? dp_noise_new_seeded(seed, &a->noise, err) : dp_noise_new(&a->noise, err);
}

static dp_status make_scan(fit_job *a, dp_error *err)
{
    dpi_scan_spec spec = {.view = &a->view,
                          .data = a->data,
                          .threads = a->opts->threads,
                          .most_room = dpi_inquiry_room(&a->view),
                          .noise = a->noise,
                          .paid = a->budget.made,
                          .n_paid = DPI_N_STAGES,
                          .owners = a->opts->owners,
                          .progress = &a->progress,
                          .keeper = a->opts->journal != NULL ? &a->keeper : NULL};
    dp_error found = {0};
    for (int k = 0; k < DPI_N_INQUIRIES; k++) {
        size_t size = dpi_inquiry_size(&a->view, (dpi_inquiry_kind)k);
        spec.most = size > spec.most ? size : spec.most;
    }
    dp_status status = dpi_scan_init(&a->scan, &spec, &found);
    if (status == DP_EDATA && a->opts->mode == DP_PRIVATE)
        return dpi_fail(
            err, status,
            "the data are not what the model needs; dp_check_data tells their owner which "
            "column and record, for which to leave records out or mend them beforehand");
    return status == DP_OK ? status : dpi_fail(err, status, "%s", found.text);
}

static dp_status begin(fit_job *a, dp_error *err)
{
    const dpi_budget *b = &a->budget;
    const dpi_progress_plan plan = {.names = dpi_stage_names,
                                    .list = b->list,
                                    .n = b->noisy ? DPI_N_STAGES : 0,
                                    .delta = b->accounted,
                                    .kept = a->opts->journal != NULL,
                                    .turns = CHAINS * DPI_FINAL_WARM + a->n_draws};
    return dpi_progress_begin(&a->progress, &plan, err);
}

static dp_status run(fit_job *a, dp_error *err)
{
    size_t d = a->view.objective.n_theta;
    size_t asked = a->opts->draws != 0 ? a->opts->draws : DPI_KEPT_DRAWS;
    a->rounds = (dpi_rounds){.model = a->model,
                             .view = &a->view,
                             .budget = &a->budget,
                             .opts = a->opts,
                             .scan = &a->scan,
                             .rng = a->rng,
                             .progress = &a->progress};
    a->n_draws = (asked + CHAINS - 1) / CHAINS * CHAINS;
    a->theta = dpi_arena_alloc(&a->arena, a->n_draws, d * sizeof *a->theta);
    if (a->theta == NULL)
        return dpi_fail_nomem(err);
    dp_status status = dpi_rounds_init(&a->rounds, err);
    if (status == DP_OK)
        status = dpi_resume_begin(&a->resume, err);
    if (status == DP_OK)
        status = begin(a, err);
    a->begun = status == DP_OK;
    if (status == DP_OK)
        status = dpi_rounds_run(&a->rounds, err);
    if (status == DP_OK)
        status = dpi_rounds_draw(&a->rounds, CHAINS, a->n_draws / CHAINS, a->theta, err);
    return status;
}

/* ---- the fit ---- */

static dp_privacy guarantee(const fit_job *a)
{
    const dpi_budget *b = &a->budget;
    dpi_pass main = {.n = a->view.n_release,
                     .sigma = b->sigmas[DPI_STAGE_MAIN],
                     .shares = a->opts->owners != NULL ? a->opts->owners->size : 0};
    const char *why_not = !b->noisy            ? "fitted without privacy"
                          : a->opts->seed != 0 ? "seeded: the noise can be computed again"
                                               : NULL;
    dp_privacy p = {.is_private = why_not == NULL,
                    .why_not = why_not,
                    .adjacency = "add or remove one record",
                    .epsilon = b->epsilon,
                    .delta = b->delta,
                    .sigma = b->sigma,
                    .clip = b->noisy ? a->rounds.clip[DPI_STAGE_MAIN] : INFINITY,
                    .rate = 1,
                    .eta = 1 - dpi_scan_share(&main),
                    .sampling = DP_SAMPLING_FULL};
    /* Each share of noise can fail, and their sum can differ from one (svi/together.h). */
    double numbers = 0, shares = dpi_together_failures(a->opts->owners);
    for (int k = 0; k < DPI_N_STAGES; k++) {
        p.steps += b->releases[k];
        numbers += (double)b->releases[k] * (double)a->scan.most * shares;
    }
    if (b->noisy)
        p.delta = dpi_release_whole_delta(a->opts->delta, b->accounted, numbers, b->epsilon);
    if (b->noisy && p.delta > a->opts->delta) {
        p.is_private = false;
        p.why_not = "noise so small that the delta asked for is not kept";
    }
    return p;
}

static size_t list_phases(const fit_job *a, dp_fit_phase *phases)
{
    for (int k = 0; k < DPI_N_STAGES; k++)
        phases[k] = (dp_fit_phase){.name = dpi_stage_names[k],
                                   .releases = a->budget.releases[k],
                                   .sigma = a->budget.list[k].sigma,
                                   .clip = a->rounds.clip[k]};
    return a->budget.noisy ? DPI_N_STAGES : 0;
}

static dp_status make_fit(fit_job *a, dp_fit **fit, dp_error *err)
{
    const dpi_objective *o = &a->view.objective;
    dp_privacy privacy = guarantee(a);
    dp_fit_phase phases[DPI_N_STAGES];
    dp_diagnostic diagnostics[DPI_DIAGNOSES];
    dpi_diagnosis found;
    double *guide = dpi_arena_alloc(&a->arena, 2 * o->n_theta, sizeof *guide);
    if (guide == NULL)
        return dpi_fail_nomem(err);
    dpi_answer answer = {.model = a->model,
                         .objective = o,
                         .data = a->data,
                         .theta = a->theta,
                         .n_draws = a->n_draws,
                         .guide = guide,
                         .arena = &a->arena};
    dpi_answer_guide(&answer, guide);
    dpi_fit_parts parts = {.privacy = &privacy,
                           .asked_delta = a->opts->delta,
                           .phases = phases,
                           .n_phases = list_phases(a, phases),
                           .diagnostics = diagnostics,
                           .own = a->budget.noisy ? a->data->identity : NULL};
    dp_status status =
        dpi_diagnose(&a->rounds, guide, &found, diagnostics, &parts.n_diagnostics, err);
    return status == DP_OK ? dpi_answer_fit(&answer, &parts, fit, err) : status;
}

/* By the posterior itself, where there is no privacy and it is not too much work; *done [out] says
 * whether it was tried. */
static dp_status fit_open(fit_job *a, bool *done, dp_fit **fit, dp_error *err)
{
    const dpi_exact_spec spec = {
        .model = a->model, .data = a->data, .opts = a->opts, .progress = &a->progress};
    dp_error found = {0};
    *done = false;
    if (a->opts->mode != DP_NO_PRIVACY || a->opts->method == DP_METHOD_ROUNDS ||
        a->opts->owners != NULL)
        return DP_OK;
    dp_status status = dpi_fit_exact(&spec, fit, &found);
    *done = status != DP_EUNSUPPORTED || a->opts->method == DP_METHOD_EXACT;
    return !*done || status == DP_OK ? DP_OK : dpi_fail(err, status, "%s", found.text);
}

static dp_status fit_private(fit_job *a, dp_fit **fit, dp_error *err)
{
    dp_error found = {0};
    dp_status status = dpi_need_proper(
        a->model, "Markov chains without privacy alone can take (DP_METHOD_EXACT)", err);
    if (status != DP_OK)
        return status;
    status = dpi_model_view_init(&a->view, a->model, &found);
    const char *why = dpi_loop_why(a->opts, status, a->view.refused);
    if (why != NULL) {
        const dpi_loop_spec spec = {.model = a->model,
                                    .data = a->data,
                                    .opts = a->opts,
                                    .why = why,
                                    .progress = &a->progress};
        return dpi_fit_loop(&spec, fit, err);
    }
    if (status != DP_OK)
        return dpi_fail(err, status, "%s", found.text);
    if (status == DP_OK)
        status = dpi_budget_init(&a->budget, a->opts, err);
    a->resume.rounds = a->budget.releases[DPI_STAGE_MAIN];
    if (status == DP_OK)
        status = dpi_resume_open(&a->resume, err);
    if (status == DP_OK && a->opts->ledger != NULL)
        status = reserve(a, err);
    if (status == DP_OK)
        status = make_random(a, err);
    if (status == DP_OK)
        status = make_scan(a, err);
    if (status == DP_OK)
        status = run(a, err);
    return status == DP_OK ? make_fit(a, fit, err) : status;
}

/* Rank 0 of an owner keeps and pays for the others. */
static dp_fit_opts own_opts(const dp_fit_opts *opts)
{
    dp_fit_opts own = *opts;
    if (!dpi_hosts_gate(opts->owners)) {
        own.journal = own.ledger_data = own.ledger_label = NULL;
        own.ledger = NULL;
        own.resume = false;
    }
    return own;
}

dp_status dp_fit_private(const dp_model *model, const dp_dataset *data, const dp_fit_opts *opts,
                         dp_fit **fit, dp_error *err)
{
    if (model == NULL || data == NULL || opts == NULL || fit == NULL)
        dpi_misuse(__func__, "NULL model, data, options or result");
    const dp_fit_opts own = own_opts(opts);
    fit_job a = {.model = model, .data = data, .opts = &own};
    dpi_progress_init(&a.progress, opts->watch, opts->watch_user);
    a.resume = (dpi_resume){.model = model,
                            .opts = &own,
                            .list = a.budget.list,
                            .n = DPI_N_STAGES,
                            .keeper = &a.keeper};
    *fit = NULL;
    dp_status status = dpi_hosts_check(opts->owners, err);
    if (status != DP_OK)
        return status;
    status = dpi_float_check(err);
    if (status == DP_OK)
        status = check_options(&own, err);
    if (status == DP_OK && data->err.status != DP_OK)
        status = dpi_fail(err, data->err.status, "%s", data->err.text);
    bool done = false;
    if (status == DP_OK)
        status = fit_open(&a, &done, fit, err);
    if (status == DP_OK && !done)
        status = fit_private(&a, fit, err);
    status = dpi_hosts_end(opts->owners, status, err);
    if (status != DP_OK) {
        dp_fit_free(*fit);
        *fit = NULL;
    }
    settle(&a, status);
    dpi_rounds_free(&a.rounds);
    dpi_scan_free(&a.scan);
    dp_noise_free(a.noise);
    dp_rng_free(a.rng);
    dpi_model_view_free(&a.view);
    dpi_arena_free(&a.arena);
    return status;
}
