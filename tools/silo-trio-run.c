/* One party's run of a regression by three: columns or rows of its own, or none. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/json.h"
#include "tools/silo-trio.h"
#include "tools/watch.h"

enum { HOST_ROOM = 256, USUAL_PATIENCE = 600000 };

typedef struct trio_run {
    silo_job *j;
    const payer *who;
    silo_trio t;
    size_t self, rows;
    dp_table *table; /* NULL: it helps */
    double *x, *y, *w;
    char host[DP_SILO_TRIO + 1][HOST_ROOM]; /* of the three, and to listen at */
    dp_silo_trio_party at[DP_SILO_TRIO];
    const char *listen_port; /* NULL: as in --at */
    watch watch;
} trio_run;

static const char label[] = "tacit silo run; which people owners have in common is not counted";

/* ---- places ---- */

/* Where the first two are; the last is reached by nobody. */
static bool find_places(trio_run *r, message *why)
{
    const settings *s = &r->j->m.said;
    const dp_silo_opts *o = dp_silo_plan_opts(r->j->plan);
    if (!silo_check_list("at", &s->at, o->n_owners, o->owners, why))
        return false;
    for (size_t k = 0; k < DP_SILO_TRIO; k++) {
        const char *text = silo_said_of(&s->at, o->owners[k].name);
        r->at[k].host = r->host[k];
        r->at[k].port = text != NULL ? options_port(text, HOST_ROOM, r->host[k]) : NULL;
        if (r->at[k].port == NULL && (text != NULL || k + 1 < DP_SILO_TRIO))
            return complain(why,
                            "where is %s reached? give --at %s=HOST:PORT, the same at all three, "
                            "and of %s, too; the last of the plan is reached by nobody",
                            o->owners[k].name, o->owners[k].name, o->owners[k == 0].name);
    }
    if (s->listen == NULL)
        return true;
    r->listen_port = options_port(s->listen, HOST_ROOM, r->host[DP_SILO_TRIO]);
    return r->listen_port != NULL ||
           complain(why, "--listen is '%.100s'; give HOST:PORT, as in --listen 0.0.0.0:7001",
                    s->listen);
}

/* What is of letters is not of links. */
static bool check_uses(const trio_run *r, message *why)
{
    const settings *s = &r->j->m.said;
    const bool has = r->t.part[r->self] != NULL, ids = r->t.terms.ids != NULL;
    if (s->mailbox != NULL)
        return complain(why, "three parties have links between each two, and no mailbox; leave "
                             "--mailbox out, and give --at for the first two");
    if (s->hopeless_allowed)
        return complain(why, "a regression by three has no prior that an answer could be near to, "
                             "and is never hopeless; leave --hopeless-allowed out");
    if (!has && (s->data != NULL || s->ledger != NULL || s->id_column != NULL))
        return complain(why,
                        "%s helps, and has no records in this plan; leave --data, --ledger, "
                        "--name and --id out",
                        dp_silo_plan_opts(r->j->plan)->owners[r->self].name);
    if (has && s->data == NULL && s->ledger == NULL)
        return complain(why, "which table? give --data FILE, or --ledger LEDGER and --name NAME of "
                             "a data set whose file the ledger knows");
    if (has && ids != (s->id_column != NULL))
        return complain(why, ids ? "which column says whose a row is? give --id COLUMN, of which "
                                   "the other owners have the same values"
                                 : "--id is of parties that link columns by ids, and these do not; "
                                   "leave it out");
    return has || s->out == NULL || r->t.terms.told || r->t.terms.epsilon > 0 ||
           complain(why, "%s helps, and is told nothing that could be kept; leave --out out",
                    dp_silo_plan_opts(r->j->plan)->owners[r->self].name);
}

/* ---- records ---- */

static size_t numbers(const dp_silo_trio *t)
{
    size_t n = 0, most = 0;
    for (size_t k = 0; k < DP_SILO_TRIO; k++) {
        n += t->columns[k];
        most = t->columns[k] > most ? t->columns[k] : most;
    }
    return silo_trio_by_rows(t) ? most : n;
}

static dp_status read_records(trio_run *r)
{
    const dp_formula_part *p = r->t.part[r->self];
    r->w = calloc(numbers(&r->t.terms), sizeof *r->w);
    if (r->w == NULL)
        return DP_ENOMEM;
    if (p == NULL)
        return DP_OK;
    dp_status status = silo_read_table(r->j, r->who->path, p, r->t.terms.ids != NULL, &r->table);
    if (status != DP_OK)
        return status;
    const size_t rows = dp_table_rows(r->table);
    r->x = calloc(rows * p->n, sizeof *r->x);
    r->y = p->has_outcome ? calloc(rows, sizeof *r->y) : NULL;
    if (r->x == NULL || (p->has_outcome && r->y == NULL))
        return DP_ENOMEM;
    return dp_formula_part_rows(p, r->table, r->x, r->y, &r->j->m.err);
}

static dp_status regress(trio_run *r)
{
    silo_job *j = r->j;
    const settings *s = &j->m.said;
    const bool pays = r->who->ledger != NULL, linked = r->table != NULL && s->id_column != NULL;
    const dp_silo_trio_data data = {.rows = r->table != NULL ? dp_table_rows(r->table) : 0,
                                    .ids = linked ? dp_table_text(r->table, s->id_column) : NULL,
                                    .x = r->x,
                                    .y = r->y};
    const dp_silo_run_opts o = {.key = j->key,
                                .policy = s->policy,
                                .state = s->state,
                                .audit = s->audit,
                                .patience_ms = isnan(s->patience) ? USUAL_PATIENCE
                                                                  : (uint32_t)(1000 * s->patience),
                                .threads = isnan(s->threads) ? 1 : (size_t)s->threads,
                                .ledger = r->who->ledger,
                                .ledger_data = pays ? r->who->name : NULL,
                                .ledger_label = pays ? label : NULL,
                                .watch = watch_look,
                                .watch_user = &r->watch,
                                .at = r->at,
                                .host = r->listen_port != NULL ? r->host[DP_SILO_TRIO] : NULL,
                                .port = r->listen_port};
    watch_begin(&r->watch, j->m.command);
    r->watch.shown = false; /* how far it is, is not known */
    dp_status status = dp_silo_run_trio(j->plan, &data, &o, &r->rows, r->w, &j->m.err);
    watch_end(&r->watch);
    return status;
}

/* ---- telling ---- */

/* Who is told nothing says so, and keeps nothing. */
static int tell_helped(const trio_run *r)
{
    if (r->j->m.said.json) {
        json j = json_begin(stdout);
        json_text(&j, "command", r->j->m.command);
        json_text(&j, "plan", dp_silo_plan_opts(r->j->plan)->name);
        json_text(&j, "owner", dp_silo_plan_opts(r->j->plan)->owners[r->self].name);
        json_count(&j, "rows", r->rows);
        json_truth(&j, "told", false);
        json_end(&j);
    } else
        (void)printf("Helped with %s, of %zu rows; nothing of it is told to %s.\n",
                     dp_silo_plan_opts(r->j->plan)->source->formula, r->rows,
                     dp_silo_plan_opts(r->j->plan)->owners[r->self].name);
    return EXIT_CERTIFIED;
}

static int tell(const trio_run *r)
{
    const dp_silo_opts *o = dp_silo_plan_opts(r->j->plan);
    const dp_silo_trio *t = &r->t.terms;
    const bool by_rows = silo_trio_by_rows(t), all = t->told || o->epsilon > 0;
    silo_answer a = {.j = r->j,
                     .who = r->who,
                     .self = r->self,
                     .rows = r->rows,
                     .of_whom = t->ids != NULL ? " that all owners have" : " of all owners"};
    if (!all && r->t.part[r->self] == NULL)
        return tell_helped(r);
    for (size_t k = 0, first = 0; k < DP_SILO_TRIO; first += t->columns[k++]) {
        const bool told = all || by_rows || k == r->self;
        if (r->t.part[k] == NULL || (by_rows && a.n > 0))
            continue;
        a.block[a.n++] = (silo_block){by_rows ? NULL : o->owners[k].name, r->t.part[k],
                                      told ? r->w + (by_rows ? 0 : first) : NULL};
    }
    return silo_tell_answer(&a);
}

/* How all three go on. */
static int give_up(const trio_run *r, dp_status status)
{
    const bool stopped = status == DP_ESTOPPED;
    const bool waits = status == DP_ETIMEOUT || status == DP_EPEER || status == DP_EIO;
    dp_silo_kept kept;
    char text[160];
    if (!stopped)
        (void)silo_failed(r->j, status);
    if (!stopped && !waits)
        return EXIT_REFUSED;
    const bool begun =
        dp_silo_look(r->j->plan, r->j->m.said.state, &kept, NULL) != DP_OK || kept.sums > 0;
    (void)snprintf(text, sizeof text, "%s%s", stopped ? "interrupted; " : "",
                   begun ? "the run is kept: all three go on with the same command"
                         : "nothing was opened: all three begin anew with the same command");
    return silo_refuse(r->j, stopped ? EXIT_SIGNAL + watch_signal() : EXIT_REFUSED, text);
}

static int run(trio_run *r)
{
    message why = {""};
    if (!check_uses(r, &why) || !find_places(r, &why))
        return silo_refuse(r->j, EXIT_USAGE, why.text);
    if (r->j->m.said.out == NULL && (r->t.part[r->self] != NULL || r->t.terms.told ||
                                     dp_silo_plan_opts(r->j->plan)->epsilon > 0))
        return silo_refuse(r->j, EXIT_USAGE,
                           "--out is missing; give the file in which the coefficients are kept");
    dp_status status = read_records(r);
    if (status == DP_OK)
        status = regress(r);
    return status == DP_OK ? tell(r) : give_up(r, status);
}

int silo_trio_run(silo_job *j, const payer *who)
{
    trio_run r = {.j = j, .who = who};
    int end = silo_trio_planned(j, &r.t);
    dp_status status = end == EXIT_CERTIFIED ? silo_find_self(j, &r.self) : DP_OK;
    if (status != DP_OK)
        end = silo_failed(j, status);
    if (end == EXIT_CERTIFIED)
        end = run(&r);
    silo_trio_free(&r.t);
    dp_table_free(r.table);
    free(r.x);
    free(r.y);
    free(r.w);
    return end;
}
