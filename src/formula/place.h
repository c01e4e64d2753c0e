/* The text of a formula, and messages that point into it. */
#ifndef DPI_FORMULA_PLACE_H
#define DPI_FORMULA_PLACE_H

#include <stddef.h>

#include <tacit/status.h>

#include "base/compiler.h"

/* What is being read; the error belongs to the call. */
typedef struct dpi_script {
    const char *text; /* [size], with a 0 behind it */
    size_t size;
    dp_error *err;
} dpi_script;

/* Records `status` with the message, the place in front of it and below it the line of the text
 * with a caret under byte number `at`:
 *   column 9: a term is missing after '+'; add one, or remove the '+'
 *     y ~ x +
 *           ^
 * Returns what dpi_fail returns. */
dp_status dpi_script_fail(const dpi_script *s, dp_status status, size_t at, const char *format, ...)
    DPI_PRINTF(4, 5);

#endif
