/* The clipped sum of one step without noise, of a model that has every way of making it: factored
 * products, picks, plain values and units of several rows. */
#ifndef TESTS_INFER_RELEASE_H
#define TESTS_INFER_RELEASE_H

#include <stdbool.h>
#include <stddef.h>

enum { RELEASE_ROWS = 5000, RELEASE_SIZE = 12 * 8 + 6 + 9 + 1 };

/* With chunks of `chunk` rows; `grouped`: rows come in units of 1 to 12, and one of 1500.  The
 * number of units in *units. */
void release_of(size_t chunk, bool grouped, double clip, double release[RELEASE_SIZE],
                size_t *units);

#endif
