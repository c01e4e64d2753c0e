/* Data sets of a ledger: what they are known by. */
#ifndef DPI_LEDGER_DATA_H
#define DPI_LEDGER_DATA_H

#include "ledger/contents.h"

/* DP_EINVAL unless `text` has 1 (0 if nullable: NULL) to `most` bytes, none of them a control
 * character. */
dp_status dpi_check_text(const char *what, const char *text, size_t most,
                         dp_error *err) DP_MUST_CHECK;

/* That `data` is still what it was: the file is hashed again; of columns, each one of `records`
 * that `used` (nullable: all) names must be among those that were added. */
dp_status dpi_data_verify(dp_ledger *ledger, const dpi_data *data, const dp_dataset *records,
                          const char *const *used, size_t n_used, dp_error *err) DP_MUST_CHECK;

#endif
