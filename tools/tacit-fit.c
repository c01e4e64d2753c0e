/* The command fit: from a table to a private posterior.
 *
 * All that can be refused without the records is refused before they are read, and all that can be
 * refused with them before anything is spent; where the fit is to be kept is one of these, since a
 * fit that was paid for and lost cannot be had again. */
#define _XOPEN_SOURCE 700
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacit/infer.h>

#include "tools/modelling.h"
#include "tools/new-file.h"
#include "tools/payer.h"
#include "tools/table-source.h"
#include "tools/tacit.h"
#include "tools/tell-fit.h"
#include "tools/watch.h"

/* One fit, from options to answer. */
typedef struct table_fit {
    modelling m;
    payer who;
    dp_table *table;
    dp_dataset *data;
    dp_fit *fit;
    watch watch;
    char journal[PATH_MAX]; /* beside the fit; empty: none */
} table_fit;

/* ---- before anything is read ---- */

static bool check_budget(const settings *s, message *why)
{
    if (s->no_privacy && (!isnan(s->epsilon) || !isnan(s->delta) || s->ledger != NULL))
        return complain(why, "--no-privacy has no --epsilon, no --delta and no --ledger; it is for "
                             "public records alone: leave the one or the others out");
    if (s->no_privacy)
        return true;
    if (isnan(s->epsilon))
        return complain(why, "--epsilon is missing; it says how much privacy may be spent, and has "
                             "no default");
    if (isnan(s->delta))
        return complain(why, "--delta is missing; give one well below 1 / (number of records)");
    return true;
}

static bool check(const settings *s, message *why)
{
    if (s->ledger == NULL && s->data == NULL)
        return complain(why, "which table? give --data FILE, or --ledger LEDGER and --name NAME of "
                             "a data set whose file the ledger knows");
    if (s->ledger == NULL && s->name != NULL)
        return complain(why, "--name is of a data set in a ledger; give --ledger, too");
    if (s->ledger != NULL && s->data == NULL && s->name == NULL)
        return complain(why, "which data set of the ledger? give --name, or --data with its file");
    if (s->scratch != NULL && access(s->scratch, W_OK | X_OK) != 0)
        return complain(why, "--scratch: no file can be made in %.200s; give a folder of yours",
                        s->scratch);
    if (s->resume && s->no_privacy)
        return complain(why, "--resume goes on with what was paid for, and --no-privacy pays "
                             "nothing; leave --resume out");
    if (s->resume && s->out == NULL)
        return complain(why, "--resume goes on by the journal beside --out; give the same --out as "
                             "before");
    if (s->ledger != NULL && table_on_server(s->data))
        return complain(why, "a ledger knows data sets by their files, and a server's records are "
                             "in none: write them to one (psql: \\copy (SELECT ...) TO 'new.csv' "
                             "CSV HEADER), and tacit ledger add it");
    return check_budget(s, why);
}

static bool check_out(const char *out, message *why)
{
    return out == NULL || new_file_check(out, "a fit that was paid for cannot be had again", why);
}

/* The journal lies beside the fit, and is there where one was interrupted. */
static bool check_journal(table_fit *j, message *why)
{
    const settings *s = &j->m.said;
    if (s->out == NULL || s->no_privacy)
        return true;
    int n = snprintf(j->journal, sizeof j->journal, "%s.journal", s->out);
    if (n < 0 || (size_t)n >= sizeof j->journal)
        return complain(why, "--out is too long a path; give a shorter one");
    bool there = access(j->journal, F_OK) == 0;
    if (there && !s->resume)
        return complain(why,
                        "%.200s is there: a fit with this --out was begun and paid for; go on with "
                        "the same command and --resume, or give another --out to pay anew",
                        j->journal);
    if (!there && s->resume)
        return complain(why,
                        "there is no %.200s to go on with; leave --resume out to begin, or give "
                        "the --out of the fit that was interrupted",
                        j->journal);
    return true;
}

/* ---- the fit ---- */

/* Progress, where somebody looks on. */
static void say_doing(const char *what)
{
    if (isatty(STDERR_FILENO))
        (void)fprintf(stderr, "tacit fit: %s ...\n", what);
}

static dp_status make_fit(table_fit *j)
{
    const settings *s = &j->m.said;
    dp_error *err = &j->m.err;
    const dp_fit_opts o = {.mode = s->no_privacy ? DP_NO_PRIVACY : DP_PRIVATE,
                           .epsilon = isnan(s->epsilon) ? 0 : s->epsilon,
                           .delta = isnan(s->delta) ? 0 : s->delta,
                           .threads = isnan(s->threads) ? 1 : (size_t)s->threads,
                           .hopeless_allowed = s->hopeless_allowed,
                           .seed = isnan(s->seed) ? 0 : (uint64_t)s->seed,
                           .ledger = j->who.ledger,
                           .ledger_data = j->who.name,
                           .ledger_label = j->who.ledger != NULL ? "tacit fit" : NULL,
                           .journal = j->journal[0] != '\0' ? j->journal : NULL,
                           .resume = s->resume,
                           .watch = watch_look,
                           .watch_user = &j->watch};
    const dp_fit_source source = {.formula = dp_formula_text(j->m.formula),
                                  .family = dp_formula_family(j->m.formula),
                                  .schema = dp_schema_text(j->m.schema),
                                  .priors = j->m.priors};
    say_doing("reading the table");
    dp_status status = modelling_read(&j->m, j->who.path, DP_FORMULA_FIT, &j->table);
    if (status == DP_OK)
        status = dp_formula_dataset(j->m.formula, j->table, &j->data, err);
    dp_table_free(j->table); /* the data set has its own */
    j->table = NULL;
    watch_begin(&j->watch, "fit");
    if (status == DP_OK)
        status = dp_fit_private(j->m.model, j->data, &o, &j->fit, err);
    watch_end(&j->watch);
    /* What was paid for is not given up because it cannot tell how it was asked for. */
    if (status == DP_OK && dp_fit_set_source(j->fit, &source, err) != DP_OK) {
        (void)modelling_failed(&j->m, err->status);
        *err = (dp_error){DP_OK, ""};
    }
    return status;
}

/* Ends what gave no fit, and says what is left of it. */
static int give_up(table_fit *j, dp_status status)
{
    const dp_fit_progress *at = &j->watch.last;
    unsigned long long made = at->made, planned = at->planned;
    bool kept = j->journal[0] != '\0' && access(j->journal, F_OK) == 0;
    char text[PATH_MAX + 200], after[80] = "";
    if (status != DP_ESTOPPED)
        (void)modelling_failed(&j->m, status);
    if (made > 0)
        (void)snprintf(after, sizeof after, " after release %llu of %llu", made, planned);
    if (kept && at->kept && made > 0)
        (void)snprintf(text, sizeof text,
                       "%s%s; what was released is kept in %.300s: go on with the same command "
                       "and --resume",
                       status == DP_ESTOPPED ? "interrupted" : "ended", after, j->journal);
    else if (status != DP_ESTOPPED)
        return EXIT_REFUSED;
    else
        (void)snprintf(text, sizeof text, "interrupted%s; %s", after,
                       j->m.said.no_privacy ? "nothing is kept"
                       : made == 0          ? "nothing was released, and nothing is spent"
                                            : "what was planned is spent, and nothing is kept");
    return modelling_refuse(
        &j->m, status == DP_ESTOPPED ? EXIT_SIGNAL + watch_signal() : EXIT_REFUSED, text);
}

/* The journal has done its work when the fit is kept. */
static void end_journal(table_fit *j, dp_status kept)
{
    char text[PATH_MAX + 200];
    if (j->journal[0] == '\0' || access(j->journal, F_OK) != 0)
        return;
    if (kept == DP_OK && unlink(j->journal) == 0)
        return;
    (void)snprintf(text, sizeof text,
                   kept == DP_OK ? "%.300s could not be taken away; it is no longer needed"
                                 : "what was released is kept in %.300s: --resume makes the same "
                                   "fit again, without paying",
                   j->journal);
    (void)modelling_refuse(&j->m, 0, text);
}

/* What was paid for is told also where it cannot be kept. */
static int tell(table_fit *j)
{
    const settings *s = &j->m.said;
    dp_error told = {DP_OK, ""};
    dp_interval spent;
    dp_status kept = s->out != NULL ? dp_fit_save(j->fit, s->out, &j->m.err) : DP_OK;
    dp_status status = s->json ? tell_fit_json("fit", j->fit, kept == DP_OK ? s->out : NULL, &told)
                               : tell_fit(j->fit, &told);
    if (!isnan(s->seed))
        (void)modelling_refuse(&j->m, 0,
                               "with --seed the noise is known: this fit is NOT PRIVATE, "
                               "and for tests alone");
    if (status != DP_OK)
        return modelling_refuse(&j->m, EXIT_REFUSED,
                                told.text[0] != '\0' ? told.text : dp_status_text(status));
    if (j->who.ledger != NULL && !s->json &&
        dp_ledger_spent(j->who.ledger, j->who.name, &spent, &told) == DP_OK)
        (void)printf("on '%s' in all: epsilon %.6g\n", j->who.name, spent.upper);
    if (j->who.ledger == NULL && !s->no_privacy && !s->json)
        (void)printf("No ledger adds it to what else is spent on these records.\n");
    if (j->who.ledger == NULL && s->resume && !s->json)
        (void)printf("No ledger tells whether a copy of its journal was gone on with as well.\n");
    int end = modelling_failed(&j->m, kept) == EXIT_CERTIFIED ? EXIT_CERTIFIED : EXIT_REFUSED;
    end_journal(j, kept);
    return end;
}

static int fit(table_fit *j)
{
    message why = {""};
    int end = modelling_open(&j->m);
    if (end != EXIT_CERTIFIED)
        return end;
    if (!check_out(j->m.said.out, &why) || !check_journal(j, &why) ||
        !payer_open(&j->who, &j->m.said, &why))
        return modelling_refuse(&j->m, EXIT_REFUSED, why.text);
    dp_status status = make_fit(j);
    if (status == DP_OK)
        return tell(j);
    return give_up(j, status);
}

static int run(const command *self, int argc, char **argv)
{
    table_fit j = {.m = {.command = "fit", .said = settings_none()}};
    message why = {""};
    bool has_text = argc > 0 && strncmp(argv[0], "--", 2) != 0;
    j.m.text = has_text ? argv[0] : NULL;
    if (!options_parse(self->options, argc - has_text, argv + has_text, &j.m.said, &why))
        return modelling_refuse(&j.m, EXIT_USAGE, why.text);
    if (j.m.said.help) {
        command_help(self);
        return EXIT_CERTIFIED;
    }
    if (!has_text)
        return modelling_refuse(&j.m, EXIT_USAGE,
                                "which model? give a formula, as in: tacit fit 'use ~ age + urban' "
                                "--schema ...");
    if (!check(&j.m.said, &why))
        return modelling_refuse(&j.m, EXIT_USAGE, why.text);
    int end = fit(&j);
    dp_fit_free(j.fit);
    dp_dataset_free(j.data);
    payer_close(&j.who);
    modelling_close(&j.m);
    return end;
}

const command command_fit = {
    "fit",
    FOR_FIT,
    "a private posterior of a model, which is a formula of R",
    "Fits the model that a formula of R, lme4 or brms writes to a CSV file, within an epsilon\n"
    "and a delta.  The schema says what is public of the file (doc/schema.md).  Prints the\n"
    "posterior, what was spent and what was checked (doc/answers.md); --out keeps the fit for\n"
    "tacit summary and tacit predict.  A fit with --out that is interrupted (Ctrl-C, a signal,\n"
    "a crash) goes on with the same command and --resume, without paying again.",
    "tacit fit 'use ~ age + I(age^2) + urban + (1 | district)' --family bernoulli --data "
    "contraception.csv \\\n"
    "    --schema contraception.schema --epsilon 2 --delta 1e-4 --out use.fit",
    run};
