/* Loops of Quad that there are for numbers alone; included once for each ring, after
 * share/quad-loop-products.h, with NUMBER and NAME(f) as there. */

/* 1 - 2b times a. */
DPI_INLINE NUMBER NAME(flipped)(NUMBER b, NUMBER a)
{
    return (a ^ (0 - b)) + b;
}

/* b times a. */
DPI_INLINE NUMBER NAME(chosen)(NUMBER b, NUMBER a)
{
    return (0 - b) & a;
}

DPI_LOOPS static void NAME(negative)(const dpi_quad_block *b)
{
    size_t n = b->n;
    const NUMBER *x = b->x[0];
    NUMBER *z = b->z[0];
    DPI_APART
    for (size_t i = 0; i < n; i++)
        z[i] = 0 - x[i];
}

/* ---- the end of a linear layer with a shift ---- */

DPI_LOOPS static void NAME(shifted_0)(const dpi_quad_block *b)
{
    size_t n = b->n;
    const NUMBER *f = b->draw[0], *l1 = b->draw[1], *g = b->draw[2];
    const NUMBER *rest = b->rest, *shown = b->shown[0];
    NUMBER *a = b->z[0], *lambda = b->z[1], *dealt = b->dealt[0], *whole = b->whole;
    int shift = b->shift;
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        NUMBER product = lambda[i];
        lambda[i] = (f[i] + g[i] - product) >> shift;
        dealt[i] = lambda[i] - l1[i];
        whole[i] = a[i] + product + rest[i];
        a[i] = shown[i] - lambda[i];
    }
}

/* whole = H - half. */
DPI_INLINE void NAME(shifted_of)(const dpi_quad_block *b, const NUMBER *f, const NUMBER *l,
                                 const NUMBER *h, const NUMBER *w)
{
    size_t n = b->n;
    NUMBER *z = b->z[0], *lz = b->z[1], *wz = b->z[2], *half = b->half, *whole = b->whole;
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        half[i] = f[i] - lz[i];
        whole[i] = h[i] - half[i];
        z[i] += half[i];
        lz[i] = l[i];
        wz[i] = w[i];
    }
}

DPI_LOOPS static void NAME(shifted_1)(const dpi_quad_block *b)
{
    NAME(shifted_of)(b, b->draw[0], b->draw[1], b->draw[2], b->draw[3]);
}

DPI_LOOPS static void NAME(shifted_2)(const dpi_quad_block *b)
{
    NAME(shifted_of)(b, b->draw[0], b->dealt[0], b->draw[1], b->draw[2]);
}

DPI_LOOPS static void NAME(shifted_3)(const dpi_quad_block *b)
{
    size_t n = b->n;
    const NUMBER *f = b->draw[0], *l1 = b->draw[1], *g = b->draw[2], *h = b->draw[3];
    const NUMBER *w = b->draw[4];
    NUMBER *wz = b->z[0], *lambda = b->z[1], *dealt = b->dealt[0], *rest = b->rest;
    int shift = b->shift;
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        NUMBER product = lambda[i];
        rest[i] = product - wz[i] - f[i] - g[i] + h[i];
        lambda[i] = (f[i] + g[i] - product) >> shift;
        dealt[i] = lambda[i] - l1[i];
        wz[i] = w[i];
    }
}

/* P1 and P2: whole -= the other's half, X_z = T(X_z + half), shown = X_z + w_z. */
DPI_LOOPS static void NAME(gather_shifted)(const dpi_quad_block *b)
{
    size_t n = b->n;
    const NUMBER *half = b->half, *w = b->z[2];
    NUMBER *z = b->z[0], *whole = b->whole, *shown = b->shown[0];
    int shift = b->shift;
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        whole[i] -= half[i];
        z[i] = (NUMBER)(z[i] + half[i]) >> shift;
        shown[i] = z[i] + w[i];
    }
}

/* ---- halves ---- */

DPI_LOOPS static void NAME(halves_0)(const dpi_quad_block *b)
{
    size_t n = b->n;
    const NUMBER *lx = b->x[1], *f = b->draw[0], *shown = b->shown[0];
    NUMBER *a = b->z[0], *lambda = b->z[1], *dealt = b->dealt[0];
    int shift = b->shift;
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        lambda[i] = 0 - ((NUMBER)(0 - lx[i]) >> shift);
        dealt[i] = lambda[i] - f[i];
        a[i] = shown[i] - lambda[i];
    }
}

DPI_INLINE void NAME(halves_of)(const dpi_quad_block *b, const NUMBER *l, const NUMBER *w)
{
    size_t n = b->n;
    const NUMBER *x = b->x[0];
    NUMBER *z = b->z[0], *lz = b->z[1], *wz = b->z[2], *shown = b->shown[0];
    int shift = b->shift;
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        z[i] = x[i] >> shift;
        shown[i] = z[i] + w[i];
        lz[i] = l[i];
        wz[i] = w[i];
    }
}

DPI_LOOPS static void NAME(halves_1)(const dpi_quad_block *b)
{
    NAME(halves_of)(b, b->draw[0], b->draw[1]);
}

DPI_LOOPS static void NAME(halves_2)(const dpi_quad_block *b)
{
    NAME(halves_of)(b, b->dealt[0], b->draw[0]);
}

DPI_LOOPS static void NAME(halves_3)(const dpi_quad_block *b)
{
    size_t n = b->n;
    const NUMBER *lx = b->x[1], *f = b->draw[0], *w = b->draw[1];
    NUMBER *wz = b->z[0], *lambda = b->z[1], *dealt = b->dealt[0];
    int shift = b->shift;
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        lambda[i] = 0 - ((NUMBER)(0 - lx[i]) >> shift);
        dealt[i] = lambda[i] - f[i];
        wz[i] = w[i];
    }
}

/* ---- several bits: z[0] and z[1] begin as zeros ---- */

/* z[0] += c (l + (1 - 2l) shown). */
DPI_LOOPS static void NAME(bit_0)(const dpi_quad_block *b)
{
    size_t n = b->n;
    const NUMBER *l = b->bit, *f = b->draw[0], *shown = b->shown[0];
    NUMBER *a = b->z[0], *dealt = b->dealt[0], c = (NUMBER)b->coefficient;
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        dealt[i] = l[i] - f[i];
        a[i] += c * (l[i] + NAME(flipped)(l[i], shown[i]));
    }
}

/* z[0] += c b, z[1] += c (1 - 2b) f. */
DPI_INLINE void NAME(bit_of)(const dpi_quad_block *b, const NUMBER *f, const NUMBER *h)
{
    size_t n = b->n;
    const NUMBER *bit = b->bit;
    NUMBER *z = b->z[0], *u = b->z[1], *shown = b->shown[0], c = (NUMBER)b->coefficient;
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        z[i] += c * bit[i];
        u[i] += c * NAME(flipped)(bit[i], f[i]);
        shown[i] = bit[i] + h[i];
    }
}

DPI_LOOPS static void NAME(bit_1)(const dpi_quad_block *b)
{
    NAME(bit_of)(b, b->draw[0], b->draw[1]);
}

DPI_LOOPS static void NAME(bit_2)(const dpi_quad_block *b)
{
    NAME(bit_of)(b, b->dealt[0], b->draw[0]);
}

/* z[0] += c (1 - 2l) H. */
DPI_LOOPS static void NAME(bit_3)(const dpi_quad_block *b)
{
    size_t n = b->n;
    const NUMBER *l = b->bit, *f = b->draw[0], *h = b->draw[1];
    NUMBER *z = b->z[0], *dealt = b->dealt[0], c = (NUMBER)b->coefficient;
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        dealt[i] = l[i] - f[i];
        z[i] += c * NAME(flipped)(l[i], h[i]);
    }
}

DPI_LOOPS static void NAME(masks_0)(const dpi_quad_block *b)
{
    size_t n = b->n;
    const NUMBER *l1 = b->draw[0], *l2 = b->draw[1], *rest = b->rest;
    NUMBER *a = b->z[0], *lambda = b->z[1], *whole = b->whole;
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        lambda[i] = l1[i] + l2[i];
        a[i] += rest[i];
        whole[i] = a[i] + lambda[i];
    }
}

DPI_LOOPS static void NAME(masks_12)(const dpi_quad_block *b)
{
    size_t n = b->n;
    const NUMBER *l = b->draw[0], *w = b->draw[1];
    NUMBER *z = b->z[0], *lz = b->z[1], *wz = b->z[2], *half = b->half;
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        half[i] = lz[i] + l[i];
        z[i] += half[i];
        lz[i] = l[i];
        wz[i] = w[i];
    }
}

DPI_LOOPS static void NAME(masks_3)(const dpi_quad_block *b)
{
    size_t n = b->n;
    const NUMBER *l1 = b->draw[0], *l2 = b->draw[1], *w = b->draw[2];
    NUMBER *wz = b->z[0], *lambda = b->z[1], *rest = b->rest;
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        rest[i] = w[i] - wz[i];
        lambda[i] = l1[i] + l2[i];
        wz[i] = w[i];
    }
}

/* ---- a bit times a number: z may be x ---- */

DPI_LOOPS static void NAME(inject_0)(const dpi_quad_block *b)
{
    size_t n = b->n;
    const NUMBER *ax = b->x[0], *lx = b->x[1], *l = b->bit;
    const NUMBER *f = b->draw[0], *g = b->draw[1], *l1 = b->draw[2], *l2 = b->draw[3];
    const NUMBER *rest = b->rest, *product = b->shown[0], *bit = b->shown[1];
    NUMBER *a = b->z[0], *lambda = b->z[1], *whole = b->whole;
    NUMBER *dealt = b->dealt[0], *dealt_product = b->dealt[1];
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        NUMBER v = NAME(flipped)(l[i], product[i] - lx[i] * bit[i]) + NAME(chosen)(l[i], ax[i]);
        dealt[i] = l[i] - f[i];
        dealt_product[i] = NAME(chosen)(l[i], lx[i]) - g[i];
        a[i] = v + rest[i];
        lambda[i] = l1[i] + l2[i];
        whole[i] = a[i] + lambda[i];
    }
}

DPI_INLINE void NAME(inject_of)(const dpi_quad_block *b, const NUMBER *f, const NUMBER *g,
                                const void *const draw[4])
{
    size_t n = b->n;
    const NUMBER *x = b->x[0], *lx = b->x[1], *bit = b->bit;
    const NUMBER *l = draw[0], *h = draw[1], *h_bit = draw[2], *w = draw[3];
    NUMBER *z = b->z[0], *lz = b->z[1], *wz = b->z[2], *half = b->half;
    NUMBER *shown = b->shown[0], *shown_bit = b->shown[1];
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        NUMBER product = NAME(chosen)(bit[i], x[i]);
        half[i] = NAME(flipped)(bit[i], x[i] * f[i] - g[i]) - NAME(chosen)(bit[i], lx[i]) + l[i];
        shown[i] = product + h[i];
        shown_bit[i] = bit[i] + h_bit[i];
        z[i] = product + half[i];
        lz[i] = l[i];
        wz[i] = w[i];
    }
}

DPI_LOOPS static void NAME(inject_1)(const dpi_quad_block *b)
{
    NAME(inject_of)(b, b->draw[0], b->draw[1], &b->draw[2]);
}

DPI_LOOPS static void NAME(inject_2)(const dpi_quad_block *b)
{
    NAME(inject_of)(b, b->dealt[0], b->dealt[1], &b->draw[0]);
}

DPI_LOOPS static void NAME(inject_3)(const dpi_quad_block *b)
{
    size_t n = b->n;
    const NUMBER *wx = b->x[0], *lx = b->x[1], *l = b->bit;
    const NUMBER *f = b->draw[0], *g = b->draw[1], *l1 = b->draw[2], *l2 = b->draw[3];
    const NUMBER *h = b->draw[4], *h_bit = b->draw[5], *w = b->draw[6];
    NUMBER *wz = b->z[0], *lambda = b->z[1], *rest = b->rest;
    NUMBER *dealt = b->dealt[0], *dealt_product = b->dealt[1];
    DPI_APART
    for (size_t i = 0; i < n; i++) {
        NUMBER v = NAME(flipped)(l[i], lx[i] * h_bit[i] - h[i]) - NAME(chosen)(l[i], wx[i]);
        dealt[i] = l[i] - f[i];
        dealt_product[i] = NAME(chosen)(l[i], lx[i]) - g[i];
        rest[i] = w[i] + v;
        lambda[i] = l1[i] + l2[i];
        wz[i] = w[i];
    }
}

static const dpi_quad_loops NAME(loops) = {
    .terms = {{NAME(terms_03), {0}},
              {NAME(terms_12), {0}},
              {NAME(terms_12), {0}},
              {NAME(terms_03), {0}}},
    .sum = {{NAME(sum_0), {2, 1, 0}},
            {NAME(sum_1), {2, 0, 2}},
            {NAME(sum_2), {0, 1, 2}},
            {NAME(sum_3), {2, 1, 2}}},
    .shifted = {{NAME(shifted_0), {2, 1, 0}},
                {NAME(shifted_1), {2, 0, 2}},
                {NAME(shifted_2), {0, 1, 2}},
                {NAME(shifted_3), {2, 1, 2}}},
    .halves = {{NAME(halves_0), {1, 0, 0}},
               {NAME(halves_1), {1, 0, 1}},
               {NAME(halves_2), {0, 0, 1}},
               {NAME(halves_3), {1, 0, 1}}},
    .bit = {{NAME(bit_0), {1, 0, 0}},
            {NAME(bit_1), {1, 0, 1}},
            {NAME(bit_2), {0, 0, 1}},
            {NAME(bit_3), {1, 0, 1}}},
    .masks = {{NAME(masks_0), {1, 1, 0}},
              {NAME(masks_12), {1, 0, 1}},
              {NAME(masks_12), {0, 1, 1}},
              {NAME(masks_3), {1, 1, 1}}},
    .inject = {{NAME(inject_0), {3, 1, 0}},
               {NAME(inject_1), {3, 0, 3}},
               {NAME(inject_2), {0, 1, 3}},
               {NAME(inject_3), {3, 1, 3}}},
    .gather = NAME(gather),
    .gather_shifted = NAME(gather_shifted),
    .add = NAME(add),
    .negative = NAME(negative),
};
