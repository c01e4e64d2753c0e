/* The command summary: what a saved fit has found, spent and checked. */
#include <stdio.h>

#include <tacit/fit.h>

#include "tools/options.h"
#include "tools/tacit.h"
#include "tools/tell-fit.h"

static int refuse(int status, const char *text)
{
    (void)fprintf(stderr, "tacit summary: %s\n", text);
    return status;
}

static int run(const command *self, int argc, char **argv)
{
    settings said = settings_none();
    message why = {""};
    dp_error err = {DP_OK, ""};
    dp_fit *fit;
    const char *path = argc > 0 && argv[0][0] != '-' ? argv[0] : NULL;
    if (!options_parse(self->options, path != NULL ? argc - 1 : argc,
                       path != NULL ? argv + 1 : argv, &said, &why))
        return refuse(EXIT_USAGE, why.text);
    if (said.help) {
        command_help(self);
        return EXIT_CERTIFIED;
    }
    if (path == NULL)
        return refuse(EXIT_USAGE, "which fit? give its file, as in: tacit summary use.fit");
    dp_status status = dp_fit_load(path, &fit, &err);
    if (status == DP_OK)
        status = said.json ? tell_fit_json("summary", fit, path, &err) : tell_fit(fit, &err);
    dp_fit_free(fit);
    if (status == DP_OK)
        return EXIT_CERTIFIED;
    return refuse(EXIT_REFUSED, err.text[0] != '\0' ? err.text : dp_status_text(status));
}

const command command_summary = {
    "summary",
    FOR_SUMMARY,
    "what a saved fit has found, spent and checked",
    "Prints the posterior of a fit that tacit fit or dp_fit_save has saved, what was spent on\n"
    "it, and what its checks say (doc/answers.md).  It reads no record, and costs nothing.",
    "tacit summary use.fit",
    run};
