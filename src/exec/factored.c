/* Factored forms of the operations that gradients end in: outer products (a dense layer), products
 * of two matrices of a record (a convolution), scattered rows (an embedding), scaled vectors (a
 * linear predictor), and sums of these.
 *
 * Factors are multiplied before they are squared: |a|^2 alone may be 0 where the product is not,
 * and clipping rests on these norms. */
#include "exec/factored.h"

#include "base/compiler.h"
#include "num/linalg.h"

/* y = a b where one factor is a number of each record: |y| = |factor| |other|, multiplied before it
 * is squared, since |other|^2 alone may be 0 where the product is not. */
static bool scaled_operand(const dpi_call *c, int *scale)
{
    *scale = c->in_size[0] == 1 ? 0 : 1;
    return c->in_size[*scale] == 1 && c->in_size[1 - *scale] == c->out_size;
}

/* The square of a b, place by place, in four interleaved sums; of operands that are repeated. */
static double squared_product(const dpi_call *c, const double *a, const double *b)
{
    const size_t n = c->out_size;
    double sum[4] = {0};
    if (c->in_size[0] == n && c->in_size[1] == n) {
        size_t e = 0;
        for (; e + 4 <= n; e += 4)
            for (size_t k = 0; k < 4; k++)
                sum[k] += (a[e + k] * b[e + k]) * (a[e + k] * b[e + k]);
        for (; e < n; e++)
            sum[0] += (a[e] * b[e]) * (a[e] * b[e]);
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
    for (size_t e = 0; e < n; e++) {
        const double product = a[e % c->in_size[0]] * b[e % c->in_size[1]];
        sum[0] += product * product;
    }
    return sum[0];
}

static void mul_norm2(const dpi_call *c, double *norm2)
{
    int s;
    bool factored = scaled_operand(c, &s);
    for (size_t r = 0; r < c->n; r++) {
        const double *a = c->in[0] + r * c->in_step[0], *b = c->in[1] + r * c->in_step[1];
        const double norm =
            factored ? dpi_norm_of_scaled(s == 0 ? *a : *b, c->out_size, s == 0 ? b : a) : 0;
        norm2[r] += factored ? norm * norm : squared_product(c, a, b);
    }
}

/* total += weight a b. */
DPI_LOOPS static void add_product(size_t n, double weight, const double *a, const double *b,
                                  double *restrict total)
{
    for (size_t e = 0; e < n; e++)
        total[e] += weight * (a[e] * b[e]);
}

/* The factors are multiplied before the weight comes in: a small factor times a small weight is
 * rounded coarsely below 1e-308, and a large other factor would bring that back beyond the
 * bound. */
static void mul_weighted_sum(const dpi_call *c, const double *weight, double *total)
{
    int s;
    const bool factored = scaled_operand(c, &s);
    const bool alike = c->in_size[0] == c->out_size && c->in_size[1] == c->out_size;
    for (size_t r = 0; r < c->n; r++) {
        const double *a = c->in[0] + r * c->in_step[0], *b = c->in[1] + r * c->in_step[1];
        const double *vector = s == 0 ? b : a;
        if (weight[r] == 0)
            continue;
        const double factor = s == 0 ? *a : *b;
        if (factored)
            for (size_t e = 0; e < c->out_size; e++)
                total[e] += weight[r] * (factor * vector[e]);
        else if (alike)
            add_product(c->out_size, weight[r], a, b, total);
        else
            for (size_t e = 0; e < c->out_size; e++)
                total[e] += weight[r] * (a[e % c->in_size[0]] * b[e % c->in_size[1]]);
    }
}

/* |a b^T| = |a| |b|, multiplied before they are squared: |a|^2 alone may be 0 where the product is
 * not, and clipping rests on this norm. */
static void outer_norm2(const dpi_call *c, double *norm2)
{
    for (size_t r = 0; r < c->n; r++) {
        const double *a = c->in[0] + r * c->in_step[0], *b = c->in[1] + r * c->in_step[1];
        double norm = dpi_norm_of_outer(c->in_size[0], a, c->in_size[1], b);
        norm2[r] += norm * norm;
    }
}

/* The weight comes last, as in mul_weighted_sum. */
static void outer_weighted_sum(const dpi_call *c, const double *weight, double *total)
{
    const dpi_outer products = {c->n,     c->attr->rows, c->attr->columns, c->in[0],
                                c->in[1], c->in_step[0], c->in_step[1]};
    dpi_add_outer(&products, weight, total);
}

/* |y|^2 = d |a|^2 */
static void spread_norm2(const dpi_call *c, double *norm2)
{
    for (size_t r = 0; r < c->n; r++) {
        double sum = 0;
        for (size_t i = 0; i < c->in_size[0]; i++) {
            double a = c->in[0][r * c->in_step[0] + i];
            sum += a * a;
        }
        norm2[r] += (double)c->attr->number * sum;
    }
}

static void spread_weighted_sum(const dpi_call *c, const double *weight, double *total)
{
    size_t d = c->attr->number;
    for (size_t r = 0; r < c->n; r++)
        for (size_t i = 0; weight[r] != 0 && i < c->in_size[0]; i++)
            for (size_t j = 0; j < d; j++)
                total[i * d + j] += weight[r] * c->in[0][r * c->in_step[0] + i];
}

/* The square of the row that pick k names, when no pick before it names it too. */
static double row_norm2(size_t picks, size_t size, const double *a, const double *g, size_t k)
{
    double sum = 0;
    for (size_t l = 0; l < k; l++)
        if (g[l] == g[k])
            return 0;
    for (size_t e = 0; e < size; e++) {
        double x = 0;
        for (size_t l = k; l < picks; l++)
            x += g[l] == g[k] ? a[l * size + e] : 0;
        sum += x * x;
    }
    return sum;
}

/* The same of records that pick one row each. */
static void one_row_norm2(const dpi_call *c, double *norm2)
{
    for (size_t r = 0; r < c->n; r++) {
        const double *a = c->in[0] + r * c->in_step[0];
        double sum = 0;
        for (size_t e = 0; e < c->in_size[0]; e++)
            sum += a[e] * a[e];
        norm2[r] += sum;
    }
}

/* Rows that are picked twice are added up first. */
static void scatter_norm2(const dpi_call *c, double *norm2)
{
    size_t picks = c->in_size[1], size = picks == 0 ? 0 : c->in_size[0] / picks;
    if (picks == 1) {
        one_row_norm2(c, norm2);
        return;
    }
    for (size_t r = 0; r < c->n; r++)
        for (size_t k = 0; k < picks; k++)
            norm2[r] += row_norm2(picks, size, c->in[0] + r * c->in_step[0],
                                  c->in[1] + r * c->in_step[1], k);
}

static void scatter_weighted_sum(const dpi_call *c, const double *weight, double *total)
{
    size_t picks = c->in_size[1], size = picks == 0 ? 0 : c->in_size[0] / picks;
    for (size_t r = 0; r < c->n; r++)
        for (size_t k = 0; k < picks && weight[r] != 0; k++) {
            const double *from = c->in[0] + r * c->in_step[0] + k * size;
            double *group = total + (size_t)c->in[1][r * c->in_step[1] + k] * size;
            double share = weight[r];
            for (size_t e = 0; e < size; e++)
                group[e] += share * from[e];
        }
}

/* ---- terms ---- */

static bool outer_leaf(const dpi_graph *g, const dpi_node *node, dpi_gradient_term *term,
                       size_t *rows, size_t *columns)
{
    (void)g;
    *rows = node->attr.rows;
    *columns = node->attr.columns;
    term->rank = 1;
    return true;
}

/* Of matrices alone: op(A) is [rows][rank], op(B) [rank][columns]. */
static bool matmul_leaf(const dpi_graph *g, const dpi_node *node, dpi_gradient_term *term,
                        size_t *rows, size_t *columns)
{
    *rows = node->attr.rows;
    *columns = node->attr.columns;
    term->rank = node->attr.inner;
    term->turned[0] = !node->attr.transpose[0];
    term->turned[1] = node->attr.transpose[1];
    return g->nodes[node->in[0]].shape.n_dims == 2 && g->nodes[node->in[1]].shape.n_dims == 2;
}

static bool scatter_leaf(const dpi_graph *g, const dpi_node *node, dpi_gradient_term *term,
                         size_t *rows, size_t *columns)
{
    term->picked = true;
    term->rank = dpi_shape_size(&g->nodes[node->in[1]].shape);
    *rows = node->attr.number;
    *columns = dpi_shape_size(&g->nodes[node->in[0]].shape) / term->rank;
    return true;
}

/* ---- the table ---- */

#define ALONE(name) .norm2 = name##_norm2, .weighted_sum = name##_weighted_sum
#define ROW(name, ...) [DPI_OP_##name] = {__VA_ARGS__}
#define REFUSE(name, why) [DPI_OP_##name] = {.refused = (why)}

static const char source[] = "no gradient ends in a value from outside";
static const char made[] = "it has as many numbers as its inputs, so it is made";
static const char smaller[] = "it has fewer numbers than its inputs, so it is made";
static const char seldom[] = "no weight of a usual model has a gradient that ends in it";
static const char sums[] = "a sum over records is no gradient of one record";

const dpi_factored dpi_factored_forms[DPI_N_OPS] = {
    REFUSE(const, source),
    REFUSE(input, source),
    REFUSE(data, source),
    REFUSE(index, source),
    REFUSE(ones, source),
    ROW(add, .sign = {1, 1}),
    ROW(sub, .sign = {1, -1}),
    ROW(mul, ALONE(mul)),
    REFUSE(div, made),
    ROW(neg, .sign = {-1}),
    REFUSE(exp, made),
    REFUSE(expm1, made),
    REFUSE(log, made),
    REFUSE(log1p, made),
    REFUSE(sqrt, made),
    REFUSE(square, made),
    REFUSE(logistic, made),
    REFUSE(softplus, made),
    REFUSE(tanh, made),
    REFUSE(abs, made),
    REFUSE(sign, made),
    REFUSE(lgamma, made),
    REFUSE(polygamma, made),
    REFUSE(sin, made),
    REFUSE(cos, made),
    REFUSE(log1mexp, made),
    REFUSE(cloglog, made),
    REFUSE(erf, made),
    REFUSE(atan, made),
    REFUSE(log_normal_cdf, made),
    REFUSE(log_cauchy_cdf, made),
    REFUSE(rising, made),
    REFUSE(log_gamma_tail, made),
    REFUSE(log_student_tail, made),
    REFUSE(log_bessel, made),
    REFUSE(log_skew_tail, made),
    REFUSE(log_beta_tail, made),
    REFUSE(sum_to, smaller),
    REFUSE(expand, seldom),
    REFUSE(log_sum_exp, smaller),
    REFUSE(sum_records, sums),
    ROW(matmul, .leaf = matmul_leaf),
    ROW(outer, ALONE(outer), .outer = true, .leaf = outer_leaf),
    REFUSE(cholesky, made),
    REFUSE(triangular_solve, made),
    REFUSE(lower, made),
    REFUSE(transpose, made),
    REFUSE(diagonal, smaller),
    REFUSE(diagonal_matrix, seldom),
    REFUSE(pick, smaller),
    ROW(scatter, ALONE(scatter), .picked = true, .leaf = scatter_leaf),
    REFUSE(slice, smaller),
    REFUSE(pad, seldom),
    REFUSE(sum_last, smaller),
    ROW(spread, ALONE(spread)),
    REFUSE(contrast, made),
    REFUSE(cumulative_sum, made),
    REFUSE(relu, made),
    REFUSE(step, made),
    REFUSE(max, made),
    REFUSE(keep, made),
    REFUSE(normal_cdf, made),
    REFUSE(group_mean, made),
    ROW(reshape, .sign = {1}),
    REFUSE(patches, made),
    REFUSE(fold, made),
    REFUSE(pool_sum, smaller),
    REFUSE(unpool_sum, seldom),
    REFUSE(pool_max, smaller),
    REFUSE(unpool_max, seldom),
};
