/* Random allocation: a batch number for every record, then a counting sort (Knuth, volume 3, 5.2).
 *
 * Numbers of different records are independent: batches have binomial sizes, and one record's batch
 * says nothing of another's.  A shuffled list cut into equal parts is not that, and its privacy is
 * worse.  The batches are a secret, because amplification counts on it: scratch is wiped, and the
 * caller's arrays hold the batches of one epoch only. */
#include "random/allocation.h"

#include <sodium.h>
#include <string.h>

void dpi_allocation_draw(dpi_stream *stream, size_t n, size_t t, size_t *order, size_t *start,
                         size_t *scratch)
{
    memset(start, 0, (t + 1) * sizeof *start);
    for (size_t i = 0; i < n; i++) {
        scratch[i] = (size_t)dpi_stream_below(stream, t);
        start[scratch[i] + 1]++;
    }
    for (size_t k = 0; k < t; k++)
        start[k + 1] += start[k];
    for (size_t i = 0; i < n; i++)
        order[start[scratch[i]]++] = i;
    /* Every start has moved up to the next one's place. */
    memmove(start + 1, start, t * sizeof *start);
    start[0] = 0;
    sodium_memzero(scratch, n * sizeof *scratch);
}
