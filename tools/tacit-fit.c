/* The command fit: from a table to a private posterior.
 *
 * All that can be refused without the records is refused before they are read, and all that can be
 * refused with them before anything is spent; where the fit is to be kept is one of these, since a
 * fit that was paid for and lost cannot be had again. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacit/infer.h>

#include "tools/modelling.h"
#include "tools/tacit.h"
#include "tools/tell-fit.h"

/* One fit, from options to answer. */
typedef struct table_fit {
    modelling m;
    const char *path, *name; /* of the table; of the data set in the ledger */
    dp_ledger *ledger;
    const dp_ledger_statement *seen;
    dp_table *table;
    dp_dataset *data;
    dp_fit *fit;
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
    return check_budget(s, why);
}

/* Whether a file can be made there. */
static bool check_out(const char *out, message *why)
{
    char folder[PATH_MAX];
    if (out == NULL)
        return true;
    if (access(out, F_OK) == 0)
        return complain(why,
                        "--out: %.300s is there already, and a fit that was paid for cannot be "
                        "had again; give another name",
                        out);
    const char *slash = strrchr(out, '/');
    size_t n = slash != NULL ? (size_t)(slash - out) + 1 : 0;
    if (n >= sizeof folder)
        return complain(why, "--out is too long a path; give a shorter one");
    memcpy(folder, out, n);
    folder[n] = '\0';
    if (access(n > 0 ? folder : ".", W_OK | X_OK) != 0)
        return complain(why, "--out: no file can be made as %.300s (%s); give another place", out,
                        strerror(errno));
    return true;
}

/* ---- the ledger ---- */

static const dp_ledger_data *named(const table_fit *j, const char *path)
{
    for (size_t i = 0; i < j->seen->n; i++) {
        const dp_ledger_data *d = &j->seen->data[i];
        if (j->m.said.name != NULL ? strcmp(d->name, j->m.said.name) == 0
                                   : d->path != NULL && path != NULL && strcmp(d->path, path) == 0)
            return d;
    }
    return NULL;
}

/* Which data set of the ledger pays: it must be the one whose file is read. */
static int find_data(table_fit *j)
{
    const settings *s = &j->m.said;
    char path[PATH_MAX], why[2 * PATH_MAX + 200];
    bool there = s->data != NULL && realpath(s->data, path) != NULL;
    const dp_ledger_data *d = named(j, there ? path : NULL);
    if (d == NULL && s->name != NULL)
        (void)snprintf(why, sizeof why,
                       "the ledger has no data set '%.100s'; tacit ledger show lists them, tacit "
                       "ledger add adds one",
                       s->name);
    else if (d == NULL)
        (void)snprintf(
            why, sizeof why,
            "the ledger knows no data set with the file %.300s; tacit ledger add adds it", s->data);
    else if (d->path == NULL)
        (void)snprintf(why, sizeof why,
                       "'%.100s' are columns in memory, which no file holds; add the file to the "
                       "ledger",
                       d->name);
    else if (s->data != NULL && (!there || strcmp(path, d->path) != 0))
        (void)snprintf(why, sizeof why,
                       "the file of '%.100s' in the ledger is %.300s, and --data is another one; "
                       "leave --data out, or add its file to the ledger",
                       d->name, d->path);
    else {
        j->name = d->name;
        j->path = d->path;
        return EXIT_CERTIFIED;
    }
    return modelling_refuse(&j->m, EXIT_REFUSED, why);
}

static int open_ledger(table_fit *j)
{
    j->path = j->m.said.data;
    if (j->m.said.ledger == NULL)
        return EXIT_CERTIFIED;
    dp_status status = dp_ledger_open(j->m.said.ledger, &j->ledger, &j->m.err);
    if (status == DP_OK)
        status = dp_ledger_read(j->ledger, &j->seen, &j->m.err);
    return status == DP_OK ? find_data(j) : modelling_failed(&j->m, status);
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
                           .ledger = j->ledger,
                           .ledger_data = j->name,
                           .ledger_label = j->ledger != NULL ? "tacit fit" : NULL};
    const dp_fit_source source = {.formula = dp_formula_text(j->m.formula),
                                  .family = dp_formula_family(j->m.formula),
                                  .schema = dp_schema_text(j->m.schema),
                                  .priors = j->m.priors};
    say_doing("reading the table");
    dp_status status = modelling_read(&j->m, j->path, DP_FORMULA_FIT, &j->table);
    if (status == DP_OK)
        status = dp_formula_dataset(j->m.formula, j->table, &j->data, err);
    dp_table_free(j->table); /* the data set has its own */
    j->table = NULL;
    if (status == DP_OK)
        say_doing("fitting");
    if (status == DP_OK)
        status = dp_fit_private(j->m.model, j->data, &o, &j->fit, err);
    /* What was paid for is not given up because it cannot tell how it was asked for. */
    if (status == DP_OK && dp_fit_set_source(j->fit, &source, err) != DP_OK) {
        (void)modelling_failed(&j->m, err->status);
        *err = (dp_error){DP_OK, ""};
    }
    return status;
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
    if (j->ledger != NULL && !s->json &&
        dp_ledger_spent(j->ledger, j->name, &spent, &told) == DP_OK)
        (void)printf("on '%s' in all: epsilon %.6g\n", j->name, spent.upper);
    if (j->ledger == NULL && !s->no_privacy && !s->json)
        (void)printf("No ledger adds it to what else is spent on these records.\n");
    return modelling_failed(&j->m, kept) == EXIT_CERTIFIED ? EXIT_CERTIFIED : EXIT_REFUSED;
}

static int fit(table_fit *j)
{
    message why = {""};
    int end = modelling_open(&j->m);
    if (end != EXIT_CERTIFIED)
        return end;
    if (!check_out(j->m.said.out, &why))
        return modelling_refuse(&j->m, EXIT_REFUSED, why.text);
    end = open_ledger(j);
    if (end != EXIT_CERTIFIED)
        return end;
    dp_status status = make_fit(j);
    if (status == DP_OK)
        return tell(j);
    (void)modelling_failed(&j->m, status);
    return EXIT_REFUSED;
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
    dp_ledger_statement_free(j.seen);
    dp_ledger_close(j.ledger);
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
    "tacit summary and tacit predict.",
    "tacit fit 'use ~ age + I(age^2) + urban + (1 | district)' --family bernoulli --data "
    "contraception.csv \\\n"
    "    --schema contraception.schema --epsilon 2 --delta 1e-4 --out use.fit",
    run};
