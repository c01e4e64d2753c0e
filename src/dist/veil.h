/* How an outcome is seen: forms that weigh, censor or miss it leave its law what it is.
 *
 * Behind them is the family that the outcome itself has.  A record counts as so many outcomes, or
 * as none, and where its outcome is not seen it is known to lie where the distribution function is
 * between two numbers. */
#ifndef DPI_DIST_VEIL_H
#define DPI_DIST_VEIL_H

#include "dist/family.h"

typedef struct dpi_veil {
    double times; /* that the record counts; 0: it says nothing */
    bool seen;
    /* Where it is not: the share of its law that lies between, from below, or from above. */
    bool from_above;
    double low, high;
} dpi_veil;

/* The family of the outcome itself; *first is where its arguments begin among the row's. */
const dpi_family *dpi_behind(const dpi_family *row, int *first);

/* Whether some record may count for more or less than one. */
bool dpi_is_weighted(const dpi_family *row);

/* Whether some record's outcome may not be seen. */
bool dpi_is_censored(const dpi_family *row);

/* Of an outcome y of the row, with the row's arguments. */
dpi_veil dpi_veil_of(const dpi_family *row, double y, const double *const arg[]);

/* What the form's own argument k is where an outcome is seen and counts once. */
double dpi_open_argument(const dpi_family *row, int k);

#endif
