/* All sides over loopback, in one process: a provider with a policy that allows everything, or
 * parties with such policies. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"
#include "served.h"
#include "tests/serve/daemons.h"

enum { PATH = 200, WITHIN = 300000 };

struct served_session {
    char folder[PATH], policy[PATH + 20], log[PATH + 20];
    dp_identity *provider, *client;
    dp_server *server;
    dp_ask *ask;
    pthread_t thread;
    daemons *parties; /* in place of provider and server */
};

static dp_identity *new_identity(const served_session *s, const char *name)
{
    char path[PATH + 20];
    dp_error err = {0};
    dp_identity *made;
    (void)snprintf(path, sizeof path, "%s/%s", s->folder, name);
    served_must(dp_identity_new(path, &made, &err), path, &err);
    return made;
}

static void write_policy(const served_session *s)
{
    FILE *file = fopen(s->policy, "w");
    if (file == NULL || chmod(s->policy, 0600) != 0)
        bench_stop(s->policy, "cannot be written");
    (void)fprintf(file,
                  "client = %s client\nqueries = 1000000\nwindow = 3600\nreturns = scores\n"
                  "protocols = he2-paillier he2-lattice ckks\nmodes = linear permute\n"
                  "allow-activation-leak = yes\n",
                  dp_identity_fingerprint(s->client));
    if (fclose(file) != 0)
        bench_stop(s->policy, "cannot be written");
}

static void *provide(void *of)
{
    served_session *s = of;
    dp_error err = {0};
    served_must(dp_server_run(s->server, &err), "provider", &err);
    return NULL;
}

/* Starts the provider; false where the protocol cannot hold the program. */
static bool start(served_session *s, const dp_program *p, dp_serve_protocol protocol,
                  dp_serve_mode mode, size_t threads)
{
    const dp_server_opts opts = {.program = p,
                                 .identity = s->provider,
                                 .policy = s->policy,
                                 .log = s->log,
                                 .host = "127.0.0.1",
                                 .port = "0",
                                 .protocol = protocol,
                                 .mode = mode,
                                 .flags = DP_ALLOW_ACTIVATION_LEAK,
                                 .threads = threads,
                                 .timeout_ms = WITHIN,
                                 .idle_ms = WITHIN};
    dp_error err = {0};
    if (dp_server_new(&opts, &s->server, &err) == DP_EUNSUPPORTED)
        return false;
    served_must(err.status, "provider", &err);
    if (pthread_create(&s->thread, NULL, provide, s) != 0)
        bench_stop("provider", "no thread");
    return true;
}

static void remove_session(served_session *s)
{
    static const char *const names[] = {"provider", "client", "policy", "log"};
    char path[PATH + 20];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", s->folder, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(s->folder);
    dp_identity_free(s->provider);
    dp_identity_free(s->client);
    free(s);
}

served_session *served_open(const dp_program *p, dp_serve_protocol protocol, dp_serve_mode mode,
                            size_t threads, size_t in_flight)
{
    char port[16];
    dp_error err = {0};
    served_session *s = served_room(1, sizeof *s);
    (void)snprintf(s->folder, sizeof s->folder, "/tmp/bench-served-XXXXXX");
    if (mkdtemp(s->folder) == NULL)
        bench_stop(s->folder, "cannot be made");
    (void)snprintf(s->policy, sizeof s->policy, "%s/policy", s->folder);
    (void)snprintf(s->log, sizeof s->log, "%s/log", s->folder);
    s->provider = new_identity(s, "provider");
    s->client = new_identity(s, "client");
    write_policy(s);
    if (!start(s, p, protocol, mode, threads)) {
        remove_session(s);
        return NULL;
    }
    (void)snprintf(port, sizeof port, "%d", dp_server_port(s->server));
    const dp_ask_opts opts = {.identity = s->client,
                              .host = "127.0.0.1",
                              .port = port,
                              .provider = dp_identity_fingerprint(s->provider),
                              .protocol = protocol,
                              .mode = mode,
                              .flags = DP_ALLOW_ACTIVATION_LEAK,
                              .threads = threads,
                              .timeout_ms = WITHIN,
                              .prepare_ms = UINT32_MAX,
                              .in_flight = in_flight};
    served_must(dp_ask_new(&opts, &s->ask, &err), "session", &err);
    return s;
}

static void close_parties(served_session *s)
{
    daemons_stop(s->parties);
    free(s->parties);
    free(s);
}

served_session *served_open_parties(const dp_program *p, size_t parties, size_t records,
                                    size_t lanes, bool probabilistic)
{
    dp_error err = {0};
    served_session *s = served_room(1, sizeof *s);
    s->parties = served_room(1, sizeof *s->parties);
    const daemons_opts o = {.n = parties,
                            .lanes = lanes,
                            .records = records,
                            .timeout_ms = WITHIN,
                            .idle_ms = WITHIN,
                            .probabilistic = probabilistic};
    if (!daemons_start(s->parties, &o, &err))
        bench_stop("parties", err.text);
    const dp_status shared = daemons_share(s->parties, p, &err);
    if (shared == DP_EUNSUPPORTED) {
        close_parties(s);
        return NULL;
    }
    served_must(shared, "share", &err);
    const dp_ask_parties_opts opts = {.identity = s->parties->client,
                                      .parties = s->parties->parties,
                                      .records = records,
                                      .lanes = lanes,
                                      .timeout_ms = WITHIN,
                                      .flags = probabilistic ? DP_ALLOW_PROBABILISTIC : 0};
    served_must(dp_ask_parties_new(&opts, &s->ask, &err), "session", &err);
    return s;
}

void served_ask(served_session *s, const double *x, int64_t *y)
{
    dp_error err = {0};
    served_must(dp_ask_query(s->ask, x, y, &err), "query", &err);
}

void served_ask_many(served_session *s, size_t n, const double *x, int64_t *y)
{
    size_t answered;
    dp_error err = {0};
    served_must(dp_ask_many(s->ask, n, x, y, &answered, &err), "queries", &err);
}

void served_close(served_session *s)
{
    dp_ask_free(s->ask);
    if (s->parties != NULL) {
        close_parties(s);
        return;
    }
    dp_server_stop(s->server);
    (void)pthread_join(s->thread, NULL);
    dp_server_free(s->server);
    remove_session(s);
}
