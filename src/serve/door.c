#define _XOPEN_SOURCE 700
#include "serve/door.h"

#include <time.h>

#include "base/error.h"

enum {
    LOOK_EVERY = 200,   /* ms */
    MOST_FAILURES = 300 /* a minute of them, one after the other */
};

/* Waits a little where nobody could be let in: for want of files, memory or threads, of which
 * sessions and handshakes that end give some back.  False after it has been so for too long. */
static bool wait_for_room(size_t *failures)
{
    const struct timespec a_while = {.tv_nsec = LOOK_EVERY * 1000000L};
    (void)nanosleep(&a_while, NULL);
    return ++*failures < MOST_FAILURES;
}

dp_status dpi_door_keep(const dpi_door *d, dp_error *err)
{
    dp_status status = DP_OK;
    size_t failures = 0;
    while (!atomic_load(d->stop) && status == DP_OK) {
        dp_error why = {0};
        dpi_wire_session *wire = NULL;
        dp_status found = dpi_wire_accept(d->listener, LOOK_EVERY, &wire, &why);
        if (found == DP_OK)
            d->admit(d->user, wire);
        if (found == DP_OK || found == DP_ETIMEOUT)
            failures = 0;
        else if (!wait_for_room(&failures))
            status = dpi_fail(err, found, "%s", why.text);
        /* Who can answer nobody any more must not look as if he were busy. */
        if (status == DP_OK && atomic_exchange(d->look, false))
            status = dpi_query_log_check(d->log, err);
    }
    return status;
}
