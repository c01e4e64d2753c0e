/* One owner's run of a regression over columns. */
#define _XOPEN_SOURCE 700
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/silo-columns.h"
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

static int tell(const column_run *r)
{
    const dp_silo_opts *o = dp_silo_plan_opts(r->j->plan);
    silo_answer a = {.j = r->j,
                     .who = r->who,
                     .self = r->self,
                     .rows = r->common,
                     .of_whom = " that both owners have",
                     .n = SILO_SIDES};
    for (int k = 0; k < SILO_SIDES; k++)
        a.block[k] = (silo_block){o->owners[k].name, r->c.part[k], r->w[k]};
    return silo_tell_answer(&a);
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
    dp_status status = silo_find_self(j, &r.self);
    if (status == DP_OK)
        status = silo_read_table(j, who->path, r.c.part[r.self], true, &r.table);
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
