/* Options of the experiments that repeat d3p's, "--name VALUE" each. */
#ifndef TACIT_BENCH_OPTIONS_H
#define TACIT_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a value goes: to the one pointer that is there. */
typedef struct bench_option {
    const char *name; /* "--seeds" */
    uint64_t *count;
    double *number;
    const char **text;
} bench_option;

/* Says so on stderr and ends the program. */
void bench_stop(const char *what, const char *why);

/* Reads the command line; what is not in the list ends the program with the list. */
void bench_options(int argc, char **argv, size_t n, const bench_option *list);

/* Whether --form, NULL where it was not given, asks for that form; ends the program unless it is
 * one of "d3p" and "tacit". */
bool bench_asks_for(const char *form, const char *name);

#endif
