/* Time in tests: none of them fails because the machine has stood still. */
#ifndef TESTS_LIB_PAUSE_H
#define TESTS_LIB_PAUSE_H

#include <stdbool.h>

/* Waits for so many milliseconds, of which there may be more than a second has. */
void pause_for(long ms);

/* Milliseconds of the monotonic clock. */
double clock_now(void);

/* Whether what had to succeed, and did not, is to be tried again: since `begun` as much time has
 * passed as a timeout that is far longer than it needs, so that the machine stood still.  *tries, 0
 * before the first, counts to a few, after which it is false. */
bool stood_still(double begun, double timeout, int *tries);

#endif
