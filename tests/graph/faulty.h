/* Allocations that fail on purpose, for programs linked with -Wl,--wrap=aligned_alloc,--wrap=free.
 * Blocks of dpi_alloc are counted; other uses of free pass through. */
#ifndef TESTS_GRAPH_FAULTY_H
#define TESTS_GRAPH_FAULTY_H

#include <stddef.h>

/* The k-th allocation from now on (from 1) fails, and only that one; 0: none does. */
void faulty_fail(size_t k);

/* True when the allocation asked for has failed. */
int faulty_failed(void);

/* Blocks in use. */
size_t faulty_live(void);

/* and their bytes. */
size_t faulty_bytes(void);

#endif
