/* Releases of the loop in a journal. */
#ifndef DPI_INFER_LOOP_KEEP_H
#define DPI_INFER_LOOP_KEEP_H

#include "infer/keeper.h"
#include "infer/loop-budget.h"
#include "svi/keep.h"

typedef struct dpi_loop_keep {
    dpi_keeper *keeper;
    const dpi_loop_budget *budget;
    dpi_loop_phase phase; /* of the next release */
} dpi_loop_keep;

/* What a run, or who makes a release by itself, is to call; of k, borrowed. */
dpi_svi_keep dpi_loop_keeps(dpi_loop_keep *k);

#endif
