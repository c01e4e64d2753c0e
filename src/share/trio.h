/* Trio: three parties, one of which may be curious.
 *
 * A number x is m - l1 - l2.  P0 holds lambda = l1 + l2, P1 holds (m, l1) and P2 (m, l2): any two
 * know x, no one does.  Of bits the same with XOR, and AND for the product.  Parts in dpi_share:
 * part[0] is lambda or m, part[1] is l1 or l2.  P0 is the dealer.
 *
 * Below, F, F', L1 are drawn by P0 and P1, G and L2 by P0 and P2, fresh for each number; D is what
 * P0 sends to P2, s1 what P1 sends to P2, and s2 what P2 sends to P1 at the same time.  T is the
 * arithmetic shift right by `shift`.
 *
 * Product.  x y = v2 - v1 + e with v1 = m_x l1_y + l1_x m_y, which P1 knows, v2 = m_x (m_y - l2_y)
 * - l2_x m_y, which P2 knows, and e = lambda_x lambda_y, which P0 knows.
 *
 *   D = e - F        s1 = F + L1 - v1      s2 = D + L2 + v2     m_z = s1 + s2, l1_z = L1, l2_z = L2
 *
 * Linear layer: the same with sums of products.  A bias b adds l1_b to v1 and m_b - l2_b to v2.  P2
 * adds up -v2 = (l2_x - m_x) m_w + m_x l2_w: the difference is taken of x, once for the layer,
 * since a layer has fewer numbers than weights times rows.
 *
 * Linear layer with a shift.  R = F + G - e is uniform, and v2 - v1 + F + G is x w + R:
 *
 *   D = T(R) - L1    s1 = F - v1          s2 = G + v2         m_z = T(s1 + s2), l1_z = L1, l2_z = D
 *
 * so z = T(v + R) - T(R): floor(v / 2^shift) or one more, unless v + R passes an end of the ring's
 * signed numbers that R does not, which it does in |v| of 2^bits cases; then z is off by 2^(bits -
 * shift).  R is uniform whatever the shares of x are: of m and lambda shifted as they are, a number
 * of P0's own with m = 0 would be wrong always where shifts are logical.
 *
 * Bits of a number.  x = m + u with u = -lambda.  The bits of m are known to P1 and P2: masks zero,
 * no message.  Those of u: m zero, lambda = u, l1 = F, l2 = D = u ^ F.
 *
 * Halves.  m_z = m >> shift, lambda_z = -(u >> shift), logical shifts; l1_z = F, l2_z = D =
 * lambda_z - F.
 *
 * Numbers of bits.  A bit is b ^ a, b = m and a = l1 ^ l2; as a number b + (1 - 2b) a.
 *
 *   D = a - F for each bit.  u1 = sum c (1 - 2b) F, u2 = sum c (b + (1 - 2b) D)
 *   s1 = u1 + L1     s2 = u2 + L2          m_z = s1 + s2
 *
 * Injection.  z = (b + (1 - 2b) a)(m - lambda)
 *
 *   D = a - F, D' = a lambda - F'
 *   s1 = (1 - 2b)(m F - F') - b l1 + L1   s2 = (1 - 2b)(m D - D') + b (m - l2) + L2   m_z = s1 + s2
 *
 * doc/design/share-trio.md: what each party sees, and what one that cheats can do. */
#ifndef DPI_SHARE_TRIO_H
#define DPI_SHARE_TRIO_H

#include "share/kernels.h"
#include "share/party.h"

enum {
    DPI_TRIO_ROLES = 3,
    DPI_TRIO_BLOCK =
        1024,          /* elements that a loop takes at once: what it draws stays in the cache */
    DPI_TRIO_DRAWS = 4 /* at most, for each element */
};

/* dpi_party's room. */
typedef struct dpi_trio_room {
    uint64_t came[DPI_SHARE_TILE];  /* of the other one of P1 and P2 */
    uint64_t dealt[DPI_SHARE_TILE]; /* of P0 */
    uint64_t draw[DPI_TRIO_DRAWS * DPI_TRIO_BLOCK];
    uint64_t bit[DPI_TRIO_BLOCK]; /* as numbers */
} dpi_trio_room;

/* What a loop reads and writes, n elements each; unused ones NULL. */
typedef struct dpi_trio_block {
    size_t n;
    const void *x[2], *y[2], *bit; /* parts of this role */
    const void *draw[DPI_TRIO_DRAWS];
    const void *dealt[2]; /* D and D' */
    void *z[2], *message[2];
    int shift;
    uint64_t coefficient;
} dpi_trio_block;

typedef void dpi_trio_loop(const dpi_trio_block *b);

/* What a role does to a block: draws so many elements with P1 and with P2 (or P0), in this order,
 * then the loop. */
typedef struct dpi_trio_step {
    dpi_trio_loop *loop;
    size_t draws[2];
} dpi_trio_step;

/* By ring, steps by role; of bits, those of products alone. */
typedef struct dpi_trio_loops {
    dpi_trio_step product[DPI_TRIO_ROLES];
    dpi_trio_step sum[DPI_TRIO_ROLES], shifted[DPI_TRIO_ROLES]; /* part[0] of z is e, v1 or -v2 */
    dpi_trio_step halves[DPI_TRIO_ROLES];
    dpi_trio_step bit[DPI_TRIO_ROLES], masks[DPI_TRIO_ROLES]; /* one of several bits; their end */
    dpi_trio_step inject[DPI_TRIO_ROLES];
    dpi_trio_loop *gather, *gather_shifted; /* z[0] += x[0]; z[0] = T(z[0] + x[0]) */
    dpi_trio_loop *difference;              /* z[0] = x[0] - x[1] */
} dpi_trio_loops;
const dpi_trio_loops *dpi_trio_loops_of(dpi_ring ring);

/* A gate, done tile by tile.  What P1 and P2 send each other of a tile is taken when two more have
 * been sent. */
typedef struct dpi_trio_gate dpi_trio_gate;
struct dpi_trio_gate {
    dpi_party *p;
    dpi_ring ring;
    const dpi_trio_step *steps;
    const dpi_share *x, *y, *bit; /* NULL: none */
    dpi_share *z;
    int shift;
    uint64_t coefficient;
    size_t tile;     /* elements */
    size_t dealt;    /* that P0 sends to P2 in a message, for each of z */
    size_t messages; /* of P0 for a tile */
    bool exchange;   /* P1 and P2 send each other one for each of z */
    /* Elements first ... first + n - 1: dpi_trio_tile, or what ends in it. */
    void (*run)(const dpi_trio_gate *g, size_t first, size_t n);
    void *of; /* run's own */
};
void dpi_trio_run(const dpi_trio_gate *g);
void dpi_trio_tile(const dpi_trio_gate *g, size_t first, size_t n);

/* P2: the next message of P0, from the tape where phases are apart. */
void dpi_trio_hear(const dpi_party *p, void *to, size_t bytes);

/* ---- trio-ends.c: numbers that parties have, and that they are told; DPI_RING_64 ---- */

/* z = x[z->n] of the role `giver`; x is NULL at the others.  One message, no round. */
void dpi_trio_give(dpi_party *p, size_t giver, const int64_t *x, dpi_share *z);

/* out[x->n] = x at the roles of `to`; NULL at the others.  For them one round.  Zeros of a mesh
 * with an error have been taken for numbers: look at its status before at these. */
void dpi_trio_open(dpi_party *p, dpi_roles to, const dpi_share *x, int64_t *out);

/* Gates of dpi_share_row. */
void dpi_trio_multiply(dpi_party *p, dpi_ring ring, const dpi_share *x, const dpi_share *y,
                       dpi_share *z);
void dpi_trio_linear(dpi_party *p, dpi_ring ring, const dpi_linear *l, const dpi_share *x,
                     const dpi_share *w, const dpi_share *bias, int shift, dpi_share *z);
void dpi_trio_to_bits(dpi_party *p, dpi_ring ring, const dpi_share *x, size_t n_planes,
                      const int *plane, dpi_share *m, dpi_share *u);
void dpi_trio_halves(dpi_party *p, dpi_ring ring, const dpi_share *x, int shift, dpi_share *z);
void dpi_trio_from_bits(dpi_party *p, dpi_ring ring, size_t k, const dpi_share bit[],
                        const uint64_t coefficient[], dpi_share *z);
void dpi_trio_inject(dpi_party *p, dpi_ring ring, const dpi_share *bit, const dpi_share *x,
                     dpi_share *z);

#endif
