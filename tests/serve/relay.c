#define _DEFAULT_SOURCE
#include "tests/serve/relay.h"

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "wire/socket.h"

enum { LONG = 20000, PIECE = 16, BLOCK = 4096, LATE = 10000000 /* ns */ };

pid_t fork_mortal(void)
{
    pid_t child = fork();
#ifdef __linux__
    if (child == 0)
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    return child;
}

relay *relay_new(void)
{
    relay *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(r != MAP_FAILED);
    return r;
}

void relay_free(relay *r)
{
    assert_int_equal(munmap(r, sizeof *r), 0);
}

static void send_all(int socket, const unsigned char *b, size_t n)
{
    while (n > 0) {
        struct pollfd wait = {.fd = socket, .events = POLLOUT};
        ssize_t sent = send(socket, b, n, MSG_NOSIGNAL);
        if (sent < 0 && poll(&wait, 1, LONG) <= 0)
            return;
        if (sent < 0 && (wait.revents & (POLLERR | POLLHUP)) != 0)
            return;
        b += sent > 0 ? sent : 0;
        n -= sent > 0 ? (size_t)sent : 0;
    }
}

static void note(relay *r, int way, size_t from, size_t to)
{
    relay_burst *last = r->n_bursts > 0 ? &r->burst[r->n_bursts - 1] : NULL;
    if (last != NULL && last->way == way)
        last->to = to;
    else if (r->n_bursts < RELAY_BURSTS)
        r->burst[r->n_bursts++] = (relay_burst){.way = way, .from = from, .to = to};
}

/* The deed, at the bytes b[n] of which the first is that at r->at; false: nothing more passes. */
static bool act(relay *r, int to, unsigned char *b, size_t n)
{
    unsigned char kept[2 * PIECE];
    size_t piece = n < PIECE ? n : PIECE;
    r->done = true;
    switch (r->deed) {
    case KILL:
        while (r->victim == 0) /* is about to be told */
            (void)usleep(1000);
        (void)kill(r->victim, SIGKILL);
        if (r->elsewhere)
            send_all(to, b, n);
        return true;
    case CLOSE:
        return false;
    case STALL:
        for (;;)
            (void)pause();
    case FLIP:
        b[0] ^= 4;
        break;
    case DROP:
        send_all(to, b + piece, n - piece);
        return true;
    case TWICE:
        send_all(to, b, piece);
        break;
    case SWAP:
        if (n < 2 * PIECE) /* there is too little: the first of it again will do */
            send_all(to, b, piece);
        if (n >= 2 * PIECE) {
            memcpy(kept, b, sizeof kept);
            memcpy(b, kept + PIECE, PIECE);
            memcpy(b + PIECE, kept, PIECE);
        }
        break;
    case PASS:
    case SLOW:
        break;
    }
    send_all(to, b, n);
    return true;
}

/* Passes on what one side sends; false when it has gone. */
static bool pass_some(relay *r, int way, const int sockets[2], size_t *count)
{
    unsigned char b[BLOCK];
    ssize_t got = recv(sockets[way], b, sizeof b, 0);
    if (got <= 0)
        return false;
    size_t n = (size_t)got, before = *count;
    if (r->deed == SLOW)
        (void)nanosleep(&(struct timespec){.tv_nsec = LATE}, NULL);
    *count += n;
    note(r, way, before, *count);
    const bool done = r->deed == KILL && way == r->way && before > r->at;
    if (done && !r->elsewhere)
        return true; /* what comes after that byte is lost; what went the other way arrives */
    if (r->deed == PASS || r->deed == SLOW || done || way != r->way || r->at < before ||
        r->at >= *count) {
        send_all(sockets[!way], b, n);
        return true;
    }
    send_all(sockets[!way], b, r->at - before);
    return act(r, sockets[!way], b + (r->at - before), n - (r->at - before));
}

static void run(relay *r, int listening)
{
    char port[16];
    size_t count[2] = {0};
    int sockets[2];
    struct pollfd wait[2];
    (void)snprintf(port, sizeof port, "%d", r->server);
    (void)poll(&(struct pollfd){.fd = listening, .events = POLLIN}, 1, LONG);
    sockets[UP] = accept(listening, NULL, NULL);
    if (sockets[UP] < 0 ||
        dpi_socket_connect("127.0.0.1", port, dpi_deadline_after(LONG), &sockets[DOWN], NULL) !=
            DP_OK ||
        !dpi_socket_prepare(sockets[UP]))
        return;
    for (;;) {
        for (int way = 0; way < 2; way++)
            wait[way] = (struct pollfd){.fd = sockets[way], .events = POLLIN};
        if (poll(wait, 2, LONG) <= 0)
            return;
        for (int way = 0; way < 2; way++)
            if (wait[way].revents != 0 && !pass_some(r, way, sockets, &count[way]))
                return;
    }
}

void relay_start(relay *r)
{
    int listening;
    char port[16];
    (void)snprintf(port, sizeof port, "%d", r->stays ? r->port : 0);
    assert_int_equal(dpi_socket_listen("127.0.0.1", port, &listening, NULL), DP_OK);
    r->port = dpi_socket_port(listening);
    r->n_bursts = 0;
    r->done = false;
    pid_t child = fork_mortal();
    assert_true(child >= 0);
    if (child == 0) {
        run(r, listening);
        _exit(0);
    }
    (void)close(listening);
    r->self = child;
}

void relay_end(relay *r)
{
    int how;
    if (r->deed == STALL)
        (void)kill(r->self, SIGKILL);
    assert_int_equal(waitpid(r->self, &how, 0), r->self);
}
