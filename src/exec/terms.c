/* Gradients of one record that are g = sum_t sign_t L_t^T R_t, without making them for all records.
 *
 * With the rows of all terms in one list, L_i and R_i,
 *
 *   |g|^2 = sum_ij sign_i sign_j (L_i . L_j) (R_i . R_j),
 *
 * so that what two uses of one weight have in common is the products of one's rows with the
 * other's.  Rows of L that are unit vectors (a pick) need no product: L_i . L_j is 1 where the same
 * row was picked, or a number of L_j.  Where all are picked the rows of g are few: they are added
 * up and their squares taken.
 *
 * Accuracy.  Computed as above, |g|^2 is off by at most (rows + columns + 2 rank) u S^2 with
 * S = sum_i |L_i| |R_i| and u = 2^-53, which is much where terms cancel, and clipping rests on |g|.
 * So g is made for a record where S^2 > c |g|^2, c = 16 + 4 rank, for its norm and for the sum.
 * Else |g| is right to 2^-29 for the sizes that exec/decomposition.c admits, in practice to some
 * 1e-15 (tests/exec/t-networks).  Squares that leave 1e-140 ... 1e140 are treated in the same way,
 * lest a product vanish or overflow alone.
 *
 * What is left to rounding in sums of k <= 256 gradients clipped to C is 256 k u C (svi/svi.c).
 * Adding w g to a chain that holds others makes p = rank additions, each off by u times the length
 * of what it makes.  With s = sqrt(c) the terms' lengths add up to w S <= s |w g|; what the first i
 * of them make is no longer than those, nor than w g and the others, so than (1 + s) / 2 |w g|.  In
 * a chain of B gradients each is there while p (B - 1) more numbers are added at most, so with
 * weights and products, 2 s, it costs
 *
 *   u |w g| (p (B - 1) + p (1 + s) / 2 + 2 s),
 *
 * where |w g| is this part's share, and by the triangle inequality k gradients cost k C times the
 * largest such factor of a part.  Blocks of B are added up in chains, and then to the others, as is
 * what is made one by one: at most one addition for each gradient, to what is l C long, k (k + 1) /
 * 2 u C.  With p (2 B - 1 + s) + 4 s <= 250 that is 254 k u C in all; what remains is for terms in
 * u^2.  Where B would be below 2 each g is made, times its weight added.  Rows that are picked are
 * added up for each record first in any case.
 *
 * Cost for a record: exec/decomposition.c.  A gradient is a function of its record alone, to the
 * bit; the weighted sum depends on its neighbours' by rounding that is accounted for as above. */
#include "exec/terms.h"

#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "num/linalg.h"

enum { LEFT, RIGHT };

static dpi_term_factors factors_of(const dpi_graph *g, const dpi_gradient_term *term,
                                   double *const *value)
{
    const dpi_node *node = dpi_get(g, term->node);
    const dpi_shape *a = &dpi_get(g, node->in[0])->shape, *b = &dpi_get(g, node->in[1])->shape;
    dpi_term_factors f = {.sign = term->sign, .rank = term->rank, .picked = term->picked};
    f.left = value[node->in[0]];
    f.right = value[node->in[1]];
    f.left_step = a->per_record ? dpi_shape_size(a) : 0;
    f.right_step = b->per_record ? dpi_shape_size(b) : 0;
    f.left_turned = term->turned[0];
    f.right_turned = term->turned[1];
    if (!term->picked)
        return f;
    const double *rows = f.right;
    size_t step = f.right_step;
    f.right = f.left;
    f.right_step = f.left_step;
    f.left = rows;
    f.left_step = step;
    return f;
}

bool dpi_terms_init(dpi_terms *terms, dpi_arena *arena, const dpi_graph *g,
                    const dpi_decomposition *d, double *const *value, size_t chunk)
{
    size_t rank = 1, gram, size, room[2];
    *terms = (dpi_terms){.n = d->n_terms,
                         .rows = d->rows,
                         .columns = d->columns,
                         .products = d->way == DPI_PRODUCTS,
                         .all_picked = true,
                         .block = dpi_decomposition_block(d)};
    terms->factors = dpi_arena_alloc(arena, d->n_terms, sizeof *terms->factors);
    if (terms->factors == NULL)
        return false;
    for (size_t t = 0; t < d->n_terms; t++) {
        terms->factors[t] = factors_of(g, &d->term[t], value);
        rank = d->term[t].rank > rank ? d->term[t].rank : rank;
        terms->all_picked = terms->all_picked && d->term[t].picked;
    }
    bool squares = terms->products && !terms->all_picked;
    if (!dpi_mul(rank, rank, &gram) || !dpi_mul(d->rows, d->columns, &size) ||
        !dpi_mul(rank, d->rows, &room[LEFT]) || !dpi_mul(rank, d->columns, &room[RIGHT]))
        return false;
    terms->made = dpi_arena_alloc(arena, size, sizeof *terms->made);
    for (int k = 0; k < 2; k++) {
        terms->gram[k] = dpi_arena_alloc(arena, squares ? gram : 1, sizeof **terms->gram);
        terms->turned[k] =
            dpi_arena_alloc(arena, terms->all_picked ? 1 : room[k], sizeof **terms->turned);
        if (terms->gram[k] == NULL || terms->turned[k] == NULL)
            return false;
    }
    terms->cancels = dpi_arena_alloc(arena, chunk, sizeof *terms->cancels);
    return terms->made != NULL && terms->cancels != NULL;
}

/* ---- sums ---- */

/* Rows from a factor stored as [length][rank]. */
static const double *turn(size_t rank, size_t length, const double *from, double *to)
{
    for (size_t i = 0; i < rank; i++)
        for (size_t e = 0; e < length; e++)
            to[i * length + e] = from[e * rank + i];
    return to;
}

/* The rows of record r's factors. */
static void rows_of(const dpi_terms *terms, const dpi_term_factors *f, size_t r,
                    const double **left, const double **right)
{
    *left = f->left + r * f->left_step;
    *right = f->right + r * f->right_step;
    if (f->right_turned)
        *right = turn(f->rank, terms->columns, *right, terms->turned[RIGHT]);
    if (f->left_turned)
        *left = turn(f->rank, terms->rows, *left, terms->turned[LEFT]);
}

/* Adds weight times the gradient of record r, term by term. */
static void push_record(const dpi_terms *terms, size_t r, double weight, dpi_outer_sum *outer)
{
    size_t m = terms->rows, n = terms->columns;
    for (size_t t = 0; t < terms->n; t++) {
        const dpi_term_factors *f = &terms->factors[t];
        const double *left, *right;
        rows_of(terms, f, r, &left, &right);
        if (f->picked)
            dpi_outer_flush(outer);
        for (size_t i = 0; i < f->rank; i++)
            if (!f->picked)
                dpi_outer_push(outer, left + i * m, right + i * n, f->sign * weight);
            else
                for (size_t e = 0; e < n; e++)
                    outer->sum[(size_t)left[i] * n + e] += f->sign * weight * right[i * n + e];
        if (f->right_turned || f->left_turned)
            dpi_outer_flush(outer);
    }
}

/* Makes the gradient of record r, where there are zeros. */
static void make_record(dpi_terms *terms, size_t r)
{
    dpi_outer_sum outer;
    dpi_outer_start(&outer, terms->rows, terms->columns, terms->made);
    push_record(terms, r, 1, &outer);
    dpi_outer_flush(&outer);
}

DPI_LOOPS static void add_and_clear(size_t n, double weight, double *restrict from,
                                    double *restrict sum)
{
    for (size_t i = 0; i < n; i++) {
        sum[i] += weight * from[i];
        from[i] = 0;
    }
}

/* What is done with a row of numbers that is set to zero again. */
typedef void each_row(double *row, size_t n, double weight, double *sum);

static void add_row(double *row, size_t n, double weight, double *sum)
{
    add_and_clear(n, weight, row, sum);
}

static void square_row(double *row, size_t n, double weight, double *sum)
{
    *sum += weight * dpi_dot(n, row, row);
    memset(row, 0, n * sizeof *row);
}

/* Makes the rows that record r picks and hands each to f: picked twice, it is whole at first and
 * zero then. `sum` is a number, or [rows][columns] when `whole`. */
static void with_picked_rows(dpi_terms *terms, size_t r, each_row *f, double weight, double *sum,
                             bool whole)
{
    size_t n = terms->columns;
    make_record(terms, r);
    for (size_t t = 0; t < terms->n; t++) {
        const dpi_term_factors *of = &terms->factors[t];
        for (size_t i = 0; i < of->rank; i++) {
            size_t at = (size_t)of->left[r * of->left_step + i] * n;
            f(terms->made + at, n, weight, whole ? sum + at : sum);
        }
    }
}

/* Adds weight times the gradient of record r, which is made for it. */
static void add_record(dpi_terms *terms, size_t r, double weight, double *sum)
{
    if (terms->all_picked) {
        with_picked_rows(terms, r, add_row, weight, sum, true);
        return;
    }
    make_record(terms, r);
    add_and_clear(terms->rows * terms->columns, weight, terms->made, sum);
}

void dpi_terms_add(dpi_terms *terms, size_t first, size_t m, double *sum)
{
    for (size_t r = 0; r < m; r++)
        add_record(terms, first + r, 1, sum);
}

void dpi_terms_add_clipped(dpi_terms *terms, size_t first, size_t m, const double *weight,
                           double *sum)
{
    dpi_outer_sum outer;
    size_t size = terms->rows * terms->columns, added = 0;
    dpi_outer_start(&outer, terms->rows, terms->columns, terms->made);
    for (size_t r = 0; r < m; r++) {
        bool pushes = terms->block > 1 && !terms->all_picked && !terms->cancels[first + r];
        if (weight[r] != 0 && pushes) {
            push_record(terms, first + r, weight[r], &outer);
            added++;
        }
        if (added > 0 && (added == terms->block || r + 1 == m || !pushes)) {
            dpi_outer_flush(&outer);
            add_and_clear(size, 1, terms->made, sum);
            added = 0;
        }
        if (weight[r] != 0 && !pushes)
            add_record(terms, first + r, weight[r], sum);
    }
}

static void push_in_chains(const dpi_terms *terms, size_t r, double weight, dpi_chains *chains)
{
    for (size_t t = 0; t < terms->n; t++) {
        const dpi_term_factors *f = &terms->factors[t];
        const double *left, *right;
        rows_of(terms, f, r, &left, &right);
        for (size_t i = 0; i < f->rank; i++)
            dpi_chains_push(chains, left + i * terms->rows, right + i * terms->columns,
                            f->sign * weight);
    }
    dpi_chains_end_record(chains);
}

void dpi_terms_add_in_chains(dpi_terms *terms, size_t m, const double *weight, dpi_chains *chains,
                             double *sum)
{
    dpi_chains_start(chains, sum);
    for (size_t r = 0; r < m; r++)
        if (weight[r] != 0 && terms->cancels[r])
            add_record(terms, r, weight[r], sum);
        else if (weight[r] != 0)
            push_in_chains(terms, r, weight[r], chains);
    dpi_chains_flush(chains);
}

/* ---- norms ---- */

static double made_norm2(dpi_terms *terms, size_t r)
{
    size_t size = terms->rows * terms->columns;
    make_record(terms, r);
    double norm = dpi_norm(size, terms->made);
    memset(terms->made, 0, size * sizeof *terms->made);
    return norm * norm;
}

/* to[s->rank][t->rank]: inner products of the right factors' rows. */
static void right_products(const dpi_terms *terms, const dpi_term_factors *s,
                           const dpi_term_factors *t, size_t r, double *to)
{
    dpi_gemm(s->right_turned, !t->right_turned, s->rank, t->rank, terms->columns,
             s->right + r * s->right_step, t->right + r * t->right_step, to);
}

/* The same of the left ones, some of which are unit vectors. */
static void left_products(const dpi_terms *terms, const dpi_term_factors *s,
                          const dpi_term_factors *t, size_t r, double *to)
{
    const double *a = s->left + r * s->left_step, *b = t->left + r * t->left_step;
    if (!s->picked && !t->picked) {
        dpi_gemm(s->left_turned, !t->left_turned, s->rank, t->rank, terms->rows, a, b, to);
        return;
    }
    for (size_t i = 0; i < s->rank; i++)
        for (size_t j = 0; j < t->rank; j++) {
            double *x = &to[i * t->rank + j];
            if (s->picked && t->picked)
                *x = a[i] == b[j];
            else if (s->picked)
                *x = t->left_turned ? b[(size_t)a[i] * t->rank + j]
                                    : b[j * terms->rows + (size_t)a[i]];
            else
                *x = s->left_turned ? a[(size_t)b[j] * s->rank + i]
                                    : a[i * terms->rows + (size_t)b[j]];
        }
}

static const double least_square = 1e-140, greatest_square = 1e140;

/* Whether row i of a factor with that square can be multiplied with others: it is of moderate
 * length, or nothing but zeros. */
static bool is_moderate(double square, size_t rank, size_t length, bool turned, const double *from,
                        size_t i)
{
    if (square != 0)
        return square >= least_square && square <= greatest_square;
    for (size_t e = 0; e < length; e++)
        if (from[turned ? e * rank + i : i * length + e] != 0)
            return false;
    return true;
}

/* Adds |L_i| |R_i| of a term's rows, from its inner products with itself; NaN where a row is not
 * moderate. */
static double lengths(const dpi_terms *terms, const dpi_term_factors *f, size_t r)
{
    double sum = 0;
    for (size_t i = 0; i < f->rank; i++) {
        double left = terms->gram[LEFT][i * f->rank + i];
        double right = terms->gram[RIGHT][i * f->rank + i];
        if (!(f->picked || is_moderate(left, f->rank, terms->rows, f->left_turned,
                                       f->left + r * f->left_step, i)) ||
            !is_moderate(right, f->rank, terms->columns, f->right_turned,
                         f->right + r * f->right_step, i))
            return NAN;
        sum += sqrt(left) * sqrt(right);
    }
    return sum;
}

/* |g|^2 from inner products; NaN where it would lose digits. */
static double product_norm2(const dpi_terms *terms, size_t r)
{
    double norm2 = 0, length = 0;
    size_t rank = 0;
    for (size_t k = 0; k < terms->n; k++)
        rank += terms->factors[k].rank;
    for (size_t k = 0; k < terms->n; k++)
        for (size_t l = 0; l <= k; l++) {
            const dpi_term_factors *s = &terms->factors[k], *t = &terms->factors[l];
            double twice = k == l ? 1 : 2, sum = 0;
            left_products(terms, s, t, r, terms->gram[LEFT]);
            right_products(terms, s, t, r, terms->gram[RIGHT]);
            for (size_t i = 0; i < s->rank; i++)
                sum += dpi_dot(t->rank, terms->gram[LEFT] + i * t->rank,
                               terms->gram[RIGHT] + i * t->rank);
            norm2 += twice * s->sign * t->sign * sum;
            if (k == l)
                length += lengths(terms, s, r);
        }
    return norm2 * dpi_decomposition_cancels(rank) >= length * length ? norm2 : NAN;
}

void dpi_terms_norm2(dpi_terms *terms, size_t m, double *norm2)
{
    for (size_t r = 0; r < m; r++) {
        double square = NAN;
        if (terms->products && !terms->all_picked)
            square = product_norm2(terms, r);
        terms->cancels[r] = isnan(square);
        if (terms->all_picked)
            with_picked_rows(terms, r, square_row, 1, &norm2[r], false);
        else
            norm2[r] += isnan(square) ? made_norm2(terms, r) : square;
    }
}
