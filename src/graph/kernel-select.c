/* Kernels of selection along the first dimension; the formulas are in op-select.c. */
#include <string.h>

#include "graph/kernel-numbers.h"
#include "num/copy.h"

/* The row that pick k of record r names. */
DPI_INLINE size_t row_of(const dpi_any_call *c, size_t r, size_t k)
{
    return (size_t)c->type.get(c->in[1], r * c->in_step[1] + k);
}

DPI_INLINE void pick(const dpi_any_call *c)
{
    size_t picks = c->in_size[1], size = picks == 0 ? 0 : c->out_size / picks;
    for (size_t r = 0; r < c->n; r++)
        for (size_t k = 0; k < picks; k++)
            dpi_copy_row(size * c->type.size,
                         dpi_from(c, 0, r * c->in_step[0] + row_of(c, r, k) * size),
                         dpi_to(c, (r * picks + k) * size));
}
DPI_BOTH(pick, )

DPI_INLINE void scatter(const dpi_any_call *c)
{
    const dpi_numbers *t = &c->type;
    size_t picks = c->in_size[1], size = picks == 0 ? 0 : c->in_size[0] / picks;
    memset(c->out, 0, c->n * c->out_size * t->size);
    for (size_t r = 0; r < c->n; r++)
        for (size_t k = 0; k < picks; k++) {
            const void *from = dpi_from(c, 0, r * c->in_step[0] + k * size);
            void *to = dpi_to(c, r * c->out_size + row_of(c, r, k) * size);
            for (size_t e = 0; e < size; e++)
                t->put(to, e, t->get(to, e) + t->get(from, e));
        }
}
DPI_BOTH(scatter, )

DPI_INLINE void slice(const dpi_any_call *c)
{
    size_t offset = c->attr->number * (c->out_size / c->attr->rows);
    for (size_t r = 0; r < c->n; r++)
        memcpy(dpi_to(c, r * c->out_size), dpi_from(c, 0, r * c->in_size[0] + offset),
               c->out_size * c->type.size);
}
DPI_BOTH(slice, )

DPI_INLINE void pad(const dpi_any_call *c)
{
    size_t offset = c->attr->number * (c->in_size[0] / c->attr->inner);
    memset(c->out, 0, c->n * c->out_size * c->type.size);
    for (size_t r = 0; r < c->n; r++)
        memcpy(dpi_to(c, r * c->out_size + offset), dpi_from(c, 0, r * c->in_size[0]),
               c->in_size[0] * c->type.size);
}
DPI_BOTH(pad, )
