/* The command `tacit`: finds the subcommand, and helps. */
#include "tools/tacit.h"

#include <stdio.h>
#include <string.h>

#include <tacit/status.h>

#include "tools/options.h"

static const command *const commands[] = {
    &command_fit,    &command_plan,    &command_summary, &command_predict,
    &command_report, &command_export,  &command_synth,   &command_combine,
    &command_schema, &command_epsilon, &command_delta,   &command_sigma,
    &command_risk,   &command_audit,   &command_ledger,  &command_bounds,
#ifdef TACIT_SERVE
    &command_keys,   &command_program, &command_serve,   &command_ask,
    &command_party,  &command_share,   &command_silo,
#endif
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static const command *find(const char *name)
{
    for (int i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

void command_help(const command *self)
{
    (void)printf("tacit %s: %s\n\n%s\n\nOptions:\n", self->name, self->summary, self->about);
    options_help(stdout, self->options);
    (void)printf("\nNumbers may be fractions: 1/60000.\n\nExample:\n  %s\n\n"
                 "Exit status: 0 a certified answer, 1 none could be given, 2 wrong usage.\n",
                 self->example);
}

static void help(void)
{
    (void)printf("tacit: private inference, and what private computations cost\n\nUsage: tacit "
                 "COMMAND --option value ...\n\n");
    for (int i = 0; i < N_COMMANDS; i++)
        (void)printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    (void)printf("  %-10s %s\n\n", "help", "this text, or that of a command: tacit help epsilon");
    (void)printf("tacit --version says which version this is.  Manual: man tacit.\n");
}

static int unknown(const char *name)
{
    const char *names[N_COMMANDS + 1] = {"help"};
    for (int i = 0; i < N_COMMANDS; i++)
        names[i + 1] = commands[i]->name;
    const char *near = nearest_name(name, names, N_COMMANDS + 1);
    (void)fprintf(stderr, "tacit: there is no command '%.60s'; ", name);
    if (near != NULL)
        (void)fprintf(stderr, "did you mean tacit %s?\n", near);
    else
        (void)fprintf(stderr, "tacit help lists all\n");
    return EXIT_USAGE;
}

static int run_help(int argc, char **argv)
{
    if (argc < 1) {
        help();
        return EXIT_CERTIFIED;
    }
    const command *c = find(argv[0]);
    if (c == NULL)
        return unknown(argv[0]);
    command_help(c);
    return EXIT_CERTIFIED;
}

/* What was printed must have reached its end: an answer cut short by a full disk is none. */
static int flushed(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    (void)fprintf(stderr, "tacit: the answer cannot be written; is the disk full?\n");
    return status == EXIT_CERTIFIED ? EXIT_REFUSED : status;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        (void)fprintf(stderr, "tacit: which command? tacit help lists all\n");
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        (void)printf("tacit %s\n", TACIT_VERSION);
        return flushed(EXIT_CERTIFIED);
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0)
        return flushed(run_help(argc - 2, argv + 2));
    const command *c = find(argv[1]);
    if (c == NULL)
        return unknown(argv[1]);
    return flushed(c->run(c, argc - 2, argv + 2));
}
