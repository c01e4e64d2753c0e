/* Unpacking what gzip has packed, a wanted number of bytes at a time: whoever reads decides how
 * much memory the result may take, whatever the file makes of itself. */
#ifndef DPI_DATA_GUNZIP_H
#define DPI_DATA_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/status.h>

#define ZLIB_CONST /* its input is const */
#include <zlib.h>

/* Deflate makes at most 258 bytes of 2 bits. */
enum { DPI_GZIP_MOST_RATIO = 1032 };

typedef struct dpi_gunzip {
    z_stream zip;
    const unsigned char *next; /* not yet given to zip */
    size_t left;
    bool ended;
} dpi_gunzip;

/* Whether the bytes begin as those of gzip do. */
bool dpi_is_gzip(const unsigned char *bytes, size_t n_bytes);

/* Begins a zeroed stream of gzip, for inflateEnd; false when memory is out. */
bool dpi_inflate_start(z_stream *zip);

/* Begins; the bytes are borrowed until dpi_gunzip_end, which is allowed after an error too.
 * DP_ENOMEM. */
dp_status dpi_gunzip_start(dpi_gunzip *g, const unsigned char *bytes, size_t n_bytes,
                           dp_error *err) DP_MUST_CHECK;

/* The next n bytes, just as many.  DP_EDATA there are fewer, or the packed bytes are damaged;
 * DP_ENOMEM. */
dp_status dpi_gunzip_read(dpi_gunzip *g, size_t n, unsigned char *out, dp_error *err) DP_MUST_CHECK;

/* DP_EDATA unless all bytes have been read, their checksum and number are right, and nothing comes
 * behind. */
dp_status dpi_gunzip_finish(dpi_gunzip *g, dp_error *err) DP_MUST_CHECK;

void dpi_gunzip_end(dpi_gunzip *g);

#endif
