/* Fits for the tests of their files. */
#ifndef TESTS_FIT_FITS_H
#define TESTS_FIT_FITS_H

#include <tacit/fit.h>

#include "tests/model/random-records.h"

/* Models as users write them: a regression with group effects, a mixture, a variational
 * autoencoder with its guide, a convolutional network; and the mixture again, in a fit that keeps
 * draws. */
enum { FIT_CONTRACEPTION, FIT_MIXTURE, FIT_VAE, FIT_CNN, FIT_KEPT, N_NAMED_FITS };

/* The fit of a few steps to the records of that number, which are made here: one of the named; or a
 * random model under some options, NULL where its steps leave the finite numbers. */
dp_fit *named_fit(int which, uint64_t number);
dp_fit *random_fit(uint64_t model, uint64_t number);

/* The fit, which it frees, with n draws of its guide kept, two phases and two diagnostics. */
dp_fit *with_draws(dp_fit *fit, size_t n);

#endif
