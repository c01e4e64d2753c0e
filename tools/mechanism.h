/* From what the user said to a mechanism of the library, and back to words. */
#ifndef TOOLS_MECHANISM_H
#define TOOLS_MECHANISM_H

#include <tacit/accountant.h>

#include "tools/options.h"

/* Makes the mechanism that `said` describes; the lists of jumps are borrowed from it.  `dashes` is
 * "--" for options and "" for the keys of a plan.  `any_sigma`: sigma is asked for, not given.
 * False with a message when something is missing or does not fit together; the library checks the
 * rest. */
bool mechanism_from(const settings *said, const char *dashes, bool any_sigma, dp_mechanism *m,
                    message *why);

/* The neighbours that the figures speak of: a word of --adjacency. */
const char *mechanism_adjacency(const dp_mechanism *m);

/* "9375 releases, gaussian noise 1.5 C, sampling poisson, q = 0.00213333".  `with_sigma` false
 * leaves out the noise's size. */
void mechanism_describe(FILE *out, const dp_mechanism *m, bool with_sigma);

#endif
