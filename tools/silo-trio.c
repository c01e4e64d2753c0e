/* What a formula comes to at three parties, and the numbers of its steps.
 *
 * Columns are moved and divided by what the schema says, as where two owners encrypt them
 * (silo-columns.c), and bounds are the same.  With noise a residual is cut to 2: scores and
 * outcomes are of size 1. */
#define _POSIX_C_SOURCE 200809L
#include "tools/silo-trio.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double usual_residual = 2;

bool silo_trio_by_rows(const dp_silo_trio *t)
{
    return t->rows_of[0] > 0 || t->rows_of[1] > 0 || t->rows_of[2] > 0;
}

void silo_trio_free(silo_trio *t)
{
    for (int k = 0; k < DP_SILO_TRIO; k++)
        dp_formula_part_free(t->part[k]);
    free(t->all);
    *t = (silo_trio){.all = NULL};
}

/* ---- parts ---- */

/* All columns that the formula reads, with commas between. */
static char *join_columns(const dp_formula *f)
{
    size_t n, room = 1;
    const dp_column *all = dp_formula_columns(f, DP_FORMULA_FIT, &n);
    for (size_t k = 0; k < n; k++)
        room += strlen(all[k].name) + 1;
    char *text = malloc(room);
    if (text == NULL)
        return NULL;
    text[0] = '\0';
    for (size_t k = 0; k < n; k++) {
        if (all[k].kind == DP_COLUMN_UNIT)
            continue;
        if (text[0] != '\0')
            (void)strcat(text, ",");
        (void)strcat(text, all[k].name);
    }
    return text;
}

/* Of those who have anything; and what the terms have of it. */
static bool make_parts(const silo_job *j, bool by_rows, silo_trio *t, message *why)
{
    dp_error err = {DP_OK, ""};
    for (int k = 0; k < DP_SILO_TRIO; k++) {
        if (t->held[k] == NULL)
            continue;
        dp_status status = silo_make_part(j->m.formula, t->held[k], &t->part[k], &err);
        if (status != DP_OK)
            return complain(why, "%s", err.text[0] != '\0' ? err.text : dp_status_text(status));
        t->terms.columns[k] = t->part[k]->n;
        t->terms.logistic = t->part[k]->logistic;
        if (t->part[k]->has_outcome && !by_rows)
            t->terms.outcome = (size_t)k;
        if (by_rows && t->part[k]->n != t->part[k]->n_all)
            return complain(why,
                            "who has rows has all columns of the formula, and of '%.200s' "
                            "some are missing",
                            t->held[k]);
    }
    return by_rows || silo_check_parts(j->m.formula, DP_SILO_TRIO, t->part, why);
}

/* ---- what is said ---- */

static bool read_held(const settings *s, const dp_silo_owner *owners, silo_trio *t, message *why)
{
    for (int k = 0; k < DP_SILO_TRIO; k++)
        t->held[k] = silo_said_of(&s->held, owners[k].name);
    return s->held.n > 0 ||
           complain(why, "who has what? give --held OWNER=COLUMN,... for each that has columns of "
                         "the same people, or --rows OWNER=N for each that has rows of one table; "
                         "a party with neither helps");
}

static bool read_rows(const silo_job *j, const dp_silo_owner *owners, silo_trio *t, message *why)
{
    const settings *s = &j->m.said;
    double most = 1 << 20;
    if (s->held.n > 0 || s->ids != NULL || !isnan(s->records))
        return complain(why, "--rows is of parties that have rows of one table, and --held, --ids "
                             "and --records of those that have columns; give one or the other");
    t->all = join_columns(j->m.formula);
    if (t->all == NULL)
        return complain(why, "%s", dp_status_text(DP_ENOMEM));
    for (int k = 0; k < DP_SILO_TRIO; k++) {
        const char *text = silo_said_of(&s->rows_of, owners[k].name);
        double n = 0;
        if (text != NULL && (!options_number(text, &n) || !(n >= 1 && n <= most) || n != floor(n)))
            return complain(why,
                            "--rows of %s is '%.60s'; give how many it has, 1 to %.0f, as in "
                            "--rows %s=700",
                            owners[k].name, text, most, owners[k].name);
        t->terms.rows_of[k] = (size_t)n;
        t->terms.rows += (size_t)n;
        t->held[k] = text != NULL ? t->all : NULL;
    }
    return true;
}

static bool find_bounds(const settings *s, bool noisy, const dp_silo_owner *owners, silo_trio *t,
                        message *why)
{
    const double whole = noisy ? 1 : 1 + 1e-9;
    double squares = 0, longest = 0;
    for (int k = 0; k < DP_SILO_TRIO; k++) {
        const dp_formula_part *p = t->part[k];
        double *most = &t->terms.row_most[k];
        if (p == NULL)
            continue;
        *most = silo_usual_norm(p, noisy);
        if (!silo_bound_of("row-most", &s->row_most, owners[k].name, most, why))
            return false;
        squares += *most * *most;
        longest = *most > longest ? *most : longest;
        if (p->has_outcome && !p->logistic) {
            t->terms.outcome_most = p->most * whole;
            t->terms.residual_most = !noisy                    ? 0
                                     : isnan(s->residual_most) ? usual_residual
                                                               : s->residual_most;
        }
    }
    if (silo_trio_by_rows(&t->terms))
        squares = longest * longest;
    const silo_steps found = silo_find_steps(s, noisy, t->terms.logistic, squares);
    t->terms.steps = found.steps;
    t->terms.step = found.step;
    t->terms.ridge = found.ridge;
    return true;
}

/* Options that mean nothing here. */
static bool check_uses(const settings *s, bool noisy, const silo_trio *t, message *why)
{
    if (s->addend_most.n > 0)
        return complain(why,
                        "--addend-most is of the schemes columns+dp and columns; three parties "
                        "cut the residual itself: give --residual-most R");
    if (!isnan(s->residual_most) && (!noisy || t->terms.logistic))
        return complain(why, "--residual-most is of squares with noise; without noise nothing is "
                             "cut, and of chances no residual is above 1: leave it out");
    if (noisy && s->tell_coefficients)
        return complain(why, "with scheme trio+dp all three know all coefficients, which have "
                             "noise; leave --tell-coefficients out");
    return true;
}

bool silo_trio_said(const silo_job *j, size_t n, const dp_silo_owner *owners, silo_trio *t,
                    message *why)
{
    const settings *s = &j->m.said;
    const bool noisy = silo_scheme(s->scheme)->noisy, by_rows = s->rows_of.n > 0;
    size_t have = 0;
    *t = (silo_trio){.all = NULL};
    if (n != DP_SILO_TRIO)
        return complain(why, "shares are of three parties; give --owner three times, also for one "
                             "that has no records and helps");
    if (s->priors != NULL)
        return complain(why, "a regression by three parties has no priors; give --ridge instead");
    if (!silo_check_list("held", &s->held, n, owners, why) ||
        !silo_check_list("rows", &s->rows_of, n, owners, why) ||
        !silo_check_list("row-most", &s->row_most, n, owners, why))
        return false;
    if (!by_rows && !silo_check_rows(j, why))
        return false;
    if (!(by_rows ? read_rows(j, owners, t, why) : read_held(s, owners, t, why)) ||
        !make_parts(j, by_rows, t, why) || !check_uses(s, noisy, t, why) ||
        !find_bounds(s, noisy, owners, t, why))
        return false;
    for (int k = 0; k < DP_SILO_TRIO; k++)
        have += t->held[k] != NULL;
    if (!by_rows && have > 1)
        t->terms.ids = s->ids != NULL ? s->ids : "people";
    t->terms.told = s->tell_coefficients;
    return true;
}

/* ---- a plan that was loaded ---- */

int silo_trio_planned(const silo_job *j, silo_trio *t)
{
    message why = {""};
    const dp_silo_opts *o = dp_silo_plan_opts(j->plan);
    const bool by_rows = silo_trio_by_rows(o->trio);
    *t = (silo_trio){.all = NULL};
    memcpy(t->held, o->trio_held, sizeof t->held);
    if ((!by_rows && !silo_check_rows(j, &why)) || !make_parts(j, by_rows, t, &why))
        return silo_refuse(j, EXIT_REFUSED, why.text);
    bool same = t->terms.outcome == o->trio->outcome && t->terms.logistic == o->trio->logistic;
    for (int k = 0; k < DP_SILO_TRIO; k++)
        same = same && t->terms.columns[k] == o->trio->columns[k];
    t->terms = *o->trio;
    return same ? EXIT_CERTIFIED
                : silo_refuse(j, EXIT_REFUSED,
                              "the plan's formula and schema do not come to its columns; it was "
                              "made by another version, or to deceive");
}
