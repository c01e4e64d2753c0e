/* Subsets of fixed size without replacement.
 *
 * bitmap, table   Numbers are drawn with replacement and kept when they are new, until there are
 *                 `size`.  Given what was kept, the next one kept is uniform on the rest, so every
 *                 ordered choice has probability 1 / (n (n-1) ... (n-size+1)), exactly.  What has
 *                 been seen is marked in n bits, or in a hash table of 2048 slots.
 * reservoir       For more than a quarter of all: 0 .. size-1 are taken first and number i is then
 *                 put in place of a random one of them with probability size / (i+1) (Vitter 1985,
 *                 algorithm R), which makes the set exactly uniform; a shuffle (Durstenfeld 1964)
 *                 makes the order so.  No scratch; n steps, at most 4 for every number handed out.
 *                 Drawing until new would need n log n draws in the end.
 * feistel         In between, for n > 2^17: the images of 0 .. size-1 under a Feistel permutation
 *                 drawn afresh.  No scratch, but uniform only to a computational observer.
 *
 * All the exact methods need is that dpi_stream_below is exactly uniform.  The subset is a secret,
 * because amplification by sampling counts on it: scratch is wiped. */
#include "random/subset.h"

#include <sodium.h>
#include <string.h>

#include "base/error.h"
#include "random/feistel.h"

void dpi_subset_bitmap(dpi_stream *stream, size_t n, size_t size, size_t *out)
{
    uint64_t seen[DPI_SUBSET_BITMAP_N / 64];
    size_t words = (n + 63) / 64;
    memset(seen, 0, words * sizeof *seen);
    for (size_t i = 0; i < size;) {
        size_t drawn = (size_t)dpi_stream_below(stream, n);
        uint64_t bit = (uint64_t)1 << drawn % 64, *word = &seen[drawn / 64];
        out[i] = drawn;
        i += (*word & bit) == 0;
        *word |= bit;
    }
    sodium_memzero(seen, words * sizeof *seen);
}

void dpi_subset_table(dpi_stream *stream, size_t n, size_t size, size_t *out)
{
    enum { SLOTS = 2 * DPI_SUBSET_TABLE_SIZE };
    const uint64_t free_slot = UINT64_MAX; /* no number is as large */
    uint64_t table[SLOTS];
    size_t mask = 1;
    while (mask + 1 < 2 * size)
        mask = 2 * mask + 1;
    memset(table, 0xff, (mask + 1) * sizeof *table);
    for (size_t i = 0; i < size;) {
        uint64_t drawn = dpi_stream_below(stream, n);
        /* Multiplicative hash, 2^64 / golden ratio (Knuth, volume 3, 6.4).  At most half of the
         * slots are taken, so the search ends. */
        size_t at = (size_t)(drawn * UINT64_C(0x9e3779b97f4a7c15) >> 40) & mask;
        while (table[at] != free_slot && table[at] != drawn)
            at = (at + 1) & mask;
        out[i] = (size_t)drawn;
        i += table[at] == free_slot;
        table[at] = drawn;
    }
    sodium_memzero(table, (mask + 1) * sizeof *table);
}

void dpi_subset_reservoir(dpi_stream *stream, size_t n, size_t size, size_t *out)
{
    for (size_t i = 0; i < size; i++)
        out[i] = i;
    for (size_t i = size; i < n; i++) {
        uint64_t place = dpi_stream_below(stream, i + 1);
        if (place < size)
            out[place] = i;
    }
    for (size_t i = size; i > 1; i--) {
        size_t other = (size_t)dpi_stream_below(stream, i), entry = out[other];
        out[other] = out[i - 1];
        out[i - 1] = entry;
    }
}

void dpi_subset_feistel(dpi_stream *stream, size_t n, size_t size, size_t *out)
{
    dpi_feistel feistel;
    dpi_feistel_draw(&feistel, stream, n);
    for (size_t i = 0; i < size; i++)
        out[i] = (size_t)dpi_feistel_at(&feistel, i);
    sodium_memzero(&feistel, sizeof feistel);
}

void dpi_fixed_subset(dpi_stream *stream, size_t n, size_t size, size_t *out)
{
    if (size > n)
        dpi_misuse("dpi_fixed_subset", "the subset is larger than the set");
    if (size > n / 4)
        dpi_subset_reservoir(stream, n, size, out);
    else if (size == 0)
        return;
    else if (n <= DPI_SUBSET_BITMAP_N)
        dpi_subset_bitmap(stream, n, size, out);
    else if (size <= DPI_SUBSET_TABLE_SIZE)
        dpi_subset_table(stream, n, size, out);
    else
        dpi_subset_feistel(stream, n, size, out);
}
