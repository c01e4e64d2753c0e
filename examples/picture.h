/* Pictures of images side by side. */
#ifndef EXAMPLES_PICTURE_H
#define EXAMPLES_PICTURE_H

#include <tacit/tacit.h>

/* Writes ink[down][across][side][side], each in [0, 1] and 1 black, to PREFIX-WHAT.png, enlarged.
 * DP_EIO. */
dp_status picture_write(const char *prefix, const char *what, size_t side, size_t across,
                        size_t down, const double *ink, dp_error *err);

#endif
