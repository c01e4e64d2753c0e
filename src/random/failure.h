/* The share of delta that is kept back for failures of the samplers, of noise and of small Poisson
 * subsets. */
#ifndef DPI_RANDOM_FAILURE_H
#define DPI_RANDOM_FAILURE_H

#include <stdint.h>

/* Numbers that a step releases at most: a run with more is refused. */
#define DPI_MOST_RELEASED ((uint64_t)1 << 30)

/* Members of a step's batch at most, of all ranks together; each is drawn by its gap (gap.h). */
#define DPI_MOST_MEMBERS ((uint64_t)1 << 30)

/* Accounts are made with a little less than the delta that was asked for; the rest is for the
 * sampler's failures. */
double dpi_release_delta(double delta);

/* The delta at epsilon of `draws` numbers released and members chosen, when the accountant allows
 * `accounted`: at most `asked`, of which `accounted` is dpi_release_delta, unless epsilon is above
 * 50 or so. */
double dpi_release_whole_delta(double asked, double accounted, double draws, double epsilon);

#endif
