#define _XOPEN_SOURCE 700
#include "tests/share/scene.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WITHIN = 120000 /* ms: for machines that are busy, and valgrind */ };

struct scene {
    char folder[64];
    dp_identity *own[DPI_SHARE_PARTIES];
    dpi_peer peer[DPI_SHARE_PARTIES];
};

/* ---- identities ---- */

static void path_of(const scene *s, size_t role, char path[80])
{
    (void)snprintf(path, 80, "%s/%zu", s->folder, role);
}

int scene_make(void **state)
{
    scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    (void)strcpy(s->folder, "/tmp/tacit-scene-XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    for (size_t r = 0; r < DPI_SHARE_PARTIES; r++) {
        dp_error err = {DP_OK, ""};
        char path[80];
        path_of(s, r, path);
        assert_ok(dp_identity_new(path, &s->own[r], &err), err.text);
        memcpy(s->peer[r].fingerprint, s->own[r]->fingerprint, DPI_FINGERPRINT);
        (void)snprintf(s->peer[r].name, sizeof s->peer[r].name, "party %zu", r);
    }
    *state = s;
    return 0;
}

int scene_remove(void **state)
{
    scene *s = *state;
    for (size_t r = 0; r < DPI_SHARE_PARTIES; r++) {
        char path[80];
        path_of(s, r, path);
        dp_identity_free(s->own[r]);
        (void)unlink(path);
    }
    (void)rmdir(s->folder);
    free(s);
    return 0;
}

/* ---- threads ---- */

typedef struct actor {
    const scene *s;
    const scene_opts *o;
    size_t role;
    int socket[DPI_SHARE_PARTIES];
    dpi_phase phase;
    size_t sent[DPI_SHARE_PARTIES][DPI_MESH_TAG + 1];
    pthread_t thread;
    scene_end *end;
} actor;

static void tamper(void *user, dpi_mesh_kind kind, size_t to, unsigned char *bytes, size_t n)
{
    actor *a = user;
    const scene_message message = {.from = a->role,
                                   .to = to,
                                   .phase = a->phase,
                                   .kind = kind,
                                   .number = a->sent[to][kind]++,
                                   .bytes = bytes,
                                   .n = n};
    a->o->tamper(a->o->user, &message);
}

/* Its end of the session with each other role; those of lower number are servers.  All links are
 * opened in the same order, pair by pair, so that nobody waits in a circle. */
static bool meet(actor *a, dpi_wire_session *link[])
{
    bool good = true;
    for (size_t j = 0; j < a->o->row->parties; j++) {
        dpi_peer peer = a->s->peer[j];
        const dpi_peers peers = {&peer, 1};
        const dpi_wire_opts opts = {.identity = a->s->own[a->role], .peers = &peers};
        if (j != a->role &&
            dpi_wire_open(a->socket[j], a->role < j ? DPI_WIRE_SERVER : DPI_WIRE_CLIENT, &opts,
                          WITHIN, &link[j], &a->end->err) != DP_OK)
            good = false;
    }
    return good;
}

static dp_status make_mesh(actor *a, dpi_mesh **mesh)
{
    const scene_opts *o = a->o;
    const size_t context = o->fresh + o->lies_about[a->role];
    dpi_mesh_opts opts = {.parties = o->row->parties,
                          .role = a->role,
                          .sets = o->row->sets,
                          .n_sets = o->row->n_sets,
                          .compares = o->row->compares,
                          .context = &context,
                          .context_bytes = sizeof context,
                          .timeout = o->timeout > 0 ? o->timeout : WITHIN,
                          .tamper = o->tamper != NULL ? tamper : NULL,
                          .user = a};
    *mesh = NULL;
    if (!meet(a, opts.link)) {
        for (size_t j = 0; j < o->row->parties; j++)
            dpi_wire_close(opts.link[j]);
        return a->end->err.status;
    }
    return dpi_mesh_new(&opts, mesh, &a->end->err);
}

static void play(actor *a, dpi_party *p)
{
    static const dpi_phase together[] = {DPI_TOGETHER}, apart[] = {DPI_PREPARE, DPI_ONLINE};
    for (int k = 0; k < (a->o->apart ? 2 : 1); k++) {
        a->phase = p->phase = a->o->apart ? apart[k] : together[k];
        if (p->mesh != NULL)
            dpi_mesh_layer(p->mesh, 1);
        a->o->body(p, a->o->user);
    }
}

static void finish(actor *a, dpi_mesh *mesh)
{
    dp_status status = DP_OK;
    if (a->o->unverified)
        dpi_mesh_flush(mesh);
    else
        status = dpi_mesh_verify(mesh);
    a->end->err = *dpi_mesh_error(mesh);
    a->end->traffic = dpi_mesh_counts(mesh);
    scene_must(a->o->unverified || status == a->end->err.status, "two words on how it ended");
}

static void *run_actor(void *of)
{
    actor *a = of;
    dpi_party p = {.row = a->o->row, .role = a->role};
    if (a->o->begin != NULL)
        a->o->begin(a->o->user, a->role);
    if (a->o->row->parties > 1 && make_mesh(a, &p.mesh) != DP_OK)
        return NULL;
    a->end->met = true;
    bool good = dpi_party_start(&p, NULL) == DP_OK;
    scene_must(good || p.mesh != NULL, "out of memory");
    if (good)
        play(a, &p);
    else
        dpi_mesh_fail(p.mesh, DP_ENOMEM, "out of memory");
    if (p.mesh != NULL)
        finish(a, p.mesh);
    dpi_party_end(&p);
    dpi_mesh_free(p.mesh);
    return NULL;
}

void scene_run(const scene *s, const scene_opts *o, scene_end end[DPI_SHARE_PARTIES])
{
    actor actors[DPI_SHARE_PARTIES];
    size_t n = o->row->parties;
    for (size_t r = 0; r < n; r++) {
        end[r] = (scene_end){0};
        actors[r] = (actor){.s = s, .o = o, .role = r, .end = &end[r]};
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            int sockets[2];
            assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
            actors[i].socket[j] = sockets[0];
            actors[j].socket[i] = sockets[1];
        }
    for (size_t r = 0; r < n; r++)
        assert_int_equal(pthread_create(&actors[r].thread, NULL, run_actor, &actors[r]), 0);
    for (size_t r = 0; r < n; r++)
        assert_int_equal(pthread_join(actors[r].thread, NULL), 0);
}

void scene_run_well(const scene *s, const scene_opts *o, scene_end end[DPI_SHARE_PARTIES])
{
    scene_run(s, o, end);
    for (size_t r = 0; r < o->row->parties; r++)
        assert_ok(end[r].err.status, end[r].err.text);
}
