/* Sketches in the ledger: which data sets have values in common. */
#ifndef DPI_LEDGER_OVERLAP_H
#define DPI_LEDGER_OVERLAP_H

#include "ledger/sketch.h"

/* In a transaction.  Writes the sketches of a data set, beside those that it has from before. */
dp_status dpi_overlap_write(dp_ledger *ledger, int64_t data, dpi_sketches *sketches,
                            dp_error *err) DP_MUST_CHECK;

/* In a transaction.  DP_EPRIVACY when sketches of `data` have more in common with those of another
 * data set than chance allows; DP_EDATA a row is not as it was written. */
dp_status dpi_overlap_check(dp_ledger *ledger, int64_t data, const dpi_sketches *sketches,
                            dp_error *err) DP_MUST_CHECK;

/* In a transaction.  DP_EDATA when a row of sketches is not as it was written. */
dp_status dpi_overlap_survey(dp_ledger *ledger, dp_error *err) DP_MUST_CHECK;

#endif
