/* A mesh without links, keys or errors: the parties are threads, and everything that they send,
 * draw and see is kept, to be looked at afterwards.
 *
 * A test that links quiet.c has these dpi_mesh_* in the place of the library's. */
#ifndef TESTS_SHARE_QUIET_H
#define TESTS_SHARE_QUIET_H

#include "tests/share/scene.h"

enum { QUIET_SETS = 1 << DPI_SHARE_PARTIES };

typedef struct quiet_bytes {
    unsigned char *bytes;
    size_t n;
} quiet_bytes;

/* Bytes first ... last - 1 of a set's draw number `call`. */
typedef struct quiet_draw {
    dpi_roles set;
    size_t call, first, last;
} quiet_draw;

typedef struct quiet_run {
    const dpi_share_row *row;
    void (*body)(dpi_party *p, void *user);
    void *user;
    uint64_t seed;                                          /* of all randomness */
    void (*tamper)(void *of, const scene_message *message); /* in the sender's thread; NULL: none */
    void *of;
    /* Bytes first ... last - 1 of a draw that are zeros for all of the set, as if they were not
     * drawn; last 0: of none. */
    quiet_draw without;
    /* Messages [from][to], as they came: how many, and each. */
    size_t n_messages[DPI_SHARE_PARTIES][DPI_SHARE_PARTIES];
    quiet_bytes *message[DPI_SHARE_PARTIES][DPI_SHARE_PARTIES];
    /* What each role has drawn with each set, call by call. */
    size_t n_draws[DPI_SHARE_PARTIES][QUIET_SETS];
    quiet_bytes *draw[DPI_SHARE_PARTIES][QUIET_SETS];
    /* What each role has seen in each set. */
    quiet_bytes view[DPI_SHARE_PARTIES][QUIET_SETS];
} quiet_run;

/* Runs the body, phases together. */
void quiet_play(quiet_run *q);
void quiet_forget(quiet_run *q);

#endif
