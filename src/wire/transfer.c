/* Moving frames: each is a small machine that goes on whenever its socket can, so that any number
 * of them go on at once in one thread.
 *
 * A side that sends much before it reads blocks when the other does the same and the buffers
 * between them are full; moved together, both directions drain.  After each step a frame waits for
 * what TLS wants next, which is not always the frame's own direction. */
#define _XOPEN_SOURCE 700
#include <string.h>
#include <sys/socket.h>

#include <openssl/err.h>

#include "base/error.h"
#include "wire/parts.h"

dpi_frame dpi_wire_next(const dpi_wire_session *s, uint16_t kind, uint32_t layer, size_t n)
{
    dpi_frame f = {.kind = kind, .layer = layer, .length = (uint32_t)n, .sequence = s->next_out};
    memcpy(f.session, s->id, sizeof f.session);
    return f;
}

void dpi_wire_begin_send(dpi_wire_session *s, const dpi_frame *f, const void *bytes, size_t n)
{
    dpi_wire_out *o = &s->out;
    dpi_frame_write(f, o->first);
    size_t with = DPI_WIRE_RECORD - DPI_FRAME_HEADER;
    with = n < with ? n : with;
    if (with > 0)
        memcpy(o->first + DPI_FRAME_HEADER, bytes, with);
    o->first_n = DPI_FRAME_HEADER + with;
    o->rest = with < n ? (const unsigned char *)bytes + with : NULL;
    o->rest_n = n - with;
    o->at = 0;
    o->more = false;
    s->next_out++;
    s->layer = f->layer;
    s->moved.frames_sent++;
    s->moved.bytes_sent += n;
}

void dpi_wire_begin_receive(dpi_wire_session *s, uint16_t kind, uint32_t layer, void *to, size_t n)
{
    s->in = (dpi_wire_in){
        .expected = {.kind = kind, .layer = layer, .length = (uint32_t)n, .sequence = s->next_in},
        .to = to,
        .n = n};
    memcpy(s->in.expected.session, s->id, sizeof s->id);
    s->layer = layer;
}

int dpi_wire_send_step(dpi_wire_session *s)
{
    dpi_wire_out *o = &s->out;
    while (o->at < o->first_n + o->rest_n) {
        bool first = o->at < o->first_n;
        const unsigned char *from = first ? o->first + o->at : o->rest + (o->at - o->first_n);
        size_t n = first ? o->first_n - o->at : o->first_n + o->rest_n - o->at, sent = 0;
        ERR_clear_error();
        int result = SSL_write_ex(s->tls, from, n < DPI_WIRE_RECORD ? n : DPI_WIRE_RECORD, &sent);
        if (result != 1)
            return dpi_wire_after(s, result);
        o->at += sent;
    }
    if (o->more)
        return DPI_WIRE_DONE;
    if (BIO_flush(SSL_get_wbio(s->tls)) == 1)
        return DPI_WIRE_DONE;
    return BIO_should_retry(SSL_get_wbio(s->tls)) ? POLLOUT : dpi_wire_lost(s);
}

int dpi_wire_receive_step(dpi_wire_session *s)
{
    dpi_wire_in *in = &s->in;
    while (in->at < DPI_FRAME_HEADER + in->n) {
        bool header = in->at < DPI_FRAME_HEADER;
        unsigned char *to = header ? in->header + in->at : in->to + (in->at - DPI_FRAME_HEADER);
        size_t n = header ? DPI_FRAME_HEADER - in->at : DPI_FRAME_HEADER + in->n - in->at, got = 0;
        ERR_clear_error();
        int result = SSL_read_ex(s->tls, to, n, &got);
        if (result != 1)
            return dpi_wire_after(s, result);
        in->at += got;
        if (!header || in->at < DPI_FRAME_HEADER)
            continue;
        dp_error err = {DP_OK, ""};
        if (dpi_frame_check(&in->expected, in->header, &err) != DP_OK) {
            (void)dpi_wire_break(s, err.status, err.text);
            return DPI_WIRE_FAILED;
        }
    }
    s->next_in++;
    s->moved.frames_received++;
    s->moved.bytes_received += in->n;
    in->at = 0;
    return DPI_WIRE_DONE;
}

/* ---- several at once ---- */

int dpi_wire_wait(struct pollfd *waits, nfds_t n, bool held, dpi_deadline d)
{
    return held ? dpi_socket_look(waits, n, d) : dpi_socket_wait(waits, n, d);
}

/* What stands against moving this task beside those before it; NULL when nothing does. */
static const char *fault_of(const dpi_wire_task *tasks, size_t i)
{
    const dpi_wire_task *t = &tasks[i];
    if ((t->from == NULL) == (t->to == NULL))
        return "a frame is either sent or received";
    if (t->kind < DPI_FRAME_OWN)
        return "this kind of frame belongs to the session itself";
    if (t->n > t->session->most)
        return "a frame is longer than the session's longest";
    for (size_t j = 0; j < i; j++)
        if (tasks[j].session == t->session && (tasks[j].to == NULL) == (t->to == NULL))
            return "two frames of one session and direction cannot be moved at once";
    return NULL;
}

static dp_status begin(const dpi_wire_task *tasks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        dpi_wire_session *s = tasks[i].session;
        const char *fault = s->err.status == DP_OK ? fault_of(tasks, i) : NULL;
        if (fault != NULL)
            (void)dpi_wire_break(s, DP_EINVAL, fault);
        if (s->err.status != DP_OK)
            return s->err.status;
    }
    for (size_t i = 0; i < n; i++) {
        const dpi_wire_task *t = &tasks[i];
        if (t->to != NULL) {
            dpi_wire_begin_receive(t->session, t->kind, t->layer, t->to, t->n);
            continue;
        }
        const dpi_frame f = dpi_wire_next(t->session, t->kind, t->layer, t->n);
        dpi_wire_begin_send(t->session, &f, t->from, t->n);
    }
    return DP_OK;
}

/* Goes on with all that are not done: how many those are, -1 when one failed.  *held [out] as
 * dpi_wire_wait has it. */
static int step_all(const dpi_wire_task *tasks, size_t n, struct pollfd *waits, bool *held)
{
    int left = 0;
    *held = false;
    for (size_t i = 0; i < n; i++) {
        dpi_wire_session *s = tasks[i].session;
        if (waits[i].fd == -1)
            continue;
        int wait = tasks[i].to != NULL ? dpi_wire_receive_step(s) : dpi_wire_send_step(s);
        if (wait == DPI_WIRE_FAILED)
            return -1;
        waits[i].fd = wait == DPI_WIRE_DONE ? -1 : s->socket; /* poll leaves out -1 */
        waits[i].events = (short)wait;
        left += wait != DPI_WIRE_DONE;
        *held = *held || (wait == POLLIN && dpi_bio_holds(&s->bio));
    }
    return left;
}

/* After a failure: no session goes on from the middle of a frame, and half a payload is none. */
static dp_status give_up(const dpi_wire_task *tasks, size_t n)
{
    dp_status first = DP_OK;
    for (size_t i = 0; i < n && first == DP_OK; i++)
        first = tasks[i].session->err.status;
    for (size_t i = 0; i < n; i++) {
        (void)dpi_wire_break(tasks[i].session, first,
                             "given up, because another session of the same step failed");
        if (tasks[i].to != NULL && tasks[i].n > 0)
            OPENSSL_cleanse(tasks[i].to, tasks[i].n);
    }
    return first;
}

static void fail_waiting(const dpi_wire_task *tasks, size_t n, const struct pollfd *waits,
                         bool late)
{
    for (size_t i = 0; i < n; i++)
        if (waits[i].fd != -1)
            (void)dpi_wire_break(tasks[i].session, late ? DP_ETIMEOUT : DP_EIO,
                                 late ? "the other side did not go on in time"
                                      : "the system cannot wait for the connection");
}

dp_status dpi_wire_move(const dpi_wire_task *tasks, size_t n, uint32_t within)
{
    if (n > DPI_WIRE_MOST_TASKS)
        dpi_misuse(__func__, "too many frames at once");
    dpi_deadline d = dpi_deadline_after(within);
    struct pollfd waits[DPI_WIRE_MOST_TASKS] = {{0}};
    if (begin(tasks, n) != DP_OK)
        return give_up(tasks, n);
    bool held;
    int left;
    while ((left = step_all(tasks, n, waits, &held)) > 0) {
        int ready = dpi_wire_wait(waits, (nfds_t)n, held, d);
        if (ready > 0)
            continue;
        fail_waiting(tasks, n, waits, ready == 0);
        return give_up(tasks, n);
    }
    return left == 0 ? DP_OK : give_up(tasks, n);
}

dp_status dpi_wire_send(dpi_wire_session *s, uint16_t kind, uint32_t layer, const void *bytes,
                        size_t n, uint32_t within)
{
    const dpi_wire_task t = {
        .session = s, .kind = kind, .layer = layer, .from = n > 0 ? bytes : "", .n = n};
    return dpi_wire_move(&t, 1, within);
}

dp_status dpi_wire_receive(dpi_wire_session *s, uint16_t kind, uint32_t layer, void *bytes,
                           size_t n, uint32_t within)
{
    char none;
    const dpi_wire_task t = {
        .session = s, .kind = kind, .layer = layer, .to = n > 0 ? bytes : &none, .n = n};
    return dpi_wire_move(&t, 1, within);
}

/* ---- refusals ---- */

/* Reads on, to nowhere, until the other side has closed: closing with bytes unread would reset the
 * connection, and the reset overtake the refusal. */
static void drain(dpi_wire_session *s, dpi_deadline d)
{
    unsigned char nowhere[1024];
    struct pollfd p = {.fd = s->socket, .events = POLLIN};
    (void)shutdown(s->socket, SHUT_WR);
    while (dpi_socket_wait(&p, 1, d) > 0 && recv(s->socket, nowhere, sizeof nowhere, 0) > 0)
        continue;
}

dp_status dpi_wire_refuse(dpi_wire_session *s, dpi_refusal why, uint32_t within)
{
    if (s->err.status != DP_OK)
        return s->err.status;
    if (s->layer != DPI_FRAME_OPENING || dpi_refusal_text(why) == NULL)
        return dpi_wire_break(
            s, DP_ESTATE, "a query is refused in its opening or not at all, for a listed reason");
    dpi_deadline d = dpi_deadline_after(within);
    const dpi_frame next = dpi_wire_next(s, DPI_FRAME_OWN, DPI_FRAME_OPENING, 0);
    const dpi_frame f = dpi_frame_refusal(&next, why);
    dpi_wire_begin_send(s, &f, NULL, 0);
    for (int wait; (wait = dpi_wire_send_step(s)) != DPI_WIRE_DONE;) {
        struct pollfd p = {.fd = s->socket, .events = (short)wait};
        if (wait == DPI_WIRE_FAILED)
            return s->err.status;
        if (dpi_socket_wait(&p, 1, d) <= 0)
            return dpi_wire_break(s, DP_ETIMEOUT,
                                  "the other side did not take the refusal in time");
    }
    (void)SSL_shutdown(s->tls);
    drain(s, d);
    (void)dpi_wire_break(s, DP_EREFUSED, dpi_refusal_text(why));
    return DP_OK;
}
