/* The command bounds: between which values most records' numbers lie, found privately and paid from
 * a ledger.  The file is read with the range as its schema, numbers outside being cut to it, so
 * that no other number can stop the answer. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tacit/bounds.h>
#include <tacit/table.h>

#include "tools/json.h"
#include "tools/options.h"
#include "tools/table-source.h"
#include "tools/tacit.h"

static const double default_share = 0.95;

/* One question, from options to answer. */
typedef struct question {
    settings said;
    double share;
    dp_ledger *ledger;
    const dp_ledger_statement *seen;
    const dp_ledger_data *known; /* in `seen`; NULL without a ledger */
    const char *path, *unit;     /* of the file and its unit column */
    dp_table *table;
    dp_dataset *data;
    dp_bounds_answer found;
    dp_privacy privacy;
    dp_interval spent;
    dp_error err;
} question;

static int refuse(int status, const char *text)
{
    (void)fprintf(stderr, "tacit bounds: %s\n", text);
    return status;
}

static bool check(question *q, message *why)
{
    const settings *s = &q->said;
    if (s->column == NULL || s->range.n != 2)
        return complain(why, "%s; as in --column age --range 0,120",
                        s->column == NULL ? "which column? give --column"
                                          : "--range gives the two ends of what is public");
    if (isnan(s->delta))
        return complain(why, "--delta is missing; give one well below 1 / (number of records)");
    if (isnan(s->epsilon) == isnan(s->sigma))
        return complain(why, "--epsilon and --sigma are %s; give one of them",
                        isnan(s->sigma) ? "missing" : "both given");
    if ((s->ledger == NULL) == (s->data == NULL) || (s->ledger == NULL) != (s->name == NULL))
        return complain(why, "give --data FILE, or --ledger LEDGER and --name NAME of a data set "
                             "whose file the ledger knows");
    if (s->ledger != NULL && s->unit != NULL)
        return complain(why, "the ledger knows the unit of its budget; leave --unit out");
    q->share = isnan(s->share) ? default_share : s->share;
    q->path = s->data;
    q->unit = s->unit;
    return true;
}

/* The file and the unit that the ledger knows. */
static dp_status look_up(question *q)
{
    if (q->said.ledger == NULL)
        return DP_OK;
    dp_status status = dp_ledger_open(q->said.ledger, &q->ledger, &q->err);
    if (status == DP_OK)
        status = dp_ledger_read(q->ledger, &q->seen, &q->err);
    for (size_t i = 0; status == DP_OK && i < q->seen->n; i++)
        if (strcmp(q->seen->data[i].name, q->said.name) == 0)
            q->known = &q->seen->data[i];
    if (status == DP_OK && (q->known == NULL || q->known->path == NULL)) {
        (void)snprintf(q->err.text, sizeof q->err.text,
                       q->known == NULL ? "the ledger has no data set '%.100s'; tacit ledger show "
                                          "lists them"
                                        : "'%.100s' are columns in memory, which no file holds",
                       q->said.name);
        return DP_ENAME;
    }
    if (status == DP_OK) {
        q->path = q->known->path;
        q->unit = q->known->budget.unit;
    }
    return status;
}

static dp_status read_file(question *q)
{
    const settings *s = &q->said;
    const dp_column columns[] = {{.name = s->column,
                                  .kind = DP_COLUMN_REAL,
                                  .low = s->range.value[0],
                                  .high = s->range.value[1],
                                  .clamp = true},
                                 {.name = q->unit, .kind = DP_COLUMN_UNIT}};
    dp_status status =
        table_read(q->path, s->query, NULL, q->unit != NULL ? 2 : 1, columns, &q->table, &q->err);
    if (status != DP_OK)
        return status;
    q->data = dp_dataset_new(dp_table_rows(q->table));
    if (q->data == NULL)
        return DP_ENOMEM;
    dp_dataset_real(q->data, s->column, 1, dp_table_real(q->table, s->column));
    if (q->unit != NULL) {
        dp_dataset_index(q->data, q->unit, dp_table_level(q->table, q->unit));
        dp_dataset_unit(q->data, q->unit);
    }
    return DP_OK;
}

static dp_status answer(question *q)
{
    const settings *s = &q->said;
    const dp_quantile asked = {.column = s->column,
                               .low = s->range.value[0],
                               .high = s->range.value[1],
                               .share = q->share};
    const dp_quantile_opts o = {.asked = &asked,
                                .n = 1,
                                .epsilon = isnan(s->epsilon) ? 0 : s->epsilon,
                                .delta = s->delta,
                                .sigma = isnan(s->sigma) ? 0 : s->sigma,
                                .levels = isnan(s->levels) ? 0 : (uint64_t)s->levels,
                                .ledger = q->ledger,
                                .ledger_data = s->name,
                                .ledger_label = q->ledger != NULL ? "tacit bounds" : NULL};
    dp_status status = dp_private_bounds(q->data, &o, &q->found, &q->privacy, &q->err);
    if (status == DP_OK && q->ledger != NULL)
        status = dp_ledger_spent(q->ledger, s->name, &q->spent, &q->err);
    return status;
}

/* The library's warning of delta is not told: it compares delta with the number of units. */
static void tell(const question *q)
{
    (void)printf("About %.4g %% of the values of '%s' lie between %.6g and %.6g.\n", 100 * q->share,
                 q->said.column, q->found.low, q->found.high);
    (void)printf("Each end is the outer one of an interval of %.3g, and was found by counts with "
                 "noise of %.3g %s:\nwhere that is no small part of those beyond it, it is a "
                 "random place of the range.\n\n",
                 2 * q->found.within, q->found.noise, q->unit != NULL ? "units" : "records");
    (void)printf("spent: epsilon %.4g at delta %.3g (%s; %llu counts, sigma %.4g)\n",
                 q->privacy.epsilon, q->privacy.delta, q->privacy.adjacency,
                 (unsigned long long)q->privacy.steps, q->privacy.sigma);
    if (q->ledger != NULL)
        (void)printf("on '%s' in all: epsilon %.6g of %.6g\n", q->known->name, q->spent.upper,
                     q->known->budget.epsilon);
    else
        (void)printf("No ledger adds it to what else is spent.\n");
}

static void tell_json(const question *q)
{
    json j = json_begin(stdout);
    json_text(&j, "command", "bounds");
    json_text(&j, "column", q->said.column);
    json_number(&j, "low", q->found.low);
    json_number(&j, "high", q->found.high);
    json_number(&j, "share", q->share);
    json_number(&j, "within", q->found.within);
    json_number(&j, "noise", q->found.noise);
    json_number(&j, "epsilon", q->privacy.epsilon);
    json_number(&j, "delta", q->privacy.delta);
    json_number(&j, "sigma", q->privacy.sigma);
    json_count(&j, "counts", q->privacy.steps);
    json_text(&j, "unit", q->unit);
    json_text(&j, "adjacency", q->privacy.adjacency);
    json_text(&j, "data", q->known != NULL ? q->known->name : NULL);
    json_number(&j, "spent_upper", q->known != NULL ? q->spent.upper : NAN);
    json_end(&j);
}

static int run(const command *self, int argc, char **argv)
{
    question q = {.said = settings_none()};
    message why = {""};
    if (!options_parse(self->options, argc, argv, &q.said, &why))
        return refuse(EXIT_USAGE, why.text);
    if (q.said.help) {
        command_help(self);
        return EXIT_CERTIFIED;
    }
    if (!check(&q, &why))
        return refuse(EXIT_USAGE, why.text);
    dp_status status = look_up(&q);
    if (status == DP_OK)
        status = read_file(&q);
    if (status == DP_OK)
        status = answer(&q);
    if (status != DP_OK)
        (void)refuse(0, q.err.text[0] != '\0' ? q.err.text : dp_status_text(status));
    else if (q.said.json)
        tell_json(&q);
    else
        tell(&q);
    dp_dataset_free(q.data);
    dp_table_free(q.table);
    dp_ledger_statement_free(q.seen);
    dp_ledger_close(q.ledger);
    if (status == DP_OK)
        return EXIT_CERTIFIED;
    return status == DP_EINVAL || status == DP_EDOMAIN ? EXIT_USAGE : EXIT_REFUSED;
}

const command command_bounds = {
    "bounds",
    FOR_BOUNDS,
    "between which values most of a column lies, privately",
    "Finds bounds of a column of numbers by bisection of a public range with noisy counts, to\n"
    "cut or standardise by.  What it spends is reserved in a ledger before a count is made:\n"
    "give the ledger and the data set's name there; with --data nobody adds up.",
    "tacit bounds --ledger clinic.ledger --name visits --column age --range 0,120 --epsilon 0.2 "
    "--delta 1e-6",
    run};
