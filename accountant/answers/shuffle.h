/* What shuffled batches cost at least. */
#ifndef DPI_ACCOUNTANT_ANSWERS_SHUFFLE_H
#define DPI_ACCOUNTANT_ANSWERS_SHUFFLE_H

/* About the largest epsilon known to be exceeded by one epoch of `steps` >= 1 batches cut from a
 * shuffled list at `delta`; 0 when none is known. */
double dpi_shuffle_floor(double sigma, double steps, double delta);

#endif
