/* Standard normal numbers from a stream. */
#ifndef DPI_RANDOM_NORMAL_H
#define DPI_RANDOM_NORMAL_H

#include "random/stream.h"

/* So many numbers are made together; fewer cost as much. */
enum { DPI_NORMALS_AT_ONCE = 16 };

/* n independent standard normal numbers.  Takes 16 bytes of the stream for every two; an odd n
 * drops one of the last two.  The time does not depend on the numbers drawn.  Method, error and
 * tails: normal.c. */
void dpi_stream_normals(dpi_stream *stream, size_t n, double *out /* [n] */);

/* The same of `size` numbers for each row, whose pairs are its own. */
void dpi_stream_normal_rows(dpi_stream *stream, size_t rows, size_t size,
                            double *out /* [rows][size] */);

#endif
