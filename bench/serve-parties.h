/* Queries of a program that three or four parties have, each a process of its own, over TLS. */
#ifndef TACIT_BENCH_SERVE_PARTIES_H
#define TACIT_BENCH_SERVE_PARTIES_H

#include "loopback.h"

enum { SERVE_PARTIES_MOST = 1000 /* queries */ };

typedef struct serve_parties_opts {
    size_t parties, queries, records, lanes;
    dp_scale_opts scale;
    double delay; /* ms each way, between parties and to the client; 0: all over loopback */
} serve_parties_opts;

/* Writes a line, or on stderr why there can be no delay.  Ends the program where an answer is not
 * that of dp_program_run_exact. */
void serve_parties(const loopback_kind *k, const serve_parties_opts *o);

#endif
