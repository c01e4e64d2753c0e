/* Coefficients that a run over columns, or of three parties, has found.
 *
 * They are told in the scale of the table's columns.  With x = (v - c) / s and outcomes
 * (y - C) / S, v's coefficient is S w / s, and the intercept C + S (w_0 - sum w c / s), to which
 * each owner has what follows from its own columns.  So the owner of outcomes alone knows the
 * intercept where the others' columns are at the middle of their ranges, and all together know it
 * at 0. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/json.h"
#include "tools/new-file.h"
#include "tools/silo-columns.h"

static double in_table(const silo_block *b, size_t column)
{
    return b->part->scale * b->w[column] / b->part->term[column].scale;
}

/* An owner's share of the intercept at 0 of its own columns. */
static double intercept_share(const silo_block *b)
{
    const dp_formula_part *p = b->part;
    double share = p->has_outcome ? p->centre : 0;
    for (size_t q = 0; q < p->n; q++)
        share += p->has_outcome && q == 0 ? in_table(b, q) : -in_table(b, q) * p->term[q].centre;
    return share;
}

/* What the number that is told of the intercept is of. */
static const char *intercept_of(const silo_answer *a)
{
    bool outcome = false, missing = false;
    for (size_t k = 0; k < a->n; k++) {
        missing = missing || a->block[k].w == NULL;
        outcome = outcome || (a->block[k].w != NULL && a->block[k].part->has_outcome);
    }
    return !missing  ? "all columns at 0"
           : outcome ? "own columns at 0, the other's at their centres"
                     : "to be added to the other owner's";
}

static double intercept(const silo_answer *a)
{
    double sum = 0;
    for (size_t k = 0; k < a->n; k++)
        sum += a->block[k].w != NULL ? intercept_share(&a->block[k]) : 0;
    return sum;
}

/* How many people are common is for owners, and counted by no epsilon: it is told, and stands in no
 * file that may be handed on. */
static void write_json(const silo_answer *a, const char *file, FILE *to)
{
    const dp_silo_opts *o = dp_silo_plan_opts(a->j->plan);
    const bool noisy = o->epsilon > 0;
    json j = json_begin(to);
    json_text(&j, "command", a->j->m.command);
    json_text(&j, "file", file);
    json_text(&j, "plan", o->name);
    json_text(&j, "owner", o->owners[a->self].name);
    json_text(&j, "formula", o->source->formula);
    json_text(&j, "family", o->source->family);
    if (to == stdout)
        json_count(&j, "rows", a->rows);
    json_truth(&j, "private", noisy);
    if (noisy) {
        json_number(&j, "epsilon", o->epsilon);
        json_number(&j, "delta", o->delta);
    }
    json_number(&j, "intercept", intercept(a));
    json_text(&j, "intercept_of", intercept_of(a));
    json_list(&j, "coefficients");
    for (size_t k = 0; k < a->n; k++)
        for (size_t q = a->block[k].part->has_outcome;
             a->block[k].w != NULL && q < a->block[k].part->n; q++) {
            json_object(&j, NULL);
            json_text(&j, "owner", a->block[k].owner);
            json_text(&j, "name", a->block[k].part->term[q].name);
            json_number(&j, "estimate", in_table(&a->block[k], q));
            json_end_object(&j);
        }
    json_end_list(&j);
    json_end(&j);
}

static bool write_file(const silo_answer *a, const char *path, message *why)
{
    new_file f;
    if (!new_file_begin(&f, path, why))
        return false;
    FILE *to = fopen(f.name, "wb");
    if (to != NULL)
        write_json(a, path, to);
    bool good = to != NULL && ferror(to) == 0;
    if (to != NULL)
        good = fclose(to) == 0 && good;
    if (good)
        return new_file_keep(&f, why);
    new_file_drop(&f);
    return complain(why, "%.300s cannot be written; is the disk full?", path);
}

static void tell_spent(const silo_answer *a)
{
    const dp_silo_opts *o = dp_silo_plan_opts(a->j->plan);
    dp_interval spent;
    if (!(o->epsilon > 0)) {
        (void)printf("No noise: this is not private.\n");
        return;
    }
    (void)printf("spent: epsilon %.6g at delta %.3g (replace one record), against %s who keeps to "
                 "the protocol\n",
                 o->epsilon, o->delta, o->trio != NULL ? "one of the three" : "an owner");
    if (a->who->path == NULL)
        return; /* there are no records here */
    if (a->who->ledger == NULL)
        (void)printf("No ledger adds it to what else is spent on these records.\n");
    else if (dp_ledger_spent(a->who->ledger, a->who->name, &spent, NULL) == DP_OK)
        (void)printf("on '%s' in all: epsilon %.6g\n", a->who->name, spent.upper);
}

static void tell_people(const silo_answer *a)
{
    (void)printf("%s, of %zu rows%s\n", dp_silo_plan_opts(a->j->plan)->source->formula, a->rows,
                 a->of_whom);
    for (size_t k = 0; k < a->n; k++)
        for (size_t q = a->block[k].part->has_outcome;
             a->block[k].w != NULL && q < a->block[k].part->n; q++)
            (void)printf("  %-30s %12.5g  %s\n", a->block[k].part->term[q].name,
                         in_table(&a->block[k], q),
                         a->block[k].owner != NULL ? a->block[k].owner : "all owners");
    (void)printf("  %-30s %12.5g  %s\n", "(Intercept)", intercept(a), intercept_of(a));
    tell_spent(a);
}

int silo_tell_answer(const silo_answer *a)
{
    message why = {""};
    const settings *s = &a->j->m.said;
    const bool kept = write_file(a, s->out, &why);
    if (kept)
        dp_silo_forget(s->state);
    if (s->json)
        write_json(a, kept ? s->out : NULL, stdout);
    else
        tell_people(a);
    return kept ? EXIT_CERTIFIED : silo_refuse(a->j, EXIT_REFUSED, why.text);
}
