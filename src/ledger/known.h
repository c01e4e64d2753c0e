/* What data sets are known by as a whole: hashes of their content, of now and of before updates. */
#ifndef DPI_LEDGER_KNOWN_H
#define DPI_LEDGER_KNOWN_H

#include "ledger/contents.h"

/* In a transaction, before the content of a data set is replaced: keeps the hashes that its rows
 * have now. */
dp_status dpi_known_keep(dp_ledger *ledger, const dpi_data *data, dp_error *err) DP_MUST_CHECK;

/* In a transaction, with the columns written.  DP_ENAME when columns of `data` are another data
 * set's: in another order, all of them and more, or some of them; and, unless overlap is allowed,
 * when they, or the content as a whole, were another's before an update.  DP_EDATA a row is not as
 * it was written. */
dp_status dpi_known_check(dp_ledger *ledger, const dpi_data *data, bool overlap_allowed,
                          dp_error *err) DP_MUST_CHECK;

/* In a transaction.  DP_EDATA when a kept row is not as it was written. */
dp_status dpi_known_survey(dp_ledger *ledger, dp_error *err) DP_MUST_CHECK;

#endif
