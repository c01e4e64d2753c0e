/* A mailbox that owners reach by HTTPS, and need not trust. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <signal.h>
#include <stdio.h>

#include <tacit/relay.h>

#include "tools/silo.h"

enum { HOST_ROOM = 256 };

static dp_relay *running;

static void on_signal(int number)
{
    (void)number;
    dp_relay_stop(running);
}

static bool catch_signals(dp_relay *relay)
{
    struct sigaction action = {.sa_handler = on_signal};
    running = relay;
    (void)sigemptyset(&action.sa_mask);
    return sigaction(SIGINT, &action, NULL) == 0 && sigaction(SIGTERM, &action, NULL) == 0;
}

static const char *lacks(const settings *s)
{
    return s->folder == NULL ? "where do letters lie? give --folder, one of this process alone"
           : s->certificate == NULL || s->certificate_key == NULL
               ? "owners want to know whom they speak with: give --certificate and "
                 "--certificate-key"
               : NULL;
}

static uint64_t or_usual(double value)
{
    return isnan(value) ? 0 : (uint64_t)value;
}

/* The port is told on standard output, as others may wait for it. */
static dp_status serve(const dp_relay_opts *o, dp_error *err)
{
    dp_relay *relay;
    dp_status status = dp_relay_new(o, &relay, err);
    if (status == DP_OK && !catch_signals(relay)) {
        status = DP_EIO;
        (void)snprintf(err->text, sizeof err->text, "the system lets it catch no signals");
    }
    if (status == DP_OK) {
        (void)printf("port %d\n", dp_relay_port(relay));
        (void)fflush(stdout);
        status = dp_relay_run(relay, err);
    }
    dp_relay_free(relay);
    return status;
}

static int run_relay(const command *self, int argc, char **argv)
{
    silo_job j;
    char host[HOST_ROOM];
    int end;
    if (!silo_begin(&j, self, NULL, argc, argv, &end))
        return end;
    const settings *s = &j.m.said;
    const char *why = j.word != NULL ? "it takes options alone; give --folder" : lacks(s);
    const char *port = s->listen != NULL ? options_port(s->listen, sizeof host, host) : NULL;
    if (why == NULL && s->listen != NULL && port == NULL)
        why = "--listen is no HOST:PORT; as in --listen 0.0.0.0:443";
    if (why != NULL)
        return silo_refuse(&j, EXIT_USAGE, why);
    const dp_relay_opts o = {.folder = s->folder,
                             .certificate = s->certificate,
                             .key = s->certificate_key,
                             .clients = s->clients,
                             .host = port != NULL ? host : NULL,
                             .port = port,
                             .most_letter = or_usual(s->largest),
                             .most_letters = or_usual(s->letters),
                             .most_bytes = or_usual(s->total),
                             .connections = (size_t)or_usual(s->connections)};
    end = silo_failed(&j, serve(&o, &j.m.err));
    silo_end(&j);
    return end;
}

const command silo_relay = {
    "silo relay",
    FOR_SILO_RELAY,
    "a mailbox for owners, who need not trust it",
    "tacit silo relay --folder FOLDER --certificate FILE --certificate-key FILE [options]\n\n"
    "Keeps the letters that owners put there by HTTPS, and gives them back.  Letters are sealed\n"
    "and signed: it sees names and sizes.  With --clients only those are served whose\n"
    "certificates that authority has signed.  The first letter of a name stays; to make room,\n"
    "delete files.  It tells its port and serves until it is interrupted.",
    "tacit silo relay --folder letters --certificate server.pem --certificate-key server.key \\\n"
    "    --clients authority.pem --listen 0.0.0.0:443",
    run_relay};
