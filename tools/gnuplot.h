/* The program gnuplot, run without a shell. */
#ifndef TOOLS_GNUPLOT_H
#define TOOLS_GNUPLOT_H

#include <stddef.h>

#include "tools/options.h"

/* Gives a script to gnuplot's standard input, and what gnuplot writes to standard output.
 *   *bytes  [out] owned by the caller, freed with free; NULL on error
 * False with a message: gnuplot is not on the PATH, refused the script, or wrote nothing. */
bool gnuplot_run(const char *script, size_t n, char **bytes, size_t *size, message *why);

#endif
