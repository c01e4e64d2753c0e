#include "tests/graph/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exec/value.h"

/* clang-format off */
#define EVERYWHERE {-2.385, 2.913}
#define POSITIVE {0.217, 3.385}
#define BINARY(name, of_a, of_b) {.op = &dpi_op_##name, .a = "?", .b = "?", .range = {of_a, of_b}}
#define UNARY(name, ...) {.op = &dpi_op_##name, .a = "?", .range = {{__VA_ARGS__}}}
#define STEPPED(name, unit, ...)                                                                   \
    {.op = &dpi_op_##name, .a = "?", .range = {{__VA_ARGS__}}, .step = unit}
#define POLYGAMMA(order, ...)                                                                      \
    {.op = &dpi_op_polygamma, .a = "?", .range = {{__VA_ARGS__}}, .attr.number = order}
#define NORMAL(order, unit, ...)                                                                   \
    {.op = &dpi_op_log_normal_cdf, .a = "?", .range = {{__VA_ARGS__}}, .step = unit,               \
     .attr.number = order}
#define BESSEL(order, ...)                                                                         \
    {.op = &dpi_op_log_bessel, .a = "?", .range = {{__VA_ARGS__}}, .attr.number = order}
#define RISING(order, of_a, of_b)                                                                  \
    {.op = &dpi_op_rising, .a = "?", .b = "?", .range = {of_a, of_b}, .attr.number = order}
#define UPTO(low, high) {low, high}
#define TAIL(name, of, ...)                                                                        \
    {.op = &dpi_op_log_##name##_tail, .a = "*2", .b = "2", .range = {__VA_ARGS__},                \
     .attr.number = of}
#define RELU(slope, ...)                                                                           \
    {.op = &dpi_op_relu, .a = "?", .range = {{__VA_ARGS__}}, .attr.value = slope}
#define APART(name, low, ...) \
    {.op = &dpi_op_##name, .a = "?", .b = "?", .range = {__VA_ARGS__}, .attr.value = low}
#define GROUPS(of_rows, groups) .attr = {.rows = of_rows, .number = groups}
#define ON(name, shapes) .op = &dpi_op_##name, .a = shapes, .range = {EVERYWHERE, EVERYWHERE}

#define SOLVE(matrix, right) \
    {ON(triangular_solve, matrix), .b = right, .diagonal = 4}, \
    {ON(triangular_solve, matrix), .b = right, .diagonal = -4.5, .attr.transpose = {true}}

#define WINDOW(star, image, view, ...) \
    {ON(patches, star image), .attr.window = {__VA_ARGS__}}, \
    {ON(fold, star view), .to = image, .attr.window = {__VA_ARGS__}}

#define POOL(star, other, image, view, ...) \
    {ON(pool_sum, star image), .attr.window = {__VA_ARGS__}}, \
    {ON(unpool_sum, star view), .to = image, .attr.window = {__VA_ARGS__}}, \
    {ON(pool_max, star image), .b = other image, .attr.window = {__VA_ARGS__}}, \
    {ON(unpool_max, star image), .b = other view, .attr.window = {__VA_ARGS__}}

static const point table[] = {
    BINARY(add, EVERYWHERE, EVERYWHERE),
    BINARY(sub, EVERYWHERE, EVERYWHERE),
    BINARY(mul, EVERYWHERE, EVERYWHERE),
    BINARY(div, EVERYWHERE, POSITIVE),
    {.op = &dpi_op_div, .a = "3", .b = "*2x3", .range = {EVERYWHERE, {-3.385, -0.517}}},
    {.op = &dpi_op_mul, .a = "2x2x3", .b = "*2x3", .range = {EVERYWHERE, EVERYWHERE}},
    {.op = &dpi_op_mul, .a = "*3", .b = "2x2x2x3", .range = {EVERYWHERE, EVERYWHERE}},
    UNARY(neg, -2.385, 2.913),
    UNARY(exp, -2.385, 2.913), STEPPED(exp, 1, -41.7, -38.2), STEPPED(exp, 1, 31.3, 52.9),
    UNARY(expm1, -2.385, 2.913), STEPPED(expm1, 1, -9.7, -7.3), STEPPED(expm1, 1, 1.3e-9, 2.9e-8),
    UNARY(log, 0.217, 3.385), UNARY(log, 1.7e-9, 3.1e-7), UNARY(log, 2.3e8, 4.1e9),
    UNARY(log1p, -0.872, 3.385), STEPPED(log1p, 1, 1.3e-9, 2.9e-8),
    STEPPED(log1p, 1e-3, -0.999, -0.998),
    UNARY(sqrt, 0.217, 3.385), UNARY(sqrt, 2.3e-9, 4.1e-8), UNARY(sqrt, 2.3e8, 4.1e9),
    UNARY(square, -2.385, 2.913), UNARY(square, 213.7, 413.9),
    UNARY(logistic, -2.385, 2.913), STEPPED(logistic, 1, -33.7, -28.3),
    STEPPED(logistic, 1, 11.3, 19.7),
    UNARY(softplus, -2.385, 2.913), STEPPED(softplus, 1, -33.7, -28.3),
    STEPPED(softplus, 1, 11.3, 19.7),
    UNARY(sin, -2.385, 2.913), STEPPED(sin, 1, 41.7, 53.9),
    UNARY(cos, -2.385, 2.913), STEPPED(cos, 1, 41.7, 53.9),
    UNARY(tanh, -2.385, 2.913), STEPPED(tanh, 1, 4.3e-8, 5.9e-7),
    UNARY(abs, -2.913, -0.385), UNARY(abs, 0.385, 2.913),
    UNARY(sign, -2.913, -0.385), UNARY(sign, 0.385, 2.913),
    RELU(0, -2.913, -0.385), RELU(0, 0.385, 2.913), RELU(0.217, -2.913, -0.385),
    RELU(0.217, 0.385, 2.913),
    RELU(-1.385, -2.913, -0.385), RELU(-1.385, 0.385, 2.913),
    APART(max, 0, {-2.913, 0.385}, {0.613, 2.917}), APART(max, 0, {0.613, 2.917}, {-2.913, 0.385}),
    {.op = &dpi_op_max, .a = "3", .b = "*2x3", .range = {{-2.913, 0.385}, {0.613, 2.917}}},
    {.op = &dpi_op_keep, .a = "?", .b = "?", .range = {EVERYWHERE}, .groups = 2},
    {.op = &dpi_op_keep, .a = "?", .b = "?", .range = {EVERYWHERE}, .groups = 3, .attr.number = 1},
    APART(step, 0, {-2.913, 0.385}, {0.613, 2.917}),
    APART(step, 0, {0.613, 2.917}, {-2.913, 0.385}),
    APART(step, 0.217, {-2.913, 0.385}, {0.613, 2.917}),
    APART(step, 0.217, {0.613, 2.917}, {-2.913, 0.385}),
    UNARY(normal_cdf, -2.385, 2.913), STEPPED(normal_cdf, 1, -11.3, -7.9),
    STEPPED(normal_cdf, 1, 2.7, 3.3),
    UNARY(lgamma, 0.217, 3.385), UNARY(lgamma, 1.3e-6, 2.1e-3), UNARY(lgamma, 7.3, 41.7),
    UNARY(lgamma, 2.1e3, 7.3e6),
    POLYGAMMA(0, 0.217, 3.385), POLYGAMMA(0, 1.3e-3, 2.1e-2), POLYGAMMA(0, 21.3, 713.7),
    POLYGAMMA(1, 0.217, 3.385), POLYGAMMA(1, 1.3e-3, 2.1e-2), POLYGAMMA(1, 21.3, 713.7),
    POLYGAMMA(2, 0.217, 3.385), POLYGAMMA(2, 21.3, 713.7),
    POLYGAMMA(3, 0.217, 3.385), POLYGAMMA(3, 21.3, 713.7),
    UNARY(log1mexp, -3.385, -0.217), STEPPED(log1mexp, 1, -33.7, -28.3),
    UNARY(log1mexp, -3.1e-7, -1.7e-9),
    UNARY(cloglog, -3.385, 2.913), STEPPED(cloglog, 1, -5.7, -3.3),
    STEPPED(cloglog, 0.1, 2.9, 3.7),
    UNARY(erf, -2.385, 2.913), STEPPED(erf, 1, 1.7e-9, 3.1e-7),
    UNARY(atan, -2.385, 2.913), UNARY(atan, 21.3, 713.7), STEPPED(atan, 1, 1.7e-9, 3.1e-7),
    NORMAL(0, 0, -2.385, 2.913), NORMAL(0, 1, -33.7, -5.9), NORMAL(0, 1, 2.7, 7.9),
    NORMAL(1, 0, -2.385, 2.913), NORMAL(1, 1, -9.3, -5.9), NORMAL(1, 1, 2.7, 7.9),
    NORMAL(2, 0, -2.385, 2.913), NORMAL(2, 1, -5.9, -3.1), NORMAL(2, 1, 2.7, 7.9),
    BESSEL(0, 0.217, 3.385), BESSEL(0, 3.3, 41.7), BESSEL(0, 41.7, 713.7),
    BESSEL(1, 0.217, 3.385), BESSEL(1, 3.3, 27.9), BESSEL(2, 0.217, 3.385), BESSEL(2, 3.3, 27.9),
    UNARY(log_cauchy_cdf, -2.385, 2.913), UNARY(log_cauchy_cdf, -713.7, -21.3),
    UNARY(log_cauchy_cdf, 21.3, 713.7),
    RISING(0, POSITIVE, UPTO(1.217, 9.385)), RISING(0, UPTO(21.3, 71.7), UPTO(0.913, 37.1)),
    RISING(1, POSITIVE, UPTO(1.217, 9.385)), RISING(1, UPTO(21.3, 71.7), UPTO(0.913, 37.1)),
    RISING(2, POSITIVE, UPTO(1.217, 9.385)), RISING(3, UPTO(21.3, 71.7), UPTO(0.913, 37.1)),
    {.op = &dpi_op_rising, .a = "3", .b = "*2x3", .range = {POSITIVE, {1.217, 9.385}}},
    TAIL(gamma, DPI_LOWER, {0.217, 3.385}, {0.317, 2.913}),
    TAIL(gamma, DPI_UPPER, {0.217, 3.385}, {0.317, 2.913}),
    TAIL(gamma, DPI_LOWER, {7.3, 41.7}, {0.713, 5.9}),
    TAIL(gamma, DPI_UPPER, {7.3, 21.7}, {31.7, 49.3}),
    TAIL(student, DPI_LOWER, {0.717, 9.385}, {-6.713, -2.217}),
    TAIL(student, DPI_UPPER, {0.717, 9.385}, {-1.713, 1.217}),
    TAIL(student, DPI_LOWER, {0.717, 9.385}, {-1.713, 1.217}),
    TAIL(student, DPI_UPPER, {0.717, 9.385}, {2.217, 6.713}),
    TAIL(gamma, DPI_LOWER, {1.3e3, 1.4e3}, {1.21e3, 1.29e3}),
    TAIL(student, DPI_WITHIN, {0.717, 9.385}, {0.117, 6.713}),
    TAIL(skew, DPI_LOWER, {-0.613, 2.913}, {-1.713, 0.617}),
    TAIL(skew, DPI_UPPER, {-2.913, 0.613}, {-0.713, 1.217}),
    TAIL(skew, DPI_LOWER, {0.717, 2.913}, {-6.713, -4.217}),
    TAIL(skew, DPI_UPPER, {-0.717, 1.385}, {6.217, 9.713}),
    {.op = &dpi_op_log_beta_tail, .a = "*4x3", .range = {{0.217, 3.385}}},
    {.op = &dpi_op_log_beta_tail, .a = "3", .range = {{0.717, 1.385}}},
    {.op = &dpi_op_log_gamma_tail, .a = "2", .b = "*3x2", .range = {{0.9, 3.4}, {0.3, 2.9}}},

    {ON(sum_to, "3"), .to = ""}, {ON(sum_to, "*3"), .to = ""}, {ON(sum_to, "2x3"), .to = ""},
    {ON(sum_to, "2x3"), .to = "3"}, {ON(sum_to, "*2x3"), .to = "3"},
    {ON(sum_to, "*4x2x3"), .to = "2x3"},
    {ON(sum_to, "4x2x3"), .to = "3"}, {ON(sum_to, "*3"), .to = "3"},
    {ON(expand, ""), .to = "3"}, {ON(expand, "*"), .to = "2x3"}, {ON(expand, "3"), .to = "2x3"},
    {ON(expand, "*3"), .to = "2x3"}, {ON(expand, "*3"), .to = "4x2x3"},
    {ON(expand, "*3"), .to = "3"},
    {ON(log_sum_exp, "5")}, {ON(log_sum_exp, "*5")}, {ON(log_sum_exp, "*1")},
    {.op = &dpi_op_log_sum_exp, .a = "*4", .range = {{-717.3, -703.1}}, .step = 1},
    {.op = &dpi_op_log_sum_exp, .a = "*4", .range = {{711.3, 723.1}}, .step = 1},
    {ON(log_sum_exp, "2x3")}, {ON(log_sum_exp, "*2x3")}, {ON(log_sum_exp, "*2x2x3")},
    {ON(log_sum_exp, "*2x1")},
    {ON(sum_last, "3")}, {ON(sum_last, "*3")}, {ON(sum_last, "2x3")}, {ON(sum_last, "*2x3")},
    {ON(sum_last, "*4x2x3")}, {ON(sum_last, "*1x3")}, {ON(sum_last, "*3x1")},
    {ON(spread, ""), .attr.number = 3}, {ON(spread, "*"), .attr.number = 3},
    {ON(spread, "2"), .attr.number = 3},
    {ON(spread, "*2"), .attr.number = 3}, {ON(spread, "*4x2"), .attr.number = 1},
    {ON(spread, "*4x2"), .attr.number = 3},
    {ON(cumulative_sum, "")}, {ON(cumulative_sum, "*")}, {ON(cumulative_sum, "5")},
    {ON(cumulative_sum, "*4")}, {ON(cumulative_sum, "3x1")}, {ON(cumulative_sum, "*2x3")},
    {ON(cumulative_sum, "4"), .attr.transpose = {true}},
    {ON(cumulative_sum, "*5"), .attr.transpose = {true}},
    {ON(cumulative_sum, "*2x2x3"), .attr.transpose = {true}},
    {ON(contrast, "1")}, {ON(contrast, "*1")}, {ON(contrast, "4")}, {ON(contrast, "*4")},
    {ON(contrast, "*2x3")},
    {ON(contrast, "2"), .attr.transpose = {true}}, {ON(contrast, "*2"), .attr.transpose = {true}},
    {ON(contrast, "*5"), .attr.transpose = {true}}, {ON(contrast, "3x4"), .attr.transpose = {true}},
    {ON(group_mean, "1"), GROUPS(1, 1)}, {ON(group_mean, "6"), GROUPS(1, 3)},
    {ON(group_mean, "*6"), GROUPS(1, 2)},
    {ON(group_mean, "4x6"), GROUPS(4, 1)}, {ON(group_mean, "*4x6"), GROUPS(4, 1)},
    {ON(group_mean, "*4x6"), GROUPS(1, 1)},
    {ON(group_mean, "4x6"), GROUPS(1, 2)}, {ON(group_mean, "*4x6"), GROUPS(1, 3)},
    {ON(group_mean, "*4x6"), GROUPS(2, 3)},
    {ON(group_mean, "*2x3x4"), GROUPS(2, 2)}, {ON(group_mean, "*3x1"), GROUPS(3, 1)},
    POOL("", "", "6", "2x1", {2, 3}, {2, 2}, {1, 1}, {0, 0}),
    POOL("*", "*", "6x2", "2x2", {2, 3}, {2, 2}, {1, 1}, {0, 0}),
    POOL("*", "", "12", "4x2", {2, 3}, {2, 2}, {2, 1}, {1, 0}),
    POOL("", "*", "9x2", "4x2", {3, 3}, {2, 3}, {1, 2}, {0, 1}),
    POOL("*", "*", "20x1", "6x1", {4, 5}, {2, 2}, {2, 2}, {0, 1}),
    POOL("*", "*", "9x1", "9x1", {3, 3}, {3, 3}, {1, 1}, {1, 1}),
    {ON(sum_records, "*")}, {ON(sum_records, "*3")}, {ON(sum_records, "*2x3")},

    {ON(outer, "2"), .b = "3"}, {ON(outer, "*2"), .b = "3"}, {ON(outer, "2"), .b = "*3"},
    {ON(outer, "*2"), .b = "*3"}, {ON(outer, "*1"), .b = "3"},
    {ON(cholesky, "1x1"), .diagonal = 7}, {ON(cholesky, "3x3"), .diagonal = 7},
    {ON(cholesky, "*4x4"), .diagonal = 9}, {ON(cholesky, "*2x2"), .diagonal = 5},
    SOLVE("1x1", "1"), SOLVE("3x3", "3"), SOLVE("*3x3", "3"), SOLVE("3x3", "*3"),
    SOLVE("*2x2", "*2"), SOLVE("3x3", "3x2"), SOLVE("*2x2", "2x3"), SOLVE("2x2", "*2x1"),
    SOLVE("*3x3", "*3x2"),
    {ON(lower, "3x3"), .attr.value = 0.5}, {ON(lower, "*3x3"), .attr.value = 1},
    {ON(lower, "*1x1"), .attr.value = -0.25},
    {ON(transpose, "2x3")}, {ON(transpose, "*3x2")}, {ON(transpose, "*1x4")},
    {ON(transpose, "3x3")},
    {ON(diagonal, "3x3")}, {ON(diagonal, "*2x2")}, {ON(diagonal, "*1x1")},
    {ON(diagonal_matrix, "3")}, {ON(diagonal_matrix, "*2")}, {ON(diagonal_matrix, "*1")},
    {ON(pick, "4"), .b = "", .groups = 4}, {ON(pick, "4"), .b = "*", .groups = 4},
    {ON(pick, "*4"), .b = "", .groups = 4}, {ON(pick, "*4"), .b = "*", .groups = 4},
    {ON(pick, "4x2"), .b = "*", .groups = 4}, {ON(pick, "*4x2x3"), .b = "*", .groups = 4},
    {ON(pick, "1x2"), .b = "*", .groups = 1},
    {ON(scatter, ""), .b = "", .groups = 4}, {ON(scatter, ""), .b = "*", .groups = 4},
    {ON(scatter, "*"), .b = "", .groups = 4}, {ON(scatter, "*"), .b = "*", .groups = 4},
    {ON(scatter, "3"), .b = "*", .groups = 2}, {ON(scatter, "*2x3"), .b = "*", .groups = 4},
    {ON(pick, "4x2"), .b = "*3", .groups = 4}, {ON(pick, "*4"), .b = "5", .groups = 4},
    {ON(pick, "4x2x2"), .b = "*2", .groups = 4},
    {ON(pick, "*2x3"), .b = "*1", .groups = 2},
    {ON(scatter, "*5x2"), .b = "*5", .groups = 3}, {ON(scatter, "5"), .b = "*5", .groups = 4},
    {ON(scatter, "*3x2"), .b = "3", .groups = 2},
    {ON(scatter, "*6x2x3"), .b = "*6", .groups = 3}, {ON(scatter, "3x2"), .b = "3", .groups = 2},
    {ON(scatter, "*1x2"), .b = "*1", .groups = 3},
    {ON(slice, "5"), .attr = {.number = 0, .rows = 5}},
    {ON(slice, "5"), .attr = {.number = 1, .rows = 3}},
    {ON(slice, "*5"), .attr = {.number = 4, .rows = 1}},
    {ON(slice, "*5x2"), .attr = {.number = 3, .rows = 2}},
    {ON(slice, "5x2x3"), .attr = {.number = 2, .rows = 1}}, {ON(slice, "*1"), .attr = {.rows = 1}},
    {ON(pad, ""), .to = "5", .attr = {.number = 4, .inner = 1}},
    {ON(pad, "*"), .to = "5", .attr = {.number = 0, .inner = 1}},
    {ON(pad, "3"), .to = "5", .attr = {.number = 1, .inner = 3}},
    {ON(pad, "*3"), .to = "3", .attr = {.inner = 3}},
    {ON(pad, "*2x3"), .to = "5x3", .attr = {.number = 3, .inner = 2}},
    {ON(pad, "*2x3"), .to = "4x2x3", .attr = {.number = 2, .inner = 1}},
    {ON(reshape, "3"), .to = "3x1"}, {ON(reshape, "*2x3"), .to = "3x2"},
    {ON(reshape, "*2x3"), .to = "6"},
    {ON(reshape, "*1"), .to = ""}, {ON(reshape, "4x2x3"), .to = "2x12"},
    WINDOW("", "6", "4x2", {2, 3}, {1, 2}, {1, 1}, {0, 0}),
    WINDOW("*", "6x2", "2x8", {2, 3}, {2, 2}, {1, 1}, {0, 0}),
    WINDOW("*", "4", "12x6", {2, 2}, {2, 3}, {1, 1}, {1, 2}),
    WINDOW("*", "12x1", "4x4", {3, 4}, {2, 2}, {2, 2}, {1, 0}),
    WINDOW("*", "5x2", "3x4", {1, 5}, {1, 2}, {1, 2}, {0, 1}),
    WINDOW("", "8", "1x8", {2, 2}, {2, 2}, {3, 1}, {0, 0}),
};

/* Every vector and matrix on both sides, plain and transposed, global and per record; also sizes
 * 1. */
static const char *const products[][2] = {
    {"4", "4"}, {"2x4", "4"}, {"4", "4x3"}, {"2x4", "4x3"},
    {"1", "1"}, {"1x4", "4"}, {"4", "4x1"}, {"2x1", "1x3"}, {"1x4", "4x1"}, {"2x1", "1"},
    {"1", "1x3"},
};
/* clang-format on */

static const char *const all_shapes[] = {"", "3", "2x3", "*", "*3", "*2x3"};
enum {
    N_TABLE = sizeof table / sizeof table[0],
    N_PRODUCTS = sizeof products / sizeof products[0]
};
enum { N_SHAPES = sizeof all_shapes / sizeof all_shapes[0] };

dpi_shape point_shape(const char *text)
{
    dpi_shape shape = dpi_scalar(*text == '*');
    for (text += *text == '*'; *text != 0; text += *text == 'x') {
        char *end;
        shape.dim[shape.n_dims++] = (size_t)strtoul(text, &end, 10);
        text = end;
    }
    return shape;
}

/* "2x4" as "4x2" when `transposed`, with a star in front when per-record; vectors stay. */
static const char *variant(const char *shape, bool transposed, bool per_record)
{
    static char texts[512][8];
    static size_t used;
    char *text = texts[used++ % 512];
    bool turn = transposed && strlen(shape) == 3;
    (void)snprintf(text, sizeof texts[0], "%s%c%s%c", per_record ? "*" : "", shape[turn ? 2 : 0],
                   strlen(shape) == 3 ? "x" : "", strlen(shape) == 3 ? shape[turn ? 0 : 2] : 0);
    return text;
}

static size_t add_products(point *list)
{
    size_t n = 0;
    for (size_t i = 0; i < N_PRODUCTS; i++)
        for (int bits = 0; bits < 16; bits++) {
            bool ta = bits & 1, tb = bits & 2;
            list[n++] =
                (point){ON(matmul, variant(products[i][0], ta, bits & 4)),
                        .b = variant(products[i][1], tb, bits & 8), .attr.transpose = {ta, tb}};
        }
    return n;
}

size_t points_all(point **list)
{
    *list = calloc(N_TABLE * N_SHAPES * N_SHAPES + N_PRODUCTS * 16, sizeof **list);
    size_t n = add_products(*list);
    for (size_t i = 0; i < N_TABLE; i++) {
        point p = table[i];
        bool all_a = *p.a == '?', all_b = p.b != NULL && *p.b == '?';
        for (size_t a = 0; a < (all_a ? N_SHAPES : 1); a++)
            for (size_t b = 0; b < (all_b ? N_SHAPES : 1); b++) {
                p.a = all_a ? all_shapes[a] : table[i].a;
                p.b = all_b ? all_shapes[b] : table[i].b;
                (*list)[n++] = p;
            }
    }
    return n;
}

void world_new(world *w)
{
    *w = (world){.in = {DPI_NONE, DPI_NONE}, .y = DPI_NONE};
    dpi_graph_init(&w->g, &w->arena, &w->err);
    w->e = naive_new(&w->g, POINT_RECORDS);
}

void world_free(world *w)
{
    naive_free(w->e);
    dpi_arena_free(&w->arena);
}

/* Element i of the values of that name: the golden ratio's multiples modulo 1 have no pattern. */
static double spread(const char *name, size_t i, double low, double high)
{
    double at = (double)(i + 1) * 0.6180339887498949;
    for (; *name != 0; name++)
        at += (unsigned char)*name * 0.7548776662466927;
    return low + (high - low) * (at - floor(at));
}

dpi_id world_input(world *w, const char *name, dpi_shape shape, double low, double high)
{
    dpi_id id = dpi_source(&w->g, &dpi_op_input, name, (dpi_attr){.shape = shape});
    assert_ok(w->err.status, w->err.text);
    for (size_t i = 0; i < naive_count(w->e, id); i++)
        naive_value(w->e, id)[i] = spread(name, i, low, high);
    return id;
}

dpi_id world_groups(world *w, const char *name, dpi_shape shape, size_t groups)
{
    dpi_id id = world_input(w, name, shape, 0, (double)groups);
    for (size_t i = 0; i < naive_count(w->e, id); i++)
        naive_value(w->e, id)[i] = floorl(naive_value(w->e, id)[i]);
    return id;
}

dpi_id world_constant(world *w, const char *name, dpi_shape shape, double low, double high)
{
    size_t size = dpi_shape_size(&shape);
    double *values = calloc(size + 1, sizeof *values);
    for (size_t i = 0; i < size; i++)
        values[i] = spread(name, i, low, high);
    dpi_id id = dpi_constant_array(&w->g, shape, values);
    free(values);
    return id;
}

/* To the matrix or matrices of the first input. */
static void add_diagonal(world *w, double more)
{
    const dpi_shape *shape = &dpi_get(&w->g, w->in[0])->shape;
    size_t n = shape->n_dims == 2 ? shape->dim[1] : 0;
    for (size_t i = 0; n > 0 && i < naive_count(w->e, w->in[0]); i++)
        if (i / n % n == i % n)
            naive_value(w->e, w->in[0])[i] += more;
}

void world_of_point(world *w, const point *p)
{
    world_new(w);
    dpi_attr attr = p->attr;
    w->step = p->step;
    if (p->to != NULL)
        attr.shape = point_shape(p->to);
    if (p->op == &dpi_op_scatter)
        attr.number = p->groups;
    (void)snprintf(w->text, sizeof w->text,
                   "%s(\"%s\" in %g ... %g, \"%s\"), number %zu, transpose %d %d", p->op->name,
                   p->a, p->range[0][0], p->range[0][1], p->b != NULL ? p->b : "-", attr.number,
                   attr.transpose[0], attr.transpose[1]);
    w->in[0] = world_input(w, "a", point_shape(p->a), p->range[0][0], p->range[0][1]);
    w->n_real = 1;
    add_diagonal(w, p->diagonal);
    if (p->b != NULL && p->groups > 0)
        w->in[1] = world_groups(w, "b", point_shape(p->b), p->groups);
    else if (p->b != NULL)
        w->in[w->n_real++] = world_input(w, "b", point_shape(p->b), p->range[1][0], p->range[1][1]);
    w->y = dpi_apply(&w->g, p->op, w->in[0], w->in[1], &attr);
    assert_ok(w->err.status, w->err.text);
}

static void copy_inputs(world *w, dpi_run *run, size_t from, size_t m)
{
    for (size_t i = 0; i < w->g.n_nodes; i++) {
        const dpi_node *node = &w->g.nodes[i];
        double *to = dpi_run_value(run, (dpi_id)i);
        if (node->op != &dpi_op_input || to == NULL)
            continue;
        size_t size = dpi_shape_size(&node->shape);
        const long double *value =
            naive_value(w->e, (dpi_id)i) + (node->shape.per_record ? from * size : 0);
        for (size_t k = 0; k < (node->shape.per_record ? m : 1) * size; k++)
            to[k] = (double)value[k];
    }
}

void world_run(world *w, size_t n_wanted, const dpi_id *wanted, size_t chunk, double **out)
{
    dp_error err = {0};
    dpi_run *run;
    dpi_run_spec spec = {.graph = &w->g, .wanted = wanted, .n_wanted = n_wanted, .chunk = chunk};
    spec.strip = w->g.n_nodes % 2; /* half of the graphs go record after record */
    assert_ok(dpi_run_new(&spec, &run, &err), err.text);
    copy_inputs(w, run, 0, chunk < w->e->n ? chunk : w->e->n);
    dpi_run_globals(run);
    dpi_run_start_records(run);
    for (size_t k = 0; k < n_wanted; k++)
        out[k] = calloc(naive_count(w->e, wanted[k]) + 1, sizeof **out);
    for (size_t from = 0; from < w->e->n; from += chunk) {
        size_t m = w->e->n - from < chunk ? w->e->n - from : chunk;
        copy_inputs(w, run, from, m);
        dpi_run_records(run, m, NULL, from);
        for (size_t k = 0; k < n_wanted; k++) {
            size_t size = dpi_shape_size(&dpi_get(&w->g, wanted[k])->shape);
            if (dpi_get(&w->g, wanted[k])->shape.per_record)
                memcpy(out[k] + from * size, dpi_run_value(run, wanted[k]),
                       m * size * sizeof **out);
        }
    }
    dpi_run_late(run);
    for (size_t k = 0; k < n_wanted; k++)
        if (!dpi_get(&w->g, wanted[k])->shape.per_record)
            memcpy(out[k], dpi_run_value(run, wanted[k]),
                   naive_count(w->e, wanted[k]) * sizeof **out);
    dpi_run_free(run);
}
