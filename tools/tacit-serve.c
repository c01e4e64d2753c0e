/* The command serve: answers questions about a fitted model without seeing what is asked. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <tacit/serve.h>

#include "tools/load-program.h"
#include "tools/options.h"
#include "tools/tacit.h"

enum { HOST_ROOM = 256 };

static int refuse(int status, const char *text)
{
    (void)fprintf(stderr, "tacit serve: %s\n", text);
    return status;
}

/* ---- what was said ---- */

static bool check(const settings *s, message *why)
{
    const struct {
        const char *given, *remedy;
    } needed[] = {
        {s->listen, "where? give --listen HOST:PORT, as in --listen 0.0.0.0:7001"},
        {s->identity, "who are you? give --identity FILE; tacit keys create makes one"},
        {s->policy, "who may ask? give --policy FILE with their fingerprints; man tacit-serve"},
        {s->log, "--log is missing; give the file in which budgets are counted"},
    };
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (needed[i].given == NULL)
            return complain(why, "%s", needed[i].remedy);
    return true;
}

/* ---- serving ---- */

static dp_server *running;

/* The first signal ends it when queries that have begun have ended, or their time has; the second
 * one at once. */
static void on_signal(int number)
{
    (void)number;
    dp_server_stop(running);
}

static bool catch_signals(dp_server *server)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    running = server;
    (void)sigemptyset(&action.sa_mask);
    return sigaction(SIGINT, &action, NULL) == 0 && sigaction(SIGTERM, &action, NULL) == 0;
}

static const char *mode_text(dp_serve_mode mode)
{
    return mode == DP_SERVE_LINEAR
               ? "who asks sees scores and draws of the answer, and nothing else of the model"
               : "who asks sees every hidden number in a fresh order, and CAN FIND OUT THE WEIGHTS "
                 "by a few queries";
}

/* For whom starts it: what the others must be told. */
static dp_status tell(const dp_server_opts *o, const dp_server *server, dp_error *err)
{
    unsigned char hash[DP_PROGRAM_HASH];
    dp_status status = dp_program_hash(o->program, hash, err);
    if (status != DP_OK)
        return status;
    (void)fprintf(stderr, "identity %s\nprogram  ", dp_identity_fingerprint(o->identity));
    for (size_t i = 0; i < sizeof hash; i++)
        (void)fprintf(stderr, "%02x", hash[i]);
    (void)fprintf(stderr, "\nprotocol %s, mode %s: %s\naddress  %s:%d\n",
                  option_word_of("protocol", (int)o->protocol),
                  option_word_of("mode", (int)o->mode), mode_text(o->mode), o->host,
                  dp_server_port(server));
    return DP_OK;
}

static dp_status serve(const dp_server_opts *o, dp_error *err)
{
    dp_server *server;
    dp_status status = dp_server_new(o, &server, err);
    if (status == DP_OK)
        status = tell(o, server, err);
    if (status == DP_OK && !catch_signals(server)) {
        status = DP_EIO;
        (void)snprintf(err->text, sizeof err->text, "the system lets it catch no signals");
    }
    if (status == DP_OK)
        status = dp_server_run(server, err);
    dp_server_free(server);
    return status;
}

static dp_status load_and_serve(const char *path, const settings *s, char *host, dp_error *err)
{
    dp_program *program = NULL;
    dp_identity *identity;
    dp_status status = dp_identity_load(s->identity, &identity, err);
    if (status == DP_OK)
        status = load_program(path, s, &program, err);
    const dp_server_opts o = {.program = program,
                              .identity = identity,
                              .policy = s->policy,
                              .log = s->log,
                              .host = host,
                              .port = options_port(s->listen, HOST_ROOM, host),
                              .protocol = s->protocol < 0 ? DP_SERVE_LATTICE
                                                          : (dp_serve_protocol)s->protocol,
                              .mode = s->mode < 0 ? DP_SERVE_LINEAR : (dp_serve_mode)s->mode,
                              .flags = s->allow_activation_leak ? DP_ALLOW_ACTIVATION_LEAK : 0,
                              .threads = isnan(s->threads) ? 0 : (size_t)s->threads,
                              .in_flight = isnan(s->in_flight) ? 0 : (size_t)s->in_flight,
                              .key_bits = s->key_bits < 0 ? 0 : (size_t)s->key_bits};
    if (status == DP_OK)
        status = serve(&o, err);
    dp_program_free(program);
    dp_identity_free(identity);
    return status;
}

static int run(const command *self, int argc, char **argv)
{
    settings said = settings_none();
    message why = {""};
    dp_error err = {DP_OK, ""};
    char host[HOST_ROOM];
    if (argc > 0 && strcmp(argv[argc - 1], "--help") == 0) {
        command_help(self);
        return EXIT_CERTIFIED;
    }
    if (argc < 1 || argv[0][0] == '-')
        return refuse(
            EXIT_USAGE,
            "which model? give the file of a fit or an ONNX file first, as in: tacit serve "
            "use.tacit --listen 0.0.0.0:7001 ...");
    if (!options_parse(self->options, argc - 1, argv + 1, &said, &why) || !check(&said, &why))
        return refuse(EXIT_USAGE, why.text);
    if (options_port(said.listen, sizeof host, host) == NULL)
        return refuse(EXIT_USAGE, "--listen is no HOST:PORT; as in --listen 0.0.0.0:7001");
    dp_status status = load_and_serve(argv[0], &said, host, &err);
    if (status == DP_OK)
        return EXIT_CERTIFIED;
    return refuse(status == DP_EINVAL ? EXIT_USAGE : EXIT_REFUSED,
                  err.text[0] != '\0' ? err.text : dp_status_text(status));
}

const command command_serve = {
    "serve",
    FOR_SERVE,
    "answer questions about a fitted model without seeing them",
    "tacit serve MODEL --listen HOST:PORT --identity FILE --policy FILE --log FILE [options]\n\n"
    "MODEL is the file of a fit, or of a network (ONNX).  Those whom the policy names ask it\n"
    "with tacit ask: what they ask about reaches this side encrypted, and stays so.  SIGINT and\n"
    "SIGTERM end it when queries that have begun have ended, within 30 seconds; a second one at\n"
    "once.",
    "tacit serve use.tacit --listen 0.0.0.0:7001 --identity clinic.identity --policy clinic.policy "
    "\\\n    --log clinic.log --range -1,1",
    run};
