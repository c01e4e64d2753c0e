#define _GNU_SOURCE
#include "far.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "options.h"

#ifdef __linux__
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

enum { PACKET = 2048, QUEUE = 100000 /* packets */, TO = 16 /* where an IPv4 header has it */ };

static void enter(int space)
{
    if (setns(space, CLONE_NEWNET) != 0)
        bench_stop("a network namespace", "cannot be entered");
}

void far_enter(const far_machines *f, size_t i)
{
    enter(f->space[i]);
}

void far_leave(const far_machines *f)
{
    enter(f->own);
}

/* ---- the carrier ---- */

/* What is on its way to one machine, oldest first. */
typedef struct packet {
    struct packet *next;
    double due;
    size_t n;
    unsigned char bytes[PACKET];
} packet;

typedef struct way {
    packet *first, *last;
} way;

/* Takes all that a machine has sent.  The last number of an address is the machine's, from 1 on. */
static void take(int tun, size_t n, way to[], double delay)
{
    for (;;) {
        packet *p = malloc(sizeof *p);
        if (p == NULL)
            _exit(1);
        const ssize_t got = read(tun, p->bytes, sizeof p->bytes);
        const size_t machine = got > TO + 3 ? (size_t)p->bytes[TO + 3] - 1 : n;
        if (got <= 0 || p->bytes[0] >> 4 != 4 || machine >= n) {
            free(p);
            if (got <= 0)
                return;
            continue;
        }
        p->next = NULL;
        p->due = bench_now() + delay;
        p->n = (size_t)got;
        if (to[machine].first == NULL)
            to[machine].first = p;
        else
            to[machine].last->next = p;
        to[machine].last = p;
    }
}

/* What does not fit is lost, as on any network. */
static void give(int tun, way *w)
{
    while (w->first != NULL && w->first->due <= bench_now()) {
        packet *p = w->first;
        (void)!write(tun, p->bytes, p->n);
        w->first = p->next;
        free(p);
    }
}

static void carry(size_t n, const int tun[], double delay)
{
    way to[FAR_MOST] = {{NULL, NULL}};
    struct pollfd ready[FAR_MOST];
    for (size_t i = 0; i < n; i++)
        ready[i] = (struct pollfd){.fd = tun[i], .events = POLLIN};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)prctl(PR_SET_TIMERSLACK, 1UL);
    (void)setpriority(PRIO_PROCESS, 0, -19);
    for (;;) {
        double left = 1;
        for (size_t i = 0; i < n; i++)
            if (to[i].first != NULL && to[i].first->due - bench_now() < left)
                left = to[i].first->due - bench_now();
        const struct timespec wait = {left >= 1, left > 0 && left < 1 ? (long)(1e9 * left) : 0};
        (void)ppoll(ready, (nfds_t)n, &wait, NULL);
        for (size_t i = 0; i < n; i++)
            take(tun[i], n, to, delay);
        for (size_t i = 0; i < n; i++)
            give(tun[i], &to[i]);
    }
}

/* ---- machines ---- */

static bool set_address(int socket, const char *name, const char *text, unsigned long what)
{
    struct ifreq r = {.ifr_flags = 0};
    struct sockaddr_in a = {.sin_family = AF_INET};
    (void)snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    if (inet_pton(AF_INET, text, &a.sin_addr) != 1)
        return false;
    memcpy(&r.ifr_addr, &a, sizeof a);
    return ioctl(socket, what, &r) == 0;
}

static bool set_up(int socket, const char *name)
{
    struct ifreq r = {.ifr_flags = IFF_UP | IFF_RUNNING};
    (void)snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    return ioctl(socket, SIOCSIFFLAGS, &r) == 0;
}

static bool set_queue(int socket, const char *name)
{
    struct ifreq r = {.ifr_qlen = QUEUE};
    (void)snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    return ioctl(socket, SIOCSIFTXQLEN, &r) == 0;
}

/* In a namespace of its own, where the process then is. */
static const char *make_machine(far_machines *f, size_t i, int *tun)
{
    struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    (void)snprintf(r.ifr_name, sizeof r.ifr_name, "far");
    (void)snprintf(f->address[i], FAR_ADDRESS, "10.77.0.%zu", i + 1);
    if (unshare(CLONE_NEWNET) != 0)
        return "this user may not make network namespaces";
    f->space[i] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    *tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (f->space[i] < 0 || *tun < 0 || ioctl(*tun, TUNSETIFF, &r) != 0)
        return "the system has no TUN devices";
    const int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool good = s >= 0 && set_queue(s, "far") &&
                      set_address(s, "far", f->address[i], SIOCSIFADDR) &&
                      set_address(s, "far", "255.255.255.0", SIOCSIFNETMASK) && set_up(s, "far") &&
                      set_up(s, "lo");
    (void)close(s);
    return good ? NULL : "a TUN device cannot be given an address";
}

const char *far_new(far_machines *f, size_t n, double milliseconds)
{
    int tun[FAR_MOST];
    const char *why = NULL;
    *f = (far_machines){.n = n, .own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)};
    for (size_t i = 0; i < n; i++)
        f->space[i] = tun[i] = -1;
    if (f->own < 0)
        return "the system has no network namespaces";
    for (size_t i = 0; why == NULL && i < n; i++)
        why = make_machine(f, i, &tun[i]);
    if (f->space[0] >= 0) /* else it has never left */
        far_leave(f);
    f->carrier = why == NULL ? fork() : 0;
    if (why == NULL && f->carrier == 0)
        carry(n, tun, milliseconds / 1e3);
    for (size_t i = 0; i < n; i++)
        (void)close(tun[i]);
    if (why != NULL || f->carrier < 0) {
        f->carrier = 0;
        far_free(f);
        return why != NULL ? why : "the system gives no process";
    }
    return NULL;
}

void far_free(far_machines *f)
{
    if (f->carrier > 0) {
        (void)kill(f->carrier, SIGKILL);
        (void)waitpid(f->carrier, NULL, 0);
    }
    for (size_t i = 0; i < f->n; i++)
        (void)close(f->space[i]);
    (void)close(f->own);
    *f = (far_machines){.n = 0};
}

#else

const char *far_new(far_machines *f, size_t n, double milliseconds)
{
    (void)n;
    (void)milliseconds;
    *f = (far_machines){.n = 0};
    return "there are network namespaces on Linux alone";
}

void far_free(far_machines *f)
{
    (void)f;
}

void far_enter(const far_machines *f, size_t i)
{
    (void)f;
    (void)i;
}

void far_leave(const far_machines *f)
{
    (void)f;
}

#endif
