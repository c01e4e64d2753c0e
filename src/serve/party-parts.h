/* What the files of a party share: party.c, party-guest.c, party-session.c. */
#ifndef DPI_SERVE_PARTY_PARTS_H
#define DPI_SERVE_PARTY_PARTS_H

#include <stdatomic.h>

#include "serve/guests.h"
#include "serve/party-lane.h"
#include "serve/party-meet.h"
#include "wire/log.h"

struct dp_party {
    const dp_parties *parties;
    const dp_identity *identity;
    size_t id, lanes, records;
    uint32_t timeout, idle;
    bool labels; /* and nothing else is told */
    dpi_policy policy;
    dpi_peers peers; /* provider, fellow parties and clients */
    dpi_query_log *log;
    struct dpi_wire_listener *listener;
    dpi_guests *guests, *fellows;
    dpi_meeting *meeting;
    atomic_bool stop, look; /* look: at the log, since a session may have failed for it */
    pthread_mutex_t lock;
    dpi_party_model *model; /* the present one, under the lock; NULL: none was shared */
};

/* The present model, with a reference, or NULL; gives a reference back; makes a model, with its
 * reference, the present one. */
dpi_party_model *dpi_party_model_of(dp_party *s);
void dpi_party_model_leave(dp_party *s, dpi_party_model *model);
void dpi_party_model_use(dp_party *s, dpi_party_model *model);

/* Whoever has connected: a fellow party; a provider or a client. */
void dpi_party_fellow(void *party, dpi_wire_session *wire, dpi_guest *guest);
void dpi_party_guest(void *party, dpi_wire_session *wire, dpi_guest *guest);

/* A client's session, after its hello. */
dp_status dpi_party_answer(dp_party *s, dpi_wire_session *wire, dpi_guest *guest,
                           const dpi_party_hello *hello, dp_error *err) DP_MUST_CHECK;

#endif
