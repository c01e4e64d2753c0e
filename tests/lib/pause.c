#define _XOPEN_SOURCE 700
#include "tests/lib/pause.h"

#include <time.h>

enum { TRIES = 5 };

void pause_for(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    (void)nanosleep(&t, NULL);
}

double clock_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

bool stood_still(double begun, double timeout, int *tries)
{
    return clock_now() - begun >= timeout && ++*tries < TRIES;
}
