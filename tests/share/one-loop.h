/* In front of a source file: its loops are compiled once, as one of the several that compiler.h has
 * them compiled as, of which the loader takes the widest that the machine knows.  ONE_LOOP: 3 for
 * x86-64-v3, which has AVX2; else what all machines have. */
#ifndef TESTS_SHARE_ONE_LOOP_H
#define TESTS_SHARE_ONE_LOOP_H

#include "base/compiler.h"

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#undef DPI_LOOPS
#if ONE_LOOP == 3
#define DPI_LOOPS                                                                                  \
    __attribute__((optimize("tree-vectorize", "vect-cost-model=dynamic"), target("arch=x86-64-"    \
                                                                                 "v3")))
#else
#define DPI_LOOPS __attribute__((optimize("tree-vectorize", "vect-cost-model=dynamic")))
#endif
#endif

#endif
