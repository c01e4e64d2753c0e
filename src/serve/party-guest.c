/* Whoever connects to a party says hello: what for, and who may is decided by the fingerprint. */
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "serve/party-parts.h"
#include "serve/talk.h"

static dp_status take_hello(const dp_party *s, dpi_wire_session *wire, dpi_party_hello *hello)
{
    unsigned char bytes[DPI_PARTY_HELLO_BYTES];
    dp_status status = dpi_wire_receive(wire, DPI_PARTY_HELLO, 0, bytes, sizeof bytes, s->timeout);
    if (status == DP_OK)
        dpi_party_read_hello(bytes, hello);
    return status;
}

/* A fellow's connection waits for the session that it belongs to, which answers it. */
void dpi_party_fellow(void *party, dpi_wire_session *wire, dpi_guest *guest)
{
    dp_party *s = party;
    dpi_party_hello hello;
    if (take_hello(s, wire, &hello) != DP_OK || hello.purpose != DPI_PURPOSE_JOIN)
        return;
    const size_t from = dpi_parties_find(s->parties, dpi_wire_peer_fingerprint(wire));
    dpi_guest_keep(guest);
    dpi_meeting_bring(s->meeting, from, &hello, wire);
}

/* ---- the provider ---- */

/* All parties have it, the provider says; then it is used. */
static dp_status confirm(dp_party *s, dpi_wire_session *wire, dpi_party_model *model, dp_error *err)
{
    unsigned char byte = 1;
    dp_status status = dpi_wire_send(wire, DPI_PARTY_DONE, 1, &byte, sizeof byte, s->timeout);
    if (status == DP_OK)
        status = dpi_wire_receive(wire, DPI_PARTY_COMMIT, 2, &byte, sizeof byte, s->idle);
    if (status != DP_OK) {
        dpi_party_model_leave(s, model);
        return dpi_serve_fail(wire, status, err);
    }
    dpi_party_model_use(s, model);
    status = dpi_wire_send(wire, DPI_PARTY_DONE, 2, &byte, sizeof byte, s->timeout);
    return status == DP_OK ? DP_OK : dpi_serve_fail(wire, status, err);
}

static dp_status take_model(dp_party *s, dpi_wire_session *wire, const dpi_party_hello *hello,
                            dp_error *err)
{
    const unsigned char *provider = s->parties->provider.fingerprint;
    dpi_party_model *model = NULL;
    if (memcmp(dpi_wire_peer_fingerprint(wire), provider, DPI_FINGERPRINT) != 0)
        return dpi_wire_refuse(wire, DPI_REFUSED_CLIENT, s->timeout);
    dp_status status =
        dpi_party_model_take(s->parties, s->id, s->labels, wire, hello, s->timeout, &model, err);
    return model != NULL ? confirm(s, wire, model, err) : status;
}

/* ---- everybody else ---- */

/* What goes wrong in a session is that session's end: the other side sees it close, and the log has
 * the status. */
void dpi_party_guest(void *party, dpi_wire_session *wire, dpi_guest *guest)
{
    dp_party *s = party;
    dp_error err = {0};
    dpi_party_hello hello;
    if (take_hello(s, wire, &hello) != DP_OK || !dpi_guest_begin(guest))
        return;
    const dpi_refusal why = dpi_party_check_hello(s->parties, &hello);
    dp_status status = DP_OK;
    if (why != DPI_REFUSED_NOTHING)
        (void)!dpi_wire_refuse(wire, why, s->timeout);
    else if (hello.purpose == DPI_PURPOSE_SHARE)
        status = take_model(s, wire, &hello, &err);
    else if (hello.purpose == DPI_PURPOSE_ASK)
        status = dpi_party_answer(s, wire, guest, &hello, &err);
    if (status == DP_EIO || status == DP_EDATA)
        atomic_store(&s->look, true);
    (void)dpi_guest_finish(guest);
}
