#define _GNU_SOURCE
#include "tests/lib/spaces.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REFUSED = 99, TENTHS = 600 };

/* An alarm would not do: number 1 ignores signals that it has not asked for. */
static int await(pid_t child)
{
    const struct timespec tenth = {.tv_nsec = 100000000};
    int how;
    for (int i = 0; i < TENTHS; i++) {
        if (waitpid(child, &how, WNOHANG) == child)
            return WIFEXITED(how) ? WEXITSTATUS(how) : -2;
        (void)nanosleep(&tenth, NULL);
    }
    (void)kill(child, SIGKILL);
    (void)waitpid(child, &how, 0);
    return -2;
}

int spaces_fork_as_first(int (*call)(void *of), void *of)
{
#ifdef CLONE_NEWPID
    if (unshare(CLONE_NEWPID) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0)
        _exit(getpid() == 1 ? call(of) : REFUSED);
    return child < 0 ? -1 : await(child);
#else
    (void)call;
    (void)of;
    return -1;
#endif
}

int spaces_run_as_first(int (*call)(void *of), void *of)
{
#ifdef CLONE_NEWPID
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
            _exit(REFUSED);
        pid_t first = fork();
        if (first == 0)
            _exit(getpid() == 1 ? call(of) : REFUSED);
        int how = first < 0 ? REFUSED : await(first);
        _exit(how < 0 ? REFUSED - 1 : how);
    }
    int how = child < 0 ? REFUSED : await(child);
    return how == REFUSED ? -1 : how == REFUSED - 1 ? -2 : how;
#else
    (void)call;
    (void)of;
    return -1;
#endif
}
