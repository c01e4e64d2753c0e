/* What is done beside the records: the run, and how far it is.
 *
 * As in tacit fit, what can be refused without records is refused before they are read.  What a run
 * keeps in its state's folder is taken away when the fit is on the disk, and not before: the same
 * command goes on. */
#define _XOPEN_SOURCE 700
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tacit/infer.h>

#include "tools/json.h"
#include "tools/new-file.h"
#include "tools/payer.h"
#include "tools/silo-trio.h"
#include "tools/table-source.h"
#include "tools/tell-fit.h"
#include "tools/watch.h"

/* One owner's run. */
typedef struct owner_run {
    silo_job j;
    payer who;
    dp_table *table;
    dp_dataset *data;
    dp_fit *fit;
    watch watch;
} owner_run;

/* ---- before anything is read ---- */

static bool on_server(const char *mailbox)
{
    return mailbox != NULL && strncmp(mailbox, "https://", 8) == 0;
}

static bool check(const settings *s, message *why)
{
    const struct {
        bool given;
        const char *remedy;
    } needed[] = {
        {s->key != NULL, "whose process is this? give --key FILE; tacit silo keys makes it"},
        {s->data != NULL || s->ledger != NULL || s->at.n > 0,
         "which table? give --data FILE, or --ledger LEDGER and --name NAME of a data set whose "
         "file the ledger knows"},
        {s->data != NULL || s->name != NULL || s->at.n > 0,
         "which data set of the ledger? give --name, or --data with its file"},
        {s->ledger != NULL || s->name == NULL,
         "--name is of a data set in a ledger; give --ledger, too"},
        {s->mailbox != NULL || s->at.n > 0,
         "where are letters left? give --mailbox, a folder that all owners reach, or "
         "https://HOST/PATH; of a plan of three parties give --at"},
        {(s->certificate == NULL) == (s->certificate_key == NULL),
         "--certificate goes with its --certificate-key; give both, or none"},
        {on_server(s->mailbox) || (s->certificate == NULL && s->authorities == NULL),
         "--certificate and --authorities are for a mailbox that is https://HOST/PATH; leave them "
         "out"},
        {s->state != NULL, "--state is missing; give a folder of this owner alone for what must "
                           "outlive a crash, as in --state joint.state"},
        {s->out != NULL || s->at.n > 0, "--out is missing; give the file in which the fit is kept"},
        {s->audit == NULL || s->out == NULL || strcmp(s->audit, s->out) != 0,
         "--audit and --out are one file; give each its own"},
        {s->state == NULL || s->mailbox == NULL || strcmp(s->state, s->mailbox) != 0,
         "--state is this owner's alone and --mailbox all owners'; give each its own folder"},
        {s->ledger == NULL || !table_on_server(s->data),
         "a ledger knows data sets by their files, and a server's records are in none: write them "
         "to one, and tacit ledger add it"},
    };
    for (size_t k = 0; k < sizeof needed / sizeof *needed; k++)
        if (!needed[k].given)
            return complain(why, "%s", needed[k].remedy);
    if (s->scratch != NULL && access(s->scratch, W_OK | X_OK) != 0)
        return complain(why, "--scratch: no file can be made in %.200s; give a folder of yours",
                        s->scratch);
    return true;
}

/* Plan and key, and what they forbid. */
static int open_plan(owner_run *r)
{
    silo_job *j = &r->j;
    int end = silo_load_plan(j);
    if (end != EXIT_CERTIFIED)
        return end;
    if (dp_silo_key_load(j->m.said.key, &j->key, &j->m.err) != DP_OK) {
        (void)silo_failed(j, j->m.err.status);
        return EXIT_REFUSED;
    }
    const dp_silo_opts *o = dp_silo_plan_opts(j->plan);
    if (o->source == NULL)
        return silo_refuse(j, EXIT_REFUSED,
                           o->trio != NULL
                               ? "this plan of three parties was made in C, and has no formula by "
                                 "which they are read; run it by dp_silo_run_trio"
                           : o->columns != NULL
                               ? "this plan of columns was made in C, and has no formula by which "
                                 "they are read; run it by dp_silo_run_columns"
                               : "this plan is of a model in C, which has no formula by which "
                                 "records are read; run it by dp_silo_run");
    if (o->trio == NULL && (j->m.said.at.n > 0 || j->m.said.listen != NULL))
        return silo_refuse(
            j, EXIT_USAGE,
            "--at and --listen are of a plan of three parties, and this one's owners "
            "leave letters; leave them out, and give --mailbox");
    if (o->columns == NULL && o->trio == NULL && j->m.said.id_column != NULL)
        return silo_refuse(j, EXIT_USAGE,
                           "--id is of a plan of columns, and this is one of rows; leave it out");
    const dp_silo_run_opts allowed = {.key = j->key, .policy = j->m.said.policy};
    if (dp_silo_run_check(j->plan, j->m.model, &allowed, &j->m.err) != DP_OK) {
        (void)silo_failed(j, j->m.err.status);
        return EXIT_REFUSED;
    }
    return EXIT_CERTIFIED;
}

/* ---- the run ---- */

static dp_status fit(owner_run *r)
{
    silo_job *j = &r->j;
    const settings *s = &j->m.said;
    const dp_silo_run_opts o = {.key = j->key,
                                .mailbox = s->mailbox,
                                .certificate = s->certificate,
                                .certificate_key = s->certificate_key,
                                .authorities = s->authorities,
                                .policy = s->policy,
                                .state = s->state,
                                .audit = s->audit,
                                .patience_ms =
                                    isnan(s->patience) ? 0 : (uint32_t)(1000 * s->patience),
                                .threads = isnan(s->threads) ? 1 : (size_t)s->threads,
                                .hopeless_allowed = s->hopeless_allowed,
                                .ledger = r->who.ledger,
                                .ledger_data = r->who.name,
                                .ledger_label = r->who.ledger != NULL ? "tacit silo run" : NULL,
                                .watch = watch_look,
                                .watch_user = &r->watch};
    dp_status status = modelling_read(&j->m, r->who.path, DP_FORMULA_FIT, &r->table);
    if (status == DP_OK)
        status = dp_formula_dataset(j->m.formula, r->table, &r->data, &j->m.err);
    dp_table_free(r->table); /* the data set has its own */
    r->table = NULL;
    watch_begin(&r->watch, j->m.command);
    if (status == DP_OK)
        status = dp_silo_run(j->plan, j->m.model, r->data, &o, &r->fit, &j->m.err);
    watch_end(&r->watch);
    return status;
}

/* Whether the same command may come further: not where sums were opened and are not kept. */
static bool goes_on(const dp_fit_progress *at, dp_status status)
{
    const bool kept = at->made == 0 || at->kept;
    return kept &&
           (at->made > 0 || status == DP_ESTOPPED || status == DP_ETIMEOUT || status == DP_EIO);
}

/* Ends what gave no fit, and says what is left of it. */
static int give_up(const owner_run *r, dp_status status)
{
    const dp_fit_progress *at = &r->watch.last;
    const char *state = r->j.m.said.state;
    const dp_silo_scheme *scheme = silo_scheme(dp_silo_plan_opts(r->j.plan)->scheme);
    const bool stopped = status == DP_ESTOPPED;
    char text[PATH_MAX + 300], after[80] = "";
    dp_silo_kept kept;
    if (!stopped)
        (void)silo_failed(&r->j, status);
    if (at->made > 0)
        (void)snprintf(after, sizeof after, " behind %s %llu of %llu",
                       scheme->averages && scheme->noisy ? "release" : "sum",
                       (unsigned long long)at->made, (unsigned long long)at->planned);
    if (goes_on(at, status) && dp_silo_look(r->j.plan, state, &kept, NULL) == DP_OK && kept.begun)
        (void)snprintf(text, sizeof text,
                       "%s%s; the run is kept in %.300s: go on with the same command",
                       stopped ? "interrupted" : "ended", after, state);
    else if (stopped)
        (void)snprintf(text, sizeof text, "interrupted; nothing is kept");
    else
        return EXIT_REFUSED;
    return silo_refuse(&r->j, stopped ? EXIT_SIGNAL + watch_signal() : EXIT_REFUSED, text);
}

/* The fit is told also where it cannot be kept. */
static int tell(owner_run *r)
{
    silo_job *j = &r->j;
    const settings *s = &j->m.said;
    dp_error told = {DP_OK, ""};
    dp_interval spent;
    dp_status kept = dp_fit_save(r->fit, s->out, &j->m.err);
    dp_status status =
        s->json ? tell_fit_json(j->m.command, r->fit, kept == DP_OK ? s->out : NULL, &told)
                : tell_fit(r->fit, &told);
    if (kept == DP_OK)
        dp_silo_forget(s->state);
    else
        (void)silo_refuse(j, silo_failed(j, kept),
                          "the run is kept in the folder of --state: the same command gives the "
                          "fit again, and opens nothing");
    if (status != DP_OK)
        return silo_refuse(j, EXIT_REFUSED,
                           told.text[0] != '\0' ? told.text : dp_status_text(status));
    if (r->who.ledger != NULL && !s->json &&
        dp_ledger_spent(r->who.ledger, r->who.name, &spent, &told) == DP_OK)
        (void)printf("on '%s' in all: epsilon %.6g\n", r->who.name, spent.upper);
    if (r->who.ledger == NULL && !s->json)
        (void)printf("No ledger adds it to what else is spent on these records.\n");
    return kept == DP_OK ? EXIT_CERTIFIED : EXIT_REFUSED;
}

static int work(owner_run *r)
{
    message why = {""};
    const settings *s = &r->j.m.said;
    int end = open_plan(r);
    if (end != EXIT_CERTIFIED)
        return end;
    if ((s->out != NULL &&
         !new_file_check(s->out, "a fit that was paid for cannot be had again", &why)) ||
        !payer_open(&r->who, s, &why))
        return silo_refuse(&r->j, EXIT_REFUSED, why.text);
    if (dp_silo_plan_opts(r->j.plan)->columns != NULL)
        return silo_columns_run(&r->j, &r->who);
    if (dp_silo_plan_opts(r->j.plan)->trio != NULL)
        return silo_trio_run(&r->j, &r->who);
    dp_status status = fit(r);
    return status == DP_OK ? tell(r) : give_up(r, status);
}

static int run_run(const command *self, int argc, char **argv)
{
    owner_run r = {.fit = NULL};
    message why = {""};
    int end;
    if (!silo_begin(&r.j, self, "which plan? as in: tacit silo run joint.plan --key north.key ...",
                    argc, argv, &end))
        return end;
    if (!check(&r.j.m.said, &why))
        return silo_refuse(&r.j, EXIT_USAGE, why.text);
    end = work(&r);
    dp_fit_free(r.fit);
    dp_dataset_free(r.data);
    payer_close(&r.who);
    silo_end(&r.j);
    return end;
}

const command silo_run = {
    "silo run",
    FOR_SILO_RUN,
    "one owner's part of a plan; all owners run it, and get the same fit",
    "tacit silo run PLAN --key FILE --data FILE --mailbox PLACE --state FOLDER --out FILE\n"
    "    [options]\n\n"
    "Reads this owner's records by the plan's schema, and opens sums with the other owners'\n"
    "processes, which run at about the same time.  Nothing leaves before the plan, its\n"
    "signatures, the site's policy, the records and the ledger are found to be in order.  A run\n"
    "that is interrupted (Ctrl-C, a signal, a crash, an owner who is not heard) goes on with the\n"
    "same command.\n\n"
    "Of a plan of columns --id names the column that says whose a row is.  Each owner first "
    "learns\n"
    "how many people the other has, and which of its own; --out is a JSON file of this owner's\n"
    "coefficients, in the scale of the table.\n\n"
    "Of a plan of three parties --at says where the first two are reached, in place of\n"
    "--mailbox; the keys in the plan are those that they must show.  A party without records\n"
    "gives no --data.  It does not go on after it has ended: all three begin anew where nothing\n"
    "was opened, and else not at all.",
    "tacit silo run joint.plan --key north.key --data north.csv --mailbox /mnt/letters \\\n"
    "    --state north.state --policy site.policy --audit north.audit --out joint.fit",
    run_run};

/* ---- how far it is ---- */

static const char *time_text(int64_t seconds, char text[32])
{
    const time_t when = (time_t)seconds;
    struct tm parts;
    if (gmtime_r(&when, &parts) == NULL || strftime(text, 32, "%Y-%m-%d %H:%M:%S", &parts) == 0)
        (void)snprintf(text, 32, "?");
    return text;
}

static void status_json(const silo_job *j, const dp_silo_kept *kept, const dp_silo_audit *log)
{
    const dp_silo_opts *o = dp_silo_plan_opts(j->plan);
    const settings *s = &j->m.said;
    char when[32];
    json out = json_begin(stdout);
    json_text(&out, "command", j->m.command);
    json_text(&out, "file", j->word);
    json_list(&out, "owners");
    for (size_t k = 0; k < o->n_owners; k++) {
        json_object(&out, NULL);
        json_text(&out, "name", o->owners[k].name);
        json_truth(&out, "signed", dp_silo_plan_signed(j->plan, k));
        json_end_object(&out);
    }
    json_end_list(&out);
    if (s->state != NULL) {
        json_truth(&out, "kept", kept->begun);
        json_text(&out, "changed", kept->begun ? time_text(kept->changed, when) : NULL);
        if (kept->begun) {
            json_text(&out, "owner", o->owners[kept->owner].name);
            json_count(&out, "sums", kept->sums);
            json_count(&out, "planned", kept->planned);
            json_truth(&out, "over", kept->over);
        }
    }
    if (s->audit != NULL) {
        json_count(&out, "runs", log->runs);
        json_text(&out, "outcome", log->outcome[0] != '\0' ? log->outcome : NULL);
    }
    json_end(&out);
}

static void tell_kept(const silo_job *j, const dp_silo_kept *kept)
{
    const dp_silo_opts *o = dp_silo_plan_opts(j->plan);
    const char *state = j->m.said.state;
    const char *what = o->columns != NULL ? "step" : "sum";
    char when[32], how_far[80];
    (void)snprintf(how_far, sizeof how_far, "before its first %s", what);
    if (kept->sums > 0)
        (void)snprintf(how_far, sizeof how_far, "in %s %llu of %llu", what,
                       (unsigned long long)kept->sums, (unsigned long long)kept->planned);
    if (kept->over)
        (void)printf("The run in %s, as %s, is over since %s UTC: tacit silo run tells its "
                     "coefficients again, and opens nothing.\n",
                     state, o->owners[kept->owner].name, time_text(kept->changed, when));
    else if (!kept->keeps)
        (void)printf("Runs with scheme %s keep nothing: one that ends early is begun anew by all "
                     "owners, in an empty mailbox.\n",
                     o->scheme);
    else if (!kept->begun)
        (void)printf("No run of this plan is kept in %s: none was begun, or its fit is saved.\n",
                     state);
    else
        (void)printf("A run is kept in %s, as %s, last changed %s UTC, %s: tacit silo run goes on "
                     "with it.\n",
                     state, o->owners[kept->owner].name, time_text(kept->changed, when), how_far);
}

static void tell_status(const silo_job *j, const dp_silo_kept *kept, const dp_silo_audit *log)
{
    const settings *s = &j->m.said;
    silo_tell_owners(j->plan);
    if (s->state != NULL)
        tell_kept(j, kept);
    if (s->audit != NULL) {
        (void)printf("\n");
        silo_tell_audit(log);
    }
}

/* The end that what was looked at leads to. */
static int checked(const silo_job *j, dp_status status)
{
    return silo_failed(j, status) == EXIT_CERTIFIED ? EXIT_CERTIFIED : EXIT_REFUSED;
}

static int run_status(const command *self, int argc, char **argv)
{
    silo_job j;
    dp_silo_audit log = {.n_peers = 0};
    dp_silo_kept kept = {.begun = false};
    unsigned char hash[DP_SILO_HASH];
    int end;
    if (!silo_begin(&j, self, "which plan? as in: tacit silo status joint.plan", argc, argv, &end))
        return end;
    const settings *s = &j.m.said;
    end = silo_load_plan(&j);
    if (end == EXIT_CERTIFIED && s->audit != NULL) {
        dp_silo_plan_hash(j.plan, hash);
        end = checked(&j, dp_silo_audit_check(s->audit, hash, &log, &j.m.err));
    }
    if (end == EXIT_CERTIFIED && s->state != NULL)
        end = checked(&j, dp_silo_look(j.plan, s->state, &kept, &j.m.err));
    if (end == EXIT_CERTIFIED && s->json)
        status_json(&j, &kept, &log);
    else if (end == EXIT_CERTIFIED)
        tell_status(&j, &kept, &log);
    silo_end(&j);
    return end;
}

const command silo_status = {
    "silo status",
    FOR_SILO_STATUS,
    "who has signed, and how far a run is",
    "tacit silo status PLAN [--state FOLDER] [--audit FILE] [--json]\n\n"
    "With --state it tells whether a run of the plan is kept there, whose, and in which sum; with\n"
    "--audit what has left and come.",
    "tacit silo status joint.plan --state north.state --audit north.audit",
    run_status};
