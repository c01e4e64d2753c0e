/* Columns of terms.
 *
 * Coding of factors is that of R (Chambers and Hastie 1992, Statistical Models in S, p. 38): in a
 * term a factor has contrasts where the term without it is part of a term before, and a column for
 * each level where not; without an intercept the first factor of the first term that has one has a
 * column for each level.  Within a term the first variable's columns run fastest.
 *
 * A column of factors alone, or of columns of 0 and 1, stays as it is.  Another has a range [l, h]
 * from the schema, by interval arithmetic, and becomes (x - (l + h) / 2) / ((h - l) / 8): the
 * range is taken for eight standard deviations.  Where it must not be moved (no intercept; effects
 * of groups, whose meaning depends on where 0 is) it is divided by a quarter of max(|l|, |h|), so
 * that here too it is at most 4. */
#include "formula/design.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "formula/atom.h"

/* ---- variables ---- */

static dp_status make_factor(const dpi_script *s, const dpi_code_book *book, const dpi_tree *name,
                             dpi_variable *v)
{
    const dp_status status = dpi_code_book_need(s, book, name, &v->factor);
    if (status != DP_OK)
        return status;
    const size_t n = dpi_column_levels(v->factor);
    v->kind = DPI_VARIABLE_FACTOR;
    if (n == 0)
        return dpi_script_fail(s, DP_EINVAL, name->at,
                               "column '%.60s' has no declared levels; declare it INTEGER or LEVEL "
                               "to make a factor of it",
                               name->name);
    if (n < 2 || n > DPI_MOST_DESIGN)
        return dpi_script_fail(s, DP_EINVAL, name->at,
                               "the factor '%.60s' has %zu levels; a factor has 2 to %d, and more "
                               "make groups: (1 | %.60s)",
                               name->name, n, DPI_MOST_DESIGN, name->name);
    return DP_OK;
}

static dp_status make_number(const dpi_script *s, const dpi_code_book *book, dpi_variable *v)
{
    const dp_status status = dpi_arithmetic_range(s, book, v->tree, &v->range);
    if (status == DP_OK && !(v->range.low < v->range.high))
        return dpi_script_fail(s, DP_EINVAL, v->tree->at,
                               "this is the same number for every record; remove it");
    return status;
}

static dp_status make_variable(const dpi_script *s, const dpi_code_book *book, const dpi_tree *t,
                               dpi_variable *v)
{
    static const size_t degrees[] = {1, 12, 1};
    v->tree = t;
    if (dpi_tree_is_call(t, "factor"))
        return make_factor(s, book, t->first, v);
    if (dpi_tree_is_call(t, "C")) {
        const dpi_tree *of = t->first;
        v->sum = strcmp(of->next->name, "sum") == 0 || strcmp(of->next->name, "contr.sum") == 0;
        return make_factor(s, book, of->kind == DPI_TREE_CALL ? of->first : of, v);
    }
    if (dpi_tree_is_call(t, "poly")) {
        v->kind = DPI_VARIABLE_POLYNOMIAL;
        v->tree = t->first;
        v->raw = dpi_is_true(dpi_argument(t, "raw", 2));
        const dp_status status = dpi_argument_count(s, t, "degree", degrees, &v->degree);
        return status == DP_OK ? make_number(s, book, v) : status;
    }
    const dp_column *c = t->kind == DPI_TREE_NAME ? dpi_code_book_find(book, t->name) : NULL;
    v->binary = c != NULL && c->kind == DP_COLUMN_INTEGER && c->low == 0 && c->high == 1;
    return c != NULL && c->kind == DP_COLUMN_LEVEL ? make_factor(s, book, t, v)
                                                   : make_number(s, book, v);
}

dp_status dpi_variables_make(const dpi_script *script, const dpi_code_book *book,
                             const dpi_predictor *p, dpi_arena *arena, dpi_variable **variables)
{
    dpi_variable *v = dpi_arena_alloc(arena, p->n_variables, sizeof *v);
    dp_status status = v != NULL ? DP_OK : dpi_fail_nomem(script->err);
    for (size_t i = 0; i < p->n_variables && status == DP_OK; i++) {
        v[i].text = p->text[i];
        status = make_variable(script, book, p->variable[i], &v[i]);
    }
    *variables = v;
    return status;
}

static size_t columns_of(const dpi_variable *v, bool full)
{
    if (v->kind == DPI_VARIABLE_FACTOR)
        return dpi_column_levels(v->factor) - (full ? 0 : 1);
    return v->kind == DPI_VARIABLE_POLYNOMIAL ? v->degree : 1;
}

static double legendre(size_t degree, double t)
{
    double before = 1, p = t;
    for (size_t k = 1; k < degree; k++) {
        const double next = ((double)(2 * k + 1) * t * p - (double)k * before) / (double)(k + 1);
        before = p;
        p = next;
    }
    return p;
}

double dpi_variable_value(const dpi_variable *v, bool full, size_t j, double number)
{
    const double last =
        v->kind == DPI_VARIABLE_FACTOR ? (double)dpi_column_levels(v->factor) - 1 : 0;
    switch (v->kind) {
    case DPI_VARIABLE_FACTOR:
        if (!full && v->sum && number == last)
            return -1;
        return number == (double)(full || v->sum ? j : j + 1) ? 1 : 0;
    case DPI_VARIABLE_POLYNOMIAL:
        return v->raw ? pow(number, (double)(j + 1))
                      : legendre(j + 1, (2 * number - v->range.low - v->range.high) /
                                            (v->range.high - v->range.low));
    case DPI_VARIABLE_NUMBER:
        break;
    }
    return number;
}

static dpi_span range_of(const dpi_column_part *part)
{
    const dpi_variable *v = part->variable;
    dpi_span r = v->range;
    if (v->kind == DPI_VARIABLE_FACTOR)
        return (dpi_span){!part->full && v->sum ? -1 : 0, 1};
    if (v->kind == DPI_VARIABLE_POLYNOMIAL && !v->raw)
        return (dpi_span){-1, 1};
    if (v->kind == DPI_VARIABLE_POLYNOMIAL) {
        const double power = (double)(part->j + 1);
        const double a = pow(r.low, power), b = pow(r.high, power);
        r = (dpi_span){fmin(a, b), fmax(a, b)};
        if (v->range.low < 0 && v->range.high > 0 && part->j % 2 == 1)
            r.low = 0;
    }
    return r;
}

static void part_text(const dpi_column_part *part, dpi_bytes *to)
{
    const dpi_variable *v = part->variable;
    dpi_text_add(to, v->text);
    if (v->kind == DPI_VARIABLE_FACTOR && (part->full || !v->sum))
        dpi_level_text(v->factor, part->j + (part->full ? 0 : 1), to);
    else if (v->kind == DPI_VARIABLE_FACTOR ||
             (v->kind == DPI_VARIABLE_POLYNOMIAL && v->degree > 1))
        dpi_text_number(to, (double)(part->j + 1));
}

/* ---- coding ---- */

/* Whether a factor of term t is coded in full. */
static bool is_full(const dpi_term_list *terms, const dpi_variable *variables, size_t t, size_t v)
{
    const uint64_t rest = terms->set[t] & ~(UINT64_C(1) << v);
    bool first = !terms->intercept;
    for (size_t before = 0; before < t && first; before++)
        for (size_t w = 0; w < DPI_MOST_VARIABLES; w++)
            if ((terms->set[before] >> w & 1) != 0 && variables[w].kind == DPI_VARIABLE_FACTOR)
                first = false;
    for (size_t w = 0; w < v && first; w++)
        if ((terms->set[t] >> w & 1) != 0 && variables[w].kind == DPI_VARIABLE_FACTOR)
            first = false;
    if (first)
        return true;
    for (size_t before = 0; before < t; before++)
        if ((rest & ~terms->set[before]) == 0)
            return false;
    return rest != 0;
}

/* ---- columns ---- */

bool dpi_column_is_plain(const dpi_design_column *c)
{
    for (size_t i = 0; i < c->n_parts; i++)
        if (c->part[i].variable->kind != DPI_VARIABLE_FACTOR && !c->part[i].variable->binary)
            return false;
    return true;
}

static void scale_column(dpi_design_column *c, bool centred)
{
    c->scale = 1;
    if (dpi_column_is_plain(c))
        return;
    if (centred) {
        c->centre = c->range.low + (c->range.high - c->range.low) / 2;
        c->scale = (c->range.high - c->range.low) / 8;
    } else
        c->scale = fmax(fabs(c->range.low), fabs(c->range.high)) / 4;
}

static dp_status make_column(dpi_design_column *c, dpi_column_part *part, size_t n,
                             dpi_arena *arena)
{
    dpi_bytes name = {0};
    c->part = part;
    c->n_parts = n;
    c->range = (dpi_span){1, 1};
    for (size_t i = 0; i < n; i++) {
        dpi_text_add(&name, i > 0 ? ":" : "");
        part_text(&part[i], &name);
        c->range = dpi_range_product(c->range, range_of(&part[i]));
    }
    c->name = dpi_text_take(&name, arena);
    return c->name != NULL ? DP_OK : DP_ENOMEM;
}

/* The columns of term t behind those that are there. */
static dp_status add_term(const dpi_script *s, const dpi_predictor *p, const dpi_term_list *terms,
                          size_t t, const dpi_variable *variables, dpi_arena *arena, dpi_design *d)
{
    dpi_column_part first[DPI_MOST_VARIABLES];
    size_t n_parts = 0, total = 1;
    for (size_t v = 0; v < p->n_variables; v++) {
        if ((terms->set[t] >> v & 1) == 0)
            continue;
        const bool full =
            variables[v].kind == DPI_VARIABLE_FACTOR && is_full(terms, variables, t, v);
        first[n_parts++] = (dpi_column_part){.variable = &variables[v], .full = full};
        total *= columns_of(&variables[v], full);
        if (total > DPI_MOST_DESIGN - d->n)
            return dpi_script_fail(s, DP_EINVAL, p->variable[v]->at,
                                   "the terms become more than %d columns; use groups' effects for "
                                   "factors of many levels: (1 | g)",
                                   DPI_MOST_DESIGN);
    }
    if (!dpi_arena_grow(arena, (void **)&d->column, &d->capacity, d->n + total, sizeof *d->column))
        return dpi_fail_nomem(s->err);
    for (size_t k = 0; k < total; k++) {
        dpi_column_part *part = dpi_arena_alloc(arena, n_parts, sizeof *part);
        if (part == NULL)
            return dpi_fail_nomem(s->err);
        memcpy(part, first, n_parts * sizeof *part);
        size_t left = k;
        for (size_t i = 0; i < n_parts; i++) {
            const size_t columns = columns_of(part[i].variable, part[i].full);
            part[i].j = left % columns;
            left /= columns;
        }
        if (make_column(&d->column[d->n++], part, n_parts, arena) != DP_OK)
            return dpi_fail_nomem(s->err);
    }
    return DP_OK;
}

dp_status dpi_design_make(const dpi_script *s, const dpi_predictor *p, const dpi_term_list *terms,
                          const dpi_variable *variables, bool centred, dpi_arena *arena,
                          dpi_design *d)
{
    *d = (dpi_design){.intercept = terms->intercept};
    dp_status status = DP_OK;
    for (size_t t = 0; t < terms->n && status == DP_OK; t++)
        status = add_term(s, p, terms, t, variables, arena, d);
    for (size_t j = 0; j < d->n && status == DP_OK; j++) {
        dpi_design_column *c = &d->column[j];
        scale_column(c, centred && d->intercept);
        if (!isfinite(c->centre) || !(c->scale > 0 && isfinite(c->scale)))
            return dpi_script_fail(s, DP_EDOMAIN, c->part[0].variable->tree->at,
                                   "the range of '%.60s' is too large to be scaled; narrow the "
                                   "bounds of its columns",
                                   c->name);
    }
    return status;
}
