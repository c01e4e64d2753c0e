#ifndef TESTS_LIB_PAUSE_H
#define TESTS_LIB_PAUSE_H

/* Waits for so many milliseconds, of which there may be more than a second has. */
void pause_for(long ms);

#endif
