/* The records' stage in strips: which operations are run together, a few records at a time. */
#ifndef DPI_EXEC_STRIPS_H
#define DPI_EXEC_STRIPS_H

#include "exec/run-state.h"

/* Whether an operation on values of records may be run on some of them first and on the others
 * later; a row has one of both. */
typedef struct dpi_strip_rule {
    bool may;
    const char *refused; /* why not */
} dpi_strip_rule;

extern const dpi_strip_rule dpi_strip_rules[DPI_N_OPS];

/* Marks, in read[n_nodes], the values of records that leave the stage: those that are wanted, and
 * what norms and sums of the parts read. */
void dpi_strips_mark_read(const dpi_run *run, bool *read);

/* The same of one part. */
void dpi_strips_mark_part(const dpi_run *run, size_t part, bool *read);

/* Plans the strips of a run whose decompositions are chosen, before its buffers are made, which are
 * of run->rows[] records.  False when memory is out. */
bool dpi_strips_plan(dpi_run *run, const bool *needed, const unsigned char *stage);

/* Makes run->strips and run->moves when its calls are there; call i of the records' stage is of
 * node node_of_call[i].  False when memory is out. */
bool dpi_strips_make(dpi_run *run, const dpi_id *node_of_call);

#endif
