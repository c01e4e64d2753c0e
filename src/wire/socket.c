/* What POSIX gives, wrapped. */
#define _XOPEN_SOURCE 700
#include "wire/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

enum { NS_IN_MS = 1000000, BACKLOG = 128, MOST_PORT = 65535, MOST_DIGITS = 8 };

static int64_t now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 * NS_IN_MS + t.tv_nsec;
}

dpi_deadline dpi_deadline_after(uint32_t milliseconds)
{
    return (dpi_deadline){now() + (int64_t)milliseconds * NS_IN_MS};
}

int dpi_deadline_left(dpi_deadline d)
{
    int64_t left = d.at - now();
    if (left <= 0)
        return 0;
    left = (left + NS_IN_MS - 1) / NS_IN_MS;
    return left > INT_MAX ? INT_MAX : (int)left;
}

int dpi_socket_wait(struct pollfd *sockets, nfds_t n, dpi_deadline d)
{
    for (;;) {
        int left = dpi_deadline_left(d), ready = left > 0 ? poll(sockets, n, left) : 0;
        if (ready > 0 || left == 0 || (ready < 0 && errno != EINTR))
            return ready;
    }
}

int dpi_socket_look(struct pollfd *sockets, nfds_t n, dpi_deadline d)
{
    if (dpi_deadline_left(d) == 0)
        return 0;
    return poll(sockets, n, 0) < 0 && errno != EINTR ? -1 : 1;
}

bool dpi_socket_prepare(int socket)
{
    int flags = fcntl(socket, F_GETFL), one = 1;
    /* Fails where it is not TCP, where there is nothing to turn off. */
    (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return flags >= 0 && fcntl(socket, F_SETFL, flags | O_NONBLOCK) == 0 &&
           fcntl(socket, F_SETFD, FD_CLOEXEC) == 0;
}

/* Digits that are no port: the system takes them modulo 2^16. */
static bool beyond_ports(const char *port)
{
    const size_t digits = strspn(port, "0123456789");
    return port[digits] == 0 && (digits > MOST_DIGITS || strtol(port, NULL, 10) > MOST_PORT);
}

static dp_status look_up(const char *host, const char *port, int flags, struct addrinfo **list,
                         dp_error *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags};
    if (!beyond_ports(port) && getaddrinfo(host, port, &hints, list) == 0)
        return DP_OK;
    return dpi_fail(err, DP_ENAME, "there is no host '%.100s' with port '%.20s'; check both", host,
                    port);
}

/* A socket connected to one address; -1 with errno, ETIMEDOUT when the deadline passes. */
static int try_address(const struct addrinfo *a, dpi_deadline d)
{
    int s = socket(a->ai_family, a->ai_socktype, a->ai_protocol), failure = 0;
    if (s < 0)
        return -1;
    socklen_t size = sizeof failure;
    if (!dpi_socket_prepare(s)) {
        failure = errno;
    } else if (connect(s, a->ai_addr, a->ai_addrlen) != 0) {
        struct pollfd wait = {.fd = s, .events = POLLOUT};
        failure = errno;
        if (failure == EINPROGRESS || failure == EINTR) {
            int ready = dpi_socket_wait(&wait, 1, d);
            if (ready <= 0)
                failure = ready == 0 ? ETIMEDOUT : errno;
            else if (getsockopt(s, SOL_SOCKET, SO_ERROR, &failure, &size) != 0)
                failure = errno;
        }
    }
    if (failure == 0)
        return s;
    (void)close(s);
    errno = failure;
    return -1;
}

dp_status dpi_socket_connect(const char *host, const char *port, dpi_deadline d, int *socket,
                             dp_error *err)
{
    struct addrinfo *list = NULL;
    *socket = -1;
    dp_status status = look_up(host, port, 0, &list, err);
    if (status != DP_OK)
        return status;
    bool late = false;
    for (const struct addrinfo *a = list; a != NULL && *socket < 0 && !late; a = a->ai_next) {
        *socket = try_address(a, d);
        late = *socket < 0 && dpi_deadline_left(d) == 0;
    }
    freeaddrinfo(list);
    if (*socket >= 0)
        return DP_OK;
    return late ? dpi_fail(err, DP_ETIMEOUT,
                           "%.100s port %.20s did not answer in time; check the address, the "
                           "network between, and the time allowed",
                           host, port)
                : dpi_fail(err, DP_EPEER,
                           "nobody can be reached at %.100s port %.20s; is the other side running?",
                           host, port);
}

dp_status dpi_socket_listen(const char *host, const char *port, int *socket_out, dp_error *err)
{
    struct addrinfo *list = NULL;
    *socket_out = -1;
    dp_status status = look_up(host, port, AI_PASSIVE, &list, err);
    if (status != DP_OK)
        return status;
    int one = 1, s = socket(list->ai_family, list->ai_socktype, list->ai_protocol);
    bool good = s >= 0 && dpi_socket_prepare(s) &&
                setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
                bind(s, list->ai_addr, list->ai_addrlen) == 0 && listen(s, BACKLOG) == 0;
    freeaddrinfo(list);
    if (good) {
        *socket_out = s;
        return DP_OK;
    }
    if (s >= 0)
        (void)close(s);
    return dpi_fail(
        err, DP_EIO,
        "cannot listen at %.100s port %.20s; is another program there, and may this one "
        "use the port?",
        host, port);
}

int dpi_socket_port(int socket)
{
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } address;
    socklen_t size = sizeof address;
    if (getsockname(socket, &address.any, &size) != 0)
        return 0;
    if (address.any.sa_family == AF_INET)
        return ntohs(address.four.sin_port);
    return address.any.sa_family == AF_INET6 ? ntohs(address.six.sin6_port) : 0;
}
