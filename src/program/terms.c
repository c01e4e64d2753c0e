/* Which columns a node multiplies with one another, from the rules of the operations on its way. */
#include "program/lower.h"

static bool has_term(const dpi_crossings *t, dpi_term term)
{
    size_t i = 0;
    while (i < t->n && t->term[i] != term)
        i++;
    return i < t->n;
}

static bool add_term(dpi_crossings *t, dpi_term term)
{
    if (has_term(t, term))
        return true;
    if (t->n == DPI_LOWER_TERMS)
        return false;
    t->term[t->n++] = term;
    return true;
}

static bool add_terms(dpi_crossings *t, const dpi_crossings *more)
{
    bool room = true;
    for (size_t i = 0; room && i < more->n; i++)
        room = add_term(t, more->term[i]);
    return room;
}

static dpi_term column_term(const dpi_lowering *l, dpi_id node)
{
    size_t c = 0;
    while (c < l->n_columns && l->column[c].node != node)
        c++;
    return (dpi_term)1 << c;
}

/* Columns that may be in both factors: an indicator times itself is itself. */
static dpi_term idempotent(const dpi_lowering *l)
{
    dpi_term groups = 0;
    for (size_t c = 0; c < l->n_columns; c++)
        if (l->column[c].groups)
            groups |= (dpi_term)1 << c;
    return groups;
}

/* NULL, or why there is no such product. */
static const char *multiply(const dpi_lowering *l, const dpi_crossings *a, const dpi_crossings *b,
                            dpi_crossings *product)
{
    for (size_t i = 0; i < a->n; i++)
        for (size_t j = 0; j < b->n; j++) {
            dpi_term s = a->term[i], t = b->term[j];
            if ((s & t & ~idempotent(l)) != 0)
                return "it multiplies a column, or what a layer makes of the record, with itself; "
                       "let the data have the product as a column";
            if (((s | t) & DPI_TERM_CUT) != 0 && s != 0 && t != 0)
                return "it multiplies what two layers make of the record";
            if (!add_term(product, s | t))
                return "it multiplies the columns in more than 64 ways";
        }
    return NULL;
}

static const char *find_terms(dpi_lowering *l, const dpi_node *node, dpi_id id, dpi_crossings *t)
{
    const dpi_lower_rule *rule = &dpi_lower_rules[node->op->id];
    const dpi_crossings *of[2] = {NULL, NULL};
    if (rule->kind == DPI_LOWER_NOT)
        return "there is no stage for this operation; let the data have its result as a column, or "
               "the model do without";
    if (rule->kind == DPI_LOWER_COLUMN)
        return add_term(t, column_term(l, id)) ? NULL : "";
    if (rule->kind == DPI_LOWER_PICK) {
        const dpi_node *groups = dpi_get(l->g, node->in[1]);
        if (l->reached[node->in[0]] || !dpi_is_groups(groups) || groups->shape.n_dims > 0)
            return "dp_pick is served of a value that is the same for all records, by one group "
                   "number";
        return add_term(t, column_term(l, node->in[1])) ? NULL : "";
    }
    if (rule->kind == DPI_LOWER_GROUPS)
        return "a group number is served where dp_pick takes it";
    for (int k = 0; k < node->op->n_inputs; k++) {
        of[k] = dpi_lower_terms(l, node->in[k]);
        if (of[k] == NULL)
            return "";
    }
    if (rule->kind == DPI_LOWER_PRODUCT || rule->kind == DPI_LOWER_MATRIX)
        return multiply(l, of[0], of[1], t);
    if (rule->kind == DPI_LOWER_QUOTIENT && l->reached[node->in[1]])
        return "it divides by a number of the record; let the data have the quotient as a column";
    bool room = add_terms(t, of[0]);
    if (rule->kind != DPI_LOWER_QUOTIENT && of[1] != NULL)
        room = add_terms(t, of[1]) && room;
    return room ? NULL : "it multiplies the columns in more than 64 ways";
}

const dpi_crossings *dpi_lower_terms(dpi_lowering *l, dpi_id id)
{
    if (l->terms[id] != NULL)
        return l->terms[id];
    dpi_crossings *t = dpi_arena_alloc(&l->arena, 1, sizeof *t);
    const char *why = NULL;
    if (t == NULL) {
        (void)dpi_fail_nomem(l->err);
        return NULL;
    }
    if (!l->reached[id])
        (void)add_term(t, 0);
    else if (dpi_lower_is_cut(l, id))
        (void)add_term(t, DPI_TERM_CUT);
    else
        why = find_terms(l, dpi_get(l->g, id), id, t);
    if (why != NULL && why[0] != '\0')
        dpi_lower_refuse(l, id, why);
    if (why == NULL)
        l->terms[id] = t;
    return why == NULL ? t : NULL;
}
