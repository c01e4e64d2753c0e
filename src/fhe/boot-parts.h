/* The inside of bootstrapping: its maps and its keys. */
#ifndef DPI_FHE_BOOT_PARTS_H
#define DPI_FHE_BOOT_PARTS_H

#include "fhe/boot.h"
#include "fhe/ckks-parts.h"
#include "fhe/diagonals.h"

enum { DPI_CKKS_BOOT_DEGREE = 15, DPI_CKKS_BOOT_DOUBLINGS = 3 };

struct dpi_ckks_boot {
    const dpi_ckks *c;
    size_t stages;
    dpi_ckks_diagonals *down[DPI_CKKS_BOOT_STAGES]; /* slots to coefficients, first to last */
    dpi_ckks_diagonals *up[DPI_CKKS_BOOT_STAGES];   /* and back */
    double most, range;                             /* of places; of the sine: 16 + 1 / 4 */
    double top, slope; /* a_3 of a sine of slope 1 at 0, and the slope that is nearest a line */
    double sine, bend;
};

struct dpi_ckks_boot_keys {
    const dpi_ckks *c;
    uint64_t *b, *a; /* [2][n] from the secret to the sparse one, modulo q_0 and p */
    unsigned char seed[DPI_RLWE_SEED]; /* of a */
    dpi_ckks_switch *up;               /* and back, modulo Q P */
    dpi_ckks_switch *conjugate;
    dpi_ckks_turns turns;
    int *steps;
    dpi_ckks_switch **key;
};

/* Both transforms; `up` multiplies by `constant` too.  DP_ENOMEM, DP_EDOMAIN. */
DP_MUST_CHECK dp_status dpi_ckks_boot_transforms(dpi_ckks_boot *b, double constant,
                                                 dpi_ckks_room *room, dp_error *err);

/* Room for keys, of which none is there yet; a of its seed.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ckks_boot_keys_room(const dpi_ckks_boot *b, dpi_ckks_boot_keys **k,
                                                dp_error *err);
void dpi_ckks_boot_expand(dpi_ckks_boot_keys *k);

/* x at level 0, under the sparse secret, and the variance that this adds to coefficients. */
void dpi_ckks_boot_make_sparse(const dpi_ckks_boot_keys *k, dpi_ckks_room *room,
                               dpi_ckks_cipher *x);
double dpi_ckks_boot_sparsing(const dpi_ckks *c);

#endif
