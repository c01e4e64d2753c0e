/* What each thread of a scan has: values of a chunk's records, and the sum of what they add. */
#ifndef DPI_INFER_SCANNER_H
#define DPI_INFER_SCANNER_H

#include "infer/scan.h"

/* Values of a node for the records of a chunk: [m][size], or [size] where all share them. */
typedef struct dpi_scan_column {
    dpi_id node;
    size_t size;
    bool per_record;
    double *values;
} dpi_scan_column;

typedef struct dpi_scan_thread {
    dpi_run *run; /* the first one's is the run, the others' are clones */
    dpi_scan_column y, arg[DPI_MAX_ARGS];
    dpi_scan_column *slope; /* [n_reads][k] */
    dpi_scan_column *index; /* [n_plates] */
    double *dense, *own, *white, *gamma;
    size_t *member;
    double *room;
    int64_t *sum;
    size_t laid; /* records of the room whose slopes that all records share are there */
} dpi_scan_thread;

/* Wipes what a pass has made of records. */
void dpi_scan_thread_wipe(const dpi_scan *s, const dpi_scan_thread *t);

#endif
