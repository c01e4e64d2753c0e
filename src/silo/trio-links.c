/* Links of three parties: TLS between fingerprints that all were told. */
#define _XOPEN_SOURCE 700
#include "silo/trio-links.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "wire/listener.h"

enum { PATIENCE = 60000, PAUSE = 100000000 /* ns between two tries */ };

/* Milliseconds between two looks at whether it is to stop: while a party is listened for, and while
 * one is connected to, which takes as long as a handshake. */
enum { LISTENED = 200, CONNECTED = 5000 };

typedef struct trio_links {
    const dp_silo_trio_opts *o;
    const dpi_silo_trio_watch *watch;
    size_t self;
    uint32_t patience;
    const char *called[DP_SILO_TRIO];
    dpi_deadline until; /* all are there */
    dpi_peer others[DP_SILO_TRIO - 1];
    dpi_peers peers;
    dpi_wire_opts wire;
    dpi_wire_session *link[DP_SILO_TRIO];
} trio_links;

dp_status dpi_silo_trio_self(const dp_silo_trio_opts *o, size_t *self, dp_error *err)
{
    unsigned char own[DP_SILO_TRIO][DPI_FINGERPRINT];
    *self = DP_SILO_TRIO;
    for (size_t k = 0; k < DP_SILO_TRIO; k++) {
        const dp_silo_trio_party *p = &o->party[k];
        if (p->fingerprint == NULL ||
            !dpi_fingerprint_read(p->fingerprint, strlen(p->fingerprint), own[k]) ||
            (k < 2 && (p->host == NULL || p->port == NULL)))
            return dpi_fail(err, DP_EINVAL,
                            "party %zu has no fingerprint (\"tacit:\" and 64 digits), or no "
                            "address where others reach it",
                            k);
        if (memcmp(own[k], o->identity->fingerprint, DPI_FINGERPRINT) == 0)
            *self = k;
        for (size_t j = 0; j < k; j++)
            if (memcmp(own[j], own[k], DPI_FINGERPRINT) == 0)
                return dpi_fail(err, DP_EINVAL,
                                "parties %zu and %zu are the same one; any two parties know all "
                                "rows, so three that differ are needed",
                                j, k);
    }
    return *self < DP_SILO_TRIO ? DP_OK
                                : dpi_fail(err, DP_ENAME,
                                           "%s is none of the three parties; give the identity of "
                                           "one of them",
                                           o->identity->text);
}

/* ---- meeting ---- */

static void keep(trio_links *l, dpi_wire_session *session)
{
    for (size_t k = 0; k < DP_SILO_TRIO; k++) {
        unsigned char theirs[DPI_FINGERPRINT];
        const char *text = l->o->party[k].fingerprint;
        if (k == l->self || !dpi_fingerprint_read(text, strlen(text), theirs) ||
            memcmp(theirs, dpi_wire_peer_fingerprint(session), DPI_FINGERPRINT) != 0)
            continue;
        dpi_wire_close(l->link[k]); /* of one that has begun again */
        l->link[k] = session;
        return;
    }
    dpi_wire_close(session);
}

static bool is_stopped(const trio_links *l)
{
    return l->watch != NULL && l->watch->stop(l->watch->of, 0);
}

/* What is left, but no longer than between two looks. */
static uint32_t wait_of(const trio_links *l, uint32_t most)
{
    const uint32_t left = (uint32_t)dpi_deadline_left(l->until);
    return l->watch != NULL && left > most ? most : left;
}

static dp_status fail_stopped(dp_error *err)
{
    return dpi_fail(err, DP_ESTOPPED, "it was stopped while the other parties were waited for");
}

/* Whoever comes later, until all of them have. */
static dp_status listen_for(trio_links *l, dp_error *err)
{
    const dp_silo_trio_party *own = &l->o->party[l->self];
    dpi_wire_listener *listener = NULL;
    dp_status status = dpi_wire_listen(l->o->host != NULL ? l->o->host : own->host,
                                       l->o->port != NULL ? l->o->port : own->port, &l->wire, NULL,
                                       &listener, err);
    for (size_t k = l->self + 1; k < DP_SILO_TRIO && status == DP_OK;) {
        dpi_wire_session *session = NULL;
        dp_error found = {DP_OK, ""};
        if (l->link[k] != NULL) {
            k++;
            continue;
        }
        status = dpi_wire_accept(listener, wait_of(l, LISTENED), &session, &found);
        if (status == DP_OK)
            keep(l, session);
        else if (status == DP_ETIMEOUT && is_stopped(l))
            status = fail_stopped(err);
        else if (status == DP_ETIMEOUT && dpi_deadline_left(l->until) > 0)
            status = DP_OK;
        else if (status == DP_ETIMEOUT)
            (void)dpi_fail(err, status,
                           "%s has not come; are all three run at about the same time, and "
                           "is %s, port %s, the address of this one?",
                           l->called[k], own->host, own->port);
        else
            (void)dpi_fail(err, status, "%s", found.text);
    }
    dpi_wire_listener_free(listener);
    return status;
}

/* It may not listen yet, or another one may have its place for a while. */
static dp_status connect_to(trio_links *l, size_t k, dp_error *err)
{
    const struct timespec pause = {0, PAUSE};
    const dp_silo_trio_party *p = &l->o->party[k];
    for (;;) {
        dpi_wire_session *session = NULL;
        dp_error found = {DP_OK, ""};
        const uint32_t left = wait_of(l, CONNECTED);
        dp_status status =
            dpi_wire_connect(p->host, p->port, &l->wire, left > 0 ? left : 1, &session, &found);
        if (status == DP_OK)
            keep(l, session);
        if (l->link[k] != NULL)
            return DP_OK;
        if (is_stopped(l))
            return fail_stopped(err);
        const bool again = status == DP_OK || status == DP_EPEER || status == DP_ETIMEOUT;
        if (!again || dpi_deadline_left(l->until) == 0)
            return dpi_fail(err, again ? DP_ETIMEOUT : status, "%s at %s, port %s: %s",
                            l->called[k], p->host, p->port,
                            status == DP_OK ? "is another one" : found.text);
        (void)nanosleep(&pause, NULL);
    }
}

dp_status dpi_silo_trio_meet(const dp_silo_trio_opts *opts, size_t self,
                             const dpi_silo_trio_watch *watch, dpi_silo_trio_links *links,
                             dp_error *err)
{
    static const char *const usual[DP_SILO_TRIO] = {"party 0", "party 1", "party 2"};
    trio_links l = {.o = opts,
                    .watch = watch,
                    .self = self,
                    .patience = opts->patience_ms > 0 ? opts->patience_ms : PATIENCE};
    dp_status status = DP_OK;
    for (size_t k = 0, n = 0; k < DP_SILO_TRIO; k++) {
        const char *text = opts->party[k].fingerprint;
        l.called[k] = opts->party[k].name != NULL ? opts->party[k].name : usual[k];
        if (k != self && dpi_fingerprint_read(text, strlen(text), l.others[n].fingerprint))
            (void)snprintf(l.others[n++].name, sizeof l.others->name, "%.*s", DPI_MOST_NAME,
                           l.called[k]);
    }
    l.peers = (dpi_peers){l.others, DP_SILO_TRIO - 1};
    l.wire = (dpi_wire_opts){.identity = opts->identity, .peers = &l.peers};
    l.until = dpi_deadline_after(l.patience);
    for (size_t k = 0; k < self && status == DP_OK; k++)
        status = connect_to(&l, k, err);
    if (status == DP_OK && self + 1 < DP_SILO_TRIO)
        status = listen_for(&l, err);
    *links = (dpi_silo_trio_links){.self = self, .patience = l.patience};
    memcpy(links->link, l.link, sizeof l.link);
    memcpy(links->called, l.called, sizeof l.called);
    if (status != DP_OK)
        dpi_silo_trio_part(links);
    return status;
}

void dpi_silo_trio_part(dpi_silo_trio_links *links)
{
    for (size_t k = 0; k < DP_SILO_TRIO; k++) {
        dpi_wire_close(links->link[k]);
        links->link[k] = NULL;
    }
}

/* ---- what is said before keys are bound ---- */

enum { SAID = DPI_FRAME_OWN + 64, LINKED }; /* kinds of frames, beside those of a mesh */

static dp_status lost(const dpi_silo_trio_links *links, dp_status status, dp_error *err)
{
    for (size_t k = 0; k < DP_SILO_TRIO; k++)
        if (links->link[k] != NULL && dpi_wire_error(links->link[k])->status == status)
            return dpi_fail(err, status, "%s", dpi_wire_error(links->link[k])->text);
    return dpi_fail(err, status, "a party was lost before the first step");
}

dp_status dpi_silo_trio_swap(dpi_silo_trio_links *links, size_t n, const unsigned char *own,
                             unsigned char *const others[DP_SILO_TRIO], dp_error *err)
{
    dpi_wire_task tasks[2 * (DP_SILO_TRIO - 1)];
    size_t n_tasks = 0;
    memcpy(others[links->self], own, n);
    for (size_t k = 0; k < DP_SILO_TRIO; k++) {
        if (k == links->self)
            continue;
        tasks[n_tasks++] = (dpi_wire_task){links->link[k], SAID, 0, own, NULL, n};
        tasks[n_tasks++] = (dpi_wire_task){links->link[k], SAID, 0, NULL, others[k], n};
    }
    dp_status status = dpi_wire_move(tasks, n_tasks, links->patience);
    return status == DP_OK ? DP_OK : lost(links, status, err);
}

typedef struct trio_way {
    dpi_silo_trio_links *links;
    dpi_trio_state *state;
    size_t peer;
    unsigned char word[DPI_PSI_KEY]; /* of the other */
} trio_way;

static dp_status swap(const trio_way *w, size_t n, const unsigned char *own, size_t m,
                      unsigned char *others, dp_error *err)
{
    dpi_wire_session *link = w->links->link[w->peer];
    const dpi_wire_task tasks[] = {{link, LINKED, 0, own, NULL, n},
                                   {link, LINKED, 0, NULL, others, m}};
    dp_status status = dpi_wire_move(tasks, 2, w->links->patience);
    return status == DP_OK ? DP_OK : lost(w->links, status, err);
}

/* The other's points are on the disk before they are answered. */
static dp_status swap_ids(void *of, const char *name, size_t n, const unsigned char *own, size_t m,
                          unsigned char *others, dp_error *err)
{
    const trio_way *w = of;
    unsigned char hash[DPI_PSI_KEY];
    dp_status status = swap(w, n, own, m, others, err);
    if (status != DP_OK || strcmp(name, "psi.p") != 0)
        return status;
    dpi_silo_mix(w->word, "ids", m, others, hash);
    return dpi_trio_state_heard(w->state, w->peer, hash, err);
}

/* Each tells the other a word of its own, from both of which the key follows. */
static dp_status agree_on_key(trio_way *w, unsigned char key[DPI_PSI_KEY], dp_error *err)
{
    unsigned char own[DPI_PSI_KEY];
    dpi_trio_state_key(w->state, "a word", w->peer, 0, NULL, own);
    dp_status status = swap(w, sizeof own, own, sizeof w->word, w->word, err);
    const bool first = w->links->self < w->peer;
    dpi_silo_mix(first ? own : w->word, "ids of two owners", sizeof own, first ? w->word : own,
                 key);
    sodium_memzero(own, sizeof own);
    return status;
}

dp_status dpi_silo_trio_link(dpi_silo_trio_links *links, dpi_trio_state *state, size_t peer,
                             const dpi_psi_opts *opts, size_t n, const char *const *ids,
                             size_t *common, size_t *rows, dp_error *err)
{
    trio_way w = {.links = links, .state = state, .peer = peer};
    unsigned char seed[DPI_PSI_KEY];
    const dpi_psi_way way = {swap_ids, &w};
    dpi_psi_opts o = *opts;
    *common = 0;
    dp_status status = agree_on_key(&w, o.key, err);
    dpi_trio_state_key(state, "exponent", peer, sizeof w.word, w.word, seed);
    o.seed = seed;
    if (status == DP_OK)
        status = dpi_psi_link_by(&way, &o, n, ids, common, rows, err);
    sodium_memzero(o.key, sizeof o.key);
    sodium_memzero(seed, sizeof seed);
    sodium_memzero(w.word, sizeof w.word);
    return status;
}

dp_status dpi_silo_trio_bind(dpi_silo_trio_links *links, size_t n, const unsigned char *context,
                             dpi_mesh **mesh, dp_error *err)
{
    dpi_mesh_opts o = {.parties = dpi_trio.parties,
                       .role = links->self,
                       .sets = dpi_trio.sets,
                       .n_sets = dpi_trio.n_sets,
                       .compares = dpi_trio.compares,
                       .context = context,
                       .context_bytes = n,
                       .timeout = links->patience};
    memcpy(o.link, links->link, sizeof links->link);
    memset(links->link, 0, sizeof links->link);
    return dpi_mesh_new(&o, mesh, err);
}
