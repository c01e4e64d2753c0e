#define _XOPEN_SOURCE 700
#include "tests/share/quiet.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

enum { CHACHA = 64 /* bytes of its block */ };

typedef struct world {
    quiet_run *q;
    pthread_mutex_t lock;
    pthread_cond_t more;
} world;

struct dpi_mesh {
    world *w;
    size_t role;
    quiet_bytes filling[DPI_SHARE_PARTIES];
    size_t taken[DPI_SHARE_PARTIES];
    uint64_t drawn[QUIET_SETS]; /* bytes */
    dp_error err;
};

static void append(quiet_bytes *to, const void *bytes, size_t n)
{
    to->bytes = realloc(to->bytes, to->n + n + 1);
    scene_must(to->bytes != NULL, "out of memory");
    memcpy(to->bytes + to->n, bytes, n);
    to->n += n;
}

static void add(quiet_bytes **all, size_t *n, quiet_bytes one)
{
    *all = realloc(*all, (*n + 1) * sizeof **all);
    scene_must(*all != NULL, "out of memory");
    (*all)[(*n)++] = one;
}

/* ---- what the gates call ---- */

dp_status dpi_mesh_status(const dpi_mesh *m)
{
    return m->err.status;
}

void dpi_mesh_fail(dpi_mesh *m, dp_status status, const char *why)
{
    (void)m;
    (void)status;
    scene_must(false, why);
}

void dpi_mesh_preparing(dpi_mesh *m, bool preparing)
{
    (void)m;
    (void)preparing;
}

static void leave_out(const dpi_mesh *m, dpi_roles set, unsigned char *drawn, size_t bytes)
{
    const quiet_run *q = m->w->q;
    if (q->without.set != set || q->without.call != q->n_draws[m->role][set])
        return;
    for (size_t i = q->without.first; i < q->without.last && i < bytes; i++)
        drawn[i] = 0;
}

/* ChaCha20 of the set, from where it was left. */
void dpi_mesh_draw(dpi_mesh *m, dpi_roles set, void *to, size_t bytes)
{
    unsigned char key[crypto_stream_chacha20_KEYBYTES] = {(unsigned char)set};
    const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES] = {0};
    size_t skip = m->drawn[set] % CHACHA, n = skip + bytes;
    unsigned char *block = calloc(1, n + 1);
    scene_must(block != NULL && (set >> m->role & 1) != 0, "a draw with a set of others");
    memcpy(key + 8, &m->w->q->seed, sizeof m->w->q->seed);
    (void)crypto_stream_chacha20_xor_ic(block, block, n, nonce, m->drawn[set] / CHACHA, key);
    memcpy(to, block + skip, bytes);
    free(block);
    m->drawn[set] += bytes;
    leave_out(m, set, to, bytes);
    quiet_bytes drawn = {NULL, 0};
    append(&drawn, to, bytes);
    add(&m->w->q->draw[m->role][set], &m->w->q->n_draws[m->role][set], drawn);
}

void *dpi_mesh_room(dpi_mesh *m, size_t to, size_t bytes)
{
    quiet_bytes *f = &m->filling[to];
    scene_must(f->bytes == NULL && bytes <= DPI_MESH_MOST, "one message at a time");
    *f = (quiet_bytes){calloc(1, bytes + 1), bytes};
    scene_must(f->bytes != NULL, "out of memory");
    return f->bytes;
}

void dpi_mesh_post(dpi_mesh *m, size_t to)
{
    quiet_run *q = m->w->q;
    size_t *n = &q->n_messages[m->role][to];
    quiet_bytes sent = m->filling[to];
    m->filling[to] = (quiet_bytes){0};
    if (q->tamper != NULL)
        q->tamper(q->of, &(scene_message){m->role, to, DPI_TOGETHER, DPI_MESH_POSTED, *n,
                                          sent.bytes, sent.n});
    (void)pthread_mutex_lock(&m->w->lock);
    add(&q->message[m->role][to], n, sent);
    (void)pthread_cond_broadcast(&m->w->more);
    (void)pthread_mutex_unlock(&m->w->lock);
}

void dpi_mesh_take(dpi_mesh *m, size_t from, void *to, size_t bytes)
{
    quiet_run *q = m->w->q;
    (void)pthread_mutex_lock(&m->w->lock);
    while (q->n_messages[from][m->role] <= m->taken[from])
        (void)pthread_cond_wait(&m->w->more, &m->w->lock);
    const quiet_bytes *b = &q->message[from][m->role][m->taken[from]++];
    scene_must(b->n == bytes, "a message of another size");
    memcpy(to, b->bytes, bytes);
    (void)pthread_mutex_unlock(&m->w->lock);
}

void dpi_mesh_keep(dpi_mesh *m, size_t from, size_t bytes)
{
    (void)from;
    (void)bytes;
    dpi_mesh_fail(m, DP_ESTATE, "there is no tape here");
}

void dpi_mesh_take_kept(dpi_mesh *m, size_t from, void *to, size_t bytes)
{
    (void)to;
    dpi_mesh_keep(m, from, bytes);
}

void dpi_mesh_view(dpi_mesh *m, dpi_roles set, const void *bytes, size_t n)
{
    scene_must((set >> m->role & 1) != 0, "a view of others");
    append(&m->w->q->view[m->role][set], bytes, n);
}

/* ---- a run ---- */

typedef struct quiet_actor {
    world *w;
    size_t role;
    pthread_t thread;
} quiet_actor;

static void *run_actor(void *of)
{
    const quiet_actor *a = of;
    dpi_mesh mesh = {.w = a->w, .role = a->role};
    const quiet_run *q = a->w->q;
    dpi_party p = {.row = q->row, .role = a->role, .mesh = &mesh, .phase = DPI_TOGETHER};
    scene_must(dpi_party_start(&p, NULL) == DP_OK, "out of memory");
    q->body(&p, q->user);
    dpi_party_end(&p);
    return NULL;
}

void quiet_play(quiet_run *q)
{
    world w = {.q = q, .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};
    quiet_actor actors[DPI_SHARE_PARTIES];
    for (size_t r = 0; r < q->row->parties; r++) {
        actors[r] = (quiet_actor){.w = &w, .role = r};
        assert_int_equal(pthread_create(&actors[r].thread, NULL, run_actor, &actors[r]), 0);
    }
    for (size_t r = 0; r < q->row->parties; r++)
        assert_int_equal(pthread_join(actors[r].thread, NULL), 0);
}

static void forget_all(quiet_bytes **all, size_t *n)
{
    for (size_t k = 0; k < *n; k++)
        free((*all)[k].bytes);
    free(*all);
    *all = NULL;
    *n = 0;
}

void quiet_forget(quiet_run *q)
{
    for (size_t i = 0; i < DPI_SHARE_PARTIES; i++) {
        for (size_t j = 0; j < DPI_SHARE_PARTIES; j++)
            forget_all(&q->message[i][j], &q->n_messages[i][j]);
        for (size_t set = 0; set < QUIET_SETS; set++) {
            forget_all(&q->draw[i][set], &q->n_draws[i][set]);
            free(q->view[i][set].bytes);
            q->view[i][set] = (quiet_bytes){0};
        }
    }
}
