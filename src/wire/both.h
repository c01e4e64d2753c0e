/* Both directions of a session at a time, in one thread that others can wake.
 *
 * dpi_wire_move returns when all that it was given has moved.  A pipeline does not know which comes
 * first: the end of a frame in one direction, that of one in the other, or of its own work.  Here a
 * frame of each direction is on its way for as long as it takes, and waiting ends with whatever
 * comes first. */
#ifndef DPI_WIRE_BOTH_H
#define DPI_WIRE_BOTH_H

#include "wire/session.h"

typedef struct dpi_wire_both {
    dpi_wire_session *session;
    int wake;             /* a descriptor whose being readable ends waiting; -1: none */
    bool sends, receives; /* whether a frame is on its way */
    bool more; /* the next frame out is followed by another at once: both may go together */
    bool sent, received; /* what the last wait has ended; for the caller to clear */
    unsigned char *to;   /* of the frame that comes */
    size_t n;
    short wants[2]; /* of poll, for the frame out and the frame in; 0: nothing */
} dpi_wire_both;

/* Begins a frame in a direction that has none on its way.  What it is made of stays until it has
 * moved.  As dpi_wire_send and dpi_wire_receive. */
dp_status dpi_wire_both_send(dpi_wire_both *b, uint16_t kind, uint32_t layer, const void *bytes,
                             size_t n) DP_MUST_CHECK;
dp_status dpi_wire_both_receive(dpi_wire_both *b, uint16_t kind, uint32_t layer, void *bytes,
                                size_t n) DP_MUST_CHECK;

/* Goes on until a frame has moved, or `wake` is readable.  DP_ETIMEOUT neither in so many
 * milliseconds.  On any error the session is at its end, and what has come of a frame is wiped. */
dp_status dpi_wire_both_wait(dpi_wire_both *b, uint32_t within) DP_MUST_CHECK;

/* Goes on as far as can be without waiting: sets `sent` and `received` where a frame has moved, and
 * leaves them where none has.  On any error the session is at its end, and what has come of a frame
 * is wiped. */
dp_status dpi_wire_both_go(dpi_wire_both *b) DP_MUST_CHECK;

/* Waits until one of n, at most DPI_WIRE_MOST_BOTH, has something to go on with, but for wake.
 * DP_ETIMEOUT not until then; DP_EIO the system cannot wait.  Sessions stay as they are. */
enum { DPI_WIRE_MOST_BOTH = 8 };
dp_status dpi_wire_both_poll(dpi_wire_both *const b[], size_t n, dpi_deadline d) DP_MUST_CHECK;

/* Refuses in place of the next frame out, which must be one that opens a query; what is on its way
 * in is given up. */
dp_status dpi_wire_both_refuse(dpi_wire_both *b, dpi_refusal why, uint32_t within) DP_MUST_CHECK;

/* Wipes what has come of a frame that will not be finished; when the session is given up. */
void dpi_wire_both_end(dpi_wire_both *b);

#endif
