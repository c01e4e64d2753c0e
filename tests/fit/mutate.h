/* Random changes of a file, with its hash put right and without. */
#ifndef TESTS_FIT_MUTATE_H
#define TESTS_FIT_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* Restores the n bytes, to be sure of: an error with a message, or a fit that stores to them.  The
 * bytes are in a block of just that size.  True for a fit. */
int survives(const unsigned char *bytes, size_t n);

/* Changes the bytes `count` times, each time from the start, and restores them; returns how many
 * gave a fit after their hash was put right. */
size_t mutate(const unsigned char *bytes, size_t n, size_t count, uint64_t seed);

#endif
