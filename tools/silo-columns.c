/* What a formula comes to at two owners of columns, and the numbers of its steps.
 *
 * Columns of the regression are moved and divided by what the schema says, and by nothing that was
 * read off records.  A number's range is taken for four standard deviations, so that it is 2 at
 * most.  With noise R, to which an owner's rows are shortened, is half of what the ranges allow, as
 * records that are at an end of all ranges are few, and each record's share of the noise grows with
 * it.  Without noise nothing is shortened or cut. */
#define _POSIX_C_SOURCE 200809L
#include "tools/silo-columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/table-source.h"

enum { MOST_HELD = 4096 };

static const double most_bound = 1e100; /* its square is a number, and one over that */

/* ---- OWNER=TEXT ---- */

const char *silo_said_of(const text_list *list, const char *owner)
{
    const size_t n = strlen(owner);
    for (size_t k = 0; k < list->n; k++)
        if (strncmp(list->value[k], owner, n) == 0 && list->value[k][n] == '=')
            return list->value[k] + n + 1;
    return NULL;
}

bool silo_check_list(const char *name, const text_list *list, size_t n, const dp_silo_owner *owners,
                     message *why)
{
    for (size_t k = 0; k < list->n; k++) {
        const size_t length = strcspn(list->value[k], "=");
        size_t of = 0;
        while (of < n && (strlen(owners[of].name) != length ||
                          strncmp(owners[of].name, list->value[k], length) != 0))
            of++;
        if (of == n || list->value[k][length] == '\0')
            return complain(why, "--%s is '%.60s'; give OWNER=..., with an owner of the plan", name,
                            list->value[k]);
        if (silo_said_of(list, owners[of].name) != list->value[k] + length + 1)
            return complain(why, "--%s is given twice for %s; once for each owner is enough", name,
                            owners[of].name);
    }
    return true;
}

bool silo_bound_of(const char *name, const text_list *list, const char *owner, double *bound,
                   message *why)
{
    const char *text = silo_said_of(list, owner);
    if (text != NULL && (!options_number(text, bound) || !(*bound > 0 && *bound <= most_bound)))
        return complain(why,
                        "--%s of %s is '%.60s'; give a number above 0, at most %g, as in --%s %s=2",
                        name, owner, text, most_bound, name, owner);
    return true;
}

/* ---- parts ---- */

static char *without_blanks(char *text)
{
    text += strspn(text, " ");
    for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; n--)
        text[n - 1] = '\0';
    return text;
}

dp_status silo_make_part(const dp_formula *f, const char *held, const dp_formula_part **part,
                         dp_error *err)
{
    const char **names = malloc(MOST_HELD * sizeof *names);
    char *copy = strdup(held), *left = NULL;
    size_t n = 0;
    *part = NULL;
    if (names == NULL || copy == NULL) {
        free(names);
        free(copy);
        return DP_ENOMEM;
    }
    for (char *one = strtok_r(copy, ",", &left); one != NULL && n < MOST_HELD;
         one = strtok_r(NULL, ",", &left))
        names[n++] = without_blanks(one);
    dp_status status = dp_formula_part_new(f, n, names, part, err);
    free(names);
    free(copy);
    return status;
}

static bool reads(const dp_formula_part *p, const char *column)
{
    for (size_t k = 0; k < p->n_columns; k++)
        if (strcmp(p->columns[k].name, column) == 0)
            return true;
    return false;
}

bool silo_check_parts(const dp_formula *f, size_t n, const dp_formula_part *const *part,
                      message *why)
{
    size_t columns;
    const dp_column *all = dp_formula_columns(f, DP_FORMULA_FIT, &columns);
    for (size_t k = 0; k < columns; k++) {
        size_t holders = 0;
        for (size_t i = 0; i < n; i++)
            holders += part[i] != NULL && reads(part[i], all[k].name);
        if (all[k].kind == DP_COLUMN_UNIT)
            continue;
        if (holders > 1)
            return complain(why, "%s owners have %.100s; let one of them hold it",
                            n > SILO_SIDES ? "several" : "both", all[k].name);
        if (holders == 0)
            return complain(why,
                            "nobody has %.100s, which the formula reads; name it in --held of an "
                            "owner, or leave it out of the formula",
                            all[k].name);
    }
    return true;
}

static bool make_parts(const silo_job *j, const char *const held[SILO_SIDES], silo_columns *c,
                       message *why)
{
    dp_error err = {DP_OK, ""};
    for (int k = 0; k < SILO_SIDES; k++) {
        dp_status status = silo_make_part(j->m.formula, held[k], &c->part[k], &err);
        if (status != DP_OK)
            return complain(why, "%s", err.text[0] != '\0' ? err.text : dp_status_text(status));
        c->terms.held[k] = held[k];
        c->terms.columns[k] = c->part[k]->n;
        if (c->part[k]->has_outcome)
            c->terms.outcome = (size_t)k;
    }
    c->terms.logistic = c->part[0]->logistic;
    return silo_check_parts(j->m.formula, SILO_SIDES, c->part, why);
}

void silo_columns_free(silo_columns *c)
{
    for (int k = 0; k < SILO_SIDES; k++)
        dp_formula_part_free(c->part[k]);
    *c = (silo_columns){.part = {NULL}};
}

/* ---- bounds and steps ---- */

double silo_usual_norm(const dp_formula_part *p, bool noisy)
{
    double squares = 0;
    for (size_t k = 0; k < p->n; k++) {
        const double most = p->term[k].most, often = most > 1 ? most / 2 : sqrt(.5) * most;
        const bool whole = !noisy || (p->has_outcome && k == 0);
        squares += whole ? most * most : often * often;
    }
    return noisy ? sqrt(squares) : sqrt(squares) * (1 + 1e-9);
}

/* Scores are of size 1, and outcomes too; of a logistic regression addends are a quarter and half
 * of them. */
static double usual_addend(const dp_formula_part *p, bool noisy)
{
    const double size = p->has_outcome ? 2 : 1;
    return !noisy ? 16 : p->logistic ? size / 2 : size;
}

static bool find_bounds(const settings *s, bool noisy, const dp_silo_owner *owners, silo_columns *c,
                        message *why)
{
    for (int k = 0; k < SILO_SIDES; k++) {
        c->terms.row_most[k] = silo_usual_norm(c->part[k], noisy);
        c->terms.addend_most[k] = usual_addend(c->part[k], noisy);
        if (!silo_bound_of("row-most", &s->row_most, owners[k].name, &c->terms.row_most[k], why) ||
            !silo_bound_of("addend-most", &s->addend_most, owners[k].name, &c->terms.addend_most[k],
                           why))
            return false;
    }
    return true;
}

/* Squares of rows so long never grow by steps up to 2 over their curvature; three quarters of that
 * are taken. */
silo_steps silo_find_steps(const settings *s, bool noisy, bool logistic, double squares)
{
    enum { USUAL_NOISY = 20, USUAL = 1000 };
    const double ridge = isnan(s->ridge) ? 0 : s->ridge;
    return (silo_steps){
        .steps = isnan(s->steps) ? (noisy ? USUAL_NOISY : USUAL) : (uint64_t)s->steps,
        .step = isnan(s->step) ? 1.5 / ((logistic ? .25 : 1) * squares + ridge) : s->step,
        .ridge = ridge};
}

static void find_steps(const settings *s, bool noisy, dp_silo_columns *c)
{
    const double squares = c->row_most[0] * c->row_most[0] + c->row_most[1] * c->row_most[1];
    const silo_steps found = silo_find_steps(s, noisy, c->logistic, squares);
    c->steps = found.steps;
    c->step = found.step;
    c->ridge = found.ridge;
}

/* Where a score is told as it is, nothing is shortened or cut. */
static bool leave_bounds_out(const settings *s, dp_silo_columns *c, message *why)
{
    if (s->row_most.n > 0 || s->addend_most.n > 0)
        return complain(why,
                        "--row-most and --addend-most are of the schemes columns+dp and columns; "
                        "scheme %s shortens and cuts nothing: leave them out",
                        s->scheme);
    for (int k = 0; k < SILO_SIDES; k++)
        c->row_most[k] = c->addend_most[k] = 0;
    return true;
}

/* ---- plans ---- */

/* The list of common people is told, so that no value may say who is in it. */
bool silo_check_rows(const silo_job *j, message *why)
{
    if (dp_schema_csv(j->m.schema)->drop_missing)
        return complain(why, "the schema says missing = drop, and of a regression over columns the "
                             "other owner learns who has a row, and so who lacks a value: leave "
                             "that line out, and put a fixed value in its place in the file");
    return true;
}

bool silo_columns_said(const silo_job *j, size_t n, const dp_silo_owner *owners, silo_columns *c,
                       message *why)
{
    const settings *s = &j->m.said;
    const bool noisy = silo_scheme(s->scheme)->noisy;
    const char *held[SILO_SIDES];
    *c = (silo_columns){.part = {NULL}};
    if (n != SILO_SIDES)
        return complain(why, "columns are of two owners; give --owner twice");
    if (s->priors != NULL)
        return complain(why, "a regression over columns has no priors; give --ridge instead");
    if (!silo_check_rows(j, why))
        return false;
    if (!silo_check_list("held", &s->held, n, owners, why) ||
        !silo_check_list("row-most", &s->row_most, n, owners, why) ||
        !silo_check_list("addend-most", &s->addend_most, n, owners, why))
        return false;
    for (int k = 0; k < SILO_SIDES; k++)
        if ((held[k] = silo_said_of(&s->held, owners[k].name)) == NULL)
            return complain(why,
                            "which columns has %s? give --held %s=COLUMN,..., and the same of the "
                            "other owner",
                            owners[k].name, owners[k].name);
    if (!make_parts(j, held, c, why) || !find_bounds(s, noisy, owners, c, why))
        return false;
    find_steps(s, noisy, &c->terms);
    if (silo_scheme(s->scheme)->single && !leave_bounds_out(s, &c->terms, why))
        return false;
    c->terms.ids = s->ids != NULL ? s->ids : "people";
    c->terms.told = s->tell_coefficients;
    return true;
}

/* ---- what runs share ---- */

dp_status silo_find_self(silo_job *j, size_t *self)
{
    const dp_silo_opts *o = dp_silo_plan_opts(j->plan);
    for (*self = 0; *self < o->n_owners; ++*self)
        if (strcmp(o->owners[*self].key, dp_silo_key_public(j->key)) == 0)
            return DP_OK;
    (void)snprintf(j->m.err.text, sizeof j->m.err.text,
                   "--key is the key of none of the plan's owners; give the one that the plan has");
    return DP_ENAME;
}

dp_status silo_read_table(silo_job *j, const char *path, const dp_formula_part *p, bool with_ids,
                          dp_table **table)
{
    const settings *s = &j->m.said;
    dp_column *columns = calloc(p->n_columns + 1, sizeof *columns);
    dp_csv_options o = *dp_schema_csv(j->m.schema);
    if (columns == NULL)
        return DP_ENOMEM;
    memcpy(columns, p->columns, p->n_columns * sizeof *columns);
    columns[p->n_columns] = (dp_column){.name = s->id_column, .kind = DP_COLUMN_UNIT};
    o.threads = isnan(s->threads) ? 1 : (size_t)s->threads;
    o.scratch = s->scratch;
    o.max_bytes = SIZE_MAX;
    o.unit_texts = with_ids;
    dp_status status =
        table_read(path, s->query, &o, p->n_columns + with_ids, columns, table, &j->m.err);
    free(columns);
    return status;
}

/* ---- a plan that was loaded ---- */

int silo_columns_planned(const silo_job *j, silo_columns *c)
{
    message why = {""};
    const dp_silo_columns *planned = dp_silo_plan_opts(j->plan)->columns;
    *c = (silo_columns){.part = {NULL}};
    if (!silo_check_rows(j, &why) || !make_parts(j, planned->held, c, &why))
        return silo_refuse(j, EXIT_REFUSED, why.text);
    bool same = c->terms.outcome == planned->outcome && c->terms.logistic == planned->logistic;
    for (int k = 0; k < SILO_SIDES; k++)
        same = same && c->terms.columns[k] == planned->columns[k];
    c->terms = *planned;
    return same ? EXIT_CERTIFIED
                : silo_refuse(j, EXIT_REFUSED,
                              "the plan's formula and schema do not come to its columns; it was "
                              "made by another version, or to deceive");
}
