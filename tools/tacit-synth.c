/* The command synth: twins of a table, of rows that a fit draws.
 *
 * Files are made before anything is paid, so that what was paid for can be kept; what could not be
 * filled is removed. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/table-source.h"
#include "tools/tacit.h"
#include "tools/tell-twins.h"

enum { MOST_TWINS = 10000, MOST_ROWS = 100000000, MOST_PATH = 4096 };

typedef struct synthesis {
    twins t;
    bool *made; /* [t.n] files */
    dp_rng *rng;
    sheet compared; /* the records of --compare */
    bool kept;      /* the files are whole */
} synthesis;

/* ---- options ---- */

static bool check_payment(const settings *s, message *why)
{
    const bool data = s->data != NULL || s->ledger != NULL;
    if (data && s->public_data != NULL)
        return complain(why, "predictors come from --public or from what is paid for, not from "
                             "both; leave out --public, or --data and --ledger");
    if (data && (isnan(s->epsilon) || isnan(s->delta)))
        return complain(why,
                        "--%s is missing; tables of private records are paid for, beside the "
                        "fit: give --epsilon and --delta",
                        isnan(s->epsilon) ? "epsilon" : "delta");
    if (!data && (!isnan(s->epsilon) || !isnan(s->delta) || s->no_pairs || s->name != NULL))
        return complain(why, "--epsilon, --delta, --name and --no-pairs are of tables of private "
                             "records; give --data or --ledger with them, or leave them out");
    if (s->ledger == NULL && s->name != NULL)
        return complain(why, "--name is of a data set in a ledger; give --ledger, too");
    if (s->ledger != NULL && table_on_server(s->data))
        return complain(why, "a ledger knows data sets by their files, and a server's records are "
                             "in none; leave --data out, and give the --name of a data set that "
                             "the ledger has");
    if (s->ledger != NULL && s->data == NULL && s->name == NULL)
        return complain(why, "which data set of the ledger? give --name, or --data with its file");
    return true;
}

static bool check(synthesis *y, const char *fit, message *why)
{
    const settings *s = &y->t.m.said;
    if (fit == NULL)
        return complain(why, "which fit? give its file, as in: tacit synth use.fit --rows 2000 "
                             "--twins 10 --out twin.csv");
    if (isnan(s->rows))
        return complain(why, "--rows is missing; it says how many rows a twin has");
    if (s->out == NULL)
        return complain(why, "--out is missing; it names the file of the twins, as in --out "
                             "twin.csv");
    if (s->query != NULL && s->data == NULL && s->ledger == NULL && s->public_data == NULL &&
        s->compare == NULL)
        return complain(why, "--query says which records of a database, and none is given; give "
                             "--data, --ledger, --public or --compare, or leave it out");
    y->t.n = isnan(s->twins) ? 1 : (size_t)s->twins;
    if (s->rows > MOST_ROWS || y->t.n > MOST_TWINS)
        return complain(why,
                        "%.0f rows and %zu twins are asked for; at most %d rows and %d twins "
                        "are made",
                        s->rows, y->t.n, MOST_ROWS, MOST_TWINS);
    y->t.rows = (size_t)s->rows;
    if (s->data != NULL || s->ledger != NULL)
        y->t.from.source = PREDICTORS_PAID;
    else if (s->public_data != NULL)
        y->t.from.source = PREDICTORS_PUBLIC;
    return check_payment(s, why);
}

/* ---- files ---- */

/* twin.csv becomes twin-3.csv. */
static char *path_of(const char *out, size_t k, size_t n)
{
    const char *slash = strrchr(out, '/'), *name = slash != NULL ? slash + 1 : out;
    const char *dot = strrchr(name, '.');
    const size_t stem = dot != NULL && dot != name ? (size_t)(dot - out) : strlen(out);
    char *path = malloc(strlen(out) + 24);
    if (path == NULL)
        return NULL;
    if (n == 1)
        (void)sprintf(path, "%s", out);
    else
        (void)sprintf(path, "%.*s-%zu%s", (int)stem, out, k + 1, out + stem);
    return path;
}

static bool make_files(synthesis *y, message *why)
{
    const char *out = y->t.m.said.out;
    if (strlen(out) > MOST_PATH)
        return complain(why, "--out is too long a path; give a shorter one");
    y->made = calloc(y->t.n, sizeof *y->made);
    y->t.path = calloc(y->t.n, sizeof *y->t.path);
    for (size_t k = 0; k < y->t.n; k++) {
        if (y->made == NULL || y->t.path == NULL ||
            (y->t.path[k] = path_of(out, k, y->t.n)) == NULL)
            return complain(why, "out of memory");
        FILE *file = fopen(y->t.path[k], "wx");
        if (file == NULL)
            return complain(why, "--out: %.300s cannot be made (%s); give another name",
                            y->t.path[k], strerror(errno));
        (void)fclose(file); /* many twins would be more files than may be open */
        y->made[k] = true;
    }
    return true;
}

static void end_files(synthesis *y)
{
    for (size_t k = 0; k < y->t.n && y->t.path != NULL; k++) {
        if (y->made != NULL && y->made[k] && !y->kept)
            (void)remove(y->t.path[k]);
        free(y->t.path[k]);
    }
    free(y->t.path);
    free(y->made);
}

static bool write_twin(synthesis *y, size_t k, const sheet *s)
{
    const char separator = dp_schema_csv(y->t.m.schema)->separator;
    FILE *to = fopen(y->t.path[k], "w");
    bool good = to != NULL && sheet_write(s, separator != '\0' ? separator : ',', to);
    if (to != NULL && fclose(to) != 0)
        good = false;
    if (!good)
        (void)snprintf(y->t.m.err.text, sizeof y->t.m.err.text,
                       "%.300s cannot be written (%s); is the disk full?", y->t.path[k],
                       strerror(errno));
    return good;
}

/* ---- the twins ---- */

/* What twins are compared with, where there is anything. */
static dp_status open_closeness(synthesis *y)
{
    modelling *m = &y->t.m;
    const sheet *with = y->t.from.source == PREDICTORS_PUBLIC ? &y->t.from.records : NULL;
    const predictors *paid = y->t.from.source == PREDICTORS_PAID ? &y->t.from : NULL;
    dp_table *table = NULL;
    dp_status status = DP_OK;
    if (m->said.compare != NULL) {
        if (!table_is_database(m->said.compare))
            m->said.query = NULL; /* which is of the other table then */
        status = modelling_read(m, m->said.compare, DP_FORMULA_FIT, &table);
        if (status == DP_OK)
            status = sheet_of_table(&y->compared, y->t.maker.columns, y->t.maker.n, table);
        dp_table_free(table);
        with = &y->compared;
        paid = NULL;
    }
    if (status != DP_OK || (with == NULL && paid == NULL) || (paid == NULL && with->n_columns == 0))
        return status;
    return closeness_open(&y->t.close, with, paid) ? DP_OK : DP_ENOMEM;
}

static dp_status make_twin(synthesis *y, size_t k)
{
    sheet s;
    dp_status status =
        sheet_make(&s, y->t.maker.columns, y->t.maker.n, y->t.rows) ? DP_OK : DP_ENOMEM;
    if (status == DP_OK) {
        predictors_draw(&y->t.from, y->rng, &s);
        status = twin_draw(&y->t.maker, &y->t.m, y->rng, &s);
    }
    if (status == DP_OK && !write_twin(y, k, &s))
        status = DP_EIO;
    if (status == DP_OK && y->t.close.n > 0)
        closeness_add(&y->t.close, &s);
    sheet_free(&s);
    return status;
}

static dp_status make_all(synthesis *y)
{
    modelling *m = &y->t.m;
    const double seed = m->said.seed;
    dp_interval spent;
    dp_status status = isnan(seed) ? dp_rng_new_random(&y->rng, NULL, &m->err)
                                   : dp_rng_new((uint64_t)seed, &y->rng, &m->err);
    if (status == DP_OK)
        status = predictors_open(&y->t.from, m, &y->t.who);
    if (status == DP_OK)
        status = open_closeness(y);
    for (size_t k = 0; k < y->t.n && status == DP_OK; k++)
        status = make_twin(y, k);
    y->t.spent = NAN;
    if (status == DP_OK && y->t.who.ledger != NULL &&
        dp_ledger_spent(y->t.who.ledger, y->t.who.name, &spent, &m->err) == DP_OK)
        y->t.spent = spent.upper;
    return status;
}

static int synthesise(synthesis *y, const char *fit)
{
    modelling *m = &y->t.m;
    message why = {""};
    const int end = twin_open(&y->t.maker, m, fit);
    if (end != EXIT_CERTIFIED)
        return end;
    if (!payer_open(&y->t.who, &m->said, &why) || !make_files(y, &why))
        return modelling_refuse(m, EXIT_REFUSED, why.text);
    const dp_status status = make_all(y);
    if (status != DP_OK) {
        (void)modelling_failed(m, status);
        return EXIT_REFUSED;
    }
    y->kept = true;
    if (m->said.json)
        tell_twins_json(&y->t);
    else
        tell_twins(&y->t);
    /* The library's warning compares delta with the number of units; this one with a release. */
    if (y->t.from.source == PREDICTORS_PAID && m->said.delta * y->t.from.tree.records >= 1)
        (void)modelling_refuse(m, 0,
                               "by the noisy counts delta is not below 1 / (number of records): "
                               "publishing all of one record would be allowed; take a smaller "
                               "delta");
    return EXIT_CERTIFIED;
}

static int run(const command *self, int argc, char **argv)
{
    synthesis y = {.t.m = {.command = "synth", .said = settings_none()}};
    message why = {""};
    const char *fit = argc > 0 && argv[0][0] != '-' ? argv[0] : NULL;
    const int skipped = fit != NULL;
    if (!options_parse(self->options, argc - skipped, argv + skipped, &y.t.m.said, &why))
        return modelling_refuse(&y.t.m, EXIT_USAGE, why.text);
    if (y.t.m.said.help) {
        command_help(self);
        return EXIT_CERTIFIED;
    }
    if (!check(&y, fit, &why))
        return modelling_refuse(&y.t.m, EXIT_USAGE, why.text);
    const int end = synthesise(&y, fit);
    end_files(&y);
    closeness_close(&y.t.close);
    sheet_free(&y.compared);
    predictors_close(&y.t.from);
    payer_close(&y.t.who);
    dp_rng_free(y.rng);
    dp_fit_free(y.t.maker.fit);
    modelling_close(&y.t.m);
    return end;
}

const command command_synth = {
    "synth",
    FOR_SYNTH,
    "twins of the table: rows that a fit draws",
    "Writes tables of rows that the fit draws: outcomes from its posterior predictive, each twin\n"
    "by a draw of the posterior of its own, and predictors that are invented from the schema,\n"
    "drawn from public records (--public), or from private tables that are paid for (--data or\n"
    "--ledger).  Outcomes cost no privacy.  Analyse each twin by itself, and give the answers to\n"
    "tacit combine.",
    "tacit synth use.fit --rows 2000 --twins 10 --out twin.csv\n"
    "  tacit synth use.fit --rows 2000 --twins 10 --out twin.csv --ledger clinic.ledger "
    "--name visits \\\n"
    "    --epsilon 1 --delta 1e-5",
    run};
