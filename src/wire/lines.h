/* Text files of lines that people write: comments from # on, blanks around, strict otherwise. */
#ifndef DPI_WIRE_LINES_H
#define DPI_WIRE_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/status.h>

enum { DPI_MOST_LINE = 1000, DPI_MOST_TEXT = 1024 * 1024 };

typedef struct dpi_lines {
    const char *at; /* what is left, n bytes, borrowed */
    size_t n;
    const char *file;             /* its name, for messages */
    size_t number;                /* of the line that was given last, from 1 */
    char line[DPI_MOST_LINE + 1]; /* without comment and blanks around */
} dpi_lines;

/* The next line that is not empty, in l->line; *there false at the end.  DP_EDATA a line is too
 * long, or has a control character other than tab. */
dp_status dpi_lines_next(dpi_lines *l, bool *there, dp_error *err) DP_MUST_CHECK;

/* Cuts the first word off *text: it ends at a blank, and *text is what follows. */
char *dpi_lines_word(char **text);

/* Fails with file and line in front. */
dp_status dpi_lines_fail(const dpi_lines *l, dp_error *err, const char *what, const char *shown);

/* All of a file, at most DPI_MOST_TEXT bytes, which nobody but its owner may write: what it allows
 * is its owner's word.  *bytes [out] freed by dpi_free.  DP_EIO, DP_EPRIVACY, DP_EDATA,
 * DP_ENOMEM. */
dp_status dpi_lines_file(const char *path, char **bytes, size_t *n, dp_error *err) DP_MUST_CHECK;

#endif
