/* Predictors and outcome under a schema. */
#include "formula/layout.h"

#include <math.h>

#include "base/error.h"
#include "formula/atom.h"

/* ---- predictors ---- */

/* How many groups there are of a kind: all combinations of the levels of its columns, or, where
 * records are in several at once, the levels that these columns have in common. */
static dp_status count_members(const dpi_script *s, const dpi_code_book *book,
                               const dpi_grouping *g, size_t *members)
{
    *members = 1;
    for (size_t i = 0; i < g->n_by; i++) {
        const dp_column *c;
        const dp_status status = dpi_code_book_need(s, book, g->by[i], &c);
        if (status != DP_OK)
            return status;
        const size_t levels = dpi_column_levels(c);
        if (levels == 0)
            return dpi_script_fail(
                s, DP_EINVAL, g->by[i]->at,
                "column '%.60s' has no declared levels to make groups of; declare "
                "it INTEGER or LEVEL",
                c->name);
        if (g->several && i > 0 && levels != *members)
            return dpi_script_fail(
                s, DP_EINVAL, g->by[i]->at,
                "mm() is of columns with the same levels; '%.60s' has %zu and the "
                "one before it %zu",
                c->name, levels, *members);
        *members = g->several ? levels : *members * levels;
        if (*members > DPI_MOST_MEMBERS)
            return dpi_script_fail(s, DP_EINVAL, g->by[i]->at,
                                   "these levels together make more than %d groups; use fewer "
                                   "columns, or closer bounds",
                                   DPI_MOST_MEMBERS);
    }
    if (*members == 1)
        return dpi_script_fail(s, DP_EINVAL, g->by[0]->at,
                               "'%.60s' has one level, and effects of one group are its intercept "
                               "again; leave them out, or widen the column's levels",
                               g->by[0]->name);
    return DP_OK;
}

static dp_status make_groupings(const dpi_script *s, const dpi_code_book *book,
                                const dpi_predictor *p, dpi_arena *arena, dpi_layout *l)
{
    dp_status status = DP_OK;
    for (size_t g = 0; g < p->n_groupings && status == DP_OK; g++) {
        status = count_members(s, book, &p->grouping[g], &l->members[g]);
        if (status == DP_OK)
            status = dpi_design_make(s, p, &p->grouping[g].terms, l->variable, false, arena,
                                     &l->effects[g]);
    }
    return status;
}

dp_status dpi_layout_make(const dpi_script *s, const dpi_code_book *book, const dpi_predictor *p,
                          dpi_arena *arena, dpi_layout *l)
{
    dpi_span added = {0, 0};
    l->effects = dpi_arena_alloc(arena, p->n_groupings, sizeof *l->effects);
    l->members = dpi_arena_alloc(arena, p->n_groupings, sizeof *l->members);
    l->smooth = dpi_arena_alloc(arena, p->n_smooths, sizeof *l->smooth);
    if (l->effects == NULL || l->members == NULL || l->smooth == NULL)
        return dpi_fail_nomem(s->err);
    dp_status status = dpi_variables_make(s, book, p, arena, &l->variable);
    if (status == DP_OK)
        status = dpi_design_make(s, p, &p->terms, l->variable, true, arena, &l->design);
    if (status == DP_OK)
        status = make_groupings(s, book, p, arena, l);
    for (size_t i = 0; i < p->n_smooths && status == DP_OK; i++) {
        const dpi_tree *x = p->smooth[i]->first;
        status = dpi_arithmetic_range(s, book, x, &l->smooth[i]);
        if (status == DP_OK && !(l->smooth[i].low < l->smooth[i].high))
            status = dpi_script_fail(s, DP_EINVAL, x->at,
                                     "this is the same number for every record; remove it");
    }
    l->offset = 0;
    for (size_t i = 0; i < p->n_offsets && status == DP_OK; i++) {
        status = dpi_arithmetic_range(s, book, p->offset[i], &added);
        l->offset += added.low / 2 + added.high / 2;
    }
    if (!isfinite(l->offset))
        l->offset = 0;
    return status;
}

/* ---- outcome ---- */

static dp_status refuse_outcome(const dpi_script *s, const dpi_tree *t, const dpi_response *r,
                                const char *wanted)
{
    return dpi_script_fail(
        s, DP_EDOMAIN, t->at,
        "the family %s is of %s, and the schema does not say that the outcome is "
        "that; declare it so, or take another family",
        r->family->name, wanted);
}

static dp_status check_levels(const dpi_script *s, const dpi_tree *t, const dpi_response *r,
                              dpi_outcome_layout *o)
{
    const size_t levels = o->column != NULL ? dpi_column_levels(o->column) : 0;
    if (r->family->outcome == DPI_OUTCOME_BINARY)
        return levels == 2 ? DP_OK
                           : refuse_outcome(s, t, r, "a column of two levels, or INTEGER 0 to 1");
    o->categories = levels;
    if (r->family->outcome == DPI_OUTCOME_ORDERED && levels == 2)
        return refuse_outcome(s, t, r, "a column of 3 to 4096 levels (of two take bernoulli)");
    return levels >= 2 && levels <= DPI_MOST_DESIGN
               ? DP_OK
               : refuse_outcome(s, t, r, "a column of 2 to 4096 levels, LEVEL or INTEGER");
}

static void place_outcome(const dpi_response *r, dpi_outcome_layout *o)
{
    const dpi_outcome_kind kind = r->family->outcome;
    const bool real = kind == DPI_OUTCOME_REAL,
               logs = r->link == DPI_LOG || kind == DPI_OUTCOME_POSITIVE;
    const double low = logs ? fmax(o->range.low, 0) : o->range.low, whole = o->range.high - low;
    const double typical = low + whole / (real ? 2 : kind == DPI_OUTCOME_COUNT ? 32 : 8);
    if (logs && typical > 0 && isfinite(typical)) {
        o->placed = true;
        o->centre = log(typical);
    } else if (real && !logs) {
        o->placed = true;
        o->centre = typical;
        o->unit = o->size;
    }
}

dp_status dpi_outcome_make(const dpi_script *s, const dpi_code_book *book, const dpi_response *r,
                           const dpi_tree *t, dpi_outcome_layout *o)
{
    const dpi_outcome_kind kind = r->family->outcome;
    *o = (dpi_outcome_layout){.unit = 1, .size = 1};
    dp_status status = DP_OK;
    if (t->kind == DPI_TREE_NAME)
        status = dpi_code_book_need(s, book, t, &o->column);
    if (status != DP_OK)
        return status;
    if (kind == DPI_OUTCOME_BINARY || kind == DPI_OUTCOME_CATEGORY || kind == DPI_OUTCOME_ORDERED)
        return check_levels(s, t, r, o);
    status = dpi_arithmetic_range(s, book, t, &o->range);
    if (status != DP_OK)
        return status;
    if (!(o->range.low < o->range.high))
        return refuse_outcome(s, t, r, "numbers that differ");
    if (kind == DPI_OUTCOME_POSITIVE && !(o->range.low >= 0))
        return refuse_outcome(s, t, r, "numbers above 0");
    if (kind == DPI_OUTCOME_SHARE && !(o->range.low >= 0 && o->range.high <= 1))
        return refuse_outcome(s, t, r, "shares between 0 and 1");
    if (kind == DPI_OUTCOME_COUNT &&
        !(o->column != NULL && o->column->kind == DP_COLUMN_INTEGER && o->range.low >= 0))
        return refuse_outcome(s, t, r, "counts: an INTEGER column from 0");
    if (kind == DPI_OUTCOME_REAL) {
        o->size = (o->range.high - o->range.low) / 4;
        if (!isfinite(o->size) || o->size <= 0)
            return refuse_outcome(s, t, r, "numbers of a range that can be scaled");
    }
    place_outcome(r, o);
    return DP_OK;
}
