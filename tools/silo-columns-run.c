/* One owner's run of a regression over columns, and what it has found.
 *
 * Coefficients are told in the scale of the table's columns.  With x = (v - c) / s and outcomes
 * (y - C) / S, v's coefficient is S w / s, and the intercept C + S (w_0 - sum w c / s), to which
 * each owner has what follows from its own columns.  So the owner of outcomes alone knows the
 * intercept where the other's columns are at the middle of their ranges, and both together know it
 * at 0. */
#define _XOPEN_SOURCE 700
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/json.h"
#include "tools/new-file.h"
#include "tools/silo-columns.h"
#include "tools/table-source.h"
#include "tools/watch.h"

typedef struct column_run {
    silo_job *j;
    const payer *who;
    silo_columns c;
    size_t self, common;
    dp_table *table;
    watch watch;
    double *x, *y, *w[SILO_SIDES]; /* w of the other where it is told, else NULL */
} column_run;

static const char label[] = "tacit silo run; which people both owners have is not counted";

/* ---- reading ---- */

static dp_status find_self(column_run *r)
{
    const dp_silo_opts *o = dp_silo_plan_opts(r->j->plan);
    for (r->self = 0; r->self < SILO_SIDES; r->self++)
        if (strcmp(o->owners[r->self].key, dp_silo_key_public(r->j->key)) == 0)
            return DP_OK;
    (void)snprintf(r->j->m.err.text, sizeof r->j->m.err.text,
                   "--key is the key of none of the plan's owners; give the one that the plan has");
    return DP_ENAME;
}

/* The columns that are read, and the one of ids. */
static dp_status read_table(column_run *r)
{
    const settings *s = &r->j->m.said;
    const dp_formula_part *p = r->c.part[r->self];
    dp_column *columns = calloc(p->n_columns + 1, sizeof *columns);
    dp_csv_options o = *dp_schema_csv(r->j->m.schema);
    if (columns == NULL)
        return DP_ENOMEM;
    memcpy(columns, p->columns, p->n_columns * sizeof *columns);
    columns[p->n_columns] = (dp_column){.name = s->id_column, .kind = DP_COLUMN_UNIT};
    o.threads = isnan(s->threads) ? 1 : (size_t)s->threads;
    o.scratch = s->scratch;
    o.max_bytes = SIZE_MAX;
    o.unit_texts = true;
    dp_status status =
        table_read(r->who->path, s->query, &o, p->n_columns + 1, columns, &r->table, &r->j->m.err);
    free(columns);
    return status;
}

static dp_status compute_rows(column_run *r)
{
    const dp_formula_part *p = r->c.part[r->self];
    const size_t rows = dp_table_rows(r->table);
    r->x = calloc(rows * p->n, sizeof *r->x);
    r->y = p->has_outcome ? calloc(rows, sizeof *r->y) : NULL;
    for (int k = 0; k < SILO_SIDES; k++)
        if ((size_t)k == r->self || r->c.terms.told)
            r->w[k] = calloc(r->c.part[k]->n, sizeof *r->w[k]);
    if (r->x == NULL || (p->has_outcome && r->y == NULL) || r->w[r->self] == NULL ||
        (r->c.terms.told && r->w[1 - r->self] == NULL))
        return DP_ENOMEM;
    return dp_formula_part_rows(p, r->table, r->x, r->y, &r->j->m.err);
}

static dp_status regress(column_run *r)
{
    silo_job *j = r->j;
    const settings *s = &j->m.said;
    const bool pays = r->who->ledger != NULL;
    const dp_silo_columns_data data = {.rows = dp_table_rows(r->table),
                                       .ids = dp_table_text(r->table, s->id_column),
                                       .x = r->x,
                                       .y = r->y};
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
                                .ledger = r->who->ledger,
                                .ledger_data = pays ? r->who->name : NULL,
                                .ledger_label = pays ? label : NULL,
                                .watch = watch_look,
                                .watch_user = &r->watch,
                                .others = r->w[1 - r->self]};
    watch_begin(&r->watch, j->m.command);
    r->watch.shown = false; /* how far it is, is not known */
    dp_status status =
        dp_silo_run_columns(j->plan, &data, &o, &r->common, r->w[r->self], &j->m.err);
    watch_end(&r->watch);
    return status;
}

/* ---- telling ---- */

static double in_table(const column_run *r, int k, size_t column)
{
    const dp_formula_part *p = r->c.part[k];
    return p->scale * r->w[k][column] / p->term[column].scale;
}

/* An owner's share of the intercept at 0 of its own columns. */
static double intercept_share(const column_run *r, int k)
{
    const dp_formula_part *p = r->c.part[k];
    double share = p->has_outcome ? p->centre : 0;
    for (size_t q = 0; q < p->n; q++)
        share +=
            p->has_outcome && q == 0 ? in_table(r, k, q) : -in_table(r, k, q) * p->term[q].centre;
    return share;
}

/* What the number that is told of the intercept is of. */
static const char *intercept_of(const column_run *r)
{
    return r->c.terms.told                   ? "all columns at 0"
           : r->c.part[r->self]->has_outcome ? "own columns at 0, the other's at their centres"
                                             : "to be added to the other owner's";
}

static double intercept(const column_run *r)
{
    return r->c.terms.told ? intercept_share(r, 0) + intercept_share(r, 1)
                           : intercept_share(r, (int)r->self);
}

/* How many people are common is for both owners, and counted by no epsilon: it is told, and stands
 * in no file that may be handed on. */
static void write_json(const column_run *r, const char *file, FILE *to)
{
    const dp_silo_opts *o = dp_silo_plan_opts(r->j->plan);
    const bool noisy = o->epsilon > 0;
    json j = json_begin(to);
    json_text(&j, "command", r->j->m.command);
    json_text(&j, "file", file);
    json_text(&j, "plan", o->name);
    json_text(&j, "owner", o->owners[r->self].name);
    json_text(&j, "formula", o->source->formula);
    json_text(&j, "family", o->source->family);
    if (to == stdout)
        json_count(&j, "rows", r->common);
    json_truth(&j, "private", noisy);
    if (noisy) {
        json_number(&j, "epsilon", o->epsilon);
        json_number(&j, "delta", o->delta);
    }
    json_number(&j, "intercept", intercept(r));
    json_text(&j, "intercept_of", intercept_of(r));
    json_list(&j, "coefficients");
    for (int k = 0; k < SILO_SIDES; k++)
        for (size_t q = r->c.part[k]->has_outcome; r->w[k] != NULL && q < r->c.part[k]->n; q++) {
            json_object(&j, NULL);
            json_text(&j, "owner", o->owners[k].name);
            json_text(&j, "name", r->c.part[k]->term[q].name);
            json_number(&j, "estimate", in_table(r, k, q));
            json_end_object(&j);
        }
    json_end_list(&j);
    json_end(&j);
}

static bool write_file(const column_run *r, const char *path, message *why)
{
    new_file f;
    if (!new_file_begin(&f, path, why))
        return false;
    FILE *to = fopen(f.name, "wb");
    if (to != NULL)
        write_json(r, path, to);
    bool good = to != NULL && ferror(to) == 0;
    if (to != NULL)
        good = fclose(to) == 0 && good;
    if (good)
        return new_file_keep(&f, why);
    new_file_drop(&f);
    return complain(why, "%.300s cannot be written; is the disk full?", path);
}

static void tell_people(const column_run *r)
{
    const dp_silo_opts *o = dp_silo_plan_opts(r->j->plan);
    dp_interval spent;
    (void)printf("%s, of %zu rows that both owners have\n", o->source->formula, r->common);
    for (int k = 0; k < SILO_SIDES; k++)
        for (size_t q = r->c.part[k]->has_outcome; r->w[k] != NULL && q < r->c.part[k]->n; q++)
            (void)printf("  %-30s %12.5g  %s\n", r->c.part[k]->term[q].name, in_table(r, k, q),
                         o->owners[k].name);
    (void)printf("  %-30s %12.5g  %s\n", "(Intercept)", intercept(r), intercept_of(r));
    if (!(o->epsilon > 0)) {
        (void)printf("No noise: this is not private.\n");
        return;
    }
    (void)printf("spent: epsilon %.6g at delta %.3g (replace one record), against an owner who "
                 "keeps to the protocol\n",
                 o->epsilon, o->delta);
    if (r->who->ledger == NULL)
        (void)printf("No ledger adds it to what else is spent on these records.\n");
    else if (dp_ledger_spent(r->who->ledger, r->who->name, &spent, NULL) == DP_OK)
        (void)printf("on '%s' in all: epsilon %.6g\n", r->who->name, spent.upper);
}

/* Coefficients are told also where they cannot be kept; the run's state goes when they are. */
static int tell(const column_run *r)
{
    message why = {""};
    const settings *s = &r->j->m.said;
    const bool kept = write_file(r, s->out, &why);
    if (kept)
        dp_silo_forget(s->state);
    if (s->json)
        write_json(r, kept ? s->out : NULL, stdout);
    else
        tell_people(r);
    return kept ? EXIT_CERTIFIED : silo_refuse(r->j, EXIT_REFUSED, why.text);
}

/* Whether the same command may come further. */
static bool goes_on(dp_status status)
{
    return status == DP_ESTOPPED || status == DP_ETIMEOUT || status == DP_EIO;
}

/* Ends what gave no coefficients, and says what is left of it. */
static int give_up(const column_run *r, dp_status status)
{
    const char *state = r->j->m.said.state;
    const bool stopped = status == DP_ESTOPPED;
    char text[PATH_MAX + 200], where[80] = "before its first step";
    dp_silo_kept kept;
    if (!stopped)
        (void)silo_failed(r->j, status);
    if (!goes_on(status) || dp_silo_look(r->j->plan, state, &kept, NULL) != DP_OK || !kept.begun)
        return stopped
                   ? silo_refuse(r->j, EXIT_SIGNAL + watch_signal(), "interrupted; nothing is kept")
                   : EXIT_REFUSED;
    if (kept.sums > 0)
        (void)snprintf(where, sizeof where, "in step %llu of %llu", (unsigned long long)kept.sums,
                       (unsigned long long)kept.planned);
    (void)snprintf(text, sizeof text,
                   "%s %s; the run is kept in %.300s: go on with the same command",
                   stopped ? "interrupted" : "ended", where, state);
    return silo_refuse(r->j, stopped ? EXIT_SIGNAL + watch_signal() : EXIT_REFUSED, text);
}

static void end_run(column_run *r)
{
    silo_columns_free(&r->c);
    dp_table_free(r->table);
    free(r->x);
    free(r->y);
    for (int k = 0; k < SILO_SIDES; k++)
        free(r->w[k]);
}

int silo_columns_run(silo_job *j, const payer *who)
{
    column_run r = {.j = j, .who = who};
    if (j->m.said.id_column == NULL)
        return silo_refuse(j, EXIT_USAGE,
                           "which column says whose a row is? give --id COLUMN, of which the other "
                           "owner has the same values");
    int end = silo_columns_planned(j, &r.c);
    if (end != EXIT_CERTIFIED) {
        end_run(&r);
        return end;
    }
    dp_status status = find_self(&r);
    if (status == DP_OK)
        status = read_table(&r);
    if (status == DP_OK)
        status = compute_rows(&r);
    if (status == DP_OK)
        status = regress(&r);
    if (status == DP_OK)
        end = tell(&r);
    else
        end = give_up(&r, status);
    end_run(&r);
    return end;
}
