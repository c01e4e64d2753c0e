/* A disk that takes its time, or fails: fsync of the programs that are linked with
 * -Wl,--wrap=fsync. */
#ifndef TESTS_SERVE_DISK_H
#define TESTS_SERVE_DISK_H

#include <stdatomic.h>
#include <stdbool.h>

/* While `held` is not 0 nothing is written; what is written while `broken` is not 0 fails; `begun`
 * counts calls. */
extern atomic_int disk_held, disk_broken, disk_begun;

/* From now on calls wait; and fail, when they are let go, where it breaks. */
void disk_hold(bool breaks);

/* Waits until so many calls have begun, and then for what could be done in spite of them. */
void disk_wait(int calls);

/* As at first, whatever a test before has left: a group's setup and teardown. */
int disk_release(void **state);

#endif
