/* The outside's part: a provider who gives weights, a client who gives records and gets answers.
 *
 * A number is the sum of as many components as there are machines; machine i is told all but
 * component i.  Components but one are drawn from seeds, so that a machine is sent at most one
 * array: component `full` (the one that the dealer lacks), which is what is left of the number. */
#ifndef DPI_SHARE_DEAL_H
#define DPI_SHARE_DEAL_H

#include "share/share.h"

enum { DPI_DEAL_SEED = 32 };

/* Components come from seed[c], c != full, number after number; `at` is how many elements of a seed
 * have been used before.  out[n] is component `full`. */
void dpi_deal_split(dpi_ring ring, size_t parties, size_t full,
                    const unsigned char seed[][DPI_DEAL_SEED], uint64_t at, size_t n,
                    const int64_t *x, void *out);

/* Component c of a seed, for a machine that was given the seed. */
void dpi_deal_draw(dpi_ring ring, const unsigned char seed[DPI_DEAL_SEED], uint64_t at, size_t n,
                   void *out);

#endif
