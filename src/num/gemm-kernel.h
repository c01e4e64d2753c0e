/* Matrix products: the code that each instruction set compiles for itself, once for each type.
 *
 * The file that includes it defines KERNEL_REAL, KERNEL_BYTES (of a vector), KERNEL_TARGET (an
 * attribute), KERNEL_ROWS (of a tile), KERNEL_PRODUCT (the type of what it takes), KERNEL_MULTIPLY
 * KERNEL_CHAIN (the type), KERNEL_CHAINS and, if it is wanted, KERNEL_OUTER (names), `fused`,
 * the vector a b + c, and where there is one KERNEL_TURN, which transposes LINE rows of LINE
 * numbers, and KERNEL_WIDEN, which makes doubles of a `part`.
 *
 * Every element of a result is one chain s = a_l b_l + s over l in rising order, whatever the tile
 * it falls into, wherever that stands and however deep it is cut: tiles differ in how many chains
 * run side by side, never in a chain.  So a row is a function of that row of the left factor and of
 * the right factor alone, to the bit.  Instruction sets differ from each other by rounding.
 *
 * A panel of VECTORS vectors' columns and DEPTH rows of the right factor is packed on the stack, 48
 * KiB at most, and meets KERNEL_ROWS rows of the left factor at a time, whose sums stay in
 * registers (Goto and van de Geijn 2008, ACM TOMS 34, 3). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "num/gemm.h"

#define KERNEL_INLINE static inline KERNEL_TARGET __attribute__((always_inline))

typedef KERNEL_REAL element;
typedef element vector __attribute__((vector_size(KERNEL_BYTES)));

enum { LANES = sizeof(vector) / sizeof(element), VECTORS = 3, DEPTH = 256 };

/* Numbers of a cache line: a factor is transposed so many columns at a time, in cache; and lines of
 * a column of it that are in a panel. */
enum { LINE = 64 / sizeof(element), LINES = DEPTH / LINE };

/* Where the left factor's element of row i and depth l is: a[i * row + l * step]. */
typedef struct left {
    const element *a;
    size_t row, step;
} left;

/* Addresses of a panel's lines, which the first VECTORS tiles bring into the cache, one at every
 * step of theirs, while another panel is met: to pack a panel that is not there takes as long as to
 * meet it with some rows.  Nothing is read there, and lines beyond the factor do no harm. */
typedef struct ahead {
    uintptr_t line;    /* of the first tile */
    size_t tile, step; /* bytes to the next tile's, and to the next line */
    size_t jump;       /* the same after LINES lines */
} ahead;

/* Where there is nothing to bring: what is there. */
static inline ahead nothing_ahead(const element *panel)
{
    return (ahead){.line = (uintptr_t)panel};
}

/* A panel that meets rows of the left factor. */
typedef struct meeting {
    const element *panel;
    size_t panel_step, depth;
    element *c;
    size_t c_step, columns;
    bool fresh; /* sums start from zero, else from c */
    ahead next;
} meeting;

/* Vectors of the next panel where so many columns are left: four are two and two, since one alone
 * would wait for its factors. */
static inline size_t width_of(size_t columns)
{
    size_t vectors = (columns + LANES - 1) / LANES;
    return vectors == VECTORS + 1 ? 2 : vectors < VECTORS ? vectors : VECTORS;
}

/* Sums of `rows` rows and `width` vectors, those of the tile number `t` of its panel, which fetches
 * some of the next one or not. */
KERNEL_INLINE void tile(size_t rows, size_t width, bool fetches, const meeting *p, left side,
                        size_t t, element *c, size_t c_step)
{
    const ahead next = p->next;
    uintptr_t line = next.line + t % VECTORS * next.tile;
    vector sum[KERNEL_ROWS][VECTORS];
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 3
        for (size_t v = 0; v < width; v++) {
            sum[i][v] = (vector){0};
            if (!p->fresh)
                memcpy(&sum[i][v], c + i * c_step + v * LANES, KERNEL_BYTES);
        }
    const size_t depth = p->depth, step = p->panel_step;
    const element *panel = p->panel;
    for (size_t l = 0; l < depth; l++, panel += step, side.a += side.step) {
        vector b[VECTORS];
        if (fetches) {
            __builtin_prefetch((const void *)line, 0, 2);
            line += l % LINES == LINES - 1 ? next.jump : next.step;
        }
#pragma GCC unroll 3
        for (size_t v = 0; v < width; v++)
            memcpy(&b[v], panel + v * LANES, KERNEL_BYTES);
#pragma GCC unroll 8
        for (size_t i = 0; i < rows; i++) {
            vector a = side.a[i * side.row] - (vector){0}; /* in every lane */
#pragma GCC unroll 3
            for (size_t v = 0; v < width; v++)
                sum[i][v] = fused(a, b[v], sum[i][v]);
        }
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 3
        for (size_t v = 0; v < width; v++)
            memcpy(c + i * c_step + v * LANES, &sum[i][v], KERNEL_BYTES);
}

/* A tile whose columns need not fill the vectors: it is computed beside c then. */
KERNEL_INLINE void any_tile(size_t rows, size_t width, const meeting *p, left side, size_t i)
{
    element *c = p->c + i * p->c_step;
    size_t bytes = p->columns * sizeof *c, step = width * LANES;
    side.a += i * side.row;
    if (p->columns == step) {
        tile(rows, width, rows == KERNEL_ROWS, p, side, i / KERNEL_ROWS, c, p->c_step);
        return;
    }
    element beside[KERNEL_ROWS * VECTORS * LANES] = {0};
    for (size_t r = 0; r < rows && !p->fresh; r++)
        memcpy(beside + r * step, c + r * p->c_step, bytes);
    tile(rows, width, rows == KERNEL_ROWS, p, side, i / KERNEL_ROWS, beside, step);
    for (size_t r = 0; r < rows; r++)
        memcpy(c + r * p->c_step, beside + r * step, bytes);
}

/* All m rows of the left factor. */
KERNEL_INLINE void meet_width(size_t width, const meeting *p, size_t m, left side)
{
    size_t i = 0;
    for (; i + KERNEL_ROWS <= m; i += KERNEL_ROWS)
        any_tile(KERNEL_ROWS, width, p, side, i);
    for (; i + KERNEL_ROWS / 2 <= m; i += KERNEL_ROWS / 2)
        any_tile(KERNEL_ROWS / 2, width, p, side, i);
    for (; i < m; i++)
        any_tile(1, width, p, side, i);
}

static KERNEL_TARGET void meet(const meeting *p, size_t m, left side)
{
    size_t width = (p->columns + LANES - 1) / LANES;
    if (width == 3)
        meet_width(3, p, m, side);
    else if (width == 2)
        meet_width(2, p, m, side);
    else
        meet_width(1, p, m, side);
}

/* Rows of `width` whole vectors.  The width is a constant, since compilers make a call of memcpy,
 * or worse, of a loop over it. */
KERNEL_INLINE void copy_rows(size_t width, size_t rows, size_t from_step, const element *from,
                             element *panel)
{
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 3
        for (size_t v = 0; v < width; v++)
            memcpy(panel + (i * width + v) * LANES, from + i * from_step + v * LANES, KERNEL_BYTES);
}

/* A line of each of `columns` rows, at most LINE numbers, into as many rows. */
KERNEL_INLINE void turn_line(size_t count, size_t columns, size_t from_step, const element *from,
                             size_t step, element *panel)
{
    size_t t = 0;
#ifdef KERNEL_TURN
    for (; count == LINE && t + LINE <= columns; t += LINE)
        KERNEL_TURN(from_step, from + t * from_step, step, panel + t);
#endif
    for (; t < columns; t++)
#pragma GCC unroll 16
        for (size_t d = 0; d < count; d++)
            panel[d * step + t] = from[t * from_step + d];
}

/* The columns from j of rows l ... of b, as they stand there: beyond the last column a row goes on
 * with what follows in b, or where nothing does with zeros, and nothing of these is used. */
static KERNEL_TARGET void pack_rows(const KERNEL_PRODUCT *p, size_t l, size_t j,
                                    const meeting *here, element *panel)
{
    const size_t step = here->panel_step, depth = here->depth, rest = (p->k - l) * p->n - j;
    const element *from = p->b + l * p->n + j;
    size_t rows = rest < step ? 0 : (rest - step) / p->n + 1;
    rows = rows < depth ? rows : depth;
    if (step == 3 * LANES)
        copy_rows(3, rows, p->n, from, panel);
    else if (step == 2 * LANES)
        copy_rows(2, rows, p->n, from, panel);
    else
        copy_rows(1, rows, p->n, from, panel);
    for (size_t i = rows; i < depth; i++) {
        memset(panel + i * step, 0, step * sizeof *panel);
        memcpy(panel + i * step, from + i * p->n, here->columns * sizeof *panel);
    }
}

/* The same of op(b) = b^T, zero beyond the last column. */
static KERNEL_TARGET void pack_turned(const KERNEL_PRODUCT *p, size_t l, size_t j,
                                      const meeting *here, element *panel)
{
    const size_t step = here->panel_step, columns = here->columns, depth = here->depth;
    const element *from = p->b + j * p->k + l;
    if (columns < step)
        memset(panel, 0, depth * step * sizeof *panel);
    for (size_t i = 0; i < depth; i += LINE)
        if (i + LINE <= depth)
            turn_line(LINE, columns, p->k, from + i, step, panel + i * step);
        else
            turn_line(depth - i, columns, p->k, from + i, step, panel + i * step);
}

/* Where the panel is that follows that of rows l ... and columns j ... j + width - 1. */
static inline ahead ahead_of(const KERNEL_PRODUCT *p, size_t l, size_t j, size_t width)
{
    const bool deeper = l + DEPTH < p->k;
    const size_t row = deeper ? l + DEPTH : 0, column = deeper ? j : j + width;
    const size_t line = LINE * sizeof(element), deep = p->k * sizeof(element);
    const uintptr_t b = (uintptr_t)p->b;
    if (column >= p->n)
        return nothing_ahead(p->b);
    if (!p->transpose_b)
        return (ahead){.line = b + (row * p->n + column) * sizeof(element),
                       .tile = LANES * sizeof(element),
                       .step = p->n * sizeof(element),
                       .jump = p->n * sizeof(element)};
    return (ahead){.line = b + (column * p->k + row) * sizeof(element),
                   .tile = LANES * deep,
                   .step = line,
                   .jump = p->k <= DEPTH ? line : deep - (LINES - 1) * line};
}

KERNEL_TARGET void KERNEL_MULTIPLY(const KERNEL_PRODUCT *p)
{
    element panel[DEPTH * VECTORS * LANES];
    bool ta = p->transpose_a;
    size_t n = p->n, k = p->k;
    for (size_t j = 0, width; j < n; j += width) {
        width = width_of(n - j) * LANES;
        size_t columns = n - j < width ? n - j : width;
        for (size_t l = 0; l < k; l += DEPTH) {
            left side = {ta ? p->a + l * p->m : p->a + l, ta ? 1 : k, ta ? p->m : 1};
            meeting here = {.panel = panel,
                            .panel_step = width,
                            .depth = k - l < DEPTH ? k - l : DEPTH,
                            .c = p->c + j,
                            .c_step = n,
                            .columns = columns,
                            .fresh = l == 0,
                            .next = ahead_of(p, l, j, width)};
            if (p->transpose_b) {
                pack_turned(p, l, j, &here, panel);
            } else if (p->m > KERNEL_ROWS || columns < width) {
                pack_rows(p, l, j, &here, panel);
            } else { /* where it is, since too few rows will read it */
                here.panel = p->b + l * n + j;
                here.panel_step = n;
            }
            meet(&here, p->m, side);
        }
    }
}

#ifdef KERNEL_OUTER
/* scale * vector[0 ... count - 1], zero up to `step`. */
KERNEL_INLINE void scaled(size_t count, size_t step, element scale, const element *from,
                          element *to)
{
    for (size_t t = 0; t < count; t++)
        to[t] = scale * from[t];
    for (size_t t = count; t < step; t++)
        to[t] = 0;
}

KERNEL_TARGET void KERNEL_OUTER(size_t n_terms, const dpi_outer_term *term, size_t rows,
                                size_t columns, element *sum)
{
    element panel[DPI_GEMM_TERMS * VECTORS * LANES], side[DPI_GEMM_TERMS * KERNEL_ROWS];
    for (size_t j = 0, width; j < columns; j += width) {
        width = width_of(columns - j) * LANES;
        size_t count = columns - j < width ? columns - j : width;
        for (size_t l = 0; l < n_terms; l++)
            scaled(count, width, term[l].scale_b, term[l].b + j, panel + l * width);
        for (size_t i = 0; i < rows; i += KERNEL_ROWS) {
            size_t m = rows - i < KERNEL_ROWS ? rows - i : KERNEL_ROWS;
            for (size_t l = 0; l < n_terms && m == KERNEL_ROWS; l++)
                scaled(KERNEL_ROWS, KERNEL_ROWS, term[l].scale_a, term[l].a + i,
                       side + l * KERNEL_ROWS);
            for (size_t l = 0; l < n_terms && m < KERNEL_ROWS; l++)
                scaled(m, KERNEL_ROWS, term[l].scale_a, term[l].a + i, side + l * KERNEL_ROWS);
            meeting here = {.panel = panel,
                            .panel_step = width,
                            .depth = n_terms,
                            .c = sum + i * columns + j,
                            .c_step = columns,
                            .columns = count,
                            .next = nothing_ahead(panel)};
            meet(&here, m, (left){side, 1, KERNEL_ROWS});
        }
    }
}
#endif

/* ---- sums of chains ---- */

typedef double widened __attribute__((vector_size(KERNEL_BYTES)));
enum { WIDE = sizeof(widened) / sizeof(double), PRECISE = sizeof(element) == sizeof(double) };
typedef element part __attribute__((vector_size(WIDE * sizeof(element))));

/* Of which compilers make two halves that are put together again. */
#ifndef KERNEL_WIDEN
#define KERNEL_WIDEN(narrow) __builtin_convertvector(narrow, widened)
#endif

KERNEL_INLINE double added(double number, bool fresh, double *sum, double *lost)
{
    double term = PRECISE && !fresh ? number - *lost : number;
    double total = fresh ? term : *sum + term;
    *lost = PRECISE && !fresh ? (total - *sum) - term : 0;
    *sum = total;
    return total;
}

/* Adds a row of the tiles of n chains, one chain after the other, `apart` numbers from each other;
 * in double of one chain, and in single precision `lost` is not used. */
KERNEL_INLINE void add_row(size_t count, size_t n, size_t apart, const element *row, bool fresh,
                           double *sum, double *lost)
{
    size_t t = 0;
    for (; t + WIDE <= count; t += WIDE) {
        widened old = {0}, off = {0}, total;
        if (!fresh)
            memcpy(&old, sum + t, sizeof old);
        if (!fresh && PRECISE)
            memcpy(&off, lost + t, sizeof off);
        for (size_t l = 0; l < n; l++, old = total) {
            part narrow;
            memcpy(&narrow, row + l * apart + t, sizeof narrow);
            const widened term = KERNEL_WIDEN(narrow) - off;
            total = fresh && l == 0 ? term : old + term;
            off = PRECISE && !fresh ? (total - old) - term : (widened){0};
        }
        memcpy(sum + t, &old, sizeof old);
        if (PRECISE)
            memcpy(lost + t, &off, sizeof off);
    }
    for (; t < count; t++)
        for (size_t l = 0; l < n; l++) {
            double unused = 0;
            (void)added(row[l * apart + t], fresh && l == 0, sum + t, PRECISE ? lost + t : &unused);
        }
}

/* So many chains and tiles of rows are taken together, whose left factors are copied: a tile's
 * numbers of chains up to CHAIN then stand one behind the other, and not on a page each.  Those of
 * the next tiles, and the next columns of the right factor, are fetched meanwhile: a record's
 * numbers lie too far from the record's before for the processor to do it.  Two chains: more panels
 * than theirs leave no room in the first-level cache, and a sum is read and written half as often
 * as by one.  In double all chains of a tile go through one correction, and factors stay where they
 * are.  Columns are fetched where a vector is a line: with shorter ones several fetches go to one
 * line, and cost more than they give. */
enum {
    AT_ONCE = PRECISE ? 1 : 2,
    TILES = PRECISE ? 1 : 4,
    CHAIN = PRECISE ? 1 : 64,
    FETCHES = !PRECISE && KERNEL_BYTES == 64
};

typedef struct packed_sides {
    _Alignas(KERNEL_BYTES) element packed[AT_ONCE][TILES][CHAIN * KERNEL_ROWS];
    left of[AT_ONCE][TILES];
} packed_sides;

/* Of the n <= AT_ONCE chains, for the rows from i of `tiles` tiles. */
KERNEL_INLINE void pack_sides(size_t n, const KERNEL_CHAIN *chain, const dpi_chain_sum *to,
                              size_t i, size_t tiles, packed_sides *s)
{
    for (size_t l = 0; l < n; l++)
        for (size_t t = 0; t < tiles; t++) {
            const bool packs = chain[l].n <= CHAIN;
            const element *a = chain[l].a + i + t * KERNEL_ROWS;
            element *packed = s->packed[l][t];
            s->of[l][t] = packs ? (left){packed, 1, KERNEL_ROWS} : (left){a, 1, to->a_step};
            for (size_t d = 0; packs && d < chain[l].n; d++, a += to->a_step) {
                const uintptr_t later = (uintptr_t)a + TILES * KERNEL_ROWS * sizeof *a;
                __builtin_prefetch((const void *)later, 0, 2);
                memcpy(packed + d * KERNEL_ROWS, a, KERNEL_ROWS * sizeof *a);
            }
        }
}

/* Where the panel is that stands beside one of `width` columns. */
static inline ahead columns_ahead(const element *panel, size_t width, size_t b_step)
{
    return (ahead){.line = (uintptr_t)panel + width * sizeof *panel,
                   .tile = LANES * sizeof *panel,
                   .step = b_step * sizeof *panel,
                   .jump = b_step * sizeof *panel};
}

/* The tile at row i and column j of n chains, which is number t of s, or where s is NULL anywhere;
 * `fresh`: they are the first. */
KERNEL_INLINE void chain_tile(size_t width, size_t n, const KERNEL_CHAIN *chain,
                              const packed_sides *s, size_t t, const dpi_chain_sum *to, bool fresh,
                              size_t i, size_t j)
{
    enum { APART = KERNEL_ROWS * VECTORS * LANES };
    _Alignas(KERNEL_BYTES) element beside[AT_ONCE][APART];
    double off[PRECISE ? APART : 1] = {0}; /* of one number: for nothing */
    size_t step = width * LANES, rows = to->rows - i < KERNEL_ROWS ? to->rows - i : KERNEL_ROWS;
    size_t count = to->columns - j < step ? to->columns - j : step;
    double *sum = to->sum + i * to->columns + j;
    double *lost = to->lost != NULL ? to->lost + i * to->columns + j : off;
    const size_t lost_step = to->lost != NULL ? to->columns : PRECISE ? step : 0;
    for (size_t l = 0, some; l < n; l += some) {
        some = n - l < AT_ONCE ? n - l : AT_ONCE;
        for (size_t k = 0; k < some; k++) {
            const KERNEL_CHAIN *c = &chain[l + k];
            const meeting here = {.panel = c->b + j,
                                  .panel_step = to->b_step,
                                  .depth = c->n,
                                  .fresh = true,
                                  .next = columns_ahead(c->b + j, step, to->b_step)};
            const left side = s != NULL ? s->of[l + k][t] : (left){c->a + i, 1, to->a_step};
            tile(KERNEL_ROWS, width, FETCHES, &here, side, t, beside[k], step);
        }
        for (size_t r = 0; r < rows; r++)
            add_row(count, some, APART, beside[0] + r * step, fresh && l == 0,
                    sum + r * to->columns, lost + r * lost_step);
    }
}

/* The same at all columns, for the rows from i of `tiles` tiles. */
KERNEL_INLINE void chain_tiles(size_t n, const KERNEL_CHAIN *chain, const packed_sides *s,
                               size_t tiles, const dpi_chain_sum *to, bool fresh, size_t i)
{
    for (size_t j = 0, width; j < to->columns; j += width * LANES) {
        width = width_of(to->columns - j);
        for (size_t t = 0, row = i; t < tiles; t++, row += KERNEL_ROWS)
            if (width == VECTORS)
                chain_tile(VECTORS, n, chain, s, t, to, fresh, row, j);
            else if (width == 2)
                chain_tile(2, n, chain, s, t, to, fresh, row, j);
            else
                chain_tile(1, n, chain, s, t, to, fresh, row, j);
    }
}

KERNEL_TARGET void KERNEL_CHAINS(size_t n, const KERNEL_CHAIN *chain, const dpi_chain_sum *to)
{
    const size_t all = (to->rows + KERNEL_ROWS - 1) / KERNEL_ROWS;
    packed_sides s;
    if (PRECISE) {
        chain_tiles(n, chain, NULL, all, to, to->fresh, 0);
        return;
    }
    for (size_t first = 0, tiles; first < all; first += tiles) {
        tiles = all - first < TILES ? all - first : TILES;
        for (size_t l = 0, some; l < n; l += some) {
            some = n - l < AT_ONCE ? n - l : AT_ONCE;
            pack_sides(some, chain + l, to, first * KERNEL_ROWS, tiles, &s);
            chain_tiles(some, chain + l, &s, tiles, to, to->fresh && l == 0, first * KERNEL_ROWS);
        }
    }
}
