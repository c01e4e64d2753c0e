/* The verb simulate: cuts one table into owners, and runs all of them as processes of this machine
 * over a folder that is made for it and taken away.  It shows what a plan would find and send; who
 * has the whole table protects nobody by it. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/new-file.h"
#include "tools/silo.h"
#include "tools/table-source.h"
#include "tools/tell-fit.h"
#include "tools/watch.h"

enum {
    MOST = DP_OWNERS_MOST,
    MOST_COLUMNS = 256,
    NAME = 16,
    FOLDER = 512,
    FILE_ROOM = FOLDER + 32
};

typedef struct simulation {
    silo_job j;
    size_t n;                 /* owners */
    const dp_column *columns; /* that are read: the formula's, and that of --by */
    size_t n_columns, by;     /* by: its place among them; n_columns: none */
    dp_column own[MOST_COLUMNS];
    dp_table *table;
    int32_t value[MOST]; /* of --by, an owner's */
    dp_dataset *data[MOST];
    dp_silo_key *keys[MOST];
    char names[MOST][NAME];
    dp_silo_owner owners[MOST];
    char folder[FOLDER];
} simulation;

/* ---- one table, cut ---- */

static bool find_by(simulation *s, message *why)
{
    size_t n, n_all;
    const char *by = s->j.m.said.column;
    const dp_column *read = dp_formula_columns(s->j.m.formula, DP_FORMULA_FIT, &n);
    const dp_column *all = dp_schema_columns(s->j.m.schema, &n_all);
    s->columns = read;
    s->by = s->n_columns = n;
    for (size_t k = 0; by != NULL && k < n; k++)
        if (strcmp(read[k].name, by) == 0)
            s->by = k;
    if (n >= MOST_COLUMNS)
        return complain(why, "the formula reads more than %d columns", MOST_COLUMNS - 1);
    if (by == NULL || s->by < n)
        return true;
    memcpy(s->own, read, n * sizeof *read);
    for (size_t k = 0; k < n_all; k++)
        if (strcmp(all[k].name, by) == 0) {
            s->own[n] = all[k];
            s->columns = s->own;
            s->n_columns = n + 1;
            return true;
        }
    return complain(why, "--by: the schema has no column %.60s", by);
}

/* Finds the values that --by has; each is an owner. */
static bool find_values(simulation *s, message *why)
{
    if (s->by == s->n_columns)
        return true;
    const dp_column *c = &s->columns[s->by];
    if (c->kind != DP_COLUMN_LEVEL && c->kind != DP_COLUMN_INTEGER)
        return complain(why, "--by: %.60s must be of levels or whole numbers", c->name);
    const int32_t *by = dp_table_level(s->table, c->name);
    for (size_t i = 0; i < dp_table_rows(s->table); i++) {
        size_t k = 0;
        while (k < s->n && s->value[k] != by[i])
            k++;
        if (k == MOST)
            return complain(why,
                            "--by: %.60s has more than %d values, and there are no more owners; "
                            "give --owners N",
                            c->name, MOST);
        if (k == s->n)
            s->value[s->n++] = by[i];
    }
    return true;
}

static void copy_record(simulation *s, size_t row, dp_cell *cells)
{
    for (size_t k = 0; k < s->n_columns; k++) {
        const dp_column *c = &s->columns[k];
        cells[k] = (dp_cell){NULL, 0};
        if (c->kind == DP_COLUMN_REAL)
            cells[k].number = dp_table_real(s->table, c->name)[row];
        else if (c->kind == DP_COLUMN_LEVEL)
            cells[k].text = c->levels[dp_table_level(s->table, c->name)[row]];
        else
            cells[k].number = c->low + dp_table_level(s->table, c->name)[row];
    }
}

static dp_status cut(simulation *s, size_t owner)
{
    dp_error *err = &s->j.m.err;
    dp_cell cells[MOST_COLUMNS];
    dp_table_builder *b;
    dp_table *own = NULL;
    const int32_t *by =
        s->by < s->n_columns ? dp_table_level(s->table, s->columns[s->by].name) : NULL;
    dp_status status =
        dp_table_builder_new(s->names[owner], NULL, s->n_columns, s->columns, &b, err);
    for (size_t i = 0; status == DP_OK && i < dp_table_rows(s->table); i++)
        if (by != NULL ? by[i] == s->value[owner] : i % s->n == owner) {
            copy_record(s, i, cells);
            status = dp_table_builder_add(b, cells, err);
        }
    if (status == DP_OK)
        status = dp_table_builder_finish(b, &own, err);
    if (status == DP_OK)
        status = dp_formula_dataset(s->j.m.formula, own, &s->data[owner], err);
    dp_table_free(own);
    dp_table_builder_free(b);
    return status;
}

static dp_status read_and_cut(simulation *s, message *why)
{
    dp_csv_options o = *dp_schema_csv(s->j.m.schema);
    dp_status status = table_read(s->j.m.said.data, s->j.m.said.query, &o, s->n_columns, s->columns,
                                  &s->table, &s->j.m.err);
    if (status == DP_OK && !find_values(s, why))
        status = DP_EINVAL;
    for (size_t k = 0; status == DP_OK && k < s->n; k++) {
        (void)snprintf(s->names[k], NAME, "owner%u", (unsigned)k + 1);
        status = cut(s, k);
    }
    dp_table_free(s->table);
    s->table = NULL;
    return status;
}

/* ---- owners ---- */

static bool make_folder(simulation *s, message *why)
{
    char letters[FILE_ROOM];
    const char *where = getenv("TMPDIR");
    if (where == NULL || where[0] == '\0')
        where = "/tmp";
    const int n = snprintf(s->folder, sizeof s->folder, "%s/tacit-silo-XXXXXX", where);
    if (n < 0 || (size_t)n >= sizeof s->folder || mkdtemp(s->folder) == NULL) {
        s->folder[0] = '\0';
        return complain(why, "no folder can be made in %.200s; set TMPDIR to one of yours", where);
    }
    (void)snprintf(letters, sizeof letters, "%s/letters", s->folder);
    return mkdir(letters, S_IRWXU) == 0 || complain(why, "no folder can be made in %s", s->folder);
}

static dp_status make_plan(simulation *s)
{
    silo_job *j = &s->j;
    dp_status status = DP_OK;
    for (size_t k = 0; status == DP_OK && k < s->n; k++) {
        char path[FILE_ROOM];
        (void)snprintf(path, sizeof path, "%s/%s.key", s->folder, s->names[k]);
        status = dp_silo_key_new(path, &s->keys[k], &j->m.err);
        if (status == DP_OK)
            s->owners[k] = (dp_silo_owner){s->names[k], dp_silo_key_public(s->keys[k])};
    }
    if (status == DP_OK)
        status = silo_make_plan(j, "simulated", s->n, s->owners, &(dp_silo_opts){.model = NULL});
    for (size_t k = 0; status == DP_OK && k < s->n; k++)
        status = dp_silo_plan_sign(j->plan, s->keys[k], &j->m.err);
    return status;
}

/* What an owner's process has to say, for the one that tells it. */
static void leave_word(const simulation *s, size_t k, const char *text)
{
    char path[FILE_ROOM];
    (void)snprintf(path, sizeof path, "%s/%s.word", s->folder, s->names[k]);
    FILE *to = fopen(path, "w");
    if (to != NULL) {
        (void)fputs(text, to);
        (void)fclose(to);
    }
}

static int repeat_word(const simulation *s, size_t k)
{
    char path[FILE_ROOM], text[sizeof(dp_error)] = "";
    (void)snprintf(path, sizeof path, "%s/%s.word", s->folder, s->names[k]);
    FILE *from = fopen(path, "r");
    if (from == NULL || fgets(text, (int)sizeof text, from) == NULL)
        (void)snprintf(text, sizeof text, "the process of %s was ended", s->names[k]);
    if (from != NULL)
        (void)fclose(from);
    return silo_refuse(&s->j, EXIT_REFUSED, text);
}

/* What an owner's process does; the first one tells how far it is. */
static int be_owner(simulation *s, size_t k)
{
    silo_job *j = &s->j;
    char letters[FILE_ROOM], audit[FILE_ROOM], out[FILE_ROOM];
    watch looks;
    dp_fit *fit;
    (void)snprintf(letters, sizeof letters, "%s/letters", s->folder);
    (void)snprintf(audit, sizeof audit, "%s/%s.audit", s->folder, s->names[k]);
    (void)snprintf(out, sizeof out, "%s/%s.fit", s->folder, s->names[k]);
    const dp_silo_run_opts o = {.key = s->keys[k],
                                .mailbox = letters,
                                .audit = audit,
                                .threads = 1,
                                .hopeless_allowed = j->m.said.hopeless_allowed,
                                .watch = k == 0 ? watch_look : NULL,
                                .watch_user = &looks};
    watch_begin(&looks, j->m.command);
    dp_status status = dp_silo_run(j->plan, j->m.model, s->data[k], &o, &fit, &j->m.err);
    watch_end(&looks);
    if (status == DP_OK)
        status = dp_fit_save(fit, out, &j->m.err);
    if (status != DP_OK)
        leave_word(s, k, j->m.err.text[0] != '\0' ? j->m.err.text : dp_status_text(status));
    return status == DP_OK ? EXIT_CERTIFIED : EXIT_REFUSED;
}

/* Ends all whose processes are there. */
static void end_owners(size_t n, const pid_t *child)
{
    for (size_t k = 0; k < n; k++)
        if (child[k] > 0)
            (void)kill(child[k], SIGKILL);
}

/* Waits for all.  Where one fails the others would wait for it in vain, and are ended.  Gives the
 * first that failed, n for none. */
static size_t wait_for(size_t n, pid_t *child)
{
    size_t first = n;
    for (size_t left = n; left > 0;) {
        int how = 0;
        size_t k = 0;
        const pid_t ended = waitpid(-1, &how, 0);
        if (ended < 0 && errno != EINTR)
            break;
        while (k < n && child[k] != ended)
            k++;
        if (ended < 0 || (k < n && !(WIFEXITED(how) && WEXITSTATUS(how) == EXIT_CERTIFIED))) {
            first = first == n && k < n ? k : first;
            end_owners(n, child);
        }
        if (ended > 0 && k < n) {
            child[k] = 0;
            left--;
        }
    }
    return first;
}

static int run_owners(simulation *s)
{
    pid_t child[MOST];
    watch looks;
    size_t begun = 0;
    (void)fflush(NULL);
    watch_begin(&looks, s->j.m.command);
    for (; begun < s->n; begun++) {
        child[begun] = fork();
        if (child[begun] == 0)
            _exit(be_owner(s, begun));
        if (child[begun] < 0)
            break;
    }
    if (begun < s->n)
        end_owners(begun, child);
    const size_t failed = wait_for(begun, child);
    watch_end(&looks);
    if (begun < s->n)
        return silo_refuse(&s->j, EXIT_REFUSED, "the system gives no process for each owner");
    if (watch_signal() != 0)
        return silo_refuse(&s->j, EXIT_SIGNAL + watch_signal(), "interrupted; nothing is kept");
    return failed == s->n ? EXIT_CERTIFIED : repeat_word(s, failed);
}

/* ---- what it was ---- */

static int tell(simulation *s)
{
    silo_job *j = &s->j;
    const settings *said = &j->m.said;
    char path[FILE_ROOM];
    dp_fit *fit = NULL;
    dp_silo_audit log;
    (void)snprintf(path, sizeof path, "%s/%s.fit", s->folder, s->names[0]);
    dp_status status = dp_fit_load(path, &fit, &j->m.err);
    if (status == DP_OK && said->out != NULL)
        status = dp_fit_save(fit, said->out, &j->m.err);
    if (status == DP_OK)
        status = said->json ? tell_fit_json(j->m.command, fit, said->out, &j->m.err)
                            : tell_fit(fit, &j->m.err);
    (void)snprintf(path, sizeof path, "%s/%s.audit", s->folder, s->names[0]);
    if (status == DP_OK && !said->json)
        status = dp_silo_audit_check(path, NULL, &log, &j->m.err);
    if (status == DP_OK && !said->json) {
        (void)printf("\nLetters of %s, which adds up; %zu owners:\n\n", s->names[0], s->n);
        silo_tell_audit(&log);
        (void)printf("Simulated: all owners were this machine's, and nothing was hidden.\n");
    }
    dp_fit_free(fit);
    return silo_failed(j, status);
}

static int take_away(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)s, (void)kind, (void)at;
    return remove(path);
}

static bool check(const settings *s, message *why)
{
    if (s->data == NULL)
        return complain(why, "which table? give --data FILE");
    if (s->scheme == NULL)
        return complain(why, "--scheme is missing; tacit silo schemes lists them");
    if ((s->column == NULL) == isnan(s->parts))
        return complain(why, "how is the table cut? give --owners N, or --by COLUMN");
    if (!silo_check_budget(s, why))
        return false;
    const dp_silo_scheme *scheme = silo_scheme(s->scheme);
    if (scheme->by_columns)
        return complain(why,
                        "it cuts a table by rows, and scheme %s is of columns; plan and run that "
                        "with two owners on one machine",
                        s->scheme);
    return !scheme->shared || complain(why,
                                       "its owners leave letters, and scheme %s is of three "
                                       "parties with links; plan and run that on one machine",
                                       s->scheme);
}

static int work(simulation *s)
{
    message why = {""};
    silo_job *j = &s->j;
    int end = modelling_open(&j->m);
    if (end != EXIT_CERTIFIED)
        return end;
    if (j->m.said.out != NULL && !new_file_check(j->m.said.out, "is kept", &why))
        return silo_refuse(j, EXIT_REFUSED, why.text);
    s->n = isnan(j->m.said.parts) ? 0 : (size_t)j->m.said.parts;
    if (!find_by(s, &why))
        return silo_refuse(j, EXIT_USAGE, why.text);
    dp_status status = read_and_cut(s, &why);
    if (status != DP_OK)
        return why.text[0] != '\0' ? silo_refuse(j, EXIT_USAGE, why.text) : silo_failed(j, status);
    if (!make_folder(s, &why))
        return silo_refuse(j, EXIT_REFUSED, why.text);
    end = silo_failed(j, make_plan(s));
    if (end == EXIT_CERTIFIED)
        end = run_owners(s);
    return end == EXIT_CERTIFIED ? tell(s) : end;
}

static int run_simulate(const command *self, int argc, char **argv)
{
    simulation s = {.n = 0};
    message why = {""};
    int end;
    if (!silo_begin(&s.j, self, "which model? give a formula", argc, argv, &end))
        return end;
    s.j.m.text = s.j.word;
    if (!check(&s.j.m.said, &why))
        return silo_refuse(&s.j, EXIT_USAGE, why.text);
    end = work(&s);
    if (s.folder[0] != '\0')
        (void)nftw(s.folder, take_away, 8, FTW_DEPTH | FTW_PHYS);
    for (size_t k = 0; k < MOST; k++) {
        dp_dataset_free(s.data[k]);
        dp_silo_key_free(s.keys[k]);
    }
    silo_end(&s.j);
    return end;
}

const command silo_simulate = {
    "silo simulate",
    FOR_SILO_SIMULATE,
    "cuts one table into owners, and runs all of them here",
    "tacit silo simulate FORMULA --data FILE --schema FILE --by COLUMN | --owners N\n"
    "    --scheme NAME --epsilon E --delta D [options]\n\n"
    "Each owner is a process; letters go over a folder in /tmp, or where TMPDIR says, that is\n"
    "taken away.  It shows what a plan finds and sends.  What is spent of the records is as much "
    "as in earnest.",
    "tacit silo simulate 'use ~ age + urban' --family bernoulli --data contraception.csv \\\n"
    "    --schema contraception.schema --by livch --scheme secagg+dp --epsilon 2 --delta 1e-4",
    run_simulate};
