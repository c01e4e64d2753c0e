/* Machines that are far apart, on one machine: network namespaces, each with a TUN device, and a
 * process that carries packets from one to another, each so much later.  Linux's own delay (netem)
 * is not in every kernel. */
#ifndef TACIT_BENCH_FAR_H
#define TACIT_BENCH_FAR_H

#include <stdbool.h>
#include <stddef.h>

#include <sys/types.h>

enum { FAR_MOST = 8, FAR_ADDRESS = 16 };

typedef struct far_machines {
    size_t n;
    int space[FAR_MOST]; /* their namespaces */
    int own;             /* that of the program */
    pid_t carrier;
    char address[FAR_MOST][FAR_ADDRESS];
} far_machines;

/* n of them, so many milliseconds each way, any number of bytes a second.  NULL, or why it cannot
 * be done here; then there is nothing to free. */
const char *far_new(far_machines *f, size_t n, double milliseconds);
void far_free(far_machines *f);

/* This process is on machine i from now on; on none again. */
void far_enter(const far_machines *f, size_t i);
void far_leave(const far_machines *f);

#endif
