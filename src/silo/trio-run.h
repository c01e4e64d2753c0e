/* A run of three parties for what drives it: terms that were looked at, and what is told of a run
 * while it lasts. */
#ifndef DPI_SILO_TRIO_RUN_H
#define DPI_SILO_TRIO_RUN_H

#include <tacit/accountant.h>
#include <tacit/silo-trio.h>

#include "silo/trio.h"

/* What terms come to: as of dp_silo_trio_check. */
DP_MUST_CHECK dp_status dpi_silo_trio_agree(const dp_silo_trio *what, dpi_silo_trio_terms *terms,
                                            dpi_silo_trio_grid *grid, dp_error *err);

/* What is opened, at noise z. */
dp_mechanism dpi_silo_trio_releases(const dp_silo_trio *what, double z);

typedef struct dpi_silo_trio_watch {
    /* Asked while others are waited for to come, and before each step, with how many openings there
     * were: whether it ends. */
    bool (*stop)(void *of, uint64_t opened);
    /* Before anything is opened; once.  What it fails with ends the run for all. */
    dp_status (*begin)(void *of, dp_error *err);
    /* Of a run that is over: bytes that have gone to a party, and come from it. */
    void (*moved)(void *of, size_t peer, uint64_t sent, uint64_t got);
    void *of;
    /* What the run goes on from (trio-state.h): a file, whose it is, and the party's secret. */
    const char *state; /* NULL: nothing outlives the process */
    const unsigned char *whose, *secret;
} dpi_silo_trio_watch;

/* dp_silo_trio_run, watched. */
DP_MUST_CHECK dp_status dpi_silo_trio_run(const dp_silo_trio *terms, const dp_silo_trio_opts *opts,
                                          const dp_silo_trio_data *data,
                                          const dpi_silo_trio_watch *watch /* nullable */,
                                          size_t *rows, double *w, dp_error *err);

#endif
