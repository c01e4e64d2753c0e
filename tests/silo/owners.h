/* Owners in one process: keys from a seed, and the parts of a fit, as schemes make them. */
#ifndef TESTS_SILO_OWNERS_H
#define TESTS_SILO_OWNERS_H

#include "base/alloc.h"
#include "silo/round.h"

enum { OWNERS_MOST = 8 };

typedef struct owners {
    size_t n;
    dpi_letter_box *box;
    char names[OWNERS_MOST][DPI_SILO_NAME];
    unsigned char publics[OWNERS_MOST][DPI_SILO_PUBLIC], secrets[OWNERS_MOST][DPI_SILO_SECRET];
    unsigned char plan[DPI_SILO_HASH];
    dpi_arena arena; /* of the parts */
    dpi_silo_part parts[OWNERS_MOST];
} owners;

/* n owners called a, b, ...; owner 0 adds up. */
void owners_make(owners *o, size_t n);
void owners_free(owners *o);

/* Their parts: masked in a signed set, in which `dropouts` may be missing; or as it is. */
void owners_mask(owners *o, bool dropouts);
void owners_plain(owners *o);

/* ... a scheme of a name, without dropouts. */
void owners_split(owners *o, const char *scheme, uint16_t aggregator);

/* Under a key of all but the one that then adds up. */
void owners_key(owners *o, uint16_t aggregator);

/* Owner k's end of the post, of a carrier that is its own. */
dpi_post_opts owners_post(owners *o, size_t k, dpi_carrier *carrier, uint32_t patience_ms);

#endif
