#define _XOPEN_SOURCE 700
#include "wire/both.h"

#include "base/error.h"
#include "wire/parts.h"

enum { OUT, IN };

void dpi_wire_both_end(dpi_wire_both *b)
{
    if (b->receives && b->n > 0)
        OPENSSL_cleanse(b->to, b->n);
    b->sends = b->receives = false;
}

static dp_status fail(dpi_wire_both *b, dp_status status, const char *why)
{
    if (why != NULL)
        (void)dpi_wire_break(b->session, status, why);
    dpi_wire_both_end(b);
    return b->session->err.status;
}

/* What stands against a frame; NULL when nothing does. */
static const char *fault_of(const dpi_wire_both *b, bool busy, uint16_t kind, size_t n)
{
    return busy                   ? "a frame is still on its way in this direction"
           : kind < DPI_FRAME_OWN ? "this kind of frame belongs to the session itself"
           : n > b->session->most ? "a frame is longer than the session's longest"
                                  : NULL;
}

dp_status dpi_wire_both_send(dpi_wire_both *b, uint16_t kind, uint32_t layer, const void *bytes,
                             size_t n)
{
    const char *fault = fault_of(b, b->sends, kind, n);
    if (b->session->err.status != DP_OK || fault != NULL)
        return fail(b, DP_EINVAL, fault);
    const dpi_frame f = dpi_wire_next(b->session, kind, layer, n);
    dpi_wire_begin_send(b->session, &f, bytes, n);
    b->session->out.more = b->more;
    b->sends = true;
    return DP_OK;
}

dp_status dpi_wire_both_receive(dpi_wire_both *b, uint16_t kind, uint32_t layer, void *bytes,
                                size_t n)
{
    const char *fault = fault_of(b, b->receives, kind, n);
    if (b->session->err.status != DP_OK || fault != NULL)
        return fail(b, DP_EINVAL, fault);
    dpi_wire_begin_receive(b->session, kind, layer, bytes, n);
    b->to = bytes;
    b->n = n;
    b->receives = true;
    return DP_OK;
}

/* Goes on with a direction, if it has a frame: false when it fails. */
static bool step(dpi_wire_both *b, int (*go_on)(dpi_wire_session *), bool *on_its_way, bool *done,
                 short *wants)
{
    *wants = 0;
    if (!*on_its_way)
        return true;
    int wait = go_on(b->session);
    if (wait == DPI_WIRE_FAILED)
        return false;
    *on_its_way = wait != DPI_WIRE_DONE;
    *done = *done || wait == DPI_WIRE_DONE;
    *wants = (short)wait;
    return true;
}

dp_status dpi_wire_both_go(dpi_wire_both *b)
{
    if (b->session->err.status != DP_OK ||
        !step(b, dpi_wire_send_step, &b->sends, &b->sent, &b->wants[OUT]) ||
        !step(b, dpi_wire_receive_step, &b->receives, &b->received, &b->wants[IN]))
        return fail(b, DP_EPEER, NULL);
    return DP_OK;
}

static bool holds(const dpi_wire_both *b)
{
    return b->wants[IN] != 0 && dpi_bio_holds(&b->session->bio);
}

/* One entry does for both directions; poll leaves out -1. */
static struct pollfd wait_of(const dpi_wire_both *b)
{
    short events = (short)(b->wants[OUT] | b->wants[IN]);
    return (struct pollfd){.fd = events != 0 ? b->session->socket : -1, .events = events};
}

dp_status dpi_wire_both_poll(dpi_wire_both *const b[], size_t n, dpi_deadline d)
{
    struct pollfd waits[DPI_WIRE_MOST_BOTH];
    if (n > DPI_WIRE_MOST_BOTH)
        dpi_misuse(__func__, "too many sessions at once");
    bool held = false;
    for (size_t i = 0; i < n; i++) {
        waits[i] = wait_of(b[i]);
        held = held || holds(b[i]);
    }
    int ready = dpi_wire_wait(waits, (nfds_t)n, held, d);
    return ready > 0 ? DP_OK : ready == 0 ? DP_ETIMEOUT : DP_EIO;
}

dp_status dpi_wire_both_wait(dpi_wire_both *b, uint32_t within)
{
    dpi_deadline d = dpi_deadline_after(within);
    b->sent = b->received = false;
    for (;;) {
        dp_status status = dpi_wire_both_go(b);
        if (status != DP_OK || b->sent || b->received)
            return status;
        struct pollfd waits[] = {wait_of(b), {.fd = b->wake, .events = POLLIN}};
        int ready = dpi_wire_wait(waits, sizeof waits / sizeof *waits, holds(b), d);
        if (ready <= 0)
            return fail(b, ready == 0 ? DP_ETIMEOUT : DP_EIO,
                        ready == 0 ? "the other side did not go on in time"
                                   : "the system cannot wait for the connection");
        if (waits[1].revents != 0)
            return DP_OK;
    }
}

dp_status dpi_wire_both_refuse(dpi_wire_both *b, dpi_refusal why, uint32_t within)
{
    dpi_wire_both_end(b);
    b->session->layer = DPI_FRAME_OPENING;
    return dpi_wire_refuse(b->session, why, within);
}
