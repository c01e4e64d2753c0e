/* Whether the processor computes as this library's bounds take for granted. */
#ifndef DPI_BASE_FLOAT_H
#define DPI_BASE_FLOAT_H

#include <tacit/status.h>

/* DP_OK where the calling thread rounds to nearest and keeps subnormal numbers; else
 * DP_EUNSUPPORTED with what is wrong and how to mend it.  It reads two control words, or computes
 * five numbers where there is but one. */
dp_status dpi_float_check(dp_error *err) DP_MUST_CHECK;

/* Gives the calling thread, one of the library's own, the arithmetic that dpi_float_check asks for:
 * a thread begins with that of the one that has started it. */
void dpi_float_default(void);

#endif
