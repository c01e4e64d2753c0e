/* All that a fit computes, as one number, so that two fits can be compared to the bit, also in
 * different processes. */
#ifndef TESTS_FIT_ANSWERS_H
#define TESTS_FIT_ANSWERS_H

#include <tacit/fit.h>

/* A hash of parameters, privacy, columns, names, phases, diagnostics, kept draws, draws, summaries,
 * every site and column for every draw and record, functions of them, predictions, outcomes, log
 * densities and the ELBO.  An error is hashed as its text. */
uint64_t answers_of(dp_fit *fit, const dp_dataset *data);

#endif
