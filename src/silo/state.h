/* What an owner must know after a crash, in one file that is replaced as a whole. */
#ifndef DPI_SILO_STATE_H
#define DPI_SILO_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "silo/post.h"

typedef struct dpi_silo_state {
    unsigned char plan[DPI_SILO_HASH];      /* a hash of plan and owner */
    unsigned char run_secret[32], self[32]; /* of X25519; of masks that this owner alone knows */
    unsigned char noise[32];    /* of the share of the round after `round`, and of all later ones */
    unsigned char run_keys[32]; /* dpi_post_run_keys; zeros: not exchanged yet */
    uint64_t round;             /* the last that was begun, from 1; 0: none */
    unsigned char question[32];
    uint64_t set; /* a bit an owner: those whose sum this owner has signed; 0: none yet */
    size_t n;
    uint64_t *x;      /* [n] this owner's vector of the round */
    const char *path; /* NULL: it is nowhere else */
    int lock;         /* of the file beside it, which one process holds; -1: none */
    bool lost;        /* it could not be written: nobody knows what is on the disk */
} dpi_silo_state;

/* hash = BLAKE2b of purpose and bytes under a key; may be the key. */
void dpi_silo_mix(const unsigned char key[32], const char *purpose, size_t n, const void *bytes,
                  unsigned char hash[32]);

/* Of all that an owner has, as it lies: an id is as long as it is.  ids, x and y are NULL where
 * there are none. */
void dpi_silo_hash_records(size_t rows, size_t d, const char *const *ids, const double *x,
                           const double *y, unsigned char hash[32]);

/* A name of a run, for the ledger's entry: hexadecimal digits, from the secret alone. */
enum { DPI_SILO_STATE_NAME = 33 };
void dpi_silo_state_name(const dpi_silo_state *s, char name[DPI_SILO_STATE_NAME]);

/* The hash of a plan and of one of its owners, by which a state is told. */
void dpi_silo_state_whose(const unsigned char plan[DPI_SILO_HASH],
                          const unsigned char owner[DPI_SILO_PUBLIC],
                          unsigned char hash[DPI_SILO_HASH]);

/* Reads the file, or begins one; `plan` is a hash of plan and owner.  *s [out] freed by
 * dpi_silo_state_free; path is borrowed.  DP_ESTATE it is of another plan, or another process has
 * it; DP_EDATA; DP_EPRIVACY others can read it; DP_EIO, DP_ENOMEM. */
dp_status dpi_silo_state_open(const char *path, const unsigned char plan[DPI_SILO_HASH],
                              dpi_silo_state *s, dp_error *err) DP_MUST_CHECK;

/* The same of a file that is read as it is, also while another process has it, and is not written.
 * *there [out] whether there is one; where not, or with an error, *s is empty. */
dp_status dpi_silo_state_peek(const char *path, const unsigned char plan[DPI_SILO_HASH],
                              dpi_silo_state *s, bool *there, dp_error *err) DP_MUST_CHECK;

/* Puts it on the disk; DP_OK where it has no path.  After a failure it fails for ever. */
dp_status dpi_silo_state_keep(dpi_silo_state *s, dp_error *err) DP_MUST_CHECK;

/* Exchanges keys with the other owners, under the state's.  DP_ESTATE they are not those of before:
 * an owner has begun anew; errors of dpi_post_open.  *post [out] NULL on error. */
dp_status dpi_silo_state_meet(dpi_silo_state *s, const dpi_post_opts *opts, dpi_post **post,
                              dp_error *err) DP_MUST_CHECK;

/* Begins a round: with x[n], a copy of it, whose share of noise can be made no more. */
dp_status dpi_silo_state_begin(dpi_silo_state *s, uint64_t round, const unsigned char question[32],
                               size_t n, const uint64_t *x, dp_error *err) DP_MUST_CHECK;

/* Wipes what is in memory; the file stays. */
void dpi_silo_state_free(dpi_silo_state *s);

#endif
