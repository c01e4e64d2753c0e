/* Single precision: kernels for floats of operations that have one of their own for it.  Operations
 * that move numbers or add them up have one kernel for both precisions (kernel-numbers.h). */
#include "graph/kernel.h"

#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "num/linalg.h"
#include "num/map.h"
#include "num/special.h"

/* Index e of the result reads element e modulo the operand's size. */
DPI_INLINE void broadcast(const dpi_call_single *c, float (*f)(float, float))
{
    for (size_t r = 0; r < c->n; r++) {
        const float *a = c->in[0] + r * c->in_step[0], *b = c->in[1] + r * c->in_step[1];
        float *y = c->out + r * c->out_size;
        size_t i = 0, j = 0;
        for (size_t e = 0; e < c->out_size; e++) {
            y[e] = f(a[i], b[j]);
            i = i + 1 == c->in_size[0] ? 0 : i + 1;
            j = j + 1 == c->in_size[1] ? 0 : j + 1;
        }
    }
}

DPI_INLINE void binary(const dpi_call_single *c, float (*f)(float, float))
{
    size_t size = c->out_size;
    bool a_full = c->in_size[0] == size, b_full = c->in_size[1] == size;
    if (!(a_full || c->in_size[0] == 1) || !(b_full || c->in_size[1] == 1)) {
        broadcast(c, f);
        return;
    }
    for (size_t r = 0; r < c->n; r++) {
        const float *a = c->in[0] + r * c->in_step[0], *b = c->in[1] + r * c->in_step[1];
        float *y = c->out + r * size;
        if (a_full && b_full)
            for (size_t e = 0; e < size; e++)
                y[e] = f(a[e], b[e]);
        else if (a_full)
            for (size_t e = 0; e < size; e++)
                y[e] = f(a[e], *b);
        else
            for (size_t e = 0; e < size; e++)
                y[e] = f(*a, b[e]);
    }
}

DPI_INLINE void unary(const dpi_call_single *c, float (*f)(float))
{
    size_t total = c->n * c->out_size;
    for (size_t i = 0; i < total; i++)
        c->out[i] = f(c->in[0][i]);
}

DPI_INLINE float sum(float a, float b)
{
    return a + b;
}
DPI_INLINE float difference(float a, float b)
{
    return a - b;
}
DPI_INLINE float product(float a, float b)
{
    return a * b;
}
DPI_INLINE float quotient(float a, float b)
{
    return a / b;
}
DPI_INLINE float negative(float a)
{
    return -a;
}
DPI_INLINE float square(float a)
{
    return a * a;
}
DPI_INLINE float absolute(float a)
{
    return fabsf(a);
}
DPI_INLINE float sign(float a)
{
    return a > 0 ? 1 : a < 0 ? -1 : a;
}
DPI_INLINE float larger(float a, float b)
{
    return a > b || isnan(a) ? a : b;
}
DPI_INLINE float above(float a, float b)
{
    return a > b ? 1 : a <= b ? 0 : NAN;
}

DPI_INLINE float where_not_zero(float a, float b)
{
    return b == 0 ? 0 : isnan(b) ? b : a;
}

DPI_INLINE float where_zero(float a, float b)
{
    return b == 0 ? a : isnan(b) ? b : 0;
}

/* Compiled for vectors (base/compiler.h); each number is one operation, so the same in all
 * versions. */
DPI_LOOPS static void sum_all(const dpi_call_single *c)
{
    binary(c, sum);
}
DPI_LOOPS static void difference_all(const dpi_call_single *c)
{
    binary(c, difference);
}
DPI_LOOPS static void product_all(const dpi_call_single *c)
{
    binary(c, product);
}
DPI_LOOPS static void quotient_all(const dpi_call_single *c)
{
    binary(c, quotient);
}
DPI_LOOPS static void negative_all(const dpi_call_single *c)
{
    unary(c, negative);
}
DPI_LOOPS static void square_all(const dpi_call_single *c)
{
    unary(c, square);
}

DPI_LOOPS static void absolute_all(const dpi_call_single *c)
{
    unary(c, absolute);
}

void dpi_single_add(const dpi_call_single *c)
{
    sum_all(c);
}

void dpi_single_sub(const dpi_call_single *c)
{
    difference_all(c);
}

void dpi_single_mul(const dpi_call_single *c)
{
    product_all(c);
}

void dpi_single_div(const dpi_call_single *c)
{
    quotient_all(c);
}

void dpi_single_neg(const dpi_call_single *c)
{
    negative_all(c);
}

void dpi_single_square(const dpi_call_single *c)
{
    square_all(c);
}

void dpi_single_sqrt(const dpi_call_single *c)
{
    unary(c, sqrtf);
}

void dpi_single_abs(const dpi_call_single *c)
{
    absolute_all(c);
}

void dpi_single_sign(const dpi_call_single *c)
{
    unary(c, sign);
}

void dpi_single_max(const dpi_call_single *c)
{
    binary(c, larger);
}

void dpi_single_keep(const dpi_call_single *c)
{
    if (c->attr->number == 0)
        binary(c, where_not_zero);
    else
        binary(c, where_zero);
}

void dpi_single_step(const dpi_call_single *c)
{
    float low = (float)c->attr->value;
    binary(c, above);
    for (size_t i = 0; low != 0 && i < c->n * c->out_size; i++)
        c->out[i] = c->out[i] == 0 ? low : c->out[i];
}

DPI_LOOPS static void rectify(size_t n, const float *restrict a, float *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = a[i] < 0 ? 0 : a[i];
}

DPI_LOOPS static void leak(size_t n, float slope, const float *restrict a, float *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = a[i] < 0 ? slope * a[i] : a[i];
}

void dpi_single_relu(const dpi_call_single *c)
{
    float slope = (float)c->attr->value;
    if (slope == 0)
        rectify(c->n * c->out_size, c->in[0], c->out);
    else
        leak(c->n * c->out_size, slope, c->in[0], c->out);
}

/* The sum is kept in double: images have thousands of numbers. */
void dpi_single_group_mean(const dpi_call_single *c)
{
    const dpi_attr *t = c->attr;
    size_t width = t->number * t->columns, row = t->inner * width;
    for (size_t k = 0; k < c->n * t->rows * t->number; k++) {
        size_t start = k / t->number * row + k % t->number * t->columns;
        double sum = 0;
        for (size_t i = 0; i < t->inner; i++)
            for (size_t j = 0; j < t->columns; j++)
                sum += c->in[0][start + i * width + j];
        float mean = (float)(sum / (double)(t->inner * t->columns));
        for (size_t i = 0; i < t->inner; i++)
            for (size_t j = 0; j < t->columns; j++)
                c->out[start + i * width + j] = mean;
    }
}

void dpi_single_exp(const dpi_call_single *c)
{
    dpi_map_single(DPI_MAP_EXP, c->n * c->out_size, c->in[0], c->out);
}

/* Those of the C library, number by number, as in double. */
void dpi_single_expm1(const dpi_call_single *c)
{
    unary(c, expm1f);
}

void dpi_single_log(const dpi_call_single *c)
{
    unary(c, logf);
}

void dpi_single_log1p(const dpi_call_single *c)
{
    unary(c, log1pf);
}

void dpi_single_sin(const dpi_call_single *c)
{
    unary(c, sinf);
}

void dpi_single_cos(const dpi_call_single *c)
{
    unary(c, cosf);
}

/* These are computed in double, number by number. */
DPI_INLINE float log_gamma(float a)
{
    return (float)dpi_lgamma(a);
}

void dpi_single_lgamma(const dpi_call_single *c)
{
    unary(c, log_gamma);
}

void dpi_single_polygamma(const dpi_call_single *c)
{
    for (size_t i = 0; i < c->n * c->out_size; i++)
        c->out[i] = (float)dpi_polygamma(c->attr->number, c->in[0][i]);
}

void dpi_single_logistic(const dpi_call_single *c)
{
    dpi_map_single(DPI_MAP_LOGISTIC, c->n * c->out_size, c->in[0], c->out);
}

enum { TANH_BLOCK = 64 }; /* numbers, always as many, so that all take the same way */

/* tanh x from t = e^(-2 |x|), t to 3 v, v = 2^-24: +-(1 - t) / (1 + t), to 10 v for |x| >= 1/4, and
 * the series to x^9 below, whose end is under 1.3e-9 of it. */
DPI_LOOPS static void from_exponential(const float *restrict x, const float *restrict t,
                                       float *restrict y)
{
    for (size_t i = 0; i < TANH_BLOCK; i++) {
        float a = fabsf(x[i]), z = x[i] * x[i];
        float series = z * (62.0F / 2835) - 17.0F / 315;
        series = series * z + 2.0F / 15;
        series = series * z - 1.0F / 3;
        float near = a + a * (z * series), far = (1 - t[i]) / (1 + t[i]);
        y[i] = copysignf(a < 0.25F ? near : far, x[i]);
    }
}

void dpi_single_tanh(const dpi_call_single *c)
{
    float x[TANH_BLOCK] = {0}, twice[TANH_BLOCK], t[TANH_BLOCK], y[TANH_BLOCK];
    for (size_t from = 0, n = c->n * c->out_size; from < n; from += TANH_BLOCK) {
        size_t count = n - from < TANH_BLOCK ? n - from : TANH_BLOCK;
        memcpy(x, c->in[0] + from, count * sizeof *x);
        for (size_t i = 0; i < TANH_BLOCK; i++)
            twice[i] = -2 * fabsf(x[i]);
        dpi_map_single(DPI_MAP_EXP, TANH_BLOCK, twice, t);
        from_exponential(x, t, y);
        memcpy(c->out + from, y, count * sizeof *y);
    }
}

void dpi_single_softplus(const dpi_call_single *c)
{
    dpi_map_single(DPI_MAP_SOFTPLUS, c->n * c->out_size, c->in[0], c->out);
}

void dpi_single_normal_cdf(const dpi_call_single *c)
{
    dpi_map_single(DPI_MAP_NORMAL_CDF, c->n * c->out_size, c->in[0], c->out);
}

void dpi_single_expand(const dpi_call_single *c)
{
    for (size_t r = 0; r < c->n; r++)
        for (size_t e = 0; e < c->out_size && c->in_size[0] > 0; e += c->in_size[0])
            memcpy(c->out + r * c->out_size + e, c->in[0] + r * c->in_size[0],
                   c->in_size[0] * sizeof *c->out);
}

/* The cases of dpi_double_matmul. */
void dpi_single_matmul(const dpi_call_single *c)
{
    const dpi_attr *t = c->attr;
    bool ta = t->transpose[0], tb = t->transpose[1];
    if (!ta && c->in_step[0] != 0 && c->in_step[1] == 0)
        dpi_gemm_single(false, tb, c->n * t->rows, t->columns, t->inner, c->in[0], c->in[1],
                        c->out);
    else if (t->columns == 1 && !tb && c->in_step[1] != 0 && c->in_step[0] == 0)
        dpi_gemm_single(false, !ta, c->n, t->rows, t->inner, c->in[1], c->in[0], c->out);
    else
        for (size_t r = 0; r < c->n; r++)
            dpi_gemm_single(ta, tb, t->rows, t->columns, t->inner, c->in[0] + r * c->in_step[0],
                            c->in[1] + r * c->in_step[1], c->out + r * c->out_size);
}
