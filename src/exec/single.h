/* Records in single precision, for run.c. */
#ifndef DPI_EXEC_SINGLE_H
#define DPI_EXEC_SINGLE_H

#include "exec/run-state.h"

/* The kernels for floats; a row has one of both. */
typedef struct dpi_kernel_single {
    void (*run)(const dpi_call_single *call);
    const char *refused; /* why there is none */
} dpi_kernel_single;

extern const dpi_kernel_single dpi_kernels_single[DPI_N_OPS];

/* wide[n_nodes]: which values have a double buffer.  All, in double precision. */
void dpi_single_mark_wide(const dpi_run *run, bool *wide);

/* Makes the float side of a run whose calls are there; the call i of the records' stage is of node
 * node_of_call[i].  DP_ENOMEM; DP_EUNSUPPORTED: groups that floats cannot number. */
dp_status dpi_single_make(dpi_run *run, const bool *needed, const dpi_id *node_of_call,
                          dp_error *err) DP_MUST_CHECK;

/* After the globals' stage; not for clones, which read its results. */
void dpi_single_globals(dpi_run *run);

/* The records' stage, on m records whose data are there. */
void dpi_single_records(dpi_run *run, size_t m);

/* Records of a column of `size` numbers that are made at a time in doubles, in the run's room, and
 * what makes floats of them. */
size_t dpi_single_rows(size_t size);
void dpi_single_narrow(size_t n, const double *in, float *out);

/* Overwrites the copies of draws and data. */
void dpi_single_wipe(dpi_run *run);

#endif
