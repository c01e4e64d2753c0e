/* Where the releases of a run are kept, so that a run whose process ends is made again with them.
 *
 * A run that is made again computes all that it did, but for what was released: of a release that
 * was made before no records are read and nothing is opened.  It must have each step's batch drawn
 * anew, or be of all units in every step. */
#ifndef DPI_SVI_KEEP_H
#define DPI_SVI_KEEP_H

#include <stdbool.h>

#include <tacit/owners.h>

#include "svi/release.h"

typedef struct dpi_svi_keep {
    void *of;
    /* Whether the next release was made before. */
    bool (*made)(void *of);
    /* That release, to r->out[r->n], where it answers `question`; or r->out was just made of it,
     * and with DP_OK it is kept, and counted by whoever counts.  Nothing has used it until then. */
    dp_status (*keep)(void *of, const unsigned char question[DP_OWNERS_QUESTION],
                      const dpi_release *r, dp_error *err);
} dpi_svi_keep;

/* Whether the next release was made before; NULL: no. */
static inline bool dpi_svi_was_made(const dpi_svi_keep *k)
{
    return k != NULL && k->made(k->of);
}

#endif
