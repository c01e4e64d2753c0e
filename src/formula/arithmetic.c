/* Interval arithmetic over public ranges, and the same arithmetic over records.
 *
 * The ranges are ends of computed numbers, not rounded outward: they centre and scale columns, and
 * decide whether a logarithm exists, and nothing that a guarantee stands on. */
#include "formula/arithmetic.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "data/table.h"
#include "formula/atom.h"

const dp_column *dpi_code_book_find(const dpi_code_book *book, const char *name)
{
    for (size_t i = 0; i < book->n; i++)
        if (strcmp(book->column[i].name, name) == 0)
            return &book->column[i];
    return NULL;
}

dp_status dpi_code_book_need(const dpi_script *s, const dpi_code_book *book, const dpi_tree *name,
                             const dp_column **column)
{
    char names[120] = "";
    size_t used = 0;
    *column = dpi_code_book_find(book, name->name);
    if (*column != NULL)
        return DP_OK;
    for (size_t i = 0; i < book->n && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                 book->column[i].name);
    return dpi_script_fail(
        s, DP_ENAME, name->at,
        "no column '%.60s' in the schema, which has %s%s; write one of these, or "
        "declare it",
        name->name, names, used >= sizeof names ? " ..." : "");
}

size_t dpi_column_levels(const dp_column *c)
{
    if (c->kind == DP_COLUMN_LEVEL)
        return c->n_levels;
    return c->kind == DP_COLUMN_INTEGER ? (size_t)(c->high - c->low) + 1 : 0;
}

void dpi_level_text(const dp_column *c, size_t level, dpi_bytes *to)
{
    if (c->kind == DP_COLUMN_LEVEL)
        dpi_text_add(to, c->levels[level]);
    else
        dpi_text_number(to, c->low + (double)level);
}

/* ---- ranges ---- */

dpi_span dpi_range_product(dpi_span a, dpi_span b)
{
    const double p[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
    dpi_span r = {p[0], p[0]};
    for (size_t i = 1; i < 4; i++) {
        r.low = fmin(r.low, p[i]);
        r.high = fmax(r.high, p[i]);
    }
    return r;
}

static dp_status undefined(const dpi_script *s, const dpi_tree *t, const char *what, dpi_span r)
{
    return dpi_script_fail(s, DP_EDOMAIN, t->at,
                           "%s, and by the schema it is %.6g to %.6g; change the column's bounds, "
                           "or what is computed",
                           what, r.low, r.high);
}

static dp_status power_range(const dpi_script *s, const dpi_tree *t, dpi_span a, dpi_span b,
                             dpi_span *r)
{
    const bool constant = b.low == b.high, whole = constant && b.low == floor(b.low);
    if (a.low < 0 && !whole)
        return undefined(s, t->first, "a number below 0 has whole powers only", a);
    if (a.low <= 0 && a.high >= 0 && b.low < 0)
        return undefined(s, t->first, "0 has no negative power", a);
    const double p[] = {pow(a.low, b.low), pow(a.low, b.high), pow(a.high, b.low),
                        pow(a.high, b.high)};
    *r = (dpi_span){p[0], p[0]};
    for (size_t i = 1; i < 4; i++) {
        r->low = fmin(r->low, p[i]);
        r->high = fmax(r->high, p[i]);
    }
    /* An even power falls and rises; 0^0 is 1 as elsewhere in C. */
    if (a.low < 0 && a.high > 0 && fmod(b.low, 2) == 0 && b.low > 0)
        r->low = 0;
    return DP_OK;
}

static dp_status binary_range(const dpi_script *s, const dpi_code_book *book, const dpi_tree *t,
                              dpi_span *r)
{
    dpi_span a, b;
    dp_status status = dpi_arithmetic_range(s, book, t->first, &a);
    if (status == DP_OK)
        status = dpi_arithmetic_range(s, book, t->first->next, &b);
    if (status != DP_OK)
        return status;
    switch (t->op) {
    case '+':
        *r = (dpi_span){a.low + b.low, a.high + b.high};
        return DP_OK;
    case '-':
        *r = (dpi_span){a.low - b.high, a.high - b.low};
        return DP_OK;
    case '*':
        *r = dpi_range_product(a, b);
        return DP_OK;
    case '/':
        if (b.low <= 0 && b.high >= 0)
            return undefined(s, t->first->next, "nothing can be divided by 0", b);
        *r = dpi_range_product(a, (dpi_span){1 / b.high, 1 / b.low});
        return DP_OK;
    default:
        return power_range(s, t, a, b, r);
    }
}

static dp_status function_range(const dpi_script *s, const dpi_tree *t, dpi_span *r)
{
    const dpi_function *f = dpi_function_find(t->name);
    char what[80];
    if (f == NULL) /* I() */
        return DP_OK;
    if (!(r->low > f->above || (f->at && r->low == f->above))) {
        (void)snprintf(what, sizeof what, "%s(x) is defined for x %s %g only", f->name,
                       f->at ? "from" : "above", f->above);
        return undefined(s, t->first, what, *r);
    }
    *r = (dpi_span){f->value(r->low), f->value(r->high)};
    return DP_OK;
}

static dp_status column_range(const dpi_script *s, const dpi_code_book *book, const dpi_tree *t,
                              dpi_span *r)
{
    const dp_column *c;
    const dp_status status = dpi_code_book_need(s, book, t, &c);
    if (status != DP_OK)
        return status;
    if (c->kind != DP_COLUMN_REAL && c->kind != DP_COLUMN_INTEGER)
        return dpi_script_fail(
            s, DP_EINVAL, t->at,
            "column '%.60s' has no numbers but %s; nothing can be computed of it", c->name,
            c->kind == DP_COLUMN_LEVEL ? "levels" : "names of units");
    *r = (dpi_span){c->low, c->high};
    return DP_OK;
}

dp_status dpi_arithmetic_range(const dpi_script *s, const dpi_code_book *book, const dpi_tree *t,
                               dpi_span *r)
{
    dp_status status = DP_OK;
    *r = (dpi_span){t->number, t->number};
    if (t->kind == DPI_TREE_NAME)
        status = column_range(s, book, t, r);
    else if (t->kind == DPI_TREE_BINARY)
        status = binary_range(s, book, t, r);
    else if (t->kind != DPI_TREE_NUMBER) {
        status = dpi_arithmetic_range(s, book, t->first, r);
        if (status == DP_OK && t->kind == DPI_TREE_CALL)
            status = function_range(s, t, r);
        else if (status == DP_OK && t->op == '-')
            *r = (dpi_span){-r->high, -r->low};
    }
    if (status == DP_OK && !(isfinite(r->low) && isfinite(r->high)))
        return dpi_script_fail(s, DP_EDOMAIN, t->at,
                               "what is computed here may be infinite, by the schema; narrow the "
                               "columns' bounds, or compute something else");
    return status;
}

/* ---- records ---- */

static const dpi_table_column *column_of(const dp_table *table, const char *name)
{
    for (size_t j = 0; j < table->n_columns; j++)
        if (strcmp(table->columns[j].name, name) == 0)
            return &table->columns[j];
    return NULL;
}

static const char *kind_name(dp_column_kind kind)
{
    return kind == DP_COLUMN_LEVEL ? "LEVEL" : kind == DP_COLUMN_INTEGER ? "INTEGER" : "UNIT";
}

/* Whether numbers of levels mean the same in the schema and in the table. */
static dp_status check_levels(const dp_column *c, const dpi_table_column *t, dp_error *err)
{
    static const char remedy[] = "read the table with the formula's schema";
    if (c->kind != t->kind)
        return dpi_fail(err, DP_EDATA,
                        "column '%.60s' is %s in the table and %s in the formula's schema; %s",
                        c->name, kind_name(t->kind), kind_name(c->kind), remedy);
    if (c->kind == DP_COLUMN_UNIT)
        return DP_OK;
    if (t->n_levels != dpi_column_levels(c))
        return dpi_fail(err, DP_EDATA,
                        "column '%.60s' has %zu levels in the table and %zu in the formula's "
                        "schema; %s",
                        c->name, t->n_levels, dpi_column_levels(c), remedy);
    if (c->kind == DP_COLUMN_INTEGER && c->low != t->low)
        return dpi_fail(err, DP_EDATA,
                        "column '%.60s' begins at %.16g in the table and at %.16g in the formula's "
                        "schema; %s",
                        c->name, t->low, c->low, remedy);
    for (size_t i = 0; c->kind == DP_COLUMN_LEVEL && i < c->n_levels; i++)
        if (strcmp(c->levels[i], t->levels[i]) != 0)
            return dpi_fail(err, DP_EDATA,
                            "column '%.40s': level %zu of %zu is '%.30s' in the table and '%.30s' "
                            "in the formula's schema; %s",
                            c->name, i + 1, c->n_levels, t->levels[i], c->levels[i], remedy);
    return DP_OK;
}

const int32_t *dpi_column_read(const dp_column *c, dp_table *table, dp_error *err)
{
    const int32_t *level = dp_table_level(table, c->name);
    if (level == NULL)
        (void)dpi_fail(err, dp_table_status(table), "%s", dp_table_error(table));
    else if (check_levels(c, column_of(table, c->name), err) != DP_OK)
        level = NULL;
    return level;
}

static double binary_value(char op, double a, double b)
{
    switch (op) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    case '/':
        return a / b;
    default:
        return pow(a, b);
    }
}

static dp_status column_values(const dp_column *c, dp_table *table, dpi_range_of_records range,
                               double *out, dp_error *err)
{
    const double *real = c->kind == DP_COLUMN_REAL ? dp_table_real(table, c->name) : NULL;
    dp_error own = {0};
    const int32_t *level = c->kind == DP_COLUMN_REAL ? NULL : dpi_column_read(c, table, &own);
    if (own.status != DP_OK)
        return dpi_fail(err, own.status, "%s", own.text);
    if (real == NULL && level == NULL)
        return dpi_fail(err, dp_table_status(table), "%s", dp_table_error(table));
    for (size_t i = 0; i < range.n; i++) {
        const size_t at = range.first + i;
        out[i] = real != NULL ? real[at] : c->low + (double)level[at];
        if (c->kind != DP_COLUMN_LEVEL && !(out[i] >= c->low && out[i] <= c->high))
            return dpi_fail(err, DP_EDATA,
                            "column '%.60s', record %zu (from 0): the value is outside the range "
                            "of the formula's schema; read the table with that schema",
                            c->name, at);
    }
    return DP_OK;
}

static dp_status binary_values(const dpi_tree *t, const dpi_code_book *book, dp_table *table,
                               dpi_range_of_records range, double *out, dp_error *err)
{
    double *right = dpi_alloc(range.n, sizeof *right);
    if (right == NULL)
        return dpi_fail_nomem(err);
    dp_status status = dpi_arithmetic_values(t->first, book, table, range, out, err);
    if (status == DP_OK)
        status = dpi_arithmetic_values(t->first->next, book, table, range, right, err);
    for (size_t i = 0; i < range.n && status == DP_OK; i++)
        out[i] = binary_value(t->op, out[i], right[i]);
    dpi_free(right);
    return status;
}

dp_status dpi_arithmetic_values(const dpi_tree *t, const dpi_code_book *book, dp_table *table,
                                dpi_range_of_records range, double *out, dp_error *err)
{
    const size_t n = range.n;
    if (t->kind == DPI_TREE_NAME)
        return column_values(dpi_code_book_find(book, t->name), table, range, out, err);
    if (t->kind == DPI_TREE_BINARY)
        return binary_values(t, book, table, range, out, err);
    if (t->kind == DPI_TREE_NUMBER) {
        for (size_t i = 0; i < n; i++)
            out[i] = t->number;
        return DP_OK;
    }
    const dp_status status = dpi_arithmetic_values(t->first, book, table, range, out, err);
    const dpi_function *f = t->kind == DPI_TREE_CALL ? dpi_function_find(t->name) : NULL;
    for (size_t i = 0; i < n && status == DP_OK; i++)
        if (f != NULL)
            out[i] = f->value(out[i]);
        else if (t->kind == DPI_TREE_SIGN && t->op == '-')
            out[i] = -out[i];
    return status;
}
