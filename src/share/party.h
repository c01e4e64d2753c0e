/* A party at work, and what its protocol can do: one table row for each protocol.
 *
 * A gate is done by all parties together, each calling the same function of the row with what it
 * holds; which of its messages it sends follows from its role.  Gates report nothing: an error
 * sticks in the mesh and is looked at before anything is opened.  Arrays of z are there before the
 * call, of the size that it says; z may not overlap x or y unless the gate says so.
 *
 * Phases.  One role, the dealer (row->dealer: P0 of Trio, P3 of Quad), computes from masks alone
 * and sends what it makes of them; it never waits for anything but an opening.  TOGETHER, everybody
 * does everything; the dealer runs ahead.  Or apart: in PREPARE the dealer does all of its part,
 * and who hears of it keeps the messages on its tape (nobody else has anything to do); in ONLINE
 * the dealer does nothing, and the others read their tapes.  So the same program is run twice, and
 * local work asks dpi_party_works first.  What the dealer holds of a result it holds since the
 * PREPARE. */
#ifndef DPI_SHARE_PARTY_H
#define DPI_SHARE_PARTY_H

#include <tacit/status.h>

#include "base/alloc.h"
#include "share/mesh.h"

typedef enum dpi_phase { DPI_TOGETHER, DPI_PREPARE, DPI_ONLINE } dpi_phase;

typedef struct dpi_party {
    const struct dpi_share_row *row;
    size_t role;
    dpi_mesh *mesh; /* borrowed; NULL in the clear (clear.c) */
    dpi_phase phase;
    void *room; /* of the row, for one tile; made by dpi_party_start */
    void *scratch;
    size_t scratch_bytes;
} dpi_party;

typedef struct dpi_share_row {
    const char *name; /* "trio" */
    size_t parties, dealer;
    const dpi_roles *sets; /* that have common randomness */
    size_t n_sets;
    bool compares; /* whether views are compared before anything is opened */

    /* Arrays that a role holds of each number; the room that its gates need for one tile. */
    size_t parts[DPI_SHARE_PARTIES];
    size_t room_bytes;

    /* ---- from and to the outside ---- */

    /* A number is given from outside as the sum of `parties` components, one for each machine,
     * which knows all but its own (deal.h).  component[r]: the one that role r lacks, NULL at role
     * r.  Views have them, where there is a mesh: without one whoever calls compares them. */
    void (*adopt)(dpi_party *p, dpi_ring ring, size_t n, const void *const component[],
                  dpi_share *x);
    /* What this role tells a client who is to learn x modulo 2^bits: writes n elements and returns
     * true, or false where it tells nothing; `hash_only`: a digest of them does, since another
     * role, tells_as[role], tells the same.  Each digest is held against that one's piece: pieces
     * of two roles are alike where x is 0, so that one that fits any of them proves nothing. */
    bool (*piece)(dpi_party *p, dpi_ring ring, int bits, const dpi_share *x, void *elements,
                  bool *hash_only);
    size_t tells_as[DPI_SHARE_PARTIES];
    /* What the client makes of the pieces, by role, modulo 2^bits and signed. */
    void (*join)(dpi_ring ring, int bits, size_t n, const void *const piece[], int64_t *x);

    /* ---- without a message ---- */

    /* x += c[n], public numbers (of bits: words), c NULL: one number for all, `same`. */
    void (*add_public)(dpi_party *p, dpi_ring ring, const uint64_t *c, uint64_t same, dpi_share *x);

    /* ---- gates ---- */

    /* z[i] = x[i] y[i], of bits: AND.  z may be x or y.  One round. */
    void (*multiply)(dpi_party *p, dpi_ring ring, const dpi_share *x, const dpi_share *y,
                     dpi_share *z);
    /* z = a layer of x with weights w and bias[outputs] (nullable), then, where shift > 0, divided
     * by 2^shift: floor or one more, and wrong by 2^(bits - shift) of the ring in |v| of 2^bits
     * cases.  One message an output.  One round. */
    void (*linear)(dpi_party *p, dpi_ring ring, const dpi_linear *l, const dpi_share *x,
                   const dpi_share *w, const dpi_share *bias, int shift, dpi_share *z);
    /* x = m + u modulo 2^bits of the ring, m and u shared by bits: planes[k][words of n], plane j
     * the bit `plane[j]` of each number. */
    void (*to_bits)(dpi_party *p, dpi_ring ring, const dpi_share *x, size_t n_planes,
                    const int *plane, dpi_share *m, dpi_share *u);
    /* z = floor(m / 2^shift) + floor(u / 2^shift), m and u as in to_bits, as numbers of the
     * ring. */
    void (*halves)(dpi_party *p, dpi_ring ring, const dpi_share *x, int shift, dpi_share *z);
    /* z[i] = sum over j < k of coefficient[j] bit[j][i].  One round. */
    void (*from_bits)(dpi_party *p, dpi_ring ring, size_t k, const dpi_share bit[],
                      const uint64_t coefficient[], dpi_share *z);
    /* z[i] = bit[i] x[i].  z may be x.  One round. */
    void (*inject)(dpi_party *p, dpi_ring ring, const dpi_share *bit, const dpi_share *x,
                   dpi_share *z);

    /* ---- what it costs, in bits that a role sends for n numbers ---- */
    /* tests/share compares these with what is sent. */
} dpi_share_row;

extern const dpi_share_row dpi_trio, dpi_quad;

/* One party that knows everything, without a mesh: what the others are tested by.  Of n numbers it
 * holds these; the component that it is given is the number itself, and its piece tells it.
 * x = m + u with u a hash of x and of the uint64_t in p->room, so that composites meet carries of
 * all kinds; a test may write another one there.  A division by 2^shift is the floor. */
extern const dpi_share_row dpi_clear;

/* Whether this party computes in its phase; else it only keeps what the dealer sends. */
bool dpi_party_works(const dpi_party *p);

/* At least so many bytes for one gate, aligned to 64, in which anything may be; they are kept from
 * gate to gate.  NULL: out of memory. */
void *dpi_party_scratch(dpi_party *p, size_t bytes);

/* Room for the row's gates.  DP_ENOMEM. */
dp_status dpi_party_start(dpi_party *p, dp_error *err) DP_MUST_CHECK;
void dpi_party_end(dpi_party *p);

/* ---- shares of a party ---- */

/* n elements for this role; *share is zeros on error.  Freed by dpi_share_free. */
dp_status dpi_share_new(const dpi_party *p, dpi_ring ring, size_t n, dpi_share *x,
                        dp_error *err) DP_MUST_CHECK;
void dpi_share_free(dpi_share *x);

/* z = a + b, a - b, c a, of as many elements as z has; of bits the XOR, and the AND of all words
 * with c.  z may be a or b.  Nothing is done by who does not work in its phase. */
void dpi_share_add(const dpi_party *p, dpi_ring ring, const dpi_share *a, const dpi_share *b,
                   dpi_share *z);
void dpi_share_subtract(const dpi_party *p, dpi_ring ring, const dpi_share *a, const dpi_share *b,
                        dpi_share *z);
void dpi_share_scale(const dpi_party *p, dpi_ring ring, uint64_t c, const dpi_share *a,
                     dpi_share *z);

#endif
