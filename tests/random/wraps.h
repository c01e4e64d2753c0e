/* Failures of the system for the tests: linked with --wrap for aligned_alloc, getentropy and
 * madvise. */
#ifndef TESTS_RANDOM_WRAPS_H
#define TESTS_RANDOM_WRAPS_H

#include <stdbool.h>

extern int fail_allocation; /* countdown: the k-th allocation from now fails; 0: none */
extern int fail_entropy;    /* the same for getentropy */
extern bool fail_madvise;

#endif
