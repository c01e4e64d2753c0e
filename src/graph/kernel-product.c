/* Kernels of products; the shapes are in op-product.c.
 *
 * When one side is global and the other a vector of each record, or the left one a matrix of each
 * record, all records of a chunk make one matrix product, in which a record's rows do not depend on
 * the others (num/linalg.c). */
#include "graph/kernel-numbers.h"
#include "num/linalg.h"

void dpi_double_matmul(const dpi_call *c)
{
    const dpi_attr *t = c->attr;
    bool ta = t->transpose[0], tb = t->transpose[1];
    if (!ta && c->in_step[0] != 0 && c->in_step[1] == 0) {
        dpi_gemm(false, tb, c->n * t->rows, t->columns, t->inner, c->in[0], c->in[1], c->out);
        return;
    }
    if (t->columns == 1 && !tb && c->in_step[1] != 0 && c->in_step[0] == 0) {
        dpi_gemm(false, !ta, c->n, t->rows, t->inner, c->in[1], c->in[0], c->out);
        return;
    }
    if (c->in_step[0] == 0 && c->in_step[1] == 0) {
        dpi_gemm_global(ta, tb, t->rows, t->columns, t->inner, c->in[0], c->in[1], c->out);
        return;
    }
    if (t->rows == 1 && t->columns == 1 && !ta && !tb) {
        for (size_t r = 0; r < c->n; r++)
            c->out[r] =
                dpi_dot(t->inner, c->in[0] + r * c->in_step[0], c->in[1] + r * c->in_step[1]);
        return;
    }
    const dpi_products each = {.count = c->n,
                               .ta = ta,
                               .tb = tb,
                               .m = t->rows,
                               .n = t->columns,
                               .k = t->inner,
                               .a = c->in[0],
                               .b = c->in[1],
                               .a_step = c->in_step[0],
                               .b_step = c->in_step[1]};
    dpi_gemm_each(&each, c->out);
}

DPI_INLINE void outer(const dpi_any_call *c)
{
    const dpi_numbers *t = &c->type;
    size_t rows = c->attr->rows, columns = c->attr->columns;
    for (size_t r = 0; r < c->n; r++)
        for (size_t i = 0; i < rows; i++) {
            const void *b = dpi_from(c, 1, r * c->in_step[1]);
            void *y = dpi_to(c, r * c->out_size + i * columns);
            double a = t->get(c->in[0], r * c->in_step[0] + i);
            for (size_t j = 0; j < columns; j++)
                t->put(y, j, a * t->get(b, j));
        }
}
DPI_BOTH(outer, DPI_LOOPS)
