/* The command party: one of three or four that compute answers together, and see nothing. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <tacit/parties.h>

#include "tools/options.h"
#include "tools/tacit.h"

enum { HOST_ROOM = 256 };

static int refuse(int status, const char *text)
{
    (void)fprintf(stderr, "tacit party: %s\n", text);
    return status;
}

static bool check(const settings *s, message *why)
{
    const struct {
        bool given;
        const char *remedy;
    } needed[] = {
        {s->parties != NULL, "who are the parties? give --parties FILE; man tacit-party"},
        {!isnan(s->id), "which of them are you? give --id, as in --id 0"},
        {s->identity != NULL, "who are you? give --identity FILE; tacit keys create makes one"},
        {s->policy != NULL,
         "who may ask? give --policy FILE with their fingerprints; man tacit-serve"},
        {s->log != NULL, "--log is missing; give the file in which budgets are counted"},
    };
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!needed[i].given)
            return complain(why, "%s", needed[i].remedy);
    return true;
}

static dp_party *running;

/* The first signal ends it when queries that have begun have ended, or their time has; the second
 * one at once. */
static void on_signal(int number)
{
    (void)number;
    dp_party_stop(running);
}

static bool catch_signals(dp_party *party)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    running = party;
    (void)sigemptyset(&action.sa_mask);
    return sigaction(SIGINT, &action, NULL) == 0 && sigaction(SIGTERM, &action, NULL) == 0;
}

static dp_status work(const dp_party_opts *o, dp_error *err)
{
    dp_party *party;
    dp_status status = dp_party_new(o, &party, err);
    if (status == DP_OK)
        (void)fprintf(stderr, "identity %s\nparty    %zu of %zu\nport     %d\n",
                      dp_identity_fingerprint(o->identity), o->id, dp_parties_count(o->parties),
                      dp_party_port(party));
    if (status == DP_OK && !catch_signals(party)) {
        status = DP_EIO;
        (void)snprintf(err->text, sizeof err->text, "the system lets it catch no signals");
    }
    if (status == DP_OK)
        status = dp_party_run(party, err);
    dp_party_free(party);
    return status;
}

static dp_status load_and_work(const settings *s, const char *host, const char *port, dp_error *err)
{
    dp_identity *identity = NULL;
    dp_parties *parties = NULL;
    dp_status status = dp_identity_load(s->identity, &identity, err);
    if (status == DP_OK)
        status = dp_parties_load(s->parties, &parties, err);
    const dp_party_opts o = {.parties = parties,
                             .id = (size_t)s->id,
                             .identity = identity,
                             .policy = s->policy,
                             .log = s->log,
                             .host = host,
                             .port = port,
                             .lanes = isnan(s->lanes) ? 0 : (size_t)s->lanes,
                             .records = isnan(s->records) ? 0 : (size_t)s->records};
    if (status == DP_OK)
        status = work(&o, err);
    dp_parties_free(parties);
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
    if (!options_parse(self->options, argc, argv, &said, &why) || !check(&said, &why))
        return refuse(EXIT_USAGE, why.text);
    const char *port = said.listen != NULL ? options_port(said.listen, sizeof host, host) : NULL;
    if (said.listen != NULL && port == NULL)
        return refuse(EXIT_USAGE, "--listen is no HOST:PORT; as in --listen 0.0.0.0:7001");
    dp_status status = load_and_work(&said, port != NULL ? host : NULL, port, &err);
    if (status == DP_OK)
        return EXIT_CERTIFIED;
    return refuse(status == DP_EINVAL ? EXIT_USAGE : EXIT_REFUSED,
                  err.text[0] != '\0' ? err.text : dp_status_text(status));
}

const command command_party = {
    "party",
    FOR_PARTY,
    "compute answers together with two or three others, and see nothing",
    "tacit party --parties FILE --id I --identity FILE --policy FILE --log FILE [options]\n\n"
    "A provider shares a model among the parties (tacit share), clients ask (tacit ask\n"
    "--parties): no party learns the model, a record or an answer, as long as no two of them\n"
    "put together what they see.  SIGINT and SIGTERM end it when queries that have begun have\n"
    "ended, within 30 seconds; a second one at once.",
    "tacit party --parties clinic.parties --id 0 --identity party.identity "
    "\\\n    --policy clinic.policy --log party.log",
    run};
