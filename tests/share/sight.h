/* One gate of Trio, and everything that was sent and held in it. */
#ifndef TESTS_SHARE_SIGHT_H
#define TESTS_SHARE_SIGHT_H

#include "tests/share/scene.h"

enum { SIGHT_ROLES = 3, SIGHT_BITS = 2, SIGHT_PLANES = 3, SIGHT_TERMS = 3, SIGHT_OUTPUTS = 4 };

typedef enum sight_kind {
    SIGHT_PRODUCT,
    SIGHT_LINEAR,
    SIGHT_SHIFTED, /* LINEAR with a shift */
    SIGHT_TO_BITS, /* planes 0 ... SIGHT_PLANES - 1 */
    SIGHT_HALVES,
    SIGHT_FROM_BITS,
    SIGHT_INJECT,
    SIGHT_KINDS
} sight_kind;

/* Bytes that a role has sent to another, or holds. */
typedef struct sight_bytes {
    unsigned char *at;
    size_t n;
} sight_bytes;

typedef struct sight {
    sight_kind kind;
    dpi_ring ring;
    size_t n; /* elements of z; of x in TO_BITS; of layers a multiple of SIGHT_OUTPUTS */
    int shift;
    int64_t x, y; /* what all numbers are; bits are those of x */
    bool apart;

    sight_bytes sent[SIGHT_ROLES][SIGHT_ROLES]; /* [from][to] */
    size_t messages[SIGHT_ROLES][SIGHT_ROLES];
    uint64_t early[SIGHT_ROLES], late[SIGHT_ROLES]; /* bytes sent in PREPARE, in ONLINE */
    /* By role, in the phase in which it works: the parts of z (of u in TO_BITS), and of TO_BITS
     * part[0] of m, else of x. */
    sight_bytes part[SIGHT_ROLES][2], operand[SIGHT_ROLES];
    sight_bytes factor; /* P0's lambda of y */
    scene_end end[DPI_SHARE_PARTIES];
} sight;

/* Runs it, which must end well. */
void sight_run(const scene *s, sight *of);
void sight_free(sight *of);

/* Whether there is such a gate. */
bool sight_is(sight_kind kind, dpi_ring ring);

#endif
