#define _XOPEN_SOURCE 700
#include "delay.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"
#include "wire/socket.h"

enum { BLOCK = 1 << 16, WITHIN = 10000 /* ms */ };

/* What has come one way and not gone on, oldest first. */
typedef struct piece {
    struct piece *next;
    double due;
    size_t n, at;
    unsigned char bytes[BLOCK];
} piece;

typedef struct one_way {
    int from, to;
    piece *first, *last;
} one_way;

static void stop_with(const char *why)
{
    (void)fprintf(stderr, "bench: %s\n", why);
    exit(1);
}

/* False when the side has gone. */
static bool take(one_way *w, double delay)
{
    piece *p = malloc(sizeof *p);
    if (p == NULL)
        stop_with("out of memory");
    ssize_t got = recv(w->from, p->bytes, sizeof p->bytes, 0);
    if (got <= 0) {
        free(p);
        return false;
    }
    p->next = NULL;
    p->due = bench_now() + delay;
    p->n = (size_t)got;
    p->at = 0;
    if (w->first == NULL)
        w->first = p;
    else
        w->last->next = p;
    w->last = p;
    return true;
}

/* Sends what is due and fits; whether the side has gone shows when it is read. */
static void give(one_way *w)
{
    while (w->first != NULL && w->first->due <= bench_now()) {
        piece *p = w->first;
        ssize_t sent = send(w->to, p->bytes + p->at, p->n - p->at, MSG_NOSIGNAL | MSG_DONTWAIT);
        p->at += sent > 0 ? (size_t)sent : 0;
        if (p->at < p->n)
            return;
        w->first = p->next;
        free(p);
    }
}

/* Milliseconds, rounded up, until something is due. */
static int wait_for(const one_way w[2])
{
    double least = 1;
    for (int k = 0; k < 2; k++)
        if (w[k].first != NULL && w[k].first->due - bench_now() < least)
            least = w[k].first->due - bench_now();
    return least <= 0 ? 1 : (int)(1e3 * least) + 1;
}

static void pass_on(int client, int server, double delay)
{
    one_way w[2] = {{.from = client, .to = server}, {.from = server, .to = client}};
    for (bool open = true; open;) {
        struct pollfd wait[2] = {{.fd = client, .events = POLLIN},
                                 {.fd = server, .events = POLLIN}};
        (void)poll(wait, 2, wait_for(w));
        for (int k = 0; k < 2; k++) {
            if (wait[k].revents != 0 && !take(&w[k], delay))
                open = false;
            give(&w[k]);
        }
    }
    for (int k = 0; k < 2; k++)
        while (w[k].first != NULL) {
            piece *p = w[k].first;
            w[k].first = p->next;
            free(p);
        }
}

static void serve(int listening, int server, double delay)
{
    char port[16];
    (void)snprintf(port, sizeof port, "%d", server);
    for (;;) {
        (void)poll(&(struct pollfd){.fd = listening, .events = POLLIN}, 1, -1);
        int client = accept(listening, NULL, NULL), other;
        dp_error err = {0};
        if (client < 0 || !dpi_socket_prepare(client))
            continue;
        if (dpi_socket_connect("127.0.0.1", port, dpi_deadline_after(WITHIN), &other, &err) !=
            DP_OK)
            stop_with(err.text);
        pass_on(client, other, delay);
        (void)close(client);
        (void)close(other);
    }
}

pid_t delay_start(int server, double milliseconds, int *port)
{
    int listening;
    dp_error err = {0};
    if (dpi_socket_listen("127.0.0.1", "0", &listening, &err) != DP_OK)
        stop_with(err.text);
    *port = dpi_socket_port(listening);
    pid_t child = fork();
    if (child < 0)
        stop_with("the system gives no process");
    if (child == 0) {
        serve(listening, server, milliseconds / 1e3);
        _exit(0);
    }
    (void)close(listening);
    return child;
}
