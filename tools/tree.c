/* A forest over noisy tables (Chow and Liu 1968).
 *
 *   N         records: the tables' sums, each weighed by 1 / (its cells), as its noise asks
 *   p_j       counts of column j, projected onto those that are not negative and sum to N
 *   e_ab      = N p_a p_b: pair (j, k) if it were independent;  r = n - e
 *   v_ab      = noise^2 + e_ab: variance of r then, of noise and of chance
 *   z         = (sum r^2 - sum v) / sqrt(2 sum v^2)
 *   joint     = e + max(0, 1 - sum v / sum r^2) r, projected
 *
 * Of the pairs with z above 3 those of most mutual information in their joint are kept that form no
 * circle.  The shrinking leaves of what is told what is not noise, on average; a pair that the
 * noise hides is taken as independent.  All of this is made from what was released. */
#include "tools/tree.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const double told = 3; /* standard deviations */

typedef struct edge {
    size_t j, k;
    double information, told;
    double *joint; /* [coarse of j][coarse of k] */
} edge;

static bool is_counted(const grid_axis *a)
{
    return a->fine.low < a->fine.high;
}

size_t tree_table(size_t n, const grid_axis *axes, size_t j, size_t k)
{
    size_t at = 0;
    for (size_t a = 0; a < n; a++) {
        if (k == SIZE_MAX && a == j)
            return at;
        at += is_counted(&axes[a]) ? axes[a].fine.cells : 0;
    }
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++) {
            if (a == j && b == k)
                return at;
            if (is_counted(&axes[a]) && is_counted(&axes[b]))
                at += axes[a].coarse.cells * axes[b].coarse.cells;
        }
    return at;
}

/* ---- what the tables say ---- */

static double records_of(size_t n, const grid_axis *axes, const double *counts)
{
    double sum = 0, weights = 0;
    for (size_t j = 0; j < n; j++) {
        const size_t cells = axes[j].fine.cells;
        const double *table = counts + tree_table(n, axes, j, SIZE_MAX);
        if (!is_counted(&axes[j]))
            continue;
        for (size_t f = 0; f < cells; f++)
            sum += table[f] / (double)cells;
        weights += 1 / (double)cells;
    }
    return weights > 0 ? fmax(1, sum / weights) : 1;
}

static double coarse_share(const tree_node *node, size_t cell)
{
    double sum = 0;
    for (size_t f = 0; f < node->axis.fine.cells; f++)
        if (grid_coarse(&node->axis, f) == cell)
            sum += node->share[f];
    return sum;
}

static double information_of(size_t a, size_t b, const double *joint)
{
    double sum = 0, total = 0;
    for (size_t k = 0; k < a * b; k++)
        total += joint[k];
    for (size_t x = 0; x < a; x++)
        for (size_t y = 0; y < b; y++) {
            double row = 0, column = 0;
            const double cell = joint[x * b + y];
            for (size_t k = 0; k < b; k++)
                row += joint[x * b + k];
            for (size_t k = 0; k < a; k++)
                column += joint[k * b + y];
            if (cell > 0)
                sum += cell / total * log(cell * total / (row * column));
        }
    return sum;
}

/* The pair's joint table from its noisy counts, which `e` holds and becomes. */
static void tell_pair(const tree *t, edge *e, const double *counts, double noise, double records)
{
    const tree_node *j = &t->node[e->j], *k = &t->node[e->k];
    const size_t a = j->axis.coarse.cells, b = k->axis.coarse.cells;
    double square = 0, variance = 0, fourth = 0;
    for (size_t x = 0; x < a; x++)
        for (size_t y = 0; y < b; y++) {
            const double alone = records * coarse_share(j, x) * coarse_share(k, y);
            const double rest = counts[x * b + y] - alone, v = noise * noise + alone;
            e->joint[x * b + y] = alone;
            square += rest * rest;
            variance += v;
            fourth += v * v;
        }
    const double kept = fmax(0, 1 - variance / square);
    for (size_t c = 0; c < a * b; c++)
        e->joint[c] += kept * (counts[c] - e->joint[c]);
    grid_project(a * b, e->joint, records);
    e->told = (square - variance) / sqrt(2 * fourth);
    e->information = information_of(a, b, e->joint);
}

/* ---- the forest ---- */

static int by_information(const void *a, const void *b)
{
    const double x = ((const edge *)a)->information, y = ((const edge *)b)->information;
    return (x < y) - (x > y);
}

/* The tree that a column is in, by its first column. */
static size_t root_of(const size_t *in, size_t j)
{
    while (in[j] != j)
        j = in[j];
    return j;
}

/* Leaves in edges[0 ... *n - 1] those that are kept. */
static void choose(edge *edges, size_t *n, size_t *in)
{
    size_t kept = 0;
    qsort(edges, *n, sizeof *edges, by_information);
    for (size_t e = 0; e < *n; e++) {
        const size_t a = root_of(in, edges[e].j), b = root_of(in, edges[e].k);
        if (edges[e].told <= told || a == b)
            continue;
        in[a > b ? a : b] = a < b ? a : b;
        const edge chosen = edges[e];
        edges[e] = edges[kept];
        edges[kept++] = chosen;
    }
    *n = kept;
}

/* The chances of a child given its parent; a parent's cell that is empty tells nothing. */
static bool set_given(const tree *t, tree_node *child, const edge *e, bool turned)
{
    const size_t a = t->node[child->parent].axis.coarse.cells, b = child->axis.coarse.cells;
    child->given = malloc(a * b * sizeof *child->given);
    for (size_t x = 0; x < a && child->given != NULL; x++) {
        double sum = 0;
        for (size_t y = 0; y < b; y++)
            sum += child->given[x * b + y] = turned ? e->joint[y * a + x] : e->joint[x * b + y];
        for (size_t y = 0; y < b; y++)
            child->given[x * b + y] =
                sum > 0 ? child->given[x * b + y] / sum : coarse_share(child, y);
    }
    return child->given != NULL;
}

/* Directs the edges away from each tree's first column. */
static bool direct(tree *t, const edge *edges, size_t n, const size_t *in)
{
    size_t done = 0;
    for (size_t j = 0; j < t->n; j++)
        if (in[j] == j)
            t->order[done++] = j;
    for (size_t at = 0; at < done; at++)
        for (size_t e = 0; e < n; e++) {
            const size_t from = t->order[at];
            const bool turned = edges[e].k == from;
            const size_t to = turned ? edges[e].j : edges[e].k;
            if ((edges[e].j != from && !turned) || to == t->node[from].parent)
                continue;
            tree_node *child = &t->node[to];
            child->parent = from;
            child->kept[0] = edges[e].information;
            child->kept[1] = edges[e].told;
            if (!set_given(t, child, &edges[e], turned))
                return false;
            t->order[done++] = to;
        }
    return true;
}

static bool make_nodes(tree *t, const grid_axis *axes, const double *counts, double records)
{
    for (size_t j = 0; j < t->n; j++) {
        tree_node *node = &t->node[j];
        const size_t cells = axes[j].fine.cells;
        node->axis = axes[j];
        node->parent = SIZE_MAX;
        node->share = malloc(cells * sizeof *node->share);
        if (node->share == NULL)
            return false;
        node->share[0] = 1;
        if (!is_counted(&axes[j]))
            continue;
        memcpy(node->share, counts + tree_table(t->n, axes, j, SIZE_MAX),
               cells * sizeof *node->share);
        grid_project(cells, node->share, records);
        for (size_t f = 0; f < cells; f++)
            node->share[f] /= records;
    }
    return true;
}

static bool make_edges(tree *t, const grid_axis *axes, const double *counts, double noise,
                       double records, edge *edges, size_t *n)
{
    for (size_t j = 0; j < t->n; j++)
        for (size_t k = j + 1; k < t->n; k++) {
            if (!is_counted(&axes[j]) || !is_counted(&axes[k]))
                continue;
            edge *e = &edges[(*n)++];
            e->j = j;
            e->k = k;
            e->joint = malloc(axes[j].coarse.cells * axes[k].coarse.cells * sizeof *e->joint);
            if (e->joint == NULL)
                return false;
            tell_pair(t, e, counts + tree_table(t->n, axes, j, k), noise, records);
        }
    return true;
}

dp_status tree_make(tree *t, size_t n, const grid_axis *axes, bool pairs, const double *counts,
                    double noise)
{
    const double records = records_of(n, axes, counts);
    size_t n_edges = 0, *in = malloc((n + 1) * sizeof *in);
    edge *edges = calloc(n * n + 1, sizeof *edges);
    *t = (tree){.n = n,
                .records = records,
                .node = calloc(n + 1, sizeof *t->node),
                .order = calloc(n + 1, sizeof *t->order)};
    bool good = in != NULL && edges != NULL && t->node != NULL && t->order != NULL &&
                make_nodes(t, axes, counts, records);
    for (size_t j = 0; j < n && good; j++)
        in[j] = j;
    if (good && pairs)
        good = make_edges(t, axes, counts, noise, records, edges, &n_edges);
    size_t kept = n_edges;
    if (good) {
        choose(edges, &kept, in);
        good = direct(t, edges, kept, in);
    }
    for (size_t e = 0; e < n_edges; e++)
        free(edges[e].joint);
    free(edges);
    free(in);
    return good ? DP_OK : DP_ENOMEM;
}

void tree_free(tree *t)
{
    for (size_t j = 0; j < t->n && t->node != NULL; j++) {
        free(t->node[j].share);
        free(t->node[j].given);
    }
    free(t->node);
    free(t->order);
    *t = (tree){.n = 0};
}

/* ---- drawing ---- */

/* One of n, by weights that sum to `sum`; of weights that are all zero each is as likely. */
static size_t draw(dp_rng *rng, size_t n, const double *weight, double sum)
{
    double u;
    size_t last = n - 1;
    dp_rng_uniform(rng, 1, &u);
    if (!(sum > 0))
        return (size_t)(u * (double)n);
    u *= sum;
    for (size_t k = 0; k < n; k++) {
        if (weight[k] > 0)
            last = k;
        if (weight[k] > 0 && u < weight[k])
            return k;
        u -= weight[k];
    }
    return last;
}

/* A fine cell: any, or of those in one coarse cell. */
static size_t draw_cell(const tree_node *node, dp_rng *rng, size_t coarse)
{
    const grid_axis *a = &node->axis;
    size_t first = 0, n = a->fine.cells;
    double sum = 0;
    if (coarse != SIZE_MAX) {
        while (grid_coarse(a, first) != coarse)
            first++;
        for (n = 1; first + n < a->fine.cells && grid_coarse(a, first + n) == coarse;)
            n++;
    }
    for (size_t f = 0; f < n; f++)
        sum += node->share[first + f];
    return first + draw(rng, n, node->share + first, sum);
}

/* Any value of a fine cell is as likely. */
static double draw_value(const grid_axis *a, dp_rng *rng, size_t cell)
{
    double u;
    const size_t f = a->fine.cells, v = a->values;
    dp_rng_uniform(rng, 1, &u);
    if (!a->whole) {
        const double at = ((double)cell + u) / (double)f;
        const double x = a->fine.low * (1 - at) + a->fine.high * at;
        return fmax(a->fine.low, fmin(a->fine.high, x));
    }
    const size_t first = (cell * v + f - 1) / f, next = ((cell + 1) * v + f - 1) / f;
    return (double)first + floor(u * (double)(next - first));
}

void tree_draw(const tree *t, dp_rng *rng, double *value)
{
    for (size_t at = 0; at < t->n; at++) {
        const size_t j = t->order[at];
        const tree_node *node = &t->node[j];
        size_t coarse = SIZE_MAX;
        if (node->parent != SIZE_MAX) {
            const grid_axis *of = &t->node[node->parent].axis;
            const size_t x = dp_count_cell(&of->coarse, of->whole, value[node->parent]);
            const size_t b = node->axis.coarse.cells;
            coarse = draw(rng, b, node->given + x * b, 1);
        }
        value[j] = draw_value(&node->axis, rng, draw_cell(node, rng, coarse));
    }
}
