/* Stands between a client and a server, in a process of its own, counts their bytes and does a deed
 * at one of them. */
#ifndef TESTS_SERVE_RELAY_H
#define TESTS_SERVE_RELAY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { UP, DOWN }; /* from the client, from the server */

typedef enum relay_deed {
    PASS,  /* everything */
    SLOW,  /* everything, each piece of it 10 ms late */
    KILL,  /* the process `victim` */
    CLOSE, /* both connections */
    STALL, /* passes nothing more, either way, and reads nothing */
    FLIP,  /* one bit */
    DROP,  /* 16 bytes */
    TWICE, /* 16 bytes */
    SWAP   /* 16 bytes with the 16 after them */
} relay_deed;

/* Bytes that went one way before any went the other. */
typedef struct relay_burst {
    int way;
    size_t from, to; /* counted in that way from the first byte */
} relay_burst;

enum { RELAY_BURSTS = 64 };

/* In memory that its processes share. */
typedef struct relay {
    int port, server; /* it listens at port for one client, and passes on to that of the server */
    bool stays;       /* at the port that it has had before */
    relay_deed deed;
    int way; /* the deed is done when so many bytes have gone that way */
    size_t at;
    atomic_bool done; /* [out] since relay_start */
    _Atomic pid_t victim;
    bool elsewhere; /* it is at neither end: all that is sent passes */
    pid_t self;
    size_t n_bursts;
    relay_burst burst[RELAY_BURSTS];
} relay;

/* fork, with a child that does not outlive this process where the system can have it so. */
pid_t fork_mortal(void);

relay *relay_new(void);
void relay_free(relay *r);

/* Begins to wait for a client; ends, when both sides have gone. */
void relay_start(relay *r);
void relay_end(relay *r);

#endif
