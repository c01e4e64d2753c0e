/* Kernels of elementwise operations in double precision: y = f(a) and y = f(a, b) with
 * broadcasting; the formulas are in op-arithmetic.c, op-elementwise.c and op-activation.c.
 *
 * Those of one instruction are compiled for vectors, which changes no bit. */
#include <gsl/gsl_math.h>
#include <math.h>

#include "graph/kernel-loops.h"
#include "num/map.h"
#include "num/special.h"

/* By a kernel for many numbers, whose result for one does not depend on the others. */
static void mapped(const dpi_call *c, dpi_map function)
{
    dpi_map_double(function, c->n * c->out_size, c->in[0], c->out);
}

DPI_INLINE double sum(double a, double b)
{
    return a + b;
}
DPI_LOOPS static void sum_all(const dpi_call *c)
{
    dpi_binary_loop(c, sum);
}
void dpi_double_add(const dpi_call *c)
{
    sum_all(c);
}

DPI_INLINE double difference(double a, double b)
{
    return a - b;
}
DPI_LOOPS static void difference_all(const dpi_call *c)
{
    dpi_binary_loop(c, difference);
}
void dpi_double_sub(const dpi_call *c)
{
    difference_all(c);
}

DPI_INLINE double product(double a, double b)
{
    return a * b;
}
DPI_LOOPS static void product_all(const dpi_call *c)
{
    dpi_binary_loop(c, product);
}
void dpi_double_mul(const dpi_call *c)
{
    product_all(c);
}

DPI_INLINE double quotient(double a, double b)
{
    return a / b;
}
DPI_LOOPS static void quotient_all(const dpi_call *c)
{
    dpi_binary_loop(c, quotient);
}

enum { DIVISORS = 64 };

DPI_LOOPS static void invert(size_t n, const double *b, double *inverse)
{
    for (size_t i = 0; i < n; i++)
        inverse[i] = 1 / b[i];
}

/* What is of each record is divided by what is not by multiplying with its inverse, which is found
 * once: in every call, however many records it is for. */
void dpi_double_div(const dpi_call *c)
{
    double inverse[DIVISORS];
    if (c->in_step[0] == 0 || c->in_step[1] != 0 || c->in_size[1] > DIVISORS) {
        quotient_all(c);
        return;
    }
    dpi_call product = *c;
    invert(c->in_size[1], c->in[1], inverse);
    product.in[1] = inverse;
    product_all(&product);
}

DPI_INLINE double negative(double a)
{
    return -a;
}
DPI_LOOPS static void negative_all(const dpi_call *c)
{
    dpi_unary_loop(c, negative);
}
void dpi_double_neg(const dpi_call *c)
{
    negative_all(c);
}

DPI_INLINE double square(double a)
{
    return a * a;
}
DPI_LOOPS static void square_all(const dpi_call *c)
{
    dpi_unary_loop(c, square);
}
void dpi_double_square(const dpi_call *c)
{
    square_all(c);
}

void dpi_double_exp(const dpi_call *c)
{
    mapped(c, DPI_MAP_EXP);
}

void dpi_double_logistic(const dpi_call *c)
{
    mapped(c, DPI_MAP_LOGISTIC);
}

void dpi_double_softplus(const dpi_call *c)
{
    mapped(c, DPI_MAP_SOFTPLUS);
}

void dpi_double_expm1(const dpi_call *c)
{
    dpi_unary_loop(c, expm1);
}

void dpi_double_log(const dpi_call *c)
{
    dpi_unary_loop(c, log);
}

void dpi_double_log1p(const dpi_call *c)
{
    dpi_unary_loop(c, log1p);
}

void dpi_double_sqrt(const dpi_call *c)
{
    dpi_unary_loop(c, sqrt);
}

void dpi_double_tanh(const dpi_call *c)
{
    dpi_unary_loop(c, tanh);
}

void dpi_double_abs(const dpi_call *c)
{
    dpi_unary_loop(c, fabs);
}

void dpi_double_sin(const dpi_call *c)
{
    dpi_unary_loop(c, sin);
}

void dpi_double_cos(const dpi_call *c)
{
    dpi_unary_loop(c, cos);
}

DPI_INLINE double sign(double a)
{
    return a > 0 ? 1 : a < 0 ? -1 : a;
}
void dpi_double_sign(const dpi_call *c)
{
    dpi_unary_loop(c, sign);
}

void dpi_double_lgamma(const dpi_call *c)
{
    dpi_unary_loop(c, dpi_lgamma);
}

void dpi_double_polygamma(const dpi_call *c)
{
    size_t total = c->n * c->out_size;
    for (size_t i = 0; i < total; i++)
        c->out[i] = dpi_polygamma(c->attr->number, c->in[0][i]);
}

DPI_INLINE double rectified(double a)
{
    return a < 0 ? 0 : a;
}
void dpi_double_relu(const dpi_call *c)
{
    double slope = c->attr->value;
    if (slope == 0) {
        dpi_unary_loop(c, rectified);
        return;
    }
    for (size_t i = 0; i < c->n * c->out_size; i++)
        c->out[i] = c->in[0][i] < 0 ? slope * c->in[0][i] : c->in[0][i];
}

DPI_INLINE double above(double a, double b)
{
    return a > b ? 1 : a <= b ? 0 : NAN;
}
void dpi_double_step(const dpi_call *c)
{
    double low = c->attr->value;
    dpi_binary_loop(c, above);
    for (size_t i = 0; low != 0 && i < c->n * c->out_size; i++)
        c->out[i] = c->out[i] == 0 ? low : c->out[i];
}

DPI_INLINE double where_not_zero(double a, double b)
{
    return b == 0 ? 0 : isnan(b) ? b : a;
}
DPI_INLINE double where_zero(double a, double b)
{
    return b == 0 ? a : isnan(b) ? b : 0;
}
void dpi_double_keep(const dpi_call *c)
{
    if (c->attr->number == 0)
        dpi_binary_loop(c, where_not_zero);
    else
        dpi_binary_loop(c, where_zero);
}

DPI_INLINE double larger(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}
void dpi_double_max(const dpi_call *c)
{
    dpi_binary_loop(c, larger);
}

/* erfc keeps its digits far below 0. */
DPI_INLINE double normal_cdf(double a)
{
    return 0.5 * erfc(-M_SQRT1_2 * a);
}
void dpi_double_normal_cdf(const dpi_call *c)
{
    dpi_unary_loop(c, normal_cdf);
}
