/* A party: listens, and hands each connection to what it is for. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "serve/door.h"
#include "serve/party-parts.h"
#include "serve/talk.h"
#include "wire/listener.h"

enum {
    SESSIONS = 16,
    MOST_SESSIONS = 4096,
    RECORDS = 1024,
    FELLOWS = 64 /* connections of fellow parties that say hello at a time */
};

/* ---- making one ---- */

static dp_status check_options(const dp_party_opts *o, dp_error *err)
{
    if (o->parties == NULL || o->identity == NULL || o->policy == NULL || o->log == NULL ||
        o->lanes > DPI_PARTY_LANES || o->records > DPI_PARTY_RECORDS ||
        o->sessions > MOST_SESSIONS || o->sessions_each > MOST_SESSIONS ||
        (o->host == NULL) != (o->port == NULL))
        return dpi_fail(err, DP_EINVAL,
                        "a party needs the list of parties, an identity, policy and log, at most "
                        "24 lanes and 65536 records");
    if (o->id >= o->parties->n)
        return dpi_fail(err, DP_EINVAL, "the list has parties 0 to %zu, and no party %zu",
                        o->parties->n - 1, o->id);
    const dpi_peer *own = &o->parties->line[o->id].peer;
    if (memcmp(own->fingerprint, o->identity->fingerprint, DPI_FINGERPRINT) != 0)
        return dpi_fail(err, DP_EINVAL,
                        "the list has another fingerprint for party %zu than this identity's %s",
                        o->id, o->identity->text);
    return DP_OK;
}

/* The policy must agree with what a party does: no client could ask else. */
static dp_status check_policy(const dp_party *s, const dp_party_opts *o, dp_error *err)
{
    const dpi_protocol protocol = dpi_parties_protocol(o->parties);
    if ((s->policy.protocols >> protocol & 1) == 0 || (s->policy.modes >> DPI_MODE_SHARED & 1) == 0)
        return dpi_fail(err, DP_EPRIVACY,
                        "%s does not allow protocol %s in mode shared, which is what %zu parties "
                        "do; change the policy",
                        o->policy, dpi_protocol_name(protocol), o->parties->n);
    if (s->policy.returns != DPI_RETURN_SCORES && s->policy.returns != DPI_RETURN_LABEL)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "%s: parties compute scores or one label; the first of several would have "
                        "to be sorted out, and noise to be drawn, among them: only `returns = "
                        "scores` and `returns = label` can be kept here",
                        o->policy);
    return DP_OK;
}

/* Everybody who may connect: some may be both provider and client. */
static dp_status list_peers(dp_party *s, dp_error *err)
{
    const dp_parties *p = s->parties;
    dp_status status = dpi_peers_add(&s->peers, &p->provider, err);
    for (size_t i = 0; status == DP_OK && i < p->n; i++)
        if (i != s->id)
            status = dpi_peers_add(&s->peers, &p->line[i].peer, err);
    for (size_t i = 0; status == DP_OK && i < s->policy.clients.n; i++) {
        const dpi_peer *client = &s->policy.clients.list[i];
        if (dpi_parties_find(p, client->fingerprint) < p->n)
            return dpi_fail(err, DP_EPRIVACY,
                            "the policy's client %.100s is a party, who must not ask",
                            client->name);
        if (memcmp(client->fingerprint, p->provider.fingerprint, DPI_FINGERPRINT) != 0)
            status = dpi_peers_add(&s->peers, client, err);
    }
    return status;
}

static dp_status prepare(dp_party *s, const dp_party_opts *o, dp_error *err)
{
    const size_t sessions = o->sessions > 0 ? o->sessions : SESSIONS;
    const size_t each = o->sessions_each > 0 ? o->sessions_each : (sessions + 1) / 2;
    s->parties = o->parties;
    s->id = o->id;
    s->identity = o->identity;
    s->lanes = o->lanes > 0 ? o->lanes : 1;
    s->records = o->records > 0 ? o->records : RECORDS;
    s->timeout = o->timeout_ms > 0 ? o->timeout_ms : DPI_SERVE_TIMEOUT;
    s->idle = o->idle_ms > 0 ? o->idle_ms : DPI_SERVE_IDLE;
    s->labels = s->policy.returns == DPI_RETURN_LABEL;
    dp_status status = list_peers(s, err);
    if (status == DP_OK)
        status = dpi_query_log_open(o->log, s->policy.queries, s->policy.window, &s->log, err);
    if (status == DP_OK)
        status = dpi_meeting_new(2 * sessions, s->parties->n, 2 * sessions * s->lanes, s->timeout,
                                 &s->meeting, err);
    if (status == DP_OK)
        status = dpi_guests_new(sessions, each, dpi_party_guest, s, &s->guests, err);
    if (status == DP_OK)
        status = dpi_guests_new(FELLOWS, FELLOWS / 2, dpi_party_fellow, s, &s->fellows, err);
    return status;
}

static dp_status begin_listening(dp_party *s, const dp_party_opts *o, dp_error *err)
{
    const dpi_party_line *own = &s->parties->line[s->id];
    const dpi_wire_opts w = {.identity = o->identity, .peers = &s->peers};
    return dpi_wire_listen(o->host != NULL ? o->host : own->host,
                           o->port != NULL ? o->port : own->port, &w, NULL, &s->listener, err);
}

dp_status dp_party_new(const dp_party_opts *opts, dp_party **party, dp_error *err)
{
    *party = NULL;
    dp_status status = check_options(opts, err);
    dp_party *s = status == DP_OK ? dpi_alloc(1, sizeof *s) : NULL;
    if (status != DP_OK)
        return status;
    if (s == NULL || pthread_mutex_init(&s->lock, NULL) != 0) {
        dpi_free(s);
        return dpi_fail_nomem(err);
    }
    status = dpi_policy_load(opts->policy, &s->policy, err);
    if (status == DP_OK)
        status = check_policy(s, opts, err);
    if (status == DP_OK)
        status = prepare(s, opts, err);
    if (status == DP_OK)
        status = begin_listening(s, opts, err);
    if (status == DP_OK)
        *party = s;
    else
        dp_party_free(s);
    return status;
}

void dp_party_free(dp_party *s)
{
    if (s == NULL)
        return;
    dpi_wire_listener_free(s->listener);
    dpi_query_log_close(s->log);
    dpi_party_model_free(s->model);
    dpi_meeting_free(s->meeting);
    dpi_guests_free(s->guests);
    dpi_guests_free(s->fellows);
    dpi_peers_free(&s->peers);
    dpi_policy_free(&s->policy);
    (void)pthread_mutex_destroy(&s->lock);
    dpi_free(s);
}

int dp_party_port(const dp_party *s)
{
    return dpi_wire_port(s->listener);
}

void dp_party_stop(dp_party *s)
{
    atomic_store(&s->stop, true);
}

/* ---- the model ---- */

dpi_party_model *dpi_party_model_of(dp_party *s)
{
    (void)pthread_mutex_lock(&s->lock);
    dpi_party_model *model = s->model;
    if (model != NULL)
        model->refs++;
    (void)pthread_mutex_unlock(&s->lock);
    return model;
}

void dpi_party_model_leave(dp_party *s, dpi_party_model *model)
{
    if (model == NULL)
        return;
    (void)pthread_mutex_lock(&s->lock);
    const bool last = --model->refs == 0;
    (void)pthread_mutex_unlock(&s->lock);
    if (last)
        dpi_party_model_free(model);
}

void dpi_party_model_use(dp_party *s, dpi_party_model *model)
{
    (void)pthread_mutex_lock(&s->lock);
    dpi_party_model *before = s->model;
    s->model = model;
    (void)pthread_mutex_unlock(&s->lock);
    dpi_party_model_leave(s, before);
}

/* ---- answering ---- */

static void admit(void *party, dpi_wire_session *wire)
{
    dp_party *s = party;
    const unsigned char *who = dpi_wire_peer_fingerprint(wire);
    const bool fellow = dpi_parties_find(s->parties, who) < s->parties->n;
    dpi_guests_admit(fellow ? s->fellows : s->guests, wire);
}

dp_status dp_party_run(dp_party *s, dp_error *err)
{
    const dpi_door door = {.listener = s->listener,
                           .log = s->log,
                           .stop = &s->stop,
                           .look = &s->look,
                           .admit = admit,
                           .user = s};
    dp_status status = dpi_door_keep(&door, err);
    dpi_meeting_close(s->meeting);
    dpi_guests_end(s->guests, s->timeout);
    dpi_guests_end(s->fellows, s->timeout);
    return status;
}
