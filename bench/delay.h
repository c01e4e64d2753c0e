/* A long way on one machine: a process that passes on what comes, each byte so much later. */
#ifndef TACIT_BENCH_DELAY_H
#define TACIT_BENCH_DELAY_H

#include <sys/types.h>

/* Takes one client after the other at *port [out], for the server at `server`; so many milliseconds
 * each way, any number of bytes a second.  For the caller to kill.  What cannot be done ends the
 * program. */
pid_t delay_start(int server, double milliseconds, int *port);

#endif
