/* One list under one lock: it is short, and looked through a few times a session. */
#define _XOPEN_SOURCE 700
#include "serve/party-meet.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/error.h"

enum { LOOK_EVERY = 50 /* ms */, MS = 1000, NS_IN_MS = 1000000, NS_IN_S = 1000000000 };

typedef struct waiting_link {
    dpi_wire_session *wire; /* NULL: the place is free */
    size_t from;
    dpi_party_hello hello;
    uint64_t turn; /* at which it came */
    dpi_deadline until;
} waiting_link;

typedef struct known_token {
    bool used;
    unsigned char token[DPI_PARTY_TOKEN];
} known_token;

struct dpi_meeting {
    pthread_mutex_t lock;
    pthread_cond_t came;
    uint32_t timeout;
    uint64_t turn;
    bool closed;
    size_t n_tokens, n_links;
    known_token *token; /* [n_tokens] */
    waiting_link *link; /* [n_links]: of each party n_links / parties */
    size_t each;
};

dp_status dpi_meeting_new(size_t sessions, size_t parties, size_t links, uint32_t timeout,
                          dpi_meeting **meeting, dp_error *err)
{
    pthread_condattr_t clock;
    dpi_meeting *m = dpi_alloc(1, sizeof *m);
    *meeting = NULL;
    if (m == NULL || pthread_condattr_init(&clock) != 0) {
        dpi_free(m);
        return dpi_fail_nomem(err);
    }
    *m = (dpi_meeting){.timeout = timeout,
                       .n_tokens = sessions,
                       .n_links = parties * links,
                       .each = links,
                       .token = dpi_alloc(sessions, sizeof *m->token),
                       .link = dpi_alloc(parties * links, sizeof *m->link)};
    (void)pthread_mutex_init(&m->lock, NULL); /* with these attributes neither can fail */
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&m->came, &clock);
    (void)pthread_condattr_destroy(&clock);
    if (m->token == NULL || m->link == NULL) {
        dpi_meeting_free(m);
        return dpi_fail_nomem(err);
    }
    *meeting = m;
    return DP_OK;
}

static void drop(waiting_link *l)
{
    dpi_wire_close(l->wire);
    *l = (waiting_link){0};
}

void dpi_meeting_free(dpi_meeting *m)
{
    if (m == NULL)
        return;
    for (size_t i = 0; m->link != NULL && i < m->n_links; i++)
        drop(&m->link[i]);
    (void)pthread_cond_destroy(&m->came);
    (void)pthread_mutex_destroy(&m->lock);
    dpi_free(m->token);
    dpi_free(m->link);
    dpi_free(m);
}

/* ---- tokens ---- */

static bool same(const unsigned char *a, const unsigned char *b)
{
    return memcmp(a, b, DPI_PARTY_TOKEN) == 0;
}

bool dpi_meeting_begin(dpi_meeting *m, const unsigned char token[DPI_PARTY_TOKEN])
{
    known_token *place = NULL;
    bool known = false;
    (void)pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->n_tokens; i++) {
        known_token *one = &m->token[i];
        known = known || (one->used && same(one->token, token));
        if (!one->used)
            place = one;
    }
    const bool begins = !known && place != NULL;
    if (begins) {
        place->used = true;
        memcpy(place->token, token, DPI_PARTY_TOKEN);
    }
    (void)pthread_mutex_unlock(&m->lock);
    return begins;
}

void dpi_meeting_finish(dpi_meeting *m, const unsigned char token[DPI_PARTY_TOKEN])
{
    (void)pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->n_tokens; i++)
        if (m->token[i].used && same(m->token[i].token, token))
            m->token[i].used = false;
    for (size_t i = 0; i < m->n_links; i++)
        if (m->link[i].wire != NULL && same(m->link[i].hello.token, token))
            drop(&m->link[i]);
    (void)pthread_mutex_unlock(&m->lock);
}

/* ---- connections ---- */

/* A free place among those of the party, or the one that has waited longest. */
static waiting_link *find_place(dpi_meeting *m, size_t from)
{
    waiting_link *found = &m->link[from * m->each];
    for (size_t i = 0; i < m->each; i++) {
        waiting_link *one = &m->link[from * m->each + i];
        if (one->wire != NULL && dpi_deadline_left(one->until) == 0)
            drop(one);
        if (one->wire == NULL)
            return one;
        if (one->turn < found->turn)
            found = one;
    }
    drop(found);
    return found;
}

void dpi_meeting_bring(dpi_meeting *m, size_t from, const dpi_party_hello *hello,
                       dpi_wire_session *wire)
{
    (void)pthread_mutex_lock(&m->lock);
    const bool closed = m->closed;
    if (!closed) {
        *find_place(m, from) = (waiting_link){.wire = wire,
                                              .from = from,
                                              .hello = *hello,
                                              .turn = ++m->turn,
                                              .until = dpi_deadline_after(m->timeout)};
        (void)pthread_cond_broadcast(&m->came);
    }
    (void)pthread_mutex_unlock(&m->lock);
    if (closed)
        dpi_wire_close(wire);
}

static waiting_link *find_link(dpi_meeting *m, size_t from, const unsigned char *token, size_t lane)
{
    for (size_t i = 0; i < m->each; i++) {
        waiting_link *one = &m->link[from * m->each + i];
        if (one->wire != NULL && one->hello.lane == lane && same(one->hello.token, token))
            return one;
    }
    return NULL;
}

static struct timespec after(uint32_t ms)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    const int64_t ns = t.tv_nsec + (int64_t)(ms % MS) * NS_IN_MS;
    t.tv_sec += (time_t)(ms / MS + ns / NS_IN_S);
    t.tv_nsec = (long)(ns % NS_IN_S);
    return t;
}

dpi_wire_session *dpi_meeting_await(dpi_meeting *m, size_t from,
                                    const unsigned char token[DPI_PARTY_TOKEN], size_t lane,
                                    const dpi_wire_session *client, dpi_party_hello *hello)
{
    const dpi_deadline end = dpi_deadline_after(m->timeout);
    dpi_wire_session *wire = NULL;
    waiting_link *found;
    (void)pthread_mutex_lock(&m->lock);
    while ((found = find_link(m, from, token, lane)) == NULL && !m->closed &&
           dpi_deadline_left(end) > 0 && !dpi_wire_stirs(client)) {
        const struct timespec until = after(LOOK_EVERY);
        (void)pthread_cond_timedwait(&m->came, &m->lock, &until);
    }
    if (found != NULL) {
        wire = found->wire;
        *hello = found->hello;
        *found = (waiting_link){0};
    }
    (void)pthread_mutex_unlock(&m->lock);
    return wire;
}

void dpi_meeting_close(dpi_meeting *m)
{
    (void)pthread_mutex_lock(&m->lock);
    m->closed = true;
    for (size_t i = 0; i < m->n_links; i++)
        drop(&m->link[i]);
    (void)pthread_cond_broadcast(&m->came);
    (void)pthread_mutex_unlock(&m->lock);
}
