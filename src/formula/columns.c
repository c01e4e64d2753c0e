/* Which columns of its schema a formula reads: all of them to be fitted, and for predictions of new
 * records only what the outcome's mean is computed from. */
#include "formula/formula.h"

static bool in_tree(const char *name, const dpi_tree *t)
{
    return t != NULL && dpi_tree_find_name(t, name) != NULL;
}

static bool in_grouping(const char *name, const dpi_grouping *g)
{
    for (size_t b = 0; b < g->n_by; b++)
        if (in_tree(name, g->by[b]))
            return true;
    return false;
}

static bool in_predictor(const char *name, const dpi_predictor *p)
{
    for (size_t v = 0; v < p->n_variables; v++)
        if (in_tree(name, p->variable[v]))
            return true;
    for (size_t g = 0; g < p->n_groupings; g++)
        if (in_grouping(name, &p->grouping[g]))
            return true;
    for (size_t s = 0; s < p->n_smooths; s++)
        if (in_tree(name, p->smooth[s]))
            return true;
    for (size_t o = 0; o < p->n_offsets; o++)
        if (in_tree(name, p->offset[o]))
            return true;
    return false;
}

static bool is_predicted_from(const dp_formula *f, const dp_column *c)
{
    for (size_t i = 0; i < DPI_MOST_PREDICTORS; i++)
        if (f->predictor[i] != NULL && in_predictor(c->name, f->predictor[i]))
            return true;
    return in_tree(c->name, f->trials);
}

static bool is_fitted_to(const dp_formula *f, const dp_column *c)
{
    return c->kind == DP_COLUMN_UNIT || in_tree(c->name, f->outcome) ||
           in_tree(c->name, f->censored) || in_tree(c->name, f->weight) || is_predicted_from(f, c);
}

bool dpi_formula_list_columns(dp_formula *f)
{
    bool (*const reads[])(const dp_formula *, const dp_column *) = {
        [DP_FORMULA_FIT] = is_fitted_to, [DP_FORMULA_PREDICT] = is_predicted_from};
    for (int use = 0; use < 2; use++) {
        dp_column *list = dpi_arena_alloc(&f->arena, f->book.n, sizeof *list);
        if (list == NULL)
            return false;
        for (size_t i = 0; i < f->book.n; i++)
            if (reads[use](f, &f->book.column[i]))
                list[f->n_read[use]++] = f->book.column[i];
        f->read[use] = list;
    }
    return true;
}

const dp_column *dp_formula_columns(const dp_formula *f, dp_formula_use use, size_t *n)
{
    *n = f->n_read[use];
    return f->read[use];
}
