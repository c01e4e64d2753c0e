/* The three sources.  The tables that are paid for are those of every predictor alone and of every
 * two, where they are few enough; what is drawn from them is post-processing (tree.h). */
#include "tools/predictors.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { MOST_IN_PAIRS = 12 }; /* columns: 78 tables */

/* ---- paying ---- */

/* The tables: columns that can be counted, alone and in pairs.  Axes 2 j and 2 j + 1 are the fine
 * and the coarse one of column j. */
typedef struct order {
    dp_count_axis *axis;
    dp_count_table *table;
    size_t n_axes, n_tables, cells;
} order;

static bool is_counted(const grid_axis *a)
{
    return a->fine.low < a->fine.high;
}

static bool make_order(predictors *p, order *o)
{
    o->axis = calloc(2 * p->n + 1, sizeof *o->axis);
    o->table = calloc(p->n * (p->n + 1) + 1, sizeof *o->table);
    if (o->axis == NULL || o->table == NULL)
        return false;
    for (size_t j = 0; j < p->n; j++) {
        if (!is_counted(&p->axes[j]))
            continue;
        o->axis[o->n_axes++] = p->axes[j].fine;
        o->axis[o->n_axes++] = p->axes[j].coarse;
        o->table[o->n_tables++] = (dp_count_table){o->n_axes - 2, DP_ONE_WAY};
        o->cells += p->axes[j].fine.cells;
    }
    for (size_t j = 0; j < o->n_axes / 2 && p->pairs; j++)
        for (size_t k = j + 1; k < o->n_axes / 2; k++) {
            o->table[o->n_tables++] = (dp_count_table){2 * j + 1, 2 * k + 1};
            o->cells += o->axis[2 * j + 1].cells * o->axis[2 * k + 1].cells;
        }
    return true;
}

/* The table's columns that are counted, and whose records are. */
static dp_status make_data(const predictors *p, const modelling *m, dp_table *table,
                           dp_dataset **data)
{
    size_t n;
    const dp_column *all = dp_formula_columns(m->formula, DP_FORMULA_FIT, &n);
    *data = dp_dataset_new(dp_table_rows(table));
    if (*data == NULL)
        return DP_ENOMEM;
    for (size_t j = 0; j < p->n; j++)
        if (p->axes[j].whole)
            dp_dataset_index(*data, p->columns[j].name, dp_table_level(table, p->columns[j].name));
        else
            dp_dataset_real(*data, p->columns[j].name, 1, dp_table_real(table, p->columns[j].name));
    for (size_t j = 0; j < n; j++)
        if (all[j].kind == DP_COLUMN_UNIT) {
            dp_dataset_index(*data, all[j].name, dp_table_level(table, all[j].name));
            dp_dataset_unit(*data, all[j].name);
        }
    return DP_OK;
}

static dp_status buy(predictors *p, modelling *m, const payer *who, const order *o)
{
    dp_table *table = NULL;
    dp_dataset *data = NULL;
    const dp_count_opts opts = {.axes = o->axis,
                                .n_axes = o->n_axes,
                                .tables = o->table,
                                .n_tables = o->n_tables,
                                .epsilon = m->said.epsilon,
                                .delta = m->said.delta,
                                .ledger = who->ledger,
                                .ledger_data = who->name,
                                .ledger_label = who->ledger != NULL ? "tacit synth" : NULL};
    p->n_counts = o->cells;
    p->counts = calloc(o->cells + 1, sizeof *p->counts);
    dp_status status = p->counts != NULL ? DP_OK : DP_ENOMEM;
    if (status == DP_OK) /* the records that the fit had: outcomes that are missing count */
        status = modelling_read(m, who->path, DP_FORMULA_FIT, &table);
    if (status == DP_OK)
        status = make_data(p, m, table, &data);
    if (status == DP_OK)
        status =
            dp_private_counts(data, &opts, o->cells, p->counts, &p->noise, &p->privacy, &m->err);
    dp_dataset_free(data);
    dp_table_free(table);
    return status == DP_OK ? tree_make(&p->tree, p->n, p->axes, p->pairs, p->counts, p->noise)
                           : status;
}

static dp_status open_paid(predictors *p, modelling *m, const payer *who)
{
    order o = {.cells = 0};
    p->axes = calloc(p->n + 1, sizeof *p->axes);
    p->pairs = !m->said.no_pairs && p->n <= MOST_IN_PAIRS;
    for (size_t j = 0; j < p->n && p->axes != NULL; j++)
        p->axes[j] = grid_axis_of(&p->columns[j]);
    dp_status status = p->axes != NULL && make_order(p, &o) ? DP_OK : DP_ENOMEM;
    if (status == DP_OK && o.n_tables == 0) {
        (void)snprintf(m->err.text, sizeof m->err.text,
                       "the formula predicts from no column that could be counted; leave out "
                       "--data, --ledger, --epsilon and --delta");
        status = DP_EINVAL;
    }
    if (status == DP_OK)
        status = buy(p, m, who, &o);
    free(o.axis);
    free(o.table);
    return status;
}

/* ---- all sources ---- */

dp_status predictors_open(predictors *p, modelling *m, const payer *who)
{
    dp_table *table = NULL;
    p->columns = dp_formula_columns(m->formula, DP_FORMULA_PREDICT, &p->n);
    if (p->source == PREDICTORS_PAID)
        return open_paid(p, m, who);
    if (p->source != PREDICTORS_PUBLIC || p->n == 0)
        return DP_OK;
    dp_status status = modelling_read(m, m->said.public_data, DP_FORMULA_PREDICT, &table);
    if (status == DP_OK)
        status = sheet_of_table(&p->records, p->columns, p->n, table);
    dp_table_free(table);
    return status;
}

void predictors_close(predictors *p)
{
    sheet_free(&p->records);
    tree_free(&p->tree);
    free(p->axes);
    free(p->counts);
}

static double uniform(dp_rng *rng)
{
    double u;
    dp_rng_uniform(rng, 1, &u);
    return u;
}

static double invent(const dp_column *c, dp_rng *rng)
{
    const double u = uniform(rng);
    return c->kind == DP_COLUMN_REAL ? fmax(c->low, fmin(c->high, c->low * (1 - u) + c->high * u))
                                     : floor(u * (double)column_levels(c));
}

static void draw_record(const predictors *p, dp_rng *rng, double *value)
{
    if (p->source == PREDICTORS_PAID) {
        tree_draw(&p->tree, rng, value);
        return;
    }
    const size_t row = (size_t)(uniform(rng) * (double)p->records.rows);
    for (size_t j = 0; j < p->n; j++)
        value[j] =
            p->source == PREDICTORS_PUBLIC ? p->records.value[j][row] : invent(&p->columns[j], rng);
}

/* Columns of the formula are those of the schema in its order, so that places are looked up. */
void predictors_draw(const predictors *p, dp_rng *rng, sheet *s)
{
    double value[4096]; /* columns of a schema, at most */
    for (size_t i = 0; i < s->rows; i++) {
        draw_record(p, rng, value);
        for (size_t j = 0; j < p->n; j++)
            s->value[sheet_find(s, p->columns[j].name)][i] = value[j];
    }
}

double predictors_noise(const predictors *p, size_t j)
{
    const double pi = 3.14159265358979323846;
    if (p->source != PREDICTORS_PAID || !is_counted(&p->axes[j]))
        return 0;
    return fmin(1, (double)p->axes[j].fine.cells * p->noise / p->tree.records / sqrt(2 * pi));
}
