/* Values of records that are the same at every place, such as a basis of functions of a column, or
 * log y! of a count: all records are evaluated thousands of times, and these are computed once.
 *
 * Of nodes that depend on columns and constants alone the last ones, which something else reads,
 * become columns of a data set that has the model's beside them; what only they were made of is
 * then not wanted by anyone.  Values whose numbers are moved or repeated only (DPI_LAYOUT) stay:
 * that costs no more than reading them would, and a repeated number is seen to be one.  So do
 * values that are not finite, which no column may have, and parts of the gradient. */
#include <math.h>
#include <stdio.h>

#include "graph/op.h"
#include "infer/posterior.h"

enum { NAME = 48 };

typedef enum origin { VARIES, CONSTANT, OF_COLUMNS } origin;

typedef struct settling {
    dpi_posterior *p;
    dpi_graph *g;
    origin *origin; /* [nodes] */
    bool *live;     /* [nodes] wanted, and not through a chosen one */
    dpi_id *chosen; /* [n] */
    double **value; /* [n][records][size] */
    size_t n, left; /* bytes that are free */
} settling;

/* What a value depends on, as far as its inputs are known to. */
static origin find_origin(const settling *s, const dpi_node *node)
{
    if (dpi_is_column(node)) {
        const dpi_column *column = dpi_dataset_find(s->p->data, node->name);
        return column != NULL && !column->drawn ? OF_COLUMNS : VARIES;
    }
    bool fixed = dpi_is_const(node) || dpi_is_ones(node) || !dpi_is_source(node);
    origin of = fixed && !node->op->over_records ? CONSTANT : VARIES;
    for (int k = 0; k < node->op->n_inputs && of != VARIES; k++) {
        origin in = s->origin[node->in[k]];
        of = in == CONSTANT ? of : in;
    }
    return of;
}

static void want(settling *s, dpi_id id)
{
    if (id != DPI_NONE)
        s->live[id] = true;
}

static void want_all(settling *s)
{
    const dpi_posterior *p = s->p;
    want(s, p->objective.record);
    want(s, p->objective.prior);
    for (size_t b = 0; b < p->objective.n_blocks; b++)
        want(s, p->gradient[b]);
    for (size_t k = 0; k < p->n_parts; k++)
        want(s, p->part[k]);
}

static bool is_part(const dpi_posterior *p, dpi_id id)
{
    bool found = false;
    for (size_t k = 0; k < p->n_parts; k++)
        found = found || p->part[k] == id;
    return found;
}

/* Takes its bytes if it is to be computed and there is room. */
static bool choose(settling *s, dpi_id id)
{
    const dpi_node *node = dpi_get(s->g, id);
    size_t bytes;
    if (s->origin[id] != OF_COLUMNS || !node->shape.per_record || dpi_is_source(node) ||
        node->op->class == DPI_LAYOUT || is_part(s->p, id))
        return false;
    if (!dpi_mul(s->p->data->n, dpi_shape_size(&node->shape), &bytes) ||
        !dpi_mul(bytes, sizeof(double), &bytes) || bytes > s->left)
        return false;
    s->left -= bytes;
    return true;
}

static dp_status list(settling *s, dp_error *err)
{
    dpi_arena *arena = &s->p->arena;
    size_t nodes = s->g->n_nodes;
    s->origin = dpi_arena_alloc(arena, nodes, sizeof *s->origin);
    s->live = dpi_arena_alloc(arena, nodes, sizeof *s->live);
    s->chosen = dpi_arena_alloc(arena, nodes, sizeof *s->chosen);
    if (s->origin == NULL || s->live == NULL || s->chosen == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < nodes; i++)
        s->origin[i] = find_origin(s, dpi_get(s->g, (dpi_id)i));
    want_all(s);
    for (size_t i = nodes; i-- > 0;) {
        const dpi_node *node = dpi_get(s->g, (dpi_id)i);
        if (s->live[i] && choose(s, (dpi_id)i))
            s->chosen[s->n++] = (dpi_id)i;
        else
            for (int k = 0; s->live[i] && k < node->op->n_inputs; k++)
                s->live[node->in[k]] = true;
    }
    return DP_OK;
}

static size_t size_of(const settling *s, size_t k)
{
    return dpi_shape_size(&dpi_get(s->g, s->chosen[k])->shape);
}

static void compute(const settling *s, dpi_run *run)
{
    size_t all = s->p->data->n, chunk = s->p->chunk;
    dpi_run_globals(run);
    dpi_run_start_records(run);
    for (size_t first = 0, m; first < all; first += m) {
        m = all - first < chunk ? all - first : chunk;
        dpi_run_records(run, m, NULL, first);
        for (size_t k = 0; k < s->n; k++)
            dpi_run_read(run, s->chosen[k], 0, m * size_of(s, k),
                         s->value[k] + first * size_of(s, k));
    }
}

static dp_status compute_all(settling *s, dp_error *err)
{
    const dpi_run_spec spec = {.graph = s->g,
                               .wanted = s->chosen,
                               .n_wanted = s->n,
                               .data = s->p->data,
                               .chunk = s->p->chunk};
    dpi_run *run;
    s->value = dpi_arena_alloc(&s->p->arena, s->n, sizeof *s->value);
    for (size_t k = 0; k < s->n; k++)
        if (s->value == NULL ||
            (s->value[k] = dpi_arena_alloc(&s->p->arena, s->p->data->n * size_of(s, k),
                                           sizeof **s->value)) == NULL)
            return dpi_fail_nomem(err);
    dp_status status = dpi_run_new(&spec, &run, err);
    if (status == DP_OK)
        compute(s, run);
    dpi_run_free(run);
    return status;
}

static bool all_finite(size_t n, const double *x)
{
    bool finite = true;
    for (size_t i = 0; i < n; i++)
        finite = finite && isfinite(x[i]);
    return finite;
}

/* No user's column has a line break in its name. */
static char *make_name(dpi_arena *arena, dpi_id id)
{
    char text[NAME];
    (void)snprintf(text, sizeof text, "computed\n%ld", (long)id);
    return dpi_arena_strdup(arena, text);
}

/* The data set as it was, of whose owner it borrows, and columns behind it. */
static dp_status add_columns(settling *s, size_t *settled, dp_error *err)
{
    dpi_posterior *p = s->p;
    const dp_dataset *old = p->data;
    dp_dataset *data = dpi_arena_alloc(&p->arena, 1, sizeof *data);
    dpi_column *columns = dpi_arena_alloc(&p->arena, old->n_columns + s->n, sizeof *columns);
    if (data == NULL || columns == NULL)
        return dpi_fail_nomem(err);
    *data = (dp_dataset){.identity = old->identity,
                         .n = old->n,
                         .columns = columns,
                         .n_columns = old->n_columns,
                         .unit = old->unit};
    for (size_t k = 0; k < old->n_columns; k++)
        columns[k] = old->columns[k];
    for (size_t k = 0; k < s->n; k++) {
        char *name = make_name(&p->arena, s->chosen[k]);
        if (name == NULL)
            return dpi_fail_nomem(err);
        if (!all_finite(old->n * size_of(s, k), s->value[k]))
            continue;
        columns[data->n_columns++] =
            (dpi_column){.name = name, .size = size_of(s, k), .real = s->value[k]};
        dpi_read_instead(s->g, s->chosen[k], name);
    }
    *settled = data->n_columns - old->n_columns;
    p->data = data;
    return DP_OK;
}

dp_status dpi_posterior_settle(dpi_posterior *p, size_t most, size_t *settled, dp_error *err)
{
    settling s = {.p = p, .g = &p->objective.graph, .left = most};
    size_t n = 0;
    dp_status status = list(&s, err);
    if (status == DP_OK && s.n > 0)
        status = compute_all(&s, err);
    if (status == DP_OK && s.n > 0)
        status = add_columns(&s, &n, err);
    if (settled != NULL)
        *settled = n;
    return status;
}
