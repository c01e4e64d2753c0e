/* A run on disk: what was released and what is public, and never a key, a batch or a count of
 * records. */
#ifndef DPI_SVI_CHECKPOINT_H
#define DPI_SVI_CHECKPOINT_H

#include <stdbool.h>

#include <tacit/svi.h>

#include "base/alloc.h"
#include "model/store.h" /* DPI_PRINT */
#include "svi/optimizer.h"

enum { DPI_LEDGER_TAG = 16 };

typedef struct dpi_checkpoint {
    unsigned char model[DPI_PRINT], guide[DPI_PRINT]; /* zeros: the mean-field guide */
    dp_svi_opts opts; /* resolved; without the ledger and its names */
    uint64_t done, n_theta;
    size_t n_vectors;                        /* of the optimiser of opts */
    dpi_state vector[DPI_OPTIMIZER_VECTORS]; /* [n_theta] each */
    uint64_t loss_step;                      /* the last loss released is of this step; 0: none */
    double loss;                             /* NaN: none */
    double
        below; /* share of gradients below the clip norm at the last step, as released; NaN: none */
    uint64_t ledgered; /* 1: the rest is of the ledger's entry */
    unsigned char ledger[DPI_LEDGER_TAG];
    uint64_t entry;
} dpi_checkpoint;

/* The file's bytes; *bytes is freed by dpi_free. */
dp_status dpi_checkpoint_write(const dpi_checkpoint *c, unsigned char **bytes, size_t *n,
                               dp_error *err) DP_MUST_CHECK;

/* Reads them; arrays are in the arena.  DP_EDATA when they are no checkpoint, one of another
 * version, or damaged.  Values are finite and counts fit together; options are checked when they
 * are used. */
dp_status dpi_checkpoint_parse(const unsigned char *bytes, size_t n, dpi_arena *arena,
                               dpi_checkpoint *c, dp_error *err) DP_MUST_CHECK;

/* The same from a file. */
dp_status dpi_checkpoint_read(const char *path, dpi_arena *arena, dpi_checkpoint *c,
                              dp_error *err) DP_MUST_CHECK;

#endif
