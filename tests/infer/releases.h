/* What is released in a test, of fits by rounds or by the loop: each sum as it is before noise is
 * added, and what comes out; sums of owners, who draw the noise elsewhere, are not seen.  Linked
 * with $(RELEASES_LINK).  One thread at a time. */
#ifndef TESTS_INFER_RELEASES_H
#define TESTS_INFER_RELEASES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct release_seen {
    double sd;   /* of the noise, in the unit of the sum */
    double rate; /* by which sum and noise were divided */
    size_t n;
    double *steps; /* [n] the sum before noise, whole numbers of steps of sd 2^-32 */
    double *again; /* [n] the same in what repeated it last; 0 before */
    double *out;   /* [n] */
} release_seen;

/* Forgets what was seen, and what was asked for below. */
void releases_forget(void);

/* Releases since then. */
size_t releases_count(void);
const release_seen *releases_at(size_t k);

/* From each call on the k-th release is what the k-th one seen before the first call was, whatever
 * its sum is; fails where there was none, or one of another size or noise. */
void releases_repeat(void);

/* before(of, k) is called before noise is added to the k-th release from now on, from 0. */
void releases_watch(void (*before)(void *of, size_t k), void *of);

/* The k-th release from now on finds no entropy. */
void releases_fail(size_t k);

#endif
