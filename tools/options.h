/* The options of the command `tacit`: one table serves the parser, the help texts, the error
 * messages and the keys of plan files.
 *
 * An option is `--name value` or `--name=value`; a key of a plan file is `name=value`.  Values go
 * into a struct of settings at the place that the table names; what was not given is NaN, NULL, -1
 * or false there.  No option has a default that privacy depends on. */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { MESSAGE_SIZE = 640, MOST_JUMPS = 64, MOST_OPTIONS = 192 };

/* A message for the user; empty when there is nothing to say. */
typedef struct message {
    char text[MESSAGE_SIZE];
} message;

#if defined(__GNUC__)
#define TOOLS_PRINTF(string, first) __attribute__((format(printf, string, first)))
#else
#define TOOLS_PRINTF(string, first)
#endif

/* Writes the message and gives false, so that `return complain(...)` ends a failed function. */
bool complain(message *why, const char *format, ...) TOOLS_PRINTF(2, 3);

enum { MOST_TEXTS = 64 };

typedef struct text_list {
    size_t n; /* 0: not given */
    const char *value[MOST_TEXTS];
} text_list;

typedef struct number_list {
    size_t n; /* 0: not given */
    double value[MOST_JUMPS];
} number_list;

/* What the user said. */
typedef struct settings {
    /* one mechanism */
    double sigma, q, steps, n, batch, epoch, cap, rows, categories;
    int sampling, noise, adjacency; /* constants of tacit/accountant.h; -1: not given */
    number_list jumps, chances;
    /* the question */
    double epsilon, delta, width;
    double runs, canaries, confidence; /* of an audit */
    int target;                        /* of tacit/audit.h; -1: not given */
    const char *data, *name, *unit;    /* of a ledger; borrowed likewise */
    const char *ledger, *column;       /* of bounds; borrowed likewise */
    number_list range;
    double share, levels;
    const char *plan, *plot; /* borrowed from the command line */
    bool overlap_allowed;    /* of a ledger */
    int protocol, mode;      /* of tacit/serve.h; -1: not given */
    int key_bits;            /* -1: not given */
    const char *listen, *identity, *policy, *log, *provider, *program, *bounds;
    double draws, threads, in_flight, weight_bits, activation_bits;
    const char *parties; /* of tacit/parties.h */
    double id, lanes, records;
    bool allow_activation_leak, allow_probabilistic, probabilistic, exact, label;
    const char *schema, *family, *priors, *out, *public_data; /* of a fit; borrowed likewise */
    const char *query;                                        /* of a database; borrowed likewise */
    const char *codebook, *check; /* of tacit schema; borrowed likewise */
    const char *scratch;
    double seed, simulations;
    const char *pictures;         /* of a report; borrowed likewise */
    int format;                   /* of tools/picture.h; -1: not given */
    const char *wanted, *picture; /* of a plan; borrowed likewise */
    bool no_privacy, hopeless_allowed, resume;
    const char *compare; /* of twins; borrowed likewise */
    double twins, level;
    int rule; /* of tools/combining.h; -1: not given */
    bool no_pairs;
    const char *netcdf, *csv; /* of an export; borrowed likewise */
    bool all;
    const char *scheme, *key, *join; /* of several owners; borrowed likewise */
    const char *mailbox, *state, *audit, *certificate, *certificate_key, *authorities;
    const char *folder, *clients; /* of a mailbox; borrowed likewise */
    double letters, total, largest, connections;
    text_list owners, held, row_most, addend_most;
    text_list rows_of, at; /* of three parties */
    double residual_most;
    const char *ids, *id_column; /* of columns at two owners; borrowed likewise */
    double step, ridge;
    bool tell_coefficients;
    double colluders, dropouts, rounds, local_steps, patience, parts;
    bool json, help;
    bool given[MOST_OPTIONS]; /* rows of the table that were set */
} settings;

/* Commands, as bits: which of them know an option.  PLAN is a line of a plan file. */
enum {
    FOR_EPSILON = 1,
    FOR_DELTA = 2,
    FOR_SIGMA = 4,
    FOR_RISK = 8,
    FOR_PLAN = 16,
    FOR_AUDIT = 32,
    FOR_LEDGER = 64,
    FOR_BOUNDS = 128,
    FOR_KEYS = 256,
    FOR_SERVE = 512,
    FOR_ASK = 1024,
    FOR_PROGRAM = 2048,
    FOR_PARTY = 4096,
    FOR_SHARE = 8192,
    FOR_FIT = 16384,
    FOR_FORECAST = 32768, /* tacit plan */
    FOR_SUMMARY = 65536,
    FOR_PREDICT = 131072,
    FOR_SILO_KEYS = 1 << 29, /* tacit silo keys, and so on */
    FOR_SILO_PLAN = 1 << 18,
    FOR_SILO_SIGN = 1 << 19,
    FOR_SILO_RUN = 1 << 20,
    FOR_SILO_STATUS = 1 << 21,
    FOR_SILO_AUDIT = 1 << 22,
    FOR_SILO_LOOK = 1 << 25, /* show, schemes */
    FOR_SILO_SIMULATE = 1 << 30,
    FOR_EXPORT = 1 << 23,
    FOR_SCHEMA = 268435456,
    FOR_SYNTH = 1 << 26,
    FOR_COMBINE = 1 << 27,
    FOR_REPORT = 1 << 24
};
#define FOR_SILO_RELAY (1U << 31) /* an enum's constants are int */

typedef enum option_kind {
    OPTION_NUMBER,  /* double: 0.01, 1e-5 or 128/60000 */
    OPTION_NUMBERS, /* number_list: such numbers with commas between */
    OPTION_WORD,    /* int, one of `words` */
    OPTION_TEXT,
    OPTION_TEXTS, /* text_list: given as often as there are texts */
    OPTION_FLAG
} option_kind;

/* Which numbers an option takes. */
typedef struct option_range {
    double least, most;
    bool open_below, open_above, whole;
    const char *text; /* "a number above 0" */
} option_range;

typedef struct option_word {
    const char *name;
    int value;
    const char *help;
} option_word;

typedef struct option {
    const char *name;
    option_kind kind;
    unsigned commands;
    size_t offset;     /* in settings */
    const char *value; /* how help names the value */
    const char *help;
    const char *example;       /* a value that is right, for error messages */
    const option_range *range; /* of numbers */
    const option_word *words;  /* [n_words] */
    size_t n_words;
} option;

extern const option option_table[];
extern const size_t n_options;

/* Nothing given. */
settings settings_none(void);

/* Reads the arguments of a command.  False with a message that names the option, the value and the
 * remedy. */
bool options_parse(unsigned command, int argc, char **argv, settings *into, message *why);

/* Sets one key of a plan's line. */
bool options_set(unsigned command, const char *name, const char *text, settings *into,
                 message *why);

/* Reads a number as options do: a decimal or a fraction.  False on anything else. */
bool options_number(const char *text, double *value);

/* The port in "host:port" or "[host]:port", whose host goes to host[room]; NULL when it is none. */
const char *options_port(const char *text, size_t room, char *host);

/* Lists the options of a command for its help. */
void options_help(FILE *out, unsigned command);

/* The word for a value; "?" when the option has no such word. */
const char *option_word_of(const char *name, int value);

/* The entry of names[0 ... n-1] nearest to `name`, NULL when none is near. */
const char *nearest_name(const char *name, const char *const *names, size_t n);

#endif
