/* A table's records as the columns that a formula's model reads.
 *
 * Each number is a function of its own record and of the schema.  The data set owns its columns:
 * the table may be freed.  They are made of some records after the other, and lie where the table's
 * columns do, in memory or in scratch (base/store.h): what there is in memory beside them does not
 * grow with the records. */
#include <math.h>

#include "base/error.h"
#include "data/dataset.h"
#include "data/table.h"
#include "formula/atom.h"
#include "formula/walk.h"
#include "num/spline.h"

typedef struct filling {
    const dp_formula *f;
    dp_table *table;
    size_t n;
    dp_dataset *data;
    dp_error *err;
    dpi_arena names;
} filling;

/* Records that are made at a time. */
enum { SOME = 4096 };

/* n * d items that live as long as the data set. */
static void *new_items(filling *k, size_t d, size_t size)
{
    size_t count;
    void *block = dpi_mul(k->n, d, &count) ? dpi_store_alloc(&k->data->store, count, size) : NULL;
    if (block == NULL)
        (void)dpi_fail_nomem(k->err);
    return block;
}

static double *new_block(filling *k, size_t d)
{
    return new_items(k, d, sizeof(double));
}

static int32_t *new_index(filling *k, size_t d)
{
    return new_items(k, d, sizeof(int32_t));
}

/* Those from `first` on. */
static dpi_range_of_records some_from(const filling *k, size_t first)
{
    return (dpi_range_of_records){first, k->n - first < SOME ? k->n - first : SOME};
}

/* A name in the data set's arena. */
static const char *kept(filling *k, const char *name)
{
    const char *copy = name != NULL ? dpi_arena_strdup(&k->data->arena, name) : NULL;
    if (copy == NULL)
        (void)dpi_fail_nomem(k->err);
    return copy;
}

static bool good(const filling *k)
{
    return k->err->status == DP_OK;
}

static void add_real(filling *k, const char *name, size_t d, const double *values)
{
    if (good(k) && dpi_dataset_find(k->data, name) == NULL)
        dp_dataset_real(k->data, name, d, values);
}

/* Levels of a column; NULL on error. */
static const int32_t *levels_of(filling *k, const dp_column *c)
{
    return dpi_column_read(c, k->table, k->err);
}

/* Arithmetic of some records. */
static void some_values(filling *k, const dpi_tree *tree, dpi_range_of_records range, double *out)
{
    (void)dpi_arithmetic_values(tree, &k->f->book, k->table, range, out, k->err);
    for (size_t i = 0; i < range.n && good(k); i++)
        if (!isfinite(out[i]))
            (void)dpi_fail(k->err, DP_EDATA,
                           "what the formula computes of record %zu is not finite; read the table "
                           "with the formula's schema",
                           range.first + i);
}

/* Arithmetic of each record, which lives as long as the data set. */
static double *values_of(filling *k, const dpi_tree *tree)
{
    double *out = new_block(k, 1);
    for (size_t first = 0; first < k->n && good(k); first += SOME)
        some_values(k, tree, some_from(k, first), out + first);
    return good(k) ? out : NULL;
}

/* ---- designs ---- */

/* What a variable is of some records: a number or a level. */
static void fill_base(filling *k, const dpi_variable *v, dpi_range_of_records range, double *base)
{
    if (v->kind != DPI_VARIABLE_FACTOR) {
        (void)dpi_arithmetic_values(v->tree, &k->f->book, k->table, range, base, k->err);
        return;
    }
    const int32_t *level = levels_of(k, v->factor);
    for (size_t i = 0; i < range.n && level != NULL; i++)
        base[i] = (double)level[range.first + i];
}

static void fill_column(const dpi_design_column *c, const dpi_variable *first, double *const base[],
                        size_t n, size_t stride, double *out)
{
    for (size_t i = 0; i < n; i++) {
        double product = 1;
        for (size_t j = 0; j < c->n_parts; j++)
            product *= dpi_variable_value(c->part[j].variable, c->part[j].full, c->part[j].j,
                                          base[c->part[j].variable - first][i]);
        out[i * stride] = (product - c->centre) / c->scale;
    }
}

static void fill_design(const dpi_design *d, const dpi_variable *first, double *const base[],
                        dpi_range_of_records range, double *x)
{
    for (size_t j = 0; j < d->n && x != NULL; j++)
        fill_column(&d->column[j], first, base, range.n, d->n, x + range.first * d->n + j);
}

/* x[0] of the predictor's own design, x[1 + g] of grouping g's; NULL where there is none. */
static void fill_designs(filling *k, const dpi_predictor *p, const dpi_layout *l, double **x)
{
    double *base[DPI_MOST_VARIABLES] = {NULL};
    double *room = dpi_alloc(p->n_variables + 1, SOME * sizeof *room);
    if (room == NULL)
        (void)dpi_fail_nomem(k->err);
    for (size_t v = 0; v < p->n_variables && room != NULL; v++)
        base[v] = room + v * SOME;
    for (size_t first = 0; first < k->n && good(k); first += SOME) {
        const dpi_range_of_records range = some_from(k, first);
        for (size_t v = 0; v < p->n_variables && good(k); v++)
            fill_base(k, &l->variable[v], range, base[v]);
        if (!good(k))
            break;
        fill_design(&l->design, l->variable, base, range, x[0]);
        for (size_t g = 0; g < p->n_groupings; g++)
            fill_design(&l->effects[g], l->variable, base, range, x[1 + g]);
    }
    dpi_free(room);
}

static void add_designs(filling *k, const dpi_predictor *p, const dpi_layout *l)
{
    double **x = dpi_arena_alloc(&k->names, p->n_groupings + 1, sizeof *x);
    if (x == NULL)
        (void)dpi_fail_nomem(k->err);
    for (size_t g = 0; g <= p->n_groupings && good(k); g++) {
        const dpi_design *d = g == 0 ? &l->design : &l->effects[g - 1];
        x[g] = d->n > 0 ? new_block(k, d->n) : NULL;
    }
    if (good(k))
        fill_designs(k, p, l, x);
    for (size_t g = 0; g <= p->n_groupings && good(k); g++)
        if (x[g] != NULL)
            add_real(k, kept(k, dpi_design_name(p, g == 0 ? SIZE_MAX : g - 1, &k->names)),
                     g == 0 ? l->design.n : l->effects[g - 1].n, x[g]);
}

/* ---- groups ---- */

/* The group of each record, or with mm() its groups, [n][n_by]. */
static void fill_groups(filling *k, const dpi_grouping *g, int32_t *out)
{
    const size_t d = g->several ? g->n_by : 1;
    for (size_t b = 0; b < g->n_by && good(k); b++) {
        const dp_column *c = dpi_code_book_find(&k->f->book, g->by[b]->name);
        const int32_t *level = levels_of(k, c), levels = (int32_t)dpi_column_levels(c);
        for (size_t i = 0; i < k->n && level != NULL; i++)
            if (g->several)
                out[i * d + b] = level[i];
            else
                out[i] = out[i] * levels + level[i];
    }
}

static void add_groups(filling *k, const dpi_predictor *p)
{
    for (size_t g = 0; g < p->n_groupings && good(k); g++) {
        const dpi_grouping *grouping = &p->grouping[g];
        const size_t d = grouping->several ? grouping->n_by : 1;
        const char *name = kept(k, dpi_by_name(grouping, &k->names));
        if (!good(k) || dpi_dataset_find(k->data, name) != NULL)
            continue;
        int32_t *index = new_index(k, d);
        if (index == NULL)
            return;
        fill_groups(k, grouping, index);
        if (good(k))
            dp_dataset_indices(k->data, name, d, index);
    }
}

/* ---- the rest ---- */

/* sin(w_j (u + L)) / sqrt(L) of u in [-1, 1], see smooth.c. */
static void fill_process(size_t n, const double *u, size_t d, double *basis)
{
    static const double half_pi = 1.57079632679489661923;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            basis[i * d + j] =
                sin(half_pi * (double)(j + 1) * (u[i] + DPI_WIDE) / DPI_WIDE) / sqrt(DPI_WIDE);
}

/* sqrt(3) u, of mean square 1, and the wiggles of num/spline.h, of t = (u + 1) / 2. */
static dp_status fill_spline(size_t n, const double *u, size_t d, double *basis, dp_error *err)
{
    enum { CUBIC = 3 };
    const size_t functions = d + 1, wiggles = d - 1, n_knots = functions + CUBIC + 1;
    double *knots = dpi_alloc(n_knots * (1 + wiggles), sizeof *knots), *powers = knots + n_knots;
    if (knots == NULL)
        return dpi_fail_nomem(err);
    const dp_status status = dpi_spline_wiggles(functions, powers, err);
    dpi_spline_knots(functions, knots);
    for (size_t i = 0; i < n && status == DP_OK; i++) {
        double *row = &basis[i * d];
        row[0] = sqrt(3) * u[i];
        for (size_t j = 0; j < wiggles; j++)
            row[1 + j] = 0;
        for (size_t q = 0; q < n_knots; q++) {
            const double right = fmax(0, (u[i] + 1) / 2 - knots[q]), power = right * right * right;
            for (size_t j = 0; j < wiggles; j++)
                row[1 + j] += power * powers[q * wiggles + j];
        }
    }
    dpi_free(knots);
    return status;
}

static void add_smooths(filling *k, const dpi_predictor *p, const dpi_layout *l)
{
    for (size_t s = 0; s < p->n_smooths && good(k); s++) {
        const dpi_tree *call = p->smooth[s];
        const dpi_span r = l->smooth[s];
        const size_t d = dpi_smooth_columns(call);
        const char *name = kept(k, dpi_tree_string(call, &k->names));
        double *u = good(k) ? values_of(k, call->first) : NULL;
        double *basis = u != NULL ? new_block(k, d) : NULL;
        if (basis == NULL)
            return;
        for (size_t i = 0; i < k->n; i++) /* within [-1, 1] but for rounding */
            u[i] = fmax(-1, fmin(1, (2 * u[i] - r.low - r.high) / (r.high - r.low)));
        if (dpi_tree_is_call(call, "s"))
            (void)fill_spline(k->n, u, d, basis, k->err);
        else
            fill_process(k->n, u, d, basis);
        dpi_store_free_block(&k->data->store, u);
        add_real(k, name, d, basis);
    }
}

static void add_offsets(filling *k, const dpi_predictor *p)
{
    double *sum = p->n_offsets > 0 ? new_block(k, 1) : NULL;
    for (size_t o = 0; o < p->n_offsets && good(k); o++) {
        double *one = values_of(k, p->offset[o]);
        for (size_t i = 0; i < k->n && one != NULL; i++)
            sum[i] += one[i];
        dpi_store_free_block(&k->data->store, one);
    }
    if (p->n_offsets > 0 && good(k))
        add_real(k, kept(k, dpi_offset_name(p, &k->names)), 1, sum);
}

static void add_outcome(filling *k)
{
    const dp_formula *f = k->f;
    const dpi_outcome_kind kind = f->response.family->outcome;
    const dp_column *c = f->laid_outcome.column;
    const char *name = kept(k, dpi_tree_string(f->outcome, &k->names));
    if (!good(k))
        return;
    if (kind != DPI_OUTCOME_BINARY && kind != DPI_OUTCOME_CATEGORY && kind != DPI_OUTCOME_ORDERED) {
        add_real(k, name, 1, values_of(k, f->outcome));
        return;
    }
    const int32_t *level = levels_of(k, c);
    const bool binary = kind == DPI_OUTCOME_BINARY;
    double *real = binary ? new_block(k, 1) : NULL;
    int32_t *index = binary ? NULL : new_index(k, 1);
    for (size_t i = 0; i < k->n && good(k); i++)
        if (binary)
            real[i] = (double)level[i];
        else
            index[i] = level[i];
    if (binary)
        add_real(k, name, 1, real);
    else if (good(k))
        dp_dataset_index(k->data, name, index);
}

/* Whom a record belongs to, where the schema has a column that tells. */
static void add_unit(filling *k)
{
    for (size_t i = 0; i < k->f->book.n && good(k); i++) {
        const dp_column *c = &k->f->book.column[i];
        if (c->kind != DP_COLUMN_UNIT)
            continue;
        const int32_t *unit = levels_of(k, c);
        int32_t *copy = new_index(k, 1);
        const char *name = kept(k, c->name);
        if (unit == NULL || copy == NULL || name == NULL) {
            (void)dpi_fail_nomem(k->err);
            return;
        }
        for (size_t r = 0; r < k->n; r++)
            copy[r] = unit[r];
        dp_dataset_index(k->data, name, copy);
        dp_dataset_unit(k->data, name);
    }
}

/* Columns lie where the table's do, and both together have no more memory than the table may
 * have. */
static void lie_as(filling *k, const dp_table *table)
{
    const dpi_store *from = &table->store;
    k->data->store.in_memory = from->held < from->in_memory ? from->in_memory - from->held : 0;
    if (from->folder != NULL)
        k->data->store.folder = kept(k, from->folder);
}

static void fill(filling *k, dp_formula_use use)
{
    const dp_formula *f = k->f;
    const bool seen = use == DP_FORMULA_FIT; /* outcomes are there */
    if (seen && good(k))
        add_outcome(k);
    if (f->trials != NULL && f->trials->kind == DPI_TREE_NAME && good(k))
        add_real(k, kept(k, f->trials->name), 1, values_of(k, f->trials));
    const dpi_tree *const more[] = {f->censored, f->weight};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        if (seen && more[i] != NULL && good(k))
            add_real(k, kept(k, more[i]->name), 1, values_of(k, more[i]));
    for (size_t i = 0; i < DPI_MOST_PREDICTORS; i++) {
        if (f->predictor[i] == NULL)
            continue;
        add_designs(k, f->predictor[i], &f->layout[i]);
        add_groups(k, f->predictor[i]);
        add_smooths(k, f->predictor[i], &f->layout[i]);
        add_offsets(k, f->predictor[i]);
    }
    if (seen)
        add_unit(k);
    const char *said = dp_dataset_error(k->data);
    if (good(k) && said != NULL)
        (void)dpi_fail(k->err, k->data->err.status, "%s", said);
}

static dp_status make(const dp_formula *f, dp_formula_use use, dp_table *table, dp_dataset **data,
                      dp_error *err)
{
    if (f == NULL || table == NULL || data == NULL)
        dpi_misuse(use == DP_FORMULA_FIT ? "dp_formula_dataset" : "dp_formula_new_records",
                   "f, table or data is NULL");
    *data = NULL;
    const dp_status ready = dpi_formula_need_schema(f, err);
    if (ready != DP_OK)
        return ready;
    dp_error own = {0};
    filling k = {.f = f, .table = table, .n = dp_table_rows(table), .err = &own};
    k.data = dp_dataset_new(k.n);
    if (k.data == NULL)
        return dpi_fail_nomem(err);
    lie_as(&k, table);
    fill(&k, use);
    dpi_arena_free(&k.names);
    if (own.status != DP_OK) {
        dp_dataset_free(k.data);
        return dpi_fail(err, own.status, "%s", own.text);
    }
    *data = k.data;
    return DP_OK;
}

dp_status dp_formula_dataset(const dp_formula *f, dp_table *table, dp_dataset **data, dp_error *err)
{
    return make(f, DP_FORMULA_FIT, table, data, err);
}

dp_status dp_formula_new_records(const dp_formula *f, dp_table *table, dp_dataset **data,
                                 dp_error *err)
{
    return make(f, DP_FORMULA_PREDICT, table, data, err);
}
