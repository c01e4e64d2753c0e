/* The sketches of a data set. */
#ifndef DPI_LEDGER_SURVEY_H
#define DPI_LEDGER_SURVEY_H

#include "ledger/sketch.h"

/* Sketches of the records, of each column of numbers, and of each block of columns; none of a file
 * that is no text.  Two passes over the data.  *sketches to be freed in any case.
 * DP_EIO, DP_ENOMEM. */
dp_status dpi_survey(const dp_ledger *ledger, const dp_ledger_source *source,
                     dpi_sketches *sketches, dp_error *err) DP_MUST_CHECK;

#endif
