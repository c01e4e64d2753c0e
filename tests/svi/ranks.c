#define _DEFAULT_SOURCE
#include "tests/svi/ranks.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 8, LIMIT = 60 };

typedef struct wires {
    size_t size;
    int to[MOST]; /* of rank 0: to each other; of another one: to[0] */
} wires;

static bool pass(int wire, void *bytes, size_t n, bool out)
{
    for (size_t done = 0; done < n;) {
        ssize_t moved = out ? write(wire, (char *)bytes + done, n - done)
                            : read(wire, (char *)bytes + done, n - done);
        if (moved <= 0)
            return false;
        done += (size_t)moved;
    }
    return true;
}

static int sum_at_root(const wires *w, size_t n, int64_t *values)
{
    int64_t *theirs = malloc(n * sizeof *theirs);
    bool good = theirs != NULL;
    for (size_t r = 1; r < w->size && good; r++) {
        good = pass(w->to[r], theirs, n * sizeof *theirs, false);
        for (size_t i = 0; i < n && good; i++)
            values[i] = (int64_t)((uint64_t)values[i] + (uint64_t)theirs[i]);
    }
    for (size_t r = 1; r < w->size && good; r++)
        good = pass(w->to[r], values, n * sizeof *values, true);
    free(theirs);
    return good ? 0 : 1;
}

static int sum_root(void *context, size_t n, int64_t *values)
{
    return sum_at_root(context, n, values);
}

static int sum_leaf(void *context, size_t n, int64_t *values)
{
    const wires *w = context;
    return pass(w->to[0], values, n * sizeof *values, true) &&
                   pass(w->to[0], values, n * sizeof *values, false)
               ? 0
               : 1;
}

int run_ranks(size_t size, int (*body)(const dp_group *group, void *of), void *of)
{
    wires w = {.size = size};
    pid_t child[MOST];
    (void)fflush(NULL);
    for (size_t r = 1; r < size; r++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
            return 1;
        child[r] = fork();
        if (child[r] < 0)
            return 1;
        if (child[r] == 0) {
            (void)alarm(LIMIT);
            for (size_t k = 1; k < r; k++)
                (void)close(w.to[k]);
            (void)close(pair[0]);
            w.to[0] = pair[1];
            _exit(body(&(dp_group){r, size, &w, sum_leaf}, of));
        }
        (void)close(pair[1]);
        w.to[r] = pair[0];
    }
    (void)alarm(LIMIT);
    int failed = body(&(dp_group){0, size, &w, sum_root}, of) != 0;
    for (size_t r = 1; r < size; r++) {
        int status = 0;
        (void)close(w.to[r]);
        failed |= waitpid(child[r], &status, 0) != child[r] || status != 0;
    }
    (void)alarm(0);
    return failed;
}
