/* The command keys: makes an identity for private serving, and tells by what others know it. */
#include <stdio.h>
#include <string.h>

#include <tacit/serve.h>

#include "tools/json.h"
#include "tools/options.h"
#include "tools/tacit.h"

static int refuse(int status, const char *text)
{
    (void)fprintf(stderr, "tacit keys: %s\n", text);
    return status;
}

static void tell(const char *verb, const char *path, const dp_identity *identity, bool as_json)
{
    const char *fingerprint = dp_identity_fingerprint(identity);
    if (as_json) {
        json j = json_begin(stdout);
        json_text(&j, "command", "keys");
        json_text(&j, "verb", verb);
        json_text(&j, "file", path);
        json_text(&j, "fingerprint", fingerprint);
        json_end(&j);
        return;
    }
    (void)printf("%s\n", fingerprint);
    if (strcmp(verb, "create") == 0)
        (void)printf(
            "\nGive this line to the others by a way that they trust, such as by telephone; "
            "they pin it.\nWho has the file %s is you: keep it as you keep a password, "
            "and do not copy it.\n",
            path);
}

static int run(const command *self, int argc, char **argv)
{
    settings said = settings_none();
    message why = {""};
    if (argc > 0 && strcmp(argv[argc - 1], "--help") == 0) {
        command_help(self);
        return EXIT_CERTIFIED;
    }
    if (argc < 2 || argv[1][0] == '-')
        return refuse(EXIT_USAGE, "what is to be done, and with which file? as in: tacit keys "
                                  "create clinic.identity");
    bool create = strcmp(argv[0], "create") == 0;
    if (!create && strcmp(argv[0], "show") != 0) {
        (void)fprintf(stderr, "tacit keys: there is no tacit keys %.40s; give create or show\n",
                      argv[0]);
        return EXIT_USAGE;
    }
    if (!options_parse(self->options, argc - 2, argv + 2, &said, &why))
        return refuse(EXIT_USAGE, why.text);
    dp_identity *identity;
    dp_error err = {DP_OK, ""};
    dp_status status = create ? dp_identity_new(argv[1], &identity, &err)
                              : dp_identity_load(argv[1], &identity, &err);
    if (status != DP_OK)
        return refuse(EXIT_REFUSED, err.text);
    tell(argv[0], argv[1], identity, said.json);
    dp_identity_free(identity);
    return EXIT_CERTIFIED;
}

const command command_keys = {
    "keys",
    FOR_KEYS,
    "who you are to others, in private serving",
    "tacit keys create|show FILE [options]\n\n"
    "An identity is a file with a private key that its owner alone can read.  create makes a new\n"
    "one and never overwrites a file; show tells its fingerprint, by which others know it.",
    "tacit keys create clinic.identity",
    run};
