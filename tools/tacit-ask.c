/* The command ask: asks a provider's model about records that the provider does not see. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacit/parties.h>
#include <tacit/serve.h>

#include "tools/json.h"
#include "tools/options.h"
#include "tools/records.h"
#include "tools/tacit.h"

enum { HOST_ROOM = 256, RECORDS = 128 };

#define WHO                                                                                        \
    "who is asked? give HOST:PORT first, as in: tacit ask clinic.example:7001 ..., or else "       \
    "--parties FILE"

/* One session, from options to answers. */
typedef struct session {
    settings said;
    dp_identity *identity;
    dp_ask *ask;
    const dp_program *program;
    size_t n, outputs, answers; /* records; integers and answers of each */
    double *x, *mean, *sd;
    int64_t *y;
    dp_error err;
} session;

static int refuse(int status, const char *text)
{
    (void)fprintf(stderr, "tacit ask: %s\n", text);
    return status;
}

static bool check(const settings *s, message *why)
{
    if (s->identity == NULL)
        return complain(why, "who are you? give --identity FILE; tacit keys create makes one");
    if (s->provider == NULL && s->parties == NULL)
        return complain(why, "whom do you trust? give --provider with the fingerprint that the "
                             "provider told you; tacit keys show prints it there");
    if (s->data == NULL)
        return complain(why, "about what? give --data FILE, records of CSV or NPY");
    return true;
}

/* What is said belongs to whom is asked. */
static bool check_kind(const settings *s, message *why)
{
    if (s->parties != NULL &&
        (s->provider != NULL || s->protocol >= 0 || s->mode >= 0 || s->key_bits >= 0 ||
         !isnan(s->in_flight) || !isnan(s->threads) || s->allow_activation_leak))
        return complain(why, "--parties names all whom you trust, and fixes the protocol; leave "
                             "out what is for one provider: --provider, --protocol, --mode, "
                             "--key-bits, --threads, --in-flight");
    if (s->parties == NULL && (!isnan(s->lanes) || !isnan(s->records) || s->allow_probabilistic))
        return complain(why, "--lanes, --records and --allow-probabilistic are for --parties; of "
                             "one provider ask with --in-flight");
    return true;
}

static bool read_hash(const char *text, unsigned char hash[DP_PROGRAM_HASH])
{
    static const char digits[] = "0123456789abcdef";
    if (strlen(text) != 2 * DP_PROGRAM_HASH || strspn(text, digits) != 2 * DP_PROGRAM_HASH)
        return false;
    for (size_t i = 0; i < DP_PROGRAM_HASH; i++)
        hash[i] = (unsigned char)((strchr(digits, text[2 * i]) - digits) * 16 +
                                  (strchr(digits, text[2 * i + 1]) - digits));
    return true;
}

/* ---- the session ---- */

static size_t at_a_time(const settings *said)
{
    return isnan(said->in_flight) ? 1 : (size_t)said->in_flight;
}

/* Records of one call: so many that its beginning and end, when fewer are under way, are short. */
static size_t records_a_call(const settings *said)
{
    if (said->parties != NULL)
        return isnan(said->records) ? RECORDS : (size_t)said->records;
    return at_a_time(said) > 1 ? 16 * at_a_time(said) : 1;
}

static dp_status connect_to_parties(session *s, const unsigned char *hash)
{
    const settings *said = &s->said;
    dp_parties *parties = NULL;
    dp_status status = dp_identity_load(said->identity, &s->identity, &s->err);
    if (status == DP_OK)
        status = dp_parties_load(said->parties, &parties, &s->err);
    const dp_ask_parties_opts o = {.identity = s->identity,
                                   .parties = parties,
                                   .hash = hash,
                                   .records = records_a_call(said),
                                   .lanes = isnan(said->lanes) ? 0 : (size_t)said->lanes,
                                   .flags = said->allow_probabilistic ? DP_ALLOW_PROBABILISTIC : 0};
    if (status == DP_OK)
        status = dp_ask_parties_new(&o, &s->ask, &s->err);
    dp_parties_free(parties);
    if (status == DP_OK)
        s->program = dp_ask_program(s->ask);
    return status;
}

static dp_status connect_to(session *s, const char *host, const char *port,
                            const unsigned char *hash)
{
    const settings *said = &s->said;
    dp_status status = dp_identity_load(said->identity, &s->identity, &s->err);
    const dp_ask_opts o = {.identity = s->identity,
                           .host = host,
                           .port = port,
                           .provider = said->provider,
                           .hash = hash,
                           .protocol = said->protocol < 0 ? DP_SERVE_LATTICE
                                                          : (dp_serve_protocol)said->protocol,
                           .mode = said->mode < 0 ? DP_SERVE_LINEAR : (dp_serve_mode)said->mode,
                           .flags = said->allow_activation_leak ? DP_ALLOW_ACTIVATION_LEAK : 0,
                           .threads = isnan(said->threads) ? 0 : (size_t)said->threads,
                           .in_flight = at_a_time(said),
                           .key_bits = said->key_bits < 0 ? 0 : (size_t)said->key_bits};
    if (status == DP_OK)
        status = dp_ask_new(&o, &s->ask, &s->err);
    if (status == DP_OK)
        s->program = dp_ask_program(s->ask);
    return status;
}

static dp_status read_questions(session *s)
{
    dp_status status = read_records(s->said.data, s->program, &s->n, &s->x, &s->err);
    s->outputs = dp_program_outputs(s->program);
    s->answers = s->outputs / dp_program_draws(s->program);
    s->y = calloc(records_a_call(&s->said) * s->outputs, sizeof *s->y);
    s->mean = calloc(s->answers, sizeof *s->mean);
    s->sd = calloc(s->answers, sizeof *s->sd);
    if (status == DP_OK && (s->y == NULL || s->mean == NULL || s->sd == NULL))
        return DP_ENOMEM;
    return status;
}

static bool is_label(const session *s)
{
    return dp_program_stage(s->program, dp_program_stages(s->program) - 1)->kind == DP_STAGE_ARGMAX;
}

/* Labels, or each mean and, where there are draws, its standard deviation; tabs between. */
static void tell(const session *s, const int64_t *y)
{
    bool spread = dp_program_draws(s->program) > 1;
    for (size_t i = 0; is_label(s) && i < s->outputs; i++)
        (void)printf("%s%lld", i > 0 ? "\t" : "", (long long)y[i]);
    for (size_t i = 0; !is_label(s) && i < s->answers; i++) {
        (void)printf("%s%.6g", i > 0 ? "\t" : "", s->mean[i]);
        if (spread)
            (void)printf("\t%.6g", s->sd[i]);
    }
    (void)printf("\n");
}

static void tell_list(json *j, const char *name, size_t n, const double *values)
{
    json_list(j, name);
    for (size_t i = 0; i < n; i++)
        json_number(j, NULL, values[i]);
    json_end_list(j);
}

static void tell_json(const session *s, size_t record, const int64_t *y)
{
    json j = json_begin(stdout);
    json_count(&j, "record", record);
    if (is_label(s)) {
        json_count(&j, "label", (unsigned long long)y[0]);
    } else {
        tell_list(&j, "mean", s->answers, s->mean);
        if (dp_program_draws(s->program) > 1)
            tell_list(&j, "sd", s->answers, s->sd);
    }
    json_end(&j);
}

static dp_status tell_answers(session *s, size_t first, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int64_t *y = s->y + i * s->outputs;
        dp_program_decode(s->program, y, s->mean, s->sd);
        if (s->said.json)
            tell_json(s, first + i + 1, y);
        else
            tell(s, y);
    }
    if (fflush(stdout) == 0)
        return DP_OK;
    (void)snprintf(s->err.text, sizeof s->err.text,
                   "the answers cannot be written; no more is asked");
    return DP_EIO;
}

static dp_status fail_at(session *s, size_t record, dp_status status, const dp_error *err)
{
    (void)snprintf(s->err.text, sizeof s->err.text, "record %zu: %.400s", record + 1, err->text);
    return status;
}

/* Where many are asked about at a time, all are looked at before any is. */
static dp_status check_all(session *s)
{
    size_t inputs = dp_program_inputs(s->program);
    int64_t *v = calloc(inputs, sizeof *v);
    dp_status status = v == NULL ? DP_ENOMEM : DP_OK;
    for (size_t i = 0; status == DP_OK && i < s->n; i++) {
        dp_error err = {DP_OK, ""};
        if (dp_program_encode(s->program, 1, s->x + i * inputs, v, &err) != DP_OK)
            status = fail_at(s, i, err.status, &err);
    }
    free(v);
    return status;
}

/* Each answer is written as soon as it is there: it was paid for. */
static dp_status ask_all(session *s)
{
    size_t inputs = dp_program_inputs(s->program), most = records_a_call(&s->said), answered = 0;
    bool watched = isatty(STDERR_FILENO) == 1;
    dp_status status = most > 1 ? check_all(s) : DP_OK;
    for (size_t i = 0; status == DP_OK && i < s->n; i += answered) {
        size_t n = s->n - i < most ? s->n - i : most;
        if (watched)
            (void)fprintf(stderr, "\rrecord %zu of %zu", i + n, s->n);
        dp_error err = {DP_OK, ""};
        status = dp_ask_many(s->ask, n, s->x + i * inputs, s->y, &answered, &err);
        if (watched && (status != DP_OK || i + n == s->n))
            (void)fprintf(stderr, "\n");
        dp_status told = tell_answers(s, i, answered);
        if (status != DP_OK)
            return fail_at(s, i + answered, status, &err);
        status = told;
    }
    return status;
}

static int run(const command *self, int argc, char **argv)
{
    session s = {.said = settings_none()};
    message why = {""};
    char host[HOST_ROOM];
    unsigned char hash[DP_PROGRAM_HASH];
    if (argc > 0 && strcmp(argv[argc - 1], "--help") == 0) {
        command_help(self);
        return EXIT_CERTIFIED;
    }
    const char *port = argc > 0 ? options_port(argv[0], sizeof host, host) : NULL;
    const bool one = port != NULL && argv[0][0] != '-'; /* and not several parties */
    if (!one && argc > 0 && argv[0][0] != '-')
        return refuse(EXIT_USAGE, WHO);
    if (!options_parse(self->options, argc - one, argv + one, &s.said, &why))
        return refuse(EXIT_USAGE, why.text);
    if (one == (s.said.parties != NULL))
        return refuse(EXIT_USAGE, WHO);
    if (!check(&s.said, &why) || !check_kind(&s.said, &why))
        return refuse(EXIT_USAGE, why.text);
    if (s.said.program != NULL && !read_hash(s.said.program, hash))
        return refuse(EXIT_USAGE, "--program is not 64 digits 0-9a-f; the provider's tacit serve "
                                  "or tacit share prints them");
    const unsigned char *asked = s.said.program != NULL ? hash : NULL;
    dp_status status = one ? connect_to(&s, host, port, asked) : connect_to_parties(&s, asked);
    if (status == DP_OK)
        status = read_questions(&s);
    if (status == DP_OK)
        status = ask_all(&s);
    if (status != DP_OK)
        (void)refuse(0, s.err.text[0] != '\0' ? s.err.text : dp_status_text(status));
    dp_ask_free(s.ask);
    dp_identity_free(s.identity);
    free(s.x);
    free(s.y);
    free(s.mean);
    free(s.sd);
    if (status == DP_OK)
        return EXIT_CERTIFIED;
    return status == DP_EINVAL ? EXIT_USAGE : EXIT_REFUSED;
}

const command command_ask = {
    "ask",
    FOR_ASK,
    "ask a provider's model about records that the provider does not see",
    "tacit ask HOST:PORT --identity FILE --provider tacit:... --data FILE [options]\n"
    "tacit ask --parties FILE --identity FILE --data FILE [options]\n\n"
    "The file (CSV) has a column for each that the provider's model reads, of numbers or of\n"
    "group numbers from 0, or is an array (NPY) of a record a row.  Each record costs one query\n"
    "of what the provider's policy allows, and is answered by a line: a label, or a mean and,\n"
    "where the provider answers by posterior draws, their standard deviation.",
    "tacit ask clinic.example:7001 --identity me.identity --provider tacit:00112233... "
    "\\\n    --data patients.csv",
    run};
