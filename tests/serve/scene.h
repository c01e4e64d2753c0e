/* Programs to be served, and both sides over loopback: a provider, a client and a stranger. */
#ifndef TESTS_SERVE_SCENE_H
#define TESTS_SERVE_SCENE_H

#include <pthread.h>
#include <stdatomic.h>

#include <tacit/serve.h>

#include "serve/talk.h"
#include "tests/lib/check.h"

enum { SMALL_KEY = 512, WEAK = DPI_ALLOW_WEAK_KEYS, PATH = 256 };

/* x[n], of numbers.h. */
void fill(uint64_t *numbers, size_t n, double *x);

/* ---- programs, fixed; freed by the caller ---- */

/* 20 numbers to the largest of 3; 150 to some, at most 8, that are computed in partial sums;
 * convolution, relu, max pool, dense, sigmoid, dense; a convolution alone, or means of windows. */
dp_program *finish(dp_program *p);
dp_program *regression(void);
dp_program *wide(size_t outputs);
dp_program *network(void);
dp_program *image(bool mean);

/* ---- both sides ---- */

typedef struct scene {
    char folder[PATH], policy[PATH], log[PATH], port[16];
    dp_identity *provider, *client, *stranger;
    dp_server *server;
    pthread_t thread;
    dp_status ended;
    atomic_bool over; /* the server's thread */
} scene;

/* With a policy of 1000 queries of the client, all protocols and modes. */
scene *new_scene(void);
void free_scene(scene *s);

/* The policy anew, with `rest` behind clients, queries and protocols; what new_scene writes. */
void write_policy(scene *s, unsigned queries, const char *rest);
extern const char scores[];

dp_server_opts server_opts(const scene *s, const dp_program *p, dp_serve_protocol protocol,
                           dp_serve_mode mode);
dp_ask_opts ask_opts(const scene *s, dp_serve_protocol protocol, dp_serve_mode mode);

/* A server in a thread of its own, until it is stopped. */
void start(scene *s, const dp_server_opts *opts);
void stop(scene *s);

/* Of one that has ended, or is about to, by itself, or because it was stopped. */
void ends(scene *s, dp_status how);

/* Asks for n random records, and compares with the oracle; what asking ended with, or that too. */
dp_status answer_exactly(const dp_program *p, const dp_ask_opts *opts, int n, dp_error *err);
void answers_are_exact(const dp_program *p, const dp_ask_opts *opts, int n);

#endif
