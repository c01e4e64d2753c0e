/* Subsets of fixed size without replacement. */
#ifndef DPI_RANDOM_SUBSET_H
#define DPI_RANDOM_SUBSET_H

#include "random/stream.h"

/* Limits of the exact methods that need scratch; each takes 16 KiB of stack. */
enum { DPI_SUBSET_BITMAP_N = 1 << 17, DPI_SUBSET_TABLE_SIZE = 1 << 10 };

/* Puts `size` distinct numbers of 0 .. n-1 into out, in random order: every ordered choice is
 * equally likely.  That is exact when n <= 2^17, size <= 1024 or size > n/4; otherwise it holds for
 * a computational observer, see feistel.c.
 * 0 <= size <= n; aborts when size > n.  Expected time O(size) plus n/64 words for n <= 2^17.  No
 * allocation. */
void dpi_fixed_subset(dpi_stream *stream, size_t n, size_t size, size_t *out /* [size] */);

/* The four methods by themselves, 1 <= size <= n. */
void dpi_subset_bitmap(dpi_stream *stream, size_t n, size_t size, size_t *out); /* n <= 2^17 */
void dpi_subset_table(dpi_stream *stream, size_t n, size_t size, size_t *out);  /* size <= 1024 */
void dpi_subset_reservoir(dpi_stream *stream, size_t n, size_t size, size_t *out); /* O(n) */
void dpi_subset_feistel(dpi_stream *stream, size_t n, size_t size, size_t *out);

#endif
