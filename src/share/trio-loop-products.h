/* Loops of Trio's products, for elements of one ring; included once for each, with
 *
 *   NUMBER     the type of the elements: uint64_t, uint32_t
 *   BITWISE    1: words of bits, whose sum is XOR and whose product is AND
 *   NAME(f)    the name of a function of that ring
 *
 * A block's arrays are as dpi_trio_block has them; trio.h has the formulas. */

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

/* P0: message = lx ly - F, z = L1 + L2. */
DPI_LOOPS static void NAME(product_0)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *x = b->x[0], *y = b->y[0], *f = b->draw[0], *l1 = b->draw[1], *l2 = b->draw[2];
    NUMBER *z = b->z[0], *message = b->message[0];
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        message[i] = NAME(minus)(NAME(times)(x[i], y[i]), f[i]);
        z[i] = NAME(plus)(l1[i], l2[i]);
    }
}

/* P1: m_z = message = F + L - (m_x l_y + l_x m_y), l_z = L. */
DPI_LOOPS static void NAME(product_1)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *mx = b->x[0], *lx = b->x[1], *my = b->y[0], *ly = b->y[1];
    const NUMBER *f = b->draw[0], *l = b->draw[1];
    NUMBER *mz = b->z[0], *lz = b->z[1], *message = b->message[0];
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        NUMBER v = NAME(plus)(NAME(times)(mx[i], ly[i]), NAME(times)(lx[i], my[i]));
        message[i] = mz[i] = NAME(minus)(NAME(plus)(f[i], l[i]), v);
        lz[i] = l[i];
    }
}

/* P2: m_z = message = m_x (m_y - l_y) - l_x m_y + D + L, l_z = L. */
DPI_LOOPS static void NAME(product_2)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *mx = b->x[0], *lx = b->x[1], *my = b->y[0], *ly = b->y[1];
    const NUMBER *d = b->dealt[0], *l = b->draw[0];
    NUMBER *mz = b->z[0], *lz = b->z[1], *message = b->message[0];
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        NUMBER v =
            NAME(minus)(NAME(times)(mx[i], NAME(minus)(my[i], ly[i])), NAME(times)(lx[i], my[i]));
        message[i] = mz[i] = NAME(plus)(v, NAME(plus)(d[i], l[i]));
        lz[i] = l[i];
    }
}

/* m_z += what came. */
DPI_LOOPS static void NAME(gather)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *came = b->x[0];
    NUMBER *z = b->z[0];
    DPI_APART
    for (size_t i = 0; i < n; i++)
        z[i] = NAME(plus)(z[i], came[i]);
}
