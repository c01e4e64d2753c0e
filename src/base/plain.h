/* Numbers of texts that must be the same wherever they are written: with a decimal point, whatever
 * locale the caller has set. */
#ifndef DPI_BASE_PLAIN_H
#define DPI_BASE_PLAIN_H

#include <stdarg.h>
#include <stddef.h>

#include "base/compiler.h"

/* vsnprintf and strtod in the C locale; *n [out] is the characters of text that are the number, 0
 * for none.  Where there is no memory for it -1, and none.  Thread-safe: other threads keep their
 * locale. */
int dpi_plain_print(char *to, size_t n, const char *format, va_list list) DPI_PRINTF(3, 0);
double dpi_plain_real(const char *text, size_t *n);

#endif
