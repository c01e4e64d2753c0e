#define _XOPEN_SOURCE 700
#include "tests/lib/pause.h"

#include <time.h>

void pause_for(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    (void)nanosleep(&t, NULL);
}
