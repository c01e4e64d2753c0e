/* Sketches of a column, or of whole records: enough to tell that two of them hold the same values,
 * whatever their names, kinds and orders are.  doc/design/ledger.md has the law. */
#ifndef DPI_LEDGER_SKETCH_H
#define DPI_LEDGER_SKETCH_H

#include "base/alloc.h"
#include "ledger/store.h"

/* A value's keyed hash, and how often it occurs. */
typedef struct dpi_sketch_item {
    uint64_t hash;
    uint32_t count;
} dpi_sketch_item;

typedef struct dpi_sketch {
    uint64_t n;             /* records */
    uint64_t sum[2];        /* of functions of their hashes: equal for equal multisets */
    bool rows;              /* of whole records */
    bool varied;            /* rows hold at least three different numbers */
    bool full;              /* there are more distinct values than items */
    dpi_sketch_item *items; /* [n_items] the smallest hashes, ascending */
    size_t n_items;
} dpi_sketch;

/* Of a data set: its records first, then its columns. */
typedef struct dpi_sketches {
    dpi_arena arena;
    dpi_sketch *list; /* [n] */
    size_t n;
} dpi_sketches;

void dpi_sketches_free(dpi_sketches *sketches);

/* Makes one from hashes that come one by one; keeps the `most` smallest. */
typedef struct dpi_sketcher {
    dpi_sketch made;
    dpi_sketch_item *slots; /* [mask + 1] open addressing; count 0: free */
    dpi_sketch_item *spare; /* [most] */
    size_t mask, used, most;
    uint64_t limit; /* hashes above it are among the smallest no more */
} dpi_sketcher;

/* DP_ENOMEM; to be ended in any case. */
dp_status dpi_sketcher_begin(dpi_sketcher *s, size_t most, dp_error *err) DP_MUST_CHECK;
void dpi_sketcher_add(dpi_sketcher *s, uint64_t hash);
/* *sketch [out] with items in the arena, nullable: forget all.  False: no memory. */
bool dpi_sketcher_end(dpi_sketcher *s, dpi_arena *arena, dpi_sketch *sketch);

/* A bound on the log of the chance that two data sets of independent records, from any two
 * populations, have as much in common as these. */
double dpi_sketch_log_chance(const dpi_sketch *a, const dpi_sketch *b);

/* As bytes, little end first, and back; *bytes lies in the arena of `sketches`.  DP_ENOMEM;
 * DP_EDATA the bytes are not what the first call writes. */
dp_status dpi_sketches_write(dpi_sketches *sketches, unsigned char **bytes, size_t *size,
                             dp_error *err) DP_MUST_CHECK;
dp_status dpi_sketches_read(const unsigned char *bytes, size_t size, dpi_sketches *sketches,
                            dp_error *err) DP_MUST_CHECK;

#endif
