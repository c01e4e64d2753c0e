#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "processes.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WITHIN = 60000, PATH = 80 };

/* All of it is made before the processes are: each then takes what is its own. */
typedef struct place {
    const dpi_share_row *row;
    dp_identity *own[DPI_SHARE_PARTIES];
    dpi_peer peer[DPI_SHARE_PARTIES];
    int socket[DPI_SHARE_PARTIES][DPI_SHARE_PARTIES]; /* [i][j]: i's end of its link with j */
} place;

void processes_must(bool good, const char *what)
{
    if (good)
        return;
    (void)fprintf(stderr, "bench: %s\n", what);
    _exit(1);
}

void *processes_shared(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    processes_must(at != MAP_FAILED, "out of memory");
    return at;
}

/* ---- links ---- */

static void make_identities(place *w)
{
    char folder[] = "/tmp/bench-share-XXXXXX", path[PATH];
    processes_must(mkdtemp(folder) != NULL, "no folder can be made in /tmp");
    for (size_t r = 0; r < w->row->parties; r++) {
        dp_error err = {0};
        (void)snprintf(path, sizeof path, "%s/%zu", folder, r);
        processes_must(dp_identity_new(path, &w->own[r], &err) == DP_OK, err.text);
        memcpy(w->peer[r].fingerprint, w->own[r]->fingerprint, DPI_FINGERPRINT);
        (void)snprintf(w->peer[r].name, sizeof w->peer[r].name, "party %zu", r);
        (void)unlink(path);
    }
    (void)rmdir(folder);
}

static void connect_all(place *w)
{
    char port[16];
    int listening;
    dp_error err = {0};
    processes_must(dpi_socket_listen("127.0.0.1", "0", &listening, &err) == DP_OK, err.text);
    (void)snprintf(port, sizeof port, "%d", dpi_socket_port(listening));
    for (size_t i = 0; i < w->row->parties; i++)
        for (size_t j = i + 1; j < w->row->parties; j++) {
            processes_must(dpi_socket_connect("127.0.0.1", port, dpi_deadline_after(WITHIN),
                                              &w->socket[j][i], &err) == DP_OK,
                           err.text);
            struct pollfd ready = {.fd = listening, .events = POLLIN};
            processes_must(dpi_socket_wait(&ready, 1, dpi_deadline_after(WITHIN)) == 1,
                           "a connection does not come");
            w->socket[i][j] = accept(listening, NULL, NULL);
            processes_must(w->socket[i][j] >= 0 && dpi_socket_prepare(w->socket[i][j]),
                           "a connection cannot be taken");
        }
    (void)close(listening);
}

/* Pair by pair in the same order everywhere, so that nobody waits in a circle. */
static void open_links(place *w, size_t role, dpi_wire_session *link[])
{
    for (size_t j = 0; j < w->row->parties; j++) {
        dp_error err = {0};
        const dpi_peers peers = {&w->peer[j], 1};
        const dpi_wire_opts opts = {.identity = w->own[role], .peers = &peers};
        if (j != role)
            processes_must(dpi_wire_open(w->socket[role][j],
                                         role < j ? DPI_WIRE_SERVER : DPI_WIRE_CLIENT, &opts,
                                         WITHIN, &link[j], &err) == DP_OK,
                           err.text);
    }
}

static void close_others(const place *w, size_t role)
{
    for (size_t i = 0; i < w->row->parties; i++)
        for (size_t j = 0; j < w->row->parties; j++)
            if (i != role && i != j)
                (void)close(w->socket[i][j]);
}

/* ---- processes ---- */

static void play(place *w, size_t role, void (*body)(dpi_party *p, void *user), void *user)
{
    dp_error err = {0};
    dpi_party p = {.row = w->row, .role = role};
    dpi_mesh_opts opts = {.parties = w->row->parties,
                          .role = role,
                          .sets = w->row->sets,
                          .n_sets = w->row->n_sets,
                          .compares = w->row->compares,
                          .context = "bench",
                          .context_bytes = sizeof "bench",
                          .timeout = WITHIN};
#ifdef __linux__
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    close_others(w, role);
    open_links(w, role, opts.link);
    processes_must(dpi_mesh_new(&opts, &p.mesh, &err) == DP_OK, err.text);
    processes_must(dpi_party_start(&p, &err) == DP_OK, err.text);
    body(&p, user);
    dpi_party_end(&p);
    dpi_mesh_free(p.mesh);
}

/* When one fails the others would wait for it. */
static void await(size_t n, const pid_t child[])
{
    int how;
    for (size_t ended = 0; ended < n; ended++) {
        processes_must(wait(&how) > 0, "a process is lost");
        if (WIFEXITED(how) && WEXITSTATUS(how) == 0)
            continue;
        for (size_t r = 0; r < n; r++)
            (void)kill(child[r], SIGKILL);
        processes_must(false, "a party has failed");
    }
}

void processes_run(const dpi_share_row *row, void (*body)(dpi_party *p, void *user), void *user)
{
    place w = {.row = row};
    pid_t child[DPI_SHARE_PARTIES];
    make_identities(&w);
    connect_all(&w);
    (void)fflush(stdout);
    for (size_t r = 0; r < row->parties; r++) {
        child[r] = fork();
        processes_must(child[r] >= 0, "the system gives no process");
        if (child[r] == 0) {
            play(&w, r, body, user);
            _exit(0);
        }
    }
    for (size_t i = 0; i < row->parties; i++)
        for (size_t j = 0; j < row->parties; j++)
            if (i != j)
                (void)close(w.socket[i][j]);
    await(row->parties, child);
    for (size_t r = 0; r < row->parties; r++)
        dp_identity_free(w.own[r]);
}
