/* Finding terms in the adjoint of a weight, and what they cost.
 *
 * The adjoint of a weight that is used k times is a tree of additions over k terms; what stands at
 * its leaves is an outer product (a dense layer), a product of two matrices of the record (a
 * convolution, a sequence) or scattered rows (an embedding).  Signs are looked through, as are
 * other dimensions of the same numbers.  For m rows, n columns and ranks p_t, in multiply-adds of 2
 * flops,
 *
 *   made            sum_t 2 p_t m n, and m n more for each term's addition, norm and weighted sum
 *   inner products  sum_(s <= t) 2 p_s p_t (m + n), and the weighted sum 2 p_t m n
 *   one by one      twice the weighted sum, and the norm and the addition
 *
 * where touching a number of a chunk's made gradients counts as 4 flops.  Rows that are picked cost
 * n each instead of m n. */
#include "exec/decomposition.h"

#include <math.h>
#include <stdio.h>

#include "exec/factored.h"

enum { TOUCH = 4 };

/* Gradients with more numbers are not made for a chunk of records. */
static const double most_made = 1 << 16;

/* |g|^2 from inner products is off by (rows + columns + 2 rank) c u, which stays below 2^-28 by
 * this. */
static const double most_lost = 1 << 25;

/* Most of p (2 B - 1 + s) + 4 s for blocks of B records, p the rank and s = sqrt(c); see
 * exec/terms.c. */
static const double most_in_block = 250;

double dpi_decomposition_cancels(size_t rank)
{
    return 16 + 4 * (double)rank;
}

static double in_block(const dpi_decomposition *d)
{
    double s = sqrt(dpi_decomposition_cancels(d->rank));
    return ((most_in_block - 4 * s) / (double)d->rank + 1 - s) / 2;
}

size_t dpi_decomposition_block(const dpi_decomposition *d)
{
    return d->way == DPI_PRODUCTS && in_block(d) >= 2 ? (size_t)in_block(d) : 1;
}

/* Fills d->term from the tree of sums; leaves n_terms at 0 when something else stands in it. */
static void find_terms(const dpi_graph *g, dpi_id part, dpi_decomposition *d)
{
    struct {
        dpi_id id;
        double sign;
    } open[DPI_MOST_TERMS + 1] = {{part, 1}};
    size_t n_open = 1, n = 0;
    while (n_open > 0) {
        dpi_id id = open[--n_open].id;
        double sign = open[n_open].sign;
        const dpi_node *node = &g->nodes[id];
        const dpi_factored *rule = &dpi_factored_forms[node->op->id];
        if (rule->sign[0] != 0) {
            int inputs = node->op->n_inputs;
            if (inputs == 2 &&
                (n + n_open + 2 > DPI_MOST_TERMS ||
                 !dpi_shape_same(&g->nodes[node->in[0]].shape, &g->nodes[node->in[1]].shape)))
                return;
            for (int k = inputs - 1; k >= 0;
                 k--, n_open++) { /* so that the first comes out first */
                open[n_open].id = node->in[k];
                open[n_open].sign = rule->sign[k] * sign;
            }
            continue;
        }
        size_t rows, columns;
        d->term[n] = (dpi_gradient_term){.node = id, .sign = sign};
        if (rule->leaf == NULL || !rule->leaf(g, node, &d->term[n], &rows, &columns) ||
            (n > 0 && (rows != d->rows || columns != d->columns)))
            return;
        d->rows = rows;
        d->columns = columns;
        d->rank += d->term[n++].rank;
    }
    d->n_terms = n;
}

static bool all_picked(const dpi_decomposition *d)
{
    for (size_t t = 0; t < d->n_terms; t++)
        if (!d->term[t].picked)
            return false;
    return d->n_terms > 0;
}

/* What the weighted sum costs from the factors. */
static double sum_flops(const dpi_decomposition *d)
{
    double flops = 0, m = (double)d->rows, n = (double)d->columns;
    for (size_t t = 0; t < d->n_terms; t++)
        flops += 2 * (double)d->term[t].rank * n * (d->term[t].picked ? 1 : m);
    return flops;
}

static double made_flops(const dpi_decomposition *d)
{
    double size = (double)d->rows * (double)d->columns;
    return sum_flops(d) + (double)(d->n_terms - 1) * TOUCH * size + 2 * TOUCH * size;
}

static double product_flops(const dpi_decomposition *d)
{
    double flops = 0, n = (double)d->columns;
    if (all_picked(d))
        return 4 * (double)d->rank * n;
    for (size_t s = 0; s < d->n_terms; s++)
        for (size_t t = 0; t <= s; t++) {
            bool dense = !d->term[s].picked && !d->term[t].picked;
            flops += 2 * (double)d->term[s].rank * (double)d->term[t].rank *
                     (n + (dense ? (double)d->rows : 1));
        }
    return flops;
}

static bool may_take_products(const dpi_decomposition *d)
{
    double lost = (double)d->rows + (double)d->columns + 2 * (double)d->rank;
    return all_picked(d) || lost * dpi_decomposition_cancels(d->rank) <= most_lost;
}

static void choose(dpi_choice choice, dpi_decomposition *d)
{
    double size = (double)d->rows * (double)d->columns, sum = sum_flops(d);
    double products = product_flops(d) + sum, singly = 2 * sum + 2 * TOUCH * size;
    if (!all_picked(d) && in_block(d) < 2)
        products += TOUCH * size;
    d->made_flops = made_flops(d);
    bool too_large = size > most_made, may = may_take_products(d);
    if (choice == DPI_CHEAPEST && may &&
        (all_picked(d) || products < (too_large ? singly : d->made_flops)))
        choice = DPI_ALWAYS_PRODUCTS;
    else if (choice == DPI_CHEAPEST && too_large)
        choice = DPI_ALWAYS_ONE_BY_ONE;
    d->way = choice == DPI_ALWAYS_PRODUCTS && may ? DPI_PRODUCTS
             : choice == DPI_ALWAYS_ONE_BY_ONE    ? DPI_ONE_BY_ONE
                                                  : DPI_MADE;
    d->flops = d->way == DPI_PRODUCTS     ? products
               : d->way == DPI_ONE_BY_ONE ? singly
                                          : d->made_flops;
}

void dpi_decompose(const dpi_graph *g, dpi_id part, dpi_choice choice, dpi_decomposition *d)
{
    const dpi_node *node = dpi_get(g, part);
    double size = (double)dpi_shape_size(&node->shape);
    *d = (dpi_decomposition){.way = DPI_MADE};
    d->flops = d->made_flops = node->op->flops(node) + 2 * TOUCH * size;
    find_terms(g, part, d);
    bool alone = d->n_terms == 0 || (d->n_terms == 1 && d->rank == 1);
    if (dpi_factored_forms[node->op->id].norm2 != NULL && alone && choice != DPI_ALWAYS_MADE) {
        d->way = DPI_FACTORED;
        d->flops = 2 * size; /* at most */
        return;
    }
    if (d->n_terms > 0)
        choose(choice, d);
}

void dpi_decomposition_mark(const dpi_graph *g, dpi_id part, const dpi_decomposition *d,
                            bool *needed)
{
    const dpi_node *node = dpi_get(g, part);
    if (d->way == DPI_MADE) {
        dpi_mark(g, part, needed);
        return;
    }
    for (size_t t = 0; t < (d->way == DPI_FACTORED ? 1 : d->n_terms); t++) {
        const dpi_node *of = d->way == DPI_FACTORED ? node : &g->nodes[d->term[t].node];
        for (int k = 0; k < of->op->n_inputs; k++)
            dpi_mark(g, of->in[k], needed);
    }
}

const char *dpi_decomposition_text(const dpi_decomposition *d, char *buffer, size_t size)
{
    static const char *const names[] = {[DPI_MADE] = "made",
                                        [DPI_FACTORED] = "from its factors",
                                        [DPI_PRODUCTS] = "from inner products",
                                        [DPI_ONE_BY_ONE] = "made one by one"};
    size_t used = (size_t)snprintf(buffer, size, "%s", names[d->way]);
    if (d->n_terms > 0 && used < size)
        (void)snprintf(buffer + used, size - used, " (%zu term%s, rank %zu)", d->n_terms,
                       d->n_terms == 1 ? "" : "s", d->rank);
    return buffer;
}
