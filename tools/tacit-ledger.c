/* The command ledger: create, add, update, show, check, export.  Everything is asked of the
 * library's public calls; a statement is text for people or one JSON object. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tacit/ledger.h>

#include "tools/json.h"
#include "tools/mechanism.h"
#include "tools/options.h"
#include "tools/table-source.h"
#include "tools/tacit.h"

enum { DATE_TEXT = 32 };

/* What a verb works on. */
typedef struct job {
    const char *path; /* of the ledger */
    settings said;
    dp_ledger *ledger;
    dp_error err;
} job;

static int refuse(int status, const char *text)
{
    (void)fprintf(stderr, "tacit ledger: %s\n", text);
    return status;
}

/* The exit status for a status of the library, with its message. */
static int told(const job *j, dp_status status)
{
    if (status == DP_OK)
        return EXIT_CERTIFIED;
    (void)refuse(0, j->err.text[0] != '\0' ? j->err.text : dp_status_text(status));
    return status == DP_EINVAL || status == DP_EDOMAIN ? EXIT_USAGE : EXIT_REFUSED;
}

/* ---- data sets ---- */

static bool data_given(const job *j)
{
    return j->said.data != NULL || j->said.name != NULL || j->said.unit != NULL ||
           !isnan(j->said.epsilon) || !isnan(j->said.delta) || j->said.adjacency >= 0 ||
           j->said.overlap_allowed;
}

/* Records of NPY files and databases are not compared with those of others, so that who adds them
 * must say that they are of other people: else a copy in another format had a budget of its own. */
static int check_comparable(job *j)
{
    const dp_ledger_statement *s;
    char text[600] = "";
    dp_status status = dp_ledger_read(j->ledger, &s, &j->err);
    for (size_t i = 0; status == DP_OK && i < s->n && text[0] == '\0'; i++)
        if (table_is_opaque(j->said.data) || table_is_opaque(s->data[i].path))
            (void)snprintf(text, sizeof text,
                           "a ledger does not see whether an NPY file or a database has records "
                           "in common with another data set, as '%.100s': use that one's budget, "
                           "add both as CSV, or say by --overlap-allowed that they are of other "
                           "people",
                           s->data[i].name);
    dp_ledger_statement_free(s);
    return text[0] != '\0' ? refuse(EXIT_REFUSED, text) : told(j, status);
}

static int add_data(job *j)
{
    const settings *s = &j->said;
    if (s->data == NULL || s->name == NULL || isnan(s->epsilon) || isnan(s->delta) ||
        s->adjacency < 0)
        return refuse(
            EXIT_USAGE,
            "a data set needs --data FILE, --name NAME and its budget: --epsilon, --delta "
            "and --adjacency; none of them has a default, and the budget stays");
    const dp_ledger_source source = {.path = s->data, .overlap_allowed = s->overlap_allowed};
    const dp_budget budget = {.epsilon = s->epsilon,
                              .delta = s->delta,
                              .adjacency = (dp_adjacency)s->adjacency,
                              .unit = s->unit};
    const int end = s->overlap_allowed ? EXIT_CERTIFIED : check_comparable(j);
    if (end != EXIT_CERTIFIED)
        return end;
    return told(j, dp_ledger_add_data(j->ledger, s->name, &source, &budget, &j->err));
}

static int run_create(job *j)
{
    int status = told(j, dp_ledger_create(j->path, &j->ledger, &j->err));
    if (status == EXIT_CERTIFIED && data_given(j)) {
        status = add_data(j);
        if (status != EXIT_CERTIFIED) { /* nothing was asked for but both together */
            dp_ledger_close(j->ledger);
            j->ledger = NULL;
            (void)remove(j->path);
        }
    }
    return status;
}

static int run_update(job *j)
{
    if (j->said.data == NULL || j->said.name == NULL)
        return refuse(EXIT_USAGE, "which data set? give --name NAME and --data FILE");
    const dp_ledger_source source = {.path = j->said.data,
                                     .overlap_allowed = j->said.overlap_allowed};
    return told(j, dp_ledger_update_data(j->ledger, j->said.name, &source, &j->err));
}

/* ---- statements ---- */

static const char *date_text(int64_t seconds, const char *format, char text[DATE_TEXT])
{
    struct tm parts;
    time_t t = (time_t)seconds;
    if (gmtime_r(&t, &parts) == NULL || strftime(text, DATE_TEXT, format, &parts) == 0)
        (void)snprintf(text, DATE_TEXT, "%" PRId64 " s", seconds);
    return text;
}

static void show_entry(const dp_ledger_entry *e)
{
    char made[DATE_TEXT];
    (void)printf("  %" PRIu64 "  %s UTC, %s%s%s\n", e->id,
                 date_text(e->made, "%Y-%m-%d %H:%M", made),
                 e->settled > 0 ? "settled" : "reserved: running, or broken off",
                 e->label != NULL ? ", " : "", e->label != NULL ? e->label : "");
    for (size_t k = 0; k < e->n; k++) {
        (void)printf("      ");
        mechanism_describe(stdout, &e->list[k], true);
        if (e->planned[k] != e->list[k].steps)
            (void)printf(" (%" PRIu64 " planned)", e->planned[k]);
        (void)printf("\n");
    }
    (void)printf("      columns: %s\n", e->columns != NULL ? e->columns : "not told");
    if (e->model != NULL)
        (void)printf("      model: %.16s...\n", e->model);
}

static void show_data(const dp_ledger_data *d, const dp_interval *spent)
{
    char added[DATE_TEXT];
    bool replace = d->budget.adjacency == DP_REPLACE_ONE;
    (void)printf("Data set '%s': %s, added %s\n", d->name,
                 d->path != NULL ? d->path : "columns in memory",
                 date_text(d->added, "%Y-%m-%d", added));
    (void)printf("  budget  epsilon %.6g at delta %.3g, to %s one %s%s\n", d->budget.epsilon,
                 d->budget.delta, replace ? "replace" : "add or remove",
                 d->budget.unit != NULL ? "unit of column " : "record",
                 d->budget.unit != NULL ? d->budget.unit : "");
    if (d->overlap_allowed)
        (void)printf("  overlap with other data sets was allowed: their budgets may be of the same "
                     "people\n");
    (void)printf("  spent   epsilon %.6g (certified; at least %.6g)\n", spent->upper, spent->lower);
    (void)printf("  left    epsilon %.6g, and what composition saves\n",
                 fmax(0, d->budget.epsilon - spent->upper));
    for (size_t i = 0; i < d->n; i++)
        show_entry(&d->entries[i]);
    if (d->n == 0)
        (void)printf("  nothing was run yet\n");
}

static void mechanism_json(json *j, const dp_ledger_entry *e, size_t k)
{
    const dp_mechanism *m = &e->list[k];
    json_object(j, NULL);
    json_text(j, "sampling", option_word_of("sampling", (int)m->sampling));
    json_text(j, "noise", option_word_of("noise", (int)m->noise));
    json_text(j, "adjacency", mechanism_adjacency(m));
    json_number(j, "sigma", m->sigma);
    json_number(j, "q", m->rate);
    json_count(j, "steps", m->steps);
    json_count(j, "planned", e->planned[k]);
    json_count(j, "begun", e->begun[k]);
    if (m->epoch > 0)
        json_count(j, "epoch", m->epoch);
    json_end_object(j);
}

static void entry_json(json *j, const dp_ledger_entry *e)
{
    char text[DATE_TEXT];
    json_object(j, NULL);
    json_count(j, "id", e->id);
    json_text(j, "made", date_text(e->made, "%Y-%m-%dT%H:%M:%SZ", text));
    json_text(j, "settled",
              e->settled > 0 ? date_text(e->settled, "%Y-%m-%dT%H:%M:%SZ", text) : NULL);
    json_text(j, "label", e->label);
    json_text(j, "columns", e->columns);
    json_text(j, "model", e->model);
    json_list(j, "mechanisms");
    for (size_t k = 0; k < e->n; k++)
        mechanism_json(j, e, k);
    json_end_list(j);
    json_end_object(j);
}

/* `handed_on`: for others than the owner, without paths. */
static void data_json(json *j, const dp_ledger_data *d, const dp_interval *spent, bool handed_on)
{
    json_object(j, NULL);
    json_text(j, "name", d->name);
    if (!handed_on)
        json_text(j, "path", d->path);
    json_number(j, "epsilon", d->budget.epsilon);
    json_number(j, "delta", d->budget.delta);
    json_text(j, "adjacency", d->budget.adjacency == DP_REPLACE_ONE ? "replace-one" : "add-remove");
    json_text(j, "unit", d->budget.unit);
    json_truth(j, "overlap_allowed", d->overlap_allowed);
    json_number(j, "spent_upper", spent->upper);
    json_number(j, "spent_lower", spent->lower);
    json_list(j, "entries");
    for (size_t i = 0; i < d->n; i++)
        entry_json(j, &d->entries[i]);
    json_end_list(j);
    json_end_object(j);
}

static int state(job *j, bool as_json, bool handed_on)
{
    const dp_ledger_statement *s;
    dp_interval *spent = NULL;
    dp_status status = dp_ledger_read(j->ledger, &s, &j->err);
    if (status == DP_OK && (spent = calloc(s->n + 1, sizeof *spent)) == NULL)
        status = DP_ENOMEM;
    for (size_t i = 0; status == DP_OK && i < s->n; i++)
        status = dp_ledger_spent(j->ledger, s->data[i].name, &spent[i], &j->err);
    if (status == DP_OK && as_json) {
        json out = json_begin(stdout);
        json_list(&out, "data");
        for (size_t i = 0; i < s->n; i++)
            data_json(&out, &s->data[i], &spent[i], handed_on);
        json_end_list(&out);
        json_end(&out);
    } else if (status == DP_OK) {
        for (size_t i = 0; i < s->n; i++)
            show_data(&s->data[i], &spent[i]);
        if (s->n == 0)
            (void)printf("The ledger has no data sets; tacit ledger add adds one.\n");
    }
    free(spent);
    dp_ledger_statement_free(s);
    return told(j, status);
}

static int run_show(job *j)
{
    return state(j, j->said.json, false);
}

static int run_export(job *j)
{
    return state(j, true, true);
}

/* ---- checking ---- */

static void findings_json(char *lines, size_t faults)
{
    json out = json_begin(stdout);
    json_count(&out, "faults", faults);
    json_list(&out, "findings");
    for (char *next; (next = strchr(lines, '\n')) != NULL; lines = next + 1) {
        *next = '\0';
        json_text(&out, NULL, lines);
    }
    json_end_list(&out);
    json_end(&out);
}

static int run_check(job *j)
{
    char *lines = NULL;
    size_t size, faults;
    FILE *out = open_memstream(&lines, &size);
    if (out == NULL)
        return told(j, DP_ENOMEM);
    int status = told(j, dp_ledger_check(j->ledger, out, &faults, &j->err));
    if (fclose(out) != 0)
        status = told(j, DP_ENOMEM);
    if (status == EXIT_CERTIFIED) {
        if (j->said.json)
            findings_json(lines, faults);
        else
            (void)printf("%s%s", lines, faults == 0 ? "no faults\n" : "");
        status = faults == 0 ? EXIT_CERTIFIED : EXIT_REFUSED;
    }
    free(lines);
    return status;
}

/* ---- the command ---- */

static const struct {
    const char *name;
    int (*run)(job *j);
} verbs[] = {{"create", run_create}, {"add", add_data},      {"update", run_update},
             {"show", run_show},     {"export", run_export}, {"check", run_check}};
enum { N_VERBS = sizeof verbs / sizeof verbs[0] };

static int unknown(const char *word)
{
    const char *names[N_VERBS];
    char text[160];
    for (int i = 0; i < N_VERBS; i++)
        names[i] = verbs[i].name;
    const char *near = nearest_name(word, names, N_VERBS);
    (void)snprintf(text, sizeof text, "there is no tacit ledger %.40s; %s%s", word,
                   near != NULL ? "did you mean "
                                : "give create, add, update, show, check or export",
                   near != NULL ? near : "");
    return refuse(EXIT_USAGE, text);
}

static int run(const command *self, int argc, char **argv)
{
    job j = {.said = settings_none()};
    message why = {""};
    int verb = 0, status;
    if (argc > 0 && strcmp(argv[argc - 1], "--help") == 0) {
        command_help(self);
        return EXIT_CERTIFIED;
    }
    if (argc < 2)
        return refuse(EXIT_USAGE, "what is to be done, and with which ledger? as in: tacit ledger "
                                  "show clinic.ledger");
    while (verb < N_VERBS && strcmp(verbs[verb].name, argv[0]) != 0)
        verb++;
    if (verb == N_VERBS)
        return unknown(argv[0]);
    j.path = argv[1];
    if (!options_parse(self->options, argc - 2, argv + 2, &j.said, &why))
        return refuse(EXIT_USAGE, why.text);
    if (verb >= 3 && data_given(&j))
        return refuse(EXIT_USAGE, "this only reads; give no option but --json");
    status = verb == 0 ? EXIT_CERTIFIED : told(&j, dp_ledger_open(j.path, &j.ledger, &j.err));
    if (status == EXIT_CERTIFIED)
        status = verbs[verb].run(&j);
    dp_ledger_close(j.ledger);
    return status;
}

const command command_ledger = {
    "ledger",
    FOR_LEDGER,
    "what was spent on data, and what is left",
    "tacit ledger create|add|update|show|check|export LEDGER [options]\n\n"
    "A ledger is a file that an owner keeps beside the data.  create makes one, add gives it a\n"
    "data set with a budget that stays, update says that a changed or moved file is about the\n"
    "same people, show tells what was spent by what, check looks for faults (status 1 when\n"
    "there are any), and export writes a statement as JSON that holds nothing of the data, nor\n"
    "where they lie.  Data that share records or a column with another data set are refused: the\n"
    "same people would have two budgets.  --overlap-allowed says that they are other people, or\n"
    "that it is meant.",
    "tacit ledger create clinic.ledger --data visits.csv --name visits --epsilon 2 --delta 1e-6 "
    "--adjacency add-remove",
    run};
