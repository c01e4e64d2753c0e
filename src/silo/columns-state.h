/* What an owner of columns keeps of a run, so that it goes on with the bytes that have left
 * (doc/design/silo-columns.md, "Going on").
 *
 * All that an owner sends follows from its records, the plan, the letters that have come, and two
 * secrets: those of the state, drawn once, and its identity's.  So nothing of the regression is
 * kept.  The chain is a hash of its records and of all letters, as they leave and come; the state
 * has it and how many have left, and is on the disk before the next one leaves.  A run that goes on
 * does all again, and nothing leaves before its chain is that of the state: other letters, other
 * numbers or another order end it there. */
#ifndef DPI_SILO_COLUMNS_STATE_H
#define DPI_SILO_COLUMNS_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "silo/post.h"

typedef struct dpi_columns_state dpi_columns_state;

/* Letters by which ids are linked, behind which those of the first step come. */
enum { DPI_COLUMNS_LINKING = 4, DPI_COLUMNS_NAME = 33 };

/* Opens the state, or begins one, of the party of `post`, of which carrier, plan, publics and
 * secret are read and borrowed; `path` is, too, and may be NULL: nothing outlives the process.
 *   records  a hash of all that the owner has
 * DP_ESTATE it is of another plan, or of other records, or another process has it; DP_EDATA;
 * DP_EPRIVACY others can read it; DP_EIO, DP_ENOMEM, DP_EENTROPY.  *state [out] NULL on error. */
DP_MUST_CHECK dp_status dpi_columns_state_new(const char *path, const dpi_post_opts *post,
                                              const unsigned char records[32],
                                              dpi_columns_state **state, dp_error *err);
void dpi_columns_state_free(dpi_columns_state *state); /* wipes; NULL is allowed */

/* Exchanges keys with the other owner, and records letters of *post from there on, which is freed
 * before the state.  DP_ESTATE an owner has begun anew; errors of dpi_post_open.  Letters then end
 * with DP_EPRIVACY where what has come, or would leave, is not what it was; and with DP_ESTATE
 * where the state is an older copy, which the mailbox shows. */
DP_MUST_CHECK dp_status dpi_columns_state_meet(dpi_columns_state *state, const dpi_post_opts *opts,
                                               dpi_post **post, dp_error *err);

/* The end, behind all letters: what has come last is recorded, so that a run that is over comes to
 * the same again, or to nothing.  Before that nobody is told what it has come to.  DP_EPRIVACY, as
 * above; DP_EIO. */
DP_MUST_CHECK dp_status dpi_columns_state_end(dpi_columns_state *state, dp_error *err);

/* The key of a stream of this owner's random numbers, which are used for a purpose in a step, and
 * for bytes[n] alone: of plan, run keys, step, purpose, bytes, the records, and all letters so far.
 * The same give the same again, and two that differ in anything independent ones.
 * Before dpi_columns_state_meet a misuse. */
void dpi_columns_state_key(const dpi_columns_state *state, const char *purpose, uint64_t step,
                           size_t n, const void *bytes, unsigned char key[32]);

/* A name of this run, for the ledger's entry: hexadecimal digits, from the secret alone. */
void dpi_columns_state_name(const dpi_columns_state *state, char name[DPI_COLUMNS_NAME]);

/* Whether a letter of a step has left, or may have. */
bool dpi_columns_state_begun(const dpi_columns_state *state);

/* Steps of which a letter has left where `letters` have, of `steps`. */
uint64_t dpi_columns_state_steps(uint64_t letters, uint64_t steps);

#endif
