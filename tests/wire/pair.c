#define _XOPEN_SOURCE 700
#include "tests/wire/pair.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

const char *pair_path(wire_pair *p, const char *name)
{
    static char path[400];
    (void)snprintf(path, sizeof path, "%s/%s", p->folder, name);
    return path;
}

int pair_make(void **state)
{
    static const char *const names[] = {"client", "server", "stranger"};
    wire_pair *p = calloc(1, sizeof *p);
    assert_non_null(p);
    (void)strcpy(p->folder, "/tmp/tacit-wire-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    for (int i = 0; i < 3; i++) {
        dp_error err = {0};
        assert_ok(dp_identity_new(pair_path(p, names[i]), &p->own[i], &err), err.text);
        memcpy(p->peer[i].fingerprint, p->own[i]->fingerprint, DPI_FINGERPRINT);
        (void)strcpy(p->peer[i].name, names[i]);
    }
    p->knows[CLIENT] = p->knows[STRANGER] = (dpi_peers){&p->peer[SERVER], 1};
    p->knows[SERVER] = (dpi_peers){&p->peer[CLIENT], 1};
    *state = p;
    return 0;
}

int pair_remove(void **state)
{
    wire_pair *p = *state;
    for (int i = 0; i < 3; i++)
        dp_identity_free(p->own[i]);
    DIR *list = opendir(p->folder);
    for (struct dirent *e; list != NULL && (e = readdir(list)) != NULL;)
        if (e->d_name[0] != '.')
            (void)unlink(pair_path(p, e->d_name));
    if (list != NULL)
        (void)closedir(list);
    (void)rmdir(p->folder);
    free(p);
    return 0;
}

dpi_wire_opts pair_opts(const wire_pair *p, int who)
{
    return (dpi_wire_opts){.identity = p->own[who], .peers = &p->knows[who]};
}

static void *run_opening(void *of)
{
    opening *o = of;
    o->status = dpi_wire_open(o->socket, o->role, &o->opts, o->within, &o->session, &o->err);
    return NULL;
}

void opening_start(opening *o, int socket, dpi_wire_role role, dpi_wire_opts opts, uint32_t within)
{
    *o = (opening){.socket = socket, .role = role, .opts = opts, .within = within};
    assert_int_equal(pthread_create(&o->thread, NULL, run_opening, o), 0);
}

void opening_join(opening *o)
{
    assert_int_equal(pthread_join(o->thread, NULL), 0);
    assert_int_equal(o->status == DP_OK, o->session != NULL);
}

void socket_pair(int sockets[2])
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
}

void open_pair(const wire_pair *p, dpi_wire_session *ends[2])
{
    int sockets[2];
    opening o[2];
    socket_pair(sockets);
    opening_start(&o[0], sockets[0], DPI_WIRE_CLIENT, pair_opts(p, CLIENT), 20000);
    opening_start(&o[1], sockets[1], DPI_WIRE_SERVER, pair_opts(p, SERVER), 20000);
    for (int i = 0; i < 2; i++) {
        opening_join(&o[i]);
        assert_ok(o[i].status, o[i].err.text);
        ends[i] = o[i].session;
    }
}

int open_files(void)
{
    int n = 0;
    for (int file = 0; file < 1024; file++) {
        int copy = dup(file);
        n += copy >= 0;
        if (copy >= 0)
            (void)close(copy);
    }
    return n;
}
