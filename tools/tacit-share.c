/* The command share: divides a model among parties that do not learn it. */
#include <stdio.h>
#include <string.h>

#include <tacit/parties.h>

#include "tools/load-program.h"
#include "tools/options.h"
#include "tools/tacit.h"

static int refuse(int status, const char *text)
{
    (void)fprintf(stderr, "tacit share: %s\n", text);
    return status;
}

static bool check(const settings *s, message *why)
{
    if (s->parties == NULL)
        return complain(why, "who are the parties? give --parties FILE; man tacit-party");
    if (s->identity == NULL)
        return complain(why, "who are you? give --identity FILE; tacit keys create makes one");
    return true;
}

/* What those who ask must be told: which program it is. */
static dp_status tell(const dp_program *p, const dp_parties *parties, dp_error *err)
{
    unsigned char hash[DP_PROGRAM_HASH];
    dp_status status = dp_program_hash(p, hash, err);
    if (status != DP_OK)
        return status;
    (void)fprintf(stderr, "shared among %zu parties\nprogram  ", dp_parties_count(parties));
    for (size_t i = 0; i < sizeof hash; i++)
        (void)fprintf(stderr, "%02x", hash[i]);
    (void)fprintf(stderr, "\n");
    return DP_OK;
}

static dp_status load_and_share(const char *path, const settings *s, dp_error *err)
{
    dp_program *program = NULL;
    dp_identity *identity = NULL;
    dp_parties *parties = NULL;
    dp_status status = dp_identity_load(s->identity, &identity, err);
    if (status == DP_OK)
        status = dp_parties_load(s->parties, &parties, err);
    if (status == DP_OK)
        status = load_program(path, s, &program, err);
    const dp_share_opts o = {.program = program,
                             .identity = identity,
                             .parties = parties,
                             .probabilistic = s->probabilistic};
    if (status == DP_OK)
        status = dp_share_program(&o, err);
    if (status == DP_OK)
        status = tell(program, parties, err);
    dp_program_free(program);
    dp_parties_free(parties);
    dp_identity_free(identity);
    return status;
}

static int run(const command *self, int argc, char **argv)
{
    settings said = settings_none();
    message why = {""};
    dp_error err = {DP_OK, ""};
    if (argc > 0 && strcmp(argv[argc - 1], "--help") == 0) {
        command_help(self);
        return EXIT_CERTIFIED;
    }
    if (argc < 1 || argv[0][0] == '-')
        return refuse(EXIT_USAGE, "which model? give the file of a fit or an ONNX file first, as "
                                  "in: tacit share use.tacit --parties clinic.parties ...");
    if (!options_parse(self->options, argc - 1, argv + 1, &said, &why) || !check(&said, &why))
        return refuse(EXIT_USAGE, why.text);
    dp_status status = load_and_share(argv[0], &said, &err);
    if (status == DP_OK)
        return EXIT_CERTIFIED;
    return refuse(status == DP_EINVAL ? EXIT_USAGE : EXIT_REFUSED,
                  err.text[0] != '\0' ? err.text : dp_status_text(status));
}

const command command_share = {
    "share",
    FOR_SHARE,
    "divide a fitted model among parties that do not learn it",
    "tacit share MODEL --parties FILE --identity FILE [options]\n\n"
    "MODEL is the file of a fit, or of a network (ONNX).  Each party (tacit party) is given its\n"
    "part of the weights, which tells it nothing of them, and keeps it in memory alone: after a\n"
    "party was started anew, share again.  A model that they had is replaced.",
    "tacit share use.tacit --parties clinic.parties --identity clinic.identity --range -1,1",
    run};
