/* Names of plates, columns and sites. */
#ifndef DPI_BASE_NAME_H
#define DPI_BASE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* The most bytes of a name. */
enum { DPI_MOST_NAME = 200 };

/* What is wrong with a name, as a sentence fragment ("must not be empty"); NULL when nothing is.
 * What stands in a message or a file is at most DPI_MOST_NAME bytes and no control character, so
 * that a name cannot break a line or pass for another part of the text. */
const char *dpi_name_fault(const char *name);

/* Whether a text of `left` bytes begins with a control character: of ASCII, or of the second set,
 * U+0080 to U+009F in UTF-8, which terminals obey too, or a mark that turns the direction of text
 * (U+202A to U+202E, U+2066 to U+2069), by which a line is shown otherwise than it is. */
bool dpi_is_control(const char *text, size_t left);

#endif
