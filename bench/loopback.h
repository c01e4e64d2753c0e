/* Both sides of serving on one machine, for benchmarks: programs by name, a place with identities
 * and a policy that allows all, and a provider in a process of its own.  What cannot be done ends
 * the program. */
#ifndef TACIT_BENCH_LOOPBACK_H
#define TACIT_BENCH_LOOPBACK_H

#include <stdbool.h>

#include <sys/types.h>

#include <tacit/serve.h>

#include "serve/talk.h"

/* Says what is wrong and ends the program, unless status is DP_OK. */
void loopback_must(dp_status status, const dp_error *err);

/* Who asks for a program that is not named: everybody; several parties; nobody. */
typedef enum loopback_use { LOOPBACK_ALL, LOOPBACK_PARTIES, LOOPBACK_NAMED } loopback_use;

/* Programs of an image with random weights, the same at each call. */
typedef struct loopback_kind {
    const char *name;
    void (*build)(dp_program *p, int x);
    dp_serve_mode mode; /* of two parties */
    loopback_use use;
    size_t image[3]; /* rows, columns, channels */
} loopback_kind;
extern const loopback_kind loopback_kinds[]; /* the name of the last one is NULL */

/* Whether it is asked for by `program` ("": none is named).  Two parties are never asked for those
 * that have to be named: all others have 784 inputs. */
bool loopback_takes(const loopback_kind *k, const char *program, bool parties);

/* scale NULL: weights of 12 bits and inputs of 16. */
dp_program *loopback_build(const loopback_kind *k, const dp_scale_opts *scale);

enum { LOOPBACK_PATH = 200 };

typedef struct loopback {
    char folder[LOOPBACK_PATH], policy[LOOPBACK_PATH], log[LOOPBACK_PATH];
    dp_identity *provider, *client;
    size_t threads, pause, prepare;
    unsigned flags;
} loopback;

void loopback_new(loopback *s);
void loopback_remove(loopback *s);

/* The provider's process, for the caller to kill, and its port. */
pid_t loopback_start(const loopback *s, const loopback_kind *k, dp_serve_protocol protocol,
                     int *port);

#endif
