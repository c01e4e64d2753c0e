/* Where the host keeps a run's values, for exec and for tests.
 *
 * Elsewhere values are written and read by calls (run.h): on a device they have no address here.
 * tools/check-layers refuses this header outside exec. */
#ifndef DPI_EXEC_VALUE_H
#define DPI_EXEC_VALUE_H

#include "exec/run.h"

/* The buffer of a node, [size] or [chunk][size]; NULL where dpi_run_numbers is 0. */
double *dpi_run_value(const dpi_run *run, dpi_id id);

#endif
