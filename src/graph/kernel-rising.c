/* The kernels of rising: log Gamma(a + b) - log Gamma(a) and derivatives, with broadcasting. */
#include "graph/kernel-numbers.h"
#include "num/rising.h"

DPI_INLINE void rising(const dpi_any_call *c)
{
    const dpi_numbers *t = &c->type;
    for (size_t r = 0; r < c->n; r++)
        for (size_t e = 0; e < c->out_size; e++) {
            double a = t->get(c->in[0], r * c->in_step[0] + e % c->in_size[0]);
            double b = t->get(c->in[1], r * c->in_step[1] + e % c->in_size[1]);
            t->put(c->out, r * c->out_size + e, dpi_rising(c->attr->number, a, b));
        }
}
DPI_BOTH(rising, )
