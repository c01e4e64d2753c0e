/* The BIO of OpenSSL for sockets writes with write(), which raises SIGPIPE in the whole process
 * when the other side has gone; ours sends with MSG_NOSIGNAL. */
#define _XOPEN_SOURCE 700
#include "wire/bio.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"

enum { LEAST = 1 << 14, MOST = 1 << 18 }; /* room each way; a record of TLS takes 16 KiB */

static bool would_block(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static ssize_t send_to(BIO *of, const unsigned char *bytes, size_t n)
{
    const dpi_bio *b = BIO_get_data(of);
    ssize_t sent = send(b->socket, bytes, n, MSG_NOSIGNAL);
    if (sent < 0 && would_block())
        BIO_set_retry_write(of);
    return sent;
}

static ssize_t receive_from(BIO *of, unsigned char *bytes, size_t n)
{
    const dpi_bio *b = BIO_get_data(of);
    ssize_t got = recv(b->socket, bytes, n, 0);
    if (got < 0 && would_block())
        BIO_set_retry_read(of);
    return got;
}

/* Twice the room, if there is memory; what is there goes to the front. */
static void grow(dpi_bio_half *h)
{
    unsigned char *bytes = h->room < MOST ? dpi_alloc(2, h->room) : NULL;
    if (bytes == NULL)
        return;
    memcpy(bytes, h->bytes + h->at, h->n - h->at);
    dpi_free(h->bytes);
    *h = (dpi_bio_half){.bytes = bytes, .n = h->n - h->at, .room = 2 * h->room};
}

/* Sends what has gathered: 1; or -1, to be tried again or not. */
static int flush(BIO *of, dpi_bio_half *out)
{
    while (out->at < out->n) {
        ssize_t sent = send_to(of, out->bytes + out->at, out->n - out->at);
        if (sent < 0)
            return -1;
        out->at += (size_t)sent;
    }
    out->at = out->n = 0;
    return 1;
}

/* Takes what there is room for, and makes some where there is none. */
static int write_some(BIO *of, const char *bytes, int n)
{
    dpi_bio_half *out = &((dpi_bio *)BIO_get_data(of))->out;
    size_t size = (size_t)n;
    BIO_clear_retry_flags(of);
    if (out->bytes == NULL)
        return (int)send_to(of, (const unsigned char *)bytes, size);
    if (out->room - out->n < size)
        grow(out);
    if (out->n == out->room && flush(of, out) != 1)
        return -1;
    size = size < out->room - out->n ? size : out->room - out->n;
    memcpy(out->bytes + out->n, bytes, size);
    out->n += size;
    return (int)size;
}

static int read_some(BIO *of, char *bytes, int n)
{
    dpi_bio_half *in = &((dpi_bio *)BIO_get_data(of))->in;
    BIO_clear_retry_flags(of);
    if (in->bytes == NULL)
        return (int)receive_from(of, (unsigned char *)bytes, (size_t)n);
    if (in->at == in->n) {
        bool filled = in->n == in->room;
        in->at = in->n = 0;
        if (filled)
            grow(in);
        ssize_t got = receive_from(of, in->bytes, in->room);
        if (got <= 0)
            return (int)got;
        in->n = (size_t)got;
    }
    size_t size = in->n - in->at;
    size = (size_t)n < size ? (size_t)n : size;
    memcpy(bytes, in->bytes + in->at, size);
    in->at += size;
    return (int)size;
}

static long control(BIO *of, int what, long number, void *at)
{
    (void)number;
    (void)at;
    if (what != BIO_CTRL_FLUSH)
        return 0;
    BIO_clear_retry_flags(of);
    return flush(of, &((dpi_bio *)BIO_get_data(of))->out);
}

BIO *dpi_bio_begin(dpi_bio *b, int socket)
{
    *b = (dpi_bio){.socket = socket};
    BIO_METHOD *m = b->method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "socket");
    if (m == NULL || BIO_meth_set_write(m, write_some) != 1 ||
        BIO_meth_set_read(m, read_some) != 1 || BIO_meth_set_ctrl(m, control) != 1)
        return NULL;
    BIO *of = BIO_new(m);
    if (of == NULL)
        return NULL;
    BIO_set_data(of, b);
    BIO_set_init(of, 1);
    return of;
}

void dpi_bio_end(dpi_bio *b)
{
    BIO_meth_free(b->method);
    dpi_free(b->in.bytes);
    dpi_free(b->out.bytes);
    *b = (dpi_bio){.socket = -1};
}

bool dpi_bio_widen(dpi_bio *b)
{
    b->in = (dpi_bio_half){.bytes = dpi_alloc(1, LEAST), .room = LEAST};
    b->out = (dpi_bio_half){.bytes = dpi_alloc(1, LEAST), .room = LEAST};
    return b->in.bytes != NULL && b->out.bytes != NULL;
}

bool dpi_bio_holds(const dpi_bio *b)
{
    return b->in.at < b->in.n;
}
