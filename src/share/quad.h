/* Quad: four parties, one of which may do anything.
 *
 * A number x is X - l1 - l2 with lambda = l1 + l2, and w hides X from P0:
 *
 *   P0  a = x + w, lambda      P1  X = x + lambda, l1, w
 *   P3  w, lambda              P2  X, l2, w
 *
 * in this order in dpi_share's parts.  No one knows x; any two do.  Of bits the same with XOR, and
 * AND for the product.  P3 is the dealer.  It knows all masks and nothing else, sends to P2 and P0,
 * and hears of nobody; P0 only listens; so P1 and P2 alone wait for each other.
 *
 * Messages, the names of dpi_quad_block; each is one element for each number unless it says more:
 *
 *   dealt   P3 -> P2, made of masks.  P0 knows it too and compares it with P2.
 *   rest    P3 -> P0.  Nobody else knows it; it is added to what P0 makes of `shown`.
 *   half    P1 -> P2 and P2 -> P1.  X_z is the sum of the two halves and of what both know.
 *   shown   P2 -> P0.  P1 knows it too and compares it with P0.
 *   whole   is not sent: what P0, P1 and P2 compare, X_z + w_z or what X_z is made of.
 *
 * An error in dealt or shown is seen as it is.  One in rest or in a half is added to whole, once
 * and with no factor, so that P0's differs whatever the numbers are: doc/design/share-quad.md goes
 * through all.
 *
 * Below F, F', L1 are drawn by P0, P1 and P3; G, L2 by P0, P2 and P3; H, H', W by P1, P2 and P3;
 * all fresh for each number, and lambda_z = L1 + L2, l1_z = L1, l2_z = L2, w_z = W unless it says
 * otherwise.
 *
 * Product, and a linear layer with sums of products; a bias is a product with the known number 1.
 *
 *   dealt = lambda_z + lx ly - F      rest = (lx wy + wx ly) - lx ly - H + W     (lx: lambda_x)
 *   half1 = F - (X l1y + l1x Y)       half2 = dealt - (X l2y + l2x Y)
 *   shown = X Y + H                   whole = X_z + w_z
 *   X_z = X Y + half1 + half2         a_z = shown - (ax ly + lx ay) + rest
 *
 * Linear layer with a shift; T is the logical shift right by `shift`, R = F + G - lx ly is uniform.
 *
 *   lambda_z = T(R), l2_z = dealt = T(R) - L1      rest = lx ly - (lx wy + wx ly) - F - G + H
 *   half1 = F - (X l1y + l1x Y)       half2 = G - (X l2y + l2x Y)
 *   whole = H - half1 - half2 = (ax ly + lx ay) + lx ly + rest: before the shift
 *   X_z = T(X Y + half1 + half2)      shown = X_z + W, one round later      a_z = shown - lambda_z
 *
 * so z = T(v + R) - T(R): floor(v / 2^shift) or one more, unless v + R passes the end of the ring,
 * which it does in |v| of 2^bits cases; then z is off by 2^(bits - shift).
 *
 * Bits of a number.  x = m + u with u = -lambda.
 *
 *   m: X = m, l1 = l2 = 0, w = H, shown = m ^ H      u: X = 0, w = 0, l1 = F, l2 = dealt = u ^ F
 *
 * Halves.
 *
 *   lambda_z = -(u >> shift), l1_z = F, l2_z = dealt = lambda_z - F
 *   X_z = m >> shift                  shown = X_z + W                a_z = shown - lambda_z
 *
 * Numbers of bits.  A bit is b ^ l, b known to P1 and P2, l to P0 and P3.  As a number it is b +
 * (1 - 2b) l and l + (1 - 2l) b.
 *
 *   dealt = l - F for each bit        rest = W - sum c (1 - 2l) H
 *   half1 = sum c (1 - 2b) F + L1     half2 = sum c (1 - 2b) dealt + L2
 *   shown = b + H for each bit        whole = X_z + w_z
 *   X_z = sum c b + half1 + half2     a_z = sum c (l + (1 - 2l) shown) + rest
 *
 * Injection.  z = (b + (1 - 2b) l)(X - lambda)
 *
 *   dealt = l - F, l lambda - F'      rest = W + (1 - 2l)(lambda H' - H) - l w
 *   half1 = (1 - 2b)(X F - F') - b l1 + L1         half2 = (1 - 2b)(X dealt - dealt') - b l2 + L2
 *   shown = b X + H, b + H'           whole = X_z + w_z
 *   X_z = b X + half1 + half2         a_z = (1 - 2l)(shown - lambda shown') + l a + rest */
#ifndef DPI_SHARE_QUAD_H
#define DPI_SHARE_QUAD_H

#include "share/kernels.h"
#include "share/party.h"

enum {
    DPI_QUAD_ROLES = 4,
    DPI_QUAD_BLOCK = 1024, /* elements that a loop takes: what it draws stays in the cache */
    DPI_QUAD_DRAWS = 7,    /* at most, for each element */
    DPI_QUAD_SETS = 3,     /* that draw: {0, 1, 3}, {0, 2, 3}, {1, 2, 3} */
    DPI_QUAD_LAG = 2       /* tiles whose halves are sent before the first one is taken */
};

/* dpi_party's room: for each kind of message what came of it, or what it is compared with. */
typedef struct dpi_quad_room {
    uint64_t dealt[DPI_SHARE_TILE], rest[DPI_SHARE_TILE], half[DPI_SHARE_TILE];
    uint64_t shown[DPI_SHARE_TILE];
    uint64_t whole[DPI_QUAD_LAG + 1][DPI_SHARE_TILE]; /* of tiles that were sent */
    uint64_t draw[DPI_QUAD_DRAWS * DPI_QUAD_BLOCK];
    uint64_t bit[DPI_QUAD_BLOCK]; /* as numbers */
} dpi_quad_room;

/* What a loop reads and writes, n elements each; unused ones NULL. */
typedef struct dpi_quad_block {
    size_t n;
    const void *x[DPI_SHARE_PARTS], *y[DPI_SHARE_PARTS], *bit; /* parts of this role */
    const void *draw[DPI_QUAD_DRAWS];
    void *z[DPI_SHARE_PARTS];
    void *dealt[2], *rest, *half, *shown[2], *whole;
    int shift;
    uint64_t coefficient;
} dpi_quad_block;

typedef void dpi_quad_loop(const dpi_quad_block *b);

/* What a role does to a block: draws so many elements with each set that it is in, in the order of
 * DPI_QUAD_SETS, then the loop. */
typedef struct dpi_quad_step {
    dpi_quad_loop *loop;
    size_t draws[DPI_QUAD_SETS];
} dpi_quad_step;

/* By ring, steps by role; of bits, those of products alone. */
typedef struct dpi_quad_loops {
    /* P1 and P2: z[0] = x[0] y[0], z[1] = x[0] y[1] + x[1] y[0].  P0 and P3: z[1] = x[1] y[1], and
     * z[0] that sum. */
    dpi_quad_step terms[DPI_QUAD_ROLES];
    dpi_quad_step sum[DPI_QUAD_ROLES], shifted[DPI_QUAD_ROLES]; /* from what z has of terms */
    dpi_quad_step halves[DPI_QUAD_ROLES];
    dpi_quad_step bit[DPI_QUAD_ROLES], masks[DPI_QUAD_ROLES]; /* one of several bits; their end */
    dpi_quad_step inject[DPI_QUAD_ROLES];
    dpi_quad_loop *gather;         /* z[0] += half; whole = z[0] + z[2] */
    dpi_quad_loop *gather_shifted; /* z[0] = T(z[0] + half); whole -= half; shown = z[0] + z[2] */
    dpi_quad_loop *add;            /* z[0] = x[0] + y[0] */
    dpi_quad_loop *negative;       /* z[0] = -x[0] */
} dpi_quad_loops;
const dpi_quad_loops *dpi_quad_loops_of(dpi_ring ring);

/* A gate, done tile by tile. */
typedef struct dpi_quad_gate dpi_quad_gate;
struct dpi_quad_gate {
    dpi_party *p;
    dpi_ring ring;
    const dpi_quad_step *steps;
    const dpi_share *x, *y, *bit; /* NULL: none */
    size_t bits;                  /* of them */
    const uint64_t *coefficient;  /* of each bit */
    dpi_share *z;
    int shift;
    size_t tile;         /* elements; whole words where there are bits */
    size_t dealt, shown; /* elements of these messages for each of z */
    bool rest, half;     /* whether there are these messages */
    bool late;           /* `shown` comes after the halves */
    /* What a role does for elements of z up to `last` before it hears of anybody; NULL: nothing. */
    void (*begin)(const dpi_quad_gate *g, size_t last);
    void *of; /* begin's own */
    /* What it does for a tile, from element `first` of z on: dpi_quad_blocks or dpi_quad_bits; tile
     * has the messages. */
    void (*run)(const dpi_quad_gate *g, size_t first, const dpi_quad_block *tile);
};
void dpi_quad_run(const dpi_quad_gate *g);

/* A tile block after block: the steps of g, after dpi_quad_loops.terms where g has a y; or each of
 * its bits, then the end of them. */
void dpi_quad_blocks(const dpi_quad_gate *g, size_t first, const dpi_quad_block *tile);
void dpi_quad_bits(const dpi_quad_gate *g, size_t first, const dpi_quad_block *tile);

/* The next message of P3, from the tape where phases are apart; P2 puts it into its view with
 * P0. */
void dpi_quad_hear(const dpi_party *p, void *to, size_t bytes);

/* Gates of dpi_share_row. */
void dpi_quad_multiply(dpi_party *p, dpi_ring ring, const dpi_share *x, const dpi_share *y,
                       dpi_share *z);
void dpi_quad_linear(dpi_party *p, dpi_ring ring, const dpi_linear *l, const dpi_share *x,
                     const dpi_share *w, const dpi_share *bias, int shift, dpi_share *z);
void dpi_quad_to_bits(dpi_party *p, dpi_ring ring, const dpi_share *x, size_t n_planes,
                      const int *plane, dpi_share *m, dpi_share *u);
void dpi_quad_halves(dpi_party *p, dpi_ring ring, const dpi_share *x, int shift, dpi_share *z);
void dpi_quad_from_bits(dpi_party *p, dpi_ring ring, size_t k, const dpi_share bit[],
                        const uint64_t coefficient[], dpi_share *z);
void dpi_quad_inject(dpi_party *p, dpi_ring ring, const dpi_share *bit, const dpi_share *x,
                     dpi_share *z);

#endif
