/* Three or four parties in threads or children of one process, with a provider, a client and a
 * stranger, in a folder of their own.  Of public calls alone, and without cmocka: benchmarks start
 * them too. */
#ifndef TESTS_SERVE_DAEMONS_H
#define TESTS_SERVE_DAEMONS_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include <tacit/parties.h>

enum { DAEMONS = 4, DAEMONS_PATH = 256 };

typedef struct daemons_opts {
    size_t n, lanes, records; /* parties; as dp_party_opts */
    unsigned queries;         /* of the client, each of 3600 seconds; 0: 1 000 000 */
    const char *returns;      /* of the policy; NULL: scores */
    uint32_t timeout_ms, idle_ms;
    bool probabilistic; /* models are shared so */
    bool processes;     /* each party is one, which can be killed, and not a thread */
    bool said;          /* what these print goes to a file of each, "said" */
    /* Where each listens, at the same port; NULL: all on loopback.  `enter` is called in each
     * process of a party before anything else; NULL: nothing is. */
    const char *host[DAEMONS];
    void (*enter)(void *user, size_t i);
    void *user;
} daemons_opts;

typedef struct daemons {
    daemons_opts opts;
    char folder[64];
    dp_identity *own[DAEMONS], *provider, *client, *stranger;
    int port[DAEMONS];
    dp_parties *parties;
    dp_party *party[DAEMONS]; /* NULL: does not run */
    pthread_t thread[DAEMONS];
    pid_t process[DAEMONS];
    dp_status ended[DAEMONS];
} daemons;

/* All of it, running.  False with a message; then daemons_stop is still to be called. */
bool daemons_start(daemons *d, const daemons_opts *opts, dp_error *err);

/* Ends what runs, and removes the folder. */
void daemons_stop(daemons *d);

/* One of them, with a list of its own (NULL: that of all), borrowed. */
bool daemons_run(daemons *d, size_t i, const dp_parties *list, dp_error *err);
void daemons_end(daemons *d, size_t i);

/* A file of party i, or the list's own (i SIZE_MAX): "policy", "log", "identity". */
void daemons_path(const daemons *d, size_t i, const char *name, char path[DAEMONS_PATH]);

/* A list of the parties at other ports (0: their own). */
dp_parties *daemons_list(const daemons *d, const int port[DAEMONS], dp_error *err);

/* Writes the policy of party i anew. */
bool daemons_policy(const daemons *d, size_t i, unsigned queries, const char *returns);

/* Has the provider share p. */
dp_status daemons_share(const daemons *d, const dp_program *p, dp_error *err);

#endif
