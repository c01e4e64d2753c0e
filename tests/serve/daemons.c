#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "tests/serve/daemons.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIES = 8, LIST = 2048, PORT = 7000 /* where parties have hosts of their own */ };

static bool fail(dp_error *err, const char *why)
{
    if (err->status == DP_OK) {
        err->status = DP_EIO;
        (void)snprintf(err->text, sizeof err->text, "%s", why);
    }
    return false;
}

void daemons_path(const daemons *d, size_t i, const char *name, char path[DAEMONS_PATH])
{
    if (i == SIZE_MAX)
        (void)snprintf(path, DAEMONS_PATH, "%s/%s", d->folder, name);
    else
        (void)snprintf(path, DAEMONS_PATH, "%s/%s.%zu", d->folder, name, i);
}

/* ---- files ---- */

static dp_identity *identity(const daemons *d, size_t i, const char *name, dp_error *err)
{
    char path[DAEMONS_PATH];
    dp_identity *made;
    daemons_path(d, i, name, path);
    (void)!dp_identity_new(path, &made, err);
    return made;
}

static bool make_identities(daemons *d, dp_error *err)
{
    bool good = true;
    for (size_t i = 0; i < d->opts.n; i++) {
        d->own[i] = identity(d, i, "identity", err);
        good = good && d->own[i] != NULL;
    }
    d->provider = identity(d, SIZE_MAX, "provider", err);
    d->client = identity(d, SIZE_MAX, "client", err);
    d->stranger = identity(d, SIZE_MAX, "stranger", err);
    return good && d->provider != NULL && d->client != NULL && d->stranger != NULL;
}

bool daemons_policy(const daemons *d, size_t i, unsigned queries, const char *returns)
{
    char path[DAEMONS_PATH];
    daemons_path(d, i, "policy", path);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return false;
    (void)fprintf(file,
                  "client = %s client\nqueries = %u\nwindow = 3600\nreturns = %s\n"
                  "protocols = hm%zu\nmodes = shared\n",
                  dp_identity_fingerprint(d->client), queries > 0 ? queries : 1000000,
                  returns != NULL ? returns : "scores", d->opts.n);
    return fclose(file) == 0 && chmod(path, 0600) == 0;
}

/* A port that is free, and most likely still is when it is listened at. */
static int free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    int own = socket(AF_INET, SOCK_STREAM, 0), port = 0;
    if (own >= 0 && bind(own, (struct sockaddr *)&at, n) == 0 &&
        getsockname(own, (struct sockaddr *)&at, &n) == 0)
        port = ntohs(at.sin_port);
    if (own >= 0)
        (void)close(own);
    return port;
}

dp_parties *daemons_list(const daemons *d, const int port[DAEMONS], dp_error *err)
{
    char text[LIST];
    dp_parties *parties;
    int n = snprintf(text, sizeof text, "provider = %s\n", dp_identity_fingerprint(d->provider));
    for (size_t i = 0; i < d->opts.n; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "party = %zu %s %d %s\n", i,
                      d->opts.host[i] != NULL ? d->opts.host[i] : "127.0.0.1",
                      port[i] != 0 ? port[i] : d->port[i], dp_identity_fingerprint(d->own[i]));
    (void)!dp_parties_parse((size_t)n, text, "the parties", &parties, err);
    return parties;
}

/* ---- parties ---- */

typedef struct running {
    daemons *d;
    size_t i;
} running;

static void *run(void *of)
{
    running r = *(running *)of;
    dp_error err = {0};
    free(of);
    r.d->ended[r.i] = dp_party_run(r.d->party[r.i], &err);
    return NULL;
}

static bool run_thread(daemons *d, size_t i, const dp_party_opts *o, dp_error *err)
{
    if (dp_party_new(o, &d->party[i], err) != DP_OK)
        return false;
    running *r = malloc(sizeof *r);
    if (r != NULL)
        *r = (running){d, i};
    if (r != NULL && pthread_create(&d->thread[i], NULL, run, r) == 0)
        return true;
    free(r);
    dp_party_free(d->party[i]);
    d->party[i] = NULL;
    return fail(err, "no thread for a party");
}

/* From now on what is printed goes to the party's file, behind what is there. */
static bool print_to_file(const daemons *d, size_t i)
{
    char path[DAEMONS_PATH];
    daemons_path(d, i, "said", path);
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    const bool good = file >= 0 && dup2(file, STDOUT_FILENO) >= 0 && dup2(file, STDERR_FILENO) >= 0;
    if (file >= 0)
        (void)close(file);
    return good;
}

/* The child tells by a byte that it listens. */
static bool run_process(daemons *d, size_t i, const dp_party_opts *o, dp_error *err)
{
    int ends[2];
    char byte = 1;
    dp_party *party;
    if (pipe(ends) != 0)
        return fail(err, "no pipe for a party");
    d->process[i] = fork();
    if (d->process[i] == 0) {
#ifdef __linux__
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
        if (d->opts.enter != NULL)
            d->opts.enter(d->opts.user, i);
        if (d->opts.said && !print_to_file(d, i))
            _exit(1);
        if (dp_party_new(o, &party, err) != DP_OK || write(ends[1], &byte, 1) != 1)
            _exit(1);
        _exit(dp_party_run(party, err) == DP_OK ? 0 : 1);
    }
    (void)close(ends[1]);
    const bool listens = d->process[i] > 0 && read(ends[0], &byte, 1) == 1;
    (void)close(ends[0]);
    return listens || fail(err, "a party does not begin");
}

bool daemons_run(daemons *d, size_t i, const dp_parties *list, dp_error *err)
{
    char policy[DAEMONS_PATH], log[DAEMONS_PATH];
    daemons_path(d, i, "policy", policy);
    daemons_path(d, i, "log", log);
    const dp_party_opts o = {.parties = list != NULL ? list : d->parties,
                             .id = i,
                             .identity = d->own[i],
                             .policy = policy,
                             .log = log,
                             .lanes = d->opts.lanes,
                             .records = d->opts.records,
                             .timeout_ms = d->opts.timeout_ms,
                             .idle_ms = d->opts.idle_ms};
    return d->opts.processes ? run_process(d, i, &o, err) : run_thread(d, i, &o, err);
}

static void end_process(daemons *d, size_t i)
{
    int how;
    if (d->process[i] > 0) {
        (void)kill(d->process[i], SIGKILL);
        (void)waitpid(d->process[i], &how, 0);
    }
    d->process[i] = 0;
}

void daemons_end(daemons *d, size_t i)
{
    end_process(d, i);
    if (d->party[i] == NULL)
        return;
    dp_party_stop(d->party[i]);
    (void)pthread_join(d->thread[i], NULL);
    dp_party_free(d->party[i]);
    d->party[i] = NULL;
}

/* Parties at ports that were free: false where one has been taken since. */
static bool run_all(daemons *d, dp_error *err)
{
    const int own[DAEMONS] = {0};
    for (size_t i = 0; i < d->opts.n; i++)
        d->port[i] = d->opts.host[i] != NULL ? PORT : free_port();
    d->parties = daemons_list(d, own, err);
    bool good = d->parties != NULL;
    for (size_t i = 0; good && i < d->opts.n; i++)
        good = daemons_run(d, i, NULL, err);
    for (size_t i = 0; !good && i < d->opts.n; i++)
        daemons_end(d, i);
    if (!good) {
        dp_parties_free(d->parties);
        d->parties = NULL;
    }
    return good;
}

bool daemons_start(daemons *d, const daemons_opts *opts, dp_error *err)
{
    *d = (daemons){.opts = *opts, .folder = "/tmp/t-parties-XXXXXX"};
    if (mkdtemp(d->folder) == NULL) {
        d->folder[0] = 0;
        return fail(err, "no folder can be made in /tmp");
    }
    if (!make_identities(d, err))
        return false;
    for (size_t i = 0; i < opts->n; i++)
        if (!daemons_policy(d, i, opts->queries, opts->returns))
            return fail(err, "a policy cannot be written");
    for (int i = 0; i < TRIES; i++) {
        dp_error why = {0};
        if (run_all(d, &why))
            return true;
        if (i + 1 == TRIES || why.status != DP_EIO)
            *err = why;
        if (err->status != DP_OK)
            return false;
    }
    return false;
}

void daemons_stop(daemons *d)
{
    static const char *const each[] = {"identity", "policy", "log", "said"};
    static const char *const one[] = {"provider", "client", "stranger"};
    char path[DAEMONS_PATH];
    for (size_t i = 0; i < DAEMONS; i++) {
        daemons_end(d, i);
        dp_identity_free(d->own[i]);
        for (size_t k = 0; k < 4 && d->folder[0] != 0; k++) {
            daemons_path(d, i, each[k], path);
            (void)unlink(path);
        }
    }
    for (size_t k = 0; k < 3 && d->folder[0] != 0; k++) {
        daemons_path(d, SIZE_MAX, one[k], path);
        (void)unlink(path);
    }
    if (d->folder[0] != 0)
        (void)rmdir(d->folder);
    dp_identity_free(d->provider);
    dp_identity_free(d->client);
    dp_identity_free(d->stranger);
    dp_parties_free(d->parties);
    *d = (daemons){.folder = ""};
}

dp_status daemons_share(const daemons *d, const dp_program *p, dp_error *err)
{
    const dp_share_opts o = {.program = p,
                             .identity = d->provider,
                             .parties = d->parties,
                             .timeout_ms = d->opts.timeout_ms,
                             .probabilistic = d->opts.probabilistic};
    return dp_share_program(&o, err);
}
