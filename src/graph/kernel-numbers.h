/* Kernels that are written once for numbers of either precision.
 *
 * Arithmetic is in double and what is stored is rounded to its type: a sum, difference or product
 * of two floats comes out as it would in float, and a longer sum is rounded once.  The functions
 * are inlined with constant arguments, so that loads and stores are plain ones; DPI_LOOPS is for
 * those that multiply nothing that they add, since some of its versions would fuse that. */
#ifndef DPI_GRAPH_KERNEL_NUMBERS_H
#define DPI_GRAPH_KERNEL_NUMBERS_H

#include "base/compiler.h"
#include "graph/kernel.h"

typedef struct dpi_numbers {
    size_t size; /* of one, in bytes */
    double (*get)(const void *a, size_t i);
    void (*put)(void *y, size_t i, double value);
} dpi_numbers;

/* A call of either precision. */
typedef struct dpi_any_call {
    dpi_numbers type;
    size_t n;
    const void *in[2];
    void *out;
    size_t in_size[2], out_size, in_step[2];
    const dpi_attr *attr;
} dpi_any_call;

DPI_INLINE double dpi_get_double(const void *a, size_t i)
{
    return ((const double *)a)[i];
}

DPI_INLINE void dpi_put_double(void *y, size_t i, double value)
{
    ((double *)y)[i] = value;
}

DPI_INLINE double dpi_get_float(const void *a, size_t i)
{
    return (double)((const float *)a)[i];
}

DPI_INLINE void dpi_put_float(void *y, size_t i, double value)
{
    ((float *)y)[i] = (float)value;
}

/* Number i of an array. */
DPI_INLINE const void *dpi_from(const dpi_any_call *c, int k, size_t i)
{
    return (const char *)c->in[k] + i * c->type.size;
}

DPI_INLINE void *dpi_to(const dpi_any_call *c, size_t i)
{
    return (char *)c->out + i * c->type.size;
}

DPI_INLINE dpi_any_call dpi_any_double(const dpi_call *c)
{
    return (dpi_any_call){.type = {sizeof(double), dpi_get_double, dpi_put_double},
                          .n = c->n,
                          .in = {c->in[0], c->in[1]},
                          .out = c->out,
                          .in_size = {c->in_size[0], c->in_size[1]},
                          .out_size = c->out_size,
                          .in_step = {c->in_step[0], c->in_step[1]},
                          .attr = c->attr};
}

DPI_INLINE dpi_any_call dpi_any_float(const dpi_call_single *c)
{
    return (dpi_any_call){.type = {sizeof(float), dpi_get_float, dpi_put_float},
                          .n = c->n,
                          .in = {c->in[0], c->in[1]},
                          .out = c->out,
                          .in_size = {c->in_size[0], c->in_size[1]},
                          .out_size = c->out_size,
                          .in_step = {c->in_step[0], c->in_step[1]},
                          .attr = c->attr};
}

/* Defines dpi_double_name and dpi_single_name from an inline function of a dpi_any_call. */
#define DPI_BOTH(name, how)                                                                        \
    how static void name##_doubles(const dpi_call *c)                                              \
    {                                                                                              \
        const dpi_any_call any = dpi_any_double(c);                                                \
        name(&any);                                                                                \
    }                                                                                              \
    how static void name##_floats(const dpi_call_single *c)                                        \
    {                                                                                              \
        const dpi_any_call any = dpi_any_float(c);                                                 \
        name(&any);                                                                                \
    }                                                                                              \
    void dpi_double_##name(const dpi_call *c)                                                      \
    {                                                                                              \
        name##_doubles(c);                                                                         \
    }                                                                                              \
    void dpi_single_##name(const dpi_call_single *c)                                               \
    {                                                                                              \
        name##_floats(c);                                                                          \
    }

#endif
