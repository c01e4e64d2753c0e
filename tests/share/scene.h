/* Three or four parties as threads of one process, over TLS sessions on socket pairs; or the one of
 * dpi_clear, who has no mesh.
 *
 *   static void body(dpi_party *p, void *user)
 *   {
 *       const numbers *u = user;
 *       dpi_share x = scene_give(p, DPI_RING_64, u->n, u->x, 1);
 *       ... gates ...
 *       scene_tell(p, u->told, DPI_RING_64, 64, &x);
 *       dpi_share_free(&x);
 *   }
 *
 * runs once in each thread, or where the phases are apart once for each phase.  What goes wrong in
 * a body beside the mesh's errors ends the test program. */
#ifndef TESTS_SHARE_SCENE_H
#define TESTS_SHARE_SCENE_H

#include "share/deal.h"
#include "share/party.h"
#include "tests/lib/check.h"

/* Identities that know each other; in a group's fixture, scene_make and scene_remove. */
typedef struct scene scene;
int scene_make(void **state);
int scene_remove(void **state);

/* A message on its way from a role to another. */
typedef struct scene_message {
    size_t from, to;
    dpi_phase phase;    /* of the sender */
    dpi_mesh_kind kind; /* DPI_MESH_POSTED: of the body's */
    size_t number;      /* of its kind, sender and receiver, from 0 */
    unsigned char *bytes;
    size_t n;
} scene_message;

typedef struct scene_opts {
    const dpi_share_row *row;
    void (*body)(dpi_party *p, void *user);
    void *user;
    /* The body runs as DPI_PREPARE and then as DPI_ONLINE, with the same randomness; else once, as
     * DPI_TOGETHER. */
    bool apart;
    bool unverified;  /* else each thread ends with dpi_mesh_verify */
    uint32_t timeout; /* ms; 0: 120000 */
    size_t fresh;     /* what keys are bound to; lies_about[r] is added for role r */
    size_t lies_about[DPI_SHARE_PARTIES];
    /* In a role's thread, before anything else.  NULL: none. */
    void (*begin)(void *user, size_t role);
    /* In the sender's thread, before a message is sent: may look at it and change it.  NULL:
     * none. */
    void (*tamper)(void *user, const scene_message *message);
} scene_opts;

/* How it ended for each role: the mesh's error, also where no mesh came about, and its traffic. */
typedef struct scene_end {
    dp_error err;
    dpi_mesh_traffic traffic;
    bool met; /* the mesh came about */
} scene_end;

void scene_run(const scene *s, const scene_opts *o, scene_end end[DPI_SHARE_PARTIES]);

/* The same, which must end well for everybody. */
void scene_run_well(const scene *s, const scene_opts *o, scene_end end[DPI_SHARE_PARTIES]);

/* ---- in a body ---- */

/* Ends the test program unless it is good: a test's assertion must not fail in another thread than
 * its own. */
void scene_must(bool good, const char *what);

/* n known numbers (words of bits), shared.  Components follow from the seed: each number that is
 * given in a scene needs another. */
dpi_share scene_give(dpi_party *p, dpi_ring ring, size_t n, const int64_t *x, uint64_t seed);

/* A share of n elements, zeros. */
dpi_share scene_share(const dpi_party *p, dpi_ring ring, size_t n);

/* What each role tells about a share, in the phase in which it works. */
typedef struct scene_told {
    void *piece[DPI_SHARE_PARTIES]; /* elements; NULL: tells nothing */
    bool hash_only[DPI_SHARE_PARTIES];
    dpi_ring ring;
    int bits;
    size_t n;
} scene_told;

void scene_tell(dpi_party *p, scene_told *told, dpi_ring ring, int bits, const dpi_share *x);

/* ---- after the run ---- */

/* Puts together what was told, and frees it. */
void scene_join(const dpi_share_row *row, scene_told *told, int64_t *x);

/* Frees it without looking; where the run has failed. */
void scene_drop(scene_told *told);

#endif
