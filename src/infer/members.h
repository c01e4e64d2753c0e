/* What each member of a plate tells of itself, and with the dense latents, from a noisy pattern. */
#ifndef DPI_INFER_MEMBERS_H
#define DPI_INFER_MEMBERS_H

#include "infer/arrow.h"

/* One plate's members in the making. */
typedef struct dpi_plate_information {
    const dpi_metric *m;
    const dpi_read *plate;
    size_t p, size;
    const double *dense;   /* [p][p] in theta's coordinates, means included */
    const double *pattern; /* [members][p size + own packed] */
    const dpi_expected *as;
    double *back;     /* [p][p] A^-1 */
    double *back_own; /* [size][size] of the plate's */
    double *own;      /* [members][size][size] */
    double *joint;    /* [members][p][size] */
} dpi_plate_information;

/* Fills own and joint: shrunk to what the average member has, adding up to what all have, and
 * taking no more of the dense latents' information than there is.
 *   room[4 p size + 5 size^2]
 * DP_EDOMAIN, DP_ENOMEM. */
dp_status dpi_members_find(dpi_plate_information *b, double *room, dp_error *err) DP_MUST_CHECK;

#endif
