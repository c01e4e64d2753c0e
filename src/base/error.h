/* Errors inside the library: sticky messages and the end of a broken contract. */
#ifndef DPI_BASE_ERROR_H
#define DPI_BASE_ERROR_H

#include <tacit/status.h>

#include "base/compiler.h"

/* Records `status` with a formatted message in err (nullable) unless err already holds one.
 * Returns the status to hand on: that of err when it was set before, else `status`. */
dp_status dpi_fail(dp_error *err, dp_status status, const char *format, ...) DPI_PRINTF(3, 4);

/* The same for running out of memory. */
dp_status dpi_fail_nomem(dp_error *err);

/* A broken contract (NULL handle, use of a freed object): says so on stderr and aborts. */
void dpi_misuse(const char *function, const char *what) DPI_NORETURN;

#endif
