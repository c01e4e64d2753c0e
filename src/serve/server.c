/* The provider: listens, and answers each session in a thread of its own. */
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "serve/door.h"
#include "serve/stream.h"
#include "wire/listener.h"
#include "wire/log.h"

enum { SESSIONS = 32, MOST_SESSIONS = 4096 };

static void answer(void *user, dpi_wire_session *wire, dpi_guest *guest);

struct dp_server {
    dpi_policy policy;
    dpi_query_log *log;
    dpi_serve_plan plan;
    void *compiled;
    unsigned char *sheet;
    dpi_answering answering;
    dpi_stream_profile profile;
    dpi_wire_listener *listener;
    dpi_guests *guests;
    atomic_bool stop, look; /* look: at the log, since a session may have failed for it */
};

/* ---- making one ---- */

static dp_status check_options(const dp_server_opts *o, dp_error *err)
{
    if (o->program == NULL || o->identity == NULL || o->policy == NULL || o->log == NULL ||
        o->host == NULL || o->port == NULL ||
        dpi_serve_protocol_of(o->protocol) == DPI_N_PROTOCOLS ||
        dpi_serve_mode_of(o->mode) == DPI_N_MODES || o->sessions > MOST_SESSIONS ||
        o->sessions_each > MOST_SESSIONS || o->in_flight > DPI_LINE_LANES)
        return dpi_fail(err, DP_EINVAL,
                        "a server needs a program, an identity, policy and log, host and port, a "
                        "protocol and a mode");
    dp_status status = dpi_serve_consent(dpi_serve_mode_of(o->mode), o->flags, err);
    return status == DP_OK ? dpi_serve_check_key(o->key_bits, o->flags, err) : status;
}

/* The policy must agree with how the server is started: no client could ask else. */
static dp_status check_policy(const dp_server *s, const dp_server_opts *o, dp_error *err)
{
    dpi_protocol protocol = dpi_serve_protocol_of(o->protocol);
    dpi_mode mode = dpi_serve_mode_of(o->mode);
    if ((s->policy.protocols >> protocol & 1) == 0 || (s->policy.modes >> mode & 1) == 0)
        return dpi_fail(err, DP_EPRIVACY,
                        "%s does not allow protocol %s in mode %s; start the server otherwise, or "
                        "change the policy",
                        o->policy, dpi_protocol_name(protocol), dpi_mode_name(mode));
    if (s->policy.returns != DPI_RETURN_SCORES)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "%s: protocols of two parties give whoever asks the scores, since it is "
                        "the client who decrypts them; only `returns = scores` can be kept here",
                        o->policy);
    return DP_OK;
}

static dp_status prepare(dp_server *s, const dp_server_opts *o, dp_error *err)
{
    dpi_mode mode = dpi_serve_mode_of(o->mode);
    const dpi_serve_opts row = {.key_bits = o->key_bits,
                                .portable = (o->flags & DPI_PORTABLE) != 0};
    dpi_answering *a = &s->answering;
    *a = (dpi_answering){.row = dpi_serve_rows[dpi_serve_protocol_of(o->protocol)],
                         .plan = &s->plan,
                         .mode = mode,
                         .policy = &s->policy,
                         .threads = o->threads > 0 ? o->threads : 1,
                         .in_flight = o->in_flight > 0 ? o->in_flight : DPI_IN_FLIGHT,
                         .even = (o->flags & DPI_EVEN_THREADS) != 0,
                         .timeout = o->timeout_ms > 0 ? o->timeout_ms : DPI_SERVE_TIMEOUT,
                         .idle = o->idle_ms > 0 ? o->idle_ms : DPI_SERVE_IDLE};
    dp_status status = dp_program_sheet(o->program, &a->sheet_bytes, &s->sheet, err);
    a->sheet = s->sheet;
    if (status == DP_OK && a->sheet_bytes > DPI_SHEET_MOST)
        return dpi_fail(err, DP_EUNSUPPORTED, "the program's sheet has more than 16 MB");
    if (status == DP_OK)
        status = dp_program_hash(o->program, a->hash, err);
    if (status == DP_OK)
        status = dpi_serve_plan_of(a->row, o->program, mode, &s->plan, err);
    for (size_t k = 0; status == DP_OK && k < s->plan.n_layers; k++)
        if (dp_program_stage(o->program, s->plan.layer[k].stage)->weights == NULL)
            status = dpi_fail(err, DP_ESTATE, "the sheet of a program has no weights to serve");
    if (status == DP_OK)
        status = a->row->cost(&s->plan, mode, &row, &a->cost, err);
    if (status == DP_OK)
        status = dpi_serve_check_cost(&s->plan, &a->cost, 1, err);
    if (status == DP_OK)
        status = a->row->compile(&s->plan, mode, &row, &s->compiled, err);
    a->compiled = s->compiled;
    if (status == DP_OK)
        dpi_stream_profile_start(&s->profile, s->plan.n_layers);
    a->profile = &s->profile;
    return status;
}

static dp_status begin_listening(dp_server *s, const dp_server_opts *o, dp_error *err)
{
    const dpi_wire_opts w = {.identity = o->identity, .peers = &s->policy.clients};
    const dpi_wire_limits limits = {0};
    const size_t sessions = o->sessions > 0 ? o->sessions : SESSIONS;
    const size_t each = o->sessions_each > 0 ? o->sessions_each : (sessions + 1) / 2;
    dp_status status = dpi_guests_new(sessions, each, answer, s, &s->guests, err);
    if (status == DP_OK)
        status = dpi_query_log_open(o->log, s->policy.queries, s->policy.window, &s->log, err);
    s->answering.log = s->log;
    if (status == DP_OK)
        status = dpi_wire_listen(o->host, o->port, &w, &limits, &s->listener, err);
    return status;
}

dp_status dp_server_new(const dp_server_opts *opts, dp_server **server, dp_error *err)
{
    *server = NULL;
    dp_status status = check_options(opts, err);
    dp_server *s = status == DP_OK ? dpi_alloc(1, sizeof *s) : NULL;
    if (status == DP_OK && s == NULL)
        return dpi_fail_nomem(err);
    if (status == DP_OK)
        status = dpi_policy_load(opts->policy, &s->policy, err);
    if (status == DP_OK)
        status = check_policy(s, opts, err);
    if (status == DP_OK)
        status = prepare(s, opts, err);
    if (status == DP_OK)
        status = begin_listening(s, opts, err);
    if (status == DP_OK)
        *server = s;
    else
        dp_server_free(s);
    return status;
}

void dp_server_free(dp_server *s)
{
    if (s == NULL)
        return;
    dpi_wire_listener_free(s->listener);
    dpi_query_log_close(s->log);
    if (s->compiled != NULL)
        s->answering.row->discard(s->compiled);
    dpi_stream_profile_end(&s->profile);
    dp_program_sheet_free(s->sheet);
    dpi_policy_free(&s->policy);
    dpi_guests_free(s->guests);
    dpi_free(s);
}

int dp_server_port(const dp_server *s)
{
    return dpi_wire_port(s->listener);
}

void dp_server_stop(dp_server *s)
{
    atomic_store(&s->stop, true);
}

/* ---- answering ---- */

/* What goes wrong in a session is that session's end: the other side sees it close, and the log has
 * the status. */
static void answer(void *user, dpi_wire_session *wire, dpi_guest *guest)
{
    dp_server *s = user;
    dp_error err = {0};
    dp_status status = dpi_serve_answer(&s->answering, wire, guest, &err);
    if (status == DP_EIO || status == DP_EDATA)
        atomic_store(&s->look, true);
}

static void admit(void *server, dpi_wire_session *wire)
{
    const dp_server *s = server;
    dpi_guests_admit(s->guests, wire);
}

dp_status dp_server_run(dp_server *s, dp_error *err)
{
    const dpi_door door = {.listener = s->listener,
                           .log = s->log,
                           .stop = &s->stop,
                           .look = &s->look,
                           .admit = admit,
                           .user = s};
    dp_status status = dpi_door_keep(&door, err);
    dpi_guests_end(s->guests, s->answering.timeout);
    return status;
}
