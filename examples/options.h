/* The command line of an example: --name VALUE, or --name alone; and what it says at the end. */
#ifndef EXAMPLES_OPTIONS_H
#define EXAMPLES_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/fit.h>

typedef enum option_kind {
    OPTION_FLAG,   /* bool, set to true */
    OPTION_NUMBER, /* double */
    OPTION_COUNT,  /* size_t, from 1 up */
    OPTION_SEED,   /* uint64_t, from 0 up; 0, which is none to the library, becomes another */
    OPTION_TEXT    /* const char * */
} option_kind;

typedef struct option {
    const char *name; /* with its dashes */
    option_kind kind;
    void *value; /* of that type; keeps what it holds where the option is not given */
    const char *help;
} option;

/* Reads argv[1 ...].  Prints what the program does and its options, and ends it, for --help or -h;
 * ends it with a message for what it does not know. */
void options_read(int argc, char **argv, const char *does, size_t n, const option *options);

/* Prints what was spent, and why a fit is not private where it is not. */
void options_say_privacy(const dp_fit *fit);

/* Ends the program with "program: what: why". */
void options_stop(const char *program, const char *what, const char *why);

#endif
