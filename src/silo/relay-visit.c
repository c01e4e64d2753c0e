/* The stages of a connection.  A step does a bounded piece of work: reads or writes a record, looks
 * at a request, writes a piece of a letter. */
#define _XOPEN_SOURCE 700
#include "silo/relay-visit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>

#include "wire/disk.h"

enum {
    TURN = 16, /* steps */
    /* Milliseconds. */
    GREETING = 10000,
    IDLE = 300000,
    ASKING = 10000,
    MOVING = 20000, /* and so many more as the bytes that have moved take */
    LEAVING = 2000,
    LEAST_PACE = 16 /* bytes a millisecond */
};

/* What a step comes to. */
typedef enum outcome { GOES_ON, IS_BLOCKED, IS_GONE } outcome;

/* ---- moving bytes ---- */

/* What a call of OpenSSL's has come to. */
static outcome after(dpi_relay_visitor *v, int result)
{
    const int what = SSL_get_error(v->tls, result);
    ERR_clear_error();
    v->wants = what == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN;
    return result > 0                                                    ? GOES_ON
           : what == SSL_ERROR_WANT_READ || what == SSL_ERROR_WANT_WRITE ? IS_BLOCKED
                                                                         : IS_GONE;
}

/* Bytes of a letter have moved: whoever has said how many come, or asks for many, and then keeps
 * still has its place no longer than for a few. */
static void moved(dpi_relay_visitor *v, size_t bytes)
{
    v->end.at += (int64_t)bytes * (1000000 / LEAST_PACE);
}

static void forget_file(dpi_relay_visitor *v)
{
    if (v->file >= 0)
        (void)close(v->file);
    v->file = -1;
}

/* ---- answers ---- */

static const char *word_of(int status)
{
    return status == 200   ? "OK"
           : status == 201 ? "Created"
           : status == 404 ? "Not Found"
           : status == 412 ? "Precondition Failed"
           : status == 413 ? "Content Too Large"
           : status == 507 ? "Insufficient Storage"
                           : "Refused";
}

/* Begins an answer whose body, of `left` bytes, is in v->file. */
static void answer(dpi_relay_visitor *v, int status, bool last)
{
    v->last = last || v->asked.closes;
    const int n = snprintf(
        (char *)v->out, sizeof v->out, "HTTP/1.1 %d %s\r\nContent-Length: %llu\r\n%s\r\n", status,
        word_of(status), (unsigned long long)v->left, v->last ? "Connection: close\r\n" : "");
    v->n_out = (size_t)n;
    v->at_out = 0;
    v->stage = DPI_RELAY_ANSWERS;
    v->end = dpi_deadline_after(MOVING);
    v->busy = true;
}

static void refuse(dpi_relay_visitor *v, int status, bool last)
{
    v->left = 0;
    answer(v, status, last);
}

/* Adds what there is room for of the letter: false where it is not as long as it was. */
static bool add_piece(dpi_relay_visitor *v)
{
    size_t some = sizeof v->out - v->n_out;
    some = v->left < some ? (size_t)v->left : some;
    if (some == 0)
        return true;
    const ssize_t got = read(v->file, v->out + v->n_out, some);
    if (got <= 0)
        return false;
    v->n_out += (size_t)got;
    v->left -= (uint64_t)got;
    return true;
}

static outcome give(dpi_relay_visitor *v)
{
    if (!add_piece(v))
        return IS_GONE;
    if (v->at_out < v->n_out) {
        const int sent = SSL_write(v->tls, v->out + v->at_out, (int)(v->n_out - v->at_out));
        if (sent > 0) {
            v->at_out += (size_t)sent;
            moved(v, (size_t)sent);
        }
        if (v->at_out == v->n_out)
            v->at_out = v->n_out = 0;
        return after(v, sent);
    }
    forget_file(v);
    v->stage = v->last ? DPI_RELAY_LEAVES : DPI_RELAY_ASKS;
    v->end = dpi_deadline_after(v->last ? LEAVING : v->n_in > 0 ? ASKING : IDLE);
    return GOES_ON;
}

/* Where a side closes while the other's bytes are on their way, the system throws the answer away:
 * so what comes is looked at, and not used, for a while. */
static outcome leave(dpi_relay_visitor *v)
{
    (void)SSL_shutdown(v->tls);
    ERR_clear_error();
    (void)shutdown(v->socket, SHUT_WR);
    const ssize_t got = recv(v->socket, v->out, sizeof v->out, 0);
    v->wants = POLLIN;
    return got > 0                                                                  ? GOES_ON
           : got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? IS_BLOCKED
                                                                                    : IS_GONE;
}

/* ---- requests ---- */

bool dpi_relay_answer_letter(const dpi_relay_box *box, dpi_relay_visitor *v)
{
    v->file = dpi_relay_box_find(box, v->asked.name, &v->left);
    if (v->file < 0)
        return false;
    answer(v, 200, false);
    return true;
}

static void begin_put(dpi_relay_box *box, dpi_relay_visitor *v)
{
    const int status = dpi_relay_box_begin(box, v->asked.name, v->asked.length, &v->draft);
    /* The bytes of a letter that is there are taken and not kept: it is usual, after a crash. */
    if (status != 0 && (status != 412 || v->asked.length > box->most_letter)) {
        refuse(v, status, true);
        return;
    }
    v->left = v->asked.length;
    v->stage = DPI_RELAY_TAKES;
    v->end = dpi_deadline_after(MOVING);
}

static void begin_get(const dpi_relay_box *box, dpi_relay_visitor *v)
{
    if (dpi_relay_answer_letter(box, v))
        return;
    if (v->asked.wait == 0) {
        refuse(v, 404, false);
        return;
    }
    v->stage = DPI_RELAY_WAITS;
    v->end = dpi_deadline_after(1000 * v->asked.wait);
}

/* Reads more of what stands before a body. */
static outcome read_in(dpi_relay_visitor *v)
{
    const int got = SSL_read(v->tls, v->in + v->n_in, (int)(sizeof v->in - v->n_in));
    if (got > 0 && v->stage == DPI_RELAY_ASKS && v->n_in == 0)
        v->end = dpi_deadline_after(ASKING);
    if (got > 0)
        v->n_in += (size_t)got;
    return after(v, got);
}

static outcome ask(dpi_relay_box *box, dpi_relay_visitor *v)
{
    const int status = dpi_relay_parse(v->in, v->n_in, &v->asked);
    if (status == DPI_RELAY_MORE)
        return read_in(v);
    if (status != DPI_RELAY_GOOD) {
        refuse(v, status, true);
        return GOES_ON;
    }
    v->n_in -= v->asked.head;
    memmove(v->in, v->in + v->asked.head, v->n_in);
    if (v->asked.puts)
        begin_put(box, v);
    else
        begin_get(box, v);
    return GOES_ON;
}

/* Who waits is not read from further than the buffer goes. */
static outcome wait_on(dpi_relay_visitor *v)
{
    v->wants = 0;
    return v->n_in < sizeof v->in ? read_in(v) : IS_BLOCKED;
}

/* ---- letters that come ---- */

static void end_put(dpi_relay_box *box, dpi_relay_visitor *v)
{
    const int status = v->draft.file >= 0 ? dpi_relay_box_keep(box, &v->draft, v->asked.name) : 412;
    refuse(v, status, false);
    v->kept = status == 201;
}

/* The next bytes of a letter, at v->out, some of which came with what stood before them. */
static outcome read_piece(dpi_relay_visitor *v, size_t *n)
{
    size_t some = v->left < DPI_RELAY_PIECE ? (size_t)v->left : DPI_RELAY_PIECE;
    if (v->n_in == 0) {
        const int got = SSL_read(v->tls, v->out, (int)some);
        *n = got > 0 ? (size_t)got : 0;
        return after(v, got);
    }
    *n = some < v->n_in ? some : v->n_in;
    memcpy(v->out, v->in, *n);
    v->n_in -= *n;
    memmove(v->in, v->in + *n, v->n_in);
    return GOES_ON;
}

static outcome take(dpi_relay_box *box, dpi_relay_visitor *v)
{
    size_t n = 0;
    const outcome o = v->left > 0 ? read_piece(v, &n) : GOES_ON;
    if (o != GOES_ON)
        return o;
    v->left -= n;
    moved(v, n);
    if (v->draft.file >= 0 && !dpi_disk_write(v->draft.file, (const char *)v->out, n)) {
        dpi_relay_box_drop(box, &v->draft);
        refuse(v, 507, true);
        return GOES_ON;
    }
    if (v->left == 0)
        end_put(box, v);
    return GOES_ON;
}

/* ---- visitors ---- */

static outcome greet(dpi_relay_visitor *v)
{
    const int result = SSL_accept(v->tls);
    if (result == 1) {
        v->stage = DPI_RELAY_ASKS;
        v->end = dpi_deadline_after(IDLE);
    }
    return after(v, result);
}

static outcome step(dpi_relay_box *box, dpi_relay_visitor *v)
{
    switch (v->stage) {
    case DPI_RELAY_GREETS:
        return greet(v);
    case DPI_RELAY_ASKS:
        return ask(box, v);
    case DPI_RELAY_TAKES:
        return take(box, v);
    case DPI_RELAY_WAITS:
        return wait_on(v);
    case DPI_RELAY_ANSWERS:
        return give(v);
    default:
        return leave(v);
    }
}

bool dpi_relay_greet(dpi_relay_visitor *v, int socket, SSL_CTX *settings)
{
    *v = (dpi_relay_visitor){.socket = socket, .draft = {.file = -1}, .file = -1, .busy = true};
    v->end = dpi_deadline_after(GREETING);
    v->tls = SSL_new(settings);
    BIO *bio = dpi_bio_begin(&v->bio, socket);
    if (v->tls != NULL && bio != NULL && dpi_socket_prepare(socket)) {
        SSL_set_bio(v->tls, bio, bio);
        return true;
    }
    (void)BIO_free(bio);
    return false;
}

bool dpi_relay_turn(dpi_relay_box *box, dpi_relay_visitor *v)
{
    outcome o = GOES_ON;
    if (dpi_deadline_left(v->end) == 0 && v->stage == DPI_RELAY_WAITS)
        refuse(v, 404, false);
    else if (dpi_deadline_left(v->end) == 0)
        o = IS_GONE;
    for (int k = 0; k < TURN && o == GOES_ON && !v->kept; k++)
        o = step(box, v);
    v->busy = o == GOES_ON;
    return o != IS_GONE;
}

void dpi_relay_part_from(dpi_relay_box *box, dpi_relay_visitor *v)
{
    dpi_relay_box_drop(box, &v->draft);
    forget_file(v);
    SSL_free(v->tls);
    dpi_bio_end(&v->bio);
    (void)close(v->socket);
}
