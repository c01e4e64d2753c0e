/* Coefficients of a piece of the graph, found by running it.
 *
 * The piece is what lies between a node and the columns and cuts below it, its **leaves**.  It is
 * copied into a graph of its own, in which leaves are columns, group numbers are vectors of
 * indicators (which may be 0), and what is the same for all records is constant.  There it is a
 * polynomial of known terms, of degree at most one in each leaf, so that
 *
 *   coefficient of a term's number = value where the numbers of the term are 1 and all others 0
 *                                    - coefficients of the terms within it, and the constant. */
#include <math.h>
#include <string.h>

#include "exec/run.h"
#include "program/lower.h"

/* Most numbers of a matrix of coefficients. */
#define MOST_COEFFICIENTS ((size_t)1 << 26)

typedef struct leaf {
    dpi_id node;
    size_t size;
    double *values; /* [DPI_PIECE_RECORDS][size] */
} leaf;

struct dpi_lower_piece {
    dpi_arena arena;
    dpi_lowering *l;
    dpi_graph g;
    dpi_id *copy; /* [nodes of l->g] */
    leaf *leaves;
    size_t n_leaves, size;
    dpi_id root;
    dp_dataset *data;
    dpi_run *run;
};

/* ---- copying ---- */

/* Marks what is copied: down to the leaves, and of what no column reaches to global nodes. */
static void mark_piece(const dpi_lowering *l, dpi_id id, bool *needed)
{
    needed[id] = true;
    for (dpi_id i = id; i >= 0; i--) {
        const dpi_node *node = dpi_get(l->g, i);
        if (!needed[i] || !node->shape.per_record || (i != id && dpi_lower_is_cut(l, i)))
            continue;
        for (int k = 0; k < node->op->n_inputs; k++)
            needed[node->in[k]] = true;
    }
}

static dpi_id add_leaf(dpi_lower_piece *p, dpi_id node, size_t size, const dpi_shape *shape)
{
    char name[32];
    leaf *of = &p->leaves[p->n_leaves++];
    dpi_attr attr = {.shape = *shape};
    attr.shape.per_record = true;
    (void)snprintf(name, sizeof name, "leaf %d", (int)node);
    const char *kept = dpi_arena_strdup(&p->arena, name);
    *of = (leaf){.node = node, .size = size};
    of->values = dpi_arena_alloc(&p->arena, DPI_PIECE_RECORDS * size, sizeof *of->values);
    if (kept == NULL || of->values == NULL) {
        (void)dpi_fail_nomem(p->l->err);
        return DPI_NONE;
    }
    dp_dataset_real(p->data, kept, size, of->values);
    return dpi_source(&p->g, &dpi_op_data, kept, attr);
}

static dpi_id copy_constant(dpi_lower_piece *p, const dpi_node *node, dpi_id id, size_t draw)
{
    size_t size = dpi_shape_size(&node->shape);
    const double *values = p->l->global[id] + draw * size;
    return node->shape.n_dims == 0 ? dpi_constant(&p->g, values[0])
                                   : dpi_constant_array(&p->g, node->shape, values);
}

/* A row of a value by a group number: the product of the indicators and the value. */
static dpi_id copy_pick(dpi_lower_piece *p, const dpi_node *node)
{
    size_t groups = dpi_get(p->l->g, node->in[0])->shape.dim[0];
    dpi_shape shape = {.n_dims = 1, .dim = {groups}};
    dpi_id indicators = p->copy[node->in[1]];
    if (indicators == DPI_NONE)
        indicators = p->copy[node->in[1]] = add_leaf(p, node->in[1], groups, &shape);
    const dpi_node *value = dpi_get(&p->g, p->copy[node->in[0]]);
    if (value->shape.n_dims <= 2)
        return dpi_apply(&p->g, &dpi_op_matmul, indicators, p->copy[node->in[0]], NULL);
    (void)dpi_fail(p->l->err, DP_EUNSUPPORTED, "dp_pick of matrices cannot be served");
    return DPI_NONE;
}

static dpi_id copy_node(dpi_lower_piece *p, dpi_id id, dpi_id root, size_t draw)
{
    const dpi_node *node = dpi_get(p->l->g, id);
    dpi_lower_kind kind = dpi_lower_rules[node->op->id].kind;
    size_t size = dpi_shape_size(&node->shape);
    if (!node->shape.per_record)
        return copy_constant(p, node, id, draw);
    if (kind == DPI_LOWER_COLUMN || (id != root && dpi_lower_is_cut(p->l, id)))
        return add_leaf(p, id, size, &node->shape);
    if (kind == DPI_LOWER_GROUPS)
        return DPI_NONE; /* made where it is picked by */
    if (kind == DPI_LOWER_PICK)
        return copy_pick(p, node);
    if (dpi_is_source(node))
        return dpi_source(&p->g, node->op, node->name, node->attr);
    return dpi_apply(&p->g, node->op, p->copy[node->in[0]],
                     node->op->n_inputs > 1 ? p->copy[node->in[1]] : DPI_NONE, &node->attr);
}

static bool copy_piece(dpi_lower_piece *p, dpi_id root, size_t draw)
{
    const dpi_lowering *l = p->l;
    size_t n = (size_t)root + 1;
    bool *needed = dpi_arena_alloc(&p->arena, n, sizeof *needed);
    p->copy = dpi_arena_alloc(&p->arena, n, sizeof *p->copy);
    p->leaves = dpi_arena_alloc(&p->arena, n, sizeof *p->leaves);
    if (needed == NULL || p->copy == NULL || p->leaves == NULL)
        return dpi_fail_nomem(l->err) == DP_OK;
    mark_piece(l, root, needed);
    for (dpi_id i = 0; i <= root; i++)
        p->copy[i] = DPI_NONE;
    for (dpi_id i = 0; l->err->status == DP_OK && i <= root; i++)
        if (needed[i])
            p->copy[i] = copy_node(p, i, root, draw);
    p->root = p->copy[root];
    return l->err->status == DP_OK;
}

dpi_lower_piece *dpi_lower_piece_new(dpi_lowering *l, dpi_id id, size_t draw)
{
    dpi_lower_piece *p = dpi_alloc(1, sizeof *p);
    if (p == NULL) {
        (void)dpi_fail_nomem(l->err);
        return NULL;
    }
    p->l = l;
    p->size = dpi_shape_size(&dpi_get(l->g, id)->shape);
    p->data = dp_dataset_new(DPI_PIECE_RECORDS);
    dpi_graph_init(&p->g, &p->arena, l->err);
    if (p->data == NULL)
        (void)dpi_fail_nomem(l->err);
    const dpi_run_spec spec = {.graph = &p->g,
                               .wanted = &p->root,
                               .n_wanted = 1,
                               .data = p->data,
                               .chunk = DPI_PIECE_RECORDS};
    if (p->data == NULL || !copy_piece(p, id, draw) || dpi_run_new(&spec, &p->run, l->err)) {
        dpi_lower_piece_free(p);
        return NULL;
    }
    return p;
}

void dpi_lower_piece_free(dpi_lower_piece *p)
{
    if (p == NULL)
        return;
    dpi_run_free(p->run);
    dp_dataset_free(p->data);
    dpi_arena_free(&p->arena);
    dpi_free(p);
}

void dpi_lower_piece_set(dpi_lower_piece *p, size_t record, dpi_id node, size_t element,
                         double value)
{
    for (size_t i = 0; i < p->n_leaves; i++)
        if (p->leaves[i].node == node)
            p->leaves[i].values[record * p->leaves[i].size + element] = value;
}

bool dpi_lower_piece_run(dpi_lower_piece *p, size_t n, double *out)
{
    dpi_run_globals(p->run);
    dpi_run_records(p->run, n, NULL, 0);
    dpi_run_read(p->run, p->root, 0, n * p->size, out);
    for (size_t i = 0; i < n * p->size; i++)
        if (!isfinite(out[i])) {
            (void)dpi_fail(p->l->err, DP_EDOMAIN,
                           "a coefficient of the fitted model is not a finite number");
            return false;
        }
    return true;
}

/* ---- coefficients ---- */

/* What the numbers of a matrix's columns are: a term of the input, or a cut. */
typedef struct side {
    const dpi_feature *feature; /* or NULL */
    dpi_id cut;
    size_t size; /* of one draw */
} side;

/* Puts `value` into the numbers that make number k of a side. */
static void set_number(dpi_lower_piece *p, const side *s, size_t k, size_t record, double value)
{
    if (s->feature == NULL) {
        dpi_lower_piece_set(p, record, s->cut, k, value);
        return;
    }
    for (size_t c = p->l->n_columns; c-- > 0;)
        if ((s->feature->term >> c & 1) != 0) {
            dpi_lower_piece_set(p, record, p->l->column[c].node, k % p->l->column[c].size, value);
            k /= p->l->column[c].size;
        }
}

/* Number of the term `within` that number k of `term` has in it. */
static size_t part_of(const dpi_lowering *l, dpi_term term, size_t k, dpi_term within)
{
    size_t number = 0, unit = 1;
    for (size_t c = l->n_columns; c-- > 0;) {
        if ((term >> c & 1) == 0)
            continue;
        if ((within >> c & 1) != 0) {
            number += unit * (k % l->column[c].size);
            unit *= l->column[c].size;
        }
        k /= l->column[c].size;
    }
    return number;
}

/* Subtracts from column k of a term what terms within it have made: w[size][columns]. */
static void subtract_parts(const dpi_lowering *l, const dpi_crossings *terms, const dpi_feature *f,
                           size_t k, size_t columns, size_t size, double *w)
{
    for (size_t i = 0; i < l->n_features; i++) {
        const dpi_feature *part = &l->feature[i];
        bool in_terms = false;
        for (size_t t = 0; t < terms->n; t++)
            in_terms = in_terms || terms->term[t] == part->term;
        if (!in_terms || part->term == f->term || (part->term & ~f->term) != 0)
            continue;
        size_t from = part->first + part_of(l, f->term, k, part->term);
        for (size_t o = 0; o < size; o++)
            w[o * columns + f->first + k] -= w[o * columns + from];
    }
}

/* Coefficients of one side into w[size][columns] from column `first` on; constant[size]. */
static bool find_side(dpi_lower_piece *p, const dpi_crossings *terms, const side *s, size_t first,
                      size_t columns, const double *constant, double *w)
{
    double *out = dpi_alloc(DPI_PIECE_RECORDS * p->size, sizeof *out);
    bool good = out != NULL;
    if (!good)
        (void)dpi_fail_nomem(p->l->err);
    for (size_t k = 0; good && k < s->size; k += DPI_PIECE_RECORDS) {
        size_t n = s->size - k < DPI_PIECE_RECORDS ? s->size - k : DPI_PIECE_RECORDS;
        for (size_t r = 0; r < n; r++)
            set_number(p, s, k + r, r, 1);
        good = dpi_lower_piece_run(p, n, out);
        for (size_t r = 0; r < n; r++)
            set_number(p, s, k + r, r, 0);
        for (size_t r = 0; good && r < n; r++) {
            for (size_t o = 0; o < p->size; o++)
                w[o * columns + first + k + r] = out[r * p->size + o] - constant[o];
            if (s->feature != NULL)
                subtract_parts(p->l, terms, s->feature, k + r, columns, p->size, w);
        }
    }
    dpi_free(out);
    return good;
}

/* ---- stages ---- */

typedef struct region {
    dpi_lowering *l;
    dpi_id id;
    const dpi_crossings *terms;
    size_t size;  /* numbers of one draw */
    double *bias; /* [draws][size] */
    int sum;      /* the stage so far; -1 */
} region;

/* Adds the stage of a matrix w[draws size][columns] over `in`; the constant goes into the first. */
static bool add_dense(region *r, int in, const double *w)
{
    size_t rows = r->l->draws * r->size;
    int stage = dp_program_dense(r->l->p, in, rows, w, r->sum < 0 ? r->bias : NULL);
    r->sum = r->sum < 0 ? stage : dp_program_add(r->l->p, r->sum, stage);
    return stage >= 0;
}

static double *new_matrix(const region *r, size_t columns)
{
    size_t n;
    if (!dpi_mul(r->l->draws * r->size, columns, &n) || n > MOST_COEFFICIENTS) {
        dpi_lower_refuse(r->l, r->id, "its matrix would have more than 2^26 numbers");
        return NULL;
    }
    double *w = dpi_alloc(n, sizeof *w);
    if (w == NULL)
        (void)dpi_fail_nomem(r->l->err);
    return w;
}

static bool is_term(const dpi_crossings *terms, dpi_term term)
{
    for (size_t i = 0; i < terms->n; i++)
        if (terms->term[i] == term)
            return true;
    return false;
}

/* The part of the input.  Features stand in the order of their sizes, parts before wholes. */
static bool add_input(region *r, dpi_lower_piece *const *piece)
{
    dpi_lowering *l = r->l;
    double *w = new_matrix(r, l->n_inputs);
    bool good = w != NULL;
    for (size_t d = 0; good && d < l->draws; d++)
        for (size_t i = 0; good && i < l->n_features; i++) {
            const dpi_feature *f = &l->feature[i];
            const side s = {.feature = f, .size = f->size};
            if (is_term(r->terms, f->term))
                good = find_side(piece[d], r->terms, &s, f->first, l->n_inputs,
                                 r->bias + d * r->size, w + d * r->size * l->n_inputs);
        }
    good = good && add_dense(r, 0, w);
    dpi_free(w);
    return good;
}

/* The part of a cut: one block for each draw. */
static bool add_cut(region *r, dpi_lower_piece *const *piece, dpi_id cut)
{
    dpi_lowering *l = r->l;
    const side s = {.cut = cut, .size = dpi_shape_size(&dpi_get(l->g, cut)->shape)};
    int in = dpi_lower_node(l, cut);
    size_t columns = l->draws * s.size;
    double *w = in >= 0 ? new_matrix(r, columns) : NULL;
    bool good = w != NULL;
    for (size_t d = 0; good && d < l->draws; d++)
        good = find_side(piece[d], r->terms, &s, d * s.size, columns, r->bias + d * r->size,
                         w + d * r->size * columns);
    good = good && add_dense(r, in, w);
    dpi_free(w);
    return good;
}

static bool add_parts(region *r, dpi_lower_piece *const *piece)
{
    bool good = true, of_input = false;
    for (size_t d = 0; good && d < r->l->draws; d++)
        good = dpi_lower_piece_run(piece[d], 1, r->bias + d * r->size);
    for (size_t i = 0; i < r->terms->n; i++)
        of_input = of_input || (r->terms->term[i] != 0 && r->terms->term[i] != DPI_TERM_CUT);
    if (good && of_input)
        good = add_input(r, piece);
    for (size_t i = 0; good && i < piece[0]->n_leaves; i++)
        if (dpi_lower_is_cut(r->l, piece[0]->leaves[i].node))
            good = add_cut(r, piece, piece[0]->leaves[i].node);
    return good;
}

int dpi_lower_region(dpi_lowering *l, dpi_id id)
{
    region r = {.l = l, .id = id, .terms = dpi_lower_terms(l, id), .sum = -1};
    if (r.terms == NULL)
        return -1;
    r.size = dpi_shape_size(&dpi_get(l->g, id)->shape);
    r.bias = dpi_alloc(l->draws * r.size, sizeof *r.bias);
    dpi_lower_piece **piece = dpi_alloc(l->draws, sizeof *piece);
    bool good = r.bias != NULL && piece != NULL;
    if (!good)
        (void)dpi_fail_nomem(l->err);
    for (size_t d = 0; good && d < l->draws; d++)
        good = (piece[d] = dpi_lower_piece_new(l, id, d)) != NULL;
    good = good && add_parts(&r, piece);
    for (size_t d = 0; piece != NULL && d < l->draws; d++)
        dpi_lower_piece_free(piece[d]);
    dpi_free(piece);
    dpi_free(r.bias);
    return good ? r.sum : -1;
}
