/* Puts what was written to a file on its disk, in a thread of its own, so that other work goes on
 * meanwhile.  Whoever waits shares one call of fsync with all that was written before it began.
 *
 * A disk that has failed once is not asked again: what it had is lost then, and a later success
 * would not tell so.  In a child of fork, where the thread is not, nothing is on the disk. */
#ifndef DPI_WIRE_SYNCER_H
#define DPI_WIRE_SYNCER_H

#include <stdbool.h>
#include <stdint.h>

#include <tacit/status.h>

typedef struct dpi_syncer dpi_syncer;

/* Of an open file, borrowed.  *syncer [out] owned by the caller.  DP_ENOMEM. */
dp_status dpi_syncer_new(int file, dpi_syncer **syncer, dp_error *err) DP_MUST_CHECK;

/* Begins with what has been written by now: a number for dpi_syncer_wait, above 0; 0 when the disk
 * has failed before, or there is no thread.  Thread-safe, as the next. */
uint64_t dpi_syncer_begin(dpi_syncer *syncer);

/* Whether it is on the disk, as soon as that is known. */
bool dpi_syncer_wait(dpi_syncer *syncer, uint64_t number);

/* Ends with all on the disk that was begun, as far as it goes.  NULL is allowed. */
void dpi_syncer_free(dpi_syncer *syncer);

#endif
