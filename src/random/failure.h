/* The share of delta that is kept back for failures of the sampler of noise. */
#ifndef DPI_RANDOM_FAILURE_H
#define DPI_RANDOM_FAILURE_H

#include <stdint.h>

/* Numbers that a step releases at most: a run with more is refused. */
#define DPI_MOST_RELEASED ((uint64_t)1 << 30)

/* Accounts are made with a little less than the delta that was asked for; the rest is for the sampler's
 * failures. */
double dpi_release_delta(double delta);

/* The delta at epsilon of `draws` numbers released, when the accountant allows `accounted`: at most
 * `asked`, of which `accounted` is dpi_release_delta, unless epsilon is above 50 or so. */
double dpi_release_whole_delta(double asked, double accounted, double draws, double epsilon);

#endif
