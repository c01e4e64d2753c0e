/* Kernels of logarithms of probabilities; the formulas are in op-tail.c.  All are computed in
 * double, number by number. */
#include <math.h>

#include "graph/kernel-numbers.h"
#include "num/bessel.h"
#include "num/tail.h"

/* Both precisions; `value` is of the number a. */
#define EACH(name, value)                                                                          \
    void dpi_double_##name(const dpi_call *c)                                                      \
    {                                                                                              \
        for (size_t i = 0; i < c->n * c->out_size; i++) {                                          \
            double a = c->in[0][i];                                                                \
            c->out[i] = (value);                                                                   \
        }                                                                                          \
    }                                                                                              \
    void dpi_single_##name(const dpi_call_single *c)                                               \
    {                                                                                              \
        for (size_t i = 0; i < c->n * c->out_size; i++) {                                          \
            double a = (double)c->in[0][i];                                                        \
            c->out[i] = (float)(value);                                                            \
        }                                                                                          \
    }

EACH(log1mexp, dpi_log1mexp(a))
EACH(cloglog, dpi_cloglog(a))
EACH(erf, erf(a))
EACH(atan, atan(a))
EACH(log_normal_cdf, dpi_log_normal_cdf(c->attr->number, a))
EACH(log_cauchy_cdf, dpi_log_cauchy_cdf(a))
EACH(log_bessel, dpi_log_bessel(c->attr->number, a))

/* Index e of the result reads element e modulo the operand's size. */
static void of_two(const dpi_any_call *c, double (*f)(dpi_tail_of, double, double))
{
    size_t number = c->attr->number;
    const dpi_tail_of of = {(dpi_tail_side)(number % 4), number / 4 % 4, number / 16 % 4};
    for (size_t r = 0; r < c->n; r++) {
        const void *a = dpi_from(c, 0, r * c->in_step[0]), *b = dpi_from(c, 1, r * c->in_step[1]);
        for (size_t e = 0; e < c->out_size; e++)
            c->type.put(
                c->out, r * c->out_size + e,
                f(of, c->type.get(a, e % c->in_size[0]), c->type.get(b, e % c->in_size[1])));
    }
}

#define OF_TWO(name)                                                                               \
    void dpi_double_##name(const dpi_call *c)                                                      \
    {                                                                                              \
        const dpi_any_call any = dpi_any_double(c);                                                \
        of_two(&any, dpi_##name);                                                                  \
    }                                                                                              \
    void dpi_single_##name(const dpi_call_single *c)                                               \
    {                                                                                              \
        const dpi_any_call any = dpi_any_float(c);                                                 \
        of_two(&any, dpi_##name);                                                                  \
    }

OF_TWO(log_gamma_tail)
OF_TWO(log_student_tail)
OF_TWO(log_skew_tail)

DPI_INLINE void log_beta_tail(const dpi_any_call *c)
{
    size_t number = c->attr->number;
    const dpi_beta_of of = {number % 4, number / 4 % 4, number / 16 % 4};
    for (size_t i = 0; i < c->n * c->out_size; i++) {
        double a = c->type.get(c->in[0], 3 * i), b = c->type.get(c->in[0], 3 * i + 1);
        c->type.put(c->out, i, dpi_log_beta_tail(of, a, b, c->type.get(c->in[0], 3 * i + 2)));
    }
}
DPI_BOTH(log_beta_tail, )
