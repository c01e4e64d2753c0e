/* What a party of three keeps of a run, so that it goes on (doc/design/silo-trio.md, "Going on").
 *
 * Of an opening a party sends its piece, d numbers.  The piece is on the disk before the party says
 * that it is ready, and leaves when all three have said so and it is on the disk that it may have.
 * Who comes again sends that piece, or nothing of the step.  Shares, masks and noise are not kept:
 * a step of which nothing was opened is taken anew, under other masks and with other noise.
 *
 * The order is new, meet, [again or ready, opening, opened] a step, over, closed.  For one
 * thread. */
#ifndef DPI_SILO_TRIO_STATE_H
#define DPI_SILO_TRIO_STATE_H

#include "silo/state.h"

typedef struct dpi_trio_state dpi_trio_state;

enum { DPI_TRIO_PARTIES = 3, DPI_TRIO_TOLD = 8 + 4 * 32 };

typedef struct dpi_trio_state_opts {
    const char *path;             /* nullable: nothing outlives the process; borrowed */
    const unsigned char *whose;   /* [DPI_SILO_HASH] as of dpi_silo_state_open */
    const unsigned char *secret;  /* [DPI_SILO_SECRET] of the party's key */
    const unsigned char *records; /* [32] dpi_silo_hash_records */
    size_t self, d;               /* which party it is; numbers of an opening */
    uint64_t openings;
} dpi_trio_state_opts;

/* DP_ESTATE it is of another plan or of other records, or another process has it; DP_EDATA it is
 * damaged; DP_EPRIVACY, DP_EIO, DP_ENOMEM, DP_EENTROPY.  *state [out] NULL on error. */
DP_MUST_CHECK dp_status dpi_trio_state_new(const dpi_trio_state_opts *opts, dpi_trio_state **state,
                                           dp_error *err);
void dpi_trio_state_free(dpi_trio_state *state); /* wipes; NULL is allowed */

/* Whether a piece was made: others may have opened something. */
bool dpi_trio_state_begun(const dpi_trio_state *state);

/* Whether it has come to its coefficients, and whether all others have, too. */
bool dpi_trio_state_is_over(const dpi_trio_state *state);
bool dpi_trio_state_is_closed(const dpi_trio_state *state);

/* How far a file of it has come, of `openings`: the last one that was begun; `*over`. */
uint64_t dpi_trio_state_reached(const dpi_silo_state *file, uint64_t openings, bool *over);

/* As of columns (columns-state.h). */
void dpi_trio_state_name(const dpi_trio_state *state, char name[DPI_SILO_STATE_NAME]);

/* ---- which rows ---- */

/* A key for one other party, which follows from the secrets and bytes[n] alone. */
void dpi_trio_state_key(const dpi_trio_state *state, const char *purpose, size_t peer, size_t n,
                        const void *bytes, unsigned char key[32]);

/* What has come of a party's ids, before it is answered.  DP_EPRIVACY it is not what came before:
 * one list is answered; DP_EIO. */
DP_MUST_CHECK dp_status dpi_trio_state_heard(dpi_trio_state *state, size_t peer,
                                             const unsigned char hash[32], dp_error *err);

/* How many rows are gone over: kept with the first piece.  DP_EPEER not as many as before. */
DP_MUST_CHECK dp_status dpi_trio_state_rows(dpi_trio_state *state, size_t rows, dp_error *err);
size_t dpi_trio_state_has_rows(const dpi_trio_state *state); /* 0: not yet */

/* ---- where to go on ---- */

/* What this party tells the others of where it is; it is another each time. */
void dpi_trio_state_tell(dpi_trio_state *state, unsigned char told[DPI_TRIO_TOLD]);

/* From what all have told, its own with it.  DP_ESTATE somebody has an older copy, or has begun
 * anew. */
DP_MUST_CHECK dp_status dpi_trio_state_meet(dpi_trio_state *state,
                                            unsigned char *const told[DPI_TRIO_PARTIES],
                                            const char *const called[DPI_TRIO_PARTIES],
                                            dp_error *err);

/* The step that is taken first, 1 ... openings + 1; and whether the one before it is opened from
 * kept pieces, which is then the first of all. */
uint64_t dpi_trio_state_first(const dpi_trio_state *state);
bool dpi_trio_state_opens_again(const dpi_trio_state *state);

/* Coefficients that the first step, or of a run that is over all, begins with. */
void dpi_trio_state_coefficients(const dpi_trio_state *state, int64_t *w /* [d] */);

/* The piece of the step that is opened again, and whether it is news to this party: else it has the
 * coefficients behind it. */
bool dpi_trio_state_piece(const dpi_trio_state *state, uint64_t *piece /* [d] */);

/* ---- an opening ---- */

/* w[d] that the step was taken from, and its piece.  A step is the first, or the one behind the
 * last.  DP_EIO. */
DP_MUST_CHECK dp_status dpi_trio_state_ready(dpi_trio_state *state, uint64_t step, const int64_t *w,
                                             const uint64_t *piece, dp_error *err);

/* All are ready, and the piece may leave.  DP_EIO. */
DP_MUST_CHECK dp_status dpi_trio_state_opening(dpi_trio_state *state, dp_error *err);

/* h[d] that was opened to all.  DP_EPEER it is not what another has of it. */
DP_MUST_CHECK dp_status dpi_trio_state_opened(dpi_trio_state *state, const int64_t *h,
                                              dp_error *err);

/* ---- the end ---- */

/* What this party has come to, before anybody is told of it; then, that all have said so.
 * DP_EIO. */
DP_MUST_CHECK dp_status dpi_trio_state_over(dpi_trio_state *state, const int64_t *w, dp_error *err);
DP_MUST_CHECK dp_status dpi_trio_state_close(dpi_trio_state *state, dp_error *err);

#endif
