/* A plain regression whose columns lie at several owners.
 *
 * Columns of the design are those that a fit of all of them would have (design.h): what they are
 * moved by and divided by follows from the schema alone, so that all owners have the same ones
 * without having met.  A column is of the owner who has all that it is computed from; the intercept
 * is of the owner of outcomes. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "formula/formula.h"

typedef struct own_part {
    dp_formula_part told; /* first: it is what the caller has */
    const dp_formula *f;
    dpi_arena arena;
    const dpi_design_column **column; /* [told.n], NULL for the intercept */
    bool *uses;                       /* [n_variables] of the mean's predictor */
} own_part;

/* ---- what is plain ---- */

static dp_status check_plain(const dp_formula *f, dp_error *err)
{
    const dpi_predictor *p = f->predictor[0];
    const bool binary = f->response.family->outcome == DPI_OUTCOME_BINARY;
    bool more = f->trials != NULL || f->censored != NULL || f->weight != NULL;
    for (size_t i = 1; i < DPI_MOST_PREDICTORS; i++)
        more = more || f->predictor[i] != NULL;
    if (!(binary && f->response.link == DPI_LOGIT) &&
        !(strcmp(f->response.family->name, "gaussian") == 0 && f->response.link == DPI_IDENTITY))
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "over columns of several owners the families are gaussian and bernoulli, "
                        "and this is %s; take one of them",
                        f->family);
    if (more || p == NULL || p->n_groupings > 0 || p->n_smooths > 0 || p->n_offsets > 0)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "over columns of several owners a formula has an outcome and plain terms; "
                        "leave out groups, s(), gp(), offset(), what stands behind | on the left, "
                        "and further formulas");
    return p->terms.intercept
               ? DP_OK
               : dpi_fail(err, DP_EUNSUPPORTED,
                          "over columns of several owners there is an intercept; leave 0 and - 1 "
                          "out");
}

/* ---- whose a column is ---- */

static bool is_held(const char *name, size_t n, const char *const *held)
{
    for (size_t k = 0; k < n; k++)
        if (strcmp(name, held[k]) == 0)
            return true;
    return false;
}

static dp_status check_held(const dp_formula *f, size_t n, const char *const *held, dp_error *err)
{
    for (size_t k = 0; k < n; k++)
        if (dpi_code_book_find(&f->book, held[k]) == NULL)
            return dpi_fail(err, DP_ENAME, "the schema has no column '%.100s', which an owner has",
                            held[k]);
    return DP_OK;
}

/* Of the columns that a tree reads, those that are held, and the others. */
typedef struct reading_of {
    size_t held, others;
} reading_of;

static void count_read(const dp_formula *f, const dpi_tree *tree, size_t n, const char *const *held,
                       reading_of *found)
{
    for (size_t i = 0; i < f->book.n; i++)
        if (dpi_tree_find_name(tree, f->book.column[i].name) != NULL) {
            if (is_held(f->book.column[i].name, n, held))
                found->held++;
            else
                found->others++;
        }
}

static dp_status refuse_mixed(const char *what, dp_error *err)
{
    return dpi_fail(err, DP_EINVAL,
                    "%.100s is computed of columns of this owner and of others, and nobody has all "
                    "of them; let one owner hold them, or leave it out",
                    what);
}

/* At most 2: what is known of rows is how long they can be, and in longer ones the intercept would
 * count for less. */
static void describe(const dpi_design_column *c, dp_formula_term *t)
{
    const double most = fmax(fabs(c->range.low - c->centre), fabs(c->range.high - c->centre));
    *t = (dp_formula_term){.name = c->name, .centre = c->centre, .scale = fmax(c->scale, most / 2)};
    t->most = most / t->scale;
}

/* Adds the columns of the design that this owner can compute. */
static dp_status find_terms(own_part *p, dp_formula_term *term, size_t n, const char *const *held,
                            dp_error *err)
{
    const dp_formula *f = p->f;
    const dpi_design *d = &f->layout[0].design;
    const dpi_variable *first = f->layout[0].variable;
    for (size_t j = 0; j < d->n; j++) {
        reading_of r = {0, 0};
        for (size_t k = 0; k < d->column[j].n_parts; k++)
            count_read(f, f->predictor[0]->variable[d->column[j].part[k].variable - first], n, held,
                       &r);
        if (r.held > 0 && r.others > 0)
            return refuse_mixed(d->column[j].name, err);
        if (r.held == 0)
            continue;
        for (size_t k = 0; k < d->column[j].n_parts; k++)
            p->uses[d->column[j].part[k].variable - first] = true;
        describe(&d->column[j], &term[p->told.n]);
        p->column[p->told.n++] = &d->column[j];
    }
    return DP_OK;
}

/* Outcomes, which have an intercept beside them. */
static dp_status find_outcome(own_part *p, dp_formula_term *term, size_t n, const char *const *held,
                              dp_error *err)
{
    reading_of r = {0, 0};
    const dpi_outcome_layout *o = &p->f->laid_outcome;
    dp_formula_part *t = &p->told;
    t->logistic = p->f->response.family->outcome == DPI_OUTCOME_BINARY;
    t->centre = t->logistic ? 0 : o->centre;
    t->scale = t->logistic ? 1 : o->unit;
    t->most = t->logistic
                  ? 1
                  : fmax(fabs(o->range.low - o->centre), fabs(o->range.high - o->centre)) / o->unit;
    count_read(p->f, p->f->outcome, n, held, &r);
    if (r.held > 0 && r.others > 0)
        return refuse_mixed("the outcome", err);
    t->has_outcome = r.held > 0;
    if (t->has_outcome) {
        term[0] = (dp_formula_term){.name = "(Intercept)", .scale = 1, .most = 1};
        p->column[t->n++] = NULL;
    }
    return DP_OK;
}

/* The columns of the table that are read. */
static dp_status find_columns(own_part *p, dp_error *err)
{
    const dp_formula *f = p->f;
    dp_column *columns = dpi_arena_alloc(&p->arena, f->book.n, sizeof *columns);
    if (columns == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < f->book.n; i++) {
        const char *name = f->book.column[i].name;
        bool read = p->told.has_outcome && dpi_tree_find_name(f->outcome, name) != NULL;
        for (size_t v = 0; v < f->predictor[0]->n_variables; v++)
            read = read ||
                   (p->uses[v] && dpi_tree_find_name(f->predictor[0]->variable[v], name) != NULL);
        if (read)
            columns[p->told.n_columns++] = f->book.column[i];
    }
    p->told.columns = columns;
    return DP_OK;
}

static dp_status make_part(own_part *p, size_t n, const char *const *held, dp_error *err)
{
    const size_t all = p->f->layout[0].design.n + 1;
    dp_formula_term *term = dpi_arena_alloc(&p->arena, all, sizeof *term);
    p->column = dpi_arena_alloc(&p->arena, all, sizeof *p->column);
    p->uses = dpi_arena_alloc(&p->arena, p->f->predictor[0]->n_variables + 1, sizeof *p->uses);
    if (term == NULL || p->column == NULL || p->uses == NULL)
        return dpi_fail_nomem(err);
    p->told.term = term;
    p->told.n_all = all;
    dp_status status = find_outcome(p, term, n, held, err);
    if (status == DP_OK)
        status = find_terms(p, term, n, held, err);
    if (status == DP_OK && p->told.n == 0)
        status = dpi_fail(err, DP_EINVAL,
                          "an owner has nothing that the formula reads; give it a column, or fit "
                          "the other's alone");
    return status == DP_OK ? find_columns(p, err) : status;
}

dp_status dp_formula_part_new(const dp_formula *f, size_t n_held, const char *const *held,
                              const dp_formula_part **part, dp_error *err)
{
    if (f == NULL || part == NULL || (held == NULL && n_held > 0))
        dpi_misuse(__func__, "f, held or part is NULL");
    *part = NULL;
    dp_status status = dpi_formula_need_schema(f, err);
    if (status == DP_OK)
        status = check_plain(f, err);
    if (status == DP_OK)
        status = check_held(f, n_held, held, err);
    if (status != DP_OK)
        return status;
    own_part *p = dpi_alloc(1, sizeof *p);
    if (p == NULL)
        return dpi_fail_nomem(err);
    p->f = f;
    status = make_part(p, n_held, held, err);
    if (status == DP_OK)
        *part = &p->told;
    else
        dp_formula_part_free(&p->told);
    return status;
}

void dp_formula_part_free(const dp_formula_part *part)
{
    own_part *p = (own_part *)(uintptr_t)part; /* of which it is the first member */
    if (p == NULL)
        return;
    dpi_arena_free(&p->arena);
    dpi_free(p);
}

/* ---- its rows ---- */

/* What a variable is of all records: a number or a level. */
static dp_status fill_base(const own_part *p, dp_table *table, size_t v, double *base,
                           dp_error *err)
{
    const size_t n = dp_table_rows(table);
    const dpi_variable *variable = &p->f->layout[0].variable[v];
    if (variable->kind != DPI_VARIABLE_FACTOR)
        return dpi_arithmetic_values(variable->tree, &p->f->book, table,
                                     (dpi_range_of_records){0, n}, base, err);
    const int32_t *level = dpi_column_read(variable->factor, table, err);
    for (size_t i = 0; i < n && level != NULL; i++)
        base[i] = (double)level[i];
    return level != NULL ? DP_OK : err->status;
}

static void fill_column(const own_part *p, size_t j, size_t n, const double *base, double *x)
{
    const dpi_design_column *c = p->column[j];
    const dpi_variable *first = p->f->layout[0].variable;
    for (size_t i = 0; i < n; i++) {
        double product = 1;
        for (size_t k = 0; c != NULL && k < c->n_parts; k++)
            product *= dpi_variable_value(c->part[k].variable, c->part[k].full, c->part[k].j,
                                          base[(size_t)(c->part[k].variable - first) * n + i]);
        x[i * p->told.n + j] = c != NULL ? (product - c->centre) / p->told.term[j].scale : 1;
    }
}

static dp_status fill_outcome(const own_part *p, dp_table *table, double *y, dp_error *err)
{
    const size_t n = dp_table_rows(table);
    if (!p->told.logistic) {
        dp_status status = dpi_arithmetic_values(p->f->outcome, &p->f->book, table,
                                                 (dpi_range_of_records){0, n}, y, err);
        for (size_t i = 0; i < n && status == DP_OK; i++)
            y[i] = (y[i] - p->told.centre) / p->told.scale;
        return status;
    }
    const int32_t *level = dpi_column_read(p->f->laid_outcome.column, table, err);
    for (size_t i = 0; i < n && level != NULL; i++)
        y[i] = (double)level[i];
    return level != NULL ? DP_OK : err->status;
}

dp_status dp_formula_part_rows(const dp_formula_part *part, dp_table *table, double *x, double *y,
                               dp_error *err)
{
    if (part == NULL || table == NULL || x == NULL || (y != NULL) != part->has_outcome)
        dpi_misuse(__func__, "part, table, x or y is NULL, or y where there are no outcomes");
    const own_part *p = (const own_part *)(const void *)part;
    const size_t n = dp_table_rows(table), variables = p->f->predictor[0]->n_variables;
    dp_error own = {0};
    size_t room;
    double *base = dpi_mul(n, variables + 1, &room) ? dpi_alloc(room, sizeof *base) : NULL;
    dp_status status = base != NULL ? DP_OK : dpi_fail_nomem(&own);
    for (size_t v = 0; v < variables && status == DP_OK; v++)
        if (p->uses[v])
            status = fill_base(p, table, v, base + v * n, &own);
    for (size_t j = 0; j < part->n && status == DP_OK; j++)
        fill_column(p, j, n, base, x);
    if (status == DP_OK && y != NULL)
        status = fill_outcome(p, table, y, &own);
    dpi_free(base);
    return status == DP_OK ? DP_OK : dpi_fail(err, status, "%s", own.text);
}
