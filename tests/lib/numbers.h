/* Numbers for tests: scattered ones, the same in every run, and their order. */
#ifndef TESTS_LIB_NUMBERS_H
#define TESTS_LIB_NUMBERS_H

#include <stdint.h>

/* The next number in [-1, 1), by Knuth's congruential generator; begin with any *state. */
double next_number(uint64_t *state);

/* The order of two doubles, for qsort. */
int ascending(const void *a, const void *b);

#endif
