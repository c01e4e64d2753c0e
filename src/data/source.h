/* Where a text comes from, a piece at a time. */
#ifndef DPI_DATA_SOURCE_H
#define DPI_DATA_SOURCE_H

#include <stdio.h>

#include <tacit/status.h>

typedef struct dpi_source dpi_source;

struct dpi_source {
    const char *name; /* for messages */
    size_t size;      /* bytes in all as far as is known beforehand; else 0 */
    /* Writes the next bytes, at most n > 0, to `to`; *got = 0 at the end.  DP_EIO. */
    dp_status (*read)(dpi_source *s, size_t n, char *to, size_t *got, dp_error *err);
    const char *text; /* of a text in memory: what is left, [left] */
    size_t left;
    FILE *file;
    char head[2]; /* of the file, that was looked at and not read yet */
    size_t n_head;
    struct dpi_unzip *unzip; /* where what is read is what gzip has packed */
};

/* A text in memory, borrowed. */
void dpi_source_text(dpi_source *s, const char *name, const char *text, size_t size);

/* A file, unpacked where gzip has packed it, for dpi_source_close.  DP_EIO; DP_ENOMEM. */
dp_status dpi_source_open(dpi_source *s, const char *path, dp_error *err);

/* Closes the file, if it is one, and frees what unpacks. */
void dpi_source_close(dpi_source *s);

/* Where the n bytes it begins with are those of gzip, makes what is read the unpacked text; reading
 * then gives DP_EDATA where it is damaged.  DP_ENOMEM. */
dp_status dpi_source_unzip(dpi_source *s, const unsigned char *first, size_t n,
                           dp_error *err) DP_MUST_CHECK;
void dpi_source_unzip_end(dpi_source *s);

#endif
