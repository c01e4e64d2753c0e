/* Loops of Trio that there are for numbers alone; included once for each ring, after
 * share/trio-loop-products.h, with NUMBER and NAME(f) as there, and
 *
 *   SIGNED     the signed type of NUMBER's size */

/* T, and 1 - 2b times a. */
DPI_INLINE NUMBER NAME(shifted)(NUMBER a, int shift)
{
    return (NUMBER)((SIGNED)a >> shift);
}

DPI_INLINE NUMBER NAME(flipped)(NUMBER b, NUMBER a)
{
    return (a ^ (0 - b)) + b;
}

/* ---- the end of a linear layer: z[0] holds e, v1 or -v2 ---- */

/* P0: message = e - F, z = L1 + L2. */
DPI_LOOPS static void NAME(sum_0)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *f = b->draw[0], *l1 = b->draw[1], *l2 = b->draw[2];
    NUMBER *z = b->z[0], *message = b->message[0];
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        message[i] = z[i] - f[i];
        z[i] = l1[i] + l2[i];
    }
}

/* P1: m_z = message = F + L1 - v1. */
DPI_LOOPS static void NAME(sum_1)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *f = b->draw[0], *l = b->draw[1];
    NUMBER *mz = b->z[0], *lz = b->z[1], *message = b->message[0];
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        message[i] = mz[i] = f[i] + l[i] - mz[i];
        lz[i] = l[i];
    }
}

/* P2: m_z = message = D + L2 + v2. */
DPI_LOOPS static void NAME(sum_2)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *d = b->dealt[0], *l = b->draw[0];
    NUMBER *mz = b->z[0], *lz = b->z[1], *message = b->message[0];
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        message[i] = mz[i] = d[i] + l[i] - mz[i];
        lz[i] = l[i];
    }
}

/* P0: z = T(R), message = T(R) - L1. */
DPI_LOOPS static void NAME(shifted_0)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *f = b->draw[0], *l1 = b->draw[1], *g = b->draw[2];
    NUMBER *z = b->z[0], *message = b->message[0];
    int shift = b->shift;
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        z[i] = NAME(shifted)(f[i] + g[i] - z[i], shift);
        message[i] = z[i] - l1[i];
    }
}

/* P1: m_z = message = F - v1. */
DPI_LOOPS static void NAME(shifted_1)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *f = b->draw[0], *l = b->draw[1];
    NUMBER *mz = b->z[0], *lz = b->z[1], *message = b->message[0];
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        message[i] = mz[i] = f[i] - mz[i];
        lz[i] = l[i];
    }
}

/* P2: m_z = message = G + v2. */
DPI_LOOPS static void NAME(shifted_2)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *d = b->dealt[0], *g = b->draw[0];
    NUMBER *mz = b->z[0], *lz = b->z[1], *message = b->message[0];
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        message[i] = mz[i] = g[i] - mz[i];
        lz[i] = d[i];
    }
}

DPI_LOOPS static void NAME(gather_shifted)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *came = b->x[0];
    NUMBER *z = b->z[0];
    int shift = b->shift;
    DPI_APART
    for (size_t i = 0; i < n; i++)
        z[i] = NAME(shifted)(z[i] + came[i], shift);
}

DPI_LOOPS static void NAME(difference)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *x = b->x[0], *y = b->x[1];
    NUMBER *z = b->z[0];
    DPI_APART
    for (size_t i = 0; i < n; i++)
        z[i] = x[i] - y[i];
}

/* ---- halves ---- */

/* P0: z = -(-x >> shift), message = z - F. */
DPI_LOOPS static void NAME(halves_0)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *x = b->x[0], *f = b->draw[0];
    NUMBER *z = b->z[0], *message = b->message[0];
    int shift = b->shift;
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        z[i] = 0 - ((0 - x[i]) >> shift);
        message[i] = z[i] - f[i];
    }
}

DPI_INLINE void NAME(halves_of)(const dpi_trio_block *b, const NUMBER *l)
{
    size_t n = b->n;
    const NUMBER *mx = b->x[0];
    NUMBER *mz = b->z[0], *lz = b->z[1];
    int shift = b->shift;
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        mz[i] = mx[i] >> shift;
        lz[i] = l[i];
    }
}

DPI_LOOPS static void NAME(halves_1)(const dpi_trio_block *b)
{
    NAME(halves_of)(b, b->draw[0]);
}

DPI_LOOPS static void NAME(halves_2)(const dpi_trio_block *b)
{
    NAME(halves_of)(b, b->dealt[0]);
}

/* ---- bits ---- */

/* P0: message = a - F. */
DPI_LOOPS static void NAME(bit_0)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *a = b->bit, *f = b->draw[0];
    NUMBER *message = b->message[0];
    DPI_APART
    for (size_t i = 0; i < n; i++)
        message[i] = a[i] - f[i];
}

/* P1: m_z += c (1 - 2b) F. */
DPI_LOOPS static void NAME(bit_1)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *bit = b->bit, *f = b->draw[0];
    NUMBER *mz = b->z[0], c = (NUMBER)b->coefficient;
    DPI_APART
    for (size_t i = 0; i < n; i++)
        mz[i] += c * NAME(flipped)(bit[i], f[i]);
}

/* P2: m_z += c (b + (1 - 2b) D). */
DPI_LOOPS static void NAME(bit_2)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *bit = b->bit, *d = b->dealt[0];
    NUMBER *mz = b->z[0], c = (NUMBER)b->coefficient;
    DPI_APART
    for (size_t i = 0; i < n; i++)
        mz[i] += c * (bit[i] + NAME(flipped)(bit[i], d[i]));
}

/* P0: z = L1 + L2. */
DPI_LOOPS static void NAME(masks_0)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *l1 = b->draw[0], *l2 = b->draw[1];
    NUMBER *z = b->z[0];
    DPI_APART
    for (size_t i = 0; i < n; i++)
        z[i] = l1[i] + l2[i];
}

/* P1 and P2: m_z = message = u + L. */
DPI_LOOPS static void NAME(masks_12)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *l = b->draw[0];
    NUMBER *mz = b->z[0], *lz = b->z[1], *message = b->message[0];
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        message[i] = mz[i] += l[i];
        lz[i] = l[i];
    }
}

/* P0: messages a - F and a x - F', z = L1 + L2. */
DPI_LOOPS static void NAME(inject_0)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *x = b->x[0], *a = b->bit;
    const NUMBER *f = b->draw[0], *g = b->draw[1], *l1 = b->draw[2], *l2 = b->draw[3];
    NUMBER *z = b->z[0], *message = b->message[0], *product = b->message[1];
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        message[i] = a[i] - f[i];
        product[i] = ((0 - a[i]) & x[i]) - g[i];
        z[i] = l1[i] + l2[i];
    }
}

/* P1: m_z = message = (1 - 2b)(m F - F') - b l1 + L1. */
DPI_LOOPS static void NAME(inject_1)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *mx = b->x[0], *lx = b->x[1], *bit = b->bit;
    const NUMBER *f = b->draw[0], *g = b->draw[1], *l = b->draw[2];
    NUMBER *mz = b->z[0], *lz = b->z[1], *message = b->message[0];
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        NUMBER v = NAME(flipped)(bit[i], mx[i] * f[i] - g[i]) - ((0 - bit[i]) & lx[i]);
        message[i] = mz[i] = v + l[i];
        lz[i] = l[i];
    }
}

/* P2: m_z = message = (1 - 2b)(m D - D') + b (m - l2) + L2. */
DPI_LOOPS static void NAME(inject_2)(const dpi_trio_block *b)
{
    size_t n = b->n;
    const NUMBER *mx = b->x[0], *lx = b->x[1], *bit = b->bit;
    const NUMBER *d = b->dealt[0], *g = b->dealt[1], *l = b->draw[0];
    NUMBER *mz = b->z[0], *lz = b->z[1], *message = b->message[0];
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        NUMBER v = NAME(flipped)(bit[i], mx[i] * d[i] - g[i]) + ((0 - bit[i]) & (mx[i] - lx[i]));
        message[i] = mz[i] = v + l[i];
        lz[i] = l[i];
    }
}

static const dpi_trio_loops NAME(loops) = {
    .product = {{NAME(product_0), {2, 1}}, {NAME(product_1), {2, 0}}, {NAME(product_2), {0, 1}}},
    .sum = {{NAME(sum_0), {2, 1}}, {NAME(sum_1), {2, 0}}, {NAME(sum_2), {0, 1}}},
    .shifted = {{NAME(shifted_0), {2, 1}}, {NAME(shifted_1), {2, 0}}, {NAME(shifted_2), {0, 1}}},
    .halves = {{NAME(halves_0), {1, 0}}, {NAME(halves_1), {1, 0}}, {NAME(halves_2), {0, 0}}},
    .bit = {{NAME(bit_0), {1, 0}}, {NAME(bit_1), {1, 0}}, {NAME(bit_2), {0, 0}}},
    .masks = {{NAME(masks_0), {1, 1}}, {NAME(masks_12), {1, 0}}, {NAME(masks_12), {0, 1}}},
    .inject = {{NAME(inject_0), {3, 1}}, {NAME(inject_1), {3, 0}}, {NAME(inject_2), {0, 1}}},
    .gather = NAME(gather),
    .gather_shifted = NAME(gather_shifted),
    .difference = NAME(difference),
};
