/* Products of matrices modulo 2^64 or 2^32: the code that each instruction set compiles for itself,
 * once for each ring.
 *
 * The file that includes it defines TILE_TARGET (an attribute), TILE_ELEMENT, TILE_NAME(x) (x and
 * something of the ring), TILE_ROWS and TILE_COLUMNS (of a tile of dots), TILE_HEIGHT and
 * TILE_WIDTH (of a tile of a panel), TILE_DOTS and TILE_PANEL (names); and, each called by
 * TILE_NAME,
 *
 *   vector   a type that holds elements         factor   a vector, ready to be multiplied with
 *   sum      a type that holds sums of products, zeros at first
 *   load_some(from, n)   n elements, at most as many as a vector has, and zeros
 *   store_some(to, vector, n)
 *   factor_of(vector)    add_product(&sum, vector, factor)
 *   lanes_of(sum)        sums as a vector
 *   total(sum)           of all lanes           add_totals(to, sum[TILE_COLUMNS]), side by side
 *
 * Sums stay in registers.  Products come some at a time before they are added: there are two
 * pipelines for them, and additions go into any of four unless multiplications wait there. */
#define vector TILE_NAME(vector)
#define factor TILE_NAME(factor)
#define sum TILE_NAME(sum)
#define LANES (sizeof(vector) / sizeof(TILE_ELEMENT))
#define INLINE static inline TILE_TARGET __attribute__((always_inline))

INLINE vector TILE_NAME(load)(const TILE_ELEMENT *from)
{
    vector v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* One vector of terms; `some` > 0: as many numbers of it. */
INLINE void TILE_NAME(step_dots)(size_t rows, size_t columns, const dpi_dots *p,
                                 const TILE_ELEMENT *x, const TILE_ELEMENT *w, size_t some,
                                 sum s[TILE_ROWS][TILE_COLUMNS])
{
    factor b[TILE_COLUMNS];
#pragma GCC unroll 8
    for (size_t j = 0; j < columns; j++)
        b[j] = TILE_NAME(factor_of)(some > 0 ? TILE_NAME(load_some)(w + j * p->w_step, some)
                                             : TILE_NAME(load)(w + j * p->w_step));
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++) {
        vector a = some > 0 ? TILE_NAME(load_some)(x + i * p->x_step, some)
                            : TILE_NAME(load)(x + i * p->x_step);
#pragma GCC unroll 8
        for (size_t j = 0; j < columns; j++)
            TILE_NAME(add_product)(&s[i][j], a, b[j]);
    }
}

INLINE void TILE_NAME(tile_dots)(size_t rows, size_t columns, const dpi_dots *p, size_t i, size_t o)
{
    sum s[TILE_ROWS][TILE_COLUMNS] = {0};
    const TILE_ELEMENT *x = (const TILE_ELEMENT *)p->x + i * p->x_step;
    const TILE_ELEMENT *w = (const TILE_ELEMENT *)p->w + o * p->w_step;
    TILE_ELEMENT *z = (TILE_ELEMENT *)p->z + i * p->z_step + o;
    size_t k = 0;
    for (; k + LANES <= p->terms; k += LANES)
        TILE_NAME(step_dots)(rows, columns, p, x + k, w + k, 0, s);
    if (k < p->terms)
        TILE_NAME(step_dots)(rows, columns, p, x + k, w + k, p->terms - k, s);
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; r++, z += p->z_step)
        if (columns == TILE_COLUMNS)
            TILE_NAME(add_totals)(z, s[r]);
        else
            *z += TILE_NAME(total)(s[r][0]);
}

/* All rows of `columns` outputs, TILE_COLUMNS or 1. */
INLINE void TILE_NAME(column)(size_t columns, const dpi_dots *p, size_t o)
{
    size_t i = 0;
    for (; i + TILE_ROWS <= p->rows; i += TILE_ROWS)
        TILE_NAME(tile_dots)(TILE_ROWS, columns, p, i, o);
    for (; i < p->rows; i++)
        TILE_NAME(tile_dots)(1, columns, p, i, o);
}

TILE_TARGET void TILE_DOTS(const dpi_dots *p)
{
    size_t o = 0;
    for (; o + TILE_COLUMNS <= p->outputs; o += TILE_COLUMNS)
        TILE_NAME(column)(TILE_COLUMNS, p, o);
    for (; o < p->outputs; o++)
        TILE_NAME(column)(1, p, o);
}

#ifdef TILE_PANEL
INLINE void TILE_NAME(tile_panel)(size_t rows, size_t width, const dpi_panel *p, size_t i)
{
    sum s[TILE_HEIGHT][TILE_WIDTH] = {0};
    const TILE_ELEMENT *x[TILE_HEIGHT], *w = p->w;
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; r++)
        x[r] = (const TILE_ELEMENT *)p->x + p->base[i + r];
    for (size_t k = 0; k < p->terms; k++, w += width * LANES) {
        factor b[TILE_WIDTH];
        size_t place = p->place[k];
#pragma GCC unroll 8
        for (size_t j = 0; j < width; j++)
            b[j] = TILE_NAME(factor_of)(TILE_NAME(load)(w + j * LANES));
#pragma GCC unroll 8
        for (size_t r = 0; r < rows; r++) {
            vector a = x[r][place] - (vector){0}; /* in every lane */
#pragma GCC unroll 8
            for (size_t j = 0; j < width; j++)
                TILE_NAME(add_product)(&s[r][j], a, b[j]);
        }
    }
    /* All is read before anything is written: what lies behind a row's last numbers, which are
     * read by a mask, is the next row. */
    TILE_ELEMENT *z = (TILE_ELEMENT *)p->z + i * p->z_step;
    const size_t rest = p->outputs - (width - 1) * LANES, last = (width - 1) * LANES;
    vector v[TILE_HEIGHT][TILE_WIDTH];
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; r++) {
#pragma GCC unroll 8
        for (size_t j = 0; j + 1 < width; j++)
            v[r][j] = TILE_NAME(load)(z + r * p->z_step + j * LANES);
        v[r][width - 1] = TILE_NAME(load_some)(z + r * p->z_step + last, rest);
#pragma GCC unroll 8
        for (size_t j = 0; j < width; j++)
            v[r][j] += TILE_NAME(lanes_of)(s[r][j]);
    }
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; r++) {
#pragma GCC unroll 8
        for (size_t j = 0; j + 1 < width; j++)
            memcpy(z + r * p->z_step + j * LANES, &v[r][j], sizeof v[r][j]);
        TILE_NAME(store_some)(z + r * p->z_step + last, v[r][width - 1], rest);
    }
}

INLINE void TILE_NAME(rows_panel)(size_t width, const dpi_panel *p)
{
    size_t i = 0;
    for (; i + TILE_HEIGHT <= p->rows; i += TILE_HEIGHT)
        TILE_NAME(tile_panel)(TILE_HEIGHT, width, p, i);
    for (; i < p->rows; i++)
        TILE_NAME(tile_panel)(1, width, p, i);
}

TILE_TARGET void TILE_PANEL(const dpi_panel *p)
{
    if (p->outputs > LANES)
        TILE_NAME(rows_panel)(TILE_WIDTH, p);
    else
        TILE_NAME(rows_panel)(1, p);
}
#endif

#undef vector
#undef factor
#undef sum
#undef LANES
#undef INLINE
#undef TILE_ELEMENT
#undef TILE_NAME
#undef TILE_ROWS
#undef TILE_COLUMNS
#undef TILE_HEIGHT
#undef TILE_WIDTH
#undef TILE_DOTS
#undef TILE_PANEL
