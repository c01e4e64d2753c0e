/* Products that are made on the way to the sum that reads them. */
#ifndef DPI_EXEC_TAKEN_H
#define DPI_EXEC_TAKEN_H

#include "exec/run-state.h"

/* Finds them and puts run->taken, when strips are planned and before buffers are made: a product
 * that is taken in needs none.  False when memory is out. */
bool dpi_taken_find(dpi_run *run, const bool *needed, const unsigned char *stage);

/* What a node's call reads, and its kernel. */
typedef struct dpi_call_reads {
    void (*forward)(const dpi_call *call);
    int n;
    dpi_id in[3];
} dpi_call_reads;

dpi_call_reads dpi_call_reads_of(const dpi_run *run, dpi_id id);

#endif
