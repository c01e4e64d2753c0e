/* What the files of the mesh share. */
#ifndef DPI_SHARE_MESH_PARTS_H
#define DPI_SHARE_MESH_PARTS_H

#include <openssl/evp.h>

#include "share/mesh.h"
#include "wire/both.h"

enum {
    DPI_MESH_SETS = 1 << DPI_SHARE_PARTIES, /* sets of roles, by their bits */
    DPI_MESH_CLASSES = 11,                  /* sizes of blocks: 1 KiB << class */
    DPI_MESH_HASH = 32,
    DPI_MESH_DRAWS = 4096 /* bytes that are drawn at a time for those who want few */
};

/* A message that waits to be sent or to be read.  Blocks of a class are used again, the last one
 * first: it may still be in the cache. */
typedef struct dpi_mesh_block {
    struct dpi_mesh_block *next;
    size_t n, class;
    uint16_t frame; /* its kind */
} dpi_mesh_block;

/* First in, first out. */
typedef struct dpi_mesh_queue {
    dpi_mesh_block *first, *last;
    size_t bytes; /* with those of the blocks themselves: 0 when it is empty */
} dpi_mesh_queue;

typedef struct dpi_mesh_link {
    dpi_wire_both both; /* session NULL: this role's own place */
    dpi_mesh_block *filling;
    dpi_mesh_queue out, tape;
    unsigned char key[DPI_MESH_HASH]; /* of comparisons with this role */
} dpi_mesh_link;

/* The randomness of a set: AES-128 in counter mode, whose counter begins with the layer. */
typedef struct dpi_mesh_source {
    EVP_CIPHER_CTX *cipher; /* NULL: this role is not in the set, or the set has no key */
    bool placed;            /* at the layer */
    size_t left;            /* bytes at the end of few */
    unsigned char few[DPI_MESH_DRAWS];
} dpi_mesh_source;

/* The view of a set: its hash under the key that this role has with each other one of it. */
typedef struct dpi_mesh_seen {
    EVP_CIPHER_CTX *hash[DPI_SHARE_PARTIES]; /* NULL: not in the set, or nothing was seen yet */
    bool begun;                              /* in this comparison */
} dpi_mesh_seen;

struct dpi_mesh {
    size_t parties, role;
    dpi_mesh_link link[DPI_SHARE_PARTIES];
    dpi_mesh_source *source[DPI_MESH_SETS];
    dpi_mesh_seen seen[DPI_MESH_SETS];
    bool compares, preparing, posted;
    uint64_t compared; /* comparisons so far */
    uint32_t layer, timeout;
    dpi_mesh_block *spare[DPI_MESH_CLASSES];
    dpi_mesh_block *sink; /* what is posted after an error is written here */
    void (*tamper)(void *user, dpi_mesh_kind kind, size_t to, unsigned char *bytes, size_t n);
    void *user;
    dpi_mesh_traffic traffic;
    dp_error err;
};

/* ---- mesh-post.c ---- */

/* A block for n bytes, and where they are; NULL when memory is out. */
dpi_mesh_block *dpi_mesh_block_new(dpi_mesh *m, size_t n);
unsigned char *dpi_mesh_bytes(dpi_mesh_block *b);
void dpi_mesh_block_free(dpi_mesh *m, dpi_mesh_block *b); /* to be used again */
void dpi_mesh_queue_add(dpi_mesh_queue *q, dpi_mesh_block *b);
dpi_mesh_block *dpi_mesh_queue_take(dpi_mesh_queue *q); /* NULL: it is empty */

/* Sends what can be sent without waiting. */
void dpi_mesh_push(dpi_mesh *m);

/* Messages of the mesh's own. */
void dpi_mesh_send(dpi_mesh *m, dpi_mesh_kind kind, size_t to, const void *bytes, size_t n);
void dpi_mesh_receive(dpi_mesh *m, dpi_mesh_kind kind, size_t from, void *to, size_t n);

/* ---- mesh-keys.c ---- */

/* Keys of all sets; errors stick.  Frees them. */
void dpi_mesh_agree(dpi_mesh *m, const dpi_mesh_opts *o);
void dpi_mesh_forget(dpi_mesh *m);

/* ---- mesh-views.c ---- */

void dpi_mesh_views_free(dpi_mesh *m);

#endif
