/* Places under one lock.  A session is ended from outside by cutting its connection, which wakes
 * its thread whatever it waits for.  So that a newcomer need not wait for the thread whose place he
 * gets, there are a few places more, in which others are also told that it is busy: that waits for
 * them to hear it, and must keep nobody else from coming in. */
#define _XOPEN_SOURCE 700
#include "serve/guests.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/error.h"

enum { SPARE = 8, MOST_TOLD = 4, TOLD_WITHIN = 1000 /* ms */, NS_IN_S = 1000000000 };

typedef enum guest_state { PLACE_FREE, IS_TOLD, WAITS, ASKS, IS_GONE } guest_state;

struct dpi_guest {
    dpi_guests *of;
    pthread_t thread;
    dpi_wire_session *wire; /* NULL once it may be closed */
    guest_state state;
    bool leaves;    /* as soon as it waits */
    uint64_t since; /* the turn at which it began to wait */
    unsigned char client[DPI_FINGERPRINT];
};

struct dpi_guests {
    pthread_mutex_t lock;
    pthread_cond_t gone;
    dpi_guest_call call;
    void *user;
    size_t sessions, each, n;
    uint64_t turn;
    bool closed;
    dpi_guest place[]; /* [n] */
};

dp_status dpi_guests_new(size_t sessions, size_t each, dpi_guest_call call, void *user,
                         dpi_guests **guests, dp_error *err)
{
    pthread_condattr_t clock;
    const size_t n = sessions + SPARE;
    *guests = NULL;
    dpi_guests *g = dpi_alloc(1, sizeof *g + n * sizeof g->place[0]);
    if (g == NULL || pthread_condattr_init(&clock) != 0) {
        dpi_free(g);
        return dpi_fail_nomem(err);
    }
    *g = (dpi_guests){.call = call, .user = user, .sessions = sessions, .each = each, .n = n};
    (void)pthread_mutex_init(&g->lock, NULL); /* with these attributes neither can fail */
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&g->gone, &clock);
    (void)pthread_condattr_destroy(&clock);
    for (size_t i = 0; i < n; i++)
        g->place[i].of = g;
    *guests = g;
    return DP_OK;
}

void dpi_guests_free(dpi_guests *g)
{
    if (g == NULL)
        return;
    (void)pthread_cond_destroy(&g->gone);
    (void)pthread_mutex_destroy(&g->lock);
    dpi_free(g);
}

/* ---- a guest's thread ---- */

static void *answer(void *of)
{
    dpi_guest *own = of;
    dpi_guests *g = own->of;
    dpi_wire_session *wire = own->wire;
    if (own->state == IS_TOLD)
        (void)!dpi_wire_refuse(wire, DPI_REFUSED_BUSY, TOLD_WITHIN);
    else
        g->call(g->user, wire, own);
    (void)pthread_mutex_lock(&g->lock);
    wire = own->wire;
    own->wire = NULL; /* from here on nobody cuts it */
    (void)pthread_mutex_unlock(&g->lock);
    dpi_wire_close(wire);
    (void)pthread_mutex_lock(&g->lock);
    own->state = IS_GONE;
    (void)pthread_cond_signal(&g->gone);
    (void)pthread_mutex_unlock(&g->lock);
    return NULL;
}

bool dpi_guest_begin(dpi_guest *guest)
{
    if (guest == NULL)
        return true;
    (void)pthread_mutex_lock(&guest->of->lock);
    bool stays = !guest->leaves;
    guest->state = stays ? ASKS : WAITS;
    (void)pthread_mutex_unlock(&guest->of->lock);
    return stays;
}

bool dpi_guest_finish(dpi_guest *guest)
{
    if (guest == NULL)
        return true;
    (void)pthread_mutex_lock(&guest->of->lock);
    guest->state = WAITS;
    guest->since = ++guest->of->turn;
    bool stays = !guest->leaves;
    (void)pthread_mutex_unlock(&guest->of->lock);
    return stays;
}

void dpi_guest_keep(dpi_guest *guest)
{
    (void)pthread_mutex_lock(&guest->of->lock);
    guest->wire = NULL;
    (void)pthread_mutex_unlock(&guest->of->lock);
}

/* ---- under the lock ---- */

static bool is_in(const dpi_guest *one)
{
    return (one->state == WAITS || one->state == ASKS) && !one->leaves;
}

static void cut(dpi_guest *one)
{
    if (one->wire != NULL)
        dpi_wire_cut(one->wire);
}

static void send_away(dpi_guest *one)
{
    one->leaves = true;
    if (one->state == WAITS || one->state == IS_TOLD)
        cut(one);
}

/* Sessions of a client. */
static size_t count(const dpi_guests *g, const unsigned char client[DPI_FINGERPRINT])
{
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++)
        n += is_in(&g->place[i]) && memcmp(g->place[i].client, client, DPI_FINGERPRINT) == 0;
    return n;
}

/* Who waits longest of those whose clients have the most sessions, and more than `beyond`; of one
 * client alone where that is not NULL.  NULL where nobody is. */
static dpi_guest *longest(dpi_guests *g, size_t beyond, const unsigned char *client)
{
    dpi_guest *found = NULL;
    for (size_t i = 0; i < g->n; i++) {
        dpi_guest *one = &g->place[i];
        if (!is_in(one) || one->state != WAITS ||
            (client != NULL && memcmp(one->client, client, DPI_FINGERPRINT) != 0))
            continue;
        size_t has = count(g, one->client);
        if (has > beyond || (found != NULL && has == beyond && one->since < found->since)) {
            beyond = has;
            found = one;
        }
    }
    return found;
}

/* Whether there is room for another session of the client's, also by sending one away. */
static bool make_room(dpi_guests *g, const unsigned char client[DPI_FINGERPRINT])
{
    size_t own = count(g, client), all = 0;
    for (size_t i = 0; i < g->n; i++)
        all += is_in(&g->place[i]);
    if (own < g->each && all < g->sessions)
        return true;
    dpi_guest *one = own >= g->each ? longest(g, 0, client) : longest(g, own + 1, NULL);
    if (one != NULL)
        send_away(one);
    return one != NULL;
}

/* Whether one more may be told that it is busy: those who do not hear it must not fill the places
 * of others. */
static bool may_tell(const dpi_guests *g)
{
    size_t told = 0;
    for (size_t i = 0; i < g->n; i++)
        told += g->place[i].state == IS_TOLD;
    return told < MOST_TOLD;
}

/* A free place, after joining threads that are done; NULL where there is none. */
static dpi_guest *find_place(dpi_guests *g)
{
    dpi_guest *found = NULL;
    for (size_t i = 0; i < g->n; i++) {
        dpi_guest *one = &g->place[i];
        if (one->state == IS_GONE) {
            (void)pthread_join(one->thread, NULL); /* has no more to do than to return */
            *one = (dpi_guest){.of = g};
        }
        if (one->state == PLACE_FREE && found == NULL)
            found = one;
    }
    return found;
}

/* ---- for the server ---- */

void dpi_guests_admit(dpi_guests *g, dpi_wire_session *wire)
{
    const unsigned char *client = dpi_wire_peer_fingerprint(wire);
    (void)pthread_mutex_lock(&g->lock);
    dpi_guest *own = g->closed ? NULL : find_place(g);
    bool comes_in = own != NULL && make_room(g, client);
    if (own != NULL && !comes_in && !may_tell(g))
        own = NULL;
    if (own != NULL) {
        own->state = comes_in ? WAITS : IS_TOLD;
        own->wire = wire;
        own->since = ++g->turn;
        memcpy(own->client, client, sizeof own->client);
        if (pthread_create(&own->thread, NULL, answer, own) != 0) {
            *own = (dpi_guest){.of = g};
            own = NULL;
        }
    }
    (void)pthread_mutex_unlock(&g->lock);
    if (own == NULL)
        dpi_wire_close(wire);
}

/* Whether all are gone by then. */
static bool await(dpi_guests *g, const struct timespec *until)
{
    for (size_t i = 0; i < g->n; i++)
        while (g->place[i].state != PLACE_FREE && g->place[i].state != IS_GONE)
            if (pthread_cond_timedwait(&g->gone, &g->lock, until) != 0)
                return false;
    return true;
}

/* Whether the place has a thread, which only the server's own thread gives it. */
static bool made(dpi_guests *g, size_t i)
{
    (void)pthread_mutex_lock(&g->lock);
    bool has = g->place[i].state != PLACE_FREE;
    (void)pthread_mutex_unlock(&g->lock);
    return has;
}

void dpi_guests_end(dpi_guests *g, uint32_t within)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + (int64_t)within % 1000 * (NS_IN_S / 1000);
    until.tv_sec += (time_t)(within / 1000 + ns / NS_IN_S);
    until.tv_nsec = (long)(ns % NS_IN_S);
    (void)pthread_mutex_lock(&g->lock);
    g->closed = true;
    for (size_t i = 0; i < g->n; i++)
        send_away(&g->place[i]);
    if (!await(g, &until))
        for (size_t i = 0; i < g->n; i++)
            cut(&g->place[i]);
    (void)pthread_mutex_unlock(&g->lock);
    for (size_t i = 0; i < g->n; i++)
        if (made(g, i))
            (void)pthread_join(g->place[i].thread, NULL);
}
