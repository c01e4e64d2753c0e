/* Terms of a formula, by the algebra of Wilkinson and Rogers (1973, Applied Statistics 22: 392) as
 * R has it:
 *
 *   a + b      both                  a - b   what a has and b has not
 *   a:b        each of a with each of b together, as sets of variables: a:a is a
 *   a*b        a + b + a:b           (a)^n   a * a * ... n times
 *   a/b        a + b within all of a: a + b:(union of a's)
 *   1, 0, - 1  with or without an intercept; what stands last counts
 *
 * Terms of fewer variables come first.  Variables are numbered in the order in which they stand in
 * the terms so ordered, which makes the canonical text expand to itself.  Groups' effects, smooths
 * and offsets are not sets of variables: they can be added, and nothing else.
 *
 * Each operation makes a list of at most DPI_MOST_TERMS from two such lists; there are at most
 * DPI_MOST_TREES operations. */
#include "formula/terms.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "formula/atom.h"

typedef struct expansion {
    const dpi_script *script;
    dpi_arena *arena;
    dpi_predictor *predictor;
    bool groups; /* (x | g), s() and offset() may be added here */
} expansion;

static dp_status expand(expansion *e, const dpi_tree *t, bool added, dpi_term_list *to);

static dp_status refuse(const expansion *e, const dpi_tree *t, const char *message)
{
    return dpi_script_fail(e->script, DP_EINVAL, t->at, "%s", message);
}

size_t dpi_set_size(uint64_t set)
{
    size_t n = 0;
    for (; set != 0; set &= set - 1)
        n++;
    return n;
}

static dp_status new_list(expansion *e, dpi_term_list *list)
{
    *list = (dpi_term_list){.set = dpi_arena_alloc(e->arena, DPI_MOST_TERMS, sizeof *list->set)};
    return list->set != NULL ? DP_OK : dpi_fail_nomem(e->script->err);
}

static bool has(const dpi_term_list *list, uint64_t set)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->set[i] == set)
            return true;
    return false;
}

static dp_status add(expansion *e, const dpi_tree *at, dpi_term_list *list, uint64_t set)
{
    if (has(list, set))
        return DP_OK;
    if (list->n == DPI_MOST_TERMS)
        return refuse(e, at, "the formula has more than 128 terms here; name those that matter");
    list->set[list->n++] = set;
    return DP_OK;
}

static dp_status add_all(expansion *e, const dpi_tree *at, dpi_term_list *list,
                         const dpi_term_list *more)
{
    dp_status status = DP_OK;
    for (size_t i = 0; i < more->n && status == DP_OK; i++)
        status = add(e, at, list, more->set[i]);
    return status;
}

static dp_status cross(expansion *e, const dpi_tree *at, const dpi_term_list *a,
                       const dpi_term_list *b, dpi_term_list *to)
{
    dp_status status = DP_OK;
    for (size_t i = 0; i < a->n; i++)
        for (size_t j = 0; j < b->n && status == DP_OK; j++)
            status = add(e, at, to, a->set[i] | b->set[j]);
    return status;
}

static dp_status add_variable(expansion *e, const dpi_tree *t, dpi_term_list *to)
{
    dpi_predictor *p = e->predictor;
    dp_status status = dpi_atom_check(e->script, t);
    const char *text = status == DP_OK ? dpi_tree_string(t, e->arena) : "";
    if (status != DP_OK || text == NULL)
        return text == NULL ? dpi_fail_nomem(e->script->err) : status;
    size_t v = 0;
    while (v < p->n_variables && strcmp(p->text[v], text) != 0)
        v++;
    if (v == DPI_MOST_VARIABLES)
        return refuse(e, t, "a predictor has more than 60 variables; use fewer");
    p->text[v] = text;
    if (v == p->n_variables)
        p->variable[p->n_variables++] = t;
    return add(e, t, to, UINT64_C(1) << v);
}

/* ---- groups ---- */

/* Columns whose levels make groups: a set of names for each kind of group. */
typedef struct by_list {
    struct {
        const dpi_tree *name[DPI_MOST_BY];
        size_t n;
    } by[DPI_MOST_GROUPS];
    size_t n;
} by_list;

static dp_status add_by(expansion *e, const dpi_tree *at, by_list *to,
                        const dpi_tree *const names[], size_t n)
{
    if (to->n == DPI_MOST_GROUPS || n > DPI_MOST_BY)
        return refuse(e, at,
                      "more than 32 kinds of groups, or one of more than 4 columns; use fewer");
    memcpy(to->by[to->n].name, names, n * sizeof *names);
    to->by[to->n++].n = n;
    return DP_OK;
}

/* Each of a with each of b. */
static dp_status join_by(expansion *e, const dpi_tree *at, const by_list *a, const by_list *b,
                         by_list *to)
{
    const dpi_tree *names[2 * DPI_MOST_BY];
    dp_status status = DP_OK;
    for (size_t i = 0; i < a->n; i++)
        for (size_t j = 0; j < b->n && status == DP_OK; j++) {
            memcpy(names, a->by[i].name, a->by[i].n * sizeof *names);
            memcpy(names + a->by[i].n, b->by[j].name, b->by[j].n * sizeof *names);
            status = add_by(e, at, to, names, a->by[i].n + b->by[j].n);
        }
    return status;
}

/* One kind of group, of all the columns of those from number `from` on. */
static dp_status unite_by(expansion *e, const dpi_tree *at, const by_list *of, size_t from,
                          by_list *to)
{
    const dpi_tree *names[DPI_MOST_BY + 1];
    size_t n = 0;
    for (size_t i = from; i < of->n; i++)
        for (size_t j = 0; j < of->by[i].n && n <= DPI_MOST_BY; j++) {
            size_t k = 0;
            while (k < n && strcmp(names[k]->name, of->by[i].name[j]->name) != 0)
                k++;
            names[k] = of->by[i].name[j];
            n = k == n ? n + 1 : n;
        }
    return add_by(e, at, to, names, n);
}

static dp_status groups_of(expansion *e, const dpi_tree *t, by_list *to)
{
    if (t->kind == DPI_TREE_NAME)
        return add_by(e, t, to, &t, 1);
    if (t->kind != DPI_TREE_BINARY || strchr("+:/", t->op) == NULL)
        return refuse(e, t, "groups are a column, a:b, a/b (a and a:b), a + b, or mm(a, b)");
    by_list *side = dpi_arena_alloc(e->arena, 2, sizeof *side);
    if (side == NULL)
        return dpi_fail_nomem(e->script->err);
    const size_t before = to->n;
    dp_status status = groups_of(e, t->first, t->op == ':' ? &side[0] : to);
    if (status == DP_OK)
        status = groups_of(e, t->first->next, t->op == '+' ? to : &side[1]);
    if (status != DP_OK || t->op == '+')
        return status;
    if (t->op == '/')
        status = unite_by(e, t, to, before, &side[0]);
    return status == DP_OK ? join_by(e, t, &side[0], &side[1], to) : status;
}

static dp_status add_grouping(expansion *e, const dpi_tree *at, dpi_grouping grouping)
{
    dpi_predictor *p = e->predictor;
    for (size_t i = 0; i < grouping.n_by; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(grouping.by[i]->name, grouping.by[j]->name) == 0)
                return refuse(e, at,
                              "a column stands twice among those that make groups; write it "
                              "once");
    if (p->n_groupings == DPI_MOST_GROUPS)
        return refuse(e, at, "more than 32 kinds of groups' effects; use fewer");
    p->grouping[p->n_groupings++] = grouping;
    return DP_OK;
}

static dp_status add_several(expansion *e, const dpi_tree *mm, dpi_grouping grouping)
{
    for (const dpi_tree *a = mm->first; a != NULL; a = a->next) {
        if (a->kind != DPI_TREE_NAME || a->label != NULL || grouping.n_by == DPI_MOST_BY)
            return refuse(e, a, "mm() has two to four columns of groups: mm(g, h)");
        grouping.by[grouping.n_by++] = a;
    }
    if (grouping.n_by < 2)
        return refuse(e, mm, "mm() has two to four columns of groups: mm(g, h)");
    grouping.several = true;
    return add_grouping(e, mm, grouping);
}

/* (terms | groups). */
static dp_status add_groups(expansion *e, const dpi_tree *t)
{
    dpi_grouping grouping = {.correlated = t->op == '|', .at = t->at};
    expansion within = *e;
    within.groups = false;
    dp_status status = new_list(e, &grouping.terms);
    grouping.terms.intercept = true;
    if (status == DP_OK)
        status = expand(&within, t->first, true, &grouping.terms);
    if (status != DP_OK)
        return status;
    if (!grouping.terms.intercept && grouping.terms.n == 0)
        return refuse(e, t, "before the '|' stands no term; write (1 | group) for an intercept");
    const dpi_tree *by = t->first->next;
    if (dpi_tree_is_call(by, "mm"))
        return add_several(e, by, grouping);
    by_list *list = dpi_arena_alloc(e->arena, 1, sizeof *list);
    if (list == NULL)
        return dpi_fail_nomem(e->script->err);
    status = groups_of(e, by, list);
    for (size_t i = 0; i < list->n && status == DP_OK; i++) {
        dpi_grouping one = grouping;
        memcpy(one.by, list->by[i].name, sizeof one.by);
        one.n_by = list->by[i].n;
        status = add_grouping(e, by, one);
    }
    return status;
}

/* ---- what is added by itself ---- */

static bool is_smooth(const dpi_tree *t)
{
    return dpi_tree_is_call(t, "s") || dpi_tree_is_call(t, "gp");
}

static bool is_special(const dpi_tree *t)
{
    return is_smooth(t) || dpi_tree_is_call(t, "offset") ||
           (t->kind == DPI_TREE_BINARY && (t->op == '|' || t->op == DPI_BARS));
}

static dp_status add_special(expansion *e, const dpi_tree *t)
{
    dpi_predictor *p = e->predictor;
    if (!e->groups)
        return refuse(e, t,
                      "groups' effects, smooths and offsets cannot be crossed, removed or "
                      "stand among the effects of groups; add them: y ~ x + (1 | g)");
    if (t->kind == DPI_TREE_BINARY)
        return add_groups(e, t);
    const bool smooth = is_smooth(t);
    size_t *n = smooth ? &p->n_smooths : &p->n_offsets;
    if (*n == DPI_MOST_GROUPS)
        return refuse(e, t, "more than 32 smooths or offsets; use fewer");
    if (smooth) {
        p->smooth[(*n)++] = t;
        return dpi_smooth_check(e->script, t);
    }
    if (dpi_tree_count(t) != 1 || t->first->label != NULL)
        return refuse(e, t, "offset() has one argument: offset(log(n))");
    p->offset[(*n)++] = t->first;
    return dpi_arithmetic_check(e->script, t->first);
}

/* ---- the algebra ---- */

static dp_status add_number(expansion *e, const dpi_tree *t, bool added, bool minus,
                            dpi_term_list *to)
{
    if (!added)
        return refuse(e, t,
                      "a number cannot be crossed with a term; arithmetic stands in I(): "
                      "I(2 * x)");
    if (t->number != 0 && t->number != 1)
        return refuse(e, t,
                      "a number among terms is 1 or 0, with or without an intercept; "
                      "arithmetic stands in I(): I(x + 2)");
    to->intercept = (t->number == 1) != minus;
    return DP_OK;
}

static dp_status without(expansion *e, const dpi_tree *t, bool added, dpi_term_list *to)
{
    dpi_term_list less;
    if (t->kind == DPI_TREE_NUMBER)
        return add_number(e, t, added, true, to);
    expansion plain = *e;
    plain.groups = false;
    dp_status status = new_list(e, &less);
    if (status == DP_OK)
        status = expand(&plain, t, false, &less);
    size_t kept = 0;
    for (size_t i = 0; i < to->n && status == DP_OK; i++)
        if (!has(&less, to->set[i]))
            to->set[kept++] = to->set[i];
    to->n = status == DP_OK ? kept : to->n;
    return status;
}

static dp_status powers(expansion *e, const dpi_tree *t, dpi_term_list *to)
{
    const dpi_tree *n = t->first->next;
    dpi_term_list base;
    dp_status status = new_list(e, &base);
    if (status == DP_OK)
        status = expand(e, t->first, false, &base);
    if (status != DP_OK)
        return status;
    if (n->kind != DPI_TREE_NUMBER || n->number != floor(n->number) || !(n->number >= 1) ||
        !(n->number <= DPI_MOST_VARIABLES))
        return refuse(e, n, "terms are crossed a whole number of times from 1 to 60: (a + b)^2");
    if (base.n == 1)
        return refuse(e, t,
                      "among terms ^ crosses, and a term crossed with itself is itself; "
                      "write I(x^2) for a square");
    dpi_term_list power = base;
    for (double i = 1; i < n->number && status == DP_OK; i++) {
        dpi_term_list next;
        status = new_list(e, &next);
        if (status == DP_OK)
            status = add_all(e, t, &next, &base);
        if (status == DP_OK)
            status = cross(e, t, &power, &base, &next);
        if (status != DP_OK || next.n == power.n)
            break;
        power = next;
    }
    return status == DP_OK ? add_all(e, t, to, &power) : status;
}

/* a:b, a*b, a/b. */
static dp_status crossed(expansion *e, const dpi_tree *t, dpi_term_list *to)
{
    dpi_term_list a, b;
    dp_status status = new_list(e, &a);
    if (status == DP_OK)
        status = new_list(e, &b);
    if (status == DP_OK)
        status = expand(e, t->first, false, &a);
    if (status == DP_OK)
        status = expand(e, t->first->next, false, &b);
    if (status == DP_OK && t->op != ':')
        status = add_all(e, t, to, &a);
    if (status == DP_OK && t->op == '*')
        status = add_all(e, t, to, &b);
    if (t->op == '/') {
        for (size_t i = 1; i < a.n && status == DP_OK; i++)
            a.set[0] |= a.set[i];
        a.n = a.n > 0 ? 1 : 0;
    }
    return status == DP_OK ? cross(e, t, &a, &b, to) : status;
}

/* Adds the terms of a tree to a list.  added: it is a summand, not part of a crossing. */
static dp_status expand(expansion *e, const dpi_tree *t, bool added, dpi_term_list *to)
{
    if (is_special(t)) {
        expansion here = *e;
        here.groups = e->groups && added;
        return add_special(&here, t);
    }
    if (t->kind == DPI_TREE_NUMBER)
        return add_number(e, t, added, false, to);
    if (t->kind == DPI_TREE_NAME || t->kind == DPI_TREE_CALL)
        return add_variable(e, t, to);
    if (t->kind == DPI_TREE_SIGN)
        return t->op == '-' ? without(e, t->first, added, to) : expand(e, t->first, added, to);
    if (t->op == '^')
        return powers(e, t, to);
    if (t->op != '+' && t->op != '-')
        return crossed(e, t, to);
    const dp_status status = expand(e, t->first, added, to);
    if (status != DP_OK)
        return status;
    return t->op == '+' ? expand(e, t->first->next, added, to)
                        : without(e, t->first->next, added, to);
}

/* ---- order ---- */

/* The fewest variables first; stable. */
static void order_terms(dpi_term_list *list)
{
    for (size_t i = 1; i < list->n; i++) {
        const uint64_t set = list->set[i];
        size_t j = i;
        for (; j > 0 && dpi_set_size(list->set[j - 1]) > dpi_set_size(set); j--)
            list->set[j] = list->set[j - 1];
        list->set[j] = set;
    }
}

/* New numbers of variables in the order in which they stand in a list; *n so far. */
static void number_in(const dpi_term_list *list, size_t n_variables, size_t number[], size_t *n)
{
    for (size_t i = 0; i < list->n; i++)
        for (size_t v = 0; v < n_variables; v++)
            if ((list->set[i] >> v & 1) != 0 && number[v] == SIZE_MAX)
                number[v] = (*n)++;
}

static void renumber(dpi_term_list *list, size_t n_variables, const size_t number[])
{
    for (size_t i = 0; i < list->n; i++) {
        uint64_t set = 0;
        for (size_t v = 0; v < n_variables; v++)
            if ((list->set[i] >> v & 1) != 0)
                set |= UINT64_C(1) << number[v];
        list->set[i] = set;
    }
}

/* Orders terms and variables; those that no term has (any more) go. */
static void order(dpi_predictor *p)
{
    const dpi_predictor old = *p;
    size_t number[DPI_MOST_VARIABLES], n = 0;
    for (size_t v = 0; v < p->n_variables; v++)
        number[v] = SIZE_MAX;
    order_terms(&p->terms);
    number_in(&p->terms, p->n_variables, number, &n);
    for (size_t g = 0; g < p->n_groupings; g++) {
        order_terms(&p->grouping[g].terms);
        number_in(&p->grouping[g].terms, p->n_variables, number, &n);
    }
    renumber(&p->terms, old.n_variables, number);
    for (size_t g = 0; g < p->n_groupings; g++)
        if (g == 0 || p->grouping[g].terms.set != p->grouping[g - 1].terms.set)
            renumber(&p->grouping[g].terms, old.n_variables, number);
    for (size_t v = 0; v < old.n_variables; v++)
        if (number[v] != SIZE_MAX) {
            p->variable[number[v]] = old.variable[v];
            p->text[number[v]] = old.text[v];
        }
    p->n_variables = n;
}

/* No effect of a kind of groups stands twice: it would have two standard deviations of one name. */
static dp_status check_groupings(const dpi_script *script, const dpi_predictor *p)
{
    for (size_t g = 0; g < p->n_groupings; g++)
        for (size_t h = 0; h < g; h++) {
            const dpi_grouping *a = &p->grouping[g], *b = &p->grouping[h];
            bool same = a->n_by == b->n_by && a->several == b->several;
            for (size_t i = 0; i < a->n_by && same; i++)
                same = strcmp(a->by[i]->name, b->by[i]->name) == 0;
            bool shared = a->terms.intercept && b->terms.intercept;
            for (size_t i = 0; i < a->terms.n; i++)
                shared = shared || has(&b->terms, a->terms.set[i]);
            if (same && shared)
                return dpi_script_fail(script, DP_EINVAL, a->at,
                                       "an effect of these groups stands in another parenthesis "
                                       "too; write it once, and 0 + for no intercept");
        }
    return DP_OK;
}

dp_status dpi_terms_expand(const dpi_script *script, const dpi_tree *right, dpi_arena *arena,
                           dpi_predictor *p)
{
    expansion e = {.script = script, .arena = arena, .predictor = p, .groups = true};
    p->grouping = dpi_arena_alloc(arena, DPI_MOST_GROUPS, sizeof *p->grouping);
    p->smooth = dpi_arena_alloc(arena, DPI_MOST_GROUPS, sizeof *p->smooth);
    p->offset = dpi_arena_alloc(arena, DPI_MOST_GROUPS, sizeof *p->offset);
    if (p->grouping == NULL || p->smooth == NULL || p->offset == NULL)
        return dpi_fail_nomem(script->err);
    dp_status status = new_list(&e, &p->terms);
    p->terms.intercept = true;
    if (status == DP_OK)
        status = expand(&e, right, true, &p->terms);
    if (status != DP_OK)
        return status;
    order(p);
    return check_groupings(script, p);
}
