/* The command's own parts: every subcommand is one of these. */
#ifndef TOOLS_TACIT_H
#define TOOLS_TACIT_H

/* Exit statuses.  Who was interrupted by a signal has 128 and its number, as shells tell it. */
enum { EXIT_CERTIFIED = 0, EXIT_REFUSED = 1, EXIT_USAGE = 2, EXIT_SIGNAL = 128 };

typedef struct command {
    const char *name;
    unsigned options;    /* which options it knows: a FOR_... bit */
    const char *summary; /* one line for `tacit help` */
    const char *about;   /* a paragraph for its own help */
    const char *example;
    int (*run)(const struct command *self, int argc, char **argv);
} command;

extern const command command_epsilon, command_delta, command_sigma, command_risk, command_audit,
    command_ledger, command_bounds, command_fit, command_plan, command_summary, command_predict,
    command_report, command_schema, command_keys, command_program, command_serve, command_ask,
    command_party, command_share, command_silo, command_synth, command_combine, command_export;

/* Prints the help of one command to standard output. */
void command_help(const command *self);

#endif
