/* The parties of a protocol as processes of one machine, each with links to the others: TLS over
 * TCP and loopback.  What cannot be done ends the program. */
#ifndef TACIT_BENCH_PROCESSES_H
#define TACIT_BENCH_PROCESSES_H

#include "share/party.h"

/* Says so on stderr and ends the process. */
void processes_must(bool good, const char *what);

/* Memory that the processes have in common, zeros; it is never given back. */
void *processes_shared(size_t bytes);

/* Runs body(p, user) once in a process for each role, with a mesh, and returns when all have
 * ended. */
void processes_run(const dpi_share_row *row, void (*body)(dpi_party *p, void *user), void *user);

#endif
