/* The sign of a number, by its bits: of x = m + u (to_bits of party.h) the sum's bit k - 1.
 *
 * Position i of the sum begets a carry where g_i = m_i u_i and passes one on where p_i = m_i + u_i;
 * a range of positions does so by what its halves do,
 *
 *   g = g_high + p_high g_low,   p = p_high p_low,
 *
 * sums and products being XOR and AND.  A tree of these over positions 0 ... k - 2 gives the carry
 * into position k - 1.  Ranges that begin at position 0 need no p, so that n = k - 1 positions and
 * levels d = ceil(log2 n) take n + (n - 1) + (n - 1 - d) ANDs and d + 1 rounds: 39 in 5 rounds for
 * 16 bits, 86 in 6 for 32, 181 in 7 for 64.
 *
 * A tree that is split at s has a range 0 ... s - 1, whose g is the carry into position s; its
 * lower part is finished first, which takes no AND more and at most one round more.
 *
 * What is copied where between two levels follows from k and s alone and is written down once, in
 * the tree; running it is a list of copies and one call of row->multiply a level. */
#ifndef DPI_SHARE_COMPARE_H
#define DPI_SHARE_COMPARE_H

#include "share/party.h"

enum {
    DPI_CARRIES_LEVELS = 8, /* without the first, which makes the g_i */
    DPI_CARRIES_COPIES = 384,
    DPI_CARRIES_PLANES = 65 /* at most: of a number of 64 bits, and the ring's top plane */
};

/* Arrays of planes: p, at first m; g; the left and right operands of this level's products, and the
 * last level's products. */
typedef enum dpi_carries_array {
    DPI_CARRIES_P,
    DPI_CARRIES_G,
    DPI_CARRIES_LEFT,
    DPI_CARRIES_RIGHT,
    DPI_CARRIES_OUT,
    DPI_CARRIES_ARRAYS
} dpi_carries_array;

enum { DPI_CARRIES_NONE = 255 };

/* Plane `to` of an array becomes plane `from` of another or the same one, to which the last level's
 * product `with` is added. */
typedef struct dpi_carries_copy {
    unsigned char to_array, to, from_array, from, with; /* with: DPI_CARRIES_NONE */
} dpi_carries_copy;

typedef struct dpi_carries {
    int n_planes;                           /* that are read of each operand */
    int plane[DPI_CARRIES_PLANES];          /* which bits these are */
    int first;                              /* ANDs of the first level: planes 0 ... first - 1 */
    int positions, split;                   /* k - 1 and s; 0: not split */
    bool wrap;                              /* whether the carry out of the ring is asked for */
    int sign;                               /* which plane is bit k - 1 */
    int n_levels, ands[DPI_CARRIES_LEVELS]; /* of each level */
    int n_copies[DPI_CARRIES_LEVELS + 1];   /* before each level, and after the last */
    dpi_carries_copy copy[DPI_CARRIES_COPIES];
} dpi_carries;

/* A tree for numbers of `bits` bits with their sign, 2 ... those of the ring, split at `split`,
 * 0 ... bits - 1; `wrap`: with an AND of the ring's top bits in the first level. */
void dpi_carries_make(dpi_ring ring, int bits, int split, bool wrap, dpi_carries *t);

/* ANDs a number, and rounds. */
int dpi_carries_ands(const dpi_carries *t);
int dpi_carries_rounds(const dpi_carries *t);

/* Room for trees of up to n_planes planes over `words` words each. */
typedef struct dpi_planes {
    size_t n_planes, words;
    dpi_share array[DPI_CARRIES_ARRAYS];
} dpi_planes;

/* DP_ENOMEM; all zeros then. */
dp_status dpi_planes_new(const dpi_party *p, size_t n_planes, size_t words, dpi_planes *room,
                         dp_error *err) DP_MUST_CHECK;
void dpi_planes_free(dpi_planes *room);

/* Planes k ... k + n_planes - 1 of an array, when planes have so many words. */
dpi_share dpi_planes_at(const dpi_planes *room, dpi_carries_array array, size_t words, int k,
                        int n_planes);

/* Runs a tree over the operands m, the planes of DPI_CARRIES_P, and u, those of DPI_CARRIES_OUT. */
void dpi_carries_run(dpi_party *p, const dpi_carries *t, size_t words, dpi_planes *room);

/* The same for numbers x, at most 64 for each word of the room. */
void dpi_compare_run(dpi_party *p, dpi_ring ring, const dpi_carries *t, const dpi_share *x,
                     dpi_planes *room);

/* What a run leaves, as long as the room is not used again: the sign, 1 for negative numbers; the
 * carry into position `split`; whether one of the operands' top bits is set, which for x >= 0 is
 * the carry out of the ring. */
dpi_share dpi_carries_sign(const dpi_carries *t, const dpi_planes *room, size_t words);
dpi_share dpi_carries_in(const dpi_carries *t, const dpi_planes *room, size_t words);
dpi_share dpi_carries_out(const dpi_carries *t, const dpi_planes *room, size_t words);

#endif
