/* Plans and logs, for people and as JSON.  All that is told of a plan stands in its text, which is
 * what owners sign; what stands before it here is for a first look. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/json.h"
#include "tools/silo-trio.h"

/* A letter's or a hash's digits. */
static const char *hash_text(const unsigned char hash[DP_SILO_HASH],
                             char text[2 * DP_SILO_HASH + 1])
{
    for (size_t k = 0; k < DP_SILO_HASH; k++)
        (void)snprintf(text + 2 * k, 3, "%02x", hash[k]);
    return text;
}

/* Where the signatures begin in the text: they are its last lines. */
static size_t without_signatures(const char *text)
{
    const char *at = strstr(text, "\nsigned = ");
    return at != NULL ? (size_t)(at - text) + 1 : strlen(text);
}

static size_t count_unsigned(const dp_silo_plan *plan)
{
    size_t n = 0;
    for (size_t k = 0; k < dp_silo_plan_opts(plan)->n_owners; k++)
        n += !dp_silo_plan_signed(plan, k);
    return n;
}

void silo_tell_owners(const dp_silo_plan *plan)
{
    const dp_silo_opts *o = dp_silo_plan_opts(plan);
    for (size_t k = 0; k < o->n_owners; k++)
        (void)printf("  %-15s %s  %s\n", o->owners[k].name, o->owners[k].key,
                     dp_silo_plan_signed(plan, k) ? "signed" : "has not signed");
}

/* The same where each owner's noise is its own: whoever looks knows none of it. */
static dp_status tell_alone(const dp_silo_plan *plan, dp_error *err)
{
    const dp_silo_opts *o = dp_silo_plan_opts(plan);
    double epsilon;
    dp_status status = dp_silo_plan_spent(plan, o->n_owners - 1, &epsilon, err);
    (void)printf(
        "  spends   epsilon %.6g at delta %.3g on each record, by noise of its owner alone; "
        "against\n",
        o->epsilon, o->delta);
    if (status == DP_OK)
        (void)printf("           %-34s %.4g\n", "all others together", epsilon);
    return status;
}

/* Who knows the shares of noise of so many. */
static void name_looker(const dp_silo_opts *o, size_t known, char who[40])
{
    static const char *const of_three[DP_SILO_TRIO] = {"who sees the fit and is no party",
                                                       "a party who keeps to the protocol",
                                                       "two of the three together"};
    if (o->trio != NULL)
        (void)snprintf(who, 40, "%s", of_three[known < DP_SILO_TRIO ? known : DP_SILO_TRIO - 1]);
    else if (known > 1)
        (void)snprintf(who, 40, "%zu owners together", known);
    else
        (void)snprintf(who, 40, "%s",
                       known == 0           ? "who sees the fit and is no owner"
                       : o->columns != NULL ? "an owner who keeps to the protocol"
                                            : "another owner, who adds up or not");
}

/* Epsilon against those who look, from the public to all owners but the one whose record it is. */
static dp_status tell_budget(const dp_silo_plan *plan, dp_error *err)
{
    const dp_silo_opts *o = dp_silo_plan_opts(plan);
    const dp_silo_scheme *scheme = silo_scheme(o->scheme);
    const bool by_rows = o->trio != NULL && silo_trio_by_rows(o->trio);
    dp_status status = DP_OK;
    if (scheme == NULL || !scheme->noisy) {
        (void)printf("  spends   no epsilon: %s have no noise, and are seen as they are\n",
                     o->trio != NULL      ? "coefficients"
                     : o->local_steps > 0 ? "means of parameters"
                                          : "sums");
        return DP_OK;
    }
    if (scheme->averages)
        return tell_alone(plan, err);
    (void)printf(
        "  spends   epsilon %.6g at delta %.3g on each record%s (colluders %zu, dropouts %zu); "
        "against\n",
        o->epsilon, o->delta,
        o->columns != NULL ? ", in place of another at both owners"
        : by_rows          ? ", in place of another at its owner"
        : o->trio != NULL  ? ", in place of another at all owners"
                           : "",
        o->colluders, o->dropouts);
    for (size_t known = 0; known < o->n_owners && status == DP_OK; known++) {
        double epsilon;
        char who[40];
        status = dp_silo_plan_spent(plan, known, &epsilon, err);
        name_looker(o, known, who);
        if (status == DP_OK && epsilon < HUGE_VAL)
            (void)printf("           %-34s %.4g\n", who, epsilon);
        else if (status == DP_OK)
            (void)printf("           %-34s no bound: %s\n", who,
                         o->trio != NULL ? "they have all rows" : "they may know all noise");
    }
    return status;
}

static void tell_columns(const dp_silo_opts *o)
{
    const dp_silo_columns *c = o->columns;
    for (int k = 0; k < 2; k++)
        (void)printf("  %-8s has %s\n", o->owners[k].name, c->held[k]);
    (void)printf("  fit      %" PRIu64 " steps of %.4g, ridge %.4g%s%s\n", c->steps, c->step,
                 c->ridge, c->logistic ? ", of the second order of the logistic loss around 0" : "",
                 c->told ? "; each tells the other its coefficients" : "");
}

static void tell_three(const dp_silo_opts *o)
{
    const dp_silo_trio *t = o->trio;
    for (int k = 0; k < DP_SILO_TRIO; k++)
        if (t->rows_of[k] > 0)
            (void)printf("  %-8s has %zu rows\n", o->owners[k].name, t->rows_of[k]);
        else if (o->trio_held[k] != NULL)
            (void)printf("  %-8s has %s\n", o->owners[k].name, o->trio_held[k]);
        else
            (void)printf("  %-8s helps, and has no records\n", o->owners[k].name);
    (void)printf("  fit      %" PRIu64 " steps of %.4g, ridge %.4g; %s\n", t->steps, t->step,
                 t->ridge,
                 o->epsilon > 0         ? "all three know the coefficients"
                 : t->told              ? "all three are told all coefficients"
                 : silo_trio_by_rows(t) ? "who has rows is told the coefficients"
                                        : "each owner is told its own coefficients");
}

static dp_status tell_plan(const dp_silo_plan *plan, dp_error *err)
{
    const dp_silo_opts *o = dp_silo_plan_opts(plan);
    const dp_silo_scheme *scheme = silo_scheme(o->scheme);
    const char *text = dp_silo_plan_text(plan);
    unsigned char hash[DP_SILO_HASH];
    char digits[2 * DP_SILO_HASH + 1];
    dp_silo_plan_hash(plan, hash);
    (void)printf("Plan %s, %s\n", o->name, hash_text(hash, digits));
    if (o->source != NULL)
        (void)printf("  model    %s\n           family %s%s%s\n", o->source->formula,
                     o->source->family, o->source->priors != NULL ? ", priors " : "",
                     o->source->priors != NULL ? o->source->priors : "");
    if (o->columns != NULL && o->source != NULL)
        tell_columns(o);
    if (o->trio != NULL && o->source != NULL)
        tell_three(o);
    (void)printf("  scheme   %s: %s\n", o->scheme, scheme != NULL ? scheme->about : "");
    if (o->local_steps > 0)
        (void)printf("  steps    each owner takes at most %" PRIu64 " by itself before each %s\n",
                     o->local_steps, scheme != NULL && scheme->noisy ? "opening" : "mean");
    dp_status status = tell_budget(plan, err);
    (void)printf("\nWhat all sign:\n\n%.*s\nOwners:\n", (int)without_signatures(text), text);
    silo_tell_owners(plan);
    const size_t missing = count_unsigned(plan);
    if (missing == 0)
        (void)printf("All have signed: each runs it with %s.\n",
                     o->source != NULL || (o->columns == NULL && o->trio == NULL) ? "tacit silo run"
                     : o->columns != NULL ? "dp_silo_run_columns"
                                          : "dp_silo_run_trio");
    else
        (void)printf("It runs when all have signed; %zu of %zu have not.\n", missing, o->n_owners);
    return status;
}

static void columns_json(json *j, const dp_silo_columns *c)
{
    json_object(j, "columns");
    json_truth(j, "logistic", c->logistic);
    json_count(j, "outcome", c->outcome);
    json_count(j, "steps", c->steps);
    json_number(j, "step", c->step);
    json_number(j, "ridge", c->ridge);
    json_text(j, "ids", c->ids);
    json_truth(j, "told", c->told);
    json_list(j, "of");
    for (int k = 0; k < 2; k++) {
        json_object(j, NULL);
        json_text(j, "held", c->held[k]);
        json_count(j, "columns", c->columns[k]);
        json_number(j, "row_most", c->row_most[k]);
        json_number(j, "addend_most", c->addend_most[k]);
        json_end_object(j);
    }
    json_end_list(j);
    json_end_object(j);
}

static void three_json(json *j, const dp_silo_opts *o)
{
    const dp_silo_trio *t = o->trio;
    json_object(j, "three");
    json_truth(j, "logistic", t->logistic);
    json_count(j, "outcome", t->outcome);
    json_count(j, "steps", t->steps);
    json_number(j, "step", t->step);
    json_number(j, "ridge", t->ridge);
    json_number(j, "outcome_most", t->outcome_most);
    json_number(j, "residual_most", t->residual_most);
    json_text(j, "ids", t->ids);
    json_truth(j, "told", t->told);
    json_list(j, "of");
    for (int k = 0; k < DP_SILO_TRIO; k++) {
        json_object(j, NULL);
        json_text(j, "held", o->trio_held[k]);
        json_count(j, "columns", t->columns[k]);
        json_count(j, "rows", t->rows_of[k]);
        json_number(j, "row_most", t->row_most[k]);
        json_end_object(j);
    }
    json_end_list(j);
    json_end_object(j);
}

static dp_status plan_json(const char *name, const dp_silo_plan *plan, const char *file,
                           dp_error *err)
{
    const dp_silo_opts *o = dp_silo_plan_opts(plan);
    const dp_fit_source *s = o->source;
    unsigned char hash[DP_SILO_HASH];
    char digits[2 * DP_SILO_HASH + 1];
    dp_silo_plan_hash(plan, hash);
    json j = json_begin(stdout);
    json_text(&j, "command", name);
    json_text(&j, "file", file);
    json_text(&j, "name", o->name);
    json_text(&j, "hash", hash_text(hash, digits));
    json_text(&j, "scheme", o->scheme);
    json_text(&j, "formula", s != NULL ? s->formula : NULL);
    json_text(&j, "family", s != NULL ? s->family : NULL);
    json_text(&j, "priors", s != NULL ? s->priors : NULL);
    if (o->columns != NULL)
        columns_json(&j, o->columns);
    if (o->trio != NULL)
        three_json(&j, o);
    json_number(&j, "epsilon", o->epsilon);
    json_number(&j, "delta", o->delta);
    json_count(&j, "colluders", o->colluders);
    json_count(&j, "dropouts", o->dropouts);
    if (o->local_steps > 0)
        json_count(&j, "local_steps", o->local_steps);
    json_count(&j, "records", o->most_records);
    json_list(&j, "owners");
    for (size_t k = 0; k < o->n_owners; k++) {
        json_object(&j, NULL);
        json_text(&j, "name", o->owners[k].name);
        json_text(&j, "key", o->owners[k].key);
        json_truth(&j, "signed", dp_silo_plan_signed(plan, k));
        json_end_object(&j);
    }
    json_end_list(&j);
    dp_status status = DP_OK;
    json_list(&j, "spent");
    for (size_t known = 0; known < o->n_owners && o->epsilon > 0 && status == DP_OK; known++) {
        double epsilon;
        status = dp_silo_plan_spent(plan, known, &epsilon, err);
        json_number(&j, NULL, epsilon);
    }
    json_end_list(&j);
    json_text(&j, "text", dp_silo_plan_text(plan));
    json_end(&j);
    return status;
}

int silo_tell_plan(silo_job *j, const char *file)
{
    dp_status status = j->m.said.json ? plan_json(j->m.command, j->plan, file, &j->m.err)
                                      : tell_plan(j->plan, &j->m.err);
    return silo_failed(j, status) == EXIT_CERTIFIED ? EXIT_CERTIFIED : EXIT_REFUSED;
}

void silo_tell_audit(const dp_silo_audit *found)
{
    char digits[2 * DP_SILO_HASH + 1];
    (void)printf("plan   %s\n", hash_text(found->plan, digits));
    (void)printf("lines  %" PRIu64 ", of %" PRIu64 " %s; each follows from the one before it\n",
                 found->lines, found->runs, found->runs == 1 ? "run" : "runs");
    if (found->torn > 0)
        (void)printf("torn   %" PRIu64
                     ": lines that a crash cut off, whose letters have not left\n",
                     found->torn);
    (void)printf("ended  %s\n", found->outcome[0] != '\0' ? found->outcome : "not, or by a crash");
    (void)printf("head   %s\n", found->head);
    (void)printf("\n%-15s %10s %15s %10s %15s\n", "peer", "sent", "bytes", "got", "bytes");
    for (size_t k = 0; k < found->n_peers; k++) {
        const dp_silo_audit_peer *p = &found->peers[k];
        (void)printf("%-15s %10" PRIu64 " %15" PRIu64 " %10" PRIu64 " %15" PRIu64 "\n", p->name,
                     p->sent, p->sent_bytes, p->got, p->got_bytes);
    }
}

static void audit_json(const char *name, const char *file, const dp_silo_audit *found)
{
    char digits[2 * DP_SILO_HASH + 1];
    json j = json_begin(stdout);
    json_text(&j, "command", name);
    json_text(&j, "file", file);
    json_text(&j, "plan", hash_text(found->plan, digits));
    json_count(&j, "lines", found->lines);
    json_count(&j, "runs", found->runs);
    json_count(&j, "torn", found->torn);
    json_text(&j, "outcome", found->outcome[0] != '\0' ? found->outcome : NULL);
    json_text(&j, "head", found->head);
    json_list(&j, "peers");
    for (size_t k = 0; k < found->n_peers; k++) {
        const dp_silo_audit_peer *p = &found->peers[k];
        json_object(&j, NULL);
        json_text(&j, "name", p->name);
        json_count(&j, "sent", p->sent);
        json_count(&j, "sent_bytes", p->sent_bytes);
        json_count(&j, "got", p->got);
        json_count(&j, "got_bytes", p->got_bytes);
        json_end_object(&j);
    }
    json_end_list(&j);
    json_end(&j);
}

/* ---- audit ---- */

/* Reads the log, which must be of the plan in --plan, if one is given. */
static dp_status check_log(silo_job *j, dp_silo_audit *found)
{
    unsigned char hash[DP_SILO_HASH];
    const char *plan = j->m.said.plan;
    dp_status status = plan != NULL ? dp_silo_plan_load(plan, &j->plan, &j->m.err) : DP_OK;
    if (status != DP_OK)
        return status;
    if (plan != NULL)
        dp_silo_plan_hash(j->plan, hash);
    return dp_silo_audit_check(j->word, plan != NULL ? hash : NULL, found, &j->m.err);
}

static int run_audit(const command *self, int argc, char **argv)
{
    silo_job j;
    dp_silo_audit found;
    int end;
    if (!silo_begin(&j, self, "which log? as in: tacit silo audit joint.audit", argc, argv, &end))
        return end;
    end = silo_failed(&j, check_log(&j, &found)) == EXIT_CERTIFIED ? EXIT_CERTIFIED : EXIT_REFUSED;
    if (end == EXIT_CERTIFIED && j.m.said.json)
        audit_json(j.m.command, j.word, &found);
    else if (end == EXIT_CERTIFIED)
        silo_tell_audit(&found);
    silo_end(&j);
    return end;
}

const command silo_audit = {
    "silo audit",
    FOR_SILO_AUDIT,
    "checks a log of letters, and counts them",
    "tacit silo audit LOG [--plan PLAN] [--json]\n\n"
    "Every line of a log ends with a hash of itself and of the one before it: what was changed,\n"
    "taken out or put in another order is found.  Who cuts off the end is found by the head\n"
    "alone, where somebody else has noted it.",
    "tacit silo audit north.audit --plan joint.plan",
    run_audit};

/* ---- schemes ---- */

static int run_schemes(const command *self, int argc, char **argv)
{
    silo_job j;
    int end;
    size_t n;
    if (!silo_begin(&j, self, NULL, argc, argv, &end))
        return end;
    if (j.word != NULL)
        return silo_refuse(&j, EXIT_USAGE, "it lists all schemes; give nothing but --json");
    const dp_silo_scheme *all = dp_silo_schemes(&n);
    if (!j.m.said.json) {
        for (size_t k = 0; k < n; k++)
            (void)printf("%-12s %s\n", all[k].name, all[k].about);
        return EXIT_CERTIFIED;
    }
    json out = json_begin(stdout);
    json_list(&out, "schemes");
    for (size_t k = 0; k < n; k++) {
        json_object(&out, NULL);
        json_text(&out, "name", all[k].name);
        json_text(&out, "about", all[k].about);
        json_truth(&out, "noisy", all[k].noisy);
        json_truth(&out, "averages", all[k].averages);
        json_truth(&out, "shared", all[k].shared);
        json_end_object(&out);
    }
    json_end_list(&out);
    json_end(&out);
    return EXIT_CERTIFIED;
}

const command silo_schemes = {"silo schemes",
                              FOR_SILO_LOOK,
                              "how sums of owners may be opened",
                              "tacit silo schemes [--json]\n\n"
                              "doc/silo.md says what each of them protects from whom.",
                              "tacit silo schemes",
                              run_schemes};
