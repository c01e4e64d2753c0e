/* Loops of Quad's products, for elements of one ring; included once for each, with
 *
 *   NUMBER     the type of the elements: uint64_t, uint32_t
 *   BITWISE    1: words of bits, whose sum is XOR and whose product is AND
 *   NAME(f)    the name of a function of that ring
 *
 * A block's arrays are as dpi_quad_block has them; quad.h has the formulas. */

DPI_INLINE NUMBER NAME(plus)(NUMBER a, NUMBER b)
{
    return BITWISE ? a ^ b : a + b;
}

DPI_INLINE NUMBER NAME(minus)(NUMBER a, NUMBER b)
{
    return BITWISE ? a ^ b : a - b;
}

DPI_INLINE NUMBER NAME(times)(NUMBER a, NUMBER b)
{
    return BITWISE ? a & b : a * b;
}

/* ---- products: z may be x or y ---- */

DPI_INLINE void NAME(terms_of)(const dpi_quad_block *b, const NUMBER *xs, const NUMBER *ys,
                               NUMBER *square, NUMBER *cross)
{
    size_t n = b->n;
    const NUMBER *x0 = b->x[0], *x1 = b->x[1], *y0 = b->y[0], *y1 = b->y[1];
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        NUMBER s = NAME(times)(xs[i], ys[i]);
        NUMBER c = NAME(plus)(NAME(times)(x0[i], y1[i]), NAME(times)(x1[i], y0[i]));
        square[i] = s;
        cross[i] = c;
    }
}

/* P0 and P3: z[1] = lx ly, z[0] = ax ly + lx ay or wx ly + lx wy. */
DPI_LOOPS static void NAME(terms_03)(const dpi_quad_block *b)
{
    NAME(terms_of)(b, b->x[1], b->y[1], b->z[1], b->z[0]);
}

/* P1 and P2: z[0] = X Y, z[1] = X ly + lx Y. */
DPI_LOOPS static void NAME(terms_12)(const dpi_quad_block *b)
{
    NAME(terms_of)(b, b->x[0], b->y[0], b->z[0], b->z[1]);
}

/* ---- what is made of them ---- */

DPI_LOOPS static void NAME(sum_0)(const dpi_quad_block *b)
{
    size_t n = b->n;
    const NUMBER *f = b->draw[0], *l1 = b->draw[1], *l2 = b->draw[2];
    const NUMBER *rest = b->rest, *shown = b->shown[0];
    NUMBER *a = b->z[0], *lambda = b->z[1], *dealt = b->dealt[0], *whole = b->whole;
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        NUMBER l = NAME(plus)(l1[i], l2[i]);
        dealt[i] = NAME(minus)(NAME(plus)(l, lambda[i]), f[i]);
        a[i] = NAME(plus)(NAME(minus)(shown[i], a[i]), rest[i]);
        lambda[i] = l;
        whole[i] = NAME(plus)(a[i], l);
    }
}

DPI_LOOPS static void NAME(sum_1)(const dpi_quad_block *b)
{
    size_t n = b->n;
    const NUMBER *f = b->draw[0], *l1 = b->draw[1], *h = b->draw[2], *w = b->draw[3];
    NUMBER *z = b->z[0], *lz = b->z[1], *wz = b->z[2], *half = b->half, *shown = b->shown[0];
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        half[i] = NAME(minus)(f[i], lz[i]);
        shown[i] = NAME(plus)(z[i], h[i]);
        z[i] = NAME(plus)(z[i], half[i]);
        lz[i] = l1[i];
        wz[i] = w[i];
    }
}

DPI_LOOPS static void NAME(sum_2)(const dpi_quad_block *b)
{
    size_t n = b->n;
    const NUMBER *dealt = b->dealt[0], *l2 = b->draw[0], *h = b->draw[1], *w = b->draw[2];
    NUMBER *z = b->z[0], *lz = b->z[1], *wz = b->z[2], *half = b->half, *shown = b->shown[0];
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        half[i] = NAME(minus)(dealt[i], lz[i]);
        shown[i] = NAME(plus)(z[i], h[i]);
        z[i] = NAME(plus)(z[i], half[i]);
        lz[i] = l2[i];
        wz[i] = w[i];
    }
}

DPI_LOOPS static void NAME(sum_3)(const dpi_quad_block *b)
{
    size_t n = b->n;
    const NUMBER *f = b->draw[0], *l1 = b->draw[1], *l2 = b->draw[2], *h = b->draw[3];
    const NUMBER *w = b->draw[4];
    NUMBER *wz = b->z[0], *lambda = b->z[1], *dealt = b->dealt[0], *rest = b->rest;
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        NUMBER l = NAME(plus)(l1[i], l2[i]);
        dealt[i] = NAME(minus)(NAME(plus)(l, lambda[i]), f[i]);
        rest[i] = NAME(plus)(NAME(minus)(NAME(minus)(wz[i], lambda[i]), h[i]), w[i]);
        wz[i] = w[i];
        lambda[i] = l;
    }
}

/* P1 and P2: X_z += the other's half, whole = X_z + w_z. */
DPI_LOOPS static void NAME(gather)(const dpi_quad_block *b)
{
    size_t n = b->n;
    const NUMBER *half = b->half, *w = b->z[2];
    NUMBER *z = b->z[0], *whole = b->whole;
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        z[i] = NAME(plus)(z[i], half[i]);
        whole[i] = NAME(plus)(z[i], w[i]);
    }
}

DPI_LOOPS static void NAME(add)(const dpi_quad_block *b)
{
    size_t n = b->n;
    const NUMBER *x = b->x[0], *y = b->y[0];
    NUMBER *z = b->z[0];
    DPI_APART
    for (size_t i = 0; i < n; i++)
        z[i] = NAME(plus)(x[i], y[i]);
}
